//! PM4, the packets of AMD's command processors, as bytes.
//!
//! | | |
//! |---|---|
//! | [`packet`] | the packets that compute queues take, and the scheduler's: one type each |
//! | [`register`] | the registers that packets write, by name and by address |
//! | [`sequence`] | packets that belong together: cache control, dispatch, fences, waits |
//! | [`Packets`] | dwords that somebody wrote, as packets |
//! | [`mod@layout`] | the mechanism: fields as types and as data, [`Writer`](layout::Writer), [`layout!`](crate::layout!) |
//! | [`Generation`], [`generations`] | whose packets and registers |
//! | [`Header`] | type, opcode and length of any packet |
//!
//! ```
//! use pm4::Generation;
//! use pm4::packet::WaitRegMem;
//!
//! let words = [0xc005_3c00, 0x13, 0x1000, 0x7f00, 42, 0xffff_ffff, 10];
//! let wait = WaitRegMem::decode(&words, Generation::Gfx115)?;
//! assert_eq!((wait.reference, wait.mask), (42, 0xffff_ffff));
//! assert_eq!(wait.encode(Generation::Gfx115), words);
//! # Ok::<(), pm4::layout::DecodeError>(())
//! ```
//!
//! # What to rely on
//!
//! No function panics or allocates, whatever it is given, and nothing is `unsafe`. A value has public fields and
//! `ZERO`; `check` says whether a generation can say all of it, and the writer asks; `encode` is `const` and leaves
//! out what does not fit; `decode` keeps every bit, and what no field covers is in `reserved`; `Display` is one line.
//! Addresses and lengths are in bytes, counts are of what the field says, and where the hardware stores one less the
//! value does not. Packets, fields and registers have AMD's names, fields in lower case.
//!
//! # What is not here
//!
//! Rings, queues, doorbells and memory; packets of graphics queues but for their names.
//!
//! # Sources
//!
//! Each packet and register names its own: Linux 6.12 (`nvd.h`, `soc15d.h`, `kfd_pm4_headers_*.h`, `gc_*_offset.h`,
//! `gc_*_sh_mask.h`), PAL (`*_mec_pm4_packets.h`), Mesa (`sid.h`, `pkt3.json`); for behaviour ROCr, kfdtest,
//! tinygrad and LLVM's AMDGPUUsage.
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
pub mod layout;

mod generation;
mod header;
pub mod packet;
pub mod register;
pub mod sequence;
mod stream;

pub use generation::{Generation, generations};
pub use header::Header;
pub use stream::{IndirectBuffer, Packets, RawPacket, RegisterWrite, RegisterWrites, StreamError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
