//! The scalar ALU: SOP1, SOP2, SOPK, SOPC.

use super::code::Op;
use super::float::{self, f32_to_i32, f32_to_u32};
use super::indexed;
use super::mode::Mode;
use super::registers;
use super::trap;
use super::wave::{EXEC, Env, M0, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode, Src};

/// SOP1.
pub(super) fn sop1(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Sop1 { sdst, ssrc0 } = op.instruction.fields else { return mismatch(op) };
    let constant = op.constants[0];
    let opcode = op.instruction.opcode;
    match opcode {
        S_MOV_B32 => {
            let value = wave.s32(ssrc0, constant);
            wave.set_sgpr(sdst, value);
        }
        S_MOV_B64 => {
            let value = wave.s64(ssrc0, constant);
            wave.set_sgpr64(sdst, value);
        }
        S_CMOV_B32 => {
            if wave.scc {
                let value = wave.s32(ssrc0, constant);
                wave.set_sgpr(sdst, value);
            }
        }
        S_CMOV_B64 => {
            if wave.scc {
                let value = wave.s64(ssrc0, constant);
                wave.set_sgpr64(sdst, value);
            }
        }
        S_BITSET0_B32 | S_BITSET1_B32 => {
            let bit = 1 << (wave.s32(ssrc0, constant) & 31);
            let old = wave.sgpr(sdst);
            wave.set_sgpr(sdst, if opcode == S_BITSET1_B32 { old | bit } else { old & !bit });
        }
        S_BITSET0_B64 | S_BITSET1_B64 => {
            let bit = 1 << (wave.s32(ssrc0, constant) & 63);
            let old = wave.sgpr64(sdst);
            wave.set_sgpr64(sdst, if opcode == S_BITSET1_B64 { old | bit } else { old & !bit });
        }
        S_BITREPLICATE_B64_B32 => {
            let value = u64::from(wave.s32(ssrc0, constant));
            let spread = (0..32).fold(0, |all, bit| all | ((value >> bit & 1) * 3) << (2 * bit));
            wave.set_sgpr64(sdst, spread);
        }
        S_MOVRELS_B32 => {
            let from = relative(wave, ssrc0.0)?;
            wave.set_sgpr(sdst, wave.sgpr(from));
        }
        S_MOVRELS_B64 => {
            let from = relative_pair(wave, ssrc0.0)?;
            wave.set_sgpr64(sdst, wave.sgpr64(from));
        }
        S_MOVRELD_B32 => {
            let to = relative(wave, u16::from(sdst))?;
            wave.set_sgpr(to, wave.s32(ssrc0, constant));
        }
        S_MOVRELD_B64 => {
            let to = relative_pair(wave, u16::from(sdst))?;
            wave.set_sgpr64(to, wave.s64(ssrc0, constant));
        }
        S_MOVRELSD_2_B32 => {
            let m0 = wave.sgpr(M0);
            let from = bounded(u32::from(ssrc0.0) + (m0 & 0x3ff))?;
            let to = bounded(u32::from(sdst) + (m0 >> 16 & 0x3ff))?;
            wave.set_sgpr(to, wave.sgpr(from));
        }
        S_GETPC_B64 => wave.set_sgpr64(sdst, wave.pc),
        S_SETPC_B64 => wave.pc = wave.s64(ssrc0, constant) & !3,
        S_SWAPPC_B64 => {
            let target = wave.s64(ssrc0, constant) & !3;
            wave.set_sgpr64(sdst, wave.pc);
            wave.pc = target;
        }
        S_SET_GPR_IDX_IDX => indexed::set_index(wave, wave.s32(ssrc0, constant)),
        // Time is not modelled: other waves go on.
        S_SLEEP_VAR => return Err(Stop::Yield),
        S_RFE_B64 => {
            if !wave.privileged {
                return Err(Stop::illegal("s_rfe_b64 without privilege"));
            }
            return trap::leave(wave, env.launch, wave.s64(ssrc0, constant));
        }
        _ => return sop1_value(wave, opcode, sdst, ssrc0, constant),
    }
    Ok(())
}

