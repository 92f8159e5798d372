//! Packets of AMD's SDMA engines, as bytes.
//!
//! | | |
//! |---|---|
//! | [`packet`] | the packets: one type each, with what is known of every field, and [`packet::LAYOUTS`], the same as data |
//! | [`Version`] | whose packets: fields and lengths differ, and the types know how |
//! | [`split`] | copies and fills of any length and alignment |
//! | [`sequence`] | packets that belong together: copy and fence, drain, interrupt, padding, indirect buffers |
//! | [`limits`] | how much at once, how aligned, what to keep away from |
//! | [`Packets`] | dwords that somebody wrote, as packets |
//! | [`oss7`] | what is known of the engine after these |
//!
//! Packets are written with [`Writer`](pm4::layout::Writer) and share their mechanism with `pm4`
//! ([`mod@pm4::layout`]): a value has public fields and `ZERO`; `check` says whether a version can say all of it;
//! `encode` is `const` and leaves out what it cannot; `decode` keeps every bit, and what no field covers is in
//! `reserved`; `Display` is one line.
//!
//! ```
//! use sdma::Version;
//! use sdma::packet::{Fence, Mtype};
//!
//! let fence = Fence { addr: 0x1000, data: 7, mtype: Mtype::UC, ..Fence::ZERO };
//! assert_eq!(fence.encode(Version::V5_2), [0x0003_0005, 0x1000, 0, 7]);
//! assert_eq!(Fence::decode(&[0x0003_0005, 0x1000, 0, 7], Version::V5_2), Ok(fence));
//! // SDMA 4 has no memory types in FENCE.
//! assert!(fence.check(Version::V4_0).is_err());
//! ```
//!
//! # What to rely on
//!
//! No function panics or allocates, whatever it is given, and nothing is `unsafe`. Addresses and lengths are in
//! bytes, counts are of what the field says, and where the hardware stores one less the value does not.
//! Fields and packets have AMD's names, in lower case, so that they can be looked up; a dot and a word tell forms of
//! one packet apart ("COPY_LINEAR.meta").
//!
//! # What is not here
//!
//! Rings, queues, doorbells and memory. Whether addresses are mapped, and whether ranges overlap, is not looked
//! at. COUNTER and TRNG_FETCH of PAL's headers have no published opcode and are left out.
//!
//! # Sources
//!
//! [`packet`] names the headers, and says what is done where they disagree. Behaviour is cited where it matters:
//! Linux 6.12 (`drivers/gpu/drm/amd`), ROCr (ROCm's rocm-systems), PAL, Mesa and tinygrad. What AMD does not
//! publish is said to be so, not guessed.
#![no_std]
#![forbid(unsafe_code)]

pub mod limits;
pub mod oss7;
pub mod packet;
pub mod sequence;
pub mod split;
mod stream;
mod version;

pub use stream::{Packets, RawPacket, StreamError};
pub use version::{Version, versions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
