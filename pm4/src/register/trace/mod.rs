//! SQ_THREAD_TRACE_*: traces of what waves do, of one shader engine each.

mod buffer;
mod control;
mod status;

pub use buffer::*;
pub use control::*;
pub use status::*;
