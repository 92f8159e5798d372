//! Machines that share a board as those of several processes of the host do. Here all are in one; only the connections to
//! the keeper tell them apart.

use crate::fault::{completes, runs_soon};
use crate::rig::{PAGE, Rig, gtt};
use kfd::uapi::amdgpu::{INFO_VRAM_LOST_COUNTER, Info};
use kfd::uapi::{self, AllocMemFlags, EventData, request};
use selvedge_sim::{Builder, Machine};
use selvedge_sys::{Errno, System};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;

/// A keeper on a thread, which ends when the value is dropped and all machines have gone.
struct Kept {
    folder: PathBuf,
    board: &'static str,
    leave: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Kept {
    fn new(name: &str, board: &'static str) -> Kept {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let listener = UnixListener::bind(folder.join("board")).unwrap();
        let (leave, end) = UnixStream::pair().unwrap();
        let keeper = builder(board).keeper().unwrap();
        let thread = std::thread::spawn(move || keeper.serve(&listener, &end, |_| {}).unwrap());
        Kept { folder, board, leave: Some(leave), thread: Some(thread) }
    }

    fn machine(&self) -> Machine {
        builder(self.board).kept_at(&self.folder.join("board")).build().unwrap()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.leave.take());
        self.thread.take().unwrap().join().unwrap();
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

fn builder(board: &str) -> Builder {
    Machine::builder().gpu(board).unwrap().kfd_minor(23).unwrap()
}

fn available(rig: &Rig) -> u64 {
    let mut args = uapi::GetAvailableMemoryArgs { gpu_id: rig.gpu_id, ..Default::default() };
    rig.ask(request::AVAILABLE_MEMORY, &mut args).unwrap();
    args.available
}

fn vram() -> AllocMemFlags {
    AllocMemFlags::VRAM | AllocMemFlags::PUBLIC | AllocMemFlags::WRITABLE
}

#[test]
fn a_reset_reaches_other_machines() {
    let kept = Kept::new("reset", "gfx1100");
    let [rig, other] = [(); 2].map(|()| Rig::on(kept.machine()));
    let event = other.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    let queue = other.queue();
    completes(&other, &queue, 0);
    let own = rig.buffer(vram(), PAGE);
    let [lost, system] = [vram(), gtt()].map(|flags| other.buffer(flags, PAGE));
    for buffer in [own, lost, system] {
        buffer.qword(0).store(99, SeqCst);
    }
    rig.machine.reset_gpu(0);
    // All is done when the call returns, but that the other processes may not have heard of it yet.
    let (data, result) = other.wait(EventData::new(event, 0), 10_000);
    assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
    let reset = data.hw_exception();
    assert_eq!((reset.gpu_id, reset.memory_lost), (other.gpu_id, 1));
    assert!(own.qword(0).load(SeqCst) != 99 && lost.qword(0).load(SeqCst) != 99);
    assert_eq!(system.qword(0).load(SeqCst), 99);
    assert!(!runs_soon(&other, &queue, 1));
    let next = Rig::on(kept.machine());
    let lost = next.info::<u32>(Info::new(INFO_VRAM_LOST_COUNTER));
    assert_eq!(lost, Ok(1), "before it came");
    let queue = next.queue();
    completes(&next, &queue, 0);
    next.destroy(queue);
}

#[test]
fn a_hang_lasts_for_those_that_come_later() {
    let kept = Kept::new("hang", "gfx1151");
    let rig = Rig::on(kept.machine());
    rig.machine.hang_gpu(0);
    let next = Rig::on(kept.machine());
    let queue = next.queue();
    assert!(!runs_soon(&next, &queue, 0));
    rig.machine.reset_gpu(0);
    next.destroy(queue);
    let next = Rig::on(kept.machine());
    let queue = next.queue();
    completes(&next, &queue, 0);
    next.destroy(queue);
}

#[test]
fn memory_of_a_machine_that_goes_is_free() {
    let kept = Kept::new("free", "gfx1100");
    let rig = Rig::on(kept.machine());
    let all = available(&rig);
    let other = Rig::on(kept.machine());
    let bytes = 64 << 20;
    other.alloc(vram(), bytes, 0x10_0000_0000).unwrap();
    assert_eq!(available(&rig), all - bytes);
    assert_eq!(rig.alloc(vram(), all, 0x10_0000_0000).unwrap_err(), Errno::ENOMEM);
    drop(other);
    // The keeper hears of a closed connection when it comes to it.
    crate::rig::eventually("what it had is free", || available(&rig) == all);
    rig.alloc(vram(), all, 0x10_0000_0000).unwrap();
}

/// SDMA queues are of the hardware: two engines of six that processes can have on gfx1100.
#[test]
fn hardware_queues_are_shared() {
    let kept = Kept::new("queues", "gfx1100");
    let [rig, other] = [(); 2].map(|()| Rig::on(kept.machine()));
    let sdma = |rig: &Rig| {
        let mut queue = rig.queue_buffers();
        queue.args.queue_type = uapi::QUEUE_TYPE_SDMA;
        (rig.start(&mut queue), queue)
    };
    let taken: Vec<_> = (0..12).map(|i| sdma(if i < 5 { &rig } else { &other })).collect();
    assert!(taken.iter().all(|(result, _)| result.is_ok()));
    assert_eq!(sdma(&rig).0, Err(Errno::ENOMEM));
    drop(other);
    crate::rig::eventually("queues are free", || sdma(&rig).0.is_ok());
}

/// Secondary contexts are numbered and shown below the primary one, as long as they live.
#[test]
fn processes_are_shown() {
    shown_of(Rig::on(builder("gfx1100").build().unwrap()));
    let kept = Kept::new("shown", "gfx1100");
    shown_of(Rig::on(kept.machine()));
}

fn shown_of(rig: Rig) {
    let folder = format!("/sys/class/kfd/kfd/proc/{}", rig.process.pid());
    let read = |name: &str| {
        rig.process
            .read_file(format!("{folder}/{name}").as_ref())
            .map(|b| String::from_utf8(b).unwrap())
    };
    let queue = rig.queue();
    rig.alloc(vram(), 2 * PAGE, 0x10_0000_0000).unwrap();
    let gpu = rig.gpu_id;
    assert_eq!(read(&format!("vram_{gpu}")).unwrap(), format!("{}\n", 2 * PAGE));
    assert_eq!(read(&format!("stats_{gpu}/evicted_ms")).unwrap(), "0\n");
    assert_eq!(read("queues/0/gpuid").unwrap(), gpu.to_string());
    assert_eq!(read("queues/0/type").unwrap(), uapi::QUEUE_TYPE_COMPUTE_AQL.to_string());
    let used = "/sys/class/drm/renderD128/device/mem_info_vram_used";
    assert_eq!(
        rig.process.read_file(used.as_ref()).unwrap(),
        format!("{}\n", 2 * PAGE).into_bytes()
    );
    rig.destroy(queue);
    assert_eq!(read("queues/0/gpuid"), Err(Errno::ENOENT));
    let kfd = rig.process.open("/dev/kfd".as_ref(), selvedge_sys::OpenMode::ReadWrite).unwrap();
    // SAFETY: CREATE_PROCESS has no argument.
    unsafe { rig.process.ioctl(kfd, request::CREATE_PROCESS, std::ptr::null_mut()).unwrap() };
    assert_eq!(read(&format!("context_0/vram_{gpu}")).unwrap(), "0\n");
    rig.process.close(kfd).unwrap();
    assert_eq!(read(&format!("context_0/vram_{gpu}")), Err(Errno::ENOENT));
}
