//! Turns of queues, and what they change in memory.

use super::stage::Phase;
use super::{PATIENCE, Replay, ReplayError};
use crate::clock::Clock;
use crate::cp::QueueAt;
use crate::memory::AddressSpace;
use crate::record::format::Run;
use crate::record::memory::{Changes, Memory, Shadow};
use std::collections::BTreeMap;

/// A turn that is looked at.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// What the record says has changed since the last look.
    pub(super) expected: Vec<Run>,
    /// When it began: in the record, here.
    began: (u64, u64),
    /// It has stopped, or does not do so soon.
    pub(super) settled: bool,
}

impl Replay {
    fn memory_of(&self, queue: QueueAt) -> Option<Memory> {
        self.stage.queues().get(&queue).map(|queue| queue.memory.clone())
    }

    fn shadow(&mut self, queue: QueueAt) -> &mut Shadow {
        self.shadows.entry((queue.process, queue.gpu)).or_default()
    }

    /// What is in memory now is what the next turn changes.
    pub(super) fn baseline(&mut self, queue: QueueAt) {
        if let Some(memory) = self.memory_of(queue) {
            self.shadow(queue).look(&memory);
        }
    }

    pub(super) fn memory(&mut self, line: usize, queue: QueueAt, runs: &[Run]) {
        let Some(Memory { space, .. }) = self.memory_of(queue) else {
            return self.differs(line, format_args!("there is no queue {}", queue.queue));
        };
        for (address, value) in dwords(runs) {
            if !space.overwrite(address, value) {
                return self.differs(line, format_args!("nothing is mapped at {address:#x}"));
            }
        }
    }

    pub(super) fn begin(
        &mut self,
        line: usize,
        queue: QueueAt,
        (place, words): (u64, &[u32]),
        rung: u64,
        clock: u64,
    ) -> Result<(), ReplayError> {
        self.outcome.packets += 1;
        self.baseline(queue);
        if let Some(queue) = self.stage.queues().get(&queue) {
            queue.doorbell.0.store_u64(queue.doorbell.1, rung);
        }
        let wants = self.stage.wait(queue, PATIENCE, |phase| matches!(phase, Phase::Wants { .. }));
        match wants {
            Some(Phase::Wants { place: here, words: read }) if here != place || read != words => {
                self.differs(
                    line,
                    format_args!(
                        "packet {place} is {words:08x?}, and here packet {here} {read:08x?}"
                    ),
                );
            }
            Some(_) => {}
            None => return Err(ReplayError::Stuck { line, queue, what: "take a packet" }),
        }
        let began = (clock, Clock::Host.gpu_ticks());
        self.turns.insert(queue, Turn { began, ..Turn::default() });
        self.stage.grant(queue);
        Ok(())
    }

    /// The queue waits, or is done: what has it changed?
    pub(super) fn stops(
        &mut self,
        line: usize,
        queue: QueueAt,
        clock: u64,
        phase: &Phase,
    ) -> Result<(), ReplayError> {
        let what = if *phase == Phase::Ended { "end its packet" } else { "wait" };
        let stops = |now: &Phase| now == phase || now.rests() && *now != Phase::Paused;
        let reached = self.stage.wait(queue, PATIENCE, stops);
        let Some(reached) = reached else { return Err(ReplayError::Stuck { line, queue, what }) };
        if *phase == Phase::Paused && reached != Phase::Paused {
            self.differs(line, format_args!("queue {} does not wait", queue.queue));
        }
        let Some(memory) = self.memory_of(queue) else { return Ok(()) };
        let changes = self.shadow(queue).written(&memory);
        let Turn { expected, began, .. } = self.turns.remove(&queue).unwrap_or_default();
        let (expected, nowhere) = changed(&expected, &changes, &memory.space);
        for Run { address, value, .. } in nowhere {
            let what = format!("{address:#x} became {value:#x}, and here nothing is mapped");
            self.differs(line, format_args!("{what}, for queue {}", queue.queue));
        }
        let here = began.1..=Clock::Host.gpu_ticks();
        let recorded = began.0..=clock;
        let mut missing = expected.clone();
        let is_time = |address: u64, shadow: &Shadow| {
            let qword = |dword: &dyn Fn(u64) -> u32| {
                let at = address & !7;
                u64::from(dword(at)) | u64::from(dword(at + 4)) << 32
            };
            let before = |at| changes.get(&at).map_or_else(|| shadow.dword(at), |change| change.0);
            let now = qword(&|at| shadow.dword(at));
            let then = qword(&|at| expected.get(&at).copied().unwrap_or_else(|| before(at)));
            here.contains(&now) && recorded.contains(&then)
        };
        let mut wrong = Vec::new();
        for (&address, &(before, now)) in &changes {
            let then = missing.remove(&address).unwrap_or(before);
            if then == now {
                self.outcome.dwords += 1;
                continue;
            }
            if is_time(address, self.shadow(queue)) {
                self.outcome.times += 1;
            } else {
                let what = format!("{address:#x} became {then:#x}, and here {now:#x}");
                self.differs(line, format_args!("{what}, by queue {}", queue.queue));
            }
            wrong.push((address, then));
        }
        for (&address, then) in &missing {
            if is_time(address, self.shadow(queue)) {
                self.outcome.times += 1;
            } else {
                let what = format!("{address:#x} became {then:#x}, and here stays as it was");
                self.differs(line, format_args!("{what}, by queue {}", queue.queue));
            }
        }
        // On as in the record.
        for (address, value) in wrong.into_iter().chain(missing) {
            memory.space.overwrite(address, value);
            self.shadow(queue).write(address, value);
        }
        if *phase == Phase::Paused {
            self.turns.insert(queue, Turn { began, settled: true, ..Turn::default() });
        }
        Ok(())
    }
}

/// The dwords that a queue changed in the record, and runs of them that it cannot have changed here. Where nothing is mapped
/// any more they are those that it has changed here, too.
fn changed(
    runs: &[Run],
    changes: &Changes,
    space: &AddressSpace,
) -> (BTreeMap<u64, u32>, Vec<Run>) {
    let (mut all, mut nowhere) = (BTreeMap::new(), Vec::new());
    for &run in runs {
        let end = run.address.saturating_add(4 * u64::from(run.count));
        let mut here = changes.range(run.address..end).map(|(&at, _)| (at, run.value)).peekable();
        if is_mapped(space, run.address, end) {
            all.extend(dwords(&[run]));
        } else if here.peek().is_some() {
            all.extend(here);
        } else {
            nowhere.push(run);
        }
    }
    (all, nowhere)
}

/// Whether all of a range is mapped.
fn is_mapped(space: &AddressSpace, mut at: u64, end: u64) -> bool {
    while at < end {
        match space.mapping_of(at) {
            Some((start, length)) => at = start + length,
            None => return false,
        }
    }
    true
}

/// The dwords of runs, with their addresses.
fn dwords(runs: &[Run]) -> impl Iterator<Item = (u64, u32)> {
    runs.iter()
        .flat_map(|run| (0..u64::from(run.count)).map(|index| (run.address + 4 * index, run.value)))
}
