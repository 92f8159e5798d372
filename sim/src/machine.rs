//! The machine: boards, a kernel, a clock, and the processes on it.

use crate::abi::buffer::Buffer;
use crate::abi::kfd::{Engines, KfdProcess, Place, SmiReaders, Wanted};
use crate::abi::sysfs::{Files, device_folder};
use crate::abi::topology::Topology;
use crate::abi::{Entry, Process};
use crate::board::{
    Board as Shares, Books, Contents, Empty, Extent, Held, Joined, Keeper, Listener, Member,
    Memory, News, PAGE, Request, Use,
};
use crate::clock::Clock;
use crate::count::{Counters, Objects};
use crate::cp::{Conductor, PacketListener, Turns};
use crate::description::Condition;
use crate::fault::{Injector, Plan};
use crate::memory::{AddressSpace, Backing, Caches, L2};
use crate::modes::{self, Ordering as Order};
use crate::profile::{self, Board, ContextSave, Gpu, Host, Kernel, Link};
use crate::shader::{Checks, Counts, Finding, Inspection, KernelAt, Trace};
use selvedge_sys::Errno;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use thiserror::Error;

/// Room for what is not a buffer: doorbells, event pages, remap pages, and rounding.
const OVERHEAD: u64 = 1 << 30;

/// `MAX_GPU_INSTANCE` (amdgpu.h).
const MOST_GPUS: usize = 64;

/// Why a machine could not be made.
#[derive(Debug, Error)]
pub enum MachineError {
    /// No board has this name.
    #[error("no simulated board is called {name:?}; there are {}", profile::names().join(", "))]
    UnknownBoard {
        /// What was asked for.
        name: String,
    },
    /// A line of text names what there is not.
    #[error(
        "{name:?} is nothing that a machine has, in {text:?}; GPUs are {} or none, conditions are {}",
        profile::names().join(", "),
        Condition::ALL.map(|known| known.0).join(", ")
    )]
    Description {
        /// The line.
        text: String,
        /// The name.
        name: String,
    },
    /// More GPUs than the KFD can have.
    #[error("a machine with {count} GPUs; the driver has room for {MOST_GPUS}")]
    TooManyGpus {
        /// How many.
        count: usize,
    },
    /// A recorded topology does not hold enough.
    #[error("{}: {problem}", file.display())]
    Recorded {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What queues write is not told where caches keep it.
    #[error("a machine with a conductor has transparent caches; unset SELVEDGE_SIM_CACHES")]
    ConductedCaches,
    /// No kernel with this KFD is played.
    #[error("no simulated kernel has KFD 1.{minor}; there are 1.14, 1.17, 1.18 and 1.23")]
    UnknownKernel {
        /// What was asked for.
        minor: u32,
    },
    /// The keeper of the board is not there or does not answer.
    #[error("nobody keeps the machine's board at {}: {source}", socket.display())]
    Keeper {
        /// Where it was to be.
        socket: PathBuf,
        /// The host's error.
        source: io::Error,
    },
    /// The host would not give the memory file or the mapping of it.
    #[error("cannot make the machine's memory of {bytes} bytes of address space: {source}")]
    Memory {
        /// Size.
        bytes: u64,
        /// The host's error.
        source: io::Error,
    },
}

/// Describes a machine. What is not said: no GPU, KFD 1.18, the host's clock, no faults, no privileges.
#[derive(Clone, Debug)]
pub struct Builder {
    cards: Vec<Card>,
    host: Host,
    kernel: Kernel,
    clock: Clock,
    plan: Plan,
    privileged: bool,
    inspection: Inspection,
    keeper: Option<PathBuf>,
    caches: Caches,
    ordering: Order,
}

/// A GPU board in its slot.
#[derive(Clone, Debug)]
struct Card {
    board: Board,
    /// Whether the driver finds firmware for it.
    has_firmware: bool,
}

