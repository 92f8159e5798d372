//! Scalar functions with rules of their own: division helpers, exponents and mantissas, trigonometry,
//! cube maps.

use super::float::{self, SIGN32, SIGN64, is_nan16, is_nan32, is_nan64, quiet16, quiet32, quiet64};
use super::mode::Mode;
use super::soft;

fn exponent32(bits: u32) -> i32 {
    (bits >> 23 & 0xff) as i32
}

fn exponent64(bits: u64) -> i32 {
    (bits >> 52 & 0x7ff) as i32
}

/// The numbers that differ between `v_div_scale_f32` and `_f64`, in terms of exponent fields.
struct Scaling {
    /// The power of two that operands are scaled by.
    power: i32,
    /// From this difference of exponents on the quotient may overflow.
    large_quotient: i32,
    /// From this difference down the quotient may be denormal.
    tiny_quotient: i32,
    /// From this exponent on the reciprocal of the denominator may be denormal.
    tiny_reciprocal: i32,
    /// Up to this exponent the numerator is tiny.
    tiny_numerator: i32,
}

/// By which power of two `v_div_scale` scales its value, and whether the quotient needs scaling back.
///
/// RDNA3 ISA document, V_DIV_SCALE_F32 and _F64. What tests on hardware (tinygrad's test_vop3.py) and the need
/// for right quotients add to it: the quotient counts as denormal by exponents alone, the denominator is scaled
/// down where its reciprocal and the quotient are denormal, and the condition is set for zero operands.
fn scaling(
    constants: &Scaling,
    denominator: (i32, bool),
    numerator: i32,
    value_is_denominator: bool,
    value_is_numerator: bool,
) -> (i32, bool) {
    let (denominator, denormal) = denominator;
    let difference = numerator - denominator;
    let power = constants.power;
    let when = |condition: bool, power: i32| if condition { power } else { 0 };
    let tiny_reciprocal = denominator >= constants.tiny_reciprocal;
    let tiny_quotient = difference <= constants.tiny_quotient;
    if difference >= constants.large_quotient {
        (when(value_is_denominator, power), true)
    } else if denormal {
        (power, false)
    } else if tiny_reciprocal && tiny_quotient {
        (when(value_is_denominator, -power), true)
    } else if tiny_reciprocal {
        (-power, false)
    } else if tiny_quotient {
        (when(value_is_numerator, power), true)
    } else if numerator <= constants.tiny_numerator {
        (power, false)
    } else {
        (0, false)
    }
}

/// `v_div_scale_f32` of (value, denominator, numerator): the value, perhaps scaled, and whether the
/// quotient needs scaling back.
pub(super) fn div_scale32(
    mode: &Mode,
    value: u32,
    denominator: u32,
    numerator: u32,
) -> (u32, bool) {
    let (s0, s1, s2) =
        (f32::from_bits(value), f32::from_bits(denominator), f32::from_bits(numerator));
    if s2 == 0.0 || s1 == 0.0 {
        return (float::NAN32, true);
    }
    let constants = Scaling {
        power: 64,
        large_quotient: 96,
        tiny_quotient: -126,
        tiny_reciprocal: 253,
        tiny_numerator: 23,
    };
    let exponent = exponent32(denominator);
    let (power, condition) =
        scaling(&constants, (exponent, exponent == 0), exponent32(numerator), s0 == s1, s0 == s2);
    let scaled = if power == 0 { value } else { float::ldexp32(mode, value, power) };
    (scaled, condition)
}

