//! Packets that wait.

use super::*;

/// WAIT_REG_MEM on memory.
fn wait(function: u32, address: u64, reference: u32, mask: u32) -> [u32; 7] {
    [0xc005_3c00, 0x10 | function, low(address), high(address), reference, mask, 4]
}

/// Every function, at what just does not pass and then at what does.
#[test]
fn comparisons() {
    let cases = [
        (1, 10, 9),
        (2, 11, 10),
        (3, 9, 10),
        (4, 10, 11),
        (5, 9, 10),
        (6, 10, 11),
        // Without sign.
        (5, 9, u32::MAX),
    ];
    for (function, before, after) in cases {
        let mut pm4 = Pm4::new();
        pm4.rig.write_u32(DATA, before);
        pm4.submit(&wait(function, DATA, 10, u32::MAX));
        pm4.submit(&write_data(DATA + 64, &[1]));
        pm4.assert_waits_at(0);
        assert_eq!(pm4.rig.read_u32(DATA + 64), 0, "function {function}");
        pm4.rig.write_u32(DATA, after);
        pm4.wait_idle();
        assert_eq!(pm4.rig.read_u32(DATA + 64), 1);
    }
    let mut pm4 = Pm4::new();
    pm4.run(&wait(0, DATA, 10, u32::MAX));
    pm4.submit(&wait(7, DATA, 10, u32::MAX));
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("an unknown comparison"), "{text}");
}

/// Memory spaces 2 and 3 do not exist, and WR_WAIT_WR_REG is not for memory.
#[test]
fn waits_for_nothing() {
    for control in [0x23, 0x33, 0x53] {
        let mut pm4 = Pm4::new();
        pm4.submit(&[0xc005_3c00, control, low(DATA), 0, 0, 0, 4]);
        let text = pm4.fault().error.to_string();
        assert!(text.ends_with("neither memory nor registers are waited for"), "{text}");
    }
}

#[test]
fn masks_are_of_what_is_polled() {
    let mut pm4 = Pm4::new();
    pm4.rig.write_u32(DATA, 0xffff_ff00);
    pm4.submit(&wait(3, DATA, 5, 0xff));
    pm4.assert_waits_at(0);
    pm4.rig.write_u32(DATA, 0xffff_ff05);
    pm4.wait_idle();
}

#[test]
fn sixty_four_bits() {
    let mut pm4 = Pm4::new();
    pm4.rig.write_u64(DATA, 7);
    let wait = [0xc007_9300, 0x15, low(DATA), high(DATA), 0, 1, u32::MAX, u32::MAX, 4];
    pm4.submit(&wait);
    pm4.assert_waits_at(0);
    pm4.rig.write_u64(DATA, 1 << 32);
    pm4.wait_idle();
}

/// tinygrad's memory barrier: writes HDP_FLUSH_REQ, then waits for HDP_FLUSH_DONE.
#[test]
fn flushes_of_the_host_data_path() {
    let mut pm4 = Pm4::new();
    let request = [0xc005_3c00, 0x45, 0xe26, 0xe27, 0xffff_ffff, 0xffff_ffff, 4];
    pm4.run(&request);
    // Waiting for another register, which is none.
    pm4.submit(&[0xc005_3c00, 3, 0x1234, 0, 0, 0xffff_ffff, 4]);
    let text = pm4.fault().error.to_string();
    assert!(text.contains("reading register 0x1234"), "{text}");
}

/// A queue that waits stops at once, and goes on afterwards.
#[test]
fn a_waiting_queue_can_be_stopped() {
    let mut pm4 = Pm4::new();
    pm4.submit(&wait(3, DATA, 1, u32::MAX));
    pm4.submit(&write_data(DATA + 64, &[1]));
    pm4.assert_waits_at(0);
    let start = Instant::now();
    assert!(pm4.queue.set_running(false));
    assert!(start.elapsed() < Duration::from_secs(2));
    pm4.rig.write_u32(DATA, 1);
    thread::sleep(Duration::from_millis(20));
    assert_eq!((pm4.read_pointer(), pm4.rig.read_u32(DATA + 64)), (0, 0));
    assert!(pm4.queue.set_running(true));
    pm4.wait_idle();
    assert_eq!(pm4.rig.read_u32(DATA + 64), 1);
    // One that never stops waiting can be destroyed.
    pm4.submit(&wait(3, DATA, 2, u32::MAX));
    pm4.assert_waits_at(12);
    let start = Instant::now();
    pm4.queue.destroy();
    assert!(start.elapsed() < Duration::from_secs(2));
}

/// The packet is looked at again in memory.
#[test]
fn rewind() {
    let mut pm4 = Pm4::new();
    pm4.run(&[0xc000_5900, 1 << 31]);
    let buffer = [0xc000_5900, 0, 0xc003_3700, 5 << 8, low(DATA), 0, 7];
    pm4.buffer(BUFFERS, &buffer);
    pm4.submit(&call(BUFFERS, buffer.len()));
    pm4.assert_waits_at(2);
    assert_eq!(pm4.rig.read_u32(DATA), 0);
    pm4.rig.write_u32(BUFFERS + 4, 1 << 31);
    pm4.wait_idle();
    assert_eq!(pm4.rig.read_u32(DATA), 7);
}
