//! AQL: takes packets in order and does what they say.

use super::dispatch::{Dispatch, Surroundings};
use super::error::QueueError;
use super::hqd::{Backoff, Halt, Hqd, Processor, read_words};
use super::overlap::Held;
use super::taken::PacketFormat;
use super::{pm4, signal};
use crate::memory::{MemoryFault, Path, View};
use crate::shader::Xccs;
use aql::header::{FenceScope, PacketType};
use aql::vendor::Format;
use aql::{BarrierValue, Generation, Header, KernelDispatch, Packet, Pm4Indirect};
use aql::{PACKET_BYTES, PACKET_WORDS, queue};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// The processor of an AQL queue.
#[derive(Debug)]
pub(super) struct Aql {
    hqd: Hqd,
    /// Packets that the doorbell has told of.
    submitted: u64,
    slots: Slots,
    /// Where workgroups run.
    xccs: Xccs,
    /// What runs indirect buffers, on each XCC.
    pm4: Vec<pm4::Engine>,
}

/// The slots of the ring, as the processor frees them.
#[derive(Debug)]
struct Slots {
    ring: (u64, u32),
    read_pointer: u64,
    /// The first packet that is not complete.
    read: u64,
    /// Later ones that are.
    complete: BTreeSet<u64>,
}

impl Slots {
    /// Address of a packet's slot.
    fn address(&self, packet: u64) -> u64 {
        let (base, bytes) = self.ring;
        base.wrapping_add(
            packet.wrapping_mul(PACKET_BYTES as u64) & u64::from(bytes.saturating_sub(1)),
        )
    }

    /// Whether there is a slot of its own for a packet: those up to it may all be incomplete.
    fn has(&self, packet: u64) -> bool {
        packet.wrapping_sub(self.read) < u64::from(self.ring.1) / PACKET_BYTES as u64
    }

    /// Frees a packet's slot. The read pointer goes past packets in their order, whatever the order of their ends.
    fn free(&mut self, memory: &mut View, packet: u64) -> Result<(), MemoryFault> {
        fence(Ordering::Release);
        memory.write_u16(self.address(packet), Header::INVALID.into_bits())?;
        self.complete.insert(packet);
        while self.complete.remove(&self.read) {
            self.read = self.read.wrapping_add(1);
        }
        memory.release_u64(self.read_pointer, self.read)
    }
}

impl Processor for Aql {
    fn step(&mut self) -> Result<(), Halt> {
        let words = self.fetch()?;
        self.hqd.taken(PacketFormat::Aql, self.slot(), &words, true)?;
        self.hqd.meet_planned_fault()?;
        let packet = Packet::decode(&words);
        let Header { acquire, release, barrier, packet_type, .. } = packet.header();
        let overtakes = matches!(
            packet_type,
            PacketType::KERNEL_DISPATCH | PacketType::BARRIER_AND | PacketType::BARRIER_OR
        );
        if barrier || !overtakes {
            self.drain()?;
        }
        let start = self.hqd.host.clock();
        let mut gives_scratch_back = false;
        let completion_signal = match packet {
            Packet::KernelDispatch(packet) => {
                gives_scratch_back =
                    packet.private_segment_size != 0 && self.properties()?.use_scratch_once();
                if self.dispatch(&packet, acquire, release, !gives_scratch_back)? {
                    self.hqd.packet = self.hqd.packet.wrapping_add(1);
                    return Ok(());
                }
                packet.completion_signal
            }
            Packet::BarrierAnd(packet) => {
                self.barrier(packet.dep_signals(), false)?;
                self.acquire(acquire);
                packet.completion_signal
            }
            Packet::BarrierOr(packet) => {
                self.barrier(packet.dep_signals(), true)?;
                self.acquire(acquire);
                packet.completion_signal
            }
            Packet::BarrierValue(packet) => {
                self.barrier_value(&packet)?;
                self.acquire(acquire);
                packet.completion_signal
            }
            Packet::Pm4Indirect(packet) => {
                self.acquire(acquire);
                self.indirect_buffer(&packet)?;
                packet.completion_signal
            }
            // Agent dispatches, packets of other generations, what is unknown.
            packet => {
                let vendor = packet.header().packet_type == PacketType::VENDOR_SPECIFIC;
                let error =
                    if vendor { QueueError::VendorPacket } else { QueueError::PacketFormat };
                return Err(error(packet.to_string()).into());
            }
        };
        self.hqd.act_on_cache(reaches_the_system(release), false);
        self.retire(completion_signal, start)?;
        if gives_scratch_back { self.give_scratch_back() } else { Ok(()) }
    }

