//! CP_COHER_*, GCR_*: flushing and invalidating caches, as ACQUIRE_MEM and RELEASE_MEM have it done.

use crate::generation::Generation;
use crate::generation::generations::{BEFORE_GFX11, GFX10, GFX11_ON, GFX12, GFX103_ON};

register! {
    /// Which caches to flush and invalidate; ACQUIRE_MEM of gfx9 has the same layout.
    pub struct CpCoherCntl: "CP_COHER_CNTL"
        at 0xc07c in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: PACKET3_ACQUIRE_MEM in soc15d.h";
    /// L2: lines that are not coherent, of memory type NC.
    tc_nc_action_ena: bool = 0[3:3];
    /// L2: lines that writes were combined in.
    tc_wc_action_ena: bool = 0[4:4];
    /// L2: metadata are invalidated.
    tc_inv_metadata_action_ena: bool = 0[5:5];
    /// Vector L1: volatile lines are invalidated.
    tcl1_vol_action_ena: bool = 0[15:15];
    /// L2: dirty lines are written back.
    tc_wb_action_ena: bool = 0[18:18];
    /// Vector L1: invalidated.
    tcl1_action_ena: bool = 0[22:22];
    /// L2: invalidated.
    tc_action_ena: bool = 0[23:23];
    /// Colour caches: flushed and invalidated.
    cb_action_ena: bool = 0[25:25];
    /// Depth caches: flushed and invalidated.
    db_action_ena: bool = 0[26:26];
    /// Scalar cache: invalidated.
    sh_kcache_action_ena: bool = 0[27:27];
    /// Scalar cache: volatile lines are invalidated.
    sh_kcache_vol_action_ena: bool = 0[28:28];
    /// Instruction cache: invalidated.
    sh_icache_action_ena: bool = 0[29:29];
    /// Scalar cache: dirty lines are written back.
    sh_kcache_wb_action_ena: bool = 0[30:30];
}

register! {
    /// Low part of the start of the range to flush.
    pub struct CpCoherBase: "CP_COHER_BASE"
        at 0xc07e in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: PACKET3_ACQUIRE_MEM in soc15d.h";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    coher_base_256b: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the start of the range.
    pub struct CpCoherBaseHi: "CP_COHER_BASE_HI"
        at 0xc079 in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: PACKET3_ACQUIRE_MEM in soc15d.h";
    /// Bits 47:40 of the address, where they are in it.
    coher_base_hi_256b: u64 = 0[7:0] << 40;
}

register! {
    /// Low part of the size of the range.
    pub struct CpCoherSize: "CP_COHER_SIZE"
        at 0xc07d in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: PACKET3_ACQUIRE_MEM in soc15d.h";
    /// Bits 39:8 of the number of bytes, where they are in it.
    coher_size_256b: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the size of the range.
    pub struct CpCoherSizeHi: "CP_COHER_SIZE_HI"
        at 0xc08c in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: PACKET3_ACQUIRE_MEM in soc15d.h";
    /// Bits 47:40 of the number of bytes, where they are in it.
    coher_size_hi_256b: u64 = 0[7:0] << 40;
}

register! {
    /// How long flushing waits before it starts.
    pub struct CpCoherStartDelay: "CP_COHER_START_DELAY"
        at 0xc07b in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc";
    /// How long; the unit is not documented.
    start_delay_count: u8 = 0[5:0];
}

register! {
    /// Whether flushing is under way.
    pub struct CpCoherStatus: "CP_COHER_STATUS"
        at 0xc07f in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc";
    /// Micro engine that asked for it.
    meid: u8 = 0[25:24];
    /// Whether it is under way.
    status: bool = 0[31:31];
}

register! {
    /// How the unit works that carries out cache requests (GCR). AMD documents no more than the
    /// names.
    pub struct GcrGeneralCntl: "GCR_GENERAL_CNTL"
        at 0x27e3 in Generation::Gfx101.set(),
            0x27e0 in Generation::Gfx103.set(),
            0xb990 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether translations are taken as those of pages of 4 KiB.
    force_4k_l2_resp: bool = 0[0:0];
    /// Whether the main work queue is halved.
    reduce_half_main_wq: bool = 0[1:1];
    /// Whether the work queue of physical addresses is halved.
    reduce_half_phy_wq: bool = 0[2:2];
    /// Whether all is invalidated, whatever the range.
    force_inv_all: bool = 0[3:3];
    /// How requests of high priority are chosen.
    hi_priority_cntl: u8 = 0[5:4];
    /// Whether there are none.
    hi_priority_disable: bool = 0[6:6];
    /// Whether large pages are not merged.
    big_page_filter_disable: bool = 0[7:7];
    /// Whether the unit counts.
    perf_cntr_enable: bool = 0[8:8];
    /// Whether one work queue serves all.
    force_single_wq: bool = 0[9:9];
    /// Permissions that translations are asked with.
    utcl2_req_perm: u8 = 0[12:10];
    /// Whether targets' clocks are not gated.
    target_mgcg_clken_dis: bool = 0[13:13];
    /// Whether ranges are not mixed.
    mixed_range_mode_dis: bool = 0[14:14];
    /// Whether translations are asked for in 16 KiB.
    enable_16k_utcl2_req: bool = 0[15:15];
    /// Whether fine-grained clock gating is off.
    disable_fgcg: bool = 0[16:16] in GFX103_ON;
    /// Limit of translations under way.
    utcl2_req_limit: u8 = 0[19:17] in GFX12;
    /// Client that translations are asked for as.
    client_id: u16 = 0[28:20];
}

register! {
    /// The cache request that is under way, or failed.
    pub struct GcrCmdStatus: "GCR_CMD_STATUS"
        at 0x27e5 in Generation::Gfx101.set(),
            0x27e2 in Generation::Gfx103.set(),
            0xb992 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// What was asked for, in the layout of GCR_CNTL of ACQUIRE_MEM.
    gcr_control: u32 = 0[18:0];
    /// Who asked.
    gcr_src: u8 = 0[22:20] in GFX10, 0[21:19] in GFX11_ON;
    /// Whether translations are invalidated.
    gcr_tlb_shootdown: bool = 0[23:23];
    /// Address space whose translations are.
    gcr_tlb_shootdown_vmid: u8 = 0[27:24];
    /// Why a translation failed.
    utcl2_nack_status: u8 = 0[29:28];
    /// Whether the sequence that was asked for is wrong.
    gcr_seq_op_error: bool = 0[30:30];
    /// Whether a translation failed.
    utcl2_nack_error: bool = 0[31:31];
}

register! {
    /// Asks for a cache request by register.
    pub struct GcrPioCntl: "GCR_PIO_CNTL"
        at 0x27e1 in Generation::Gfx101.set(),
            0x27e6 in Generation::Gfx103.set(),
            0x27e0 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Which dword GCR_PIO_DATA writes.
    gcr_data_index: u8 = 0[1:0];
    /// Whether all dwords are written.
    gcr_reg_done: bool = 0[2:2];
    /// Whether to start over.
    gcr_reg_reset: bool = 0[3:3];
    /// Tag of the answer.
    gcr_pio_rsp_tag: u8 = 0[23:16];
    /// Whether there is an answer.
    gcr_pio_rsp_done: bool = 0[30:30];
    /// Whether a request can be written.
    gcr_ready: bool = 0[31:31];
}

register! {
    /// A dword of the request.
    pub struct GcrPioData: "GCR_PIO_DATA"
        at 0x27e2 in Generation::Gfx101.set(),
            0x27e7 in Generation::Gfx103.set(),
            0x27e1 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The dword.
    gcr_data: u32 = 0[31:0];
}
