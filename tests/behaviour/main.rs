//! How the runtime behaves when things go well and when they do not, on the simulated machine.
#![expect(
    unsafe_code,
    reason = "runs the repository's own kernels, also with addresses that fault"
)]

mod faults;
mod fork;
mod injection;
mod launch;
mod modes;
mod sharing;

use selvedge::device::Endpoint;
use selvedge::{
    Argument, Buffer, Device, Error, Executable, Geometry, Placement, Stream, Submission,
};
use selvedge_sim::{Machine, Objects};
use selvedge_sys::System;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// For what has to end: longer than any of it takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// The committed code object of `name` for gfx1151.
fn object(name: &str) -> Vec<u8> {
    object_for("gfx1151", name)
}

fn object_for(target: &str, name: &str) -> Vec<u8> {
    let wave = if target.starts_with("gfx9") { "wave64" } else { "wave32" };
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("kernels/objects/{target}/v5/{wave}/{name}.hsaco"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn load(device: &Device, name: &str) -> Result<Executable, Error> {
    // SAFETY: the repository's own kernels.
    unsafe { device.load(&object(name), name) }
}

/// Launches one kernel on `stream`.
fn launch(
    stream: &Stream,
    executable: &Executable,
    kernel: &str,
    (grid, block): (u64, u64),
    arguments: &[Argument<'_>],
) -> Result<Submission, Error> {
    let kernel = executable.kernel(kernel)?;
    let geometry = Geometry::linear(grid, block)?;
    // SAFETY: tests that pass addresses which fault expect the fault; the simulated machine's
    // memory is the only thing in reach.
    unsafe { stream.dispatch(&kernel, &geometry, arguments) }
}

/// A word that the host sets while a kernel looks at it.
fn flag(device: &Device) -> Buffer {
    let flag = device.allocate(4, Placement::Coherent).unwrap();
    flag.fill(0).unwrap();
    flag
}

/// A machine with one gfx1151 and this KFD.
fn machine(minor: u32) -> Machine {
    Machine::builder().gpu("gfx1151").unwrap().kfd_minor(minor).unwrap().build().unwrap()
}

/// The first GPU of a machine, in a Linux process of its own.
fn device_of(machine: &Machine) -> Device {
    Device::on(machine.process()).unwrap()
}

/// Adds on `device` and checks the sums: the device works.
fn check_works(device: &Device) {
    add(device, 1000).unwrap();
}

fn add(device: &Device, count: u32) -> Result<(), Error> {
    let executable = load(device, "k01_vadd")?;
    let a: Vec<i32> = (0..count as i32).map(|i| i * 3).collect();
    let b: Vec<i32> = (0..count as i32).map(|i| 7 - i).collect();
    let (da, db) = (device.allocate_from(&a)?, device.allocate_from(&b)?);
    let dc = device.allocate_from(&vec![-1i32; count as usize])?;
    let stream = device.stream()?;
    let arguments = [(&da).into(), (&db).into(), (&dc).into(), count.into()];
    launch(&stream, &executable, "vadd", (count.into(), 256), &arguments)?.wait(LONG)?;
    let sums = dc.read::<i32>()?;
    assert!(sums.iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b));
    Ok(())
}

/// Nothing is left of what the test made. A thread that waits in the kernel may take a moment to leave.
#[track_caller]
fn check_nothing_left(machine: &Machine) {
    let start = Instant::now();
    while machine.objects() != Objects::default() && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(machine.objects(), Objects::default());
}

#[test]
fn every_played_kernel_and_target_works() {
    for target in ["gfx1151", "gfx1100", "gfx1201"] {
        for minor in [14, 17, 18, 23] {
            let builder = Machine::builder().gpu(target).unwrap();
            let machine = builder.kfd_minor(minor).unwrap().build().unwrap();
            let device = device_of(&machine);
            assert_eq!(device.target().to_string(), target);
            assert!(device.is_simulated() && device.to_string().contains("simulated"));
            // SAFETY: the repository's own kernels.
            let executable = unsafe { device.load(&object_for(target, "ids"), "ids") }.unwrap();
            assert!(!executable.object().kernels().is_empty());
            drop((executable, device));
            check_nothing_left(&machine);
        }
    }
}

#[test]
fn listing_opens_nothing() {
    let machine = machine(18);
    let process = machine.process();
    let endpoints = selvedge::device::endpoints_on(process.as_ref()).unwrap();
    assert_eq!(endpoints.iter().map(Endpoint::target).collect::<Vec<_>>(), ["gfx1151"]);
    assert_eq!(machine.objects().files, 0);
    let none = Machine::builder().build().unwrap();
    assert!(selvedge::device::endpoints_on(none.process().as_ref()).unwrap().is_empty());
    let error = Device::on(none.process()).unwrap_err();
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
    assert!(error.to_string().contains("SELVEDGE_DEVICE=sim"), "{error}");
}

#[test]
fn devices_are_found_by_every_name() {
    let machine = machine(18);
    let system: Arc<dyn System> = machine.process();
    let open =
        |name: &str| Device::on_selected(&system, &name.parse().unwrap(), kfd::Lifetime::Auto);
    let device = open("0").unwrap();
    let address = device.endpoint().pci_address();
    for name in ["gfx1151", "integrated", address.as_str()] {
        assert_eq!(open(name).unwrap().endpoint().pci_address(), address);
    }
    for name in ["1", "gfx1100", "discrete", "ff:1f.7", "uuid:1234"] {
        let error = open(name).unwrap_err().to_string();
        assert!(
            error.contains(name) || error.contains("ff:1f.7") || error.contains("1234"),
            "{error}"
        );
        assert!(error.contains("gfx1151 at"), "{error}");
    }
}
