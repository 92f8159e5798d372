//! What the device does wrong comes back as a value, to those it concerns and to nobody else.

use super::{LONG, SECOND, check_nothing_left, check_works, device_of, launch, load, machine};
use kfd::{AllocationFlags, Lifetime};
use selvedge::fault::MemoryFault;
use selvedge::{Device, Error, Fault, Placement};
use selvedge_sim::Machine;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An address where nothing is ever mapped: below what a process may map.
const UNMAPPED: u64 = 0x2000;

#[track_caller]
fn memory_fault(error: Error) -> MemoryFault {
    match error {
        Error::DeviceLost(fault) => match fault.as_ref() {
            Fault::Memory(fault) => fault.clone(),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

fn fault_on(device: &Device, kernel: &str, address: u64) -> Error {
    let access = load(device, "access").unwrap();
    let stream = device.stream().unwrap();
    let value = address.to_le_bytes();
    let arguments = [value[..].into(), 5u32.into()];
    launch(&stream, &access, kernel, (1, 1), &arguments).unwrap().wait(LONG).unwrap_err()
}

#[test]
fn unmapped_access_loses_the_device() {
    let machine = machine(18);
    let device = device_of(&machine);
    let bystander = device_of(&machine);
    let buffer = device.allocate(4096, Placement::Host).unwrap();
    let idle = device.stream().unwrap();

    let fault = memory_fault(fault_on(&device, "store_u32", UNMAPPED));
    assert_eq!(fault.address & !0xfff, UNMAPPED);
    assert!(fault.not_present && !fault.read_only);
    // Every stream of the process says so, with the same fault, and nothing can be begun.
    let again = memory_fault(device.stream().unwrap_err());
    assert_eq!(again, fault);
    let error = device.allocate(4096, Placement::Host).unwrap_err();
    assert!(matches!(error, Error::DeviceLost(_)), "{error}");
    assert!(error.to_string().contains("restart the process"), "{error}");
    assert!(device.fault().is_some());
    drop((idle, buffer));
    // Another process goes on.
    assert!(bystander.fault().is_none());
    check_works(&bystander);
    drop((device, bystander));
    check_nothing_left(&machine);
}

#[test]
fn a_primary_context_that_faulted_is_not_opened_again() {
    let machine = machine(18);
    let system: Arc<dyn selvedge_sys::System> = machine.process();
    let device = Device::on(system.clone()).unwrap();
    let fault = memory_fault(fault_on(&device, "store_u32", UNMAPPED));
    assert_eq!(memory_fault(Device::on(system.clone()).unwrap_err()), fault);
    drop(device);
    assert_eq!(memory_fault(Device::on(system.clone()).unwrap_err()), fault);
    check_works(&device_of(&machine));
}

#[test]
fn a_dropped_stream_tells_its_submissions() {
    let machine = machine(18);
    let device = device_of(&machine);
    let endless = load(&device, "endless").unwrap();
    let stream = device.stream().unwrap();
    let progress = device.allocate_from(&[0u32]).unwrap();
    let done = launch(
        &stream,
        &load(&device, "k01_vadd").unwrap(),
        "vadd",
        (1, 1),
        &[(&progress).into(), (&progress).into(), (&progress).into(), 1u32.into()],
    );
    let done = done.unwrap();
    done.wait(LONG).unwrap();
    let run = launch(&stream, &endless, "endless", (32, 32), &[(&progress).into()]).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| run.wait(LONG));
        std::thread::sleep(Duration::from_millis(20));
        drop(stream);
        let error = waiter.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::StreamClosed { .. }), "{error}");
    });
    assert!(done.is_done().unwrap());
    assert_eq!(machine.objects().queues, 0);
    check_works(&device);
}

#[test]
fn a_fault_while_nobody_waits_is_found_later() {
    let machine = machine(18);
    let device = device_of(&machine);
    let access = load(&device, "access").unwrap();
    let stream = device.stream().unwrap();
    let address = UNMAPPED.to_le_bytes();
    let faulting =
        launch(&stream, &access, "store_u32", (1, 1), &[address[..].into(), 1u32.into()]);
    // Nobody asks the device: looking at the submission is enough.
    let faulting = faulting.unwrap();
    let start = Instant::now();
    let error = loop {
        match faulting.is_done() {
            Ok(done) => assert!(!done && start.elapsed() < LONG),
            Err(error) => break error,
        }
    };
    memory_fault(error);
    memory_fault(faulting.wait(SECOND).unwrap_err());
    let value = UNMAPPED.to_le_bytes();
    let next = launch(&stream, &access, "store_u32", (1, 1), &[value[..].into(), 1u32.into()]);
    memory_fault(next.unwrap_err());
}

