//! `selvedge decode`: what a command stream, a ring or an indirect buffer says.
//!
//! [`Options`] are the command line; [`Request`] is the same with all files read, so that [`decode`] is a function of
//! bytes alone; [`Report`] is what it finds, which prints as text for people and as JSON. A report keeps no packets: each
//! is described when it is printed, so that a report takes little more memory than the words it is of.

mod aql;
mod calls;
mod input;
mod memory;
mod options;
mod parts;
mod pm4;
mod print;
pub mod report;
mod ring;
mod sdma;
mod stream;

pub use calls::Limits;
pub use input::{file_at, number, words};
pub use memory::{Extent, Image};
pub use options::{Options, run};
pub use report::Report;
pub use ring::{Pointers, Ring, RingError};
pub use stream::Packets;

use ::pm4::Generation;
use ::sdma::Version;
use std::borrow::Cow;
use std::fmt;
use stream::{Place, Source};

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
    /// Address of its first dword, if it is known; then the input is in memory too.
    pub base: Option<u64>,
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
    /// Memory that goes on behind the last address.
    Wrap {
        /// The file.
        name: String,
        /// Where it starts.
        address: u64,
        /// Its length.
        bytes: u64,
    },
    /// Two files that say what is in the same memory.
    Overlap {
        /// The one that starts first.
        first: Extent,
        /// The other.
        second: Extent,
    },
}

impl Error {
    /// Whether the command line is to blame, and not the file.
    pub fn is_usage(&self) -> bool {
        match self {
            Error::Text { .. } | Error::Length { .. } => false,
            Error::Ring { error, .. } => !matches!(error, RingError::Size { .. }),
            Error::Wrap { .. } | Error::Overlap { .. } => true,
        }
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
            Error::Wrap { name, address, bytes } => write!(
                f,
                "{name}: {bytes:#x} bytes at {address:#x} reach beyond the last address, 2^64 - 1: needed an address of \
                 at most {:#x}",
                bytes.wrapping_neg()
            ),
            Error::Overlap { first, second } => write!(
                f,
                "{second} overlaps {first}: needed one file for each address; cut one of them, or leave it out (with \
                 --base the input is memory too)"
            ),
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
/// When the input is no ring of the size or with the pointers that are given, and when what is said to be in memory
/// overlaps or goes on behind the last address.
pub fn decode(request: &Request) -> Result<Report<'_>, Error> {
    memory::check(request)?;
    let (ring, streams) = match request.ring {
        None => {
            let place = Place { base: request.base.unwrap_or(0), start: 0, ring: None };
            let input = Source {
                kind: "input",
                engine: request.engine,
                words: Cow::Borrowed(&request.words),
                place,
                depth: 0,
                skipped: 0,
            };
            (None, stream::streams(request, vec![input]))
        }
        Some(asked) => {
            let (ring, streams) = parts::ring(request, asked)
                .map_err(|error| Error::Ring { name: request.name.clone(), error })?;
            (Some(ring), streams)
        }
    };
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
