//! Events beyond what the recorded kernels were asked.

use crate::rig::{PAGE, Rig, gtt};
use kfd::uapi::{self, EventData, request};
use selvedge_sys::Errno;
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
