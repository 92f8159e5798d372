//! Fields of several sizes in dwords.

/// Bits 31:0.
#[inline]
pub(crate) const fn low(value: u64) -> u32 {
    value as u32
}

/// Bits 63:32.
#[inline]
pub(crate) const fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

/// Two halves, the low one first.
#[inline]
pub(crate) const fn pair(low: u16, high: u16) -> u32 {
    low as u32 | (high as u32) << 16
}

/// The halves of a dword, the low one first.
#[inline]
pub(crate) const fn halves(word: u32) -> (u16, u16) {
    (word as u16, (word >> 16) as u16)
}

/// The qword whose low dword is `words[index]`.
#[inline]
pub(crate) const fn quad(words: &[u32; 16], index: usize) -> u64 {
    words[index] as u64 | (words[index + 1] as u64) << 32
}
