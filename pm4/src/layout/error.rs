//! What can be wrong with words and with values.

use super::{Packet, Variants};
use core::fmt;

/// Why words are not the packet asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeError {
    /// The words end before the packet does.
    Short {
        /// The packet.
        packet: &'static str,
        /// Its length in dwords.
        needed: usize,
        /// The dwords that were there.
        got: usize,
    },
    /// Dword 0 is another packet's.
    Other {
        /// The packet.
        packet: &'static str,
        /// The bits of dword 0 that say so.
        mask: u32,
        /// What they had to be.
        needed: u32,
        /// Dword 0.
        got: u32,
    },
    /// It is another form of the packet.
    OtherForm {
        /// The form that was asked for.
        packet: &'static str,
        /// The field that tells them apart.
        field: &'static str,
        /// What it holds.
        got: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Short { packet, needed, got } => {
                write!(f, "{packet}: needed {needed} dwords, got {got}")
            }
            DecodeError::Other { packet, mask, needed, got } => {
                write!(
                    f,
                    "{packet}: needed dword 0 = {needed:#010x} in bits {mask:#010x}, got {got:#010x}"
                )
            }
            DecodeError::OtherForm { packet, field, got } => {
                write!(f, "{packet}: {field} = {got:#x} is another form of the packet")
            }
        }
    }
}

impl core::error::Error for DecodeError {}

/// Why a value cannot be encoded as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldError {
    /// The value has bits that the field has no room for: it is too large, or not a multiple of the unit.
    Unfit {
        /// The packet.
        packet: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
        /// The bits a value may have, before `bias` is added.
        bits: u64,
        /// What is added: 1 where the hardware counts from 1.
        bias: u64,
    },
    /// This hardware has no such field, and it is not zero.
    Absent {
        /// The packet.
        packet: &'static str,
        /// The field.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// The value is that of another form of the packet, which has a type of its own.
    OtherForm {
        /// The form.
        packet: &'static str,
        /// The field that tells forms apart.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// A reserved bit is set.
    Reserved {
        /// The packet.
        packet: &'static str,
        /// The dword.
        dword: usize,
        /// The bits.
        bits: u32,
    },
    /// The number is outside a range.
    Range {
        /// The packet or sequence.
        packet: &'static str,
        /// What it is the number of.
        field: &'static str,
        /// The number.
        value: u64,
        /// The least that can be.
        min: u64,
        /// The most that can be.
        max: u64,
    },
    /// This hardware has no such packet.
    NoSuchPacket {
        /// The packet.
        packet: &'static str,
    },
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FieldError::Unfit { packet, field, value, bits, bias } => {
                let unit = 1u64 << bits.trailing_zeros().min(63);
                let last = bits.wrapping_add(bias);
                write!(f, "{packet}: {field} = {value:#x}, needed {bias:#x} to {last:#x}")?;
                if unit > 1 { write!(f, ", a multiple of {unit:#x}") } else { Ok(()) }
            }
            FieldError::Absent { packet, field, value } => {
                write!(
                    f,
                    "{packet}: {field} = {value:#x}, needed 0: this hardware has no such field"
                )
            }
            FieldError::OtherForm { packet, field, value } => {
                write!(
                    f,
                    "{packet}: {field} = {value:#x} is another form of the packet, which has its own type"
                )
            }
            FieldError::Reserved { packet, dword, bits } => {
                write!(f, "{packet}: reserved bits {bits:#010x} of dword {dword} are set, needed 0")
            }
            FieldError::Range { packet, field, value, min, max } if min == max => {
                write!(f, "{packet}: {field} = {value}, needed {min}")
            }
            FieldError::Range { packet, field, value, min, max } => {
                write!(f, "{packet}: {field} = {value}, needed {min} to {max}")
            }
            FieldError::NoSuchPacket { packet } => {
                write!(f, "{packet}: this hardware has no such packet")
            }
        }
    }
}

impl core::error::Error for FieldError {}

/// Why a variant cannot say what a packet holds: what the `check` of packets calls.
///
/// # Errors
/// The first field that does not fit, is not there, is another form's, or is reserved and set.
pub fn check_values<P: Packet>(packet: &P, variant: Variants) -> Result<(), FieldError> {
    let layout = P::LAYOUT;
    let name = layout.name;
    if !layout.variants.contains(variant) {
        return Err(FieldError::NoSuchPacket { packet: name });
    }
    for (index, field) in layout.fields.iter().enumerate() {
        let value = packet.get(index);
        match field.placement(variant) {
            Some(placement) => {
                let bits = placement.pieces.iter().fold(0, |bits, piece| bits | piece.value_mask());
                if value.wrapping_sub(field.bias) & !bits != 0 {
                    let (field, bias) = (field.name, field.bias);
                    return Err(FieldError::Unfit { packet: name, field, value, bits, bias });
                }
            }
            None if value != 0 => {
                return Err(FieldError::Absent { packet: name, field: field.name, value });
            }
            None => {}
        }
        if let Some(form) = layout.form
            && form.field == field.name
            && !form.holds(value)
        {
            return Err(FieldError::OtherForm { packet: name, field: field.name, value });
        }
    }
    for (dword, bits) in packet.reserved().as_ref().iter().enumerate() {
        if *bits != 0 {
            return Err(FieldError::Reserved { packet: name, dword, bits: *bits });
        }
    }
    Ok(())
}
