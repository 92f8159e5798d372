//! gfx950: conversions with a scale, and others, with the results that `gfx950.py` computes; swaps of lanes,
//! transposing loads.

use super::*;
use std::collections::BTreeSet;

fn rig() -> Rig {
    let mut rig = Rig::on(Target::Gfx950, false);
    let traits = Traits::of(Target::Gfx950);
    (rig.launch.rsrc1, rig.launch.rsrc3) = (0x3f, 0x3f);
    rig.wave = Wave::new(false, traits, traits.registers(&rig.launch));
    rig.wave.mode = Mode::from_bits(DENORMALS);
    rig
}

/// Registers written as `v<n>=<hex>`.
fn registers(text: &str) -> impl Iterator<Item = (usize, u32)> + '_ {
    text.split(' ').map(|entry| {
        let (number, value) = entry[1..].split_once('=').expect("v<n>=<hex>");
        (number.parse().expect("a number"), u32::from_str_radix(value, 16).expect("hex"))
    })
}

#[test]
fn operations_give_what_the_formats_say() {
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in include_str!("gfx950.txt").lines() {
        let [text, words, before, after] =
            line.split('\t').collect::<Vec<_>>()[..].try_into().expect("four columns");
        names.insert(text.split(' ').next());
        let words: Vec<u32> =
            words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hex")).collect();
        let mut rig = rig();
        rig.wave.set_mask(EXEC, 1 << 37);
        for (register, value) in registers(before) {
            rig.wave.set_lane(register, 37, value);
            rig.wave.set_lane(register, 5, 0xdead_beef);
        }
        if let Err(stop) = rig.execute(&words) {
            wrong.push(format!("{line}: {stop:?}"));
            continue;
        }
        for (register, value) in registers(after) {
            let got = rig.wave.lane(register, 37);
            if got != value || rig.wave.lane(register, 5) != 0xdead_beef {
                wrong.push(format!("{line}: v{register}={got:08x}"));
            }
        }
    }
    assert_eq!(names.len(), 49 + 9);
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

/// Sources of several registers are followed by one of a scale, which may be the last there is.
#[test]
fn a_scale_is_one_register() {
    let one = 1f32.to_bits();
    for words in [
        [0xd25b_0000, 0x0002_3f08], // v_cvt_scalef32_pk32_bf6_bf16 v[0:5], v[8:23], v31
        [0xd25f_0000, 0x047e_3f08], // v_cvt_scalef32_sr_pk32_bf6_bf16 v[0:5], v[8:23], v31, v31
    ] {
        let mut rig = Rig::on(Target::Gfx950, false);
        (rig.launch.rsrc1, rig.launch.rsrc3) = (3, 7);
        let traits = Traits::of(Target::Gfx950);
        rig.wave = Wave::new(false, traits, traits.registers(&rig.launch));
        rig.wave.set_mask(EXEC, 1);
        for register in 8..24 {
            rig.wave.set_lane(register, 0, 0x3f80_3f80);
        }
        rig.wave.set_lane(31, 0, one);
        rig.execute(&words).unwrap();
        // One of BF6 is an exponent of three.
        let bits = (0..32).fold([0u32; 6], |mut dwords, index| {
            for bit in [6 * index + 2, 6 * index + 3] {
                dwords[bit / 32] |= 1 << (bit % 32);
            }
            dwords
        });
        assert_eq!(std::array::from_fn(|register| rig.wave.lane(register, 0)), bits);
    }
}

#[test]
fn lanes_are_swapped() {
    // v_permlane16_swap_b32_e32 v1, v2 and v_permlane32_swap_b32_e32 v1, v2
    for (words, distance) in [(0x7e02_b302, 16), (0x7e02_b502, 32)] {
        let mut rig = rig();
        rig.wave.set_mask(EXEC, u64::MAX);
        for lane in 0..64 {
            rig.wave.set_lane(1, lane, 100 + lane as u32);
            rig.wave.set_lane(2, lane, 200 + lane as u32);
        }
        rig.execute(&[words]).unwrap();
        for lane in 0..64usize {
            let (v1, v2) = if lane & distance == 0 {
                (100 + lane, 100 + lane + distance)
            } else {
                (200 + lane - distance, 200 + lane)
            };
            assert_eq!(rig.wave.lane(1, lane) as usize, v1, "lane {lane}");
            assert_eq!(rig.wave.lane(2, lane) as usize, v2, "lane {lane}");
        }
        // Lanes that are off keep what they have, and nothing is fetched from them.
        let before = [rig.wave.lane(1, distance), rig.wave.lane(2, 0)];
        rig.wave.set_mask(EXEC, 1);
        rig.execute(&[words]).unwrap();
        assert_eq!([rig.wave.lane(1, distance), rig.wave.lane(2, 0)], before);
    }
}

/// Loads of a matrix of 16 columns whose element in row k and column m is 16 k + m, cut off: a lane wants the k of its
/// column m. The address of a lane's part of a row is the one that IREE's lowering computes.
#[test]
fn loads_transpose() {
    for (words, bits, each) in [
        ([0xd9c6_0000u32, 0x0400_0000u32], 16, 4), // ds_read_b64_tr_b16 v[4:5], v0
        ([0xd9c4_0000, 0x0400_0000], 8, 8),        // ds_read_b64_tr_b8 v[4:5], v0
        ([0xd9c0_0000, 0x0400_0000], 4, 16),       // ds_read_b64_tr_b4 v[4:5], v0
        ([0xd9c2_0000, 0x0400_0000], 6, 16),       // ds_read_b96_tr_b6 v[4:6], v0
    ] {
        let mut rig = rig();
        rig.wave.set_mask(EXEC, u64::MAX);
        rig.lds.reset(4096, 0);
        let mask = (1u64 << bits) - 1;
        let element = |row: usize, column: usize| (16 * row + 7 * column) as u64 & mask;
        let row_bytes = 2 * bits;
        for row in 0..4 * each {
            let packed = (0..16).fold(0u128, |packed, column| {
                if bits == 16 {
                    packed
                } else {
                    packed | u128::from(element(row, column)) << (bits * column)
                }
            });
            for byte in 0..row_bytes {
                let value = match bits {
                    16 => (element(row, byte / 2) >> (byte % 2 * 8)) as u8,
                    _ => (packed >> (8 * byte)) as u8,
                };
                rig.lds.store8((row * row_bytes + byte) as u32, value);
            }
        }
        for lane in 0..64 {
            let within = lane % 16;
            let row = lane / 16 * each + within / (16 / each);
            let column = within % (16 / each) * each;
            rig.wave.set_lane(0, lane, (row * row_bytes + column * bits / 8) as u32);
        }
        rig.execute(&words).unwrap();
        for lane in 0..64 {
            let whole = (0..3).fold(0u128, |whole, register| {
                whole | u128::from(rig.wave.lane(4 + register, lane)) << (32 * register)
            });
            for index in 0..each {
                let got = (whole >> (bits * index)) as u64 & mask;
                let expected = element(lane / 16 * each + index, lane % 16);
                assert_eq!(got, expected, "{bits} bits, lane {lane}, element {index}");
            }
        }
    }
}
