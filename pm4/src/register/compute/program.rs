//! COMPUTE_PGM_*: which program a dispatch runs, with which registers and which float mode.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX12, GFX9, GFX10_ON, GFX11, GFX11_ON, GFX12, GFX90A_ON, GFX94X_ON, GFX906_908,
};

register! {
    /// Low part of the address of the program's first instruction.
    pub struct ComputePgmLo: "COMPUTE_PGM_LO"
        at 0x2e0c in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    data: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the program's first instruction.
    pub struct ComputePgmHi: "COMPUTE_PGM_HI"
        at 0x2e0d in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 47:40 of the address, where they are in it: `encode` takes its part of the whole
    /// address.
    data: u64 = 0[7:0] << 40;
}

register! {
    /// Registers and float mode of a kernel; its descriptor has the value.
    pub struct ComputePgmRsrc1: "COMPUTE_PGM_RSRC1"
        at 0x2e12 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: LLVM, AMDGPUUsage, compute_pgm_rsrc1";
    /// VGPRs of a lane, in granules less one. The granule is 4 to gfx908 and with waves of 64 from
    /// gfx10.1 on, 8 from gfx90a to gfx950 and with waves of 32 from gfx10.1 on.
    vgprs: u8 = 0[5:0];
    /// To gfx950 twice what the SGPRs of a wave are in granules of 16, less one; zero from gfx10.1
    /// on, where every wave has all SGPRs.
    sgprs: u8 = 0[9:6];
    /// Priority at which a wave starts, 0 to 3; the command processor sets it for AQL dispatches.
    priority: u8 = 0[11:10];
    /// Bits 7:0 of the wave's MODE: rounding of 32-bit (1:0) and of 16- and 64-bit floats (3:2): 0
    /// nearest even, 1 up, 2 down, 3 to zero; denormals of 32-bit (5:4) and of 16- and 64-bit
    /// floats (7:6): 0 flushed in sources and results, 1 in results, 2 in sources, 3 kept.
    float_mode: u8 = 0[19:12];
    /// Whether the wave starts privileged, as trap handlers run.
    privileged: bool = 0[20:20] as priv;
    /// Whether clamping a NaN gives zero.
    dx10_clamp: bool = 0[21:21] in BEFORE_GFX12;
    /// Whether the waves of a SIMD issue round robin rather than the oldest first.
    wg_rr_en: bool = 0[21:21] in GFX12;
    /// Whether the wave starts in single-step mode, trapping after each instruction.
    debug_mode: bool = 0[22:22] in GFX94X_ON.or(GFX906_908).or(GFX12);
    /// Whether float instructions quiet signalling NaNs as IEEE 754-2008 has it.
    ieee_mode: bool = 0[23:23] in BEFORE_GFX12;
    /// Whether the wave is left out of performance counting (by its name); LLVM and PAL keep it
    /// zero.
    disable_perf: bool = 0[23:23] in GFX12;
    /// Whether only one workgroup of this kind may run on a CU.
    bulky: bool = 0[24:24];
    /// A flag for debug code in kernels: S_CBRANCH_CDBGUSER branches on it.
    cdbg_user: bool = 0[25:25] in GFX94X_ON.or(GFX906_908).or(GFX12);
    /// Whether 16-bit float results that overflow become the largest number rather than infinity.
    fp16_ovfl: bool = 0[26:26];
    /// Whether a workgroup may use both CUs of its WGP rather than one.
    wgp_mode: bool = 0[29:29] in GFX10_ON;
    /// Whether vmcnt counts loads, atomics with return and samples down in order; cleared, samples
    /// overtake the others.
    mem_ordered: bool = 0[30:30] in GFX10_ON;
    /// Whether all waves of a SIMD make some progress; cleared, the oldest goes first.
    fwd_progress: bool = 0[31:31] in GFX10_ON;
}

