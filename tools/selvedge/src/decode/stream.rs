//! Streams of any engine: walked once to find what they call and where they are wrong, described packet by packet
//! when they are printed. So of a stream only its words are kept.

use super::calls::Calls;
use super::report::{Call, Fault, Hex, IN_FLIGHT, Packet, Stream};
use super::{Engine, Request, aql, memory, pm4, sdma};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// Dwords of a fault that are kept: as many as text shows of a packet.
const FAULT_WORDS: usize = 64;

/// A packet of any engine, not yet described.
#[derive(Debug)]
pub(super) enum Raw<'a> {
    Pm4(::pm4::RawPacket<'a>),
    Sdma(::sdma::RawPacket<'a>),
    Aql(aql::Slot<'a>),
}

impl<'a> Raw<'a> {
    pub(super) const fn offset(&self) -> usize {
        match self {
            Raw::Pm4(raw) => raw.offset,
            Raw::Sdma(raw) => raw.offset,
            Raw::Aql(slot) => slot.offset,
        }
    }

    pub(super) const fn words(&self) -> &'a [u32] {
        match self {
            Raw::Pm4(raw) => raw.words,
            Raw::Sdma(raw) => raw.words,
            Raw::Aql(slot) => slot.words,
        }
    }

    fn calls(&self) -> Vec<Call> {
        match self {
            Raw::Pm4(raw) => pm4::calls(raw),
            Raw::Sdma(raw) => sdma::calls(raw),
            Raw::Aql(slot) => aql::calls(slot),
        }
    }

    /// The packet as it is described wherever it is.
    pub(super) fn packet(&self) -> Packet {
        match self {
            Raw::Pm4(raw) => pm4::packet(raw),
            Raw::Sdma(raw) => sdma::packet(raw),
            Raw::Aql(slot) => aql::packet(slot),
        }
    }
}

/// Where words stop being packets.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) offset: usize,
    pub(super) needed: Option<usize>,
    pub(super) got: usize,
    pub(super) problem: String,
}

/// Packets up to the first problem.
type Raws<'a> = Box<dyn Iterator<Item = Result<Raw<'a>, Problem>> + 'a>;

impl Engine {
    /// The packets that words are to the engine.
    fn raws<'a>(self, request: &Request, words: &'a [u32]) -> Raws<'a> {
        match self {
            Engine::Pm4 => Box::new(pm4::raws(request.generation, words)),
            Engine::Sdma => Box::new(sdma::raws(request.sdma, words)),
            Engine::Aql => Box::new(aql::raws(request.generation, words)),
        }
    }

    /// The packet at the start of words, if it is there as a whole.
    pub(super) fn first<'a>(self, request: &Request, words: &'a [u32]) -> Option<Raw<'a>> {
        self.raws(request, words).next()?.ok()
    }
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
    pub(super) fn offset(&self, dwords: usize) -> usize {
        let offset = self.start + dwords;
        self.ring.map_or(offset, |ring| offset % ring)
    }

    pub(super) fn address(&self, dwords: usize) -> Hex {
        Hex(self.base.wrapping_add(4 * self.offset(dwords) as u64))
    }
}

/// Words that an engine reads, and where they are.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    pub(super) kind: &'static str,
    pub(super) engine: Engine,
    pub(super) words: Cow<'a, [u32]>,
    pub(super) place: Place,
    pub(super) depth: usize,
    pub(super) skipped: usize,
}

impl Source<'_> {
    fn fault(&self, problem: Problem) -> Fault {
        let Problem { offset, needed, got, problem } = problem;
        let words = self.words.iter().skip(offset).take(FAULT_WORDS);
        let words: Vec<Hex> = words.map(|word| Hex((*word).into())).collect();
        Fault {
            offset: self.place.offset(offset),
            address: self.place.address(offset),
            word: words.first().copied().unwrap_or(Hex(0)),
            words,
            needed,
            got,
            problem,
        }
    }
}

/// The packets of a stream, made one by one.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    request: &'a Request,
    source: Source<'a>,
    /// The stream's index.
    index: usize,
    calls: Arc<Calls>,
}

impl Packets<'_> {
    /// The packets from the first on.
    pub fn iter(&self) -> impl Iterator<Item = Packet> {
        self.raws().map(|raw| self.describe(&raw))
    }

    pub(super) fn raws(&self) -> impl Iterator<Item = Raw<'_>> {
        self.source.engine.raws(self.request, &self.source.words).map_while(Result::ok)
    }

    pub(super) fn address(&self, raw: &Raw<'_>) -> Hex {
        self.source.place.address(raw.offset())
    }

    /// The packet with its place and what became of its calls.
    pub(super) fn describe(&self, raw: &Raw<'_>) -> Packet {
        let Source { kind, place, depth, .. } = self.source;
        let mut packet = raw.packet();
        packet.offset = place.offset(raw.offset());
        packet.address = place.address(raw.offset());
        for call in &mut packet.calls {
            call.followed = self.calls.followed(self.request, self.index, depth, call);
        }
        if kind == IN_FLIGHT && packet.name == aql::INVALID {
            let note = "reserved and not published: the packet processor waits here";
            packet.notes.push(note.to_owned());
        }
        packet
    }
}

impl Serialize for Packets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// The streams of these sources, and of the buffers that they call and those call.
pub(super) fn streams<'a>(request: &'a Request, mut sources: Vec<Source<'a>>) -> Vec<Stream<'a>> {
    let mut calls = Calls::new(sources.len());
    let mut faults = Vec::new();
    while let Some(source) = sources.get(faults.len()) {
        let (index, depth) = (faults.len(), source.depth);
        let (mut fault, mut found) = (None, Vec::new());
        for raw in source.engine.raws(request, &source.words) {
            match raw {
                Err(problem) => fault = Some(source.fault(problem)),
                Ok(raw) => {
                    let new = raw.calls().into_iter();
                    found.extend(new.filter(|call| calls.note(request, index, depth, call)));
                }
            }
        }
        faults.push(fault);
        // What is new is in memory.
        sources.extend(found.iter().filter_map(|call| {
            Some(Source {
                kind: "indirect buffer",
                engine: if call.engine == "sdma" { Engine::Sdma } else { Engine::Pm4 },
                words: Cow::Borrowed(memory::buffer(request, call).ok()?),
                place: Place { base: call.address.0, start: 0, ring: None },
                depth: depth + 1,
                skipped: 0,
            })
        }));
    }
    calls.complete();
    let calls = Arc::new(calls);
    let stream = |(index, (source, fault)): (usize, (Source<'a>, Option<Fault>))| Stream {
        kind: source.kind,
        engine: source.engine.name(),
        address: source.place.address(0),
        dwords: source.words.len(),
        depth: source.depth,
        skipped: source.skipped,
        packets: Packets { request, source, index, calls: Arc::clone(&calls) },
        fault,
    };
    sources.into_iter().zip(faults).enumerate().map(stream).collect()
}
