//! What engines and their firmware stand, beyond what fields have room for.

use crate::version::{Version, versions::*};

/// What a version's engines are given at most, and what they need.
///
/// `copy_bytes` and `fill_bytes` are what Linux gives every version, and what this crate uses unless it is told
/// otherwise. The `_max` beside them is the most that a public driver of AMD's uses on this version.
///
/// What holds for all versions: rings are a power of two long; read pointer, write pointer and doorbell count
/// bytes and do not wrap at the ring's end (64 bits); a ring is never filled to the last dword, as it would look
/// empty; zero dwords are NOPs, so the end of a ring that no packet fits into is filled with zeros; what is written
/// to the ring has to arrive before the write pointer, and that before the doorbell (ROCr, `amd_blit_sdma.cpp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that one COPY_LINEAR may copy: 4 MiB, a multiple of 4.
    ///
    /// Source: `copy_max_bytes` of Linux's `sdma_v4_0.c` to `sdma_v7_0.c`.
    pub copy_bytes: u32,
    /// Bytes that one COPY_LINEAR is made to copy by AMD's runtimes: 1 GiB on gfx90a (ROCr of 2025, and later on
    /// gfx942 and gfx950 too), from 5.2 on (ROCr, PAL, Mesa); else 4 MiB.
    ///
    /// Copies of 256 MiB or more were seen to stall MI355X engines in one driver, 128 MiB to run (rocm-systems,
    /// pull request 9927), though with packets that these versions lack: measure before going there.
    pub copy_bytes_max: u32,
    /// Bytes that one CONSTANT_FILL may fill: 4 MiB, a multiple of 4.
    ///
    /// Source: `fill_max_bytes` of Linux's `sdma_v4_0.c` to `sdma_v7_0.c`.
    pub fill_bytes: u32,
    /// Bytes that one CONSTANT_FILL is made to fill by AMD's drivers: 1 GiB less 4 from 6.0 on (PAL,
    /// `gfx10DmaCmdBuffer.cpp` and `gfx12DmaCmdBuffer.cpp`). Else 4 MiB, which is Linux's; PAL stops at 4 MiB less 4
    /// on 5.x, as its fills are of whole dwords of a 22-bit count.
    pub fill_bytes_max: u32,
    /// Dwords that one WRITE_UNTILED carries: what its count has room for.
    pub write_dwords: u32,
    /// Dwords that one NOP skips, itself included: what its count has room for.
    pub nop_dwords: u32,
    /// Dwords of an indirect buffer: what INDIRECT has room for, as a multiple of 8.
    pub indirect_dwords: u32,
    /// Dwords that an INDIRECT has to end at a multiple of, in the ring, and that buffers are padded to.
    ///
    /// Source: `*_ring_emit_ib` and `*_ring_pad_ib` of Linux's drivers.
    pub indirect_end: u32,
    /// Bytes of the shortest submission: 256 on 4.0, where gfx900 to gfx904 and gfx90c need it (ROCr,
    /// `min_submission_size_`); gfx906 and gfx908, of the same version, do not. Else 4.
    pub submission_bytes: u32,
    /// How often to write POLL_REGMEM in a row: twice on 4.0, whose engines may go on before memory has the value
    /// (ROCr, `doublePoll`, for all of gfx9.0 but gfx90a).
    pub polls: u32,
    /// Whether the HDP flush by POLL_REGMEM may be used: not on 5.0 (ROCr: gfx101x has issues with it).
    pub hdp_flush: bool,
    /// Whether there are GCR packets: from 5.0 on.
    pub gcr: bool,
}

const MIB_4: u32 = 1 << 22;
const GIB: u32 = 1 << 30;

impl Version {
    /// What this version's engines are given at most, and what they need.
    pub const fn limits(self) -> Limits {
        let long_copies = self.is_in(SDMA4_4.or(SDMA5_2_ON));
        let old = self.is_in(SDMA4_0);
        Limits {
            copy_bytes: MIB_4,
            copy_bytes_max: if long_copies { GIB } else { MIB_4 },
            fill_bytes: MIB_4,
            fill_bytes_max: if self.is_in(SDMA6_ON) { GIB - 4 } else { MIB_4 },
            write_dwords: 1 << 20,
            nop_dwords: 1 << 14,
            indirect_dwords: (1 << 20) - 8,
            indirect_end: 8,
            submission_bytes: if old { 256 } else { 4 },
            polls: if old { 2 } else { 1 },
            hdp_flush: !self.is_in(SDMA5_0),
            gcr: self.is_in(SDMA5_ON),
        }
    }
}
