//! Dispatches.

use super::*;
use crate::cp::QueueError;

/// Address of the code.
const PROGRAM: u64 = CODE + 0x100;
/// MEM_ORDERED.
const RSRC1: u32 = 1 << 30;
/// Four user SGPRs and the workgroup's number in x.
const RSRC2: u32 = 4 << 1 | 1 << 7;

/// Every lane adds 1 to the dword at the first argument plus 4 × its number:
/// s_load_b64 s[2:3], s[0:1], 0x0; v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2, 1; s_waitcnt lgkmcnt(0);
/// global_atomic_add_u32 v1, v2, s[2:3]; s_waitcnt_vscnt null, 0x0; s_endpgm
#[rustfmt::skip]
const COUNT: &[u32] = &[
    0xf404_0080, 0xf800_0000, 0x3002_0082, 0x7e04_0281, 0xbf89_fc07, 0xdcd6_0000, 0x0002_0201, 0xbc7c_0000,
    0xbfb0_0000,
];

/// A dispatch, dword by dword as tinygrad writes it on gfx11.5 (pm4/tests/data/packets, sequences.txt, `dispatch`), but
/// for addresses, sizes and registers.
#[rustfmt::skip]
pub(super) fn dispatch([x, y, z]: [u32; 3], workgroup: [u32; 3], initiator: u32) -> Vec<u32> {
    let code = PROGRAM >> 8;
    vec![
        0xc006_5800, 0, 0xffff_ffff, 0xffff_ffff, 0, 0, 0, 0x3f0,
        0xc002_7600, 0x20c, low(code), high(code),
        0xc002_7600, 0x212, RSRC1, RSRC2,
        0xc001_7600, 0x228, 0x10,
        0xc001_7600, 0x218, 0,
        0xc002_7600, 0x210, 0, 0,
        0xc003_7600, 0x21b, 0, 0, 0,
        0xc002_7600, 0x240, low(DATA), high(DATA),
        0xc001_7600, 0x215, 0,
        0xc008_7600, 0x204, 0, 0, 0, workgroup[0], workgroup[1], workgroup[2], 0, 0,
        0xc003_1500, x, y, z, initiator,
        0xc000_4600, 0x407,
    ]
}

/// COMPUTE_SHADER_EN, FORCE_START_AT_000, CS_W32_EN.
pub(super) const TINYGRAD: u32 = 0x8005;

pub(super) fn rig(code: &[u32]) -> Rig {
    let rig = Rig::new();
    rig.load(code, |_| ());
    rig.write_u64(DATA, DATA + 256);
    rig
}

fn counts(pm4: &Pm4, lanes: u64) -> Vec<u32> {
    (0..lanes).map(|lane| pm4.rig.read_u32(DATA + 256 + 4 * lane)).collect()
}

#[test]
fn tinygrads_dispatch() {
    let mut pm4 = Pm4::on(rig(COUNT));
    pm4.run(&dispatch([5, 6, 7], [64, 2, 1], TINYGRAD));
    let statistics = pm4.queue.statistics();
    assert_eq!((statistics.dispatches, statistics.waves), (1, 5 * 6 * 7 * 4));
    let mut expected = vec![5 * 6 * 7 * 2; 64];
    expected.push(0);
    assert_eq!(counts(&pm4, 65), expected);
}

/// The fence that follows a dispatch is written after its stores; nobody waits otherwise.
#[test]
fn a_fence_follows_the_stores() {
    for round in 1..50u32 {
        let mut pm4 = Pm4::on(rig(COUNT));
        let fence = DATA + 16;
        let mut words = dispatch([40, 1, 1], [32, 1, 1], TINYGRAD);
        words.extend([0xc006_4900, 0x0070_f514, 0x2000_0000, low(fence), 0, round, 0, 0]);
        pm4.submit(&words);
        let deadline = Instant::now() + Duration::from_secs(20);
        while pm4.rig.read_u32(fence) != round {
            assert!(Instant::now() < deadline, "no fence");
            std::hint::spin_loop();
        }
        assert_eq!(counts(&pm4, 32), [40; 32]);
    }
}

#[test]
fn registers_last() {
    let mut pm4 = Pm4::on(rig(COUNT));
    pm4.run(&dispatch([1, 1, 1], [32, 1, 1], TINYGRAD));
    pm4.run(&[0xc003_1500, 2, 1, 1, TINYGRAD]);
    pm4.run(&[0xc001_7600, 0x207, 16, 0xc003_1500, 4, 1, 1, TINYGRAD]);
    assert_eq!((counts(&pm4, 16), pm4.rig.read_u32(DATA + 256 + 64)), (vec![7; 16], 3));
    // An empty grid is none.
    pm4.run(&[0xc003_1500, 0, 1, 1, TINYGRAD]);
    assert_eq!(pm4.queue.statistics().dispatches, 3);
}

