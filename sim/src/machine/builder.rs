//! What a machine is made of, and making it.

use super::Machine;
use super::gpu::{GpuDevice, vram_limit};
use super::shared::Shared;
use crate::abi::kfd::Engines;
use crate::abi::sysfs::{Files, device_folder};
use crate::abi::topology::Topology;
use crate::board::{Board as Shares, Books, Empty, Joined, Keeper, Member, Memory};
use crate::clock::Clock;
use crate::count::Counters;
use crate::cp::{Conductor, PacketListener};
use crate::description::Condition;
use crate::fault::{Injector, Plan};
use crate::memory::Caches;
use crate::modes::{self, Ordering};
use crate::profile::{self, Board, Host, Kernel};
use crate::shader::{Checks, Inspection, Trace};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use thiserror::Error;

/// Room for what is not a buffer: doorbells, event pages, remap pages, and rounding.
const OVERHEAD: u64 = 1 << 30;

/// The first process's id.
const FIRST_PID: u32 = 1000;

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
    #[error(
        "no simulated kernel has KFD 1.{minor}; there are {}",
        Kernel::MINORS.map(|minor| format!("1.{minor}")).join(", ")
    )]
    UnknownKernel {
        /// What was asked for.
        minor: u32,
    },
    /// The keeper of the board is not there or does not answer.
    #[error("nobody keeps the machine's board at {}, its keeper was never started or has ended: {source}", socket.display())]
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
    /// The host would not give the thread that hears of what other processes do to the board.
    #[error("cannot start the thread that listens to the board's keeper")]
    Thread(#[source] io::Error),
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
    ordering: Ordering,
}

/// A GPU board in its slot.
#[derive(Clone, Debug)]
struct Card {
    board: Board,
    /// Whether the driver finds firmware for it.
    has_firmware: bool,
}

impl Builder {
    /// An empty machine.
    pub(super) fn new() -> Builder {
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
    pub fn ordering(mut self, ordering: Ordering) -> Builder {
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
        let out_of_memory =
            |_| MachineError::Memory { bytes, source: io::ErrorKind::OutOfMemory.into() };
        let mut gpus = Vec::new();
        for (index, board) in boards.into_iter().enumerate() {
            let hangs = hanging >> index & 1 != 0;
            let gpu =
                GpuDevice::new(index, board, &self.kernel, &topology, &memory, self.caches, hangs);
            gpus.push(gpu.map_err(out_of_memory)?);
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
            machine.0.listen(listener).map_err(MachineError::Thread)?;
        }
        Ok(machine)
    }
}

/// Bytes that GPUs may use of system memory, and those of the machine's memory file.
fn sizes(boards: &[Board]) -> (u64, u64) {
    let system = boards.iter().map(|b| b.gtt_bytes).max().unwrap_or(0);
    let bytes = OVERHEAD + system + boards.iter().map(|b| b.vram_bytes).sum::<u64>();
    (system, bytes)
}

/// The memory file of these boards, and the empty books of it.
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
