//! The first half-dword of every packet: type, barrier bit, fence scopes.

use bitfield_struct::bitfield;
use core::fmt;

/// What kind of packet it is (`hsa_packet_type_t`, hsa.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketType {
    /// `HSA_PACKET_TYPE_VENDOR_SPECIFIC` (0): a format of AMD's own, named by the next byte.
    VendorSpecific,
    /// `HSA_PACKET_TYPE_INVALID` (1): the slot holds no packet yet; the processor waits.
    Invalid,
    /// `HSA_PACKET_TYPE_KERNEL_DISPATCH` (2).
    KernelDispatch,
    /// `HSA_PACKET_TYPE_BARRIER_AND` (3).
    BarrierAnd,
    /// `HSA_PACKET_TYPE_AGENT_DISPATCH` (4).
    AgentDispatch,
    /// `HSA_PACKET_TYPE_BARRIER_OR` (5).
    BarrierOr,
    /// A value that hsa.h does not define.
    Unknown(u8),
}

impl PacketType {
    /// The type of a header's bits 7:0.
    pub const fn from_bits(bits: u8) -> PacketType {
        match bits {
            0 => PacketType::VendorSpecific,
            1 => PacketType::Invalid,
            2 => PacketType::KernelDispatch,
            3 => PacketType::BarrierAnd,
            4 => PacketType::AgentDispatch,
            5 => PacketType::BarrierOr,
            other => PacketType::Unknown(other),
        }
    }

    /// A header's bits 7:0.
    pub const fn into_bits(self) -> u8 {
        match self {
            PacketType::VendorSpecific => 0,
            PacketType::Invalid => 1,
            PacketType::KernelDispatch => 2,
            PacketType::BarrierAnd => 3,
            PacketType::AgentDispatch => 4,
            PacketType::BarrierOr => 5,
            PacketType::Unknown(other) => other,
        }
    }
}

impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PacketType::VendorSpecific => "vendor-specific",
            PacketType::Invalid => "invalid",
            PacketType::KernelDispatch => "kernel-dispatch",
            PacketType::BarrierAnd => "barrier-and",
            PacketType::AgentDispatch => "agent-dispatch",
            PacketType::BarrierOr => "barrier-or",
            PacketType::Unknown(other) => return write!(f, "unknown({other})"),
        })
    }
}

/// How far a memory fence reaches (`hsa_fence_scope_t`, hsa.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FenceScope {
    /// `HSA_FENCE_SCOPE_NONE` (0): no fence; only a packet whose memory is fenced otherwise.
    #[default]
    None,
    /// `HSA_FENCE_SCOPE_AGENT` (1): the caches of this device.
    Agent,
    /// `HSA_FENCE_SCOPE_SYSTEM` (2): also the host and other devices.
    System,
    /// 3, which hsa.h does not define.
    Reserved,
}

impl FenceScope {
    /// The scope of a two-bit field; further bits are ignored.
    pub const fn from_bits(bits: u8) -> FenceScope {
        match bits & 3 {
            0 => FenceScope::None,
            1 => FenceScope::Agent,
            2 => FenceScope::System,
            _ => FenceScope::Reserved,
        }
    }

    /// The two-bit field.
    pub const fn into_bits(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for FenceScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FenceScope::None => "none",
            FenceScope::Agent => "agent",
            FenceScope::System => "system",
            FenceScope::Reserved => "reserved(3)",
        })
    }
}

/// A packet's header (`hsa_packet_header_t`, hsa.h): bits 15:0 of dword 0.
#[bitfield(u16, debug = true)]
#[derive(PartialEq, Eq, Hash)]
pub struct Header {
    /// `HSA_PACKET_HEADER_TYPE`.
    #[bits(8, default = PacketType::Invalid)]
    pub packet_type: PacketType,
    /// `HSA_PACKET_HEADER_BARRIER`: the packet starts only when all earlier ones are complete.
    pub barrier: bool,
    /// `HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE`, applied before the packet starts.
    #[bits(2)]
    pub acquire: FenceScope,
    /// `HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE`, applied after it and before its completion is
    /// told.
    #[bits(2)]
    pub release: FenceScope,
    /// Bits 15:13, which must be zero.
    #[bits(3)]
    pub reserved: u8,
}

impl Header {
    /// The header of a packet of which nobody knows what memory it touches: it waits for all
    /// earlier packets and fences at system scope on both sides.
    pub const fn system(packet_type: PacketType) -> Header {
        Header::new()
            .with_packet_type(packet_type)
            .with_barrier(true)
            .with_acquire(FenceScope::System)
            .with_release(FenceScope::System)
    }

    /// The header in bits 15:0 of a packet's dword 0.
    pub const fn from_word(word: u32) -> Header {
        Header::from_bits(word as u16)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{} acquire={} release={}",
            self.packet_type(),
            if self.barrier() { " barrier" } else { "" },
            self.acquire(),
            self.release()
        )?;
        match self.reserved() {
            0 => Ok(()),
            bits => write!(f, " reserved={bits:#x}"),
        }
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
            let header = Header::from_bits(bits);
            let again = Header::new()
                .with_packet_type(header.packet_type())
                .with_barrier(header.barrier())
                .with_acquire(header.acquire())
                .with_release(header.release())
                .with_reserved(header.reserved());
            assert_eq!(again.into_bits(), bits);
        }
    }

    #[test]
    fn reads_well() {
        let header = Header::system(PacketType::KernelDispatch);
        assert_eq!(header.into_bits(), 0x1502);
        assert_eq!(header.to_string(), "kernel-dispatch barrier acquire=system release=system");
        assert_eq!(
            Header::from_bits(0xfeff).to_string(),
            "unknown(255) acquire=reserved(3) release=reserved(3) reserved=0x7"
        );
        assert_eq!(Header::new().into_bits(), 1, "a new header is an invalid one");
    }
}
