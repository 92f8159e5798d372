//! Ordered work on a device.
//!
//! - [`Stream`]: a queue of its own, in order.
//! - [`Submission`]: one piece of work on it: wait, ask for its times.
//!
//! A submission owns what it uses until the device has retired it: the buffers, the executable,
//! its arguments and scratch are kept with the stream. A wait that times out gives nothing back.

mod kept;
mod state;
mod submission;

pub use submission::{DeviceTimes, Submission};

use crate::device::DeviceInner;
use crate::kernel::{Argument, Geometry, Kernel};
use crate::{Device, Error};
use state::State;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest sleep between two looks for room.
const RETRY: Duration = Duration::from_millis(10);

/// How a stream is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Submissions that can be in flight: a power of two from 64 to 65536.
    pub depth: u32,
    /// How long a submission waits for room when that many are in flight.
    pub full_timeout: Duration,
    /// Scratch of a work-item of kernels that use a dynamic stack (recursion, indirect calls), bytes.
    pub stack_bytes: u32,
}

impl Default for StreamOptions {
    /// 1024 submissions, ten seconds, 4 KiB.
    fn default() -> StreamOptions {
        StreamOptions { depth: 1024, full_timeout: Duration::from_secs(10), stack_bytes: 4096 }
    }
}

/// Work that runs in the order it was submitted, on a hardware queue of its own.
///
/// Dropping a stream ends its work: Linux takes the queue off the device, and then what its
/// submissions kept is freed. Submissions that were not done say so. Wait for what matters first.
pub struct Stream {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    device: Arc<DeviceInner>,
    options: StreamOptions,
    state: Mutex<State>,
}

impl Inner {
    /// The state, for this process only: a forked child has neither the queue nor its memory.
    fn lock(&self) -> Result<MutexGuard<'_, State>, Error> {
        self.device.check_fork("stream")?;
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Device {
    /// A new stream with the default options.
    ///
    /// # Errors
    /// What Linux says when it makes the queue.
    pub fn stream(&self) -> Result<Stream, Error> {
        self.stream_with(StreamOptions::default())
    }

    /// A new stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a depth out of range, else what Linux says when it makes the queue.
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream, Error> {
        if !options.depth.is_power_of_two() || !(64..=65536).contains(&options.depth) {
            return Err(Error::Unsupported {
                device: self.to_string(),
                reason: format!(
                    "a stream of {} submissions; the depth is a power of two from 64 to 65536",
                    options.depth
                ),
            });
        }
        let device = self.inner().clone();
        device.check_alive()?;
        device.expect_faults()?;
        let state = State::new(&device, options.depth)?;
        Ok(Stream { inner: Arc::new(Inner { device, options, state: Mutex::new(state) }) })
    }
}

impl Stream {
    /// The device it runs on.
    pub fn device(&self) -> Device {
        Device::from_inner(self.inner.device.clone())
    }

    /// Launches a kernel after everything submitted before. Returns as soon as the packet is in the queue.
    ///
    /// On a warm stream with room this allocates nothing on the heap and makes no system call. Without room it
    /// waits, for at most [`StreamOptions::full_timeout`].
    ///
    /// # Safety
    /// The kernel may do to memory whatever its code does. The caller vouches that with these
    /// arguments it stays inside memory it may use, and that nothing else uses that memory meanwhile in
    /// a way it does not expect.
    ///
    /// # Errors
    /// Bad geometry, arguments or resources before anything is submitted; [`Error::QueueFull`];
    /// [`Error::DeviceLost`].
    #[expect(unsafe_code, reason = "device code reaches whatever its arguments reach")]
    pub unsafe fn dispatch(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        arguments: &[Argument<'_>],
    ) -> Result<Submission, Error> {
        let device = &self.inner.device;
        device.check_fork("stream")?;
        device.check_same("kernel", kernel.device())?;
        for argument in arguments {
            if let Argument::Buffer(view) = argument {
                device.check_same("buffer", view.buffer().device())?;
            }
        }
        let lds = kernel.check(geometry, arguments)?;
        let mut private = kernel.private_bytes();
        if kernel.uses_dynamic_stack() {
            private = private.max(self.inner.options.stack_bytes);
        }
        let wave_scratch = kernel.wave_scratch(private)?;
        let dispatch = state::Dispatch { kernel, geometry, arguments, lds, private, wave_scratch };
        let submitted = self.inner.lock()?.dispatch(device, &dispatch)?;
        let index = match submitted {
            Some(index) => index,
            None => self.dispatch_when_possible(&dispatch)?,
        };
        Ok(Submission::new(self.inner.clone(), index))
    }

    /// Submits as soon as there is room, without keeping others from the stream while there is none.
    #[cold]
    fn dispatch_when_possible(&self, dispatch: &state::Dispatch<'_>) -> Result<u64, Error> {
        let device = &self.inner.device;
        let start = Instant::now();
        let mut waiter = None;
        loop {
            let mut state = self.inner.lock()?;
            if let Some(index) = state.dispatch(device, dispatch)? {
                return Ok(index);
            }
            let depth = state.in_flight();
            let event = state.queue().event().clone();
            drop(state);
            let waited = start.elapsed();
            let Some(left) = self.inner.options.full_timeout.checked_sub(waited) else {
                return Err(Error::QueueFull { depth, waited });
            };
            match &mut waiter {
                // There may be room since the waiter was made, so look once more before sleeping.
                None => waiter = Some(device.waiter(&event)),
                Some(waiter) => waiter.wait(left.min(RETRY))?,
            }
        }
    }

    /// Waits until everything submitted so far is done.
    ///
    /// # Errors
    /// As [`Submission::wait`], for the last submission.
    pub fn synchronize(&self, timeout: Duration) -> Result<(), Error> {
        let submitted = self.inner.lock()?.submitted();
        match submitted.checked_sub(1) {
            None => Ok(()),
            Some(last) => Submission::new(self.inner.clone(), last).wait(timeout),
        }
    }

    /// Submissions that were made and not yet seen to be done.
    pub fn in_flight(&self) -> u64 {
        self.inner.lock().map_or(0, |mut state| state.in_flight())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // In a forked child there is no queue to take away.
        if let Ok(mut state) = self.inner.lock() {
            state.close();
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.inner.device.name()).finish_non_exhaustive()
    }
}
