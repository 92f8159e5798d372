//! Code on a device: executables, kernels, and what a dispatch of one looks like.
//!
//! - [`Executable`]: a code object placed in device memory.
//! - [`Kernel`]: one of its entry points.
//! - [`Geometry`], [`Argument`]: how many work-items run it, and on what.

mod arguments;
mod executable;
mod geometry;
mod layout;

pub use arguments::Argument;
pub use executable::{Executable, Kernel};
pub use geometry::{Geometry, MAX_WORKGROUP};
pub(crate) use layout::{HiddenContext, Layout};
