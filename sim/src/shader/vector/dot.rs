//! Dot products, and multiply-adds of mixed precision.

use super::packed::Packed;
use super::{active, clamp16, clamp32, fields, for_host, source};
use crate::shader::code::Op;
use crate::shader::float::{self, bf16_to_f32, f16_to_f32, flush_in16, flush_in32};
use crate::shader::fp8::{
    self,
    Format::{Bf8, Fp8},
};
use crate::shader::mode::Mode;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode, Valu};

/// Two products of halves added to a single, each product exact.
#[inline(always)]
pub(super) fn dot2_f16(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    let half = |bits: u32| f16_to_f32(flush_in16(mode, bits));
    let sum = half(a).mul_add(half(b), f32::from_bits(flush_in32(mode, c)));
    let sum = half(a >> 16).mul_add(half(b >> 16), sum);
    float::flush_out32(mode, float::settle32(sum.to_bits(), &[c]))
}

/// Two products of bfloat16s added to a single.
#[inline(always)]
pub(super) fn dot2_bf16(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    let sum = bf16_to_f32(a & 0xffff)
        .mul_add(bf16_to_f32(b & 0xffff), f32::from_bits(flush_in32(mode, c)));
    let sum = bf16_to_f32(a >> 16).mul_add(bf16_to_f32(b >> 16), sum);
    float::flush_out32(mode, float::settle32(sum.to_bits(), &[c]))
}

/// Four products of bytes that are floats added to a single, each product exact.
#[inline(always)]
fn dot4(mode: &Mode, formats: [fp8::Format; 2], a: u32, b: u32, c: u32) -> u32 {
    let sum = (0..4).fold(f32::from_bits(flush_in32(mode, c)), |sum, byte| {
        let [a, b] = [(formats[0], a), (formats[1], b)]
            .map(|(format, bits)| fp8::to_f32(format, bits >> (8 * byte)));
        a.mul_add(b, sum)
    });
    float::flush_out32(mode, float::settle32(sum.to_bits(), &[c]))
}

/// Element `index` of `bits` wide integers, extended.
#[inline(always)]
fn element(value: u32, index: u32, bits: u32, signed: bool) -> i32 {
    let spare = 32 - bits;
    let field = value >> (bits * index) << spare;
    if signed { field as i32 >> spare } else { (field >> spare) as i32 }
}

/// Integer dot product with a 32-bit accumulator; clamped to it when asked.
#[inline(always)]
fn dot_integer(
    [a, b, c]: [u32; 3],
    bits: u32,
    signs: [bool; 2],
    unsigned_sum: bool,
    clamp: bool,
) -> u32 {
    let products: i64 = (0..32 / bits)
        .map(|i| {
            i64::from(element(a, i, bits, signs[0])) * i64::from(element(b, i, bits, signs[1]))
        })
        .sum();
    if unsigned_sum {
        let sum = i64::from(c) + products;
        if clamp { sum.min(u32::MAX.into()) as u32 } else { sum as u32 }
    } else {
        let sum = i64::from(c as i32) + products;
        if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
    }
}

#[inline(always)]
fn map(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    accumulates: bool,
    f: impl Fn(&Mode, u32, u32, u32) -> u32,
) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = if accumulates {
            wave.row(v.vdst.into(), half)
        } else {
            source(wave, op, v, 2, half, &mut third)
        };
        let mut out: Row = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&mode, a[lane], b[lane], c[lane]);
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// The two halves of an operand in the order op_sel asks, negated as asked.
#[inline(always)]
fn pair(p: &Packed, index: usize, bits: u32) -> u32 {
    let pick = |sel: u8| if sel >> index & 1 != 0 { bits >> 16 } else { bits & 0xffff };
    let low = pick(p.op_sel) ^ u32::from(p.neg_lo >> index & 1) << 15;
    let high = pick(p.op_sel_hi) ^ u32::from(p.neg_hi >> index & 1) << 15;
    low | high << 16
}

/// The two halves of an integer operand in the order op_sel asks.
#[inline(always)]
fn chosen(p: &Packed, index: usize, bits: u32) -> u32 {
    let pick = |sel: u8| if sel >> index & 1 != 0 { bits >> 16 } else { bits & 0xffff };
    pick(p.op_sel) | pick(p.op_sel_hi) << 16
}

/// An operand of V_FMA_MIX: a single, or a half of the register; neg_hi is its absolute value, neg_lo its
/// negation.
#[inline(always)]
fn mixed(mode: &Mode, p: &Packed, index: usize, bits: u32) -> u32 {
    let bit = |field: u8| field >> index & 1 != 0;
    let mut value = if !bit(p.op_sel_hi) {
        flush_in32(mode, bits)
    } else {
        let half = if bit(p.op_sel) { bits >> 16 } else { bits & 0xffff };
        f16_to_f32(flush_in16(mode, half)).to_bits()
    };
    if bit(p.neg_hi) {
        value &= !float::SIGN32;
    }
    if bit(p.neg_lo) {
        value ^= float::SIGN32;
    }
    value
}

