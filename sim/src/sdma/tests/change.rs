//! Fences, traps, atomics, time stamps.

use super::*;

/// Many copies, and whoever sees the fence sees the last byte of each.
#[test]
fn fences_come_after_copies() {
    let mut rig = Rig::new(Version::V6_0);
    let source = rig.prepare();
    for round in 1..40 {
        rig.put(DST, &[0; 32768]);
        rig.place(&copy(SRC, DST, 20_000));
        rig.place(&copy(SRC + 20_000, DST + 20_000, 12_345));
        rig.submit(&fence(DST + 40_000, round));
        let seen = || rig.read_u32(DST + 40_000) == round;
        while !seen() {
            std::hint::spin_loop();
        }
        assert_eq!(rig.bytes(DST + 32_344, 2), [source[32_344], 0]);
        assert_eq!(rig.bytes(DST + 19_999, 1), source[19_999..20_000]);
        rig.wait_idle();
    }
}

/// Linux's memory type (`SDMA_PKT_FENCE_HEADER_MTYPE(3)`) from 5.0 on.
#[test]
fn fences_write_a_dword() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.prepare();
        let mtype = if version < Version::V5_0 { 0 } else { 3 << 16 };
        rig.run(&[FENCE | mtype, low(DST + 4), 0, 0x1234_5678]);
        let words = [0, 4, 8].map(|at| rig.read_u32(DST + at));
        assert_eq!(words, [0xeeee_eeee, 0x1234_5678, 0xeeee_eeee], "{version}");
        if version != Version::V7_0 {
            assert!(rig.malformed(&fence(DST + 6, 1)).contains("fence at an address between"));
        }
    }
}

/// Each trap is one interrupt, with the context, after what is before it.
#[test]
fn traps_interrupt() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        let dummy = if version < Version::V5_0 { 16 } else { 32 };
        rig.place(&fence(DST, 1));
        rig.place(&[6, 5]);
        rig.place(&[dummy, 99]);
        rig.place(&[6, 0x0abc_def0]);
        rig.ring();
        wait_for("interrupts", || rig.host.told().len() == 2);
        assert_eq!(rig.read_u32(DST), 1);
        wait_for("the read pointer", || rig.read_u64(READ) == rig.written);
        assert_eq!(
            rig.host.told(),
            [Told::Interrupt(5), Told::Interrupt(0x0abc_def0)],
            "{version}"
        );
    }
}

/// The operation, memory before, operand, comparand, memory after.
#[test]
fn atomics() {
    let cases: [(u32, u64, u64, u64, u64); 22] = [
        (47, 1, (-1i64).cast_unsigned(), 0, 0),
        (111, 5, 1 << 32, 0, 5 + (1 << 32)),
        (15, 0xffff_ffff_ffff_ffff, 1, 0, 0xffff_ffff_0000_0000),
        (79, 7, 3, 0, 10),
        (16, 1, 2, 0, 0xffff_ffff),
        (112, 1, 2, 0, u64::MAX),
        (7, 0x1_0000_0002, 9, 0, 0x1_0000_0009),
        (103, 2, 9, 0, 9),
        (8, 5, 9, 5, 9),
        (72, 5, 9, 6, 5),
        (40, 1 << 40, 9, 1 << 40, 9),
        (40, 1 << 40, 9, 0, 1 << 40),
        (17, 0xffff_ffff, 1, 0, 0xffff_ffff),
        (18, 0xffff_ffff, 1, 0, 1),
        (115, 1, u64::MAX, 0, 1),
        (116, 1, u64::MAX, 0, u64::MAX),
        (21, 0b1100, 0b1010, 0, 0b1000),
        (22, 0b1100, 0b1010, 0, 0b1110),
        (55, 0b1100, 0b1010, 0, 0b0110),
        (24, 4, 4, 0, 0),
        (121, 0, 4, 0, 4),
        (2, 0x4000_0000, 0x3f80_0000, 0, 0x3f80_0000),
    ];
    for version in [Version::V4_0, Version::V5_2, Version::V7_0] {
        let mut rig = Rig::new(version);
        for (op, before, data, compare, after) in cases {
            rig.write_u64(DST, before);
            let (data, compare) = ([low(data), high(data)], [low(compare), high(compare)]);
            let words = [10 | op << 25, low(DST), 0, data[0], data[1], compare[0], compare[1], 0];
            rig.run(&words);
            assert_eq!(rig.read_u64(DST), after, "operation {op} of {before:#x}");
        }
        assert!(rig.refused(&[10 | 30 << 25, low(DST), 0, 0, 0, 0, 0, 0]).contains("operation 30"));
    }
}

/// Bit 16: a comparison that fails is tried again.
#[test]
fn compares_may_repeat() {
    let mut rig = Rig::new(Version::V6_0);
    rig.write_u32(DST, 1);
    rig.submit(&[10 | 1 << 16 | 8 << 25, low(DST), 0, 9, 0, 2, 0, 10]);
    thread::sleep(Duration::from_millis(5));
    assert_eq!((rig.read_u64(READ), rig.read_u32(DST)), (0, 1));
    rig.write_u32(DST, 2);
    rig.wait_idle();
    assert_eq!(rig.read_u32(DST), 9);
}

#[test]
fn atomics_between_operands_fault() {
    let mut rig = Rig::new(Version::V6_0);
    assert_eq!(rig.fault(&[10 | 47 << 25, low(DST) + 4, 0, 1, 0, 0, 0, 0]).address, DST + 4);
}

#[test]
fn counters_in_memory() {
    let mut rig = Rig::new(Version::V5_2);
    rig.write_u64(DST, u64::from(u32::MAX));
    rig.run(&[7 | 1 << 8, low(DST), 0]);
    assert_eq!(rig.read_u64(DST), 1 << 32);
}

/// The recorder's clock goes on by 100 at each look.
#[test]
fn time_stamps() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.prepare();
        let get = |sub_op: u32, at: u64| [13 | sub_op << 8, low(DST + at), 0];
        rig.place(&get(2, 0));
        // The engine's own counter is set apart from the GPU's.
        rig.place(&[13, 5000, 1]);
        rig.place(&get(1, 8));
        rig.submit(&get(2, 24));
        rig.wait_idle();
        let stamps = [0, 8, 16, 24].map(|at| rig.read_u64(DST + at));
        assert_eq!(stamps, [100, (1 << 32) + 5100, 0xeeee_eeee_eeee_eeee, 400], "{version}");
    }
}

/// Caches that keep nothing have nothing to write back or to forget: ROCr's packets (`BuildGCRCommand`) before and after a
/// copy.
#[test]
fn cache_operations_do_nothing() {
    for version in [Version::V5_0, Version::V5_2, Version::V6_0, Version::V7_0] {
        let mut rig = Rig::new(version);
        rig.submit(&[0x111, 0, 0xc3c0 << 16, 0, 0]);
        rig.run(&[0x111, 0, 0x8040 << 16, 0, 0]);
    }
    let mut rig = Rig::new(Version::V4_4);
    assert!(rig.malformed(&[0x111, 0, 0, 0, 0]).contains("0x00000111"));
}