impl Builder {
    /// Adds the GPU board called `name`, one of [`names`](profile::names).
    ///
    /// # Errors
    /// When no board is called so.
    pub fn gpu(self, name: &str) -> Result<Builder, MachineError> {
        let board = profile::by_name(name)
            .ok_or_else(|| MachineError::UnknownBoard { name: name.to_owned() })?;
        Ok(self.board(board))
    }

    /// Adds a GPU board; where another has its PCI slot, on the next bus that is free, and with the next unique id.
    #[must_use]
    pub fn board(self, board: Board) -> Builder {
        self.card(board, true)
    }

    /// Adds a GPU board that the driver gives up, as it finds no firmware for it.
    #[must_use]
    pub fn board_without_firmware(self, board: Board) -> Builder {
        self.card(board, false)
    }

    fn card(mut self, mut board: Board, has_firmware: bool) -> Builder {
        let others = || self.cards.iter().map(|card| &card.board);
        while others().any(|other| other.location_id == board.location_id) {
            board.location_id = board.location_id.wrapping_add(0x100);
        }
        while board.unique_id != 0 && others().any(|other| other.unique_id == board.unique_id) {
            board.unique_id = board.unique_id.wrapping_add(1);
        }
        self.cards.push(Card { board, has_firmware });
        self
    }

    /// What there is beside the GPUs.
    #[must_use]
    pub fn host(mut self, host: Host) -> Builder {
        self.host = host;
        self
    }

    /// Makes a condition of the machine hold; those of a GPU ([`Condition::is_of_gpu`]) change the boards that are there.
    #[must_use]
    pub fn condition(mut self, condition: Condition) -> Builder {
        let host = &mut self.host;
        match condition {
            Condition::SmallBar => {
                let boards = self.cards.iter_mut().map(|card| &mut card.board);
                boards.for_each(|board| board.bar_bytes = Some(Condition::SMALL_BAR));
            }
            Condition::NoFirmware => {
                self.cards.iter_mut().for_each(|card| card.has_firmware = false);
            }
            Condition::NoSaveArea => self.kernel.save_area_shown = false,
            Condition::NoPermission => {
                (host.kfd_permission, host.render_permission) = (false, false);
            }
            Condition::NoKfdPermission => host.kfd_permission = false,
            Condition::NoRenderPermission => host.render_permission = false,
            Condition::NoDriver => host.driver = false,
            Condition::NoPeers => host.pcie_peers = false,
            Condition::TwoCpus => host.cpu_nodes = 2,
        }
        self
    }

    /// Plays the kernel with KFD 1.`minor`.
    ///
    /// # Errors
    /// When it is not one of [`Kernel::MINORS`].
    pub fn kfd_minor(mut self, minor: u32) -> Result<Builder, MachineError> {
        let save_area_shown = self.kernel.save_area_shown;
        self.kernel = Kernel::with_kfd_minor(minor).ok_or(MachineError::UnknownKernel { minor })?;
        self.kernel.save_area_shown &= save_area_shown;
        Ok(self)
    }

