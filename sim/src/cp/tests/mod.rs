//! Queues over hand-placed memory and a host that records.

mod caches;
mod control;
mod dispatch;
mod doorbells;
mod errors;
mod order;
mod packets;
mod pm4;
mod xccs;

use super::{Host, QueueConfiguration, QueueFault, QueueKind, RingProcessor, TrapHandler};
use crate::memory::{AddressSpace, Backing, MemoryFault, MemoryType, Permissions, View};
use crate::modes::Ordering as Order;
use crate::profile::Gpu;
use crate::shader::WaveInterrupt;
use aql::descriptor::{Properties, Rsrc1Gfx10, Rsrc2};
use aql::{KernelDescriptor, KernelDispatch, PACKET_BYTES, Queue, Signal, queue, signal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use zerocopy::IntoBytes;

const RING: u64 = 0x10_0000;
const RING_BYTES: u32 = 1024;
/// Packets of the ring.
const SLOTS: u64 = RING_BYTES as u64 / PACKET_BYTES as u64;
const QUEUE: u64 = 0x20_0000;
const SIGNALS: u64 = 0x30_0000;
const INACTIVE: u64 = SIGNALS + 0xfc0;
const CODE: u64 = 0x40_0000;
const MAILBOXES: u64 = 0x50_0000;
const DATA: u64 = 0x60_0000;
/// Distance from one queue's ring or structure to the next one's.
const NEXT_QUEUE: u64 = 0x1_0000;
const QUEUES: u64 = 2;

/// Kernels, from llvm-mc-19 --arch=amdgcn --mcpu=gfx1151 --show-encoding.
mod kernel {
    /// s_endpgm
    pub(super) const END: &[u32] = &[0xbfb0_0000];
    /// loop: s_branch loop
    pub(super) const ENDLESS: &[u32] = &[0xbfa0_ffff];
    /// Every lane stores its workgroup's number to the address in the first argument plus 4 × lane:
    /// s_load_b64 s[2:3], s[0:1], 0x0; v_lshlrev_b32 v1, 2, v0; v_mov_b32 v2, s4;
    /// s_waitcnt lgkmcnt(0); global_store_b32 v1, v2, s[2:3]; s_endpgm
    ///
    /// s4 is the workgroup's number when there are four user SGPRs.
    pub(super) const STORE: &[u32] = &[
        0xf404_0080,
        0xf800_0000,
        0x3002_0082,
        0x7e04_0204,
        0xbf89_fc07,
        0xdc6a_0000,
        0x0002_0201,
        0xbfb0_0000,
    ];
    /// Adds to a dword at the first argument plus 2:
    /// s_load_b64 s[2:3], s[0:1], 0x0; v_mov_b32 v1, 2; v_mov_b32 v2, 1; s_waitcnt lgkmcnt(0);
    /// global_atomic_add_u32 v1, v2, s[2:3]; s_waitcnt_vscnt null, 0x0; s_endpgm
    pub(super) const MISALIGNED: &[u32] = &[
        0xf404_0080,
        0xf800_0000,
        0x7e02_0282,
        0x7e04_0281,
        0xbf89_fc07,
        0xdcd6_0000,
        0x0002_0201,
        0xbc7c_0000,
        0xbfb0_0000,
    ];
    /// Stores to address 0: v_mov_b32 v0, 0; v_mov_b32 v1, 0; global_store_b32 v[0:1], v0, off;
    /// s_waitcnt_vscnt null, 0x0; s_endpgm
    pub(super) const NULL_STORE: &[u32] =
        &[0x7e00_0280, 0x7e02_0280, 0xdc6a_0000, 0x007c_0000, 0xbc7c_0000, 0xbfb0_0000];
    /// s_trap 2; s_endpgm
    pub(super) const ABORT: &[u32] = &[0xbf90_0002, 0xbfb0_0000];
    /// s_trap 3; s_endpgm
    pub(super) const DEBUG_TRAP: &[u32] = &[0xbf90_0003, 0xbfb0_0000];
    /// s_sendmsg_rtn_b64 s[2:3], sendmsg(MSG_RTN_GET_TMA); s_endpgm
    pub(super) const NOT_MODELLED: &[u32] = &[0xbe82_4d82, 0xbfb0_0000];
    /// No instruction.
    pub(super) const ILLEGAL: &[u32] = &[0xffff_ffff, 0xbfb0_0000];
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Interrupt(u32),
    Error { queue: u32, exceptions: u64 },
    Fault(MemoryFault),
    Internal(String),
    Wave(WaveInterrupt),
    Hang,
}

/// Records what it is told; its clock is 100 ticks later at every look.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    told: Mutex<Vec<Told>>,
    /// What was said to be not modelled.
    refused: Mutex<Vec<String>>,
    clock: AtomicU64,
    ordering: Order,
    /// Looking at the clock panics.
    broken: AtomicBool,
}

impl Recorder {
    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    fn record(&self, what: Told) {
        self.told.lock().unwrap().push(what);
    }
}

