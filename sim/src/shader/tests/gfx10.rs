//! gfx10.3: the state a wave starts with, and what neither gfx9 nor gfx11 does.

use super::*;
use crate::shader::launch::{Group, prepare};

fn rig(wave32: bool) -> Rig {
    let mut rig = Rig::on(Target::Gfx1030, wave32);
    rig.wave.set_mask(EXEC, if wave32 { u32::MAX.into() } else { u64::MAX });
    for lane in 0..rig.wave.lanes() {
        rig.wave.set_lane(0, lane, 0x0102_0300 + lane as u32);
        rig.wave.set_lane(1, lane, 0x0001_0005);
        rig.wave.set_lane(2, lane, 0xaaaa_bbbb);
    }
    rig
}

/// LLVM's AMDGPUUsage document, "Initial Kernel Execution State", and its prologue "Flat Scratch" of gfx10.
#[test]
fn waves_start_with_ids_apart_and_set_their_scratch() {
    let mut rig = Rig::on(Target::Gfx1030, true);
    rig.launch.rsrc1 = 0x3f;
    // Two user SGPRs, workgroup id x, scratch, all three work-item ids.
    rig.launch.rsrc2 = 2 << 1 | 1 << 7 | 1 | 2 << 11;
    rig.launch.workgroup = [8, 4, 2];
    rig.launch.grid = [64, 4, 2];
    rig.launch.user_data[..2].copy_from_slice(&[0xaaaa, 0xbbbb]);
    rig.launch.scratch_base = 0x7_0000_0000;
    rig.launch.fill = 0x5a5a_5a5a;
    let traits = Traits::of(Target::Gfx1030);
    rig.wave = Wave::new(true, traits, traits.registers(&rig.launch));
    let scratch = rig.launch.scratch_base + 0x4000;
    prepare(&mut rig.wave, &rig.launch, Group { id: [5, 0, 0] }, 1, scratch);
    assert_eq!([0, 1, 2, 3].map(|code| rig.wave.sgpr(code)), [0xaaaa, 0xbbbb, 5, 0x4000]);
    assert_eq!([0, 1, 2].map(|register| rig.wave.lane(register, 0xb)), [3, 1, 1]);
    assert_eq!(rig.wave.scratch_base(), 0x5a5a_5a5a_5a5a_5a5a);
    rig.wave.set_sgpr(4, 0x4000);
    rig.wave.set_sgpr(5, 7);
    rig.execute(&[0xb984_f814]).unwrap(); // s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s4
    rig.execute(&[0xb985_f815]).unwrap(); // s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s5
    assert_eq!(rig.wave.scratch_base(), scratch);
    // Of parts of them only these change (RDNA2 ISA document, S_SETREG_B32).
    rig.wave.set_sgpr(4, 0xff_abcd);
    rig.wave.set_sgpr(5, 0xff_0012);
    rig.execute(&[0xb984_7a14]).unwrap(); // s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO, 8, 16), s4
    assert_eq!(rig.wave.scratch_base(), 0x7_00ab_cd00);
    rig.execute(&[0xb985_7815]).unwrap(); // s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI, 0, 16), s5
    assert_eq!(rig.wave.scratch_base(), 0x12_00ab_cd00);
    rig.execute(&[0xb985_7c15]).unwrap(); // s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI, 16, 16), s5
    assert_eq!(rig.wave.scratch_base(), 0x0012_0012_00ab_cd00);
}

#[test]
fn m0_and_null_have_changed_places() {
    let mut rig = rig(true);
    rig.execute(&[0xbefc_0387]).unwrap(); // s_mov_b32 m0, 7
    rig.execute(&[0xbe80_037c]).unwrap(); // s_mov_b32 s0, m0
    rig.execute(&[0x8001_857d]).unwrap(); // s_add_u32 s1, null, 5
    assert_eq!((rig.wave.sgpr(M0), rig.wave.sgpr(0), rig.wave.sgpr(1)), (7, 7, 5));
}

/// LLVM's GCNSubtarget.cpp, `zeroesHigh16BitsOfDest`: from gfx10 on the other half stays.
#[test]
fn halves_stay() {
    let mut rig = rig(true);
    rig.execute(&[0xd703_0002, 0x0002_0300]).unwrap(); // v_add_nc_u16 v2, v0, v1
    assert_eq!(rig.wave.lane(2, 3), 0xaaaa_0308);
    rig.execute(&[0xd703_4802, 0x0002_0300]).unwrap(); // v_add_nc_u16 v2, v0, v1 op_sel:[1,0,1]
    assert_eq!(rig.wave.lane(2, 3), 0x0107_0308);
    rig.execute(&[0x6404_0300]).unwrap(); // v_add_f16_e32 v2, v0, v1: denormals
    assert_eq!(rig.wave.lane(2, 3), 0x0107_0308);
}

#[test]
fn parts_of_registers() {
    let mut rig = rig(true);
    // v_add_nc_u32_sdwa v2, v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_0
    rig.execute(&[0x4a04_02f9, 0x0005_1100]).unwrap();
    assert_eq!(rig.wave.lane(2, 3), 0xaaaa_07bb);
    // v_cmp_eq_u32_sdwa s6, v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_0
    rig.wave.set_sgpr(7, 99);
    rig.execute(&[0x7d84_02f9, 0x0000_8600]).unwrap();
    assert_eq!((rig.wave.sgpr(6), rig.wave.sgpr(7)), (1 << 5, 99));
}

/// V_CMPX writes EXEC alone.
#[test]
fn compares_that_write_exec() {
    let mut rig = rig(true);
    rig.wave.set_mask(VCC, 0x1234);
    for lane in 0..32 {
        rig.wave.set_lane(1, lane, 0x0102_0304);
    }
    rig.execute(&[0x7da2_0300]).unwrap(); // v_cmpx_lt_u32_e32 v0, v1
    assert_eq!((rig.wave.exec(), rig.wave.mask(VCC)), (0xf, 0x1234));
}

#[test]
fn lanes_of_a_row() {
    let mut rig = rig(false);
    // v_mov_b32_dpp v2, v0 row_share:3 row_mask:0xf bank_mask:0xf
    rig.execute(&[0x7e04_02fa, 0xff01_5300]).unwrap();
    assert_eq!([0, 15, 16, 63].map(|lane| rig.wave.lane(2, lane) & 63), [3, 3, 19, 51]);
    // v_mov_b32_dpp v2, v0 row_xmask:5 row_mask:0xf bank_mask:0xf
    rig.execute(&[0x7e04_02fa, 0xff01_6500]).unwrap();
    assert_eq!([0, 15, 16, 63].map(|lane| rig.wave.lane(2, lane) & 63), [5, 10, 21, 58]);
}

/// Kernels wait on four counters, prefetch, and name dependencies; all of it is nothing here.
#[test]
fn waits_and_hints() {
    let mut rig = rig(true);
    for words in [[0xbfa0_0003], [0xbbfd_0000], [0xbfa3_ffe3]] {
        rig.execute(&words).unwrap(); // s_inst_prefetch, s_waitcnt_vscnt null, s_waitcnt_depctr
    }
}
