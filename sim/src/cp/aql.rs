//! AQL: takes packets in order and does what they say.

use super::dispatch::{Dispatch, Surroundings};
use super::error::QueueError;
use super::hqd::{Backoff, Halt, Hqd, Processor, read_words};
use super::taken::PacketFormat;
use super::{pm4, signal};
use crate::memory::MemoryFault;
use crate::shader::Xccs;
use aql::header::{FenceScope, PacketType};
use aql::vendor::Format;
use aql::{BarrierValue, Generation, Header, KernelDispatch, Packet, Pm4Indirect};
use aql::{PACKET_BYTES, PACKET_WORDS, queue};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// The processor of an AQL queue.
#[derive(Debug)]
pub(super) struct Aql {
    hqd: Hqd,
    /// Packets that the doorbell has told of.
    submitted: u64,
    /// Where workgroups run.
    xccs: Xccs,
    /// What runs indirect buffers, on each XCC.
    pm4: Vec<pm4::Engine>,
}

impl Processor for Aql {
    fn step(&mut self) -> Result<(), Halt> {
        let words = self.fetch()?;
        self.hqd.taken(PacketFormat::Aql, self.slot(), &words, true);
        let start = self.hqd.host.clock();
        let packet = Packet::decode(&words);
        let Header { acquire, release, .. } = packet.header();
        let completion_signal = match packet {
            Packet::KernelDispatch(packet) => {
                self.acquire(acquire);
                self.dispatch(&packet)?;
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
        // Between agents of the system only: those of one GPU have its L2 in common.
        self.hqd.act_on_cache(release.0 >= FenceScope::SYSTEM.0, false);
        self.retire(completion_signal, start)
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

impl Aql {
    /// Of a queue whose first packet has this index.
    pub(super) fn new(first: u64, mut hqd: Hqd) -> Aql {
        hqd.packet = first;
        let xccs = Xccs { count: hqd.gpu.xccs, first: hqd.configuration.xcc, only: None };
        let pm4 = pm4::Engine::of_all(hqd.gpu.gfx_target_version, xccs);
        Aql { hqd, submitted: first, xccs, pm4 }
    }

    /// A packet's acquire fence: of a barrier, behind what it waits for (HSA Platform System Architecture
    /// Specification 1.2, 2.9.1).
    fn acquire(&self, scope: FenceScope) {
        self.hqd.act_on_cache(false, scope.0 >= FenceScope::SYSTEM.0);
    }

    /// The next packet, once the doorbell has told of it and its header is valid.
    fn fetch(&mut self) -> Result<[u32; PACKET_WORDS], Halt> {
        let mut backoff = Backoff::default();
        self.hqd.rest(Duration::ZERO)?;
        loop {
            if self.hqd.packet == self.submitted {
                self.look_at_doorbell()?;
            }
            if self.hqd.packet != self.submitted {
                // The driver may give the queue another ring whenever it rests.
                let address = self.slot();
                let head = self.hqd.memory.acquire_u32(address)?;
                if Header::from_word(head).packet_type != PacketType::INVALID {
                    let mut words = [head; PACKET_WORDS];
                    read_words(&mut self.hqd.memory, address.wrapping_add(4), &mut words[1..])?;
                    return Ok(words);
                }
            }
            self.hqd.rest(backoff.next())?;
        }
    }

    /// Address of the slot of the next packet.
    fn slot(&self) -> u64 {
        let (base, bytes) = self.hqd.configuration.ring;
        base.wrapping_add(
            self.hqd.packet.wrapping_mul(PACKET_BYTES as u64) & u64::from(bytes.saturating_sub(1)),
        )
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
        let properties = self.queue()?.wrapping_add(queue::offset::QUEUE_PROPERTIES);
        let properties = self.hqd.memory.read_u32(properties)?;
        let profiling = queue::Properties::from_bits(properties).enable_profiling();
        fence(Ordering::Release);
        self.hqd.memory.write_u16(self.slot(), Header::INVALID.into_bits())?;
        self.hqd.packet = self.hqd.packet.wrapping_add(1);
        self.hqd.memory.release_u64(self.hqd.configuration.read_pointer, self.hqd.packet)?;
        self.hqd.count_packet();
        let timestamps = profiling.then_some((start, end));
        signal::complete(&mut self.hqd.memory, &*self.hqd.host, completion_signal, timestamps)?;
        Ok(())
    }

    /// Address of the queue's `amd_queue_t`.
    fn queue(&mut self) -> Result<u64, MemoryFault> {
        const OFFSET_AFTER_READ_ID: u64 = queue::offset::READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET
            - queue::offset::READ_DISPATCH_ID;
        let read_id = self.hqd.configuration.read_pointer;
        let offset = self.hqd.memory.read_u32(read_id.wrapping_add(OFFSET_AFTER_READ_ID))?;
        Ok(read_id.wrapping_sub(offset.into()))
    }

    fn dispatch(&mut self, packet: &KernelDispatch) -> Result<(), Halt> {
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
        let launch = Dispatch::new(packet, &surroundings, memory)?.launch(memory)?;
        self.hqd.dispatch(&launch)
    }

    fn indirect_buffer(&mut self, packet: &Pm4Indirect) -> Result<(), Halt> {
        if !packet.valid {
            let problem = format!("{packet}: the VALID bit is clear");
            return Err(QueueError::VendorPacket(problem).into());
        }
        let buffer = pm4::Buffer { address: packet.address, dwords: packet.size };
        let hqd = &mut self.hqd;
        let run = self.pm4.iter_mut().try_for_each(|engine| pm4::run(engine, hqd, buffer));
        run.map_err(|halt| match halt {
            Halt::Queue(error @ QueueError::Pm4Packet { .. }) => {
                QueueError::VendorPacket(error.to_string()).into()
            }
            halt => halt,
        })
    }

    /// Waits for all of the signals, or for any.
    fn barrier(&mut self, signals: [u64; 5], any: bool) -> Result<(), Halt> {
        let signals = signals.into_iter().filter(|&signal| signal != 0);
        self.hqd.wait(|memory| {
            let mut satisfied = 0;
            for signal in signals.clone() {
                if signal::value(memory, signal)? == 0 {
                    satisfied += 1;
                }
            }
            let all = signals.clone().count();
            Ok(satisfied == all || any && satisfied > 0)
        })
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