impl Host for Recorder {
    fn ordering(&self) -> Order {
        self.ordering
    }

    fn end_of_pipe_interrupt(&self, context_id: u32) {
        self.record(Told::Interrupt(context_id));
    }

    fn queue_error(&self, queue: u32, exceptions: u64) {
        self.record(Told::Error { queue, exceptions });
    }

    fn memory_fault(&self, fault: MemoryFault) {
        self.record(Told::Fault(fault));
    }

    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        self.record(Told::Wave(interrupt));
    }

    fn hang(&self) {
        self.record(Told::Hang);
    }

    fn not_modelled(&self, what: &str) {
        self.refused.lock().unwrap().push(what.to_owned());
    }

    fn internal_error(&self, message: &str) {
        self.record(Told::Internal(message.to_owned()));
    }

    fn clock(&self) -> u64 {
        assert!(!self.broken.load(Ordering::Relaxed), "the clock is broken");
        self.clock.fetch_add(100, Ordering::Relaxed) + 100
    }
}

fn gfx1151() -> Gpu {
    Gpu {
        name: "gfx1151",
        gfx_target_version: 110_501,
        compute_units: 40,
        xccs: 1,
        shader_engines: 2,
        scratch_slots_per_cu: 32,
        lds_bytes: 64 << 10,
    }
}

/// A GPU's memory with two rings, their structures, code, signals and data.
#[derive(Debug)]
struct Rig {
    gpu: Arc<Gpu>,
    space: Arc<AddressSpace>,
    doorbells: Arc<Backing>,
    /// What the host sees of the data.
    data: Arc<Backing>,
    host: Arc<Recorder>,
    trap_handler: Arc<TrapHandler>,
    written: [AtomicU64; QUEUES as usize],
    /// Id of the first queue.
    first_id: u32,
}

fn view(space: &Arc<AddressSpace>) -> View {
    View::new(Arc::clone(space))
}

/// Waits, for longer than anything here can take.
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        thread::sleep(Duration::from_micros(200));
    }
}

impl Rig {
    fn new() -> Rig {
        Rig::of(gfx1151())
    }

    fn of(gpu: Gpu) -> Rig {
        Rig::within(Arc::new(AddressSpace::new()), gpu)
    }

    /// In an empty address space. The data is mapped as cached.
    fn within(space: Arc<AddressSpace>, gpu: Gpu) -> Rig {
        let data = Permissions::READ | Permissions::WRITE;
        let map = |address, permissions| {
            let backing = Arc::new(Backing::zeroed(4096));
            assert!(space.map(address, 4096, backing, 0, permissions));
        };
        for queue in 0..QUEUES {
            map(RING + queue * NEXT_QUEUE, data);
            map(QUEUE + queue * NEXT_QUEUE, data);
        }
        for address in [SIGNALS, MAILBOXES] {
            map(address, data);
        }
        let backing = Arc::new(Backing::zeroed(4096));
        assert!(space.map_as(MemoryType::Cached, (DATA, 4096), backing.clone(), 0, data));
        map(CODE, Permissions::all());
        let rig = Rig {
            gpu: Arc::new(gpu),
            space,
            doorbells: Arc::new(Backing::zeroed(4096)),
            data: backing,
            host: Arc::default(),
            trap_handler: Arc::default(),
            written: Default::default(),
            first_id: 7,
        };
        for queue in 0..QUEUES {
            let ring = RING + queue * NEXT_QUEUE;
            for slot in 0..SLOTS {
                rig.write_u32(ring + slot * PACKET_BYTES as u64, 1);
            }
            let mut image = Queue::new(ring, SLOTS as u32, 0x1_0000, 0x2_0000);
            image.queue_inactive_signal = INACTIVE;
            view(&rig.space).write_bytes(QUEUE + queue * NEXT_QUEUE, image.as_bytes()).unwrap();
        }
        rig.signal(INACTIVE, 0, 0, 0);
        rig
    }

    fn start(&self, queue: u64) -> RingProcessor {
        self.start_at(queue, 0)
    }

    fn start_at(&self, queue: u64, first: u64) -> RingProcessor {
        self.written[queue as usize].store(first, Ordering::Relaxed);
        self.start_with(self.configuration(queue, QueueKind::Aql), first)
    }

    fn configuration(&self, queue: u64, kind: QueueKind) -> QueueConfiguration {
        let structure = QUEUE + queue * NEXT_QUEUE;
        QueueConfiguration {
            kind,
            process: 0,
            gpu: 0,
            id: self.first_id + queue as u32,
            ring: (RING + queue * NEXT_QUEUE, RING_BYTES),
            read_pointer: structure + queue::offset::READ_DISPATCH_ID,
            write_pointer: structure + queue::offset::WRITE_DISPATCH_ID,
            end_of_pipe_buffer: DATA,
            doorbell: (Arc::clone(&self.doorbells), queue * 8),
            trap_handler: self.trap_handler.clone(),
            xcc: 0,
        }
    }

