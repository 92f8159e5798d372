//! Traps and exceptions.
//!
//! A wave that takes traps enters the handler of TBA, which is Linux's own as long as it can save waves. That one is
//! modelled here by what it does, not executed: it goes on to the process's handler, set by SET_TRAP_HANDLER, or
//! where there is none lets `s_trap` pass and halts waves with an exception (amdkfd/cwsr_trap_handler_gfx10.asm as
//! assembled for gfx11, cwsr_trap_handler_gfx9.asm).

use super::code::Op;
use super::registers;
use super::wave::{Env, State, Step, Stop, TTMP0, Wave};
use super::{Launch, WaveFaultKind};

/// TRAPSTS bits (gc_11_0_0_sh_mask.h, `SQ_WAVE_TRAPSTS`; EXCP bit 8 by the KFD's `SQ_WAVE_TRAPSTS_MEM_VIOL_MASK`).
const MEM_VIOL: u32 = 1 << 8;
const ILLEGAL_INST: u32 = 1 << 11;
/// Exceptions that always enter the handler; the others that do are not raised here.
const NON_MASKABLE: u32 = MEM_VIOL | ILLEGAL_INST;

/// STATUS.SPI_PRIO, which Linux's handler clears in what it hands on.
const SPI_PRIO: u32 = 0x6;
/// STATUS.ECC_ERR, which that of gfx11 clears, too.
const ECC_ERR: u32 = 0x2_0000;
/// STATUS.HALT.
const HALT: u32 = 0x2000;
/// TRAPSTS bits that gfx9's handler takes for an exception when it goes back.
const EXCEPTIONS: u32 = 0x1ff;
/// Bits of TTMP11 in which gfx9's handler keeps IB_STS.FIRST_REPLAY and RCNT, which are 0 here.
const REPLAY: u32 = 0xfc00_0000;
/// Bit of TTMP11 that says that a debugger is attached; none ever is.
const DEBUGGER_ATTACHED: u32 = 1 << 23;
/// Bits of an address.
const PC: u64 = 0xffff_ffff_ffff;

/// The exception of a fault, as a bit of TRAPSTS; `None` for what does not reach the wave.
pub(super) fn exception(kind: &WaveFaultKind) -> Option<u32> {
    match kind {
        WaveFaultKind::IllegalInstruction(_) => Some(ILLEGAL_INST),
        WaveFaultKind::MemoryViolation(_) => Some(MEM_VIOL),
        WaveFaultKind::Memory(_)
        | WaveFaultKind::NotModelled(_)
        | WaveFaultKind::Killed
        | WaveFaultKind::Endless { .. }
        | WaveFaultKind::Deadlock => None,
    }
}

/// `s_trap`, which is a NOP to waves that take no traps and inside the handler.
///
/// The handler finds the address of the instruction itself (RDNA3 ISA document, "S_TRAP").
pub(super) fn execute(wave: &mut Wave, op: &Op, env: &Env<'_>, id: u8) -> Step {
    let launch = env.launch;
    let takes_none = wave.traits.trap_present && !launch.takes_traps();
    if takes_none || wave.privileged {
        return Ok(());
    }
    if !wave.traits.takes_traps {
        return Err(Stop::not_modelled("s_trap on this generation is not modelled"));
    }
    if id == 0 {
        return Err(Stop::not_modelled("s_trap 0, which is reserved for the hardware"));
    }
    enter(wave, launch, wave.pc - u64::from(op.instruction.size), id)
}

/// Raises an exception, at the instruction at `pc`.
pub(super) fn raise(wave: &mut Wave, launch: &Launch, pc: u64, exception: u32) {
    wave.trapsts |= exception;
    if wave.traits.takes_traps && launch.takes_traps() && !wave.privileged {
        // How it goes on is in its state.
        let _ = enter(wave, launch, pc, 0);
    } else {
        // Nothing says what a wave does that cannot take the exception; it certainly does not go on.
        halt(wave);
    }
}

/// Halts a wave for good.
pub(super) fn halt(wave: &mut Wave) -> Stop {
    wave.state = State::Halted;
    Stop::Halt
}

/// `s_rfe_b64`: leaves the handler. The wave halts when STATUS.HALT is set, and comes back at once when an exception
/// is still there.
pub(super) fn leave(wave: &mut Wave, launch: &Launch, to: u64) -> Step {
    wave.privileged = false;
    wave.pc = to & PC & !3;
    if wave.halt {
        Err(halt(wave))
    } else if wave.trapsts & NON_MASKABLE != 0 && launch.takes_traps() {
        enter(wave, launch, wave.pc, 0)
    } else {
        Ok(())
    }
}

/// What hardware and Linux's handler do, up to the process's handler; `id` is 0 for exceptions.
fn enter(wave: &mut Wave, launch: &Launch, pc: u64, id: u8) -> Step {
    wave.privileged = true;
    let early = wave.traits.halts_exceptions;
    let halts = early && id == 0;
    if halts && wave.halt {
        // It waits to be saved.
        return Err(halt(wave));
    }
    let pc = if halts { pc.wrapping_sub(8) } else { pc };
    wave.set_sgpr64(TTMP0, pc & PC | u64::from(id) << 48);
    let status =
        registers::status(wave, launch) & !if early { SPI_PRIO } else { SPI_PRIO | ECC_ERR };
    wave.set_sgpr(TTMP0 + 12, if halts { status | HALT } else { status });
    let kept = !if early { REPLAY } else { DEBUGGER_ATTACHED };
    wave.set_sgpr(TTMP0 + 11, wave.sgpr(TTMP0 + 11) & kept);
    if let Some((handler, data)) = launch.trap_handler {
        wave.set_sgpr64(TTMP0 + 2, handler);
        wave.set_sgpr64(TTMP0 + 14, data);
        // It has just found the handler's address not to be 0.
        wave.scc = true;
        wave.pc = handler & !3;
        return Ok(());
    }
    wave.set_sgpr64(TTMP0 + 14, 0);
    if early {
        wave.halt |= halts;
        leave(wave, launch, if wave.trapsts & EXCEPTIONS != 0 { pc } else { pc.wrapping_add(4) })
    } else if id == 0 {
        wave.halt = true;
        leave(wave, launch, pc.wrapping_sub(8))
    } else {
        leave(wave, launch, pc + 4)
    }
}