/// `v_div_scale_f64`, as [`div_scale32`].
pub(super) fn div_scale64(
    mode: &Mode,
    value: u64,
    denominator: u64,
    numerator: u64,
) -> (u64, bool) {
    let (s0, s1, s2) =
        (f64::from_bits(value), f64::from_bits(denominator), f64::from_bits(numerator));
    if s2 == 0.0 || s1 == 0.0 {
        return (float::NAN64, true);
    }
    let constants = Scaling {
        power: 128,
        large_quotient: 768,
        tiny_quotient: -1022,
        tiny_reciprocal: 2045,
        tiny_numerator: 53,
    };
    let exponent = exponent64(denominator);
    let (power, condition) =
        scaling(&constants, (exponent, exponent == 0), exponent64(numerator), s0 == s1, s0 == s2);
    let scaled = if power == 0 { value } else { float::ldexp64(mode, value, power) };
    (scaled, condition)
}

/// `v_div_fmas_f32`: a fused multiply-add, scaled back where the condition is set: up when the addend, the
/// quotient, has an exponent of 1 or more, else down (tinygrad's test_vop3.py, confirmed on hardware; AMD's
/// document has another factor).
pub(super) fn div_fmas32(mode: &Mode, a: u32, b: u32, c: u32, condition: bool) -> u32 {
    let (x, y, z) =
        (float::flush_in32(mode, a), float::flush_in32(mode, b), float::flush_in32(mode, c));
    let power = match (condition, exponent32(z) > 127) {
        (false, _) => 0,
        (true, true) => 64,
        (true, false) => -64,
    };
    let result = soft::fma_scaled(x.into(), y.into(), z.into(), power, soft::F32, mode.round32);
    float::flush_out32(mode, float::settle32(result as u32, &[x, y, z]))
}

/// `v_div_fmas_f64`, as [`div_fmas32`].
pub(super) fn div_fmas64(mode: &Mode, a: u64, b: u64, c: u64, condition: bool) -> u64 {
    let (x, y, z) =
        (float::flush_in64(mode, a), float::flush_in64(mode, b), float::flush_in64(mode, c));
    let power = match (condition, exponent64(z) > 1023) {
        (false, _) => 0,
        (true, true) => 128,
        (true, false) => -128,
    };
    let result = soft::fma_scaled(x, y, z, power, soft::F64, mode.round16_64);
    float::flush_out64(mode, float::settle64(result, &[x, y, z]))
}

/// `v_div_fixup_f32` of (quotient, denominator, numerator): the special cases of division.
pub(super) fn div_fixup32(quotient: u32, denominator: u32, numerator: u32) -> u32 {
    let sign = (denominator ^ numerator) & SIGN32;
    let (d, n) = (denominator & !SIGN32, numerator & !SIGN32);
    let infinity = 0x7f80_0000;
    if is_nan32(numerator) {
        quiet32(numerator)
    } else if is_nan32(denominator) {
        quiet32(denominator)
    } else if d == 0 && n == 0 || d == infinity && n == infinity {
        0xffc0_0000
    } else if d == 0 || n == infinity {
        sign | infinity
    } else if d == infinity || n == 0 || exponent32(numerator) - exponent32(denominator) < -150 {
        // The last of these is underflow.
        sign
    } else if is_nan32(quotient) {
        sign | infinity
    } else {
        sign | quotient & !SIGN32
    }
}

/// `v_div_fixup_f64`.
pub(super) fn div_fixup64(quotient: u64, denominator: u64, numerator: u64) -> u64 {
    let sign = (denominator ^ numerator) & SIGN64;
    let (d, n) = (denominator & !SIGN64, numerator & !SIGN64);
    let infinity = 0x7ff0_0000_0000_0000;
    if is_nan64(numerator) {
        quiet64(numerator)
    } else if is_nan64(denominator) {
        quiet64(denominator)
    } else if d == 0 && n == 0 || d == infinity && n == infinity {
        0xfff8_0000_0000_0000
    } else if d == 0 || n == infinity {
        sign | infinity
    } else if d == infinity || n == 0 || exponent64(numerator) - exponent64(denominator) < -1075 {
        // The last of these is underflow.
        sign
    } else if is_nan64(quotient) {
        sign | infinity
    } else {
        sign | quotient & !SIGN64
    }
}

