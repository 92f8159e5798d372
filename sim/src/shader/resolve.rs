//! Which function executes an instruction.

use super::code::Handler;
use super::vector::{
    carry, compare, convert, dot, double, dual, half, integer, lane, nothing, packed, scalar_float,
    scaled, single, small, transcendental,
};
use super::{barrier, buffer, control, flat, matrix, scalar, share, smem, wmma};
use amdgpu_isa::{Fields, Instruction, Opcode};

/// The executor of an instruction, `None` when nothing models it.
pub(super) fn handler(instruction: &Instruction) -> Option<Handler> {
    let name = instruction.opcode.name();
    Some(match &instruction.fields {
        Fields::Sop1 { .. } => match instruction.opcode {
            Opcode::S_SENDMSG_RTN_B32 | Opcode::S_SENDMSG_RTN_B64 => control::send_and_return,
            Opcode::S_BARRIER_SIGNAL
            | Opcode::S_BARRIER_SIGNAL_ISFIRST
            | Opcode::S_GET_BARRIER_STATE => barrier::sop1,
            _ => scalar::sop1,
        },
        Fields::Sop2 { .. } => scalar::sop2,
        Fields::Sopk { .. } => scalar::sopk,
        Fields::Sopc { .. } => scalar::sopc,
        Fields::Sopp { .. } => control::handler(instruction.opcode),
        Fields::Smem { .. } => smem::smem,
        Fields::Valu(_) => return vector(instruction.opcode),
        Fields::Vop3p { .. } => match name {
            "V_MFMA_LD_SCALE_B32" => matrix::lone_scale,
            _ if name.starts_with("V_WMMA") || name.starts_with("V_SWMMAC") => wmma::run,
            _ if name.ends_with("_F32") && name.starts_with("V_PK") || name == "V_PK_MOV_B32" => {
                packed::run_singles
            }
            _ if name.starts_with("V_DOT") || name.starts_with("V_FMA_MIX") => dot::run,
            _ => packed::run,
        },
        Fields::Matrix { .. } => match instruction.opcode {
            Opcode::V_ACCVGPR_READ_B32 | Opcode::V_ACCVGPR_WRITE_B32 => matrix::transfer,
            _ => matrix::run,
        },
        Fields::Vopd { .. } => dual::run,
        Fields::Ds { .. } => share::handler(instruction.opcode),
        Fields::Flat { lds, .. } => match name {
            _ if name.starts_with("GLOBAL") && *lds => flat::global,
            _ if name.starts_with("GLOBAL") => flat::global_handler(instruction.opcode),
            _ if name.starts_with("SCRATCH") => flat::scratch,
            _ => flat::flat,
        },
        Fields::Mubuf { .. } => buffer::run,
    })
}

