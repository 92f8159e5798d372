//! Work that goes on while later packets are processed: the machine's ordering mode.
//!
//! Dispatches that nothing has to wait for are held back, and later packets come first. Held work is done when a packet
//! has to wait for it, when a packet waits for anything else, and when there is nothing more to do; then in an order of
//! the mode, one dispatch after another, but for those that do not end soon: they may wait for one that is still held,
//! which on hardware runs, so that the next one starts beside them.

use super::hqd::{Halt, Hqd};
use crate::modes::Ordering;
use crate::shader::Launch;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a queue without packets waits for more before it does what it has held back.
const LINGER: Duration = Duration::from_micros(300);
/// How long a dispatch runs before the next one starts beside it.
const PATIENCE: Duration = Duration::from_secs(1);
/// Dispatches that are held at most.
const MOST: usize = 16;

/// How a queue departs from the order of its packets.
#[derive(Debug)]
pub(crate) struct Disorder {
    ordering: Ordering,
    /// State of a generator of numbers (xorshift64).
    state: u64,
    /// When the queue was found without packets.
    idle: Option<Instant>,
}

impl Disorder {
    pub(super) fn new(ordering: Ordering, queue: u32) -> Disorder {
        let seed = match ordering {
            Ordering::Seeded(seed) => seed,
            _ => 0,
        };
        // Any number but 0; those of queues lie apart.
        let state = (seed ^ u64::from(queue) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Disorder { ordering, state, idle: None }
    }

    fn number(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Whether there is any.
    pub(crate) fn is_any(&self) -> bool {
        self.ordering != Ordering::InOrder
    }

    /// How often the queue lets others go first before it takes a packet.
    pub(super) fn pauses(&mut self) -> u64 {
        match self.ordering {
            Ordering::Seeded(_) => (self.number() >> 32 & 0xff).saturating_sub(0xc0),
            Ordering::InOrder | Ordering::Adversarial => 0,
        }
    }

    /// Whether something that may be held back is.
    pub(crate) fn holds(&mut self) -> bool {
        match self.ordering {
            Ordering::InOrder => false,
            Ordering::Adversarial => true,
            Ordering::Seeded(_) => self.number() >> 32 & 3 != 0,
        }
    }

    /// Puts what was held back in the order in which it is done.
    pub(crate) fn arrange<T>(&mut self, held: &mut [T]) {
        match self.ordering {
            Ordering::InOrder => {}
            Ordering::Adversarial => held.reverse(),
            Ordering::Seeded(_) => {
                for last in (1..held.len()).rev() {
                    held.swap(last, (self.number() >> 32) as usize % (last + 1));
                }
            }
        }
    }

    /// The queue has a packet.
    pub(crate) fn is_busy(&mut self) {
        self.idle = None;
    }

    /// Whether it is to be assumed that no packet comes; `any` is whether something is held back.
    pub(crate) fn gives_up(&mut self, any: bool) -> bool {
        any && self.idle.get_or_insert_with(Instant::now).elapsed() >= LINGER
    }
}

/// A dispatch that is held back.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) launch: Launch,
    /// What faults call its packet.
    pub(super) packet: u64,
    /// Whether L2 is invalidated before it, and written back after it.
    pub(super) fences: [bool; 2],
    /// The signal that it completes.
    pub(super) signal: u64,
}

impl Hqd {
    /// Whether a dispatch is to be held back. One with scratch has its queue's for itself here, and what is traced or
    /// checked goes by the order of packets.
    pub(super) fn holds(&mut self, launch: &Launch) -> bool {
        let overlaps = launch.rsrc2 & 1 == 0 || launch.scratch_bytes_per_wave == 0;
        self.disorder.is_any()
            && overlaps
            && self.held.len() < MOST
            && !self.host.inspection().is_any()
            && self.disorder.holds()
    }

    pub(super) fn hold(&mut self, held: Held) {
        self.held.push(held);
    }

    /// Does what was held back; `complete` is called for each dispatch that has ended, with when it started.
    pub(super) fn drain_with(
        &mut self,
        mut complete: impl FnMut(&Held, u64) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.held.is_empty() {
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        self.disorder.arrange(&mut held);
        let hqd = &*self;
        let mut failed = None;
        thread::scope(|scope| {
            let (send, receive) = channel();
            let mut running = 0;
            let mut end = |(held, start, result): (&Held, u64, Result<(), Halt>)| {
                let result = result.and_then(|()| {
                    hqd.act_on_cache(held.fences[1], false);
                    complete(held, start)
                });
                if let Err(halt) = result
                    && failed.is_none()
                {
                    failed = Some((held.packet, halt));
                    hqd.stop();
                }
            };
            for held in &held {
                let send = send.clone();
                scope.spawn(move || {
                    let start = hqd.host.clock();
                    hqd.act_on_cache(false, held.fences[0]);
                    // The receiver lives longer.
                    let _ = send.send((held, start, hqd.execute(&held.launch)));
                });
                running += 1;
                match receive.recv_timeout(PATIENCE) {
                    Ok(ended) => {
                        running -= 1;
                        end(ended);
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
            // A thread that has panicked sends nothing; the scope tells.
            drop(send);
            for ended in receive.iter().take(running) {
                end(ended);
            }
        });
        match failed {
            None => Ok(()),
            Some((packet, halt)) => {
                self.packet = packet;
                Err(halt)
            }
        }
    }

    /// Does what was held back and completes nothing.
    pub(super) fn drain(&mut self) -> Result<(), Halt> {
        self.drain_with(|_, _| Ok(()))
    }
}