/// `v_div_fixup_f16`.
pub(super) fn div_fixup16(quotient: u32, denominator: u32, numerator: u32) -> u32 {
    let sign = (denominator ^ numerator) & 0x8000;
    let (d, n) = (denominator & 0x7fff, numerator & 0x7fff);
    if is_nan16(numerator) {
        quiet16(numerator)
    } else if is_nan16(denominator) {
        quiet16(denominator)
    } else if d == 0 && n == 0 || d == 0x7c00 && n == 0x7c00 {
        0xfe00
    } else if d == 0 || n == 0x7c00 {
        sign | 0x7c00
    } else if d == 0x7c00 || n == 0 {
        sign
    } else {
        sign | quotient & 0x7fff
    }
}

/// The exponent that makes the mantissa lie in [0.5, 1); 0 for zeros, infinities and NaNs.
pub(super) fn frexp_exp32(bits: u32) -> i32 {
    let magnitude = bits & !SIGN32;
    match magnitude >> 23 {
        255 => 0,
        0 if magnitude == 0 => 0,
        0 => -117 - (magnitude.leading_zeros() as i32),
        exponent => exponent as i32 - 126,
    }
}

/// The mantissa in [0.5, 1), with the sign.
pub(super) fn frexp_mant32(bits: u32) -> u32 {
    let magnitude = bits & !SIGN32;
    match magnitude >> 23 {
        255 => quiet32(bits),
        0 if magnitude == 0 => bits,
        0 => {
            let shift = magnitude.leading_zeros() - 8;
            bits & SIGN32 | 0x3f00_0000 | magnitude << shift & 0x7f_ffff
        }
        _ => bits & 0x807f_ffff | 0x3f00_0000,
    }
}

/// As [`frexp_exp32`].
pub(super) fn frexp_exp64(bits: u64) -> i32 {
    let magnitude = bits & !SIGN64;
    match magnitude >> 52 {
        0x7ff => 0,
        0 if magnitude == 0 => 0,
        0 => -1010 - (magnitude.leading_zeros() as i32),
        exponent => exponent as i32 - 1022,
    }
}

/// As [`frexp_mant32`].
pub(super) fn frexp_mant64(bits: u64) -> u64 {
    let magnitude = bits & !SIGN64;
    match magnitude >> 52 {
        0x7ff => quiet64(bits),
        0 if magnitude == 0 => bits,
        0 => {
            let shift = magnitude.leading_zeros() - 11;
            bits & SIGN64 | 0x3fe0_0000_0000_0000 | magnitude << shift & 0xf_ffff_ffff_ffff
        }
        _ => bits & 0x800f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
    }
}

/// As [`frexp_exp32`].
pub(super) fn frexp_exp16(bits: u32) -> i32 {
    let magnitude = bits & 0x7fff;
    match magnitude >> 10 {
        31 => 0,
        0 if magnitude == 0 => 0,
        0 => 8 - (magnitude.leading_zeros() as i32),
        exponent => exponent as i32 - 14,
    }
}

/// As [`frexp_mant32`].
pub(super) fn frexp_mant16(bits: u32) -> u32 {
    let magnitude = bits & 0x7fff;
    match magnitude >> 10 {
        31 => quiet16(bits),
        0 if magnitude == 0 => bits,
        0 => {
            let shift = magnitude.leading_zeros() - 21;
            bits & 0x8000 | 0x3800 | magnitude << shift & 0x3ff
        }
        _ => bits & 0x83ff | 0x3800,
    }
}

/// sin(2πx): exact reduction to one turn first.
pub(super) fn sin_turns(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let turn = x - x.round_ties_even();
    // Multiples of a quarter are exact.
    if turn == 0.0 || turn.abs() == 0.5 {
        return 0f64.copysign(x);
    }
    (turn * std::f64::consts::TAU).sin()
}

