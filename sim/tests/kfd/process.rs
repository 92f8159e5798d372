//! Processes, contexts, files.

use crate::rig::{PAGE, Rig, gtt, ioctl, machine, reserve};
use kfd::uapi::{self, AllocMemFlags, amdgpu, request};
use selvedge_sim::{Clock, Machine, ManualClock, Objects};
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;

const KFD: &str = "/dev/kfd";
const RENDER: &str = "/dev/dri/renderD128";

fn acquire(rig: &Rig, kfd: i32, render: i32) -> Result<(), Errno> {
    let mut args = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id: rig.gpu_id };
    ioctl(&rig.process, kfd, request::ACQUIRE_VM, &mut args)
}

#[test]
fn one_vm_of_one_file() {
    let rig = Rig::new("gfx1151", 18);
    assert_eq!(acquire(&rig, rig.kfd, rig.render), Ok(()), "the same again");
    let other = rig.process.open(Path::new(RENDER), OpenMode::ReadWrite).unwrap();
    assert_eq!(acquire(&rig, rig.kfd, other), Err(Errno::EBUSY));
    // SAFETY: duplicates a descriptor.
    let duplicate = unsafe { libc::dup(rig.render) };
    assert_eq!(acquire(&rig, rig.kfd, duplicate), Ok(()), "a duplicate is the same file");
    rig.process.close(duplicate).unwrap();
    let second = rig.machine.process();
    let kfd = second.open(Path::new(KFD), OpenMode::ReadWrite).unwrap();
    let stranger = Rig { process: second, ..Rig::on(rig.machine.clone()) };
    assert_eq!(acquire(&stranger, kfd, 9999), Err(Errno::EINVAL));
}

/// The primary kfd_process and its VM outlive every descriptor.
#[test]
fn closing_does_not_end_the_primary() {
    let rig = Rig::new("gfx1151", 18);
    let handle = rig.alloc(gtt(), PAGE, reserve(&rig.process, PAGE)).unwrap().handle;
    rig.process.close(rig.kfd).unwrap();
    rig.process.close(rig.render).unwrap();
    let kfd = rig.process.open(Path::new(KFD), OpenMode::ReadWrite).unwrap();
    let render = rig.process.open(Path::new(RENDER), OpenMode::ReadWrite).unwrap();
    assert_eq!(acquire(&rig, kfd, render), Err(Errno::EBUSY), "the closed file still has the VM");
    let again = Rig { kfd, render, ..rig };
    again.map(handle).unwrap();
    let machine = again.machine.clone();
    drop(again);
    assert_eq!(machine.objects(), Objects::default());
}

fn create_process(rig: &Rig, kfd: i32) -> Result<i32, Errno> {
    // SAFETY: CREATE_PROCESS has no argument.
    unsafe { rig.process.ioctl(kfd, request::CREATE_PROCESS, null_mut()) }
}

#[test]
fn secondary_contexts_die_with_their_file() {
    let rig = Rig::new("gfx1151", 23);
    let before = rig.objects();
    let kfd = rig.process.open(Path::new(KFD), OpenMode::ReadWrite).unwrap();
    create_process(&rig, kfd).unwrap();
    assert_eq!(create_process(&rig, kfd), Err(Errno::EINVAL), "one for each file");
    assert_eq!(acquire(&rig, kfd, rig.render), Err(Errno::EINVAL), "the primary has that VM");
    let context = Rig::with(rig.machine.clone(), rig.process.clone(), kfd);
    let queue = context.queue();
    context.create_event(uapi::EVENT_SIGNAL, 0);
    let mut user = uapi::AllocMemoryOfGpuArgs {
        size: PAGE,
        mmap_offset: queue.ring.va,
        gpu_id: rig.gpu_id,
        flags: AllocMemFlags::USERPTR.bits(),
        ..Default::default()
    };
    assert_eq!(context.ask(request::ALLOC_MEMORY_OF_GPU, &mut user), Err(Errno::EOPNOTSUPP));
    assert_eq!(rig.objects().kfd_processes, 2);
    rig.process.close(kfd).unwrap();
    rig.process.close(context.render).unwrap();
    let after = rig.objects();
    assert_eq!((after.kfd_processes, after.queues, after.events), (1, 0, 0));
    assert_eq!((after.vms, after.files), (before.vms, before.files));
    let old = Rig::new("gfx1151", 18);
    assert_eq!(create_process(&old, old.kfd), Err(Errno::ENOTTY));
}

