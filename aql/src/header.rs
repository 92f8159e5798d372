//! The first half-dword of every packet: type, barrier bit, fence scopes.
//!
//! Packets have these as fields of their own; [`Header`] is for a look at a word before anybody knows what packet
//! it starts.

pm4::names! {
    /// What kind of packet it is (`hsa_packet_type_t`, hsa.h).
    pub struct PacketType(u8) {
        /// A format of AMD's own, named by the next byte ([`vendor::Format`](crate::vendor::Format)).
        VENDOR_SPECIFIC = 0,
        /// The slot holds no packet yet; the processor waits.
        INVALID = 1,
        /// [`KernelDispatch`](crate::KernelDispatch).
        KERNEL_DISPATCH = 2,
        /// [`BarrierAnd`](crate::BarrierAnd).
        BARRIER_AND = 3,
        /// [`AgentDispatch`](crate::AgentDispatch).
        AGENT_DISPATCH = 4,
        /// [`BarrierOr`](crate::BarrierOr).
        BARRIER_OR = 5,
    }
}

pm4::names! {
    /// How far a memory fence reaches (`hsa_fence_scope_t`, hsa.h). 3 has no name there.
    pub struct FenceScope(u8) {
        /// No fence; only for a packet whose memory is fenced otherwise.
        NONE = 0,
        /// The caches of this device.
        AGENT = 1,
        /// Also the host and other devices.
        SYSTEM = 2,
    }
}

pm4::layout! {
    /// What every packet's dword 0 says in bits 15:0 (`hsa_packet_header_t`).
    pub struct Header: "HEADER", 1 dwords everywhere;
    source "hsa.h, hsa_packet_header_t";
    fixed 0 = 0;
    /// What the other bits of the packet mean.
    packet_type: PacketType = 0[7:0] as type;
    /// The packet starts only when all earlier ones of the queue are complete.
    barrier: bool = 0[8:8];
    /// Whose writes it sees: the fence before it starts.
    acquire: FenceScope = 0[10:9] as scacquire_fence_scope;
    /// Who sees its writes: the fence after it, before its completion is told.
    release: FenceScope = 0[12:11] as screlease_fence_scope;
}

impl Header {
    /// A slot without a packet: type [`PacketType::INVALID`], everything else zero.
    pub const INVALID: Header = Header { packet_type: PacketType::INVALID, ..Header::ZERO };

    /// The header in bits 15:0 of a packet's dword 0; bits 15:13, which must be zero, are in `reserved`.
    #[inline]
    pub const fn from_word(word: u32) -> Header {
        Header {
            packet_type: PacketType(word as u8),
            barrier: word >> 8 & 1 != 0,
            acquire: FenceScope((word >> 9 & 3) as u8),
            release: FenceScope((word >> 11 & 3) as u8),
            reserved: [word & 0xe000],
        }
    }

    /// The half-dword.
    #[inline]
    pub const fn into_bits(&self) -> u16 {
        self.encode()[0] as u16
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn all_headers_round_trip() {
        for bits in 0..=u16::MAX {
            let header = Header::from_word(0xabcd_0000 | u32::from(bits));
            assert_eq!(header.into_bits(), bits);
            assert_eq!(Header::decode(&[bits.into()]), Ok(header));
        }
    }

    #[test]
    fn reads_well() {
        let header = Header::from_word(0x1502);
        assert_eq!(
            header.to_string(),
            "HEADER packet_type=KERNEL_DISPATCH barrier acquire=SYSTEM release=SYSTEM"
        );
        assert_eq!(
            Header::from_word(0xfeff).to_string(),
            "HEADER packet_type=0xff acquire=3 release=3 reserved[0]=0xe000"
        );
        assert_eq!(Header::INVALID.into_bits(), 1);
    }
}
