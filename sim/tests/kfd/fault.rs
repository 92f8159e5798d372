//! Page faults, resets, queue errors, and injected faults.

use crate::rig::{Buffer, PAGE, Queue, Rig, eventually, gtt, machine};
use kfd::uapi::{self, AllocMemFlags, EventData, request};
use selvedge_sim::fault::{Node, Plan};
use selvedge_sim::{Machine, Objects};
use selvedge_sys::{Errno, OpenMode, System};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// Submits a packet; its signal.
fn packet(rig: &Rig, queue: &Queue, index: u64) -> Buffer {
    let signal = rig.buffer(gtt(), PAGE);
    signal.qword(8).store(1, SeqCst);
    queue.submit_barrier(index, signal.va);
    signal
}

/// The queue completes a packet.
pub(crate) fn completes(rig: &Rig, queue: &Queue, index: u64) {
    let signal = packet(rig, queue, index);
    eventually("the packet", || signal.qword(8).load(SeqCst) == 0);
}

/// Whether the queue completes a packet within a moment: for one that must not.
pub(crate) fn runs_soon(rig: &Rig, queue: &Queue, index: u64) -> bool {
    let signal = packet(rig, queue, index);
    let start = std::time::Instant::now();
    while signal.qword(8).load(SeqCst) == 1 && start.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    signal.qword(8).load(SeqCst) == 0
}

/// A fault ends all queues of the kfd_process on the device, those created later too; other
/// processes and secondary contexts go on.
#[test]
fn a_page_fault_ends_the_process_on_the_device() {
    const NOWHERE: u64 = 0x1234_5000;
    let rig = Rig::new("gfx1151", 23);
    let neighbour = Rig::on(rig.machine.clone());
    let second = rig.process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
    // SAFETY: CREATE_PROCESS has no argument.
    unsafe { rig.process.ioctl(second, request::CREATE_PROCESS, null_mut()).unwrap() };
    let context = Rig::with(rig.machine.clone(), rig.process.clone(), second);
    let (bystander, others) = (rig.queue(), [neighbour.queue(), context.queue()]);
    let memory = rig.create_event(uapi::EVENT_MEMORY, 0);
    let elsewhere = neighbour.create_event(uapi::EVENT_MEMORY, 0);
    let faulty = rig.queue();
    completes(&rig, &bystander, 0);
    faulty.submit_barrier(0, NOWHERE + 0x18);
    let (data, result) = rig.wait(EventData::new(memory, 0), 10_000);
    assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
    let fault = data.memory_exception();
    assert_eq!((fault.va, fault.gpu_id), (NOWHERE, rig.gpu_id));
    assert_eq!((fault.failure.not_present, fault.failure.read_only), (1, 0));
    assert!(!runs_soon(&rig, &bystander, 1), "all queues were evicted");
    let later = rig.queue();
    assert!(!runs_soon(&rig, &later, 0), "queues start evicted");
    completes(&neighbour, &others[0], 0);
    completes(&context, &others[1], 0);
    assert_eq!(neighbour.wait(EventData::new(elsewhere, 0), 0).1, uapi::WAIT_RESULT_TIMEOUT);
    for queue in [bystander, faulty, later] {
        rig.destroy(queue);
    }
}

#[test]
fn a_store_to_read_only_memory_says_so() {
    let rig = Rig::new("gfx1151", 18);
    let memory = rig.create_event(uapi::EVENT_MEMORY, 0);
    let buffer = rig.buffer(AllocMemFlags::GTT, PAGE);
    let queue = rig.queue();
    queue.submit_barrier(0, buffer.va);
    let (data, _) = rig.wait(EventData::new(memory, 0), 10_000);
    let fault = data.memory_exception();
    assert_eq!((fault.va, fault.failure.read_only, fault.failure.not_present), (buffer.va, 1, 0));
}