#[inline(always)]
fn mix(wave: &mut Wave, op: &Op, p: &Packed, opcode: Opcode) -> Step {
    let mode = wave.mode;
    let v = &p.valu;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let old = wave.row(v.vdst.into(), half);
        let mut out: Row = [0; LANES];
        for lane in 0..LANES {
            let (a, b, c) = (
                mixed(&mode, p, 0, a[lane]),
                mixed(&mode, p, 1, b[lane]),
                mixed(&mode, p, 2, c[lane]),
            );
            let sum = float::settle32(float::raw_fma32(mode.round32, a, b, c), &[a, b, c]);
            if opcode == Opcode::V_FMA_MIX_F32 {
                let sum = float::flush_out32(&mode, sum);
                out[lane] = if v.clamp { clamp32(&mode, sum) } else { sum };
                continue;
            }
            let value = float::f32_to_f16(&mode, f32::from_bits(sum));
            let value = if v.clamp { clamp16(&mode, value) } else { value };
            out[lane] = if opcode == Opcode::V_FMA_MIXLO_F16 {
                old[lane] & 0xffff_0000 | value
            } else {
                old[lane] & 0xffff | value << 16
            };
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// The VOP3 forms with a 16-bit result; op_sel picks the halves of the accumulator and the destination.
fn dot2_small(wave: &mut Wave, op: &Op, v: &Valu, bfloat: bool) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = super::source_f16(wave, op, v, 2, half, &mut third);
        let modified = |index: usize, mut bits: u32| {
            let (abs, neg) = super::modifiers(v, index);
            if abs {
                bits &= 0x7fff_7fff;
            }
            if neg { bits ^ 0x8000_8000 } else { bits }
        };
        let mut out: Row = [0; LANES];
        for lane in 0..LANES {
            let (a, b, c) = (modified(0, a[lane]), modified(1, b[lane]), c[lane]);
            out[lane] = if bfloat {
                let sum = dot2_bf16(&mode, a, b, c << 16);
                float::f32_to_bf16(f32::from_bits(sum))
            } else {
                let sum = float::fma16(&mode, a & 0xffff, b & 0xffff, c);
                float::fma16(&mode, a >> 16, b >> 16, sum)
            };
        }
        if v.clamp && !bfloat {
            out = out.map(|value| clamp16(&mode, value));
        }
        let mask = active(wave, v, half);
        super::write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let opcode = op.instruction.opcode;
    if let Fields::Valu(_) = op.instruction.fields {
        let v = fields(op)?;
        return match opcode {
            V_DOT2ACC_F32_F16 => map(wave, op, v, true, dot2_f16),
            V_DOT2ACC_F32_BF16 => map(wave, op, v, true, dot2_bf16),
            V_DOT2ACC_I32_I16 => map(wave, op, v, true, |_, a, b, c| {
                dot_integer([a, b, c], 16, [true; 2], false, v.clamp)
            }),
            V_DOT4ACC_I32_I8 => map(wave, op, v, true, |_, a, b, c| {
                dot_integer([a, b, c], 8, [true; 2], false, v.clamp)
            }),
            V_DOT8ACC_I32_I4 => map(wave, op, v, true, |_, a, b, c| {
                dot_integer([a, b, c], 4, [true; 2], false, v.clamp)
            }),
            V_DOT2_F16_F16 => dot2_small(wave, op, v, false),
            V_DOT2_BF16_BF16 => dot2_small(wave, op, v, true),
            other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
        };
    }
    let p = &Packed::of(op)?;
    let v = &p.valu;
    let clamp = v.clamp;
    let accumulator =
        |c: u32| if p.neg_hi & 4 != 0 { c & !float::SIGN32 } else { c } ^ u32::from(p.neg_lo >> 2 & 1) << 31;
    let finish = |mode: &Mode, value: u32| if clamp { clamp32(mode, value) } else { value };
    let signs = [p.neg_lo & 1 != 0, p.neg_lo & 2 != 0];
    match opcode {
        V_DOT2_F32_F16 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot2_f16(mode, pair(p, 0, a), pair(p, 1, b), accumulator(c)))
        }),
        V_DOT2_F32_BF16 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot2_bf16(mode, pair(p, 0, a), pair(p, 1, b), accumulator(c)))
        }),
        V_DOT4_F32_FP8_FP8 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot4(mode, [Fp8, Fp8], a, b, accumulator(c)))
        }),
        V_DOT4_F32_FP8_BF8 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot4(mode, [Fp8, Bf8], a, b, accumulator(c)))
        }),
        V_DOT4_F32_BF8_FP8 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot4(mode, [Bf8, Fp8], a, b, accumulator(c)))
        }),
        V_DOT4_F32_BF8_BF8 => map(wave, op, v, false, |mode, a, b, c| {
            finish(mode, dot4(mode, [Bf8, Bf8], a, b, accumulator(c)))
        }),
        V_DOT4_I32_IU8 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 8, signs, false, clamp))
        }
        V_DOT8_I32_IU4 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 4, signs, false, clamp))
        }
        V_DOT4_U32_U8 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 8, [false; 2], true, clamp))
        }
        V_DOT8_U32_U4 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 4, [false; 2], true, clamp))
        }
        V_DOT4_I32_I8 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 8, [true; 2], false, clamp))
        }
        V_DOT8_I32_I4 => {
            map(wave, op, v, false, |_, a, b, c| dot_integer([a, b, c], 4, [true; 2], false, clamp))
        }
        V_DOT2_I32_I16 => map(wave, op, v, false, |_, a, b, c| {
            dot_integer([chosen(p, 0, a), chosen(p, 1, b), c], 16, [true; 2], false, clamp)
        }),
        V_DOT2_U32_U16 => map(wave, op, v, false, |_, a, b, c| {
            dot_integer([chosen(p, 0, a), chosen(p, 1, b), c], 16, [false; 2], true, clamp)
        }),
        V_FMA_MIX_F32 | V_FMA_MIXLO_F16 | V_FMA_MIXHI_F16 => mix(wave, op, p, opcode),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
