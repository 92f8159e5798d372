//! Waiting for events.

use crate::{Error, Event, EventKind, Process, Result, uapi};
use selvedge_sys::Errno;
use std::sync::Arc;
use std::time::Duration;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// Something was set; the reports say what.
    Complete,
    /// Time ran out.
    Timeout,
}

/// A device's access to memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryException {
    /// The device.
    pub gpu_id: u32,
    /// The address, at least of the page.
    pub address: u64,
    /// The page is not mapped.
    pub not_present: bool,
    /// The access was a write to a read-only page.
    pub read_only: bool,
    /// The access was a fetch from a page that is not executable.
    pub no_execute: bool,
    /// The address may not be the exact one.
    pub imprecise: bool,
    /// `MEM_ERR_*`: 0 for an ordinary fault.
    pub error_type: u32,
}

/// A device was reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetException {
    /// The device.
    pub gpu_id: u32,
    /// `HW_EXCEPTION_WHOLE_GPU_RESET` or `HW_EXCEPTION_PER_ENGINE_RESET`.
    pub reset_type: u32,
    /// `HW_EXCEPTION_GPU_HANG` or `HW_EXCEPTION_ECC`.
    pub reset_cause: u32,
    /// Whether device memory was lost.
    pub memory_lost: bool,
}

/// What a wait learnt about one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// A signal event was set since the wait before.
    Signal,
    /// A device faulted.
    Memory(MemoryException),
    /// A device was reset.
    Reset(ResetException),
}

/// Events to wait for, again and again.
///
/// It remembers how old each event was when it was last seen, and a wait returns at once when one has
/// aged since, so nothing is missed between two waits. The first wait counts from the moment the
/// set was made. To wait for a condition in memory: make the set, check the condition, wait, check
/// again. That an event was set never means that a condition holds.
///
/// A wait is one ioctl and allocates nothing.
#[derive(Debug)]
pub struct WaitSet {
    process: Arc<Process>,
    events: Vec<Arc<Event>>,
    data: Vec<uapi::EventData>,
    /// The ages before the last wait.
    before: Vec<u64>,
}

impl WaitSet {
    /// A set of events of one process.
    pub fn new(process: &Arc<Process>, events: Vec<Arc<Event>>) -> WaitSet {
        let before: Vec<u64> = events.iter().map(|event| event.age()).collect();
        let data = events
            .iter()
            .zip(&before)
            .map(|(event, &age)| uapi::EventData::new(event.id(), age))
            .collect();
        WaitSet { process: process.clone(), events, data, before }
    }

    /// The events, in the order of their reports.
    pub fn events(&self) -> &[Arc<Event>] {
        &self.events
    }

    /// Waits until one event is set. `None` waits for ever; the kernel counts in milliseconds, a
    /// started one counts whole.
    ///
    /// # Errors
    /// [`Error::Wait`]: EBADF in a forked child, EIO when an event is destroyed meanwhile.
    pub fn wait_any(&mut self, timeout: Option<Duration>) -> Result<WaitOutcome> {
        self.wait(false, timeout)
    }

    /// Waits until all events are set.
    ///
    /// # Errors
    /// As [`WaitSet::wait_any`].
    pub fn wait_all(&mut self, timeout: Option<Duration>) -> Result<WaitOutcome> {
        self.wait(true, timeout)
    }

    fn wait(&mut self, all: bool, timeout: Option<Duration>) -> Result<WaitOutcome> {
        for (event, (data, before)) in
            self.events.iter().zip(self.data.iter_mut().zip(&mut self.before))
        {
            match event.kind() {
                EventKind::Signal => *before = data.signal().last_event_age,
                // What the last wait reported is not to be reported again.
                EventKind::Memory | EventKind::HardwareException => data.data = [0; 4],
            }
        }
        let count = self.data.len();
        let result = self
            .process
            .driver()
            .wait_events(&mut self.data, all, milliseconds(timeout))
            .map_err(|errno| Error::Wait { count, errno })?;
        for (event, data) in self.events.iter().zip(&self.data) {
            if event.kind() == EventKind::Signal {
                event.saw_age(data.signal().last_event_age);
            }
        }
        match result {
            uapi::WAIT_RESULT_COMPLETE => Ok(WaitOutcome::Complete),
            uapi::WAIT_RESULT_TIMEOUT => Ok(WaitOutcome::Timeout),
            _ => Err(Error::Wait { count, errno: Errno::EIO }),
        }
    }

    /// What the last wait learnt: the position of each event that has something to tell.
    pub fn reports(&self) -> impl Iterator<Item = (usize, Report)> {
        (0..self.events.len()).filter_map(|position| Some((position, self.report(position)?)))
    }

    /// What the last wait learnt about one event.
    pub fn report(&self, position: usize) -> Option<Report> {
        let data = self.data.get(position)?;
        match self.events.get(position)?.kind() {
            EventKind::Signal => (data.signal().last_event_age != *self.before.get(position)?)
                .then_some(Report::Signal),
            EventKind::Memory => {
                let exception = data.memory_exception();
                (exception.gpu_id != 0).then_some(Report::Memory(MemoryException {
                    gpu_id: exception.gpu_id,
                    address: exception.va,
                    not_present: exception.failure.not_present != 0,
                    read_only: exception.failure.read_only != 0,
                    no_execute: exception.failure.no_execute != 0,
                    imprecise: exception.failure.imprecise != 0,
                    error_type: exception.error_type,
                }))
            }
            EventKind::HardwareException => {
                let exception = data.hw_exception();
                (exception.gpu_id != 0).then_some(Report::Reset(ResetException {
                    gpu_id: exception.gpu_id,
                    reset_type: exception.reset_type,
                    reset_cause: exception.reset_cause,
                    memory_lost: exception.memory_lost != 0,
                }))
            }
        }
    }
}

/// The kernel's milliseconds: finite waits are at most 2³² − 2.
fn milliseconds(timeout: Option<Duration>) -> u32 {
    match timeout {
        None => uapi::WAIT_INFINITE,
        Some(timeout) => u32::try_from(timeout.as_nanos().div_ceil(1_000_000))
            .unwrap_or(u32::MAX)
            .min(uapi::WAIT_INFINITE - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_rounded_up_and_never_become_infinite() {
        assert_eq!(milliseconds(None), u32::MAX);
        assert_eq!(milliseconds(Some(Duration::ZERO)), 0);
        assert_eq!(milliseconds(Some(Duration::from_nanos(1))), 1);
        assert_eq!(milliseconds(Some(Duration::from_micros(2500))), 3);
        assert_eq!(milliseconds(Some(Duration::MAX)), u32::MAX - 1);
    }
}
