//! Packets that stop the queue.

use super::*;
use crate::cp::QueueError;

/// What is no packet of a compute queue is told to Linux as such.
#[test]
fn bad_packets() {
    let cases: [(&[u32], &str); 7] = [
        (&[0xc000_0100, 0], "opcode 0x01"),
        (&[0xc000_fd00, 0], "opcode 0xfd"),
        // Graphics queues alone draw.
        (&[0xc001_2d00, 0, 0], "DRAW_INDEX_AUTO of 3 dwords"),
        (&[0xc005_4900, 0, 0, 0, 0, 0, 0], "RELEASE_MEM of 7 dwords"),
        (&[0x0000_2e40, 1], "a header of type 0"),
        (&[0x4000_0000], "a header of type 1"),
        // SET_SH_REG of the last register and one behind it.
        (&[0xc002_7600, 0x3ff, 0, 0], "dwords = 4, needed 3"),
    ];
    for (words, problem) in cases {
        let mut pm4 = Pm4::new();
        pm4.run(&[0xffff_1000]);
        pm4.submit(words);
        pm4.submit(&write_data(DATA, &[1]));
        let fault = pm4.fault();
        assert!(matches!(fault.error, QueueError::Pm4Packet { address: 0x10_0004, .. }), "{fault}");
        let text = fault.to_string();
        assert!(
            text.starts_with("packet 1: PM4 packet with header ") && text.contains(problem),
            "{text}"
        );
        wait_for("the exception", || !pm4.rig.host.told().is_empty());
        assert_eq!(pm4.rig.host.told(), [Told::Error { queue: 7, exceptions: 1 << 19 }]);
        // The queue is dead.
        thread::sleep(Duration::from_millis(5));
        assert_eq!((pm4.read_pointer(), pm4.rig.read_u32(DATA)), (1, 0));
        assert_eq!(*pm4.rig.host.refused.lock().unwrap(), [""; 0]);
        pm4.queue.destroy();
    }
}

/// What is known and does nothing here is told aloud.
#[test]
fn known_packets_that_are_not_modelled() {
    let cases: [&[u32]; 6] = [
        &[0xc000_4200, 0],
        &[0xc002_7600, 0x1000_0240, 0, 0],
        &[0xc004_a300, 0, 0, 0, 0, 0],
        &[0xc000_3d00, 0],
        &[0xc009_1d00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xc001_a900, 0, 0],
    ];
    for words in cases {
        let mut pm4 = Pm4::new();
        pm4.submit(words);
        let fault = pm4.fault();
        assert!(matches!(fault.error, QueueError::NotModelled { pc: RING, .. }), "{fault}");
        let refused = pm4.rig.host.refused.lock().unwrap().join("");
        assert!(refused.ends_with("; at 0x100000, queue 7, packet 0"), "{refused}");
    }
}

/// AQL queues run the same packets in indirect buffers.
#[test]
fn aql_queues_have_them_too() {
    let rig = Rig::new();
    let queue = rig.start(0);
    let mut buffer = write_data(DATA, &[5]);
    buffer.extend([0xc006_4900, 0x514, 0x2200_0000, low(MAILBOXES), high(MAILBOXES), 3, 0, 3]);
    for (at, word) in (BUFFERS..).step_by(4).zip(&buffer) {
        rig.write_u32(at, *word);
    }
    rig.signal(SIGNALS, 1, 0, 0);
    let mut packet = aql::Pm4Indirect::new(BUFFERS, buffer.len() as u32);
    packet.completion_signal = SIGNALS;
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    assert_eq!((rig.read_u32(DATA), rig.read_u32(MAILBOXES)), (5, 3));
    assert_eq!(rig.host.told(), [Told::Interrupt(3)]);
    drop(queue);
}

/// Numbers that look random, the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// A packet of one of the layouts with any bits in it, now and then addresses and small numbers.
    fn packet(&mut self) -> Vec<u32> {
        let layouts = ::pm4::packet::LAYOUTS;
        let layout = layouts[self.next(layouts.len() as u64) as usize];
        let payload = if layout.payload { self.next(9) as usize } else { 0 };
        let dwords = (layout.dwords + payload).max(2) as u32;
        let mut words = vec![::pm4::Header::new((layout.fixed >> 8) as u8, dwords).0];
        for _ in 1..dwords {
            words.push(match self.next(6) {
                0 => low(DATA + self.next(4096)),
                1 => self.next(1 << 32) as u32,
                2 => 1 << self.next(32),
                3 => self.next(16) as u32,
                _ => 0,
            });
        }
        words
    }
}

