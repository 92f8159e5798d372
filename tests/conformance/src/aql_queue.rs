//! A queue of AQL packets.

use crate::kernels::{Code, Kernel};
use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use crate::subject::{Subject, eventually};
use aql::queue::offset as queue_offset;
use aql::scratch::{self, TmpringSize, waves_are_per_shader_engine};
use aql::signal::offset as signal_offset;
use aql::{BarrierAnd, KernelDispatch, PACKET_BYTES, PACKET_WORDS, Ring};
use kfd::{Allocation, Event, ExceptionReport, QueueKind, QueueOptions};
use std::sync::Arc;
use zerocopy::IntoBytes;

/// Bytes of arguments for each packet of the ring.
const ARGUMENTS: u64 = 256;
/// Bytes between signals: each in a cache line of its own.
const SIGNAL: u64 = 64;
/// Where in the control page the signal is that tells of errors.
const INACTIVE_SIGNAL: u64 = 3072;
/// Where in the control page Linux puts a mask of exceptions.
const EXCEPTIONS: u64 = 3136;
/// Most private memory of a work-item that a kernel of the suite has, bytes.
const PRIVATE: u32 = 1024;

/// A queue, its memory, and a signal for each packet.
#[derive(Debug)]
pub(crate) struct AqlQueue {
    queue: kfd::Queue,
    ring: Buffer,
    control: Buffer,
    signals: Buffer,
    arguments: Buffer,
    event: Arc<Event>,
    slots: u64,
    next: u64,
    _scratch: Option<Buffer>,
    /// Code that its packets may still run.
    code: Vec<Code>,
}

/// Memory for the waves' private memory, and COMPUTE_TMPRING_SIZE.
fn scratch_of(subject: &Subject) -> Result<(Buffer, u32, u32)> {
    let (node, generation) = (subject.device().node(), subject.generation());
    // Enough for either wave size.
    let wave_bytes = scratch::wave_bytes(generation, PRIVATE, 64)
        .ok_or_else(|| Outcome::fail(format!("{PRIVATE} bytes a work-item are too many")))?;
    let (properties, xccs) = (&node.properties, node.xcc_count().max(1));
    // `array_count` counts the shader arrays of all engines (KFD, kfd_topology.c).
    let arrays = properties.simd_arrays_per_engine.max(1);
    let engines = (properties.array_count / arrays / xccs).max(1);
    let units = node.compute_unit_count() / xccs;
    let waves = scratch::slots(units, engines, properties.max_slots_scratch_cu);
    let counted =
        if waves_are_per_shader_engine(generation) { waves / u64::from(engines) } else { waves };
    let tmpring = TmpringSize { waves: counted as u32, wave_bytes }
        .encode(generation)
        .map_err(|error| Outcome::fail(error.to_string()))?;
    let bytes = waves * u64::from(wave_bytes) * u64::from(xccs);
    Ok((subject.memory(Kind::Cached, bytes)?, wave_bytes, tmpring))
}

impl AqlQueue {
    /// A queue of so many packets, a power of two of at least 64.
    pub(crate) fn new(subject: &Subject, slots: u64) -> Result<AqlQueue> {
        AqlQueue::build(subject, slots, None)
    }

    /// The same, whose waves can have private memory.
    pub(crate) fn with_scratch(subject: &Subject, slots: u64) -> Result<AqlQueue> {
        AqlQueue::build(subject, slots, Some(scratch_of(subject)?))
    }

