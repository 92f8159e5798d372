//! Checkpoint and restore: ioctl 22.

use selvedge_sys::uapi_structs;

/// How much there is to save (`KFD_CRIU_OP_PROCESS_INFO`).
pub const CRIU_OP_PROCESS_INFO: u32 = 0;
/// Save; the process's queues stay evicted (`KFD_CRIU_OP_CHECKPOINT`).
pub const CRIU_OP_CHECKPOINT: u32 = 1;
/// Let the saved process go on (`KFD_CRIU_OP_UNPAUSE`).
pub const CRIU_OP_UNPAUSE: u32 = 2;
/// Restore (`KFD_CRIU_OP_RESTORE`).
pub const CRIU_OP_RESTORE: u32 = 3;
/// Let the restored process go on (`KFD_CRIU_OP_RESUME`).
pub const CRIU_OP_RESUME: u32 = 4;

uapi_structs! {
    /// Argument of CRIU_OP (22); KFD 1.7.
    CriuArgs = "struct kfd_ioctl_criu_args" {
        /// In/out: address of an array of [`CriuDeviceBucket`].
        devices: u64,
        /// In/out: address of an array of [`CriuBoBucket`].
        bos: u64,
        /// In/out: address of the kernel's private data.
        priv_data: u64,
        /// In/out: its size, bytes.
        priv_data_size: u64,
        /// In/out: devices of the process.
        num_devices: u32,
        /// In/out: buffers of the process.
        num_bos: u32,
        /// In/out: objects in the private data.
        num_objects: u32,
        /// In: the process, in the caller's pid namespace.
        pid: u32,
        /// In: `CRIU_OP_*`.
        op: u32,
        /// Implicit padding of the C struct.
        padding: u32,
    }

    /// A device of a saved process.
    CriuDeviceBucket = "struct kfd_criu_device_bucket" {
        /// The gpu_id that the process uses.
        user_gpu_id: u32,
        /// The gpu_id of the device it runs on.
        actual_gpu_id: u32,
        /// Descriptor of its render file.
        drm_fd: u32,
        /// Unused.
        pad: u32,
    }

    /// A buffer of a saved process.
    CriuBoBucket = "struct kfd_criu_bo_bucket" {
        /// Its address.
        addr: u64,
        /// Bytes.
        size: u64,
        /// Its mmap offset.
        offset: u64,
        /// Its mmap offset after restoring.
        restored_offset: u64,
        /// The gpu_id that the process uses.
        gpu_id: u32,
        /// [`AllocMemFlags`](super::AllocMemFlags).
        alloc_flags: u32,
        /// A dma-buf of it.
        dmabuf_fd: u32,
        /// Unused.
        pad: u32,
    }
}
