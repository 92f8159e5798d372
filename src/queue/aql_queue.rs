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

use super::image::{Addresses, queue_image};
use super::{Scratch, packet};
use crate::Error;
use crate::device::DeviceInner;
use crate::memory::{HostVisible, Placement, Span};
use aql::queue::offset as queue_offset;
use aql::signal::offset as signal_offset;
use aql::{PACKET_BYTES, PACKET_WORDS, Ring};
use kfd::{AllocationFlags, EventKind, ExceptionReport, Location, QueueKind, QueueOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::IntoBytes;

/// Where in the control page the signal of `queue_inactive_signal` is: behind `amd_queue_v2_t`.
const INACTIVE_SIGNAL: usize = 3072;

/// Where in the control page Linux writes the queue's exceptions (`ErrorReason` of the context save area's header).
const EXCEPTIONS: usize = 3136;

/// Where in the control page the indirect buffer is that invalidates the caches code was read through.
const NEW_CODE: usize = 3200;

/// Bytes of argument memory for each slot of the ring: more than the hidden arguments' 256 and a few explicit ones.
const KERNARG_BYTES_PER_SLOT: u64 = 512;

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
    /// The last `read_dispatch_id` that was looked at.
    read_seen: u64,
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
            | AllocationFlags::EXECUTABLE;
        let allocate = |bytes: u64| -> Result<Arc<HostVisible>, Error> {
            let allocation = device.allocate(bytes, 1, Placement::Coherent, shared)?;
            HostVisible::new(allocation).map(Arc::new).ok_or(Error::NotHostVisible { bytes })
        };
        let control = allocate(4096)?;
        let ring = allocate(slots * PACKET_BYTES as u64)?;
        let signals = allocate(slots * size_of::<aql::Signal>() as u64)?;
        let kernarg = allocate(slots * KERNARG_BYTES_PER_SLOT)?;
        let event = Arc::new(kfd::Event::create(device.kfd(), EventKind::Signal, true)?);

        let apertures = device.apertures();
        let addresses = Addresses {
            ring: ring.address(),
            apertures: (apertures.lds_base, apertures.scratch_base),
            inactive_signal: control.address() + INACTIVE_SIGNAL as u64,
        };
        let area = scratch.area();
        let shape = device.shape();
        let image =
            queue_image(device.generation(), &shape, slots as u32, &addresses, area.as_ref());
        control.copy_in(0, image.as_bytes());

        control.copy_in(NEW_CODE, packet::new_code(device.generation()).as_bytes());

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
        Ok(AqlQueue { queue, event, control, ring, signals, kernarg, scratch, slots, read_seen: 0 })
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

    /// Bytes of argument memory, a power of two.
    pub(crate) fn kernarg_bytes(&self) -> u64 {
        self.slots * KERNARG_BYTES_PER_SLOT
    }

    /// Whether the packet processor has let go of the slot that packet `index` goes to: `read_dispatch_id` has
    /// passed the packet there. It says so after the completion signal may already have.
    #[inline]
    pub(crate) fn is_slot_free(&mut self, index: u64) -> bool {
        if index < self.read_seen + self.slots {
            return true;
        }
        let read_index = self.control.qword(queue_offset::READ_DISPATCH_ID as usize);
        self.read_seen = read_index.load(Ordering::Acquire);
        index < self.read_seen + self.slots
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
        packet::run_new_code(address, self.arm(index))
    }

    /// Publishes packet `index`: body, header, write index, doorbell.
    #[inline]
    pub(crate) fn publish(&self, index: u64, words: &[u32; PACKET_WORDS]) {
        let ring = ring_of(&self.ring, self.slots);
        let write_index = self.control.qword(queue_offset::WRITE_DISPATCH_ID as usize);
        packet::publish(&ring, index, words, write_index, self.queue.doorbell().word());
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

#[inline]
fn ring_of(memory: &HostVisible, slots: u64) -> Ring<'_> {
    let words = memory.dwords(0, slots as usize * PACKET_WORDS);
    // `create` takes powers of two of at least 64 slots, so this is always a ring.
    Ring::new(words).expect("a power of two of at least 1024 bytes")
}
