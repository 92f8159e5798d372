//! The process and its devices: ioctls 01, 04–06, 11–15, 21, 23, 25 and 27.

use bitflags::bitflags;
use selvedge_sys::uapi_structs;

/// The interface's major version (`KFD_IOCTL_MAJOR_VERSION`).
pub const MAJOR_VERSION: u32 = 1;
/// The newest minor version described here (`KFD_IOCTL_MINOR_VERSION`).
pub const MINOR_VERSION: u32 = 23;

/// Devices see memory coherently (`KFD_IOC_CACHE_POLICY_COHERENT`).
pub const CACHE_POLICY_COHERENT: u32 = 0;
/// Devices may cache memory incoherently (`KFD_IOC_CACHE_POLICY_NONCOHERENT`).
pub const CACHE_POLICY_NONCOHERENT: u32 = 1;

/// How many devices GET_PROCESS_APERTURES can report (`NUM_OF_SUPPORTED_GPUS`).
pub const NUM_OF_SUPPORTED_GPUS: usize = 7;

/// States of [`RuntimeInfo::runtime_state`]: no runtime (`DEBUG_RUNTIME_STATE_DISABLED`).
pub const RUNTIME_STATE_DISABLED: u32 = 0;
/// Enabled (`DEBUG_RUNTIME_STATE_ENABLED`).
pub const RUNTIME_STATE_ENABLED: u32 = 1;
/// Enabled, and the debugger could not attach because the device is busy (`..._ENABLED_BUSY`).
pub const RUNTIME_STATE_ENABLED_BUSY: u32 = 2;
/// Enabled, and attaching failed (`..._ENABLED_ERROR`).
pub const RUNTIME_STATE_ENABLED_ERROR: u32 = 3;

bitflags! {
    /// Modes of RUNTIME_ENABLE (`KFD_RUNTIME_ENABLE_MODE_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RuntimeMode: u32 {
        /// Queue exceptions reach this process; clear, the call disables the runtime.
        const ENABLE = 1;
        /// Waves save their trap temporaries, for a debugger.
        const TTMP_SAVE = 2;
        const _ = !0;
    }

    /// Process flags of SET_MEMORY_POLICY, KFD 1.18 (`KFD_PROC_FLAG_*`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ProcessFlags: u32 {
        /// Matrix instructions accumulate with high precision.
        const MFMA_HIGH_PRECISION = 1;
        const _ = !0;
    }
}

