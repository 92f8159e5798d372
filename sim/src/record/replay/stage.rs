//! Queues that go on where the record has them do so.

use crate::cp::{Conductor, QueueAt, TakenPacket};
use crate::memory::{AddressSpace, Backing};
use crate::record::memory::Memory;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a queue does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has taken no packet yet.
    Idle,
    /// It has found this packet, and may not process it yet.
    Wants { place: u64, words: Vec<u32> },
    /// It processes its packet.
    Works,
    /// Its packet waits for memory.
    Paused,
    /// Its packet is processed.
    Ended,
}

impl Phase {
    /// The turn has stopped.
    pub(super) fn rests(&self) -> bool {
        matches!(self, Phase::Paused | Phase::Ended | Phase::Wants { .. })
    }
}

/// A queue of the replay.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) memory: Memory,
    pub(super) doorbell: (Arc<Backing>, u64),
    phase: Phase,
    /// Whether it may go on when it asks next.
    granted: bool,
}

/// Lets queues go on where the record has them do so.
#[derive(Debug, Default)]
pub(super) struct Stage {
    queues: Mutex<BTreeMap<QueueAt, Queue>>,
    changed: Condvar,
}

impl Stage {
    /// All queues that there have been.
    pub(super) fn queues(&self) -> MutexGuard<'_, BTreeMap<QueueAt, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue is in another phase; whether it may go on.
    fn is_now(&self, queue: QueueAt, phase: Phase) -> bool {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(&queue) else { return false };
        let granted = std::mem::take(&mut queue.granted);
        let next = if granted { Phase::Works } else { phase };
        if queue.phase != next {
            queue.phase = next;
            self.changed.notify_all();
        }
        granted
    }

    /// Waits until a queue is in such a phase.
    pub(super) fn wait(
        &self,
        queue: QueueAt,
        patience: Duration,
        is: impl Fn(&Phase) -> bool,
    ) -> Option<Phase> {
        let reached = |queues: &BTreeMap<QueueAt, Queue>| {
            queues.get(&queue).map(|queue| queue.phase.clone()).filter(&is)
        };
        let waits = |queues: &mut BTreeMap<QueueAt, Queue>| reached(queues).is_none();
        let waited = self.changed.wait_timeout_while(self.queues(), patience, waits);
        let (queues, _) = waited.unwrap_or_else(PoisonError::into_inner);
        reached(&queues)
    }

    /// The queue may go on.
    pub(super) fn grant(&self, queue: QueueAt) {
        if let Some(queue) = self.queues().get_mut(&queue) {
            (queue.granted, queue.phase) = (true, Phase::Works);
        }
    }
}

impl Conductor for Stage {
    fn joins(&self, queue: QueueAt, space: &Arc<AddressSpace>, doorbell: &(Arc<Backing>, u64)) {
        let (memory, doorbell) = (Memory::new(space, &doorbell.0), doorbell.clone());
        self.queues().insert(queue, Queue { memory, doorbell, phase: Phase::Idle, granted: false });
    }

    fn begins(&self, packet: &TakenPacket<'_>, _: u64) -> bool {
        let (place, words) = (packet.place, packet.words.to_vec());
        self.is_now(packet.queue_at(), Phase::Wants { place, words })
    }

    fn pauses(&self, queue: QueueAt) {
        self.is_now(queue, Phase::Paused);
    }

    fn resumes(&self, queue: QueueAt) -> bool {
        self.is_now(queue, Phase::Paused)
    }

    fn ends(&self, queue: QueueAt) {
        self.is_now(queue, Phase::Ended);
    }
}
