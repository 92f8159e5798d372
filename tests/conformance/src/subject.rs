//! The GPU that is asked, in a context of its own.

use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use kfd::{Device, Event, EventKind, Lifetime, Process, WaitOutcome, WaitSet};
use pm4::Generation;
use selvedge_sys::System;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long anything may take. Generous: a busy machine, or a simulated GPU, is slow.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A GPU, opened.
#[derive(Debug)]
pub struct Subject {
    device: Arc<Device>,
    generation: Generation,
}

impl Subject {
    /// Opens the GPU with this index in topology order, in a context of this kind; an instance is one that no other case
    /// uses.
    pub(crate) fn open(
        system: &Arc<dyn System>,
        gpu: usize,
        lifetime: Lifetime,
    ) -> Result<Subject> {
        let process = match Process::open(system.clone(), lifetime) {
            Err(kfd::Error::NeedsVersion { .. }) if lifetime == Lifetime::Instance => {
                let why = "a fault would take the GPU from the whole process, as contexts are not separate before KFD 1.19";
                return Err(Outcome::NotApplicable(why.to_owned()));
            }
            other => other?,
        };
        let Some(node) = process.gpus().nth(gpu).cloned() else {
            return Err(Outcome::fail(format!("there is no GPU {gpu}")));
        };
        Subject::of(process.device(&node)?)
    }

    fn of(device: Arc<Device>) -> Result<Subject> {
        let target = device.node().target();
        let version = target.major * 10000 + target.minor * 100 + target.stepping;
        let Some(generation) = Generation::from_target_version(version) else {
            return Err(Outcome::NotApplicable(format!("packets of {target} are unknown")));
        };
        Ok(Subject { device, generation })
    }

    /// The GPU that follows in topology order, in the same context.
    pub(crate) fn other(&self) -> Result<Subject> {
        let process = self.device.process();
        let ids: Vec<u32> = process.gpus().map(|node| node.gpu_id).collect();
        let own = ids.iter().position(|&id| id == self.device.gpu_id()).unwrap_or(0);
        let next = (own + 1) % ids.len().max(1);
        match process.gpus().nth(next).cloned() {
            Some(node) if next != own => Subject::of(process.device(&node)?),
            _ => Err(Outcome::NotApplicable("there is one GPU".to_owned())),
        }
    }

    /// Whether the topology has a link to another GPU's memory.
    pub(crate) fn reaches(&self, other: &Subject) -> bool {
        let node = self.device.node();
        let mut links = node.io_links.iter().chain(&node.p2p_links);
        links.any(|link| link.properties.node_to == other.device.node().index)
    }

    /// The same GPU in another context, one that nobody else uses.
    pub(crate) fn neighbour(&self) -> Result<Subject> {
        let process = self.device.process();
        let place = process.gpus().position(|node| node.gpu_id == self.device.gpu_id());
        match Subject::open(process.system(), place.unwrap_or(0), Lifetime::Instance) {
            Err(Outcome::NotApplicable(_)) => {
                let why = "contexts of one process are not separate before KFD 1.19";
                Err(Outcome::NotApplicable(why.to_owned()))
            }
            other => other,
        }
    }

    /// The device in its context.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whose packets it takes.
    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// LLVM's name of it.
    pub(crate) fn target(&self) -> String {
        self.device.node().target().to_string()
    }

    /// Zeroed memory, whole pages.
    pub(crate) fn memory(&self, kind: Kind, bytes: u64) -> Result<Buffer> {
        Buffer::new(&self.device, kind, bytes)
    }

    /// A signal event that resets itself.
    pub(crate) fn event(&self) -> Result<Arc<Event>> {
        Ok(Arc::new(Event::create(&self.device, EventKind::Signal, true)?))
    }

    /// Waits for events of one kind until `done` holds after one of them; what is done and not told is a failure.
    pub(crate) fn wait_for(
        &self,
        what: &str,
        events: &[Arc<Event>],
        mut done: impl FnMut() -> Result<bool>,
    ) -> Result {
        let mut set = WaitSet::new(self.device.process(), events.to_vec());
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || set.wait_any(Some(left))? == WaitOutcome::Timeout {
                let but = if done()? { ", though it is done" } else { "" };
                return Err(Outcome::fail(format!("{what}: no event within {DEADLINE:?}{but}")));
            }
            if done()? {
                return Ok(());
            }
        }
    }
}

/// Looks until `done` holds.
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> Result<bool>) -> Result {
    let end = Instant::now() + DEADLINE;
    let mut looks = 0u32;
    while !done()? {
        if Instant::now() > end {
            return Err(Outcome::fail(format!("{what}: not within {DEADLINE:?}")));
        }
        looks = looks.saturating_add(1);
        if looks > 1000 {
            std::thread::sleep(Duration::from_micros(50));
        } else {
            std::hint::spin_loop();
        }
    }
    Ok(())
}
