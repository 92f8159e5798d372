//! Queues: ioctls 02, 03, 07, 1A, 1B and 1E, and the save area that CREATE_QUEUE is given.

use selvedge_sys::uapi_structs;

/// Compute queue that takes PM4 packets (`KFD_IOC_QUEUE_TYPE_COMPUTE`).
pub const QUEUE_TYPE_COMPUTE: u32 = 0;
/// SDMA queue on an engine of the KFD's choice (`KFD_IOC_QUEUE_TYPE_SDMA`).
pub const QUEUE_TYPE_SDMA: u32 = 1;
/// Compute queue that takes AQL packets (`KFD_IOC_QUEUE_TYPE_COMPUTE_AQL`).
pub const QUEUE_TYPE_COMPUTE_AQL: u32 = 2;
/// SDMA queue on an engine made for XGMI links (`KFD_IOC_QUEUE_TYPE_SDMA_XGMI`).
pub const QUEUE_TYPE_SDMA_XGMI: u32 = 3;
/// SDMA queue on the engine that `sdma_engine_id` names; KFD 1.17 (`KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID`).
pub const QUEUE_TYPE_SDMA_BY_ENG_ID: u32 = 4;

/// The largest queue percentage (`KFD_MAX_QUEUE_PERCENTAGE`).
pub const MAX_QUEUE_PERCENTAGE: u32 = 100;
/// The highest queue priority (`KFD_MAX_QUEUE_PRIORITY`).
pub const MAX_QUEUE_PRIORITY: u32 = 15;
/// The smallest ring, bytes; a smaller one is silently taken for this size (`KFD_MIN_QUEUE_RING_SIZE`).
pub const MIN_QUEUE_RING_SIZE: u32 = 1024;

uapi_structs! {
    /// Argument of CREATE_QUEUE (02). Before KFD 1.17 the kernel ignores `sdma_engine_id`, before
    /// 1.22 `metadata_ring_size`.
    CreateQueueArgs = "struct kfd_ioctl_create_queue_args" {
        /// In: address of the ring.
        ring_base_address: u64,
        /// In: address of the 64-bit write pointer.
        write_pointer_address: u64,
        /// In: address of the read pointer.
        read_pointer_address: u64,
        /// Out: mmap offset of the process's doorbell slice, with the byte offset of this queue's
        /// doorbell inside the slice in its low bits.
        doorbell_offset: u64,
        /// In: ring size, bytes.
        ring_size: u32,
        /// In: the device.
        gpu_id: u32,
        /// In: `QUEUE_TYPE_*`.
        queue_type: u32,
        /// In: bits 7:0 share of the hardware, 0 (stopped) to 100; bits 15:8 target XCC of a PM4
        /// queue.
        queue_percentage: u32,
        /// In: 0 (lowest) to 15.
        queue_priority: u32,
        /// Out: the queue's id in this process.
        queue_id: u32,
        /// In: address of the end-of-pipe buffer, or 0.
        eop_buffer_address: u64,
        /// In: its size, bytes.
        eop_buffer_size: u64,
        /// In: address of the context save area.
        ctx_save_restore_address: u64,
        /// In: its size per XCC without the debugger's part, bytes.
        ctx_save_restore_size: u32,
        /// In: size of the control stack in it, bytes.
        ctl_stack_size: u32,
        /// In: SDMA engine, for `QUEUE_TYPE_SDMA_BY_ENG_ID`.
        sdma_engine_id: u32,
        /// In: size of the metadata ring that follows the ring, bytes.
        metadata_ring_size: u32,
    }

    /// Argument of DESTROY_QUEUE (03).
    DestroyQueueArgs = "struct kfd_ioctl_destroy_queue_args" {
        /// In: the queue.
        queue_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of UPDATE_QUEUE (07): replaces all four properties.
    UpdateQueueArgs = "struct kfd_ioctl_update_queue_args" {
        /// In: address of the ring.
        ring_base_address: u64,
        /// In: the queue.
        queue_id: u32,
        /// In: ring size, bytes.
        ring_size: u32,
        /// In: as in [`CreateQueueArgs`].
        queue_percentage: u32,
        /// In: 0 to 15.
        queue_priority: u32,
    }

    /// Argument of SET_CU_MASK (1A).
    SetCuMaskArgs = "struct kfd_ioctl_set_cu_mask_args" {
        /// In: the queue.
        queue_id: u32,
        /// In: length of the mask in bits, a multiple of 32.
        num_cu_mask: u32,
        /// In: address of the mask, an array of dwords.
        cu_mask_ptr: u64,
    }

    /// Argument of GET_QUEUE_WAVE_STATE (1B), for a queue that is stopped.
    GetQueueWaveStateArgs = "struct kfd_ioctl_get_queue_wave_state_args" {
        /// In: address that the control stack is copied to.
        ctl_stack_address: u64,
        /// Out: bytes of control stack in use.
        ctl_stack_used_size: u32,
        /// Out: bytes of wave state in use.
        save_area_used_size: u32,
        /// In: the queue.
        queue_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of ALLOC_QUEUE_GWS (1E): global wave sync for cooperative launches.
    AllocQueueGwsArgs = "struct kfd_ioctl_alloc_queue_gws_args" {
        /// In: the queue.
        queue_id: u32,
        /// In: how many; 0 frees.
        num_gws: u32,
        /// Out: the first one's index; always 0.
        first_gws: u32,
        /// Unused.
        pad: u32,
    }

    /// The head of a context save area (one for each XCC). The KFD and the command processor fill
    /// the first four fields, user space the others before CREATE_QUEUE.
    ContextSaveAreaHeader = "struct kfd_context_save_area_header" {
        /// Out: where the control stack in use begins, bytes from this header (the register
        /// CP_HQD_CNTL_STACK_OFFSET).
        control_stack_offset: u32,
        /// Out: bytes of control stack in use.
        control_stack_size: u32,
        /// Out: where the wave state in use ends, bytes from this header (the register
        /// CP_HQD_WG_STATE_OFFSET).
        wave_state_offset: u32,
        /// Out: bytes of wave state in use.
        wave_state_size: u32,
        /// In: where the debugger's memory begins, bytes from this header.
        debug_offset: u32,
        /// In: its size for all XCCs together, bytes.
        debug_size: u32,
        /// In: address of a 64-bit word that receives the mask of this queue's exceptions.
        err_payload_addr: u64,
        /// In: the event that is set when it does.
        err_event_id: u32,
        /// Unused.
        reserved1: u32,
    }
}