#[test]
fn store_past_a_buffer_names_it() {
    let machine = machine(18);
    let device = device_of(&machine);
    let buffer = device.allocate(4096, Placement::Host).unwrap();
    let fault = memory_fault(fault_on(&device, "store_u32", buffer.address() + 4096));
    assert_eq!(fault.nearest, Some((buffer.address(), 4096)));
    let text = fault.to_string();
    assert!(text.contains("past the end of a buffer of 4096"), "{text}");
}

#[test]
fn the_first_byte_of_a_buffer_is_its_own() {
    let machine = machine(18);
    let device = device_of(&machine);
    let executable = load(&device, "trap").unwrap();
    let (reached, data) =
        (device.allocate_from(&[0u32]).unwrap(), device.allocate(4096, Placement::Host).unwrap());
    // Instructions are fetched from data, which is not executable, at its very first byte.
    let stream = device.stream().unwrap();
    let address = data.address().to_le_bytes();
    let arguments = [(&reached).into(), address[..].into()];
    let jump = launch(&stream, &executable, "jump", (1, 1), &arguments).unwrap();
    let fault = memory_fault(jump.wait(LONG).unwrap_err());
    assert_eq!(fault.address, data.address());
    assert_eq!(fault.nearest, Some((data.address(), 4096)));
}

#[test]
fn read_only_memory_is_read_only() {
    let machine = machine(18);
    let system: Arc<dyn selvedge_sys::System> = machine.process();
    let device = Device::on(system.clone()).unwrap();
    // A page without WRITABLE, through the kernel interface: the runtime has no such buffers.
    let process = kfd::Process::open(system, Lifetime::Auto).unwrap();
    let gpu = process.device(process.gpus().next().unwrap()).unwrap();
    let page = gpu.allocate(4096, AllocationFlags::GTT | AllocationFlags::PUBLIC).unwrap();
    page.word(0).unwrap().store(42, std::sync::atomic::Ordering::Release);

    let access = load(&device, "access").unwrap();
    let stream = device.stream().unwrap();
    let out = device.allocate_from(&[0u32]).unwrap();
    let address = page.address().to_le_bytes();
    let arguments = [address[..].into(), (&out).into()];
    launch(&stream, &access, "load_u32", (1, 1), &arguments).unwrap().wait(LONG).unwrap();
    assert_eq!(out.read::<u32>().unwrap(), [42]);
    let fault = memory_fault(fault_on(&device, "store_u32", page.address()));
    assert!(fault.read_only && !fault.not_present, "{fault}");
    assert_eq!(page.word(0).unwrap().load(std::sync::atomic::Ordering::Acquire), 42);
}

#[test]
fn unaligned_accesses_succeed_and_unaligned_atomics_do_not() {
    let machine = machine(18);
    let device = device_of(&machine);
    let access = load(&device, "access").unwrap();
    let stream = device.stream().unwrap();
    let buffer = device.allocate_from(&[0u8; 64]).unwrap();
    let out = device.allocate_from(&[0u64; 2]).unwrap();
    for offset in 0..8 {
        let address = (buffer.address() + 16 + offset).to_le_bytes();
        let store = [address[..].into(), 0x1122_3344_5566_7788u64.into()];
        launch(&stream, &access, "store_u64", (1, 1), &store).unwrap().wait(LONG).unwrap();
        let load = [address[..].into(), (&out).into()];
        launch(&stream, &access, "load_u64", (1, 1), &load).unwrap().wait(LONG).unwrap();
        assert_eq!(out.read::<u64>().unwrap()[0], 0x1122_3344_5566_7788, "offset {offset}");
    }
    let address = (buffer.address() + 4).to_le_bytes();
    let aligned = [address[..].into(), 1u32.into(), (&out).into()];
    launch(&stream, &access, "atomic_add_u32", (1, 1), &aligned).unwrap().wait(LONG).unwrap();
    let address = (buffer.address() + 2).to_le_bytes();
    let misaligned = [address[..].into(), 1u32.into(), (&out).into()];
    let submission = launch(&stream, &access, "atomic_add_u32", (1, 1), &misaligned).unwrap();
    let error = submission.wait(LONG).unwrap_err();
    assert!(matches!(error, Error::StreamLost(_) | Error::DeviceLost(_)), "{error}");
}

