//! COMPUTE_*: what a dispatch needs, and what its queue is restored from.

mod dispatch;
mod limits;
mod observe;
mod program;
mod resume;
mod scratch;

pub use dispatch::*;
pub use limits::*;
pub use observe::*;
pub use program::*;
pub use resume::*;
pub use scratch::*;
