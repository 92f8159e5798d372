//! PM4 for the report.

use super::report::{Call, Followed, Hex, Packet, RegisterWrite, Reserved, fields, sentence};
use super::stream::{Problem, Raw};
use pm4::register::ComputeDispatchInitiator;
use pm4::{Generation, Header, Packets, RawPacket, StreamError};

pub(super) fn raws(
    generation: Generation,
    words: &[u32],
) -> impl Iterator<Item = Result<Raw<'_>, Problem>> {
    Packets::new(generation, words)
        .map(|raw| raw.map(Raw::Pm4).map_err(|error| problem(&error, words)))
}

fn problem(error: &StreamError, words: &[u32]) -> Problem {
    let (needed, got) = match *error {
        StreamError::Truncated { needed, got, .. } => (Some(needed), got),
        _ => (None, words.len() - error.offset().min(words.len())),
    };
    let problem = match *error {
        StreamError::Truncated { header, generation, needed, got, .. } => {
            let name = pm4::packet::opcode_name(header.opcode(), generation);
            let what = match (header.packet_type(), name) {
                (3, Some(name)) => format!("{name} (opcode {:#04x})", header.opcode()),
                (3, None) => format!("unknown opcode {:#04x}", header.opcode()),
                (other, _) => format!("a packet of type {other}"),
            };
            format!(
                "{what}: needed {needed} dwords, got {got}; the stream is cut off, or a packet before it says a wrong \
                 length"
            )
        }
        _ => "a header of type 1, which no hardware has: this is no PM4, or a packet before it says a wrong length"
            .to_owned(),
    };
    Problem { offset: error.offset(), needed, got, problem }
}

/// The buffers that a packet calls.
pub(super) fn calls(raw: &RawPacket<'_>) -> Vec<Call> {
    let buffers = raw.indirect_buffers().map(|buffer| Call {
        engine: "pm4",
        address: Hex(buffer.address),
        dwords: buffer.dwords as usize,
        chain: buffer.chain,
        followed: Followed::Missing { known_dwords: 0 },
    });
    buffers.collect()
}

pub(super) fn packet(raw: &RawPacket<'_>) -> Packet {
    let set = raw.generation.set();
    let header = raw.header();
    let name = match (raw.name(), header.packet_type()) {
        (Some(name), _) => name.to_owned(),
        (None, 2) => "filler of type 2".to_owned(),
        (None, 0) => "registers by type 0".to_owned(),
        (None, _) => format!("unknown opcode {:#04x}", header.opcode()),
    };
    let layout = raw.layout();
    let registers: Vec<RegisterWrite> =
        raw.writes().chain(initiator(raw)).map(|write| register(&write, raw.generation)).collect();
    let (fields, reserved) = match layout {
        Some(layout) => fields(layout, raw.words, set),
        None if header.packet_type() == 3 => (Vec::new(), reserved_of_header(header)),
        None => Default::default(),
    };
    let behind = layout.map_or(0, |layout| raw.words.len() - layout.dwords);
    Packet {
        offset: 0,
        address: Hex(0),
        words: raw.words.iter().map(|word| Hex((*word).into())).collect(),
        known: layout.is_some() || header.packet_type() != 3,
        name,
        meaning: layout.map_or_else(String::new, |layout| sentence(layout.doc)),
        fields,
        reserved,
        payload: if raw.writes().next().is_none() { behind } else { 0 },
        registers,
        calls: calls(raw),
        notes: lengths(raw).into_iter().collect(),
    }
}

/// Bits of a type-3 header that have no meaning whatever the opcode.
fn reserved_of_header(header: Header) -> Vec<Reserved> {
    let bits = header.0 & 0xfc;
    if bits == 0 { Vec::new() } else { vec![Reserved { dword: 0, bits: Hex(bits.into()) }] }
}

/// The lengths that a packet can have, if it has none of them.
fn lengths(raw: &RawPacket<'_>) -> Option<String> {
    if raw.layout().is_some() || raw.header().packet_type() != 3 {
        return None;
    }
    let opcode = raw.header().opcode();
    let mut known: Vec<(usize, bool)> = pm4::packet::LAYOUTS
        .iter()
        .filter(|layout| layout.variants.contains(raw.generation.set()))
        .filter(|layout| Header(layout.fixed).opcode() == opcode)
        .map(|layout| (layout.dwords, layout.payload))
        .collect();
    known.sort_unstable();
    known.dedup();
    let known: Vec<String> = known
        .iter()
        .map(|(dwords, more)| format!("{dwords}{}", if *more { " or more" } else { "" }))
        .collect();
    let (known, got) = (known.join(", "), raw.words.len());
    (!known.is_empty()).then(|| format!("needed a length of {known} dwords, got {got}"))
}

/// The register that a dispatch packet writes last, which starts the dispatch.
fn initiator(raw: &RawPacket<'_>) -> Option<pm4::RegisterWrite> {
    let layout = raw.layout()?;
    let field = layout.fields.get(layout.index("dispatch_initiator")?)?;
    let piece = field.placement(raw.generation.set())?.pieces.first()?;
    let (register, generation) = (ComputeDispatchInitiator::REGISTER, raw.generation);
    Some(pm4::RegisterWrite {
        dword: piece.dword.into(),
        address: register.address(generation)?,
        value: u32::try_from(field.read(raw.words, generation.set())?).ok()?,
        register: Some((register, 0)),
    })
}

fn register(write: &pm4::RegisterWrite, generation: Generation) -> RegisterWrite {
    let layout = write.register.map(|(register, _)| register.layout);
    let (fields, reserved) = layout
        .map_or_else(Default::default, |layout| fields(layout, &[write.value], generation.set()));
    RegisterWrite {
        dword: write.dword,
        address: Hex(write.address.into()),
        name: write.name().map(|name| name.to_string()),
        value: Hex(write.value.into()),
        fields,
        reserved,
    }
}
