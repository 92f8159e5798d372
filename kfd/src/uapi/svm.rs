//! Shared virtual memory: ioctl 20, whose argument has a tail of attributes.

use bitflags::bitflags;
use selvedge_sys::uapi_structs;

/// Set attributes of a range (`KFD_IOCTL_SVM_OP_SET_ATTR`).
pub const SVM_OP_SET_ATTR: u32 = 0;
/// Read them (`KFD_IOCTL_SVM_OP_GET_ATTR`).
pub const SVM_OP_GET_ATTR: u32 = 1;

/// Location: system memory (`KFD_IOCTL_SVM_LOCATION_SYSMEM`). A gpu_id is a location too.
pub const SVM_LOCATION_SYSMEM: u32 = 0;
/// Location: none, or several (`KFD_IOCTL_SVM_LOCATION_UNDEFINED`).
pub const SVM_LOCATION_UNDEFINED: u32 = u32::MAX;

/// Where the range should live: a location (`KFD_IOCTL_SVM_ATTR_PREFERRED_LOC`).
pub const SVM_ATTR_PREFERRED_LOC: u32 = 0;
/// Where it moves now: a location.
pub const SVM_ATTR_PREFETCH_LOC: u32 = 1;
/// A gpu_id that gets access.
pub const SVM_ATTR_ACCESS: u32 = 2;
/// A gpu_id that gets access without migration.
pub const SVM_ATTR_ACCESS_IN_PLACE: u32 = 3;
/// A gpu_id that loses access.
pub const SVM_ATTR_NO_ACCESS: u32 = 4;
/// [`SvmFlags`] to set.
pub const SVM_ATTR_SET_FLAGS: u32 = 5;
/// [`SvmFlags`] to clear.
pub const SVM_ATTR_CLR_FLAGS: u32 = 6;
/// Migration granularity, log2 of pages.
pub const SVM_ATTR_GRANULARITY: u32 = 7;

bitflags! {
    /// Flags of a range (`KFD_IOCTL_SVM_FLAG_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct SvmFlags: u32 {
        /// The host has access.
        const HOST_ACCESS = 0x01;
        /// Fine-grained coherence between all devices with access.
        const COHERENT = 0x02;
        /// Any device of the preferred one's hive will do.
        const HIVE_LOCAL = 0x04;
        /// Devices only read.
        const GPU_RO = 0x08;
        /// Devices may execute.
        const GPU_EXEC = 0x10;
        /// Devices mostly read; writes fault.
        const GPU_READ_MOSTLY = 0x20;
        /// Always mapped to devices, as if XNACK were off.
        const GPU_ALWAYS_MAPPED = 0x40;
        /// Coherent by device-scope atomics across devices.
        const EXT_COHERENT = 0x80;
        const _ = !0;
    }
}

uapi_structs! {
    /// One attribute.
    SvmAttribute = "struct kfd_ioctl_svm_attribute" {
        /// `SVM_ATTR_*`.
        type_: u32,
        /// Its value.
        value: u32,
    }

    /// Argument of SVM (20); `nattr` [`SvmAttribute`]s follow it, and the request word's size field
    /// counts them ([`request::svm`](super::request::svm)).
    SvmArgs = "struct kfd_ioctl_svm_args" {
        /// In: start of the range, page-aligned.
        start_addr: u64,
        /// In: its size, bytes, a multiple of the page.
        size: u64,
        /// In: `SVM_OP_*`.
        op: u32,
        /// In: how many attributes follow.
        nattr: u32,
    }
}
