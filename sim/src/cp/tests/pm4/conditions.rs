//! Indirect buffers, and packets that decide whether others are executed.

use super::*;

/// Counts a dword in memory up: ATOMIC_MEM, ATOMIC_ADD_32.
fn count(address: u64) -> [u32; 9] {
    [0xc007_1e00, 79, low(address), high(address), 1, 0, 0, 0, 0]
}

#[test]
fn buffers_are_called() {
    let mut pm4 = Pm4::new();
    let mut buffer = count(DATA).to_vec();
    buffer.extend(count(DATA + 4));
    pm4.buffer(BUFFERS, &buffer);
    pm4.submit(&call(BUFFERS, buffer.len()));
    pm4.submit(&call(BUFFERS, count(DATA).len()));
    pm4.run(&count(DATA + 8));
    let counts = [0, 4, 8].map(|at| pm4.rig.read_u32(DATA + at));
    assert_eq!(counts, [2, 1, 1]);
    assert_eq!(pm4.queue.statistics().packets, 3, "those of the ring");
}

/// A buffer goes on in others: what is behind the packet is not executed.
#[test]
fn buffers_go_on_in_others() {
    let mut pm4 = Pm4::new();
    let second = BUFFERS + 0x100;
    let mut first = count(DATA).to_vec();
    first.extend([0xc002_3f00, low(second), high(second), 9 | 1 << 20 | 1 << 23]);
    first.extend(count(DATA + 4));
    pm4.buffer(BUFFERS, &first);
    pm4.buffer(second, &count(DATA + 8));
    pm4.run(&call(BUFFERS, first.len()));
    pm4.run(&count(DATA + 8));
    let counts = [0, 4, 8].map(|at| pm4.rig.read_u32(DATA + at));
    assert_eq!(counts, [1, 0, 2]);
}

/// One that goes on in itself can be stopped.
#[test]
fn endless_buffers_can_be_stopped() {
    let mut pm4 = Pm4::new();
    let mut buffer = count(DATA).to_vec();
    buffer.extend([0xc002_3f00, low(BUFFERS), high(BUFFERS), 13 | 1 << 20 | 1 << 23]);
    pm4.buffer(BUFFERS, &buffer);
    pm4.submit(&call(BUFFERS, buffer.len()));
    wait_for("rounds", || pm4.rig.read_u32(DATA) > 100);
    assert!(pm4.queue.set_running(false));
    let count = pm4.rig.read_u32(DATA);
    thread::sleep(Duration::from_millis(10));
    assert_eq!(pm4.rig.read_u32(DATA), count);
    assert_eq!(pm4.read_pointer(), 0);
    pm4.queue.destroy();
}

#[test]
fn buffers_that_are_none() {
    let cases = [
        (call(BUFFERS, 4), "calls an indirect buffer from an indirect buffer"),
        ([0xc002_3f00, 0x1000, 0, 4], "the VALID bit is clear"),
        ([0xc002_3f00, 0x1000, 0, 1 << 23], "an empty buffer"),
    ];
    for (words, problem) in cases {
        let mut pm4 = Pm4::new();
        pm4.buffer(BUFFERS, &words);
        pm4.submit(&call(BUFFERS, words.len()));
        let fault = pm4.fault();
        assert_eq!(fault.packet, 0);
        let text = fault.error.to_string();
        assert!(text.contains(" at 0x600800: ") && text.ends_with(problem), "{text}");
    }
    let mut pm4 = Pm4::new();
    pm4.submit(&[0xc002_3f00, low(BUFFERS), 0, 4 | 1 << 20 | 1 << 23]);
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("a ring goes on in an indirect buffer for good"), "{text}");
}

#[test]
fn cond_exec_skips_when_memory_is_zero() {
    for (flag, expected) in [(0, [0, 1]), (1, [1, 1]), (1 << 31, [1, 1])] {
        let mut pm4 = Pm4::new();
        pm4.rig.write_u32(DATA + 64, flag);
        let mut words = vec![0xc003_2200, low(DATA + 64), high(DATA), 0, 9];
        words.extend(count(DATA));
        words.extend(count(DATA + 4));
        pm4.run(&words);
        assert_eq!([0, 4].map(|at| pm4.rig.read_u32(DATA + at)), expected, "in the ring");
        pm4.buffer(BUFFERS, &words);
        pm4.run(&call(BUFFERS, words.len()));
        let expected = expected.map(|count| 2 * count);
        assert_eq!([0, 4].map(|at| pm4.rig.read_u32(DATA + at)), expected, "in a buffer");
    }
}

/// What is skipped may still be missing.
#[test]
fn cond_exec_skips_what_comes_later() {
    let mut pm4 = Pm4::new();
    pm4.submit(&[0xc003_2200, low(DATA + 64), high(DATA), 0, 300]);
    pm4.assert_waits_at(5);
    for _ in 0..30 {
        pm4.submit(&[0xdead_beef; 10]);
    }
    pm4.run(&count(DATA));
    assert_eq!(pm4.rig.read_u32(DATA), 1);
    let words = [0xc003_2200, low(DATA + 64), high(DATA), 0, 1];
    pm4.buffer(BUFFERS, &words);
    pm4.submit(&call(BUFFERS, words.len()));
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("skips 1 dwords of 0 left"), "{text}");
}

