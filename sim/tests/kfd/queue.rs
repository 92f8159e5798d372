//! Creating, changing and destroying queues.

use crate::rig::{DOORBELL_SLICE, PAGE, Queue, Rig, eventually, gtt};
use kfd::uapi::{self, CreateQueueArgs, request};
use selvedge_sim::Machine;
use selvedge_sys::{Errno, OpenMode, System};
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

/// One rule: how the arguments break it.
type Breach = (&'static str, fn(&mut CreateQueueArgs), Errno);

/// Every rule of set_queue_properties_from_user and kfd_queue_acquire_buffers, broken alone.
const BREACHES: &[Breach] = &[
    ("percentage", |a| a.queue_percentage = 101, Errno::EINVAL),
    ("priority", |a| a.queue_priority = 16, Errno::EINVAL),
    ("ring in the kernel's half", |a| a.ring_base_address = 1 << 63, Errno::EFAULT),
    ("ring size no power of two", |a| a.ring_size = 3000, Errno::EINVAL),
    ("read pointer in the kernel's half", |a| a.read_pointer_address = 1 << 63, Errno::EFAULT),
    ("write pointer in the kernel's half", |a| a.write_pointer_address = 1 << 63, Errno::EFAULT),
    ("EOP in the kernel's half", |a| a.eop_buffer_address = 1 << 63, Errno::EFAULT),
    ("save area in the kernel's half", |a| a.ctx_save_restore_address = 1 << 63, Errno::EFAULT),
    ("type", |a| a.queue_type = 77, Errno::ENOTSUPP),
    ("GPU", |a| a.gpu_id ^= 1, Errno::EINVAL),
    ("write pointer not mapped", |a| a.write_pointer_address = 8 * PAGE, Errno::EINVAL),
    ("read pointer not mapped", |a| a.read_pointer_address = 8 * PAGE, Errno::EINVAL),
    (
        "pointer in a larger buffer",
        |a| a.write_pointer_address = a.ctx_save_restore_address,
        Errno::EINVAL,
    ),
    ("ring not mapped", |a| a.ring_base_address = 0, Errno::EINVAL),
    ("ring larger than its buffer", |a| a.ring_size *= 2, Errno::EINVAL),
    (
        "ring smaller than its buffer",
        |a| a.ring_base_address = a.ctx_save_restore_address,
        Errno::EINVAL,
    ),
    ("EOP too small", |a| a.eop_buffer_size = 2048, Errno::EINVAL),
    ("EOP larger than its buffer", |a| a.eop_buffer_size = 8192, Errno::EINVAL),
    ("EOP not mapped", |a| a.eop_buffer_address = 8 * PAGE, Errno::EINVAL),
    ("control stack", |a| a.ctl_stack_size += 4096, Errno::EINVAL),
    ("save area too small", |a| a.ctx_save_restore_size -= 1, Errno::EINVAL),
    ("save area larger than its buffer", |a| a.ctx_save_restore_size += 4096, Errno::EINVAL),
    ("no save area", |a| a.ctx_save_restore_address = 0, Errno::EINVAL),
    ("no such SDMA engine", |a| (a.queue_type, a.sdma_engine_id) = (4, 9), Errno::EINVAL),
];

#[test]
fn every_rule_is_checked_alone() {
    for minor in [17, 18, 23] {
        let rig = Rig::new("gfx1151", minor);
        let good = rig.queue_buffers();
        for (rule, breach, errno) in BREACHES {
            let mut args = good.args;
            breach(&mut args);
            let answer = rig.ask(request::CREATE_QUEUE, &mut args);
            assert_eq!(answer, Err(*errno), "{rule} on 1.{minor}");
        }
        assert_eq!(rig.objects().queues, 0);
        // What the rules allow.
        for allow in [
            |_: &mut CreateQueueArgs| {},
            |a: &mut CreateQueueArgs| a.eop_buffer_address = 0,
            |a: &mut CreateQueueArgs| a.queue_percentage = 0,
            |a: &mut CreateQueueArgs| a.ring_size = 512,
        ] {
            let mut args = good.args;
            allow(&mut args);
            rig.ask(request::CREATE_QUEUE, &mut args).unwrap();
            let mut gone = uapi::DestroyQueueArgs { queue_id: args.queue_id, pad: 0 };
            rig.ask(request::DESTROY_QUEUE, &mut gone).unwrap();
            assert_eq!(rig.ask(request::DESTROY_QUEUE, &mut gone), Err(Errno::EINVAL));
        }
        rig.release_buffers(good);
    }
}

/// Before 6.12 buffers were not looked at, but for the write pointer's page.
#[test]
fn old_kernels_look_at_the_write_pointer_only() {
    let rig = Rig::new("gfx1151", 14);
    assert_eq!(rig.property("cwsr_size"), None);
    let good = rig.queue_buffers();
    let mut args = CreateQueueArgs { ctl_stack_size: 1, eop_buffer_size: 0, ..good.args };
    rig.ask(request::CREATE_QUEUE, &mut args).unwrap();
    let mut bad = CreateQueueArgs { write_pointer_address: 8 * PAGE, ..good.args };
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut bad), Err(Errno::EINVAL));
    let mut by_engine = CreateQueueArgs { queue_type: 4, ..good.args };
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut by_engine), Err(Errno::ENOTSUPP));
}

