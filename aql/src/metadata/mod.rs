//! The metadata ring: for each slot of a queue's ring, what the packet processor would have to read from elsewhere.
//!
//! gfx12.5 has it. A record is [`BYTES`] long, four times a slot; the metadata ring lies right behind the ring, so that
//! packet `i` of a ring of `n` slots at `base` has its record at `base` + 64·`n` + 256·(`i` mod `n`) ([`address`]).
//! There are no indices of its own: a record is free when its slot is.
//!
//! # Publication
//! First the record's body, then its headers (from the last to dword 0), then the packet's dword 0; on mappings that
//! reorder stores with a fence between each. A record whose headers say [`PacketType::INVALID`] is none: the processor
//! reads memory as it does without the ring. Rings therefore start with all headers so.
//! AMD's runtime writes records of barriers in part: dwords 0 and 1 only.
//!
//! # How a queue gets one
//! `kfd_ioctl_create_queue_args.metadata_ring_size`, bytes, of AQL queues alone; Linux enables the fetcher when it is
//! four times the ring's size, and the whole, both rings, is one buffer (KFD interface 1.22; kfd_mqd_manager_v12_1.c).
//! ROCr asks for it on gfx12.5 and later when the KFD is 1.19 or newer. The two numbers differ; which kernels between
//! them have it is not published.
//!
//! # What is not known
//! No public source says when the processor reads a record, whether it resets its headers when it takes the packet, or
//! what it does with versions other than 0.0. ROCr's own overlay of the header has the two versions' bits the other way
//! round than hsa_ext_amd.h, which makes no difference for 0.0.
//!
//! Sources: hsa_ext_amd.h 1.21 and amd_launch_descriptor.h of ROCR-Runtime; amd_aql_queue.cpp; CLR, rocvirtual.cpp.

mod barrier;
mod dispatch;
mod launch;

pub use barrier::MetadataBarrier;
pub use dispatch::MetadataKernelDispatch;
pub use launch::{DataPrefetch, LaunchDescriptor, PrefetchMode, PrefetchScope, Temporal};

use crate::header::PacketType;
use crate::{PACKET_BYTES, PACKET_WORDS};
use pm4::layout::Layout;

/// A record's size in dwords.
pub const WORDS: usize = 4 * PACKET_WORDS;

/// A record's size in bytes.
pub const BYTES: usize = 4 * PACKET_BYTES;

/// Calls a macro with every type that records of the metadata ring are made of, as `packets!` does.
#[doc(hidden)]
#[macro_export]
macro_rules! records {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            MetadataHeader, MetadataKernelDispatch, MetadataBarrier, LaunchDescriptor,
            DataPrefetch,
        }
    };
}

macro_rules! layouts {
    (; $($Packet:ident),+ $(,)?) => { &[$($Packet::LAYOUT),+] };
}

/// Every layout of the metadata ring.
pub const LAYOUTS: &[&Layout] = records!(layouts);

pm4::layout! {
    /// The header that a record has four times, in dwords 0, 16, 32 and 48.
    pub struct MetadataHeader: "METADATA_HEADER", 1 dwords everywhere;
    source "hsa_ext_amd.h 1.21, hsa_amd_metadata_packet_header_t";
    fixed 0 = 0;
    /// Type of the packet in the ring that the record goes with; [`PacketType::INVALID`] for no record.
    packet_type: PacketType = 0[7:0] as type;
    /// Major version of the record: 0.
    version_major: u8 = 0[26:24];
    /// Minor version of the record: 0.
    version_minor: u8 = 0[31:27];
}

impl MetadataHeader {
    /// No record.
    pub const INVALID: MetadataHeader =
        MetadataHeader { packet_type: PacketType::INVALID, ..MetadataHeader::ZERO };

    /// The header in a dword.
    pub const fn from_word(word: u32) -> MetadataHeader {
        MetadataHeader {
            packet_type: PacketType(word as u8),
            version_major: (word >> 24 & 7) as u8,
            version_minor: (word >> 27) as u8,
            reserved: [word & 0x00ff_ff00],
        }
    }
}

/// Address of the record of packet `index` in a queue whose ring of `packets` slots (a power of two) is at `ring`.
pub const fn address(ring: u64, packets: u32, index: u64) -> u64 {
    let slot = index & (packets as u64).wrapping_sub(1);
    ring.wrapping_add(packets as u64 * PACKET_BYTES as u64)
        .wrapping_add(slot.wrapping_mul(BYTES as u64))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_lie_behind_the_ring() {
        assert_eq!(address(0x10000, 64, 0), 0x11000);
        assert_eq!(address(0x10000, 64, 63), 0x11000 + 63 * 256);
        assert_eq!(address(0x10000, 64, 64 + 5), 0x11000 + 5 * 256);
    }

    proptest! {
        #[test]
        fn headers(word: u32) {
            let header = MetadataHeader::from_word(word);
            prop_assert_eq!(MetadataHeader::decode(&[word]), Ok(header));
            prop_assert_eq!(header.encode(), [word]);
        }
    }
}
