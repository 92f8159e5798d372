//! Linux's ABI towards one process: files, ioctls, mappings, sysfs.
//!
//! - `process`: the process and the verbs of [`selvedge_sys::System`].
//! - `kfd`: `/dev/kfd`.
//! - `drm`: the render nodes.
//! - `handles`: objects by number; `file`: descriptors; `buffer`: buffer objects.
//! - `sysfs`, `topology` and `links`: files to read.
//! - `mappings`: what the process has mapped; `memory_type`: how GPUs cache what is mapped there.
//! - `exchange`, `user`: how arguments and memory of the process are reached.

pub(crate) mod buffer;
pub(crate) mod drm;
pub(crate) mod exchange;
pub(crate) mod file;
pub(crate) mod handles;
pub(crate) mod kfd;
mod links;
mod mappings;
mod memory_type;
mod process;
pub(crate) mod sysfs;
pub(crate) mod topology;
pub(crate) mod user;

pub use process::Process;
pub use sysfs::Entry;
