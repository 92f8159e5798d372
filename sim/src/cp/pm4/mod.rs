//! PM4: the packets that compute queues take, in a ring of their own or in indirect buffers.
//!
//! # Architecture
//! - [`Pm4`]: the processor of a ring of PM4 packets.
//! - [`Engine`]: does what a packet says; an AQL queue has one too, for the indirect buffers that its packets name.
//! - [`buffer`]: indirect buffers.
//! - [`registers`]: registers that packets write and read.
//! - [`dispatch`]: from the COMPUTE_* registers to a launch of the shader core.
//! - [`refuse`]: fields that are known and not modelled.
//! - `wait`, `condition`, `release`, `write`, `copy`, `atomic`, `set`: the packets, by what they do.
//!
//! # What it does not model
//! - Everything is complete before the next packet: shaders, writes, cache operations. On hardware only what waits
//!   (RELEASE_MEM, CS_PARTIAL_FLUSH, write confirmation) keeps the next packet from overtaking. In the machine's ordering
//!   mode packets do overtake dispatches.
//! - Performance counters, thread traces, pipeline statistics, GDS, task and mesh shaders, the scheduler's packets and
//!   whatever else a layout is known of: refused, with a message that names it.
//! - Several XCCs at once: a buffer of an AQL queue is executed by one after the other, so that one which waits for a
//!   later one is refused. How a dispatch in such a buffer is shared out among them, no source says: here as a kernel
//!   dispatch packet's.
//! - Registers of an AQL queue that its kernel dispatch packets change: its indirect buffers have their own.

mod atomic;
mod buffer;
mod condition;
mod copy;
mod dispatch;
mod refuse;
mod registers;
mod release;
mod ring;
mod set;
mod wait;
mod write;

pub(super) use buffer::{Buffer, run};
pub(super) use ring::Pm4;

use super::error::QueueError;
use super::hqd::{Halt, Hqd};
use super::taken::PacketFormat;
use crate::shader::Xccs;
use ::pm4::layout::{HasPayload, Layout, Packet};
use ::pm4::packet::{self, opcode_name};
use ::pm4::{Generation, Header, RawPacket};
use registers::Registers;
use std::fmt::Display;

/// What executes packets: the state that lasts from one to the next.
#[derive(Debug)]
pub(super) struct Engine {
    /// `None` when packets of this GPU are not known.
    generation: Option<Generation>,
    registers: Registers,
    /// Where workgroups of its dispatches run.
    xccs: Xccs,
    /// What the last atomic read, for COPY_DATA.
    atomic_return: u64,
}

/// Where the stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// With the next packet.
    Continue,
    /// Behind so many dwords.
    Skip(u32),
    /// In an indirect buffer, then with the next packet.
    Call(Buffer),
    /// In an indirect buffer, for good.
    Jump(Buffer),
}

/// A packet, and what it acts on.
#[derive(Debug)]
struct Context<'a> {
    engine: &'a mut Engine,
    hqd: &'a mut Hqd,
    generation: Generation,
    /// All dwords, header first.
    words: &'a [u32],
    /// Address of the header.
    address: u64,
    /// Address of the second dword; elsewhere than behind the header where a ring ends.
    body: u64,
    in_ring: bool,
}

/// A packet that does something here.
trait Operation: Packet<Variant = Generation> {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt>;
}

/// The packets that are modelled, by [`Layout::name`].
macro_rules! operations {
    ($($Packet:ident),+ $(,)?) => {
        fn operation(layout: &Layout, at: &mut Context<'_>) -> Option<Result<Next, Halt>> {
            $(
                if layout.name == <packet::$Packet as Packet>::LAYOUT.name {
                    return Some(at.decode::<packet::$Packet>().and_then(|packet| packet.execute(at)));
                }
            )+
            None
        }
    };
}

operations! {
    SetShReg, ReleaseMem, AcquireMem, AcquireMemGfx9, WaitRegMem, WaitRegMemRegister, DispatchDirect, EventWrite,
    Nop, NopHeader, IndirectBuffer, WriteData, CopyData, DispatchIndirect, SetUconfigReg, SetShRegIndex,
    SetShRegPairs, SetShRegPairsPacked, SetShRegPairsPackedGfx12, SetShRegPairsPackedN, SetUconfigRegPairs,
    LoadShRegIndex, WaitRegMem64, WaitRegMem64Register, CondIndirectBuffer, CondExec, PredExec, CondWrite,
    CopyDataRegister, WriteDataRegister, AtomicMem, DmaData, DmaDataFillMulti, Timestamp, Rewind, HdpFlush,
    PrimeUtcl2,
}

