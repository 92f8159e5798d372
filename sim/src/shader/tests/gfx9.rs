//! gfx9: its lane movements, parts of registers, matrices and launch state.

use super::*;
use crate::shader::launch::{Group, prepare};
use crate::shader::trap;
use crate::shader::wave::State;

fn lanes(rig: &Rig, register: usize) -> Vec<u32> {
    (0..64).map(|lane| rig.wave.lane(register, lane)).collect()
}

fn numbered() -> Rig {
    let mut rig = Rig::on(Target::Gfx90a, false);
    rig.wave.set_mask(EXEC, u64::MAX);
    for lane in 0..64 {
        rig.wave.set_lane(0, lane, 1000);
        rig.wave.set_lane(1, lane, lane as u32);
        rig.wave.set_lane(2, lane, 4 * (63 - lane as u32));
    }
    rig
}

#[test]
fn dpp_moves_across_the_wave() {
    for (control, from) in [
        (0x130, &(|lane: u32| (lane < 63).then_some(lane + 1)) as &dyn Fn(u32) -> Option<u32>), // wave_shl
        (0x134, &|lane| Some((lane + 1) % 64)),  // wave_rol
        (0x138, &|lane| lane.checked_sub(1)),    // wave_shr
        (0x13c, &|lane| Some((lane + 63) % 64)), // wave_ror
        (0x142, &|lane| (lane / 16 * 16).checked_sub(1)), // row_bcast:15
        (0x143, &|lane| (lane / 32 * 32).checked_sub(1)), // row_bcast:31
        (0x155, &|lane| Some(lane / 16 * 16 + 5)), // row_newbcast:5
    ] {
        let mut rig = numbered();
        // v_mov_b32_dpp v0, v1 with all rows and banks, without bound_ctrl
        rig.execute(&[0x7e00_02fa, 0xff00_0001 | control << 8]).unwrap();
        let expected: Vec<u32> = (0..64).map(|lane| from(lane).unwrap_or(1000)).collect();
        assert_eq!(lanes(&rig, 0), expected, "{control:#x}");
    }
}

#[test]
fn registers_by_index() {
    let mut rig = numbered();
    rig.wave.set_sgpr(0, 1);
    rig.execute(&[0xbf11_0900]).unwrap(); // s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)
    rig.execute(&[0x7e04_0301]).unwrap(); // v_mov_b32 v2, v1, which is v3, v2
    assert_eq!(lanes(&rig, 3), lanes(&rig, 2));
    assert_ne!(lanes(&rig, 3), lanes(&rig, 1));
    rig.execute(&[0x6802_0702]).unwrap(); // v_add_u32_e32 v1, v2, v3, which is v2, v3, v3
    assert_eq!(lanes(&rig, 2), lanes(&rig, 3).iter().map(|value| 2 * value).collect::<Vec<_>>());
    rig.execute(&[0xbf11_0300]).unwrap(); // s_set_gpr_idx_on s0, gpr_idx(SRC0,SRC1)
    rig.wave.set_mask(VCC, 0);
    rig.execute(&[0x7d94_0501]).unwrap(); // v_cmp_eq_u32_e32 vcc, v1, v2, which is of v2, v3
    assert_eq!(rig.wave.mask(VCC), 1 << 63);
    rig.execute(&[0x7e0a_0501]).unwrap(); // v_readfirstlane_b32 s5, v1, which is of v2
    assert_eq!(rig.wave.sgpr(5), rig.wave.lane(2, 0));
    rig.execute(&[0xd38a_4001, 0x1802_0501]).unwrap(); // v_pk_add_u16 v1, v1, v2, which is of v2, v3
    assert_eq!(rig.wave.lane(1, 1), rig.wave.lane(2, 1) + rig.wave.lane(3, 1));
    rig.execute(&[0xbf11_0f00]).unwrap(); // s_set_gpr_idx_on s0, gpr_idx(SRC0,SRC1,SRC2,DST)
    rig.execute(&[0xd1ff_0000, 0x0406_0301]).unwrap(); // v_add3_u32 v0, v1, v1, v1, which is v1, v2, v2, v2
    assert_eq!(rig.wave.lane(1, 5), 3 * rig.wave.lane(2, 5));
    // v_mac_f32_e32 v2, v1, v3, which reads and writes v2
    assert_eq!(rig.refusal(&[0x2c04_0701]), "V_MAC_F32 with indexed registers is not modelled");
    rig.wave.set_sgpr(0, 255);
    rig.execute(&[0xbf11_0900]).unwrap();
    assert_eq!(
        rig.refusal(&[0x7e04_0301]),
        "v1 with index 255, but the dispatch allocates 4 VGPRs to a wave"
    );
    rig.execute(&[0xbf9c_0000]).unwrap(); // s_set_gpr_idx_off
    rig.execute(&[0x7e04_0302]).unwrap(); // v_mov_b32 v2, v2
}

