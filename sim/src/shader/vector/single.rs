//! f32 arithmetic.

use super::{Buffer, EMPTY, active, fields, finish_f32, for_host, operations, source_f32};
use crate::shader::code::Op;
use crate::shader::float::{self, NAN32, is_nan32, maximum32, minimum32, quiet32};
use crate::shader::mode::{Mode, Round};
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, Wave, lanes};
use amdgpu_isa::{Opcode, Valu};

/// Whether any lane is NaN: its magnitude is above infinity's.
#[inline(always)]
fn any_nan(row: &Row) -> bool {
    row.iter().fold(0, |greatest, value| greatest.max(value & !float::SIGN32)) > 0x7f80_0000
}

/// NaN lanes replaced by what the device gives for these operands.
#[cold]
fn settle(out: &mut Row, operands: [&Row; 3]) {
    for lane in 0..LANES {
        if is_nan32(out[lane]) {
            let nan = operands.iter().map(|row| row[lane]).find(|&x| is_nan32(x));
            out[lane] = nan.map_or(NAN32, quiet32);
        }
    }
}

#[inline(always)]
fn map1(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f32) -> f32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = EMPTY;
        let a = source_f32(wave, op, v, 0, half, &mut buffer);
        let mut out = lanes!(|lane| f(f32::from_bits(a[lane])).to_bits());
        if any_nan(&out) {
            settle(&mut out, [a, a, a]);
        }
        finish_f32(&wave.mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn map2(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f32, f32) -> f32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source_f32(wave, op, v, 1, half, &mut second);
        let mut out = lanes!(|lane| f(f32::from_bits(a[lane]), f32::from_bits(b[lane])).to_bits());
        if any_nan(&out) {
            settle(&mut out, [a, b, b]);
        }
        finish_f32(&wave.mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

/// The third operand of a multiply-add: a source, or the destination's old value.
#[inline(always)]
fn addend<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    half: usize,
    buffer: &'a mut impl Buffer,
    accumulates: bool,
) -> &'a Row {
    if !accumulates {
        return source_f32(wave, op, v, 2, half, buffer);
    }
    let row = wave.row(usize::from(v.vdst), half);
    if !wave.mode.denormals32.flush_inputs {
        return row;
    }
    buffer.fill(row.map(float::flush32))
}

