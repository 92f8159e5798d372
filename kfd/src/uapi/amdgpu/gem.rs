//! Buffer objects and their addresses.

use bitflags::bitflags;
use selvedge_sys::uapi::{member, set_member};
use selvedge_sys::uapi_structs;

bitflags! {
    /// Where a buffer may live (`AMDGPU_GEM_DOMAIN_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GemDomain: u64 {
        /// System memory that devices do not see.
        const CPU = 0x1;
        /// System memory that devices see.
        const GTT = 0x2;
        /// Device memory.
        const VRAM = 0x4;
        /// Global data share.
        const GDS = 0x8;
        /// Global wave sync.
        const GWS = 0x10;
        /// Ordered append.
        const OA = 0x20;
        /// Doorbells.
        const DOORBELL = 0x40;
        const _ = !0;
    }

    /// Flags of GEM_CREATE (`AMDGPU_GEM_CREATE_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GemCreateFlags: u64 {
        /// The CPU will map it.
        const CPU_ACCESS_REQUIRED = 1 << 0;
        /// The CPU cannot map it.
        const NO_CPU_ACCESS = 1 << 1;
        /// Write-combined for the CPU.
        const CPU_GTT_USWC = 1 << 2;
        /// Cleared.
        const VRAM_CLEARED = 1 << 3;
        /// Physically contiguous.
        const VRAM_CONTIGUOUS = 1 << 5;
        /// Always resident.
        const VM_ALWAYS_VALID = 1 << 6;
        /// No implicit synchronisation.
        const EXPLICIT_SYNC = 1 << 7;
        /// Queue descriptors of gfx9.
        const CP_MQD_GFX9 = 1 << 8;
        /// Wiped when released.
        const VRAM_WIPE_ON_RELEASE = 1 << 9;
        /// Encrypted.
        const ENCRYPTED = 1 << 10;
        /// Only for contexts that can be preempted.
        const PREEMPTIBLE = 1 << 11;
        /// May be dropped under memory pressure.
        const DISCARDABLE = 1 << 12;
        /// Coherent.
        const COHERENT = 1 << 13;
        /// Not cached by devices.
        const UNCACHED = 1 << 14;
        /// Coherent across devices by device-scope atomics.
        const EXT_COHERENT = 1 << 15;
        /// Compressed on gfx12.
        const GFX12_DCC = 1 << 16;
        const _ = !0;
    }

    /// Flags of GEM_VA (`AMDGPU_VM_*`). Bits 8:5 are a number, the memory type, see
    /// [`GemVaFlags::mtype`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GemVaFlags: u32 {
        /// Update the page tables with the next submission.
        const DELAY_UPDATE = 1 << 0;
        /// Readable.
        const READABLE = 1 << 1;
        /// Writable.
        const WRITEABLE = 1 << 2;
        /// Executable.
        const EXECUTABLE = 1 << 3;
        /// Partially resident: no memory behind it.
        const PRT = 1 << 4;
        /// Not kept in the memory-attached last-level cache.
        const NOALLOC = 1 << 9;
        const _ = !0;
    }

    /// Flags of GEM_USERPTR (`AMDGPU_GEM_USERPTR_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GemUserptrFlags: u32 {
        /// Devices only read.
        const READONLY = 1 << 0;
        /// Only anonymous memory.
        const ANONONLY = 1 << 1;
        /// Check the range now.
        const VALIDATE = 1 << 2;
        /// Follow changes of the range.
        const REGISTER = 1 << 3;
        const _ = !0;
    }
}

impl GemVaFlags {
    /// Memory types (`AMDGPU_VM_MTYPE_*` >> 5): 0 default, 1 NC, 2 WC, 3 CC, 4 UC, 5 RW.
    pub const fn mtype(self) -> u32 {
        self.bits() >> 5 & 0xf
    }

    /// The same flags with another memory type.
    pub const fn with_mtype(self, mtype: u32) -> GemVaFlags {
        GemVaFlags::from_bits_retain(self.bits() & !(0xf << 5) | (mtype & 0xf) << 5)
    }
}

/// Map (`AMDGPU_VA_OP_MAP`).
pub const VA_OP_MAP: u32 = 1;
/// Unmap exactly one mapping.
pub const VA_OP_UNMAP: u32 = 2;
/// Unmap all that lies in a range.
pub const VA_OP_CLEAR: u32 = 3;
/// Map over whatever is there.
pub const VA_OP_REPLACE: u32 = 4;

/// How the buffer was created (`AMDGPU_GEM_OP_GET_GEM_CREATE_INFO`).
pub const GEM_OP_GET_GEM_CREATE_INFO: u32 = 0;
/// Change where it may live.
pub const GEM_OP_SET_PLACEMENT: u32 = 1;
/// Where it is mapped; newer kernels.
pub const GEM_OP_GET_MAPPING_INFO: u32 = 2;

/// `AMDGPU_GEM_METADATA_OP_SET_METADATA`
pub const GEM_METADATA_OP_SET: u32 = 1;
/// `AMDGPU_GEM_METADATA_OP_GET_METADATA`
pub const GEM_METADATA_OP_GET: u32 = 2;