/// SOP1 operations that compute a value and perhaps SCC.
fn sop1_value(wave: &mut Wave, opcode: Opcode, sdst: u8, ssrc0: Src, constant: u64) -> Step {
    use Opcode::*;
    let narrow = || wave.s32(ssrc0, constant);
    let wide = || wave.s64(ssrc0, constant);
    let set = |wave: &mut Wave, value: u32| {
        wave.set_sgpr(sdst, value);
        Ok(())
    };
    let set_scc = |wave: &mut Wave, value: u32| {
        wave.scc = value != 0;
        wave.set_sgpr(sdst, value);
        Ok(())
    };
    let set64_scc = |wave: &mut Wave, value: u64| {
        wave.scc = value != 0;
        wave.set_sgpr64(sdst, value);
        Ok(())
    };
    let found = |count: u32, width: u32| if count == width { u32::MAX } else { count };
    match opcode {
        S_BREV_B32 => set(wave, narrow().reverse_bits()),
        S_BREV_B64 => {
            let value = wide().reverse_bits();
            wave.set_sgpr64(sdst, value);
            Ok(())
        }
        S_CTZ_I32_B32 => set(wave, found(narrow().trailing_zeros(), 32)),
        S_CTZ_I32_B64 => set(wave, found(wide().trailing_zeros(), 64)),
        S_FF0_I32_B32 => set(wave, found(narrow().trailing_ones(), 32)),
        S_FF0_I32_B64 => set(wave, found(wide().trailing_ones(), 64)),
        S_CLZ_I32_U32 => set(wave, found(narrow().leading_zeros(), 32)),
        S_CLZ_I32_U64 => set(wave, found(wide().leading_zeros(), 64)),
        S_CLS_I32 => {
            let value = narrow();
            let flipped = if value >> 31 != 0 { !value } else { value };
            set(wave, found(flipped.leading_zeros(), 32))
        }
        S_CLS_I32_I64 => {
            let value = wide();
            let flipped = if value >> 63 != 0 { !value } else { value };
            set(wave, found(flipped.leading_zeros(), 64))
        }
        S_SEXT_I32_I8 => set(wave, narrow() as i8 as u32),
        S_SEXT_I32_I16 => set(wave, narrow() as i16 as u32),
        S_ABS_I32 => set_scc(wave, (narrow() as i32).unsigned_abs()),
        S_BCNT0_I32_B32 => set_scc(wave, narrow().count_zeros()),
        S_BCNT0_I32_B64 => set_scc(wave, wide().count_zeros()),
        S_BCNT1_I32_B32 => set_scc(wave, narrow().count_ones()),
        S_BCNT1_I32_B64 => set_scc(wave, wide().count_ones()),
        S_QUADMASK_B32 => set_scc(wave, quads(u64::from(narrow())) as u32),
        S_QUADMASK_B64 => set64_scc(wave, quads(wide())),
        S_WQM_B32 => set_scc(wave, whole_quads(u64::from(narrow())) as u32),
        S_WQM_B64 => set64_scc(wave, whole_quads(wide())),
        S_NOT_B32 => set_scc(wave, !narrow()),
        S_NOT_B64 => set64_scc(wave, !wide()),
        _ => match sop1_float(&wave.mode, opcode, || wave.s32(ssrc0, constant)) {
            Some(value) => set(wave, value),
            None => saveexec(wave, opcode, sdst, ssrc0, constant),
        },
    }
}

/// Scalar floating point with one source (RDNA3.5).
fn sop1_float(mode: &Mode, opcode: Opcode, source: impl Fn() -> u32) -> Option<u32> {
    use Opcode::*;
    let f32s = || f32::from_bits(float::flush_in32(mode, source()));
    let f16s = || float::f16_to_f32(float::flush_in16(mode, source()));
    let out32 = |value: f32| float::flush_out32(mode, float::quiet32(value.to_bits()));
    let out16 = |value: f32| float::f32_to_f16(mode, value);
    Some(match opcode {
        S_CEIL_F32 => out32(f32s().ceil()),
        S_FLOOR_F32 => out32(f32s().floor()),
        S_TRUNC_F32 => out32(f32s().trunc()),
        S_RNDNE_F32 => out32(f32s().round_ties_even()),
        S_CVT_F32_I32 => float::i64_to_f32(mode, i64::from(source() as i32)),
        S_CVT_F32_U32 => float::i64_to_f32(mode, i64::from(source())),
        S_CVT_I32_F32 => f32_to_i32(f32s()) as u32,
        S_CVT_U32_F32 => f32_to_u32(f32s()),
        S_CVT_F16_F32 => out16(f32s()),
        S_CVT_F32_F16 => f16s().to_bits(),
        S_CVT_HI_F32_F16 => float::f16_to_f32(float::flush_in16(mode, source() >> 16)).to_bits(),
        S_CEIL_F16 => out16(f16s().ceil()),
        S_FLOOR_F16 => out16(f16s().floor()),
        S_TRUNC_F16 => out16(f16s().trunc()),
        S_RNDNE_F16 => out16(f16s().round_ties_even()),
        _ => return None,
    })
}

