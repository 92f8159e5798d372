//! Opening, sharing and leaving the kernel's process.

use crate::scripted::{GPU_ID, SECOND_GPU_ID, Scripted, only};
use kfd::{AllocationFlags, Device, Error, Event, EventKind, Lifetime, Process, Version, WaitSet};
use selvedge_sys::{Errno, System};
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) fn open(system: &Arc<Scripted>, lifetime: Lifetime) -> kfd::Result<Arc<Process>> {
    let system: Arc<dyn System> = system.clone();
    Process::open(system, lifetime)
}

/// A process of the primary context and its first device.
pub(crate) fn device(system: &Arc<Scripted>) -> Arc<Device> {
    let process = open(system, Lifetime::Process).unwrap();
    let node = process.gpus().next().unwrap().clone();
    process.device(&node).unwrap()
}

#[test]
fn order_of_opening_and_the_first_queue() {
    let system = Scripted::new(17);
    let device = device(&system);
    let _queue = crate::queue::aql(&device).unwrap();
    let log = system.take_log();
    let steps = [
        "open",
        "GET_VERSION",
        "GET_PROCESS_APERTURES_NEW",
        "INFO",
        "CTX",
        "GEM_CREATE",
        "GEM_VA",
        "CS",
        "WAIT_CS",
        "ACQUIRE_VM",
        "GEM_CLOSE",
        "SET_MEMORY_POLICY",
        "RUNTIME_ENABLE",
        "CREATE_QUEUE",
    ];
    assert_eq!(
        only(&log, &steps),
        [
            "open /dev/kfd",
            "GET_VERSION",
            "GET_PROCESS_APERTURES_NEW",
            "GET_PROCESS_APERTURES_NEW",
            "open /dev/dri/renderD128",
            "INFO",
            "CTX",
            "GEM_CREATE",
            "GEM_VA",
            "CS",
            "WAIT_CS",
            "ACQUIRE_VM",
            "GEM_CLOSE",
            "CTX",
            "SET_MEMORY_POLICY",
            "RUNTIME_ENABLE 1",
            "CREATE_QUEUE",
        ]
    );
}

#[test]
fn the_primary_context_is_one_value_and_outlives_its_values() {
    let system = Scripted::new(17);
    let first = open(&system, Lifetime::Process).unwrap();
    let again = open(&system, Lifetime::Auto).unwrap();
    assert!(Arc::ptr_eq(&first, &again) && first.is_primary());
    let node = first.gpus().next().unwrap().clone();
    let device = first.device(&node).unwrap();
    assert!(Arc::ptr_eq(&device, &first.device(&node).unwrap()));
    drop((first, again));
    system.take_log();
    // The last value goes with the device; nothing of the process is closed.
    drop(device);
    assert_eq!(only(&system.take_log(), &["close"]), [""; 0]);

    let process = open(&system, Lifetime::Process).unwrap();
    process.device(&node).unwrap();
    let log = system.take_log();
    assert_eq!(only(&log, &["open", "ACQUIRE_VM", "close"]), [""; 0], "{log:?}");
}

#[test]
fn the_running_kernels_primary_context_outlives_every_system() {
    let kernel = Scripted::new(17);
    let first = device(&kernel.running());
    let event = Event::create(&first, EventKind::Signal, true).unwrap();
    let id = event.id();
    drop((event, first));
    let log = kernel.take_log();
    let calls = ["open", "close", "ACQUIRE_VM", "RUNTIME_ENABLE", "ALLOC_MEMORY_OF_GPU"];
    assert_eq!(
        only(&log, &calls),
        ["open /dev/kfd", "open /dev/dri/renderD128", "ACQUIRE_VM", "ALLOC_MEMORY_OF_GPU"]
    );
    // No value of the system is left, and yet descriptors, page tables and event page are there.
    for _ in 0..2 {
        let device = device(&kernel.running());
        assert_eq!(Event::create(&device, EventKind::Signal, true).unwrap().id(), id);
        let log = kernel.take_log();
        assert_eq!(only(&log, &calls), [""; 0], "{log:?}");
    }
}

#[test]
fn two_machines_have_two_primary_contexts() {
    let (one, other) = (Scripted::new(17), Scripted::new(17));
    let first = open(&one, Lifetime::Process).unwrap();
    let second = open(&other, Lifetime::Process).unwrap();
    assert!(!Arc::ptr_eq(&first, &second));
}

#[test]
fn secondary_contexts_die_with_their_value() {
    let system = Scripted::new(19);
    let process = open(&system, Lifetime::Auto).unwrap();
    assert!(!process.is_primary());
    assert!(system.script().log.contains(&"CREATE_PROCESS".to_owned()));
    assert!(!Arc::ptr_eq(&process, &open(&system, Lifetime::Instance).unwrap()));
    process.device(&process.gpus().next().unwrap().clone()).unwrap();
    assert!(matches!(process.svm(4096, 4096, &[]), Err(Error::NeedsPrimary { .. })));
    system.take_log();
    drop(process);
    assert_eq!(
        only(&system.take_log(), &["close"]),
        ["close /dev/kfd", "close /dev/dri/renderD128"]
    );
}

