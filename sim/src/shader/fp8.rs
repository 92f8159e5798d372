//! Floats of eight bits: FP8 (four bits of exponent, three of fraction, no infinity) and BF8 (five and two), by the
//! "OCP 8-bit Floating Point Specification" 1.0, which gfx12 follows (LLVM's AMDGPUUsage document, "FP8 and BF8").

use super::mode::Mode;

/// One of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Fp8,
    Bf8,
}

impl Format {
    /// Bits of the fraction.
    const fn fraction(self) -> u32 {
        match self {
            Format::Fp8 => 3,
            Format::Bf8 => 2,
        }
    }

    const fn bias(self) -> i32 {
        match self {
            Format::Fp8 => 7,
            Format::Bf8 => 15,
        }
    }

    /// The largest finite value's bits.
    const fn largest(self) -> u32 {
        match self {
            Format::Fp8 => 0x7e,
            Format::Bf8 => 0x7b,
        }
    }

    /// What a value beyond the largest becomes: NaN where there is no infinity.
    const fn overflow(self) -> u32 {
        match self {
            Format::Fp8 => NAN,
            Format::Bf8 => 0x7c,
        }
    }
}

/// NaN: all bits but the sign.
const NAN: u32 = 0x7f;

/// The value of the low byte, which a single holds exactly.
pub(super) fn to_f32(format: Format, bits: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let fraction_bits = format.fraction();
    let (exponent, fraction) = (magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1));
    let value = if magnitude > format.largest() {
        if magnitude == format.overflow() && format == Format::Bf8 {
            f32::INFINITY
        } else {
            f32::NAN
        }
    } else if exponent == 0 {
        fraction as f32 * 2f32.powi(1 - format.bias() - fraction_bits as i32)
    } else {
        let bits = (exponent as i32 - format.bias() + 127) as u32;
        f32::from_bits(bits << 23 | fraction << (23 - fraction_bits))
    };
    if bits & 0x80 != 0 { -value } else { value }
}

/// A single rounded to nearest even. Beyond the largest value it becomes infinite or NaN, or with MODE.FP16_OVFL
/// the largest.
pub(super) fn from_f32(mode: &Mode, format: Format, value: f32) -> u32 {
    let sign = value.to_bits() >> 24 & 0x80;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | NAN;
    }
    if magnitude.is_infinite() {
        return sign | format.overflow();
    }
    // In units of the format's last place at this exponent, which makes the rounding one to an integer.
    let smallest = 1 - format.bias();
    let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(smallest);
    let unit = exponent - format.fraction() as i32;
    let units = (f64::from(magnitude) * 2f64.powi(-unit)).round_ties_even() as u32;
    // The hidden bit counts as one step of the exponent.
    let rounded = (((exponent - smallest) as u32) << format.fraction()) + units;
    let rounded = match rounded {
        0..=0x7f if rounded <= format.largest() => rounded,
        _ if mode.fp16_overflow => format.largest(),
        _ => format.overflow(),
    };
    sign | rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_values_come_back() {
        let mode = &Mode::without_switches(0xf0);
        for format in [Format::Fp8, Format::Bf8] {
            for bits in 0..=0xff {
                let value = to_f32(format, bits);
                if !value.is_nan() {
                    assert_eq!(from_f32(mode, format, value), bits, "{format:?} {bits:#x} {value}");
                }
            }
        }
    }

    #[test]
    fn the_specifications_values() {
        for (format, bits, value) in [
            (Format::Fp8, 0x7e, 448.0),
            (Format::Fp8, 0x08, 2f32.powi(-6)),
            (Format::Fp8, 0x01, 2f32.powi(-9)),
            (Format::Bf8, 0x7b, 57344.0),
            (Format::Bf8, 0x7c, f32::INFINITY),
            (Format::Bf8, 0x04, 2f32.powi(-14)),
            (Format::Bf8, 0x01, 2f32.powi(-16)),
        ] {
            assert_eq!(to_f32(format, bits), value);
        }
        assert!(to_f32(Format::Fp8, 0x7f).is_nan() && to_f32(Format::Bf8, 0x7d).is_nan());
    }

    #[test]
    fn rounding_and_overflow() {
        let mode = &Mode::without_switches(0xf0);
        let clamped = &Mode::without_switches(0xf0 | 1 << 23);
        for (format, value, bits) in [
            (Format::Fp8, 464.0, 0x7e),
            (Format::Fp8, 465.0, 0x7f),
            (Format::Fp8, -1e9, 0xff),
            (Format::Fp8, 1.0625, 0x38),
            (Format::Fp8, 1.1875, 0x3a),
            (Format::Fp8, 2f32.powi(-10), 0),
            (Format::Bf8, 61439.0, 0x7b),
            (Format::Bf8, 61440.0, 0x7c),
            (Format::Bf8, -1e-9, 0x80),
        ] {
            assert_eq!(from_f32(mode, format, value), bits, "{format:?} {value}");
        }
        assert_eq!(from_f32(clamped, Format::Fp8, 1e9), 0x7e);
        assert_eq!(from_f32(clamped, Format::Bf8, -1e9), 0xfb);
    }
}