    fn fail(&mut self, error: QueueError) -> Result<(), Halt> {
        let (value, exception) = (error.inactive_value(), error.exception());
        self.hqd.note(error);
        let inactive = self.queue()?.wrapping_add(queue::offset::QUEUE_INACTIVE_SIGNAL);
        let inactive = self.hqd.memory.read_u64(inactive)?;
        signal::store(&mut self.hqd.memory, &*self.hqd.host, inactive, value)?;
        if let Some(code) = exception {
            self.hqd.host.queue_error(self.hqd.configuration.id, 1 << (code - 1));
            return Err(Halt::Stopped);
        }
        // Without a signal nobody can say that it is mended: the queue waits for its end.
        self.hqd.wait(|memory| Ok(inactive != 0 && signal::value(memory, inactive)? == 0))?;
        self.hqd.recover();
        Ok(())
    }

    fn hqd(&self) -> &Hqd {
        &self.hqd
    }
}

/// Whether a fence is one between agents of the system; those of one GPU have its L2 in common.
fn reaches_the_system(scope: FenceScope) -> bool {
    scope.0 >= FenceScope::SYSTEM.0
}

impl Aql {
    /// Of a queue whose first packet has this index.
    pub(super) fn new(first: u64, mut hqd: Hqd) -> Aql {
        hqd.packet = first;
        let xccs = Xccs { count: hqd.gpu.xccs, first: hqd.configuration.xcc, only: None };
        let pm4 = pm4::Engine::of_all(hqd.gpu.gfx_target_version, xccs);
        let slots = Slots {
            ring: hqd.configuration.ring,
            read_pointer: hqd.configuration.read_pointer,
            read: first,
            complete: BTreeSet::new(),
        };
        Aql { hqd, submitted: first, slots, xccs, pm4 }
    }

    /// A packet's acquire fence: of a barrier, behind what it waits for (HSA Platform System Architecture
    /// Specification 1.2, 2.9.1).
    fn acquire(&self, scope: FenceScope) {
        self.hqd.act_on_cache(false, reaches_the_system(scope));
    }

    /// The next packet, once the doorbell has told of it and its header is valid.
    fn fetch(&mut self) -> Result<[u32; PACKET_WORDS], Halt> {
        let mut backoff = Backoff::default();
        self.hqd.rest(Duration::ZERO)?;
        loop {
            if self.hqd.packet == self.submitted {
                self.look_at_doorbell()?;
            }
            // The driver may give the queue another ring whenever it rests.
            self.slots.ring = self.hqd.configuration.ring;
            if self.hqd.packet != self.submitted && self.slots.has(self.hqd.packet) {
                let address = self.slot();
                let head = self.hqd.memory.acquire_u32(address)?;
                if Header::from_word(head).packet_type != PacketType::INVALID {
                    let mut words = [head; PACKET_WORDS];
                    read_words(&mut self.hqd.memory, address.wrapping_add(4), &mut words[1..])?;
                    self.hqd.disorder.is_busy();
                    return Ok(words);
                }
            }
            let any = !self.hqd.held.is_empty();
            if self.hqd.disorder.gives_up(any) {
                self.drain()?;
            }
            self.hqd.rest(backoff.next())?;
        }
    }

    /// Address of the slot of the next packet.
    fn slot(&self) -> u64 {
        self.slots.address(self.hqd.packet)
    }

    /// A doorbell is the index of the last packet of its producer. Of several producers, the one
    /// with the lower index may ring last; the write pointer has moved past all of them by
    /// then.
    fn look_at_doorbell(&mut self) -> Result<(), MemoryFault> {
        if let Some(doorbell) = self.hqd.doorbell() {
            let written = self.hqd.memory.acquire_u64(self.hqd.configuration.write_pointer)?;
            self.submitted = self.submitted.max(doorbell.wrapping_add(1)).max(written);
        }
        Ok(())
    }

