//! f16 arithmetic.

use super::{active, fields, finish_f16, for_host, source_16, source_f16, write_16};
use crate::shader::code::Op;
use crate::shader::float::{
    self, f16_to_f32, f32_to_f16, flush_in16, is_nan16, maximum16, minimum16, settle16,
};
use crate::shader::mode::Mode;
use crate::shader::special;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// `f` of up to three halves; unused ones are whatever the fields hold.
#[inline(always)]
fn map(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    sources: usize,
    f: impl Fn(&Mode, u32, u32, u32) -> u32,
) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let mut rows: [Row; 3] = [[0; LANES]; 3];
        for (index, row) in rows.iter_mut().enumerate().take(sources) {
            source_f16(wave, op, v, index, half, row);
        }
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&mode, rows[0][lane], rows[1][lane], rows[2][lane]);
        }
        finish_f16(&mode, v, &mut out);
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

/// A rounding of one half through single precision, where it is exact.
#[inline(always)]
fn through_single(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f32) -> f32) -> Step {
    map(wave, op, v, 1, |mode, a, _, _| {
        let a = flush_in16(mode, a);
        settle16(f32_to_f16(mode, f(f16_to_f32(a))), &[a])
    })
}

/// A transcendental of one half, computed in double precision.
#[inline(always)]
fn transcendental(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f64) -> f64) -> Step {
    map(wave, op, v, 1, |mode, a, _, _| {
        let a = flush_in16(mode, a);
        settle16(f32_to_f16(mode, f(f64::from(f16_to_f32(a))) as f32), &[a])
    })
}

/// The accumulator of `v_fmac_f16`: the half of the destination that is written.
fn accumulate(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(&Mode, u32, u32, u32) -> u32) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f16(wave, op, v, 0, half, &mut first);
        let b = source_f16(wave, op, v, 1, half, &mut second);
        let shift = if v.op_sel & 8 != 0 { 16 } else { 0 };
        let old = wave.row(v.vdst.into(), half);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&mode, a[lane], b[lane], old[lane] >> shift & 0xffff);
        }
        finish_f16(&mode, v, &mut out);
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

/// The product is rounded, then the sum.
fn mad(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    float::add16(mode, float::mul16(mode, a, b), c)
}

fn ldexp(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f16(wave, op, v, 0, half, &mut first);
        let b = source_16(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = float::ldexp16(&mode, a[lane], i32::from(b[lane] as i16));
        }
        finish_f16(&mode, v, &mut out);
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

fn median(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    use float::{max16, min16};
    if is_nan16(a) || is_nan16(b) || is_nan16(c) {
        return min16(mode, min16(mode, a, b), c);
    }
    let greatest = f16_to_f32(max16(mode, max16(mode, a, b), c));
    if greatest == f16_to_f32(a) {
        max16(mode, b, c)
    } else if greatest == f16_to_f32(b) {
        max16(mode, a, c)
    } else {
        max16(mode, a, b)
    }
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    match op.instruction.opcode {
        V_ADD_F16 => map(wave, op, v, 2, |m, a, b, _| float::add16(m, a, b)),
        V_SUB_F16 => map(wave, op, v, 2, |m, a, b, _| float::sub16(m, a, b)),
        V_SUBREV_F16 => map(wave, op, v, 2, |m, a, b, _| float::sub16(m, b, a)),
        V_MUL_F16 => map(wave, op, v, 2, |m, a, b, _| float::mul16(m, a, b)),
        V_FMA_F16 | V_FMAMK_F16 | V_FMAAK_F16 | V_FMA_LEGACY_F16 => {
            map(wave, op, v, 3, float::fma16)
        }
        V_MAD_F16 | V_MAD_LEGACY_F16 | V_MADMK_F16 | V_MADAK_F16 => map(wave, op, v, 3, mad),
        V_FMAC_F16 => accumulate(wave, op, v, float::fma16),
        V_MAC_F16 => accumulate(wave, op, v, mad),
        V_LDEXP_F16 => ldexp(wave, op, v),
        V_MIN_F16 => map(wave, op, v, 2, |m, a, b, _| float::min16(m, a, b)),
        V_MAX_F16 => map(wave, op, v, 2, |m, a, b, _| float::max16(m, a, b)),
        V_MIN3_F16 => map(wave, op, v, 3, |m, a, b, c| float::min16(m, float::min16(m, a, b), c)),
        V_MAX3_F16 => map(wave, op, v, 3, |m, a, b, c| float::max16(m, float::max16(m, a, b), c)),
        V_MAXMIN_F16 => map(wave, op, v, 3, |m, a, b, c| float::min16(m, float::max16(m, a, b), c)),
        V_MINMAX_F16 => map(wave, op, v, 3, |m, a, b, c| float::max16(m, float::min16(m, a, b), c)),
        V_MED3_F16 => map(wave, op, v, 3, median),
        V_MINIMUM_F16 => map(wave, op, v, 2, |m, a, b, _| minimum16(m, a, b)),
        V_MAXIMUM_F16 => map(wave, op, v, 2, |m, a, b, _| maximum16(m, a, b)),
        V_MINIMUM3_F16 => map(wave, op, v, 3, |m, a, b, c| minimum16(m, minimum16(m, a, b), c)),
        V_MAXIMUM3_F16 => map(wave, op, v, 3, |m, a, b, c| maximum16(m, maximum16(m, a, b), c)),
        V_MINIMUMMAXIMUM_F16 => {
            map(wave, op, v, 3, |m, a, b, c| maximum16(m, minimum16(m, a, b), c))
        }
        V_MAXIMUMMINIMUM_F16 => {
            map(wave, op, v, 3, |m, a, b, c| minimum16(m, maximum16(m, a, b), c))
        }
        V_DIV_FIXUP_F16 | V_DIV_FIXUP_LEGACY_F16 => {
            map(wave, op, v, 3, |_, a, b, c| special::div_fixup16(a, b, c))
        }
        V_FLOOR_F16 => through_single(wave, op, v, f32::floor),
        V_CEIL_F16 => through_single(wave, op, v, f32::ceil),
        V_TRUNC_F16 => through_single(wave, op, v, f32::trunc),
        V_RNDNE_F16 => through_single(wave, op, v, f32::round_ties_even),
        V_FRACT_F16 => through_single(wave, op, v, |a| {
            // Below 1 whatever the rounding: the largest half there is 1 − 2^-11.
            (a - a.floor()).min(f16_to_f32(0x3bff))
        }),
        V_RCP_F16 => transcendental(wave, op, v, |a| 1.0 / a),
        V_SQRT_F16 => transcendental(wave, op, v, f64::sqrt),
        V_RSQ_F16 => transcendental(wave, op, v, |a| 1.0 / a.sqrt()),
        V_LOG_F16 => transcendental(wave, op, v, f64::log2),
        V_EXP_F16 => transcendental(wave, op, v, f64::exp2),
        V_SIN_F16 => transcendental(wave, op, v, special::sin_turns),
        V_COS_F16 => transcendental(wave, op, v, special::cos_turns),
        V_FREXP_MANT_F16 => {
            map(wave, op, v, 1, |m, a, _, _| special::frexp_mant16(flush_in16(m, a)))
        }
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}

/// `v_frexp_exp_i16_f16`.
pub(in crate::shader) fn run_exponent(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = *source_f16(wave, op, v, 0, half, &mut buffer);
        let out = a.map(|a| special::frexp_exp16(flush_in16(&wave.mode, a)) as u32 & 0xffff);
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}