#[inline(always)]
fn map3(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    accumulates: bool,
    f: impl Fn(f32, f32, f32) -> f32,
) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = (EMPTY, EMPTY, EMPTY);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source_f32(wave, op, v, 1, half, &mut second);
        let c = addend(wave, op, v, half, &mut third, accumulates);
        let mut out = lanes!(|lane| {
            let (a, b, c) = (a[lane], b[lane], c[lane]);
            f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits()
        });
        if any_nan(&out) {
            settle(&mut out, [a, b, c]);
        }
        finish_f32(&wave.mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

/// Operations defined on bits, with their own NaN rules.
#[inline(always)]
fn bits(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(&Mode, u32, u32, u32) -> u32) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = (EMPTY, EMPTY, EMPTY);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source_f32(wave, op, v, 1, half, &mut second);
        let c = source_f32(wave, op, v, 2, half, &mut third);
        let mut out = lanes!(|lane| f(&mode, a[lane], b[lane], c[lane]));
        finish_f32(&mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

/// DX9 multiplication: zero times anything is zero.
#[inline(always)]
fn dx9_zero(a: f32, b: f32) -> bool {
    a == 0.0 || b == 0.0
}

/// Zero in place of a denormal.
#[inline(always)]
fn flushed(value: f32) -> f32 {
    f32::from_bits(float::flush32(value.to_bits()))
}

/// Multiply-add that rounds the product, then the sum, and knows no denormals whatever MODE says (LLVM's
/// AMDGPULegalizerInfo.cpp, `legalizeFMad`: only where denormals are flushed).
#[inline(always)]
fn mad(a: f32, b: f32, c: f32) -> f32 {
    let product = flushed(flushed(a) * flushed(b));
    flushed(product + flushed(c))
}

/// Directed rounding: one lane at a time, in integers.
#[cold]
fn directed(wave: &mut Wave, op: &Op, v: &Valu, round: Round) -> Option<Step> {
    use Opcode::*;
    let fma = move |a: f32, b: f32, c: f32| {
        f32::from_bits(float::raw_fma32(round, a.to_bits(), b.to_bits(), c.to_bits()))
    };
    // The zero that leaves a product as it is has the product's sign.
    let product = move |a: f32, b: f32| fma(a, b, 0f32.copysign(a.signum() * b.signum()));
    Some(match op.instruction.opcode {
        V_ADD_F32 => map2(wave, op, v, |a, b| fma(a, 1.0, b)),
        V_SUB_F32 => map2(wave, op, v, |a, b| fma(a, 1.0, -b)),
        V_SUBREV_F32 => map2(wave, op, v, |a, b| fma(b, 1.0, -a)),
        V_MUL_F32 => map2(wave, op, v, product),
        V_MUL_DX9_ZERO_F32 => {
            map2(wave, op, v, |a, b| if dx9_zero(a, b) { 0.0 } else { product(a, b) })
        }
        V_FMA_F32 | V_FMAMK_F32 | V_FMAAK_F32 => map3(wave, op, v, false, fma),
        V_FMAC_F32 => map3(wave, op, v, true, fma),
        V_FMA_DX9_ZERO_F32 => {
            map3(wave, op, v, false, |a, b, c| if dx9_zero(a, b) { c } else { fma(a, b, c) })
        }
        V_FMAC_DX9_ZERO_F32 => {
            map3(wave, op, v, true, |a, b, c| if dx9_zero(a, b) { c } else { fma(a, b, c) })
        }
        V_MAD_F32 | V_MADMK_F32 | V_MADAK_F32 => {
            map3(wave, op, v, false, |a, b, c| directed_mad(round, a, b, c))
        }
        V_MAC_F32 => map3(wave, op, v, true, |a, b, c| directed_mad(round, a, b, c)),
        V_MAD_LEGACY_F32 => {
            map3(
                wave,
                op,
                v,
                false,
                |a, b, c| {
                    if dx9_zero(a, b) { c } else { directed_mad(round, a, b, c) }
                },
            )
        }
        _ => return None,
    })
}

/// [`mad`] with directed rounding.
fn directed_mad(round: Round, a: f32, b: f32, c: f32) -> f32 {
    let fma = |a: f32, b: f32, c: f32| {
        f32::from_bits(float::raw_fma32(round, a.to_bits(), b.to_bits(), c.to_bits()))
    };
    let (a, b) = (flushed(a), flushed(b));
    let product = flushed(fma(a, b, 0f32.copysign(a.signum() * b.signum())));
    flushed(fma(product, 1.0, flushed(c)))
}

/// The middle of three by the rules of the device: with a NaN among them the minimum.
fn median(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    use float::{max32, min32};
    if is_nan32(a) || is_nan32(b) || is_nan32(c) {
        return min32(mode, min32(mode, a, b), c);
    }
    let greatest = f32::from_bits(max32(mode, max32(mode, a, b), c));
    if greatest == f32::from_bits(a) {
        max32(mode, b, c)
    } else if greatest == f32::from_bits(b) {
        max32(mode, a, c)
    } else {
        max32(mode, a, b)
    }
}

/// An operation that rounds as MODE says; how is written for rounding to nearest.
macro_rules! rounded {
    ($wave:ident, $op:ident, $v:ident, $nearest:expr) => {
        match $wave.mode.round32 {
            Round::Nearest => $nearest,
            round => directed($wave, $op, $v, round).unwrap_or_else(|| mismatch($op)),
        }
    };
}

operations! { run, |wave, op, v|
    V_ADD_F32 => rounded!(wave, op, v, map2(wave, op, v, |a, b| a + b)),
    V_SUB_F32 => rounded!(wave, op, v, map2(wave, op, v, |a, b| a - b)),
    V_SUBREV_F32 => rounded!(wave, op, v, map2(wave, op, v, |a, b| b - a)),
    V_MUL_F32 => rounded!(wave, op, v, map2(wave, op, v, |a, b| a * b)),
    V_FMA_F32 => rounded!(wave, op, v, map3(wave, op, v, false, f32::mul_add)),
    V_FMAMK_F32 => rounded!(wave, op, v, map3(wave, op, v, false, f32::mul_add)),
    V_FMAAK_F32 => rounded!(wave, op, v, map3(wave, op, v, false, f32::mul_add)),
    V_FMAC_F32 => rounded!(wave, op, v, map3(wave, op, v, true, f32::mul_add)),
    V_MIN_F32 => bits(wave, op, v, |mode, a, b, _| float::min32(mode, a, b)),
    V_MAX_F32 => bits(wave, op, v, |mode, a, b, _| float::max32(mode, a, b)),
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    if wave.mode.round32 != Round::Nearest
        && let Some(step) = directed(wave, op, v, wave.mode.round32)
    {
        return step;
    }
    match op.instruction.opcode {
        V_MUL_DX9_ZERO_F32 => map2(wave, op, v, |a, b| if dx9_zero(a, b) { 0.0 } else { a * b }),
        V_FMA_DX9_ZERO_F32 => {
            map3(wave, op, v, false, |a, b, c| if dx9_zero(a, b) { c } else { a.mul_add(b, c) })
        }
        V_FMAC_DX9_ZERO_F32 => {
            map3(wave, op, v, true, |a, b, c| if dx9_zero(a, b) { c } else { a.mul_add(b, c) })
        }
        V_MAD_F32 | V_MADMK_F32 | V_MADAK_F32 => map3(wave, op, v, false, mad),
        V_MAC_F32 => map3(wave, op, v, true, mad),
        V_MAD_LEGACY_F32 => {
            map3(wave, op, v, false, |a, b, c| if dx9_zero(a, b) { c } else { mad(a, b, c) })
        }
        V_FRACT_F32 => map1(wave, op, v, |a| {
            // The difference rounds to 1 for tiny negative numbers; the device stays below.
            (a - a.floor()).min(f32::from_bits(0x3f7f_ffff))
        }),
        V_TRUNC_F32 => map1(wave, op, v, f32::trunc),
        V_CEIL_F32 => map1(wave, op, v, f32::ceil),
        V_FLOOR_F32 => map1(wave, op, v, f32::floor),
        V_RNDNE_F32 => map1(wave, op, v, f32::round_ties_even),
        V_MIN3_F32 => {
            bits(wave, op, v, |mode, a, b, c| float::min32(mode, float::min32(mode, a, b), c))
        }
        V_MAX3_F32 => {
            bits(wave, op, v, |mode, a, b, c| float::max32(mode, float::max32(mode, a, b), c))
        }
        V_MINMAX_F32 => {
            bits(wave, op, v, |mode, a, b, c| float::max32(mode, float::min32(mode, a, b), c))
        }
        V_MAXMIN_F32 => {
            bits(wave, op, v, |mode, a, b, c| float::min32(mode, float::max32(mode, a, b), c))
        }
        V_MED3_F32 => bits(wave, op, v, median),
        V_MINIMUM_F32 => bits(wave, op, v, |m, a, b, _| minimum32(m, a, b)),
        V_MAXIMUM_F32 => bits(wave, op, v, |m, a, b, _| maximum32(m, a, b)),
        V_MINIMUM3_F32 => bits(wave, op, v, |m, a, b, c| minimum32(m, minimum32(m, a, b), c)),
        V_MAXIMUM3_F32 => bits(wave, op, v, |m, a, b, c| maximum32(m, maximum32(m, a, b), c)),
        V_MINIMUMMAXIMUM_F32 => bits(wave, op, v, |m, a, b, c| maximum32(m, minimum32(m, a, b), c)),
        V_MAXIMUMMINIMUM_F32 => bits(wave, op, v, |m, a, b, c| minimum32(m, maximum32(m, a, b), c)),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}

/// One lane of a dual-issue f32 operation, with everything MODE asks.
#[inline(always)]
pub(super) fn dual_lane(mode: &Mode, opcode: Opcode, a: u32, b: u32, c: u32) -> Option<u32> {
    use Opcode::*;
    Some(match opcode {
        V_ADD_F32 => float::add32(mode, a, b),
        V_SUB_F32 => float::sub32(mode, a, b),
        V_SUBREV_F32 => float::sub32(mode, b, a),
        V_MUL_F32 => float::mul32(mode, a, b),
        V_MUL_DX9_ZERO_F32 => {
            if dx9_zero(f32::from_bits(a), f32::from_bits(b)) {
                0
            } else {
                float::mul32(mode, a, b)
            }
        }
        V_MIN_F32 => float::min32(mode, a, b),
        V_MAX_F32 => float::max32(mode, a, b),
        V_FMAC_F32 | V_FMAMK_F32 | V_FMAAK_F32 => float::fma32(mode, a, b, c),
        _ => return None,
    })
}