    /// Frees the packet's slot and tells of its completion; not before its end, as kernels can read
    /// their packet through the dispatch pointer.
    ///
    /// The firmware resets headers to INVALID: hsa.h, HSA_PACKET_TYPE_INVALID, and AMD's answer on
    /// the mailing list amd-gfx of 22 December 2020
    /// (archives/amd-gfx/attachments/20201222/8cb58b12).
    fn retire(&mut self, completion_signal: u64, start: u64) -> Result<(), Halt> {
        let end = self.hqd.host.clock();
        self.hqd.rest(Duration::ZERO)?;
        let timestamps = self.properties()?.enable_profiling().then_some((start, end));
        let packet = self.hqd.packet;
        self.hqd.packet = packet.wrapping_add(1);
        self.slots.free(&mut self.hqd.memory, packet)?;
        self.hqd.count_packet();
        let (host, queue) = (&*self.hqd.host, self.hqd.configuration.id);
        signal::complete(&mut self.hqd.memory, host, queue, completion_signal, timestamps)?;
        Ok(())
    }

    /// What the runtime asks for.
    fn properties(&mut self) -> Result<queue::Properties, MemoryFault> {
        let properties = self.queue()?.wrapping_add(queue::offset::QUEUE_PROPERTIES);
        Ok(queue::Properties::from_bits(self.hqd.memory.read_u32(properties)?))
    }

    /// Tells that a dispatch with scratch for this once is done, by 512 in the inactive signal, and waits until the
    /// property is clear (ROCr, amd_aql_queue.cpp, `DynamicQueueEventsHandler`, "Large scratch reclaim"). Without a
    /// signal there is nobody to tell.
    fn give_scratch_back(&mut self) -> Result<(), Halt> {
        const RECLAIM: u64 = 512;
        let queue = self.queue()?;
        let inactive = queue.wrapping_add(queue::offset::QUEUE_INACTIVE_SIGNAL);
        let inactive = self.hqd.memory.read_u64(inactive)?;
        if inactive == 0 {
            return Ok(());
        }
        signal::store(&mut self.hqd.memory, &*self.hqd.host, inactive, RECLAIM)?;
        let properties = queue.wrapping_add(queue::offset::QUEUE_PROPERTIES);
        self.hqd.wait(|memory| {
            let properties = memory.acquire_u32(properties)?;
            Ok(!queue::Properties::from_bits(properties).use_scratch_once())
        })
    }

    /// Does what was held back, and frees its slots and tells of its completion as it ends.
    fn drain(&mut self) -> Result<(), Halt> {
        if self.hqd.held.is_empty() {
            return Ok(());
        }
        let is_profiled = self.properties()?.enable_profiling();
        let mut memory = View::on(Path::Both, Arc::clone(self.hqd.memory.space()));
        let (host, slots) = (Arc::clone(&self.hqd.host), &mut self.slots);
        let (counter, queue) = (self.hqd.counter(), self.hqd.configuration.id);
        self.hqd.drain_with(|held, start| {
            let timestamps = is_profiled.then(|| (start, host.clock()));
            slots.free(&mut memory, held.packet)?;
            counter.count_packet();
            signal::complete(&mut memory, &*host, queue, held.signal, timestamps)?;
            Ok(())
        })
    }

    /// Address of the queue's `amd_queue_t`.
    fn queue(&mut self) -> Result<u64, MemoryFault> {
        const OFFSET_AFTER_READ_ID: u64 = queue::offset::READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET
            - queue::offset::READ_DISPATCH_ID;
        let read_id = self.hqd.configuration.read_pointer;
        let offset = self.hqd.memory.read_u32(read_id.wrapping_add(OFFSET_AFTER_READ_ID))?;
        Ok(read_id.wrapping_sub(offset.into()))
    }

