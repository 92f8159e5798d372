//! Polls and semaphores.

use super::*;

/// Whether a poll of `value` with function and mask lets the queue go on.
fn passes(function: u32, value: u32, mask: u32, reference: u32) -> bool {
    let mut rig = Rig::new(Version::V6_0);
    rig.write_u32(DST, value);
    let mut words = vec![0x8000_0008 | function << 28, low(DST), 0, reference, mask, ENDLESS];
    words.extend(fence(DST + 4, 1));
    rig.run_until_parked(&words);
    if rig.read_u32(DST + 4) == 1 {
        return true;
    }
    // It goes on when memory says so.
    let released = match function {
        1 | 2 => reference.wrapping_sub(1),
        3 => reference,
        4 | 6 => reference + 1,
        _ => reference,
    };
    rig.write_u32(DST, released);
    rig.wait_idle();
    false
}

#[test]
fn functions() {
    type Compare = fn(&u32, &u32) -> bool;
    let functions: [Compare; 7] =
        [|_, _| true, u32::lt, u32::le, u32::eq, u32::ne, u32::ge, u32::gt];
    for (function, compare) in functions.into_iter().enumerate() {
        for value in [4, 5, 6, 0x8000_0000] {
            let expected = compare(&value, &5);
            assert_eq!(passes(function as u32, value, !0, 5), expected, "{function} of {value}");
        }
    }
}

#[test]
fn masks() {
    assert!(passes(3, 0xffff_ff05, 0xff, 5));
    assert!(!passes(3, 0xffff_ff04, 0xff, 5));
    assert!(passes(5, 0x105, 0xff, 5));
    assert!(!passes(5, 0x104, 0xff, 5));
}

/// tinygrad's wait (`AMDCopyQueue.wait`) and ROCr's (`BuildPollCommand`), for what another queue writes.
#[test]
fn queues_wait_for_memory() {
    for version in Version::ALL {
        for (header, satisfies) in [(0xd000_0008, 12), (POLL_EQUAL, 10)] {
            let mut rig = Rig::new(version);
            let mut words = vec![header, low(DST), high(DST), 10, 0xffff_ffff, ENDLESS];
            words.extend(fence(DST + 4, 1));
            rig.run_until_parked(&words);
            assert_eq!((rig.read_u32(DST + 4), rig.read_u64(READ)), (0, 16));
            rig.write_u32(DST, 9);
            thread::sleep(Duration::from_millis(2));
            assert_eq!(rig.read_u32(DST + 4), 0);
            rig.write_u32(DST, satisfies);
            rig.wait_idle();
            assert_eq!(rig.read_u32(DST + 4), 1);
        }
    }
}

#[test]
fn tries_are_counted() {
    let mut rig = Rig::new(Version::V6_0);
    let poll = [POLL_EQUAL, low(DST), 0, 1, !0, 20 << 16 | 10];
    assert!(rig.refused(&poll).contains("tries are used up"));
    // One that holds at the first look needs none.
    let mut rig = Rig::new(Version::V6_0);
    rig.write_u32(DST, 1);
    rig.run(&[POLL_EQUAL, low(DST), 0, 1, !0, 0]);
}

/// ROCr's flush (`hdp_flush_cmd` of `amd_blit_sdma.cpp`), and Linux's with the registers of 6.0
/// (`sdma_v6_0_ring_emit_hdp_flush`).
#[test]
fn flushes_of_the_host_data_path_are_done_at_once() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.submit(&[8, 0, 0x8000_0000, 0, 0, 0]);
        rig.run(&[0x3400_0008, 0x3ffc_0000, 0x3ffc_0004, 1 << 5, 1 << 5, 0x0fff_000a]);
    }
}

#[test]
fn registers_are_refused() {
    let mut rig = Rig::new(Version::V6_0);
    let what = rig.refused(&[0x3000_0008, 0x1000, 0, 1, !0, ENDLESS]);
    assert!(what.contains("a poll of a register"), "{what}");
    let mut rig = Rig::new(Version::V6_0);
    assert!(rig.refused(&[0xf000_0008, low(DST), 0, 1, !0, ENDLESS]).contains("function 7"));
    let mut rig = Rig::new(Version::V6_0);
    assert!(rig.malformed(&[POLL_EQUAL, low(DST) + 2, 0, 1, !0, ENDLESS]).contains("between"));
}

/// Bit 30 signals; a wait takes one off, and waits for one to be there.
#[test]
fn semaphores() {
    let mut rig = Rig::new(Version::V4_0);
    let (signal, wait) = ([0x4000_0007, low(DST), 0], [7, low(DST), 0]);
    rig.run(&signal);
    rig.run(&signal);
    assert_eq!(rig.read_u64(DST), 2);
    rig.run(&wait);
    rig.run(&wait);
    assert_eq!(rig.read_u64(DST), 0);
    rig.run_until_parked(&wait);
    assert_eq!(rig.read_u64(READ), 48 + 16);
    rig.write_u64(DST, 1 << 32);
    rig.wait_idle();
    assert_eq!(rig.read_u64(DST), (1 << 32) - 1);
    rig.run(&[0x6000_0007, low(DST), 0]);
    assert_eq!(rig.read_u64(DST), 1);
}