/// Operations on EXEC that save or replace it.
fn saveexec(wave: &mut Wave, opcode: Opcode, sdst: u8, ssrc0: Src, constant: u64) -> Step {
    use Opcode::*;
    let name = opcode.name();
    let narrow = name.ends_with("B32");
    let (source, exec) = if narrow {
        (u64::from(wave.s32(ssrc0, constant)), u64::from(wave.sgpr(EXEC)))
    } else {
        (wave.s64(ssrc0, constant), wave.sgpr64(EXEC))
    };
    let (value, writes_new) = match opcode {
        S_AND_SAVEEXEC_B32 | S_AND_SAVEEXEC_B64 => (source & exec, false),
        S_OR_SAVEEXEC_B32 | S_OR_SAVEEXEC_B64 => (source | exec, false),
        S_XOR_SAVEEXEC_B32 | S_XOR_SAVEEXEC_B64 => (source ^ exec, false),
        S_NAND_SAVEEXEC_B32 | S_NAND_SAVEEXEC_B64 => (!(source & exec), false),
        S_NOR_SAVEEXEC_B32 | S_NOR_SAVEEXEC_B64 => (!(source | exec), false),
        S_XNOR_SAVEEXEC_B32 | S_XNOR_SAVEEXEC_B64 => (!(source ^ exec), false),
        S_AND_NOT0_SAVEEXEC_B32 | S_AND_NOT0_SAVEEXEC_B64 => (!source & exec, false),
        S_OR_NOT0_SAVEEXEC_B32 | S_OR_NOT0_SAVEEXEC_B64 => (!source | exec, false),
        S_AND_NOT1_SAVEEXEC_B32 | S_AND_NOT1_SAVEEXEC_B64 => (source & !exec, false),
        S_OR_NOT1_SAVEEXEC_B32 | S_OR_NOT1_SAVEEXEC_B64 => (source | !exec, false),
        S_AND_NOT0_WREXEC_B32 | S_AND_NOT0_WREXEC_B64 => (!source & exec, true),
        S_AND_NOT1_WREXEC_B32 | S_AND_NOT1_WREXEC_B64 => (source & !exec, true),
        _ => return Err(Stop::not_modelled(format!("{name} is not modelled"))),
    };
    if narrow {
        let value = value as u32;
        wave.set_sgpr(sdst, if writes_new { value } else { exec as u32 });
        wave.set_sgpr(EXEC, value);
        wave.scc = value != 0;
    } else {
        wave.set_sgpr64(sdst, if writes_new { value } else { exec });
        wave.set_sgpr64(EXEC, value);
        wave.scc = value != 0;
    }
    Ok(())
}

fn quads(mask: u64) -> u64 {
    (0..16).fold(0, |all, quad| all | u64::from(mask >> (4 * quad) & 0xf != 0) << quad)
}

fn whole_quads(mask: u64) -> u64 {
    (0..16).fold(
        0,
        |all, quad| {
            if mask >> (4 * quad) & 0xf != 0 { all | 0xf << (4 * quad) } else { all }
        },
    )
}

fn relative(wave: &Wave, base: u16) -> Result<u8, Stop> {
    bounded(u32::from(base).wrapping_add(wave.sgpr(M0)))
}

fn relative_pair(wave: &Wave, base: u16) -> Result<u8, Stop> {
    let code = relative(wave, base)?;
    if !code.is_multiple_of(2) {
        return Err(Stop::not_modelled(format!("relative access to a pair of SGPRs from s{code}")));
    }
    Ok(code)
}

