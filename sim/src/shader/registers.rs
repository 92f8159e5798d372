//! Hardware registers of a wave (`s_getreg_b32`, `s_setreg_b32`).

use super::Launch;
use super::generation::{FlatScratch, Register};
use super::trap;
use super::wave::{EXEC, Env, Step, Stop, VCC, Wave};

/// A field of a register: number 5:0, offset 10:6, size − 1 15:11.
fn field(simm16: u16) -> (u32, u32, u32) {
    let simm16 = u32::from(simm16);
    let size = (simm16 >> 11) + 1;
    (simm16 & 0x3f, simm16 >> 6 & 0x1f, u32::MAX >> (32 - size))
}

/// STATUS (gc_11_0_0_sh_mask.h, `SQ_WAVE_STATUS`).
pub(super) fn status(wave: &Wave, launch: &Launch) -> u32 {
    u32::from(wave.scc)
        | u32::from(wave.privileged) << 5
        | u32::from(launch.takes_traps()) << 6
        | u32::from(wave.mask(EXEC) == 0) << 9
        | u32::from(wave.mask(VCC) == 0) << 10
        | u32::from(wave.halt) << 13
        | 1 << 16 // VALID
}

/// STATUS of gfx12 (AMD's rocjitsu, `rdna4/isa.h`, and for what that lacks cwsr_trap_handler_gfx12.asm,
/// `SQ_WAVE_STATUS_*`): PRIV, TRAP_EN, EXECZ, VCCZ, IN_WG of more than one wave, VALID, WAVE64.
fn status_gfx12(wave: &Wave, launch: &Launch) -> u32 {
    u32::from(wave.privileged) << 5
        | 1 << 6
        | u32::from(wave.mask(EXEC) == 0) << 9
        | u32::from(wave.mask(VCC) == 0) << 10
        | u32::from(launch.waves() > 1) << 11
        | 1 << 16
        | u32::from(wave.halves == 2) << 29
}

/// STATE_PRIV without its barriers (cwsr_trap_handler_gfx12.asm, `SQ_WAVE_STATE_PRIV_*`).
pub(super) fn state(wave: &Wave) -> u32 {
    u32::from(wave.scc) << STATE_SCC | u32::from(wave.halt) << STATE_HALT
}

const STATE_SCC: u32 = 9;
const STATE_HALT: u32 = 14;
/// STATE_PRIV.BARRIER_COMPLETE.
const STATE_BARRIER: u32 = 2;

/// Reads a field of a register.
pub(super) fn get(wave: &Wave, env: &Env<'_>, simm16: u16) -> Result<u32, Stop> {
    let (register, offset, mask) = field(simm16);
    let launch = env.launch;
    let value = match wave.traits.register(register).ok_or_else(|| unknown("s_getreg", register))? {
        Register::Mode => wave.mode.bits(),
        Register::Status => status(wave, launch),
        Register::TrapStatus => wave.trapsts,
        Register::StatusGfx12 => status_gfx12(wave, launch),
        Register::StatePriv => {
            state(wave) | u32::from(env.barriers.is_complete(wave.id)) << STATE_BARRIER
        }
        Register::ExceptionsUser => wave.exceptions,
        Register::TrapControl => wave.trap_control,
        Register::InstructionBuffer => 0,
        Register::VgprAllocation => {
            let granule = if wave.halves == 1 { 8 } else { 4 };
            ((wave.vgprs().div_ceil(granule) as u32).saturating_sub(1) & 0xff) << 12
        }
        Register::LdsAllocation => (launch.lds_bytes.div_ceil(512) & 0x1ff) << 12,
        Register::Apertures => {
            launch.private_aperture_hi >> 16 | launch.shared_aperture_hi & 0xffff_0000
        }
        Register::ScratchLow => wave.scratch as u32,
        Register::ScratchHigh => (wave.scratch >> 32) as u32,
        // WAVE_ID 3:0.
        Register::HardwareId => wave.id & 0xf | wave.unit.hardware_id(),
        Register::Die => wave.xcc,
        // WAVE_ID 4:0.
        Register::HardwareId1 => wave.id & 0x1f | wave.unit.hardware_id1(),
        Register::HardwareId2 => 0,
        Register::Cycles => wave.executed as u32 & 0xf_ffff,
        Register::CyclesLow => wave.executed as u32,
        Register::CyclesHigh => (wave.executed >> 32) as u32,
    };
    Ok(value >> offset & mask)
}