#[test]
fn a_reset_reaches_every_process() {
    let rig = Rig::new("gfx1151", 18);
    let other = Rig::on(rig.machine.clone());
    let events = [&rig, &other].map(|r| r.create_event(uapi::EVENT_HW_EXCEPTION, 0));
    let queue = other.queue();
    rig.machine.reset_gpu(0);
    for (rig, event) in [&rig, &other].into_iter().zip(events) {
        let (data, result) = rig.wait(EventData::new(event, 0), 1000);
        assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
        let reset = data.hw_exception();
        assert_eq!((reset.gpu_id, reset.memory_lost), (rig.gpu_id, 1));
        assert_eq!(reset.reset_cause, uapi::HW_EXCEPTION_GPU_HANG);
    }
    assert!(!runs_soon(&other, &queue, 0));
}

#[test]
fn a_hang_tells_nobody() {
    let rig = Rig::new("gfx1151", 18);
    let event = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    let queue = rig.queue();
    completes(&rig, &queue, 0);
    rig.machine.hang_gpu(0);
    assert!(!runs_soon(&rig, &queue, 1));
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_TIMEOUT);
    rig.machine.reset_gpu(0);
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_COMPLETE);
    rig.destroy(queue);
}

/// Until the GPU is reset, processes that come later find it dead, too. Linux finds the hang when a queue is to leave the
/// hardware: the GPU is reset, and the queue gone all the same.
#[test]
fn a_hang_lasts_until_the_reset() {
    let machine = machine("gfx1151", 18);
    machine.hang_gpu(0);
    let rig = Rig::on(machine.clone());
    let queue = rig.queue();
    let event = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    assert!(!runs_soon(&rig, &queue, 0));
    let mut args = uapi::DestroyQueueArgs { queue_id: queue.args.queue_id, pad: 0 };
    assert_eq!(rig.ask(request::DESTROY_QUEUE, &mut args), Err(Errno::ETIME));
    assert_eq!(rig.wait(EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_COMPLETE);
    assert_eq!(rig.ask(request::DESTROY_QUEUE, &mut args), Err(Errno::EINVAL), "it is gone");
    rig.release_buffers(queue);
    let next = Rig::on(machine);
    let queue = next.queue();
    completes(&next, &queue, 0);
    next.destroy(queue);
}

#[test]
fn a_reset_loses_vram() {
    let rig = Rig::new("gfx1100", 18);
    let vram =
        rig.buffer(AllocMemFlags::VRAM | AllocMemFlags::PUBLIC | AllocMemFlags::WRITABLE, PAGE);
    let system = rig.buffer(gtt(), PAGE);
    for buffer in [vram, system] {
        buffer.qword(0).store(99, SeqCst);
    }
    rig.machine.reset_gpu(0);
    assert_ne!(vram.qword(0).load(SeqCst), 99);
    assert_eq!(system.qword(0).load(SeqCst), 99);
}

/// The mask of exceptions arrives where the context save area's header says, if the runtime is enabled.
#[test]
fn queue_errors_reach_the_runtime() {
    for enabled in [true, false] {
        let rig = Rig::new("gfx1151", 18);
        if enabled {
            rig.runtime_enable(1).unwrap();
        }
        let payload = rig.buffer(gtt(), PAGE);
        let event = rig.create_event(uapi::EVENT_SIGNAL, 0);
        let queue = rig.queue();
        assert_eq!(rig.runtime_enable(1), Err(if enabled { Errno::EBUSY } else { Errno::EEXIST }));
        queue.save_area.qword(24).store(payload.va, SeqCst);
        queue.save_area.dword(32).store(event, SeqCst);
        // An agent dispatch packet, which no GPU processes.
        queue.submit_barrier(0, 0);
        eventually("the first packet", || queue.pointers.qword(128).load(SeqCst) == 1);
        queue.ring.dword(64).store(4, SeqCst);
        queue.submit_barrier(2, 0);
        let (_, result) = rig.wait(EventData::new(event, 0), if enabled { 10_000 } else { 200 });
        let unsupported = uapi::exception::mask(uapi::exception::QUEUE_PACKET_UNSUPPORTED);
        let expected = if enabled {
            (uapi::WAIT_RESULT_COMPLETE, true)
        } else {
            (uapi::WAIT_RESULT_TIMEOUT, false)
        };
        let told = payload.qword(0).load(SeqCst);
        assert_eq!((result, told != 0), expected, "{told:#x}, unsupported is {unsupported:#x}");
        rig.destroy(queue);
    }
}

/// All of a driver's start: open, acquire, allocate, map, queue.
fn start_up(machine: &Machine) -> Result<(), Errno> {
    let process = machine.process();
    let kfd = process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite)?;
    let render = process.open(Path::new("/dev/dri/renderD128"), OpenMode::ReadWrite)?;
    let mut apertures = [uapi::ProcessDeviceApertures::default(); 1];
    let mut args = uapi::GetProcessAperturesNewArgs {
        kfd_process_device_apertures_ptr: apertures.as_mut_ptr().expose_provenance() as u64,
        num_of_nodes: 1,
        pad: 0,
    };
    crate::rig::ioctl(&process, kfd, request::GET_PROCESS_APERTURES_NEW, &mut args)?;
    let gpu_id = apertures[0].gpu_id;
    let mut args = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id };
    crate::rig::ioctl(&process, kfd, request::ACQUIRE_VM, &mut args)?;
    let rig = Rig { machine: machine.clone(), process, kfd, render, gpu_id };
    rig.runtime_enable(1)?;
    let va = crate::rig::reserve(&rig.process, PAGE);
    let allocated = rig.alloc(gtt(), PAGE, va)?;
    rig.map(allocated.handle)?;
    rig.mmap(render, va, PAGE, allocated.mmap_offset)?;
    rig.unmap(allocated.handle)?;
    rig.free(allocated.handle)?;
    rig.munmap(va, PAGE);
    Ok(())
}

