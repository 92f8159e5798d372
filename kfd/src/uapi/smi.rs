//! System management events: ioctl 1F, which hands out a file to read lines from.

use selvedge_sys::uapi_structs;

/// Kinds of event, by number; the file wants a mask ([`smi_event_mask`]): `KFD_SMI_EVENT_VMFAULT`.
pub const SMI_EVENT_VMFAULT: u32 = 1;
/// `KFD_SMI_EVENT_THERMAL_THROTTLE`
pub const SMI_EVENT_THERMAL_THROTTLE: u32 = 2;
/// `KFD_SMI_EVENT_GPU_PRE_RESET`
pub const SMI_EVENT_GPU_PRE_RESET: u32 = 3;
/// `KFD_SMI_EVENT_GPU_POST_RESET`
pub const SMI_EVENT_GPU_POST_RESET: u32 = 4;
/// `KFD_SMI_EVENT_MIGRATE_START`
pub const SMI_EVENT_MIGRATE_START: u32 = 5;
/// `KFD_SMI_EVENT_MIGRATE_END`
pub const SMI_EVENT_MIGRATE_END: u32 = 6;
/// `KFD_SMI_EVENT_PAGE_FAULT_START`
pub const SMI_EVENT_PAGE_FAULT_START: u32 = 7;
/// `KFD_SMI_EVENT_PAGE_FAULT_END`
pub const SMI_EVENT_PAGE_FAULT_END: u32 = 8;
/// `KFD_SMI_EVENT_QUEUE_EVICTION`
pub const SMI_EVENT_QUEUE_EVICTION: u32 = 9;
/// `KFD_SMI_EVENT_QUEUE_RESTORE`
pub const SMI_EVENT_QUEUE_RESTORE: u32 = 10;
/// `KFD_SMI_EVENT_UNMAP_FROM_GPU`
pub const SMI_EVENT_UNMAP_FROM_GPU: u32 = 11;
/// `KFD_SMI_EVENT_PROCESS_START`, newer kernels
pub const SMI_EVENT_PROCESS_START: u32 = 12;
/// `KFD_SMI_EVENT_PROCESS_END`, newer kernels
pub const SMI_EVENT_PROCESS_END: u32 = 13;
/// Events of all processes, for the superuser (`KFD_SMI_EVENT_ALL_PROCESS`).
pub const SMI_EVENT_ALL_PROCESS: u32 = 64;

/// The longest line, bytes (`KFD_SMI_EVENT_MSG_SIZE`).
pub const SMI_EVENT_MSG_SIZE: usize = 96;

/// The mask bit of a kind of event (`KFD_SMI_EVENT_MASK_FROM_INDEX`); 0 for kinds that have none.
pub const fn smi_event_mask(event: u32) -> u64 {
    match event {
        1..=64 => 1 << (event - 1),
        _ => 0,
    }
}

uapi_structs! {
    /// Argument of SMI_EVENTS (1F); KFD 1.3.
    SmiEventsArgs = "struct kfd_ioctl_smi_events_args" {
        /// In: the device.
        gpuid: u32,
        /// Out: descriptor of the events file.
        anon_fd: u32,
    }
}