    /// Takes the time from `clock`.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Builder {
        self.clock = clock;
        self
    }

    /// What goes wrong, and when.
    #[must_use]
    pub fn faults(mut self, plan: Plan) -> Builder {
        self.plan = plan;
        self
    }

    /// Gives processes `CAP_CHECKPOINT_RESTORE` and `CAP_PERFMON`, as root has.
    #[must_use]
    pub fn privileged(mut self) -> Builder {
        self.privileged = true;
        self
    }

    /// A wave that has executed so many instructions counts as one that never ends: the GPU is reset, and
    /// [`Machine::findings`] names the wave. Waves that wait at a barrier which none can complete are found, too.
    #[must_use]
    pub fn watchdog(mut self, instructions: u64) -> Builder {
        self.inspection.watchdog = Some(instructions);
        self
    }

    /// Makes these checks; [`Machine::findings`] tells what they find. Dispatches run on one thread, and slowly.
    #[must_use]
    pub fn checks(mut self, checks: Checks) -> Builder {
        self.inspection.checks = checks;
        self
    }

    /// Writes down what waves do. Dispatches run on one thread, and slowly.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Builder {
        self.inspection.trace = Some(Arc::new(trace));
        self.counts()
    }

    /// Has this one hear of the packets that queues take.
    #[must_use]
    pub fn packets(mut self, listener: Arc<dyn PacketListener>) -> Builder {
        self.inspection.packets = Some(listener);
        self
    }

    /// Has this one say which queue may work. Caches must be transparent.
    #[must_use]
    pub fn conductor(mut self, conductor: Arc<dyn Conductor>) -> Builder {
        self.inspection.conductor = Some(conductor);
        self
    }

    /// Counts instructions and memory accesses of each kernel, for [`Machine::counts`]. Dispatches run on one thread.
    #[must_use]
    pub fn counts(mut self) -> Builder {
        self.inspection.counts = true;
        self
    }

    /// Whether caches keep copies, so that a missing flush or fence shows: L2, of memory that Linux maps neither
    /// uncached nor coherent.
    #[must_use]
    pub fn caches(mut self, caches: Caches) -> Builder {
        self.caches = caches;
        self
    }

    /// In what order is done what hardware may do in any. The same number gives the same order where the host's threads
    /// do not come between: of one queue's packets that are submitted before its doorbell is rung.
    #[must_use]
    pub fn ordering(mut self, ordering: Order) -> Builder {
        self.ordering = ordering;
        self
    }

    /// The machine shares its board with those of other processes of the host: memory, ids, hardware queues, resets. Their
    /// [`Keeper`], made of the same description, listens at this socket.
    #[must_use]
    pub fn kept_at(mut self, socket: &Path) -> Builder {
        self.keeper = Some(socket.to_owned());
        self
    }

    /// The keeper of the board that machines of this description in other processes of the host share.
    ///
    /// # Errors
    /// When the host gives no memory for it.
    pub fn keeper(&self) -> Result<Keeper, MachineError> {
        let (boards, _) = self.boards()?;
        let topology = Topology::new(&self.host, &boards, &self.kernel);
        let (memory, books) = books(&boards, &topology, &self.kernel)?;
        Ok(Keeper::new(memory, books))
    }

    /// The boards that the driver works with, and those that it does not.
    fn boards(&self) -> Result<(Vec<Board>, Vec<Board>), MachineError> {
        if self.cards.len() > MOST_GPUS {
            return Err(MachineError::TooManyGpus { count: self.cards.len() });
        }
        let is_driven = |card: &&Card| self.host.driver && card.has_firmware;
        let (cards, idle): (Vec<_>, Vec<_>) = self.cards.iter().partition(is_driven);
        let boards = |cards: Vec<&Card>| cards.iter().map(|card| card.board.clone()).collect();
        Ok((boards(cards), boards(idle)))
    }

    /// Makes the machine.
    ///
    /// # Errors
    /// When the host gives no memory for it, or there is no keeper where one was said to be.
    pub fn build(self) -> Result<Machine, MachineError> {
        if self.inspection.conductor.is_some() && self.caches != Caches::Transparent {
            return Err(MachineError::ConductedCaches);
        }
        let (boards, idle) = self.boards()?;
        let (system, bytes) = sizes(&boards);
        let topology = Topology::new(&self.host, &boards, &self.kernel);
        let mut listener = None;
        let mut hanging = 0;
        let memory = match &self.keeper {
            None => {
                let (memory, books) = books(&boards, &topology, &self.kernel)?;
                Shares::alone(memory, books)
            }
            Some(socket) => {
                let joined = Member::join(socket);
                let Joined { member, listener: news, memory, hanging: hang } = joined
                    .map_err(|source| MachineError::Keeper { socket: socket.clone(), source })?;
                (listener, hanging) = (Some(news), hang);
                Shares::shared(member, memory, bytes)
                    .map_err(|source| MachineError::Memory { bytes, source })?
            }
        };
        let memory = Arc::new(memory);
        let counters = Counters::default();
        let files = Files::new(&self.host, &boards, &idle, &topology);
        let mut gpus = Vec::new();
        for (index, board) in boards.into_iter().enumerate() {
            // The remap page belongs to the board and is no object of a process.
            let page = kernel_memory(PAGE);
            let remap = memory.allocate(&page, PAGE, Contents::Cleared, &Default::default());
            let remap = remap.map_err(|_| MachineError::Memory {
                bytes,
                source: io::ErrorKind::OutOfMemory.into(),
            })?;
            let l2 = match self.caches {
                Caches::Transparent => None,
                Caches::Stale => Some(L2::behind_hdp(remap.backing.clone())),
            };
            gpus.push(GpuDevice {
                l2,
                turns: Arc::default(),
                id: topology.gpu_id(index),
                render_minor: Topology::render_minor(index),
                context_save: ContextSave::of(&board, &self.kernel),
                processors: Arc::new(board.gpu.clone()),
                next_xcc: AtomicU32::new(0),
                smi: SmiReaders::default(),
                board,
                remap,
                hangs: AtomicBool::new(hanging >> index & 1 != 0),
            });
        }
        let machine = Machine(Arc::new(Shared {
            host: self.host,
            kernel: self.kernel,
            clock: self.clock,
            privileged: self.privileged,
            memory,
            gpus,
            system_limit: system,
            files,
            faults: Injector::new(self.plan),
            counters,
            kfd_processes: Mutex::default(),
            buffers: Mutex::default(),
            next_pid: AtomicU32::new(FIRST_PID),
            refusals: Mutex::default(),
            inspection: Arc::new(self.inspection),
            ordering: self.ordering,
            findings: Mutex::default(),
            counts: Mutex::default(),
        }));
        if let Some(listener) = listener {
            machine.0.listen(listener).map_err(|source| MachineError::Memory { bytes, source })?;
        }
        Ok(machine)
    }
}

