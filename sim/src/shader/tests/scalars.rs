//! Values and SCC of the scalar ALU, by the pseudocode of the RDNA3 ISA document.

use super::*;
use crate::shader::wave::TTMP0;

/// `(word, s3, s4, SCC before, s2, SCC after)`
type Case = (u32, u32, u32, bool, u32, bool);

const CASES: &[Case] = &[
    // s_add_u32, s_sub_u32, s_add_i32, s_sub_i32 s2, s3, s4
    (0x8002_0403, u32::MAX, 1, false, 0, true),
    (0x8002_0403, 0x7fff_ffff, 1, true, 0x8000_0000, false),
    (0x8082_0403, 0, 1, false, u32::MAX, true),
    (0x8082_0403, 1, 1, true, 0, false),
    (0x8102_0403, 0x7fff_ffff, 1, false, 0x8000_0000, true),
    (0x8102_0403, u32::MAX, 1, true, 0, false),
    (0x8182_0403, 0x8000_0000, 1, false, 0x7fff_ffff, true),
    (0x8182_0403, 0, 1, true, u32::MAX, false),
    // s_addc_u32 s2, s3, s4
    (0x8202_0403, u32::MAX, 0, true, 0, true),
    (0x8202_0403, u32::MAX, u32::MAX, true, u32::MAX, true),
    (0x8202_0403, 1, 1, true, 3, false),
    (0x8202_0403, u32::MAX, 0, false, u32::MAX, false),
    // s_subb_u32 s2, s3, s4
    (0x8282_0403, 5, 3, true, 1, false),
    (0x8282_0403, 3, 3, true, u32::MAX, true),
    (0x8282_0403, 3, 3, false, 0, false),
    (0x8282_0403, 0, u32::MAX, true, 0, true),
    (0x8282_0403, u32::MAX, u32::MAX, true, u32::MAX, true),
    (0x8282_0403, 4, 3, true, 0, false),
    // s_min_i32, s_max_i32, s_min_u32, s_max_u32 s2, s3, s4
    (0x8902_0403, 5, 5, true, 5, false),
    (0x8902_0403, u32::MAX, 1, false, u32::MAX, true),
    (0x8902_0403, 1, u32::MAX, true, u32::MAX, false),
    (0x8a02_0403, 5, 5, false, 5, true),
    (0x8a02_0403, u32::MAX, 1, true, 1, false),
    (0x8a02_0403, 1, u32::MAX, false, 1, true),
    (0x8982_0403, 5, 5, true, 5, false),
    (0x8982_0403, u32::MAX, 1, true, 1, false),
    (0x8982_0403, 1, u32::MAX, false, 1, true),
    (0x8a82_0403, 5, 5, false, 5, true),
    (0x8a82_0403, u32::MAX, 1, false, u32::MAX, true),
    (0x8a82_0403, 1, u32::MAX, true, u32::MAX, false),
    // s_bfe_u32 s2, s3, s4: offset 4:0, width 22:16
    (0x9302_0403, 0xf000_0010, 32 << 16 | 4, false, 0x0f00_0001, true),
    (0x9302_0403, 0xf000_0010, 33 << 16 | 4, false, 0x0f00_0001, true),
    (0x9302_0403, 0xf000_0010, 127 << 16, false, 0xf000_0010, true),
    (0x9302_0403, 0xf000_0010, 4, true, 0, false),
    (0x9302_0403, 0xf000_0010, 4 << 16 | 28, false, 0xf, true),
    (0x9302_0403, 0xf000_0010, 4 << 16 | 0xff60, true, 0, false),
    // s_bfe_i32 s2, s3, s4
    (0x9382_0403, 0xf000_0010, 32 << 16 | 4, false, 0xff00_0001, true),
    (0x9382_0403, 0xf000_0010, 33 << 16 | 4, false, 0xff00_0001, true),
    (0x9382_0403, 0xf000_0010, 127 << 16, false, 0xf000_0010, true),
    (0x9382_0403, 0xf000_0010, 4, true, 0, false),
    (0x9382_0403, 0xf000_0010, 1 << 16 | 4, false, u32::MAX, true),
    (0x9382_0403, 0xf000_0010, 2 << 16 | 4, false, 1, true),
    // s_bfm_b32 s2, s3, s4
    (0x9502_0403, 4, 8, true, 0xf00, true),
    (0x9502_0403, 32, 0, false, 0, false),
    // s_lshl_b32, s_ashr_i32 s2, s3, s4
    (0x8402_0403, 1, 33, false, 2, true),
    (0x8402_0403, 0x8000_0000, 1, true, 0, false),
    (0x8602_0403, 0x8000_0000, 31, false, u32::MAX, true),
    (0x8602_0403, 0x7fff_ffff, 31, true, 0, false),
    // s_mul_hi_i32, s_mul_hi_u32 s2, s3, s4
    (0x9702_0403, u32::MAX, 1, false, u32::MAX, false),
    (0x9682_0403, u32::MAX, 2, true, 1, true),
    // s_lshl1_add_u32, s_lshl4_add_u32 s2, s3, s4
    (0x8702_0403, 0x8000_0000, 1, false, 1, true),
    (0x8882_0403, 0x1000_0000, 0, false, 0, true),
    (0x8882_0403, 0x0fff_ffff, 15, true, u32::MAX, false),
    // s_pack_hl_b32_b16, s_absdiff_i32, s_cselect_b32 s2, s3, s4
    (0x9a82_0403, 0x1234_5678, 0x9abc_def0, true, 0xdef0_1234, true),
    (0x8302_0403, 3, 5, false, 2, true),
    (0x8302_0403, 5, 5, true, 0, false),
    (0x9802_0403, 3, 4, true, 3, true),
    (0x9802_0403, 3, 4, false, 4, false),
    // s_nand_b32, s_and_not1_b32 s2, s3, s4
    (0x8e02_0403, u32::MAX, u32::MAX, true, 0, false),
    (0x9102_0403, 0b0011, 0b0101, false, 0b0010, true),
    (0x9102_0403, 0b0001, 0b0101, true, 0, false),
    // s_abs_i32, s_not_b32 s2, s3
    (0xbe82_1503, 0x8000_0000, 0, false, 0x8000_0000, true),
    (0xbe82_1503, 0, 0, true, 0, false),
    (0xbe82_1e03, u32::MAX, 0, true, 0, false),
    // s_cls_i32, s_clz_i32_u32, s_ctz_i32_b32 s2, s3
    (0xbe82_0c03, 0xffff_fff0, 0, true, 28, true),
    (0xbe82_0c03, u32::MAX, 0, false, u32::MAX, false),
    (0xbe82_0a03, 1, 0, true, 31, true),
    (0xbe82_0a03, 0, 0, false, u32::MAX, false),
    (0xbe82_0803, 0x8000_0000, 0, true, 31, true),
    (0xbe82_0803, 0, 0, false, u32::MAX, false),
    // s_bcnt0_i32_b32, s_bcnt1_i32_b32 s2, s3
    (0xbe82_1603, u32::MAX, 0, true, 0, false),
    (0xbe82_1603, 1, 0, false, 31, true),
    (0xbe82_1803, 0xf0, 0, false, 4, true),
    // s_brev_b32, s_sext_i32_i8, s_sext_i32_i16 s2, s3
    (0xbe82_0403, 1, 0, true, 0x8000_0000, true),
    (0xbe82_0e03, 0x180, 0, false, 0xffff_ff80, false),
    (0xbe82_0f03, 0x1_8000, 0, true, 0xffff_8000, true),
    // s_quadmask_b32, s_wqm_b32 s2, s3
    (0xbe82_1a03, 0x8000_0010, 0, false, 0x82, true),
    (0xbe82_1c03, 0x8000_0010, 0, false, 0xf000_00f0, true),
    (0xbe82_1c03, 0, 0, true, 0, false),
];

