//! One AQL queue: its memory, and how a packet gets into it.
//!
//! Memory, all of it system memory that host and device see coherently:
//!
//! | what | where |
//! |---|---|
//! | control page | `amd_queue_t` at 0, the signal of `queue_inactive_signal` at 3072, exceptions at 3136, an indirect buffer for new code at 3200 |
//! | ring | one packet of 64 bytes a slot |
//! | signals | one `amd_signal_t` of 64 bytes a slot, the completion signal of the packet there |
//! | arguments | a ring of kernarg segments |

use super::Scratch;
use crate::Error;
use crate::device::DeviceInner;
use crate::memory::{HostVisible, Placement, Span};
use aql::queue::offset as queue_offset;
use aql::signal::offset as signal_offset;
use aql::{Generation, PACKET_BYTES, PACKET_WORDS, Ring};
use kfd::{AllocationFlags, EventKind, ExceptionReport, Location, QueueKind, QueueOptions};
use pm4::{AcquireMem, AcquireMemGfx9, CacheControl, CoherControl};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::IntoBytes;

/// Where in the control page the signal of `queue_inactive_signal` is: behind `amd_queue_v2_t`.
const INACTIVE_SIGNAL: usize = 3072;

/// Where in the control page Linux writes the queue's exceptions (`ErrorReason` of the context save area's header).
const EXCEPTIONS: usize = 3136;

/// Where in the control page the indirect buffer is that invalidates the caches code was read through.
const NEW_CODE: usize = 3200;

/// Bytes of argument memory: at 64 bytes a dispatch more than a ring of packets.
pub(crate) const KERNARG_BYTES: u64 = 1 << 20;

/// When a packet ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Value of the device's clock when it started, ticks.
    pub(crate) start: u64,
    /// And when it ended.
    pub(crate) end: u64,
}

/// One hardware queue.
#[derive(Debug)]
pub(crate) struct AqlQueue {
    queue: kfd::Queue,
    event: Arc<kfd::Event>,
    control: Arc<HostVisible>,
    ring: Arc<HostVisible>,
    signals: Arc<HostVisible>,
    kernarg: Arc<HostVisible>,
    scratch: Scratch,
    slots: u64,
}

