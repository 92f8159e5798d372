//! A simulated AMD GPU machine behind Linux's own ABI.
//!
//! # Architecture
//! - [`memory`]: GPU page tables over shared backing, with permissions.
//! - [`shader`]: executes the instructions of `amdgpu-isa`.
//! - [`cp`]: command processors: rings, doorbells, packets, signals.
//! - [`profile`]: machines as data.

pub mod cp;
pub mod memory;
pub mod profile;
pub mod shader;