#[test]
fn values_and_scc() {
    for &(word, a, b, before, value, after) in CASES {
        let mut rig = Rig::new(true);
        rig.wave.set_sgpr(3, a);
        rig.wave.set_sgpr(4, b);
        rig.wave.scc = before;
        rig.execute(&[word]).expect("no fault");
        let got = (rig.wave.sgpr(2), rig.wave.scc);
        assert_eq!(got, (value, after), "{word:#x} of {a:#x}, {b:#x}, SCC {before}: {got:x?}");
    }
}

#[test]
fn bit_fields_of_64_bits() {
    // s_bfe_u64 s[2:3], s[6:7], s4; s_bfe_i64 s[2:3], s[6:7], s4
    for (control, unsigned, signed) in [
        (64 << 16 | 4, 0x0f00_0000_0000_0001, 0xff00_0000_0000_0001),
        (65 << 16 | 4, 0x0f00_0000_0000_0001, 0xff00_0000_0000_0001),
        (32 << 16 | 4, 1, 1),
        (1 << 16 | 63, 1, u64::MAX),
        (4, 0, 0),
    ] {
        for (word, value) in [(0x9402_0406, unsigned), (0x9482_0406, signed)] {
            let mut rig = Rig::new(true);
            rig.wave.set_sgpr64(6, 0xf000_0000_0000_0010);
            rig.wave.set_sgpr(4, control);
            rig.execute(&[word]).expect("no fault");
            assert_eq!((rig.wave.sgpr64(2), rig.wave.scc), (value, value != 0), "{control:#x}");
        }
    }
}

