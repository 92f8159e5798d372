//! Operations with a carry or another mask result, and 64-bit integers.

use super::{
    WideRow, active, fields, for_host, source, source_64, source_f32, source_f64, write_64,
};
use crate::shader::code::Op;
use crate::shader::special;
use crate::shader::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// `f(a, b, carry in)` gives the result and the carry out.
#[inline(always)]
fn with_carry(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    carry_in: bool,
    f: impl Fn(u32, u32, u32) -> (u32, bool),
) -> Step {
    let carries = if carry_in { wave.source_mask(v.src[2]) } else { 0 };
    let mut out_mask = 0u64;
    let mut results = [[0; LANES]; 2];
    for half in 0..wave.halves {
        let carries = (carries >> (32 * half)) as u32;
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let mut bits = 0u32;
        for lane in 0..LANES {
            let (value, carry) = f(a[lane], b[lane], carries >> lane & 1);
            results[half][lane] = value;
            bits |= u32::from(carry) << lane;
        }
        out_mask |= u64::from(bits & active(wave, v, half)) << (32 * half);
    }
    for half in 0..wave.halves {
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &results[half]);
    }
    wave.set_mask(v.sdst, out_mask);
    Ok(())
}

/// `f(a, b)` on a 32-bit amount and a 64-bit value.
#[inline(always)]
fn shift_64(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u64, u32) -> u64) -> Step {
    for half in 0..wave.halves {
        let mut first = [0; LANES];
        let amounts = *source(wave, op, v, 0, half, &mut first);
        let mut values = source_64(wave, op, v, 1, half);
        for lane in 0..LANES {
            values[lane] = f(values[lane], amounts[lane] & 63);
        }
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &values);
    }
    Ok(())
}

/// `f` of the second source's 32 bits, the first source and source `addend`, both 64 bits wide.
#[inline(always)]
fn wide(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    addend: usize,
    f: impl Fn(u32, u64, u64) -> u64,
) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let amounts = *source(wave, op, v, 1, half, &mut buffer);
        let mut values = source_64(wave, op, v, 0, half);
        let addends = source_64(wave, op, v, addend, half);
        for lane in 0..LANES {
            values[lane] = f(amounts[lane], values[lane], addends[lane]);
        }
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &values);
    }
    Ok(())
}

/// 32 × 32 + 64 bits, with the carry of the 65-bit sum.
#[inline(always)]
fn multiply_add(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    f: impl Fn(u32, u32, u64) -> (u64, bool),
) -> Step {
    let mut out_mask = 0u64;
    let mut results: [WideRow; 2] = [[0; LANES]; 2];
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source_64(wave, op, v, 2, half);
        let mut bits = 0u32;
        for lane in 0..LANES {
            let (value, carry) = f(a[lane], b[lane], c[lane]);
            results[half][lane] = value;
            bits |= u32::from(carry) << lane;
        }
        out_mask |= u64::from(bits & wave.exec_half(half)) << (32 * half);
    }
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        write_64(wave, v.vdst, half, mask, &results[half]);
    }
    wave.set_mask(v.sdst, out_mask);
    Ok(())
}

/// `v_div_scale_f32`.
fn div_scale_32(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let mut out_mask = 0u64;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source_f32(wave, op, v, 1, half, &mut second);
        let c = source_f32(wave, op, v, 2, half, &mut third);
        let mask = wave.exec_half(half);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let (value, scaled) = special::div_scale32(&wave.mode, a[lane], b[lane], c[lane]);
            out[lane] = value;
            out_mask |= u64::from(scaled && mask >> lane & 1 != 0) << (32 * half + lane);
        }
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    wave.set_mask(v.sdst, out_mask);
    Ok(())
}

/// `v_div_scale_f64`.
fn div_scale_64(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let mut out_mask = 0u64;
    for half in 0..wave.halves {
        let a = source_f64(wave, op, v, 0, half);
        let b = source_f64(wave, op, v, 1, half);
        let c = source_f64(wave, op, v, 2, half);
        let mask = wave.exec_half(half);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let (value, scaled) = special::div_scale64(&wave.mode, a[lane], b[lane], c[lane]);
            out[lane] = value;
            out_mask |= u64::from(scaled && mask >> lane & 1 != 0) << (32 * half + lane);
        }
        write_64(wave, v.vdst, half, mask, &out);
    }
    wave.set_mask(v.sdst, out_mask);
    Ok(())
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    let add = |a: u32, b: u32, carry: u32| {
        let sum = u64::from(a) + u64::from(b) + u64::from(carry);
        let overflow = sum >> 32 != 0;
        (if v.clamp && overflow { u32::MAX } else { sum as u32 }, overflow)
    };
    let sub = |a: u32, b: u32, borrow: u32| {
        let subtrahend = u64::from(b) + u64::from(borrow);
        let underflow = subtrahend > u64::from(a);
        let difference = a.wrapping_sub(subtrahend as u32);
        (if v.clamp && underflow { 0 } else { difference }, underflow)
    };
    match op.instruction.opcode {
        V_ADD_CO_U32 => with_carry(wave, op, v, false, add),
        V_SUB_CO_U32 => with_carry(wave, op, v, false, sub),
        V_SUBREV_CO_U32 => with_carry(wave, op, v, false, |a, b, c| sub(b, a, c)),
        V_ADD_CO_CI_U32 => with_carry(wave, op, v, true, add),
        V_SUB_CO_CI_U32 => with_carry(wave, op, v, true, sub),
        V_SUBREV_CO_CI_U32 => with_carry(wave, op, v, true, |a, b, c| sub(b, a, c)),
        V_MAD_U64_U32 => {
            multiply_add(wave, op, v, |a, b, c| (u64::from(a) * u64::from(b)).overflowing_add(c))
        }
        V_MAD_I64_I32 => multiply_add(wave, op, v, |a, b, c| {
            let sum = i128::from(a as i32) * i128::from(b as i32) + i128::from(c as i64);
            (sum as u64, sum >> 64 & 1 != 0)
        }),
        V_LSHLREV_B64 => shift_64(wave, op, v, |value, amount| value << amount),
        V_LSHRREV_B64 => shift_64(wave, op, v, |value, amount| value >> amount),
        V_ASHRREV_I64 => shift_64(wave, op, v, |value, amount| ((value as i64) >> amount) as u64),
        V_MOV_B64 => wide(wave, op, v, 0, |_, value, _| value),
        V_LSHL_ADD_U64 => wide(wave, op, v, 2, |amount, value, addend| {
            (value << (amount & 7)).wrapping_add(addend)
        }),
        V_DIV_SCALE_F32 => div_scale_32(wave, op, v),
        V_DIV_SCALE_F64 => div_scale_64(wave, op, v),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
