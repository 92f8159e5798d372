//! Rules of single instructions. Words are those of LLVM's assembler.

mod accesses;
mod addresses;
mod atomics;
mod buffers;
mod code;
mod coverage;
mod floats;
mod gfx10;
mod gfx12;
mod gfx9;
mod gfx950;
mod lanes;
mod matrices;
mod refused;
mod scalars;
mod shares;
mod wmma;

use super::barrier::Barriers;
use super::code::{Code, InstructionCache};
use super::generation::Traits;
use super::lds::Lds;
use super::mode::Mode;
use super::wave::{EXEC, Env, M0, Stop, VCC, Wave};
use super::{Launch, Outside, WaveFaultKind};
use crate::memory::{Access, AddressSpace, Backing, FaultReason, MemoryFault, Permissions, View};
use amdgpu_isa::Target;
use std::sync::Arc;

const CODE: u64 = 0x1_0000_0000;
/// Where `Rig::memory` is.
const DATA: u64 = 0x2_0000_0000;
const SHARED: u32 = 1 << 16;
const PRIVATE: u32 = 2 << 16;
/// FP_DENORM: all kept.
const DENORMALS: u32 = 0xf0;
/// FP_ROUND of f32: towards +∞.
const UP: u32 = 1;
const IEEE: u32 = 1 << 9;

/// A GPU whose counter stands still.
struct Clock(u64);

impl Outside for Clock {
    fn is_stopped(&self) -> bool {
        false
    }

    fn clock(&self) -> u64 {
        self.0
    }
}

/// A wave and what it runs on.
struct Rig {
    target: Target,
    launch: Launch,
    wave: Wave,
    lds: Lds,
    barriers: Barriers,
    /// A page at `DATA`.
    memory: Arc<Backing>,
}

impl Rig {
    fn new(wave32: bool) -> Rig {
        Rig::on(Target::Gfx1151, wave32)
    }

    fn on(target: Target, wave32: bool) -> Rig {
        let launch = Launch {
            program: CODE,
            rsrc1: 1,
            rsrc2: 0,
            rsrc3: 0,
            wave32,
            user_data: [0; 32],
            grid: [64, 1, 1],
            start: [0; 3],
            workgroup: [64, 1, 1],
            lds_bytes: 64,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: SHARED,
            private_aperture_hi: PRIVATE,
            trap_handler: None,
        };
        let traits = Traits::of(target);
        let mut wave = Wave::new(wave32, traits, traits.registers(&launch));
        wave.mode = Mode::from_bits(DENORMALS);
        wave.set_mask(EXEC, 1);
        let mut lds = Lds::default();
        lds.reset(64, 0);
        let memory = Arc::new(Backing::zeroed(4096));
        Rig { target, launch, wave, lds, barriers: Barriers::new(1), memory }
    }

    /// With all the registers that its generation can allocate.
    fn whole(target: Target, wave32: bool) -> Rig {
        let mut rig = Rig::on(target, wave32);
        (rig.launch.rsrc1, rig.launch.rsrc3) = (0x3f, 0x3f);
        let mode = rig.wave.mode;
        rig.wave = Wave::new(wave32, rig.wave.traits, rig.wave.traits.registers(&rig.launch));
        rig.wave.mode = mode;
        rig.wave.set_mask(EXEC, 1);
        rig
    }

    /// One of gfx12.
    fn gfx12(wave32: bool) -> Rig {
        let mut rig = Rig::on(Target::Gfx1201, wave32);
        rig.wave.mode = Mode::without_switches(DENORMALS);
        rig
    }

    /// Executes one instruction.
    fn execute(&mut self, words: &[u32]) -> Result<(), Stop> {
        let space = Arc::new(AddressSpace::new());
        let backing = Arc::new(Backing::zeroed(4096));
        for (offset, &word) in (0..).step_by(4).zip(words) {
            backing.store_u32(offset, word);
        }
        assert!(space.map(CODE, 4096, backing, 0, Permissions::READ | Permissions::EXECUTE));
        let data = Arc::clone(&self.memory);
        assert!(space.map(DATA, 4096, data, 0, Permissions::READ | Permissions::WRITE));
        let mut memory = View::new(space);
        let cache = InstructionCache::default();
        let mut code = Code::new(self.target, &self.launch, &cache);
        let op = code.at(CODE, &mut memory)?;
        let mut env = Env {
            memory: &mut memory,
            lds: &mut self.lds,
            barriers: &mut self.barriers,
            launch: &self.launch,
            outside: &Clock(0x1_2345_6789),
            wide: false,
            invalidate_code: false,
        };
        match self.wave.indexes {
            false => (op.run)(&mut self.wave, op, &mut env),
            true => super::indexed::run(&mut self.wave, op, &mut env),
        }
    }

