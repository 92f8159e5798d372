//! Why bytes are no instruction.

use core::fmt;

use crate::{Format, Opcode};

/// Why a decode failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The input ends inside the instruction.
    Truncated {
        /// The instruction's format, when its first dword was there.
        format: Option<Format>,
        /// Bytes the instruction needs, as far as could be told.
        needed: u8,
        /// Bytes there were.
        got: usize,
    },
    /// No format of this generation begins with these bits.
    UnknownFormat {
        /// The first dword.
        word: u32,
    },
    /// A format this crate has no tables for: images, exports, LDS parameter loads.
    UnsupportedFormat {
        /// The format.
        format: Format,
    },
    /// The format has no operation with this number.
    UnknownOpcode {
        /// The format.
        format: Format,
        /// The opcode field.
        number: u16,
    },
    /// An operand the operation reads or writes holds a reserved code.
    ReservedOperand {
        /// The operation.
        opcode: Opcode,
        /// The field's name.
        field: &'static str,
        /// Its code.
        code: u16,
    },
    /// The operation has no SDWA form, or a part selection is reserved.
    InvalidSdwa {
        /// The operation.
        opcode: Opcode,
    },
    /// The operation has no DPP form, or none with this control.
    InvalidDpp {
        /// The operation.
        opcode: Opcode,
        /// The 9-bit control, or `None` where the operation has no DPP form at all.
        control: Option<u16>,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Truncated { format, needed, got } => {
                let name = format.map_or("an", Format::name);
                write!(f, "{name} instruction needs {needed} bytes, got {got}")
            }
            DecodeError::UnknownFormat { word } => {
                write!(f, "no instruction format begins with {word:#010x}")
            }
            DecodeError::UnsupportedFormat { format } => {
                write!(f, "no tables for {} instructions", format.name())
            }
            DecodeError::UnknownOpcode { format, number } => {
                write!(f, "{} has no operation number {number}", format.name())
            }
            DecodeError::ReservedOperand { opcode, field, code } => {
                write!(f, "{} has reserved code {code} in field {field}", opcode.name())
            }
            DecodeError::InvalidSdwa { opcode } => {
                write!(f, "{} has no such SDWA form", opcode.name())
            }
            DecodeError::InvalidDpp { opcode, control: None } => {
                write!(f, "{} has no DPP form", opcode.name())
            }
            DecodeError::InvalidDpp { opcode, control: Some(control) } => {
                write!(f, "{} has reserved DPP control {control:#x}", opcode.name())
            }
        }
    }
}

impl core::error::Error for DecodeError {}
