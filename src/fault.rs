//! What a device says when work fails. Faults are values: they come back from waits and submissions.
//!
//! A [`Fault`] ends a device for the process; a [`QueueFault`] ends one stream.

use std::fmt;

/// Why a device or queue was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A page fault. Linux has evicted all queues of this process state on the device for good.
    Memory(MemoryFault),
    /// The device was reset.
    Reset(ResetFault),
}

/// A page fault (`kfd_hsa_memory_exception_data`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// The device.
    pub device: String,
    /// Device address, of page granularity on most parts.
    pub address: u64,
    /// Nothing was mapped there.
    pub not_present: bool,
    /// A store to memory mapped read-only.
    pub read_only: bool,
    /// An instruction fetch from memory mapped without execute permission.
    pub no_execute: bool,
    /// The address may not be the faulting one.
    pub imprecise: bool,
    /// `MEM_ERR_*`: 0 for an ordinary fault, 1 for an uncorrectable ECC error, 2 for poisoned data, 3 after a hang.
    pub error_type: u32,
    /// The buffer that starts closest below the address, and its length in bytes.
    pub nearest: Option<(u64, u64)>,
}

/// A queue stopped at a packet or a wave; other queues go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFault {
    /// The device.
    pub device: String,
    /// Linux's number of the queue.
    pub queue: u32,
    /// What the packet processor wrote, [`aql::queue::INACTIVE_BITS`], or 0.
    pub code: u64,
    /// The exceptions that Linux reported, a mask of 1 << (`kfd_dbg_trap_exception_code` − 1), or 0.
    pub exceptions: u64,
    /// The oldest submission that was not done.
    pub submission: u64,
    /// The packet of that submission, decoded.
    pub packet: String,
}

/// A device reset (`kfd_hsa_hw_exception_data`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetFault {
    /// The device.
    pub device: String,
    /// The contents of device memory are gone.
    pub memory_lost: bool,
    /// `reset_type`: 0 whole GPU, 1 one engine.
    pub kind: u32,
    /// `reset_cause`: 0 hang, 1 ECC error.
    pub cause: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Memory(fault) => fault.fmt(f),
            Fault::Reset(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.error_type, self.not_present, self.read_only, self.no_execute) {
            (1, ..) => "uncorrectable ECC error",
            (2, ..) => "poisoned data",
            (3, ..) => "hang",
            (_, _, true, _) => "store to read-only memory",
            (.., true) => "instruction fetch from memory without execute permission",
            (_, true, ..) => "access to unmapped memory",
            _ => "page fault",
        };
        write!(f, "{}: {kind} at {:#x}", self.device, self.address)?;
        if self.imprecise {
            f.write_str(" (imprecise)")?;
        }
        if let Some((start, length)) = self.nearest {
            let beyond = self.address.wrapping_sub(start);
            if beyond < length {
                write!(f, ", {beyond} bytes into a buffer of {length} at {start:#x}")?;
            } else {
                let past = beyond - length;
                write!(f, ", {past} bytes past the end of a buffer of {length} at {start:#x}")?;
            }
        }
        f.write_str(
            "; Linux has stopped all of this process's work on the device for good: restart the \
             process (or, with KFD 1.19 and later, open the device again with Lifetime::Instance)",
        )
    }
}

impl fmt::Display for QueueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueueFault { device, queue, submission, packet, .. } = self;
        write!(f, "{device}: queue {queue} stopped at submission {submission}: ")?;
        let codes = aql::queue::INACTIVE_BITS.iter().filter(|(bit, _)| self.code & bit != 0);
        let codes = codes.map(|(_, meaning)| *meaning);
        let exceptions = (1..=64).filter(|code| self.exceptions & (1 << (code - 1)) != 0);
        let exceptions =
            exceptions.map(|code| kfd::uapi::exception::name(code).unwrap_or("unknown exception"));
        for (index, meaning) in codes.chain(exceptions).enumerate() {
            write!(f, "{}{meaning}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, " (code {:#x}, exceptions {:#x}); packet: {packet}", self.code, self.exceptions)
    }
}

impl std::error::Error for QueueFault {}

impl fmt::Display for ResetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = match self.cause {
            0 => "a hang",
            1 => "an ECC error",
            _ => "an unknown cause",
        };
        write!(f, "{}: reset after {cause}", self.device)?;
        if self.memory_lost {
            f.write_str(", the contents of device memory are lost")?;
        }
        f.write_str("; this process's work on it is gone: restart the process")
    }
}

impl std::error::Error for Fault {}