/// Memory of the kernel's own.
fn kernel_memory(bytes: u64) -> Request {
    Request::Take { what: Use::Kernel, gpu: 0, bytes, flags: 0, process: None }
}

/// Bytes of a board's VRAM that processes may have.
fn vram_limit(board: &Board) -> u64 {
    board.vram_bytes - reserved_for_page_tables(board.system_bytes)
}

/// The first process's id.
const FIRST_PID: u32 = 1000;

/// A simulated machine. Clones are the same machine.
#[derive(Clone, Debug)]
pub struct Machine(pub(crate) Arc<Shared>);

impl Machine {
    /// Starts to describe one. What looks at its waves is what the environment asks for, as
    /// [`Inspection::asked_for`] says, until the builder is told otherwise.
    pub fn builder() -> Builder {
        Builder {
            cards: Vec::new(),
            host: Host::default(),
            kernel: Kernel::with_kfd_minor(18).unwrap_or_else(|| unreachable!("1.18 is played")),
            clock: Clock::Host,
            plan: Plan::new(),
            privileged: false,
            inspection: Inspection::asked_for().clone(),
            keeper: None,
            caches: modes::caches(),
            ordering: modes::ordering(),
        }
    }

    /// The machine with one GPU of this name and defaults for the rest.
    ///
    /// # Errors
    /// As [`Builder::gpu`] and [`Builder::build`].
    pub fn with_gpu(name: &str) -> Result<Machine, MachineError> {
        Machine::builder().gpu(name)?.build()
    }

    /// A new Linux process on the machine. It ends when the last reference to it goes.
    pub fn process(&self) -> Arc<Process> {
        Process::new(self.0.clone())
    }

    /// A new Linux process with this id, which is to be the host's own when the process is a whole process of the
    /// host.
    pub fn process_with_pid(&self, pid: u32) -> Arc<Process> {
        Process::with_pid(self.0.clone(), pid)
    }

    /// What the machine has in sysfs and /dev, by absolute path; parents come before what is in them.
    pub fn files(&self) -> &BTreeMap<String, Entry> {
        self.0.files.entries()
    }

    /// How many kernel objects are alive.
    pub fn objects(&self) -> Objects {
        self.0.counters.objects()
    }

    /// How many faults of the plan in force have happened.
    pub fn faults_struck(&self) -> u64 {
        self.0.faults.struck()
    }

