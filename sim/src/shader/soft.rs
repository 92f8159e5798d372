//! Floating point in integers: exact sums and products rounded in any mode to any format.
//!
//! The host computes in its own registers only when rounding to nearest; the other modes of MODE.FP_ROUND
//! come here.

use super::mode::Round;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of the significand with the hidden one.
    precision: i32,
    /// Exponent bias.
    bias: i32,
}

/// IEEE half precision.
pub(super) const F16: Format = Format { precision: 11, bias: 15 };
/// IEEE single precision.
pub(super) const F32: Format = Format { precision: 24, bias: 127 };
/// IEEE double precision.
pub(super) const F64: Format = Format { precision: 53, bias: 1023 };

impl Format {
    fn infinity(self) -> u64 {
        ((2 * self.bias + 1) as u64) << (self.precision - 1)
    }

    fn sign_bit(self) -> u64 {
        match self.bias {
            15 => 1 << 15,
            127 => 1 << 31,
            _ => 1 << 63,
        }
    }

    fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.precision - 2)
    }
}

/// A finite number: ±significand × 2^exponent.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    exponent: i32,
    significand: u128,
}

/// A number by kind.
enum Value {
    Nan,
    Infinite(bool),
    Finite(Number),
}

fn unpack(bits: u64, format: Format) -> Value {
    let negative = bits & format.sign_bit() != 0;
    let fraction_bits = format.precision - 1;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let exponent = ((bits & (format.sign_bit() - 1)) >> fraction_bits) as i32;
    if exponent == 2 * format.bias + 1 {
        return if fraction != 0 { Value::Nan } else { Value::Infinite(negative) };
    }
    let (significand, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | 1 << fraction_bits, exponent) };
    Value::Finite(Number {
        negative,
        exponent: exponent - format.bias - fraction_bits,
        significand: u128::from(significand),
    })
}

/// Rounds to a format. The lowest bit of the significand may be a sticky bit.
fn pack(number: Number, format: Format, round: Round) -> u64 {
    let sign = if number.negative { format.sign_bit() } else { 0 };
    if number.significand == 0 {
        return sign;
    }
    let top = 127 - number.significand.leading_zeros() as i32;
    let magnitude = top + number.exponent;
    let least = 1 - format.bias;
    let mut quantum = magnitude.max(least) - (format.precision - 1);
    let shift = quantum - number.exponent;
    let (mut kept, half, rest) = if shift <= 0 {
        (number.significand << -shift, false, false)
    } else if shift > 127 {
        (0, false, true)
    } else {
        let lost = number.significand & ((1 << shift) - 1);
        let middle = 1 << (shift - 1);
        (number.significand >> shift, lost & middle != 0, lost & (middle - 1) != 0)
    };
    let up = match round {
        Round::Nearest => half && (rest || kept & 1 != 0),
        Round::Up => (half || rest) && !number.negative,
        Round::Down => (half || rest) && number.negative,
        Round::Zero => false,
    };
    kept += u128::from(up);
    if kept >> format.precision != 0 {
        kept >>= 1;
        quantum += 1;
    }
    let hidden = 1u128 << (format.precision - 1);
    if kept < hidden {
        return sign | kept as u64;
    }
    let exponent = quantum + format.precision - 1 + format.bias;
    if exponent > 2 * format.bias {
        let to_infinity = match round {
            Round::Nearest => true,
            Round::Up => !number.negative,
            Round::Down => number.negative,
            Round::Zero => false,
        };
        return sign | if to_infinity { format.infinity() } else { format.infinity() - 1 };
    }
    sign | (exponent as u64) << (format.precision - 1) | (kept - hidden) as u64
}

/// Moves the highest bit of the significand to bit 124.
fn normalise(mut number: Number) -> Number {
    if number.significand != 0 {
        let shift = number.significand.leading_zeros() as i32 - 3;
        number.significand <<= shift;
        number.exponent -= shift;
    }
    number
}

/// The exact sum but for a sticky lowest bit; `round` gives the sign of an exact zero.
fn sum(a: Number, b: Number, round: Round) -> Number {
    if a.significand == 0 && b.significand == 0 {
        let negative = if a.negative == b.negative { a.negative } else { round == Round::Down };
        return Number { negative, ..a };
    }
    if a.significand == 0 {
        return b;
    }
    if b.significand == 0 {
        return a;
    }
    let (a, b) = (normalise(a), normalise(b));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let distance = large.exponent - small.exponent;
    let shifted = if distance > 126 {
        1
    } else {
        let lost = small.significand & ((1 << distance) - 1);
        small.significand >> distance | u128::from(lost != 0)
    };
    let exponent = large.exponent;
    if large.negative == small.negative {
        return Number {
            negative: large.negative,
            exponent,
            significand: large.significand + shifted,
        };
    }
    if large.significand >= shifted {
        let significand = large.significand - shifted;
        let negative = if significand == 0 { round == Round::Down } else { large.negative };
        Number { negative, exponent, significand }
    } else {
        Number { negative: small.negative, exponent, significand: shifted - large.significand }
    }
}

