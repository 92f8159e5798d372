//! Pointers, the ring's end, indirect buffers, what is skipped.

use super::*;

/// The write pointer counts bytes: so many more, and no more, are processed.
#[test]
fn pointers_count_bytes() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.submit(&fence(DST, 1));
        rig.wait_idle();
        assert_eq!(rig.read_u64(READ), 16);
        rig.place(&fence(DST + 4, 2));
        rig.place(&fence(DST + 8, 3));
        rig.written -= 16;
        rig.ring();
        rig.wait_idle();
        thread::sleep(Duration::from_millis(5));
        let values = [0, 4, 8].map(|at| rig.read_u32(DST + at));
        assert_eq!((rig.read_u64(READ), values), (32, [1, 2, 0]), "{version}");
        assert_eq!(rig.queue.statistics().packets, 2);
    }
}

/// Pointers go on where the ring ends; a packet over its end goes on at its start.
#[test]
fn packets_over_the_ring_s_end() {
    for first in [0, 1008, 1012, (1 << 40) + 1016, (1 << 32) - 4] {
        let mut rig = Rig::at(Version::V6_0, first);
        let source = rig.prepare();
        for round in 0..200 {
            rig.put(DST, &[0xee; 8]);
            rig.submit(&copy(SRC + round, DST, 5));
            rig.run(&fence(DST + 8, round as u32));
            assert_eq!(rig.bytes(DST, 6)[..5], source[round as usize..][..5]);
            assert_eq!((rig.bytes(DST + 5, 1), rig.read_u32(DST + 8)), (vec![0xee], round as u32));
        }
        assert_eq!(rig.read_u64(READ), first + 200 * 44);
    }
}

/// As ROCr and tinygrad do at the ring's end: zeros.
#[test]
fn zeros_are_packets() {
    let mut rig = Rig::new(Version::V5_2);
    rig.submit(&[0; 100]);
    rig.run(&fence(DST, 9));
    assert_eq!((rig.read_u32(DST), rig.queue.statistics().packets), (9, 101));
}

#[test]
fn nops_skip_what_they_count() {
    let mut rig = Rig::new(Version::V4_0);
    // The padding of ROCr's short submissions, in which other packets are not seen.
    let mut words = vec![5 << 16, 0xff, 0xff, 0xff, 0xff, 0xff];
    words.extend(fence(DST, 1));
    rig.run(&words);
    assert_eq!((rig.read_u32(DST), rig.queue.statistics().packets), (1, 2));
}

/// From 6.0 on the engine's firmware reads the write pointer; before it is the doorbell that counts.
#[test]
fn who_looks_at_the_write_pointer() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.place(&fence(DST, 1));
        rig.write_u64(WRITE, rig.written);
        if version >= Version::V6_0 {
            rig.wait_idle();
        } else {
            thread::sleep(Duration::from_millis(20));
            assert_eq!((rig.read_u32(DST), rig.read_u64(READ)), (0, 0), "{version}");
            rig.write_u64(WRITE, 0);
        }
        rig.doorbells.store_u64(0x108 * 8, rig.written);
        rig.wait_idle();
        assert_eq!(rig.read_u32(DST), 1);
    }
}

#[test]
fn packets_wait_for_their_rest() {
    let mut rig = Rig::new(Version::V6_0);
    let source = rig.prepare();
    let words = copy(SRC, DST, 8);
    rig.submit(&words[..3]);
    thread::sleep(Duration::from_millis(20));
    assert_eq!((rig.read_u64(READ), rig.bytes(DST, 1)), (0, vec![0xee]));
    rig.run(&words[3..]);
    assert_eq!(rig.bytes(DST, 8), source[..8]);
}

#[test]
fn write_pointers_that_cannot_be_are_refused() {
    for version in [Version::V5_0, Version::V6_0] {
        let mut rig = Rig::new(version);
        rig.run(&[0; 4]);
        rig.written = 8;
        assert!(rig.refused(&[]).contains("write pointer of 0x8 after 0x10"));
        let mut rig = Rig::new(version);
        rig.written = u64::from(RING_BYTES) + 4;
        assert!(rig.refused(&[]).contains("write pointer of 0x404"));
    }
}

