//! SH_MEM_*, CP_COHER_*, GCR_* and trap registers: how waves see memory.

mod apertures;
mod cache;
mod trap;

pub use apertures::*;
pub use cache::*;
pub use trap::*;
