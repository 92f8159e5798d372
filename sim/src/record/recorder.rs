//! Writes a record.

use super::arguments::{length, pointers, user_range};
use super::format::{Line, Pointed, Run};
use super::memory::{Changes, Memory, Shadow};
use crate::abi::user;
use crate::clock::Clock;
use crate::cp::{Conductor, QueueAt, TakenPacket};
use crate::memory::{AddressSpace, Backing};
use selvedge_sys::Errno;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes down what a process does on a machine. As the machine's [`Conductor`] it lets queues work one at a time. Its
/// methods for calls are called after these.
pub struct Recorder {
    state: Mutex<State>,
    write: Box<dyn Fn(&str) + Send + Sync>,
}

impl Debug for Recorder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

#[derive(Default)]
struct State {
    queues: BTreeMap<QueueAt, Memory>,
    /// By GPU of a process.
    shadows: BTreeMap<(u32, u32), Shadow>,
    /// Whose turn it is.
    turn: Option<QueueAt>,
    /// It has looked again, and nothing had changed: told only when it does something.
    resumes: bool,
    /// Ranges that devices may know.
    ranges: Vec<(u64, u64)>,
}

/// An argument of an ioctl, before the call.
#[derive(Debug)]
pub struct Argument {
    request: u32,
    bytes: Vec<u8>,
    pointed: Vec<(usize, u64, Vec<u8>)>,
}

fn bytes_at(address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    // What is not there cannot be read by the kernel either.
    if user::read(address, &mut bytes).is_err() {
        bytes.clear();
    }
    bytes
}

fn outcome(result: Result<i32, Errno>) -> i64 {
    result.map_or_else(|errno| -i64::from(errno.0), i64::from)
}

/// Changed dwords, equal neighbours together.
fn runs(changes: &Changes) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (&address, &(_, value)) in changes {
        match runs.last_mut() {
            Some(run)
                if run.value == value && run.address + 4 * u64::from(run.count) == address =>
            {
                run.count += 1;
            }
            _ => runs.push(Run { address, value, count: 1 }),
        }
    }
    runs
}