impl Engine {
    /// That of a queue that has just been made: the registers hold zero, as Linux's MQD has them
    /// (kfd_mqd_manager_v11.c, `init_mqd`), but for those that only say where waves may run.
    pub(super) fn new(gfx_target_version: u32, xccs: Xccs) -> Engine {
        Engine {
            generation: Generation::from_target_version(gfx_target_version),
            registers: Registers::default(),
            xccs,
            atomic_return: 0,
        }
    }

    /// Those of all XCCs of an AQL queue, in their logical order.
    pub(super) fn of_all(gfx_target_version: u32, xccs: Xccs) -> Vec<Engine> {
        match xccs.count {
            1 => vec![Engine::new(gfx_target_version, xccs)],
            count => (0..count)
                .map(|xcc| Engine::new(gfx_target_version, Xccs { only: Some(xcc), ..xccs }))
                .collect(),
        }
    }

    /// Does what a packet says. `address` and `body` are the addresses of its first and second dwords.
    fn execute(
        &mut self,
        hqd: &mut Hqd,
        words: &[u32],
        [address, body]: [u64; 2],
        in_ring: bool,
    ) -> Result<Next, Halt> {
        hqd.taken(PacketFormat::Pm4(self.generation), address, words, in_ring)?;
        let Some(generation) = self.generation else {
            let what = format!("PM4 packets of {}", hqd.gpu.name);
            return Err(QueueError::NotModelled { what, pc: address }.into());
        };
        let header = Header(words.first().copied().unwrap_or(0));
        if header.packet_type() == 2 {
            return Ok(Next::Continue);
        }
        let mut at = Context { engine: self, hqd, generation, words, address, body, in_ring };
        let Some(layout) = packet::layout(generation, words) else {
            return Err(at.unknown(header));
        };
        if let Some(field) = refuse::unknown(layout, generation, words) {
            return Err(at.not_modelled(format!("field {field}")));
        }
        match operation(layout, &mut at) {
            Some(next) => next,
            None => Err(at.not_modelled("")),
        }
    }
}

impl Context<'_> {
    fn decode<P: Packet<Variant = Generation>>(&self) -> Result<P, Halt> {
        P::from_words(self.words, self.generation).map_err(|error| self.malformed(error))
    }

    /// What follows a packet of the layout.
    fn payload<P: HasPayload<Variant = Generation>>(&self, packet: &P) -> Result<Vec<u32>, Halt> {
        packet.check_payload().map_err(|error| self.malformed(error))?;
        Ok(self.words.get(P::LAYOUT.dwords..).unwrap_or_default().to_vec())
    }

    fn text(&self) -> String {
        let (generation, words) = (self.generation, self.words);
        RawPacket { offset: 0, generation, words }.to_string()
    }

    /// An opcode that compute queues do not know, or a length that its packets do not have.
    fn unknown(&self, header: Header) -> Halt {
        let name = opcode_name(header.opcode(), self.generation);
        let problem = match name {
            Some(name) => format!("{name} of {} dwords", self.words.len()),
            None => format!("opcode {:#04x}", header.opcode()),
        };
        bad_packet(self.address, header, problem)
    }

    /// The packet says what no hardware takes.
    fn malformed(&self, problem: impl Display) -> Halt {
        let header = Header(self.words.first().copied().unwrap_or(0));
        bad_packet(self.address, header, format!("{}: {problem}", self.text()))
    }

    /// What is known, and not modelled. An empty text is the packet as such.
    fn not_modelled(&self, what: impl Display) -> Halt {
        let (packet, what) = (self.text(), what.to_string());
        let what = if what.is_empty() { packet } else { format!("{what} ({packet})") };
        QueueError::NotModelled { what, pc: self.address }.into()
    }
}

/// A packet that stops the queue.
fn bad_packet(address: u64, header: Header, problem: impl Display) -> Halt {
    QueueError::Pm4Packet { address, header: header.0, problem: problem.to_string() }.into()
}

/// Length of the packet with a header, in dwords. Packets of type 0 write registers by their addresses; no firmware
/// of compute queues is documented to take them (PAL's `*_mec_pm4_packets.h` have type 3 alone), and a ring of zeros
/// would consist of them.
fn length(address: u64, header: Header) -> Result<u32, Halt> {
    match (header.packet_type(), header.dwords()) {
        (2 | 3, Some(dwords)) => Ok(dwords as u32),
        (kind, _) => Err(bad_packet(address, header, format!("a header of type {kind}"))),
    }
}
