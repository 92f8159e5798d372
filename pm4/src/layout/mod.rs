//! Layouts as data: which bits of which dwords hold a field, in which hardware.
//!
//! Every packet and register of this crate (and of the crates `sdma` and `aql`) is declared once, by the
//! macro [`layout!`](crate::layout!). From one declaration come the value type with its `encode` and
//! `decode`, which know the positions at compile time, and a [`Layout`], the same positions as data, for
//! printing and for tests that compare each bit with other people's definitions.
//!
//! What differs between hardware is data too: a field has one or more [`Placement`]s, each for a set of
//! [`Variants`]. A field that a variant lacks must be zero there; [`FieldError::Absent`] says so.

mod declare;
mod error;
mod names;
mod print;
mod write;

pub use error::{DecodeError, FieldError, check_values};
pub use print::{Shown, show, show_values};
pub use write::{Sink, WriteError, Writer};

/// A set of hardware variants, one bit each; what a bit means is up to the crate that declares the layout
/// ([`Generation`](crate::Generation) in this one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variants(pub u32);

impl Variants {
    /// Every variant.
    pub const ALL: Variants = Variants(u32::MAX);

    /// The variant of bit `index` alone; none when there is no such bit.
    pub const fn one(index: u32) -> Variants {
        Variants(if index < u32::BITS { 1 << index } else { 0 })
    }

    /// What is in either.
    pub const fn or(self, other: Variants) -> Variants {
        Variants(self.0 | other.0)
    }

    /// What is in this one and not in `other`.
    pub const fn without(self, other: Variants) -> Variants {
        Variants(self.0 & !other.0)
    }

    /// Whether the two have a variant in common.
    #[inline(always)]
    pub const fn contains(self, other: Variants) -> bool {
        self.0 & other.0 != 0
    }
}

/// The bits `high` to `low` of a dword.
#[doc(hidden)]
#[inline(always)]
pub const fn mask(high: u32, low: u32) -> u32 {
    (u32::MAX >> (31 - (high - low))) << low
}

/// The bits of a value that a dword's bits `high` to `low` have room for, the lowest being the value's bit `shift`.
#[doc(hidden)]
#[inline(always)]
pub const fn room(high: u32, low: u32, shift: u32) -> u64 {
    ((u32::MAX >> (31 - (high - low))) as u64) << shift
}

/// The dword's bits for a value.
#[doc(hidden)]
#[inline(always)]
pub const fn place(value: u64, high: u32, low: u32, shift: u32) -> u32 {
    ((value >> shift) as u32) << low & mask(high, low)
}

/// The value's bits of a dword.
#[doc(hidden)]
#[inline(always)]
pub const fn take(word: u32, high: u32, low: u32, shift: u32) -> u64 {
    (((word & mask(high, low)) >> low) as u64) << shift
}

/// Bits of one dword that hold bits of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// AMD's name of these bits, in lower case.
    pub name: &'static str,
    /// Which dword, from 0.
    pub dword: u8,
    /// Lowest bit in the dword.
    pub low: u8,
    /// Number of bits.
    pub width: u8,
    /// Which bit of the field's value the lowest one is.
    pub shift: u8,
}

impl Piece {
    /// The value's bits, counted from 0.
    const fn bits(&self) -> u32 {
        match 1u32.checked_shl(self.width as u32) {
            Some(end) => end.wrapping_sub(1),
            None => u32::MAX,
        }
    }

    /// The bits of the dword.
    pub const fn mask(&self) -> u32 {
        match self.bits().checked_shl(self.low as u32) {
            Some(mask) => mask,
            None => 0,
        }
    }

    /// The bits of the value.
    pub const fn value_mask(&self) -> u64 {
        match (self.bits() as u64).checked_shl(self.shift as u32) {
            Some(mask) => mask,
            None => 0,
        }
    }

    /// The dword's bits for a value.
    pub const fn place(&self, value: u64) -> u32 {
        match (value & self.value_mask()).checked_shr(self.shift as u32) {
            Some(bits) => match (bits as u32).checked_shl(self.low as u32) {
                Some(bits) => bits,
                None => 0,
            },
            None => 0,
        }
    }

    /// The value's bits of a dword.
    pub const fn take(&self, word: u32) -> u64 {
        match (word & self.mask()).checked_shr(self.low as u32) {
            Some(bits) => match (bits as u64).checked_shl(self.shift as u32) {
                Some(bits) => bits,
                None => 0,
            },
            None => 0,
        }
    }
}

