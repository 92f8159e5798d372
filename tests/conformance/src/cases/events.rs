//! Events, set by the host.

use super::case;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use kfd::{Event, EventKind, WaitOutcome, WaitSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    case("event.set", "a wait returns when its event is set, before or meanwhile", set),
    case("event.timeout", "a wait for nothing ends at its time, and not much before", timeout),
    case(
        "event.any_and_all",
        "one event ends a wait for any, and only all end a wait for all",
        any_and_all,
    ),
    case("event.reset", "an event that does not reset itself is set until it is reset", reset),
    case("event.mailbox", "slots of events are idle, and different", mailbox),
    case("event.age", "a wait sees what happened since the last one, and nothing twice", age),
    case("event.limit", "there are as many events as slots, and one more when one is gone", limit),
];

fn set(subject: &Subject) -> Result {
    let event = subject.event()?;
    let mut wait = WaitSet::new(subject.device().process(), vec![event.clone()]);
    event.set()?;
    equal(
        "a wait after the event",
        wait.wait_any(Some(Duration::from_secs(10)))?,
        WaitOutcome::Complete,
    )?;
    let outcome = std::thread::scope(|scope| {
        let setter = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            event.set()
        });
        let outcome = wait.wait_any(Some(Duration::from_secs(10)));
        setter.join().map_err(|_| Outcome::fail("the thread that sets it"))??;
        Ok::<_, Outcome>(outcome?)
    })?;
    equal("a wait before the event", outcome, WaitOutcome::Complete)
}

fn timeout(subject: &Subject) -> Result {
    let mut wait = WaitSet::new(subject.device().process(), vec![subject.event()?]);
    let start = Instant::now();
    equal("the wait", wait.wait_any(Some(Duration::from_millis(30)))?, WaitOutcome::Timeout)?;
    if start.elapsed() < Duration::from_millis(20) {
        return Err(Outcome::fail(format!("it ended after {:?}", start.elapsed())));
    }
    equal("a wait of no time", wait.wait_any(Some(Duration::ZERO))?, WaitOutcome::Timeout)
}

fn any_and_all(subject: &Subject) -> Result {
    let events = [subject.event()?, subject.event()?, subject.event()?];
    let mut wait = WaitSet::new(subject.device().process(), events.to_vec());
    events[1].set()?;
    equal("any", wait.wait_any(Some(Duration::from_secs(10)))?, WaitOutcome::Complete)?;
    let told: Vec<usize> = wait.reports().map(|(position, _)| position).collect();
    equal("the events that it tells of", told, vec![1])?;
    events[0].set()?;
    events[2].set()?;
    equal("all but one", wait.wait_all(Some(Duration::from_millis(20)))?, WaitOutcome::Timeout)?;
    events[1].set()?;
    equal("all", wait.wait_all(Some(Duration::from_secs(10)))?, WaitOutcome::Complete)
}

/// Each wait is one of its own, which has not heard of the event before.
fn reset(subject: &Subject) -> Result {
    let event = Arc::new(Event::create(subject.device(), EventKind::Signal, false)?);
    let outcome = |time| -> Result<WaitOutcome> {
        let mut wait = WaitSet::new(subject.device().process(), vec![event.clone()]);
        Ok(wait.wait_any(Some(time))?)
    };
    let (long, short) = (Duration::from_secs(10), Duration::from_millis(20));
    equal("a wait before it is set", outcome(short)?, WaitOutcome::Timeout)?;
    for _ in 0..3 {
        event.set()?;
        for _ in 0..3 {
            equal("a wait while it is set", outcome(long)?, WaitOutcome::Complete)?;
        }
        event.reset()?;
        equal("a wait after its reset", outcome(short)?, WaitOutcome::Timeout)?;
    }
    Ok(())
}

fn mailbox(subject: &Subject) -> Result {
    let events = (0..32).map(|_| subject.event()).collect::<Result<Vec<_>>>()?;
    let mut boxes = Vec::new();
    for event in &events {
        equal("an idle slot", event.slot(), Some(u64::MAX))?;
        boxes.push(event.mailbox());
    }
    boxes.sort_unstable();
    boxes.dedup();
    equal("the number of slots", boxes.len(), events.len())
}

fn age(subject: &Subject) -> Result {
    let event = Arc::new(Event::create(subject.device(), EventKind::Signal, true)?);
    let mut wait = WaitSet::new(subject.device().process(), vec![event.clone()]);
    let mut other = WaitSet::new(subject.device().process(), vec![event.clone()]);
    for _ in 0..3 {
        event.set()?;
        event.set()?;
        let at_once = wait.wait_any(Some(Duration::from_secs(10)))?;
        equal("a wait after two sets", at_once, WaitOutcome::Complete)?;
        let again = wait.wait_any(Some(Duration::from_millis(20)))?;
        equal("a wait after that", again, WaitOutcome::Timeout)?;
    }
    // Who waits apart hears of the past once, too.
    let late = other.wait_any(Some(Duration::from_secs(10)))?;
    equal("a wait of another for what is past", late, WaitOutcome::Complete)?;
    let again = other.wait_any(Some(Duration::from_millis(20)))?;
    equal("its next wait", again, WaitOutcome::Timeout)
}

fn limit(subject: &Subject) -> Result {
    let mut events = Vec::new();
    let error = loop {
        match subject.event() {
            Ok(event) => events.push(event),
            Err(outcome) => break outcome,
        }
        if events.len() > 4096 {
            return Err(Outcome::fail("more than 4096 events"));
        }
    };
    // Slots of 8 bytes in 32 KiB, of which newer kernels keep the first, and queues' events.
    if events.len() < 4000 {
        return Err(Outcome::fail(format!("after {} events: {error}", events.len())));
    }
    events.pop();
    let one_more = subject.event()?;
    one_more.set()?;
    let mut wait = WaitSet::new(subject.device().process(), vec![one_more]);
    equal(
        "the last one's wait",
        wait.wait_any(Some(Duration::from_secs(10)))?,
        WaitOutcome::Complete,
    )
}