/// The MES polls the write pointer through the GART, where a process's own pages cannot be pinned. Before gfx11 there is
/// none, and AMD's runtime has the write pointer in its own pages.
#[test]
fn write_pointers_are_not_user_memory() {
    write_pointer_in_user_memory("gfx1151", Err(Errno::EPERM));
    write_pointer_in_user_memory("gfx1030", Ok(()));
}

fn write_pointer_in_user_memory(board: &str, answer: Result<(), Errno>) {
    let rig = Rig::new(board, 18);
    let mut queue = rig.queue_buffers();
    let memory = crate::rig::anonymous(&rig.process, PAGE);
    let mut user = uapi::AllocMemoryOfGpuArgs {
        va_addr: memory,
        size: PAGE,
        mmap_offset: memory,
        gpu_id: rig.gpu_id,
        flags: (uapi::AllocMemFlags::USERPTR | uapi::AllocMemFlags::WRITABLE).bits(),
        ..Default::default()
    };
    rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut user).unwrap();
    rig.map(user.handle).unwrap();
    queue.args.write_pointer_address = memory;
    let mut args = queue.args;
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut args).map(drop), answer, "{board}");
    if answer.is_ok() {
        let mut gone = uapi::DestroyQueueArgs { queue_id: args.queue_id, pad: 0 };
        rig.ask(request::DESTROY_QUEUE, &mut gone).unwrap();
    }
    queue.args.write_pointer_address = queue.pointers.va + 56;
    queue.args.read_pointer_address = memory;
    rig.start(&mut queue).unwrap();
    assert_eq!(rig.unmap(user.handle), Err(Errno::EBUSY));
    rig.destroy(queue);
}

/// Memory of one GPU may serve a queue of another, but for the write pointer.
#[test]
fn write_pointers_are_the_device_s_own() {
    let machine =
        Machine::builder().gpu("gfx1151").and_then(|b| b.gpu("gfx1151")).unwrap().build().unwrap();
    let rig = Rig::on(machine);
    let path = "/sys/devices/virtual/kfd/kfd/topology/nodes/2/gpu_id";
    let id = rig.process.read_file(Path::new(path)).unwrap();
    let second: u32 = String::from_utf8(id).unwrap().trim().parse().unwrap();
    let render = rig.process.open(Path::new("/dev/dri/renderD129"), OpenMode::ReadWrite).unwrap();
    let mut acquire = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id: rig.gpu_id };
    assert_eq!(rig.ask(request::ACQUIRE_VM, &mut acquire), Err(Errno::EBUSY));
    acquire.gpu_id = second;
    rig.ask(request::ACQUIRE_VM, &mut acquire).unwrap();
    let mut queue = rig.queue_buffers();
    for buffer in [queue.ring, queue.pointers, queue.eop, queue.save_area] {
        let ids = [rig.gpu_id, second].map(std::sync::atomic::AtomicU32::new);
        let mut args = uapi::MapMemoryToGpuArgs {
            handle: buffer.handle,
            device_ids_array_ptr: ids.as_ptr().expose_provenance() as u64,
            n_devices: 2,
            n_success: 0,
        };
        rig.ask(request::MAP_MEMORY_TO_GPU, &mut args).unwrap();
        assert_eq!(args.n_success, 2);
    }
    queue.args.gpu_id = second;
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut queue.args), Err(Errno::EINVAL));
    let other = Rig { gpu_id: second, render, ..rig };
    let own = other.buffer(gtt(), PAGE);
    queue.args.write_pointer_address = own.va;
    other.start(&mut queue).unwrap();
    assert_eq!(other.objects().gpu_mappings, 9);
}

