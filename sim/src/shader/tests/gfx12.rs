//! What gfx12 has beyond gfx11, and does otherwise.

use super::*;
use crate::shader::generation::Registers;
use crate::shader::wave::{LANES, State, TTMP0};

fn single(value: f32) -> u32 {
    value.to_bits()
}

#[test]
fn a_barrier_is_complete_when_all_have_signalled() {
    let [signal, wait, state] = [0xbe80_4ec1, 0xbf94_ffff, 0xbe82_50c1];
    let mut rig = Rig::gfx12(true);
    rig.barriers = Barriers::new(2);
    // s_barrier_signal_isfirst -1
    rig.execute(&[0xbe80_4fc1]).unwrap();
    assert!(rig.wave.scc);
    rig.execute(&[state]).unwrap();
    assert_eq!(rig.wave.sgpr(2), 1 | 2 << 4 | 1 << 16);
    rig.wave.pc = CODE + 4;
    rig.wave.executed = 2;
    assert!(matches!(rig.execute(&[wait]), Err(Stop::Barrier)));
    assert_eq!((rig.wave.state, rig.wave.pc), (State::AtSplitBarrier, CODE));
    rig.execute(&[signal]).unwrap();
    rig.execute(&[wait]).unwrap();
    assert!(matches!(rig.execute(&[wait]), Err(Stop::Barrier)), "it is complete once");
    // A wave that ends counts no more.
    rig.execute(&[signal]).unwrap();
    rig.barriers.leave();
    rig.execute(&[wait]).unwrap();
}

/// RDNA4 ISA document, S_BARRIER_SIGNAL_ISFIRST: only waves in a workgroup of several signal.
#[test]
fn a_wave_by_itself_has_no_barrier() {
    let mut rig = Rig::gfx12(true);
    rig.launch.workgroup = [32, 1, 1];
    rig.wave.scc = true;
    rig.execute(&[0xbe80_4fc1]).unwrap(); // s_barrier_signal_isfirst -1
    assert!(!rig.wave.scc);
    for _ in 0..2 {
        rig.execute(&[0xbf94_ffff]).unwrap(); // s_barrier_wait -1
    }
    rig.execute(&[0xbe80_4ec1]).unwrap(); // s_barrier_signal -1
    rig.execute(&[0xbe82_50c1]).unwrap(); // s_get_barrier_state s2, -1
    assert_eq!(rig.wave.sgpr(2), 1 | 1 << 4);
}

#[test]
fn named_barriers_are_refused() {
    let mut rig = Rig::gfx12(true);
    // s_barrier_signal 3, 0, -2
    assert_eq!(rig.refusal(&[0xbe80_4e83]), "S_BARRIER_SIGNAL of barrier 3 is not modelled");
    rig.execute(&[0xbe80_4e80]).unwrap();
    rig.execute(&[0xbe80_4ec2]).unwrap();
}

/// Its waves always take traps: RDNA4 ISA document, S_TRAP; cwsr_trap_handler_gfx12.asm.
#[test]
fn a_trap_enters_the_handler() {
    let mut rig = Rig::gfx12(true);
    rig.wave.pc = CODE + 4;
    rig.execute(&[0xbf90_0002]).unwrap(); // s_trap 2
    // Linux's own handler lets it pass.
    assert_eq!((rig.wave.pc, rig.wave.privileged), (CODE + 4, false));
    rig.launch.trap_handler = Some((0x5_0000_0000, 0x77));
    rig.wave.scc = true;
    rig.wave.set_mask(VCC, 1);
    rig.execute(&[0xbf90_0012]).unwrap(); // s_trap 18, of which four bits count
    assert_eq!((rig.wave.pc, rig.wave.privileged), (0x5_0000_0000, true));
    assert_eq!(rig.wave.sgpr64(TTMP0), CODE | 2 << 60);
    assert_eq!(rig.wave.sgpr(TTMP0 + 12), 1 << 9);
    assert_eq!(rig.wave.sgpr64(TTMP0 + 14), 0x77);
    // s_getreg_b32 s0, hwreg(HW_REG_STATUS): PRIV, TRAP_EN, IN_WG, VALID
    rig.execute(&[0xb880_f802]).unwrap();
    assert_eq!(rig.wave.sgpr(0), 1 << 5 | 1 << 6 | 1 << 11 | 1 << 16);
    // s_setreg_b32 hwreg(HW_REG_STATE_PRIV, 9, 6), s1: HALT, not SCC
    rig.wave.set_sgpr(1, 1 << 5);
    rig.execute(&[0xb901_2a44]).unwrap();
    rig.execute(&[0xb880_f804]).unwrap();
    assert_eq!((rig.wave.scc, rig.wave.sgpr(0)), (false, 1 << 14));
    // s_rfe_b64 ttmp[0:1]
    assert!(matches!(rig.execute(&[0xbe80_4a6c]), Err(Stop::Halt)));
    assert_eq!((rig.wave.pc, rig.wave.state), (CODE, State::Halted));
}

