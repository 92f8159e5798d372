//! What goes wrong, and when: data for the one model.

use selvedge_sys::Errno;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Which device node a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `/dev/kfd`
    Kfd,
    /// A render node.
    Render,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Open,
    Mmap,
    /// Any ioctl of any node.
    AnyIoctl,
    /// The ioctl with this number (`_IOC_NR`) on this node.
    Ioctl(Node, u8),
    Interrupt,
    /// A packet that a queue takes from its ring, by the KFD's id of the queue.
    Packet(u32),
    /// A doorbell that a queue sees.
    Doorbell(u32),
    /// A signal or fence of 64 bits that a queue writes.
    Write(u32),
}

#[derive(Clone, Debug)]
struct Rule {
    call: Call,
    /// Which calls, counted from 1.
    calls: std::ops::Range<u64>,
    effect: Effect,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Fail(Errno),
    Delay(Duration),
    Lose,
    Tear(Duration),
    Packet(PacketFault),
}

/// What becomes of a queue at a packet, instead of what the packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFault {
    /// The GPU hangs; nobody is told.
    Hang,
    /// The GPU hangs and is reset.
    Reset,
    /// A load from this address meets no memory.
    PageFault(u64),
}

/// What becomes of a doorbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorbellFault {
    /// It is not seen; the next one is.
    Lost,
    /// It is seen so much later.
    Late(Duration),
    /// Its lower half is seen first, with the upper half of what was there.
    Torn,
}

/// A plan of faults. Calls are counted from 1, over all processes of the machine, from the moment the
/// plan is handed to it.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    rules: Vec<Rule>,
}

impl Plan {
    /// Nothing goes wrong.
    pub fn new() -> Plan {
        Plan::default()
    }

    fn rule(mut self, call: Call, calls: std::ops::Range<u64>, effect: Effect) -> Plan {
        self.rules.push(Rule { call, calls, effect });
        self
    }

    /// The `nth` ioctl with `number` (the kernel's `_IOC_NR`) on `node` fails and does nothing.
    #[must_use]
    pub fn fail_ioctl(self, node: Node, number: u8, nth: u64, errno: Errno) -> Plan {
        self.rule(Call::Ioctl(node, number), nth..nth + 1, Effect::Fail(errno))
    }

    /// The `nth` ioctl of all fails and does nothing.
    #[must_use]
    pub fn fail_any_ioctl(self, nth: u64, errno: Errno) -> Plan {
        self.rule(Call::AnyIoctl, nth..nth + 1, Effect::Fail(errno))
    }

    /// The `nth` ioctl with `number` on `node` takes this much longer.
    #[must_use]
    pub fn delay_ioctl(self, node: Node, number: u8, nth: u64, delay: Duration) -> Plan {
        self.rule(Call::Ioctl(node, number), nth..nth + 1, Effect::Delay(delay))
    }

    /// The `nth` open fails.
    #[must_use]
    pub fn fail_open(self, nth: u64, errno: Errno) -> Plan {
        self.rule(Call::Open, nth..nth + 1, Effect::Fail(errno))
    }

    /// The `nth` mmap of a device's file fails.
    #[must_use]
    pub fn fail_mmap(self, nth: u64, errno: Errno) -> Plan {
        self.rule(Call::Mmap, nth..nth + 1, Effect::Fail(errno))
    }

    /// `count` end-of-pipe interrupts from the `first` on never reach the kernel.
    #[must_use]
    pub fn lose_interrupts(self, first: u64, count: u64) -> Plan {
        self.rule(Call::Interrupt, first..first.saturating_add(count), Effect::Lose)
    }

    /// At the `nth` packet of its ring, queues with this id of the KFD do something else: the packet is not processed.
    #[must_use]
    pub fn at_packet(self, queue: u32, nth: u64, fault: PacketFault) -> Plan {
        self.rule(Call::Packet(queue), nth..nth + 1, Effect::Packet(fault))
    }

    /// Queues with this id miss the `nth` change of their doorbell.
    #[must_use]
    pub fn lose_doorbell(self, queue: u32, nth: u64) -> Plan {
        self.rule(Call::Doorbell(queue), nth..nth + 1, Effect::Lose)
    }

    /// Queues with this id see the `nth` change of their doorbell late.
    #[must_use]
    pub fn delay_doorbell(self, queue: u32, nth: u64, delay: Duration) -> Plan {
        self.rule(Call::Doorbell(queue), nth..nth + 1, Effect::Delay(delay))
    }

    /// Queues with this id see the `nth` change of their doorbell in two halves, as if two stores of 32 bits had made
    /// it: first the lower half with the upper one of before, zero at first, then all of it.
    #[must_use]
    pub fn tear_doorbell(self, queue: u32, nth: u64) -> Plan {
        self.rule(Call::Doorbell(queue), nth..nth + 1, Effect::Tear(Duration::ZERO))
    }

    /// The `nth` value of 64 bits that queues with this id write to tell that work is complete (signals of AQL packets,
    /// RELEASE_MEM) is written in two halves, the lower first and the upper so much later.
    #[must_use]
    pub fn tear_write(self, queue: u32, nth: u64, between: Duration) -> Plan {
        self.rule(Call::Write(queue), nth..nth + 1, Effect::Tear(between))
    }

    /// `count` end-of-pipe interrupts from the `first` on arrive late.
    #[must_use]
    pub fn delay_interrupts(self, first: u64, count: u64, delay: Duration) -> Plan {
        self.rule(Call::Interrupt, first..first.saturating_add(count), Effect::Delay(delay))
    }
}