/// kfdtest's initiator: dimensions in work-items, the last workgroup as large as what is left.
#[test]
fn dimensions_in_work_items() {
    let mut pm4 = Pm4::on(rig(COUNT));
    pm4.run(&dispatch([70, 1, 1], [32, 1, 1], 0x8021));
    let mut expected = vec![3; 6];
    expected.extend([2; 26]);
    assert_eq!(counts(&pm4, 32), expected);
}

#[test]
fn last_workgroups_may_be_smaller() {
    let mut pm4 = Pm4::on(rig(COUNT));
    // NUM_THREAD_PARTIAL is looked at with PARTIAL_TG_EN alone.
    pm4.run(&dispatch([3, 1, 1], [32 | 6 << 16, 1 | 1 << 16, 1 | 1 << 16], TINYGRAD));
    assert_eq!(counts(&pm4, 32), [3; 32]);
    pm4.run(&[0xc003_1500, 3, 1, 1, TINYGRAD | 2]);
    let mut expected = vec![6; 6];
    expected.extend([5; 26]);
    assert_eq!(counts(&pm4, 32), expected);
}

#[test]
fn sizes_from_memory() {
    let mut pm4 = Pm4::on(rig(COUNT));
    let size = DATA + 32;
    pm4.buffer(size, &[3, 2, 1]);
    let mut words = dispatch([1, 1, 1], [32, 1, 1], TINYGRAD);
    words.extend([0xc002_1600, low(size), high(size), TINYGRAD]);
    pm4.run(&words);
    assert_eq!(counts(&pm4, 32), [7; 32]);
    // Graphics queues' form, by an offset.
    pm4.submit(&[0xc001_1600, 0, TINYGRAD]);
    let text = pm4.fault().error.to_string();
    assert!(text.contains("DISPATCH_INDIRECT"), "{text}");
}

#[test]
fn waves_of_64() {
    let mut pm4 = Pm4::on(rig(COUNT));
    pm4.run(&dispatch([1, 1, 1], [64, 1, 1], 5));
    assert_eq!(pm4.queue.statistics().waves, 1);
    assert_eq!(counts(&pm4, 64), [1; 64]);
}

/// The same kernel of other generations (llvm-mc-19; gfx90a and gfx12 have x in the low 10 bits of v0).
#[rustfmt::skip]
const COUNTS: [(&str, u32, &[u32]); 4] = [
    ("gfx906", 90_006, &[
        0xc006_0080, 0x0000_0000, 0x2402_0082, 0x7e04_0281, 0xbf8c_c07f, 0xdd08_8000, 0x0002_0201,
        0xbf8c_0f70, 0xbf81_0000,
    ]),
    ("gfx90a", 90_010, &[
        0xc006_0080, 0x0000_0000, 0x2602_00ff, 0x0000_03ff, 0x2402_0282, 0x7e04_0281, 0xbf8c_c07f,
        0xdd08_8000, 0x0002_0201, 0xbf8c_0f70, 0xbf81_0000,
    ]),
    ("gfx1030", 100_300, &[
        0xf404_0080, 0xfa00_0000, 0x3402_0082, 0x7e04_0281, 0xbf8c_c07f, 0xdcc8_8000, 0x0002_0201,
        0xbbfd_0000, 0xbf81_0000,
    ]),
    ("gfx1201", 120_001, &[
        0xf400_2080, 0xf800_0000, 0x3602_00ff, 0x0000_03ff, 0x3002_0282, 0x7e04_0281, 0xbfc7_0000,
        0xee0d_4002, 0x0100_0000, 0x0000_0001, 0xbfc1_0000, 0xbfb0_0000,
    ]),
];