#[test]
fn without_a_vm_there_is_no_queue() {
    let rig = Rig::new("gfx1151", 18);
    let queue = rig.queue_buffers();
    let other = rig.machine.process();
    let kfd = other.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
    let mut args = queue.args;
    let answer = crate::rig::ioctl(&other, kfd, request::CREATE_QUEUE, &mut args);
    assert_eq!(answer, Err(Errno::ESRCH));
}

/// UPDATE_QUEUE with another ring while packets wait: the queue goes on in it, at the packet whose turn it is.
#[test]
fn a_queue_gets_another_ring() {
    for (name, minor) in [("gfx1151", 18), ("gfx90a", 14)] {
        let rig = Rig::new(name, minor);
        let mut queue = rig.queue();
        let signal = rig.buffer(gtt(), PAGE);
        signal.qword(8).store(9, SeqCst);
        queue.submit_barrier(0, signal.va);
        eventually("the first packet", || signal.qword(8).load(SeqCst) == 8);
        update(&rig, &queue, 0).unwrap();
        // In the old ring, where nobody looks any more.
        queue.submit_barrier(1, signal.va);
        let old = queue.ring;
        queue.ring = rig.buffer(gtt(), old.size);
        let mut args = uapi::UpdateQueueArgs {
            ring_base_address: queue.ring.va,
            queue_id: queue.args.queue_id,
            ring_size: queue.ring.size as u32,
            queue_percentage: 100,
            queue_priority: 15,
        };
        if minor >= 17 {
            args.ring_base_address = 0x6000_0000_0000;
            assert_eq!(rig.ask(request::UPDATE_QUEUE, &mut args), Err(Errno::EFAULT), "no mapping");
            args.ring_base_address = queue.ring.va;
        }
        (0..old.size).step_by(64).for_each(|slot| queue.ring.dword(slot).store(1, SeqCst));
        rig.ask(request::UPDATE_QUEUE, &mut args).unwrap();
        if minor >= 17 {
            assert_eq!(rig.unmap(queue.ring.handle), Err(Errno::EBUSY), "the queue holds it");
        }
        rig.release(old);
        queue.submit_barrier(1, signal.va);
        queue.submit_barrier(2, signal.va);
        eventually("the packets of the new ring", || signal.qword(8).load(SeqCst) == 6);
        assert_eq!(queue.pointers.qword(128).load(SeqCst), 3);
        rig.destroy(queue);
        assert_eq!(rig.machine.refusals(), [""; 0]);
    }
}

/// A ring of address 0 disables a queue (`pqm_update_queue_properties`); the one it had comes back.
#[test]
fn no_ring_stops_a_queue() {
    let rig = Rig::new("gfx1151", 18);
    let queue = rig.queue();
    let signal = rig.buffer(gtt(), PAGE);
    signal.qword(8).store(1, SeqCst);
    let mut args = uapi::UpdateQueueArgs {
        queue_id: queue.args.queue_id,
        queue_percentage: 100,
        ..Default::default()
    };
    rig.ask(request::UPDATE_QUEUE, &mut args).unwrap();
    queue.submit_barrier(0, signal.va);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(signal.qword(8).load(SeqCst), 1);
    update(&rig, &queue, 100).unwrap();
    eventually("the packet", || signal.qword(8).load(SeqCst) == 0);
    rig.destroy(queue);
}