/// cos(2πx): exact reduction to one turn first.
pub(super) fn cos_turns(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let turn = (x - x.round_ties_even()).abs();
    if turn == 0.25 {
        return 0.0;
    }
    (turn * std::f64::consts::TAU).cos()
}

/// The first 1216 bits of 2/π behind the point, highest first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// `v_trig_preop_f64`: 53 bits of 2/π from the place that a value of this size needs, segment by segment
/// (RDNA3 ISA document, V_TRIG_PREOP_F64).
pub(super) fn trig_preop(bits: u64, segment: u32) -> u64 {
    let exponent = exponent64(bits);
    let mut shift = (segment & 31) as i32 * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    // Bits `shift` to `shift + 52` behind the point; there are 1201.
    let mut field = 0u64;
    for place in shift..shift + 53 {
        let bit = match usize::try_from(place) {
            Ok(place) if place < 1201 => TWO_OVER_PI[place / 64] >> (63 - place % 64) & 1,
            _ => 0,
        };
        field = field << 1 | bit;
    }
    let mut scale = -53 - shift;
    if exponent >= 1968 {
        scale += 128;
    }
    let keep = Mode::from_bits(0xf0);
    float::ldexp64(&keep, (field as f64).to_bits(), scale)
}

/// Which of a cube's axes is the major one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    X,
    Y,
    Z,
}

fn major(x: f32, y: f32, z: f32) -> Axis {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        Axis::Z
    } else if y.abs() >= x.abs() {
        Axis::Y
    } else {
        Axis::X
    }
}

/// `v_cubeid_f32`: the face.
pub(super) fn cube_face(x: f32, y: f32, z: f32) -> f32 {
    match major(x, y, z) {
        Axis::Z => {
            if z < 0.0 {
                5.0
            } else {
                4.0
            }
        }
        Axis::Y => {
            if y < 0.0 {
                3.0
            } else {
                2.0
            }
        }
        Axis::X => {
            if x < 0.0 {
                1.0
            } else {
                0.0
            }
        }
    }
}

/// `v_cubesc_f32`: the S coordinate.
pub(super) fn cube_s(x: f32, y: f32, z: f32) -> f32 {
    match major(x, y, z) {
        Axis::Z => {
            if z < 0.0 {
                -x
            } else {
                x
            }
        }
        Axis::Y => x,
        Axis::X => {
            if x < 0.0 {
                z
            } else {
                -z
            }
        }
    }
}

/// `v_cubetc_f32`: the T coordinate.
pub(super) fn cube_t(x: f32, y: f32, z: f32) -> f32 {
    match major(x, y, z) {
        Axis::Y => {
            if y < 0.0 {
                -z
            } else {
                z
            }
        }
        _ => -y,
    }
}

/// `v_cubema_f32`: twice the major axis.
pub(super) fn cube_major(x: f32, y: f32, z: f32) -> f32 {
    2.0 * match major(x, y, z) {
        Axis::Z => z,
        Axis::Y => y,
        Axis::X => x,
    }
}