/// Whatever is in the ring: the queue goes on, waits, or stops for a reason, and can be destroyed.
#[test]
fn any_packets() {
    let mut numbers = Numbers(1);
    let mut stopped = 0;
    for round in 0..1500 {
        let gpus =
            [("gfx1151", 110_501), ("gfx1201", 120_001), ("gfx90a", 90_010), ("gfx1030", 100_300)];
        let (name, gfx_target_version) = gpus[round % gpus.len()];
        let mut pm4 = Pm4::of(name, gfx_target_version);
        let words: Vec<_> = (0..3).flat_map(|_| numbers.packet()).collect();
        pm4.submit(&words);
        let deadline = Instant::now() + Duration::from_millis(2);
        let is_over = || pm4.read_pointer() == pm4.written || pm4.queue.fault().is_some();
        while !is_over() && pm4.rig.host.told().is_empty() && Instant::now() < deadline {
            thread::yield_now();
        }
        stopped += u32::from(pm4.queue.fault().is_some());
        pm4.queue.destroy();
        let told = pm4.rig.host.told();
        assert!(!told.iter().any(|told| matches!(told, Told::Internal(_))), "{words:x?}: {told:?}");
    }
    assert!((100..1400).contains(&stopped), "{stopped} of 1500");
}

/// The PM4 packet in an AQL packet, with what ROCr does not write (amd_aql_queue.cpp, `ExecutePM4`).
#[test]
fn aql_packets_with_another_indirect_buffer() {
    let cases = [
        // CHAIN; a VMID; another number of dwords behind it; no dwords; not VALID.
        (4, 1 << 23 | 1 << 20 | 1, "not modelled: PM4_IB"),
        (4, 1 << 23 | 1 << 24 | 1, "not modelled: PM4_IB"),
        (5, 9, "not modelled: PM4_IB"),
        (4, 1 << 23, "an empty buffer"),
        (4, 1, "the VALID bit is clear"),
    ];
    for (dword, value, what) in cases {
        let rig = Rig::new();
        let queue = rig.start(0);
        rig.write_u32(BUFFERS, 0xffff_1000);
        let mut words = aql::Pm4Indirect::new(BUFFERS, 1).encode();
        words[dword] = value;
        rig.submit(0, &words);
        let text = rig.wait_fault(&queue).error.to_string();
        assert!(text.contains(what), "{text}");
    }
}

/// Fields that would change what happens, and before which nothing has happened.
#[test]
fn fields_that_are_not_modelled() {
    let gfx12 = ("gfx1201", 120_001);
    let gfx11 = ("gfx1100", 110_000);
    let release = |first: u32, second| [0xc006_4900, 0x514 | first, second, low(DATA), 0, 5, 0, 0];
    let acquire = |control| [0xc006_5800, 0, 0, 0, 0, 0, 0, control];
    let cases: [(_, &[u32], &str); 14] = [
        // The predicate is bit 0 of the header (PAL, `Type3Header`).
        (gfx11, &[0xc003_3701, 5 << 8, low(DATA), 0, 5], "field predicate"),
        (gfx11, &acquire(1 << 10), "field gl2_us"),
        (gfx11, &acquire(1 << 15 | 1 << 13), "field gl2_discard"),
        (gfx11, &acquire(1 << 18), "field range_is_pa"),
        (gfx11, &acquire(1 << 15 | 1 << 11), "volatile lines of L2"),
        (gfx11, &release(1 << 16, 1 << 29), "field gl2_us"),
        (gfx11, &release(1 << 19, 1 << 29), "field gl2_discard"),
        (gfx11, &release(1 << 21 | 1 << 17, 1 << 29), "a part of L2"),
        (gfx11, &release(0, 1 << 29 | 1 << 22), "field mes_action_id"),
        // Conditional interrupts; a queue's write pointer as the destination.
        (gfx11, &release(0, 1 << 29 | 6 << 24), "this interrupt"),
        (gfx11, &release(0, 1 << 29 | 2 << 16), "this destination"),
        (gfx11, &[0xc005_3c00, 1 << 4 | 1 << 24, low(DATA), 0, 0, 0, 0], "field mes_action"),
        (gfx12, &[0xc003_3700, 5 << 8 | 1 << 23, low(DATA), 0, 5], "field aid_id"),
        (gfx12, &[0xc004_4000, 5 | 2 << 8 | 1 << 21, 5, 0, low(DATA), 0], "field mode"),
    ];
    for ((name, version), words, what) in cases {
        let mut pm4 = Pm4::of(name, version);
        pm4.submit(words);
        let text = pm4.fault().error.to_string();
        assert!(text.starts_with(&format!("not modelled: {what} ")), "{text}");
        assert_eq!(pm4.rig.read_u32(DATA), 0, "{text}");
    }
}