/// Where generations differ: ACQUIRE_MEM's length, RSRC3's address, sizes of waves.
#[test]
fn every_generation_dispatches() {
    for (name, gfx_target_version, code) in COUNTS {
        let is_gfx9 = gfx_target_version < 100_000;
        let rig = Rig::of(Gpu { name, gfx_target_version, ..gfx1151() });
        rig.load(code, |_| ());
        rig.write_u64(DATA, DATA + 256);
        let mut pm4 = Pm4::on(rig);
        let initiator = if is_gfx9 { 5 } else { TINYGRAD };
        let mut words = dispatch([3, 2, 1], [64, 1, 1], initiator);
        if is_gfx9 {
            words.splice(..8, [0xc005_5800, 0x0840_0000, 0xffff_ffff, 0xffff_ffff, 0, 0, 10]);
            let rsrc3 = words.iter().position(|&word| word == 0x228).unwrap();
            words[rsrc3] = 0x22d;
            if gfx_target_version == 90_006 {
                // It has none.
                words.drain(rsrc3 - 1..rsrc3 + 2);
            } else {
                // ACCUM_OFFSET: VGPR 4.
                words[rsrc3 + 1] = 0;
            }
        }
        pm4.run(&words);
        let waves = if is_gfx9 { 6 } else { 12 };
        assert_eq!(pm4.queue.statistics().waves, waves, "{name}");
        assert_eq!(counts(&pm4, 64), [6; 64], "{name}");
        assert_eq!(pm4.rig.host.told(), [], "{name}");
    }
}

/// Every lane stores 77 to scratch and what it loads from there to its dword of the result: s_load_b64 s[2:3], s[0:1],
/// 0x0; v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2, 77; scratch_store_b32 off, v2, off offset:4; s_waitcnt_vscnt null, 0x0;
/// scratch_load_b32 v3, off, off offset:4; s_waitcnt vmcnt(0) lgkmcnt(0); global_store_b32 v1, v3, s[2:3]; s_endpgm
#[rustfmt::skip]
const SCRATCH: &[u32] = &[
    0xf404_0080, 0xf800_0000, 0x3002_0082, 0x7e04_02ff, 0x0000_004d, 0xdc69_0004, 0x007c_0200, 0xbc7c_0000,
    0xdc51_0004, 0x037c_0000, 0xbf89_0007, 0xdc6a_0000, 0x0002_0301, 0xbfb0_0000,
];

#[test]
fn scratch_is_where_the_registers_say() {
    let base = DATA + 0x400;
    let set = |waves: u32| {
        let mut words = dispatch([1, 1, 1], [32, 1, 1], TINYGRAD);
        let at = words.len() - 7;
        // SCRATCH_EN; waves of a shader engine and 256 bytes each; where.
        #[rustfmt::skip]
        let scratch = [
            0xc001_7600, 0x213, RSRC2 | 1,
            0xc001_7600, 0x218, waves | 1 << 12,
            0xc002_7600, 0x210, low(base >> 8), high(base >> 8),
        ];
        words.splice(at..at, scratch);
        words
    };
    let mut pm4 = Pm4::on(rig(SCRATCH));
    pm4.run(&set(2));
    assert_eq!(counts(&pm4, 32), [77; 32]);
    let stored = (0..256).filter(|at| pm4.rig.read_u32(base + 4 * at) == 77).count();
    assert_eq!(stored, 32, "32 lanes, in the scratch of one wave");
    let mut pm4 = Pm4::on(rig(SCRATCH));
    pm4.submit(&set(0));
    let text = pm4.fault().error.to_string();
    assert!(text.contains("there is scratch for 0"), "{text}");
}

/// The same with LDS: s_load_b64 s[2:3], s[0:1], 0x0; v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2, 77; ds_store_b32 v1, v2;
/// s_waitcnt lgkmcnt(0); ds_load_b32 v3, v1; s_waitcnt lgkmcnt(0); global_store_b32 v1, v3, s[2:3]; s_endpgm
#[rustfmt::skip]
const LDS: &[u32] = &[
    0xf404_0080, 0xf800_0000, 0x3002_0082, 0x7e04_02ff, 0x0000_004d, 0xd834_0000, 0x0000_0201, 0xbf89_fc07,
    0xd8d8_0000, 0x0300_0001, 0xbf89_fc07, 0xdc6a_0000, 0x0002_0301, 0xbfb0_0000,
];

/// Nobody but the packets says how much LDS there is: without any, loads give 0.
#[test]
fn lds_is_as_large_as_rsrc2_says() {
    let set = |granules: u32| {
        let mut words = with(0x213, RSRC2 | granules << 15);
        let workgroup = words.iter().position(|&word| word == 0x204).unwrap() + 4;
        words[workgroup] = 160;
        words
    };
    let mut pm4 = Pm4::on(rig(LDS));
    pm4.run(&set(0));
    assert_eq!(counts(&pm4, 160), [0; 160]);
    // 128 dwords.
    pm4.run(&set(1));
    let mut expected = vec![77; 128];
    expected.extend([0; 32]);
    assert_eq!(counts(&pm4, 160), expected);
}

