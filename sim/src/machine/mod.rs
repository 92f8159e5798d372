//! The machine: boards, a kernel, a clock, and the processes on it.
//!
//! - [`Builder`]: what it is made of.
//! - [`Shared`]: what everything on it shares; [`GpuDevice`]: one of its GPUs.

mod builder;
mod gpu;
mod shared;

pub use builder::{Builder, MachineError};
pub(crate) use gpu::GpuDevice;
pub(crate) use shared::Shared;

use crate::abi::{Entry, Process};
use crate::board::Request;
use crate::count::Objects;
use crate::fault::Plan;
use crate::shader::{Counts, Finding, KernelAt};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// A simulated machine. Clones are the same machine.
#[derive(Clone, Debug)]
pub struct Machine(pub(crate) Arc<Shared>);

impl Machine {
    /// Starts to describe one. What looks at its waves is what the environment asks for, as
    /// [`Inspection::asked_for`](crate::shader::Inspection::asked_for) says, until the builder is told otherwise.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The machine with one GPU of this name and defaults for the rest.
    ///
    /// # Errors
    /// As [`Builder::gpu`] and [`Builder::build`].
    pub fn with_gpu(name: &str) -> Result<Machine, MachineError> {
        Machine::builder().gpu(name)?.build()
    }

    /// A new Linux process on the machine. It ends when the last reference to it goes.
    pub fn process(&self) -> Arc<Process> {
        Process::new(self.0.clone())
    }

    /// A new Linux process with this id, which is to be the host's own when the process is a whole process of the
    /// host.
    pub fn process_with_pid(&self, pid: u32) -> Arc<Process> {
        Process::with_pid(self.0.clone(), pid)
    }

    /// What the machine has in sysfs and /dev, by absolute path; parents come before what is in them.
    pub fn files(&self) -> &BTreeMap<String, Entry> {
        self.0.files.entries()
    }

    /// How many kernel objects are alive.
    pub fn objects(&self) -> Objects {
        self.0.counters.objects()
    }

    /// How many faults of the plan in force have happened.
    pub fn faults_struck(&self) -> u64 {
        self.0.faults.struck()
    }

    /// Puts another plan of faults in force; its counts start now.
    pub fn set_faults(&self, plan: Plan) {
        self.0.faults.set(plan);
    }

    /// What programs asked for that the machine does not model: each kind once, in order. Only the first
    /// [`MAX_REFUSALS`](Machine::MAX_REFUSALS) kinds are kept and printed.
    pub fn refusals(&self) -> Vec<String> {
        self.0.refusals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many kinds [`refusals`](Machine::refusals) keeps.
    pub const MAX_REFUSALS: usize = 256;

    /// What the watchdog and the checks have found, in order; at most [`MAX_REFUSALS`](Machine::MAX_REFUSALS) are kept and
    /// printed.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.findings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was counted of each kernel in dispatches that have ended.
    pub fn counts(&self) -> BTreeMap<KernelAt, Counts> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The GPU with this index hangs: all its queues stop for good, those that any process creates later too, and
    /// nobody is told. A reset ends it.
    ///
    /// # Panics
    /// When there is no such GPU.
    pub fn hang_gpu(&self, index: usize) {
        assert!(index < self.0.gpus.len(), "the machine has {} GPUs", self.0.gpus.len());
        self.0.stop_gpu(index);
        // Without a keeper there is nobody else to tell.
        let _ = self.0.memory.ask(&Request::Hang { gpu: index });
    }

    /// The GPU with this index hangs and is reset: all its queues stop for good, its VRAM is overwritten, and every
    /// process gets an HW_EXCEPTION event (kfd_events.c, `kfd_signal_reset_event`). Processes that come to the device
    /// later find it working. Of a buffer of more than 16 MiB, one page in every 2 MiB is overwritten beyond those.
    ///
    /// # Panics
    /// When there is no such GPU.
    pub fn reset_gpu(&self, index: usize) {
        assert!(index < self.0.gpus.len(), "the machine has {} GPUs", self.0.gpus.len());
        self.0.stop_gpu(index);
        // Those of other processes of the host stop, VRAM is lost, they are told.
        let _ = self.0.memory.ask(&Request::Reset { gpu: index });
        self.0.gpu_was_reset(index);
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;
    use crate::shader::{Counts, Finding, FindingKind, KernelAt, Site};

    #[test]
    fn kernels_at_one_address_are_told_apart() {
        let machine = Machine::builder().gpu("gfx1151").unwrap().build().unwrap();
        let places = [(0, 0), (1, 0), (0, 1)];
        for (process, gpu) in places.into_iter().chain(places) {
            let kernel = KernelAt { process, gpu, address: 0x1000 };
            let site = Site { workgroup: [0; 3], wave: 0, pc: 0x1004, instruction: None };
            let kind = FindingKind::UnwrittenLds { address: 0 };
            machine.0.found(Finding { queue: 0, packet: 0, kernel, site, kind });
            machine.0.counted(kernel, &Counts::default());
        }
        assert_eq!(machine.findings().len(), places.len());
        assert_eq!(machine.counts().len(), places.len());
    }
}