#[test]
fn registers_of_exceptions() {
    let mut rig = Rig::gfx12(true);
    rig.wave.trapsts = 1 << 6;
    rig.execute(&[0xb880_f811]).unwrap(); // s_getreg_b32 s0, hwreg(HW_REG_EXCP_FLAG_PRIV)
    assert_eq!(rig.wave.sgpr(0), 1 << 6);
    // What needs privilege keeps its value.
    rig.execute(&[0xb980_f811, 0]).unwrap(); // s_setreg_imm32_b32 hwreg(HW_REG_EXCP_FLAG_PRIV), 0
    rig.execute(&[0xb980_f804, 1 << 9]).unwrap(); // hwreg(HW_REG_STATE_PRIV)
    assert_eq!((rig.wave.trapsts, rig.wave.scc), (1 << 6, false));
    rig.execute(&[0xb980_3012, 0x55]).unwrap(); // hwreg(HW_REG_EXCP_FLAG_USER, 0, 7)
    rig.execute(&[0xb880_f812]).unwrap();
    assert_eq!(rig.wave.sgpr(0), 0x55);
}

/// Nothing finds arithmetic exceptions, so waves that trap on them do not run.
#[test]
fn traps_on_arithmetic_exceptions_are_refused() {
    let refused = |rig: &mut Rig, words: &[u32]| match rig.execute(words) {
        Err(Stop::Fault(kind)) => matches!(*kind, WaveFaultKind::NotModelled(_)),
        _ => false,
    };
    let mut rig = Rig::gfx12(true);
    rig.execute(&[0xb980_f813, 0]).unwrap(); // s_setreg_imm32_b32 hwreg(HW_REG_TRAP_CTRL), 0
    assert!(refused(&mut rig, &[0xb980_f813, 1]));
    let mut rig = Rig::new(true);
    let mode = [0xb980_3301, 0x7f]; // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0x7f
    rig.execute(&mode).unwrap();
    rig.execute(&[0xb880_f801]).unwrap(); // s_getreg_b32 s0, hwreg(HW_REG_MODE)
    assert_eq!(rig.wave.sgpr(0) >> 12, 0x7f);
    rig.launch.rsrc2 = 1 << 6;
    assert!(refused(&mut rig, &mode));
    // RSRC2.EXCP_EN
    rig.launch.rsrc2 |= 1 << 26;
    let gpu = &crate::profile::gfx1151().gpu;
    let memory = Arc::new(AddressSpace::new());
    let fault = crate::shader::run_on(gpu, &rig.launch, &memory, &Clock(0), 1).unwrap_err();
    assert!(matches!(fault.kind, WaveFaultKind::NotModelled(_)), "{fault:?}");
}

