//! The profiler lock: ioctl 28, KFD 1.23.

use selvedge_sys::uapi::{member, set_member};
use selvedge_sys::uapi_structs;

/// Performance counters (`KFD_IOC_PROFILER_PMC`).
pub const PROFILER_PMC: u32 = 0;
/// Ask for the version (`KFD_IOC_PROFILER_VERSION`).
pub const PROFILER_VERSION: u32 = 2;
/// Switch the device's PTL on or off (`KFD_IOC_PROFILER_PTL_CONTROL`).
pub const PROFILER_PTL_CONTROL: u32 = 3;
/// The version described here (`KFD_IOC_PROFILER_VERSION_NUM`).
pub const PROFILER_VERSION_NUM: u32 = 1;

uapi_structs! {
    /// What [`PROFILER_PMC`] sets.
    PmcSettings = "struct kfd_ioctl_pmc_settings" {
        /// In: the device.
        gpu_id: u32,
        /// In: 1 locks it for this process.
        lock: u32,
        /// In: 1 counts on all queues of the device.
        perfcount_enable: u32,
    }

    /// What [`PROFILER_PTL_CONTROL`] sets.
    PtlControl = "struct kfd_ioctl_ptl_control" {
        /// In: the device.
        gpu_id: u32,
        /// In: 1 enables.
        enable: u32,
    }

    /// Argument of PROFILER (28). The data is a union of [`PmcSettings`], [`PtlControl`] and the
    /// version, by `op`.
    ProfilerArgs = "struct kfd_ioctl_profiler_args" {
        /// In: `PROFILER_*`.
        op: u32,
        /// In and out: the union's storage.
        data: [u32; 3],
    }
}

impl ProfilerArgs {
    /// Asks for the version.
    pub fn query_version() -> ProfilerArgs {
        ProfilerArgs { op: PROFILER_VERSION, data: [0; 3] }
    }

    /// Sets the counters.
    pub fn set_pmc(settings: &PmcSettings) -> ProfilerArgs {
        let mut args = ProfilerArgs { op: PROFILER_PMC, data: [0; 3] };
        set_member(&mut args.data, settings);
        args
    }

    /// Switches the PTL.
    pub fn set_ptl(control: &PtlControl) -> ProfilerArgs {
        let mut args = ProfilerArgs { op: PROFILER_PTL_CONTROL, data: [0; 3] };
        set_member(&mut args.data, control);
        args
    }

    /// The data as a version.
    pub fn version(&self) -> u32 {
        member(&self.data)
    }

    /// The data as counter settings.
    pub fn pmc(&self) -> PmcSettings {
        member(&self.data)
    }

    /// The data as PTL settings.
    pub fn ptl(&self) -> PtlControl {
        member(&self.data)
    }
}
