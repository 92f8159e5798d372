//! Vector registers by index (gfx9): `s_set_gpr_idx_on` to `s_set_gpr_idx_off` (Vega ISA document, "VGPR indexing").
//!
//! M0 7:0 is the index, M0 15:12 say to which operands it is added: the three sources and the destination. MODE's
//! bit for it is not shown by `s_getreg_b32`.

use super::code::Op;
use super::wave::{Env, M0, Step, Stop, Wave};
use amdgpu_isa::{Fields, Flags, Opcode, OperandKind, Src};

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

/// Executes an instruction while registers are indexed: those of the vector ALU. Other formats have no indices. What is
/// read and written by one name is refused where the two would be told apart, and so are matrices.
#[cold]
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let opcode = op.instruction.opcode;
    let info = opcode.info();
    let m0 = wave.sgpr(M0);
    let (index, operands) = (m0 & INDEX, m0 >> 12 & 0xf);
    let mut op = *op;
    let (vdst, src) = match &mut op.instruction.fields {
        Fields::Valu(valu) => (&mut valu.vdst, &mut valu.src),
        Fields::Vop3p { vdst, src, .. } => (vdst, src),
        Fields::Vopd { .. } | Fields::Matrix { .. } => return Err(refused(&op)),
        _ => return (op.run)(wave, &op, env),
    };
    let twice = info.flags.contains(Flags::READS_DST) || opcode.name().contains("SWAP");
    if twice && operands & DESTINATION != 0 || opcode == Opcode::V_ACCVGPR_MOV_B32 {
        return Err(refused(&op));
    }
    for (position, (source, kind)) in src.iter_mut().zip(info.src).enumerate() {
        if let Some(register) = source.vgpr()
            && operands >> position & 1 != 0
        {
            *source = Src(256 + u16::from(indexed(wave, register, index, kind)?));
        }
    }
    let scalar = info.flags.contains(Flags::SCALAR_DST)
        || matches!(info.dst, OperandKind::Mask | OperandKind::None);
    if operands & DESTINATION != 0 && !scalar {
        *vdst = indexed(wave, *vdst, index, info.dst)?;
    }
    (op.run)(wave, &op, env)
}

/// The register that an index leads to, the first of those that an operand takes.
fn indexed(wave: &Wave, register: u8, index: u32, kind: OperandKind) -> Result<u8, Stop> {
    let (sum, allocated) = (u32::from(register) + index, wave.vgprs());
    let last = sum as usize + usize::from(kind.dwords(false).max(1)) - 1;
    match u8::try_from(sum) {
        Ok(register) if last < allocated => Ok(register),
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