/// Where each lane's element comes from was measured on gfx1201; `flat::transpose` says by whom.
#[test]
fn loads_transpose_blocks_of_eight() {
    // Element e that lane l addresses is 8 l + e.
    let bytes: Vec<u32> = (0..64).map(|dword| 0x0302_0100 + dword * 0x0404_0404).collect();
    let halves: Vec<u32> = (0..128).map(|dword| 0x0001_0000 + dword * 0x0002_0002).collect();
    // global_load_tr_b64 v[2:3], v[0:1], off offset:12 and global_load_tr_b128 v[2:5]
    for (opcode, elements, size) in [(0xee16_007c, bytes, 1), (0xee15_c07c, halves, 2)] {
        let mut rig = Rig::gfx12(true);
        rig.wave.set_mask(EXEC, u64::MAX);
        for lane in 0..32 {
            rig.wave.set_lane(0, lane, CODE as u32 + (8 * size * lane) as u32);
            rig.wave.set_lane(1, lane, (CODE >> 32) as u32);
        }
        let words: Vec<u32> = [opcode, 2, 0xc00].into_iter().chain(elements).collect();
        rig.execute(&words).unwrap();
        for lane in 0..32 {
            for element in 0..8 {
                let (register, shift) = (element * size / 4, 8 * (element * size % 4));
                let value =
                    rig.wave.lane(2 + register, lane) >> shift & (0xffff >> (16 - 8 * size));
                let expected = match size {
                    // `trperm(lane, element)`
                    1 => {
                        let base = (lane & 7) + (lane >> 3 & 1) * 32 + (lane >> 4 & 1) * 128;
                        base + (element & 3) * 8 + (element >> 2 & 1) * 64
                    }
                    // Lane 0 gets columns 0 and 8 of rows 0 to 3 of a 16 × 16 matrix, lane 15 columns 7 and 15 of
                    // rows 4 to 7.
                    _ => (lane / 8 * 4 + element / 2) * 16 + lane % 8 + 8 * (element % 2),
                };
                assert_eq!(value, expected as u32, "{size} {lane} {element}");
            }
        }
        rig.wave.set_mask(EXEC, 1);
        assert!(rig.refusal(&words).contains("with inactive lanes"));
        let mut rig = Rig::gfx12(false);
        rig.wave.set_mask(EXEC, u64::MAX);
        assert!(rig.refusal(&words).contains("in wave64"));
    }
}

#[test]
fn blocks_have_holes() {
    let mut rig = Rig::gfx12(true);
    rig.launch.rsrc1 = 0x3f;
    rig.wave = wave(true);
    rig.wave.set_mask(EXEC, 1);
    rig.wave.set_lane(0, 0, CODE as u32);
    rig.wave.set_lane(1, 0, (CODE >> 32) as u32);
    rig.wave.set_sgpr(M0, 1 << 3 | 1 << 31);
    let mut words = vec![0xee14_c07c, 2, 0]; // global_load_block v[2:33], v[0:1], off
    words.extend(3..40);
    rig.execute(&words).unwrap();
    assert_eq!([2, 4, 5, 6, 33].map(|register| rig.wave.lane(register, 0)), [0, 0, 3, 0, 31]);
}

#[test]
fn workgroup_ids_are_in_trap_temporaries_that_cannot_be_written() {
    let mut rig = Rig::gfx12(true);
    rig.wave.set_architected_ids(7, 0x0003_0002, 5);
    for (word, value) in [(0xbe80_0075, 7), (0xbe80_0073, 0x0003_0002), (0xbe80_0074, 5 << 25)] {
        // s_mov_b32 s0, ttmp9, ttmp7, ttmp8
        rig.execute(&[word]).unwrap();
        assert_eq!(rig.wave.sgpr(0), value);
    }
    rig.wave.set_sgpr(TTMP0 + 9, 1);
    assert_eq!(rig.wave.sgpr(TTMP0 + 9), 7);
}

#[test]
fn scalar_loads_of_less_than_a_dword_extend() {
    let data = [0x8182_8384, 0xffff_7f80];
    for (words, value) in [
        ([0xf401_2101, 0xf800_0001], 0x83), // s_load_u8 s4, s[2:3], 0x1
        ([0xf401_0101, 0xf800_0001], 0xffff_ff83), // s_load_i8
        ([0xf401_4101, 0xf800_0002], 0xffff_8182), // s_load_i16 s4, s[2:3], 0x2
    ] {
        let mut rig = Rig::gfx12(true);
        rig.wave.set_sgpr64(2, CODE + 8);
        rig.execute(&[words[0], words[1], data[0], data[1]]).unwrap();
        assert_eq!(rig.wave.sgpr(4), value);
    }
    let mut rig = Rig::gfx12(true);
    rig.wave.set_sgpr64(2, CODE);
    // s_load_b96 s[4:6], s[2:3], 0x0
    rig.execute(&[0xf400_a101, 0xf800_0000, 3]).unwrap();
    assert_eq!([4, 5, 6, 7].map(|s| rig.wave.sgpr(s)), [0xf400_a101, 0xf800_0000, 3, 0]);
}

