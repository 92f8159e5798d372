//! Runs a record again.
//!
//! - `addresses`: the address space that a record needs.
//! - `ioctl`: calls that are made again.
//! - `stage`: queues that go on where the record has them do so; `turn`: what they change.
#![expect(unsafe_code, reason = "makes calls with recorded arguments")]

mod addresses;
mod ioctl;
mod stage;
mod turn;

pub use addresses::ranges;

use super::format::Line;
use super::memory::Shadow;
use crate::cp::QueueAt;
use crate::memory::Caches;
use crate::{Machine, MachineError, Process};
use addresses::Addresses;
use ioctl::Ioctl;
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use stage::{Phase, Stage};
use std::collections::BTreeMap;
use std::path::Path;
use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use turn::Turn;

/// How long a queue may take for what it did in the record.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a wait of the process's may take before others go first: of threads that wake each other, either's call may
/// have returned first.
const SOON: Duration = Duration::from_millis(100);
/// How long a turn may take before calls are made that returned in the record before its end: the program may have seen
/// what the queue wrote. A turn that one of them ends takes so long.
const TURN: Duration = Duration::from_secs(2);
/// The most differences that are kept.
const MOST: usize = 100;

/// How a replay went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Calls that were made again.
    pub calls: usize,
    /// Packets that were processed again.
    pub packets: usize,
    /// Dwords that queues changed as in the record.
    pub dwords: usize,
    /// Dwords that are times in both.
    pub times: usize,
    /// What came out otherwise, with the line of the record; the first 100.
    pub differences: Vec<String>,
}

/// Why a record could not be run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The machine could not be made.
    #[error("line {line}: {source}")]
    Machine {
        /// The line.
        line: usize,
        /// Why.
        source: MachineError,
    },
    /// An address that the process had is taken here. Another process may have better luck.
    #[error("the address {address:#x} of the record is taken in this process")]
    Taken {
        /// The start of the range.
        address: u64,
    },
    /// A queue did not do in time what it did in the record.
    #[error("line {line}: queue {} of GPU {} does not {what}", queue.queue, queue.gpu)]
    Stuck {
        /// The line.
        line: usize,
        /// The queue.
        queue: QueueAt,
        /// What it did in the record.
        what: &'static str,
    },
    /// The first line is not the machine's.
    #[error("the record does not begin with a machine")]
    NoMachine,
}

struct Replay {
    stage: Arc<Stage>,
    process: Arc<Process>,
    addresses: Addresses,
    /// Descriptors of the record and here.
    descriptors: BTreeMap<i32, i32>,
    shadows: BTreeMap<(u32, u32), Shadow>,
    turns: BTreeMap<QueueAt, Turn>,
    /// Waits that are not over though they were in the record, by index of the line.
    waiting: Vec<usize>,
    outcome: Outcome,
}

/// Runs a record again in this process, at the addresses it had.
///
/// # Errors
/// When it cannot be run to its end. What came out otherwise is no error.
pub fn replay(lines: &[(usize, Line)]) -> Result<Outcome, ReplayError> {
    let Some((line, Line::Machine { boards, kfd_minor, privileged })) = lines.first() else {
        return Err(ReplayError::NoMachine);
    };
    let addresses = Addresses::reserve(lines)?;
    let stage = Arc::new(Stage::default());
    let machine = || {
        let builder = Machine::described(boards)?.kfd_minor(*kfd_minor)?.conductor(stage.clone());
        let builder = builder.caches(Caches::Transparent);
        if *privileged { builder.privileged() } else { builder }.build()
    };
    let machine = machine().map_err(|source| ReplayError::Machine { line: *line, source })?;
    let mut replay = Replay {
        stage,
        process: machine.process(),
        addresses,
        descriptors: BTreeMap::new(),
        shadows: BTreeMap::new(),
        turns: BTreeMap::new(),
        waiting: Vec::new(),
        outcome: Outcome::default(),
    };
    for (index, (number, line)) in lines.iter().enumerate().skip(1) {
        let over = match line {
            Line::Ioctl { .. } => replay.call(*number, line, SOON),
            _ => replay.line(*number, line).map(|()| true)?,
        };
        replay.wait_again(lines, Duration::ZERO);
        if !over {
            replay.waiting.push(index);
        }
    }
    replay.wait_again(lines, PATIENCE);
    for index in std::mem::take(&mut replay.waiting) {
        replay.differs(lines[index].0, format_args!("the wait is not over"));
    }
    replay.process.exit();
    Ok(replay.outcome)
}

/// A result as records have it.
fn outcome(result: Result<i64, Errno>) -> i64 {
    result.unwrap_or_else(|errno| -i64::from(errno.0))
}

