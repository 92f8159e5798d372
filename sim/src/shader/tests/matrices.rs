//! Matrix multiply-adds whose sums are exact in any order, against products computed from the matrices themselves.
//!
//! Where elements are in registers is written here as AMD's matrix instruction calculator prints it ("Matrix element to
//! register mapping"), and for gfx950 as in the examples of "Introduction to Matrix Core Programming on AMD CDNA3 and
//! CDNA4 architecture".

use super::*;

/// Registers of A, B, C and D, the index or the scales.
const A: usize = 0;
const B: usize = 16;
const D: usize = 32;
const EXTRA: usize = 64;

fn rig(target: Target) -> Rig {
    let mut rig = Rig::on(target, false);
    let traits = Traits::of(target);
    (rig.launch.rsrc1, rig.launch.rsrc3) = (0x3f, 0x3f);
    rig.wave = Wave::new(false, traits, traits.registers(&rig.launch));
    rig
}

/// Puts an element of so many bits into a lane's registers.
fn put(rig: &mut Rig, first: usize, lane: usize, index: usize, bits: usize, value: u32) {
    for bit in 0..bits {
        let at = index * bits + bit;
        let old = rig.wave.lane(first + at / 32, lane);
        let new = old & !(1 << (at % 32)) | (value >> bit & 1) << (at % 32);
        rig.wave.set_lane(first + at / 32, lane, new);
    }
}

/// Small numbers, as floats have them: index, value, bits.
type Numbers = &'static [(f32, u32)];

const F16: Numbers = &[(0.0, 0), (1.0, 0x3c00), (-2.0, 0xc000), (0.5, 0x3800), (3.0, 0x4200)];
const BF16: Numbers = &[(0.0, 0), (1.0, 0x3f80), (-2.0, 0xc000), (0.5, 0x3f00), (3.0, 0x4040)];
const XF32: Numbers = &[
    (0.0, 0),
    (1.0, 0x3f80_0000),
    (-2.0, 0xc000_0000),
    (1.0 + 1.0 / 512.0, 0x3f80_4000),
    // The lowest bits do not count.
    (3.0, 0x4040_0003),
];
const I8: Numbers = &[(0.0, 0), (1.0, 1), (-2.0, 0xfe), (100.0, 100), (-128.0, 0x80)];
/// OCP, of gfx950.
const FP8: Numbers = &[(0.0, 0), (1.0, 0x38), (-2.0, 0xc0), (0.5, 0x30), (3.0, 0x44)];
const BF8: Numbers = &[(0.0, 0), (1.0, 0x3c), (-2.0, 0xc0), (0.5, 0x38), (3.0, 0x42)];
const FP6: Numbers = &[(0.0, 0), (1.0, 0x08), (-2.0, 0x30), (0.5, 0x04), (3.0, 0x14)];
const BF6: Numbers = &[(0.0, 0), (1.0, 0x0c), (-2.0, 0x30), (0.5, 0x08), (3.0, 0x12)];
const FP4: Numbers = &[(0.0, 0), (1.0, 0x2), (-2.0, 0xc), (0.5, 0x1), (3.0, 0x5)];
/// Without negative zero, of gfx942.
const FP8_FNUZ: Numbers = &[(0.0, 0), (1.0, 0x40), (-2.0, 0xc8), (0.5, 0x38), (3.0, 0x4c)];

fn a_at(row: usize, k: usize) -> usize {
    (row * 3 + k * 7 + k / 5) % 5
}

fn b_at(k: usize, column: usize) -> usize {
    (column * 2 + k * 3 + k / 7) % 5
}

/// Row of D that a lane's register has (the calculator's "C or D i").
fn row_of(size: usize, lane: usize, register: usize) -> usize {
    match size {
        16 => 4 * (lane / 16) + register % 4,
        _ => 8 * (register / 4) + 4 * (lane / 32) + register % 4,
    }
}

fn check(rig: &Rig, size: usize, integers: bool, expected: impl Fn(usize, usize) -> f32) {
    for lane in 0..64 {
        for register in 0..size * size / 64 {
            let (row, column) = (row_of(size, lane, register), lane % size);
            let bits = rig.wave.lane(D + register, lane);
            let got = if integers { bits as i32 as f32 } else { f32::from_bits(bits) };
            assert_eq!(got, expected(row, column), "row {row}, column {column}");
        }
    }
}

fn set_c(rig: &mut Rig, size: usize, integers: bool) {
    for lane in 0..64 {
        for register in 0..size * size / 64 {
            let value = (row_of(size, lane, register) + 100 * (lane % size)) as f32;
            let bits = if integers { value as u32 } else { value.to_bits() };
            rig.wave.set_lane(D + register, lane, bits);
        }
    }
}

