//! SDMA queues over hand-placed memory and a host that records.

mod caches;
mod change;
mod control;
mod copy;
mod coverage;
mod drivers;
mod order;
mod random;
mod ring;
mod wait;

use super::Engine;
use crate::cp::{Host, QueueConfiguration, QueueError, QueueFault, QueueKind, RingProcessor};
use crate::memory::{AddressSpace, Backing, MemoryFault, Permissions, View};
use crate::modes::Ordering as Order;
use crate::profile::Gpu;
use crate::shader::WaveInterrupt;
use ::sdma::Version;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const RING: u64 = 0x10_0000;
const RING_BYTES: u32 = 1024;
const POINTERS: u64 = 0x20_0000;
/// Where the queue reports its read pointer, and reads its write pointer.
const READ: u64 = POINTERS;
const WRITE: u64 = POINTERS + 64;
/// What tells that the queue has begun.
const BEGUN: u64 = POINTERS + 128;
const INDIRECT: u64 = 0x30_0000;
/// Sixteen pages, and as many; before and behind them is nothing.
const SRC: u64 = 0x40_0000;
const DST: u64 = 0x60_0000;
const DATA_BYTES: u64 = 16 * 4096;
/// A page that may be read only.
const READ_ONLY: u64 = 0x70_0000;

/// A fence's first dword, without a memory type.
const FENCE: u32 = 5;
/// POLL_REGMEM of memory, until equal.
const POLL_EQUAL: u32 = 0xb000_0008;
/// POLL_REGMEM's last dword: without end.
const ENDLESS: u32 = 0x0fff_0004;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Interrupt(u32),
    Error { queue: u32, exceptions: u64 },
    Fault(MemoryFault),
}

/// Records what it is told; its clock is 100 ticks later at every look.
#[derive(Debug, Default)]
struct Recorder {
    told: Mutex<Vec<Told>>,
    refused: Mutex<Vec<String>>,
    clock: AtomicU64,
    ordering: Order,
    /// The simulator's own error.
    broken: Mutex<Option<String>>,
}

impl Recorder {
    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }
}

impl Host for Recorder {
    fn ordering(&self) -> Order {
        self.ordering
    }

    fn end_of_pipe_interrupt(&self, context_id: u32) {
        self.told.lock().unwrap().push(Told::Interrupt(context_id));
    }

    fn queue_error(&self, queue: u32, exceptions: u64) {
        self.told.lock().unwrap().push(Told::Error { queue, exceptions });
    }

    fn memory_fault(&self, fault: MemoryFault) {
        self.told.lock().unwrap().push(Told::Fault(fault));
    }

    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        panic!("{interrupt:?}");
    }

    fn not_modelled(&self, what: &str) {
        self.refused.lock().unwrap().push(what.to_owned());
    }

    fn internal_error(&self, message: &str) {
        *self.broken.lock().unwrap() = Some(message.to_owned());
    }

    fn clock(&self) -> u64 {
        self.clock.fetch_add(100, Ordering::Relaxed) + 100
    }
}

/// A queue and its memory.
#[derive(Debug)]
struct Rig {
    space: Arc<AddressSpace>,
    doorbells: Arc<Backing>,
    host: Arc<Recorder>,
    queue: RingProcessor,
    written: u64,
}

fn low(value: u64) -> u32 {
    value as u32
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        thread::sleep(Duration::from_micros(100));
    }
}

impl Rig {
    fn new(version: Version) -> Rig {
        Rig::at(version, 0)
    }

    /// Of a queue that has processed so many bytes.
    fn at(version: Version, first: u64) -> Rig {
        Rig::within(Arc::new(AddressSpace::new()), version, first, Order::InOrder)
    }

    /// In an empty address space.
    fn within(space: Arc<AddressSpace>, version: Version, first: u64, ordering: Order) -> Rig {
        let map = |address, bytes, permissions| {
            let backing = Arc::new(Backing::zeroed(bytes));
            assert!(space.map(address, bytes, backing, 0, permissions));
        };
        let data = Permissions::READ | Permissions::WRITE;
        map(RING, 4096, data);
        map(POINTERS, 4096, data);
        map(INDIRECT, 8192, data);
        // Pages one by one, so that everything larger than one spans mappings.
        for page in (0..DATA_BYTES).step_by(4096) {
            map(SRC + page, 4096, data);
            map(DST + page, 4096, data);
        }
        map(READ_ONLY, 4096, Permissions::READ);
        let doorbells = Arc::new(Backing::zeroed(8192));
        let host = Arc::new(Recorder { ordering, ..Recorder::default() });
        let configuration = QueueConfiguration {
            kind: QueueKind::Sdma(Engine { version, number: 1 }),
            process: 0,
            gpu: 0,
            id: 7,
            ring: (RING, RING_BYTES),
            read_pointer: READ,
            write_pointer: WRITE,
            end_of_pipe_buffer: 0,
            doorbell: (Arc::clone(&doorbells), 0x108 * 8),
            trap_handler: Arc::default(),
            xcc: 0,
        };
        let gpu = Gpu {
            name: "gfx1100",
            gfx_target_version: 110_000,
            compute_units: 1,
            xccs: 1,
            shader_engines: 1,
            scratch_slots_per_cu: 1,
            lds_bytes: 1,
        };
        let queue = RingProcessor::start_at(
            first,
            Arc::new(gpu),
            configuration,
            Arc::clone(&space),
            host.clone(),
        )
        .unwrap();
        View::new(Arc::clone(&space)).release_u64(READ, first).unwrap();
        Rig { space, doorbells, host, queue, written: first }
    }