#[test]
fn buffers_of_a_queue_cannot_be_unmapped() {
    let rig = Rig::new("gfx1151", 18);
    let queue = rig.queue();
    for buffer in [queue.ring, queue.pointers, queue.eop, queue.save_area] {
        assert_eq!(rig.unmap(buffer.handle), Err(Errno::EBUSY));
        assert_eq!(rig.free(buffer.handle), Err(Errno::EBUSY));
    }
    assert_eq!(rig.objects().queues, 1);
    rig.destroy(queue);
    let objects = rig.objects();
    assert_eq!((objects.queues, objects.buffers, objects.gpu_mappings), (0, 0, 0));
}

#[test]
fn at_most_127_queues_on_a_device() {
    let rig = Rig::new("gfx1151", 18);
    let buffers = rig.queue_buffers();
    // Stopped ones, so that their threads do nothing.
    let args = CreateQueueArgs { queue_percentage: 0, ..buffers.args };
    let mut ids = Vec::new();
    let mut doorbells = std::collections::BTreeSet::new();
    let failure = loop {
        let mut args = args;
        match rig.ask(request::CREATE_QUEUE, &mut args) {
            Ok(()) => {
                ids.push(args.queue_id);
                doorbells.insert(args.doorbell_offset);
                let id = args.doorbell_offset >> 46;
                assert_eq!(id, u64::from(rig.gpu_id) | 3 << 16);
                assert_eq!(args.doorbell_offset & 7, 0);
                assert!(args.doorbell_offset & (DOORBELL_SLICE - 1) < 0x100 * 8);
            }
            Err(errno) => break errno,
        }
    };
    assert_eq!((ids.len(), doorbells.len(), failure), (127, 127, Errno::ENOSPC));
    assert_eq!(ids, (0..127).collect::<Vec<u32>>());
}

#[test]
fn packets_run_complete_and_interrupt() {
    let rig = Rig::new("gfx1151", 18);
    let slots = rig.buffer(gtt(), 32768);
    let mut args = uapi::CreateEventArgs { event_page_offset: slots.handle, ..Default::default() };
    rig.ask(request::CREATE_EVENT, &mut args).unwrap();
    assert_eq!(slots.qword(8).load(SeqCst), u64::MAX, "idle slots are all ones");
    let event = rig.create_event(uapi::EVENT_SIGNAL, 1);
    let signal = rig.buffer(gtt(), PAGE);
    // amd_signal_t: kind 1, value, mailbox, event id.
    signal.qword(0).store(1, SeqCst);
    signal.qword(8).store(1, SeqCst);
    signal.qword(16).store(slots.va + u64::from(event) * 8, SeqCst);
    signal.dword(24).store(event, SeqCst);
    let queue = rig.queue();
    queue.submit_barrier(0, signal.va);
    let (data, result) = rig.wait(uapi::EventData::new(event, 1), 10_000);
    assert_eq!((result, data.signal().last_event_age), (uapi::WAIT_RESULT_COMPLETE, 2));
    assert_eq!(signal.qword(8).load(SeqCst), 0);
    assert_eq!(slots.qword(u64::from(event) * 8).load(SeqCst), u64::MAX, "acknowledged");
    eventually("the read pointer", || queue.pointers.qword(128).load(SeqCst) == 1);
    assert_eq!(rig.free(slots.handle), Err(Errno::EPERM), "the event page stays");
    rig.destroy(queue);
}

fn update(rig: &Rig, queue: &Queue, percentage: u32) -> Result<(), Errno> {
    let mut args = uapi::UpdateQueueArgs {
        ring_base_address: queue.args.ring_base_address,
        queue_id: queue.args.queue_id,
        ring_size: queue.args.ring_size,
        queue_percentage: percentage,
        queue_priority: 7,
    };
    rig.ask(request::UPDATE_QUEUE, &mut args)
}

#[test]
fn percentage_zero_stops_a_queue() {
    let rig = Rig::new("gfx1151", 18);
    let queue = rig.queue();
    let signal = rig.buffer(gtt(), PAGE);
    signal.qword(8).store(2, SeqCst);
    let mut state = uapi::GetQueueWaveStateArgs {
        queue_id: queue.args.queue_id,
        ctl_stack_address: signal.va + 256,
        ..Default::default()
    };
    assert_eq!(rig.ask(request::GET_QUEUE_WAVE_STATE, &mut state), Err(Errno::EINVAL), "active");
    update(&rig, &queue, 0).unwrap();
    queue.submit_barrier(0, signal.va);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(signal.qword(8).load(SeqCst), 2);
    rig.ask(request::GET_QUEUE_WAVE_STATE, &mut state).unwrap();
    assert_eq!((state.ctl_stack_used_size, state.save_area_used_size), (0, 0));
    update(&rig, &queue, 100).unwrap();
    eventually("the packet", || signal.qword(8).load(SeqCst) == 1);
    rig.destroy(queue);
}