#[test]
fn a_byte_beyond_a_buffer_is_zero() {
    // s_buffer_load_u8 s8, s[4:7], 0x10
    for (records, value) in [(0x10, 0), (0x11, 0x5a)] {
        let mut rig = Rig::gfx12(true);
        rig.wave.set_sgpr64(4, CODE);
        rig.wave.set_sgpr(6, records);
        rig.execute(&[0xf403_2202, 0xf800_0010, 0, 0, 0x5a]).unwrap();
        assert_eq!(rig.wave.sgpr(8), value);
    }
}

#[test]
fn scalars_of_64_bits() {
    let mut rig = Rig::gfx12(true);
    rig.wave.set_sgpr64(2, 0x1_0000_0000);
    rig.wave.scc = true;
    rig.execute(&[0xa984_c102]).unwrap(); // s_add_nc_u64 s[4:5], s[2:3], -1
    assert_eq!((rig.wave.sgpr64(4), rig.wave.scc), (0xffff_ffff, true));
    rig.execute(&[0xaa84_8502]).unwrap(); // s_mul_u64 s[4:5], s[2:3], 5
    assert_eq!(rig.wave.sgpr64(4), 0x5_0000_0000);
}

#[test]
fn transcendentals_of_scalars() {
    let mut rig = Rig::gfx12(true);
    rig.wave.set_mask(EXEC, 0);
    rig.wave.set_sgpr(2, single(4.0));
    rig.execute(&[0xd684_0000, 2]).unwrap(); // v_s_rcp_f32 s0, s2
    assert_eq!(rig.wave.sgpr(0), single(0.25));
    rig.wave.set_sgpr(2, 0xffff_4000); // 2.0 in the low half
    rig.execute(&[0xd681_0100, 0x2000_0002]).unwrap(); // v_s_exp_f16 s0, -|s2|
    assert_eq!(rig.wave.sgpr(0), 0x3400);
}

#[test]
fn floats_of_eight_bits() {
    let mut rig = Rig::gfx12(true);
    // v_cvt_f32_fp8_e64 v0, v1 byte_sel:2
    assert_eq!(rig.vector(&[0xd5ec_0800, 0x0000_0101], &[0x00b8_0000]), single(-1.0));
    // v_cvt_pk_f32_bf8_e32 v[0:1], v1
    assert_eq!(rig.vector(&[0x7e00_df01], &[0x3c40]), single(2.0));
    assert_eq!(rig.wave.lane(1, 0), single(1.0));
    // v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]
    rig.wave.set_lane(0, 0, 0x1111_2222);
    let packed = rig.vector(&[0xd769_4000, 0x0002_0501], &[single(1.0), single(-448.0)]);
    assert_eq!(packed, 0xfe38_2222);
    // v_cvt_sr_fp8_f32 v0, v1, v2 byte_sel:2: 1 and the upper 20 random bits; the other bytes stay.
    rig.wave.set_lane(0, 0, 0x1111_2222);
    for (random, byte) in [(0x7fff_ffff, 0x38), (0x8000_1000, 0x39), (0xffff_f000, 0x39)] {
        let bits = rig.vector(&[0xd76b_4000, 0x0002_0501], &[single(1.0), random]);
        assert_eq!(bits, 0x1100_2222 | byte << 16);
    }
    // v_cvt_sr_bf8_f32 v0, v1, v2: the upper 21.
    for (random, byte) in [(0x7fff_ffff, 0x3c), (0x8000_0800, 0x3d)] {
        let bits = rig.vector(&[0xd76c_0000, 0x0002_0501], &[single(1.0), random]);
        assert_eq!(bits & 0xff, byte);
    }
    // v_dot4_f32_fp8_bf8 v0, v1, v2, v3: 1, 2, -1, 0.5 by 1, 1, 2, 4
    let sources = [0x30b8_4038, 0x4440_3c3c, single(10.0)];
    assert_eq!(rig.vector(&[0xcc24_4000, 0x1c0e_0501], &sources), single(13.0));
}