/// There is one XCC, the first; tinygrad's form, with the dwords of a RELEASE_MEM.
#[test]
fn pred_exec_is_about_xccs() {
    let mut pm4 = Pm4::of("gfx942", 90_402);
    let mut words = Vec::new();
    for (at, xccs) in (DATA..).step_by(4).zip([1, 2, 0xff]) {
        words.extend([0xc000_2300, xccs << 24 | 9]);
        words.extend(count(at));
    }
    pm4.buffer(BUFFERS, &words);
    pm4.run(&call(BUFFERS, words.len()));
    assert_eq!([0, 4, 8].map(|at| pm4.rig.read_u32(DATA + at)), [1, 0, 1]);
    pm4.submit(&words);
    let text = pm4.fault().error.to_string();
    assert!(text.starts_with("not modelled: PRED_EXEC"), "{text}");
}

#[test]
fn cond_write() {
    let mut pm4 = Pm4::new();
    pm4.rig.write_u32(DATA, 0x105);
    // Memory to memory, equal under a mask.
    let write = |reference| {
        [0xc007_4500, 3 | 1 << 4 | 1 << 8, low(DATA), 0, reference, 0xff, low(DATA + 8), 0, 77]
    };
    pm4.run(&write(6));
    assert_eq!(pm4.rig.read_u32(DATA + 8), 0);
    pm4.run(&write(5));
    assert_eq!(pm4.rig.read_u32(DATA + 8), 77);
}

#[test]
fn one_of_two_buffers() {
    let mut pm4 = Pm4::new();
    let second = BUFFERS + 0x100;
    pm4.buffer(BUFFERS, &count(DATA + 8));
    pm4.buffer(second, &count(DATA + 12));
    pm4.rig.write_u64(DATA, 1 << 40);
    for (mode, reference, expected) in [(1, 1 << 8, [1, 0]), (1, 0, [1, 0]), (2, 0, [1, 1])] {
        #[rustfmt::skip]
        pm4.run(&[
            0xc00c_3f00, mode | 3 << 8, low(DATA), high(DATA), 0, u32::MAX, 0, reference,
            low(BUFFERS), high(BUFFERS), 9, low(second), high(second), 9,
        ]);
        assert_eq!([8, 12].map(|at| pm4.rig.read_u32(DATA + at)), expected);
    }
}

/// COND_INDIRECT_BUFFER, if then else, equal (PAL, PM4_MEC_COND_INDIRECT_BUFFER): of all 64 bits.
#[rustfmt::skip]
fn choose(compared: u64, reference: u32, [then, otherwise]: [(u64, u32); 2]) -> [u32; 14] {
    [
        0xc00c_3f00, 2 | 3 << 8, low(compared), high(compared), u32::MAX, u32::MAX, reference, 0,
        low(then.0), high(then.0), then.1, low(otherwise.0), high(otherwise.0), otherwise.1,
    ]
}

/// As PAL writes an `if` and a loop (gfxCmdStream.cpp): every block goes on in another, so that nothing returns.
#[test]
fn buffers_choose_what_they_go_on_in() {
    let (body, end) = (BUFFERS + 0x100, BUFFERS + 0x200);
    let mut pm4 = Pm4::new();
    // The loop: at its head, and while the count is not 5 in its body, which goes back to the head.
    let mut head = choose(DATA + 4, 5, [(end, 9), (body, 13)]).to_vec();
    head.extend(count(DATA + 12));
    let mut round = count(DATA + 4).to_vec();
    round.extend([0xc002_3f00, low(BUFFERS), high(BUFFERS), 14 | 1 << 20 | 1 << 23]);
    pm4.buffer(BUFFERS, &head);
    pm4.buffer(body, &round);
    pm4.buffer(end, &count(DATA + 16));
    // What is compared is at 4 more than a multiple of 8.
    pm4.run(&call(BUFFERS, head.len()));
    assert_eq!([0, 4, 8, 12, 16].map(|at| pm4.rig.read_u32(DATA + at)), [0, 5, 0, 0, 1]);
    // Nobody goes on in nothing.
    pm4.buffer(BUFFERS, &choose(DATA + 24, 0, [(end, 0), (end, 9)]));
    pm4.submit(&call(BUFFERS, 14));
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("an empty buffer"), "{text}");
    // Whether the reference is masked depends on the GPU.
    let mut pm4 = Pm4::new();
    let mut words = choose(DATA + 24, 0x100, [(end, 9), (end, 9)]);
    words[4] = 0xff;
    pm4.submit(&words);
    let text = pm4.fault().error.to_string();
    assert!(text.starts_with("not modelled: a reference with bits outside"), "{text}");
}
