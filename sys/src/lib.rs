//! The one seam between Selvedge and the operating system.
//!
//! Everything the stack asks of Linux goes through [`System`], a small trait: open, close,
//! ioctl, mmap and munmap, poll/read/write, and reading sysfs. There are two implementors: [`Linux`], which is
//! libc, and the simulated machine of the crate `selvedge-sim`. The bytes that cross are the kernel's
//! own UAPI bytes, so the simulated machine is a second implementation of Linux's ABI.
//!
//! Doorbells, rings, read and write pointers, signals and event slots are plain memory accesses on
//! what [`System::mmap`] returned. They never pass the seam.

pub mod drm;
mod errno;
mod file;
pub mod fork;
mod linux;
mod mapping;
mod system;
pub mod uapi;

pub use errno::Errno;
pub use file::File;
pub use linux::Linux;
pub use mapping::Mapping;
pub use system::{MapFlags, OpenMode, Protection, Readiness, System};
