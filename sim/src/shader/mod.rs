//! The shader core: runs the waves of a dispatch.
//!
//! RDNA3 and RDNA3.5 (gfx11, gfx11.5), wave32 and wave64. The semantics are those of AMD's "RDNA3 Instruction
//! Set Architecture" reference guide (2023-02), here "RDNA3 ISA document".
//!
//! - `schedule`: workgroups and waves in turn, on one host thread or several.
//! - `launch`: the registers a wave starts with.
//! - `code`, `resolve`, `operands`: the instruction cache; each instruction is decoded once a dispatch.
//! - `scalar`, `control`, `smem`, `registers`: the scalar side.
//! - `vector`: the vector ALU; `wmma`: matrices.
//! - `flat`, `buffer`, `share` (LDS): memory; `place`, `transfer`, `atomic`: what they have in common.
//! - `mode`, `float`, `soft`: floating point as MODE asks.
#![expect(clippy::needless_range_loop, reason = "a lane number indexes several registers at once")]

mod atomic;
mod buffer;
mod code;
mod control;
mod flat;
mod float;
mod launch;
mod lds;
mod mode;
mod operands;
mod place;
mod registers;
mod resolve;
mod scalar;
mod schedule;
mod share;
mod smem;
mod soft;
mod special;
mod transfer;
mod vector;
mod wave;
mod wmma;

use crate::memory::{AddressSpace, MemoryFault};
use crate::profile::Gpu;
use amdgpu_isa::Target;
use std::sync::atomic::AtomicBool;
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
    /// Workgroup size in work-items.
    pub workgroup: [u32; 3],
    /// Bytes of LDS of one workgroup.
    pub lds_bytes: u32,
    /// Address of the scratch of all waves.
    pub scratch_base: u64,
    /// Bytes of scratch of one wave; 0 when the kernel uses none.
    pub scratch_bytes_per_wave: u32,
    /// How many waves have scratch behind `scratch_base`.
    pub scratch_waves: u32,
    /// Bits 63:32 of the LDS aperture of flat addresses.
    pub shared_aperture_hi: u32,
    /// Bits 63:32 of the scratch aperture of flat addresses.
    pub private_aperture_hi: u32,
    /// Address of the trap handler (TBA) and its data (TMA), when one is installed.
    pub trap_handler: Option<(u64, u64)>,
}

/// Why waves stopped before their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaveFaultKind {
    /// A memory access was refused.
    Memory(MemoryFault),
    /// The instruction is not one of the target's, or not one this core executes (the text says which).
    IllegalInstruction(String),
    /// `s_trap` with this id and no trap handler.
    Trap(u8),
    /// Stopped from outside: the queue was destroyed or reset.
    Killed,
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
            kind: WaveFaultKind::IllegalInstruction(reason),
            pc: launch.program,
            instruction: None,
            workgroup: [0; 3],
            wave: 0,
        }
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

/// Runs a dispatch to its end on one host thread, or on more when it is large.
///
/// # Errors
/// The wave that faulted (of several, that of the lowest workgroup); all others have stopped then.
pub fn run(
    gpu: &Gpu,
    launch: &Launch,
    memory: &Arc<AddressSpace>,
    stop: &AtomicBool,
) -> Result<Statistics, WaveFault> {
    // Asking reads files, so it is done once.
    static THREADS: OnceLock<usize> = OnceLock::new();
    let threads = THREADS.get_or_init(|| available_parallelism().map_or(1, usize::from));
    run_on(gpu, launch, memory, stop, *threads)
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
    stop: &AtomicBool,
    threads: usize,
) -> Result<Statistics, WaveFault> {
    let Some(target) = Target::from_gfx_target_version(gpu.gfx_target_version) else {
        let text = format!("the shader core has no instruction tables for {}", gpu.name);
        return Err(WaveFault::before_start(launch, text));
    };
    schedule::Dispatch::new(gpu, target, launch, memory, stop).run(threads)
}
