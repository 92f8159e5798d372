//! Scalar floating-point operations as the device does them: denormals, rounding, NaNs.
//!
//! Values are bit patterns; halves lie in the low 16 bits of a dword. A NaN operand comes out as
//! itself, quieted, the first one of several; an invalid operation gives the positive quiet NaN.

use super::mode::{Mode, Round};
use super::soft::{self, F16, F32, F64};

pub(super) use super::extremes::{
    max16, max32, max64, maximum16, maximum32, maximum64, min16, min32, min64, minimum16,
    minimum32, minimum64,
};

pub(super) const SIGN32: u32 = 0x8000_0000;
pub(super) const SIGN16: u32 = 0x8000;
pub(super) const SIGN64: u64 = 1 << 63;
pub(super) const NAN32: u32 = 0x7fc0_0000;
pub(super) const NAN16: u32 = 0x7e00;
pub(super) const NAN64: u64 = 0x7ff8_0000_0000_0000;

#[inline(always)]
pub(super) fn is_nan32(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

#[inline(always)]
pub(super) fn is_nan16(bits: u32) -> bool {
    bits & 0x7fff > 0x7c00
}

#[inline(always)]
pub(super) fn is_nan64(bits: u64) -> bool {
    bits & !SIGN64 > 0x7ff0_0000_0000_0000
}

/// A NaN made quiet; other values as they are.
#[inline(always)]
pub(super) fn quiet32(bits: u32) -> u32 {
    if is_nan32(bits) { bits | 0x0040_0000 } else { bits }
}

/// A NaN made quiet; other values as they are.
#[inline(always)]
pub(super) fn quiet16(bits: u32) -> u32 {
    if is_nan16(bits) { bits | 0x0200 } else { bits }
}

/// A NaN made quiet; other values as they are.
#[inline(always)]
pub(super) fn quiet64(bits: u64) -> u64 {
    if is_nan64(bits) { bits | 0x0008_0000_0000_0000 } else { bits }
}

/// A denormal replaced by the zero of its sign.
#[inline(always)]
pub(super) fn flush32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & SIGN32 } else { bits }
}

/// A denormal replaced by the zero of its sign.
#[inline(always)]
pub(super) fn flush16(bits: u32) -> u32 {
    if bits & 0x7c00 == 0 { bits & SIGN16 } else { bits & 0xffff }
}

/// A denormal replaced by the zero of its sign.
#[inline(always)]
pub(super) fn flush64(bits: u64) -> u64 {
    if bits & 0x7ff0_0000_0000_0000 == 0 { bits & SIGN64 } else { bits }
}

#[inline]
pub(super) fn flush_in32(mode: &Mode, bits: u32) -> u32 {
    if mode.denormals32.flush_inputs { flush32(bits) } else { bits }
}

#[inline]
pub(super) fn flush_out32(mode: &Mode, bits: u32) -> u32 {
    if mode.denormals32.flush_outputs { flush32(bits) } else { bits }
}

#[inline]
pub(super) fn flush_in16(mode: &Mode, bits: u32) -> u32 {
    if mode.denormals16_64.flush_inputs { flush16(bits) } else { bits & 0xffff }
}

#[inline]
pub(super) fn flush_out16(mode: &Mode, bits: u32) -> u32 {
    if mode.denormals16_64.flush_outputs { flush16(bits) } else { bits & 0xffff }
}

#[inline]
pub(super) fn flush_in64(mode: &Mode, bits: u64) -> u64 {
    if mode.denormals16_64.flush_inputs { flush64(bits) } else { bits }
}

#[inline]
pub(super) fn flush_out64(mode: &Mode, bits: u64) -> u64 {
    if mode.denormals16_64.flush_outputs { flush64(bits) } else { bits }
}

/// A NaN result replaced by what the device gives: the first NaN operand, quieted, else the default NaN.
#[inline(always)]
pub(super) fn settle32(result: u32, operands: &[u32]) -> u32 {
    if !is_nan32(result) {
        return result;
    }
    operands.iter().copied().find(|&x| is_nan32(x)).map_or(NAN32, quiet32)
}

