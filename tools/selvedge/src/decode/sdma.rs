//! SDMA for the report.

use super::report::{Call, Followed, Hex, Packet, fields, sentence};
use super::stream::{Problem, Raw};
use sdma::packet::Indirect;
use sdma::{Packets, RawPacket, StreamError, Version};

pub(super) fn raws(
    version: Version,
    words: &[u32],
) -> impl Iterator<Item = Result<Raw<'_>, Problem>> {
    Packets::new(version, words)
        .map(|raw| raw.map(Raw::Sdma).map_err(|error| problem(&error, words)))
}

fn problem(error: &StreamError, words: &[u32]) -> Problem {
    let offset = error.offset();
    let (needed, problem) = match *error {
        StreamError::Truncated { packet, needed, got, .. } => {
            let problem = format!(
                "{packet}: needed {needed} dwords, got {got}; the stream is cut off, or a packet before it says a wrong \
                 length"
            );
            (Some(needed), problem)
        }
        StreamError::Unknown { header, version, .. } => {
            let [opcode, sub_opcode, ..] = header.to_le_bytes();
            let name = sdma::packet::opcode_name(version, opcode);
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            let problem = format!(
                "{version} has no packet of opcode {opcode:#04x}{name} and sub-opcode {sub_opcode:#04x}, and only a \
                 packet that is known says where the next one is; is it another version (--sdma)?"
            );
            (None, problem)
        }
        StreamError::Length { packet, .. } => {
            let problem = format!(
                "how long {packet} is here is not published, so where the next packet is cannot be told"
            );
            (None, problem)
        }
        _ => (None, error.to_string()),
    };
    Problem { offset, needed, got: words.len().saturating_sub(offset), problem }
}

/// The buffer that a packet calls, if it does.
pub(super) fn calls(raw: &RawPacket<'_>) -> Vec<Call> {
    let is_indirect = raw.layout().is_some_and(|layout| layout.name == Indirect::LAYOUT.name);
    let indirect = is_indirect.then(|| Indirect::decode(raw.words, raw.version).ok()).flatten();
    let call = indirect.map(|indirect| Call {
        engine: "sdma",
        address: Hex(indirect.ib_base),
        dwords: indirect.ib_size as usize,
        chain: false,
        followed: Followed::Missing { known_dwords: 0 },
    });
    call.into_iter().collect()
}

pub(super) fn packet(raw: &RawPacket<'_>) -> Packet {
    let layout = raw.layout();
    let (fields, reserved) =
        layout.map_or_else(Default::default, |l| fields(l, raw.words, raw.version.set()));
    Packet {
        offset: 0,
        address: Hex(0),
        words: raw.words.iter().map(|word| Hex((*word).into())).collect(),
        known: layout.is_some(),
        name: raw.name().unwrap_or("unknown").to_owned(),
        meaning: layout.map_or_else(String::new, |layout| sentence(layout.doc)),
        fields,
        reserved,
        payload: raw.payload().len(),
        registers: Vec::new(),
        calls: calls(raw),
        notes: Vec::new(),
    }
}
