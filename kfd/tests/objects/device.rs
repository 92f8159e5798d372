//! A device's small calls.

use crate::process::device;
use crate::scripted::{GPU_ID, Scripted};
use kfd::uapi::ProcessFlags;
use kfd::{ClockCounters, Error};
use selvedge_sys::{Errno, drm};

#[test]
fn answers_reach_the_caller() {
    let system = Scripted::new(18);
    let device = device(&system);
    let clocks = ClockCounters { gpu: 1, cpu: 2, system: 3, system_frequency: 1_000_000_000 };
    assert_eq!(device.clock_counters().unwrap(), clocks);
    assert_eq!(device.available_memory().unwrap(), 1 << 30);
    assert!(!device.process().xnack().unwrap());
    assert_eq!(device.render_file().timestamp().unwrap(), 77);
    let driver = drm::driver(device.render_file().file()).unwrap();
    assert_eq!((driver.name.as_str(), driver.version), ("amdgpu", (3, 57, 0)));
    device.set_memory_policy(true, ProcessFlags::MFMA_HIGH_PRECISION).unwrap();
    device.set_scratch_backing(0x1000).unwrap();
    device.set_trap_handler(0x1000, 0x2000).unwrap();
}

#[test]
fn failures_name_the_call() {
    let system = Scripted::new(17);
    let device = device(&system);
    let gpu_id = GPU_ID;
    for call in [
        "GET_CLOCK_COUNTERS",
        "AVAILABLE_MEMORY",
        "SET_MEMORY_POLICY",
        "SET_SCRATCH_BACKING_VA",
        "SET_TRAP_HANDLER",
        "SET_XNACK_MODE",
    ] {
        system.fail(call, Errno::EINVAL, 1);
    }
    let errno = Errno::EINVAL;
    assert_eq!(device.clock_counters().unwrap_err(), Error::ClockCounters { gpu_id, errno });
    assert_eq!(device.available_memory().unwrap_err(), Error::AvailableMemory { gpu_id, errno });
    let none = ProcessFlags::empty();
    let error = device.set_memory_policy(false, none).unwrap_err();
    assert_eq!(error, Error::MemoryPolicy { gpu_id, errno });
    let error = device.set_scratch_backing(4096).unwrap_err();
    assert_eq!(error, Error::ScratchBacking { gpu_id, address: 4096, errno });
    let error = device.set_trap_handler(4096, 0).unwrap_err();
    assert_eq!(error, Error::TrapHandler { gpu_id, handler: 4096, errno });
    assert_eq!(device.process().set_xnack(true).unwrap_err(), Error::Xnack { mode: 1, errno });
    system.fail("SET_XNACK_MODE", Errno::EPERM, 1);
    assert!(!device.process().xnack().unwrap(), "a kernel without SVM");
    let error = device.set_memory_policy(false, ProcessFlags::MFMA_HIGH_PRECISION).unwrap_err();
    assert!(matches!(error, Error::NeedsVersion { .. }), "{error}");
}
