//! Performance counters: those of the shader cores and of the register bus, and what starts and streams them.

mod control;
mod grbm;
mod sq;
mod stream;

pub use control::*;
pub use grbm::*;
pub use sq::*;
pub use stream::*;
