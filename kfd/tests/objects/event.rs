//! Events and waits.

use crate::process::{device, open};
use crate::scripted::{GPU_ID, SECOND_GPU_ID, Scripted, only};
use kfd::uapi::{self, HsaHwExceptionData, HsaMemoryExceptionData, MemoryExceptionFailure};
use kfd::{Error, Event, EventKind, Lifetime, Report, WaitOutcome, WaitSet};
use selvedge_sys::Errno;
use std::sync::Arc;
use std::time::Duration;

fn signal(device: &kfd::Device) -> Arc<Event> {
    Arc::new(Event::create(device, EventKind::Signal, true).unwrap())
}

#[test]
fn the_first_event_brings_the_page_and_id_0_is_never_used() {
    let system = Scripted::new(17);
    let device = device(&system);
    let event = signal(&device);
    assert_eq!(event.id(), 1);
    let page = system.script().allocations.values().next().copied().unwrap();
    assert_eq!((page.size, page.gpu_id), (4096 * 8, GPU_ID));
    assert_eq!(event.mailbox(), Some(page.va_addr + 8));
    assert_eq!(event.slot(), Some(0));
    let fault = Event::create(&device, EventKind::Memory, false).unwrap();
    assert_eq!((fault.id(), fault.mailbox()), (0x4000_0000, None));
    let log = system.take_log();
    assert_eq!(only(&log, &["CREATE_EVENT", "ALLOC_MEMORY_OF_GPU"]).len(), 4, "{log:?}");
    drop((event, fault));
    let log = only(&system.take_log(), &["DESTROY_EVENT"]);
    assert_eq!(log, ["DESTROY_EVENT 0x1", "DESTROY_EVENT 0x40000000"]);
}

#[test]
fn every_device_can_write_slots() {
    let system = Scripted::new(17);
    let first = device(&system);
    let _event = signal(&first);
    system.take_log();
    let process = first.process();
    let node = process.gpus().nth(1).unwrap().clone();
    assert_eq!(node.gpu_id, SECOND_GPU_ID);
    let second = process.device(&node).unwrap();
    assert_eq!(only(&system.take_log(), &["MAP_MEMORY_TO_GPU"]).len(), 1);
    // And it is mapped once for good, although the device value goes and comes.
    drop(second);
    process.device(&node).unwrap();
    assert_eq!(only(&system.take_log(), &["MAP_MEMORY_TO_GPU"]).len(), 0);
}

#[test]
fn the_page_survives_the_process_value() {
    let system = Scripted::new(17);
    let device = device(&system);
    drop(signal(&device));
    drop(device);
    let device = crate::process::device(&system);
    let event = signal(&device);
    let page = system.script().allocations.values().next().copied().unwrap();
    assert_eq!(event.mailbox(), Some(page.va_addr + 8 * u64::from(event.id())));
    assert_eq!(event.slot(), Some(0));
    assert_eq!(system.script().allocations.len(), 1);
}

#[test]
fn a_page_set_by_another_is_named() {
    let system = Scripted::new(17);
    let device = device(&system);
    system.fail("CREATE_EVENT", Errno::EINVAL, 1);
    let error = Event::create(&device, EventKind::Signal, true).unwrap_err();
    assert!(matches!(error, Error::HeldByAnother { errno: Errno::EINVAL, .. }), "{error}");
    assert!(system.script().allocations.is_empty());
}

#[test]
fn slots_run_out_with_a_name() {
    let system = Scripted::new(17);
    let device = device(&system);
    let _first = signal(&device);
    system.fail("CREATE_EVENT", Errno::ENOSPC, 1);
    let error = Event::create(&device, EventKind::Signal, true).unwrap_err();
    assert_eq!(error, Error::EventSlotsExhausted { slots: 4096 });
}

/// Lets the next wait find these ages and answer that an event has aged, if one has.
fn expect_ages(system: &Scripted, ages: &'static [u64], aged: Option<(usize, u64)>) {
    system.script().waits.push_back(Box::new(move |events, args| {
        let found: Vec<_> = events.iter().map(|e| e.signal().last_event_age).collect();
        assert_eq!(found, ages);
        if let Some((index, last_event_age)) = aged {
            events[index].set_signal(&uapi::HsaSignalEventData { last_event_age });
            args.wait_result = uapi::WAIT_RESULT_COMPLETE;
        }
    }));
}

#[test]
fn ages_start_at_1() {
    // 0 would turn the kernel's comparison off (kfd_events.c, `init_event_waiter`).
    let system = Scripted::new(17);
    let device = device(&system);
    let mut set = WaitSet::new(device.process(), vec![signal(&device), signal(&device)]);
    expect_ages(&system, &[1, 1], None);
    assert_eq!(set.wait_any(None).unwrap(), WaitOutcome::Timeout);
    assert_eq!(set.reports().count(), 0);
    assert!(system.script().waits.is_empty());
}

