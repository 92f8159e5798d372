//! `amd_queue_t` and `amd_queue_v2_t` (amd_hsa_queue.h), 64-aligned: what runtime and packet
//! processor tell each other about a queue.
//!
//! The processor finds the structure from the read pointer's address that the queue was created
//! with: it is `&read_dispatch_id` − `read_dispatch_id_field_base_byte_offset`. The first 256
//! bytes of version 2 are version 1; the rest is used only by firmware with
//! [`Capabilities::cp_async_reclaim`] when [`Capabilities::sw_async_reclaim`] is set. (A later header appends two packet
//! indices for indirect buffers of AQL, at 2304; nothing public reads them.)
//!
//! Once a device may touch it, no reference to it may be formed: address its fields by
//! [`offset`]; the structures are for initial images and copies.

use bitfield_struct::bitfield;
use core::mem::offset_of;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `AMD_QUEUE_ALIGN_BYTES`.
pub const ALIGNMENT: u64 = 64;

/// `MAX_NUM_XCC`: entries of [`QueueV2::scratch_last_used_index`].
pub const MAX_XCCS: usize = 128;

/// `HSA_QUEUE_TYPE_MULTI`: any thread may submit.
pub const TYPE_MULTI: u32 = 0;
/// `HSA_QUEUE_TYPE_SINGLE`: one thread submits.
pub const TYPE_SINGLE: u32 = 1;
/// `HSA_QUEUE_FEATURE_KERNEL_DISPATCH`.
pub const FEATURE_KERNEL_DISPATCH: u32 = 1;
/// `HSA_QUEUE_FEATURE_AGENT_DISPATCH`.
pub const FEATURE_AGENT_DISPATCH: u32 = 2;

/// Bits of the value that the packet processor stores to [`Queue::queue_inactive_signal`] when it stops, with their
/// meaning (ROCR-Runtime, `amd_aql_queue.cpp`, `AqlQueue::DynamicQueueEventsHandler` and `ExceptionHandler`).
pub const INACTIVE_BITS: &[(u64, &str)] = &[
    (1, "no scratch, wave64 kernel"),
    (2, "dispatch dimensions invalid"),
    (4, "more LDS than a workgroup can have"),
    (8, "kernel object invalid"),
    (16, "kernarg address invalid"),
    (32, "packet format invalid"),
    (64, "workgroup too large"),
    (128, "more registers than a workgroup can have"),
    (256, "vendor-specific packet invalid"),
    (0x200, "scratch reclaim"),
    (0x400, "no scratch, wave32 kernel"),
    (0x2000_0000, "memory aperture violation"),
    (0x4000_0000, "illegal instruction"),
    (0x8000_0000, "trap"),
];