/// Changes a register before the dispatch.
fn with(register: u32, value: u32) -> Vec<u32> {
    let mut words = dispatch([1, 1, 1], [32, 1, 1], TINYGRAD);
    let at = words.len() - 7;
    words.splice(at..at, [0xc001_7600, register, value]);
    words
}

/// Of what does not fit hardware says nothing; it waits until Linux resets the GPU.
#[test]
fn what_fits_nowhere_hangs() {
    let cases = [
        // LDS_SIZE: 65 KiB in units of 512 bytes.
        (
            0x213,
            RSRC2 | 130 << 15,
            "group segment of 66560 bytes: a workgroup can have at most 65536",
        ),
        // 1024 work-items of 256 VGPRs.
        (0x207, 1024, "32 waves of 264 VGPRs: a workgroup can have at most 10 waves of this kind"),
        (0x207, 1025, "workgroup [1025, 1, 1]: there must be 1 to 1024 work-items"),
        (0x207, 0, "workgroup [0, 1, 1]: there must be 1 to 1024 work-items"),
    ];
    for (register, value, error) in cases {
        let mut pm4 = Pm4::on(rig(COUNT));
        pm4.run(&[0xffff_1000]);
        let mut words = with(register, value);
        // RSRC1: all VGPRs.
        words.splice(14..15, [RSRC1 | 0x1f]);
        pm4.submit(&words);
        assert_eq!(pm4.fault().error.to_string(), error);
        wait_for("the hang", || pm4.rig.host.told() == [Told::Hang]);
        let told = pm4.rig.host.refused.lock().unwrap().join("");
        assert!(told.contains("after a hang"), "{told}");
    }
}

#[test]
fn what_is_not_modelled_is_refused_before_it_runs() {
    let cases = [
        (with(0x21e, 1), "register COMPUTE_THREAD_TRACE_ENABLE=0x00000001"),
        (with(0x21b, 1), "register COMPUTE_RESTART_X=0x00000001"),
        (with(0x8, 1), "register 0x2c08="),
        (with(0x213, 17 << 1), "17 user SGPRs"),
        (dispatch([1, 1, 1], [32, 1, 1], 0x8004), "COMPUTE_SHADER_EN"),
        (dispatch([1, 1, 1], [32, 1, 1], 0x800d), "appending to GDS"),
        (dispatch([1, 1, 1], [32, 1, 1], 0x8007), "last workgroups of 0 of 32 work-items"),
        (dispatch([u32::MAX, 1, 1], [32, 1, 1], TINYGRAD), "work-items in a dimension"),
        (from([1, 0, 0], TINYGRAD & !4 | 0x20), "a grid in work-items that starts elsewhere"),
        (vec![0xc001_7900, 0xd20, 1], "register "),
        (vec![0xc001_6800, 0x20, 1], "SET_CONFIG_REG"),
    ];
    for (words, what) in cases {
        let mut pm4 = Pm4::on(rig(COUNT));
        pm4.submit(&words);
        let fault = pm4.fault();
        assert!(matches!(fault.error, QueueError::NotModelled { .. }), "{fault}");
        let text = fault.error.to_string();
        assert!(text.contains(what), "{text}");
        assert_eq!(pm4.queue.statistics().dispatches, 0, "{text}");
        assert_eq!(pm4.rig.host.refused.lock().unwrap().len(), 1);
    }
}

/// A grid that ends at 5, 4, 3, with START_X to Z.
pub(super) fn from(first: [u32; 3], initiator: u32) -> Vec<u32> {
    let mut words = dispatch([5, 4, 3], [32, 1, 1], initiator);
    let start = words.iter().position(|&word| word == 0x204).unwrap() + 1;
    words[start..start + 3].copy_from_slice(&first);
    words
}

/// PGM_HI is part of the address: the program is fetched from there.
#[test]
fn a_program_that_is_not_mapped() {
    let mut pm4 = Pm4::on(rig(COUNT));
    pm4.submit(&with(0x20d, 0x12));
    wait_for("the fault", || !pm4.rig.host.told().is_empty());
    let reason = crate::memory::FaultReason::NotPresent;
    let address = 0x12 << 40 | PROGRAM;
    let fault = MemoryFault { address, access: crate::memory::Access::Execute, reason };
    assert_eq!(pm4.rig.host.told(), [Told::Fault(fault)]);
}