    /// Runs a kernel, or, if it may be, holds it back: then says so.
    fn dispatch(
        &mut self,
        packet: &KernelDispatch,
        acquire: FenceScope,
        release: FenceScope,
        may_be_held: bool,
    ) -> Result<bool, Halt> {
        let queue = self.queue()?;
        let surroundings = Surroundings {
            gpu: &self.hqd.gpu,
            queue,
            packet: self.slot(),
            index: self.hqd.packet,
            trap_handler: self.hqd.configuration.trap_handler.get(),
            xccs: self.xccs,
        };
        let memory = &mut self.hqd.memory;
        let launch = Dispatch::new(packet, &surroundings, memory)
            .and_then(|dispatch| Ok(dispatch.launch(memory)?));
        let launch = match launch {
            Ok(launch) => launch,
            Err(halt) => {
                self.drain()?;
                return Err(halt);
            }
        };
        if may_be_held && self.hqd.holds(&launch) {
            let fences = [acquire, release].map(reaches_the_system);
            let (packet, signal) = (self.hqd.packet, packet.completion_signal);
            self.hqd.hold(Held { launch, packet, fences, signal });
            return Ok(true);
        }
        self.drain()?;
        self.acquire(acquire);
        self.hqd.dispatch(&launch)?;
        Ok(false)
    }

    fn indirect_buffer(&mut self, packet: &Pm4Indirect) -> Result<(), Halt> {
        let problem = match packet {
            Pm4Indirect { valid: false, .. } => Some("the VALID bit is clear"),
            Pm4Indirect { size: 0, .. } => Some("an empty buffer"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(QueueError::VendorPacket(format!("{packet}: {problem}")).into());
        }
        // As ROCr writes it (amd_aql_queue.cpp, `ExecutePM4`): going on for good, another VMID and whatever else the PM4
        // packet within can say are clear, and the number of dwords behind it is that of this packet.
        if packet.reserved[1..6] != [0; 5] || packet.remaining != Pm4Indirect::REMAINING {
            let (what, pc) = (packet.to_string(), self.slot());
            return Err(QueueError::NotModelled { what, pc }.into());
        }
        let buffer = pm4::Buffer { address: packet.address, dwords: packet.size };
        let hqd = &mut self.hqd;
        let run = self.pm4.iter_mut().try_for_each(|engine| pm4::run(engine, hqd, buffer));
        run.and_then(|()| self.hqd.drain()).map_err(|halt| match halt {
            Halt::Queue(error @ QueueError::Pm4Packet { .. }) => {
                QueueError::VendorPacket(error.to_string()).into()
            }
            halt => halt,
        })
    }

    /// Waits for all of the signals, or for any. No signal counts as satisfied where all have to be, and as not
    /// satisfied where any has (hsa.h, `hsa_barrier_and_packet_t`, `hsa_barrier_or_packet_t`): without any, the latter
    /// waits for its end.
    fn barrier(&mut self, signals: [u64; 5], any: bool) -> Result<(), Halt> {
        let signals = signals.into_iter().filter(|&signal| signal != 0);
        let satisfied = |memory: &mut View| -> Result<bool, Halt> {
            let mut satisfied = 0;
            for signal in signals.clone() {
                if signal::value(memory, signal)? == 0 {
                    satisfied += 1;
                }
            }
            Ok(if any { satisfied > 0 } else { satisfied == signals.clone().count() })
        };
        if !satisfied(&mut self.hqd.memory)? {
            // What it waits for may come of it.
            self.drain()?;
        }
        self.hqd.wait(satisfied)
    }

    fn barrier_value(&mut self, packet: &BarrierValue) -> Result<(), Halt> {
        let generation = Generation::from_target_version(self.hqd.gpu.gfx_target_version);
        let refuse = || Halt::from(QueueError::VendorPacket(packet.to_string()));
        if !generation.is_some_and(|generation| Format::BARRIER_VALUE.is_accepted_by(generation)) {
            return Err(refuse());
        }
        if packet.signal == 0 {
            return Ok(());
        }
        self.hqd.wait(|memory| {
            let value = signal::value(memory, packet.signal)?;
            packet.holds(value).ok_or_else(refuse)
        })
    }
}
