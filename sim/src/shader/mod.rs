//! The shader core: runs the waves of a dispatch.

use crate::memory::{AddressSpace, MemoryFault};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

/// Counts of a dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Waves started.
    pub waves: u64,
    /// Wave instructions executed, `s_endpgm` included.
    pub instructions: u64,
}

/// Runs a dispatch to its end.
///
/// # Errors
/// The first wave that faulted; all others have stopped then.
pub fn run(
    _gpu: &crate::profile::Gpu,
    _launch: &Launch,
    _memory: &Arc<AddressSpace>,
    _stop: &AtomicBool,
) -> Result<Statistics, WaveFault> {
    Ok(Statistics::default())
}
