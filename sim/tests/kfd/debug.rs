//! DBG_TRAP, of a process by itself.

use crate::rig::{PAGE, Queue, Rig, eventually, gtt};
use kfd::uapi::{self, DbgTrapArgs, DbgTrapData, exception, request};
use selvedge_sys::{Errno, System};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;
use zerocopy::FromZeros;

/// An operation: what the ioctl returns, and its data afterwards.
fn ask<T: DbgTrapData>(rig: &Rig, data: &T) -> (Result<i32, Errno>, T) {
    let mut args = DbgTrapArgs::new(rig.process.pid(), data);
    // SAFETY: the argument is the request's.
    let answer = unsafe { rig.process.ioctl(rig.kfd, request::DBG_TRAP, (&raw mut args).cast()) };
    (answer, args.data().unwrap())
}

fn disable(rig: &Rig) -> Result<(), Errno> {
    rig.ask(request::DBG_TRAP, &mut DbgTrapArgs::disable(rig.process.pid()))
}

/// Attaches; the end that hears of exceptions.
fn attach(rig: &Rig, exceptions: u64) -> std::io::PipeReader {
    let (ear, mouth) = std::io::pipe().unwrap();
    let mouth = OwnedFd::from(mouth);
    let mut info = uapi::RuntimeInfo::default();
    let (answer, data) = ask(
        rig,
        &uapi::DbgTrapEnableArgs {
            exception_mask: exceptions,
            rinfo_ptr: (&raw mut info).expose_provenance() as u64,
            rinfo_size: 64,
            dbg_fd: mouth.as_raw_fd().cast_unsigned(),
        },
    );
    assert_eq!((answer, data.rinfo_size), (Ok(0), 16));
    ear
}

