//! What the fuzz targets of the wire crates share.

use pm4::layout::{Packet, Variants};
use selvedge_golden::{exercise_values, exercise_words, some_values};
use std::fmt::Display;

/// Bytes as little-endian dwords; up to three at the end are left out.
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Takes `N` bytes from the front; what is missing is zero.
pub fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (front, rest) = bytes.split_at(N.min(bytes.len()));
    taken[..front.len()].copy_from_slice(front);
    *bytes = rest;
    taken
}

/// One of `all`, by a byte of the input.
pub fn pick<T: Copy>(all: &[T], bytes: &mut &[u8]) -> T {
    let [byte] = take(bytes);
    all[usize::from(byte) % all.len()]
}

/// Values of a packet type, valid ones or any by the first byte, and any words, through its encoder and decoder: both do
/// what the layout says as data.
pub fn exercise<P: Packet + Display>(bytes: &[u8], set: Variants, variant: P::Variant) {
    let words = dwords(bytes);
    exercise_words::<P>(&words, set, variant);
    let mut bytes = bytes;
    let [choices] = take(&mut bytes);
    let number = || u64::from_le_bytes(take(&mut bytes));
    let values = some_values(P::LAYOUT, set, choices & 1 == 1, number);
    exercise_values::<P>(&values, set, variant);
}

/// [`exercise`] for each type of a crate's list: `pm4::packets!(exercise_each bytes, set, generation)`.
#[macro_export]
macro_rules! exercise_each {
    ($bytes:expr, $set:expr, $variant:expr; $($Packet:ident),+ $(,)?) => {
        $($crate::exercise::<$Packet>($bytes, $set, $variant);)+
    };
}
