//! Operations with a carry or another mask result, and 64-bit integers.

use super::{
    EMPTY, WideRow, active, fields, for_host, gather, operations, source, source_64, source_f32,
    source_f64, write_64,
};
use crate::shader::code::Op;
use crate::shader::special;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, Wave, lanes};
use amdgpu_isa::{Opcode, Valu};

/// `f(a, b, carry in)` gives the result, `carries(a, b, carry in)` whether there is a carry out.
#[inline(always)]
fn with_carry(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    carry_in: bool,
    f: impl Fn(u32, u32, u32) -> u32,
    carries: impl Fn(u32, u32, u32) -> bool,
) -> Step {
    let carry_in = if carry_in { wave.source_mask(v.src[2]) } else { 0 };
    let mut out_mask = 0u64;
    for half in 0..wave.halves {
        let bits = (carry_in >> (32 * half)) as u32;
        let carry: Row = lanes!(|lane| bits >> lane & 1);
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let out = lanes!(|lane| f(a[lane], b[lane], carry[lane]));
        let carried = gather!(|lane| carries(a[lane], b[lane], carry[lane]));
        let mask = active(wave, v, half);
        out_mask |= u64::from(carried & mask) << (32 * half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    wave.set_mask(v.sdst, out_mask);
    Ok(())
}

/// Sum, saturated when the instruction clamps, and carry.
#[inline(always)]
fn add(wave: &mut Wave, op: &Op, v: &Valu, carry_in: bool) -> Step {
    let carries = |a: u32, b: u32, carry: u32| {
        let sum = a.wrapping_add(b);
        sum < a || sum.wrapping_add(carry) < sum
    };
    let sum = |a: u32, b: u32, carry: u32| a.wrapping_add(b).wrapping_add(carry);
    if v.clamp {
        let saturated =
            |a, b, carry| if carries(a, b, carry) { u32::MAX } else { sum(a, b, carry) };
        return with_carry(wave, op, v, carry_in, saturated, carries);
    }
    with_carry(wave, op, v, carry_in, sum, carries)
}

/// Difference, of the second source and the first when `reversed`, saturated when the instruction clamps, and borrow.
#[inline(always)]
fn subtract(wave: &mut Wave, op: &Op, v: &Valu, carry_in: bool, reversed: bool) -> Step {
    let order = |a: u32, b: u32| if reversed { (b, a) } else { (a, b) };
    let borrows = |a: u32, b: u32, borrow: u32| {
        let (a, b) = order(a, b);
        a < b || a.wrapping_sub(b) < borrow
    };
    let difference = |a: u32, b: u32, borrow: u32| {
        let (a, b) = order(a, b);
        a.wrapping_sub(b).wrapping_sub(borrow)
    };
    if v.clamp {
        let saturated =
            |a, b, borrow| if borrows(a, b, borrow) { 0 } else { difference(a, b, borrow) };
        return with_carry(wave, op, v, carry_in, saturated, borrows);
    }
    with_carry(wave, op, v, carry_in, difference, borrows)
}

/// `f(a, b)` on a 32-bit amount and a 64-bit value.
#[inline(always)]
fn shift_64(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u64, u32) -> u64) -> Step {
    for half in 0..wave.halves {
        let mut first = EMPTY;
        let amounts = source(wave, op, v, 0, half, &mut first);
        let values = source_64(wave, op, v, 1, half);
        let values = lanes!(|lane| f(values[lane], amounts[lane] & 63));
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
        let mut buffer = EMPTY;
        let amounts = source(wave, op, v, 1, half, &mut buffer);
        let values = source_64(wave, op, v, 0, half);
        let addends = source_64(wave, op, v, addend, half);
        let values = lanes!(|lane| f(amounts[lane], values[lane], addends[lane]));
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
    product: impl Fn(u32, u32) -> u64,
    carries: impl Fn(u64, u64) -> bool,
) -> Step {
    let mut out_mask = 0u64;
    for half in 0..wave.halves {
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source_64(wave, op, v, 2, half);
        let products: WideRow = lanes!(|lane| product(a[lane], b[lane]));
        let out: WideRow = lanes!(|lane| products[lane].wrapping_add(c[lane]));
        let carried = gather!(|lane| carries(products[lane], c[lane]));
        let mask = wave.exec_half(half);
        out_mask |= u64::from(carried & mask) << (32 * half);
        write_64(wave, v.vdst, half, mask, &out);
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

operations! { run, |wave, op, v|
    V_ADD_CO_U32 => add(wave, op, v, false),
    V_SUB_CO_U32 => subtract(wave, op, v, false, false),
    V_SUBREV_CO_U32 => subtract(wave, op, v, false, true),
    V_ADD_CO_CI_U32 => add(wave, op, v, true),
    V_SUB_CO_CI_U32 => subtract(wave, op, v, true, false),
    V_SUBREV_CO_CI_U32 => subtract(wave, op, v, true, true),
    V_MAD_U64_U32 => multiply_add(
        wave,
        op,
        v,
        |a, b| u64::from(a) * u64::from(b),
        |product, c| product.wrapping_add(c) < c,
    ),
    V_MAD_I64_I32 => multiply_add(
        wave,
        op,
        v,
        |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64,
        // Bit 64 of the sum of both with their signs extended.
        |product, c| {
            let carry = product.wrapping_add(c) < c;
            carry ^ (product >> 63 != 0) ^ (c >> 63 != 0)
        },
    ),
    V_LSHLREV_B64 => shift_64(wave, op, v, |value, amount| value << amount),
    V_LSHRREV_B64 => shift_64(wave, op, v, |value, amount| value >> amount),
    V_ASHRREV_I64 => shift_64(wave, op, v, |value, amount| ((value as i64) >> amount) as u64),
    V_MOV_B64 => wide(wave, op, v, 0, |_, value, _| value),
    V_LSHL_ADD_U64 => wide(wave, op, v, 2, |amount, value, addend| {
        (value << (amount & 7)).wrapping_add(addend)
    }),
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    match op.instruction.opcode {
        V_DIV_SCALE_F32 => div_scale_32(wave, op, v),
        V_DIV_SCALE_F64 => div_scale_64(wave, op, v),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