/// `a × b + c` rounded once. A NaN result is the format's positive quiet NaN.
pub(super) fn fma(a: u64, b: u64, c: u64, format: Format, round: Round) -> u64 {
    fma_scaled(a, b, c, 0, format, round)
}

/// `(a × b + c) × 2^power` rounded once.
pub(super) fn fma_scaled(a: u64, b: u64, c: u64, power: i32, format: Format, round: Round) -> u64 {
    use Value::{Finite, Infinite, Nan};
    let infinity = |negative| format.infinity() | if negative { format.sign_bit() } else { 0 };
    let sign = |bits: u64| bits & format.sign_bit() != 0;
    let product_negative = sign(a) != sign(b);
    match (unpack(a, format), unpack(b, format), unpack(c, format)) {
        (Nan, _, _) | (_, Nan, _) | (_, _, Nan) => format.quiet_nan(),
        (Infinite(_), Finite(zero), _) | (Finite(zero), Infinite(_), _)
            if zero.significand == 0 =>
        {
            format.quiet_nan()
        }
        (Infinite(_), _, Infinite(c)) | (_, Infinite(_), Infinite(c)) if c != product_negative => {
            format.quiet_nan()
        }
        (Infinite(_), _, _) | (_, Infinite(_), _) => infinity(product_negative),
        (_, _, Infinite(negative)) => infinity(negative),
        (Finite(a), Finite(b), Finite(c)) => {
            let product = Number {
                negative: product_negative,
                exponent: a.exponent + b.exponent,
                significand: a.significand * b.significand,
            };
            let mut exact = sum(product, c, round);
            exact.exponent += power;
            pack(exact, format, round)
        }
    }
}

/// Converts between formats.
pub(super) fn convert(bits: u64, from: Format, to: Format, round: Round) -> u64 {
    match unpack(bits, from) {
        Value::Nan => to.quiet_nan(),
        Value::Infinite(negative) => to.infinity() | if negative { to.sign_bit() } else { 0 },
        Value::Finite(number) => pack(number, to, round),
    }
}

/// Converts an integer.
pub(super) fn from_integer(value: i64, to: Format, round: Round) -> u64 {
    let number =
        Number { negative: value < 0, exponent: 0, significand: u128::from(value.unsigned_abs()) };
    pack(number, to, round)
}

/// `value × 2^power`, rounded once.
pub(super) fn scale(bits: u64, power: i32, format: Format, round: Round) -> u64 {
    match unpack(bits, format) {
        Value::Finite(mut number) => {
            number.exponent += power.clamp(-5000, 5000);
            pack(number, format, round)
        }
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fma_to_nearest_is_the_hosts(a: u32, b: u32, c: u32) {
            let expected = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
            let got = f32::from_bits(fma(a.into(), b.into(), c.into(), F32, Round::Nearest) as u32);
            prop_assert!(expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan());
        }

        #[test]
        fn fma64_to_nearest_is_the_hosts(a: u64, b: u64, e in -60i32..60) {
            // c near −a·b, where cancellation is deepest.
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            let z = -(x * y) * 2f64.powi(e);
            let expected = x.mul_add(y, z);
            let got = f64::from_bits(fma(a, b, z.to_bits(), F64, Round::Nearest));
            prop_assert!(expected.to_bits() == got.to_bits() || expected.is_nan() && got.is_nan());
        }

        #[test]
        fn directed_sums_enclose(a in -1e30f32..1e30, b in -1e30f32..1e30) {
            let one = 1f32.to_bits().into();
            let sum = |round| f64::from(f32::from_bits(
                fma(a.to_bits().into(), one, b.to_bits().into(), F32, round) as u32));
            let (low, high) = (sum(Round::Down), sum(Round::Up));
            let nearest = f64::from(a + b);
            prop_assert!(low <= nearest && nearest <= high);
            prop_assert!(low == high || (low as f32).next_up() == high as f32);
            prop_assert_eq!(sum(Round::Zero), if nearest < 0.0 { high } else { low });
        }

        #[test]
        fn halves_convert_as_the_half_crate(value: f32) {
            let expected = half::f16::from_f32(value);
            let got = convert(value.to_bits().into(), F32, F16, Round::Nearest) as u16;
            prop_assert!(expected.to_bits() == got || expected.is_nan());
        }
    }
}
