//! Layouts and request words of `<drm/drm.h>`.

#![expect(
    missing_debug_implementations,
    reason = "zerocopy's KnownLayout derive makes a hidden type for each struct"
)]

use crate::uapi::{Direction, request};

/// The type letter of DRM's ioctls (`DRM_IOCTL_BASE`).
pub const BASE: u8 = b'd';
/// The first number that belongs to the driver (`DRM_COMMAND_BASE`).
pub const COMMAND_BASE: u8 = 0x40;

/// Whether timeline syncobjs work (`DRM_CAP_SYNCOBJ_TIMELINE`).
pub const CAP_SYNCOBJ_TIMELINE: u64 = 0x14;
/// Whether syncobjs work (`DRM_CAP_SYNCOBJ`).
pub const CAP_SYNCOBJ: u64 = 0x13;
/// Whether buffers can be shared: bit 0 import, bit 1 export (`DRM_CAP_PRIME`).
pub const CAP_PRIME: u64 = 0x5;

crate::uapi_structs! {
    /// Argument of VERSION. Each string has an address and a length: in, the room there; out, what
    /// the whole string needs.
    Version = "struct drm_version" {
        /// Out: the driver's major version.
        version_major: i32,
        /// Out: minor version.
        version_minor: i32,
        /// Out: patch level.
        version_patchlevel: i32,
        /// Implicit padding of the C struct.
        padding: u32,
        /// In and out: length of the name.
        name_len: u64,
        /// In: address of the driver's name, `amdgpu`.
        name: u64,
        /// In and out: length of the date.
        date_len: u64,
        /// In: address of the date.
        date: u64,
        /// In and out: length of the description.
        desc_len: u64,
        /// In: address of the description.
        desc: u64,
    }

    /// Argument of GET_CLIENT.
    Client = "struct drm_client" {
        /// In: which client; only 0, the caller, is answered.
        idx: i32,
        /// Out: whether it is authenticated.
        auth: i32,
        /// Out: its process.
        pid: u64,
        /// Out: its user.
        uid: u64,
        /// Out: 0.
        magic: u64,
        /// Out: 0.
        iocs: u64,
    }

    /// Argument of GEM_CLOSE.
    GemClose = "struct drm_gem_close" {
        /// In: the buffer.
        handle: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of GET_CAP.
    GetCap = "struct drm_get_cap" {
        /// In: `CAP_*`.
        capability: u64,
        /// Out: its value.
        value: u64,
    }

    /// Argument of PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE.
    PrimeHandle = "struct drm_prime_handle" {
        /// The buffer.
        handle: u32,
        /// In: `O_CLOEXEC` and `O_RDWR`, for exporting.
        flags: u32,
        /// The dma-buf's descriptor.
        fd: i32,
    }

    /// Argument of SYNCOBJ_CREATE.
    SyncobjCreate = "struct drm_syncobj_create" {
        /// Out: the syncobj.
        handle: u32,
        /// In: 1 creates it signalled.
        flags: u32,
    }

    /// Argument of SYNCOBJ_DESTROY.
    SyncobjDestroy = "struct drm_syncobj_destroy" {
        /// In: the syncobj.
        handle: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of SYNCOBJ_WAIT.
    SyncobjWait = "struct drm_syncobj_wait" {
        /// In: address of an array of handles.
        handles: u64,
        /// In: absolute time, CLOCK_MONOTONIC ns.
        timeout_nsec: i64,
        /// In: how many.
        count_handles: u32,
        /// In: 1 all of them, 2 also those not yet submitted, 8 deadline.
        flags: u32,
        /// Out: which one was first.
        first_signaled: u32,
        /// Unused.
        pad: u32,
        /// In: deadline hint, CLOCK_MONOTONIC ns.
        deadline_nsec: u64,
    }

    /// Argument of SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    SyncobjArray = "struct drm_syncobj_array" {
        /// In: address of an array of handles.
        handles: u64,
        /// In: how many.
        count_handles: u32,
        /// Zero.
        pad: u32,
    }

    /// Argument of SYNCOBJ_QUERY and SYNCOBJ_TIMELINE_SIGNAL.
    SyncobjTimelineArray = "struct drm_syncobj_timeline_array" {
        /// In: address of an array of handles.
        handles: u64,
        /// Address of an array of points, 64 bits each.
        points: u64,
        /// In: how many.
        count_handles: u32,
        /// In, of a query: 1 asks for what was submitted.
        flags: u32,
    }

    /// Argument of SYNCOBJ_TRANSFER.
    SyncobjTransfer = "struct drm_syncobj_transfer" {
        /// In: where the fence is.
        src_handle: u32,
        /// In: where it goes.
        dst_handle: u32,
        /// In: its point, or 0.
        src_point: u64,
        /// In: the point that it gets, or 0.
        dst_point: u64,
        /// In: as of a wait.
        flags: u32,
        /// Zero.
        pad: u32,
    }

    /// Argument of SYNCOBJ_TIMELINE_WAIT.
    SyncobjTimelineWait = "struct drm_syncobj_timeline_wait" {
        /// In: address of an array of handles.
        handles: u64,
        /// In: address of an array of points, 64 bits each.
        points: u64,
        /// In: absolute time, CLOCK_MONOTONIC ns.
        timeout_nsec: i64,
        /// In: how many.
        count_handles: u32,
        /// In: 1 all of them, 2 also those not yet submitted, 4 only until submitted, 8 deadline.
        flags: u32,
        /// Out: which one was first.
        first_signaled: u32,
        /// Unused.
        pad: u32,
        /// In: deadline hint, CLOCK_MONOTONIC ns.
        deadline_nsec: u64,
    }
}

macro_rules! requests {
    ($($name:ident $direction:ident $number:literal $argument:ident;)*) => {
        $(
            #[doc = concat!("`DRM_IOCTL_", stringify!($name), "`: [`", stringify!($argument), "`].")]
            pub const $name: u32 =
                request(Direction::$direction, BASE, $number, size_of::<$argument>());
        )*

        /// Name without `DRM_IOCTL_`, request word and name of the argument's type, of all.
        pub const REQUESTS: &[(&str, u32, &str)] =
            &[$((stringify!($name), $name, stringify!($argument)),)*];
    };
}

requests! {
    VERSION               ReadWrite 0x00 Version;
    GET_CLIENT            ReadWrite 0x05 Client;
    GEM_CLOSE             Write     0x09 GemClose;
    GET_CAP               ReadWrite 0x0c GetCap;
    PRIME_HANDLE_TO_FD    ReadWrite 0x2d PrimeHandle;
    PRIME_FD_TO_HANDLE    ReadWrite 0x2e PrimeHandle;
    SYNCOBJ_CREATE        ReadWrite 0xbf SyncobjCreate;
    SYNCOBJ_DESTROY       ReadWrite 0xc0 SyncobjDestroy;
    SYNCOBJ_WAIT          ReadWrite 0xc3 SyncobjWait;
    SYNCOBJ_RESET         ReadWrite 0xc4 SyncobjArray;
    SYNCOBJ_SIGNAL        ReadWrite 0xc5 SyncobjArray;
    SYNCOBJ_TIMELINE_WAIT ReadWrite 0xca SyncobjTimelineWait;
    SYNCOBJ_QUERY         ReadWrite 0xcb SyncobjTimelineArray;
    SYNCOBJ_TRANSFER      ReadWrite 0xcc SyncobjTransfer;
    SYNCOBJ_TIMELINE_SIGNAL ReadWrite 0xcd SyncobjTimelineArray;
}
