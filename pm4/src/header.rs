//! The first dword of a packet.

/// Header of a packet: type 31:30; for type 3, body dwords − 1 in 29:16, opcode 15:8, the rest flags that are
/// carried (nvd.h and soc15d.h, `PACKET3`, `PACKET_TYPE*`, `CP_PACKET_GET_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header(pub u32);

impl Header {
    /// A NOP of one dword, header alone (nvd.h, soc15d.h: PACKET3_NOP 0x10 with a count of 0x3fff), to fill gaps.
    pub const NOP: Header = Header(3 << 30 | 0x3fff << 16 | 0x10 << 8);

    /// A type-3 packet of `dwords` dwords, header included (2 to 16384).
    pub const fn new(opcode: u8, dwords: u32) -> Header {
        Header(3 << 30 | (dwords.wrapping_sub(2) & 0x3fff) << 16 | (opcode as u32) << 8)
    }

    /// Packet type: 3 for everything but fillers (2) and register writes of old (0).
    pub const fn packet_type(self) -> u32 {
        self.0 >> 30
    }

    /// The operation of a type-3 packet.
    pub const fn opcode(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Length of the packet in dwords, header included; `None` for type 1, which does not exist.
    pub const fn dwords(self) -> Option<usize> {
        let count = (self.0 >> 16 & 0x3fff) as usize;
        match self.packet_type() {
            0 => Some(count + 2),
            2 => Some(1),
            3 if self.opcode() == Header::NOP.opcode() && count == 0x3fff => Some(1),
            3 => Some(count + 2),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        for (word, dwords) in [
            (Header::NOP.0, Some(1)),
            (0xc000_1000, Some(2)),
            (0xc006_4900, Some(8)),
            (0xc006_4903, Some(8)),
            (0x8000_0000, Some(1)),
            (0x0002_1234, Some(4)),
            (0x4000_0000, None),
        ] {
            assert_eq!(Header(word).dwords(), dwords, "{word:#x}");
        }
        assert_eq!(Header::new(0x49, 8), Header(0xc006_4900));
    }
}
