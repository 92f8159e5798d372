//! The KFD's UAPI, `<linux/kfd_ioctl.h>` and `<linux/kfd_sysfs.h>` as of KFD 1.23 (Linux 7.3), and
//! the part of `<drm/amdgpu_drm.h>` that a KFD client needs.
//!
//! Names are the kernel's: `struct kfd_ioctl_create_queue_args` is [`CreateQueueArgs`],
//! `kfd_event_data` is [`EventData`]; fields keep their names in snake case. Unions are stored as
//! words and read through typed accessors. "In" is what user space gives, "Out" what the kernel
//! returns. Sizes, offsets and request words are compared with the compiled headers of Linux 6.12
//! and 7.3 by `tests/uapi_layout.rs`.
//!
//! The kernel looks only at the number of a request: it takes the argument's size from the word,
//! fills a shorter argument up with zeros and cuts the result to fit (`kfd_ioctl`,
//! drivers/gpu/drm/amd/amdkfd/kfd_chardev.c).

pub mod amdgpu;
mod criu;
mod debug;
mod event;
mod memory;
mod process;
mod profiler;
mod queue;
pub mod request;
mod smi;
mod svm;
pub mod sysfs;

pub use criu::*;
pub use debug::*;
pub use event::*;
pub use memory::*;
pub use process::*;
pub use profiler::*;
pub use queue::*;
pub use smi::*;
pub use svm::*;

/// The layouts of all structs of `<linux/kfd_ioctl.h>`.
pub const LAYOUTS: &[&[selvedge_sys::uapi::Layout]] = &[
    criu::LAYOUTS,
    debug::LAYOUTS,
    event::LAYOUTS,
    memory::LAYOUTS,
    process::LAYOUTS,
    profiler::LAYOUTS,
    queue::LAYOUTS,
    smi::LAYOUTS,
    svm::LAYOUTS,
];
