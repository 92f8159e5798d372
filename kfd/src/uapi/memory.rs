//! Memory: ioctls 16–19, 1C, 1D and 24.

use bitflags::bitflags;
use selvedge_sys::uapi_structs;

bitflags! {
    /// Kinds and attributes of memory (`KFD_IOC_ALLOC_MEM_FLAGS_*`). Exactly one kind is given.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct AllocMemFlags: u32 {
        /// Kind: device memory.
        const VRAM = 1 << 0;
        /// Kind: system memory that the kernel allocates.
        const GTT = 1 << 1;
        /// Kind: memory of this process.
        const USERPTR = 1 << 2;
        /// Kind: the process's doorbell slice.
        const DOORBELL = 1 << 3;
        /// Kind: the page of remapped registers (HDP flush).
        const MMIO_REMAP = 1 << 4;
        /// In physically contiguous device memory, where possible; KFD 1.16.
        const CONTIGUOUS = 1 << 23;
        /// Coherent across devices by device-scope atomics.
        const EXT_COHERENT = 1 << 24;
        /// Devices do not cache it.
        const UNCACHED = 1 << 25;
        /// Coherent across devices and CPUs by system-scope operations.
        const COHERENT = 1 << 26;
        /// For the ring of an AQL queue: mapped twice in a row (gfx7 and gfx8).
        const AQL_QUEUE_MEM = 1 << 27;
        /// Fail instead of taking other memory than asked for.
        const NO_SUBSTITUTE = 1 << 28;
        /// The CPU may map it.
        const PUBLIC = 1 << 29;
        /// Devices may execute it.
        const EXECUTABLE = 1 << 30;
        /// Devices may write it.
        const WRITABLE = 1 << 31;
        const _ = !0;
    }
}

/// Byte offset in the MMIO-remap page of the register that flushes the HDP's writes to memory
/// (`KFD_MMIO_REMAP_HDP_MEM_FLUSH_CNTL`).
pub const MMIO_REMAP_HDP_MEM_FLUSH_CNTL: usize = 0;
/// The same for registers (`KFD_MMIO_REMAP_HDP_REG_FLUSH_CNTL`).
pub const MMIO_REMAP_HDP_REG_FLUSH_CNTL: usize = 4;

uapi_structs! {
    /// Argument of ALLOC_MEMORY_OF_GPU (16).
    AllocMemoryOfGpuArgs = "struct kfd_ioctl_alloc_memory_of_gpu_args" {
        /// In: the address at which devices will see it.
        va_addr: u64,
        /// In: bytes.
        size: u64,
        /// Out: names it in the other ioctls.
        handle: u64,
        /// In: the CPU address, of user memory. Out: mmap offset on the render file (on /dev/kfd
        /// for doorbells and registers).
        mmap_offset: u64,
        /// In: the device.
        gpu_id: u32,
        /// In: [`AllocMemFlags`].
        flags: u32,
    }

    /// Argument of FREE_MEMORY_OF_GPU (17).
    FreeMemoryOfGpuArgs = "struct kfd_ioctl_free_memory_of_gpu_args" {
        /// In: the memory.
        handle: u64,
    }

    /// Argument of MAP_MEMORY_TO_GPU (18). A call that fails may be repeated with the `n_success`
    /// it returned; it then goes on with the devices left.
    MapMemoryToGpuArgs = "struct kfd_ioctl_map_memory_to_gpu_args" {
        /// In: the memory.
        handle: u64,
        /// In: address of an array of gpu_ids.
        device_ids_array_ptr: u64,
        /// In: its length.
        n_devices: u32,
        /// In: how many from its start to skip. Out: how many are done.
        n_success: u32,
    }

    /// Argument of UNMAP_MEMORY_FROM_GPU (19); as [`MapMemoryToGpuArgs`].
    UnmapMemoryFromGpuArgs = "struct kfd_ioctl_unmap_memory_from_gpu_args" {
        /// In: the memory.
        handle: u64,
        /// In: address of an array of gpu_ids.
        device_ids_array_ptr: u64,
        /// In: its length.
        n_devices: u32,
        /// In: how many from its start to skip. Out: how many are done.
        n_success: u32,
    }

    /// Argument of GET_DMABUF_INFO (1C).
    GetDmabufInfoArgs = "struct kfd_ioctl_get_dmabuf_info_args" {
        /// Out: bytes.
        size: u64,
        /// In: address that the exporter's metadata is copied to, or 0.
        metadata_ptr: u64,
        /// In: room there, bytes. Out: the metadata's size.
        metadata_size: u32,
        /// Out: the device whose memory it is.
        gpu_id: u32,
        /// Out: [`AllocMemFlags`].
        flags: u32,
        /// In: the dma-buf's descriptor.
        dmabuf_fd: u32,
    }

    /// Argument of IMPORT_DMABUF (1D).
    ImportDmabufArgs = "struct kfd_ioctl_import_dmabuf_args" {
        /// In: the address at which devices will see it.
        va_addr: u64,
        /// Out: names it in the other ioctls.
        handle: u64,
        /// In: the device.
        gpu_id: u32,
        /// In: the dma-buf's descriptor.
        dmabuf_fd: u32,
    }

    /// Argument of EXPORT_DMABUF (24).
    ExportDmabufArgs = "struct kfd_ioctl_export_dmabuf_args" {
        /// In: the memory.
        handle: u64,
        /// In: `O_CLOEXEC` and the access mode.
        flags: u32,
        /// Out: the dma-buf's descriptor.
        dmabuf_fd: u32,
    }
}
