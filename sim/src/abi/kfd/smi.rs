//! Management events: lines of text about a GPU, for whoever asked for them (kfd_smi_events.c).
//!
//! The descriptor that SMI_EVENTS hands out is the reading end of a pipe of the host, so that poll(2) and its kin work
//! as they do on the kernel's file.
#![expect(unsafe_code, reason = "pipe2, write and FIONREAD")]

use super::{KfdProcess, State};
use crate::abi::file::Node;
use crate::abi::process::Process;
use crate::machine::Shared;
use kfd::uapi::{self, smi_event_mask};
use selvedge_sys::{Errno, OpenMode};
use std::fmt::Write as _;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes that wait to be read at most; a line that does not fit is lost (`MAX_KFIFO_SIZE`).
const FIFO_BYTES: usize = 1024;
/// Of a task's name (`TASK_COMM_LEN`, without the end).
const NAME_BYTES: usize = 15;

/// Why queues left the hardware (`KFD_QUEUE_EVICTION_TRIGGERS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvictionTrigger {
    /// A range of shared virtual memory moved.
    Svm = 0,
    /// The process's own pages, which a buffer is, moved.
    UserMemory = 1,
    /// A buffer had to make room for another.
    Buffers = 2,
    /// The GPU is suspended, as before a reset.
    Suspend = 3,
    /// A checkpoint is made.
    Checkpoint = 4,
}

/// Why a range of shared virtual memory left a GPU (`KFD_SVM_UNMAP_TRIGGERS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnmapTrigger {
    /// The process unmapped it.
    UnmapFromCpu = 2,
}

/// `KFD_MIGRATE_TRIGGER_PREFETCH`
const MIGRATE_PREFETCH: u32 = 0;

/// Pages that move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    /// First page.
    pub(crate) start: u64,
    /// The page behind the last.
    pub(crate) end: u64,
    /// The GPU they leave, 0 for system memory.
    pub(crate) from: u32,
    /// The GPU they go to, likewise.
    pub(crate) to: u32,
    /// The range's attribute.
    pub(crate) prefetch: u32,
    /// The range's attribute.
    pub(crate) preferred: u32,
}