    /// Puts another plan of faults in force; its counts start now.
    pub fn set_faults(&self, plan: Plan) {
        self.0.faults.set(plan);
    }

    /// What programs asked for that the machine does not model: each kind once, in order. Only the first
    /// [`MAX_REFUSALS`](Machine::MAX_REFUSALS) kinds are kept and printed.
    pub fn refusals(&self) -> Vec<String> {
        self.0.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many kinds [`refusals`](Machine::refusals) keeps.
    pub const MAX_REFUSALS: usize = 256;

    /// What the watchdog and the checks have found, in order; at most [`MAX_REFUSALS`](Machine::MAX_REFUSALS) are kept and
    /// printed.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was counted of each kernel in dispatches that have ended.
    pub fn counts(&self) -> BTreeMap<KernelAt, Counts> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The GPU with this index hangs: all its queues stop for good, those that any process creates later too, and
    /// nobody is told. A reset ends it.
    ///
    /// # Panics
    /// When there is no such GPU.
    pub fn hang_gpu(&self, index: usize) {
        assert!(index < self.0.gpus.len(), "the machine has {} GPUs", self.0.gpus.len());
        self.0.stop_gpu(index);
        // Without a keeper there is nobody else to tell.
        let _ = self.0.memory.ask(&Request::Hang { gpu: index });
    }

    /// The GPU with this index hangs and is reset: all its queues stop for good, its VRAM is overwritten, and every
    /// process gets an HW_EXCEPTION event (kfd_events.c, `kfd_signal_reset_event`). Processes that come to the device
    /// later find it working. Of a buffer of more than 16 MiB, one page in every 2 MiB is overwritten beyond those.
    ///
    /// # Panics
    /// When there is no such GPU.
    pub fn reset_gpu(&self, index: usize) {
        assert!(index < self.0.gpus.len(), "the machine has {} GPUs", self.0.gpus.len());
        self.0.stop_gpu(index);
        // Those of other processes of the host stop, VRAM is lost, they are told.
        let _ = self.0.memory.ask(&Request::Reset { gpu: index });
        self.0.gpu_was_reset(index);
    }
}

/// A GPU of the machine.
#[derive(Debug)]
pub(crate) struct GpuDevice {
    /// The KFD's id of it.
    pub(crate) id: u32,
    /// `renderD128` is 128.
    pub(crate) render_minor: u32,
    pub(crate) board: Board,
    pub(crate) processors: Arc<Gpu>,
    pub(crate) context_save: ContextSave,
    /// How many AQL queues there were (`current_logical_xcc_start` of the kernel's device queue manager).
    pub(crate) next_xcc: AtomicU32,
    /// Who reads events of it.
    pub(crate) smi: SmiReaders,
    /// The page of HDP flush registers that MMIO_REMAP maps. Host and device share the machine's memory, so
    /// that a flush has nothing to do but with caches that keep copies: L2 looks whether somebody wrote here.
    pub(crate) remap: Extent,
    /// What its queues know of each other.
    pub(crate) turns: Arc<Turns>,
    /// The cache, when it keeps copies.
    l2: Option<Arc<L2>>,
    hangs: AtomicBool,
}

impl GpuDevice {
    /// Whether it does nothing, until it is reset.
    pub(crate) fn hangs(&self) -> bool {
        self.hangs.load(Ordering::SeqCst)
    }

