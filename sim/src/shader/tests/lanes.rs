//! Which lanes take part: carries, data-parallel primitives, masks whose upper half alone is set, swizzles.

use super::*;

/// A wave whose VGPR 0 holds 7 and VGPR 1 100 + lane; all lanes are active.
fn rig(wave32: bool) -> Rig {
    let mut rig = Rig::new(wave32);
    rig.wave.set_mask(EXEC, u64::MAX);
    for lane in 0..rig.wave.lanes() {
        rig.wave.set_lane(0, lane, 7);
        rig.wave.set_lane(1, lane, 100 + lane as u32);
    }
    rig
}

fn result(rig: &Rig) -> Vec<u32> {
    (0..rig.wave.lanes()).map(|lane| rig.wave.lane(0, lane)).collect()
}

#[test]
fn inactive_lanes_carry_nothing() {
    for (wave32, exec) in [(true, 0x5555_5555), (false, 0x5555_5555_5555_5555)] {
        let mut rig = rig(wave32);
        for lane in 0..rig.wave.lanes() {
            rig.wave.set_lane(1, lane, u32::MAX);
            rig.wave.set_lane(2, lane, u32::MAX);
        }
        rig.wave.set_mask(EXEC, exec);
        rig.wave.set_mask(VCC, u64::MAX);
        // v_add_co_u32 v0, vcc, v1, v2
        rig.execute(&[0xd700_6a00, 0x0002_0501]).expect("no fault");
        assert_eq!(rig.wave.mask(VCC), exec);
        for (lane, sum) in result(&rig).into_iter().enumerate() {
            assert_eq!(sum, if lane % 2 == 0 { 0xffff_fffe } else { 7 }, "lane {lane}");
        }
        // v_add_co_ci_u32 v0, vcc, v1, v2, vcc
        rig.wave.set_mask(VCC, u64::MAX);
        rig.execute(&[0x4000_0501]).expect("no fault");
        assert_eq!(
            (rig.wave.mask(VCC), rig.wave.lane(0, 0), rig.wave.lane(0, 1)),
            (exec, u32::MAX, 7)
        );
        // v_sub_co_u32 v0, s10, v1, v2 (s[10:11] in wave64), with a borrow everywhere
        for lane in 0..rig.wave.lanes() {
            rig.wave.set_lane(1, lane, 0);
        }
        rig.execute(&[0xd701_0a00, 0x0002_0501]).expect("no fault");
        assert_eq!(rig.wave.mask(10), exec);
    }
}

/// The lane of the row that lane `at` of it reads.
type Origin = fn(usize) -> Option<usize>;

#[test]
fn rows_are_shifted_and_rotated() {
    // v_mov_b32_dpp v0, v1 <control> row_mask:0xf bank_mask:0xf
    let cases: [(u32, Origin); 6] = [
        (0xff01_0101, |at| (at + 1 < 16).then_some(at + 1)), // row_shl:1
        (0xff01_0f01, |at| (at == 0).then_some(15)),         // row_shl:15
        (0xff01_1101, |at| at.checked_sub(1)),               // row_shr:1
        (0xff01_1f01, |at| (at == 15).then_some(0)),         // row_shr:15
        (0xff01_2101, |at| Some((at + 15) % 16)),            // row_ror:1
        (0xff01_2f01, |at| Some((at + 1) % 16)),             // row_ror:15
    ];
    for wave32 in [true, false] {
        for (control, origin) in cases {
            for (bound_ctrl, outside) in [(0, 7), (1 << 19, 0)] {
                let mut rig = rig(wave32);
                rig.execute(&[0x7e00_02fa, control | bound_ctrl]).expect("no fault");
                for (lane, value) in result(&rig).into_iter().enumerate() {
                    let from = origin(lane % 16).map(|at| 100 + (lane / 16 * 16 + at) as u32);
                    assert_eq!(value, from.unwrap_or(outside), "{control:#x}, lane {lane}");
                }
            }
        }
    }
}

#[test]
fn row_masks_choose_rows() {
    for wave32 in [true, false] {
        let mut rig = rig(wave32);
        // v_mov_b32_dpp v0, v1 row_ror:1 row_mask:0x4 bank_mask:0xf
        rig.execute(&[0x7e00_02fa, 0x4f01_2101]).expect("no fault");
        for (lane, value) in result(&rig).into_iter().enumerate() {
            let moved = 100 + (lane / 16 * 16 + (lane + 15) % 16) as u32;
            assert_eq!(value, if (32..48).contains(&lane) { moved } else { 7 }, "lane {lane}");
        }
    }
}