    fn build(
        subject: &Subject,
        slots: u64,
        scratch: Option<(Buffer, u32, u32)>,
    ) -> Result<AqlQueue> {
        let device = subject.device();
        let ring = subject.memory(Kind::Shared, slots * PACKET_BYTES as u64)?;
        let control = subject.memory(Kind::Shared, 4096)?;
        let signals = subject.memory(Kind::Shared, slots * SIGNAL)?;
        let arguments = subject.memory(Kind::Shared, slots * ARGUMENTS)?;
        let event = subject.event()?;
        let apertures = device.apertures();
        let mut image = aql::Queue::new(
            ring.address(),
            slots as u32,
            (apertures.lds_base >> 32) as u32,
            (apertures.scratch_base >> 32) as u32,
        );
        let node = device.node();
        image.max_cu_id = node.compute_unit_count().saturating_sub(1);
        let waves = node.properties.max_waves_per_simd * node.properties.simd_per_cu;
        image.max_wave_id = waves.saturating_sub(1);
        image.queue_properties = aql::queue::Properties::new()
            .with_is_ptr64(true)
            .with_enable_profiling(true)
            .into_bits();
        image.queue_inactive_signal = control.address() + INACTIVE_SIGNAL;
        if let Some((memory, wave_bytes, tmpring)) = &scratch {
            image.compute_tmpring_size = *tmpring;
            image.scratch_backing_memory_location = memory.address();
            image.scratch_backing_memory_byte_size = memory.allocation().len();
            image.scratch_wave64_lane_byte_size = wave_bytes / 64;
            image.scratch_resource_descriptor = scratch::resource_descriptor(
                subject.generation(),
                memory.address(),
                (memory.allocation().len() / u64::from(node.xcc_count().max(1))) as u32,
            );
        }
        control.write(0, image.as_bytes())?;
        let mut signal = aql::Signal::user(0);
        signal.event_mailbox_ptr = event.mailbox().unwrap_or(0);
        signal.event_id = event.id();
        control.write(INACTIVE_SIGNAL, signal.as_bytes())?;
        for slot in 0..slots {
            signals.write(slot * SIGNAL, signal.as_bytes())?;
        }
        ring_of(&ring)?.invalidate();
        let mut options = QueueOptions::new(
            QueueKind::Aql,
            ring.allocation().clone(),
            control.at(queue_offset::WRITE_DISPATCH_ID),
            control.at(queue_offset::READ_DISPATCH_ID),
        );
        options.exceptions =
            Some(ExceptionReport { payload: control.at(EXCEPTIONS), event: event.clone() });
        let queue = device.create_queue(options)?;
        let _scratch = scratch.map(|(memory, ..)| memory);
        Ok(AqlQueue {
            queue,
            ring,
            control,
            signals,
            arguments,
            event,
            slots,
            next: 0,
            _scratch,
            code: Vec::new(),
        })
    }

    /// The kernel's queue.
    pub(crate) fn kfd(&self) -> &kfd::Queue {
        &self.queue
    }

    /// The ring's memory.
    pub(crate) fn ring_memory(&self) -> &Arc<Allocation> {
        self.ring.allocation()
    }

    /// Keeps code as long as the queue.
    pub(crate) fn keep(&mut self, code: Code) {
        self.code.push(code);
    }

