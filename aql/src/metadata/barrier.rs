//! The record of a barrier.

use crate::header::PacketType;

pm4::layout! {
    /// What the packet processor would else have to read before it tells of a barrier's completion.
    pub struct MetadataBarrier: "METADATA_BARRIER", 64 dwords everywhere;
    source "hsa_ext_amd.h 1.21, hsa_amd_metadata_barrier_packet_t";
    fixed 0 = 0;
    /// Type of the packet in the ring that the record goes with; [`PacketType::INVALID`] for no record.
    packet_type: PacketType = 0[7:0] as type;
    /// Major version of the record: 0.
    version_major: u8 = 0[26:24];
    /// Minor version of the record: 0.
    version_minor: u8 = 0[31:27];
    /// `event_id` of the packet's completion signal; 0 without one.
    event_id: u32 = 1[31:0];
    /// Dword 0 again.
    header1: u32 = 16[31:0];
    /// Dword 0 again.
    header2: u32 = 32[31:0];
    /// Dword 0 again.
    header3: u32 = 48[31:0];
}

impl MetadataBarrier {
    /// A record of version 0.0 for a packet of this type, its headers alike.
    pub const fn new(packet_type: PacketType, event_id: u32) -> MetadataBarrier {
        let header = packet_type.into_bits() as u32;
        MetadataBarrier {
            packet_type,
            event_id,
            header1: header,
            header2: header,
            header3: header,
            ..MetadataBarrier::ZERO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_alike() {
        let words = MetadataBarrier::new(PacketType::BARRIER_OR, 9).encode();
        for dword in [0, 16, 32, 48] {
            assert_eq!(words[dword], 5);
        }
        assert_eq!(words[1], 9);
        assert_eq!(words.iter().filter(|&&word| word != 0).count(), 5);
    }
}
