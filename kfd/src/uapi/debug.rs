//! The debugger's interface: ioctl 26, its operations and what they exchange; and the exception
//! codes that queues report with or without a debugger. Also the four dead ioctls 0D–10.

use bitflags::bitflags;
use selvedge_sys::uapi::{member, set_member};
use selvedge_sys::uapi_structs;

bitflags! {
    /// Waves trap on these (`kfd_dbg_trap_mask`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TrapMask: u32 {
        /// Invalid floating-point operation.
        const FP_INVALID = 1;
        /// Denormal input.
        const FP_INPUT_DENORMAL = 2;
        /// Division by zero.
        const FP_DIVIDE_BY_ZERO = 4;
        /// Overflow.
        const FP_OVERFLOW = 8;
        /// Underflow.
        const FP_UNDERFLOW = 16;
        /// Inexact result.
        const FP_INEXACT = 32;
        /// Integer division by zero.
        const INT_DIVIDE_BY_ZERO = 64;
        /// A watched address.
        const DBG_ADDRESS_WATCH = 128;
        /// A memory violation.
        const DBG_MEMORY_VIOLATION = 256;
        /// The wave starts.
        const TRAP_ON_WAVE_START = 1 << 30;
        /// The wave ends.
        const TRAP_ON_WAVE_END = 1 << 31;
        const _ = !0;
    }

    /// Further settings of waves (`kfd_dbg_trap_flags`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TrapFlags: u32 {
        /// One memory operation at a time, so that faults are precise.
        const SINGLE_MEM_OP = 1;
        /// One arithmetic operation at a time.
        const SINGLE_ALU_OP = 2;
        /// LDS accesses out of range raise an exception; KFD 1.21.
        const LDS_OUT_OF_ADDR_RANGE = 4;
        const _ = !0;
    }
}

/// Add to the mask in force (`KFD_DBG_TRAP_OVERRIDE_OR`).
pub const TRAP_OVERRIDE_OR: u32 = 0;
/// Replace it (`KFD_DBG_TRAP_OVERRIDE_REPLACE`).
pub const TRAP_OVERRIDE_REPLACE: u32 = 1;

/// Waves start as always (`KFD_DBG_TRAP_WAVE_LAUNCH_MODE_NORMAL`).
pub const WAVE_LAUNCH_MODE_NORMAL: u32 = 0;
/// Waves start halted.
pub const WAVE_LAUNCH_MODE_HALT: u32 = 1;
/// Waves start in debug mode.
pub const WAVE_LAUNCH_MODE_DEBUG: u32 = 3;

/// Watch reads (`KFD_DBG_TRAP_ADDRESS_WATCH_MODE_READ`).
pub const ADDRESS_WATCH_MODE_READ: u32 = 0;
/// Watch all but reads.
pub const ADDRESS_WATCH_MODE_NONREAD: u32 = 1;
/// Watch atomics.
pub const ADDRESS_WATCH_MODE_ATOMIC: u32 = 2;
/// Watch every access.
pub const ADDRESS_WATCH_MODE_ALL: u32 = 3;

/// Bit of a queue id that SUSPEND_QUEUES and RESUME_QUEUES return: the hardware failed.
pub const DBG_QUEUE_ERROR_MASK: u32 = 1 << 30;
/// The same: no such queue, or a new or dying one.
pub const DBG_QUEUE_INVALID_MASK: u32 = 1 << 31;

/// Exception codes (`kfd_dbg_trap_exception_code`). A queue's exceptions arrive as a mask of
/// [`mask`](exception::mask)s.
pub mod exception {
    /// The mask bit of a code (`KFD_EC_MASK`); 0 for codes that have none.
    pub const fn mask(code: u32) -> u64 {
        match code {
            1..=64 => 1 << (code - 1),
            _ => 0,
        }
    }

