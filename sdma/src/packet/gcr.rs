//! GCR_REQ and GCR_USER: the caches of the graphics core.

use crate::version::{Version, versions::*};

/// Declares a form of GCR_REQ: its head, the fields that all forms have, then its own.
macro_rules! gcr {
    ({ $($head:tt)* } $($own:tt)*) => {
        packet! {
            $($head)*
            /// Not published beyond its name.
            broadcast: bool = 1[1:1] in SDMA7;
            /// First address of the range, a multiple of 128. 0, with `limit_va` 0 too, is
            /// everything.
            base_va: u64 = 1[31:7] << 7 as base_va_31_7 | 2[15:0] << 32 as base_va_47_32;
            /// Instruction caches: 0 leave, 1 invalidate all, 2 the range, 3 its first and last
            /// line.
            gli_inv: u8 = 2[17:16];
            /// GL1: 0 all, 2 the range, 3 its first and last line.
            gl1_range: u8 = 2[19:18];
            /// Writes the metadata caches back.
            glm_wb: bool = 2[20:20];
            /// Invalidates the metadata caches.
            glm_inv: bool = 2[21:21];
            /// Writes the scalar caches back.
            glk_wb: bool = 2[22:22];
            /// Invalidates the scalar caches.
            glk_inv: bool = 2[23:23];
            /// Invalidates the vector L0 caches.
            glv_inv: bool = 2[24:24];
            /// Invalidates the GL1 caches.
            gl1_inv: bool = 2[25:25];
            /// Acts on unshared lines of L2. Nothing more is published; drivers leave it clear.
            gl2_us: bool = 2[26:26];
            /// L2: 0 all, 1 volatile, 2 the range, 3 its first and last line.
            gl2_range: u8 = 2[28:27];
            /// Drops lines of L2 without writing them back.
            gl2_discard: bool = 2[29:29];
            /// Invalidates L2.
            gl2_inv: bool = 2[30:30];
            /// Writes L2 back.
            gl2_wb: bool = 2[31:31];
            /// Order of the levels: 0 all at once, 1 from the shader outwards, 2 inwards.
            seq: u8 = 3[1:0];
            /// The range is one of physical addresses.
            range_is_pa: bool = 3[2:2];
            /// Not published beyond being part of the control bits.
            gcr_control_19: bool = 3[3:3] in SDMA7;
            /// Last line of the range by its address, a multiple of 128.
            limit_va: u64 = 3[31:7] << 7 as limit_va_31_7 | 4[15:0] << 32 as limit_va_47_32;
            $($own)*
        }
    };
}

gcr! {
    {
        /// Writes back and invalidates the caches of the graphics core, for the kernel driver,
        /// which may name a VMID.
        pub struct GcrReq: "GCR_REQ" = 17, 0, 5 dwords in SDMA5_ON;
        source "Linux navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_GCR_REQ";
    }
    /// VMID of the range; user queues have theirs.
    vmid: u8 = 4[27:24];
}

gcr! {
    {
        /// Writes back and invalidates the caches of the graphics core, for user queues. gfx9 has
        /// no such packet.
        pub struct GcrUser: "GCR_USER" = 17, 1, 5 dwords in SDMA5_ON;
        source "ROCr SDMA_PKT_GCR; PAL gfx12: SDMA_PKT_GCR_USER";
    }
    /// VMID of the range. ROCr's structure has it and leaves it 0.
    vmid: u8 = 4[27:24] in SDMA5_TO_6;
}
