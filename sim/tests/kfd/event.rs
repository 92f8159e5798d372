//! Events beyond what the recorded kernels were asked.

use crate::rig::{PAGE, Rig, gtt, ioctl};
use kfd::uapi::{self, EventData, request};
use selvedge_sim::Objects;
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System, drm};
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

fn set(rig: &Rig, event_id: u32) {
    rig.ask(request::SET_EVENT, &mut uapi::SetEventArgs { event_id, pad: 0 }).unwrap();
}

/// A wait that has the last age returns at once when the event was set in between, however short.
#[test]
fn ages_keep_wake_ups() {
    let rig = Rig::new("gfx1151", 18);
    let event = rig.create_event(uapi::EVENT_SIGNAL, 1);
    let (data, result) = rig.wait(EventData::new(event, 1), 0);
    assert_eq!((result, data.signal().last_event_age), (uapi::WAIT_RESULT_TIMEOUT, 1));
    set(&rig, event);
    set(&rig, event);
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_COMPLETE);
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_TIMEOUT, "auto-reset");
    let (data, result) = rig.wait(EventData::new(event, 1), 0);
    assert_eq!((result, data.signal().last_event_age), (uapi::WAIT_RESULT_COMPLETE, 3));
}

/// Setting an auto-reset event wakes everybody who waits, and leaves it unset.
#[test]
fn all_waiters_wake() {
    let rig = Rig::new("gfx1151", 18);
    let event = rig.create_event(uapi::EVENT_SIGNAL, 1);
    std::thread::scope(|scope| {
        let waiters: Vec<_> =
            (0..4).map(|_| scope.spawn(|| rig.wait(EventData::new(event, 1), 10_000).1)).collect();
        std::thread::sleep(Duration::from_millis(100));
        set(&rig, event);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), uapi::WAIT_RESULT_COMPLETE);
        }
    });
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_TIMEOUT);
}

/// Waiting for all: events may be set one after the other.
#[test]
fn all_of_several() {
    let rig = Rig::new("gfx1151", 18);
    let events = [0; 3].map(|_| rig.create_event(uapi::EVENT_SIGNAL, 1));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut data = events.map(|event| EventData::new(event, 0));
            let mut args = uapi::WaitEventsArgs {
                events_ptr: data.as_mut_ptr().expose_provenance() as u64,
                num_events: 3,
                wait_for_all: 1,
                timeout: 10_000,
                ..Default::default()
            };
            rig.ask(request::WAIT_EVENTS, &mut args).unwrap();
            args.wait_result
        });
        for event in events {
            std::thread::sleep(Duration::from_millis(30));
            set(&rig, event);
        }
        assert_eq!(waiter.join().unwrap(), uapi::WAIT_RESULT_COMPLETE);
    });
}

#[test]
fn event_page_of_the_process() {
    let rig = Rig::new("gfx1151", 18);
    let ask = |handle| {
        let mut args = uapi::CreateEventArgs { event_page_offset: handle, ..Default::default() };
        rig.ask(request::CREATE_EVENT, &mut args)
    };
    let small = rig.buffer(gtt(), PAGE);
    assert_eq!(ask(small.handle), Err(Errno::EINVAL), "room for 4096 slots");
    assert_eq!(ask(small.handle + 77), Err(Errno::EINVAL));
    let page = rig.buffer(gtt(), 8 * PAGE);
    ask(page.handle).unwrap();
    assert_eq!(page.qword(4095 * 8).load(SeqCst), u64::MAX);
    assert_eq!(ask(page.handle), Err(Errno::EINVAL), "once only");
    assert_eq!(rig.free(page.handle), Err(Errno::EPERM));
}

/// Without a page of its own a process that maps none has 256 slots.
#[test]
fn slots_grow_with_the_mapping() {
    let rig = Rig::new("gfx1151", 18);
    let fill = || {
        let mut count = 0;
        let mut args = uapi::CreateEventArgs::default();
        loop {
            args.event_page_offset = 0;
            match rig.ask(request::CREATE_EVENT, &mut args) {
                Ok(()) => count += 1,
                Err(errno) => break (count, errno),
            }
        }
    };
    assert_eq!(fill(), (255, Errno::ENOSPC));
    let at = rig.mmap(rig.kfd, 0, PAGE, 1 << 63).unwrap();
    assert_eq!(fill(), (256, Errno::ENOSPC));
    rig.munmap(at, PAGE);
    assert_eq!(rig.objects().events, 511);
}