#[inline(always)]
pub(super) fn settle16(result: u32, operands: &[u32]) -> u32 {
    if !is_nan16(result) {
        return result;
    }
    operands.iter().copied().find(|&x| is_nan16(x)).map_or(NAN16, |x| quiet16(x) & 0xffff)
}

#[inline(always)]
pub(super) fn settle64(result: u64, operands: &[u64]) -> u64 {
    if !is_nan64(result) {
        return result;
    }
    operands.iter().copied().find(|&x| is_nan64(x)).map_or(NAN64, quiet64)
}

/// `a × b + c` in f32, rounded once, without denormal handling.
#[inline(always)]
pub(super) fn raw_fma32(round: Round, a: u32, b: u32, c: u32) -> u32 {
    if round == Round::Nearest {
        f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits()
    } else {
        soft::fma(a.into(), b.into(), c.into(), F32, round) as u32
    }
}

/// f32 addition with all of MODE.
pub(super) fn add32(mode: &Mode, a: u32, b: u32) -> u32 {
    let (a, b) = (flush_in32(mode, a), flush_in32(mode, b));
    let sum = if mode.round32 == Round::Nearest {
        (f32::from_bits(a) + f32::from_bits(b)).to_bits()
    } else {
        soft::fma(a.into(), 0x3f80_0000, b.into(), F32, mode.round32) as u32
    };
    flush_out32(mode, settle32(sum, &[a, b]))
}

/// f32 subtraction with all of MODE. A NaN keeps its sign: it is an operand, not negated and added.
pub(super) fn sub32(mode: &Mode, a: u32, b: u32) -> u32 {
    if is_nan32(b) { settle32(b, &[a, b]) } else { add32(mode, a, b ^ SIGN32) }
}

/// f32 multiplication with all of MODE.
pub(super) fn mul32(mode: &Mode, a: u32, b: u32) -> u32 {
    let (a, b) = (flush_in32(mode, a), flush_in32(mode, b));
    let product = if mode.round32 == Round::Nearest {
        (f32::from_bits(a) * f32::from_bits(b)).to_bits()
    } else {
        // Adding the zero of the product's sign changes nothing.
        soft::fma(a.into(), b.into(), ((a ^ b) & SIGN32).into(), F32, mode.round32) as u32
    };
    flush_out32(mode, settle32(product, &[a, b]))
}

/// Fused f32 multiply-add with all of MODE.
pub(super) fn fma32(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (flush_in32(mode, a), flush_in32(mode, b), flush_in32(mode, c));
    flush_out32(mode, settle32(raw_fma32(mode.round32, a, b, c), &[a, b, c]))
}

/// Fused f64 multiply-add with all of MODE.
pub(super) fn fma64(mode: &Mode, a: u64, b: u64, c: u64) -> u64 {
    let (a, b, c) = (flush_in64(mode, a), flush_in64(mode, b), flush_in64(mode, c));
    let result = if mode.round16_64 == Round::Nearest {
        f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
    } else {
        soft::fma(a, b, c, F64, mode.round16_64)
    };
    flush_out64(mode, settle64(result, &[a, b, c]))
}

/// f64 addition with all of MODE.
pub(super) fn add64(mode: &Mode, a: u64, b: u64) -> u64 {
    let (a, b) = (flush_in64(mode, a), flush_in64(mode, b));
    let sum = if mode.round16_64 == Round::Nearest {
        (f64::from_bits(a) + f64::from_bits(b)).to_bits()
    } else {
        soft::fma(a, 0x3ff0_0000_0000_0000, b, F64, mode.round16_64)
    };
    flush_out64(mode, settle64(sum, &[a, b]))
}

