//! Packets that read and write memory and registers.

use super::*;

#[test]
fn write_data_to_one_address_or_to_many() {
    let mut pm4 = Pm4::new();
    pm4.run(&write_data(DATA, &[1, 2, 3]));
    assert_eq!([0, 4, 8, 12].map(|at| pm4.rig.read_u32(DATA + at)), [1, 2, 3, 0]);
    // ADDR_INCR: all to the same; through L2.
    pm4.run(&[0xc005_3700, 2 << 8 | 1 << 16, low(DATA + 32), 0, 4, 5, 6, 0xffff_1000]);
    assert_eq!([32, 36].map(|at| pm4.rig.read_u32(DATA + at)), [6, 0]);
    // GDS.
    pm4.submit(&[0xc003_3700, 3 << 8, 0, 0, 1]);
    let text = pm4.fault().error.to_string();
    assert!(text.starts_with("not modelled: this destination"), "{text}");
}

#[test]
fn a_page_fault_of_a_packet() {
    let mut pm4 = Pm4::new();
    pm4.submit(&write_data(0x9000_0000, &[1]));
    wait_for("the fault", || !pm4.rig.host.told().is_empty());
    let reason = crate::memory::FaultReason::NotPresent;
    let access = crate::memory::Access::Write;
    let fault = MemoryFault { address: 0x9000_0000, access, reason };
    assert_eq!(pm4.rig.host.told(), [Told::Fault(fault)]);
    assert_eq!(pm4.read_pointer(), 0);
}

/// COPY_DATA from a source to memory at `DATA + 64`.
fn copied(pm4: &mut Pm4, source: u32, is_wide: u32, from: [u32; 2]) -> u64 {
    pm4.rig.write_u64(DATA + 64, u64::MAX);
    let control = source | 2 << 8 | is_wide << 16 | 1 << 20;
    pm4.run(&[0xc004_4000, control, from[0], from[1], low(DATA + 64), high(DATA)]);
    pm4.rig.read_u64(DATA + 64)
}

#[test]
fn copy_data() {
    let pm4 = &mut Pm4::new();
    const UPPER: u64 = 0xffff_ffff << 32;
    pm4.rig.write_u64(DATA, 0x1122_3344_5566_7788);
    for memory in [1, 2] {
        assert_eq!(copied(pm4, memory, 0, [low(DATA), 0]), UPPER | 0x5566_7788);
        assert_eq!(copied(pm4, memory, 1, [low(DATA), 0]), 0x1122_3344_5566_7788);
    }
    assert_eq!(copied(pm4, 5, 0, [7, 8]), UPPER | 7);
    assert_eq!(copied(pm4, 5, 1, [7, 8]), 8 << 32 | 7);
    // Registers: user data 1 and 2.
    pm4.run(&[0xc002_7600, 0x241, 5, 6]);
    assert_eq!(copied(pm4, 0, 0, [0x2e41, 0]), UPPER | 5);
    assert_eq!(copied(pm4, 0, 1, [0x2e41, 0]), 6 << 32 | 5);
    // From memory to a register, and back.
    pm4.run(&[0xc004_4000, 2 | 1 << 16, low(DATA), 0, 0x2e44, 0]);
    assert_eq!(copied(pm4, 0, 1, [0x2e44, 0]), 0x1122_3344_5566_7788);
    // What the last atomic read.
    pm4.run(&[0xc007_1e00, 47, low(DATA), 0, 1, 0, 0, 0, 0]);
    assert_eq!(copied(pm4, 6, 1, [0; 2]), 0x1122_3344_5566_7788);
    assert_eq!(pm4.rig.read_u64(DATA), 0x1122_3344_5566_7789);
    let clock = copied(pm4, 9, 1, [0; 2]);
    assert!(copied(pm4, 9, 1, [0; 2]) > clock);
}

#[test]
fn copies_that_are_refused() {
    // The system's clock; a performance counter (tinygrad's form); 64 bits at 4.
    let cases = [
        (10, 1, [0; 2], "not modelled: this source"),
        (4, 0, [0xd000, 0], "not modelled: reading register 0xd000"),
        (2, 1, [low(DATA + 4), 0], "PM4 packet"),
        // A mask of compute units, which Linux has set.
        (0, 0, [0x2e16, 0], "not modelled: reading register 0x2e16"),
    ];
    for (source, is_wide, from, problem) in cases {
        let mut pm4 = Pm4::new();
        let control = source | 2 << 8 | is_wide << 16;
        pm4.submit(&[0xc004_4000, control, from[0], from[1], low(DATA + 64), 0]);
        let text = pm4.fault().error.to_string();
        assert!(text.starts_with(problem), "{text}");
    }
}