/// How often it was told of something since the last look.
fn told(ear: &std::io::PipeReader) -> usize {
    let mut count = 0i32;
    // SAFETY: FIONREAD writes an int.
    unsafe { libc::ioctl(ear.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    let mut bytes = vec![0; count as usize];
    std::io::Read::read_exact(&mut &*ear, &mut bytes).unwrap();
    assert!(bytes.iter().all(|&byte| byte == b'.'));
    bytes.len()
}

fn query(rig: &Rig, clear: u64) -> Result<(u64, u32, u32), Errno> {
    let data = uapi::DbgTrapQueryDebugEventArgs { exception_mask: clear, gpu_id: 9, queue_id: 9 };
    let (answer, data) = ask(rig, &data);
    answer.map(|_| (data.exception_mask, data.gpu_id, data.queue_id))
}

#[test]
fn operations_need_a_debugger_and_a_runtime() {
    let rig = Rig::new("gfx1151", 18);
    assert_eq!(disable(&rig), Err(Errno::EINVAL));
    assert_eq!(query(&rig, 0), Err(Errno::EINVAL));
    let ear = attach(&rig, !0);
    let again = uapi::DbgTrapEnableArgs { dbg_fd: 0, ..FromZeros::new_zeroed() };
    assert_eq!(ask(&rig, &again).0, Err(Errno(libc::EALREADY)));
    assert_eq!(query(&rig, 0), Err(Errno::EAGAIN));
    let suspend = uapi::DbgTrapSuspendQueuesArgs::new_zeroed();
    assert_eq!(ask(&rig, &suspend).0, Err(Errno::EPERM), "no runtime");
    let mode = uapi::DbgTrapSetWaveLaunchModeArgs { launch_mode: 0, pad: 0 };
    assert_eq!(ask(&rig, &mode).0, Err(Errno::EPERM));
    let mut args = DbgTrapArgs::new(1, &again);
    assert_eq!(rig.ask(request::DBG_TRAP, &mut args), Err(Errno::ESRCH));
    assert_eq!((disable(&rig), told(&ear)), (Ok(()), 0));
    let closed = uapi::DbgTrapEnableArgs { dbg_fd: 99_999, ..FromZeros::new_zeroed() };
    assert_eq!(ask(&rig, &closed).0, Err(Errno::EBADF));
    assert_eq!(rig.machine.refusals(), [""; 0]);
}

fn ids(queues: &[&Queue]) -> Vec<u32> {
    queues.iter().map(|queue| queue.args.queue_id).collect()
}

fn suspend(rig: &Rig, ids: &mut [u32], clear: u64) -> Result<i32, Errno> {
    let data = uapi::DbgTrapSuspendQueuesArgs {
        exception_mask: clear,
        queue_array_ptr: ids.as_mut_ptr().expose_provenance() as u64,
        num_queues: ids.len() as u32,
        grace_period: 0,
    };
    ask(rig, &data).0
}

fn resume(rig: &Rig, ids: &mut [u32]) -> Result<i32, Errno> {
    let data = uapi::DbgTrapResumeQueuesArgs {
        queue_array_ptr: ids.as_mut_ptr().expose_provenance() as u64,
        num_queues: ids.len() as u32,
        pad: 0,
    };
    ask(rig, &data).0
}

/// Queues are new until the debugger has heard of them; only then can it suspend them (KFDDBGTest SuspendQueues).
#[test]
fn queues_are_listed_suspended_and_resumed() {
    let rig = Rig::new("gfx1100", 18);
    rig.runtime_enable(1).unwrap();
    let first = rig.queue();
    let new = exception::mask(exception::QUEUE_NEW);
    let ear = attach(&rig, new);
    let second = rig.queue();
    assert_eq!(told(&ear), 1);
    assert_eq!(query(&rig, 0), Ok((new, rig.gpu_id, first.args.queue_id)));
    let mut array = ids(&[&second, &first]);
    assert_eq!(suspend(&rig, &mut array, 0), Ok(0));
    assert!(array.iter().all(|id| id & uapi::DBG_QUEUE_INVALID_MASK != 0));
    let mut entries = vec![uapi::QueueSnapshotEntry::new_zeroed(); 3];
    let snapshot = uapi::DbgTrapQueueSnapshotArgs {
        exception_mask: new,
        snapshot_buf_ptr: entries.as_mut_ptr().expose_provenance() as u64,
        num_queues: 3,
        entry_size: size_of::<uapi::QueueSnapshotEntry>() as u32,
    };
    let (answer, data) = ask(&rig, &snapshot);
    assert_eq!((answer, data.num_queues, data.entry_size), (Ok(0), 2, 64));
    let entry = &entries[1];
    assert_eq!((entry.queue_id, entry.exception_status), (second.args.queue_id, new));
    assert_eq!(entry.ring_base_address, second.ring.va);
    assert_eq!(entry.ctx_save_restore_address, second.save_area.va);
    assert_eq!(query(&rig, 0), Err(Errno::EAGAIN), "the list cleared them");

    let mut array = ids(&[&second]);
    array.push(77);
    assert_eq!(suspend(&rig, &mut array, 0), Ok(1));
    assert_eq!(array, [second.args.queue_id, 77 | uapi::DBG_QUEUE_INVALID_MASK]);
    // The header of the save area: no wave was saved.
    let stack = second.args.ctl_stack_size;
    let header: Vec<u32> =
        (0..16).step_by(4).map(|at| second.save_area.dword(at).load(SeqCst)).collect();
    assert_eq!(header, [stack, 0, stack, 0]);
    let signal = rig.buffer(gtt(), PAGE);
    signal.qword(8).store(2, SeqCst);
    second.submit_barrier(0, signal.va);
    first.submit_barrier(0, signal.va);
    eventually("the other queue", || signal.qword(8).load(SeqCst) == 1);
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(signal.qword(8).load(SeqCst), 1);
    assert_eq!(resume(&rig, &mut array), Ok(1));
    eventually("the queue", || signal.qword(8).load(SeqCst) == 0);

    // Detaching resumes what is suspended.
    assert_eq!(suspend(&rig, &mut [second.args.queue_id], 0), Ok(1));
    signal.qword(8).store(1, SeqCst);
    second.submit_barrier(1, signal.va);
    disable(&rig).unwrap();
    eventually("the queue", || signal.qword(8).load(SeqCst) == 0);
    rig.destroy(first);
    rig.destroy(second);
    assert_eq!(rig.machine.refusals(), [""; 0]);
}

/// A debugger that wants to hear of page faults keeps the process from hearing, until it passes them on.
#[test]
fn a_page_fault_goes_to_the_debugger_first() {
    let rig = Rig::new("gfx1100", 18);
    let fault = exception::mask(exception::DEVICE_MEMORY_VIOLATION);
    let ear = attach(&rig, fault);
    let event = rig.create_event(uapi::EVENT_MEMORY, 0);
    let queue = rig.queue();
    assert_eq!(told(&ear), 0, "of new queues nobody wants to hear");
    queue.submit_barrier(0, 0x7000_0000_0000);
    eventually("the debugger", || query(&rig, 0).is_ok());
    assert_eq!((query(&rig, 0), told(&ear)), (Ok((fault, rig.gpu_id, 0)), 1));
    assert_eq!(rig.wait(uapi::EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_TIMEOUT);
    let mut entry = uapi::DbgDeviceInfoEntry::new_zeroed();
    let snapshot = uapi::DbgTrapDeviceSnapshotArgs {
        exception_mask: 0,
        snapshot_buf_ptr: (&raw mut entry).expose_provenance() as u64,
        num_devices: 1,
        entry_size: 200,
    };
    let (answer, data) = ask(&rig, &snapshot);
    assert_eq!((answer, data.num_devices), (Ok(0), 1));
    assert_eq!((entry.exception_status, entry.gpu_id), (fault, rig.gpu_id));
    assert_eq!(Some(u64::from(entry.capability)), rig.property("capability"));
    let mut info = [0u8; 64];
    let question = uapi::DbgTrapQueryExceptionInfoArgs {
        info_ptr: info.as_mut_ptr().expose_provenance() as u64,
        info_size: 64,
        source_id: rig.gpu_id,
        exception_code: exception::DEVICE_MEMORY_VIOLATION,
        clear_exception: 1,
    };
    let (answer, data) = ask(&rig, &question);
    assert_eq!((answer, data.info_size), (Ok(0), 0));
    assert_eq!(ask(&rig, &question).0, Err(Errno::ENODATA), "cleared");
    let pass_on = uapi::DbgTrapSendRuntimeEventArgs {
        exception_mask: fault,
        gpu_id: rig.gpu_id,
        queue_id: 0,
    };
    assert_eq!(ask(&rig, &pass_on).0, Ok(0));
    assert_eq!(rig.wait(uapi::EventData::new(event, 0), 0).1, uapi::WAIT_RESULT_COMPLETE);
}

/// The runtime waits until its debugger has heard of it.
#[test]
fn a_runtime_waits_for_its_debugger() {
    let rig = Rig::new("gfx1100", 18);
    let runtime = exception::mask(exception::PROCESS_RUNTIME);
    let ear = attach(&rig, runtime);
    std::thread::scope(|scope| {
        let enabling = scope.spawn(|| rig.runtime_enable(3));
        eventually("the debugger", || query(&rig, 0) == Ok((runtime, 0, 0)));
        assert!(!enabling.is_finished());
        let mut info = uapi::RuntimeInfo::default();
        let question = uapi::DbgTrapQueryExceptionInfoArgs {
            info_ptr: (&raw mut info).expose_provenance() as u64,
            info_size: 64,
            source_id: 0,
            exception_code: exception::PROCESS_RUNTIME,
            clear_exception: 1,
        };
        let (answer, data) = ask(&rig, &question);
        assert_eq!((answer, data.info_size), (Ok(0), 16));
        assert_eq!((info.runtime_state, info.ttmp_setup), (uapi::RUNTIME_STATE_ENABLED, 1));
        let go_on =
            uapi::DbgTrapSendRuntimeEventArgs { exception_mask: runtime, gpu_id: 0, queue_id: 0 };
        assert_eq!(ask(&rig, &go_on).0, Ok(0));
        assert_eq!(enabling.join().unwrap(), Ok(()));
    });
    assert_eq!(told(&ear), 1);
    // What is not modelled is said.
    let mode = |launch_mode| uapi::DbgTrapSetWaveLaunchModeArgs { launch_mode, pad: 0 };
    assert_eq!(ask(&rig, &mode(uapi::WAVE_LAUNCH_MODE_NORMAL)).0, Ok(0));
    assert_eq!(ask(&rig, &mode(2)).0, Err(Errno::EINVAL));
    assert_eq!(ask(&rig, &mode(uapi::WAVE_LAUNCH_MODE_HALT)).0, Err(Errno::ENOSYS));
    let watch = uapi::DbgTrapSetNodeAddressWatchArgs::new_zeroed();
    assert_eq!(ask(&rig, &watch).0, Err(Errno::ENODEV));
}
