//! 16-bit integers, and sums of absolute differences in pairs and quads.

use super::integer::truth_table;
use super::{active, fields, for_host, source, source_16, source_64, write_16, write_64};
use crate::shader::code::Op;
use crate::shader::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

#[inline(always)]
fn map2(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u16, u16) -> u16) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_16(wave, op, v, 0, half, &mut first);
        let b = source_16(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = u32::from(f(a[lane] as u16, b[lane] as u16));
        }
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn map3(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u16, u16, u16) -> u16) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source_16(wave, op, v, 0, half, &mut first);
        let b = source_16(wave, op, v, 1, half, &mut second);
        let c = source_16(wave, op, v, 2, half, &mut third);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = u32::from(f(a[lane] as u16, b[lane] as u16, c[lane] as u16));
        }
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

/// 16 × 16 + 32 bits.
#[inline(always)]
fn multiply_add(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u16, u16, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source_16(wave, op, v, 0, half, &mut first);
        let b = source_16(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(a[lane] as u16, b[lane] as u16, c[lane]);
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn signed(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

#[inline(always)]
fn signed3(f: impl Fn(i16, i16, i16) -> i16) -> impl Fn(u16, u16, u16) -> u16 {
    move |a, b, c| f(a as i16, b as i16, c as i16) as u16
}

fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

/// `v_cndmask_b16`.
fn select(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let condition = wave.source_mask(v.src[2]);
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = super::source_f16(wave, op, v, 0, half, &mut first);
        let b = super::source_f16(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = if condition >> (32 * half + lane) & 1 != 0 { b[lane] } else { a[lane] };
        }
        let mask = active(wave, v, half);
        write_16(wave, v, half, mask, &out);
    }
    Ok(())
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    match op.instruction.opcode {
        V_MOV_B16 => map2(wave, op, v, |a, _| a),
        V_BITOP3_B16 => {
            map3(wave, op, v, |a, b, c| truth_table(v, a.into(), b.into(), c.into()) as u16)
        }
        V_NOT_B16 => map2(wave, op, v, |a, _| !a),
        V_CNDMASK_B16 => select(wave, op, v),
        V_ADD_NC_U16 if v.clamp => map2(wave, op, v, u16::saturating_add),
        V_ADD_NC_I16 if v.clamp => map2(wave, op, v, signed(i16::saturating_add)),
        V_ADD_NC_U16 | V_ADD_NC_I16 => map2(wave, op, v, u16::wrapping_add),
        V_SUB_NC_U16 if v.clamp => map2(wave, op, v, u16::saturating_sub),
        V_SUB_NC_I16 if v.clamp => map2(wave, op, v, signed(i16::saturating_sub)),
        V_SUB_NC_U16 | V_SUB_NC_I16 => map2(wave, op, v, u16::wrapping_sub),
        V_SUBREV_NC_U16 if v.clamp => map2(wave, op, v, |a, b| b.saturating_sub(a)),
        V_SUBREV_NC_U16 => map2(wave, op, v, |a, b| b.wrapping_sub(a)),
        V_MUL_LO_U16 => map2(wave, op, v, u16::wrapping_mul),
        V_MAX_U16 => map2(wave, op, v, u16::max),
        V_MIN_U16 => map2(wave, op, v, u16::min),
        V_MAX_I16 => map2(wave, op, v, signed(i16::max)),
        V_MIN_I16 => map2(wave, op, v, signed(i16::min)),
        V_LSHLREV_B16 => map2(wave, op, v, |a, b| b << (a & 15)),
        V_LSHRREV_B16 => map2(wave, op, v, |a, b| b >> (a & 15)),
        V_ASHRREV_I16 => map2(wave, op, v, |a, b| ((b as i16) >> (a & 15)) as u16),
        V_AND_B16 => map2(wave, op, v, |a, b| a & b),
        V_OR_B16 => map2(wave, op, v, |a, b| a | b),
        V_XOR_B16 => map2(wave, op, v, |a, b| a ^ b),
        V_MAD_U16 | V_MAD_LEGACY_U16 if v.clamp => map3(wave, op, v, |a, b, c| {
            (u32::from(a) * u32::from(b)).saturating_add(c.into()).min(0xffff) as u16
        }),
        V_MAD_I16 | V_MAD_LEGACY_I16 if v.clamp => map3(
            wave,
            op,
            v,
            signed3(|a, b, c| {
                let sum = i64::from(a) * i64::from(b) + i64::from(c);
                sum.clamp(i16::MIN.into(), i16::MAX.into()) as i16
            }),
        ),
        V_MAD_U16 | V_MAD_I16 | V_MAD_LEGACY_U16 | V_MAD_LEGACY_I16 => {
            map3(wave, op, v, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        V_MIN3_U16 => map3(wave, op, v, |a, b, c| a.min(b).min(c)),
        V_MAX3_U16 => map3(wave, op, v, |a, b, c| a.max(b).max(c)),
        V_MED3_U16 => map3(wave, op, v, median),
        V_MIN3_I16 => map3(wave, op, v, signed3(|a, b, c| a.min(b).min(c))),
        V_MAX3_I16 => map3(wave, op, v, signed3(|a, b, c| a.max(b).max(c))),
        V_MED3_I16 => map3(wave, op, v, signed3(median)),
        V_MAD_U32_U16 => {
            multiply_add(wave, op, v, |a, b, c| (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        V_MAD_I32_I16 => multiply_add(wave, op, v, |a, b, c| {
            (i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c as i32) as u32
        }),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}

/// Sum of absolute differences of the four bytes from `at` on against a reference.
fn differences(bytes: u64, at: usize, reference: u32, masked: bool) -> u32 {
    (0..4).fold(0, |sum, byte| {
        let value = (bytes >> (8 * (at + byte))) as u8;
        let other = (reference >> (8 * byte)) as u8;
        if masked && other == 0 { sum } else { sum + u32::from(value.abs_diff(other)) }
    })
}

/// `v_qsad_pk_u16_u8`, `v_mqsad_pk_u16_u8`, `v_mqsad_u32_u8`: four sums at four byte offsets.
pub(in crate::shader) fn run_sad(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    let masked = op.instruction.opcode != Opcode::V_QSAD_PK_U16_U8;
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = source_64(wave, op, v, 0, half);
        let b = *source(wave, op, v, 1, half, &mut buffer);
        let mask = wave.exec_half(half);
        if op.instruction.opcode == Opcode::V_MQSAD_U32_U8 {
            let mut out = [[0; LANES]; 4];
            for (index, row) in out.iter_mut().enumerate() {
                let mut old = [0; LANES];
                if let Some(register) = v.src[2].vgpr() {
                    old = *wave.row(usize::from(register) + index, half);
                }
                for lane in 0..LANES {
                    let sum = differences(a[lane], index, b[lane], masked);
                    row[lane] = old[lane].wrapping_add(sum);
                }
            }
            for (index, row) in out.iter().enumerate() {
                wave.write(usize::from(v.vdst) + index, half, mask, row);
            }
            continue;
        }
        let mut c = source_64(wave, op, v, 2, half);
        for lane in 0..LANES {
            c[lane] = (0..4).fold(0, |packed, index| {
                let sum = differences(a[lane], index, b[lane], masked);
                let old = (c[lane] >> (16 * index)) as u16;
                packed | u64::from(old.wrapping_add(sum as u16)) << (16 * index)
            });
        }
        write_64(wave, v.vdst, half, mask, &c);
    }
    Ok(())
}
