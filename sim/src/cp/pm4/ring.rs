//! A ring of PM4 packets.
//!
//! Doorbell and write pointer count dwords, have 64 bits and grow for ever; the read pointer is reported as the dword
//! in the ring, in 32 bits, and starts again at 0 at its end (kfdtest, PM4Queue.cpp, `Wptr`, `Rptr`,
//! `RptrWhenConsumed`, `SubmitPacket`; tinygrad, ops_amd.py, `AMDComputeQueue._submit`). As the hardware compares
//! positions in the ring, one that is full to the last dword looks empty.
//!
//! The report is made after each packet; hardware makes it once a block (CP_HQD_PQ_CONTROL.RPTR_BLOCK_SIZE, 32 dwords
//! or so) and when it has nothing left to do, which nobody can rely on to be later.

use super::{Engine, Next, bad_packet, buffer, length};
use crate::cp::hqd::{Backoff, Halt, Hqd, Processor};
use crate::memory::MemoryFault;
use crate::shader::Xccs;
use ::pm4::Header;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// The processor of a PM4 queue.
#[derive(Debug)]
pub(in crate::cp) struct Pm4 {
    hqd: Hqd,
    engine: Engine,
    /// Dwords taken from the ring since the queue was made.
    position: u64,
    /// Dwords that the doorbell has told of.
    written: u64,
    /// Dwords that are still to be skipped.
    skipped: u32,
    /// The packet.
    words: Vec<u32>,
}

impl Processor for Pm4 {
    fn step(&mut self) -> Result<(), Halt> {
        self.hqd.rest(Duration::ZERO)?;
        if self.skipped != 0 {
            self.wait_for(1)?;
            let count = self.pending().min(self.skipped.into());
            self.skipped -= count as u32;
            return self.retire(count);
        }
        let header = self.fetch()?;
        self.hqd.meet_planned_fault()?;
        let [address, body] = [self.address(0), self.address(1)];
        let next = self.engine.execute(&mut self.hqd, &self.words, [address, body], true)?;
        match next {
            Next::Continue => {}
            Next::Skip(count) => self.skipped = count,
            Next::Call(called) => buffer::run(&mut self.engine, &mut self.hqd, called)?,
            Next::Jump(_) => {
                return Err(bad_packet(address, header, "a ring that is left for good"));
            }
        }
        self.hqd.rest(Duration::ZERO)?;
        self.hqd.count_packet();
        self.retire(self.words.len() as u64)
    }

    fn hqd(&self) -> &Hqd {
        &self.hqd
    }
}

impl Pm4 {
    /// Of a queue that has taken so many dwords.
    pub(in crate::cp) fn new(position: u64, mut hqd: Hqd) -> Pm4 {
        hqd.packet = position;
        let engine = Engine::new(hqd.gpu.gfx_target_version, Xccs::one(hqd.configuration.xcc));
        Pm4 { hqd, engine, position, written: position, skipped: 0, words: Vec::new() }
    }

    /// A position in the ring is one of these, all bits set.
    fn mask(&self) -> u64 {
        u64::from(self.hqd.configuration.ring.1 / 4).saturating_sub(1)
    }

    /// Address of the dword that is so far ahead.
    fn address(&self, ahead: u64) -> u64 {
        let index = self.position.wrapping_add(ahead) & self.mask();
        self.hqd.configuration.ring.0.wrapping_add(index * 4)
    }

    /// Dwords that may be taken.
    fn pending(&self) -> u64 {
        self.written.wrapping_sub(self.position) & self.mask()
    }

    /// Waits until that many dwords may be taken.
    fn wait_for(&mut self, dwords: u64) -> Result<(), Halt> {
        let mut backoff = Backoff::default();
        while self.pending() < dwords {
            match self.hqd.doorbell() {
                Some(written) => self.written = written,
                None => {
                    let any = !self.hqd.held.is_empty();
                    if self.hqd.disorder.gives_up(any) {
                        self.hqd.drain()?;
                    }
                    self.hqd.rest(backoff.next())?;
                }
            }
        }
        self.hqd.disorder.is_busy();
        Ok(())
    }

    /// Reads the next packet, once the doorbell has told of all of it.
    fn fetch(&mut self) -> Result<Header, Halt> {
        self.wait_for(1)?;
        self.hqd.packet = self.position;
        let address = self.address(0);
        let header = Header(self.hqd.memory.read_u32(address)?);
        let dwords = u64::from(length(address, header)?);
        if dwords > self.mask() {
            let problem = format!("{dwords} dwords in a ring of {}", self.mask() + 1);
            return Err(bad_packet(address, header, problem));
        }
        self.wait_for(dwords)?;
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words.push(header.0);
        for ahead in 1..dwords {
            words.push(self.hqd.memory.read_u32(self.address(ahead))?);
        }
        self.words = words;
        Ok(header)
    }

    /// Frees the packet's dwords.
    fn retire(&mut self, dwords: u64) -> Result<(), Halt> {
        self.position = self.position.wrapping_add(dwords);
        self.hqd.packet = self.position;
        Ok(self.report()?)
    }

    fn report(&mut self) -> Result<(), MemoryFault> {
        let pointer = (self.position & self.mask()) as u32;
        fence(Ordering::Release);
        self.hqd.memory.write_u32(self.hqd.configuration.read_pointer, pointer)
    }
}