impl Recorder {
    /// A recorder that gives each line, with its end, to `write`.
    pub fn new(
        boards: &str,
        kfd_minor: u32,
        privileged: bool,
        write: impl Fn(&str) + Send + Sync + 'static,
    ) -> Recorder {
        let boards = if boards.is_empty() { "none" } else { boards };
        write(&format!("{}\n", Line::Machine { boards: boards.to_owned(), kfd_minor, privileged }));
        Recorder { state: Mutex::default(), write: Box::new(write) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines are written while the state is held, so that they are in order.
    fn line(&self, _held: &State, line: &Line) {
        (self.write)(&format!("{line}\n"));
    }

    /// A device was opened.
    pub fn opened(&self, path: &str, write: bool, result: Result<i32, Errno>) {
        let line = Line::Open { path: path.to_owned(), write, result: outcome(result) };
        self.line(&self.state(), &line);
    }

    /// A descriptor of the machine's was closed.
    pub fn closed(&self, fd: i32) {
        self.line(&self.state(), &Line::Close { fd });
    }

    /// A descriptor of the machine's was duplicated.
    pub fn duplicated(&self, fd: i32, copy: i32) {
        self.line(&self.state(), &Line::Duplicate { fd, copy });
    }

    /// An ioctl is about to be made.
    pub fn argument(&self, request: u32, argument: u64) -> Argument {
        let bytes = bytes_at(argument, length(request));
        let pointed = pointers(request, &bytes)
            .into_iter()
            .map(|(offset, address, length)| (offset, address, bytes_at(address, length)))
            .collect();
        Argument { request, bytes, pointed }
    }

    /// It has returned.
    pub fn returned(&self, fd: i32, argument: u64, before: Argument, result: Result<i32, Errno>) {
        let Argument { request, bytes, pointed } = before;
        let after = bytes_at(argument, bytes.len());
        let pointed = pointed.into_iter().map(|(offset, address, before)| {
            let after = bytes_at(address, before.len());
            Pointed { offset, before, after }
        });
        let pointed = pointed.collect();
        let mut state = self.state();
        if let Some(range) = user_range(request, &bytes) {
            state.ranges.push(range);
        }
        let result = outcome(result);
        self.line(&state, &Line::Ioctl { fd, request, result, before: bytes, after, pointed });
    }

    /// A device was mapped.
    pub fn mapped(
        &self,
        [fd, protection, flags]: [i32; 3],
        length: u64,
        offset: u64,
        result: Result<u64, Errno>,
    ) {
        let mut state = self.state();
        if let Ok(address) = result {
            state.ranges.push((address, length));
        }
        let result = result.map_or_else(|errno| -i64::from(errno.0), u64::cast_signed);
        self.line(&state, &Line::Map { fd, length, protection, flags, offset, result });
    }

    /// A range is about to be unmapped, or to show something else.
    pub fn unmaps(&self, address: u64, length: u64) {
        let state = self.state();
        let end = address.saturating_add(length);
        let overlaps =
            |&(start, size): &(u64, u64)| start < end && address < start.saturating_add(size);
        if state.ranges.iter().any(overlaps) {
            self.line(&state, &Line::Unmap { address, length });
        }
    }

    fn look(&self, state: &mut State, queue: QueueAt) -> Changes {
        let State { queues, shadows, .. } = state;
        let Some(memory) = queues.get(&queue) else { return Changes::new() };
        shadows.entry((queue.process, queue.gpu)).or_default().look(memory)
    }

    /// What the turn has changed so far is written down; `None` when nothing has happened since it was last.
    fn results(&self, state: &mut State, queue: QueueAt, ends: bool) -> Option<()> {
        let State { queues, shadows, .. } = state;
        let shadow = shadows.entry((queue.process, queue.gpu)).or_default();
        let changes = queues.get(&queue).map_or_else(Changes::new, |memory| shadow.written(memory));
        if state.resumes && changes.is_empty() && !ends {
            return None;
        }
        if std::mem::take(&mut state.resumes) {
            self.line(state, &Line::Resume { queue, clock: Clock::Host.gpu_ticks() });
        }
        if !changes.is_empty() {
            self.line(state, &Line::Result { queue, runs: runs(&changes) });
        }
        Some(())
    }
}

impl Conductor for Recorder {
    fn joins(&self, queue: QueueAt, space: &Arc<AddressSpace>, doorbell: &(Arc<Backing>, u64)) {
        self.state().queues.insert(queue, Memory::new(space, &doorbell.0));
    }

    fn begins(&self, packet: &TakenPacket<'_>, rung: u64) -> bool {
        let queue = packet.queue_at();
        let mut state = self.state();
        if state.turn.is_some() {
            return false;
        }
        state.turn = Some(queue);
        let changes = self.look(&mut state, queue);
        if !changes.is_empty() {
            self.line(&state, &Line::Memory { queue, runs: runs(&changes) });
        }
        let (place, words) = (packet.place, packet.words.to_vec());
        let clock = Clock::Host.gpu_ticks();
        self.line(&state, &Line::Begin { queue, place, rung, clock, words });
        true
    }

    fn pauses(&self, queue: QueueAt) {
        let mut state = self.state();
        if self.results(&mut state, queue, false).is_some() {
            self.line(&state, &Line::Pause { queue, clock: Clock::Host.gpu_ticks() });
        }
        (state.turn, state.resumes) = (None, false);
    }

    fn resumes(&self, queue: QueueAt) -> bool {
        let mut state = self.state();
        if state.turn.is_some() {
            return false;
        }
        state.turn = Some(queue);
        let changes = self.look(&mut state, queue);
        state.resumes = changes.is_empty();
        if !changes.is_empty() {
            self.line(&state, &Line::Memory { queue, runs: runs(&changes) });
            self.line(&state, &Line::Resume { queue, clock: Clock::Host.gpu_ticks() });
        }
        true
    }

    fn ends(&self, queue: QueueAt) {
        let mut state = self.state();
        if state.turn != Some(queue) {
            return;
        }
        self.results(&mut state, queue, true);
        self.line(&state, &Line::End { queue, clock: Clock::Host.gpu_ticks() });
        state.turn = None;
    }
}