    fn start_with(&self, configuration: QueueConfiguration, first: u64) -> RingProcessor {
        let host: Arc<dyn Host> = self.host.clone();
        RingProcessor::start_at(
            first,
            Arc::clone(&self.gpu),
            configuration,
            Arc::clone(&self.space),
            host,
        )
        .unwrap()
    }

    fn read_u64(&self, address: u64) -> u64 {
        view(&self.space).acquire_u64(address).unwrap()
    }

    fn read_u32(&self, address: u64) -> u32 {
        view(&self.space).acquire_u32(address).unwrap()
    }

    fn write_u64(&self, address: u64, value: u64) {
        view(&self.space).release_u64(address, value).unwrap();
    }

    fn write_u32(&self, address: u64, value: u32) {
        view(&self.space).write_u32(address, value).unwrap();
    }

    fn write_field(&self, field: u64, value: u32) {
        self.write_u32(QUEUE + field, value);
    }

    /// Places a signal.
    fn signal(&self, address: u64, value: i64, mailbox: u64, event_id: u32) {
        let mut signal = Signal::user(value);
        signal.event_mailbox_ptr = mailbox;
        signal.event_id = event_id;
        view(&self.space).write_bytes(address, signal.as_bytes()).unwrap();
    }

    fn value(&self, signal: u64) -> i64 {
        self.read_u64(signal + signal::offset::VALUE).cast_signed()
    }

    fn set_value(&self, signal: u64, value: i64) {
        self.write_u64(signal + signal::offset::VALUE, value.cast_unsigned());
    }

    /// Writes a packet into the ring without telling of it; returns its index.
    fn place(&self, queue: u64, words: &[u32; 16]) -> u64 {
        let index = self.written[queue as usize].fetch_add(1, Ordering::Relaxed);
        let slot = RING + queue * NEXT_QUEUE + index % SLOTS * PACKET_BYTES as u64;
        let read = QUEUE + queue * NEXT_QUEUE + queue::offset::READ_DISPATCH_ID;
        if index >= SLOTS {
            wait_for("room in the ring", || self.read_u64(read) + SLOTS > index);
        }
        for (i, word) in words.iter().enumerate().skip(1) {
            self.write_u32(slot + 4 * i as u64, *word);
        }
        std::sync::atomic::fence(Ordering::Release);
        self.write_u32(slot, words[0]);
        let write = QUEUE + queue * NEXT_QUEUE + queue::offset::WRITE_DISPATCH_ID;
        self.write_u64(write, index + 1);
        index
    }

    fn ring_doorbell(&self, queue: u64, index: u64) {
        std::sync::atomic::fence(Ordering::Release);
        self.doorbells.store_u64(queue * 8, index);
    }

    fn submit(&self, queue: u64, words: &[u32; 16]) -> u64 {
        let index = self.place(queue, words);
        self.ring_doorbell(queue, index);
        index
    }

    /// Writes a kernel's descriptor to the start of the code page and its code behind it.
    fn load(&self, code: &[u32], change: impl FnOnce(&mut KernelDescriptor)) -> u64 {
        let mut descriptor = KernelDescriptor {
            kernel_code_entry_byte_offset: 0x100,
            compute_pgm_rsrc1: Rsrc1Gfx10::new().with_mem_ordered(true).into_bits(),
            compute_pgm_rsrc2: Rsrc2::new()
                .with_user_sgpr_count(4)
                .with_enable_sgpr_workgroup_id_x(true)
                .into_bits(),
            kernel_code_properties: Properties::new()
                .with_enable_sgpr_kernarg_segment_ptr(true)
                .with_enable_wavefront_size32(true)
                .into_bits(),
            ..KernelDescriptor::default()
        };
        change(&mut descriptor);
        let mut memory = view(&self.space);
        memory.write_bytes(CODE, &descriptor.encode()).unwrap();
        for (i, word) in code.iter().enumerate() {
            memory.write_u32(CODE + 0x100 + 4 * i as u64, *word).unwrap();
        }
        CODE
    }

    /// A dispatch of a workgroup of 32 that completes the first signal, which is set to 1.
    fn dispatch(&self, kernel: &[u32]) -> KernelDispatch {
        let kernel = self.load(kernel, |_| ());
        self.signal(SIGNALS, 1, 0, 0);
        let mut packet = KernelDispatch::new(kernel, DATA, [32, 1, 1], [32, 1, 1]);
        packet.completion_signal = SIGNALS;
        packet
    }

    fn wait_zero(&self, signal: u64) {
        wait_for("completion", || self.value(signal) == 0);
    }

    fn wait_fault(&self, queue: &RingProcessor) -> QueueFault {
        wait_for("an error of the queue", || queue.fault().is_some());
        let fault = queue.fault().unwrap();
        wait_for("the inactive signal", || self.value(INACTIVE) != 0);
        fault
    }
}
