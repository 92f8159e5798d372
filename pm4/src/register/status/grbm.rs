//! GRBM_STATUS*: which blocks are busy. The first thing to look at when a GPU hangs. Blocks that AMD
//! explains nowhere are called by its short names.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX11, BEFORE_GFX12, GFX9, GFX10, GFX10_11, GFX10_ON, GFX11, GFX11_ON, GFX12,
    GFX94X_ON, GFX103_ON, GFX906_908,
};

register! {
    /// Blocks that are busy: the graphics core as a whole.
    pub struct GrbmStatus: "GRBM_STATUS"
        at 0x2004 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Free entries of the command queue of graphics pipe 0.
    me0pipe0_cmdfifo_avail: u8 = 0[3:0];
    /// Whether a register access of RSMU is pending.
    rsmu_rq_pending: bool = 0[5:5] in GFX94X_ON.or(GFX906_908).or(Generation::Gfx101.set());
    /// Whether a register access of SDMA is pending.
    sdma_rq_pending: bool = 0[6:6] in GFX11_ON;
    /// Whether a register access of graphics pipe 0's fetcher is pending.
    me0pipe0_cf_rq_pending: bool = 0[7:7];
    /// Whether a register access of graphics pipe 0's prefetcher is pending.
    me0pipe0_pf_rq_pending: bool = 0[8:8];
    /// Whether a register access of the global data share is pending.
    gds_dma_rq_pending: bool = 0[9:9] in BEFORE_GFX12;
    /// Whether the scan converter is clean.
    sc_clean: bool = 0[11:11] in GFX12;
    /// Whether depth caches are clean.
    db_clean: bool = 0[12:12];
    /// Whether colour caches are clean.
    cb_clean: bool = 0[13:13];
    /// Whether texture addressing is busy.
    ta_busy: bool = 0[14:14];
    /// Whether the global data share is busy.
    gds_busy: bool = 0[15:15] in BEFORE_GFX12;
    /// Whether the work distributor is busy otherwise than with index reads.
    wd_busy_no_dma: bool = 0[16:16] in GFX9;
    /// Whether the geometry engine is busy otherwise than with index reads.
    ge_busy_no_dma: bool = 0[16:16] in GFX10_ON;
    /// Whether the vertex grouper is busy.
    vgt_busy: bool = 0[17:17] in GFX9;
    /// Whether input assembly is busy otherwise than with index reads.
    ia_busy_no_dma: bool = 0[18:18] in GFX9;
    /// Whether input assembly is busy.
    ia_busy: bool = 0[19:19] in GFX9;
    /// Whether the shader export is busy.
    sx_busy: bool = 0[20:20];
    /// Whether the work distributor is busy.
    wd_busy: bool = 0[21:21] in GFX9;
    /// Whether the geometry engine is busy.
    ge_busy: bool = 0[21:21] in GFX10_ON;
    /// Whether the shader input unit is busy.
    spi_busy: bool = 0[22:22];
    /// Whether the barycentric unit is busy.
    bci_busy: bool = 0[23:23];
    /// Whether the scan converter is busy.
    sc_busy: bool = 0[24:24];
    /// Whether primitive assembly is busy.
    pa_busy: bool = 0[25:25];
    /// Whether depth is busy.
    db_busy: bool = 0[26:26];
    /// Whether anything is active.
    any_active: bool = 0[27:27] in GFX11_ON;
    /// Whether the command processor is flushing caches.
    cp_coherency_busy: bool = 0[28:28];
    /// Whether the command processor is busy.
    cp_busy: bool = 0[29:29];
    /// Whether colour is busy.
    cb_busy: bool = 0[30:30];
    /// Whether the graphics core is busy at all.
    gui_active: bool = 0[31:31];
}

