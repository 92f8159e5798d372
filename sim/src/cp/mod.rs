//! Command processors: what turns rings of packets into work.
//!
//! # Architecture
//! - [`RingProcessor`]: one queue of the hardware: its processor's thread, and how the driver stops it.
//! - `hqd`: what processors of all kinds have in common.
//! - `aql`: takes AQL packets from the ring in order and does what they say.
//! - `pm4`: does so with PM4 packets, from a ring of their own or from the indirect buffers that AQL packets name.
//! - `dispatch`: from a kernel dispatch packet to the shader's registers, with the checks on the
//!   way.
//! - `launch`: what launches have in common.
//! - `cache`: what packets do to L2.
//! - `overlap`: what goes on while later packets are processed, in the ordering mode.
//! - `register_file`: how many registers a workgroup can have.
//! - `turns`: which queue goes first, in the ordering mode.
//! - `thread`: what every queue's thread starts and ends with.
//! - `signal`: completion, time stamps, interrupts.
//! - [`TakenPacket`]: packets as they are taken, for whoever listens.
//! - [`Conductor`]: who says which queue may work, for records.
//! - [`QueueError`]: what stops a queue, and how it is told.
//!
//! Queues of SDMA engines are [`RingProcessor`]s, too; their packets are taken in [`crate::sdma`].
//!
//! # What it does not model
//! - **Packets overlap on hardware** unless their barrier bit is set; here each packet is complete
//!   before the next one starts, unless the machine's ordering mode says otherwise. A kernel that waits for a later
//!   packet of its own queue therefore never ends here. Queues run side by side.
//! - Of PM4, what its own module names.
//! - Fences act on L2 alone, and only where it keeps copies; beyond that they only order memory accesses.
//! - Waves are not saved to memory: those of a queue that is stopped for a while stand still, and go on where they were.
//! - Alternate scratch (`amd_queue_v2_t`) is ignored, as firmware without asynchronous reclaim
//!   does.

mod aql;
mod cache;
mod conductor;
mod dispatch;
mod error;
mod hqd;
mod launch;
mod overlap;
mod pm4;
mod queue;
mod register_file;
mod signal;
mod taken;
mod tc_op;
#[cfg(test)]
mod tests;
mod thread;
mod turns;

pub(crate) use hqd::{Backoff, Halt, Hqd, Processor, read_words};
pub(crate) use tc_op::TcOp;

pub use conductor::{Conductor, QueueAt};
pub use error::{QueueError, QueueFault};
pub use queue::{QueueStatistics, RingProcessor};
pub use taken::{PacketFormat, PacketListener, TakenPacket};
pub(crate) use thread::quiet_thread;
pub use turns::Turns;