#[test]
fn permutes_reach_the_whole_wave() {
    let mut rig = numbered();
    rig.execute(&[0xd87e_0000, 0x0000_0102]).unwrap(); // ds_bpermute_b32 v0, v2, v1
    assert_eq!(lanes(&rig, 0), (0..64).rev().collect::<Vec<u32>>());
    rig.execute(&[0xd87c_0000, 0x0000_0102]).unwrap(); // ds_permute_b32 v0, v2, v1
    assert_eq!(lanes(&rig, 0), (0..64).rev().collect::<Vec<u32>>());
}

#[test]
fn sdwa_takes_and_writes_parts() {
    let mut rig = Rig::on(Target::Gfx906, false);
    rig.wave.set_lane(0, 0, 0x1111_1111);
    rig.wave.set_lane(1, 0, 0x80fe_0203);
    rig.wave.set_lane(2, 0, 0x0000_0001);
    // v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:DWORD
    rig.execute(&[0x6800_04f9, 0x0602_1101]).unwrap();
    assert_eq!(rig.wave.lane(0, 0), 0x1111_ff11);
    // v_add_u32_sdwa v0, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:DWORD
    rig.execute(&[0x6800_04f9, 0x060a_0601]).unwrap();
    assert_eq!(rig.wave.lane(0, 0), 0xffff_ffff);
}

#[test]
fn halves_are_cleared_but_by_those_that_select_them() {
    let mut rig = Rig::on(Target::Gfx906, false);
    rig.wave.set_lane(0, 0, 0x5555_5555);
    rig.wave.set_lane(1, 0, 0x3c00);
    rig.execute(&[0x3e00_0301]).unwrap(); // v_add_f16_e32 v0, v1, v1
    assert_eq!(rig.wave.lane(0, 0), 0x4000);
    rig.wave.set_lane(0, 0, 0x5555_5555);
    rig.execute(&[0xd206_0000, 0x0406_0301]).unwrap(); // v_fma_f16 v0, v1, v1, v1
    assert_eq!(rig.wave.lane(0, 0), 0x5555_4000);
}

#[test]
fn compares_to_exec_write_their_destination_too() {
    let mut rig = numbered();
    rig.execute(&[0x7da4_0681]).unwrap(); // v_cmpx_eq_i32_e32 vcc, 1, v3
    assert_eq!((rig.wave.mask(VCC), rig.wave.exec()), (0, 0));
    let mut rig = numbered();
    // v_cmpx_eq_u32_e64 s[4:5], v1, v1
    rig.execute(&[0xd0da_0004, 0x0002_0301]).unwrap();
    assert_eq!((rig.wave.mask(4), rig.wave.exec()), (u64::MAX, u64::MAX));
}

/// A product of small integers, which is exact in any order, against one computed from the matrices themselves.
#[test]
fn matrices_multiply() {
    let mut rig = Rig::on(Target::Gfx90a, false);
    let traits = Traits::of(Target::Gfx90a);
    (rig.launch.rsrc1, rig.launch.rsrc3) = (0x3f, 0x1f);
    rig.wave = Wave::new(false, traits, traits.registers(&rig.launch));
    let a = |row: usize, k: usize| (row * 3 + k * 5) as f32 % 7.0 - 3.0;
    let b = |k: usize, column: usize| (column * 2 + k * 3) as f32 % 5.0 - 2.0;
    // A and B of 16 × 16 × 4: lane 16 k + line.
    for lane in 0..64 {
        rig.wave.set_lane(1, lane, a(lane % 16, lane / 16).to_bits());
        rig.wave.set_lane(2, lane, b(lane / 16, lane % 16).to_bits());
        for register in 4..8 {
            rig.wave.set_lane(register, lane, 100f32.to_bits());
        }
    }
    rig.execute(&[0xd3c5_0004, 0x0412_0501]).unwrap(); // v_mfma_f32_16x16x4f32 v[4:7], v1, v2, v[4:7]
    for row in 0..16 {
        for column in 0..16 {
            let expected: f32 = 100.0 + (0..4).map(|k| a(row, k) * b(k, column)).sum::<f32>();
            let got = rig.wave.lane(4 + row % 4, 16 * (row / 4) + column);
            assert_eq!(f32::from_bits(got), expected, "row {row}, column {column}");
        }
    }
    // Through accumulation registers and back.
    rig.wave.set_mask(EXEC, u64::MAX);
    rig.execute(&[0xd3d9_4005, 0x1800_0104]).unwrap(); // v_accvgpr_write_b32 a5, v4
    rig.execute(&[0xd3d8_4009, 0x1800_0105]).unwrap(); // v_accvgpr_read_b32 v9, a5
    assert_eq!(lanes(&rig, 9), lanes(&rig, 4));
}

