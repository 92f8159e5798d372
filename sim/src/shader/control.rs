//! Program control: SOPP, and messages.

use super::WaveInterrupt;
use super::barrier;
use super::code::{Handler, Op};
use super::indexed;
use super::scalar::mismatch;
use super::trap;
use super::vector::nothing;
use super::wave::{EXEC, Env, M0, State, Step, Stop, VCC, Wave};
use amdgpu_isa::{Fields, Opcode};

/// Message numbers of `s_sendmsg` and `s_sendmsg_rtn` (RDNA3 ISA document, "S_SENDMSG").
mod message {
    pub(super) const INTERRUPT: u16 = 1;
    pub(super) const HS_TESSFACTOR: u16 = 2;
    pub(super) const DEALLOC_VGPRS: u16 = 3;
    pub(super) const STALL_WAVE_GEN: u16 = 5;
    pub(super) const HALT_WAVES: u16 = 6;
    pub(super) const GET_DOORBELL: u32 = 128;
    pub(super) const GET_DDID: u32 = 129;
    pub(super) const GET_TMA: u32 = 130;
    pub(super) const GET_REALTIME: u32 = 131;
    pub(super) const GET_TBA: u32 = 133;
}

/// `s_sethalt` bit 2: FATAL_HALT, which halts inside the trap handler, too.
const FATAL_HALT: u16 = 4;

/// What executes an operation of SOPP.
pub(super) fn handler(opcode: Opcode) -> Handler {
    use Opcode::*;
    match opcode {
        // Hints, and waits for what is already complete here.
        S_NOP
        | S_SET_INST_PREFETCH_DISTANCE
        | S_CLAUSE
        | S_DELAY_ALU
        | S_WAITCNT_DEPCTR
        | S_WAITCNT
        | S_WAIT_IDLE
        | S_WAIT_EVENT
        | S_SETPRIO
        | S_INCPERFLEVEL
        | S_DECPERFLEVEL
        | S_TTRACEDATA
        | S_TTRACEDATA_IMM
        | S_SETKILL
        | S_SINGLEUSE_VDST
        | S_WAIT_LOADCNT
        | S_WAIT_STORECNT
        | S_WAIT_SAMPLECNT
        | S_WAIT_BVHCNT
        | S_WAIT_EXPCNT
        | S_WAIT_DSCNT
        | S_WAIT_KMCNT
        | S_WAIT_LOADCNT_DSCNT
        | S_WAIT_STORECNT_DSCNT
        | S_WAKEUP => nothing,
        _ => sopp,
    }
}

/// SOPP.
fn sopp(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Sopp { simm16 } = op.instruction.fields else { return mismatch(op) };
    let jump = |wave: &mut Wave, taken: bool| {
        if taken {
            wave.pc = wave.pc.wrapping_add_signed(i64::from(simm16 as i16) * 4);
        }
        Ok(())
    };
    match op.instruction.opcode {
        S_SET_GPR_IDX_OFF => {
            wave.indexes = false;
            Ok(())
        }
        S_SET_GPR_IDX_MODE => {
            indexed::set_operands(wave, simm16.into());
            Ok(())
        }
        S_BRANCH => jump(wave, true),
        S_CBRANCH_SCC0 => jump(wave, !wave.scc),
        S_CBRANCH_SCC1 => jump(wave, wave.scc),
        S_CBRANCH_VCCZ => jump(wave, wave.mask(VCC) == 0),
        S_CBRANCH_VCCNZ => jump(wave, wave.mask(VCC) != 0),
        S_CBRANCH_EXECZ => jump(wave, wave.mask(EXEC) == 0),
        S_CBRANCH_EXECNZ => jump(wave, wave.mask(EXEC) != 0),
        // The debugger's condition bits are never set.
        S_CBRANCH_CDBGSYS
        | S_CBRANCH_CDBGUSER
        | S_CBRANCH_CDBGSYS_OR_USER
        | S_CBRANCH_CDBGSYS_AND_USER => Ok(()),
        S_ENDPGM | S_ENDPGM_SAVED => {
            wave.state = State::Ended;
            env.barriers.leave();
            Err(Stop::End)
        }
        S_BARRIER => {
            wave.state = State::AtBarrier;
            Err(Stop::Barrier)
        }
        S_BARRIER_WAIT => barrier::wait(wave, op, env, simm16),
        S_SLEEP => Err(Stop::Yield),
        S_ROUND_MODE => {
            wave.mode.set_round(u32::from(simm16));
            Ok(())
        }
        S_DENORM_MODE => {
            wave.mode.set_denormals(u32::from(simm16));
            Ok(())
        }
        S_ICACHE_INV => {
            env.invalidate_code = true;
            Ok(())
        }
        S_TRAP => trap::execute(wave, op, env, simm16 as u8),
        S_SENDMSG => send(wave, env, simm16),
        S_SENDMSGHALT => {
            send(wave, env, simm16)?;
            set_halt(wave, true)
        }
        S_SETHALT => match (simm16 & FATAL_HALT != 0, simm16 & 1 != 0) {
            (false, halt) => set_halt(wave, halt),
            (true, true) => Err(trap::halt(wave)),
            (true, false) => Ok(()),
        },
        S_CODE_END => Err(Stop::illegal("s_code_end: execution ran past the end of the program")),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}

/// STATUS.HALT takes effect at once outside the trap handler, and when it is left inside (RDNA3 ISA document,
/// "S_SETHALT").
fn set_halt(wave: &mut Wave, halt: bool) -> Step {
    wave.halt = halt;
    if halt && !wave.privileged { Err(trap::halt(wave)) } else { Ok(()) }
}

fn send(wave: &Wave, env: &Env<'_>, simm16: u16) -> Step {
    if wave.traits.message_operations && simm16 & 0xf != message::INTERRUPT {
        return Err(Stop::not_modelled(format!(
            "s_sendmsg of message {}, which nothing here receives",
            simm16 & 0xf
        )));
    }
    match simm16 & 0xff {
        message::INTERRUPT => {
            env.outside.wave_interrupt(WaveInterrupt {
                data: wave.sgpr(M0) & WaveInterrupt::DATA,
                privileged: wave.privileged,
                wave: (wave.id & 0x1f) as u8,
            });
            Ok(())
        }
        // The wave ends next; what it frees is freed then.
        message::DEALLOC_VGPRS => Ok(()),
        other @ (message::STALL_WAVE_GEN | message::HALT_WAVES | message::HS_TESSFACTOR) => {
            Err(Stop::not_modelled(format!(
                "s_sendmsg of message {other}, which nothing here receives"
            )))
        }
        other => Err(Stop::not_modelled(format!("message {other}, which does not exist"))),
    }
}

/// `s_sendmsg_rtn_b32` and `_b64`.
pub(super) fn send_and_return(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Sop1 { sdst, ssrc0 } = op.instruction.fields else { return mismatch(op) };
    let value = match u32::from(ssrc0.0) {
        message::GET_REALTIME => env.outside.clock(),
        message::GET_DOORBELL => env.outside.doorbell_id().into(),
        // Those of Linux's handler, which is not in memory here.
        message::GET_DDID | message::GET_TMA | message::GET_TBA => {
            let text = format!("s_sendmsg_rtn of message {}, which nothing here answers", ssrc0.0);
            return Err(Stop::not_modelled(text));
        }
        other => return Err(Stop::not_modelled(format!("message {other} returns nothing"))),
    };
    if op.instruction.opcode == Opcode::S_SENDMSG_RTN_B64 {
        wave.set_sgpr64(sdst, value);
    } else {
        wave.set_sgpr(sdst, value as u32);
    }
    Ok(())
}