    /// The event that every completion sets.
    pub(crate) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Packets that fit.
    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }

    /// Index of the next packet.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Packets that the queue has let go of.
    pub(crate) fn read_index(&self) -> Result<u64> {
        self.control.qword(queue_offset::READ_DISPATCH_ID)
    }

    /// What is in the slot of a packet.
    pub(crate) fn header(&self, index: u64) -> Result<u16> {
        let slot = index % self.slots * PACKET_BYTES as u64;
        Ok(self.ring.dword(slot)? as u16)
    }

    /// Address of the completion signal of packet `index`, armed.
    pub(crate) fn arm(&self, index: u64) -> Result<u64> {
        let at = index % self.slots * SIGNAL;
        self.signals.set_qword(at + signal_offset::VALUE, 1)?;
        Ok(self.signals.address() + at)
    }

    /// Value of the signal of packet `index`.
    pub(crate) fn signal(&self, index: u64) -> Result<u64> {
        self.signals.qword(index % self.slots * SIGNAL + signal_offset::VALUE)
    }

    /// Start and end of packet `index`, ticks.
    pub(crate) fn times(&self, index: u64) -> Result<(u64, u64)> {
        let at = index % self.slots * SIGNAL;
        Ok((
            self.signals.qword(at + signal_offset::START_TS)?,
            self.signals.qword(at + signal_offset::END_TS)?,
        ))
    }

    /// Places a packet's body and header, and moves the write index, without the doorbell.
    pub(crate) fn place(&mut self, words: &[u32; PACKET_WORDS]) -> Result<u64> {
        let index = self.next;
        if index >= self.slots {
            eventually("a free slot", || Ok(self.read_index()? + self.slots > index))?;
        }
        ring_of(&self.ring)?.publish(index, words);
        self.next += 1;
        self.control.set_qword(queue_offset::WRITE_DISPATCH_ID, self.next)?;
        Ok(index)
    }

    /// Rings the doorbell for packet `index` and all before.
    pub(crate) fn ring_doorbell(&self, index: u64) {
        self.queue.doorbell().ring(index);
    }

    /// Submits a packet.
    pub(crate) fn submit(&mut self, words: &[u32; PACKET_WORDS]) -> Result<u64> {
        let index = self.place(words)?;
        self.ring_doorbell(index);
        Ok(index)
    }

    /// A barrier packet that waits for signals, with the completion signal of its slot.
    pub(crate) fn barrier(&mut self, signals: [u64; 5]) -> Result<u64> {
        let mut packet = BarrierAnd::new(signals);
        packet.completion_signal = self.arm(self.next)?;
        self.submit(&packet.encode())
    }

    /// The packet that runs a kernel, with these arguments and the completion signal of its slot.
    pub(crate) fn kernel(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        workgroup: [u16; 3],
        arguments: &[u8],
    ) -> Result<KernelDispatch> {
        assert_eq!(arguments.len(), kernel.arguments as usize, "arguments as the kernel has them");
        let at = self.next % self.slots * ARGUMENTS;
        let mut bytes = arguments.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        self.arguments.write(at, &bytes)?;
        let mut packet =
            KernelDispatch::new(kernel.object, self.arguments.address() + at, grid, workgroup);
        packet.group_segment_size = kernel.lds;
        packet.private_segment_size = kernel.private;
        packet.completion_signal = self.arm(self.next)?;
        Ok(packet)
    }

    /// Runs a kernel on so many work-items, in workgroups of 64, and gives its packet's index.
    pub(crate) fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[u8]) -> Result<u64> {
        let packet = self.kernel(kernel, [items, 1, 1], [64, 1, 1], arguments)?;
        self.submit(&packet.encode())
    }

    /// Waits until packet `index` has completed.
    pub(crate) fn finish(&self, index: u64) -> Result {
        eventually(&format!("packet {index}"), || {
            let error = self.control.qword(INACTIVE_SIGNAL + signal_offset::VALUE)?;
            if error != 0 {
                return Err(Outcome::fail(format!("the queue stopped with {error:#x}")));
            }
            Ok(self.signal(index)? == 0)
        })
    }

    /// The value that tells what the queue lacks, once its event has told.
    pub(crate) fn wait_for_scratch(&self, subject: &Subject, events: &[Arc<Event>]) -> Result<u64> {
        let value = || self.control.qword(INACTIVE_SIGNAL + signal_offset::VALUE);
        subject.wait_for("the queue's want of scratch", events, || Ok(value()? != 0))?;
        value()
    }

    /// The value that tells of the queue's error, once it is there, and the mask of its exceptions.
    pub(crate) fn error(&self) -> Result<(u64, u64)> {
        let value = || self.control.qword(INACTIVE_SIGNAL + signal_offset::VALUE);
        eventually("the queue's error", || Ok(value()? != 0))?;
        let exceptions = || self.control.qword(EXCEPTIONS);
        eventually("the queue's exception", || Ok(exceptions()? != 0))?;
        Ok((value()?, exceptions()?))
    }
}

fn ring_of(memory: &Buffer) -> Result<Ring<'_>> {
    Ring::new(memory.allocation().words()?).map_err(|error| Outcome::fail(error.to_string()))
}
