//! Division's steps, denormals, and the carry of 64-bit multiply-adds.

use super::*;

/// One width of float.
struct Format {
    /// `v_div_fixup` of v1 to v3, or of pairs from v2 on.
    fixup: [u32; 2],
    infinity: u64,
    sign: u64,
    quiet: u64,
    pairs: bool,
}

const FORMATS: [Format; 3] = [
    // v_div_fixup_f16 v0, v1, v2, v3
    Format {
        fixup: [0xd654_0000, 0x040e_0501],
        infinity: 0x7c00,
        sign: 1 << 15,
        quiet: 1 << 9,
        pairs: false,
    },
    // v_div_fixup_f32 v0, v1, v2, v3
    Format {
        fixup: [0xd627_0000, 0x040e_0501],
        infinity: 0xff << 23,
        sign: 1 << 31,
        quiet: 1 << 22,
        pairs: false,
    },
    // v_div_fixup_f64 v[0:1], v[2:3], v[4:5], v[6:7]
    Format {
        fixup: [0xd628_0000, 0x041a_0902],
        infinity: 0x7ff << 52,
        sign: 1 << 63,
        quiet: 1 << 51,
        pairs: true,
    },
];

/// Executes on v1, v2, v3 or on v[2:3], v[4:5], v[6:7].
fn compute(mode: u32, pairs: bool, words: &[u32], sources: &[u64]) -> u64 {
    let mut rig = Rig::new(true);
    rig.wave.mode = Mode::from_bits(mode);
    for (index, &value) in sources.iter().enumerate() {
        if pairs {
            rig.wave.set_lane(2 + 2 * index, 0, value as u32);
            rig.wave.set_lane(3 + 2 * index, 0, (value >> 32) as u32);
        } else {
            rig.wave.set_lane(1 + index, 0, value as u32);
        }
    }
    rig.execute(words).expect("no fault");
    let high = if pairs { rig.wave.lane(1, 0) } else { 0 };
    u64::from(rig.wave.lane(0, 0)) | u64::from(high) << 32
}

/// `V_DIV_FIXUP_*` of the RDNA3 ISA document, for all pairs of special operands.
#[test]
fn special_cases_of_division() {
    for Format { fixup, infinity, sign, quiet, pairs } in FORMATS {
        let one = (infinity / 2) & infinity;
        let magnitudes = [0, one, infinity, infinity | quiet | 1, infinity | 1];
        let operands: Vec<u64> = magnitudes.iter().flat_map(|&m| [m, m | sign]).collect();
        // Not what any of the special cases gives, and of the wrong sign for half of them.
        let quotient = one + 3;
        for &denominator in &operands {
            for &numerator in &operands {
                let (d, n) = (denominator & !sign, numerator & !sign);
                let signs = (denominator ^ numerator) & sign;
                let expected = if n > infinity {
                    numerator | quiet
                } else if d > infinity {
                    denominator | quiet
                } else if d == n && (d == 0 || d == infinity) {
                    sign | infinity | quiet
                } else if d == 0 || n == infinity {
                    signs | infinity
                } else if d == infinity || n == 0 {
                    signs
                } else {
                    signs | quotient
                };
                let got = compute(DENORMALS, pairs, &fixup, &[quotient, denominator, numerator]);
                assert_eq!(got, expected, "{got:#x}: {numerator:#x} / {denominator:#x}");
            }
        }
    }
}

/// Operations of one width and where MODE has its denormals.
struct Arithmetic {
    add: &'static [u32],
    multiply: &'static [u32],
    fma: &'static [u32],
    pairs: bool,
    /// Where MODE has its FP_DENORM: inputs in the lower bit, results in the upper.
    mode: u32,
    one: u64,
    half: u64,
    least_normal: u64,
    sign: u64,
}

const ARITHMETIC: [Arithmetic; 3] = [
    Arithmetic {
        add: &[0x0600_0501],              // v_add_f32 v0, v1, v2
        multiply: &[0x1000_0501],         // v_mul_f32 v0, v1, v2
        fma: &[0xd613_0000, 0x040e_0501], // v_fma_f32 v0, v1, v2, v3
        pairs: false,
        mode: 4,
        one: 0x3f80_0000,
        half: 0x3f00_0000,
        least_normal: 1 << 23,
        sign: 1 << 31,
    },
    Arithmetic {
        add: &[0x6400_0501],              // v_add_f16 v0, v1, v2
        multiply: &[0x6a00_0501],         // v_mul_f16 v0, v1, v2
        fma: &[0xd648_0000, 0x040e_0501], // v_fma_f16 v0, v1, v2, v3
        pairs: false,
        mode: 6,
        one: 0x3c00,
        half: 0x3800,
        least_normal: 1 << 10,
        sign: 1 << 15,
    },
    Arithmetic {
        add: &[0xd727_0000, 0x0002_0902], // v_add_f64 v[0:1], v[2:3], v[4:5]
        multiply: &[0xd728_0000, 0x0002_0902], // v_mul_f64 v[0:1], v[2:3], v[4:5]
        fma: &[0xd614_0000, 0x041a_0902], // v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]
        pairs: true,
        mode: 6,
        one: 0x3ff << 52,
        half: 0x3fe << 52,
        least_normal: 1 << 52,
        sign: 1 << 63,
    },
];