/// What is told. Addresses and sizes are in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SmiEvent<'a> {
    VmFault { name: &'a str },
    PreReset { sequence: u32, cause: &'a str },
    PostReset { sequence: u32 },
    MigrateStart(Migration),
    MigrateEnd(Migration),
    QueueEviction(EvictionTrigger),
    QueueRestore,
    UnmapFromGpu { start: u64, end: u64, trigger: UnmapTrigger },
    ProcessStart { name: &'a str },
    ProcessEnd { name: &'a str },
}

impl SmiEvent<'_> {
    fn number(&self) -> u32 {
        match self {
            SmiEvent::VmFault { .. } => uapi::SMI_EVENT_VMFAULT,
            SmiEvent::PreReset { .. } => uapi::SMI_EVENT_GPU_PRE_RESET,
            SmiEvent::PostReset { .. } => uapi::SMI_EVENT_GPU_POST_RESET,
            SmiEvent::MigrateStart(_) => uapi::SMI_EVENT_MIGRATE_START,
            SmiEvent::MigrateEnd(_) => uapi::SMI_EVENT_MIGRATE_END,
            SmiEvent::QueueEviction(_) => uapi::SMI_EVENT_QUEUE_EVICTION,
            SmiEvent::QueueRestore => uapi::SMI_EVENT_QUEUE_RESTORE,
            SmiEvent::UnmapFromGpu { .. } => uapi::SMI_EVENT_UNMAP_FROM_GPU,
            SmiEvent::ProcessStart { .. } => uapi::SMI_EVENT_PROCESS_START,
            SmiEvent::ProcessEnd { .. } => uapi::SMI_EVENT_PROCESS_END,
        }
    }

    /// Whether every reader gets it, whose process it ever is about.
    fn is_for_all(&self, minor: u32) -> bool {
        match self {
            SmiEvent::PreReset { .. } | SmiEvent::PostReset { .. } => true,
            // Linux 6.5; 6.12.117 looks at the thread group.
            SmiEvent::VmFault { .. } => minor < 17,
            _ => false,
        }
    }

    /// The line, as `KFD_EVENT_FMT_*` (kfd_ioctl.h of the kernel's version) has it.
    fn line(&self, pid: u32, gpu_id: u32, now: u64, minor: u32) -> String {
        let mut line = format!("{:x} ", self.number());
        let _ = match *self {
            SmiEvent::VmFault { name } => writeln!(line, "{pid:x}:{name}"),
            // The cause is told since Linux 6.11.
            SmiEvent::PreReset { sequence, .. } | SmiEvent::PostReset { sequence }
                if minor < 17 =>
            {
                writeln!(line, "{sequence:x}")
            }
            SmiEvent::PreReset { sequence, cause } => writeln!(line, "{sequence:x} {cause}"),
            SmiEvent::PostReset { sequence } => writeln!(line, "{sequence:x} "),
            SmiEvent::MigrateStart(m) => {
                let (size, trigger) = (m.end - m.start, MIGRATE_PREFETCH);
                let Migration { start, from, to, prefetch, preferred, .. } = m;
                writeln!(
                    line,
                    "{now} -{pid} @{start:x}({size:x}) {from:x}->{to:x} {prefetch:x}:{preferred:x} {trigger}"
                )
            }
            SmiEvent::MigrateEnd(m) => {
                let (size, trigger) = (m.end - m.start, MIGRATE_PREFETCH);
                let Migration { start, from, to, .. } = m;
                // An error code since Linux 6.15.
                let error = if minor >= 18 { " 0" } else { "" };
                writeln!(
                    line,
                    "{now} -{pid} @{start:x}({size:x}) {from:x}->{to:x} {trigger}{error}"
                )
            }
            SmiEvent::QueueEviction(trigger) => {
                writeln!(line, "{now} -{pid} {gpu_id:x} {}", trigger as u32)
            }
            SmiEvent::QueueRestore => writeln!(line, "{now} -{pid} {gpu_id:x} 0"),
            SmiEvent::UnmapFromGpu { start, end, trigger } => {
                let size = end - start;
                writeln!(line, "{now} -{pid} @{start:x}({size:x}) {gpu_id:x} {}", trigger as u32)
            }
            SmiEvent::ProcessStart { name } | SmiEvent::ProcessEnd { name } => {
                writeln!(line, "{pid:x} {name}")
            }
        };
        line
    }
}

/// A file that events are read from (`struct kfd_smi_client`).
#[derive(Debug)]
pub(crate) struct SmiFile {
    /// The process that opened it.
    pid: u32,
    /// Opened with `CAP_SYS_ADMIN`.
    privileged: bool,
    /// `KFD_SMI_EVENT_MASK_FROM_INDEX`, of those that it wants.
    events: AtomicU64,
    /// The end that lines are written to.
    pipe: OwnedFd,
    /// A duplicate of the end that is read from: without a reader, writing would raise SIGPIPE.
    _reader: OwnedFd,
}

impl SmiFile {
    /// The file, and the end to read from.
    fn open(pid: u32, privileged: bool) -> io::Result<(SmiFile, OwnedFd)> {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and owned by nobody else.
        let [read, pipe] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let _reader = read.try_clone()?;
        Ok((SmiFile { pid, privileged, events: AtomicU64::new(0), pipe, _reader }, read))
    }

    /// write(2): the mask that replaces the one in force (`kfd_smi_ev_write`).
    ///
    /// # Errors
    /// EFAULT when it is shorter than a mask.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let mask = bytes.first_chunk::<8>().ok_or(Errno::EFAULT)?;
        self.events.store(u64::from_ne_bytes(*mask), Ordering::Release);
        Ok(mask.len())
    }

    /// `kfd_smi_ev_enabled`
    fn wants(&self, pid: u32, event: &SmiEvent, minor: u32) -> bool {
        let events = self.events.load(Ordering::Acquire);
        let all = self.privileged && events & smi_event_mask(uapi::SMI_EVENT_ALL_PROCESS) != 0;
        let may = event.is_for_all(minor) || self.pid == pid || all;
        may && events & smi_event_mask(event.number()) != 0
    }

    fn add(&self, line: &str) {
        let mut waiting = 0i32;
        // SAFETY: FIONREAD writes an int.
        let asked = unsafe { libc::ioctl(self.pipe.as_raw_fd(), libc::FIONREAD, &raw mut waiting) };
        let fits = usize::try_from(waiting).is_ok_and(|bytes| bytes + line.len() <= FIFO_BYTES);
        if asked < 0 || !fits {
            return;
        }
        // SAFETY: the bytes are the string's; a pipe takes so few of them whole.
        unsafe { libc::write(self.pipe.as_raw_fd(), line.as_ptr().cast(), line.len()) };
    }
}

/// Who reads events of a GPU.
#[derive(Debug, Default)]
pub(crate) struct SmiReaders {
    files: Mutex<Vec<Weak<SmiFile>>>,
    /// Resets so far (`reset_seq_num`).
    resets: AtomicU32,
}

impl SmiReaders {
    /// Nobody, on a GPU that was reset so often.
    pub(crate) fn after(resets: u32) -> SmiReaders {
        SmiReaders { resets: AtomicU32::new(resets), ..SmiReaders::default() }
    }

    /// Resets so far.
    pub(crate) fn resets(&self) -> u32 {
        self.resets.load(Ordering::Relaxed)
    }

    fn files(&self) -> MutexGuard<'_, Vec<Weak<SmiFile>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of something that happened to `pid` on a GPU.
    fn tell(&self, machine: &Shared, gpu_id: u32, pid: u32, event: &SmiEvent) {
        let mut files = self.files();
        files.retain(|file| file.strong_count() > 0);
        let minor = machine.kernel.minor;
        let wanting = files.iter().filter_map(Weak::upgrade);
        let wanting: Vec<_> = wanting.filter(|file| file.wants(pid, event, minor)).collect();
        if !wanting.is_empty() {
            let line = event.line(pid, gpu_id, machine.clock.boottime_ns(), minor);
            wanting.iter().for_each(|file| file.add(&line));
        }
    }
}

/// Another descriptor of a file of the host process; `None` when `fd` is closed.
pub(super) fn duplicate(fd: i32) -> Option<OwnedFd> {
    // SAFETY: makes a descriptor and changes none.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: just made, and owned by nobody else.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

/// The task's name, as the kernel has it.
pub(crate) fn task_name() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let name = name.trim_end_matches('\n');
    name.chars().take(NAME_BYTES).collect()
}

impl Shared {
    /// Tells the readers of a GPU's events.
    pub(crate) fn tell(&self, gpu: usize, pid: u32, event: &SmiEvent) {
        let gpu = &self.gpus[gpu];
        gpu.smi.tell(self, gpu.id, pid, event);
    }

    /// The GPU is about to be reset because a queue did not leave it (`kgd2kfd_pre_reset`; the cause is
    /// amdgpu_reset.c's, `amdgpu_reset_get_desc`).
    pub(crate) fn tell_of_reset(&self, gpu: usize, after: bool) {
        let device = &self.gpus[gpu];
        let event = if after {
            SmiEvent::PostReset { sequence: device.smi.resets.load(Ordering::Relaxed) }
        } else {
            let sequence = device.smi.resets.fetch_add(1, Ordering::Relaxed) + 1;
            let cause = if device.board.has_mes() { "MES hang" } else { "HWS hang" };
            SmiEvent::PreReset { sequence, cause }
        };
        self.tell(gpu, 0, &event);
    }
}

impl KfdProcess {
    /// SMI_EVENTS (`kfd_smi_event_open`)
    pub(super) fn smi_events(
        &self,
        linux: &Process,
        args: &mut uapi::SmiEventsArgs,
    ) -> Result<(), Errno> {
        let gpu = self.gpu(args.gpuid)?;
        let (file, end) =
            SmiFile::open(self.pid, self.machine.privileged).map_err(|_| Errno::EMFILE)?;
        let file = Arc::new(file);
        self.machine.gpus[gpu].smi.files().push(Arc::downgrade(&file));
        let fd = linux.install(end, Node::SmiEvents(file), OpenMode::ReadWrite);
        args.anon_fd = fd.cast_unsigned();
        Ok(())
    }

    /// Tells of queues that left (`kfd_process_evict_queues`), on every GPU that the process has.
    pub(super) fn tell_of_eviction(&self, state: &State, trigger: EvictionTrigger) {
        self.tell_all(state, &SmiEvent::QueueEviction(trigger));
    }

    /// Tells of queues that came back (`kfd_process_restore_queues`).
    pub(super) fn tell_of_restore(&self, state: &State) {
        self.tell_all(state, &SmiEvent::QueueRestore);
    }

    fn tell_all(&self, state: &State, event: &SmiEvent) {
        for gpu in 0..state.devices.len() {
            self.machine.tell(gpu, self.pid, event);
        }
    }

    /// Tells that the process took or gave up a GPU's VM (`kfd_smi_event_process`, since Linux 6.15).
    pub(super) fn tell_of_process(&self, gpu: usize, start: bool) {
        if self.machine.kernel.minor >= 18 {
            let name = &task_name();
            let event = match start {
                true => SmiEvent::ProcessStart { name },
                false => SmiEvent::ProcessEnd { name },
            };
            self.machine.tell(gpu, self.pid, &event);
        }
    }
}
