//! AQL for the report.

use super::report::{Call, Followed, Hex, Packet, fields, sentence};
use super::stream::{Problem, Raw};
use aql::vendor::{Format, format_of};
use aql::{Header, PACKET_WORDS, PacketType, Pm4Indirect};
use pm4::Generation;
use pm4::layout::{Layout, Variants};

/// The name of a slot that holds no packet.
pub(super) const INVALID: &str = "INVALID";

/// One slot of a queue.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    /// Dwords before it.
    pub(super) offset: usize,
    pub(super) generation: Generation,
    pub(super) words: &'a [u32; PACKET_WORDS],
}

pub(super) fn raws(
    generation: Generation,
    words: &[u32],
) -> impl Iterator<Item = Result<Raw<'_>, Problem>> {
    let (slots, rest) = words.as_chunks();
    let slots = slots.iter().enumerate().map(move |(index, words)| {
        Ok(Raw::Aql(Slot { offset: index * PACKET_WORDS, generation, words }))
    });
    let problem = (!rest.is_empty()).then(|| Problem {
        offset: words.len() - rest.len(),
        needed: Some(PACKET_WORDS),
        got: rest.len(),
        problem: format!(
            "an AQL packet: needed {PACKET_WORDS} dwords, got {}; the file is cut off, or starts inside a packet",
            rest.len()
        ),
    });
    slots.chain(problem.map(Err))
}

/// The buffer that a packet calls, if it does.
pub(super) fn calls(slot: &Slot<'_>) -> Vec<Call> {
    match aql::Packet::decode(slot.words) {
        aql::Packet::Pm4Indirect(indirect) => vec![call(&indirect)],
        _ => Vec::new(),
    }
}

pub(super) fn packet(slot: &Slot<'_>) -> Packet {
    let Slot { generation, words, .. } = *slot;
    let packet_type = Header::from_word(words[0]).packet_type;
    let layout = match aql::Packet::decode(words) {
        aql::Packet::Invalid(_) | aql::Packet::Unknown(_) => None,
        _ => aql::LAYOUTS.iter().copied().find(|layout: &&Layout| layout.matches(words[0])),
    };
    let (fields, reserved) =
        layout.map_or_else(Default::default, |layout| fields(layout, words, Variants::ALL));
    let mut notes = Vec::new();
    let name = match (layout, format_of(words[0])) {
        (Some(layout), format) => {
            if format.is_some_and(|format| !format.is_accepted_by(generation)) {
                notes.push(format!("{generation} is not known to accept it"));
            }
            layout.name.to_owned()
        }
        (None, _) if packet_type == PacketType::INVALID => INVALID.to_owned(),
        (None, Some(format)) => {
            notes.push(match format {
                Format::PM4_IB => "dword 1 is not the header of INDIRECT_BUFFER".to_owned(),
                _ => "no such format is known for GPUs".to_owned(),
            });
            format!("vendor-specific, format {format}")
        }
        (None, None) => {
            notes.push("no such packet type is known; the queue stops at it".to_owned());
            format!("unknown type {}", packet_type.into_bits())
        }
    };
    Packet {
        offset: 0,
        address: Hex(0),
        words: words.iter().map(|word| Hex((*word).into())).collect(),
        known: layout.is_some() || packet_type == PacketType::INVALID,
        name,
        meaning: layout.map_or_else(String::new, |layout| sentence(layout.doc)),
        fields,
        reserved,
        payload: 0,
        registers: Vec::new(),
        calls: calls(slot),
        notes,
    }
}

fn call(indirect: &Pm4Indirect) -> Call {
    Call {
        engine: "pm4",
        address: Hex(indirect.address),
        dwords: indirect.size as usize,
        chain: false,
        followed: Followed::Missing { known_dwords: 0 },
    }
}