#[test]
fn injected_errors_leave_nothing_behind() {
    let machine = machine("gfx1151", 18);
    start_up(&machine).unwrap();
    let mut failures = 0;
    for errno in [Errno::ENOMEM, Errno::EINVAL, Errno::EBUSY, Errno::EINTR] {
        for nth in 1.. {
            machine.set_faults(Plan::new().fail_any_ioctl(nth, errno));
            let answer = start_up(&machine);
            assert_eq!(machine.objects(), Objects::default(), "{errno:?} at ioctl {nth}");
            match answer {
                Ok(()) => break,
                Err(got) => assert_eq!(got, errno),
            }
            failures += 1;
        }
    }
    assert_eq!(failures, 4 * 7);
    machine.set_faults(Plan::new().fail_mmap(1, Errno::ENOMEM));
    assert_eq!(start_up(&machine), Err(Errno::ENOMEM));
    machine.set_faults(Plan::new().fail_open(2, Errno::EMFILE));
    assert_eq!(start_up(&machine), Err(Errno::EMFILE));
    machine.set_faults(Plan::new().fail_ioctl(Node::Kfd, 0x18, 1, Errno::EINTR));
    assert_eq!(start_up(&machine), Err(Errno::EINTR));
    assert_eq!(machine.objects(), Objects::default());
}

#[test]
fn a_lost_interrupt_wakes_nobody() {
    let rig = Rig::new("gfx1151", 18);
    rig.machine.set_faults(Plan::new().lose_interrupts(1, 1));
    let slots = rig.buffer(gtt(), 32768);
    let mut args = uapi::CreateEventArgs { event_page_offset: slots.handle, ..Default::default() };
    rig.ask(request::CREATE_EVENT, &mut args).unwrap();
    let event = args.event_id;
    let signal = rig.buffer(gtt(), PAGE);
    signal.qword(8).store(2, SeqCst);
    signal.qword(16).store(slots.va + u64::from(event) * 8, SeqCst);
    signal.dword(24).store(event, SeqCst);
    let queue = rig.queue();
    queue.submit_barrier(0, signal.va);
    eventually("the value", || signal.qword(8).load(SeqCst) == 1);
    assert_eq!(rig.wait(EventData::new(event, 0), 100).1, uapi::WAIT_RESULT_TIMEOUT);
    queue.submit_barrier(1, signal.va);
    assert_eq!(rig.wait(EventData::new(event, 0), 10_000).1, uapi::WAIT_RESULT_COMPLETE);
    rig.destroy(queue);
}
