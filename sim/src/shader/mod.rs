//! The shader core: runs the waves of a dispatch.
//!
//! RDNA2 to RDNA4 (gfx10.3, gfx11, gfx11.5, gfx12), wave32 and wave64; gfx906, gfx908, gfx90a, gfx942 and gfx950, which
//! have wave64 only. The semantics are those of AMD's "RDNA3 Instruction Set Architecture" reference guide (2023-02), here
//! "RDNA3 ISA document", and of those of the other generations; `generation` has what the generations do differently.
//!
//! - `inspect`: what looks at waves for people: `trace`, `count`, `access`, `check`; `finding`: what those find.
//! - `schedule`: workgroups and waves in turn, on one host thread or several; `unit`: compute units.
//! - `launch`: the registers a wave starts with.
//! - `code`, `resolve`, `operands`: the instruction cache; each instruction is decoded once.
//! - `scalar`, `control`, `smem`, `registers`, `barrier`, `gws`: the scalar side; `trap`: traps and exceptions.
//! - `vector`: the vector ALU; `wmma`, `matrix`: matrices.
//! - `flat`, `buffer`, `share` (LDS): memory; `place`, `runs`, `transfer`, `atomic`: what they have in common.
//! - `staged`: loads into LDS; `format`: typed buffers.
//! - `indexed`: VGPRs by index.
//! - `mode`, `float`, `extremes`, `soft`, `fp8`: floating point as MODE asks.
//!
//! # What it does not model
//! Of what no program can be wrong about:
//! - **Time.** The cycle counter counts the wave's instructions; `s_sleep` lets other waves go on; priorities,
//!   clauses, delays and prefetching are nothing.
//! - **The place of a wave** on its compute unit: HW_ID names that, the first SIMD, and as slot the wave's number in its
//!   workgroup. Workgroups go to the units that the queue may use in turn.
//!
//! Of what a wrong program gets away with here:
//! - **Waiting.** Memory operations are complete when they are executed, so that a missing `s_waitcnt` does no
//!   harm; nor do hazards that a program must avoid by `s_nop`, `s_waitcnt_depctr` or the order of its instructions.
//! - **Caches.** All memory is one: GLC, SLC, DLC and invalidations are nothing, and stores are visible at once. Each
//!   dispatch sees the code that is in memory when it comes there. Where L2 keeps copies
//!   ([`Caches::Stale`](crate::Caches::Stale)) that is so for the waves of a GPU, and operations on L2 do something.
//! - **Order.** Waves of a workgroup take turns of thousands of instructions, always in the same order, and
//!   workgroups start in theirs: many a data race has one outcome only.
//! - **Scratch** is where the dispatch's waves have it, not where the wave's slot on the machine would.
//! - **What nothing has set** has one value ([`Launch::fill`]), not what earlier waves left.
//!
//! Refused, with a text that says what: formats without tables (images, exports, parameter loads), the operations that
//! `tests/refused.rs` lists, GDS, named barriers, traps of gfx10.3, messages and registers for which nothing here stands,
//! registers beyond those allocated, misaligned tuples of SGPRs, dual issue in wave64. Arithmetic exceptions are never
//! raised.
#![expect(clippy::needless_range_loop, reason = "a lane number indexes several registers at once")]

mod access;
mod atomic;
mod barrier;
mod buffer;
mod check;
mod code;
mod control;
mod count;
mod extremes;
mod finding;
mod flat;
mod float;
mod format;
mod fp8;
mod generation;
mod gws;
pub(crate) mod host_float;
mod indexed;
mod inspect;
mod launch;
mod lds;
mod matrix;
mod mode;
mod operands;
mod place;
mod registers;
mod resolve;
mod runs;
mod scalar;
mod schedule;
mod share;
mod smem;
mod soft;
mod special;
mod staged;
#[cfg(test)]
mod tests;
mod trace;
mod transfer;
mod transpose;
mod trap;
mod unit;
mod vector;
mod wave;
mod wmma;