/// f64 multiplication with all of MODE.
pub(super) fn mul64(mode: &Mode, a: u64, b: u64) -> u64 {
    let (a, b) = (flush_in64(mode, a), flush_in64(mode, b));
    let product = if mode.round16_64 == Round::Nearest {
        (f64::from_bits(a) * f64::from_bits(b)).to_bits()
    } else {
        soft::fma(a, b, (a ^ b) & SIGN64, F64, mode.round16_64)
    };
    flush_out64(mode, settle64(product, &[a, b]))
}

/// A half as single precision; NaNs keep their payload.
#[inline(always)]
pub(super) fn f16_to_f32(bits: u32) -> f32 {
    let sign = (bits & 0x8000) << 16;
    let magnitude = (bits & 0x7fff) << 13;
    let exponent = magnitude & 0x0f80_0000;
    let normal = magnitude + 0x3800_0000;
    let special = normal + 0x3800_0000;
    // A denormal half: the same fraction below 2^-14.
    let denormal =
        (f32::from_bits(magnitude + 0x3880_0000) - f32::from_bits(0x3880_0000)).to_bits();
    let value = if exponent == 0x0f80_0000 {
        special
    } else if exponent == 0 {
        denormal
    } else {
        normal
    };
    f32::from_bits(value | sign)
}

/// A single as a half, to nearest even; NaNs quieted.
#[inline(always)]
pub(super) fn f32_to_f16_nearest(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let infinite = if magnitude > 0x7f80_0000 { 0x7e00 | magnitude >> 13 & 0x3ff } else { 0x7c00 };
    // Adding 0.5 aligns the fraction to the half's denormals and rounds it.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub(0x3800_0000).wrapping_add(0xfff + odd) >> 13;
    let rounded = if magnitude >= 0x4780_0000 {
        infinite
    } else if magnitude < 0x3880_0000 {
        denormal
    } else {
        normal
    };
    sign | rounded
}

/// The f16 overflow rule of MODE.FP16_OVFL: a finite value never becomes infinite.
#[inline]
fn overflow16(mode: &Mode, bits: u32, was_infinite: bool) -> u32 {
    if mode.fp16_overflow && bits & 0x7fff == 0x7c00 && !was_infinite {
        bits & SIGN16 | 0x7bff
    } else {
        bits
    }
}

/// A single as a half with MODE's rounding, denormals and overflow.
#[inline]
pub(super) fn f32_to_f16(mode: &Mode, value: f32) -> u32 {
    let half = if mode.round16_64 == Round::Nearest || value.is_nan() {
        f32_to_f16_nearest(value)
    } else {
        soft::convert(value.to_bits().into(), F32, F16, mode.round16_64) as u32
    };
    flush_out16(mode, overflow16(mode, half, value.is_infinite()))
}

/// A double as a half with MODE's rounding, denormals and overflow. The double may be inexact if it was
/// rounded to odd.
#[inline]
fn f64_to_f16(mode: &Mode, value: f64) -> u32 {
    let half = if mode.round16_64 == Round::Nearest && value.abs() > 1e-30 {
        // To single, rounded to odd; then rounding to the half is as if it were the only one.
        let bits = value.to_bits();
        let single = f32::from_bits(value_truncated(value) | u32::from(bits & 0x1fff_ffff != 0));
        f32_to_f16_nearest(single)
    } else {
        soft::convert(value.to_bits(), F64, F16, mode.round16_64) as u32
    };
    flush_out16(mode, overflow16(mode, half, value.is_infinite()))
}

/// The single whose fraction is the first 23 bits of the double's; for doubles in a single's normal range.
#[inline]
fn value_truncated(value: f64) -> u32 {
    let bits = value.to_bits();
    let sign = (bits >> 32) as u32 & SIGN32;
    let magnitude = bits & !SIGN64;
    if magnitude >= 0x47f0_0000_0000_0000 {
        return sign | 0x7f80_0000;
    }
    sign | ((magnitude - 0x3800_0000_0000_0000) >> 29) as u32
}