#[test]
fn a_bad_pointer_is_efault() {
    let rig = Rig::new("gfx1151", 18);
    let hole = reserve(&rig.process, PAGE);
    for address in [0, 8, hole, 1 << 47, u64::MAX - 8] {
        let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
        for request in [request::GET_VERSION, request::WAIT_EVENTS, request::CREATE_QUEUE] {
            // SAFETY: the machine must not touch a bad address.
            let answer = unsafe { rig.process.ioctl(rig.kfd, request, pointer) };
            assert_eq!(answer, Err(Errno::EFAULT), "{address:#x}");
        }
    }
}

/// A real fork: the child's calls fail and return.
#[test]
fn after_fork_the_child_has_no_device() {
    let rig = Rig::new("gfx1151", 18);
    let queue = rig.queue();
    let mut version = uapi::GetVersionArgs::default();
    queue.ring.dword(0).store(77, std::sync::atomic::Ordering::Relaxed);
    // SAFETY: the child makes calls that take no lock another thread could have held, drops what it
    // has, and leaves without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ioctl = ioctl(&rig.process, rig.kfd, request::GET_VERSION, &mut version);
        // SAFETY: maps where the kernel likes.
        let mmap = unsafe {
            let protection = Protection::READ;
            rig.process.mmap(null_mut(), 4096, protection, MapFlags::SHARED, rig.kfd, 1 << 63)
        };
        let open = rig.process.open(Path::new(KFD), OpenMode::ReadWrite);
        // Giving everything up neither hangs nor takes the parent's memory.
        drop(rig);
        let right =
            ioctl == Err(Errno::EBADF) && mmap == Err(Errno::EINVAL) && open == Err(Errno::ENODEV);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = -1;
    // SAFETY: `child` is this process's child and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(queue.ring.dword(0).load(std::sync::atomic::Ordering::Relaxed), 77);
    rig.destroy(queue);
}

#[test]
fn clocks_can_be_driven() {
    let clock = ManualClock::at(5_000);
    let machine = Machine::builder()
        .gpu("gfx1151")
        .unwrap()
        .clock(Clock::Manual(clock.clone()))
        .build()
        .unwrap();
    let rig = Rig::on(machine);
    clock.advance(1_000);
    let mut args = uapi::GetClockCountersArgs { gpu_id: rig.gpu_id, ..Default::default() };
    rig.ask(request::GET_CLOCK_COUNTERS, &mut args).unwrap();
    assert_eq!((args.gpu_clock_counter, args.cpu_clock_counter), (600, 6_000));
    assert_eq!(args.system_clock_freq, 1_000_000_000);
}

#[test]
fn settings_need_a_vm() {
    let machine = machine("gfx1151", 18);
    let process = machine.process();
    let kfd = process.open(Path::new(KFD), OpenMode::ReadWrite).unwrap();
    let gpu_id = Rig::on(machine.clone()).gpu_id;
    macro_rules! ask {
        ($name:ident $args:ident) => {
            ioctl(&process, kfd, request::$name, &mut uapi::$args { gpu_id, ..Default::default() })
        };
    }
    assert_eq!(ask!(SET_MEMORY_POLICY SetMemoryPolicyArgs), Err(Errno::ESRCH));
    assert_eq!(ask!(SET_TRAP_HANDLER SetTrapHandlerArgs), Err(Errno::ESRCH));
    assert_eq!(ask!(SET_SCRATCH_BACKING_VA SetScratchBackingVaArgs), Err(Errno::ENODEV));
    assert_eq!(ask!(GET_TILE_CONFIG GetTileConfigArgs), Ok(()));
    let render = process.open(Path::new(RENDER), OpenMode::ReadWrite).unwrap();
    let mut args = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id };
    ioctl(&process, kfd, request::ACQUIRE_VM, &mut args).unwrap();
    assert_eq!(ask!(SET_MEMORY_POLICY SetMemoryPolicyArgs), Ok(()));
    assert_eq!(ask!(SET_TRAP_HANDLER SetTrapHandlerArgs), Ok(()));
    assert_eq!(ask!(SET_SCRATCH_BACKING_VA SetScratchBackingVaArgs), Ok(()));
    let mut xnack = uapi::SetXnackModeArgs { xnack_enabled: 1 };
    let set = ioctl(&process, kfd, request::SET_XNACK_MODE, &mut xnack);
    assert_eq!(set, Err(Errno::EPERM), "gfx11 cannot retry");
    xnack.xnack_enabled = -1;
    ioctl(&process, kfd, request::SET_XNACK_MODE, &mut xnack).unwrap();
    assert_eq!(xnack.xnack_enabled, 0);
    // gfx906 is set not to at boot; gfx90a could, and that is not modelled.
    for (name, answer) in [("gfx906", Errno::EPERM), ("gfx90a", Errno::ENOSYS)] {
        let rig = Rig::new(name, 18);
        let mut xnack = uapi::SetXnackModeArgs { xnack_enabled: 1 };
        assert_eq!(rig.ask(request::SET_XNACK_MODE, &mut xnack), Err(answer), "{name}");
    }
}

