//! GPU virtual memory: page tables with permissions over backing that host and device share.
//!
//! - [`Backing`]: bytes of the host, owned or borrowed.
//! - [`AddressSpace`]: one GPU VM: which backing is where, and what may be done there.
//! - [`L2`]: the cache before memory, in the mode in which it keeps copies.
//! - `contents`: all that an address space holds.
//! - [`View`]: a processor's way to memory: translation with a small cache (its TLB), checks, access.

mod backing;
mod cache;
mod contents;
mod journal;
mod space;
#[cfg(test)]
mod tests;
mod view;

pub use backing::Backing;
pub use cache::{Caches, L2, MemoryType};
pub(crate) use contents::{MappingId, PAGE_DWORDS};
pub(crate) use journal::Journal;
pub use space::{AddressSpace, Permissions};
pub use view::{Access, FaultReason, MemoryFault, Path, View, Window};
