//! The first dword of a packet.

use core::fmt;

/// Header of a type-3 packet (nvd.h, `PACKET3`): type 31:30 = 3, body dwords − 1 in 29:16, opcode 15:8,
/// the rest flags that are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header(pub u32);

/// Why words are not the packet asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The header that was needed; flags do not matter.
    pub needed: Header,
    /// The header that was there.
    pub got: Header,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dword 0: needed a packet of opcode {:#04x} with {} dwords, got {:#010x}",
            self.needed.opcode(),
            self.needed.dwords(),
            self.got.0
        )
    }
}

impl core::error::Error for DecodeError {}

impl Header {
    /// A NOP of one dword, header alone (nvd.h, soc15d.h: PACKET3_NOP 0x10 with a count of 0x3fff), to fill gaps.
    pub const NOP: Header = Header(3 << 30 | 0x3fff << 16 | 0x10 << 8);

    /// A type-3 packet of `dwords` dwords, header included (2 to 16385).
    pub const fn new(opcode: u8, dwords: u32) -> Header {
        Header(3 << 30 | (dwords.wrapping_sub(2) & 0x3fff) << 16 | (opcode as u32) << 8)
    }

    /// Packet type; 3 for everything but fillers.
    pub const fn packet_type(self) -> u32 {
        self.0 >> 30
    }

    /// The operation of a type-3 packet.
    pub const fn opcode(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Length of a type-3 packet in dwords, header included.
    pub const fn dwords(self) -> u32 {
        (self.0 >> 16 & 0x3fff) + 2
    }

    /// Refuses another type, opcode or length.
    pub(crate) const fn check(self, needed: Header) -> Result<(), DecodeError> {
        if (self.0 ^ needed.0) & 0xffff_ff00 == 0 {
            Ok(())
        } else {
            Err(DecodeError { needed, got: self })
        }
    }
}
