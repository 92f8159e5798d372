//! What a device says when work fails. Faults are values: they come back from waits and submissions.

use std::fmt;

/// Why a device or queue was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A page fault. Linux has evicted all queues of this process state on the device for good.
    Memory(MemoryFault),
    /// A queue stopped at a packet or a wave. Other queues go on.
    Queue(QueueFault),
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
    /// The buffer that starts closest below the address, and its length in bytes.
    pub nearest: Option<(u64, u64)>,
}

/// A queue in error (`queue_inactive_signal` of `amd_queue_t`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFault {
    /// The device.
    pub device: String,
    /// Linux's number of the queue.
    pub queue: u32,
    /// The code that the packet processor wrote, or 0.
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

/// Meanings of the codes in `queue_inactive_signal` (ROCR-Runtime, `amd_aql_queue.cpp`,
/// `AqlQueue::DynamicQueueEventsHandler` and `ExceptionHandler`).
const QUEUE_CODES: &[(u64, &str)] = &[
    (1, "no scratch, wave64 kernel"),
    (2, "dispatch dimensions invalid"),
    (4, "more LDS than a workgroup can have"),
    (8, "kernel object invalid"),
    (16, "kernarg address invalid"),
    (32, "packet format invalid"),
    (64, "workgroup too large"),
    (128, "more registers than the kernel's descriptor allows"),
    (256, "vendor-specific packet invalid"),
    (512, "scratch reclaim"),
    (0x400, "no scratch, wave32 kernel"),
    (0x2000_0000, "memory aperture violation"),
    (0x4000_0000, "illegal instruction"),
    (0x8000_0000, "trap"),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Memory(fault) => fault.fmt(f),
            Fault::Queue(fault) => fault.fmt(f),
            Fault::Reset(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.not_present, self.read_only, self.no_execute) {
            (_, true, _) => "store to read-only memory",
            (_, _, true) => "instruction fetch from memory without execute permission",
            (true, ..) => "access to unmapped memory",
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
        let meaning = QUEUE_CODES
            .iter()
            .find(|(code, _)| *code == self.code)
            .map_or("unknown code", |(_, meaning)| meaning);
        write!(
            f,
            "{}: queue {} stopped at submission {}: {meaning} ({:#x}); packet: {}",
            self.device, self.queue, self.submission, self.code, self.packet
        )
    }
}

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
        f.write_str("; open the device again")
    }
}

impl std::error::Error for Fault {}
