//! The ring, its pointers, and where packets come from.

use super::Sdma;
use crate::cp::{Backoff, Halt, QueueError, read_words};
use ::sdma::Version;
use ::sdma::versions::SDMA6_ON;
use std::time::Duration;

/// What is known of the write pointer. All in bytes.
#[derive(Debug)]
pub(super) struct Pointers {
    /// Up to where the ring is written.
    written: u64,
    /// What the doorbell said last.
    rung: u64,
}

impl Pointers {
    pub(super) fn at(first: u64) -> Pointers {
        Pointers { written: first, rung: first }
    }
}

/// Where packets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// The ring, from the read pointer on.
    Ring,
    /// An indirect buffer.
    Buffer {
        /// The next packet's address.
        address: u64,
        /// Dwords from there on.
        dwords: u32,
    },
}

/// RB_WPTR has no bits for parts of a dword.
const WHOLE_DWORDS: u64 = !3;

fn polls_write_pointer(version: Version) -> bool {
    version.is_in(SDMA6_ON)
}

impl Sdma {
    /// The address of a stream's next packet.
    pub(super) fn address(&self, stream: Stream) -> u64 {
        match stream {
            Stream::Ring => self.ring_address(self.hqd.packet),
            Stream::Buffer { address, .. } => address,
        }
    }

    fn ring_address(&self, position: u64) -> u64 {
        let (base, bytes) = self.hqd.configuration.ring;
        base.wrapping_add(position & u64::from(bytes.saturating_sub(1)))
    }

    /// Has `words` hold the first `count` dwords of the stream's next packet, some of which it may hold already. Of the
    /// ring, waits until they are written.
    pub(super) fn fetch(
        &mut self,
        stream: Stream,
        words: &mut Vec<u32>,
        count: usize,
    ) -> Result<(), Halt> {
        self.require(stream, count)?;
        let held = words.len().min(count);
        words.resize(count, 0);
        let missing = &mut words[held..];
        match stream {
            Stream::Buffer { address, .. } => {
                read_words(&mut self.hqd.memory, address.wrapping_add(4 * held as u64), missing)?;
            }
            Stream::Ring => {
                let position = self.hqd.packet.wrapping_add(4 * held as u64);
                let (_, bytes) = self.hqd.configuration.ring;
                let to_end = (u64::from(bytes) - (position & u64::from(bytes - 1))) / 4;
                let (first, second) = missing
                    .split_at_mut(missing.len().min(to_end.try_into().unwrap_or(usize::MAX)));
                let (at, start) = (self.ring_address(position), self.ring_address(0));
                read_words(&mut self.hqd.memory, at, first)?;
                read_words(&mut self.hqd.memory, start, second)?;
            }
        }
        Ok(())
    }

    /// Makes sure that `count` dwords from the next packet on are there: of the ring, waits for them.
    fn require(&mut self, stream: Stream, count: usize) -> Result<(), Halt> {
        let bytes = 4 * count as u64;
        match stream {
            Stream::Buffer { dwords, .. } if count <= dwords as usize => return Ok(()),
            Stream::Buffer { address, dwords } => {
                let problem = format!(
                    "{count} dwords at {address:#x} in an indirect buffer with {dwords} left"
                );
                return Err(QueueError::SdmaPacket(problem).into());
            }
            Stream::Ring if bytes > self.hqd.configuration.ring.1.into() => {
                let problem = format!("{count} dwords are longer than the ring");
                return Err(QueueError::SdmaPacket(problem).into());
            }
            Stream::Ring => {}
        }
        let mut backoff = Backoff::default();
        self.hqd.rest(Duration::ZERO)?;
        while self.pointers.written.wrapping_sub(self.hqd.packet) < bytes {
            if !self.look()? {
                let any = !self.held.is_empty();
                if self.hqd.disorder.gives_up(any) {
                    self.drain()?;
                }
                self.hqd.rest(backoff.next())?;
            }
        }
        self.hqd.disorder.is_busy();
        Ok(())
    }

    /// Looks whether more is written.
    fn look(&mut self) -> Result<bool, Halt> {
        let doorbell = self.hqd.doorbell();
        let mut written = match doorbell {
            Some(doorbell) => doorbell & WHOLE_DWORDS,
            None if polls_write_pointer(self.engine.version) => self.pointers.rung,
            None => return Ok(false),
        };
        self.pointers.rung = written;
        if polls_write_pointer(self.engine.version) {
            let polled = self.hqd.memory.acquire_u64(self.hqd.configuration.write_pointer)?;
            written = written.max(polled & WHOLE_DWORDS);
        }
        if written == self.pointers.written {
            return Ok(false);
        }
        let (ring, bytes) = self.hqd.configuration.ring;
        if written < self.pointers.written || written - self.hqd.packet > bytes.into() {
            let what = format!(
                "a write pointer of {written:#x} after {:#x}, the read pointer at {:#x}, in a ring of {bytes:#x} bytes",
                self.pointers.written, self.hqd.packet
            );
            return Err(QueueError::NotModelled { what, pc: ring }.into());
        }
        self.pointers.written = written;
        Ok(true)
    }

    /// Goes past `dwords` of the stream.
    pub(super) fn advance(&mut self, stream: &mut Stream, count: usize) -> Result<(), Halt> {
        self.require(*stream, count)?;
        let bytes = 4 * count as u64;
        match stream {
            Stream::Ring => self.hqd.packet = self.hqd.packet.wrapping_add(bytes),
            Stream::Buffer { address, dwords } => {
                *address = address.wrapping_add(bytes);
                // At most as many as there are: just looked at.
                *dwords -= count as u32;
            }
        }
        Ok(())
    }
}