#[test]
fn lanes_from_32_on_count() {
    const LANE_40: u64 = 1 << 40;
    let jumps = |mask: u8, word: u32, wave32: bool| {
        let mut rig = Rig::new(wave32);
        rig.wave.set_sgpr64(mask, LANE_40);
        rig.wave.pc = CODE + 4;
        rig.execute(&[word]).expect("no fault");
        rig.wave.pc == CODE + 4 + 16
    };
    for (wave32, some) in [(false, true), (true, false)] {
        assert_eq!(jumps(VCC, 0xbfa4_0004, wave32), some); // s_cbranch_vccnz 4
        assert_eq!(jumps(VCC, 0xbfa3_0004, wave32), !some); // s_cbranch_vccz 4
        assert_eq!(jumps(EXEC, 0xbfa6_0004, wave32), some); // s_cbranch_execnz 4
        assert_eq!(jumps(EXEC, 0xbfa5_0004, wave32), !some); // s_cbranch_execz 4
    }
    let mut rig = rig(false);
    for (exec, first) in [(LANE_40, 40), (LANE_40 | 1 << 63, 40), (0, 0)] {
        rig.wave.set_mask(EXEC, exec);
        rig.execute(&[0x7e04_0501]).expect("no fault"); // v_readfirstlane_b32 s2, v1
        assert_eq!(rig.wave.sgpr(2), 100 + first);
    }
    rig.lds.store32(8, 1000);
    rig.wave.set_sgpr(M0, 0);
    for (word, exec, old, new) in [
        (0xd8f8_0008, LANE_40 | 1 << 63 | 3, 1000, 1004), // ds_append v0 offset:8
        (0xd8f8_0008, LANE_40, 1004, 1005),
        (0xd8f4_0008, LANE_40 | 1, 1005, 1003), // ds_consume v0 offset:8
    ] {
        rig.wave.set_mask(EXEC, exec);
        rig.execute(&[word, 0]).expect("no fault");
        assert_eq!((rig.wave.lane(0, 40), rig.lds.load32(8)), (old, new));
    }
    assert_eq!(rig.wave.lane(0, 41), 7);
}

#[test]
fn swizzles_rotate_both_ways() {
    for wave32 in [true, false] {
        // ds_swizzle_b32 v0, v1 with offset 0xc020: rotation by 1 to the left; 0xc420: to the right
        for (word, step) in [(0xd8d4_c020, 1), (0xd8d4_c420, 31)] {
            let mut rig = rig(wave32);
            rig.execute(&[word, 1]).expect("no fault");
            for (lane, value) in result(&rig).into_iter().enumerate() {
                let from = lane / 32 * 32 + (lane + step) % 32;
                assert_eq!(value, 100 + from as u32, "lane {lane}");
            }
        }
    }
}

/// "Vega 7nm" ISA document, "DPP": all lanes are read before any is written, though a wave of 64 has two passes.
#[test]
fn lanes_that_cross_passes_are_read_before_they_are_written() {
    let cases: [(u32, Origin); 6] = [
        (0x130, |lane| (lane < 63).then_some(lane + 1)), // wave_shl:1
        (0x138, |lane| lane.checked_sub(1)),             // wave_shr:1
        (0x134, |lane| Some((lane + 1) % 64)),           // wave_rol:1
        (0x13c, |lane| Some((lane + 63) % 64)),          // wave_ror:1
        (0x142, |lane| (lane / 16 * 16).checked_sub(1)), // row_bcast:15
        (0x143, |lane| (lane / 32 * 32).checked_sub(1)), // row_bcast:31
    ];
    /// The result of a value and a lane's second operand.
    type Operation = fn(u32, u32) -> u32;
    // row_mask:0xf bank_mask:0xf
    let operations: [(u32, Operation); 5] = [
        (0x7e00_02fa, |a, _| a),     // v_mov_b32_dpp v0, v0
        (0x6800_02fa, |a, b| a + b), // v_add_u32_dpp v0, v0, v1
        (0x3200_02fa, |a, b| a + b), // v_add_co_u32_dpp v0, vcc, v0, v1
        // v_add_f32_dpp v0, v0, v1, of denormals
        (0x0200_02fa, |a, b| a + b),
        // v_add_u16_dpp v0, v0, v1, which clears the upper half
        (0x4c00_02fa, |a, b| (a + b) & 0xffff),
    ];
    for (control, origin) in cases {
        for (word, operation) in operations {
            let mut rig = Rig::on(Target::Gfx906, false);
            rig.wave.set_mask(EXEC, u64::MAX);
            for lane in 0..64 {
                rig.wave.set_lane(0, lane, 0x1_0000 + 7 * lane as u32);
                rig.wave.set_lane(1, lane, 100 * lane as u32);
                rig.wave.set_lane(2, lane, 2);
                rig.wave.set_lane(3, lane, 3);
            }
            rig.execute(&[word, 0xff00_0000 | control << 8]).expect("no fault");
            for lane in 0..64 {
                let value = |lane: usize| 0x1_0000 + 7 * lane as u32;
                let expected = match origin(lane) {
                    Some(from) => operation(value(from), 100 * lane as u32),
                    None => value(lane),
                };
                assert_eq!(rig.wave.lane(0, lane), expected, "{word:#x} {control:#x}, lane {lane}");
                assert_eq!([2, 3].map(|register| rig.wave.lane(register, lane)), [2, 3]);
            }
        }
    }
}

/// What a lane gets of a lane that is off (RDNA3 ISA document, V_PERMLANE16_B32): nothing, with bound_ctrl 0, with
/// fi its value.
#[test]
fn rows_are_permuted_from_active_lanes() {
    // v_permlane16_b32 v0, v1, s2, s3, all lanes of a row from lane 3; op_sel: [fi, bound_ctrl].
    for (op_sel, expected) in [(0, 7), (2, 0), (1, 103)] {
        let mut rig = rig(true);
        rig.wave.set_mask(EXEC, u64::from(!8u32));
        rig.wave.set_sgpr64(2, 0x3333_3333_3333_3333);
        rig.execute(&[0xd65b_0000 | op_sel << 11, 0x000c_0501]).expect("no fault");
        let got = result(&rig);
        assert_eq!((got[0], got[3], got[16]), (expected, 7, 119), "op_sel {op_sel}");
    }
}