register! {
    /// SGPRs that a wave starts with, local memory and exceptions of a kernel; its descriptor has
    /// the value, but for LDS_SIZE.
    pub struct ComputePgmRsrc2: "COMPUTE_PGM_RSRC2"
        at 0x2e13 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: LLVM, AMDGPUUsage, compute_pgm_rsrc2";
    /// Whether waves get scratch memory; where flat scratch is not architected, its offset comes in
    /// an SGPR.
    scratch_en: bool = 0[0:0];
    /// How many user SGPRs are initialised from COMPUTE_USER_DATA_*, 0 to 16; with kernel argument
    /// preload the descriptor counts further ones.
    user_sgpr: u8 = 0[5:1];
    /// Whether a trap handler is there; the command processor or driver sets it.
    trap_present: bool = 0[6:6] in BEFORE_GFX12;
    /// Whether waves allocate their VGPRs in blocks while they run.
    dynamic_vgpr: bool = 0[6:6] in GFX12;
    /// Whether a wave gets the workgroup's position in X.
    tgid_x_en: bool = 0[7:7];
    /// Whether a wave gets the workgroup's position in Y.
    tgid_y_en: bool = 0[8:8];
    /// Whether a wave gets the workgroup's position in Z.
    tgid_z_en: bool = 0[9:9];
    /// Whether a wave gets the number of waves of the workgroup and its own among them.
    tg_size_en: bool = 0[10:10];
    /// Which positions in the workgroup a lane gets in VGPRs: 0 X, 1 X and Y, 2 X, Y and Z.
    tidig_comp_cnt: u8 = 0[12:11];
    /// Traps on address watches (bit 0) and on memory violations (bit 1).
    excp_en_msb: u8 = 0[14:13];
    /// Local memory of a workgroup in granules of 128 dwords (512 bytes). Zero in a descriptor: who
    /// dispatches puts it in. The granule of gfx950 is not documented.
    lds_size: u16 = 0[23:15];
    /// Traps on exceptions, from bit 0 on: invalid operation, denormal source, float division by
    /// zero, overflow, underflow, inexact, integer division by zero.
    excp_en: u8 = 0[30:24];
    /// Whether user SGPR 0 is left out (by its name).
    skip_usgpr0: bool = 0[31:31] in GFX9;
    /// Whether a workgroup may take over a WGP (by its name).
    wgp_takeover: bool = 0[31:31] in GFX12;
}

register! {
    /// What a kernel needs beyond RSRC1 and RSRC2; its descriptor has the value.
    pub struct ComputePgmRsrc3: "COMPUTE_PGM_RSRC3"
        at 0x2e2d in GFX90A_ON, 0x2e28 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: LLVM, AMDGPUUsage, compute_pgm_rsrc3";
    /// Where accumulation VGPRs start in the register file: a multiple of 4, in fours less one (0
    /// is VGPR 4, 63 VGPR 256).
    accum_offset: u8 = 0[5:0] in GFX90A_ON;
    /// VGPRs that the two halves of a wave of 64 share, in granules of 8; LLVM calls the field
    /// reserved on gfx12.
    shared_vgpr_cnt: u8 = 0[3:0] in GFX10_ON;
    /// Code to prefetch at the start of a wave, from the first instruction on, in 128 bytes.
    inst_pref_size: u8 = 0[9:4] in GFX11, 0[11:4] in GFX12;
    /// Whether a wave traps before its first instruction.
    trap_on_start: bool = 0[10:10] in GFX94X_ON.or(GFX11);
    /// Whether a wave traps at its end.
    trap_on_end: bool = 0[11:11] in GFX94X_ON.or(GFX11);
    /// Whether the dispatch has the group launch guarantee.
    glg_en: bool = 0[13:13] in GFX12;
    /// Whether the waves of a workgroup may run on different CUs; the kernel has no local memory
    /// then.
    tg_split: bool = 0[16:16] in GFX90A_ON;
    /// Whether the kernel uses image instructions, or has waits before it starts apply to it as if
    /// it did (PAL always sets it).
    image_op: bool = 0[31:31] in GFX11_ON;
}

register! {
    /// What user SGPRs hold when a wave starts; number n of the row is SGPR n.
    pub struct ComputeUserData: "COMPUTE_USER_DATA_0"
        at 0x2e40 * 16 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The SGPR's value.
    data: u32 = 0[31:0];
}

register! {
    /// The address space that waves of the dispatch run in; the command processor sets it from the
    /// queue's.
    pub struct ComputeVmid: "COMPUTE_VMID"
        at 0x2e14 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The VMID.
    data: u8 = 0[3:0];
}

register! {
    /// A checksum of the program, which thread traces show (PAL takes it from the code object).
    pub struct ComputeShaderChksum: "COMPUTE_SHADER_CHKSUM"
        at 0x2e2c in GFX90A_ON, 0x2e2a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The checksum.
    checksum: u32 = 0[31:0];
}

register! {
    /// Accumulators of the dispatcher that the program contributes to, four of them (by the names;
    /// PAL and Mesa keep them zero).
    pub struct ComputeUserAccum: "COMPUTE_USER_ACCUM_0"
        at 0x2e24 * 4 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// What the program contributes to the accumulator (by its name).
    contribution: u8 = 0[6:0];
}

register! {
    /// The name that gfx10.1 has for COMPUTE_USER_ACCUM_0 to 3 besides, with all their fields.
    pub struct ComputePrefPriAccum: "COMPUTE_PREF_PRI_ACCUM_0"
        at 0x2e24 * 4 in Generation::Gfx101.set();
    source "Linux, amd/include/asic_reg/gc";
    /// What the program contributes to the accumulator (by its name).
    contribution: u8 = 0[6:0];
    /// Level of the hierarchy that the coefficient is for (by its name).
    coefficient_hier_select: u8 = 0[9:7];
    /// Level of the hierarchy that the contribution is for (by its name).
    contribution_hier_select: u8 = 0[12:10];
    /// Whether the accumulators of the group are updated (by its name).
    group_update_en: bool = 0[13:13];
    /// Weight of the accumulator (by its name).
    coefficient: u8 = 0[22:15];
}