/// Where a field is in some variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The variants.
    pub variants: Variants,
    /// The bits.
    pub pieces: &'static [Piece],
}

/// A field of a packet or register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name in the value type: AMD's, in lower case, or one for several of AMD's that make up a
    /// value together.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Where it is; at most one placement for a variant.
    pub placements: &'static [Placement],
    /// What is subtracted from the value before it is stored: 1 where hardware wants "count − 1".
    pub bias: u64,
    /// Names of values, where they have names.
    pub names: &'static [(u64, &'static str)],
    /// Whether it is one bit that says yes or no.
    pub flag: bool,
}

impl Field {
    /// Where the field is in a variant, if that has it.
    pub const fn placement(&self, variant: Variants) -> Option<&'static Placement> {
        let mut i = 0;
        while i < self.placements.len() {
            if self.placements[i].variants.contains(variant) {
                return Some(&self.placements[i]);
            }
            i += 1;
        }
        None
    }

    /// The field's value in words; `None` when the variant lacks it or the words are too few.
    pub fn read(&self, words: &[u32], variant: Variants) -> Option<u64> {
        let mut value = 0;
        for piece in self.placement(variant)?.pieces {
            value |= piece.take(*words.get(usize::from(piece.dword))?);
        }
        Some(value.wrapping_add(self.bias))
    }

    /// Puts a value into words that hold zeros there. What a variant lacks is left out.
    pub fn write(&self, value: u64, words: &mut [u32], variant: Variants) {
        let Some(placement) = self.placement(variant) else { return };
        for piece in placement.pieces {
            if let Some(word) = words.get_mut(usize::from(piece.dword)) {
                *word |= piece.place(value.wrapping_sub(self.bias));
            }
        }
    }
}

/// What tells a form of a packet from others that have its opcode and its length: the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The field.
    pub field: &'static str,
    /// Values of it.
    pub values: &'static [u64],
    /// Whether it is this form that has these values, rather than all other values.
    pub among: bool,
}

impl Form {
    /// Whether the field's value is that of this form.
    #[inline(always)]
    pub const fn holds(&self, value: u64) -> bool {
        let mut among = false;
        let mut i = 0;
        while i < self.values.len() {
            among |= self.values[i] == value;
            i += 1;
        }
        among == self.among
    }
}

/// A packet or register: its name, its length, its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// AMD's name; where a packet has several forms, a dot and what tells them apart.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Where the layout is written down.
    pub source: &'static str,
    /// The variants that have it.
    pub variants: Variants,
    /// Length in dwords, without a payload.
    pub dwords: usize,
    /// Whether a payload follows.
    pub payload: bool,
    /// The bits of dword 0 that say that it is this packet.
    pub fixed_mask: u32,
    /// What these bits are.
    pub fixed: u32,
    /// What tells it from other forms of the packet that begin with the same dword 0.
    pub form: Option<Form>,
    /// The fields, in the order of the value type.
    pub fields: &'static [Field],
}

impl Layout {
    /// The index of a field by name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether dword 0 is that of this packet.
    pub const fn matches(&self, word: u32) -> bool {
        word & self.fixed_mask == self.fixed
    }

    /// Whether nothing in the words speaks for another form of this packet.
    pub fn is_form(&self, words: &[u32], variant: Variants) -> bool {
        let told = self.form.and_then(|form| {
            let value = self.fields.get(self.index(form.field)?)?.read(words, variant)?;
            Some(form.holds(value))
        });
        told.unwrap_or(true)
    }

    /// Fails to compile when a piece is not in one of the dwords, or its value not in 64 bits.
    #[doc(hidden)]
    pub const fn assert_positions(&self) {
        let mut f = 0;
        while f < self.fields.len() {
            let placements = self.fields[f].placements;
            let mut p = 0;
            while p < placements.len() {
                let pieces = placements[p].pieces;
                let mut i = 0;
                while i < pieces.len() {
                    let piece = &pieces[i];
                    assert!((piece.dword as usize) < self.dwords, "a field beyond the last dword");
                    assert!(
                        piece.width > 0 && piece.low + piece.width <= 32,
                        "a field beyond its dword"
                    );
                    assert!(piece.shift + piece.width <= 64, "a field beyond 64 bits");
                    i += 1;
                }
                p += 1;
            }
            f += 1;
        }
    }

