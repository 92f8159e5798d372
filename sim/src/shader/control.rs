//! Program control: SOPP, and messages.

use super::WaveFaultKind;
use super::code::Op;
use super::registers;
use super::scalar::mismatch;
use super::wave::{EXEC, Env, State, Step, Stop, TTMP0, VCC, Wave};
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

/// SOPP.
pub(super) fn sopp(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Sopp { simm16 } = op.instruction.fields else { return mismatch(op) };
    let jump = |wave: &mut Wave, taken: bool| {
        if taken {
            wave.pc = wave.pc.wrapping_add_signed(i64::from(simm16 as i16) * 4);
        }
        Ok(())
    };
    match op.instruction.opcode {
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
        | S_WAKEUP => Ok(()),
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
            Err(Stop::End)
        }
        S_BARRIER => {
            wave.state = State::AtBarrier;
            Err(Stop::Barrier)
        }
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
        S_TRAP => trap(wave, op, env, simm16 as u8),
        S_SENDMSG | S_SENDMSGHALT => send(op.instruction.opcode, simm16),
        S_SETHALT => match simm16 & 1 {
            0 => Ok(()),
            _ => Err(Stop::illegal(
                "s_sethalt 1 would halt the wave for a debugger that is not there",
            )),
        },
        S_CODE_END => Err(Stop::illegal("s_code_end: execution ran past the end of the program")),
        other => Err(Stop::illegal(format!("{} is not modelled", other.name()))),
    }
}

/// `s_trap`: enters the trap handler, or faults when there is none.
///
/// TTMP1:TTMP0 hold the PC of the instruction, and the trap id in bits 55:48
/// (RDNA3 ISA document, "S_TRAP").
fn trap(wave: &mut Wave, op: &Op, env: &Env<'_>, id: u8) -> Step {
    let Some((handler, _)) = env.launch.trap_handler else {
        return Err(Stop::Fault(Box::new(WaveFaultKind::Trap(id))));
    };
    let pc = wave.pc - u64::from(op.instruction.size);
    wave.set_sgpr64(TTMP0, pc & 0xffff_ffff_ffff | u64::from(id) << 48);
    wave.privileged = true;
    wave.pc = handler;
    Ok(())
}

fn send(opcode: Opcode, simm16: u16) -> Step {
    match simm16 & 0xff {
        // The wave ends next; what it frees is freed then.
        message::DEALLOC_VGPRS => Ok(()),
        message::STALL_WAVE_GEN
        | message::HALT_WAVES
        | message::HS_TESSFACTOR
        | message::INTERRUPT => Err(Stop::illegal(format!(
            "{} of message {}, which nothing here receives",
            opcode.name(),
            simm16 & 0xff
        ))),
        other => Err(Stop::illegal(format!("message {other} does not exist"))),
    }
}

/// `s_sendmsg_rtn_b32` and `_b64`.
pub(super) fn send_and_return(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Sop1 { sdst, ssrc0 } = op.instruction.fields else { return mismatch(op) };
    let value = match u32::from(ssrc0.0) {
        message::GET_REALTIME => registers::realtime(),
        message::GET_DOORBELL => {
            return Err(Stop::illegal("message GET_DOORBELL, which nothing here answers"));
        }
        message::GET_DDID => {
            return Err(Stop::illegal("message GET_DDID, which nothing here answers"));
        }
        message::GET_TMA => env.launch.trap_handler.map_or(0, |(_, data)| data),
        message::GET_TBA => env.launch.trap_handler.map_or(0, |(handler, _)| handler),
        other => return Err(Stop::illegal(format!("message {other} returns nothing"))),
    };
    if op.instruction.opcode == Opcode::S_SENDMSG_RTN_B64 {
        wave.set_sgpr64(sdst, value);
    } else {
        wave.set_sgpr(sdst, value as u32);
    }
    Ok(())
}
