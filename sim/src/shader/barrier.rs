//! The barriers of a workgroup that waves signal and wait for in two steps.
//!
//! Modelled is the workgroup's own barrier, number −1. The trap handler's, −2, is a NOP without privilege (RDNA4 ISA
//! document, S_BARRIER_SIGNAL). A wave that is a workgroup by itself signals nothing and is never the first (the same,
//! `InWorkgroup`), and it does not wait: ROCm's kernels have both without asking how many waves there are.
//!
//! Named barriers, whose numbers are positive, are refused. LLVM assembles S_BARRIER_INIT and S_BARRIER_JOIN for gfx12.0,
//! but the document has no instruction that gives one members, and kernel descriptors have no field that asks for some
//! before gfx12.5 (LLVM's AMDGPUUsage document, NAMED_BAR_CNT).

use super::code::Op;
use super::scalar::mismatch;
use super::wave::{Env, M0, State, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode, Src};

/// Number of the workgroup's barrier.
const WORKGROUP: i32 = -1;
/// Number of the trap handler's barrier.
const TRAP: i32 = -2;

/// The state of a workgroup's barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barriers {
    /// Waves that take part: those that have not ended.
    members: u32,
    /// Signals since it was last complete.
    signals: u32,
    /// Waves that have still to wait for a completion, by their number.
    complete: u64,
}

impl Barriers {
    /// Of a workgroup that starts with so many waves.
    pub(super) fn new(waves: u32) -> Barriers {
        Barriers { members: waves, signals: 0, complete: 0 }
    }

    /// A wave signals; whether it is the first to.
    fn signal(&mut self) -> bool {
        self.signals += 1;
        let first = self.signals == 1;
        self.check();
        first
    }

    /// A wave has ended: it takes part no more.
    pub(super) fn leave(&mut self) {
        self.members = self.members.saturating_sub(1);
        self.check();
    }

    fn check(&mut self) {
        if self.signals > 0 && self.signals >= self.members {
            self.signals = 0;
            self.complete = u64::MAX;
        }
    }

    /// Whether the barrier has been complete since the wave last waited, which is taken note of.
    fn take(&mut self, wave: u32) -> bool {
        let bit = 1 << (wave & 63);
        let complete = self.complete & bit != 0;
        self.complete &= !bit;
        complete
    }

    /// Whether the wave need wait no longer.
    pub(super) fn is_complete(&self, wave: u32) -> bool {
        self.complete >> (wave & 63) & 1 != 0
    }
}

/// `s_barrier_signal`, `s_barrier_signal_isfirst` and `s_get_barrier_state`.
pub(super) fn sop1(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Sop1 { sdst, ssrc0 } = op.instruction.fields else { return mismatch(op) };
    let number = match ssrc0 {
        // M0 cannot name the barriers with negative numbers.
        Src::M0 => (wave.sgpr(M0) & 0x1f) as i32,
        _ => wave.s32(ssrc0, op.constants[0]) as i32,
    };
    let first = match (op.instruction.opcode, number) {
        (Opcode::S_GET_BARRIER_STATE, WORKGROUP) => {
            let Barriers { members, signals, .. } = *env.barriers;
            wave.set_sgpr(sdst, 1 | (members & 0x7f) << 4 | (signals & 0x7f) << 16);
            return Ok(());
        }
        (Opcode::S_BARRIER_SIGNAL | Opcode::S_BARRIER_SIGNAL_ISFIRST, WORKGROUP) => {
            env.launch.waves() > 1 && env.barriers.signal()
        }
        // Barrier 0 is a NOP.
        (Opcode::S_BARRIER_SIGNAL | Opcode::S_BARRIER_SIGNAL_ISFIRST, 0) => false,
        (Opcode::S_BARRIER_SIGNAL | Opcode::S_BARRIER_SIGNAL_ISFIRST, TRAP) if !wave.privileged => {
            false
        }
        (opcode, number) => {
            let text = format!("{} of barrier {number} is not modelled", opcode.name());
            return Err(Stop::not_modelled(text));
        }
    };
    if op.instruction.opcode == Opcode::S_BARRIER_SIGNAL_ISFIRST {
        wave.scc = first;
    }
    Ok(())
}

/// `s_barrier_wait`.
pub(super) fn wait(wave: &mut Wave, op: &Op, env: &mut Env<'_>, simm16: u16) -> Step {
    if i32::from(simm16 as i16) != WORKGROUP {
        let text = format!("s_barrier_wait of barrier {} is not modelled", simm16 as i16);
        return Err(Stop::not_modelled(text));
    }
    if env.launch.waves() == 1 || env.barriers.take(wave.id) {
        return Ok(());
    }
    // It is executed again, to take note, when the barrier is complete.
    wave.pc -= u64::from(op.instruction.size);
    wave.executed -= 1;
    wave.state = State::AtSplitBarrier;
    Err(Stop::Barrier)
}
