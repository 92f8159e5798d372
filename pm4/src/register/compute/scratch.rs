//! COMPUTE_*: scratch memory of a dispatch.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX11, GFX11, GFX12};

register! {
    /// Scratch memory of a dispatch: how many waves may have some and how much each.
    pub struct ComputeTmpringSize: "COMPUTE_TMPRING_SIZE"
        at 0x2e18 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Waves with scratch at a time: of the XCC or GPU to gfx10.3, where the shader engines share
    /// them evenly, of one shader engine from gfx11 on.
    waves: u16 = 0[11:0];
    /// Bytes of scratch of a wave: a multiple of 1024 to gfx10.3, of 256 from gfx11 on.
    wavesize: u32 = 0[24:12] << 10 in BEFORE_GFX11, 0[26:12] << 8 in GFX11, 0[29:12] << 8 in GFX12;
}

register! {
    /// Low part of the address of the scratch memory, where flat scratch is architected (gfx94x,
    /// gfx950, gfx11 and later).
    pub struct ComputeDispatchScratchBaseLo: "COMPUTE_DISPATCH_SCRATCH_BASE_LO"
        at 0x2e10 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    data: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the scratch memory.
    pub struct ComputeDispatchScratchBaseHi: "COMPUTE_DISPATCH_SCRATCH_BASE_HI"
        at 0x2e11 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 47:40 of the address, where they are in it: `encode` takes its part of the whole
    /// address.
    data: u64 = 0[7:0] << 40;
}