#[test]
fn management_events_and_profiler() {
    let rig = Rig::new("gfx1151", 23);
    let mut args = uapi::SmiEventsArgs { gpuid: rig.gpu_id, anon_fd: 0 };
    rig.ask(request::SMI_EVENTS, &mut args).unwrap();
    let fd = args.anon_fd.cast_signed();
    assert_eq!(rig.process.read(fd, &mut [0; 96]), Err(Errno::EAGAIN));
    rig.process.close(fd).unwrap();
    let mut args = uapi::ProfilerArgs::query_version();
    rig.ask(request::PROFILER, &mut args).unwrap();
    assert_eq!(args.version(), uapi::PROFILER_VERSION_NUM);
}

/// The number of a duplicate that was closed behind the machine's back leads nowhere.
#[test]
fn numbers_of_closed_duplicates_are_forgotten() {
    let rig = Rig::new("gfx1151", 18);
    let mut version = uapi::GetVersionArgs::default();
    let mut pipe = [0; 2];
    // SAFETY: duplicates a descriptor.
    let duplicate = unsafe { libc::dup(rig.kfd) };
    assert_eq!(ioctl(&rig.process, duplicate, request::GET_VERSION, &mut version), Ok(()));
    // SAFETY: the number is ours to close and to reuse.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        assert_eq!(libc::dup2(pipe[0], duplicate), duplicate);
    }
    let stale = ioctl(&rig.process, duplicate, request::GET_VERSION, &mut version);
    assert_eq!(stale, Err(Errno::ENOTTY));
    // A duplicate keeps its file when the descriptor it came from goes.
    // SAFETY: as above.
    let duplicate = unsafe { libc::dup(rig.kfd) };
    assert_eq!(ioctl(&rig.process, duplicate, request::GET_VERSION, &mut version), Ok(()));
    rig.process.close(rig.kfd).unwrap();
    assert_eq!(ioctl(&rig.process, duplicate, request::GET_VERSION, &mut version), Ok(()));
    rig.process.close(duplicate).unwrap();
    assert_eq!(rig.machine.refusals(), [""; 0]);
}

#[test]
fn refusals_are_kept_once() {
    let rig = Rig::new("gfx1151", 18);
    let mut context = amdgpu::Ctx::new(amdgpu::CTX_OP_ALLOC_CTX, 0);
    ioctl(&rig.process, rig.render, amdgpu::drm_request::CTX, &mut context).unwrap();
    let packets = rig.buffer(gtt(), PAGE);
    let mut ib = amdgpu::CsChunkIb {
        va_start: packets.va,
        ib_bytes: 4,
        ip_type: amdgpu::HW_IP_DMA,
        ..Default::default()
    };
    let mut chunk = amdgpu::CsChunk {
        chunk_id: amdgpu::CHUNK_ID_IB,
        length_dw: size_of::<amdgpu::CsChunkIb>() as u32 / 4,
        chunk_data: (&raw mut ib).expose_provenance() as u64,
    };
    let mut chunks = (&raw mut chunk).expose_provenance() as u64;
    for packet in (50..400u64).chain(50..60) {
        // Constant fills, of a kernel's queue.
        packets.qword(0).store(packet << 8 | 0xb, SeqCst);
        let mut args = amdgpu::Cs::default();
        (args.in_.ctx_id, args.in_.num_chunks) = (context.context(), 1);
        args.in_.chunks = (&raw mut chunks).expose_provenance() as u64;
        let answer = ioctl(&rig.process, rig.render, amdgpu::drm_request::CS, &mut args);
        assert_eq!(answer, Err(Errno::ENOSYS));
    }
    let refusals = rig.machine.refusals();
    assert_eq!(refusals.len(), Machine::MAX_REFUSALS);
    assert_eq!(refusals[1], "SDMA packet 0x0000330b of a kernel queue");
}