fn bounded(code: u32) -> Result<u8, Stop> {
    match u8::try_from(code) {
        Ok(code) if code < EXEC => Ok(code),
        _ => Err(Stop::not_modelled(format!("relative access to scalar register {code}"))),
    }
}

#[cold]
pub(super) fn mismatch(op: &Op) -> Step {
    Err(Stop::not_modelled(format!(
        "{} in a format it does not have",
        op.instruction.opcode.name()
    )))
}

/// SOP2.
pub(super) fn sop2(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Sop2 { sdst, ssrc0, ssrc1 } = op.instruction.fields else { return mismatch(op) };
    let opcode = op.instruction.opcode;
    let a = wave.s32(ssrc0, op.constants[0]);
    let b = wave.s32(ssrc1, op.constants[1]);
    let logic = |wave: &mut Wave, value: u32| {
        wave.scc = value != 0;
        wave.set_sgpr(sdst, value);
    };
    let carry = |wave: &mut Wave, (value, carry): (u32, bool)| {
        wave.scc = carry;
        wave.set_sgpr(sdst, value);
    };
    match opcode {
        S_ADD_U32 => carry(wave, a.overflowing_add(b)),
        S_SUB_U32 => carry(wave, a.overflowing_sub(b)),
        S_ADD_I32 => {
            let (value, overflow) = (a as i32).overflowing_add(b as i32);
            carry(wave, (value as u32, overflow));
        }
        S_SUB_I32 => {
            let (value, overflow) = (a as i32).overflowing_sub(b as i32);
            carry(wave, (value as u32, overflow));
        }
        S_ADDC_U32 => {
            let sum = u64::from(a) + u64::from(b) + u64::from(wave.scc);
            carry(wave, (sum as u32, sum >> 32 != 0));
        }
        S_SUBB_U32 => {
            let subtrahend = u64::from(b) + u64::from(wave.scc);
            carry(wave, (a.wrapping_sub(subtrahend as u32), subtrahend > u64::from(a)));
        }
        S_ABSDIFF_I32 => logic(wave, (a as i32).wrapping_sub(b as i32).unsigned_abs()),
        S_LSHL_B32 => logic(wave, a << (b & 31)),
        S_LSHR_B32 => logic(wave, a >> (b & 31)),
        S_ASHR_I32 => logic(wave, ((a as i32) >> (b & 31)) as u32),
        S_LSHL1_ADD_U32 => shift_add(wave, sdst, a, 1, b),
        S_LSHL2_ADD_U32 => shift_add(wave, sdst, a, 2, b),
        S_LSHL3_ADD_U32 => shift_add(wave, sdst, a, 3, b),
        S_LSHL4_ADD_U32 => shift_add(wave, sdst, a, 4, b),
        S_MIN_I32 => carry(wave, ((a as i32).min(b as i32) as u32, (a as i32) < b as i32)),
        S_MIN_U32 => carry(wave, (a.min(b), a < b)),
        S_MAX_I32 => carry(wave, ((a as i32).max(b as i32) as u32, a as i32 >= b as i32)),
        S_MAX_U32 => carry(wave, (a.max(b), a >= b)),
        S_AND_B32 => logic(wave, a & b),
        S_OR_B32 => logic(wave, a | b),
        S_XOR_B32 => logic(wave, a ^ b),
        S_NAND_B32 => logic(wave, !(a & b)),
        S_NOR_B32 => logic(wave, !(a | b)),
        S_XNOR_B32 => logic(wave, !(a ^ b)),
        S_AND_NOT1_B32 => logic(wave, a & !b),
        S_OR_NOT1_B32 => logic(wave, a | !b),
        S_BFE_U32 => logic(wave, bit_field(u64::from(a), b & 31, (b >> 16 & 0x7f).min(32)) as u32),
        S_BFE_I32 => {
            logic(wave, signed_field(i64::from(a as i32), b & 31, (b >> 16 & 0x7f).min(32)) as u32)
        }
        S_BFM_B32 => wave.set_sgpr(sdst, ((1u32 << (a & 31)) - 1) << (b & 31)),
        S_MUL_I32 => wave.set_sgpr(sdst, a.wrapping_mul(b)),
        S_MUL_HI_U32 => wave.set_sgpr(sdst, ((u64::from(a) * u64::from(b)) >> 32) as u32),
        S_MUL_HI_I32 => {
            let product = i64::from(a as i32) * i64::from(b as i32);
            wave.set_sgpr(sdst, (product >> 32) as u32);
        }
        S_CSELECT_B32 => wave.set_sgpr(sdst, if wave.scc { a } else { b }),
        S_PACK_LL_B32_B16 => wave.set_sgpr(sdst, a & 0xffff | b << 16),
        S_PACK_LH_B32_B16 => wave.set_sgpr(sdst, a & 0xffff | b & 0xffff_0000),
        S_PACK_HH_B32_B16 => wave.set_sgpr(sdst, a >> 16 | b & 0xffff_0000),
        S_PACK_HL_B32_B16 => wave.set_sgpr(sdst, a >> 16 | b << 16),
        _ => return sop2_wide(wave, op, sdst, ssrc0, ssrc1),
    }
    Ok(())
}

