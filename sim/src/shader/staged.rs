//! Loads from memory into LDS, and stores from there, that pass no VGPR.
//!
//! AMD "Instinct MI300" and "CDNA4" ISA documents, 10.3 (FLAT, GLOBAL, SCRATCH) and 9.1.9 (MUBUF): the dwords of
//! neighbouring lanes are neighbours in LDS, from M0 and the instruction's offset on; of loads of three or four dwords
//! each lane has 16 bytes.

use super::code::Op;
use super::generation::StagedLoads;
use super::place::Place;
use super::transfer::{self, Transfer};
use super::wave::{Env, LANES, M0, Step, Stop, Wave};
use amdgpu_isa::{Fields, Instruction, Opcode};

/// What an instruction moves between memory and LDS; `None` when it moves to or from VGPRs.
pub(super) fn of(instruction: &Instruction) -> Option<Transfer> {
    use Opcode::*;
    use Transfer::{Load, LoadSmall, Store};
    Some(match instruction.opcode {
        GLOBAL_LOAD_LDS_U8 | SCRATCH_LOAD_LDS_U8 | BUFFER_LOAD_LDS_U8 => {
            LoadSmall { bits: 8, signed: false }
        }
        GLOBAL_LOAD_LDS_I8 | SCRATCH_LOAD_LDS_I8 | BUFFER_LOAD_LDS_I8 => {
            LoadSmall { bits: 8, signed: true }
        }
        GLOBAL_LOAD_LDS_U16 | SCRATCH_LOAD_LDS_U16 | BUFFER_LOAD_LDS_U16 => {
            LoadSmall { bits: 16, signed: false }
        }
        GLOBAL_LOAD_LDS_I16 | SCRATCH_LOAD_LDS_I16 | BUFFER_LOAD_LDS_I16 => {
            LoadSmall { bits: 16, signed: true }
        }
        GLOBAL_LOAD_LDS_B32 | SCRATCH_LOAD_LDS_B32 | BUFFER_LOAD_LDS_B32 => Load(1),
        GLOBAL_LOAD_LDS_B96 => Load(3),
        GLOBAL_LOAD_LDS_B128 => Load(4),
        BUFFER_STORE_LDS_B32 => Store(1),
        opcode => match instruction.fields {
            Fields::Flat { lds: true, .. } | Fields::Mubuf { lds: true, .. } => {
                transfer::of(opcode)
                    .filter(|transfer| matches!(transfer, Load(1 | 3 | 4) | LoadSmall { .. }))?
            }
            _ => return None,
        },
    })
}

/// Where in LDS the first lane's part is, and how far those of neighbours are from each other.
pub(super) fn in_lds(wave: &Wave, op: &Op, transfer: Transfer) -> Result<(u32, u32), Stop> {
    let m0 = wave.sgpr(M0);
    let (start, offset) = match (wave.traits.staged_loads, &op.instruction.fields) {
        (StagedLoads::Bits(bits), Fields::Mubuf { offset, .. }) => {
            (m0 & !(u32::MAX << bits), *offset)
        }
        (StagedLoads::Bits(_), Fields::Flat { offset, .. }) => (m0 & 0x3_fffc, *offset as u32),
        _ => {
            let name = op.instruction.opcode.name();
            let text = format!("{name}, a load into LDS of this generation, is not modelled");
            return Err(Stop::not_modelled(text));
        }
    };
    let size = if matches!(transfer, Transfer::Load(3 | 4)) { 16 } else { 4 };
    Ok((start.wrapping_add(offset), size))
}

/// Bytes of LDS that each lane's part has.
pub(super) fn bytes_in_lds(transfer: Transfer) -> u64 {
    match transfer {
        Transfer::Load(dwords) => 4 * u64::from(dwords),
        _ => 4,
    }
}

/// Moves what `transfer` says for the lanes of `mask`, which are at `places` in memory.
pub(super) fn execute(
    wave: &Wave,
    op: &Op,
    env: &mut Env<'_>,
    transfer: Transfer,
    half: usize,
    mask: u32,
    places: &[Place; LANES],
) -> Step {
    let (first, size) = in_lds(wave, op, transfer)?;
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        let thread = (half * LANES + lane) as u32;
        let at = first.wrapping_add(size * thread);
        match transfer {
            Transfer::Load(dwords) => {
                for dword in 0..dwords {
                    let value = places[lane].load32(env, 4 * dword)?;
                    env.lds.store32(at.wrapping_add(4 * dword), value);
                }
            }
            Transfer::LoadSmall { bits, signed } => {
                let value = transfer::small(env, places[lane], bits, signed)?;
                env.lds.store32(at, value);
            }
            _ => {
                let value = env.lds.load32(at);
                places[lane].store32(env, 0, value)?;
            }
        }
    }
    Ok(())
}