impl AqlQueue {
    /// Creates a queue of `slots` packets, a power of two of at least 64.
    pub(crate) fn create(
        device: &Arc<DeviceInner>,
        slots: u64,
        scratch: Scratch,
    ) -> Result<AqlQueue, Error> {
        let shared = AllocationFlags::WRITABLE
            | AllocationFlags::NO_SUBSTITUTE
            | AllocationFlags::COHERENT
            | AllocationFlags::UNCACHED
            | AllocationFlags::EXECUTABLE;
        let allocate = |bytes: u64| -> Result<Arc<HostVisible>, Error> {
            let allocation = device.allocate(bytes, Placement::Host, shared)?;
            HostVisible::new(allocation).map(Arc::new).ok_or(Error::NotHostVisible { bytes })
        };
        let control = allocate(4096)?;
        let ring = allocate(slots * PACKET_BYTES as u64)?;
        let signals = allocate(slots * size_of::<aql::Signal>() as u64)?;
        let kernarg = allocate(KERNARG_BYTES)?;
        let event = Arc::new(kfd::Event::create(device.kfd(), EventKind::Signal, true)?);

        let apertures = device.apertures();
        let mut image = aql::Queue::new(
            ring.address(),
            slots as u32,
            (apertures.lds_base >> 32) as u32,
            (apertures.scratch_base >> 32) as u32,
        );
        let shape = device.shape();
        image.max_cu_id = shape.compute_units.saturating_sub(1);
        image.max_wave_id = shape.waves_per_cu.saturating_sub(1);
        image.queue_properties = aql::queue::Properties::new()
            .with_is_ptr64(true)
            .with_enable_profiling(true)
            .into_bits();
        image.queue_inactive_signal = control.address() + INACTIVE_SIGNAL as u64;
        if let Some(memory) = &scratch.memory {
            image.compute_tmpring_size = scratch.tmpring;
            image.scratch_backing_memory_location = memory.address();
            image.scratch_backing_memory_byte_size = scratch.bytes;
            image.scratch_wave64_lane_byte_size = scratch.wave_bytes / 64;
            image.scratch_resource_descriptor = aql::scratch::resource_descriptor(
                device.generation(),
                memory.address(),
                scratch.bytes as u32, // CAST: at most MAX_SCRATCH_BYTES
            );
        }
        control.copy_in(0, image.as_bytes());

        control.copy_in(NEW_CODE, new_code(device.generation()).as_bytes());

        let mut signal = aql::Signal::user(0);
        signal.event_mailbox_ptr = event.mailbox().unwrap_or(0);
        signal.event_id = event.id();
        control.copy_in(INACTIVE_SIGNAL, signal.as_bytes());
        for slot in 0..slots as usize {
            signals.copy_in(slot * size_of::<aql::Signal>(), signal.as_bytes());
        }
        ring_of(&ring, slots).invalidate();

        let at = |offset| Location { allocation: control.allocation().clone(), offset };
        let mut options = QueueOptions::new(
            QueueKind::Aql,
            ring.allocation().clone(),
            at(queue_offset::WRITE_DISPATCH_ID),
            at(queue_offset::READ_DISPATCH_ID),
        );
        options.exceptions =
            Some(ExceptionReport { payload: at(EXCEPTIONS as u64), event: event.clone() });
        let queue = device.kfd().create_queue(options)?;
        Ok(AqlQueue { queue, event, control, ring, signals, kernarg, scratch, slots })
    }