    fn view(&self) -> View {
        View::new(Arc::clone(&self.space))
    }

    fn read_u32(&self, address: u64) -> u32 {
        self.view().acquire_u32(address).unwrap()
    }

    fn read_u64(&self, address: u64) -> u64 {
        self.view().acquire_u64(address).unwrap()
    }

    fn write_u32(&self, address: u64, value: u32) {
        std::sync::atomic::fence(Ordering::Release);
        self.view().write_u32(address, value).unwrap();
    }

    fn write_u64(&self, address: u64, value: u64) {
        self.view().release_u64(address, value).unwrap();
    }

    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.view().read_bytes(address, &mut bytes).unwrap();
        bytes
    }

    fn put(&self, address: u64, bytes: &[u8]) {
        self.view().write_bytes(address, bytes).unwrap();
    }

    /// Bytes of which no two near each other are equal, at the source; all of the destination is 0xee.
    fn prepare(&self) -> Vec<u8> {
        let bytes: Vec<u8> =
            (0..DATA_BYTES).map(|at| (at ^ at >> 8).wrapping_mul(37) as u8).collect();
        self.put(SRC, &bytes);
        self.put(DST, &vec![0xee; DATA_BYTES as usize]);
        bytes
    }

    /// Writes dwords into the ring without telling of them.
    fn place(&mut self, words: &[u32]) {
        for &word in words {
            let room = (self.written + 4).saturating_sub(u64::from(RING_BYTES));
            if self.read_u64(READ) < room {
                self.ring();
                wait_for("room in the ring", || self.read_u64(READ) >= room);
            }
            self.write_u32(RING + self.written % u64::from(RING_BYTES), word);
            self.written += 4;
        }
    }

    /// Tells of what was written.
    fn ring(&self) {
        self.write_u64(WRITE, self.written);
        std::sync::atomic::fence(Ordering::Release);
        self.doorbells.store_u64(0x108 * 8, self.written);
    }

    fn submit(&mut self, words: &[u32]) {
        self.place(words);
        self.ring();
    }

    /// Waits until everything is done.
    fn wait_idle(&self) {
        wait_for("the read pointer", || {
            assert_eq!(self.queue.fault(), None);
            self.read_u64(READ) == self.written
        });
        assert_eq!(self.host.told(), []);
    }

    fn run(&mut self, words: &[u32]) {
        self.submit(words);
        self.wait_idle();
    }

    /// Submits packets, and waits until the engine goes no further: it is at their end, or waits in one of them. A fence
    /// before them tells that it has begun; it does not rest from then on.
    fn run_until_parked(&mut self, words: &[u32]) {
        let begun = self.written as u32 + 1;
        let mut all = fence(BEGUN, begun).to_vec();
        all.extend(words);
        self.submit(&all);
        wait_for("the first packet", || self.read_u32(BEGUN) == begun);
        wait_for("the queue's rest", || self.queue.is_parked());
        assert_eq!(self.queue.fault(), None);
    }

    fn wait_fault(&self) -> QueueFault {
        wait_for("an error of the queue", || self.queue.fault().is_some());
        self.queue.fault().unwrap()
    }

    /// Runs what the queue stops at as no packet; what is said of it.
    fn malformed(&mut self, words: &[u32]) -> String {
        let start = self.written;
        self.submit(words);
        let fault = self.wait_fault();
        assert_eq!(fault.packet, start);
        let QueueError::SdmaPacket(problem) = fault.error else { panic!("{fault}") };
        thread::sleep(Duration::from_millis(5));
        assert_eq!((self.host.told(), self.host.refused.lock().unwrap().len()), (vec![], 0));
        assert!(self.read_u64(READ) <= start, "the read pointer stays");
        problem
    }

    /// Runs what the queue stops at as not modelled; what is said of it.
    fn refused(&mut self, words: &[u32]) -> String {
        self.submit(words);
        let fault = self.wait_fault();
        let QueueError::NotModelled { what, .. } = fault.error else { panic!("{fault}") };
        let told = Told::Error { queue: 7, exceptions: 1 << 3 };
        wait_for("the refusal", || self.host.told() == [told.clone()]);
        assert_eq!(self.host.refused.lock().unwrap().len(), 1);
        what
    }

    /// Runs what ends in a page fault.
    fn fault(&mut self, words: &[u32]) -> MemoryFault {
        self.submit(words);
        wait_for("a page fault", || !self.host.told().is_empty());
        let told = self.host.told();
        let [Told::Fault(fault)] = told[..] else { panic!("{told:?}") };
        fault
    }
}

/// COPY_LINEAR as Linux (`sdma_v6_0_emit_copy_buffer`) and tinygrad write it.
fn copy(src: u64, dst: u64, bytes: u64) -> [u32; 7] {
    [1, low(bytes - 1), 0, low(src), high(src), low(dst), high(dst)]
}

fn fence(address: u64, value: u32) -> [u32; 4] {
    [FENCE, low(address), high(address), value]
}

/// An indirect buffer's packet.
fn indirect(address: u64, dwords: u32) -> [u32; 6] {
    [4, low(address), high(address), dwords, 0, 0]
}
