//! Command processors: what turns rings of packets into work.

use crate::memory::{AddressSpace, Backing, MemoryFault};
use crate::profile::Gpu;
use std::fmt::Debug;
use std::sync::Arc;

/// What a command processor does to the rest of the machine.
pub trait Host: Send + Sync + Debug {
    /// The end-of-pipe interrupt (source 181) with its context id, an event id.
    fn end_of_pipe_interrupt(&self, context_id: u32);
    /// A queue went into an error state: a mask of 1 << (exception code − 1), the codes of
    /// `kfd_dbg_trap_exception_code`.
    fn queue_error(&self, queue_id: u32, exceptions: u64);
    /// A page fault of the process on this GPU. The machine evicts the process's queues.
    fn memory_fault(&self, fault: MemoryFault);
    /// The GPU's timestamp counter, ticks of 10 ns.
    fn clock(&self) -> u64;
}

/// What CREATE_QUEUE hands to the hardware (the queue's MQD).
#[derive(Clone, Debug)]
pub struct QueueConfiguration {
    /// The KFD's queue id.
    pub id: u32,
    /// Ring address and size in bytes.
    pub ring: (u64, u32),
    /// Where the read pointer is reported.
    pub read_pointer: u64,
    /// Where the write pointer is read.
    pub write_pointer: u64,
    /// The page of doorbells and this queue's byte offset in it.
    pub doorbell: (Arc<Backing>, u64),
    /// Trap handler and its data, when set for the process.
    pub trap_handler: Option<(u64, u64)>,
}

/// An AQL queue: its processor runs in a thread of its own.
#[derive(Debug)]
pub struct AqlQueue {}

impl AqlQueue {
    /// Starts the processor.
    pub fn start(
        _gpu: Arc<Gpu>,
        _configuration: QueueConfiguration,
        _space: Arc<AddressSpace>,
        _host: Arc<dyn Host>,
    ) -> AqlQueue {
        AqlQueue {}
    }

    /// Stops work on the queue for good (VM fault, reset); returns at once, from any thread.
    pub fn evict(&self) {}

    /// Stops (`false`) or continues (`true`) the queue, as queue percentage 0 does; returns when no wave runs.
    pub fn set_running(&self, _running: bool) {}

    /// Kills the queue's waves and ends its thread.
    pub fn destroy(self) {}
}