uapi_structs! {
    /// What GEM_CREATE is given.
    GemCreateIn = "struct drm_amdgpu_gem_create_in" {
        /// Bytes.
        bo_size: u64,
        /// Physical alignment, bytes.
        alignment: u64,
        /// [`GemDomain`]s.
        domains: u64,
        /// [`GemCreateFlags`].
        domain_flags: u64,
    }

    /// What GEM_CREATE returns.
    GemCreateOut = "struct drm_amdgpu_gem_create_out" {
        /// The buffer.
        handle: u32,
        /// Unused.
        _pad: u32,
    }

    /// Argument of GEM_CREATE: [`GemCreateIn`], then [`GemCreateOut`].
    GemCreate = "union drm_amdgpu_gem_create" {
        /// The input.
        in_: GemCreateIn,
    }

    /// What GEM_MMAP is given.
    GemMmapIn = "struct drm_amdgpu_gem_mmap_in" {
        /// The buffer.
        handle: u32,
        /// Unused.
        _pad: u32,
    }

    /// What GEM_MMAP returns.
    GemMmapOut = "struct drm_amdgpu_gem_mmap_out" {
        /// mmap offset on the render file.
        addr_ptr: u64,
    }

    /// Argument of GEM_MMAP: [`GemMmapIn`], then [`GemMmapOut`].
    GemMmap = "union drm_amdgpu_gem_mmap" {
        /// The output.
        out: GemMmapOut,
    }

    /// Argument of GEM_VA. The last four fields are newer than Linux 6.12; see
    /// [`GEM_VA_40`](super::GEM_VA_40).
    GemVa = "struct drm_amdgpu_gem_va" {
        /// The buffer.
        handle: u32,
        /// Unused.
        _pad: u32,
        /// `VA_OP_*`.
        operation: u32,
        /// [`GemVaFlags`].
        flags: u32,
        /// Address, page-aligned.
        va_address: u64,
        /// Where in the buffer the mapping begins, bytes.
        offset_in_bo: u64,
        /// Bytes.
        map_size: u64,
        /// Timeline point of the output syncobj, or 0.
        vm_timeline_point: u64,
        /// Syncobj that is signalled when the page tables are updated, or 0.
        vm_timeline_syncobj_out: u32,
        /// How many syncobjs to wait for.
        num_syncobj_handles: u32,
        /// Address of their handles.
        input_fence_syncobj_handles: u64,
    }

    /// What GEM_WAIT_IDLE is given.
    GemWaitIdleIn = "struct drm_amdgpu_gem_wait_idle_in" {
        /// The buffer.
        handle: u32,
        /// None are defined.
        flags: u32,
        /// Absolute time, CLOCK_MONOTONIC ns.
        timeout: u64,
    }

    /// What GEM_WAIT_IDLE returns.
    GemWaitIdleOut = "struct drm_amdgpu_gem_wait_idle_out" {
        /// 0 idle, 1 busy.
        status: u32,
        /// Where the buffer lives: a [`GemDomain`].
        domain: u32,
    }

    /// Argument of GEM_WAIT_IDLE: [`GemWaitIdleIn`], then [`GemWaitIdleOut`].
    GemWaitIdle = "union drm_amdgpu_gem_wait_idle" {
        /// The input.
        in_: GemWaitIdleIn,
    }

    /// Argument of GEM_OP. The last two fields are newer than Linux 6.12.
    GemOp = "struct drm_amdgpu_gem_op" {
        /// The buffer.
        handle: u32,
        /// `GEM_OP_*`.
        op: u32,
        /// Value, or address of the result.
        value: u64,
        /// Mappings: room there is, then how many there are.
        num_entries: u32,
        /// Unused.
        padding: u32,
    }

    /// One mapping of a buffer, newer than Linux 6.12.
    GemVmEntry = "struct drm_amdgpu_gem_vm_entry" {
        /// Address.
        addr: u64,
        /// Bytes.
        size: u64,
        /// Where in the buffer.
        offset: u64,
        /// [`GemVaFlags`].
        flags: u64,
    }

    /// Argument of GEM_USERPTR.
    GemUserptr = "struct drm_amdgpu_gem_userptr" {
        /// In: address of the memory.
        addr: u64,
        /// In: bytes.
        size: u64,
        /// In: [`GemUserptrFlags`].
        flags: u32,
        /// Out: the buffer.
        handle: u32,
    }

    /// Argument of GEM_METADATA.
    GemMetadata = "struct drm_amdgpu_gem_metadata" {
        /// In: the buffer.
        handle: u32,
        /// In: `GEM_METADATA_OP_*`.
        op: u32,
        /// None are defined (`data.flags`).
        flags: u64,
        /// Tiling, in a format of the chip's family (`data.tiling_info`).
        tiling_info: u64,
        /// Bytes of metadata (`data.data_size_bytes`).
        data_size_bytes: u32,
        /// The metadata (`data.data`).
        data: [u32; 64],
        /// Implicit padding of the C struct.
        padding: u32,
    }
}

impl GemCreate {
    /// The result.
    pub fn out(&self) -> GemCreateOut {
        member(self)
    }

    /// Stores a result.
    pub fn set_out(&mut self, value: &GemCreateOut) {
        set_member(self, value);
    }
}

impl GemMmap {
    /// Asks for a buffer's offset.
    pub fn new(handle: u32) -> GemMmap {
        let mut args = GemMmap::default();
        set_member(&mut args, &GemMmapIn { handle, _pad: 0 });
        args
    }

    /// The input.
    pub fn input(&self) -> GemMmapIn {
        member(self)
    }
}

impl GemWaitIdle {
    /// The result.
    pub fn out(&self) -> GemWaitIdleOut {
        member(self)
    }

    /// Stores a result.
    pub fn set_out(&mut self, value: &GemWaitIdleOut) {
        set_member(self, value);
    }
}
