//! AMD GPUs and NPUs from Rust.

pub mod code;
pub mod device;
mod error;
pub mod fault;
pub mod kernel;
pub mod memory;
mod queue;
pub mod stream;

pub use device::{Device, Selector};
pub use error::Error;
pub use fault::Fault;
pub use kernel::{Argument, Executable, Geometry, Kernel};
pub use memory::{Buffer, BufferView, Placement};
pub use stream::{Stream, StreamOptions, Submission};
