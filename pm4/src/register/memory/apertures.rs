//! SH_MEM_*: how waves of an address space see memory; one for each VMID, which GRBM_GFX_CNTL selects.

use crate::generation::Generation;
use crate::generation::generations::{
    BEFORE_GFX11, GFX9, GFX10, GFX10_ON, GFX11_ON, GFX12, GFX94X_ON,
};

crate::names! {
    /// Width of flat addresses: SH_MEM_CONFIG.ADDRESS_MODE.
    pub struct ShMemAddressMode(u8) {
        /// 64 bits.
        MODE_64 = 0,
        /// 32 bits.
        MODE_32 = 1,
    }
}

crate::names! {
    /// What becomes of addresses that are not multiples of the access's size: SH_MEM_CONFIG.ALIGNMENT_MODE.
    pub struct ShMemAlignmentMode(u8) {
        /// The low two bits are ignored.
        DWORD = 0,
        /// They have to be zero.
        DWORD_STRICT = 1,
        /// Addresses have to be multiples of the size.
        STRICT = 2,
        /// Any address will do; KFD sets this.
        UNALIGNED = 3,
    }
}

register! {
    /// Where the apertures of scratch and local memory are in flat addresses. Both are bits 63:48
    /// of their addresses; the rest of these is zero.
    pub struct ShMemBases: "SH_MEM_BASES"
        at 0x230a in BEFORE_GFX11, 0xa9e3 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_device_queue_manager_v9.c";
    /// Start of the scratch aperture in bytes, a multiple of 2^48.
    private_base: u64 = 0[15:0] << 48;
    /// Start of the local memory aperture in bytes, a multiple of 2^48.
    shared_base: u64 = 0[31:16] << 48;
}

register! {
    /// How waves of an address space access memory.
    pub struct ShMemConfig: "SH_MEM_CONFIG"
        at 0x230d in BEFORE_GFX11, 0xa9e4 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_device_queue_manager_v9.c to v12.c, gfx_v10_0.c";
    /// Width of flat addresses.
    address_mode: ShMemAddressMode = 0[0:0];
    /// What becomes of unaligned addresses.
    alignment_mode: ShMemAlignmentMode = 0[4:3] in GFX9, 0[3:2] in GFX10_ON;
    /// Memory type of accesses that no page table entry tells one of.
    default_mtype: u8 = 0[6:4] in GFX10;
    /// Which 8-bit float formats instructions know (by its name); KFD sets it for gfx942, whose
    /// formats are the FNUZ ones.
    f8_mode: bool = 0[8:8] in GFX94X_ON.or(GFX12);
    /// Whether accesses to pages that are absent fail rather than being retried (XNACK off).
    retry_disable: bool = 0[12:12] in GFX9;
    /// Which accesses to pages that are absent are retried: 0 all, 1 writes and atomics, 2 none.
    retry_mode: u8 = 0[13:12] in Generation::Gfx101.set();
    /// Whether scratch is non-volatile for L2 (by its name).
    private_nv: bool = 0[13:13] in GFX9;
    /// How much code a wave prefetches at its start; drivers set 3.
    initial_inst_prefetch: u8 = 0[15:14] in GFX10_ON;
    /// Whether prefetching code stops at page ends.
    no_prefetch_across_page: bool = 0[16:16] in Generation::Gfx101.set();
    /// Whether illegal instructions are not looked for.
    illegal_inst_check_disable: bool = 0[17:17] in Generation::Gfx101.set();
    /// Whether the instruction cache reads through GL1.
    icache_use_gl1: bool = 0[18:18] in GFX10_ON;
}