fn shift_add(wave: &mut Wave, sdst: u8, a: u32, shift: u32, b: u32) {
    let sum = (u64::from(a) << shift) + u64::from(b);
    wave.scc = sum >> 32 != 0;
    wave.set_sgpr(sdst, sum as u32);
}

/// `width` bits from `offset` on, zero-extended.
fn bit_field(value: u64, offset: u32, width: u32) -> u64 {
    let shifted = value >> offset;
    if width >= 64 { shifted } else { shifted & ((1 << width) - 1) }
}

/// `width` bits from `offset` on, sign-extended.
fn signed_field(value: i64, offset: u32, width: u32) -> i64 {
    match width {
        0 => 0,
        _ => {
            let spare = 64 - width.min(64);
            ((value >> offset) << spare) >> spare
        }
    }
}

/// SOP2 on 64 bits, and floating point.
fn sop2_wide(wave: &mut Wave, op: &Op, sdst: u8, ssrc0: Src, ssrc1: Src) -> Step {
    use Opcode::*;
    let opcode = op.instruction.opcode;
    let a = || wave.s64(ssrc0, op.constants[0]);
    let b = || wave.s64(ssrc1, op.constants[1]);
    let amount = || wave.s32(ssrc1, op.constants[1]);
    let value = match opcode {
        S_LSHL_B64 => a() << (amount() & 63),
        S_LSHR_B64 => a() >> (amount() & 63),
        S_ASHR_I64 => ((a() as i64) >> (amount() & 63)) as u64,
        S_AND_B64 => a() & b(),
        S_OR_B64 => a() | b(),
        S_XOR_B64 => a() ^ b(),
        S_NAND_B64 => !(a() & b()),
        S_NOR_B64 => !(a() | b()),
        S_XNOR_B64 => !(a() ^ b()),
        S_AND_NOT1_B64 => a() & !b(),
        S_OR_NOT1_B64 => a() | !b(),
        S_BFE_U64 => bit_field(a(), amount() & 63, (amount() >> 16 & 0x7f).min(64)),
        S_BFE_I64 => {
            signed_field(a() as i64, amount() & 63, (amount() >> 16 & 0x7f).min(64)) as u64
        }
        S_ADD_NC_U64 | S_SUB_NC_U64 | S_MUL_U64 => {
            let value = match opcode {
                S_ADD_NC_U64 => a().wrapping_add(b()),
                S_SUB_NC_U64 => a().wrapping_sub(b()),
                _ => a().wrapping_mul(b()),
            };
            wave.set_sgpr64(sdst, value);
            return Ok(());
        }
        S_BFM_B64 => {
            let width = wave.s32(ssrc0, op.constants[0]) & 63;
            let value = ((1u64 << width) - 1) << (amount() & 63);
            wave.set_sgpr64(sdst, value);
            return Ok(());
        }
        S_CSELECT_B64 => {
            let value = if wave.scc { a() } else { b() };
            wave.set_sgpr64(sdst, value);
            return Ok(());
        }
        _ => return sop2_float(wave, op, sdst, ssrc0, ssrc1),
    };
    wave.scc = value != 0;
    wave.set_sgpr64(sdst, value);
    Ok(())
}