#[test]
fn waves_start_as_their_generation_does() {
    let start = |target, rsrc2: u32| {
        let mut rig = Rig::on(target, false);
        rig.launch.rsrc1 = 0x3f;
        rig.launch.rsrc3 = 0x1f;
        rig.launch.rsrc2 = rsrc2;
        rig.launch.workgroup = [8, 4, 2];
        rig.launch.grid = [64, 4, 2];
        rig.launch.user_data[..2].copy_from_slice(&[0xaaaa, 0xbbbb]);
        rig.launch.scratch_base = 0x7_0000_0000;
        let traits = Traits::of(target);
        let mut wave = Wave::new(false, traits, traits.registers(&rig.launch));
        let scratch = rig.launch.scratch_base + 0x4000;
        prepare(&mut wave, &rig.launch, Group { id: [5, 0, 0] }, 0, scratch);
        wave
    };
    // Two user SGPRs, workgroup id x, scratch, all three work-item ids.
    let rsrc2 = 2 << 1 | 1 << 7 | 1 | 2 << 11;
    let gfx906 = start(Target::Gfx906, rsrc2);
    assert_eq!([0, 1, 2, 3].map(|code| gfx906.sgpr(code)), [0xaaaa, 0xbbbb, 5, 0x4000]);
    assert_eq!([0, 1, 2].map(|register| gfx906.lane(register, 0x2b)), [3, 1, 1]);
    let gfx90a = start(Target::Gfx90a, rsrc2);
    assert_eq!(gfx90a.sgpr(3), 0x4000);
    assert_eq!(gfx90a.lane(0, 0x2b), 3 | 1 << 10 | 1 << 20);
    let gfx942 = start(Target::Gfx942, rsrc2);
    assert_eq!(gfx942.scratch_base(), 0x7_0000_4000);
}

#[test]
fn scalar_atomics_return_the_old_value_when_asked() {
    let mut rig = Rig::on(Target::Gfx906, false);
    rig.wave.set_sgpr64(8, DATA);
    rig.memory.store_u32(4, 40);
    rig.wave.set_sgpr(6, 2);
    rig.execute(&[0xc20a_0184, 0x0000_0004]).unwrap(); // s_atomic_add s6, s[8:9], 0x4
    assert_eq!((rig.memory.load_u32(4), rig.wave.sgpr(6)), (42, 2));
    rig.execute(&[0xc20b_0184, 0x0000_0004]).unwrap(); // s_atomic_add s6, s[8:9], 0x4 glc
    assert_eq!((rig.memory.load_u32(4), rig.wave.sgpr(6)), (44, 42));
    // s_atomic_cmpswap_x2 s[12:15], s[8:9], 0x8 glc: the new value, then the comparand
    for (comparand, after) in [(5, 9), (9, 7)] {
        rig.memory.store_u32(8, 9);
        rig.memory.store_u32(12, 0);
        rig.wave.set_sgpr64(12, 7);
        rig.wave.set_sgpr64(14, comparand);
        rig.execute(&[0xc287_0304, 0x0000_0008]).unwrap();
        assert_eq!((rig.memory.load_u32(8), rig.wave.sgpr64(12)), (after, 9));
        assert_eq!(rig.wave.sgpr64(14), comparand);
    }
}