#[test]
fn indirect_buffers() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        let source = rig.prepare();
        let mut buffer: Vec<u32> = copy(SRC, DST, 100).to_vec();
        buffer.extend(fence(DST + 128, 7));
        buffer.resize(16, 0);
        for (at, &word) in (INDIRECT..).step_by(4).zip(&buffer) {
            rig.write_u32(at, word);
        }
        rig.place(&[0, 0]);
        rig.place(&indirect(INDIRECT, 16));
        rig.submit(&fence(DST + 132, 8));
        rig.wait_idle();
        assert_eq!(rig.bytes(DST, 100), source[..100], "{version}");
        assert_eq!([128, 132].map(|at| rig.read_u32(DST + at)), [7, 8]);
        assert_eq!(rig.read_u64(READ), 48);
    }
}

#[test]
fn indirect_buffers_that_cannot_be() {
    let start = || Rig::new(Version::V6_0);
    let aligned = |packet: [u32; 6]| [&[0, 0][..], &packet].concat();
    let mut rig = start();
    assert!(rig.malformed(&indirect(INDIRECT, 8)).contains("group of 8 dwords of the ring"));
    for packet in [indirect(INDIRECT + 16, 8), indirect(INDIRECT, 7)] {
        let mut rig = start();
        rig.run(&[0, 0]);
        assert!(rig.malformed(&packet).contains("whole groups of 8 dwords"));
    }
    // A buffer with another in it, and one that ends in a packet.
    let mut rig = start();
    for (at, word) in [0, 0].into_iter().chain(indirect(INDIRECT, 8)).enumerate() {
        rig.write_u32(INDIRECT + 4 * at as u64, word);
    }
    assert!(
        rig.refused(&aligned(indirect(INDIRECT, 8))).contains("INDIRECT in an indirect buffer")
    );
    let mut rig = start();
    rig.write_u32(INDIRECT + 28, FENCE);
    rig.run(&[0, 0]);
    let problem = rig.malformed(&indirect(INDIRECT, 8));
    assert!(
        problem.contains("4 dwords at 0x30001c in an indirect buffer with 1 left"),
        "{problem}"
    );
    let mut rig = start();
    assert_eq!(rig.fault(&aligned(indirect(0x9000, 8))).address, 0x9000);
}

/// COND_EXE executes when memory is equal, and else skips as many dwords as it counts.
#[test]
fn conditions() {
    for version in Version::ALL {
        for (memory, reference, executes) in
            [(1, 1, true), (0, 1, false), (2, 1, false), (0, 0, true)]
        {
            let mut rig = Rig::new(version);
            rig.write_u32(DST + 64, memory);
            rig.place(&[9, low(DST + 64), 0, reference, 8]);
            rig.place(&fence(DST, 1));
            rig.place(&fence(DST + 4, 2));
            rig.place(&fence(DST + 8, 3));
            rig.ring();
            rig.wait_idle();
            let written = [0, 4, 8].map(|at| rig.read_u32(DST + at));
            assert_eq!(written, if executes { [1, 2, 3] } else { [0, 0, 3] }, "{version} {memory}");
        }
    }
}

/// PRE_EXE on engine 1.
#[test]
fn engines_are_selected() {
    for (selected, executes) in [(0b10, true), (0b01, false), (0xff, true), (0, false)] {
        let mut rig = Rig::new(Version::V5_0);
        rig.place(&[15 | selected << 16, 4]);
        rig.place(&fence(DST, 1));
        rig.submit(&fence(DST + 4, 2));
        rig.wait_idle();
        let written = [0, 4].map(|at| rig.read_u32(DST + at));
        assert_eq!(written, [u32::from(executes), 2], "{selected:#x}");
    }
}

/// What is skipped need not be packets, and is waited for.
#[test]
fn skipped_dwords_may_come_later() {
    let mut rig = Rig::new(Version::V6_0);
    rig.submit(&[9, low(DST + 64), 0, 1, 2]);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(rig.queue.fault(), None);
    rig.place(&[0xff, 0xff]);
    rig.submit(&fence(DST, 1));
    rig.wait_idle();
    assert_eq!(rig.read_u32(DST), 1);
}
