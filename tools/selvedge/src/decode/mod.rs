//! `selvedge decode`: what a command stream, a ring or an indirect buffer says.
//!
//! [`Options`] are the command line; [`Request`] is the same with all files read, so that [`decode`] is a function of
//! bytes alone; [`Report`] is what it finds, which prints as text for people and as JSON.

mod aql;
mod input;
mod options;
mod pm4;
mod print;
pub mod report;
mod ring;
mod sdma;
mod stream;

pub use input::{file_at, number, words};
pub use options::{Options, run};
pub use report::Report;
pub use ring::{Pointers, Ring, RingError};
pub use stream::{Image, Limits};

use ::pm4::Generation;
use ::sdma::Version;
use report::{Hex, Stream};
use std::fmt;
use stream::Place;

/// What reads a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// A command processor that reads PM4.
    Pm4,
    /// A command processor that reads AQL packets.
    Aql,
    /// A DMA engine.
    Sdma,
}

impl Engine {
    /// Its name, as the command line and the report have it.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Pm4 => "pm4",
            Engine::Aql => "aql",
            Engine::Sdma => "sdma",
        }
    }

    /// What the pointers of its rings count.
    pub const fn unit(self) -> &'static str {
        match self {
            Engine::Pm4 => "dwords",
            Engine::Aql => "packets",
            Engine::Sdma => "bytes",
        }
    }

    const fn unit_bytes(self) -> u64 {
        match self {
            Engine::Pm4 => 4,
            Engine::Aql => ::aql::PACKET_BYTES as u64,
            Engine::Sdma => 1,
        }
    }
}

/// How a ring is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingRequest {
    /// The pointers.
    pub pointers: Pointers,
    /// Whether to decode what is not in flight too.
    pub all: bool,
}

/// What to decode.
#[derive(Clone, Debug)]
pub struct Request {
    /// The engine that reads it.
    pub engine: Engine,
    /// The processor's name.
    pub gfx: String,
    /// Its generation.
    pub generation: Generation,
    /// The version of its SDMA engines.
    pub sdma: Version,
    /// Name of the input, for messages.
    pub name: String,
    /// The input.
    pub words: Vec<u32>,
    /// Address of its first dword.
    pub base: u64,
    /// How to read it as a ring, if it is one.
    pub ring: Option<RingRequest>,
    /// What is in memory, to follow calls.
    pub memory: Vec<Image>,
    /// How far to follow them.
    pub limits: Limits,
}

/// Why an input cannot be decoded at all. What is wrong inside a stream is part of the [`Report`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A word of text that is none.
    Text {
        /// The file.
        name: String,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// The word, or its start.
        word: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Bytes that are no whole dwords.
    Length {
        /// The file.
        name: String,
        /// How many.
        bytes: usize,
    },
    /// A ring that cannot be.
    Ring {
        /// The file.
        name: String,
        /// Why.
        error: RingError,
    },
}

impl Error {
    /// Whether the command line is to blame, and not the file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Ring { error, .. } if !matches!(error, RingError::Size { .. }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Text { name, line, column, word, problem } => {
                write!(f, "{name}, line {line}, column {column}: word {word:?}: {problem}")
            }
            Error::Length { name, bytes } => write!(
                f,
                "{name}: {bytes} bytes are no whole dwords ({bytes} mod 4 = {}): needed little-endian dwords, or text \
                 of hexadecimal words; was the file cut off, or is it another dump?",
                bytes % 4
            ),
            Error::Ring { name, error } => write!(f, "{name}: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Ring { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Decodes the input, and the buffers that it calls as far as they are in memory.
///
/// # Errors
/// When the input is no ring of the size or with the pointers that are given.
pub fn decode(request: &Request) -> Result<Report, Error> {
    let (ring, mut streams) = match request.ring {
        None => {
            let place = Place { base: request.base, start: 0, ring: None };
            (None, vec![stream::stream(request, request.engine, "input", &request.words, place)])
        }
        Some(asked) => {
            let (ring, streams) = decode_ring(request, asked)
                .map_err(|error| Error::Ring { name: request.name.clone(), error })?;
            (Some(ring), streams)
        }
    };
    stream::follow(request, &mut streams);
    Ok(Report {
        schema: 1,
        input: request.name.clone(),
        engine: request.engine.name(),
        gfx: request.gfx.clone(),
        generation: request.generation.to_string(),
        sdma: request.sdma.name(),
        ring,
        streams,
    })
}

fn decode_ring(
    request: &Request,
    asked: RingRequest,
) -> Result<(report::Ring, Vec<Stream>), RingError> {
    let engine = request.engine;
    let ring = Ring::new(engine, request.words.len(), asked.pointers)?;
    let place = |start| Place { base: request.base, start, ring: Some(ring.dwords) };
    let mut streams = Vec::new();
    if asked.all {
        let range = ring.rest();
        let words = ring.words(&request.words, range.clone());
        // What was never written comes first: the part between the write pointer and the end of the ring.
        let to_end = (ring.dwords - ring.write).min(words.len());
        let fresh = !ring.wrapped && words[..to_end].iter().all(|word| *word == 0);
        let old = if fresh { to_end } else { 0 };
        if let words @ [_, ..] = &words[old..] {
            let place = place(range.start + old);
            let found = stream::stream_before(request, engine, "read", words, place);
            // Without a way to the read pointer, say where the first packet is wrong.
            streams.push(
                found.unwrap_or_else(|| stream::stream(request, engine, "read", words, place)),
            );
        }
        if fresh && old > 0 {
            let words = &words[..old];
            let place = place(range.start);
            let found = stream::stream(request, engine, "unwritten", &[], place);
            streams.push(Stream { dwords: words.len(), ..found });
        }
    }
    let range = ring.in_flight();
    let words = ring.words(&request.words, range.clone());
    let mut in_flight = stream::stream(request, engine, "in flight", &words, place(range.start));
    for packet in in_flight.packets.iter_mut().filter(|packet| packet.name == aql::INVALID) {
        let note = "reserved and not published: the packet processor waits here";
        packet.notes.push(note.to_owned());
    }
    let unwritten = streams.iter().position(|stream| stream.kind == "unwritten");
    streams.insert(unwritten.unwrap_or(streams.len()), in_flight);
    let unit = engine.unit_bytes();
    let described = report::Ring {
        unit: engine.unit(),
        size: 4 * ring.dwords as u64 / unit,
        read_pointer: Hex(asked.pointers.read),
        write_pointer: Hex(asked.pointers.write),
        read_offset: ring.read,
        write_offset: ring.write,
        in_flight: 4 * ring.in_flight as u64 / unit,
    };
    Ok((described, streams))
}
