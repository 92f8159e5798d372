//! Writing registers: for the rings of the kernel driver.

use crate::version::{Version, versions::*};

packet! {
    /// Writes a register. User queues may not: the kernel driver's rings only.
    pub struct SrbmWrite: "SRBM_WRITE" = 14, 0, 3 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10: SDMA_PKT_SRBM_WRITE";
    /// Bytes to write, one bit each; 0xf for all.
    byte_en: u8 = 0[31:28];
    /// The register, by dword offset.
    addr: u32 = 1[17:0];
    /// Aperture of the register.
    apertureid: u16 = 1[31:20] in SDMA5_TO_6;
    /// What is written.
    data: u32 = 2[31:0];
}

packet! {
    /// Writes a register of 7.0. The kernel driver's rings only. PAL's structure has a fourth
    /// dword, GRBM_GFX_INDEX, which Linux does not write.
    pub struct RegisterWrite: "REGISTER_WRITE" = 14, 0, 3 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_REGISTER_WRITE";
    /// Die whose register it is. Linux leaves it 0.
    virtual_die_id: u8 = 0[17:16];
    /// Register domain. Linux leaves it 0.
    domain: bool = 0[18:18];
    /// Register bridge. Linux leaves it 0.
    bridge: bool = 0[19:19];
    /// Byte offset of the register, a multiple of 4.
    addr: u32 = 1[31:2] << 2;
    /// What is written.
    data: u32 = 2[31:0];
}

packet! {
    /// Changes bits of a register, of several at a stride. The kernel driver's rings only. PAL's
    /// header for gfx10 and gfx11 has a form of 4 dwords, without saying for which.
    pub struct RegisterRmw: "REGISTER_RMW" = 14, 1, 5 dwords in SDMA6;
    source "Linux v6_0_0; PAL gfx10: SDMA_PKT_REGISTER_RMW";
    /// The register, by dword offset.
    addr: u32 = 1[19:0];
    /// Aperture of the register.
    aperture_id: u16 = 1[31:20];
    /// Mask of the register's bits. Whether of those that change or of those that stay is not
    /// published.
    mask: u32 = 2[31:0];
    /// The bits under the mask.
    value: u32 = 3[31:0];
    /// Distance between two registers, as stored.
    stride: u32 = 4[19:0];
    /// Number of registers, as stored.
    num_of_reg: u16 = 4[31:20];
}

packet! {
    /// Changes bits of a register of 7.0, with the GRBM_GFX_INDEX to reach it by. The kernel
    /// driver's rings only.
    pub struct RegisterRmwIndexed: "REGISTER_RMW.indexed" = 14, 1, 5 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_REGISTER_RMW";
    /// Die whose register it is. Linux leaves it 0.
    virtual_die_id: u8 = 0[17:16];
    /// Register domain. Linux leaves it 0.
    domain: bool = 0[18:18];
    /// Register bridge. Linux leaves it 0.
    bridge: bool = 0[19:19];
    /// Byte offset of the register, a multiple of 4.
    addr: u32 = 1[31:2] << 2;
    /// Mask of the register's bits. Whether of those that change or of those that stay is not
    /// published.
    mask: u32 = 2[31:0];
    /// The bits under the mask.
    value: u32 = 3[31:0];
    /// What to put into GRBM_GFX_INDEX for this access. When the engine looks at it is not
    /// published.
    grbm_gfx_index: u32 = 4[31:0];
}