    macro_rules! codes {
        ($($(#[$meta:meta])* $name:ident = $code:literal;)*) => {
            $( $(#[$meta])* pub const $name: u32 = $code; )*

            /// The kernel's name of a code, without `EC_`.
            pub const fn name(code: u32) -> Option<&'static str> {
                match code {
                    $( $code => Some(stringify!($name)), )*
                    _ => None,
                }
            }
        };
    }

    codes! {
        /// A wave aborted.
        QUEUE_WAVE_ABORT = 1;
        /// A wave trapped.
        QUEUE_WAVE_TRAP = 2;
        /// A wave's arithmetic failed.
        QUEUE_WAVE_MATH_ERROR = 3;
        /// A wave met an illegal instruction.
        QUEUE_WAVE_ILLEGAL_INSTRUCTION = 4;
        /// A wave touched memory it may not.
        QUEUE_WAVE_MEMORY_VIOLATION = 5;
        /// A wave touched an address outside of every aperture.
        QUEUE_WAVE_APERTURE_VIOLATION = 6;
        /// A dispatch packet has bad dimensions.
        QUEUE_PACKET_DISPATCH_DIM_INVALID = 16;
        /// A dispatch packet asks for too much LDS.
        QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID = 17;
        /// A dispatch packet's kernel object is null.
        QUEUE_PACKET_DISPATCH_CODE_INVALID = 18;
        /// Reserved.
        QUEUE_PACKET_RESERVED = 19;
        /// A packet of an unsupported kind.
        QUEUE_PACKET_UNSUPPORTED = 20;
        /// A dispatch packet's workgroup is too large.
        QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID = 21;
        /// A kernel needs more registers than there are.
        QUEUE_PACKET_DISPATCH_REGISTER_INVALID = 22;
        /// A vendor packet of an unsupported format.
        QUEUE_PACKET_VENDOR_UNSUPPORTED = 23;
        /// The queue could not be preempted.
        QUEUE_PREEMPTION_ERROR = 30;
        /// The queue is new.
        QUEUE_NEW = 31;
        /// A queue of the device was deleted.
        DEVICE_QUEUE_DELETE = 32;
        /// The device faulted on an address.
        DEVICE_MEMORY_VIOLATION = 33;
        /// The device found a hardware error.
        DEVICE_RAS_ERROR = 34;
        /// The device halted.
        DEVICE_FATAL_HALT = 35;
        /// The device is new.
        DEVICE_NEW = 36;
        /// The process's runtime was enabled or disabled.
        PROCESS_RUNTIME = 48;
        /// A device went away.
        PROCESS_DEVICE_REMOVE = 49;
    }
}

/// Operations of DBG_TRAP (`kfd_dbg_trap_operations`): attach.
pub const DBG_TRAP_ENABLE: u32 = 0;
/// Detach.
pub const DBG_TRAP_DISABLE: u32 = 1;
/// Raise exceptions in the runtime.
pub const DBG_TRAP_SEND_RUNTIME_EVENT: u32 = 2;
/// Choose the exceptions that reach the debugger.
pub const DBG_TRAP_SET_EXCEPTIONS_ENABLED: u32 = 3;
/// Choose what waves trap on.
pub const DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE: u32 = 4;
/// Choose how waves start.
pub const DBG_TRAP_SET_WAVE_LAUNCH_MODE: u32 = 5;
/// Suspend queues.
pub const DBG_TRAP_SUSPEND_QUEUES: u32 = 6;
/// Resume queues.
pub const DBG_TRAP_RESUME_QUEUES: u32 = 7;
/// Watch an address.
pub const DBG_TRAP_SET_NODE_ADDRESS_WATCH: u32 = 8;
/// Stop watching it.
pub const DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH: u32 = 9;
/// Set [`TrapFlags`].
pub const DBG_TRAP_SET_FLAGS: u32 = 10;
/// Find raised exceptions.
pub const DBG_TRAP_QUERY_DEBUG_EVENT: u32 = 11;
/// Ask about one exception.
pub const DBG_TRAP_QUERY_EXCEPTION_INFO: u32 = 12;
/// List the queues.
pub const DBG_TRAP_GET_QUEUE_SNAPSHOT: u32 = 13;
/// List the devices.
pub const DBG_TRAP_GET_DEVICE_SNAPSHOT: u32 = 14;

uapi_structs! {
    /// Argument of the dead ioctl 0D, which answers EPERM.
    DbgRegisterArgs = "struct kfd_ioctl_dbg_register_args" {
        /// The device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of the dead ioctl 0E, which answers EPERM.
    DbgUnregisterArgs = "struct kfd_ioctl_dbg_unregister_args" {
        /// The device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of the dead ioctl 0F, which answers EPERM.
    DbgAddressWatchArgs = "struct kfd_ioctl_dbg_address_watch_args" {
        /// Address of the content.
        content_ptr: u64,
        /// The device.
        gpu_id: u32,
        /// Its size, bytes.
        buf_size_in_bytes: u32,
    }

    /// Argument of the dead ioctl 10, which answers EPERM.
    DbgWaveControlArgs = "struct kfd_ioctl_dbg_wave_control_args" {
        /// Address of the content.
        content_ptr: u64,
        /// The device.
        gpu_id: u32,
        /// Its size, bytes.
        buf_size_in_bytes: u32,
    }

    /// A device, as GET_DEVICE_SNAPSHOT lists it. The last eight bytes are new in KFD 1.21.
    DbgDeviceInfoEntry = "struct kfd_dbg_device_info_entry" {
        /// Exceptions raised: a mask.
        exception_status: u64,
        /// First address of the LDS aperture.
        lds_base: u64,
        /// Its last address.
        lds_limit: u64,
        /// First address of the scratch aperture.
        scratch_base: u64,
        /// Its last address.
        scratch_limit: u64,
        /// First address that memory can be mapped at.
        gpuvm_base: u64,
        /// The last one.
        gpuvm_limit: u64,
        /// The device.
        gpu_id: u32,
        /// PCI bus, device and function.
        location_id: u32,
        /// PCI vendor.
        vendor_id: u32,
        /// PCI device.
        device_id: u32,
        /// PCI revision.
        revision_id: u32,
        /// PCI subsystem vendor.
        subsystem_vendor_id: u32,
        /// PCI subsystem device.
        subsystem_device_id: u32,
        /// Firmware version of the compute microengine.
        fw_version: u32,
        /// As in the topology.
        gfx_target_version: u32,
        /// As in the topology.
        simd_count: u32,
        /// As in the topology.
        max_waves_per_simd: u32,
        /// As in the topology.
        array_count: u32,
        /// As in the topology.
        simd_arrays_per_engine: u32,
        /// As in the topology.
        num_xcc: u32,
        /// As in the topology.
        capability: u32,
        /// As in the topology.
        debug_prop: u32,
        /// As in the topology.
        capability2: u32,
        /// Unused.
        pad: u32,
    }

    /// A queue, as GET_QUEUE_SNAPSHOT lists it.
    QueueSnapshotEntry = "struct kfd_queue_snapshot_entry" {
        /// Exceptions raised: a mask.
        exception_status: u64,
        /// Address of the ring.
        ring_base_address: u64,
        /// Address of the write pointer.
        write_pointer_address: u64,
        /// Address of the read pointer.
        read_pointer_address: u64,
        /// Address of the context save area.
        ctx_save_restore_address: u64,
        /// The queue.
        queue_id: u32,
        /// The device.
        gpu_id: u32,
        /// Ring size, bytes.
        ring_size: u32,
        /// `QUEUE_TYPE_*`.
        queue_type: u32,
        /// Size of the save area, bytes.
        ctx_save_restore_area_size: u32,
        /// Unused.
        reserved: u32,
    }

    /// Data of [`DBG_TRAP_ENABLE`].
    DbgTrapEnableArgs = "struct kfd_ioctl_dbg_trap_enable_args" {
        /// In: exceptions that reach the debugger.
        exception_mask: u64,
        /// In: address of a [`RuntimeInfo`](super::RuntimeInfo).
        rinfo_ptr: u64,
        /// In: room there, bytes. Out: the kernel's size of it.
        rinfo_size: u32,
        /// In: a descriptor that the kernel writes to when an exception is raised.
        dbg_fd: u32,
    }

    /// Data of [`DBG_TRAP_SEND_RUNTIME_EVENT`].
    DbgTrapSendRuntimeEventArgs = "struct kfd_ioctl_dbg_trap_send_runtime_event_args" {
        /// In: exceptions to raise.
        exception_mask: u64,
        /// In: the device.
        gpu_id: u32,
        /// In: the queue.
        queue_id: u32,
    }

    /// Data of [`DBG_TRAP_SET_EXCEPTIONS_ENABLED`].
    DbgTrapSetExceptionsEnabledArgs = "struct kfd_ioctl_dbg_trap_set_exceptions_enabled_args" {
        /// In: exceptions that reach the debugger.
        exception_mask: u64,
    }

    /// Data of [`DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE`].
    DbgTrapSetWaveLaunchOverrideArgs = "struct kfd_ioctl_dbg_trap_set_wave_launch_override_args" {
        /// In: `TRAP_OVERRIDE_*`.
        override_mode: u32,
        /// In: [`TrapMask`]. Out: the mask before.
        enable_mask: u32,
        /// In: the bits asked for. Out: the bits supported.
        support_request_mask: u32,
        /// Unused.
        pad: u32,
    }

    /// Data of [`DBG_TRAP_SET_WAVE_LAUNCH_MODE`].
    DbgTrapSetWaveLaunchModeArgs = "struct kfd_ioctl_dbg_trap_set_wave_launch_mode_args" {
        /// In: `WAVE_LAUNCH_MODE_*`.
        launch_mode: u32,
        /// Unused.
        pad: u32,
    }

    /// Data of [`DBG_TRAP_SUSPEND_QUEUES`]; the ioctl returns how many were suspended.
    DbgTrapSuspendQueuesArgs = "struct kfd_ioctl_dbg_trap_suspend_queues_args" {
        /// In: exceptions to clear.
        exception_mask: u64,
        /// In and out: address of an array of queue ids.
        queue_array_ptr: u64,
        /// In: its length.
        num_queues: u32,
        /// In: time waves get before preemption, in 1 K device clock cycles.
        grace_period: u32,
    }

    /// Data of [`DBG_TRAP_RESUME_QUEUES`]; the ioctl returns how many were resumed.
    DbgTrapResumeQueuesArgs = "struct kfd_ioctl_dbg_trap_resume_queues_args" {
        /// In and out: address of an array of queue ids.
        queue_array_ptr: u64,
        /// In: its length.
        num_queues: u32,
        /// Unused.
        pad: u32,
    }

    /// Data of [`DBG_TRAP_SET_NODE_ADDRESS_WATCH`].
    DbgTrapSetNodeAddressWatchArgs = "struct kfd_ioctl_dbg_trap_set_node_address_watch_args" {
        /// In: the address.
        address: u64,
        /// In: `ADDRESS_WATCH_MODE_*`.
        mode: u32,
        /// In: address bits that count.
        mask: u32,
        /// In: the device.
        gpu_id: u32,
        /// Out: the watch's id.
        id: u32,
    }

    /// Data of [`DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH`].
    DbgTrapClearNodeAddressWatchArgs = "struct kfd_ioctl_dbg_trap_clear_node_address_watch_args" {
        /// In: the device.
        gpu_id: u32,
        /// In: the watch's id.
        id: u32,
    }

    /// Data of [`DBG_TRAP_SET_FLAGS`].
    DbgTrapSetFlagsArgs = "struct kfd_ioctl_dbg_trap_set_flags_args" {
        /// In: [`TrapFlags`]. Out: the flags before.
        flags: u32,
        /// Unused.
        pad: u32,
    }

    /// Data of [`DBG_TRAP_QUERY_DEBUG_EVENT`].
    DbgTrapQueryDebugEventArgs = "struct kfd_ioctl_dbg_trap_query_debug_event_args" {
        /// In: exceptions to clear. Out: exceptions raised.
        exception_mask: u64,
        /// Out: the device.
        gpu_id: u32,
        /// Out: the queue.
        queue_id: u32,
    }

    /// Data of [`DBG_TRAP_QUERY_EXCEPTION_INFO`].
    DbgTrapQueryExceptionInfoArgs = "struct kfd_ioctl_dbg_trap_query_exception_info_args" {
        /// In: address that the information is copied to.
        info_ptr: u64,
        /// In: room there, bytes. Out: its size.
        info_size: u32,
        /// In: the device or queue.
        source_id: u32,
        /// In: a code of [`exception`].
        exception_code: u32,
        /// In: 1 clears the exception.
        clear_exception: u32,
    }

    /// Data of [`DBG_TRAP_GET_QUEUE_SNAPSHOT`].
    DbgTrapQueueSnapshotArgs = "struct kfd_ioctl_dbg_trap_queue_snapshot_args" {
        /// In: exceptions to clear.
        exception_mask: u64,
        /// In: address of an array of [`QueueSnapshotEntry`].
        snapshot_buf_ptr: u64,
        /// In: its length. Out: queues there are.
        num_queues: u32,
        /// In: size of an entry. Out: bytes filled of each.
        entry_size: u32,
    }

    /// Data of [`DBG_TRAP_GET_DEVICE_SNAPSHOT`].
    DbgTrapDeviceSnapshotArgs = "struct kfd_ioctl_dbg_trap_device_snapshot_args" {
        /// In: exceptions to clear.
        exception_mask: u64,
        /// In: address of an array of [`DbgDeviceInfoEntry`].
        snapshot_buf_ptr: u64,
        /// In: its length. Out: devices there are.
        num_devices: u32,
        /// In: size of an entry. Out: bytes filled of each.
        entry_size: u32,
    }

    /// Argument of DBG_TRAP (26); KFD 1.13. The data is the union of the structs above, by `op`.
    DbgTrapArgs = "struct kfd_ioctl_dbg_trap_args" {
        /// In: the process that is debugged.
        pid: u32,
        /// In: `DBG_TRAP_*`.
        op: u32,
        /// In and out: the union's storage.
        data: [u64; 3],
    }
}

/// The data of a DBG_TRAP operation.
pub trait DbgTrapData:
    zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + private::Sealed
{
    /// The operation, `DBG_TRAP_*`.
    const OP: u32;
}

mod private {
    pub trait Sealed {}
}

macro_rules! operations {
    ($($data:ident $op:ident,)*) => {$(
        impl private::Sealed for $data {}
        impl DbgTrapData for $data {
            const OP: u32 = $op;
        }
    )*};
}

operations! {
    DbgTrapEnableArgs DBG_TRAP_ENABLE,
    DbgTrapSendRuntimeEventArgs DBG_TRAP_SEND_RUNTIME_EVENT,
    DbgTrapSetExceptionsEnabledArgs DBG_TRAP_SET_EXCEPTIONS_ENABLED,
    DbgTrapSetWaveLaunchOverrideArgs DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE,
    DbgTrapSetWaveLaunchModeArgs DBG_TRAP_SET_WAVE_LAUNCH_MODE,
    DbgTrapSuspendQueuesArgs DBG_TRAP_SUSPEND_QUEUES,
    DbgTrapResumeQueuesArgs DBG_TRAP_RESUME_QUEUES,
    DbgTrapSetNodeAddressWatchArgs DBG_TRAP_SET_NODE_ADDRESS_WATCH,
    DbgTrapClearNodeAddressWatchArgs DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH,
    DbgTrapSetFlagsArgs DBG_TRAP_SET_FLAGS,
    DbgTrapQueryDebugEventArgs DBG_TRAP_QUERY_DEBUG_EVENT,
    DbgTrapQueryExceptionInfoArgs DBG_TRAP_QUERY_EXCEPTION_INFO,
    DbgTrapQueueSnapshotArgs DBG_TRAP_GET_QUEUE_SNAPSHOT,
    DbgTrapDeviceSnapshotArgs DBG_TRAP_GET_DEVICE_SNAPSHOT,
}

impl DbgTrapArgs {
    /// An operation on a process.
    pub fn new<T: DbgTrapData>(pid: u32, data: &T) -> DbgTrapArgs {
        let mut args = DbgTrapArgs { pid, op: T::OP, data: [0; 3] };
        set_member(&mut args.data, data);
        args
    }

    /// Detaching from a process, the one operation without data.
    pub fn disable(pid: u32) -> DbgTrapArgs {
        DbgTrapArgs { pid, op: DBG_TRAP_DISABLE, data: [0; 3] }
    }

    /// The data, when it is of the operation asked for.
    pub fn data<T: DbgTrapData>(&self) -> Option<T> {
        (self.op == T::OP).then(|| member(&self.data))
    }

    /// Replaces the data and makes the operation its own.
    pub fn set_data<T: DbgTrapData>(&mut self, data: &T) {
        self.op = T::OP;
        set_member(&mut self.data, data);
    }
}