/// Byte offsets of the fields.
pub mod offset {
    /// `hsa_queue.type`, u32.
    pub const TYPE: u64 = 0;
    /// `hsa_queue.features`, u32.
    pub const FEATURES: u64 = 4;
    /// `hsa_queue.base_address`, u64.
    pub const BASE_ADDRESS: u64 = 8;
    /// `hsa_queue.doorbell_signal`, u64.
    pub const DOORBELL_SIGNAL: u64 = 16;
    /// `hsa_queue.size`, u32.
    pub const SIZE: u64 = 24;
    /// `hsa_queue.id`, u64.
    pub const ID: u64 = 32;
    /// `caps`, u32.
    pub const CAPS: u64 = 40;
    /// `write_dispatch_id`, u64.
    pub const WRITE_DISPATCH_ID: u64 = 56;
    /// `group_segment_aperture_base_hi`, u32.
    pub const GROUP_SEGMENT_APERTURE_BASE_HI: u64 = 64;
    /// `private_segment_aperture_base_hi`, u32.
    pub const PRIVATE_SEGMENT_APERTURE_BASE_HI: u64 = 68;
    /// `max_cu_id`, u32.
    pub const MAX_CU_ID: u64 = 72;
    /// `max_wave_id`, u32.
    pub const MAX_WAVE_ID: u64 = 76;
    /// `max_legacy_doorbell_dispatch_id_plus_1`, u64.
    pub const MAX_LEGACY_DOORBELL_DISPATCH_ID_PLUS_1: u64 = 80;
    /// `legacy_doorbell_lock`, u32.
    pub const LEGACY_DOORBELL_LOCK: u64 = 88;
    /// `read_dispatch_id`, u64.
    pub const READ_DISPATCH_ID: u64 = 128;
    /// `read_dispatch_id_field_base_byte_offset`, u32.
    pub const READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET: u64 = 136;
    /// `compute_tmpring_size`, u32.
    pub const COMPUTE_TMPRING_SIZE: u64 = 140;
    /// `scratch_resource_descriptor`, u32 × 4.
    pub const SCRATCH_RESOURCE_DESCRIPTOR: u64 = 144;
    /// `scratch_backing_memory_location`, u64.
    pub const SCRATCH_BACKING_MEMORY_LOCATION: u64 = 160;
    /// `scratch_backing_memory_byte_size`, u64.
    pub const SCRATCH_BACKING_MEMORY_BYTE_SIZE: u64 = 168;
    /// `scratch_wave64_lane_byte_size`, u32.
    pub const SCRATCH_WAVE64_LANE_BYTE_SIZE: u64 = 176;
    /// `queue_properties`, u32.
    pub const QUEUE_PROPERTIES: u64 = 180;
    /// `scratch_max_use_index`, u64, version 2.
    pub const SCRATCH_MAX_USE_INDEX: u64 = 184;
    /// `queue_inactive_signal`, u64.
    pub const QUEUE_INACTIVE_SIGNAL: u64 = 192;
    /// `alt_scratch_max_use_index`, u64, version 2.
    pub const ALT_SCRATCH_MAX_USE_INDEX: u64 = 200;
    /// `alt_scratch_resource_descriptor`, u32 × 4, version 2.
    pub const ALT_SCRATCH_RESOURCE_DESCRIPTOR: u64 = 208;
    /// `alt_scratch_backing_memory_location`, u64, version 2.
    pub const ALT_SCRATCH_BACKING_MEMORY_LOCATION: u64 = 224;
    /// `alt_scratch_dispatch_limit_x`, `_y` and `_z`, u32 each, version 2.
    pub const ALT_SCRATCH_DISPATCH_LIMIT: u64 = 232;
    /// `alt_scratch_wave64_lane_byte_size`, u32, version 2.
    pub const ALT_SCRATCH_WAVE64_LANE_BYTE_SIZE: u64 = 244;
    /// `alt_compute_tmpring_size`, u32, version 2.
    pub const ALT_COMPUTE_TMPRING_SIZE: u64 = 248;
    /// `scratch_last_used_index`, 16 bytes for each XCC, version 2.
    pub const SCRATCH_LAST_USED_INDEX: u64 = 256;
}

/// `amd_queue_capabilities_t`.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Capabilities {
    /// `AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM`: the firmware has two scratch areas and gives them back.
    pub cp_async_reclaim: bool,
    /// `AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM`: so can the runtime, and the structure is version 2.
    pub sw_async_reclaim: bool,
    /// Unused.
    #[bits(30)]
    pub reserved: u32,
}

/// `amd_queue_properties_t`.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct Properties {
    /// `AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER`.
    pub enable_trap_handler: bool,
    /// `AMD_QUEUE_PROPERTIES_IS_PTR64`: addresses have 64 bits.
    pub is_ptr64: bool,
    /// `AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS`.
    pub enable_trap_handler_debug_sgprs: bool,
    /// `AMD_QUEUE_PROPERTIES_ENABLE_PROFILING`: completion signals get time stamps
    /// ([`crate::profiling`]).
    pub enable_profiling: bool,
    /// `AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE`: give scratch back after the next dispatch.
    pub use_scratch_once: bool,
    /// `AMD_QUEUE_PROPERTIES_RESERVED1`.
    #[bits(27)]
    pub reserved: u32,
}

