//! Golden words: what other people's definitions say of packets and registers, and how a layout is held
//! against them.
//!
//! Of packets with several forms ("NAME.form") the name with its form is the packet.
//!
//! A generator (`tests/oracle/` of each wire crate) reads or compiles AMD's headers and prints lines; the words
//! are all that is stored. It knows nothing of our crates. Names are AMD's, in lower case, except for the
//! packet's, which is that of the layout.
//!
//! ```text
//! # comment
//! head  PACKET VARIANTS : MASK VALUE            the bits of dword 0 that make it this packet
//! piece PACKET VARIANTS NAME : WORD...          the words when these bits are all set and nothing else is
//! join  PACKET VARIANTS NAME@SHIFT...           pieces that make up one value, with the value's bit of each
//! bias  PACKET VARIANTS NAME NUMBER            what is subtracted from the value before it is stored there
//! names PACKET VARIANTS NAME WORD=VALUE...     names of values, in capitals; each that we name must be there
//! whole PACKET VARIANTS NAME=VALUE... : WORD... a whole packet
//! ```
//!
//! VARIANTS are names of hardware variants, separated by commas; numbers are hexadecimal without a prefix, shifts
//! decimal. In a `whole` line the values are those of the pieces as stored.
//!
//! [`compare`] checks one layout in both directions, [`mutate`] that a wrong definition would be noticed,
//! [`exercise`] that the compiled encoder and decoder do what the layout says.

mod compare;
mod exercise;
mod lines;
mod mutate;

pub use compare::{Comparison, compare};
pub use exercise::{exercise, exercise_values, exercise_words, some_values};
pub use lines::{Golden, Line, What};
pub use mutate::mutate;

use pm4::layout::Variants;

/// A hardware variant: how golden lines name it, and its bit in layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// Its bit.
    pub set: Variants,
}