pub(crate) use atomic::Function as AtomicFunction;
pub use code::InstructionCache;
pub use count::{Counts, Times, Traffic};
pub use finding::{AccessKind, Decides, Finding, FindingKind, KernelAt, Site, Space};
pub use gws::GlobalWaveSync;
pub(crate) use inspect::variable;
pub use inspect::{CHECK_VARIABLE, Checks, Inspection, WATCHDOG_VARIABLE};
pub use trace::{Trace, VARIABLE as TRACE_VARIABLE};
pub use unit::ComputeUnit;

use crate::clock::Clock;
use crate::memory::{AddressSpace, MemoryFault};
use crate::profile::Gpu;
use amdgpu_isa::Target;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

/// What the command processor programs before it starts a dispatch (the COMPUTE_* registers).
#[derive(Clone, Debug)]
pub struct Launch {
    /// Address of the first instruction (COMPUTE_PGM_LO/HI, unshifted).
    pub program: u64,
    /// COMPUTE_PGM_RSRC1.
    pub rsrc1: u32,
    /// COMPUTE_PGM_RSRC2; LDS_SIZE filled in.
    pub rsrc2: u32,
    /// COMPUTE_PGM_RSRC3.
    pub rsrc3: u32,
    /// Wave32 (DISPATCH_INITIATOR.CS_W32_EN).
    pub wave32: bool,
    /// COMPUTE_USER_DATA: the first SGPRs; RSRC2.USER_SGPR says how many.
    pub user_data: [u32; 32],
    /// Grid size in work-items; the last workgroups may be partial.
    pub grid: [u32; 3],
    /// The first workgroup in each dimension (COMPUTE_START_X to Z): those before it do not run.
    pub start: [u32; 3],
    /// Workgroup size in work-items.
    pub workgroup: [u32; 3],
    /// Bytes of LDS of one workgroup.
    pub lds_bytes: u32,
    /// Waves that one compute unit holds at once, by its wave slots and by the VGPRs of each.
    pub waves_per_compute_unit: u32,
    /// What registers and LDS hold that nothing has set: on hardware what earlier waves left, so that a kernel may
    /// not count on any value.
    pub fill: u32,
    /// Where workgroups run.
    pub xccs: Xccs,
    /// Address of the scratch of all waves; of several XCCs, each has a part of its own, one after the other.
    pub scratch_base: u64,
    /// Bytes of scratch of one wave; 0 when the kernel uses none.
    pub scratch_bytes_per_wave: u32,
    /// How many waves of an XCC have scratch behind `scratch_base`.
    pub scratch_waves: u32,
    /// Bits 63:32 of the LDS aperture of flat addresses.
    pub shared_aperture_hi: u32,
    /// Bits 63:32 of the scratch aperture of flat addresses.
    pub private_aperture_hi: u32,
    /// Address of the process's trap handler and its data, when one is installed (SET_TRAP_HANDLER). RSRC2 says
    /// whether waves take traps at all.
    pub trap_handler: Option<(u64, u64)>,
}

/// The XCCs that share a dispatch: workgroup n is one of the logical XCC n mod `count` (COMPUTE_TG_CHUNK_SIZE is 1;
/// kfd_mqd_manager_v9.c, `init_mqd_v9_4_3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xccs {
    /// How many share it, at least 1.
    pub count: u32,
    /// Which XCC is the logical XCC 0; the others follow in a ring. What shaders read in XCC_ID.
    pub first: u32,
    /// The only logical XCC whose workgroups run now, if not all do.
    pub only: Option<u32>,
}

impl Xccs {
    /// A whole dispatch on one XCC.
    pub fn one(place: u32) -> Xccs {
        Xccs { count: 1, first: place, only: None }
    }

    /// The place of a logical XCC.
    fn place(self, logical: u32) -> u32 {
        if self.count == 1 { self.first } else { (self.first + logical) % self.count }
    }
}

