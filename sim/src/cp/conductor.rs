//! Queues that take turns, so that what each of them does to memory can be told apart.

use super::TakenPacket;
use crate::memory::{AddressSpace, Backing};
use std::fmt::Debug;
use std::sync::Arc;

/// Which queue it is, of all of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueAt {
    /// The process ([`KernelAt::process`](crate::shader::KernelAt::process)).
    pub process: u32,
    /// Index of the GPU on the machine.
    pub gpu: u32,
    /// The KFD's id of the queue.
    pub queue: u32,
}

/// Says which queue may work. A turn is a packet of the ring, with what it calls; where the packet waits for memory, the
/// turn pauses. Methods are called from the queues' threads, and do not wait: who may not go on asks again.
pub trait Conductor: Debug + Send + Sync {
    /// A queue starts.
    fn joins(&self, queue: QueueAt, space: &Arc<AddressSpace>, doorbell: &(Arc<Backing>, u64));
    /// Whether a queue may process a packet; `rung` is its doorbell's value.
    fn begins(&self, packet: &TakenPacket<'_>, rung: u64) -> bool;
    /// The queue waits, and touches no memory until it resumes.
    fn pauses(&self, queue: QueueAt);
    /// Whether it may look at memory again.
    fn resumes(&self, queue: QueueAt) -> bool;
    /// The packet is processed, or the queue stopped at it.
    fn ends(&self, queue: QueueAt);
}
