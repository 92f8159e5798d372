//! What a stream has in flight.

use super::kept::Kept;
use crate::Error;
use crate::device::DeviceInner;
use crate::fault::QueueFault;
use crate::kernel::{Argument, Geometry, HiddenContext, Kernel};
use crate::queue::{AqlQueue, Arena, Completion, Scratch, packet};
use std::sync::Arc;

/// How many submissions are looked at together: they end in order, so the last one speaks for all, and
/// its signal is the only line of memory that has to come from the device's side.
const RETIRE_STEP: u64 = 16;

pub(super) struct State {
    queue: AqlQueue,
    /// Stream number of the queue's packet 0: a queue with more scratch replaces the first one.
    queue_base: u64,
    /// For each slot of the queue, the argument memory that is free when the submission there is done.
    kernarg_ends: Box<[u64]>,
    arena: Arena,
    kept: Kept,
    submitted: u64,
    retired: u64,
    /// The device's count of loaded executables when this queue last looked for new code.
    code_seen: u64,
    failed: Option<Arc<QueueFault>>,
    closed: bool,
}

/// A kernel launch that was checked.
pub(super) struct Dispatch<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) geometry: &'a Geometry,
    pub(super) arguments: &'a [Argument<'a>],
    /// LDS of a workgroup, bytes.
    pub(super) lds: u32,
    /// Scratch of a work-item, bytes.
    pub(super) private: u32,
    /// Scratch of a wave, bytes.
    pub(super) wave_scratch: u32,
}

/// How far a submission is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    Pending,
}

impl State {
    pub(super) fn new(device: &Arc<DeviceInner>, depth: u32) -> Result<State, Error> {
        let queue = AqlQueue::create(device, depth.into(), Scratch::none())?;
        Ok(State {
            arena: Arena::new(queue.kernarg_bytes()),
            queue,
            queue_base: 0,
            kernarg_ends: vec![0; depth as usize].into_boxed_slice(),
            kept: Kept::default(),
            submitted: 0,
            retired: 0,
            code_seen: 0,
            failed: None,
            closed: false,
        })
    }

    pub(super) fn submitted(&self) -> u64 {
        self.submitted
    }

    pub(super) fn queue(&self) -> &AqlQueue {
        &self.queue
    }

    pub(super) fn in_flight(&mut self) -> u64 {
        self.retire_all();
        self.submitted - self.retired
    }

    fn kernarg_end(&mut self, index: u64) -> &mut u64 {
        let slot = index & (self.kernarg_ends.len() as u64 - 1);
        &mut self.kernarg_ends[slot as usize]
    }

    /// Takes back what finished submissions kept, oldest first.
    fn retire(&mut self) {
        let mut step = RETIRE_STEP;
        while self.retired < self.submitted {
            step = step.min(self.submitted - self.retired);
            let last = self.retired + step - 1;
            if self.queue.is_done(last - self.queue_base) {
                let end = *self.kernarg_end(last);
                self.arena.release(end);
                self.retired = last + 1;
            } else if step > 1 {
                step /= 2;
            } else {
                break;
            }
        }
    }

    /// The same, and gives up what they kept.
    fn retire_all(&mut self) {
        let before = self.retired;
        self.retire();
        if self.retired != before {
            self.kept.release(self.retired);
        }
    }

    /// The fault that ended this stream, if one did.
    fn check(&mut self, device: &DeviceInner) -> Result<(), Error> {
        if let Some(fault) = &self.failed {
            return Err(Error::StreamLost(fault.clone()));
        }
        let (code, exceptions) = (self.queue.error_code(), self.queue.exceptions());
        if code != 0 || exceptions != 0 {
            self.retire();
            let packet = aql::Packet::decode(&self.queue.packet(self.retired - self.queue_base));
            let fault = Arc::new(QueueFault {
                device: device.name().to_owned(),
                queue: self.queue.id(),
                code,
                exceptions,
                submission: self.retired,
                packet: packet.to_string(),
            });
            self.failed = Some(fault.clone());
            return Err(Error::StreamLost(fault));
        }
        device.check_alive()
    }

    /// How far submission `index` is.
    pub(super) fn progress(&mut self, device: &DeviceInner, index: u64) -> Result<Progress, Error> {
        self.retire_all();
        if index < self.retired {
            return Ok(Progress::Done);
        }
        if self.closed {
            return Err(Error::StreamClosed { submission: index });
        }
        self.check(device)?;
        Ok(Progress::Pending)
    }