#[test]
fn minima_by_their_rules_of_nan() {
    let (quiet, signalling) = (0x7fc0_0001, 0x7f80_0001);
    let mut rig = Rig::gfx12(true);
    // v_min_num_f32 v0, v1, v2; IEEE mode does not exist.
    assert_eq!(rig.vector(&[0x2a00_0501], &[signalling, single(1.0)]), single(1.0));
    assert_eq!(rig.vector(&[0x2a00_0501], &[signalling, quiet]), quiet);
    // v_minimum_f32 v0, v1, v2
    assert_eq!(rig.vector(&[0xd765_0000, 0x0002_0501], &[single(1.0), quiet]), quiet);
    // v_pk_maximum_f16 v0, v1, v2
    let maxima = rig.vector(&[0xcc1e_4000, 0x1802_0501], &[0x7e01_3c00, 0x4000_bc00]);
    assert_eq!(maxima, 0x7e01_3c00);
}

#[test]
fn atomics_of_lds() {
    // The first qword of LDS before, the operand, the first dword after.
    for (word, before, operand, after) in [
        (0xdaa0_0000, 5, 6, 5), // ds_cond_sub_rtn_u32 v0, v1, v2
        (0xdaa0_0000, 6, 6, 0),
        (0xdaa8_0000, 0x3c00_4000, 0x3c00_3c00, 0x4000_4200), // ds_pk_add_rtn_f16
        (0xd8c8_0000, 0x7f80_0001, single(2.0), single(2.0)), // ds_min_num_rtn_f32
        (0xd8c8_0000, 0, 1 << 31, 1 << 31),
    ] {
        let mut rig = Rig::gfx12(true);
        rig.lds.store32(0, before);
        assert_eq!(rig.vector(&[word, 0x0000_0201], &[0, operand]), before);
        assert_eq!(rig.lds.load32(0), after, "{word:#x}");
    }
}

#[test]
fn permutations_reach_all_64_lanes() {
    // ds_bpermute_b32 v0, v1, v2
    for (make, expected) in [(Rig::gfx12 as fn(bool) -> Rig, 45), (Rig::new, 13)] {
        let mut rig = make(false);
        rig.wave.set_mask(EXEC, u64::MAX);
        for lane in 0..64 {
            rig.wave.set_lane(1, lane, 4 * 45);
            rig.wave.set_lane(2, lane, lane as u32);
        }
        rig.execute(&[0xdacc_0000, 0x0000_0201]).unwrap();
        assert_eq!(rig.wave.lane(0, 3), expected);
    }
}

#[test]
fn packed_results_of_matrices() {
    let mut rig = Rig::gfx12(true);
    rig.launch.rsrc1 = 0x3f;
    rig.wave = wave(true);
    rig.wave.mode = Mode::without_switches(DENORMALS);
    for lane in 0..LANES {
        // Row m of A is all m, B is all 1, C is all 0.5.
        let row = [0x0000, 0x3c00, 0x4000, 0x4200][lane % 4];
        for register in 0..4 {
            rig.wave.set_lane(4 + register, lane, row | row << 16);
            rig.wave.set_lane(8 + register, lane, 0x3c00_3c00);
            rig.wave.set_lane(12 + register, lane, 0x3800_3800);
        }
    }
    // v_wmma_f16_16x16x16_f16 v[0:3], v[4:7], v[8:11], v[12:15]
    rig.execute(&[0xcc42_4000, 0x1c32_1104]).unwrap();
    // 0.5, 16.5, 32.5, 48.5
    for lane in 0..LANES {
        for register in 0..4 {
            let value = [0x4c20_3800, 0x5210_5010][register % 2];
            assert_eq!(rig.wave.lane(register, lane), value);
        }
    }
}

#[test]
fn a_buffer_in_misaligned_registers_is_refused() {
    // buffer_load_b32 v0, off, s[8:11], null, but from s9
    let text = Rig::gfx12(true).refusal(&[0xc405_007c, 0x0080_1200, 0]);
    assert_eq!(text, "BUFFER_LOAD_B32 of 4 SGPRs from s9, which is not a multiple of 4");
}

/// A wave with all registers.
fn wave(wave32: bool) -> Wave {
    Wave::new(wave32, Traits::of(Target::Gfx1201), Registers { vgprs: 256, all: 256 })
}
