//! Signed fields.

use core::fmt;

/// A signed field of 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signed(pub i64);

impl Signed {
    /// No values have names.
    pub const NAMES: &'static [(u64, &'static str)] = &[];

    /// The value of a field.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Signed {
        Signed(bits.cast_signed())
    }

    /// The field of a value.
    #[inline(always)]
    pub const fn into_bits(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
