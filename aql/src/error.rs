//! Why bytes could not be decoded.

use crate::header::PacketType;
use core::fmt;

/// Why words or bytes are not what a decoder was asked for: what it needed, what it got, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// Another type in the header: dword 0, bits 7:0.
    PacketType {
        /// The types that the decoder reads.
        needed: &'static str,
        /// The type found.
        got: PacketType,
    },
    /// Another vendor-specific format: dword 0, bits 23:16.
    VendorFormat {
        /// The format that the decoder reads.
        needed: u8,
        /// The format found.
        got: u8,
    },
    /// A vendor-specific packet without the PM4 packet that its format promises: dword 1.
    Pm4Opcode {
        /// The PM4 header that the decoder reads.
        needed: u32,
        /// The dword found.
        got: u32,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::PacketType { needed, got } => {
                write!(f, "packet type (dword 0, bits 7:0): needed {needed}, got {got}")
            }
            DecodeError::VendorFormat { needed, got } => {
                write!(f, "vendor format (dword 0, bits 23:16): needed {needed}, got {got}")
            }
            DecodeError::Pm4Opcode { needed, got } => {
                write!(f, "PM4 header (dword 1): needed {needed:#010x}, got {got:#010x}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}
