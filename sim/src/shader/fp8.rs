//! Floats of eight bits: FP8 (four bits of exponent, three of fraction) and BF8 (five and two); and gfx950's of six and
//! four: FP6 (two and three), BF6 (three and two), FP4 (two and one), which have neither infinities nor NaNs ("OCP
//! Microscaling Formats (MX) Specification" 1.0).
//!
//! gfx12 and gfx950 follow the "OCP 8-bit Floating Point Specification" 1.0, whose FP8 has no infinity (LLVM's AMDGPUUsage
//! document, "FP8 and BF8"). gfx942 has those without negative zero and infinities ("FNUZ"), with a bias greater by
//! one and one NaN, 0x80 (AMD "Instinct MI300" ISA document, "FP8 and BF8 formats").

use super::mode::Mode;

/// One of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Fp8,
    Bf8,
    Fp8Fnuz,
    Bf8Fnuz,
    Fp6,
    Bf6,
    Fp4,
}

impl Format {
    /// All bits of a value.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Format::Fp8 | Format::Bf8 | Format::Fp8Fnuz | Format::Bf8Fnuz => 8,
            Format::Fp6 | Format::Bf6 => 6,
            Format::Fp4 => 4,
        }
    }

    /// Bits of the fraction.
    const fn fraction(self) -> u32 {
        match self {
            Format::Fp8 | Format::Fp8Fnuz | Format::Fp6 => 3,
            Format::Bf8 | Format::Bf8Fnuz | Format::Bf6 => 2,
            Format::Fp4 => 1,
        }
    }

    const fn bias(self) -> i32 {
        match self {
            Format::Fp8 => 7,
            Format::Fp8Fnuz => 8,
            Format::Bf8 => 15,
            Format::Bf8Fnuz => 16,
            Format::Fp6 | Format::Fp4 => 1,
            Format::Bf6 => 3,
        }
    }

    /// The largest finite value's bits.
    const fn largest(self) -> u32 {
        match self {
            Format::Fp8 => 0x7e,
            Format::Bf8 => 0x7b,
            Format::Fp8Fnuz | Format::Bf8Fnuz => 0x7f,
            Format::Fp6 | Format::Bf6 => 0x1f,
            Format::Fp4 => 0x7,
        }
    }

    /// The sign's place.
    const fn sign(self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// Whether the bits of negative zero are the only NaN.
    const fn is_fnuz(self) -> bool {
        matches!(self, Format::Fp8Fnuz | Format::Bf8Fnuz)
    }

    /// NaN: all bits but the sign, or the sign only. Where there is none, all bits are the largest number.
    const fn nan(self, sign: u32) -> u32 {
        if self.is_fnuz() { 0x80 } else { sign | (self.sign() - 1) }
    }

    /// What a value beyond the largest becomes: NaN where there is no infinity.
    const fn overflow(self, sign: u32) -> u32 {
        match self {
            Format::Bf8 => sign | BF8_INFINITY,
            _ => self.nan(sign),
        }
    }
}

const BF8_INFINITY: u32 = 0x7c;

/// The value of the lowest bits, which a single holds exactly.
pub(super) fn to_f32(format: Format, bits: u32) -> f32 {
    if format.is_fnuz() && bits & 0xff == format.nan(0) {
        return f32::NAN;
    }
    let magnitude = bits & (format.sign() - 1);
    let fraction_bits = format.fraction();
    let (exponent, fraction) = (magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1));
    let value = if magnitude > format.largest() {
        if magnitude == BF8_INFINITY && format == Format::Bf8 { f32::INFINITY } else { f32::NAN }
    } else if exponent == 0 {
        fraction as f32 * 2f32.powi(1 - format.bias() - fraction_bits as i32)
    } else {
        let bits = (exponent as i32 - format.bias() + 127) as u32;
        f32::from_bits(bits << 23 | fraction << (23 - fraction_bits))
    };
    if bits & format.sign() != 0 { -value } else { value }
}

/// A single rounded to nearest even. Beyond the largest value it becomes infinite or NaN, or with MODE.FP16_OVFL
/// the largest.
pub(super) fn from_f32(mode: &Mode, format: Format, value: f32) -> u32 {
    from_scaled(mode, format, value, 0)
}

/// What NaN and infinities become.
fn from_special(mode: &Mode, format: Format, sign: u32, value: f32) -> u32 {
    let largest = format.is_fnuz() && mode.fp16_overflow;
    match value.is_nan() {
        true => format.nan(sign),
        false if largest => sign | format.largest(),
        false => format.overflow(sign),
    }
}

/// A magnitude that fits, or what takes its place.
fn finish(mode: &Mode, format: Format, sign: u32, magnitude: u32) -> u32 {
    match magnitude {
        0 if format.is_fnuz() => 0,
        _ if magnitude <= format.largest() => sign | magnitude,
        _ if mode.fp16_overflow => sign | format.largest(),
        _ => format.overflow(sign),
    }
}