/// Scalar floating point with two or three sources (RDNA3.5).
fn sop2_float(wave: &mut Wave, op: &Op, sdst: u8, ssrc0: Src, ssrc1: Src) -> Step {
    use Opcode::*;
    let literal = op.literal();
    let mode = wave.mode;
    let (a, b) = (wave.s32(ssrc0, op.constants[0]), wave.s32(ssrc1, op.constants[1]));
    let value = match op.instruction.opcode {
        S_ADD_F32 => float::add32(&mode, a, b),
        S_SUB_F32 => float::sub32(&mode, a, b),
        S_MUL_F32 => float::mul32(&mode, a, b),
        S_MIN_F32 => float::min32(&mode, a, b),
        S_MAX_F32 => float::max32(&mode, a, b),
        S_FMAAK_F32 => float::fma32(&mode, a, b, literal),
        S_FMAMK_F32 => float::fma32(&mode, a, literal, b),
        S_FMAC_F32 => float::fma32(&mode, a, b, wave.sgpr(sdst)),
        S_CVT_PK_RTZ_F16_F32 => float::pack_rtz(&mode, a, b),
        S_ADD_F16 => float::add16(&mode, a, b),
        S_SUB_F16 => float::sub16(&mode, a, b),
        S_MUL_F16 => float::mul16(&mode, a, b),
        S_MIN_F16 => float::min16(&mode, a, b),
        S_MAX_F16 => float::max16(&mode, a, b),
        S_FMAC_F16 => float::fma16(&mode, a, b, wave.sgpr(sdst)),
        S_MINIMUM_F32 => float::minimum32(&mode, a, b),
        S_MAXIMUM_F32 => float::maximum32(&mode, a, b),
        S_MINIMUM_F16 => float::minimum16(&mode, a, b),
        S_MAXIMUM_F16 => float::maximum16(&mode, a, b),
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    };
    wave.set_sgpr(sdst, value);
    Ok(())
}

