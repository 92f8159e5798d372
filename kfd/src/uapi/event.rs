//! Events: ioctls 08–0C.

use selvedge_sys::uapi::{member, set_member};
use selvedge_sys::uapi_structs;

/// Set by an interrupt of the device or by user space (`KFD_IOC_EVENT_SIGNAL`).
pub const EVENT_SIGNAL: u32 = 0;
/// `KFD_IOC_EVENT_NODECHANGE`
pub const EVENT_NODECHANGE: u32 = 1;
/// `KFD_IOC_EVENT_DEVICESTATECHANGE`
pub const EVENT_DEVICESTATECHANGE: u32 = 2;
/// A device was reset or lost its memory (`KFD_IOC_EVENT_HW_EXCEPTION`).
pub const EVENT_HW_EXCEPTION: u32 = 3;
/// `KFD_IOC_EVENT_SYSTEM_EVENT`
pub const EVENT_SYSTEM_EVENT: u32 = 4;
/// As a signal, from a debugging trap (`KFD_IOC_EVENT_DEBUG_EVENT`).
pub const EVENT_DEBUG_EVENT: u32 = 5;
/// `KFD_IOC_EVENT_PROFILE_EVENT`
pub const EVENT_PROFILE_EVENT: u32 = 6;
/// `KFD_IOC_EVENT_QUEUE_EVENT`
pub const EVENT_QUEUE_EVENT: u32 = 7;
/// A device faulted on an address (`KFD_IOC_EVENT_MEMORY`).
pub const EVENT_MEMORY: u32 = 8;

/// All waited-for events, or one of them, were set (`KFD_IOC_WAIT_RESULT_COMPLETE`).
pub const WAIT_RESULT_COMPLETE: u32 = 0;
/// `KFD_IOC_WAIT_RESULT_TIMEOUT`
pub const WAIT_RESULT_TIMEOUT: u32 = 1;
/// An event does not exist or was destroyed (`KFD_IOC_WAIT_RESULT_FAIL`).
pub const WAIT_RESULT_FAIL: u32 = 2;

/// Wait without end (WAIT_EVENTS' `timeout`).
pub const WAIT_INFINITE: u32 = u32::MAX;

/// Slots of the event page (`KFD_SIGNAL_EVENT_LIMIT`).
pub const SIGNAL_EVENT_LIMIT: usize = 4096;

/// `KFD_HW_EXCEPTION_WHOLE_GPU_RESET`
pub const HW_EXCEPTION_WHOLE_GPU_RESET: u32 = 0;
/// `KFD_HW_EXCEPTION_PER_ENGINE_RESET`
pub const HW_EXCEPTION_PER_ENGINE_RESET: u32 = 1;
/// `KFD_HW_EXCEPTION_GPU_HANG`
pub const HW_EXCEPTION_GPU_HANG: u32 = 0;
/// `KFD_HW_EXCEPTION_ECC`
pub const HW_EXCEPTION_ECC: u32 = 1;

/// An ordinary page fault (`KFD_MEM_ERR_NO_RAS`).
pub const MEM_ERR_NO_RAS: u32 = 0;
/// `KFD_MEM_ERR_SRAM_ECC`
pub const MEM_ERR_SRAM_ECC: u32 = 1;
/// `KFD_MEM_ERR_POISON_CONSUMED`
pub const MEM_ERR_POISON_CONSUMED: u32 = 2;
/// `KFD_MEM_ERR_GPU_HANG`
pub const MEM_ERR_GPU_HANG: u32 = 3;