/// Whether the wave may write FLAT_SCR_LO and FLAT_SCR_HI, which kernels of gfx10 do at their start (LLVM's AMDGPUUsage
/// document, "Flat Scratch" of the kernel prologue).
fn sets_scratch(wave: &Wave) -> bool {
    wave.privileged || wave.traits.flat_scratch == FlatScratch::RegisterSetByKernel
}

/// Bits of EXCP_FLAG_USER: the arithmetic exceptions (ROCr's trap_handler_gfx12.s,
/// `SQ_WAVE_EXCP_FLAG_USER_MATH_EXCP_SIZE`).
const USER_EXCEPTIONS: u32 = 0x7f;
/// Bits of TRAP_CTRL: the arithmetic exceptions, address watch, end of the wave, each instruction (the same,
/// `SQ_WAVE_TRAP_CTRL_*`).
const TRAP_CONTROLS: u32 = 0x3ff;

/// Writes a field of a register. Only MODE, what stands for parts of it in gfx12, and gfx10's scratch address may be
/// written without privilege.
/// Of STATUS and STATE_PRIV SCC and HALT are kept; a trap handler writes back all of it, and the rest is as it was or is
/// nothing here.
pub(super) fn set(wave: &mut Wave, launch: &Launch, simm16: u16, value: u32) -> Step {
    let (register, offset, mask) = field(simm16);
    let (mask, value) = (mask << offset, value << offset);
    // A register with the field in it, of the bits that can be written.
    let merged = |old: u32, writable: u32| old & !(mask & writable) | value & mask & writable;
    match wave.traits.register(register).ok_or_else(|| unknown("s_setreg", register))? {
        Register::Mode => {
            wave.mode = wave.mode.with_bits(merged(wave.mode.bits(), u32::MAX));
            trap::events(wave.traits, launch, wave.mode.exceptions()).map_err(Stop::not_modelled)
        }
        known @ (Register::Status | Register::StatePriv) if wave.privileged => {
            let bit = |old: bool, at: u32| merged(u32::from(old) << at, 1 << at) != 0;
            let (scc, halt) =
                if known == Register::Status { (0, 13) } else { (STATE_SCC, STATE_HALT) };
            wave.scc = bit(wave.scc, scc);
            wave.halt = bit(wave.halt, halt);
            Ok(())
        }
        Register::ExceptionsUser => {
            wave.exceptions = merged(wave.exceptions, USER_EXCEPTIONS);
            Ok(())
        }
        Register::TrapControl => {
            wave.trap_control = merged(wave.trap_control, TRAP_CONTROLS);
            trap::events(wave.traits, launch, wave.trap_control).map_err(Stop::not_modelled)
        }
        Register::TrapStatus if wave.privileged => {
            wave.trapsts = merged(wave.trapsts, u32::MAX);
            Ok(())
        }
        // Writes without privilege are dropped (RDNA3 ISA document, S_SETREG_B32: writeable bits).
        Register::Status
        | Register::StatusGfx12
        | Register::StatePriv
        | Register::TrapStatus
        | Register::VgprAllocation
        | Register::LdsAllocation
        | Register::InstructionBuffer => Ok(()),
        Register::ScratchLow if sets_scratch(wave) => {
            let low = merged(wave.scratch as u32, u32::MAX);
            wave.scratch = wave.scratch & !0xffff_ffff | u64::from(low);
            Ok(())
        }
        Register::ScratchHigh if sets_scratch(wave) => {
            let high = merged((wave.scratch >> 32) as u32, u32::MAX);
            wave.scratch = wave.scratch & 0xffff_ffff | u64::from(high) << 32;
            Ok(())
        }
        _ => Err(unknown("s_setreg", register)),
    }
}

#[cold]
fn unknown(operation: &str, register: u32) -> Stop {
    Stop::not_modelled(format!("{operation} of register {register} is not modelled"))
}
