//! Not alone: another library in the same Linux process holds the KFD's primary context.

use super::{check_nothing_left, check_works, machine};
use kfd::uapi::{self, request};
use selvedge::{Device, Error};
use selvedge_sys::{File, OpenMode, System};
use std::path::Path;
use std::sync::Arc;

/// What ROCr does at start-up, by hand: both device nodes, the VM, the runtime.
fn other_library(system: &Arc<dyn System>, enable_runtime: bool) -> (File, File) {
    let open = |path: &str| File::open(system, Path::new(path), OpenMode::ReadWrite).unwrap();
    let (kfd, render) = (open("/dev/kfd"), open("/dev/dri/renderD128"));
    let endpoints = selvedge::device::endpoints_on(system.as_ref()).unwrap();
    let gpu_id = endpoints[0].node().gpu_id;
    let mut vm = uapi::AcquireVmArgs { drm_fd: render.fd() as u32, gpu_id };
    // SAFETY: the argument is the one of this request.
    unsafe { kfd.ioctl(request::ACQUIRE_VM, &raw mut vm) }.unwrap();
    if enable_runtime {
        let mut runtime = uapi::RuntimeEnableArgs { mode_mask: 1, ..Default::default() };
        // SAFETY: as above.
        unsafe { kfd.ioctl(request::RUNTIME_ENABLE, &raw mut runtime) }.unwrap();
    }
    (kfd, render)
}

#[test]
fn a_held_primary_is_joined() {
    for enable_runtime in [false, true] {
        let machine = machine(18);
        let system: Arc<dyn System> = machine.process();
        let other = other_library(&system, enable_runtime);
        // Its render file is found among the process's descriptors, and a duplicate of it joins the VM.
        check_works(&Device::on(system.clone()).unwrap());
        // The other one still has its files and its VM.
        let mut version = uapi::GetVersionArgs::default();
        // SAFETY: the argument is the one of this request.
        unsafe { other.0.ioctl(request::GET_VERSION, &raw mut version) }.unwrap();
        assert_eq!(version.minor_version, 18);
        drop((other, system));
        check_nothing_left(&machine);
    }
}

#[test]
fn secondary_contexts_do_not_care() {
    let machine = machine(23);
    let system: Arc<dyn System> = machine.process();
    let other = other_library(&system, true);
    check_works(&Device::on(system.clone()).unwrap());
    drop((other, system));
    check_nothing_left(&machine);
}

#[test]
fn opening_twice_shares_the_device() {
    for minor in [18, 23] {
        let machine = machine(minor);
        let system: Arc<dyn System> = machine.process();
        let one = Device::on(system.clone()).unwrap();
        let before = machine.objects();
        let two = Device::on(system.clone()).unwrap();
        assert_eq!(machine.objects(), before);
        let buffer = one.allocate_from(&[1u32]).unwrap();
        let stream = two.stream().unwrap();
        let add = super::load(&two, "k01_vadd").unwrap();
        let arguments = [(&buffer).into(), (&buffer).into(), (&buffer).into(), 1u32.into()];
        super::launch(&stream, &add, "vadd", (1, 1), &arguments)
            .unwrap()
            .wait(super::LONG)
            .unwrap();
        assert_eq!(buffer.read::<u32>().unwrap(), [2]);
    }
}

#[test]
fn a_program_for_another_architecture_opens_nothing() {
    let machine = machine(18);
    let system: Arc<dyn System> = machine.process();
    let error = Device::on_for(&system, 0, "gfx1100").unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Unsupported { .. }), "{text}");
    assert!(text.contains("gfx1100") && text.contains("gfx1151"), "{text}");
    assert_eq!(machine.objects().files, 0);
    assert!(matches!(Device::on_for(&system, 9, "gfx1151"), Err(Error::NoDevice { .. })));
    check_works(&Device::on_for(&system, 0, "gfx1151").unwrap());
}

#[test]
fn opening_twice_shares_the_primary() {
    let machine = machine(18);
    let system: Arc<dyn System> = machine.process();
    let open = |lifetime| Device::on_selected(&system, &"0".parse().unwrap(), lifetime).unwrap();
    let (one, two) = (open(kfd::Lifetime::Process), open(kfd::Lifetime::Auto));
    assert_eq!(machine.objects().vms, 1);
    assert_eq!(machine.objects().kfd_processes, 1);
    check_works(&one);
    drop(one);
    check_works(&two);
}
