//! What the processes, queues and files of a machine share: its boards, their books, ids, and what is told of them.

use super::Machine;
use super::gpu::{GpuDevice, vram_limit};
use crate::abi::buffer::Buffer;
use crate::abi::kfd::{KfdProcess, Place, Wanted};
use crate::abi::sysfs::Files;
use crate::board::{Board as Shares, Contents, Extent, Held, Listener, News, PAGE, Request, Use};
use crate::clock::Clock;
use crate::count::Counters;
use crate::fault::Injector;
use crate::memory::Backing;
use crate::modes::Ordering as Order;
use crate::profile::{Board, Host, Kernel, Link};
use crate::shader::{Counts, Finding, Inspection, KernelAt};
use selvedge_sys::Errno;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What everything on the machine shares.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) host: Host,
    pub(crate) kernel: Kernel,
    pub(crate) clock: Clock,
    pub(crate) privileged: bool,
    pub(crate) memory: Arc<Shares>,
    pub(crate) gpus: Vec<GpuDevice>,
    /// What GPUs may use of system memory, bytes.
    pub(super) system_limit: u64,
    pub(crate) files: Files,
    pub(crate) faults: Injector,
    pub(crate) counters: Counters,
    pub(super) kfd_processes: Mutex<Vec<Weak<KfdProcess>>>,
    /// Buffers by the board's record of them.
    pub(super) buffers: Mutex<HashMap<u64, Weak<Buffer>>>,
    pub(super) next_pid: AtomicU32,
    pub(super) refusals: Mutex<Vec<String>>,
    pub(crate) inspection: Arc<Inspection>,
    pub(crate) ordering: Order,
    pub(super) findings: Mutex<Vec<Finding>>,
    pub(super) counts: Mutex<BTreeMap<KernelAt, Counts>>,
}

impl Shared {
    pub(crate) fn new_pid(&self) -> u32 {
        self.next_pid.fetch_add(1, Ordering::Relaxed)
    }

    /// A number for a kfd_process, and what holds it; none without a keeper.
    pub(crate) fn new_kfd_process(&self, pid: u32, primary: bool) -> Option<(u32, Held)> {
        let [id, number, ..] = self.memory.ask(&Request::Process { pid, primary }).ok()?.words;
        Some((u32::try_from(number).ok()?, self.memory.held(id)))
    }

    /// How a GPU comes to another's memory.
    pub(crate) fn link(&self, from: usize, to: usize) -> Option<Link> {
        let boards: Vec<Board> = self.gpus.iter().map(|gpu| gpu.board.clone()).collect();
        self.host.link(&boards, from, to)
    }

    pub(crate) fn gpu_index(&self, gpu_id: u32) -> Option<usize> {
        self.gpus.iter().position(|gpu| gpu.id == gpu_id)
    }

    /// Bytes still to be had of a GPU's VRAM, or of system memory.
    pub(crate) fn available(&self, gpu: Option<usize>) -> u64 {
        let limit = gpu.map_or(self.system_limit, |index| vram_limit(&self.gpus[index].board));
        let Ok(usage) = self.memory.ask(&Request::Usage) else { return 0 };
        let (used, _) = usage.bytes.as_chunks();
        let used = used.get(gpu.map_or(0, |gpu| gpu + 1)).copied();
        limit.saturating_sub(used.map_or(limit, u64::from_le_bytes))
    }

    /// Counts memory against its limit: the process's own, or what its pages have of a GPU's.
    pub(crate) fn reserve(&self, what: Use, gpu: usize, bytes: u64) -> Result<Held, Errno> {
        let take = Request::Take { what, gpu, bytes, flags: 0, process: None };
        self.memory.ask(&take).map(|answer| self.memory.held(answer.words[0]))
    }

    /// Takes machine memory for the kernel's own pages (events, doorbells).
    pub(crate) fn kernel_pages(&self, bytes: u64) -> Result<Extent, Errno> {
        let bytes = bytes.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
        let take = kernel_memory(bytes);
        self.memory.allocate(&take, bytes, Contents::Cleared, &self.counters.buffer_bytes)
    }