#[test]
fn versions_decide() {
    let needs = |minor, lifetime| match open(&Scripted::new(minor), lifetime) {
        Err(Error::NeedsVersion { needed, present, .. }) => (needed.minor, present.minor),
        other => panic!("{other:?}"),
    };
    assert_eq!(needs(13, Lifetime::Process), (14, 13));
    assert_eq!(needs(13, Lifetime::Auto), (14, 13));
    assert_eq!(needs(18, Lifetime::Instance), (19, 18));
    let process = open(&Scripted::new(18), Lifetime::Auto).unwrap();
    assert!(process.is_primary());
    assert_eq!(process.version(), Version { major: 1, minor: 18 });
}

#[test]
fn failures_of_opening_are_named() {
    for (call, errno) in [
        ("open /dev/kfd", Errno::ENOENT),
        ("GET_VERSION", Errno::EPERM),
        ("GET_PROCESS_APERTURES_NEW", Errno::ENOMEM),
    ] {
        let system = Scripted::new(17);
        system.fail(call, errno, 1);
        let error = open(&system, Lifetime::Process).unwrap_err();
        assert_eq!(error.errno(), Some(errno), "{error}");
        // Nothing stays behind: the next attempt is a fresh one.
        open(&system, Lifetime::Process).unwrap();
    }
    for call in
        ["open /dev/dri/renderD128", "ACQUIRE_VM", "SET_MEMORY_POLICY", "CS", "GEM_VA", "CTX"]
    {
        let system = Scripted::new(17);
        let process = open(&system, Lifetime::Process).unwrap();
        let node = process.gpus().next().unwrap().clone();
        system.fail(call, Errno::ENOMEM, 1);
        let error = process.device(&node).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ENOMEM), "{call}: {error}");
        process.device(&node).unwrap();
    }
    let process = open(&Scripted::new(17), Lifetime::Process).unwrap();
    let cpu = process.topology().node(0).unwrap();
    let error = process.device(cpu).unwrap_err();
    let known = vec![GPU_ID, SECOND_GPU_ID];
    assert_eq!(error, Error::NoSuchGpu { gpu_id: 0, known });
}

#[test]
fn every_interrupted_call_is_begun_again() {
    let system = Scripted::new(17);
    for call in [
        "GET_VERSION",
        "ACQUIRE_VM",
        "ALLOC_MEMORY_OF_GPU",
        "MAP_MEMORY_TO_GPU",
        "CREATE_QUEUE",
        "CREATE_EVENT",
        "RUNTIME_ENABLE",
        "CS",
        "DESTROY_QUEUE",
        "UNMAP_MEMORY_FROM_GPU",
        "FREE_MEMORY_OF_GPU",
    ] {
        system.fail(call, Errno::EINTR, 2);
        system.fail(call, Errno::ERESTARTSYS, 1);
    }
    let device = device(&system);
    let queue = crate::queue::aql(&device).unwrap();
    queue.destroy().unwrap();
    assert_eq!(device.process().quarantined(), 0);
    assert!(system.script().allocations.is_empty());
}

/// Everything a program does, once.
fn use_everything(process: &Arc<Process>) -> kfd::Result<()> {
    let node = process.gpus().next().unwrap().clone();
    let device = process.device(&node)?;
    let fault = Event::create(&device, EventKind::Memory, false)?;
    let signal = Event::create(&device, EventKind::Signal, true)?;
    let memory = device.allocate(1 << 16, AllocationFlags::VRAM | AllocationFlags::PUBLIC)?;
    let queue = crate::queue::aql(&device)?;
    queue.update(50, 3)?;
    let mut set = WaitSet::new(process, vec![Arc::new(fault), Arc::new(signal)]);
    set.wait_any(Some(std::time::Duration::ZERO))?;
    let second = process.device(&process.gpus().nth(1).unwrap().clone())?;
    memory.map_to(&[&second])?;
    queue.destroy()
}

