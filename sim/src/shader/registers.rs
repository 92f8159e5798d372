//! Hardware registers of a wave (`s_getreg_b32`, `s_setreg_b32`).

use super::Launch;
use super::mode::Mode;
use super::wave::{EXEC, Env, Stop, VCC, Wave};

// Numbers of the registers: LLVM's AMDGPU assembler, `hwreg` names for gfx11.
const MODE: u32 = 1;
const STATUS: u32 = 2;
const TRAPSTS: u32 = 3;
const GPR_ALLOC: u32 = 5;
const LDS_ALLOC: u32 = 6;
const IB_STS: u32 = 7;
const SH_MEM_BASES: u32 = 15;
const FLAT_SCRATCH_LO: u32 = 20;
const FLAT_SCRATCH_HI: u32 = 21;
const HW_ID1: u32 = 23;
const HW_ID2: u32 = 24;
const SHADER_CYCLES: u32 = 29;

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

/// Reads a field of a register.
pub(super) fn get(wave: &Wave, env: &Env<'_>, simm16: u16) -> Result<u32, Stop> {
    let (register, offset, mask) = field(simm16);
    let launch = env.launch;
    let value = match register {
        MODE => wave.mode.bits(),
        STATUS => status(wave, launch),
        TRAPSTS => wave.trapsts,
        IB_STS => 0,
        GPR_ALLOC => {
            let granule = if wave.halves == 1 { 8 } else { 4 };
            ((wave.vgprs().div_ceil(granule) as u32).saturating_sub(1) & 0xff) << 12
        }
        LDS_ALLOC => (launch.lds_bytes.div_ceil(512) & 0x1ff) << 12,
        SH_MEM_BASES => launch.private_aperture_hi >> 16 | launch.shared_aperture_hi & 0xffff_0000,
        FLAT_SCRATCH_LO => wave.scratch as u32,
        FLAT_SCRATCH_HI => (wave.scratch >> 32) as u32,
        // WAVE_ID 4:0; the place on the machine is always the first.
        HW_ID1 => wave.id & 0x1f,
        HW_ID2 => 0,
        SHADER_CYCLES => wave.executed as u32 & 0xf_ffff,
        other => {
            return Err(Stop::not_modelled(format!(
                "s_getreg of register {other} is not modelled"
            )));
        }
    };
    Ok(value >> offset & mask)
}

/// Writes a field of a register. Only MODE may be written without privilege. Of STATUS SCC and HALT are kept; a
/// trap handler writes back all of it, and the rest is as it was or is nothing here.
pub(super) fn set(wave: &mut Wave, simm16: u16, value: u32) -> Result<(), Stop> {
    let (register, offset, mask) = field(simm16);
    match register {
        MODE => {
            let mask = mask << offset;
            wave.mode = Mode::from_bits(wave.mode.bits() & !mask | value << offset & mask);
            Ok(())
        }
        STATUS if wave.privileged => {
            let mask = mask << offset;
            let bit = |old: bool, at: u32| {
                if mask >> at & 1 != 0 { value << offset >> at & 1 != 0 } else { old }
            };
            wave.scc = bit(wave.scc, 0);
            wave.halt = bit(wave.halt, 13);
            Ok(())
        }
        TRAPSTS if wave.privileged => {
            let mask = mask << offset;
            wave.trapsts = wave.trapsts & !mask | value << offset & mask;
            Ok(())
        }
        // Writes without privilege are dropped (RDNA3 ISA document, S_SETREG_B32: writeable bits).
        STATUS | TRAPSTS | GPR_ALLOC | LDS_ALLOC | IB_STS => Ok(()),
        FLAT_SCRATCH_LO if wave.privileged => {
            wave.scratch = wave.scratch & !0xffff_ffff | u64::from(value);
            Ok(())
        }
        FLAT_SCRATCH_HI if wave.privileged => {
            wave.scratch = wave.scratch & 0xffff_ffff | u64::from(value) << 32;
            Ok(())
        }
        other => Err(Stop::not_modelled(format!("s_setreg of register {other} is not modelled"))),
    }
}