impl Default for Xccs {
    fn default() -> Xccs {
        Xccs::one(0)
    }
}

/// What keeps a wave from its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaveFaultKind {
    /// The page tables refused a memory access. Ends the dispatch.
    Memory(MemoryFault),
    /// Something that this core does not model. Ends the dispatch.
    NotModelled(String),
    /// An exception: no instruction of the target's, or one that the wave may not execute.
    IllegalInstruction(String),
    /// An exception: a memory access was refused before it came to the page tables.
    MemoryViolation(MemoryFault),
    /// Stopped from outside: the queue was destroyed or reset.
    Killed,
    /// It has executed as many instructions as the watchdog allows ([`Inspection::watchdog`]). Ends the dispatch.
    Endless {
        /// How many.
        instructions: u64,
    },
    /// It waits at a barrier, and no wave is left that could complete it; the watchdog noticed. Ends the dispatch.
    Deadlock,
}

/// Where and why a wave stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveFault {
    /// Why.
    pub kind: WaveFaultKind,
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction in LLVM's spelling, when it could be decoded.
    pub instruction: Option<String>,
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
}

impl WaveFault {
    /// A dispatch that no wave can start of.
    fn before_start(launch: &Launch, reason: String) -> WaveFault {
        WaveFault {
            kind: WaveFaultKind::NotModelled(reason),
            pc: launch.program,
            instruction: None,
            workgroup: [0; 3],
            wave: 0,
        }
    }
}

/// An interrupt that a wave sends (`s_sendmsg` of MSG_INTERRUPT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveInterrupt {
    /// M0 23:0.
    pub data: u32,
    /// Whether STATUS.PRIV was set.
    pub privileged: bool,
    /// Number of the wave's slot; its place on the machine is always the first.
    pub wave: u8,
}

impl WaveInterrupt {
    /// Bits of `data`.
    pub const DATA: u32 = 0xff_ffff;
    /// `SQ_INTERRUPT_WORD_WAVE_CTXID0__PRIV_MASK`
    pub const PRIVILEGED: u32 = 1 << 26;

    /// The context ids of the interrupt's ring entry (kfd_int_process_v11.c, `SQ_INTERRUPT_WORD_WAVE_CTXID*`).
    pub fn context_ids(&self) -> [u32; 2] {
        /// `SQ_INTERRUPT_WORD_ENCODING_INST`, in CTXID1 7:6.
        const ENCODING_INST: u32 = 1 << 6;
        let privileged = if self.privileged { WaveInterrupt::PRIVILEGED } else { 0 };
        [self.data & WaveInterrupt::DATA | privileged | u32::from(self.wave) << 27, ENCODING_INST]
    }
}

/// The rest of the GPU, as waves meet it. All methods are called from the threads that run waves.
pub trait Outside: Sync {
    /// Whether waves are to be killed.
    fn is_stopped(&self) -> bool;

    /// A thread begins, or ends, to run waves.
    fn count_wave_threads(&self, begins: bool) {
        _ = begins;
    }

    /// The compute units that the waves may run on; none for what has no places.
    fn compute_units(&self) -> Arc<[ComputeUnit]> {
        Arc::default()
    }

    /// The queue's barriers and semaphores for all waves, if it was given some.
    fn global_wave_sync(&self) -> Option<Arc<GlobalWaveSync>> {
        None
    }

    /// Where waves stand still while the driver has their queue off the hardware.
    fn pause(&self) {}

    /// The GPU's timestamp counter, ticks of 10 ns: that of completion signals, too.
    fn clock(&self) -> u64;

    /// Number of the doorbell of the queue that the waves came from.
    fn doorbell_id(&self) -> u16 {
        0
    }

    /// The KFD's id of the queue that the waves came from.
    fn queue(&self) -> u32 {
        0
    }

    /// Which process the waves are of ([`KernelAt::process`]).
    fn process(&self) -> u32 {
        0
    }