fn vector(opcode: Opcode) -> Option<Handler> {
    use Opcode::*;
    let name = opcode.name();
    Some(match opcode {
        V_NOP | V_PIPEFLUSH | V_CLREXCP => nothing,
        V_ACCVGPR_MOV_B32 => matrix::transfer,
        _ if name.starts_with("V_CMP") => compare::run,
        _ if name.starts_with("V_CVT_SCALEF32") => scaled::run,
        V_READFIRSTLANE_B32
        | V_READLANE_B32
        | V_WRITELANE_B32
        | V_PERMLANE16_B32
        | V_PERMLANEX16_B32
        | V_PERMLANE16_VAR_B32
        | V_PERMLANEX16_VAR_B32
        | V_PERMLANE64_B32
        | V_MOVRELD_B32
        | V_MOVRELS_B32
        | V_MOVRELSD_B32
        | V_MOVRELSD_2_B32
        | V_SWAP_B32
        | V_SWAP_B16
        | V_SWAPREL_B32
        | V_PERMLANE16_SWAP_B32
        | V_PERMLANE32_SWAP_B32 => lane::run,
        V_ADD_CO_U32 | V_SUB_CO_U32 | V_SUBREV_CO_U32 | V_ADD_CO_CI_U32 | V_SUB_CO_CI_U32
        | V_SUBREV_CO_CI_U32 | V_MAD_U64_U32 | V_MAD_I64_I32 | V_LSHLREV_B64 | V_LSHRREV_B64
        | V_ASHRREV_I64 | V_LSHL_ADD_U64 | V_MOV_B64 | V_DIV_SCALE_F32 | V_DIV_SCALE_F64 => {
            carry::handler(opcode)
        }
        _ if name.starts_with("V_S_") => scalar_float::run,
        V_EXP_F32
        | V_LOG_F32
        | V_EXP_LEGACY_F32
        | V_LOG_LEGACY_F32
        | V_RCP_F32
        | V_RCP_IFLAG_F32
        | V_RSQ_F32
        | V_SQRT_F32
        | V_SIN_F32
        | V_COS_F32
        | V_FREXP_MANT_F32
        | V_FREXP_EXP_I32_F32
        | V_LDEXP_F32
        | V_DIV_FMAS_F32
        | V_DIV_FIXUP_F32
        | V_CUBEID_F32
        | V_CUBESC_F32
        | V_CUBETC_F32
        | V_CUBEMA_F32
        | V_MULLIT_F32
        | V_INTERP_P10_F32
        | V_INTERP_P2_F32
        | V_INTERP_P10_F16_F32
        | V_INTERP_P2_F16_F32
        | V_INTERP_P10_RTZ_F16_F32
        | V_INTERP_P2_RTZ_F16_F32 => transcendental::run,
        V_DOT2ACC_I32_I16 | V_DOT4ACC_I32_I8 | V_DOT8ACC_I32_I4 => dot::run,
        V_DOT2ACC_F32_F16 | V_DOT2ACC_F32_BF16 | V_DOT2_F16_F16 | V_DOT2_BF16_BF16 => dot::run,
        V_PK_FMAC_F16 => packed::run_vop2,
        V_ADD_F64 | V_FMAC_F64 | V_MUL_F64 | V_FMA_F64 | V_MIN_F64 | V_MAX_F64 | V_MINIMUM_F64
        | V_MAXIMUM_F64 | V_LDEXP_F64 | V_TRUNC_F64 | V_CEIL_F64 | V_RNDNE_F64 | V_FLOOR_F64
        | V_FRACT_F64 | V_RCP_F64 | V_RSQ_F64 | V_SQRT_F64 | V_FREXP_MANT_F64
        | V_FREXP_EXP_I32_F64 | V_DIV_FMAS_F64 | V_DIV_FIXUP_F64 | V_TRIG_PREOP_F64 => double::run,
        _ if name.starts_with("V_CVT")
            || matches!(
                opcode,
                V_SAT_PK_U8_I16 | V_PACK_B32_F16 | V_ASHR_PK_I8_I32 | V_ASHR_PK_U8_I32
            ) =>
        {
            convert::run
        }
        V_QSAD_PK_U16_U8 | V_MQSAD_PK_U16_U8 | V_MQSAD_U32_U8 => small::run_sad,
        V_SUBREV_NC_U16 | V_MAD_LEGACY_U16 | V_MAD_LEGACY_I16 => small::run,
        V_BITOP3_B16 | V_MOV_B16 | V_NOT_B16 | V_CNDMASK_B16 | V_ADD_NC_U16 | V_SUB_NC_U16
        | V_MUL_LO_U16 | V_MAX_U16 | V_MAX_I16 | V_MIN_U16 | V_MIN_I16 | V_ADD_NC_I16
        | V_SUB_NC_I16 | V_LSHLREV_B16 | V_LSHRREV_B16 | V_ASHRREV_I16 | V_AND_B16 | V_OR_B16
        | V_XOR_B16 | V_MAD_U16 | V_MAD_I16 | V_MIN3_I16 | V_MIN3_U16 | V_MAX3_I16 | V_MAX3_U16
        | V_MED3_I16 | V_MED3_U16 | V_MAD_U32_U16 | V_MAD_I32_I16 => small::run,
        V_FREXP_EXP_I16_F16 => half::run_exponent,
        _ if name.ends_with("_F16") => half::run,
        _ if name.ends_with("_F32") => single::handler(opcode),
        _ => integer::handler(opcode),
    })
}