fn c_at(row: usize, column: usize) -> f32 {
    (row + 100 * column) as f32
}

/// Whole matrices: a lane has consecutive k, those of the next group of lanes follow.
#[test]
fn of_one_block() {
    for (target, words, size, depth, bits, numbers) in [
        // v_mfma_f32_16x16x8_xf32 v[32:35], v[0:1], v[16:17], v[32:35]
        (Target::Gfx942, [0xd3be_0020u32, 0x0482_2100u32], 16, 8, 32, XF32),
        // v_mfma_f32_32x32x4_xf32 v[32:47], v[0:1], v[16:17], v[32:47]
        (Target::Gfx942, [0xd3bf_0020, 0x0482_2100], 32, 4, 32, XF32),
        // v_mfma_f32_16x16x32_fp8_fp8 v[32:35], v[0:1], v[16:17], v[32:35]
        (Target::Gfx942, [0xd3f3_0020, 0x0482_2100], 16, 32, 8, FP8_FNUZ),
        // v_mfma_f32_16x16x32_f16 v[32:35], v[0:3], v[16:19], v[32:35]
        (Target::Gfx950, [0xd3d4_0020, 0x0482_2100], 16, 32, 16, F16),
        // v_mfma_f32_32x32x16_f16 v[32:47], v[0:3], v[16:19], v[32:47]
        (Target::Gfx950, [0xd3d5_0020, 0x0482_2100], 32, 16, 16, F16),
        // v_mfma_f32_16x16x32_bf16 v[32:35], v[0:3], v[16:19], v[32:35]
        (Target::Gfx950, [0xd3b5_0020, 0x0482_2100], 16, 32, 16, BF16),
        // v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], v[32:47]
        (Target::Gfx950, [0xd3b7_0020, 0x0482_2100], 32, 16, 16, BF16),
        // v_mfma_i32_16x16x64_i8 v[32:35], v[0:3], v[16:19], v[32:35]
        (Target::Gfx950, [0xd3b6_0020, 0x0482_2100], 16, 64, 8, I8),
        // v_mfma_i32_32x32x32_i8 v[32:47], v[0:3], v[16:19], v[32:47]
        (Target::Gfx950, [0xd3b8_0020, 0x0482_2100], 32, 32, 8, I8),
    ] {
        let mut rig = rig(target);
        let integers = numbers[4].0 < 0.0;
        let each = depth * size / 64;
        for lane in 0..64 {
            for index in 0..each {
                let k = lane / size * each + index;
                put(&mut rig, A, lane, index, bits, numbers[a_at(lane % size, k)].1);
                put(&mut rig, B, lane, index, bits, numbers[b_at(k, lane % size)].1);
            }
        }
        set_c(&mut rig, size, integers);
        rig.execute(&words).unwrap();
        check(&rig, size, integers, |row, column| {
            let products = (0..depth).map(|k| numbers[a_at(row, k)].0 * numbers[b_at(k, column)].0);
            c_at(row, column) + products.sum::<f32>()
        });
    }
}

/// Formats by instruction, with scales and without.
#[test]
fn with_formats_and_scales() {
    const FORMATS: [(usize, Numbers); 5] = [(8, FP8), (8, BF8), (6, FP6), (6, BF6), (4, FP4)];
    for (size, opcode) in [(16, 0xd3ad_0020u32), (32, 0xd3ae_0020)] {
        let depth = 2048 / size;
        for (format_a, format_b) in [(0, 0), (1, 0), (4, 4), (2, 2), (3, 2), (0, 4), (4, 1), (2, 0)]
        {
            // Byte of the scale that op_sel chooses.
            for byte in [None, Some([0, 0]), Some([2, 1]), Some([3, 3])] {
                let mut rig = rig(Target::Gfx950);
                let (a, b) = (FORMATS[format_a], FORMATS[format_b]);
                for (first, (bits, numbers), second) in [(A, a, false), (B, b, true)] {
                    for lane in 0..64 {
                        for index in 0..32 {
                            // Of eight bits 16 in a run, of others 32.
                            let k = match bits {
                                8 => lane / size * 16 + index / 16 * (16 * 64 / size) + index % 16,
                                _ => lane / size * 32 + index,
                            };
                            let line = lane % size;
                            let at = if second { b_at(k, line) } else { a_at(line, k) };
                            put(&mut rig, first, lane, index, bits, numbers[at].1);
                        }
                    }
                }
                let scale_a = |row: usize, block: usize| 125 + (row + block) % 5;
                let scale_b = |column: usize, block: usize| 126 + (2 * column + block) % 4;
                for lane in 0..64 {
                    let (line, block) = (lane % size, lane / size);
                    let [byte_a, byte_b] = byte.unwrap_or_default();
                    let garbage = 0x5555_5555u32;
                    let place = |scale: usize, byte: usize| {
                        garbage & !(0xff << (8 * byte)) | (scale as u32) << (8 * byte)
                    };
                    rig.wave.set_lane(EXTRA, lane, place(scale_a(line, block), byte_a));
                    rig.wave.set_lane(EXTRA + 1, lane, place(scale_b(line, block), byte_b));
                }
                set_c(&mut rig, size, false);
                let second = 0x0482_2100 | (format_b as u32) << 29;
                match byte {
                    None => rig.execute(&[opcode | (format_a as u32) << 8, second]).unwrap(),
                    Some([byte_a, byte_b]) => {
                        let low = (byte_a & 1 | byte_b << 1 & 2) as u32;
                        let high = (byte_a >> 1 | byte_b & 2) as u32;
                        rig.execute(&[
                            0xd3ac_0000 | low << 11,
                            high << 27 | 0x0002_8340,
                            opcode | 1 << 11 | (format_a as u32) << 8,
                            second,
                        ])
                        .unwrap();
                    }
                }
                check(&rig, size, false, |row, column| {
                    (0..depth / 32).fold(c_at(row, column), |sum, block| {
                        let products = (32 * block..32 * (block + 1))
                            .map(|k| a.1[a_at(row, k)].0 * b.1[b_at(k, column)].0);
                        let power = match byte {
                            None => 0,
                            Some(_) => {
                                scale_a(row, block) as i32 + scale_b(column, block) as i32 - 254
                            }
                        };
                        sum + products.sum::<f32>() * 2f32.powi(power)
                    })
                });
            }
        }
    }
}

