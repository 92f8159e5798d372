//! SDMA for the report.

use super::report::{Call, Followed, Hex, Packet, fields, sentence};
use super::stream::{Found, Problem, Row};
use sdma::packet::Indirect;
use sdma::{Packets, RawPacket, StreamError, Version};

pub(super) fn row(version: Version, words: &[u32]) -> Row {
    let mut row = Row::default();
    for packet in Packets::new(version, words) {
        match packet {
            Ok(packet) => row.found.push(found(&packet)),
            Err(error) => row.problem = Some(problem(&error, words)),
        }
    }
    row
}

/// Length of the packet at the start of words, if it is there as a whole.
pub(super) fn length(version: Version, words: &[u32]) -> Option<usize> {
    Packets::new(version, words).next()?.ok().map(|packet| packet.words.len())
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

fn found(raw: &RawPacket<'_>) -> Found {
    let layout = raw.layout();
    let (fields, reserved) =
        layout.map_or_else(Default::default, |l| fields(l, raw.words, raw.version.set()));
    let is_indirect = layout.is_some_and(|layout| layout.name == Indirect::LAYOUT.name);
    let indirect = is_indirect.then(|| Indirect::decode(raw.words, raw.version).ok()).flatten();
    let calls = indirect.into_iter().map(|indirect| Call {
        engine: "sdma",
        address: Hex(indirect.ib_base),
        dwords: indirect.ib_size as usize,
        chain: false,
        followed: Followed::Missing { known_dwords: 0 },
    });
    Found {
        offset: raw.offset,
        packet: Packet {
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
            calls: calls.collect(),
            notes: Vec::new(),
        },
    }
}