    /// A hardware queue, of which there are so many for all processes.
    pub(crate) fn hardware_queue(
        &self,
        gpu: usize,
        process: u32,
        queue: (u32, u32, u32),
    ) -> Result<(Held, u32), Errno> {
        let [id, before, ..] = self.memory.ask(&Request::Queue { gpu, process, queue })?.words;
        Ok((self.memory.held(id), before as u32))
    }

    /// A queue of the SDMA engines, which all processes share.
    pub(crate) fn sdma_queue(&self, gpu: usize, wanted: Wanted) -> Result<(Place, Held), Errno> {
        let [id, engine, queue, ..] = self.memory.ask(&Request::Sdma { gpu, wanted })?.words;
        Ok((Place::from_words([engine, queue]), self.memory.held(id)))
    }

    /// Buffers of this process by the board's record.
    pub(crate) fn buffers(&self) -> MutexGuard<'_, HashMap<u64, Weak<Buffer>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This process's queues on a GPU stop, and it does nothing any more.
    pub(super) fn stop_gpu(&self, gpu: usize) {
        self.gpus[gpu].set_hangs(true);
        self.live_kfd_processes().iter().for_each(|process| process.gpu_hangs(gpu));
    }

    /// A GPU was reset; those who use it in this process are told.
    pub(super) fn gpu_was_reset(&self, gpu: usize) {
        let processes = self.live_kfd_processes();
        self.tell_of_reset(gpu, false);
        self.gpus[gpu].discard_cache();
        processes.iter().for_each(|process| process.suspend());
        self.gpus[gpu].set_hangs(false);
        processes.iter().for_each(|process| process.gpu_was_reset(gpu));
        self.tell_of_reset(gpu, true);
    }

    /// Hears of what other processes of the host do to the machine, on a thread that ends with it.
    pub(super) fn listen(self: &Arc<Shared>, listener: Listener) -> io::Result<()> {
        let machine = Arc::downgrade(self);
        let hear = move |news| {
            let Some(machine) = machine.upgrade() else { return };
            match news {
                News::Hang(gpu) if gpu < machine.gpus.len() => machine.stop_gpu(gpu),
                News::Reset(gpu) if gpu < machine.gpus.len() => machine.gpu_was_reset(gpu),
                _ => {}
            }
        };
        crate::cp::quiet_thread("board", move || listener.listen(hear))
    }

    /// Says loudly, once, that something is not modelled, and gives the errno for it.
    pub(crate) fn refuse(&self, what: String) -> Errno {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < Machine::MAX_REFUSALS && !refusals.contains(&what) {
            // Who cannot read it still gets the errno.
            let _ = writeln!(std::io::stderr(), "simulated machine: not modelled: {what}");
            refusals.push(what);
        }
        Errno::ENOSYS
    }

    /// The watchdog or a check has found something.
    pub(crate) fn found(&self, finding: Finding) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |finding: &Finding| (finding.kernel, finding.site.pc, finding.kind.sort());
        let same = |other: &Finding| of(other) == of(&finding);
        if findings.len() < Machine::MAX_REFUSALS && !findings.iter().any(same) {
            let _ = writeln!(std::io::stderr(), "simulated machine: {finding}");
            findings.push(finding);
        }
    }

    /// All was counted of a dispatch.
    pub(crate) fn counted(&self, kernel: KernelAt, counts: &Counts) {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(kernel).or_default().add(counts);
    }

    pub(crate) fn register(&self, process: &Arc<KfdProcess>) {
        let mut all = self.kfd_processes.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|p| p.strong_count() > 0);
        all.push(Arc::downgrade(process));
    }

    /// VRAM is asked for that KFD processes fill.
    pub(crate) fn make_room(&self, gpu: usize) {
        self.live_kfd_processes().iter().for_each(|process| process.make_room(gpu));
    }

    fn live_kfd_processes(&self) -> Vec<Arc<KfdProcess>> {
        let all = self.kfd_processes.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Where the page of HDP flush registers is: its place in the memory file, and its bytes.
    pub(crate) fn remap_page(&self, gpu: usize) -> (u64, Arc<Backing>) {
        let page = &self.gpus[gpu].remap;
        (page.offset, page.backing.clone())
    }
}

/// Memory of the kernel's own.
pub(super) fn kernel_memory(bytes: u64) -> Request {
    Request::Take { what: Use::Kernel, gpu: 0, bytes, flags: 0, process: None }
}