#[test]
fn every_call_may_fail_and_nothing_is_lost() {
    for minor in [17, 23] {
        for errno in [Errno::ENOMEM, Errno::EINVAL, Errno::EBUSY, Errno::EINTR] {
            let mut number = 0;
            loop {
                let system = Scripted::new(minor);
                system.script().fail_at = Some((number, errno));
                let result = open(&system, Lifetime::Auto).and_then(|process| {
                    let result = use_everything(&process);
                    let is_clean = process.quarantined() == 0;
                    let script = system.script();
                    // What is left is the event page, or quarantined.
                    let page = usize::from(!script.events.is_empty());
                    assert!(!is_clean || script.live_queues.is_empty(), "{errno} at {number}");
                    assert!(!is_clean || script.allocations.len() <= page, "{errno} at {number}");
                    assert!(is_clean || errno != Errno::EINTR, "{errno} at {number}");
                    result
                });
                if system.script().fail_at.is_some() {
                    result.unwrap();
                    break;
                }
                if let Err(error) = result {
                    assert_eq!(error.errno(), Some(errno), "call {number}: {error}");
                    assert_ne!(errno, Errno::EINTR, "call {number}: {error}");
                }
                number += 1;
            }
            assert!(number > 50, "{number} calls");
        }
    }
}

#[test]
fn the_primary_context_is_handed_over_between_threads() {
    let system = Scripted::new(17);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let device = device(&system);
                    drop(device.allocate(4096, AllocationFlags::GTT).unwrap());
                }
            });
        }
    });
    let log = system.take_log();
    let opened = only(&log, &["open"]);
    assert_eq!(opened, ["open /dev/kfd", "open /dev/dri/renderD128"]);
}

#[test]
fn page_tables_held_by_another() {
    let system = Scripted::new(17);
    system.hold_vm(GPU_ID, 7);
    let maps = "7f00-7f01 r-xp 0 0:0 1 /opt/rocm/lib/libhsa-runtime64.so.1.14.0\n";
    system.script().files.insert(PathBuf::from("/proc/self/maps"), Ok(maps.into()));
    let process = open(&system, Lifetime::Process).unwrap();
    let node = process.gpus().next().unwrap().clone();
    let error = process.device(&node).unwrap_err();
    let Error::HeldByAnother { holder, errno: Errno::EBUSY, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(holder, "ROCr (/opt/rocm/lib/libhsa-runtime64.so.1.14.0)");
    assert!(error.to_string().contains("Lifetime::Instance"), "{error}");
    // Ours was closed again, and nothing of the holder's.
    let log = system.take_log();
    assert_eq!(only(&log, &["close"]), ["close /dev/dri/renderD128"]);
}

#[test]
fn page_tables_held_by_another_are_shared_through_its_file() {
    let system = Scripted::new(17);
    let theirs = std::fs::File::open("/dev/null").unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&theirs);
    system.script().open.insert(fd, "their render file".into());
    system.hold_vm(GPU_ID, fd);
    let device = device(&system);
    assert_ne!(device.render_file().fd(), fd);
    // It is a duplicate: it survives theirs.
    drop(theirs);
    let path = format!("/proc/self/fd/{}", device.render_file().fd());
    assert_eq!(std::fs::read_link(path).unwrap(), PathBuf::from("/dev/null"));
}

#[test]
fn a_runtime_enabled_by_another_is_shared() {
    let system = Scripted::new(17);
    system.fail("RUNTIME_ENABLE", Errno::EBUSY, 1);
    let first = device(&system);
    crate::queue::aql(&first).unwrap();

    let system = Scripted::new(17);
    system.fail("RUNTIME_ENABLE", Errno::EEXIST, 1);
    let error = crate::queue::aql(&device(&system)).unwrap_err();
    assert_eq!(error, Error::RuntimeEnable { errno: Errno::EEXIST });
}

#[test]
fn a_forked_child_owns_nothing() {
    let system = Scripted::new(17);
    let device = device(&system);
    let queue = crate::queue::aql(&device).unwrap();
    let memory = device.allocate(4096, AllocationFlags::GTT | AllocationFlags::PUBLIC).unwrap();
    let event = kfd::Event::create(&device, kfd::EventKind::Signal, true).unwrap();
    system.take_log();
    let status = crate::scripted::in_child(|| {
        let typed = device.allocate(4096, AllocationFlags::GTT).unwrap_err().errno()
            == Some(Errno::EBADF)
            && queue.update(0, 0).unwrap_err().errno() == Some(Errno::EBADF)
            && event.set().unwrap_err().errno() == Some(Errno::EBADF)
            && matches!(memory.word(0), Err(Error::NoHostAccess { .. }))
            && matches!(crate::queue::aql(&device), Err(error) if error.errno() == Some(Errno::EBADF));
        system.take_log();
        drop((queue, memory, event, device));
        let log = system.take_log();
        // No call that means anything to the kernel, and no range unmapped that is not there.
        typed && only(&log, &["EBADF", "munmap"]).is_empty()
    });
    assert!(status);
    // The parent's objects were untouched, and go as always: the event page stays.
    let log = system.take_log();
    assert_eq!(only(&log, &["DESTROY_QUEUE", "DESTROY_EVENT", "EBADF"]).len(), 2, "{log:?}");
    assert_eq!(system.script().allocations.len(), 1);
}