    /// Executes one instruction on VGPRs 1 to 5 and tells VGPR 0 of lane 0.
    fn vector(&mut self, words: &[u32], sources: &[u32]) -> u32 {
        for (register, &value) in (1..).zip(sources) {
            self.wave.set_lane(register, 0, value);
        }
        self.execute(words).expect("no fault");
        self.wave.lane(0, 0)
    }

    fn refusal(&mut self, words: &[u32]) -> String {
        match self.execute(words) {
            Err(Stop::Fault(kind)) => match *kind {
                WaveFaultKind::NotModelled(text) => text,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn violation(&mut self, words: &[u32]) -> MemoryFault {
        match self.execute(words) {
            Err(Stop::Fault(kind)) => match *kind {
                WaveFaultKind::MemoryViolation(fault) => fault,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_literal_of_64_bits_extends_by_the_operands_type() {
    let mut rig = Rig::new(true);
    // s_ashr_i64 s[2:3], 0x80000000, 4
    rig.execute(&[0x8682_84ff, 0x8000_0000]).expect("no fault");
    assert_eq!(rig.wave.sgpr64(2), 0xffff_ffff_f800_0000);
    // s_lshr_b64 s[2:3], 0x80000000, 4
    rig.execute(&[0x8582_84ff, 0x8000_0000]).expect("no fault");
    assert_eq!(rig.wave.sgpr64(2), 0x0800_0000);
}

#[test]
fn apertures_are_scalar_operands() {
    let mut rig = Rig::new(true);
    // s_and_b64 s[2:3], src_shared_base, -1
    rig.execute(&[0x8b82_c1eb]).expect("no fault");
    assert_eq!(rig.wave.sgpr64(2), u64::from(SHARED) << 32);
    // s_cmp_eq_u64 src_private_limit, s[4:5]
    rig.wave.set_sgpr64(4, u64::from(PRIVATE) << 32 | 0xffff_ffff);
    rig.execute(&[0xbf10_04ee]).expect("no fault");
    assert!(rig.wave.scc);
    // s_mov_b32 s2, src_shared_limit
    rig.execute(&[0xbe82_00ec]).expect("no fault");
    assert_eq!(rig.wave.sgpr(2), u32::MAX);
}

#[test]
fn trap_temporaries_exist_in_the_trap_handler_only() {
    let mut rig = Rig::new(true);
    rig.wave.privileged = true;
    rig.execute(&[0xbeef_0087]).expect("no fault"); // s_mov_b32 ttmp3, 7
    rig.execute(&[0xbe82_006f]).expect("no fault"); // s_mov_b32 s2, ttmp3
    assert_eq!(rig.wave.sgpr(2), 7);
    rig.wave.privileged = false;
    rig.execute(&[0xbe82_006f]).expect("no fault"); // s_mov_b32 s2, ttmp3
    assert_eq!(rig.wave.sgpr(2), 0);
    rig.wave.set_sgpr(3, 1);
    rig.execute(&[0xbe82_016e]).expect("no fault"); // s_mov_b64 s[2:3], ttmp[2:3]
    assert_eq!(rig.wave.sgpr64(2), 0);
    rig.wave.set_sgpr(111, 8);
    rig.wave.privileged = true;
    assert_eq!(rig.wave.sgpr(111), 7);
}

#[test]
fn dual_issue_is_for_wave32() {
    // v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2
    let words = [0xca10_0101, 0x0002_0102];
    assert_eq!(Rig::new(true).vector(&words, &[9, 8]), 9);
    assert!(Rig::new(false).refusal(&words).contains("VOPD"));
}

#[test]
fn tuples_of_scalar_registers_are_aligned() {
    // The words of aligned ones, with the register's number one, or for longer tuples two, more.
    for (words, what) in [
        (&[0x8480_8103][..], "s_lshl_b64 s[0:1], s[3:4], 1"),
        (&[0x8481_8102], "s_lshl_b64 s[1:2], s[2:3], 1"),
        (&[0xbe83_016e], "s_mov_b64 s[3:4], ttmp[2:3]"),
        (&[0xf404_00c2, 0xf800_0000], "s_load_b64 s[3:4], s[4:5], 0"),
        (&[0xf408_0182, 0xf800_0000], "s_load_b128 s[6:9], s[4:5], 0"),
        (&[0xdc52_0000, 0x0003_0001], "global_load_b32 v0, v1, s[3:4]"),
    ] {
        let text = Rig::new(true).refusal(words);
        assert!(text.contains("not a multiple of"), "{what}: {text}");
    }
    for (words, what) in [
        ([0xd501_0000, 0x0016_0501], "v_cndmask_b32 v0, v1, v2, s[5:6]"),
        ([0xd44a_0003, 0x0002_0300], "v_cmp_eq_u32 s[3:4], v0, v1"),
    ] {
        assert!(Rig::new(true).execute(&words).is_ok(), "{what}: one register in wave32");
        let text = Rig::new(false).refusal(&words);
        assert!(text.contains("not a multiple of 2"), "{what}: {text}");
    }
}

#[test]
fn relative_pairs_of_scalar_registers_are_aligned() {
    let mut rig = Rig::new(true);
    let words = [0xbe82_4104]; // s_movrels_b64 s[2:3], s[4:5]
    rig.wave.set_sgpr(M0, 2);
    rig.wave.set_sgpr64(6, 9);
    rig.execute(&words).expect("no fault");
    assert_eq!(rig.wave.sgpr64(2), 9);
    rig.wave.set_sgpr(M0, 1);
    assert!(rig.refusal(&words).contains("s5"));
}

#[test]
fn output_modifiers_count_without_ieee_mode_and_denormals_only() {
    // v_add_f32 v0, v1, v2 mul:2
    let words = [0xd503_0000, 0x0802_0501];
    let [one, two, four] = [1f32, 2.0, 4.0].map(f32::to_bits);
    for (mode, sum) in [(0, four), (IEEE, two), (DENORMALS, two), (DENORMALS | IEEE, two)] {
        let mut rig = Rig::new(true);
        rig.wave.mode = Mode::from_bits(mode);
        assert_eq!(rig.vector(&words, &[one, one]), sum, "{mode:#x}");
    }
    // v_add_f16 v0, v1, v2 mul:2
    for (mode, sum) in [(0, 0x4400), (IEEE, 0x4000)] {
        let mut rig = Rig::new(true);
        rig.wave.mode = Mode::from_bits(mode);
        assert_eq!(rig.vector(&[0xd532_0000, 0x0802_0501], &[0x3c00, 0x3c00]), sum, "{mode:#x}");
    }
}

#[test]
fn multiply_add_with_dx9_zero_rounds_as_mode_asks() {
    let [zero, one, infinite] = [0f32, 1.0, f32::INFINITY].map(f32::to_bits);
    let tiny = 2f32.powi(-40).to_bits();
    let mut rig = Rig::new(true);
    rig.wave.mode = Mode::from_bits(DENORMALS | UP);
    // v_fma_dx9_zero_f32 v0, v1, v2, v3
    let words = [0xd609_0000, 0x040e_0501];
    assert_eq!(rig.vector(&words, &[tiny, tiny, one]), one + 1);
    assert_eq!(rig.vector(&words, &[zero, infinite, one]), one);
    // v_fmac_dx9_zero_f32 v0, v1, v2
    let words = [0x0c00_0501];
    assert_eq!(rig.vector(&words, &[tiny, tiny]), one + 1);
    assert_eq!(rig.vector(&words, &[infinite, zero]), one + 1);
}

#[test]
fn differences_keep_the_nan_of_an_operand() {
    let one = 1f32.to_bits();
    for nan in [0x7fc0_0001u32, 0xffc0_0001, 0x7f80_0001] {
        let quiet = nan | 0x0040_0000;
        for mode in [DENORMALS, 0, DENORMALS | UP] {
            let mut rig = Rig::new(true);
            rig.wave.mode = Mode::from_bits(mode);
            // v_sub_f32 v0, v1, v2; v_subrev_f32 v0, v1, v2
            assert_eq!(rig.vector(&[0x0800_0501], &[one, nan]), quiet);
            assert_eq!(rig.vector(&[0x0a00_0501], &[nan, one]), quiet);
            // v_dual_sub_f32 v0, v1, v2 :: v_dual_subrev_f32 v3, v2, v1
            assert_eq!(rig.vector(&[0xc94c_0501, 0x0002_0302], &[one, nan]), quiet);
            assert_eq!(rig.wave.lane(3, 0), quiet);
            // s_sub_f32 s2, s3, s4
            rig.wave.set_sgpr64(2, u64::from(one) << 32);
            rig.wave.set_sgpr(4, nan);
            rig.execute(&[0xa082_0403]).expect("no fault");
            assert_eq!(rig.wave.sgpr(2), quiet);
        }
    }
    let mut rig = Rig::new(true);
    // v_sub_f16 v0, v1, v2; s_sub_f16 s2, s3, s4
    assert_eq!(rig.vector(&[0x6600_0501], &[0x3c00, 0xfe01]), 0xfe01);
    rig.wave.set_sgpr(3, 0x3c00);
    rig.wave.set_sgpr(4, 0x7c01);
    rig.execute(&[0xa502_0403]).expect("no fault");
    assert_eq!(rig.wave.sgpr(2), 0x7e01);
}

#[test]
fn atomic_sums_give_the_devices_nan() {
    let mut rig = Rig::new(true);
    let (up, down) = (f32::INFINITY.to_bits(), f32::NEG_INFINITY.to_bits());
    for (old, operand, sum) in [(up, down, 0x7fc0_0000), (0xff80_0001, up, 0xffc0_0001)] {
        rig.lds.store32(0, old);
        rig.vector(&[0xd854_0000, 0x0000_0100], &[operand]); // ds_add_f32 v0, v1
        assert_eq!(rig.lds.load32(0), sum);
    }
}

#[test]
fn misaligned_atomics_are_memory_violations_everywhere() {
    let violation =
        |address| MemoryFault { address, access: Access::Atomic, reason: FaultReason::Misaligned };
    let shared = u64::from(SHARED) << 32;
    for (words, offset) in [
        ([0xd800_0000, 0x0000_0100], 2),  // ds_add_u32 v0, v1
        ([0xd900_0000, 0x0000_0200], 4),  // ds_add_u64 v0, v[2:3]
        ([0xdcd4_0000, 0x007c_0200], 10), // flat_atomic_add_u32 v[0:1], v2
        ([0xdd0c_0000, 0x007c_0200], 12), // flat_atomic_add_u64 v[0:1], v[2:3]
    ] {
        let mut rig = Rig::new(true);
        rig.wave.set_lane(0, 0, offset);
        rig.wave.set_lane(1, 0, SHARED);
        assert_eq!(rig.violation(&words), violation(shared + u64::from(offset)));
    }
    let mut rig = Rig::new(true);
    rig.wave.scratch = 0x5000;
    rig.wave.set_lane(0, 0, 2);
    rig.wave.set_lane(1, 0, PRIVATE);
    assert_eq!(rig.violation(&[0xdcd4_0000, 0x007c_0200]), violation(0x5002));
}

#[test]
fn the_real_time_counter_is_the_machines() {
    let mut rig = Rig::new(true);
    // s_sendmsg_rtn_b64 s[2:3], sendmsg(MSG_RTN_GET_REALTIME)
    rig.execute(&[0xbe82_4d83]).expect("no fault");
    assert_eq!(rig.wave.sgpr64(2), 0x1_2345_6789);
}

#[test]
fn constant_offsets_of_buffers() {
    let mut rig = Rig::new(true);
    // The buffer is the code.
    rig.wave.set_sgpr64(0, CODE);
    rig.wave.set_sgpr64(2, 3 << (32 + 28) | 64);
    let words = [0xe050_0000, 0x8840_0001, 1, 2, 3, 4]; // buffer_load_b32 v0, v1, s[0:3], 8 offen
    assert_eq!(rig.vector(&words, &[4]), 2);
}

#[test]
fn nothing_is_left_of_an_earlier_wave_but_the_fill() {
    let mut rig = Rig::new(true);
    rig.wave.set_sgpr(5, 1);
    rig.wave.set_lane(3, 7, 1);
    rig.lds.store32(8, 1);
    rig.wave.reset(0x7ffd_7ffd);
    rig.lds.reset(66, 0x7ffd_7ffd);
    assert_eq!([5, VCC, 0].map(|code| rig.wave.sgpr(code)), [0x7ffd_7ffd; 3]);
    assert_eq!(rig.wave.lane(3, 7), 0x7ffd_7ffd);
    assert_eq!([0, 8, 60].map(|at| rig.lds.load32(at)), [0x7ffd_7ffd; 3]);
    assert_eq!(rig.wave.sgpr64(super::wave::NULL), 0);
}
