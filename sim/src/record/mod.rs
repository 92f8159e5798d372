//! Records of what a process does on a machine, and running them again without the process.
//!
//! - [`Line`], [`parse`]: the format.
//! - [`Recorder`]: writes one.
//! - [`replay()`]: runs one again, and tells what came out otherwise.
//! - `memory`: what changed in an address space; `arguments`: what ioctls point to.
//!
//! # What a record holds
//! Calls, in the order in which they returned, with their arguments before and after. Queues work in turns
//! ([`Conductor`](crate::cp::Conductor)), one at a time on the whole machine; before a turn there is what has changed in the
//! queue's address space since its last turn, after it what the queue has written meanwhile. So a record has all that the
//! process wrote into memory that a queue could read, and everything that queues wrote.
//!
//! # What replay checks
//! Results and answers of all calls but clocks, descriptors, ages of events and the outcome of waits that timed out; packets;
//! and each dword that a turn changed. What the machine's clock gave differs and is left out: pairs of dwords that are a time
//! of the turn in both runs.
//!
//! # What it cannot do
//! One process with one machine. A kernel that waits, inside a dispatch, for another queue waits for ever while recorded.
//! Threads of the process that race with each other in calls come in the order in which their calls returned. Dispatches
//! whose own waves race may come out otherwise.

mod arguments;
mod format;
mod memory;
mod recorder;
mod replay;

pub use format::{FormatError, Line, Pointed, Run, VERSION, parse};
pub use recorder::{Argument, Recorder};
pub use replay::{Outcome, ReplayError, ranges, replay};