/// `pqm_update_mqd`: pairs from gfx10 on.
#[test]
fn cu_masks_go_by_pairs() {
    for (name, half) in [("gfx1151", Err(Errno::EINVAL)), ("gfx90a", Ok(()))] {
        let rig = Rig::new(name, 18);
        let queue = rig.queue();
        let ask = |mask: u32, num_cu_mask: u32| {
            let mut mask = [mask; 40];
            let cu_mask_ptr = mask.as_mut_ptr().expose_provenance() as u64;
            let mut args =
                uapi::SetCuMaskArgs { queue_id: queue.args.queue_id, num_cu_mask, cu_mask_ptr };
            rig.ask(request::SET_CU_MASK, &mut args)
        };
        assert_eq!(ask(0b1100, 32), Ok(()));
        assert_eq!(ask(0b0110, 32), half);
        assert_eq!(ask(!0, 1280), Ok(()));
        assert_eq!(ask(!0, 31), Err(Errno::EINVAL));
        assert_eq!(rig.machine.refusals(), [""; 0]);
        assert_eq!(ask(0, 32), Err(Errno::ENOSYS), "hardware would wait for ever");
        rig.destroy(queue);
    }
}

#[test]
fn global_wave_sync_belongs_to_one_queue() {
    let rig = Rig::new("gfx1151", 18);
    let (a, b) = (rig.queue(), rig.queue());
    let ask = |queue: &Queue, num_gws| {
        let mut args = uapi::AllocQueueGwsArgs {
            queue_id: queue.args.queue_id,
            num_gws,
            ..Default::default()
        };
        rig.ask(request::ALLOC_QUEUE_GWS, &mut args)
    };
    assert_eq!(ask(&a, 0), Err(Errno::EINVAL));
    assert_eq!(ask(&a, 1), Ok(()));
    assert_eq!(ask(&b, 1), Err(Errno::EBUSY));
    rig.destroy(a);
    assert_eq!(ask(&b, 1), Ok(()));
    rig.destroy(b);
}

/// The host has no thread for the queue: ENOMEM, and nothing is taken. In a process of its own, whose limits and user
/// it changes: root may always have threads.
#[test]
fn a_queue_needs_a_thread() {
    const NAME: &str = "queue::a_queue_needs_a_thread";
    const INSIDE: &str = "SELVEDGE_TEST_WITHOUT_THREADS";
    if std::env::var_os(INSIDE).is_none() {
        let mut own = std::process::Command::new(std::env::current_exe().unwrap());
        let output = own.args(["--exact", NAME]).env(INSIDE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    const NOBODY: libc::uid_t = 65534;
    let limit = |threads| {
        // SAFETY: changes this process's limit.
        unsafe {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            assert_eq!(libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit), 0);
            limit.rlim_cur = limit.rlim_max.min(threads);
            assert_eq!(libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit), 0);
        }
    };
    let rig = Rig::new("gfx1151", 18);
    let mut queue = rig.queue_buffers();
    // SAFETY: changes this process's user.
    if unsafe { libc::geteuid() == 0 && libc::setresuid(NOBODY, NOBODY, NOBODY) != 0 } {
        return;
    }
    limit(0);
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut queue.args), Err(Errno::ENOMEM));
    assert_eq!(rig.objects().queues, 0);
    rig.unmap(queue.ring.handle).unwrap();
    rig.map(queue.ring.handle).unwrap();
    limit(libc::RLIM_INFINITY);
    rig.start(&mut queue).unwrap();
    let first = (queue.args.queue_id, queue.args.doorbell_offset & (DOORBELL_SLICE - 1));
    assert_eq!(first, (0, 0));
    rig.destroy(queue);
}
