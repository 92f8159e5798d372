//! ACQUIRE_MEM: invalidates and writes back caches for an address range. It does not wait for shaders that run.

use crate::generation::{Generation, generations};

packet! {
    /// ACQUIRE_MEM of gfx10 and later: invalidates and writes back caches for an address range. It does not
    /// wait for shaders that run.
    pub struct AcquireMem: "ACQUIRE_MEM" = 0x58, 8 dwords in generations::GFX10_ON;
    source "PAL, PM4_MEC_ACQUIRE_MEM, AcquireMemGcrCntl; nvd.h, PACKET3_ACQUIRE_MEM";
    /// Length of the range in bytes, a multiple of 256.
    size: u64 = 2[31:0] << 8 as coher_size | 3[7:0] << 40 as coher_size_hi;
    /// First address of the range, a multiple of 256.
    base: u64 = 4[31:0] << 8 as coher_base_lo | 5[23:0] << 40 as coher_base_hi;
    /// Clocks between two looks at whether the caches are done, in units of 16.
    poll_interval: u16 = 6[15:0];
    /// Instruction caches: 0 leave, 1 invalidate all, 2 the range, 3 its first and last line.
    gli_inv: u8 = 7[1:0];
    /// Scalar and vector caches of the shaders, and GL1 where there is one: 0 all, 2 the range, 3 its first
    /// and last line.
    gl1_range: u8 = 7[3:2];
    /// Write the metadata caches back.
    glm_wb: bool = 7[4:4] in generations::GFX10_11;
    /// Invalidate the metadata caches; to be set together with the write-back.
    glm_inv: bool = 7[5:5] in generations::GFX10_11;
    /// Write the scalar caches back.
    glk_wb: bool = 7[6:6];
    /// Invalidate the scalar caches.
    glk_inv: bool = 7[7:7];
    /// Invalidate the vector L0 caches.
    glv_inv: bool = 7[8:8];
    /// Invalidate the L1 caches.
    gl1_inv: bool = 7[9:9] in generations::GFX10_11;
    /// Unshared lines of L2.
    gl2_us: bool = 7[10:10];
    /// L2: 0 all, 1 volatile lines, 2 the range, 3 its first and last line.
    gl2_range: u8 = 7[12:11];
    /// Drop lines of L2 without writing them back.
    gl2_discard: bool = 7[13:13];
    /// Invalidate L2: lines of memory that others write too.
    gl2_inv: bool = 7[14:14];
    /// Write L2 back.
    gl2_wb: bool = 7[15:15];
    /// Order of the levels: 0 all at once, 1 from the shader outwards, 2 inwards.
    seq: u8 = 7[17:16];
    /// The range is one of physical addresses.
    range_is_pa: bool = 7[18:18];
}

impl AcquireMem {
    /// Acts on all addresses, on no cache yet.
    pub const EVERYWHERE: AcquireMem = AcquireMem { size: 0xff_ffff_ffff << 8, ..AcquireMem::ZERO };
}

packet! {
    /// ACQUIRE_MEM of gfx9: invalidates and writes back caches for an address range. It does not wait for
    /// shaders that run.
    pub struct AcquireMemGfx9: "ACQUIRE_MEM.gfx9" = 0x58, 7 dwords in generations::GFX9;
    source "soc15d.h, PACKET3_ACQUIRE_MEM; PAL of March 2024, PM4_MEC_ACQUIRE_MEM";
    /// Act on lines of L2 whose memory type is NC or below it: MTYPE 0 (RW) and 1 (NC).
    tc_nc_action_ena: bool = 1[3:3];
    /// Act on write-combined lines of L2 (memory type WC).
    tc_wc_action_ena: bool = 1[4:4];
    /// Invalidate the metadata cache of L2.
    tc_inv_metadata_action_ena: bool = 1[5:5];
    /// Invalidate volatile lines of the vector L1 caches.
    tcl1_vol_action_ena: bool = 1[15:15];
    /// Write L2 back.
    tc_wb_action_ena: bool = 1[18:18];
    /// Invalidate the vector L1 caches.
    tcl1_action_ena: bool = 1[22:22];
    /// Invalidate L2.
    tc_action_ena: bool = 1[23:23];
    /// Act on the colour caches of the graphics pipeline.
    cb_action_ena: bool = 1[25:25];
    /// Act on the depth caches of the graphics pipeline.
    db_action_ena: bool = 1[26:26];
    /// Invalidate the scalar caches.
    sh_kcache_action_ena: bool = 1[27:27];
    /// Invalidate volatile lines of the scalar caches.
    sh_kcache_vol_action_ena: bool = 1[28:28];
    /// Invalidate the instruction caches.
    sh_icache_action_ena: bool = 1[29:29];
    /// Write the scalar caches back.
    sh_kcache_wb_action_ena: bool = 1[30:30];
    /// Length of the range in bytes, a multiple of 256.
    size: u64 = 2[31:0] << 8 as coher_size | 3[7:0] << 40 as coher_size_hi;
    /// First address of the range, a multiple of 256.
    base: u64 = 4[31:0] << 8 as coher_base_lo | 5[23:0] << 40 as coher_base_hi;
    /// Clocks between two looks at whether the caches are done, in units of 16.
    poll_interval: u16 = 6[15:0];
}

impl AcquireMemGfx9 {
    /// Acts on all addresses, on no cache yet.
    pub const EVERYWHERE: AcquireMemGfx9 =
        AcquireMemGfx9 { size: 0xff_ffff_ffff << 8, ..AcquireMemGfx9::ZERO };
}
