//! Queues as the hardware knows them.
//!
//! - `AqlQueue`: ring, `amd_queue_t`, signals and argument memory of one queue, and how a packet
//!   gets into it.
//! - `Scratch`: private memory for the waves of a queue.
//! - `Arena`: which bytes of the argument memory are free.

mod aql_queue;
mod arena;
mod scratch;

pub(crate) use aql_queue::{AqlQueue, Completion, KERNARG_BYTES};
pub(crate) use arena::Arena;
pub(crate) use scratch::Scratch;
