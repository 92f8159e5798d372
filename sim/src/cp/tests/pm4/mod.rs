//! Queues of PM4 packets. Packets are dwords as AMD's public headers lay them out and as tinygrad, kfdtest and Linux
//! write them.

mod caches;
mod clients;
mod conditions;
mod dispatch;
mod errors;
mod grids;
mod memory;
mod order;
mod release;
mod ring;
mod waits;

use super::*;

/// Dwords of the ring.
const DWORDS: u64 = RING_BYTES as u64 / 4;
const READ_POINTER: u64 = QUEUE + queue::offset::READ_DISPATCH_ID;
const WRITE_POINTER: u64 = QUEUE + queue::offset::WRITE_DISPATCH_ID;
/// Where tests put indirect buffers: behind what they write.
const BUFFERS: u64 = DATA + 0x800;

/// A queue and its producer.
#[derive(Debug)]
struct Pm4 {
    rig: Rig,
    queue: RingProcessor,
    /// Dwords written since the queue was made.
    written: u64,
}

fn low(address: u64) -> u32 {
    address as u32
}

fn high(address: u64) -> u32 {
    (address >> 32) as u32
}

impl Pm4 {
    fn new() -> Pm4 {
        Pm4::on(Rig::new())
    }

    fn on(rig: Rig) -> Pm4 {
        Pm4::at(rig, 0)
    }

    fn of(name: &'static str, gfx_target_version: u32) -> Pm4 {
        Pm4::on(Rig::of(Gpu { name, gfx_target_version, ..gfx1151() }))
    }

    /// Of a queue that has taken so many dwords.
    fn at(rig: Rig, written: u64) -> Pm4 {
        rig.write_u32(READ_POINTER, (written % DWORDS) as u32);
        let queue = rig.start_with(rig.configuration(0, QueueKind::Pm4), written);
        Pm4 { rig, queue, written }
    }

    fn read_pointer(&self) -> u64 {
        self.rig.read_u32(READ_POINTER).into()
    }

    /// Writes dwords into the ring without telling of them.
    fn place(&mut self, words: &[u32]) {
        for &word in words {
            let written = self.written;
            wait_for("room in the ring", || {
                written.wrapping_sub(self.read_pointer()) % DWORDS != DWORDS - 1
            });
            self.rig.write_u32(RING + written % DWORDS * 4, word);
            self.written += 1;
        }
        self.rig.write_u64(WRITE_POINTER, self.written);
    }

    fn ring_doorbell(&self) {
        self.rig.ring_doorbell(0, self.written);
    }

    fn submit(&mut self, words: &[u32]) {
        self.place(words);
        self.ring_doorbell();
    }

    /// Submits, and waits until all has been taken.
    fn run(&mut self, words: &[u32]) {
        self.submit(words);
        self.wait_idle();
    }

    fn wait_idle(&self) {
        wait_for("the end of the packets", || {
            assert_eq!(self.queue.fault(), None);
            self.read_pointer() == self.written % DWORDS
        });
    }

    /// Gives the dwords behind the read pointer time to be taken, which they must not be.
    fn assert_waits_at(&self, dword: u64) {
        wait_for("the packets before", || self.read_pointer() == dword);
        thread::sleep(Duration::from_millis(10));
        assert_eq!(self.read_pointer(), dword);
        assert_eq!(self.queue.fault(), None);
    }

    /// Puts packets at an address.
    fn buffer(&self, address: u64, words: &[u32]) {
        for (at, word) in (address..).step_by(4).zip(words) {
            self.rig.write_u32(at, *word);
        }
    }

    /// The fault that stops the queue.
    fn fault(&self) -> QueueFault {
        wait_for("an error of the queue", || self.queue.fault().is_some());
        self.queue.fault().unwrap()
    }
}

/// WRITE_DATA to memory with write confirmation (PAL, PM4_MEC_WRITE_DATA: DST_SEL 5, WR_CONFIRM bit 20).
fn write_data(address: u64, values: &[u32]) -> Vec<u32> {
    let count = values.len() as u32 + 2;
    let mut words = vec![0xc000_3700 | count << 16, 5 << 8 | 1 << 20, low(address), high(address)];
    words.extend(values);
    words
}

/// INDIRECT_BUFFER as tinygrad writes it: size and VALID (bit 23).
fn call(address: u64, dwords: usize) -> [u32; 4] {
    [0xc002_3f00, low(address), high(address), dwords as u32 | 1 << 23]
}