/// The operation's number (that of 64 bits is one more), the new EXEC for source 0011 and EXEC 0101 in the low bits
/// and for zeros in the others.
const EXEC_OPERATIONS: [(u32, u32, bool); 12] = [
    (0x20, 0b0001, false), // s_and_saveexec
    (0x22, 0b0111, false), // s_or_saveexec
    (0x24, 0b0110, false), // s_xor_saveexec
    (0x26, 0b1110, true),  // s_nand_saveexec
    (0x28, 0b1000, true),  // s_nor_saveexec
    (0x2a, 0b1001, true),  // s_xnor_saveexec
    (0x2c, 0b0100, false), // s_and_not0_saveexec
    (0x2e, 0b1101, true),  // s_or_not0_saveexec
    (0x30, 0b0010, false), // s_and_not1_saveexec
    (0x32, 0b1011, true),  // s_or_not1_saveexec
    (0x34, 0b0100, false), // s_and_not0_wrexec
    (0x36, 0b0010, false), // s_and_not1_wrexec
];

#[test]
fn operations_that_save_or_write_exec() {
    for (number, low, ones) in EXEC_OPERATIONS {
        let exec = u64::from(low) | if ones { !0xf } else { 0 };
        let writes = number >= 0x34;
        // s_..._b32 s2, s3
        let mut rig = Rig::new(true);
        rig.wave.set_mask(EXEC, 0b0101);
        rig.wave.set_sgpr(3, 0b0011);
        rig.execute(&[0xbe82_0003 | number << 8]).expect("no fault");
        let saved = if writes { exec as u32 } else { 0b0101 };
        let got = (rig.wave.sgpr(2), rig.wave.sgpr(EXEC), rig.wave.scc);
        assert_eq!(got, (saved, exec as u32, true), "{number:#x}: {got:x?}");
        // s_..._b64 s[2:3], s[4:5]
        let mut rig = Rig::new(false);
        rig.wave.set_mask(EXEC, 0b0101);
        rig.wave.set_sgpr64(4, 0b0011);
        rig.execute(&[0xbe82_0004 | (number + 1) << 8]).expect("no fault");
        let saved = if writes { exec } else { 0b0101 };
        let got = (rig.wave.sgpr64(2), rig.wave.exec(), rig.wave.scc);
        assert_eq!(got, (saved, exec, true), "{number:#x}: {got:x?}");
    }
    // An EXEC of which nothing is left: s_and_saveexec_b32 s2, s3
    let mut rig = Rig::new(true);
    rig.wave.scc = true;
    rig.wave.set_sgpr(3, 2);
    rig.execute(&[0xbe82_2003]).expect("no fault");
    assert_eq!((rig.wave.sgpr(EXEC), rig.wave.scc), (0, false));
}

/// GPR_ALLOC.VGPR_SIZE counts eight VGPRs in wave32 and four in wave64, less one, as RSRC1 does.
#[test]
fn waves_know_how_many_vgprs_they_have() {
    for wave32 in [true, false] {
        let mut rig = Rig::new(wave32);
        // s_getreg_b32 s2, hwreg(HW_REG_GPR_ALLOC)
        rig.execute(&[0xb882_f805]).expect("no fault");
        assert_eq!(rig.wave.sgpr(2), rig.launch.rsrc1 << 12, "wave32: {wave32}");
    }
}

/// A wave's storage serves a wave after it, which must find nothing.
#[test]
fn waves_start_as_new() {
    let mut rig = Rig::on(Target::Gfx90a, false);
    let wave = &mut rig.wave;
    (wave.scc, wave.halt, wave.indexes, wave.privileged) = (true, true, true, true);
    (wave.trapsts, wave.executed) = (1, 1);
    wave.set_sgpr(3, 1);
    wave.set_sgpr(TTMP0 + 3, 1);
    wave.set_lane(2, 33, 1);
    wave.reset(5);
    assert_eq!((wave.scc, wave.halt, wave.indexes, wave.privileged), (false, false, false, false));
    assert_eq!((wave.trapsts, wave.executed), (0, 0));
    assert_eq!((wave.sgpr(3), wave.sgpr(TTMP0 + 3), wave.lane(2, 33)), (5, 0, 5));
}

/// RSRC1 as LLVM's AMDGPUUsage document has it (`FP16_OVFL` is bit 26) is MODE (bit 23).
#[test]
fn overflow_of_halves_is_a_bit_of_the_launch() {
    assert!(Mode::from_rsrc1(1 << 26, 0, true).fp16_overflow);
    assert!(!Mode::from_rsrc1(!(1 << 26), 0, true).fp16_overflow);
}
