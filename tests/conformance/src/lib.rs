//! What an AMD GPU must do, asked of it through the kernel interface and the wire formats alone: no runtime is between.
//!
//! The same cases run on hardware and on the simulated machine; nothing here knows which. [`run`] asks all
//! [`cases()`] of one GPU and gives a [`Report`]: each case passes, fails with what was seen, or is not applicable,
//! with the reason.
//!
//! A case makes all that it needs (a process context, memory, queues) and lets go of it. Every wait has a deadline. A case that
//! ends a context by a fault of the GPU's says so by [`Case::faults`]; it runs in a context of its own, where the kernel has
//! such, else not at all, as the whole process would lose the GPU.

mod aql_queue;
mod cases;
mod kernels;
mod memory;
mod pm4_queue;
mod report;
mod sdma_queue;
mod subject;

pub use cases::cases;
pub use report::{Outcome, Report, Result};
pub use subject::Subject;

use kfd::Lifetime;
use selvedge_sys::System;
use std::sync::Arc;

/// One question.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its stable name: `group.name`.
    pub id: &'static str,
    /// What must hold, in a sentence.
    pub claim: &'static str,
    /// Whether it makes the GPU fault, which takes every queue of its context.
    pub faults: bool,
    /// Whether it needs the process's primary context, the only one that can use the process's own memory.
    pub primary: bool,
    run: fn(&Subject) -> Result,
}

impl Case {
    fn lifetime(&self) -> Lifetime {
        match (self.faults, self.primary) {
            (true, _) => Lifetime::Instance,
            (false, true) => Lifetime::Process,
            (false, false) => Lifetime::Auto,
        }
    }

    /// Asks it.
    pub fn ask(&self, system: &Arc<dyn System>, gpu: usize) -> Outcome {
        let subject = match Subject::open(system, gpu, self.lifetime()) {
            Ok(subject) => subject,
            Err(outcome) => return outcome,
        };
        match (self.run)(&subject) {
            Ok(()) => Outcome::Pass,
            Err(outcome) => outcome,
        }
    }
}

/// Asks the GPU with this index, in topology order, every case whose name contains one of `filters`, or every one.
pub fn run(system: &Arc<dyn System>, gpu: usize, filters: &[&str]) -> Report {
    let wanted = |case: &&Case| filters.is_empty() || filters.iter().any(|f| case.id.contains(f));
    let outcomes = cases().filter(wanted).map(|case| (*case, case.ask(system, gpu))).collect();
    Report { outcomes }
}
