//! Traps and exceptions.
//!
//! A wave that takes traps enters the handler of TBA, which is Linux's own as long as it can save waves. That one is
//! modelled here by what it does, not executed: it goes on to the process's handler, set by SET_TRAP_HANDLER, or
//! where there is none lets `s_trap` pass and halts waves with an exception (amdkfd/cwsr_trap_handler_gfx10.asm as
//! assembled for gfx11, cwsr_trap_handler_gfx9.asm, cwsr_trap_handler_gfx12.asm).

use super::code::Op;
use super::generation::{Traits, Traps};
use super::registers;
use super::wave::{Env, State, Step, Stop, TTMP0, Wave};
use super::{Launch, WaveFaultKind};

/// STATUS.HALT.
const HALT: u32 = 0x2000;
/// TRAPSTS bits that gfx9's handler takes for an exception when it goes back.
const EXCEPTIONS: u32 = 0x1ff;
/// Bits of an address.
const PC: u64 = 0xffff_ffff_ffff;

/// The exception of a fault, as a bit of TRAPSTS or EXCP_FLAG_PRIV; `None` for what does not reach the wave. Without
/// traps it is told to nobody.
pub(super) fn exception(traits: &Traits, kind: &WaveFaultKind) -> Option<u32> {
    let bit = |bit: fn(&Traps) -> u32| Some(traits.traps.map_or(0, bit));
    match kind {
        WaveFaultKind::IllegalInstruction(_) => bit(|traps| traps.illegal_instruction),
        WaveFaultKind::MemoryViolation(_) => bit(|traps| traps.memory_violation),
        WaveFaultKind::Memory(_)
        | WaveFaultKind::NotModelled(_)
        | WaveFaultKind::Killed
        | WaveFaultKind::Endless { .. }
        | WaveFaultKind::Deadlock => None,
    }
}

/// Whether waves take traps.
fn enabled(wave: &Wave, launch: &Launch) -> bool {
    takes_traps(wave.traits, launch)
}

fn takes_traps(traits: &Traits, launch: &Launch) -> bool {
    !traits.trap_present || launch.takes_traps()
}

/// Why waves cannot run that trap on these events, bits of MODE.EXCP_EN or TRAP_CTRL: nothing here finds them. Where they
/// do not trap, all that is lost are their bits in TRAPSTS or EXCP_FLAG_USER.
pub(super) fn events(traits: &Traits, launch: &Launch, events: u32) -> Result<(), String> {
    if events == 0 || !takes_traps(traits, launch) {
        return Ok(());
    }
    Err(format!("traps on arithmetic exceptions and other events ({events:#x}) are not modelled"))
}

/// `s_trap`, which is a NOP to waves that take no traps and inside the handler.
///
/// The handler finds the address of the instruction itself (RDNA3 ISA document, "S_TRAP").
pub(super) fn execute(wave: &mut Wave, op: &Op, env: &Env<'_>, id: u8) -> Step {
    let launch = env.launch;
    if !enabled(wave, launch) || wave.privileged {
        return Ok(());
    }
    let Some(traps) = wave.traits.traps else {
        return Err(Stop::not_modelled("s_trap on this generation is not modelled"));
    };
    let number = u32::from(id) & !(u32::MAX << traps.number_bits);
    if number == 0 {
        return Err(Stop::not_modelled("s_trap 0, which is reserved for the hardware"));
    }
    enter(wave, launch, traps, wave.pc.wrapping_sub(op.instruction.size.into()), number)
}

/// Raises an exception, at the instruction at `pc`.
pub(super) fn raise(wave: &mut Wave, launch: &Launch, pc: u64, exception: u32) {
    wave.trapsts |= exception;
    match wave.traits.traps {
        Some(traps) if enabled(wave, launch) && !wave.privileged => {
            // How it goes on is in its state.
            let _ = enter(wave, launch, traps, pc, 0);
        }
        // Nothing says what a wave does that cannot take the exception; it certainly does not go on.
        _ => {
            halt(wave);
        }
    }
}

/// Halts a wave for good.
pub(super) fn halt(wave: &mut Wave) -> Stop {
    wave.state = State::Halted;
    Stop::Halt
}

/// `s_rfe_b64`: leaves the handler. The wave halts when HALT is set, and comes back at once when an exception
/// is still there.
pub(super) fn leave(wave: &mut Wave, launch: &Launch, to: u64) -> Step {
    wave.privileged = false;
    wave.pc = to & PC & !3;
    if wave.halt {
        return Err(halt(wave));
    }
    match wave.traits.traps {
        Some(traps)
            if wave.trapsts & (traps.memory_violation | traps.illegal_instruction) != 0
                && enabled(wave, launch) =>
        {
            enter(wave, launch, traps, wave.pc, 0)
        }
        _ => Ok(()),
    }
}

/// What hardware and Linux's handler do, up to the process's handler; `id` is 0 for exceptions.
fn enter(wave: &mut Wave, launch: &Launch, traps: &Traps, pc: u64, number: u32) -> Step {
    wave.privileged = true;
    let early = traps.halts_exceptions;
    let halts = early && number == 0;
    if halts && wave.halt {
        // It waits to be saved.
        return Err(halt(wave));
    }
    let pc = if halts { pc.wrapping_sub(8) } else { pc };
    wave.set_sgpr64(TTMP0, pc & PC | u64::from(number) << traps.number_shift);
    let state =
        if traps.saves_state { registers::state(wave) } else { registers::status(wave, launch) };
    let state = state & !traps.not_handed_on;
    wave.set_sgpr(TTMP0 + 12, if halts { state | HALT } else { state });
    wave.set_sgpr(TTMP0 + 11, wave.sgpr(TTMP0 + 11) & !traps.cleared);
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
    } else if number == 0 {
        wave.halt = true;
        leave(wave, launch, pc.wrapping_sub(8))
    } else {
        leave(wave, launch, pc.wrapping_add(4))
    }
}
