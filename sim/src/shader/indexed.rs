//! Vector registers by index (gfx9): `s_set_gpr_idx_on` to `s_set_gpr_idx_off` (Vega ISA document, "VGPR indexing").
//!
//! M0 7:0 is the index, M0 15:12 say to which operands it is added: the three sources and the destination. MODE's
//! bit for it is not shown by `s_getreg_b32`.

use super::code::Op;
use super::wave::{Env, M0, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode, Src};

const INDEX: u32 = 0xff;
const OPERANDS: u32 = 0xf << 12;
const DESTINATION: u32 = 8;

/// `s_set_gpr_idx_on`, `s_set_gpr_idx_idx`: the index.
pub(super) fn set_index(wave: &mut Wave, index: u32) {
    wave.set_sgpr(M0, wave.sgpr(M0) & !INDEX | index & INDEX);
}

/// `s_set_gpr_idx_on`, `s_set_gpr_idx_mode`: the operands that are indexed.
pub(super) fn set_operands(wave: &mut Wave, operands: u32) {
    wave.set_sgpr(M0, wave.sgpr(M0) & !OPERANDS | operands << 12 & OPERANDS);
}

/// Executes an instruction while registers are indexed. Of the vector ALU that is V_MOV_B32, as compilers have it;
/// other formats have no indices.
#[cold]
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Valu(mut valu) = op.instruction.fields else {
        return match op.instruction.fields {
            Fields::Vop3p { .. } | Fields::Vopd { .. } | Fields::Matrix { .. } => Err(refused(op)),
            _ => (op.run)(wave, op, env),
        };
    };
    if op.instruction.opcode != Opcode::V_MOV_B32 || valu.dpp.is_some() || valu.sdwa.is_some() {
        return Err(refused(op));
    }
    let m0 = wave.sgpr(M0);
    let (index, operands) = (m0 & INDEX, m0 >> 12);
    if let Some(register) = valu.src[0].vgpr()
        && operands & 1 != 0
    {
        valu.src[0] = Src(256 + u16::from(indexed(wave, register, index)?));
    }
    if operands & DESTINATION != 0 {
        valu.vdst = indexed(wave, valu.vdst, index)?;
    }
    let mut op = *op;
    op.instruction.fields = Fields::Valu(valu);
    (op.run)(wave, &op, env)
}

/// The register that an index leads to.
fn indexed(wave: &Wave, register: u8, index: u32) -> Result<u8, Stop> {
    let (sum, allocated) = (u32::from(register) + index, wave.vgprs());
    match u8::try_from(sum) {
        Ok(register) if usize::from(register) < allocated => Ok(register),
        _ => Err(Stop::not_modelled(format!(
            "v{register} with index {index}, but the dispatch allocates {allocated} VGPRs to a wave"
        ))),
    }
}

fn refused(op: &Op) -> Stop {
    Stop::not_modelled(format!(
        "{} with indexed registers is not modelled",
        op.instruction.opcode.name()
    ))
}
