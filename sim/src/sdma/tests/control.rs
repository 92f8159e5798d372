//! What the driver does to queues.

use super::*;

#[test]
fn bad_opcodes_stop_the_queue_and_nobody_is_told() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.run(&fence(DST, 1));
        let problem = rig.malformed(&[0x5a, 0, 0, 0]);
        assert!(problem.contains("0x0000005a at 0x100010"), "{problem}");
        rig.submit(&fence(DST, 2));
        thread::sleep(Duration::from_millis(10));
        assert_eq!((rig.read_u32(DST), rig.read_u64(READ)), (1, 16));
        rig.queue.destroy();
    }
}

/// SRBM_WRITE and REGISTER_WRITE are for the kernel driver's queues.
#[test]
fn registers_are_the_kernel_s() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        // Before 7.0 bits 31:28 say which bytes are written.
        let bytes = if version == Version::V7_0 { 0 } else { 0xf000_0000 };
        let problem = rig.refused(&[bytes | 14, 0x1000, 1]);
        assert!(problem.contains("_WRITE of an SDMA queue"), "{problem}");
    }
}

#[test]
fn a_poll_can_be_stopped_and_goes_on() {
    let mut rig = Rig::new(Version::V6_0);
    rig.place(&[POLL_EQUAL, low(DST), 0, 1, !0, ENDLESS]);
    rig.submit(&fence(DST + 4, 1));
    thread::sleep(Duration::from_millis(2));
    assert!(rig.queue.set_running(false));
    rig.write_u32(DST, 1);
    thread::sleep(Duration::from_millis(10));
    assert_eq!((rig.read_u32(DST + 4), rig.read_u64(READ)), (0, 0));
    assert!(rig.queue.set_running(true));
    rig.wait_idle();
    assert_eq!(rig.read_u32(DST + 4), 1);
}

#[test]
fn a_stopped_queue_does_nothing() {
    let mut rig = Rig::new(Version::V5_0);
    assert!(rig.queue.set_running(false));
    rig.submit(&fence(DST, 1));
    thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.read_u32(DST), 0);
    rig.queue.set_running(true);
    rig.wait_idle();
}

/// A queue that waits for ever is destroyed in no time.
#[test]
fn a_waiting_queue_can_be_destroyed() {
    let mut rig = Rig::new(Version::V6_0);
    rig.submit(&[POLL_EQUAL, low(DST), 0, 1, !0, ENDLESS]);
    thread::sleep(Duration::from_millis(2));
    let start = Instant::now();
    rig.queue.destroy();
    assert!(start.elapsed() < Duration::from_secs(1));
}

/// A gigabyte takes its time, but the driver need not wait for it.
#[test]
fn a_copy_can_be_stopped_in_the_middle() {
    const MIB: u64 = 1 << 20;
    const START: u64 = 1 << 32;
    let mut rig = Rig::new(Version::V6_0);
    // The same memory everywhere.
    let backing = Arc::new(Backing::zeroed(MIB));
    for at in (0..1024).map(|index| START + index * MIB) {
        let both = Permissions::READ | Permissions::WRITE;
        assert!(rig.space.map(at, MIB, backing.clone(), 0, both));
    }
    rig.submit(&copy(START, START, 1024 * MIB));
    thread::sleep(Duration::from_millis(2));
    let start = Instant::now();
    assert!(rig.queue.set_running(false));
    assert_eq!(rig.read_u64(READ), 0, "not done yet");
    rig.queue.destroy();
    assert!(start.elapsed() < Duration::from_secs(1));
}