register! {
    /// Blocks that are busy: command processor, memory and SDMA.
    pub struct GrbmStatus2: "GRBM_STATUS2"
        at 0x2002 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Free entries of the command queue of graphics pipe 1.
    me0pipe1_cmdfifo_avail: u8 = 0[3:0];
    /// Whether a register access of graphics pipe 1's fetcher is pending.
    me0pipe1_cf_rq_pending: bool = 0[4:4];
    /// Whether a register access of graphics pipe 1's prefetcher is pending.
    me0pipe1_pf_rq_pending: bool = 0[5:5];
    /// Whether a register access of compute engine 1, pipe 0, is pending.
    me1pipe0_rq_pending: bool = 0[6:6];
    /// Whether a register access of compute engine 1, pipe 1, is pending.
    me1pipe1_rq_pending: bool = 0[7:7];
    /// Whether a register access of compute engine 1, pipe 2, is pending.
    me1pipe2_rq_pending: bool = 0[8:8] in BEFORE_GFX12;
    /// Whether a register access of compute engine 1, pipe 3, is pending.
    me1pipe3_rq_pending: bool = 0[9:9] in BEFORE_GFX12;
    /// Whether a register access of compute engine 2, pipe 0, is pending.
    me2pipe0_rq_pending: bool = 0[10:10] in BEFORE_GFX11;
    /// Whether a register access of compute engine 2, pipe 1, is pending.
    me2pipe1_rq_pending: bool = 0[11:11] in BEFORE_GFX11;
    /// Whether a register access of compute engine 2, pipe 2, is pending.
    me2pipe2_rq_pending: bool = 0[12:12] in BEFORE_GFX11;
    /// Whether a register access of compute engine 2, pipe 3, is pending.
    me2pipe3_rq_pending: bool = 0[13:13] in BEFORE_GFX11;
    /// Whether a register access of the run list controller is pending.
    rlc_rq_pending: bool = 0[14:14];
    /// Whether the L2 of translations is busy.
    utcl2_busy: bool = 0[15:15];
    /// Whether EA, the way to memory, is busy.
    ea_busy: bool = 0[16:16];
    /// Whether RMI, between render backends and memory, is busy.
    rmi_busy: bool = 0[17:17] in BEFORE_GFX12;
    /// Whether a register access of the L2 of translations is pending.
    utcl2_rq_pending: bool = 0[18:18];
    /// Whether a register access of the command processor's fetcher is pending.
    cpf_rq_pending: bool = 0[19:19] in ALL.without(GFX103_ON);
    /// Whether a register access of SDMA's scheduler is pending.
    sdma_sch_rq_pending: bool = 0[19:19] in GFX103_ON;
    /// Whether the link of EA is busy.
    ea_link_busy: bool = 0[20:20];
    /// Whether CANE is busy.
    cane_busy: bool = 0[21:21] in GFX94X_ON;
    /// Whether the link of CANE is busy.
    cane_link_busy: bool = 0[22:22] in GFX94X_ON;
    /// Whether SDMA is busy.
    sdma_busy: bool = 0[21:21] in GFX10_ON;
    /// Whether a register access of SDMA engine 0 is pending.
    sdma0_rq_pending: bool = 0[22:22] in GFX10_ON;
    /// Whether a register access of SDMA engine 1 is pending.
    sdma1_rq_pending: bool = 0[23:23] in GFX10_ON.without(Generation::Gfx115.set());
    /// Whether a register access of SDMA engine 2 is pending.
    sdma2_rq_pending: bool = 0[24:24] in Generation::Gfx103.set();
    /// Whether a register access of SDMA engine 3 is pending.
    sdma3_rq_pending: bool = 0[25:25] in Generation::Gfx103.set();
    /// Whether the run list controller is busy.
    rlc_busy: bool = 0[24:24] in ALL.without(GFX103_ON), 0[26:26] in GFX103_ON;
    /// Whether L2 is busy.
    tc_busy: bool = 0[25:25] in GFX9;
    /// Whether the vector L1 is busy.
    tcp_busy: bool = 0[25:25] in Generation::Gfx101.set(), 0[27:27] in GFX103_ON;
    /// Whether L2 holds data (by its name).
    tcc_cc_resident: bool = 0[26:26] in GFX9;
    /// Whether the command processor's fetcher is busy.
    cpf_busy: bool = 0[28:28];
    /// Whether the command processor's compute part is busy.
    cpc_busy: bool = 0[29:29];
    /// Whether the command processor's graphics part is busy.
    cpg_busy: bool = 0[30:30];
    /// Whether the command processor's AXI bus is busy.
    cpaxi_busy: bool = 0[31:31] in GFX94X_ON.or(GFX906_908).or(Generation::Gfx115.set()).or(GFX10);
}