use crate::fault::{DoorbellFault, PacketFault};
use crate::memory::{Backing, MemoryFault};
use crate::modes::Ordering;
use crate::sdma::Engine;
use crate::shader::{Counts, Finding, Inspection, KernelAt, WaveInterrupt};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What a command processor does to the rest of the machine.
///
/// All methods are called from the threads of queues and of their waves, without any lock of theirs held. They may
/// call [`RingProcessor::evict`] of any queue.
///
/// A queue's thread must be able to finish a call before [`RingProcessor::set_running`] and the queue's
/// end return. Whoever calls these must therefore not hold a lock that these methods take.
pub trait Host: Send + Sync + Debug {
    /// The end-of-pipe interrupt (source 181), or the trap of an SDMA engine (source 49, of gfx9 224), with its context
    /// id, an event id.
    fn end_of_pipe_interrupt(&self, context_id: u32);
    /// A queue went into an error state: a mask of 1 << (exception code − 1), the codes of
    /// `kfd_dbg_trap_exception_code`.
    fn queue_error(&self, queue_id: u32, exceptions: u64);
    /// A wave of a queue sends an interrupt (source 239).
    fn wave_interrupt(&self, interrupt: WaveInterrupt);
    /// A page fault of the process on this GPU. The machine evicts the process's queues.
    fn memory_fault(&self, fault: MemoryFault);
    /// What looks at the queue's waves.
    fn inspection(&self) -> Arc<Inspection> {
        Arc::default()
    }
    /// What becomes of a queue at the packet that it has taken, instead of what the packet says. The machine knows of a
    /// hang or a reset.
    fn packet_fault(&self, queue_id: u32) -> Option<PacketFault> {
        _ = queue_id;
        None
    }
    /// What becomes of a doorbell of a queue.
    fn doorbell_fault(&self, queue_id: u32) -> Option<DoorbellFault> {
        _ = queue_id;
        None
    }
    /// What passes between the halves of a value that a queue writes, when it is torn.
    fn torn_write(&self, queue_id: u32) -> Option<Duration> {
        _ = queue_id;
        None
    }
    /// In what order the queue does what may be done in any.
    fn ordering(&self) -> Ordering {
        Ordering::InOrder
    }
    /// What the queue knows of the GPU's others, for the ordering mode.
    fn turns(&self) -> Arc<Turns> {
        Arc::default()
    }
    /// The watchdog or a check has found something.
    fn found(&self, finding: Finding) {
        _ = finding;
    }
    /// All was counted of a dispatch of this kernel.
    fn counted(&self, kernel: KernelAt, counts: &Counts) {
        _ = (kernel, counts);
    }
    /// The queue does not end, and the watchdog says so; it does nothing any more. The machine resets the GPU, as Linux
    /// does when a queue does not leave the hardware.
    fn hang(&self) {}
    /// A queue stopped at something that the simulator does not model. No hardware would say so.
    fn not_modelled(&self, what: &str);
    /// The simulator itself failed at work of a queue, which does nothing any more. The machine acts as if the GPU had
    /// failed.
    fn internal_error(&self, message: &str);
    /// The GPU's timestamp counter, ticks of 10 ns.
    fn clock(&self) -> u64;
}

/// Address and data of a process's trap handler on a GPU, while one is set. Linux's own handler, which waves enter
/// first, reads it from memory at every trap; here every dispatch does.
#[derive(Debug, Default)]
pub struct TrapHandler(Mutex<Option<(u64, u64)>>);

impl TrapHandler {
    /// Sets or removes it.
    pub fn set(&self, handler: Option<(u64, u64)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = handler;
    }

    fn get(&self) -> Option<(u64, u64)> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose packets a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueKind {
    /// AQL packets, for the command processor.
    Aql,
    /// PM4 packets, for the command processor.
    Pm4,
    /// Packets of an SDMA engine.
    Sdma(Engine),
}

/// What CREATE_QUEUE hands to the hardware (the queue's MQD).
#[derive(Clone, Debug)]
pub struct QueueConfiguration {
    /// Whose packets it holds.
    pub kind: QueueKind,
    /// The process ([`KernelAt::process`]).
    pub process: u32,
    /// Index of the GPU on the machine.
    pub gpu: u32,
    /// The KFD's queue id, one of the process's.
    pub id: u32,
    /// Ring address and size in bytes, a power of two of at least 1024.
    pub ring: (u64, u32),
    /// Where the read pointer is reported.
    pub read_pointer: u64,
    /// Where the write pointer is read. PM4 queues go by the doorbell alone.
    pub write_pointer: u64,
    /// Where the hardware notes what came to the end of the pipe; 0 is none.
    pub end_of_pipe_buffer: u64,
    /// The pages of doorbells and this queue's byte offset in them, a multiple of 8; an eighth of it is the doorbell's
    /// number.
    pub doorbell: (Arc<Backing>, u64),
    /// The process's trap handler on this GPU.
    pub trap_handler: Arc<TrapHandler>,
    /// Of a PM4 queue, the XCC that it is on; of an AQL queue, which all are on, the one that takes the first workgroup.
    pub xcc: u32,
}