/// `v_mullit_f32`.
pub(super) fn mullit(a: f32, b: f32, c: f32) -> f32 {
    if b == f32::MIN || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan() {
        f32::MIN
    } else {
        a * b
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Division as LLVM's AMDGPU backend expands `fdiv float` (`LowerFDIV32`), with denormals on.
    fn divide32(n: u32, d: u32) -> u32 {
        let mode = &Mode::from_bits(0xf0);
        let fma = |a: u32, b: u32, c: u32| float::fma32(mode, a, b, c);
        let (d_scaled, _) = div_scale32(mode, d, d, n);
        let (n_scaled, condition) = div_scale32(mode, n, d, n);
        let reciprocal = (1.0 / f32::from_bits(float::flush32(d_scaled))).to_bits();
        let reciprocal = float::flush32(reciprocal);
        let minus_d = d_scaled ^ SIGN32;
        let error = fma(minus_d, reciprocal, 0x3f80_0000);
        let refined = fma(error, reciprocal, reciprocal);
        let quotient = float::mul32(mode, n_scaled, refined);
        let rest = fma(minus_d, quotient, n_scaled);
        let better = fma(rest, refined, quotient);
        let rest = fma(minus_d, better, n_scaled);
        let result = div_fmas32(mode, rest, refined, better, condition);
        div_fixup32(result, d, n)
    }

    /// Division as LLVM's AMDGPU backend expands `fdiv double` (`LowerFDIV64`).
    fn divide64(n: u64, d: u64) -> u64 {
        let mode = &Mode::from_bits(0xf0);
        let fma = |a: u64, b: u64, c: u64| float::fma64(mode, a, b, c);
        let one = 1f64.to_bits();
        let (d_scaled, _) = div_scale64(mode, d, d, n);
        let (n_scaled, condition) = div_scale64(mode, n, d, n);
        let minus_d = d_scaled ^ SIGN64;
        let reciprocal = (1.0 / f64::from_bits(d_scaled)).to_bits();
        let refined = fma(fma(minus_d, reciprocal, one), reciprocal, reciprocal);
        let refined = fma(fma(minus_d, refined, one), refined, refined);
        let quotient = float::mul64(mode, n_scaled, refined);
        let rest = fma(minus_d, quotient, n_scaled);
        div_fixup64(div_fmas64(mode, rest, refined, quotient, condition), d, n)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn llvms_division_is_division(n: u32, d: u32) {
            let expected = f32::from_bits(n) / f32::from_bits(d);
            let got = f32::from_bits(divide32(n, d));
            prop_assert!(
                expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan(),
                "{:e} / {:e} = {:e}, not {:e}",
                f32::from_bits(n), f32::from_bits(d), got, expected
            );
        }

        #[test]
        fn llvms_double_division_is_division(n: u64, d: u64) {
            let expected = f64::from_bits(n) / f64::from_bits(d);
            let got = f64::from_bits(divide64(n, d));
            prop_assert!(
                expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan(),
                "{:e} / {:e} = {:e}, not {:e}",
                f64::from_bits(n), f64::from_bits(d), got, expected
            );
        }
    }

    #[test]
    fn mantissa_and_exponent_make_the_value_again() {
        for bits in [1u32, 0x123, 0x7f_ffff, 0x80_0000, 0x3f80_0000, 0xc2f0_1234, 0x7f7f_ffff] {
            let mantissa = f32::from_bits(frexp_mant32(bits));
            assert!((0.5..1.0).contains(&mantissa.abs()), "{bits:#x}");
            let value = f64::from(mantissa) * 2f64.powi(frexp_exp32(bits));
            assert_eq!(value, f64::from(f32::from_bits(bits)), "{bits:#x}");
            let half = bits & 0xffff;
            if half & 0x7fff != 0 && half & 0x7c00 != 0x7c00 {
                let mantissa = float::f16_to_f32(frexp_mant16(half));
                let value = mantissa * 2f32.powi(frexp_exp16(half));
                assert_eq!(value, float::f16_to_f32(half), "{half:#x}");
            }
        }
        for bits in [1u64, 0xf_ffff_ffff_ffff, 0x3ff0_0000_0000_0000, 0x7fef_ffff_ffff_ffff] {
            let mantissa = f64::from_bits(frexp_mant64(bits));
            assert!((0.5..1.0).contains(&mantissa), "{bits:#x}");
            let keep = Mode::from_bits(0xf0);
            assert_eq!(float::ldexp64(&keep, mantissa.to_bits(), frexp_exp64(bits)), bits);
        }
    }

    #[test]
    fn the_first_segments_of_two_over_pi_sum_to_it() {
        let one = 1f64.to_bits();
        let sum: f64 = (0..3).map(|segment| f64::from_bits(trig_preop(one, segment))).sum();
        assert_eq!(sum, std::f64::consts::FRAC_2_PI);
    }
}