#[test]
fn denormals_are_kept_or_flushed_on_either_side() {
    for format in ARITHMETIC {
        let Arithmetic { add, multiply, fma, pairs, one, half, least_normal: least, sign, .. } =
            format;
        let denormal = least / 2;
        for bits in 0..4 {
            let (inputs, results) = (bits & 1 != 0, bits & 2 != 0);
            // What this width does not use is the other way round.
            let mode = (bits << format.mode) | (!bits & 3) << (10 - format.mode);
            let check = |words, sources: &[u64], kept: bool, value: u64, flushed: u64| {
                let got = compute(mode, pairs, words, sources);
                let expected = if kept { value } else { flushed };
                assert_eq!(
                    got, expected,
                    "{got:#x}: FP_DENORM {bits} of {words:x?} on {sources:x?}"
                );
            };
            // Denormal in, normal out.
            check(add, &[denormal, least], inputs, least + denormal, least);
            check(multiply, &[denormal, one + (one - half)], inputs, least, 0);
            check(fma, &[denormal, one, least], inputs, least + denormal, least);
            check(fma, &[least, one, denormal], inputs, least + denormal, least);
            // Normal in, denormal out.
            check(add, &[least + denormal, least | sign], results, denormal, 0);
            check(multiply, &[least, half], results, denormal, 0);
            check(multiply, &[least | sign, half], results, denormal | sign, sign);
            check(fma, &[least, half, 0], results, denormal, 0);
            // Denormal in and out.
            check(multiply, &[denormal, one], inputs && results, denormal, 0);
            check(add, &[denormal, 0], inputs && results, denormal, 0);
            check(fma, &[denormal, one, 0], inputs && results, denormal, 0);
        }
    }
}

/// Numerators up to an exponent of 23 are scaled by 2^64, whatever is computed of both.
#[test]
fn tiny_numerators_of_division_are_scaled() {
    for (exponent, scaled) in [(22, true), (23, true), (24, false), (25, false)] {
        let value = exponent << 23 | 0x12_3456;
        let denominator = 30 << 23;
        let power = if scaled { 64 << 23 } else { 0 };
        for (operand, expected) in [(value, value + power), (denominator, denominator + power)] {
            let mut rig = Rig::new(true);
            rig.wave.set_mask(VCC, u64::MAX);
            // v_div_scale_f32 v0, vcc_lo, v1, v2, v3
            let got = rig.vector(&[0xd6fc_6a00, 0x040e_0501], &[operand, denominator, value]);
            assert_eq!((got, rig.wave.mask(VCC)), (expected, 0), "exponent {exponent}");
        }
    }
}

/// Bit 64 of the sum of 65 bits: for the signed one, of its sign-extended operands (RDNA3 ISA document, V_MAD_*64_*32).
#[test]
fn carries_of_64_bit_multiply_adds() {
    let cases: [(u32, u32, u32, u64, u64, u64); 9] = [
        // v_mad_u64_u32 v[0:1], s10, v2, v3, v[4:5]
        (0xd6fe_0a00, 1, 1, u64::MAX, 0, 1),
        (0xd6fe_0a00, 1, 1, u64::MAX - 1, u64::MAX, 0),
        (0xd6fe_0a00, u32::MAX, u32::MAX, u64::MAX, 0xffff_fffe_0000_0000, 1),
        // v_mad_i64_i32 v[0:1], s10, v2, v3, v[4:5]
        (0xd6ff_0a00, 1, 1, 1, 2, 0),
        (0xd6ff_0a00, 1, 1, u64::MAX, 0, 0),
        (0xd6ff_0a00, u32::MAX, 1, 0, u64::MAX, 1),
        (0xd6ff_0a00, u32::MAX, 1, 1, 0, 0),
        (0xd6ff_0a00, 1, 1, i64::MAX as u64, 1 << 63, 0),
        (0xd6ff_0a00, u32::MAX, 1, 1 << 63, i64::MAX as u64, 1),
    ];
    for (word, a, b, c, value, carry) in cases {
        let mut rig = Rig::new(true);
        rig.wave.set_sgpr(10, 0xffff);
        for (register, source) in (2..).zip([a, b, c as u32, (c >> 32) as u32]) {
            rig.wave.set_lane(register, 0, source);
        }
        rig.execute(&[word, 0x0412_0702]).expect("no fault");
        let got = u64::from(rig.wave.lane(0, 0)) | u64::from(rig.wave.lane(1, 0)) << 32;
        assert_eq!((got, rig.wave.mask(10)), (value, carry), "{word:#x} of {a:#x}, {b:#x}, {c:#x}");
    }
}