/// A mapping that the host's kernel refuses gives no slots.
#[test]
fn failed_mappings_of_the_event_page() {
    let rig = Rig::new("gfx1151", 18);
    rig.create_event(uapi::EVENT_SIGNAL, 0);
    for length in [(1 << 63) + PAGE, u64::MAX - 4094, u64::MAX, 1 << 62] {
        assert_eq!(rig.mmap(rig.kfd, 0, length, 1 << 63), Err(Errno::ENOMEM), "{length:#x}");
    }
    assert_eq!(rig.mmap(rig.kfd, 0, 9 * PAGE, 1 << 63), Err(Errno::EINVAL));
    // An address that is no page's start.
    let at = std::ptr::without_provenance_mut(0x1234_5678);
    // SAFETY: fails.
    let unaligned = unsafe {
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        rig.process.mmap(at, 32768, Protection::READ, flags, rig.kfd, 1 << 63)
    };
    assert_eq!(unaligned, Err(Errno::EINVAL));
    let mut args = uapi::CreateEventArgs::default();
    let count = (0..300).take_while(|_| {
        args.event_page_offset = 0;
        rig.ask(request::CREATE_EVENT, &mut args).is_ok()
    });
    assert_eq!(count.count(), 254);
}

/// Arrays at the end of the address space are bad pointers, and nothing else.
#[test]
fn arrays_at_the_end_of_the_address_space() {
    let rig = Rig::new("gfx1151", 18);
    for pointer in [u64::MAX, u64::MAX - 15] {
        let mut args =
            uapi::WaitEventsArgs { events_ptr: pointer, num_events: 2, ..Default::default() };
        assert_eq!(rig.ask(request::WAIT_EVENTS, &mut args), Err(Errno::EFAULT));
        let mut args = uapi::GetProcessAperturesNewArgs {
            kfd_process_device_apertures_ptr: pointer,
            num_of_nodes: 1,
            pad: 0,
        };
        let answer = rig.ask(request::GET_PROCESS_APERTURES_NEW, &mut args);
        assert_eq!(answer, Err(Errno::EFAULT));
    }
    rig.create_event(uapi::EVENT_SIGNAL, 0);
}

/// The calls of the host in which a thread sleeps that waits for events: futex_waitv, on old hosts futex.
const WAITS_FOR_EVENTS: &[i64] = &[libc::SYS_futex_waitv, libc::SYS_futex];
/// And one that waits for a fence.
const WAITS_FOR_FENCES: &[i64] = &[libc::SYS_clock_nanosleep, libc::SYS_nanosleep];

fn own_tid() -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() }
}

/// Waits until a thread of this process sleeps in one of these calls.
fn until_it_sleeps(tid: i32, calls: &[i64]) {
    let path = format!("/proc/self/task/{tid}/syscall");
    let is_there = || {
        let line = std::fs::read_to_string(&path).unwrap();
        line.split(' ')
            .next()
            .is_some_and(|call| call.parse().is_ok_and(|call| calls.contains(&call)))
    };
    while !is_there() {
        std::thread::yield_now();
    }
}

/// The end of a process wakes its threads, and what they held goes.
#[test]
fn exit_interrupts_waits() {
    let rig = Rig::new("gfx1151", 23);
    let second = rig.process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
    // SAFETY: CREATE_PROCESS has no argument.
    unsafe { rig.process.ioctl(second, request::CREATE_PROCESS, std::ptr::null_mut()).unwrap() };
    let mut object = drm::SyncobjCreate::default();
    ioctl(&rig.process, rig.render, drm::SYNCOBJ_CREATE, &mut object).unwrap();
    std::thread::scope(|scope| {
        let (tell, tids) = std::sync::mpsc::channel();
        let waits = [rig.kfd, second].map(|kfd| {
            let (process, tell) = (&rig.process, tell.clone());
            scope.spawn(move || {
                let mut args = uapi::CreateEventArgs::default();
                ioctl(process, kfd, request::CREATE_EVENT, &mut args).unwrap();
                tell.send((own_tid(), WAITS_FOR_EVENTS)).unwrap();
                let mut data = EventData::new(args.event_id, 0);
                let mut args = uapi::WaitEventsArgs {
                    events_ptr: (&raw mut data).expose_provenance() as u64,
                    num_events: 1,
                    timeout: uapi::WAIT_INFINITE,
                    ..Default::default()
                };
                let wait = ioctl(process, kfd, request::WAIT_EVENTS, &mut args);
                (wait, ioctl(process, kfd, request::WAIT_EVENTS, &mut args))
            })
        });
        let (process, render) = (&rig.process, rig.render);
        let timeline = scope.spawn(move || {
            let (mut handles, mut points) = ([object.handle], [1u64]);
            let mut args = drm::SyncobjTimelineWait {
                handles: handles.as_mut_ptr().expose_provenance() as u64,
                points: points.as_mut_ptr().expose_provenance() as u64,
                timeout_nsec: i64::MAX,
                count_handles: 1,
                // WAIT_FOR_SUBMIT
                flags: 2,
                ..Default::default()
            };
            tell.send((own_tid(), WAITS_FOR_FENCES)).unwrap();
            ioctl(process, render, drm::SYNCOBJ_TIMELINE_WAIT, &mut args)
        });
        tids.iter().take(3).for_each(|(tid, calls)| until_it_sleeps(tid, calls));
        rig.process.exit();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), (Err(Errno::EINTR), Err(Errno::EBADF)));
        }
        assert_eq!(timeline.join().unwrap(), Err(Errno::EINTR));
    });
    assert_eq!(rig.objects(), Objects::default());
}
