//! What can go wrong.

use crate::code::CodeError;
use crate::fault::{Fault, QueueFault};
use selvedge_sys::Errno;
use std::sync::Arc;
use std::time::Duration;

/// Why an operation failed. Each variant names the object, the value, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A device selector that does not follow the grammar.
    #[error("device {text:?}: {reason}")]
    Selector {
        /// What was written.
        text: String,
        /// What is expected.
        reason: &'static str,
    },
    /// No device answers to the selector.
    #[error("no device {selector}; present: {present}{remedy}")]
    NoDevice {
        /// What was asked for.
        selector: String,
        /// The devices that are there, or `none`.
        present: String,
        /// How to go on; starts with a separator.
        remedy: String,
    },
    /// The device exists but this runtime does not drive it.
    #[error("{device} is not supported: {reason}")]
    Unsupported {
        /// Which device.
        device: String,
        /// What is missing.
        reason: String,
    },
    /// A Linux driver operation failed.
    #[error(transparent)]
    Kfd(#[from] Arc<kfd::Error>),
    /// A file could not be read.
    #[error("{path}: {errno}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        errno: Errno,
    },
    /// A code object is malformed or for another target.
    #[error(transparent)]
    Code(#[from] Arc<CodeError>),
    /// A kernel that cannot be launched on this device or by this runtime.
    #[error("kernel {kernel}: {reason}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// Why.
        reason: String,
    },
    /// Grid or workgroup out of range.
    #[error("grid {grid:?} in workgroups of {workgroup:?}: {reason}")]
    Geometry {
        /// Work-items asked for.
        grid: Vec<u64>,
        /// Work-items of a workgroup asked for.
        workgroup: Vec<u64>,
        /// Why not.
        reason: String,
    },
    /// Arguments that do not fit the kernel's declaration.
    #[error("kernel {kernel}: {reason}")]
    Arguments {
        /// Its name.
        kernel: String,
        /// Which argument and why.
        reason: String,
    },
    /// More of a resource than the device has.
    #[error("kernel {kernel} needs {needed} bytes of {resource}; {device} has {limit}")]
    Resource {
        /// The kernel.
        kernel: String,
        /// `LDS` or `scratch`.
        resource: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        limit: u64,
        /// The device.
        device: String,
    },
    /// A range outside a buffer.
    #[error("bytes {offset}..{} of a buffer of {length}", .offset.saturating_add(*.bytes))]
    Range {
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Length of the buffer.
        length: u64,
    },
    /// A buffer, kernel or stream of another device.
    #[error("{what} belongs to {owner}, not to {device}")]
    WrongDevice {
        /// `buffer` or `kernel`.
        what: &'static str,
        /// Whose it is.
        owner: String,
        /// Where it was used.
        device: String,
    },
    /// The host cannot reach this memory.
    #[error(
        "the host has no mapping of this {bytes}-byte buffer in device memory: allocate it with \
             Placement::Host, or copy through one that is"
    )]
    NotHostVisible {
        /// Length of the buffer.
        bytes: u64,
    },
    /// There was no room for a while: every slot of the queue or all argument memory is in use, or the stream
    /// must be idle to get more scratch.
    #[error("no room in the stream after {waited:?}: {depth} submissions are in flight")]
    QueueFull {
        /// Submissions in flight.
        depth: u64,
        /// How long the call waited.
        waited: Duration,
    },
    /// The deadline passed. The work goes on and keeps what it uses; waiting again is possible.
    #[error(
        "submission {submission} is not done after {waited:?}; it goes on and keeps its buffers"
    )]
    Timeout {
        /// Number of the submission in its stream.
        submission: u64,
        /// How long the call waited.
        waited: Duration,
    },
    /// The device is gone for this process state.
    #[error("device lost: {0}")]
    DeviceLost(Arc<Fault>),
    /// The stream's queue stopped in error. The device and other streams go on.
    #[error("stream lost: {0}")]
    StreamLost(Arc<QueueFault>),
    /// The stream was dropped before the submission was done.
    #[error("submission {submission} was not done when its stream was dropped")]
    StreamClosed {
        /// Number of the submission in its stream.
        submission: u64,
    },
    /// The object was made before a fork and this is the child.
    #[error("this {what} was opened before fork(): the child has to open the device itself")]
    Forked {
        /// What was used.
        what: &'static str,
    },
}

impl From<kfd::Error> for Error {
    fn from(error: kfd::Error) -> Self {
        Error::Kfd(Arc::new(error))
    }
}

impl From<CodeError> for Error {
    fn from(error: CodeError) -> Self {
        Error::Code(Arc::new(error))
    }
}