/// SOPK.
pub(super) fn sopk(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Sopk { sdst, simm16 } = op.instruction.fields else { return mismatch(op) };
    let signed = i32::from(simm16 as i16);
    let unsigned = u32::from(simm16);
    let old = wave.sgpr(sdst);
    match op.instruction.opcode {
        S_MOVK_I32 => wave.set_sgpr(sdst, signed as u32),
        S_VERSION => {}
        S_CMOVK_I32 => {
            if wave.scc {
                wave.set_sgpr(sdst, signed as u32);
            }
        }
        S_CMPK_EQ_I32 => wave.scc = old as i32 == signed,
        S_CMPK_LG_I32 => wave.scc = old as i32 != signed,
        S_CMPK_GT_I32 => wave.scc = old as i32 > signed,
        S_CMPK_GE_I32 => wave.scc = old as i32 >= signed,
        S_CMPK_LT_I32 => wave.scc = (old as i32) < signed,
        S_CMPK_LE_I32 => wave.scc = old as i32 <= signed,
        S_CMPK_EQ_U32 => wave.scc = old == unsigned,
        S_CMPK_LG_U32 => wave.scc = old != unsigned,
        S_CMPK_GT_U32 => wave.scc = old > unsigned,
        S_CMPK_GE_U32 => wave.scc = old >= unsigned,
        S_CMPK_LT_U32 => wave.scc = old < unsigned,
        S_CMPK_LE_U32 => wave.scc = old <= unsigned,
        S_ADDK_I32 => {
            let (value, overflow) = (old as i32).overflowing_add(signed);
            wave.scc = overflow;
            wave.set_sgpr(sdst, value as u32);
        }
        S_MULK_I32 => wave.set_sgpr(sdst, (old as i32).wrapping_mul(signed) as u32),
        S_GETREG_B32 => {
            let value = registers::get(wave, env, simm16)?;
            wave.set_sgpr(sdst, value);
        }
        S_SETREG_B32 => registers::set(wave, env.launch, simm16, old)?,
        S_SETREG_IMM32_B32 => registers::set(wave, env.launch, simm16, op.literal())?,
        S_CALL_B64 => {
            wave.set_sgpr64(sdst, wave.pc);
            wave.pc = wave.pc.wrapping_add_signed(i64::from(signed) * 4);
        }
        // Memory operations here are complete when they are executed.
        S_WAITCNT_VSCNT | S_WAITCNT_VMCNT | S_WAITCNT_EXPCNT | S_WAITCNT_LGKMCNT => {}
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
    Ok(())
}

/// SOPC.
pub(super) fn sopc(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    use std::cmp::Ordering::{Equal, Greater, Less};
    let Fields::Sopc { ssrc0, ssrc1 } = op.instruction.fields else { return mismatch(op) };
    let opcode = op.instruction.opcode;
    let [first, second, _] = op.constants;
    if opcode == S_SET_GPR_IDX_ON {
        indexed::set_index(wave, wave.s32(ssrc0, first));
        indexed::set_operands(wave, ssrc1.0.into());
        wave.indexes = true;
        return Ok(());
    }
    let (a, b) = (wave.s32(ssrc0, first), wave.s32(ssrc1, second));
    wave.scc = match opcode {
        S_CMP_EQ_I32 | S_CMP_EQ_U32 => a == b,
        S_CMP_LG_I32 | S_CMP_LG_U32 => a != b,
        S_CMP_GT_I32 => a as i32 > b as i32,
        S_CMP_GE_I32 => a as i32 >= b as i32,
        S_CMP_LT_I32 => (a as i32) < b as i32,
        S_CMP_LE_I32 => a as i32 <= b as i32,
        S_CMP_GT_U32 => a > b,
        S_CMP_GE_U32 => a >= b,
        S_CMP_LT_U32 => a < b,
        S_CMP_LE_U32 => a <= b,
        S_BITCMP0_B32 => a >> (b & 31) & 1 == 0,
        S_BITCMP1_B32 => a >> (b & 31) & 1 == 1,
        S_BITCMP0_B64 => wave.s64(ssrc0, first) >> (b & 63) & 1 == 0,
        S_BITCMP1_B64 => wave.s64(ssrc0, first) >> (b & 63) & 1 == 1,
        S_CMP_EQ_U64 => wave.s64(ssrc0, first) == wave.s64(ssrc1, second),
        S_CMP_LG_U64 => wave.s64(ssrc0, first) != wave.s64(ssrc1, second),
        _ => {
            let name = opcode.name();
            let (x, y) = if name.ends_with("F16") {
                let half = |bits| float::f16_to_f32(float::flush_in16(&wave.mode, bits));
                (half(a), half(b))
            } else {
                let single = |bits| f32::from_bits(float::flush_in32(&wave.mode, bits));
                (single(a), single(b))
            };
            let order = x.partial_cmp(&y);
            match opcode {
                S_CMP_LT_F32 | S_CMP_LT_F16 => order == Some(Less),
                S_CMP_EQ_F32 | S_CMP_EQ_F16 => order == Some(Equal),
                S_CMP_LE_F32 | S_CMP_LE_F16 => matches!(order, Some(Less | Equal)),
                S_CMP_GT_F32 | S_CMP_GT_F16 => order == Some(Greater),
                S_CMP_LG_F32 | S_CMP_LG_F16 => matches!(order, Some(Less | Greater)),
                S_CMP_GE_F32 | S_CMP_GE_F16 => matches!(order, Some(Greater | Equal)),
                S_CMP_O_F32 | S_CMP_O_F16 => order.is_some(),
                S_CMP_U_F32 | S_CMP_U_F16 => order.is_none(),
                S_CMP_NGE_F32 | S_CMP_NGE_F16 => matches!(order, None | Some(Less)),
                S_CMP_NLG_F32 | S_CMP_NLG_F16 => matches!(order, None | Some(Equal)),
                S_CMP_NGT_F32 | S_CMP_NGT_F16 => matches!(order, None | Some(Less | Equal)),
                S_CMP_NLE_F32 | S_CMP_NLE_F16 => matches!(order, None | Some(Greater)),
                S_CMP_NEQ_F32 | S_CMP_NEQ_F16 => order != Some(Equal),
                S_CMP_NLT_F32 | S_CMP_NLT_F16 => matches!(order, None | Some(Greater | Equal)),
                _ => return Err(Stop::not_modelled(format!("{name} is not modelled"))),
            }
        }
    };
    Ok(())
}