register! {
    /// Blocks that are busy: the scheduler and caches.
    pub struct GrbmStatus3: "GRBM_STATUS3"
        at 0x2007 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether an interrupt to the run list controller waits for credit.
    grbm_rlc_intr_credit_pending: bool = 0[5:5];
    /// Whether an interrupt to the L2 of translations waits for credit.
    grbm_utcl2_intr_credit_pending: bool = 0[6:6] in GFX10;
    /// Whether an interrupt to the command processor's fetcher waits for credit.
    grbm_cpf_intr_credit_pending: bool = 0[7:7];
    /// Whether a register access of scheduler pipe 0 is pending.
    mespipe0_rq_pending: bool = 0[8:8];
    /// Whether a register access of scheduler pipe 1 is pending.
    mespipe1_rq_pending: bool = 0[9:9];
    /// Whether a register access of scheduler pipe 2 is pending.
    mespipe2_rq_pending: bool = 0[10:10] in GFX10;
    /// Whether a register access of scheduler pipe 3 is pending.
    mespipe3_rq_pending: bool = 0[11:11] in GFX10;
    /// Whether PH is busy.
    ph_busy: bool = 0[13:13] in GFX10_11;
    /// Whether CH is busy.
    ch_busy: bool = 0[14:14];
    /// Whether the L2 is busy.
    gl2cc_busy: bool = 0[15:15];
    /// Whether the GL1 cache is busy.
    gl1cc_busy: bool = 0[16:16];
    /// Whether SEDC is busy.
    sedc_busy: bool = 0[25:25] in Generation::Gfx11.set();
    /// Whether PC is busy.
    pc_busy: bool = 0[26:26] in GFX11_ON;
    /// Whether GL1H is busy.
    gl1h_busy: bool = 0[27:27] in GFX11;
    /// Whether the GL1X cache is busy.
    gl1xcc_busy: bool = 0[27:27] in GFX12;
    /// Whether the link of GUS is busy.
    gus_link_busy: bool = 0[28:28] in GFX10_11;
    /// Whether GUS is busy.
    gus_busy: bool = 0[29:29] in GFX10_11;
    /// Whether the L1 of translations is busy.
    utcl1_busy: bool = 0[30:30];
    /// Whether PMM is busy.
    pmm_busy: bool = 0[31:31];
}

register! {
    /// Blocks that are busy: those of one shader engine, of each of up to six. On gfx90a the first
    /// four also have three bits of engines 4 to 7, which AMD names after these.
    pub struct GrbmStatusSe: "GRBM_STATUS_SE0"
        at 0x2005 * 2 in ALL.without(Generation::Gfx115.set()),
            0x200e * 2 from 2 in GFX12.or(BEFORE_GFX11),
            0x200e * 4 from 2 in Generation::Gfx11.set(),
            0x2005 in Generation::Gfx115.set();
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the scan converter is clean.
    sc_clean: bool = 0[0:0] in GFX12;
    /// Whether depth caches are clean.
    db_clean: bool = 0[1:1];
    /// Whether colour caches are clean.
    cb_clean: bool = 0[2:2];
    /// Whether the L1 of translations is busy.
    utcl1_busy: bool = 0[3:3] in GFX10_ON;
    /// Whether the vector L1 is busy.
    tcp_busy: bool = 0[4:4] in GFX10_ON;
    /// Whether the GL1 cache is busy.
    gl1cc_busy: bool = 0[5:5] in GFX10_ON;
    /// Whether GL1H is busy.
    gl1h_busy: bool = 0[6:6] in GFX11;
    /// Whether the GL1X cache is busy.
    gl1xcc_busy: bool = 0[6:6] in GFX12;
    /// Whether PC is busy.
    pc_busy: bool = 0[7:7] in GFX11_ON;
    /// Whether SEDC is busy.
    sedc_busy: bool = 0[8:8] in Generation::Gfx11.set();
    /// Whether RMI, between render backends and memory, is busy.
    rmi_busy: bool = 0[21:21] in BEFORE_GFX12;
    /// Whether the barycentric unit is busy.
    bci_busy: bool = 0[22:22];
    /// Whether the vertex grouper is busy.
    vgt_busy: bool = 0[23:23] in GFX9;
    /// Whether primitive assembly is busy.
    pa_busy: bool = 0[24:24];
    /// Whether texture addressing is busy.
    ta_busy: bool = 0[25:25];
    /// Whether the shader export is busy.
    sx_busy: bool = 0[26:26];
    /// Whether the shader input unit is busy.
    spi_busy: bool = 0[27:27];
    /// Whether the scan converter is busy.
    sc_busy: bool = 0[29:29];
    /// Whether depth is busy.
    db_busy: bool = 0[30:30];
    /// Whether colour is busy.
    cb_busy: bool = 0[31:31];
    /// Whether texture addressing is busy in the shader engine four further.
    ta_busy_se4: bool = 0[3:3] in Generation::Gfx90a.set();
    /// Whether the shader export is busy in the shader engine four further.
    sx_busy_se4: bool = 0[4:4] in Generation::Gfx90a.set();
    /// Whether the shader input unit is busy in the shader engine four further.
    spi_busy_se4: bool = 0[5:5] in Generation::Gfx90a.set();
}
