//! A queue of SDMA packets.

use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use crate::subject::{Subject, eventually};
use kfd::{Event, QueueKind, QueueOptions};
use pm4::layout::Writer;
use sdma::Version;
use sdma::sequence::{self, SequenceError};
use std::sync::Arc;

/// Where in the page of pointers they are.
const WRITE_POINTER: u64 = 0;
const READ_POINTER: u64 = 64;
/// Where in it fences go.
const FENCE: u64 = 0x100;
/// Most dwords that one call submits.
const MOST: usize = 2048;

/// What packets are written to.
pub(crate) type Packets<'a> = Writer<&'a mut [u32], Version>;
/// Whether they could be.
pub(crate) type Written = std::result::Result<(), SequenceError>;

/// A queue with its memory.
#[derive(Debug)]
pub(crate) struct SdmaQueue {
    queue: kfd::Queue,
    ring: Buffer,
    pointers: Buffer,
    event: Arc<Event>,
    version: Version,
    /// Dwords since the queue was made.
    written: u64,
    fences: u32,
}

impl SdmaQueue {
    /// A queue of 4096 dwords, on whichever engine the kernel likes.
    pub(crate) fn new(subject: &Subject) -> Result<SdmaQueue> {
        let ring = subject.memory(Kind::Shared, 16384)?;
        let pointers = subject.memory(Kind::Shared, 4096)?;
        let event = subject.event()?;
        let options = QueueOptions::new(
            QueueKind::Sdma,
            ring.allocation().clone(),
            pointers.at(WRITE_POINTER),
            pointers.at(READ_POINTER),
        );
        let queue = subject.device().create_queue(options)?;
        let version = Version::for_generation(subject.generation());
        Ok(SdmaQueue { queue, ring, pointers, event, version, written: 0, fences: 0 })
    }

    /// The kernel's queue.
    pub(crate) fn kfd(&self) -> &kfd::Queue {
        &self.queue
    }

    /// Dwords written since the queue was made.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// How many bytes the queue has taken, as it says.
    pub(crate) fn read_pointer(&self) -> Result<u64> {
        self.pointers.qword(READ_POINTER)
    }

    /// Packets as dwords.
    pub(crate) fn packets(
        &self,
        write: impl FnOnce(&mut Packets<'_>) -> Written,
    ) -> Result<Vec<u32>> {
        let mut words = vec![0; MOST];
        let mut writer = Writer::new(&mut words[..], self.version);
        write(&mut writer).map_err(|error| Outcome::fail(error.to_string()))?;
        let written = writer.written();
        words.truncate(written);
        Ok(words)
    }

    /// Puts dwords into the ring when there is room, without telling of them. None of them goes over the ring's end: NOPs
    /// fill it up.
    pub(crate) fn place(&mut self, words: &[u32]) -> Result {
        let dwords = self.ring.allocation().len() / 4;
        let left = dwords - self.written % dwords;
        if (words.len() as u64) > left {
            self.store(&vec![0; left as usize])?;
        }
        self.store(words)
    }

    /// Goes on, with NOPs, so many dwords before the ring's end.
    pub(crate) fn advance_to(&mut self, before_end: u64) -> Result {
        let dwords = self.ring.allocation().len() / 4;
        let left = (2 * dwords - before_end - self.written % dwords) % dwords;
        for part in vec![0; left as usize].chunks(1024) {
            self.store(part)?;
            self.ring_doorbell()?;
        }
        Ok(())
    }

    /// [`place`](SdmaQueue::place), but over the ring's end where it comes to it.
    pub(crate) fn place_across(&mut self, words: &[u32]) -> Result {
        self.store(words)
    }

    fn store(&mut self, words: &[u32]) -> Result {
        let dwords = self.ring.allocation().len() / 4;
        let end = self.written + words.len() as u64;
        eventually("room in the ring", || Ok(end - self.read_pointer()? / 4 < dwords))?;
        for &word in words {
            self.ring.set_dword(self.written % dwords * 4, word)?;
            self.written += 1;
        }
        Ok(())
    }

    /// Tells of all that was placed: write pointer, then doorbell, in bytes.
    pub(crate) fn ring_doorbell(&self) -> Result {
        self.pointers.set_qword(WRITE_POINTER, self.written * 4)?;
        self.queue.doorbell().ring(self.written * 4);
        Ok(())
    }

    /// Submits packets, with as many NOPs as the engine needs.
    pub(crate) fn send(&mut self, write: impl FnOnce(&mut Packets<'_>) -> Written) -> Result {
        let words = self.packets(|to| {
            write(to)?;
            sequence::pad_submission(to)
        })?;
        self.place(&words)?;
        self.ring_doorbell()
    }

    /// The value of the last fence that arrived.
    pub(crate) fn fenced(&self) -> Result<u32> {
        self.pointers.dword(FENCE)
    }

    /// Submits packets with a fence behind them, and gives its value.
    pub(crate) fn fence_behind(
        &mut self,
        write: impl FnOnce(&mut Packets<'_>) -> Written,
    ) -> Result<u32> {
        self.fences += 1;
        let (address, value) = (self.pointers.address() + FENCE, self.fences);
        self.send(|to| {
            sequence::invalidate(to)?;
            write(to)?;
            sequence::write_back(to)?;
            sequence::fence(to, address, value)
        })?;
        Ok(value)
    }

    /// Waits until a fence has arrived.
    pub(crate) fn wait(&self, fence: u32) -> Result {
        eventually(&format!("fence {fence}"), || Ok(self.fenced()? >= fence))
    }

    /// Submits packets and waits until they are done.
    pub(crate) fn run(&mut self, write: impl FnOnce(&mut Packets<'_>) -> Written) -> Result {
        let fence = self.fence_behind(write)?;
        self.wait(fence)
    }

    /// Submits a fence with an interrupt, and sleeps until it tells.
    pub(crate) fn finish_by_event(&mut self, subject: &Subject) -> Result {
        self.fences += 1;
        let (address, value) = (self.pointers.address() + FENCE, self.fences);
        let (mailbox, id) = (self.event.mailbox().unwrap_or(0), self.event.id());
        let events = [self.event.clone()];
        self.send(|to| {
            sequence::fence(to, address, value)?;
            sequence::interrupt(to, mailbox, id)
        })?;
        subject.wait_for("a fence", &events, || Ok(self.fenced()? >= value))
    }
}