uapi_structs! {
    /// Argument of GET_VERSION (01).
    GetVersionArgs = "struct kfd_ioctl_get_version_args" {
        /// Out: major version, 1.
        major_version: u32,
        /// Out: minor version.
        minor_version: u32,
    }

    /// Argument of SET_MEMORY_POLICY (04).
    SetMemoryPolicyArgs = "struct kfd_ioctl_set_memory_policy_args" {
        /// In: base of the alternate aperture.
        alternate_aperture_base: u64,
        /// In: its size, bytes.
        alternate_aperture_size: u64,
        /// In: the device.
        gpu_id: u32,
        /// In: `CACHE_POLICY_*` of everything else.
        default_policy: u32,
        /// In: `CACHE_POLICY_*` of the alternate aperture.
        alternate_policy: u32,
        /// In: [`ProcessFlags`]; KFD 1.18.
        misc_process_flag: u32,
    }

    /// Argument of GET_CLOCK_COUNTERS (05). All counters are monotonic.
    GetClockCountersArgs = "struct kfd_ioctl_get_clock_counters_args" {
        /// Out: the device's counter, ticks of its own.
        gpu_clock_counter: u64,
        /// Out: CLOCK_MONOTONIC_RAW, ns.
        cpu_clock_counter: u64,
        /// Out: CLOCK_BOOTTIME, ns.
        system_clock_counter: u64,
        /// Out: ticks of the system counter in a second.
        system_clock_freq: u64,
        /// In: the device; 0 asks for the CPU's counters alone.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// One device's apertures: address ranges that instructions of the flat kind decode specially.
    ProcessDeviceApertures = "struct kfd_process_device_apertures" {
        /// Out: first address of the LDS aperture.
        lds_base: u64,
        /// Out: its last address.
        lds_limit: u64,
        /// Out: first address of the scratch aperture.
        scratch_base: u64,
        /// Out: its last address.
        scratch_limit: u64,
        /// Out: first address that memory can be mapped at.
        gpuvm_base: u64,
        /// Out: the last one.
        gpuvm_limit: u64,
        /// Out: the device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of GET_PROCESS_APERTURES (06), the old form for up to seven devices.
    GetProcessAperturesArgs = "struct kfd_ioctl_get_process_apertures_args" {
        /// Out: one for each device.
        process_apertures: [ProcessDeviceApertures; NUM_OF_SUPPORTED_GPUS],
        /// Out: how many are filled in.
        num_of_nodes: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of GET_PROCESS_APERTURES_NEW (14).
    GetProcessAperturesNewArgs = "struct kfd_ioctl_get_process_apertures_new_args" {
        /// In: address of an array of [`ProcessDeviceApertures`].
        kfd_process_device_apertures_ptr: u64,
        /// In: its length; 0 asks only for the count. Out: devices there are, or entries filled.
        num_of_nodes: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of SET_SCRATCH_BACKING_VA (11).
    SetScratchBackingVaArgs = "struct kfd_ioctl_set_scratch_backing_va_args" {
        /// In: address of the memory behind the scratch aperture.
        va_addr: u64,
        /// In: the device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of GET_TILE_CONFIG (12).
    GetTileConfigArgs = "struct kfd_ioctl_get_tile_config_args" {
        /// In: address of an array of dwords for the tile modes.
        tile_config_ptr: u64,
        /// In: the same for the macro tile modes.
        macro_tile_config_ptr: u64,
        /// In: length of the first array. Out: entries filled.
        num_tile_configs: u32,
        /// In: length of the second array. Out: entries filled.
        num_macro_tile_configs: u32,
        /// In: the device.
        gpu_id: u32,
        /// Out: the register GB_ADDR_CONFIG.
        gb_addr_config: u32,
        /// Out: DRAM banks.
        num_banks: u32,
        /// Out: DRAM ranks.
        num_ranks: u32,
    }

    /// Argument of SET_TRAP_HANDLER (13).
    SetTrapHandlerArgs = "struct kfd_ioctl_set_trap_handler_args" {
        /// In: address of the handler's code.
        tba_addr: u64,
        /// In: address of its data.
        tma_addr: u64,
        /// In: the device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// Argument of ACQUIRE_VM (15): the page tables of a render file become the process's.
    AcquireVmArgs = "struct kfd_ioctl_acquire_vm_args" {
        /// In: descriptor of the open render node.
        drm_fd: u32,
        /// In: the device.
        gpu_id: u32,
    }

    /// Argument of SET_XNACK_MODE (21).
    SetXnackModeArgs = "struct kfd_ioctl_set_xnack_mode_args" {
        /// In: 1 on, 0 off, negative asks. Out: the mode.
        xnack_enabled: i32,
    }

    /// Argument of AVAILABLE_MEMORY (23).
    GetAvailableMemoryArgs = "struct kfd_ioctl_get_available_memory_args" {
        /// Out: bytes of device memory that an allocation may still get.
        available: u64,
        /// In: the device.
        gpu_id: u32,
        /// Unused.
        pad: u32,
    }

    /// What the KFD keeps about a process's runtime, for a debugger.
    RuntimeInfo = "struct kfd_runtime_info" {
        /// Address of the runtime's `r_debug`.
        r_debug: u64,
        /// `RUNTIME_STATE_*`.
        runtime_state: u32,
        /// Whether trap temporaries are saved.
        ttmp_setup: u32,
    }

    /// Argument of RUNTIME_ENABLE (25).
    RuntimeEnableArgs = "struct kfd_ioctl_runtime_enable_args" {
        /// In: address of a structure that the runtime shares with its debugger, or 0.
        r_debug: u64,
        /// In: [`RuntimeMode`].
        mode_mask: u32,
        /// Out: capabilities of the KFD; none are defined.
        capabilities_mask: u32,
    }
}