/// A scale of 255 is no number.
#[test]
fn with_a_scale_that_is_no_number() {
    let mut rig = rig(Target::Gfx950);
    for lane in 0..64 {
        rig.wave.set_lane(EXTRA, lane, if lane == 3 { 255 } else { 127 });
        rig.wave.set_lane(EXTRA + 1, lane, 127);
    }
    rig.execute(&[0xd3ac_0000, 0x0002_8340, 0xd3ad_0820, 0x0482_2100]).unwrap();
    for column in 0..16 {
        assert!(f32::from_bits(rig.wave.lane(D + 3, column)).is_nan());
        assert_eq!(rig.wave.lane(D + 2, column), 0);
    }
    let lone = rig.refusal(&[0xd3ac_4000, 0x1802_8340, 0xbf80_0000]);
    assert!(lone.starts_with("V_MFMA_LD_SCALE_B32"), "{lone}");
}

/// Sparse: of each four of a row of A, two places have values.
#[test]
fn of_sparse_matrices() {
    for (target, words, size, depth, bits, numbers, parts) in [
        // v_smfmac_f32_16x16x32_f16 v[32:35], v[0:1], v[16:19], v64
        (Target::Gfx942, [0xd3e2_0020u32, 0x0502_2100u32], 16, 32, 16, F16, 4),
        // v_smfmac_f32_32x32x16_bf16 v[32:47], v[0:1], v[16:19], v64
        (Target::Gfx942, [0xd3e8_0020, 0x0502_2100], 32, 16, 16, BF16, 4),
        // v_smfmac_i32_16x16x64_i8 v[32:35], v[0:1], v[16:19], v64
        (Target::Gfx942, [0xd3ea_0020, 0x0502_2100], 16, 64, 8, I8, 2),
        // v_smfmac_f32_32x32x32_fp8_fp8 v[32:47], v[0:1], v[16:19], v64
        (Target::Gfx942, [0xd3ff_0020, 0x0502_2100], 32, 32, 8, FP8_FNUZ, 2),
        // v_smfmac_f32_16x16x64_f16 v[32:35], v[0:3], v[16:23], v64
        (Target::Gfx950, [0xd3da_0020, 0x0502_2100], 16, 64, 16, F16, 2),
        // v_smfmac_f32_32x32x32_bf16 v[32:47], v[0:3], v[16:23], v64
        (Target::Gfx950, [0xd3c6_0020, 0x0502_2100], 32, 32, 16, BF16, 2),
        // v_smfmac_i32_16x16x128_i8 v[32:35], v[0:3], v[16:23], v64
        (Target::Gfx950, [0xd3ba_0020, 0x0502_2100], 16, 128, 8, I8, 1),
        // v_smfmac_f32_32x32x64_fp8_fp8 v[32:47], v[0:3], v[16:23], v64
        (Target::Gfx950, [0xd3d3_0020, 0x0502_2100], 32, 64, 8, FP8, 1),
    ] {
        for (cbsz, abid) in (0..parts).map(|abid| (0, abid)).chain([(1, 0)]) {
            let mut rig = rig(target);
            let integers = numbers[4].0 < 0.0;
            let each = depth * size / 64;
            // Places of the two values of four columns of a row: one before the other.
            let places = |row: usize, four: usize| match (row + four) % 6 {
                0 => [0, 1],
                1 => [0, 2],
                2 => [0, 3],
                3 => [1, 2],
                4 => [1, 3],
                _ => [2, 3],
            };
            for lane in 0..64 {
                let line = lane % size;
                let mut index = 0u32;
                for within in 0..each {
                    let k = lane / size * each + within;
                    put(&mut rig, B, lane, within, bits, numbers[b_at(k, line)].1);
                }
                for four in 0..each / 4 {
                    let places = places(line, lane / size * each / 4 + four);
                    for (value, place) in places.into_iter().enumerate() {
                        let k = lane / size * each + 4 * four + place;
                        put(&mut rig, A, lane, 2 * four + value, bits, numbers[a_at(line, k)].1);
                        index |= (place as u32) << (4 * four + 2 * value);
                    }
                }
                let shift = abid * (32 / parts);
                let garbage = if parts == 1 {
                    0
                } else {
                    0x9696_9696 & !(((1u64 << (32 / parts)) - 1) << shift) as u32
                };
                rig.wave.set_lane(EXTRA, lane, index << shift | garbage);
            }
            set_c(&mut rig, size, integers);
            rig.execute(&[words[0] | cbsz << 8 | (abid as u32) << 11, words[1]]).unwrap();
            check(&rig, size, integers, |row, column| {
                let products = (0..depth / 4).flat_map(|four| {
                    places(row, four).map(|place| {
                        let k = 4 * four + place;
                        numbers[a_at(row, k)].0 * numbers[b_at(k, column)].0
                    })
                });
                c_at(row, column) + products.sum::<f32>()
            });
        }
    }
}

