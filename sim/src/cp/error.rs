//! What stops a queue.

use crate::shader::Finding;
use thiserror::Error;

/// Why a queue stopped, in the terms of the packet processor.
///
/// An error is told in two ways: its [inactive value](QueueError::inactive_value) is stored to
/// the queue's `queue_inactive_signal` (values as AMD's runtime reads them:
/// amd_aql_queue.cpp, DynamicQueueEventsHandler), and its [exception code](QueueError::exception)
/// goes to the KFD (kfd_ioctl.h, `kfd_dbg_trap_exception_code`).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A dispatch with an impossible grid.
    #[error("grid {grid:?} in {dimensions} dimensions: {problem}")]
    Dimensions {
        /// Dimensions of the packet.
        dimensions: u8,
        /// Grid of the packet, work-items.
        grid: [u32; 3],
        /// What is wrong.
        problem: &'static str,
    },
    /// A dispatch asks for more LDS than a workgroup can have.
    #[error("group segment of {got} bytes: a workgroup can have at most {limit}")]
    GroupSegment {
        /// Bytes asked for.
        got: u32,
        /// Bytes there are.
        limit: u32,
    },
    /// A dispatch's kernel object is not a usable kernel descriptor.
    #[error("kernel object {address:#x}: {problem}")]
    CodeObject {
        /// Address of the kernel object.
        address: u64,
        /// What is wrong.
        problem: String,
    },
    /// A packet that queues of a GPU do not process.
    #[error("packet not supported: {0}")]
    PacketFormat(String),
    /// A vendor-specific packet that is not supported.
    #[error("vendor-specific packet not supported: {0}")]
    VendorPacket(String),
    /// A PM4 packet that compute queues do not take, or that says what no hardware takes. Of an AQL queue's indirect
    /// buffer it is told as [`QueueError::VendorPacket`].
    #[error("PM4 packet with header {header:#010x} at {address:#x}: {problem}")]
    Pm4Packet {
        /// Address of the packet.
        address: u64,
        /// Its header.
        header: u32,
        /// What is wrong.
        problem: String,
    },
    /// A dispatch with an impossible workgroup.
    #[error("workgroup {workgroup:?}: {problem}")]
    WorkgroupSize {
        /// Workgroup of the packet, work-items.
        workgroup: [u16; 3],
        /// What is wrong.
        problem: &'static str,
    },
    /// A workgroup's waves need more registers than the compute unit has.
    #[error(
        "{waves} waves of {vgprs} VGPRs: a workgroup can have at most {limit} waves of this kind"
    )]
    Registers {
        /// Waves of a workgroup.
        waves: u32,
        /// VGPRs of each, as allocated.
        vgprs: u32,
        /// Waves that fit.
        limit: u32,
    },
    /// A dispatch needs more scratch than the queue has. The queue goes on when the inactive
    /// signal is zero again.
    #[error("{needed} bytes of scratch for each wave of {lanes} lanes: the queue has {available}")]
    Scratch {
        /// Bytes that a wave needs.
        needed: u64,
        /// Bytes that the queue has for a wave.
        available: u64,
        /// Lanes of a wave.
        lanes: u32,
    },
    /// A wave came to something that the simulator does not model. No hardware says so: it is told as an illegal
    /// instruction would be by firmware that looks after waves itself, so that nobody waits in vain.
    #[error("not modelled: {what} at {pc:#x}")]
    NotModelled {
        /// What it came to.
        what: String,
        /// Address of the instruction.
        pc: u64,
    },
    /// Dwords that an SDMA engine cannot take for a packet. Linux has an interrupt for it, of which the KFD tells
    /// nobody: the queue just stops ([`crate::sdma`]).
    #[error("SDMA packet: {0}")]
    SdmaPacket(String),
    /// A wave that does not end, by the watchdog's measure. Nothing is told by the queue itself; the GPU is reset.
    #[error("{0}")]
    Hang(Box<Finding>),
}

/// A [`QueueError`] and the packet that met it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("packet {packet}: {error}")]
pub struct QueueFault {
    /// Index of the packet.
    pub packet: u64,
    /// The error.
    pub error: QueueError,
}

impl QueueError {
    /// What is stored to the queue's inactive signal; 0 for what is no error of an AQL queue, and for a hang, of which
    /// the queue does not tell.
    pub fn inactive_value(&self) -> u64 {
        match self {
            QueueError::Scratch { lanes: 32, .. } => 0x400,
            QueueError::Scratch { .. } => 1,
            QueueError::Dimensions { .. } => 2,
            QueueError::GroupSegment { .. } => 4,
            QueueError::CodeObject { .. } => 8,
            QueueError::PacketFormat(_) => 32,
            QueueError::WorkgroupSize { .. } => 64,
            QueueError::Registers { .. } => 128,
            QueueError::VendorPacket(_) => 256,
            QueueError::NotModelled { .. } => 0x4000_0000,
            QueueError::Pm4Packet { .. } | QueueError::SdmaPacket(_) | QueueError::Hang(_) => 0,
        }
    }

    /// The KFD's exception code (`EC_QUEUE_*`); none for missing scratch, which only the runtime
    /// hears of, for a hang, and for a bad SDMA packet.
    ///
    /// Linux takes the code of a bad PM4 packet from the interrupt (source 183) as it does for AQL
    /// (kfd_int_process_v9.c and v11.c, `KFD_DEBUG_CP_BAD_OP_ECODE`, `KFD_CTXID0_CP_BAD_OP_ECODE`). Which one firmware
    /// puts there is in no public source; here it is that of a packet that is not supported.
    pub fn exception(&self) -> Option<u32> {
        Some(match self {
            QueueError::Scratch { .. } | QueueError::Hang(_) | QueueError::SdmaPacket(_) => {
                return None;
            }
            QueueError::NotModelled { .. } => 4,
            QueueError::Dimensions { .. } => 16,
            QueueError::GroupSegment { .. } => 17,
            QueueError::CodeObject { .. } => 18,
            QueueError::PacketFormat(_) | QueueError::Pm4Packet { .. } => 20,
            QueueError::WorkgroupSize { .. } => 21,
            QueueError::Registers { .. } => 22,
            QueueError::VendorPacket(_) => 23,
        })
    }
}
