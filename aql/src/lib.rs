//! AMD's Architected Queuing Language: packets, signals, queues and kernel descriptors, as bytes.
//!
//! Everything here is a value and its bit layout: no I/O, no allocation, no unsafe code, no
//! operating system. Names are those of AMD's headers and of LLVM.
//!
//! # Contents
//! - [`KernelDispatch`], [`AgentDispatch`], [`BarrierAnd`], [`BarrierOr`]: the packets of hsa.h.
//! - [`vendor`]: AMD's own: [`Pm4Indirect`], [`BarrierValue`], [`ExtKernelDispatch`], and who accepts them.
//! - [`Packet`]: any of them, unknown ones included; [`Header`]: a look at the first word.
//! - [`LAYOUTS`]: the packets as data: names, positions, documentation of every field.
//! - [`ring`]: how a packet is published to a device; [`dump`]: how a copy of a ring is read.
//! - [`metadata`]: the second ring of gfx12.5.
//! - [`signal`], [`queue`]: `amd_signal_t` and `amd_queue_t`, the structures in memory that packets
//!   and packet processors refer to; [`profiling`]: the times in them.
//! - [`descriptor`]: the kernel descriptor, its register words by generation, user SGPRs.
//! - [`scratch`]: COMPUTE_TMPRING_SIZE, scratch sizes and the scratch buffer descriptor.
//! - [`Generation`]: what the layouts depend on (from the crate `pm4`).
//!
//! # Contract
//! A packet is 16 little-endian dwords. `encode` cannot fail and allocates nothing. `decode` never
//! panics; it fails only when the words are not a packet of that kind at all, and what it does not
//! know (reserved fields, reserved values, unknown types) it carries, so that
//! `decode(words)?.encode() == words` for all words. [`KernelDispatch::check`] and its siblings say whether
//! something does not fit or is set that must be zero.
//!
//! ```
//! use aql::{KernelDispatch, Packet};
//!
//! let dispatch = KernelDispatch::new(0x7000_0040, 0x7100_0000, [1024, 1, 1], [256, 1, 1]);
//! assert_eq!(dispatch.check(), Ok(()));
//! let words = dispatch.encode();
//! assert_eq!(Packet::decode(&words), Packet::KernelDispatch(dispatch));
//! ```
//!
//! # Sources
//! AMD's ROCR-Runtime, `runtime/hsa-runtime/inc`: `hsa.h`, `hsa_ext_amd.h`, `amd_hsa_queue.h`,
//! `amd_hsa_signal.h`, `amd_launch_descriptor.h`; LLVM's "User Guide for AMDGPU Backend" (AMDGPUUsage), 19.1.
//! The tests hold every field against what a compiler makes of these headers.
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
mod declare;

pub mod agent_dispatch;
pub mod barrier;
pub mod descriptor;
pub mod dump;
pub mod header;
pub mod kernel_dispatch;
pub mod metadata;
mod packet;
pub mod profiling;
pub mod queue;
pub mod ring;
pub mod scratch;
pub mod signal;
mod signed;
pub mod vendor;

pub use agent_dispatch::AgentDispatch;
pub use barrier::{BarrierAnd, BarrierOr};
pub use descriptor::KernelDescriptor;
pub use dump::packets;
pub use header::{FenceScope, Header, PacketType};
pub use kernel_dispatch::KernelDispatch;
pub use packet::Packet;
pub use pm4::layout::{DecodeError, FieldError};
pub use pm4::{Generation, generations};
pub use queue::{Queue, QueueV2};
pub use ring::Ring;
pub use signal::Signal;
pub use signed::Signed;
pub use vendor::{BarrierValue, ExtKernelDispatch, Pm4Indirect};

use pm4::layout::Layout;

/// Calls a macro with every packet type: `packets!(name arguments)` is `name!(arguments; KernelDispatch, ...)`.
#[doc(hidden)]
#[macro_export]
macro_rules! packets {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            KernelDispatch, AgentDispatch, BarrierAnd, BarrierOr, Pm4Indirect, BarrierValue,
            ExtKernelDispatch,
        }
    };
}

macro_rules! layouts {
    (; $($Packet:ident),+ $(,)?) => { &[$($Packet::LAYOUT),+] };
}

/// Every layout of a packet that there is.
pub const LAYOUTS: &[&Layout] = packets!(layouts);

/// A packet's size in dwords.
pub const PACKET_WORDS: usize = 16;

/// A packet's size in bytes (`hsa_kernel_dispatch_packet_t` and siblings).
pub const PACKET_BYTES: usize = 4 * PACKET_WORDS;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