/// `blgp`, by the calculator: v_mfma_f32_16x16x4_f32 with lanes of B from elsewhere.
#[test]
fn with_permuted_lanes() {
    let from: [fn(usize) -> usize; 8] = [
        |lane| lane,
        |lane| lane % 32,
        |lane| 32 + lane % 32,
        |lane| (lane + 16) % 64,
        |lane| lane % 16,
        |lane| 16 + lane % 16,
        |lane| 32 + lane % 16,
        |lane| 48 + lane % 16,
    ];
    for (blgp, from) in from.into_iter().enumerate() {
        let mut rig = rig(Target::Gfx942);
        for lane in 0..64 {
            rig.wave.set_lane(A, lane, ((lane % 7) as f32).to_bits());
            rig.wave.set_lane(B, lane, ((lane % 11) as f32).to_bits());
        }
        set_c(&mut rig, 16, false);
        // v_mfma_f32_16x16x4_f32 v[32:35], v0, v16, v[32:35]
        rig.execute(&[0xd3c5_0020, 0x0482_2100 | (blgp as u32) << 29]).unwrap();
        check(&rig, 16, false, |row, column| {
            let products =
                (0..4).map(|k| ((16 * k + row) % 7) as f32 * (from(16 * k + column) % 11) as f32);
            c_at(row, column) + products.sum::<f32>()
        });
    }
    // v_mfma_f32_16x16x16_f16 has none on gfx942, but has on gfx90a.
    let words = [0xd3cd_0020, 0x2482_2100];
    assert_eq!(
        rig(Target::Gfx942).refusal(&words),
        "V_MFMA_F32_16X16X16_F16 with blgp:1 is not modelled"
    );
    rig(Target::Gfx90a).execute(&words).unwrap();
}

/// Negation of doubles: v_mfma_f64_4x4x4_4b_f64 v[32:33], v[0:1], v[16:17], v[32:33] neg:[..]
#[test]
fn of_negated_doubles() {
    for negated in 0..8u32 {
        let mut rig = rig(Target::Gfx942);
        let set = |rig: &mut Rig, register: usize, lane: usize, value: f64| {
            rig.wave.set_lane(register, lane, value.to_bits() as u32);
            rig.wave.set_lane(register + 1, lane, (value.to_bits() >> 32) as u32);
        };
        for lane in 0..64 {
            set(&mut rig, A, lane, 2.0);
            set(&mut rig, B, lane, 3.0);
            set(&mut rig, D, lane, 5.0);
        }
        rig.execute(&[0xd3ef_0020, 0x0482_2100 | negated << 29]).unwrap();
        let sign = |bit: u32| if negated >> bit & 1 != 0 { -1.0 } else { 1.0 };
        let expected: f64 = 4.0 * 6.0 * sign(0) * sign(1) + 5.0 * sign(2);
        for lane in 0..64 {
            let low = u64::from(rig.wave.lane(D, lane));
            let got = f64::from_bits(low | u64::from(rig.wave.lane(D + 1, lane)) << 32);
            assert_eq!(got, expected, "{negated}");
        }
    }
}
