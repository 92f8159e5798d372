//! What goes wrong, and when: data for the one model.

use selvedge_sys::Errno;
use std::collections::HashMap;
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

    /// `count` end-of-pipe interrupts from the `first` on arrive late.
    #[must_use]
    pub fn delay_interrupts(self, first: u64, count: u64, delay: Duration) -> Plan {
        self.rule(Call::Interrupt, first..first.saturating_add(count), Effect::Delay(delay))
    }
}

/// A plan in force, with its counts.
#[derive(Debug, Default)]
pub(crate) struct Injector {
    state: Mutex<State>,
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
        Injector { state: Mutex::new(State { plan, ..State::default() }) }
    }

    /// Puts another plan in force and counts from the start.
    pub(crate) fn set(&self, plan: Plan) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) =
            State { plan, ..State::default() };
    }

    /// Counts one call; the effects due, delays already served.
    fn pass(&self, calls: &[Call]) -> Option<Effect> {
        let mut hit = None;
        let mut delay = Duration::ZERO;
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let State { plan, counts, struck } = &mut *state;
            if plan.rules.is_empty() {
                return None;
            }
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
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        hit
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
}
