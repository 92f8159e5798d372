//! AMD's Architected Queuing Language: packets, signals, queues and kernel descriptors, as bytes.
//!
//! Everything here is a value and its bit layout: no I/O, no allocation, no unsafe code, no
//! operating system. Names are those of AMD's headers and of LLVM.
//!
//! # Contents
//! - [`header`]: the first dword of every packet: type, barrier bit, fence scopes.
//! - [`kernel_dispatch`], [`agent_dispatch`], [`barrier`], [`vendor`]: one packet (family) each.
//! - [`Packet`]: any of them, unknown ones included.
//! - [`ring`]: how a packet is published to a device.
//! - [`signal`], [`queue`]: `amd_signal_t` and `amd_queue_t`, the structures in memory that packets
//!   and packet processors refer to.
//! - [`descriptor`]: the kernel descriptor, its register words by generation, user SGPRs.
//! - [`scratch`]: COMPUTE_TMPRING_SIZE, scratch sizes and the scratch buffer descriptor.
//! - [`Generation`]: what the layouts depend on (from the crate `pm4`).
//!
//! # Contract
//! A packet is 16 little-endian dwords. `encode` cannot fail and allocates nothing. `decode` never
//! panics; it fails only when the words are not a packet of that kind at all, and what it does not
//! know (reserved fields, reserved values, unknown types) it carries, so that
//! `decode(words)?.encode() == words` for all words. [`KernelDispatch::reserved_bits`] and its
//! siblings say whether something is set that must be zero.
//!
//! # Sources
//! AMD's ROCR-Runtime, `runtime/hsa-runtime/inc`: `hsa.h`, `hsa_ext_amd.h`, `amd_hsa_queue.h`,
//! `amd_hsa_signal.h`; LLVM's "User Guide for AMDGPU Backend" (AMDGPUUsage), 19.1.
#![no_std]
#![forbid(unsafe_code)]

pub mod agent_dispatch;
pub mod barrier;
pub mod descriptor;
mod error;

pub mod header;
pub mod kernel_dispatch;
mod packet;
pub mod queue;
pub mod ring;
pub mod scratch;
pub mod signal;
pub mod vendor;
mod words;

pub use agent_dispatch::AgentDispatch;
pub use barrier::Barrier;
pub use descriptor::KernelDescriptor;
pub use error::DecodeError;
pub use header::{FenceScope, Header, PacketType};
pub use kernel_dispatch::KernelDispatch;
pub use packet::Packet;
pub use pm4::Generation;
pub use queue::{Queue, QueueV2};
pub use ring::Ring;
pub use signal::Signal;
pub use vendor::{BarrierValue, Pm4Indirect};

/// A packet's size in dwords.
pub const PACKET_WORDS: usize = 16;

/// A packet's size in bytes (`hsa_kernel_dispatch_packet_t` and siblings).
pub const PACKET_BYTES: usize = 4 * PACKET_WORDS;