uapi_structs! {
    /// Argument of CREATE_EVENT (08).
    CreateEventArgs = "struct kfd_ioctl_create_event_args" {
        /// In: handle of a buffer that becomes the event page, or 0. Out: mmap offset of the
        /// kernel's own page, where there is no buffer.
        event_page_offset: u64,
        /// Out: what the device sends in its interrupt to set the event: its id.
        event_trigger_data: u32,
        /// In: `EVENT_*`.
        event_type: u32,
        /// In: whether a wait that sees the event set resets it.
        auto_reset: u32,
        /// In: not used by the kernel.
        node_id: u32,
        /// Out: the event's id.
        event_id: u32,
        /// Out: its slot on the event page.
        event_slot_index: u32,
    }

    /// Argument of DESTROY_EVENT (09).
    DestroyEventArgs = "struct kfd_ioctl_destroy_event_args" {
        /// In: the event.
        event_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of SET_EVENT (0A), signal events only.
    SetEventArgs = "struct kfd_ioctl_set_event_args" {
        /// In: the event.
        event_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of RESET_EVENT (0B), signal events only.
    ResetEventArgs = "struct kfd_ioctl_reset_event_args" {
        /// In: the event.
        event_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Why a device's access failed; each field is 0 or 1.
    MemoryExceptionFailure = "struct kfd_memory_exception_failure" {
        /// The page is not present or not the user's.
        not_present: u32,
        /// Write access to a read-only page.
        read_only: u32,
        /// Execute access to a page that is not executable.
        no_execute: u32,
        /// The address may not be the exact one.
        imprecise: u32,
    }

    /// What a memory event tells.
    HsaMemoryExceptionData = "struct kfd_hsa_memory_exception_data" {
        /// Why the access failed.
        failure: MemoryExceptionFailure,
        /// The address, of the page at least.
        va: u64,
        /// The device.
        gpu_id: u32,
        /// `MEM_ERR_*`.
        error_type: u32,
    }

    /// What a hardware exception event tells.
    HsaHwExceptionData = "struct kfd_hsa_hw_exception_data" {
        /// `HW_EXCEPTION_*_RESET`.
        reset_type: u32,
        /// `HW_EXCEPTION_GPU_HANG` or `HW_EXCEPTION_ECC`.
        reset_cause: u32,
        /// Whether device memory was lost.
        memory_lost: u32,
        /// The device.
        gpu_id: u32,
    }

    /// What a wait says and learns about a signal event; KFD 1.14.
    HsaSignalEventData = "struct kfd_hsa_signal_event_data" {
        /// In: the age last seen; another age than this is taken for set, 0 means not asked.
        /// Out: the age now.
        last_event_age: u64,
    }

    /// One event of a wait. The data is a union of [`HsaMemoryExceptionData`],
    /// [`HsaHwExceptionData`] and [`HsaSignalEventData`], by the event's type.
    EventData = "struct kfd_event_data" {
        /// In and out: the union's storage.
        data: [u64; 4],
        /// Unused.
        kfd_event_data_ext: u64,
        /// In: the event.
        event_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of WAIT_EVENTS (0C).
    WaitEventsArgs = "struct kfd_ioctl_wait_events_args" {
        /// In: address of an array of [`EventData`].
        events_ptr: u64,
        /// In: its length.
        num_events: u32,
        /// In: 1 waits for all of them, 0 for any.
        wait_for_all: u32,
        /// In: ms; 0 polls, [`WAIT_INFINITE`] waits for ever. Out: what remains, when a signal
        /// interrupted the wait.
        timeout: u32,
        /// Out: `WAIT_RESULT_*`.
        wait_result: u32,
    }
}

impl EventData {
    /// For waiting on an event, with the age last seen of it (0: any).
    pub fn new(event_id: u32, last_event_age: u64) -> EventData {
        EventData { data: [last_event_age, 0, 0, 0], event_id, ..EventData::default() }
    }

    /// The data as a memory event's.
    pub fn memory_exception(&self) -> HsaMemoryExceptionData {
        member(&self.data)
    }

    /// Stores a memory event's data.
    pub fn set_memory_exception(&mut self, value: &HsaMemoryExceptionData) {
        set_member(&mut self.data, value);
    }

    /// The data as a hardware exception event's.
    pub fn hw_exception(&self) -> HsaHwExceptionData {
        member(&self.data)
    }

    /// Stores a hardware exception event's data.
    pub fn set_hw_exception(&mut self, value: &HsaHwExceptionData) {
        set_member(&mut self.data, value);
    }

    /// The data as a signal event's.
    pub fn signal(&self) -> HsaSignalEventData {
        member(&self.data)
    }

    /// Stores a signal event's data.
    pub fn set_signal(&mut self, value: &HsaSignalEventData) {
        set_member(&mut self.data, value);
    }
}