    /// Bits of a dword that a variant gives a meaning.
    pub fn known_bits(&self, dword: usize, variant: Variants) -> u32 {
        let fixed = if dword == 0 { self.fixed_mask } else { 0 };
        self.fields
            .iter()
            .filter_map(|field| field.placement(variant))
            .flat_map(|placement| placement.pieces)
            .filter(|piece| usize::from(piece.dword) == dword)
            .fold(fixed, |bits, piece| bits | piece.mask())
    }
}

/// A value with a layout: what a packet or register holds.
pub trait Packet: Copy {
    /// What selects among placements.
    type Variant: Copy;
    /// The dwords, without a payload.
    type Words: AsRef<[u32]> + AsMut<[u32]> + Copy;
    /// Fields and positions.
    const LAYOUT: &'static Layout;

    /// All fields zero.
    fn zero() -> Self;
    /// The value of field `index`; 0 when there is none.
    fn get(&self, index: usize) -> u64;
    /// Sets field `index`, if there is one, to what its type holds of `value`.
    fn set(&mut self, index: usize, value: u64);
    /// Bits that no field covers, by dword.
    fn reserved(&self) -> Self::Words;
    /// The dwords. Bits beyond a field's width are left out and never reach another field; [`Packet::check`]
    /// tells.
    fn to_words(&self, variant: Self::Variant) -> Self::Words;
    /// Reads dwords; what follows them is ignored.
    ///
    /// # Errors
    /// When they are too few or those of another packet, or of another form of this one.
    fn from_words(words: &[u32], variant: Self::Variant) -> Result<Self, DecodeError>;
    /// Whether the variant can say all this: what [`Packet::check`] explains.
    fn fits(&self, variant: Self::Variant) -> bool;
    /// Says why the variant cannot say all this.
    ///
    /// # Errors
    /// The first field that does not fit, is not there, is another form's, or is reserved and set.
    fn check(&self, variant: Self::Variant) -> Result<(), FieldError>;
}

/// A packet that dwords of the caller's follow.
pub trait HasPayload: Packet {
    /// How many dwords follow, by what the packet says.
    fn payload(&self) -> usize;

    /// Whether hardware takes the packet for as long as it says, beyond what each field can hold.
    ///
    /// # Errors
    /// The field that says another length.
    fn check_payload(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub, reason = "the macro declares what is public elsewhere")]

    use super::*;

    crate::layout! {
        /// The same in all hardware.
        pub struct Everywhere: "EVERYWHERE", 2 dwords everywhere;
        source "this test";
        fixed 0xff = 0x02;
        /// A byte.
        byte: u8 = 0[15:8];
        /// A number in units of 4 less one.
        number: u64 (minus 1) = 1[31:2] << 2;
    }

    #[test]
    fn pieces_of_any_numbers() {
        for counter in 0..100_000u32 {
            // Three numbers of 0 to 80 from one counter.
            let bits = counter.wrapping_mul(0x9e37_79b9);
            let number = |shift: u32| ((bits >> shift & 0xff) % 81) as u8;
            let (low, width, shift) = (number(0), number(8), number(16));
            let piece = Piece { name: "any", dword: 0, low, width, shift };
            assert_eq!(piece.place(u64::MAX) & !piece.mask(), 0);
            assert_eq!(piece.take(u32::MAX) & !piece.value_mask(), 0);
        }
        assert_eq!(Variants::one(32), Variants(0));
    }

    #[test]
    fn everywhere() {
        let value = Everywhere { byte: 7, number: 0x101, ..Everywhere::ZERO };
        assert_eq!(value.encode(), [0x702, 0x100]);
        assert_eq!(Everywhere::decode(&[0x702, 0x100, 9]), Ok(value));
        assert_eq!(value.check(), Ok(()));
        let wrong = Everywhere { number: 0x100, ..value };
        assert_eq!(
            wrong.check(),
            Err(FieldError::Unfit {
                packet: "EVERYWHERE",
                field: "number",
                value: 0x100,
                bits: 0xffff_fffc,
                bias: 1
            })
        );
        assert_eq!(
            Everywhere::decode(&[3, 0]),
            Err(DecodeError::Other { packet: "EVERYWHERE", mask: 0xff, needed: 2, got: 3 })
        );
        assert_eq!(
            Everywhere::decode(&[2]),
            Err(DecodeError::Short { packet: "EVERYWHERE", needed: 2, got: 1 })
        );
        assert_eq!(Everywhere::decode(&[0xabcd_0002, 3]).unwrap().encode(), [0xabcd_0002, 3]);
    }
}
