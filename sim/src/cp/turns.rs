//! Queues of a GPU side by side, in the ordering mode: whose packets go first.
//!
//! Adversarially, the queue that was made first takes a packet only when no other works on one, or after some time: on
//! hardware no queue waits for ever. With a number, queues let others go first now and then.

use super::hqd::Hqd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a queue lets others go first.
const LONGEST: Duration = Duration::from_millis(5);
const LOOK_EVERY: Duration = Duration::from_micros(50);

/// What the queues of a GPU know of each other.
#[derive(Debug, Default)]
pub struct Turns {
    /// Queues that work on packets.
    busy: AtomicU64,
    /// Whether there is a queue that lets all others go first.
    has_last: AtomicBool,
}

/// A queue's part in them.
#[derive(Debug)]
pub(super) struct Turn {
    is_busy: AtomicBool,
    is_last: bool,
}

impl Turn {
    /// Of a new queue; where the order is adversarial, `may_be_last`.
    pub(super) fn new(turns: &Turns, may_be_last: bool) -> Turn {
        let is_last = may_be_last && !turns.has_last.swap(true, Ordering::SeqCst);
        Turn { is_busy: AtomicBool::new(false), is_last }
    }

    /// The queue works on a packet, or waits.
    pub(super) fn set_busy(&self, turns: &Turns, busy: bool) {
        if self.is_busy.swap(busy, Ordering::SeqCst) != busy {
            match busy {
                true => turns.busy.fetch_add(1, Ordering::SeqCst),
                false => turns.busy.fetch_sub(1, Ordering::SeqCst),
            };
        }
    }

    /// Whether the queue is to let others go first.
    fn yields(&self, turns: &Turns) -> bool {
        let own = u64::from(self.is_busy.load(Ordering::SeqCst));
        self.is_last && turns.busy.load(Ordering::SeqCst) > own
    }

    /// The queue ends.
    pub(super) fn end(&self, turns: &Turns) {
        self.set_busy(turns, false);
        if self.is_last {
            turns.has_last.store(false, Ordering::SeqCst);
        }
    }
}

impl Hqd {
    /// Lets other queues go first, when it is not this one's turn.
    pub(super) fn take_turn(&mut self) {
        if !self.disorder.is_any() {
            return;
        }
        let start = Instant::now();
        while self.turn.yields(&self.turns) && start.elapsed() < LONGEST {
            thread::sleep(LOOK_EVERY);
        }
        for _ in 0..self.disorder.pauses() {
            thread::yield_now();
        }
        self.turn.set_busy(&self.turns, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_queue_is_the_last_to_go() {
        let turns = Turns::default();
        let [first, second] = [(); 2].map(|()| Turn::new(&turns, true));
        assert!(!first.yields(&turns) && !second.yields(&turns));
        second.set_busy(&turns, true);
        second.set_busy(&turns, true);
        assert!(first.yields(&turns) && !second.yields(&turns));
        first.set_busy(&turns, true);
        assert!(first.yields(&turns) && !second.yields(&turns));
        second.set_busy(&turns, false);
        assert!(!first.yields(&turns));
        first.end(&turns);
        let third = Turn::new(&turns, true);
        second.set_busy(&turns, true);
        assert!(third.yields(&turns));
        assert!(!Turn::new(&Turns::default(), false).yields(&turns));
    }
}
