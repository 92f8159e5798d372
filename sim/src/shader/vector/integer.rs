//! 32-bit integer and bit operations, and moves.

use super::{EMPTY, active, fields, for_host, modifiers, operations, source};
use crate::shader::code::Op;
use crate::shader::wave::{Env, LANES, Step, Stop, Wave, lanes};
use amdgpu_isa::{Opcode, Valu};

#[inline(always)]
fn map1(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = EMPTY;
        let a = source(wave, op, v, 0, half, &mut buffer);
        let out = lanes!(|lane| f(a[lane]));
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn map2(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u32, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let out = lanes!(|lane| f(a[lane], b[lane]));
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn map3(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(u32, u32, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = (EMPTY, EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let out = lanes!(|lane| f(a[lane], b[lane], c[lane]));
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

/// 24 bits, sign-extended.
#[inline(always)]
fn i24(value: u32) -> i32 {
    (value as i32) << 8 >> 8
}

/// 24 bits, zero-extended.
#[inline(always)]
fn u24(value: u32) -> u32 {
    value & 0xff_ffff
}

#[inline(always)]
fn signed(f: impl Fn(i32, i32) -> i32) -> impl Fn(u32, u32) -> u32 {
    move |a, b| f(a as i32, b as i32) as u32
}

#[inline(always)]
fn found(count: u32) -> u32 {
    if count == 32 { u32::MAX } else { count }
}

/// Sum of absolute byte differences; `masked` skips bytes whose reference is 0.
#[inline(always)]
fn sad_u8(a: u32, b: u32, sum: u32, masked: bool) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let mut total = sum;
    for byte in 0..4 {
        if !(masked && b[byte] == 0) {
            total = total.wrapping_add(u32::from(a[byte].abs_diff(b[byte])));
        }
    }
    total
}

/// One byte of `v_perm_b32`'s result: from {a, b}, 0 to 3 of them b's.
#[inline(always)]
fn permuted_byte(data: u64, selector: u32) -> u32 {
    match selector {
        0..=7 => (data >> (8 * selector)) as u32 & 0xff,
        8..=11 => {
            let bit = 16 * (selector - 8) + 15;
            if data >> bit & 1 != 0 { 0xff } else { 0 }
        }
        12 => 0,
        _ => 0xff,
    }
}

fn perm(a: u32, b: u32, selectors: u32) -> u32 {
    let data = u64::from(a) << 32 | u64::from(b);
    selectors.to_le_bytes().into_iter().enumerate().fold(0, |out, (byte, selector)| {
        out | permuted_byte(data, u32::from(selector)) << (8 * byte)
    })
}

#[inline(always)]
fn median<T: Ord>(a: T, b: T, c: T) -> T {
    if a < b {
        if b < c { b } else { a.max(c) }
    } else if a < c {
        a
    } else {
        b.max(c)
    }
}

/// `v_cndmask_b32`: the sources may have float modifiers.
#[inline(always)]
fn select(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let condition = wave.source_mask(v.src[2]);
    let modifier = |index: usize| {
        let (abs, neg) = modifiers(v, index);
        (if abs { 0x7fff_ffff } else { u32::MAX }, if neg { 0x8000_0000 } else { 0 })
    };
    let ((keep_a, flip_a), (keep_b, flip_b)) = (modifier(0), modifier(1));
    for half in 0..wave.halves {
        let bits = (condition >> (32 * half)) as u32;
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let out = lanes!(|lane| {
            let chosen = ((bits << (31 - lane)) as i32 >> 31) as u32;
            let (a, b) = (a[lane] & keep_a ^ flip_a, b[lane] & keep_b ^ flip_b);
            a & !chosen | b & chosen
        });
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

/// `v_mbcnt_lo` and `_hi`: set bits of the mask below this lane.
fn masked_count(wave: &mut Wave, op: &Op, v: &Valu, high: bool) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = (EMPTY, EMPTY);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let below = (1u64 << (32 * half + lane)) - 1;
            let below = if high { (below >> 32) as u32 } else { below as u32 };
            out[lane] = b[lane].wrapping_add((a[lane] & below).count_ones());
        }
        let mask = active(wave, v, half);
        wave.write(usize::from(v.vdst), half, mask, &out);
    }
    Ok(())
}

operations! { run, |wave, op, v|
    V_MOV_B32 => map1(wave, op, v, |a| a),
    V_CNDMASK_B32 => select(wave, op, v),
    V_AND_B32 => map2(wave, op, v, |a, b| a & b),
    V_OR_B32 => map2(wave, op, v, |a, b| a | b),
    V_XOR_B32 => map2(wave, op, v, |a, b| a ^ b),
    V_LSHLREV_B32 => map2(wave, op, v, |a, b| b << (a & 31)),
    V_LSHRREV_B32 => map2(wave, op, v, |a, b| b >> (a & 31)),
    V_ASHRREV_I32 => map2(wave, op, v, |a, b| ((b as i32) >> (a & 31)) as u32),
    V_MUL_LO_U32 => map2(wave, op, v, u32::wrapping_mul),
    V_MUL_U32_U24 => map2(wave, op, v, |a, b| u24(a).wrapping_mul(u24(b))),
    V_MAD_U32_U24 => if v.clamp {
        map3(wave, op, v, |a, b, c| {
            (u64::from(u24(a)) * u64::from(u24(b)) + u64::from(c)).min(u32::MAX.into()) as u32
        })
    } else {
        map3(wave, op, v, |a, b, c| u24(a).wrapping_mul(u24(b)).wrapping_add(c))
    },
    V_BFE_U32 => map3(wave, op, v, |a, b, c| (a >> (b & 31)) & ((1u32 << (c & 31)) - 1)),
    V_AND_OR_B32 => map3(wave, op, v, |a, b, c| a & b | c),
    V_LSHL_OR_B32 => map3(wave, op, v, |a, b, c| a << (b & 31) | c),
    V_LSHL_ADD_U32 => map3(wave, op, v, |a, b, c| (a << (b & 31)).wrapping_add(c)),
    V_ADD_LSHL_U32 => map3(wave, op, v, |a, b, c| a.wrapping_add(b) << (c & 31)),
    V_ADD3_U32 => map3(wave, op, v, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
    V_ADD_NC_U32 => if v.clamp {
        map2(wave, op, v, u32::saturating_add)
    } else {
        map2(wave, op, v, u32::wrapping_add)
    },
    V_SUB_NC_U32 => if v.clamp {
        map2(wave, op, v, u32::saturating_sub)
    } else {
        map2(wave, op, v, u32::wrapping_sub)
    },
    V_SUBREV_NC_U32 => if v.clamp {
        map2(wave, op, v, |a, b| b.saturating_sub(a))
    } else {
        map2(wave, op, v, |a, b| b.wrapping_sub(a))
    },
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    let opcode = op.instruction.opcode;
    match opcode {
        V_NOT_B32 => map1(wave, op, v, |a| !a),
        V_PRNG_B32 => map1(wave, op, v, next_random),
        V_BFREV_B32 => map1(wave, op, v, u32::reverse_bits),
        V_CLZ_I32_U32 => map1(wave, op, v, |a| found(a.leading_zeros())),
        V_CTZ_I32_B32 => map1(wave, op, v, |a| found(a.trailing_zeros())),
        V_CLS_I32 => map1(wave, op, v, |a| found((a ^ ((a as i32) >> 31) as u32).leading_zeros())),
        V_MBCNT_LO_U32_B32 => masked_count(wave, op, v, false),
        V_MBCNT_HI_U32_B32 => masked_count(wave, op, v, true),
        V_XNOR_B32 => map2(wave, op, v, |a, b| !(a ^ b)),
        V_MIN_I32 => map2(wave, op, v, signed(i32::min)),
        V_MAX_I32 => map2(wave, op, v, signed(i32::max)),
        V_MIN_U32 => map2(wave, op, v, |a, b| a.min(b)),
        V_MAX_U32 => map2(wave, op, v, |a, b| a.max(b)),
        V_ADD_NC_I32 if v.clamp => map2(wave, op, v, signed(i32::saturating_add)),
        V_ADD_NC_I32 => map2(wave, op, v, u32::wrapping_add),
        V_SUB_NC_I32 if v.clamp => map2(wave, op, v, signed(i32::saturating_sub)),
        V_SUB_NC_I32 => map2(wave, op, v, u32::wrapping_sub),
        V_MUL_HI_U32 => map2(wave, op, v, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        V_MUL_HI_I32 => {
            map2(wave, op, v, signed(|a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32))
        }
        V_MUL_I32_I24 => map2(wave, op, v, |a, b| i24(a).wrapping_mul(i24(b)) as u32),
        V_MUL_HI_I32_I24 => {
            map2(wave, op, v, |a, b| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as u32)
        }
        V_MUL_HI_U32_U24 => {
            map2(wave, op, v, |a, b| ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32)
        }
        V_BFM_B32 => map2(wave, op, v, |a, b| ((1u32 << (a & 31)) - 1) << (b & 31)),
        V_BCNT_U32_B32 => map2(wave, op, v, |a, b| b.wrapping_add(a.count_ones())),
        _ => three(wave, op, v, opcode),
    }
}

/// `v_prng_b32`: the next of a sequence of random numbers, by a shift register with feedback.
pub(super) fn next_random(value: u32) -> u32 {
    const FEEDBACK: u32 = 197;
    value << 1 ^ if value >> 31 != 0 { FEEDBACK } else { 0 }
}

/// Of each bit position the entry of the instruction's truth table that the three sources' bits number.
pub(super) fn truth_table(v: &Valu, a: u32, b: u32, c: u32) -> u32 {
    let table = v.neg | v.abs << 3 | v.omod << 6;
    (0..8).filter(|entry| table >> entry & 1 != 0).fold(0, |out, entry| {
        let chosen = |bits: u32, index: u32| if entry >> index & 1 != 0 { bits } else { !bits };
        out | chosen(a, 2) & chosen(b, 1) & chosen(c, 0)
    })
}

#[inline(always)]
fn three(wave: &mut Wave, op: &Op, v: &Valu, opcode: Opcode) -> Step {
    use Opcode::*;
    match opcode {
        V_MAD_I32_I24 if v.clamp => map3(wave, op, v, |a, b, c| {
            let sum = i64::from(i24(a)) * i64::from(i24(b)) + i64::from(c as i32);
            sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
        }),
        V_MAD_I32_I24 => {
            map3(wave, op, v, |a, b, c| i24(a).wrapping_mul(i24(b)).wrapping_add(c as i32) as u32)
        }
        V_BFE_I32 => map3(wave, op, v, |a, b, c| {
            let width = c & 31;
            let field = ((a as i32) >> (b & 31)) as u32;
            let sign = (1u32 << width) >> 1;
            let field = field & ((1u32 << width) - 1);
            (field ^ sign).wrapping_sub(sign)
        }),
        V_BFI_B32 => map3(wave, op, v, |a, b, c| a & b | !a & c),
        V_ALIGNBIT_B32 => {
            map3(wave, op, v, |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32)
        }
        V_ALIGNBYTE_B32 => map3(wave, op, v, |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        }),
        V_LERP_U8 => map3(wave, op, v, |a, b, c| {
            let (a, b, c) = (a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes());
            u32::from_le_bytes(std::array::from_fn(|i| {
                ((u16::from(a[i]) + u16::from(b[i]) + u16::from(c[i] & 1)) >> 1) as u8
            }))
        }),
        V_SAD_U8 => map3(wave, op, v, |a, b, c| sad_u8(a, b, c, false)),
        V_SAD_HI_U8 => map3(wave, op, v, |a, b, c| (sad_u8(a, b, 0, false) << 16).wrapping_add(c)),
        V_MSAD_U8 => map3(wave, op, v, |a, b, c| sad_u8(a, b, c, true)),
        V_SAD_U16 => map3(wave, op, v, |a, b, c| {
            let low = (a & 0xffff).abs_diff(b & 0xffff);
            c.wrapping_add(low).wrapping_add((a >> 16).abs_diff(b >> 16))
        }),
        V_SAD_U32 => map3(wave, op, v, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        V_MIN3_I32 => map3(wave, op, v, |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32),
        V_MAX3_I32 => map3(wave, op, v, |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
        V_MED3_I32 => map3(wave, op, v, |a, b, c| median(a as i32, b as i32, c as i32) as u32),
        V_MIN3_U32 => map3(wave, op, v, |a, b, c| a.min(b).min(c)),
        V_MAX3_U32 => map3(wave, op, v, |a, b, c| a.max(b).max(c)),
        V_MED3_U32 => map3(wave, op, v, median),
        V_MAXMIN_U32 => map3(wave, op, v, |a, b, c| a.max(b).min(c)),
        V_MINMAX_U32 => map3(wave, op, v, |a, b, c| a.min(b).max(c)),
        V_MAXMIN_I32 => map3(wave, op, v, |a, b, c| (a as i32).max(b as i32).min(c as i32) as u32),
        V_MINMAX_I32 => map3(wave, op, v, |a, b, c| (a as i32).min(b as i32).max(c as i32) as u32),
        V_BITOP3_B32 => map3(wave, op, v, |a, b, c| truth_table(v, a, b, c)),
        V_XOR3_B32 => map3(wave, op, v, |a, b, c| a ^ b ^ c),
        V_OR3_B32 => map3(wave, op, v, |a, b, c| a | b | c),
        V_XAD_U32 => map3(wave, op, v, |a, b, c| (a ^ b).wrapping_add(c)),
        V_PERM_B32 => map3(wave, op, v, perm),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
