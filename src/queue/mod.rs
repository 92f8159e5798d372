//! Queues as the hardware knows them.
//!
//! - `AqlQueue`: ring, `amd_queue_t`, signals and argument memory of one queue, and how a packet
//!   gets into it.
//! - `packet`: the packets a stream sends, and the stores that hand one to the device.
//! - `Scratch`: private memory for the waves of a queue.
//! - `Arena`: which bytes of the argument memory are free.

mod aql_queue;
mod arena;
mod image;
pub(crate) mod packet;
mod scratch;

pub(crate) use aql_queue::{AqlQueue, Completion};
pub(crate) use arena::Arena;
pub(crate) use scratch::Scratch;
