//! Linux's AMD compute driver, /dev/kfd: its UAPI, its topology, and one type for each of its
//! objects.
//!
//! - [`uapi`]: the bytes, complete as of KFD 1.23;
//! - [`topology`]: the machine's nodes as sysfs describes them;
//! - [`Process`], the kernel's state for this process, and what lives in it: a [`Device`] for each
//!   GPU with its page tables and [`RenderFile`], [`Allocation`], [`Queue`], [`Event`] and
//!   [`WaitSet`]; system management events ([`SmiEvents`]), shared virtual memory
//!   ([`Process::set_svm`]) and dma-bufs ([`Allocation::export_dmabuf`]).
//!
//! Everything goes through a [`selvedge_sys::System`], so the same code drives Linux and the
//! simulated machine. There are no GPU packets here, no code objects and no policy.
//!
//! # Ownership
//!
//! A value owns its kernel object and holds everything the object needs: a queue holds its ring,
//! pointers, end-of-pipe buffer and save area, and lets go of them only when DESTROY_QUEUE has
//! succeeded. What cannot be released is *quarantined*: counted ([`Process::quarantined`]) and left
//! alone, because freeing memory under a running device is worse than leaking it.
//!
//! # After fork
//!
//! The kernel's objects belong to the process that made them. In a child every call answers
//! [`Error`] with EBADF, and dropping a value does nothing: the ranges are not there
//! (`MADV_DONTFORK`), the handles mean nothing.

mod allocation;
mod bootstrap;
mod device;
mod dmabuf;
mod driver;
mod error;
mod event;
mod holder;
mod owner;
mod process;
mod queue;
mod render;
mod reservation;
mod save_area;
mod smi;
mod svm;
pub mod topology;
pub mod uapi;
mod wait;

pub use allocation::{Allocation, AllocationFlags};
pub use device::{ClockCounters, Device};
pub use dmabuf::DmabufInfo;
pub use error::Error;
pub use event::{Event, EventKind};
pub use process::{Lifetime, Process, Version};
pub use queue::{Doorbell, ExceptionReport, Location, Queue, QueueKind, QueueOptions, WaveState};
pub use render::RenderFile;
pub use reservation::Reservation;
pub use save_area::SaveAreaSizes;
pub use smi::{SmiEvent, SmiEvents};
pub use svm::{SvmAccess, SvmAttributes, SvmLocation, SvmSetting};
pub use wait::{MemoryException, Report, ResetException, WaitOutcome, WaitSet};

/// The result of an operation on the KFD.
pub type Result<T> = std::result::Result<T, Error>;

/// Linux's page on x86-64, bytes.
pub const PAGE_SIZE: u64 = 4096;