    /// Index of the GPU that the waves run on.
    fn gpu(&self) -> u32 {
        0
    }

    /// Index in the queue of the packet that the waves came from.
    fn packet(&self) -> u64 {
        0
    }

    /// A check has found something, once for each instruction, or pair of them.
    fn found(&self, finding: Finding) {
        _ = finding;
    }

    /// A dispatch of this kernel has ended, of which all was counted.
    fn counted(&self, kernel: KernelAt, counts: &Counts) {
        _ = (kernel, counts);
    }

    /// A wave sends an interrupt.
    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        _ = interrupt;
    }

    /// A wave raises an exception. This is for whoever watches the simulation: on hardware nobody hears of it unless
    /// the trap handler tells.
    fn exception(&self, fault: &WaveFault) {
        _ = fault;
    }
}

/// A flag that kills the waves. Nobody hears what they say, so an exception sets it, too. The clock is the host's.
impl Outside for AtomicBool {
    fn is_stopped(&self) -> bool {
        self.load(Ordering::Relaxed)
    }

    fn clock(&self) -> u64 {
        Clock::Host.gpu_ticks()
    }

    fn exception(&self, _fault: &WaveFault) {
        self.store(true, Ordering::Relaxed);
    }
}

/// Counts of a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Waves started.
    pub waves: u64,
    /// Wave instructions executed, `s_endpgm` included.
    pub instructions: u64,
}

/// Runs a dispatch to its end on one host thread, or on more when it is large. When a wave halts, that is when it is
/// stopped from outside. `instructions` keeps what is decoded for dispatches to come. With anything of `inspection`
/// but the watchdog it is one thread.
///
/// # Errors
/// The wave that faulted (of several, that of the lowest workgroup); all others have stopped then.
pub fn run(
    gpu: &Gpu,
    launch: &Launch,
    memory: &Arc<AddressSpace>,
    instructions: &InstructionCache,
    outside: &dyn Outside,
    inspection: &Inspection,
) -> Result<Statistics, WaveFault> {
    // Asking reads files, so it is done once.
    static THREADS: OnceLock<usize> = OnceLock::new();
    let threads = THREADS.get_or_init(|| available_parallelism().map_or(1, usize::from));
    start(gpu, launch, memory, instructions, outside, *threads, inspection)
}

/// Runs a dispatch to its end on at most `threads` host threads. Their number changes no result that the order
/// of workgroups does not change on hardware.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    gpu: &Gpu,
    launch: &Launch,
    memory: &Arc<AddressSpace>,
    outside: &dyn Outside,
    threads: usize,
) -> Result<Statistics, WaveFault> {
    let (instructions, inspection) = (InstructionCache::default(), Inspection::default());
    start(gpu, launch, memory, &instructions, outside, threads, &inspection)
}

fn start(
    gpu: &Gpu,
    launch: &Launch,
    memory: &Arc<AddressSpace>,
    instructions: &InstructionCache,
    outside: &dyn Outside,
    threads: usize,
    inspection: &Inspection,
) -> Result<Statistics, WaveFault> {
    let Some(target) = Target::from_gfx_target_version(gpu.gfx_target_version) else {
        let text = format!("the shader core does not execute the instructions of {}", gpu.name);
        return Err(WaveFault::before_start(launch, text));
    };
    if launch.wave32 && !target.has_wave32() {
        let text = format!("waves of 32 lanes, which {} does not have", gpu.name);
        return Err(WaveFault::before_start(launch, text));
    }
    if !launch.has_sane_sizes() {
        let (grid, workgroup) = (launch.grid, launch.workgroup);
        let text = format!("a grid of {grid:?} work-items in workgroups of {workgroup:?}");
        return Err(WaveFault::before_start(launch, text));
    }
    schedule::Dispatch::new(gpu, target, launch, memory, instructions, outside, inspection)
        .run(threads)
}