#[test]
fn a_wait_saves_the_ages_it_saw() {
    let system = Scripted::new(17);
    let device = device(&system);
    let (one, two) = (signal(&device), signal(&device));
    let mut set = WaitSet::new(device.process(), vec![one, two.clone()]);
    expect_ages(&system, &[1, 1], Some((1, 4)));
    assert_eq!(set.wait_any(None).unwrap(), WaitOutcome::Complete);
    assert_eq!(set.reports().collect::<Vec<_>>(), [(1, Report::Signal)]);
    expect_ages(&system, &[1, 4], None);
    assert_eq!(set.wait_all(None).unwrap(), WaitOutcome::Timeout);
    assert_eq!(set.reports().count(), 0);
    // A set made later does not report what was seen already.
    expect_ages(&system, &[4], None);
    let mut later = WaitSet::new(device.process(), vec![two]);
    later.wait_any(Some(Duration::ZERO)).unwrap();
    assert!(system.script().waits.is_empty());
}

#[test]
fn timeouts_are_rounded_up() {
    let system = Scripted::new(17);
    let device = device(&system);
    let mut set = WaitSet::new(device.process(), vec![signal(&device), signal(&device)]);
    let micros = |micros| Some(Duration::from_micros(micros));
    for (timeout, milliseconds) in [
        (micros(0), 0),
        (micros(1), 1),
        (micros(2000), 2),
        (micros(2001), 3),
        (None, uapi::WAIT_INFINITE),
    ] {
        for for_all in [false, true] {
            system.script().waits.push_back(Box::new(move |events, args| {
                assert_eq!(events.iter().map(|e| e.event_id).collect::<Vec<_>>(), [1, 2]);
                assert_eq!((args.num_events, args.wait_for_all), (2, u32::from(for_all)));
                assert_eq!(args.timeout, milliseconds, "{timeout:?}");
            }));
            match for_all {
                true => set.wait_all(timeout).unwrap(),
                false => set.wait_any(timeout).unwrap(),
            };
        }
    }
    assert!(system.script().waits.is_empty());
}

#[test]
fn faults_and_resets_are_reported_once() {
    let system = Scripted::new(17);
    let device = device(&system);
    let events = [EventKind::Memory, EventKind::HardwareException]
        .map(|kind| Arc::new(Event::create(&device, kind, false).unwrap()));
    let mut set = WaitSet::new(device.process(), events.to_vec());
    system.script().waits.push_back(Box::new(|events, args| {
        events[0].set_memory_exception(&HsaMemoryExceptionData {
            failure: MemoryExceptionFailure { read_only: 1, ..MemoryExceptionFailure::default() },
            va: 0x7f00_0000_1000,
            gpu_id: GPU_ID,
            error_type: uapi::MEM_ERR_NO_RAS,
        });
        events[1].set_hw_exception(&HsaHwExceptionData {
            reset_type: uapi::HW_EXCEPTION_WHOLE_GPU_RESET,
            reset_cause: uapi::HW_EXCEPTION_ECC,
            memory_lost: 1,
            gpu_id: GPU_ID,
        });
        args.wait_result = uapi::WAIT_RESULT_COMPLETE;
    }));
    set.wait_any(None).unwrap();
    let Some(Report::Memory(fault)) = set.report(0) else { panic!("{:?}", set.report(0)) };
    assert_eq!((fault.gpu_id, fault.address), (GPU_ID, 0x7f00_0000_1000));
    assert!(fault.read_only && !fault.not_present && !fault.no_execute && !fault.imprecise);
    let Some(Report::Reset(reset)) = set.report(1) else { panic!("{:?}", set.report(1)) };
    assert!(reset.memory_lost && reset.reset_cause == uapi::HW_EXCEPTION_ECC);
    assert_eq!(set.wait_any(None).unwrap(), WaitOutcome::Timeout);
    assert_eq!(set.reports().count(), 0);
}

#[test]
fn waits_fail_with_a_name() {
    let system = Scripted::new(17);
    let device = device(&system);
    let mut set = WaitSet::new(device.process(), vec![signal(&device)]);
    system.script().waits.push_back(Box::new(|_, args| {
        args.wait_result = uapi::WAIT_RESULT_FAIL;
    }));
    assert_eq!(set.wait_any(None).unwrap_err(), Error::Wait { count: 1, errno: Errno::EIO });
    system.fail("WAIT_EVENTS", Errno::EINVAL, 1);
    assert_eq!(set.wait_any(None).unwrap_err(), Error::Wait { count: 1, errno: Errno::EINVAL });
    let event = &set.events()[0];
    event.set().unwrap();
    event.reset().unwrap();
    system.fail("SET_EVENT", Errno::EINVAL, 1);
    assert!(matches!(event.set(), Err(Error::SetEvent { event_id: 1, .. })));
}

#[test]
fn a_secondary_context_has_a_page_of_its_own() {
    let system = Scripted::new(19);
    let process = open(&system, Lifetime::Instance).unwrap();
    let device = process.device(&process.gpus().next().unwrap().clone()).unwrap();
    assert_eq!(signal(&device).id(), 1);
}
