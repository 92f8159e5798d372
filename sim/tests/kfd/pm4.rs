//! Queues of PM4 packets, from CREATE_QUEUE to the event that their fence sets.

use crate::rig::{Buffer, PAGE, Queue, Rig, eventually, gtt};
use kfd::uapi::{self, request};
use std::sync::atomic::Ordering::SeqCst;

/// Every lane stores its workgroup's number to the address in the first argument plus 4 × lane; llvm-mc-19
/// --arch=amdgcn --mcpu=gfx1151 --show-encoding: s_load_b64 s[2:3], s[0:1], 0x0; v_lshlrev_b32 v1, 2, v0;
/// v_mov_b32 v2, s4; s_waitcnt lgkmcnt(0); global_store_b32 v1, v2, s[2:3]; s_endpgm
const STORE: [u32; 8] = [
    0xf404_0080,
    0xf800_0000,
    0x3002_0082,
    0x7e04_0204,
    0xbf89_fc07,
    0xdc6a_0000,
    0x0002_0201,
    0xbfb0_0000,
];

/// A PM4 queue and its producer.
#[derive(Debug)]
struct Pm4<'a> {
    rig: &'a Rig,
    queue: Queue,
    written: u64,
}

impl<'a> Pm4<'a> {
    fn new(rig: &'a Rig) -> Pm4<'a> {
        let mut queue = rig.queue_buffers();
        queue.args.queue_type = uapi::QUEUE_TYPE_COMPUTE;
        rig.start(&mut queue).unwrap();
        Pm4 { rig, queue, written: 0 }
    }

    fn submit(&mut self, words: &[u32]) {
        for &word in words {
            let slot = self.written * 4 % self.queue.ring.size;
            self.queue.ring.dword(slot).store(word, SeqCst);
            self.written += 1;
        }
        self.queue.pointers.qword(56).store(self.written, SeqCst);
        self.queue.ring_doorbell(self.written);
    }

    fn read_pointer(&self) -> u64 {
        self.queue.pointers.qword(128).load(SeqCst)
    }

    fn wait_idle(&self) {
        let end = self.written % (self.queue.ring.size / 4);
        eventually("the read pointer", || self.read_pointer() == end);
    }

    fn update(&self, queue_percentage: u32) {
        let mut args = uapi::UpdateQueueArgs {
            ring_base_address: self.queue.args.ring_base_address,
            queue_id: self.queue.args.queue_id,
            ring_size: self.queue.args.ring_size,
            queue_percentage,
            queue_priority: 7,
        };
        self.rig.ask(request::UPDATE_QUEUE, &mut args).unwrap();
    }
}

fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

/// The event page, and an event that packets can set.
fn event(rig: &Rig) -> (Buffer, u32) {
    let slots = rig.buffer(gtt(), 32768);
    let mut args = uapi::CreateEventArgs { event_page_offset: slots.handle, ..Default::default() };
    rig.ask(request::CREATE_EVENT, &mut args).unwrap();
    (slots, rig.create_event(uapi::EVENT_SIGNAL, 1))
}

/// What tinygrad submits for a kernel on gfx11.5, dword by dword (pm4/tests/data/packets, sequences.txt: `wait`,
/// `dispatch`, `interrupt`, ops_amd.py `memory_barrier`), but for addresses and sizes.
#[test]
fn a_kernel_a_fence_and_an_event() {
    let rig = Rig::new("gfx1151", 18);
    let (slots, event) = event(&rig);
    let memory = rig.buffer(gtt(), PAGE);
    let (arguments, signal, result) = (memory.va + 0x400, memory.va + 0x440, memory.va + 0x800);
    for (at, word) in (0x100..).step_by(4).zip(STORE) {
        memory.dword(at).store(word, SeqCst);
    }
    memory.qword(0x400).store(result, SeqCst);
    let mailbox = halves(slots.va + u64::from(event) * 8);
    let [code, high] = halves((memory.va + 0x100) >> 8);
    let (arguments, fence) = (halves(arguments), halves(signal));
    let mut pm4 = Pm4::new(&rig);
    #[rustfmt::skip]
    pm4.submit(&[
        // The signal is at least 0, the host's writes are there, caches are invalid.
        0xc005_3c00, 0x15, fence[0], fence[1], 0, 0xffff_ffff, 4,
        0xc005_3c00, 0x45, 0xe26, 0xe27, 0xffff_ffff, 0xffff_ffff, 4,
        0xc006_5800, 0, 0xffff_ffff, 0xffff_ffff, 0, 0, 0, 0xc3f1,
        // The kernel: four user SGPRs and the workgroup's number, 3 × 1 × 1 workgroups of 32.
        0xc006_5800, 0, 0xffff_ffff, 0xffff_ffff, 0, 0, 0, 0x3f0,
        0xc002_7600, 0x20c, code, high,
        0xc002_7600, 0x212, 0x60af_0000, 0x88,
        0xc001_7600, 0x228, 0x10,
        0xc001_7600, 0x218, 0,
        0xc002_7600, 0x210, 0, 0,
        0xc003_7600, 0x21b, 0, 0, 0,
        0xc002_7600, 0x240, arguments[0], arguments[1],
        0xc001_7600, 0x215, 0,
        0xc008_7600, 0x204, 0, 0, 0, 32, 1, 1, 0, 0,
        0xc003_1500, 3, 1, 1, 0x8005,
        0xc000_4600, 0x407,
        // The fence, then the event.
        0xc006_4900, 0x0070_f514, 0x2000_0000, fence[0], fence[1], 7, 0, 0,
        0xc006_4900, 0x514, 0x2200_0000, mailbox[0], mailbox[1], event, 0, event,
    ]);
    let (data, outcome) = rig.wait(uapi::EventData::new(event, 1), 10_000);
    assert_eq!((outcome, data.signal().last_event_age), (uapi::WAIT_RESULT_COMPLETE, 2));
    assert_eq!(memory.dword(0x440).load(SeqCst), 7, "the fence comes before the event");
    for lane in 0..32 {
        assert!(memory.dword(0x800 + 4 * lane).load(SeqCst) < 3);
    }
    assert_eq!(slots.qword(u64::from(event) * 8).load(SeqCst), u64::MAX, "acknowledged");
    pm4.wait_idle();
    assert_eq!(pm4.read_pointer(), pm4.written);
    assert_eq!(rig.machine.refusals(), [""; 0]);
    rig.destroy(pm4.queue);
}

/// An interrupt without an id, as tinygrad's on gfx9: Linux looks at all mailboxes, but not on gfx9 with firmware
/// that sends ids.
#[test]
fn interrupts_without_an_id() {
    for (name, expected) in [
        ("gfx1151", uapi::WAIT_RESULT_COMPLETE),
        ("gfx90a", uapi::WAIT_RESULT_TIMEOUT),
        ("gfx906", uapi::WAIT_RESULT_TIMEOUT),
    ] {
        let rig = Rig::new(name, 18);
        let (slots, event) = event(&rig);
        let [low, high] = halves(slots.va + u64::from(event) * 8);
        let mut pm4 = Pm4::new(&rig);
        pm4.submit(&[0xc006_4900, 0x514, 0x2200_0000, low, high, event, 0, 0]);
        pm4.wait_idle();
        let timeout = if expected == uapi::WAIT_RESULT_COMPLETE { 10_000 } else { 20 };
        let (_, outcome) = rig.wait(uapi::EventData::new(event, 1), timeout);
        assert_eq!(outcome, expected, "{name}");
        rig.destroy(pm4.queue);
    }
}

/// Percentage 0 stops a queue between packets, also one that waits.
#[test]
fn percentage_zero_stops_a_queue() {
    let rig = Rig::new("gfx1151", 18);
    let memory = rig.buffer(gtt(), PAGE);
    let [low, high] = halves(memory.va);
    let mut pm4 = Pm4::new(&rig);
    pm4.submit(&[0xc005_3c00, 0x13, low, high, 1, 0xffff_ffff, 4]);
    pm4.submit(&[0xc003_3700, 0x0010_0500, low + 8, high, 5]);
    pm4.update(0);
    memory.dword(0).store(1, SeqCst);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!((pm4.read_pointer(), memory.dword(8).load(SeqCst)), (0, 0));
    pm4.update(100);
    pm4.wait_idle();
    assert_eq!(memory.dword(8).load(SeqCst), 5);
    rig.destroy(pm4.queue);
}

/// What Linux tells a runtime of a bad packet: the queue's error payload and event.
#[test]
fn a_bad_packet_is_an_exception_of_the_queue() {
    let rig = Rig::new("gfx1151", 18);
    rig.runtime_enable(1).unwrap();
    let (_, event) = event(&rig);
    let payload = rig.buffer(gtt(), PAGE);
    let mut pm4 = Pm4::new(&rig);
    let header = pm4.queue.save_area;
    header.qword(24).store(payload.va, SeqCst);
    header.dword(32).store(event, SeqCst);
    pm4.submit(&[0xc000_0100, 0]);
    let (_, outcome) = rig.wait(uapi::EventData::new(event, 1), 10_000);
    assert_eq!(outcome, uapi::WAIT_RESULT_COMPLETE);
    // EC_QUEUE_PACKET_UNSUPPORTED
    assert_eq!(payload.qword(0).load(SeqCst), 1 << 19);
    assert_eq!(pm4.read_pointer(), 0);
    rig.destroy(pm4.queue);
}

/// No compute unit has so much LDS: the dispatch never starts, and Linux resets the GPU.
#[test]
fn a_dispatch_that_fits_nowhere_hangs() {
    let rig = Rig::new("gfx1100", 18);
    let event = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    let memory = rig.buffer(gtt(), PAGE);
    let [code, high] = halves(memory.va >> 8);
    let mut pm4 = Pm4::new(&rig);
    #[rustfmt::skip]
    pm4.submit(&[
        0xc002_7600, 0x20c, code, high,
        0xc002_7600, 0x212, 0, 129 << 15,
        0xc003_7600, 0x207, 32, 1, 1,
        0xc003_1500, 1, 1, 1, 0x8005,
    ]);
    let (data, outcome) = rig.wait(uapi::EventData::new(event, 0), 10_000);
    assert_eq!((outcome, data.hw_exception().memory_lost), (uapi::WAIT_RESULT_COMPLETE, 1));
    let refusals = rig.machine.refusals();
    assert!(refusals[0].contains("after a hang: group segment of 66048 bytes"), "{refusals:?}");
    rig.destroy(pm4.queue);
}

/// A ring of a page takes more than it holds, one submission after the other.
#[test]
fn rings_wrap() {
    let rig = Rig::new("gfx1201", 18);
    let memory = rig.buffer(gtt(), PAGE);
    let [low, high] = halves(memory.va);
    let mut pm4 = Pm4::new(&rig);
    for value in 1..1000 {
        pm4.submit(&[0xc006_4900, 0x0070_f514, 0x2000_0000, low, high, value, 0, 0, 0xffff_1000]);
        eventually("the fence", || memory.dword(0).load(SeqCst) == value);
    }
    pm4.wait_idle();
    assert!(pm4.written > 8 * 1024);
    rig.destroy(pm4.queue);
}