    /// When a finished submission ran, unless its signal has been used again since.
    pub(super) fn completion(&self, index: u64) -> Option<Completion> {
        let remembered = index >= self.queue_base && index + self.queue.slots() >= self.submitted;
        remembered.then(|| self.queue.completion(index - self.queue_base))
    }

    /// Submits a kernel and returns its number; `None` when there is no room for it now.
    pub(super) fn dispatch(
        &mut self,
        device: &Arc<DeviceInner>,
        dispatch: &Dispatch<'_>,
    ) -> Result<Option<u64>, Error> {
        self.check(device)?;
        if dispatch.wave_scratch > self.queue.scratch_wave_bytes()
            && !self.grow_scratch(device, dispatch)?
        {
            return Ok(None);
        }
        if self.code_seen != device.code_loaded() && !self.invalidate_code(device) {
            return Ok(None);
        }
        let kernel = dispatch.kernel;
        let layout = kernel.layout();
        let Some((offset, kernarg_end)) = self.reserve(layout.size().into()) else {
            return Ok(None);
        };
        let index = self.submitted;

        let (kernarg, span) = self.queue.kernarg(offset, layout.size());
        let apertures = device.apertures();
        let context = HiddenContext {
            queue: self.queue.address(),
            private_aperture: apertures.scratch_base,
            shared_aperture: apertures.lds_base,
        };
        span.fill(0);
        let write = |at: usize, bytes: &[u8]| span.write(at, bytes);
        layout.pack(write, dispatch.arguments, dispatch.geometry, &context);

        *self.kernarg_end(index) = kernarg_end;
        self.kept.keep(kernel.inner(), index);
        for argument in dispatch.arguments {
            if let Argument::Buffer(view) = argument {
                self.kept.keep(view.buffer().inner(), index);
            }
        }

        let packet_index = index - self.queue_base;
        let launch = packet::Launch {
            kernel_object: kernel.address(),
            kernarg,
            private: dispatch.private,
            lds: dispatch.lds,
            completion_signal: self.queue.arm(packet_index),
        };
        self.queue.publish(packet_index, &packet::dispatch(dispatch.geometry, &launch));
        self.submitted = index + 1;
        Ok(Some(index))
    }

    /// Has the queue drop what its caches hold of memory where code was loaded since it last did. False when there
    /// is no room for that now.
    #[cold]
    fn invalidate_code(&mut self, device: &DeviceInner) -> bool {
        let loaded = device.code_loaded();
        let Some((_, kernarg_end)) = self.reserve(0) else { return false };
        let index = self.submitted;
        *self.kernarg_end(index) = kernarg_end;
        let packet_index = index - self.queue_base;
        self.queue.publish(packet_index, &self.queue.new_code_packet(packet_index));
        self.submitted = index + 1;
        self.code_seen = loaded;
        true
    }

    /// A slot and argument memory: offset and end position.
    #[inline]
    fn reserve(&mut self, bytes: u64) -> Option<(u64, u64)> {
        // Keep well ahead of a full queue, a few submissions at a time.
        if self.submitted.is_multiple_of(RETIRE_STEP) {
            self.retire();
            self.kept.release_some(self.retired);
        }
        if !self.has_slot() || !self.arena.has(bytes) {
            self.retire_all();
        }
        if self.has_slot() { self.arena.take(bytes) } else { None }
    }

    /// Whether the next packet's slot is free: its last user is done, and the packet processor has let go of it.
    #[inline]
    fn has_slot(&mut self) -> bool {
        self.submitted - self.retired < self.queue.slots()
            && self.queue.is_slot_free(self.submitted - self.queue_base)
    }

    /// Replaces the queue by one with more scratch. False while it is not idle.
    #[cold]
    fn grow_scratch(
        &mut self,
        device: &Arc<DeviceInner>,
        dispatch: &Dispatch<'_>,
    ) -> Result<bool, Error> {
        self.retire_all();
        if self.retired != self.submitted {
            return Ok(false);
        }
        let scratch = Scratch::allocate(device, dispatch.kernel.name(), dispatch.wave_scratch)?;
        let new = AqlQueue::create(device, self.queue.slots(), scratch)?;
        let mut old = std::mem::replace(&mut self.queue, new);
        self.queue_base = self.submitted;
        self.arena = Arena::new(self.queue.kernarg_bytes());
        // When Linux keeps the old queue, it and its memory are quarantined; this stream goes on.
        let _ = old.shut_down();
        Ok(true)
    }

    /// Takes the queue off the device. What is not done by then never will be.
    pub(super) fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let stopped = self.queue.shut_down().is_ok();
        self.retire();
        if stopped {
            self.kept.clear();
        } else {
            // The device may go on with what is in flight.
            self.kept.leak();
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.close();
    }
}
