//! Bits of the topology's numbers (`include/uapi/linux/kfd_sysfs.h`).

use bitflags::bitflags;

bitflags! {
    /// A node's `capability` (`HSA_CAP_*`). Three fields in it are numbers, see the methods.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Capability: u32 {
        /// Can be plugged and unplugged.
        const HOT_PLUGGABLE = 0x0000_0001;
        /// Address translation service (old APUs).
        const ATS_PRESENT = 0x0000_0002;
        /// Graphics shares the device.
        const SHARED_WITH_GRAPHICS = 0x0000_0004;
        /// Rings are powers of two.
        const QUEUE_SIZE_POW2 = 0x0000_0008;
        /// Ring sizes have 32 bits.
        const QUEUE_SIZE_32BIT = 0x0000_0010;
        /// Events for idle queues.
        const QUEUE_IDLE_EVENT = 0x0000_0020;
        /// Addresses are limited.
        const VA_LIMIT = 0x0000_0040;
        /// Address watching works.
        const WATCH_POINTS_SUPPORTED = 0x0000_0080;
        /// The ring of an AQL queue must be mapped twice (gfx7, gfx8).
        const AQL_QUEUE_DOUBLE_MAP = 0x0000_4000;
        /// A debugger can attach.
        const TRAP_DEBUG_SUPPORT = 0x0000_8000;
        /// It can override what waves trap on.
        const TRAP_DEBUG_WAVE_LAUNCH_TRAP_OVERRIDE = 0x0001_0000;
        /// It can choose how waves start.
        const TRAP_DEBUG_WAVE_LAUNCH_MODE = 0x0002_0000;
        /// It can ask for precise memory faults.
        const TRAP_DEBUG_PRECISE_MEMORY_OPERATIONS = 0x0004_0000;
        /// Memory has error correction.
        const MEM_EDC = 0x0010_0000;
        /// Hardware errors are reported as events.
        const RAS_EVENT_NOTIFY = 0x0020_0000;
        /// Internal memories have error correction.
        const SRAM_EDC = 0x0400_0000;
        /// The SVM ioctl works.
        const SVM_API = 0x0800_0000;
        /// The host's accesses to device memory are coherent.
        const COHERENT_HOST_ACCESS = 0x1000_0000;
        /// The firmware supports a debugger.
        const TRAP_DEBUG_FIRMWARE = 0x2000_0000;
        /// A debugger can ask for precise arithmetic exceptions.
        const TRAP_DEBUG_PRECISE_ALU_OPERATIONS = 0x4000_0000;
        /// A single queue can be reset; newer kernels.
        const PER_QUEUE_RESET = 0x8000_0000;
        const _ = !0;
    }

    /// A node's `capability2` (`HSA_CAP2_*`), newer kernels.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Capability2: u32 {
        /// A single SDMA queue can be reset.
        const PER_SDMA_QUEUE_RESET = 0x1;
        /// A debugger can ask for exceptions from LDS accesses out of range.
        const TRAP_DEBUG_LDS_OUT_OF_ADDR_RANGE = 0x2;
        const _ = !0;
    }

    /// A node's `debug_prop` (`HSA_DBG_*`). Two fields in it are numbers, see the methods.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DebugProperties: u64 {
        /// Dispatch information of a wave is always valid.
        const DISPATCH_INFO_ALWAYS_VALID = 0x400;
        /// Watch points belong to one process at a time.
        const WATCHPOINTS_EXCLUSIVE = 0x800;
        const _ = !0;
    }

    /// A memory bank's `flags` (`HSA_MEM_FLAGS_*`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemoryFlags: u32 {
        /// Can be plugged and unplugged.
        const HOT_PLUGGABLE = 1;
        /// Survives power-off.
        const NON_VOLATILE = 2;
        const _ = !0;
    }

    /// A cache's `type` (`HSA_CACHE_TYPE_*`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CacheType: u32 {
        /// Holds data.
        const DATA = 1;
        /// Holds instructions.
        const INSTRUCTION = 2;
        /// Belongs to CPU cores.
        const CPU = 4;
        /// Belongs to compute units.
        const HSACU = 8;
        const _ = !0;
    }

    /// A link's `flags` (`HSA_IOLINK_FLAGS_*`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct IoLinkFlags: u32 {
        /// The fields below say what the link lacks.
        const ENABLED = 1 << 0;
        /// Not coherent.
        const NON_COHERENT = 1 << 1;
        /// No 32-bit atomics.
        const NO_ATOMICS_32_BIT = 1 << 2;
        /// No 64-bit atomics.
        const NO_ATOMICS_64_BIT = 1 << 3;
        /// No transfers between peers.
        const NO_PEER_TO_PEER_DMA = 1 << 4;
        const _ = !0;
    }
}

impl Capability {
    /// How many watch points there are, log2 (bits 11:8).
    pub const fn watch_points_log2(self) -> u32 {
        (self.bits() & 0xf00) >> 8
    }

    /// The kind of doorbell (bits 13:12): 0 before 1.0, 1 = 1.0 with 32 bits, 2 = 2.0 with 64 bits.
    pub const fn doorbell_type(self) -> u32 {
        (self.bits() & 0x3000) >> 12
    }

    /// The chip's revision (bits 25:22).
    pub const fn asic_revision(self) -> u32 {
        (self.bits() & 0x03c0_0000) >> 22
    }
}

impl DebugProperties {
    /// Lowest address bit that a watch point's mask can have (bits 3:0).
    pub const fn watch_mask_low_bit(self) -> u32 {
        (self.bits() & 0xf) as u32
    }

    /// Highest address bit that a watch point's mask can have (bits 9:4).
    pub const fn watch_mask_high_bit(self) -> u32 {
        ((self.bits() & 0x3f0) >> 4) as u32
    }
}

/// Heap types of memory banks: system memory (`HSA_MEM_HEAP_TYPE_SYSTEM`).
pub const MEM_HEAP_TYPE_SYSTEM: u32 = 0;
/// Device memory that the CPU can map whole.
pub const MEM_HEAP_TYPE_FB_PUBLIC: u32 = 1;
/// Device memory that it cannot, or only in part.
pub const MEM_HEAP_TYPE_FB_PRIVATE: u32 = 2;
/// Global data share.
pub const MEM_HEAP_TYPE_GPU_GDS: u32 = 3;
/// Local data share.
pub const MEM_HEAP_TYPE_GPU_LDS: u32 = 4;
/// Scratch.
pub const MEM_HEAP_TYPE_GPU_SCRATCH: u32 = 5;

/// Link types: undefined (`HSA_IOLINK_TYPE_UNDEFINED`).
pub const IOLINK_TYPE_UNDEFINED: u32 = 0;
/// `HSA_IOLINK_TYPE_HYPERTRANSPORT`
pub const IOLINK_TYPE_HYPERTRANSPORT: u32 = 1;
/// `HSA_IOLINK_TYPE_PCIEXPRESS`
pub const IOLINK_TYPE_PCIEXPRESS: u32 = 2;
/// `HSA_IOLINK_TYPE_QPI_1_1`
pub const IOLINK_TYPE_QPI_1_1: u32 = 5;
/// `HSA_IOLINK_TYPE_XGMI`
pub const IOLINK_TYPE_XGMI: u32 = 11;
