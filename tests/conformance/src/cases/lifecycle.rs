//! Queues come, stop, go on and go.

use super::case;
use crate::aql_queue::AqlQueue;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("queue.again", "queues are made and destroyed over and over, with one packet each", again),
    case("queue.many", "24 queues work side by side", many),
    case("queue.stopped", "a queue of no percentage does nothing until it has some again", stopped),
    case(
        "queue.destroyed_while_it_waits",
        "a queue that waits for a signal can be destroyed",
        destroyed,
    ),
];

fn again(subject: &Subject) -> Result {
    for _ in 0..20 {
        let mut queue = AqlQueue::new(subject, 64)?;
        let packet = queue.barrier([0; 5])?;
        queue.finish(packet)?;
    }
    equal("what could not be released", subject.device().process().quarantined(), 0)
}

fn many(subject: &Subject) -> Result {
    let mut queues = (0..24).map(|_| AqlQueue::new(subject, 64)).collect::<Result<Vec<_>>>()?;
    for _ in 0..3 {
        let packets =
            queues.iter_mut().map(|queue| queue.barrier([0; 5])).collect::<Result<Vec<_>>>()?;
        for (queue, packet) in queues.iter().zip(packets) {
            queue.finish(packet)?;
        }
    }
    Ok(())
}

fn stopped(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    let first = queue.barrier([0; 5])?;
    queue.finish(first)?;
    queue.kfd().update(0, 7)?;
    let second = queue.barrier([0; 5])?;
    std::thread::sleep(Duration::from_millis(50));
    equal("the signal while it is stopped", queue.signal(second)?, 1)?;
    queue.kfd().update(100, 7)?;
    queue.finish(second)
}

fn destroyed(subject: &Subject) -> Result {
    let signal = subject.memory(Kind::Shared, 4096)?;
    signal.set_qword(aql::signal::offset::VALUE, 1)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let packet = queue.barrier([signal.address(), 0, 0, 0, 0])?;
    std::thread::sleep(Duration::from_millis(20));
    if queue.signal(packet)? == 0 {
        return Err(Outcome::fail("it did not wait for its signal"));
    }
    drop(queue);
    equal("what could not be released", subject.device().process().quarantined(), 0)
}