    /// Packets that fit.
    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }

    /// Linux's number of the queue.
    pub(crate) fn id(&self) -> u32 {
        self.queue.id()
    }

    /// The event that completions signal.
    pub(crate) fn event(&self) -> &Arc<kfd::Event> {
        &self.event
    }

    /// Scratch bytes a wave can have.
    #[inline]
    pub(crate) fn scratch_wave_bytes(&self) -> u32 {
        self.scratch.wave_bytes
    }

    /// Device address of `amd_queue_t`.
    pub(crate) fn address(&self) -> u64 {
        self.control.address()
    }

    /// Argument memory: its device address and the host's view of a part of it.
    #[inline]
    pub(crate) fn kernarg(&self, offset: u64, bytes: u32) -> (u64, Span<'_>) {
        (self.kernarg.address() + offset, self.kernarg.span(offset as usize, bytes as usize))
    }

    #[inline]
    fn signal_at(&self, index: u64, field: u64) -> &AtomicU64 {
        let slot = index & (self.slots - 1);
        self.signals.qword(slot as usize * size_of::<aql::Signal>() + field as usize)
    }

    /// Arms the completion signal of packet `index` and returns its handle.
    #[inline]
    pub(crate) fn arm(&self, index: u64) -> u64 {
        self.signal_at(index, signal_offset::VALUE).store(1, Ordering::Relaxed);
        let slot = index & (self.slots - 1);
        self.signals.address() + slot * size_of::<aql::Signal>() as u64
    }

    /// Packet `index` as one that makes code visible which was loaded where other bytes may have been.
    pub(crate) fn new_code_packet(&self, index: u64) -> [u32; PACKET_WORDS] {
        let address = self.control.address() + NEW_CODE as u64;
        let mut packet = aql::Pm4Indirect::new(address, NEW_CODE_DWORDS as u32);
        packet.header = packet.header.with_barrier(true);
        packet.completion_signal = self.arm(index);
        packet.encode()
    }

    /// Publishes packet `index`: body, header, write index, doorbell.
    #[inline]
    pub(crate) fn publish(&self, index: u64, words: &[u32; PACKET_WORDS]) {
        let ring = ring_of(&self.ring, self.slots);
        let write_index = self.control.qword(queue_offset::WRITE_DISPATCH_ID as usize);
        publish_packet(&ring, index, words, write_index, self.queue.doorbell().word());
    }

    /// Whether packet `index` is done.
    #[inline]
    pub(crate) fn is_done(&self, index: u64) -> bool {
        self.signal_at(index, signal_offset::VALUE).load(Ordering::Acquire) == 0
    }

    /// When packet `index`, which is done, ran.
    pub(crate) fn completion(&self, index: u64) -> Completion {
        Completion {
            start: self.signal_at(index, signal_offset::START_TS).load(Ordering::Relaxed),
            end: self.signal_at(index, signal_offset::END_TS).load(Ordering::Relaxed),
        }
    }

    /// What the packet processor wrote to `queue_inactive_signal` when the queue stopped; 0 while it runs.
    #[inline]
    pub(crate) fn error_code(&self) -> u64 {
        let offset = INACTIVE_SIGNAL + signal_offset::VALUE as usize;
        self.control.qword(offset).load(Ordering::Acquire)
    }

    /// The exceptions that Linux reported for the queue: a mask of 1 << (code − 1).
    #[inline]
    pub(crate) fn exceptions(&self) -> u64 {
        self.control.qword(EXCEPTIONS).load(Ordering::Acquire)
    }

    /// Takes the queue off the device. What the device might still touch when that fails stays
    /// allocated for ever.
    pub(crate) fn shut_down(&mut self) -> Result<(), Error> {
        let result = self.queue.shut_down();
        if result.is_err() {
            for memory in [&self.signals, &self.kernarg] {
                std::mem::forget(memory.clone());
            }
            std::mem::forget(self.scratch.memory.clone());
            std::mem::forget(self.event.clone());
        }
        Ok(result?)
    }

    /// The packet at `index` as it is in the ring, for error reports.
    pub(crate) fn packet(&self, index: u64) -> [u32; PACKET_WORDS] {
        let ring = ring_of(&self.ring, self.slots);
        ring.slot(index).each_ref().map(|word| word.load(Ordering::Relaxed))
    }
}

const NEW_CODE_DWORDS: usize = 8;

/// ACQUIRE_MEM for new code, filled up with single-dword NOPs.
fn new_code(generation: Generation) -> [u32; NEW_CODE_DWORDS] {
    let control = match generation {
        Generation::Gfx9 | Generation::Gfx90a | Generation::Gfx94x => {
            let mut words = [pm4::Header::NOP.0; NEW_CODE_DWORDS];
            let packet = AcquireMemGfx9::everywhere(CoherControl::NEW_CODE).encode();
            words[..packet.len()].copy_from_slice(&packet);
            return words;
        }
        Generation::Gfx10 | Generation::Gfx11 => CacheControl::NEW_CODE,
        Generation::Gfx12 => CacheControl::NEW_CODE_GFX12,
    };
    AcquireMem::everywhere(control).encode()
}

#[inline]
fn ring_of(memory: &HostVisible, slots: u64) -> Ring<'_> {
    let words = memory.dwords(0, slots as usize * PACKET_WORDS);
    // `create` takes powers of two of at least 64 slots, so this is always a ring.
    Ring::new(words).expect("a power of two of at least 1024 bytes")
}

/// The four stores that hand a packet to the device. Between the header and the doorbell there is nothing
/// but the write index: the processor may start the packet at the header, and sleeps until the doorbell.
#[inline(never)]
fn publish_packet(
    ring: &Ring<'_>,
    index: u64,
    words: &[u32; PACKET_WORDS],
    write_index: &AtomicU64,
    doorbell: &AtomicU64,
) {
    ring.write_body(index, words);
    ring.write_header(index, words);
    write_index.store(index + 1, Ordering::Release);
    doorbell.store(index, Ordering::Release);
}