/// f16 subtraction with all of MODE; NaNs as in [`sub32`].
pub(super) fn sub16(mode: &Mode, a: u32, b: u32) -> u32 {
    if is_nan16(b) { settle16(b & 0xffff, &[a, b]) } else { add16(mode, a, b ^ SIGN16) }
}

/// f16 addition with all of MODE.
pub(super) fn add16(mode: &Mode, a: u32, b: u32) -> u32 {
    let (a, b) = (flush_in16(mode, a), flush_in16(mode, b));
    let result = if mode.round16_64 == Round::Nearest {
        // A single has more than twice a half's digits: rounding twice is harmless.
        f32_to_f16(mode, f16_to_f32(a) + f16_to_f32(b))
    } else {
        let sum = soft::fma(a.into(), 0x3c00, b.into(), F16, mode.round16_64) as u32;
        flush_out16(mode, overflow16(mode, sum, infinite16(a) || infinite16(b)))
    };
    settle16(result, &[a, b])
}

fn infinite16(bits: u32) -> bool {
    bits & 0x7fff == 0x7c00
}

/// f16 multiplication with all of MODE.
pub(super) fn mul16(mode: &Mode, a: u32, b: u32) -> u32 {
    let (a, b) = (flush_in16(mode, a), flush_in16(mode, b));
    // The product of two halves is exact as a single.
    let result = f32_to_f16(mode, f16_to_f32(a) * f16_to_f32(b));
    settle16(result, &[a, b])
}

/// Fused f16 multiply-add with all of MODE.
pub(super) fn fma16(mode: &Mode, a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (flush_in16(mode, a), flush_in16(mode, b), flush_in16(mode, c));
    let product = f64::from(f16_to_f32(a)) * f64::from(f16_to_f32(b));
    let addend = f64::from(f16_to_f32(c));
    let sum = product + addend;
    let result = if sum == 0.0 && mode.round16_64 == Round::Down {
        soft::fma(a.into(), b.into(), c.into(), F16, Round::Down) as u32
    } else {
        f64_to_f16(mode, to_odd(product, addend, sum))
    };
    settle16(result, &[a, b, c])
}

