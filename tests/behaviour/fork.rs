//! fork() with work in flight: the child has nothing of the device and says so; the parent goes on.

use super::{LONG, check_nothing_left, check_works, device_of, launch, load, machine};
use selvedge::{Error, Placement};

/// Runs `child` in a forked child; true when it returned true.
fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs code that allocates, which glibc allows after fork, and leaves without
    // running destructors of the test harness.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    status == 0
}

#[test]
fn a_child_gets_typed_errors_and_harms_nothing() {
    let machine = machine(18);
    let device = device_of(&machine);
    let endless = load(&device, "endless").unwrap();
    let stream = device.stream().unwrap();
    let (flag, seen) = (super::flag(&device), device.allocate_from(&[0u32]).unwrap());
    let arguments = [(&flag).into(), (&seen).into()];
    let running = launch(&stream, &endless, "wait_for_flag", (32, 32), &arguments).unwrap();

    let objects = (device, stream, endless, flag, seen, running);
    let good = in_child(|| {
        let (device, stream, endless, flag, seen, running) = &objects;
        let forked = |error: Error| matches!(error, Error::Forked { .. });
        let arguments = [flag.into(), seen.into()];
        let all = forked(running.wait(LONG).unwrap_err())
            && forked(running.is_done().unwrap_err())
            && forked(stream.synchronize(LONG).unwrap_err())
            && forked(launch(stream, endless, "wait_for_flag", (32, 32), &arguments).unwrap_err())
            && forked(flag.upload(&[1u32]).unwrap_err())
            && forked(seen.read::<u32>().unwrap_err())
            && forked(device.allocate(64, Placement::Host).unwrap_err())
            && forked(device.stream().unwrap_err())
            && forked(device.available_memory().unwrap_err());
        // The harness's copies are dropped by nobody; these are.
        drop((running.clone(), device.clone()));
        all
    });
    assert!(good);

    let (device, stream, endless, flag, seen, running) = objects;
    flag.upload(&[3u32]).unwrap();
    running.wait(LONG).unwrap();
    assert_eq!(seen.read::<u32>().unwrap(), [3]);
    check_works(&device);
    drop((device, stream, endless, flag, seen, running));
    check_nothing_left(&machine);
}

#[test]
fn a_child_may_drop_what_it_inherited() {
    let machine = machine(18);
    let device = device_of(&machine);
    let stream = device.stream().unwrap();
    let buffer = device.allocate(4096, Placement::Host).unwrap();
    let objects = std::cell::Cell::new(Some((stream, buffer, device)));
    assert!(in_child(|| {
        drop(objects.take());
        true
    }));
    let (stream, buffer, device) = objects.take().unwrap();
    buffer.fill(1).unwrap();
    check_works(&device);
    drop((stream, buffer, device));
    check_nothing_left(&machine);
}