/// As [`from_f32`], of the value divided by a power of two.
pub(super) fn from_scaled(mode: &Mode, format: Format, value: f32, scale: i32) -> u32 {
    let sign = if value.is_sign_negative() { format.sign() } else { 0 };
    if !value.is_finite() {
        return from_special(mode, format, sign, value);
    }
    let magnitude = f64::from(value.abs()) * 2f64.powi(-scale);
    // In units of the format's last place at this exponent, which makes the rounding one to an integer.
    let smallest = 1 - format.bias();
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(smallest);
    let unit = exponent - format.fraction() as i32;
    let units = (magnitude * 2f64.powi(-unit)).round_ties_even() as u32;
    // The hidden bit counts as one step of the exponent.
    let rounded = (((exponent - smallest) as u32) << format.fraction()) + units;
    finish(mode, format, sign, rounded)
}

/// As [`from_scaled`], rounded by chance ([`cut`]).
pub(super) fn from_scaled_by_chance(
    mode: &Mode,
    format: Format,
    value: f32,
    kept: u32,
    scale: i32,
    random: u32,
) -> u32 {
    let sign = if value.is_sign_negative() { format.sign() } else { 0 };
    if !value.is_finite() {
        return from_special(mode, format, sign, value);
    }
    let magnitude = cut(value, kept, scale, [format.fraction(), format.bias() as u32], random);
    finish(mode, format, sign, magnitude)
}

/// The magnitude of a number divided by a power of two, as a float of so many bits of `fraction` with a `bias`, rounded
/// by chance: random bits, as many of the highest as bits of the fraction are dropped, are added to the fraction,
/// which is then cut off. Of what is below the smallest normal, `kept` bits of the fraction remain before that, as
/// many as the type has that it came from (ROCm's `amd_hip_ocp_host.hpp`, `from_float_sr`).
pub(super) fn cut(
    value: f32,
    kept: u32,
    scale: i32,
    [fraction, bias]: [u32; 2],
    random: u32,
) -> u32 {
    if value == 0.0 {
        return 0;
    }
    // Denormals of singles are normal here.
    let wide = f64::from(value.abs()).to_bits();
    let exponent = (wide >> 52) as i32 - 1023 - scale;
    let bits = (wide >> (52 - kept)) as u32 & ((1 << kept) - 1);
    let smallest = 1 - bias as i32;
    let below = u32::try_from(smallest - exponent).unwrap_or(0);
    let (field, bits) = match below {
        0 => ((exponent - smallest) as u32 + 1, bits),
        1..32 => (0, (bits | 1 << kept) >> below),
        _ => (0, 0),
    };
    let dropped = kept - fraction;
    let sum = (u64::from(field) << kept) + u64::from(bits) + u64::from(random >> (32 - dropped));
    u32::try_from(sum >> dropped).unwrap_or(u32::MAX)
}

/// A single with random bits added below those that stay, for rounding by chance: the upper 20 for FP8, 21 for BF8 (AMD
/// "Instinct MI300" and RDNA4 ISA documents, V_CVT_SR_FP8_F32, V_CVT_SR_BF8_F32). Both have the sum wrap around and round
/// it to nearest as if nothing had been added.
pub(super) fn dithered(format: Format, bits: u32, random: u32) -> f32 {
    let added = random >> (32 - (23 - format.fraction()));
    let fraction = (bits & 0x7f_ffff).wrapping_add(added) & 0x7f_ffff;
    f32::from_bits(bits & 0xff80_0000 | fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_values_come_back() {
        let mode = &Mode::without_switches(0xf0);
        use Format::*;
        for format in [Fp8, Bf8, Fp8Fnuz, Bf8Fnuz, Fp6, Bf6, Fp4] {
            for bits in 0..1 << format.bits() {
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
            (Format::Fp8Fnuz, 0x7f, 240.0),
            (Format::Bf8Fnuz, 0x7f, 57344.0),
            (Format::Fp8Fnuz, 0x40, 1.0),
            (Format::Fp6, 0x1f, 7.5),
            (Format::Fp6, 0x01, 0.125),
            (Format::Fp6, 0x28, -1.0),
            (Format::Bf6, 0x1f, 28.0),
            (Format::Bf6, 0x04, 0.25),
            (Format::Bf6, 0x01, 0.0625),
            (Format::Fp4, 0x7, 6.0),
            (Format::Fp4, 0x1, 0.5),
            (Format::Fp4, 0xa, -1.0),
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
            (Format::Fp8Fnuz, 248.0, 0x80),
            (Format::Fp8Fnuz, -0.0, 0),
            (Format::Bf8Fnuz, f32::INFINITY, 0x80),
            (Format::Fp6, 100.0, 0x1f),
            (Format::Bf6, f32::NEG_INFINITY, 0x3f),
            (Format::Fp4, 2.5, 0x4),
            (Format::Fp4, 0.25, 0),
        ] {
            assert_eq!(from_f32(mode, format, value), bits, "{format:?} {value}");
        }
        assert_eq!(from_f32(clamped, Format::Fp8, 1e9), 0x7e);
        assert_eq!(from_f32(clamped, Format::Bf8, -1e9), 0xfb);
        assert_eq!(from_f32(clamped, Format::Fp8Fnuz, -1e9), 0xff);
    }
}
