//! PM4, the packets of AMD's command processors, as bytes.
//!
//! A packet is a header dword and its body. Everything here is a value and its bit layout: no I/O, no
//! allocation, no unsafe code. So far there is what an AQL queue needs after new code was loaded:
//!
//! - [`Header`]: type, length and opcode of any packet;
//! - [`Generation`]: what layouts depend on, here and in the crate `aql`;
//! - [`AcquireMem`], [`AcquireMemGfx9`]: cache invalidation and write-back.
//!
//! # Sources
//! Linux, `drivers/gpu/drm/amd/amdgpu/nvd.h` (gfx10 and later) and `soc15d.h` (gfx9); AMD's ROCR-Runtime,
//! `core/inc/amd_gpu_pm4.h`.
#![no_std]
#![forbid(unsafe_code)]

mod acquire_mem;
mod generation;
mod header;

pub use acquire_mem::{AcquireMem, AcquireMemGfx9, CacheControl, CoherControl};
pub use generation::Generation;
pub use header::{DecodeError, Header};