#[test]
fn bad_code_stops_its_queue_only() {
    for (kernel, word) in [("illegal", "ILLEGAL_INSTRUCTION"), ("trap", "WAVE_ABORT")] {
        let machine = machine(18);
        let device = device_of(&machine);
        let other = device.stream().unwrap();
        let traps = load(&device, "trap").unwrap();
        let stream = device.stream().unwrap();
        // Nothing is released for a kernel that does not end.
        let reached = device.allocate(4, Placement::Coherent).unwrap();
        reached.upload(&[0u32]).unwrap();
        let submission = launch(&stream, &traps, kernel, (1, 1), &[(&reached).into()]).unwrap();
        let error = submission.wait(LONG).unwrap_err();
        let Error::StreamLost(fault) = &error else { panic!("{error}") };
        assert!(error.to_string().contains(word), "{error}");
        assert!(fault.packet.contains("KERNEL_DISPATCH"), "{error}");
        assert_eq!(reached.read::<u32>().unwrap(), [1]);
        // The stream is done for; the device is not.
        let error = launch(&stream, &traps, kernel, (1, 1), &[(&reached).into()]).unwrap_err();
        assert!(matches!(error, Error::StreamLost(_)), "{error}");
        assert!(device.fault().is_none());
        check_works(&device);
        drop((stream, other, traps, reached, submission, device));
        check_nothing_left(&machine);
    }
}

#[test]
fn an_endless_kernel_meets_its_deadline() {
    let machine = machine(18);
    let device = device_of(&machine);
    let endless = load(&device, "endless").unwrap();
    let stream = device.stream().unwrap();
    let progress = device.allocate_from(&[0u32; 64]).unwrap();
    let run = launch(&stream, &endless, "endless", (256, 64), &[(&progress).into()]).unwrap();
    for _ in 0..2 {
        let error = run.wait(Duration::from_millis(30)).unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error}");
    }
    assert!(!run.is_done().unwrap());
    // Others go on meanwhile.
    check_works(&device);
    // The submission owns its buffer: it is still written after the last handle went.
    let before = machine.objects().buffers;
    drop((progress, endless));
    assert_eq!(machine.objects().buffers, before);
    // Taking the stream away ends the kernel.
    drop((stream, run));
    check_works(&device);
    drop(device);
    check_nothing_left(&machine);
}

#[test]
fn a_reset_is_told_to_every_process() {
    let machine = machine(18);
    let devices = [device_of(&machine), device_of(&machine)];
    let streams = devices.each_ref().map(|device| device.stream().unwrap());
    machine.reset_gpu(0);
    for device in &devices {
        let start = Instant::now();
        let fault = loop {
            match device.fault() {
                Some(fault) => break fault,
                None => assert!(start.elapsed() < LONG),
            }
        };
        assert!(matches!(fault.as_ref(), Fault::Reset(reset) if reset.memory_lost), "{fault}");
    }
    drop((streams, devices));
    check_works(&device_of(&machine));
}

#[test]
fn secondary_contexts_fail_alone() {
    let machine = machine(23);
    let system: Arc<dyn selvedge_sys::System> = machine.process();
    let open = |lifetime| Device::on_selected(&system, &"0".parse().unwrap(), lifetime).unwrap();
    let (one, two) = (open(Lifetime::Instance), open(Lifetime::Instance));
    let primary = open(Lifetime::Process);
    memory_fault(fault_on(&one, "store_u32", UNMAPPED));
    check_works(&two);
    check_works(&primary);
    drop(one);
    check_works(&open(Lifetime::Instance));
    // And the other way round.
    memory_fault(fault_on(&primary, "store_u32", UNMAPPED));
    check_works(&two);
    check_works(&open(Lifetime::Auto));
    let error = Device::on_selected(
        &(Machine::with_gpu("gfx1151").unwrap().process() as Arc<dyn selvedge_sys::System>),
        &"0".parse().unwrap(),
        Lifetime::Instance,
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("1.19") && error.contains("1.18"), "{error}");
}