/// The sum of two doubles rounded to odd, given it rounded to nearest.
#[inline]
fn to_odd(a: f64, b: f64, sum: f64) -> f64 {
    let virtual_b = sum - a;
    let error = (a - (sum - virtual_b)) + (b - virtual_b);
    if error == 0.0 || !error.is_finite() || sum.to_bits() & 1 != 0 {
        return sum;
    }
    // The exact sum lies beyond (same sign) or before the even one.
    if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

/// A double as a single with MODE's rounding and denormals.
#[inline]
pub(super) fn f64_to_f32(mode: &Mode, bits: u64) -> u32 {
    let bits = flush_in64(mode, bits);
    let value = f64::from_bits(bits);
    let result = if value.is_nan() {
        (bits >> 32) as u32 & SIGN32 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x3f_ffff
    } else if mode.round32 == Round::Nearest {
        (value as f32).to_bits()
    } else {
        soft::convert(bits, F64, F32, mode.round32) as u32
    };
    flush_out32(mode, result)
}

/// A single as a double; a signalling NaN is quieted.
#[inline]
pub(super) fn f32_to_f64(mode: &Mode, bits: u32) -> u64 {
    let bits = flush_in32(mode, bits);
    if is_nan32(bits) {
        u64::from(bits & SIGN32) << 32 | NAN64 | u64::from(bits & 0x3f_ffff) << 29
    } else {
        f64::from(f32::from_bits(bits)).to_bits()
    }
}

/// An integer as a single with MODE's rounding.
#[inline]
pub(super) fn i64_to_f32(mode: &Mode, value: i64) -> u32 {
    if mode.round32 == Round::Nearest {
        (value as f32).to_bits()
    } else {
        soft::from_integer(value, F32, mode.round32) as u32
    }
}

/// An integer as a half with MODE's rounding.
#[inline]
pub(super) fn i32_to_f16(mode: &Mode, value: i32) -> u32 {
    overflow16(mode, soft::from_integer(value.into(), F16, mode.round16_64) as u32, false)
}

/// Truncated to an integer, saturating; NaN gives 0 (which is also what Rust's `as` does).
#[inline(always)]
pub(super) fn f32_to_i32(value: f32) -> i32 {
    value as i32
}

/// Truncated to an unsigned integer, saturating; NaN gives 0.
#[inline(always)]
pub(super) fn f32_to_u32(value: f32) -> u32 {
    value as u32
}

/// Two singles as halves rounded towards zero, whatever MODE says (`v_cvt_pkrtz_f16_f32`).
#[inline]
pub(super) fn pack_rtz(mode: &Mode, a: u32, b: u32) -> u32 {
    let half = |bits: u32| {
        let bits = flush_in32(mode, bits);
        let half = if is_nan32(bits) {
            f32_to_f16_nearest(f32::from_bits(bits))
        } else {
            soft::convert(bits.into(), F32, F16, Round::Zero) as u32
        };
        flush_out16(mode, half)
    };
    half(a) | half(b) << 16
}

/// A bfloat16 as a single.
#[inline(always)]
pub(super) fn bf16_to_f32(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// A single as a bfloat16, to nearest even; NaNs quieted.
#[inline(always)]
pub(super) fn f32_to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    if is_nan32(bits) {
        return bits >> 16 | 0x40;
    }
    bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16
}

/// `bits × 2^power` in f32 with all of MODE.
#[inline]
pub(super) fn ldexp32(mode: &Mode, bits: u32, power: i32) -> u32 {
    let bits = flush_in32(mode, bits);
    flush_out32(mode, quiet32(soft::scale(bits.into(), power, F32, mode.round32) as u32))
}

/// `bits × 2^power` in f64 with all of MODE.
#[inline]
pub(super) fn ldexp64(mode: &Mode, bits: u64, power: i32) -> u64 {
    let bits = flush_in64(mode, bits);
    flush_out64(mode, quiet64(soft::scale(bits, power, F64, mode.round16_64)))
}

/// `bits × 2^power` in f16 with all of MODE.
#[inline]
pub(super) fn ldexp16(mode: &Mode, bits: u32, power: i32) -> u32 {
    let bits = flush_in16(mode, bits);
    let infinite = infinite16(bits);
    let scaled = soft::scale(bits.into(), power, F16, mode.round16_64) as u32;
    flush_out16(mode, overflow16(mode, quiet16(scaled), infinite))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_half_converts_as_the_half_crate() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits);
            let got = f16_to_f32(bits.into());
            assert!(expected.to_f32().to_bits() == got.to_bits() || expected.is_nan());
            let back = f32_to_f16_nearest(got) as u16;
            assert!(back == bits || expected.is_nan() && back == bits | 0x200, "{bits:#x}");
        }
    }

    proptest! {
        #[test]
        fn singles_become_halves_as_in_the_half_crate(value: f32) {
            let expected = half::f16::from_f32(value);
            prop_assert!(expected.to_bits() == f32_to_f16_nearest(value) as u16 || value.is_nan());
        }

        #[test]
        fn fused_halves_are_exact(a: u16, b: u16, c: u16) {
            let mode = Mode::from_bits(0xf0);
            let got = fma16(&mode, a.into(), b.into(), c.into());
            let exact = soft::fma(a.into(), b.into(), c.into(), F16, Round::Nearest) as u32;
            prop_assert!(got == exact || is_nan16(got) && is_nan16(exact));
            let sum = add16(&mode, a.into(), c.into());
            let exact = soft::fma(a.into(), 0x3c00, c.into(), F16, Round::Nearest) as u32;
            prop_assert!(sum == exact || is_nan16(sum) && is_nan16(exact));
        }
    }
}