/// `hsa_queue_t` (hsa.h), large machine model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct HsaQueue {
    /// [`TYPE_MULTI`] or [`TYPE_SINGLE`].
    pub queue_type: u32,
    /// [`FEATURE_KERNEL_DISPATCH`] and others.
    pub features: u32,
    /// Address of the ring.
    pub base_address: u64,
    /// Handle of the doorbell signal.
    pub doorbell_signal: u64,
    /// Slots of the ring, a power of two.
    pub size: u32,
    /// Zero.
    pub reserved1: u32,
    /// Unique in the process.
    pub id: u64,
}

/// `amd_queue_t`: 256 bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(64))]
pub struct Queue {
    /// What applications see.
    pub hsa_queue: HsaQueue,
    /// [`Capabilities`].
    pub caps: u32,
    /// Zero.
    pub reserved1: [u32; 3],
    /// Packets reserved so far: the write index.
    pub write_dispatch_id: u64,
    /// Bits 63:32 of the LDS aperture.
    pub group_segment_aperture_base_hi: u32,
    /// Bits 63:32 of the scratch aperture.
    pub private_segment_aperture_base_hi: u32,
    /// Compute units − 1.
    pub max_cu_id: u32,
    /// Waves − 1.
    pub max_wave_id: u32,
    /// For 32-bit doorbells (before gfx9).
    pub max_legacy_doorbell_dispatch_id_plus_1: u64,
    /// For 32-bit doorbells (before gfx9).
    pub legacy_doorbell_lock: u32,
    /// Zero.
    pub reserved2: [u32; 9],
    /// Packets that the processor has taken: the read index.
    pub read_dispatch_id: u64,
    /// Distance from the structure's start to `read_dispatch_id`: 128 bytes.
    pub read_dispatch_id_field_base_byte_offset: u32,
    /// [`crate::scratch::TmpringSize`]; 0 while there is no scratch.
    pub compute_tmpring_size: u32,
    /// [`crate::scratch::resource_descriptor`].
    pub scratch_resource_descriptor: [u32; 4],
    /// Address of the scratch of all waves.
    pub scratch_backing_memory_location: u64,
    /// Its size in bytes. (Reserved in the oldest version of the header.)
    pub scratch_backing_memory_byte_size: u64,
    /// Bytes of scratch of a lane, as if all waves had 64.
    pub scratch_wave64_lane_byte_size: u32,
    /// [`Properties`].
    pub queue_properties: u32,
    /// Version 2.
    pub scratch_max_use_index: u64,
    /// Handle of the signal that the processor stores an error to when it stops.
    pub queue_inactive_signal: u64,
    /// Version 2.
    pub alt_scratch_max_use_index: u64,
    /// Version 2.
    pub alt_scratch_resource_descriptor: [u32; 4],
    /// Version 2.
    pub alt_scratch_backing_memory_location: u64,
    /// Version 2.
    pub alt_scratch_dispatch_limit: [u32; 3],
    /// Version 2.
    pub alt_scratch_wave64_lane_byte_size: u32,
    /// Version 2.
    pub alt_compute_tmpring_size: u32,
    /// Zero.
    pub reserved5: u32,
}

/// `scratch_last_used_index_xcc_t`: the last packets that used scratch on an XCC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct ScratchLastUsedIndex {
    /// Of the main area.
    pub main: u64,
    /// Of the alternate area.
    pub alt: u64,
}

/// `amd_queue_v2_t`: 2304 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct QueueV2 {
    /// What both versions have.
    pub queue: Queue,
    /// By XCC.
    pub scratch_last_used_index: [ScratchLastUsedIndex; MAX_XCCS],
}

impl Default for QueueV2 {
    fn default() -> QueueV2 {
        QueueV2 {
            queue: Queue::default(),
            scratch_last_used_index: [ScratchLastUsedIndex::default(); MAX_XCCS],
        }
    }
}

