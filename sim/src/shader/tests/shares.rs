//! DS: the order of operands, and where counters are.

use super::*;

/// AMD's pseudocode of DS_CMPST and DS_CMPSTORE; `Traits::comparand_first` says where.
#[test]
fn the_comparand_of_ds_is_first_before_gfx11() {
    for (target, opcodes, first) in [
        (Target::Gfx906, [0xd820, 0xd860, 0xd822, 0xd8e0, 0xd8a2, 0xd818], true),
        (Target::Gfx90a, [0xd820, 0xd860, 0xd822, 0xd8e0, 0xd8a2, 0xd818], true),
        (Target::Gfx1030, [0xd840, 0xd8c0, 0xd844, 0xd9c0, 0xd944, 0xd830], true),
        (Target::Gfx1151, [0xd840, 0xd8c0, 0xd844, 0xd9c0, 0xd944, 0xd830], false),
    ] {
        let opcodes = opcodes.map(|opcode: u32| opcode << 16);
        let run = |opcode: u32, wide: bool, old: u64, comparand: u64, new: u64| {
            let mut rig = Rig::whole(target, target.has_wave32());
            let data = if first { [comparand, new] } else { [new, comparand] };
            let step = if wide { 2 } else { 1 };
            for (index, value) in data.into_iter().enumerate() {
                rig.wave.set_lane(2 + step * index, 0, value as u32);
                if wide {
                    rig.wave.set_lane(3 + step * index, 0, (value >> 32) as u32);
                }
            }
            rig.wave.set_lane(1, 0, 8);
            rig.lds.store64(8, old);
            // data0 is v2 or v[2:3], data1 v3 or v[4:5], vdst v[6:7], addr v1.
            rig.execute(&[opcode, 0x0600_0201 | (2 + step as u32) << 16]).unwrap();
            let returned = u64::from(rig.wave.lane(6, 0)) | u64::from(rig.wave.lane(7, 0)) << 32;
            (rig.lds.load64(8), returned)
        };
        let [plain, returning, float, wide, wide_float, masked] = opcodes;
        // ds_cmpst_b32 v1, v2, v3
        assert_eq!(run(plain, false, 5, 5, 9).0, 9, "{target}");
        assert_eq!(run(plain, false, 5, 9, 5).0, 5, "{target}");
        assert_eq!(run(plain, false, 6, 9, 5).0, 6, "{target}");
        // ds_cmpst_rtn_b32 v6, v1, v2, v3
        assert_eq!(run(returning, false, 5, 5, 9), (9, 5), "{target}");
        assert_eq!(run(returning, false, 5, 9, 5), (5, 5), "{target}");
        // ds_cmpst_f32 v1, v2, v3: zeros are equal.
        assert_eq!(run(float, false, 0x8000_0000, 0, 9).0, 9, "{target}");
        assert_eq!(run(float, false, 0x8000_0000, 9, 0).0, 0x8000_0000, "{target}");
        // ds_cmpst_rtn_b64 v[6:7], v1, v[2:3], v[4:5]
        let [a, b] = [5 << 32 | 6, 7 << 32 | 8];
        assert_eq!(run(wide, true, a, a, b), (b, a), "{target}");
        assert_eq!(run(wide, true, a, b, a), (a, a), "{target}");
        // ds_cmpst_f64 v1, v[2:3], v[4:5]
        assert_eq!(run(wide_float, true, 1 << 63, 0, b).0, b, "{target}");
        assert_eq!(run(wide_float, true, 1 << 63, b, 0).0, 1 << 63, "{target}");
        // ds_mskor_b32 v1, v2, v3 has the mask first everywhere.
        let (mask, bits) = (0xff, 0x12);
        let (second, third) = if first { (mask, bits) } else { (bits, mask) };
        assert_eq!(run(masked, false, 0x3456, second, third).0, 0x3412, "{target}");
    }
}

/// AMD's pseudocode of RDNA4; `Traits::counts_at_offset` says what the other generations' documents leave open.
#[test]
fn counters_of_gfx12_are_at_their_offset() {
    // ds_append v0 offset:8, ds_consume v0 offset:8
    for (word, new) in [(0xd8f8_0008, 1001), (0xd8f4_0008, 999)] {
        for m0 in [0, 16, 16 << 16] {
            let mut rig = Rig::gfx12(true);
            rig.lds.store32(8, 1000);
            rig.wave.set_sgpr(M0, m0);
            rig.execute(&[word, 0]).unwrap();
            assert_eq!((rig.wave.lane(0, 0), rig.lds.load32(8)), (1000, new));
        }
    }
    for (target, word) in [
        (Target::Gfx906, 0xd97c_0008),
        (Target::Gfx1030, 0xd8f8_0008),
        (Target::Gfx1151, 0xd8f8_0008),
    ] {
        for m0 in [16, 16 << 16] {
            let mut rig = Rig::whole(target, target.has_wave32());
            rig.wave.set_sgpr(M0, m0);
            assert!(rig.refusal(&[word, 0]).contains("in M0"));
            rig.wave.set_sgpr(M0, 0);
            rig.execute(&[word, 0]).unwrap();
            assert_eq!(rig.lds.load32(8), 1);
        }
    }
}