impl Replay {
    fn differs(&mut self, line: usize, what: std::fmt::Arguments<'_>) {
        if self.outcome.differences.len() < MOST {
            self.outcome.differences.push(format!("line {line}: {what}"));
        }
    }

    fn result(&mut self, line: usize, what: &str, record: i64, here: i64) {
        self.outcome.calls += 1;
        if record != here {
            self.differs(line, format_args!("{what} gave {record}, and here {here}"));
        }
    }

    /// The descriptor here.
    fn fd(&self, fd: i32) -> i32 {
        self.descriptors.get(&fd).copied().unwrap_or(-1)
    }

    fn line(&mut self, line: usize, what: &Line) -> Result<(), ReplayError> {
        if matches!(what, Line::Close { .. } | Line::Map { .. } | Line::Unmap { .. }) {
            self.settle();
        }
        match what {
            Line::Open { path, write, result } => {
                let mode = if *write { OpenMode::ReadWrite } else { OpenMode::ReadOnly };
                let opened = self.process.open(Path::new(path), mode);
                if let (Ok(fd), Ok(recorded)) = (opened, i32::try_from(*result))
                    && recorded >= 0
                {
                    self.descriptors.insert(recorded, fd);
                    self.outcome.calls += 1;
                } else {
                    self.result(line, "open", *result, outcome(opened.map(i64::from)));
                }
            }
            Line::Close { fd } => {
                let here = self.descriptors.remove(fd).unwrap_or(-1);
                let closed = outcome(self.process.close(here).map(|()| 0));
                self.result(line, "close", 0, closed);
            }
            Line::Duplicate { fd, copy } => {
                // SAFETY: makes a descriptor, or fails.
                let here = unsafe { libc::dup(self.fd(*fd)) };
                if here >= 0 {
                    self.process.duplicated(self.fd(*fd), here);
                    self.descriptors.insert(*copy, here);
                } else {
                    self.differs(line, format_args!("descriptor {fd} cannot be duplicated"));
                }
            }
            Line::Map { fd, length, protection, flags, offset, result } => {
                let address = usize::try_from(*result).unwrap_or(0);
                let flags = MapFlags::from_bits_retain(*flags) - MapFlags::FIXED;
                // Reserved for it, or more than any address space has room for.
                let is_own = self.addresses.hold(address as u64, *length);
                let fixed = if is_own { MapFlags::FIXED } else { MapFlags::empty() };
                let protection = Protection::from_bits_retain(*protection);
                let address = with_exposed_provenance_mut(address);
                // SAFETY: the range was reserved for it, or is where nothing is.
                let mapped = unsafe {
                    let (flags, fd) = (flags | fixed, self.fd(*fd));
                    self.process.mmap(address, *length as usize, protection, flags, fd, *offset)
                };
                let mapped = mapped.map(|at| (at.expose_provenance() as u64).cast_signed());
                self.result(line, "mmap", *result, outcome(mapped));
            }
            Line::Unmap { address, length } => {
                self.addresses.release(&self.process, *address, *length)
            }
            Line::Memory { queue, runs } => self.memory(line, *queue, runs),
            Line::Result { queue, runs } => {
                self.turns.entry(*queue).or_default().expected.extend(runs);
            }
            Line::Begin { queue, place, rung, clock, words } => {
                self.begin(line, *queue, (*place, words), *rung, *clock)?;
            }
            Line::Pause { queue, clock } => self.stops(line, *queue, *clock, &Phase::Paused)?,
            Line::End { queue, clock } => self.stops(line, *queue, *clock, &Phase::Ended)?,
            Line::Resume { queue, .. } => {
                self.baseline(*queue);
                self.turns.entry(*queue).or_default().settled = false;
                self.stage.grant(*queue);
            }
            Line::Machine { .. } | Line::Ioctl { .. } => {}
        }
        Ok(())
    }

    /// Makes the call of a line again; whether it is over.
    fn call(&mut self, line: usize, what: &Line, patience: Duration) -> bool {
        let Line::Ioctl { fd, request, result, before, after, pointed } = what else { return true };
        self.settle();
        let call = Ioctl { request: *request, before, after, pointed };
        self.ioctl(line, *fd, *result, &call, patience)
    }

    /// Lets queues get to the end of their turns.
    fn settle(&mut self) {
        for (&queue, turn) in self.turns.iter_mut().filter(|(_, turn)| !turn.settled) {
            self.stage.wait(queue, TURN, Phase::rests);
            turn.settled = true;
        }
    }

    fn wait_again(&mut self, lines: &[(usize, Line)], patience: Duration) {
        for index in std::mem::take(&mut self.waiting) {
            let (line, call) = &lines[index];
            if !self.call(*line, call, patience) {
                self.waiting.push(index);
            }
        }
    }
}
