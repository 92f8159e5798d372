//! A queue of PM4 packets.

use crate::kernels::Kernel;
use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use crate::subject::{Subject, eventually};
use kfd::{Event, QueueKind, QueueOptions};
use pm4::layout::{WriteError, Writer};
use pm4::packet::Nop;
use pm4::sequence::{self, Dispatch, Grid, Mailbox, Scope};
use pm4::{Generation, Header};
use std::sync::Arc;

/// Where in the page of pointers they are: what an AQL queue has in `amd_queue_t`.
const WRITE_POINTER: u64 = 0x38;
const READ_POINTER: u64 = 0x80;
/// Where in it fences go.
const FENCE: u64 = 0x100;
/// Most dwords that one call submits.
const MOST: usize = 1024;

/// What packets are written to.
pub(crate) type Packets<'a> = Writer<&'a mut [u32], Generation>;
/// Whether they could be.
pub(crate) type Written = std::result::Result<(), WriteError>;

/// A queue with its memory.
#[derive(Debug)]
pub(crate) struct Pm4Queue {
    queue: kfd::Queue,
    ring: Buffer,
    pointers: Buffer,
    arguments: Buffer,
    event: Arc<Event>,
    generation: Generation,
    /// Dwords since the queue was made.
    written: u64,
    fences: u64,
}

impl Pm4Queue {
    /// A queue with a ring of so many dwords, a power of two of at least 1024.
    pub(crate) fn new(subject: &Subject, dwords: u64) -> Result<Pm4Queue> {
        let ring = subject.memory(Kind::Shared, dwords * 4)?;
        let pointers = subject.memory(Kind::Shared, 4096)?;
        let arguments = subject.memory(Kind::Shared, 4096)?;
        let event = subject.event()?;
        let options = QueueOptions::new(
            QueueKind::Pm4,
            ring.allocation().clone(),
            pointers.at(WRITE_POINTER),
            pointers.at(READ_POINTER),
        );
        let queue = subject.device().create_queue(options)?;
        let generation = subject.generation();
        Ok(Pm4Queue { queue, ring, pointers, arguments, event, generation, written: 0, fences: 0 })
    }

    /// The kernel's queue.
    pub(crate) fn kfd(&self) -> &kfd::Queue {
        &self.queue
    }

    /// The event of [`finish_by_event`](Pm4Queue::finish_by_event).
    pub(crate) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Dwords of the ring.
    pub(crate) fn dwords(&self) -> u64 {
        self.ring.allocation().len() / 4
    }

    /// Dwords written since the queue was made.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Where in the ring the queue reads next, as it says.
    pub(crate) fn read_pointer(&self) -> Result<u64> {
        Ok(self.pointers.dword(READ_POINTER)?.into())
    }