impl Queue {
    /// A queue of `packets` slots at `base_address` with what a packet processor needs and no
    /// scratch. The apertures are bits 63:32 of their addresses.
    pub fn new(
        base_address: u64,
        packets: u32,
        group_aperture: u32,
        private_aperture: u32,
    ) -> Queue {
        Queue {
            hsa_queue: HsaQueue {
                queue_type: TYPE_MULTI,
                features: FEATURE_KERNEL_DISPATCH,
                base_address,
                size: packets,
                ..HsaQueue::default()
            },
            group_segment_aperture_base_hi: group_aperture,
            private_segment_aperture_base_hi: private_aperture,
            read_dispatch_id_field_base_byte_offset: offset::READ_DISPATCH_ID as u32,
            queue_properties: Properties::new().with_is_ptr64(true).into_bits(),
            ..Queue::default()
        }
    }
}

macro_rules! assert_offsets {
    ($($field:ident = $constant:ident),* $(,)?) => {
        const _: () = {
            $(assert!(offset_of!(Queue, $field) as u64 == offset::$constant);)*
        };
    };
}

assert_offsets! {
    caps = CAPS,
    write_dispatch_id = WRITE_DISPATCH_ID,
    group_segment_aperture_base_hi = GROUP_SEGMENT_APERTURE_BASE_HI,
    private_segment_aperture_base_hi = PRIVATE_SEGMENT_APERTURE_BASE_HI,
    max_cu_id = MAX_CU_ID,
    max_wave_id = MAX_WAVE_ID,
    max_legacy_doorbell_dispatch_id_plus_1 = MAX_LEGACY_DOORBELL_DISPATCH_ID_PLUS_1,
    legacy_doorbell_lock = LEGACY_DOORBELL_LOCK,
    read_dispatch_id = READ_DISPATCH_ID,
    read_dispatch_id_field_base_byte_offset = READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET,
    compute_tmpring_size = COMPUTE_TMPRING_SIZE,
    scratch_resource_descriptor = SCRATCH_RESOURCE_DESCRIPTOR,
    scratch_backing_memory_location = SCRATCH_BACKING_MEMORY_LOCATION,
    scratch_backing_memory_byte_size = SCRATCH_BACKING_MEMORY_BYTE_SIZE,
    scratch_wave64_lane_byte_size = SCRATCH_WAVE64_LANE_BYTE_SIZE,
    queue_properties = QUEUE_PROPERTIES,
    scratch_max_use_index = SCRATCH_MAX_USE_INDEX,
    queue_inactive_signal = QUEUE_INACTIVE_SIGNAL,
    alt_scratch_max_use_index = ALT_SCRATCH_MAX_USE_INDEX,
    alt_scratch_resource_descriptor = ALT_SCRATCH_RESOURCE_DESCRIPTOR,
    alt_scratch_backing_memory_location = ALT_SCRATCH_BACKING_MEMORY_LOCATION,
    alt_scratch_dispatch_limit = ALT_SCRATCH_DISPATCH_LIMIT,
    alt_scratch_wave64_lane_byte_size = ALT_SCRATCH_WAVE64_LANE_BYTE_SIZE,
    alt_compute_tmpring_size = ALT_COMPUTE_TMPRING_SIZE,
}

const _: () = {
    assert!(size_of::<HsaQueue>() == 40);
    assert!(size_of::<Queue>() == 256);
    assert!(size_of::<QueueV2>() == 2304);
    assert!(offset_of!(QueueV2, scratch_last_used_index) as u64 == offset::SCRATCH_LAST_USED_INDEX);
    assert!(offset_of!(HsaQueue, queue_type) as u64 == offset::TYPE);
    assert!(offset_of!(HsaQueue, features) as u64 == offset::FEATURES);
    assert!(offset_of!(HsaQueue, base_address) as u64 == offset::BASE_ADDRESS);
    assert!(offset_of!(HsaQueue, doorbell_signal) as u64 == offset::DOORBELL_SIGNAL);
    assert!(offset_of!(HsaQueue, size) as u64 == offset::SIZE);
    assert!(offset_of!(HsaQueue, id) as u64 == offset::ID);
};