#[test]
fn atomics() {
    let mut pm4 = Pm4::new();
    pm4.rig.write_u64(DATA, 0xffff_ffff);
    // ADD of 32 and of 64 bits.
    pm4.run(&[0xc007_1e00, 79, low(DATA), 0, 2, 99, 0, 0, 0]);
    assert_eq!(pm4.rig.read_u64(DATA), 1);
    pm4.run(&[0xc007_1e00, 111, low(DATA), 0, 2, 99, 0, 0, 0]);
    assert_eq!(pm4.rig.read_u64(DATA), 99 << 32 | 3);
    // Compare and swap, again and again until it holds.
    pm4.submit(&[0xc007_1e00, 72 | 1 << 8, low(DATA), 0, 5, 0, 4, 0, 0]);
    pm4.assert_waits_at(18);
    pm4.rig.write_u32(DATA, 4);
    pm4.wait_idle();
    assert_eq!(pm4.rig.read_u32(DATA), 5);
    // Once.
    pm4.run(&[0xc007_1e00, 72, low(DATA), 0, 6, 0, 4, 0, 0]);
    assert_eq!(pm4.rig.read_u32(DATA), 5);
    // A misaligned one faults.
    pm4.submit(&[0xc007_1e00, 111, low(DATA + 4), 0, 2, 0, 0, 0, 0]);
    wait_for("the fault", || matches!(pm4.rig.host.told()[..], [Told::Fault(_)]));
}

#[test]
fn dma_data() {
    let mut pm4 = Pm4::new();
    let bytes: Vec<u8> = (0..101).collect();
    view(&pm4.rig.space).write_bytes(DATA + 1, &bytes).unwrap();
    // Through L2, 101 bytes at odd addresses.
    let (to, from) = (DATA + 0x203, DATA + 1);
    pm4.run(&[0xc005_5000, 3 << 29 | 3 << 20, low(from), high(from), low(to), high(to), 101]);
    let mut copy = [0xaa; 103];
    view(&pm4.rig.space).read_bytes(to - 1, &mut copy).unwrap();
    assert_eq!((copy[0], copy[102]), (0, 0));
    assert_eq!(copy[1..102], bytes);
    // A dword again and again.
    let to = DATA + 0x300;
    pm4.run(&[0xc005_5000, 2 << 29 | 3 << 20, 7, 0, low(to), high(to), 8]);
    assert_eq!([0, 4, 8].map(|at| pm4.rig.read_u32(to + at)), [7, 7, 0]);
    // Zeros in two places, 16 bytes apart.
    pm4.run(&[0xc005_9a00, 2 << 29 | 3 << 20, 4, 2, low(to), high(to), 4]);
    assert_eq!([0, 4].map(|at| pm4.rig.read_u32(to + at)), [0, 0]);
    // Nowhere; of nothing it is a wait (PAL, `BuildWaitDmaData`).
    pm4.run(&[0xc005_5000, 3 << 29 | 2 << 20, low(from), high(from), 0, 0, 101]);
    pm4.run(&[0xc005_5000, 2 << 20, 0, 0, 0, 0, 0]);
    // To a register.
    pm4.submit(&[0xc005_5000, 3 << 29, low(from), 0, 0, 0, 4 | 1 << 27]);
    let text = pm4.fault().error.to_string();
    assert!(text.starts_with("not modelled: registers"), "{text}");
}

/// What is read into L2 alone has to be there.
#[test]
fn dma_data_to_nowhere_reads() {
    let mut pm4 = Pm4::new();
    pm4.submit(&[0xc005_5000, 3 << 29 | 2 << 20, 0x9000_0000, 0, 0, 0, 4]);
    wait_for("the fault", || !pm4.rig.host.told().is_empty());
    let reason = crate::memory::FaultReason::NotPresent;
    let access = crate::memory::Access::Read;
    let fault = MemoryFault { address: 0x9000_0000, access, reason };
    assert_eq!(pm4.rig.host.told(), [Told::Fault(fault)]);
}

#[test]
fn registers_are_set_in_many_ways() {
    // By pairs of gfx11, packed: user data 0 and 3.
    let mut pm4 = Pm4::new();
    pm4.run(&[0xc003_bb00, 2, 0x0243_0240, 11, 12]);
    assert_eq!(copied(&mut pm4, 0, 1, [0x2e40, 0]), 11);
    assert_eq!(copied(&mut pm4, 0, 1, [0x2e43, 0]), 12);
    // From memory, values alone.
    pm4.buffer(BUFFERS, &[21, 22]);
    pm4.run(&[0xc003_6300, low(BUFFERS), high(BUFFERS), 0x240, 2]);
    assert_eq!(copied(&mut pm4, 0, 1, [0x2e40, 0]), 22 << 32 | 21);
    // Offsets and values, two of each.
    pm4.buffer(BUFFERS, &[0x241, 31, 0x24f, 32, 0x240, 33]);
    pm4.run(&[0xc003_6300, low(BUFFERS), high(BUFFERS), 1 << 31, 2]);
    assert_eq!(copied(&mut pm4, 0, 1, [0x2e40, 0]), 31 << 32 | 21);
    assert_eq!(copied(&mut pm4, 0, 0, [0x2e4f, 0]) as u32, 32);
    // With the kernel driver's mask of compute units.
    pm4.run(&[0xc001_9b00, 3 << 28 | 0x216, u32::MAX]);
    assert_eq!(copied(&mut pm4, 0, 0, [0x2e16, 0]), u64::MAX);
    // GRBM_GFX_INDEX.
    pm4.run(&[0xc001_7900, 0x200, 0xe000_0000]);
    // Pairs of gfx12.
    let mut pm4 = Pm4::of("gfx1201", 120_001);
    pm4.run(&[0xc003_ba00, 0x240, 1, 0x241, 2]);
    assert_eq!(copied(&mut pm4, 0, 1, [0x2e40, 0]), 2 << 32 | 1);
}
