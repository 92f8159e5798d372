//! A runtime for AMD GPUs on Linux, without ROCm.
//!
//! - [`Device`]: a GPU, or a simulated one (feature `sim`);
//! - [`Buffer`]: memory of it;
//! - [`Executable`] and [`Kernel`]: code on it;
//! - [`Stream`] and [`Submission`]: work, in order;
//! - [`Error`] and [`mod@fault`]: what can go wrong.
//!
//! The crate's README has a first program; `docs/ARCHITECTURE.md` in the repository walks a dispatch from here to the
//! shader core.

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
pub use kfd::Lifetime;
pub use memory::{Buffer, BufferView, Placement};
pub use selvedge_sys::System;
pub use stream::{Stream, StreamOptions, Submission};

/// Compiles the README's program.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