    /// A new address space of it.
    pub(crate) fn address_space(&self) -> Arc<AddressSpace> {
        self.l2.as_ref().map_or_else(Default::default, L2::address_space)
    }
}

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
    system_limit: u64,
    pub(crate) files: Files,
    pub(crate) faults: Injector,
    pub(crate) counters: Counters,
    kfd_processes: Mutex<Vec<Weak<KfdProcess>>>,
    /// Buffers by the board's record of them.
    buffers: Mutex<HashMap<u64, Weak<Buffer>>>,
    next_pid: AtomicU32,
    refusals: Mutex<Vec<String>>,
    pub(crate) inspection: Arc<Inspection>,
    pub(crate) ordering: Order,
    findings: Mutex<Vec<Finding>>,
    counts: Mutex<BTreeMap<KernelAt, Counts>>,
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
    ) -> Result<Held, Errno> {
        let answer = self.memory.ask(&Request::Queue { gpu, process, queue })?;
        Ok(self.memory.held(answer.words[0]))
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
    fn stop_gpu(&self, gpu: usize) {
        self.gpus[gpu].hangs.store(true, Ordering::SeqCst);
        self.live_kfd_processes().iter().for_each(|process| process.gpu_hangs(gpu));
    }

    /// A GPU was reset; those who use it in this process are told.
    fn gpu_was_reset(&self, gpu: usize) {
        let processes = self.live_kfd_processes();
        self.tell_of_reset(gpu, false);
        if let Some(l2) = &self.gpus[gpu].l2 {
            l2.discard();
        }
        processes.iter().for_each(|process| process.suspend());
        self.gpus[gpu].hangs.store(false, Ordering::SeqCst);
        processes.iter().for_each(|process| process.gpu_was_reset(gpu));
        self.tell_of_reset(gpu, true);
    }

    /// Hears of what other processes of the host do to the machine, on a thread that ends with it.
    fn listen(self: &Arc<Shared>, listener: Listener) -> io::Result<()> {
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

    /// Overwrites nothing but says where the remap page's bytes are.
    pub(crate) fn remap_page(&self, gpu: usize) -> (u64, Arc<Backing>) {
        let page = &self.gpus[gpu].remap;
        (page.offset, page.backing.clone())
    }
}

/// Bytes that GPUs may use of system memory, and those of the machine's memory file.
fn sizes(boards: &[Board]) -> (u64, u64) {
    let system = boards.iter().map(|b| b.gtt_bytes).max().unwrap_or(0);
    let bytes = OVERHEAD + system + boards.iter().map(|b| b.vram_bytes).sum::<u64>();
    (system, bytes)
}

fn books(
    boards: &[Board],
    topology: &Topology,
    kernel: &Kernel,
) -> Result<(Arc<Memory>, Books), MachineError> {
    let (system, bytes) = sizes(boards);
    let memory = Memory::new(bytes).map_err(|source| MachineError::Memory { bytes, source })?;
    let memory = Arc::new(memory);
    let empty = |(index, board): (usize, &Board)| Empty {
        id: topology.gpu_id(index),
        vram_limit: vram_limit(board),
        sdma: Engines::of(board),
        folder: device_folder(board),
    };
    let gpus = boards.iter().enumerate().map(empty).collect();
    let books = Books::new(memory.clone(), gpus, system, kernel.minor < 18);
    Ok((memory, books))
}

/// What the KFD keeps back of VRAM for page tables (amdgpu_amdkfd_gpuvm.c, `ESTIMATE_PT_SIZE`; amdgpu_vm.h,
/// `AMDGPU_VM_RESERVED_VRAM`).
fn reserved_for_page_tables(total_memory: u64) -> u64 {
    (total_memory >> 14).max(8 << 20)
}

#[cfg(test)]
mod tests {
    use super::Machine;
    use crate::shader::{Counts, Finding, FindingKind, KernelAt, Site};

    #[test]
    fn kernels_at_one_address_are_told_apart() {
        let machine = Machine::builder().gpu("gfx1151").unwrap().build().unwrap();
        let places = [(0, 0), (1, 0), (0, 1)];
        for (process, gpu) in places.into_iter().chain(places) {
            let kernel = KernelAt { process, gpu, address: 0x1000 };
            let site = Site { workgroup: [0; 3], wave: 0, pc: 0x1004, instruction: None };
            let kind = FindingKind::UnwrittenLds { address: 0 };
            machine.0.found(Finding { queue: 0, packet: 0, kernel, site, kind });
            machine.0.counted(kernel, &Counts::default());
        }
        assert_eq!(machine.findings().len(), places.len());
        assert_eq!(machine.counts().len(), places.len());
    }
}
