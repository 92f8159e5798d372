//! Management events.

use super::{arguments, case, faulting};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::subject::DEADLINE;
use crate::{Case, Result, Subject};
use kfd::SmiEvents;
use kfd::uapi::{SMI_EVENT_GPU_PRE_RESET, SMI_EVENT_VMFAULT};
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("smi.quiet", "who asks for events hears nothing while nothing happens", quiet),
    faulting("smi.fault", "a page fault is told, with the process's name", fault),
];

fn quiet(subject: &Subject) -> Result {
    let events = [SMI_EVENT_VMFAULT, SMI_EVENT_GPU_PRE_RESET];
    let mut smi = SmiEvents::subscribe(subject.device(), &events)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let packet = queue.barrier([0; 5])?;
    queue.finish(packet)?;
    equal("what was told", smi.wait(Some(Duration::from_millis(20)))?, Vec::new())
}

fn fault(subject: &Subject) -> Result {
    if subject.generation().has_wave32() && subject.target().starts_with("gfx10") {
        let why = "Linux tells of no faults of gfx10 (kfd_int_process_v10.c)";
        return Err(Outcome::NotApplicable(why.to_owned()));
    }
    let mut smi = SmiEvents::subscribe(subject.device(), &[SMI_EVENT_VMFAULT])?;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let page = subject.memory(Kind::Shared, 4096)?.address();
    queue.launch(&code.kernel("fill"), 64, &arguments![page, 1u32, 64u32])?;
    let told = smi.wait(Some(DEADLINE))?;
    let Some(event) = told.first() else {
        return Err(Outcome::fail(format!("nothing within {DEADLINE:?}")));
    };
    equal("the event", event.event, SMI_EVENT_VMFAULT)?;
    let (pid, name) = event.message.split_once(':').unwrap_or_default();
    equal("whether a process and its name are told", pid.is_empty() || name.is_empty(), false)
}