#[test]
fn scalar_accesses_end_with_the_buffer() {
    let mut rig = Rig::on(Target::Gfx906, false);
    rig.wave.set_sgpr64(16, DATA);
    rig.wave.set_sgpr64(18, 16);
    rig.memory.store_u32(4, -5i32 as u32);
    rig.wave.set_sgpr(6, 3);
    rig.execute(&[0xc11b_0188, 0x0000_0004]).unwrap(); // s_buffer_atomic_smax s6, s[16:19], 0x4 glc
    assert_eq!((rig.memory.load_u32(4), rig.wave.sgpr(6) as i32), (3, -5));
    rig.memory.store_u32(0x40, 77);
    rig.execute(&[0xc12f_0188, 0x0000_0040]).unwrap(); // s_buffer_atomic_inc s6, s[16:19], 0x40 glc
    assert_eq!((rig.memory.load_u32(0x40), rig.wave.sgpr(6)), (77, 0));
    rig.wave.set_sgpr64(6, 0x2222_2222_1111_1111);
    rig.execute(&[0xc066_0188, 0x0000_000c]).unwrap(); // s_buffer_store_dwordx2 s[6:7], s[16:19], 0xc
    assert_eq!([12, 16].map(|at| rig.memory.load_u32(at)), [0x1111_1111, 0]);
    rig.wave.set_sgpr64(8, DATA);
    for register in 12..16 {
        rig.wave.set_sgpr(register, register.into());
    }
    rig.execute(&[0xc04a_0304, 0x0000_0010]).unwrap(); // s_store_dwordx4 s[12:15], s[8:9], 0x10
    assert_eq!([16, 20, 24, 28].map(|at| rig.memory.load_u32(at)), [12, 13, 14, 15]);
    rig.execute(&[0xc0a2_0004, 0]).unwrap(); // s_dcache_discard s[8:9], 0x0
    rig.execute(&[0xc09a_0044, 0]).unwrap(); // s_atc_probe 1, s[8:9], 0x0
}

/// cwsr_trap_handler_gfx9.asm, from `L_SKIP_RESTORE` to `L_EXCP_CASE`.
#[test]
fn traps_go_through_linux_handler() {
    const TRAP_PRESENT: u32 = 1 << 6;
    const ILLEGAL: u32 = 1 << 11;
    const VIOLATION: u32 = 1 << 8;
    let rig = |handler: Option<(u64, u64)>| {
        let mut rig = Rig::on(Target::Gfx90a, false);
        rig.launch.rsrc2 = TRAP_PRESENT;
        rig.launch.trap_handler = handler;
        rig.wave.pc = CODE + 4;
        rig.wave.scc = false;
        rig
    };
    let temporary = |rig: &Rig, number: usize| rig.wave.scalars()[108 + number];
    // Without a process's handler s_trap passes, and exceptions halt.
    let mut passes = rig(None);
    passes.execute(&[0xbf92_0003]).unwrap();
    assert_eq!((passes.wave.pc, passes.wave.privileged), (CODE + 4, false));
    let mut halts = rig(None);
    let Rig { wave, launch, .. } = &mut halts;
    trap::raise(wave, launch, CODE + 64, VIOLATION);
    assert_eq!((halts.wave.pc, halts.wave.state), (CODE + 56, State::Halted));
    // With one, both enter it; an exception with STATUS.HALT set and the PC taken back.
    let handler = Some((0x7000_0000, 0x1234_5678));
    let mut enters = rig(handler);
    enters.execute(&[0xbf92_0003]).unwrap();
    assert_eq!(
        (enters.wave.pc, enters.wave.privileged, enters.wave.scc),
        (0x7000_0000, true, true)
    );
    assert_eq!(temporary(&enters, 0), CODE as u32);
    assert_eq!(temporary(&enters, 1), (CODE >> 32) as u32 | 3 << 16);
    assert_eq!([2, 3, 14, 15].map(|at| temporary(&enters, at)), [0x7000_0000, 0, 0x1234_5678, 0]);
    assert_eq!(temporary(&enters, 12) & 0x2000, 0);
    let mut told = rig(handler);
    let Rig { wave, launch, .. } = &mut told;
    trap::raise(wave, launch, CODE + 64, ILLEGAL);
    assert_eq!((told.wave.pc, told.wave.privileged), (0x7000_0000, true));
    assert_eq!(temporary(&told, 0), CODE as u32 + 56);
    assert_eq!(temporary(&told, 1), (CODE >> 32) as u32);
    assert_ne!(temporary(&told, 12) & 0x2000, 0);
}
