//! Streams of any engine: decoded, placed, and followed into the buffers they call.

use super::report::{Call, Fault, Followed, Hex, Packet, Stream};
use super::{Engine, Request, pm4};
use std::collections::HashMap;

/// A packet and where it is among the words given.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) offset: usize,
    pub(super) packet: Packet,
}

/// Where words stop being packets.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) offset: usize,
    pub(super) needed: Option<usize>,
    pub(super) got: usize,
    pub(super) problem: String,
}

/// What an engine makes of words.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) found: Vec<Found>,
    pub(super) problem: Option<Problem>,
}

/// Where words are from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Address of the input, ring or buffer.
    pub(super) base: u64,
    /// Dwords before the first word in it.
    pub(super) start: usize,
    /// Its size in dwords if it goes on at its start where it ends.
    pub(super) ring: Option<usize>,
}

impl Place {
    fn offset(&self, dwords: usize) -> usize {
        let offset = self.start + dwords;
        self.ring.map_or(offset, |ring| offset % ring)
    }

    fn address(&self, dwords: usize) -> Hex {
        Hex(self.base.wrapping_add(4 * self.offset(dwords) as u64))
    }
}

impl Engine {
    pub(super) fn row(self, request: &Request, words: &[u32]) -> Row {
        match self {
            Engine::Pm4 => pm4::row(request.generation, words),
            Engine::Sdma => super::sdma::row(request.sdma, words),
            Engine::Aql => super::aql::row(request.generation, words),
        }
    }

    /// Length of the packet at the start of words, if it is there as a whole.
    pub(super) fn length(self, request: &Request, words: &[u32]) -> Option<usize> {
        match self {
            Engine::Pm4 => pm4::length(request.generation, words),
            Engine::Sdma => super::sdma::length(request.sdma, words),
            Engine::Aql => (words.len() >= ::aql::PACKET_WORDS).then_some(::aql::PACKET_WORDS),
        }
    }
}

/// Decodes words.
pub(super) fn stream(
    request: &Request,
    engine: Engine,
    kind: &'static str,
    words: &[u32],
    place: Place,
) -> Stream {
    let row = engine.row(request, words);
    let packets = row.found.into_iter().map(|found| Packet {
        offset: place.offset(found.offset),
        address: place.address(found.offset),
        ..found.packet
    });
    Stream {
        kind,
        engine: engine.name(),
        address: place.address(0),
        dwords: words.len(),
        depth: 0,
        skipped: 0,
        packets: packets.collect(),
        fault: row.problem.map(|problem| Fault {
            offset: place.offset(problem.offset),
            address: place.address(problem.offset),
            word: Hex(words.get(problem.offset).copied().unwrap_or(0).into()),
            needed: problem.needed,
            got: problem.got,
            problem: problem.problem,
        }),
    }
}

/// Decodes words that end where a packet ends and start anywhere, as the old part of a ring does: finds the first
/// dword from which packet after packet leads to the end. `None` when there is no such dword.
pub(super) fn stream_before(
    request: &Request,
    engine: Engine,
    kind: &'static str,
    words: &[u32],
    place: Place,
) -> Option<Stream> {
    let mut leads = vec![false; words.len() + 1];
    leads[words.len()] = true;
    let mut first = None;
    for start in (0..words.len()).rev() {
        let length = engine.length(request, &words[start..]);
        leads[start] = length.is_some_and(|length| leads[start + length]);
        if leads[start] {
            first = Some(start);
        }
    }
    let first = first?;
    let place = Place { start: place.start + first, ..place };
    let found = stream(request, engine, kind, &words[first..], place);
    Some(Stream { skipped: first, ..found })
}

/// What is in memory at an address.
#[derive(Clone, Debug)]
pub struct Image {
    /// Address of the first dword.
    pub address: u64,
    /// What is there.
    pub words: Vec<u32>,
}

impl Image {
    /// The dwords from an address, as far as they are here and no more than asked for.
    fn get(&self, address: u64, dwords: usize) -> Option<&[u32]> {
        let distance = address.checked_sub(self.address)?;
        let words = self.words.get(usize::try_from(distance / 4).ok()?..)?;
        (distance % 4 == 0 && !words.is_empty()).then(|| &words[..dwords.min(words.len())])
    }
}

/// How far calls are followed. Nothing real comes near; streams made to harm do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls in calls.
    pub depth: usize,
    /// Indirect buffers.
    pub buffers: usize,
    /// Dwords of all indirect buffers.
    pub dwords: usize,
}

impl Limits {
    /// Generous ones.
    pub const DEFAULT: Limits = Limits { depth: 16, buffers: 4096, dwords: 1 << 20 };
}

/// Decodes the buffers that streams call, and those that they call, and says in each call what became of it.
pub(super) fn follow(request: &Request, streams: &mut Vec<Stream>) {
    let mut parents: Vec<Option<usize>> = vec![None; streams.len()];
    // Address, length and engine of the buffers among the streams.
    let mut known: HashMap<(u64, usize, &'static str), usize> = HashMap::new();
    let mut dwords = 0;
    let mut at = 0;
    while at < streams.len() {
        let mut packets = std::mem::take(&mut streams[at].packets);
        for call in packets.iter_mut().flat_map(|packet| &mut packet.calls) {
            let key = (call.address.0, call.dwords, call.engine);
            call.followed = if let Some(&stream) = known.get(&key) {
                if is_below(at, stream, &parents) {
                    Followed::Cycle { stream }
                } else {
                    Followed::Decoded { stream }
                }
            } else {
                match buffer(request, call) {
                    Err(known_dwords) => Followed::Missing { known_dwords },
                    Ok(_) if streams[at].depth >= request.limits.depth => {
                        Followed::Limit { limit: "depth" }
                    }
                    Ok(_) if known.len() >= request.limits.buffers => {
                        Followed::Limit { limit: "buffers" }
                    }
                    Ok(words) if dwords + words.len() > request.limits.dwords => {
                        Followed::Limit { limit: "dwords" }
                    }
                    Ok(words) => {
                        dwords += words.len();
                        let engine = if call.engine == "sdma" { Engine::Sdma } else { Engine::Pm4 };
                        let place = Place { base: call.address.0, start: 0, ring: None };
                        let depth = streams[at].depth + 1;
                        let found = stream(request, engine, "indirect buffer", words, place);
                        streams.push(Stream { depth, ..found });
                        parents.push(Some(at));
                        known.insert(key, streams.len() - 1);
                        Followed::Decoded { stream: streams.len() - 1 }
                    }
                }
            };
        }
        streams[at].packets = packets;
        at += 1;
    }
}

/// Whether `stream` is `ancestor` or was reached from it.
fn is_below(stream: usize, ancestor: usize, parents: &[Option<usize>]) -> bool {
    let mut at = Some(stream);
    while let Some(index) = at {
        if index == ancestor {
            return true;
        }
        at = parents[index];
    }
    false
}

/// The words of a called buffer, or how many of them are known.
fn buffer<'a>(request: &'a Request, call: &Call) -> Result<&'a [u32], usize> {
    let longest = request
        .memory
        .iter()
        .filter_map(|image| image.get(call.address.0, call.dwords))
        .max_by_key(|words| words.len());
    match longest {
        Some(words) if words.len() == call.dwords => Ok(words),
        Some(words) => Err(words.len()),
        None => Err(0),
    }
}