    /// Packets as dwords.
    pub(crate) fn packets(
        &self,
        write: impl FnOnce(&mut Packets<'_>) -> Written,
    ) -> Result<Vec<u32>> {
        let mut words = vec![0; MOST];
        let mut writer = Writer::new(&mut words[..], self.generation);
        write(&mut writer).map_err(|error| Outcome::fail(error.to_string()))?;
        let written = writer.written();
        words.truncate(written);
        Ok(words)
    }

    /// Puts dwords into the ring, one after the other round its end, when there is room, and moves the write pointer.
    pub(crate) fn place(&mut self, words: &[u32]) -> Result {
        let dwords = self.dwords();
        for &word in words {
            let written = self.written;
            eventually("room in the ring", || {
                Ok(written.wrapping_sub(self.read_pointer()?) % dwords != dwords - 1)
            })?;
            self.ring.set_dword(written % dwords * 4, word)?;
            self.written += 1;
        }
        self.pointers.set_qword(WRITE_POINTER, self.written)
    }

    /// Tells of all that was placed.
    pub(crate) fn ring_doorbell(&self) {
        self.queue.doorbell().ring(self.written);
    }

    /// Submits dwords.
    pub(crate) fn submit(&mut self, words: &[u32]) -> Result {
        self.place(words)?;
        self.ring_doorbell();
        Ok(())
    }

    /// Submits packets.
    pub(crate) fn send(&mut self, write: impl FnOnce(&mut Packets<'_>) -> Written) -> Result {
        let words = self.packets(write)?;
        self.submit(&words)
    }

    /// The value of the last fence that arrived.
    pub(crate) fn fenced(&self) -> Result<u64> {
        self.pointers.qword(FENCE)
    }

    /// Submits a fence, and gives its value.
    pub(crate) fn fence(&mut self) -> Result<u64> {
        self.fences += 1;
        let (address, value) = (self.pointers.address() + FENCE, self.fences);
        self.send(|to| sequence::fence(to, Scope::System, address, value))?;
        Ok(value)
    }

    /// Waits until a fence has arrived.
    pub(crate) fn wait(&self, fence: u64) -> Result {
        eventually(&format!("fence {fence}"), || Ok(self.fenced()? >= fence))
    }

    /// Waits until all is done.
    pub(crate) fn finish(&mut self) -> Result {
        let fence = self.fence()?;
        self.wait(fence)
    }

    /// The same, sleeping until an interrupt tells.
    pub(crate) fn finish_by_event(&mut self, subject: &Subject) -> Result {
        self.fences += 1;
        let (address, value) = (self.pointers.address() + FENCE, self.fences);
        let mailbox =
            Mailbox { address: self.event.mailbox().unwrap_or(0), event_id: self.event.id() };
        let events = [self.event.clone()];
        self.send(|to| sequence::fence_with_interrupt(to, Scope::System, address, value, mailbox))?;
        subject.wait_for("a fence", &events, || Ok(self.fenced()? >= value))
    }

    /// Fills the ring with NOPs up to so many dwords before its end.
    pub(crate) fn advance_to(&mut self, before_end: u64) -> Result {
        let at = self.dwords() - before_end;
        let words =
            vec![Header::NOP.0; ((at - self.written % self.dwords()) % self.dwords()) as usize];
        self.submit(&words)
    }

    /// Where the arguments of the kernel that was launched last are.
    pub(crate) fn arguments_address(&self) -> u64 {
        self.arguments.address()
    }

    /// Runs a kernel, without waiting for it: so many work-items in workgroups of 64.
    pub(crate) fn launch(&mut self, kernel: &Kernel, items: u32, arguments: &[u8]) -> Result {
        let words = kernel.user_data(self.generation, self.arguments.address())?;
        self.launch_with(kernel, items, arguments, &words)
    }

    /// The same, with these user data.
    pub(crate) fn launch_with(
        &mut self,
        kernel: &Kernel,
        items: u32,
        arguments: &[u8],
        words: &[u32],
    ) -> Result {
        assert_eq!(arguments.len(), kernel.arguments as usize, "arguments as the kernel has them");
        let mut bytes = arguments.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        self.arguments.write(0, &bytes)?;
        let dispatch = Dispatch {
            code: kernel.entry(self.generation),
            rsrc1: kernel.descriptor.compute_pgm_rsrc1,
            rsrc2: kernel.rsrc2()?,
            rsrc3: kernel.descriptor.compute_pgm_rsrc3,
            user_data: words,
            grid: Grid::new([items, 1, 1], [64, 1, 1]).expect("a workgroup of 64"),
            wave32: kernel.descriptor.wavefront_size(self.generation) == 32,
            ..Dispatch::ZERO
        };
        self.send(|to| {
            sequence::acquire(to, Scope::System)?;
            sequence::dispatch(to, &dispatch)
        })
    }

    /// A NOP that skips so many dwords.
    pub(crate) fn nop(dwords: u32) -> (Nop, Vec<u32>) {
        (Nop::skipping(dwords), vec![0xdead_0000; dwords as usize])
    }
}
