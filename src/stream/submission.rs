//! One piece of work.

use super::Inner;
use super::state::Progress;
use crate::Error;
use crate::queue::Completion;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a wait looks at the signal before it asks Linux to be woken: longer than a short
/// kernel, shorter than a switch to another thread is worth.
const SPIN: Duration = Duration::from_micros(50);

/// Longest sleep between two looks at the signal, should an interrupt be lost.
const SLEEP: Duration = Duration::from_secs(1);

/// When work ran, by the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceTimes {
    /// Clock value when it started, ticks.
    pub start: u64,
    /// Clock value when it ended, ticks.
    pub end: u64,
    /// Ticks in a second.
    pub frequency: u64,
}

impl DeviceTimes {
    /// How long it ran.
    pub fn duration(&self) -> Duration {
        let ticks = u128::from(self.end.saturating_sub(self.start));
        let nanoseconds = ticks * 1_000_000_000 / u128::from(self.frequency.max(1));
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

/// Work that was submitted to a [`crate::Stream`]. Dropping it changes nothing: the stream keeps
/// what the work uses until it is done.
#[derive(Clone)]
pub struct Submission {
    stream: Arc<Inner>,
    index: u64,
}

impl Submission {
    pub(super) fn new(stream: Arc<Inner>, index: u64) -> Submission {
        Submission { stream, index }
    }

    /// Its number in the stream. Numbers grow, not always by one: the stream submits work of its own, too.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether it is done. Never blocks.
    ///
    /// # Errors
    /// As [`Submission::wait`], never a timeout.
    pub fn is_done(&self) -> Result<bool, Error> {
        let mut state = self.stream.lock()?;
        Ok(state.progress(&self.stream.device, self.index)? == Progress::Done)
    }

    /// Waits until it is done.
    ///
    /// # Errors
    /// [`Error::Timeout`]: the work goes on, keeps its buffers, and can be waited for again;
    /// [`Error::DeviceLost`] and [`Error::StreamLost`] with the fault; [`Error::StreamClosed`].
    pub fn wait(&self, timeout: Duration) -> Result<(), Error> {
        let device = &self.stream.device;
        let start = Instant::now();
        let mut waiter = None;
        loop {
            let mut state = self.stream.lock()?;
            if state.progress(device, self.index)? == Progress::Done {
                return Ok(());
            }
            let waited = start.elapsed();
            let Some(left) = timeout.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return Err(Error::Timeout { submission: self.index, waited });
            };
            if waited < SPIN {
                drop(state);
                std::hint::spin_loop();
            } else {
                let event = state.queue().event().clone();
                drop(state);
                match &mut waiter {
                    // The signal has to be looked at once more between making the waiter and sleeping.
                    None => waiter = Some(device.waiter(&event)),
                    Some(waiter) => waiter.wait(left.min(SLEEP))?,
                }
            }
        }
    }

    /// When it ran; `None` while it is not done, and when the stream has since made so many submissions, or got
    /// so much more scratch, that it no longer knows.
    ///
    /// # Errors
    /// As [`Submission::wait`], never a timeout.
    pub fn times(&self) -> Result<Option<DeviceTimes>, Error> {
        let mut state = self.stream.lock()?;
        if state.progress(&self.stream.device, self.index)? == Progress::Pending {
            return Ok(None);
        }
        Ok(state.completion(self.index).map(|Completion { start, end }| DeviceTimes {
            start,
            end,
            frequency: self.stream.device.clock_frequency(),
        }))
    }
}

impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission").field("index", &self.index).finish_non_exhaustive()
    }
}