/// A plan in force, with its counts.
#[derive(Debug)]
pub(crate) struct Injector {
    state: Mutex<State>,
    /// Whether the plan has no rules.
    is_empty: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    counts: HashMap<Call, u64>,
    /// How often a rule has struck.
    struck: u64,
}

impl Injector {
    pub(crate) fn new(plan: Plan) -> Injector {
        let is_empty = AtomicBool::new(plan.rules.is_empty());
        Injector { state: Mutex::new(State { plan, ..State::default() }), is_empty }
    }

    /// Puts another plan in force and counts from the start.
    pub(crate) fn set(&self, plan: Plan) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_empty.store(plan.rules.is_empty(), Ordering::Release);
        *state = State { plan, ..State::default() };
    }

    /// Counts one call; the effects due, delays already served.
    fn pass(&self, calls: &[Call]) -> Option<Effect> {
        let (hit, delay) = self.look(calls);
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        hit
    }

    /// Counts one call; the effects due.
    fn look(&self, calls: &[Call]) -> (Option<Effect>, Duration) {
        let mut hit = None;
        let mut delay = Duration::ZERO;
        if self.is_empty.load(Ordering::Acquire) {
            return (hit, delay);
        }
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let State { plan, counts, struck } = &mut *state;
            for call in calls {
                let count = counts.entry(*call).or_default();
                *count += 1;
                for rule in plan.rules.iter().filter(|r| r.call == *call && r.calls.contains(count))
                {
                    *struck += 1;
                    match rule.effect {
                        Effect::Delay(more) => delay += more,
                        effect => hit = Some(effect),
                    }
                }
            }
        }
        (hit, delay)
    }

    /// How often a rule of the plan in force has struck.
    pub(crate) fn struck(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).struck
    }

    fn fail(&self, calls: &[Call]) -> Result<(), Errno> {
        match self.pass(calls) {
            Some(Effect::Fail(errno)) => Err(errno),
            _ => Ok(()),
        }
    }

    pub(crate) fn open(&self) -> Result<(), Errno> {
        self.fail(&[Call::Open])
    }

    pub(crate) fn mmap(&self) -> Result<(), Errno> {
        self.fail(&[Call::Mmap])
    }

    pub(crate) fn ioctl(&self, node: Node, number: u8) -> Result<(), Errno> {
        self.fail(&[Call::AnyIoctl, Call::Ioctl(node, number)])
    }

    /// What happens at a packet of a queue.
    pub(crate) fn packet(&self, queue: u32) -> Option<PacketFault> {
        match self.pass(&[Call::Packet(queue)]) {
            Some(Effect::Packet(fault)) => Some(fault),
            _ => None,
        }
    }

    /// What happens to a doorbell of a queue.
    pub(crate) fn doorbell(&self, queue: u32) -> Option<DoorbellFault> {
        match self.look(&[Call::Doorbell(queue)]) {
            (Some(Effect::Lose), _) => Some(DoorbellFault::Lost),
            (Some(Effect::Tear(_)), _) => Some(DoorbellFault::Torn),
            (_, delay) => (!delay.is_zero()).then_some(DoorbellFault::Late(delay)),
        }
    }

    /// What passes between the halves of a value that a queue writes, when it is torn.
    pub(crate) fn write(&self, queue: u32) -> Option<Duration> {
        match self.pass(&[Call::Write(queue)]) {
            Some(Effect::Tear(between)) => Some(between),
            _ => None,
        }
    }

    /// Whether an end-of-pipe interrupt arrives.
    pub(crate) fn interrupt_arrives(&self) -> bool {
        !matches!(self.pass(&[Call::Interrupt]), Some(Effect::Lose))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_one_by_number_and_overall() {
        let plan = Plan::new()
            .fail_ioctl(Node::Kfd, 2, 2, Errno::ENOMEM)
            .fail_any_ioctl(4, Errno::EINTR)
            .lose_interrupts(2, 1);
        let injector = Injector::new(plan);
        assert_eq!(injector.ioctl(Node::Kfd, 2), Ok(()));
        assert_eq!(injector.ioctl(Node::Render, 2), Ok(()));
        assert_eq!(injector.ioctl(Node::Kfd, 2), Err(Errno::ENOMEM));
        assert_eq!(injector.ioctl(Node::Kfd, 9), Err(Errno::EINTR));
        assert_eq!(injector.ioctl(Node::Kfd, 2), Ok(()));
        assert_eq!([(); 3].map(|()| injector.interrupt_arrives()), [true, false, true]);
        injector.set(Plan::new());
        assert!(injector.interrupt_arrives());
    }

    #[test]
    fn queues_count_for_themselves() {
        let second = Duration::from_secs(1);
        let plan = Plan::new()
            .at_packet(1, 2, PacketFault::Hang)
            .at_packet(2, 1, PacketFault::PageFault(5))
            .lose_doorbell(1, 1)
            .delay_doorbell(1, 2, second)
            .tear_doorbell(1, 3)
            .tear_write(1, 2, second);
        let injector = Injector::new(plan);
        assert_eq!([(); 3].map(|()| injector.packet(1)), [None, Some(PacketFault::Hang), None]);
        assert_eq!(injector.packet(2), Some(PacketFault::PageFault(5)));
        let doorbells = [DoorbellFault::Lost, DoorbellFault::Late(second), DoorbellFault::Torn];
        assert_eq!([(); 3].map(|()| injector.doorbell(1)), doorbells.map(Some));
        assert_eq!([(); 3].map(|()| injector.doorbell(2)), [None; 3]);
        assert_eq!([(); 3].map(|()| injector.write(1)), [None, Some(second), None]);
        assert_eq!(injector.struck(), 6);
    }
}
