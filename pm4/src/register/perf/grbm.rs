//! GRBM_PERFCOUNTER*: counters of how long blocks are busy.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX12, GFX9, GFX10_11, GFX10_ON, GFX11, GFX12};

register! {
    /// What each of two counters counts.
    pub struct GrbmPerfcounterSelect: "GRBM_PERFCOUNTER0_SELECT"
        at 0xd840 * 2 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The event (GRBM_PERF_SEL of the enumerations); the masks are for the user-defined ones.
    perf_sel: u8 = 0[5:0];
    /// Whether the count is of clocks in which the scan converter is clean, among others that are
    /// set.
    sc_clean_user_defined_mask: bool = 0[9:9] in GFX12;
    /// Whether the count is of clocks in which depth caches are clean, among others that are set.
    db_clean_user_defined_mask: bool = 0[10:10];
    /// Whether the count is of clocks in which colour caches are clean, among others that are set.
    cb_clean_user_defined_mask: bool = 0[11:11];
    /// Whether the count is of clocks in which the vertex grouper is busy, among others that are
    /// set.
    vgt_busy_user_defined_mask: bool = 0[12:12] in GFX9;
    /// Whether the count is of clocks in which texture addressing is busy, among others that are
    /// set.
    ta_busy_user_defined_mask: bool = 0[13:13];
    /// Whether the count is of clocks in which the shader export is busy, among others that are
    /// set.
    sx_busy_user_defined_mask: bool = 0[14:14];
    /// Whether the count is of clocks in which the shader input unit is busy, among others that are
    /// set.
    spi_busy_user_defined_mask: bool = 0[16:16];
    /// Whether the count is of clocks in which the scan converter is busy, among others that are
    /// set.
    sc_busy_user_defined_mask: bool = 0[17:17];
    /// Whether the count is of clocks in which primitive assembly is busy, among others that are
    /// set.
    pa_busy_user_defined_mask: bool = 0[18:18];
    /// Whether the count is of clocks in which the register bus is busy, among others that are set.
    grbm_busy_user_defined_mask: bool = 0[19:19];
    /// Whether the count is of clocks in which depth is busy, among others that are set.
    db_busy_user_defined_mask: bool = 0[20:20];
    /// Whether the count is of clocks in which colour is busy, among others that are set.
    cb_busy_user_defined_mask: bool = 0[21:21];
    /// Whether the count is of clocks in which the command processor is busy, among others that are
    /// set.
    cp_busy_user_defined_mask: bool = 0[22:22];
    /// Whether the count is of clocks in which input assembly is busy, among others that are set.
    ia_busy_user_defined_mask: bool = 0[23:23] in GFX9;
    /// Whether the count is of clocks in which the global data share is busy, among others that are
    /// set.
    gds_busy_user_defined_mask: bool = 0[24:24] in BEFORE_GFX12;
    /// Whether the count is of clocks in which the barycentric unit is busy, among others that are
    /// set.
    bci_busy_user_defined_mask: bool = 0[25:25];
    /// Whether the count is of clocks in which the run list controller is busy, among others that
    /// are set.
    rlc_busy_user_defined_mask: bool = 0[26:26];
    /// Whether the count is of clocks in which L2 is busy, among others that are set.
    tc_busy_user_defined_mask: bool = 0[27:27] in GFX9;
    /// Whether the count is of clocks in which the vector L1 is busy, among others that are set.
    tcp_busy_user_defined_mask: bool = 0[27:27] in GFX10_ON;
    /// Whether the count is of clocks in which the work distributor is busy, among others that are
    /// set.
    wd_busy_user_defined_mask: bool = 0[28:28] in GFX9;
    /// Whether the count is of clocks in which the geometry engine is busy, among others that are
    /// set.
    ge_busy_user_defined_mask: bool = 0[28:28] in GFX10_ON;
    /// Whether the count is of clocks in which the L2 of translations is busy, among others that
    /// are set.
    utcl2_busy_user_defined_mask: bool = 0[29:29];
    /// Whether the count is of clocks in which EA, the way to memory, is busy, among others that
    /// are set.
    ea_busy_user_defined_mask: bool = 0[30:30];
    /// Whether the count is of clocks in which RMI, between render backends and memory, is busy,
    /// among others that are set.
    rmi_busy_user_defined_mask: bool = 0[31:31] in BEFORE_GFX12;
}

register! {
    /// More masks of user-defined events, for each of two counters.
    pub struct GrbmPerfcounterSelectHi: "GRBM_PERFCOUNTER0_SELECT_HI"
        at 0xd84d * 2 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the count is of clocks in which the L1 of translations is busy, among others that
    /// are set.
    utcl1_busy_user_defined_mask: bool = 0[1:1];
    /// Whether the count is of clocks in which the L2 is busy, among others that are set.
    gl2cc_busy_user_defined_mask: bool = 0[2:2];
    /// Whether the count is of clocks in which SDMA is busy, among others that are set.
    sdma_busy_user_defined_mask: bool = 0[3:3];
    /// Whether the count is of clocks in which CH is busy, among others that are set.
    ch_busy_user_defined_mask: bool = 0[4:4];
    /// Whether the count is of clocks in which PH is busy, among others that are set.
    ph_busy_user_defined_mask: bool = 0[5:5] in GFX10_11;
    /// Whether the count is of clocks in which PMM is busy, among others that are set.
    pmm_busy_user_defined_mask: bool = 0[6:6];
    /// Whether the count is of clocks in which GUS is busy, among others that are set.
    gus_busy_user_defined_mask: bool = 0[7:7] in GFX10_11;
    /// Whether the count is of clocks in which the GL1 cache is busy, among others that are set.
    gl1cc_busy_user_defined_mask: bool = 0[8:8];
    /// Whether the count is of clocks in which GL1H is busy, among others that are set.
    gl1h_busy_user_defined_mask: bool = 0[9:9] in GFX11;
    /// Whether the count is of clocks in which the GL1X cache is busy, among others that are set.
    gl1xcc_busy_user_defined_mask: bool = 0[9:9] in GFX12;
    /// Whether the count is of clocks in which PC is busy, among others that are set.
    pc_busy_user_defined_mask: bool = 0[10:10] in GFX12;
    /// Whether the count is of clocks in which the link of EA is busy, among others that are set.
    ea_stat_link_busy_user_defined_mask: bool = 0[13:13] in GFX12;
}

register! {
    /// Low part of each of two counters.
    pub struct GrbmPerfcounterLo: "GRBM_PERFCOUNTER0_LO"
        at 0xd040 * 2 step 3 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    perfcounter_lo: u32 = 0[31:0];
}

register! {
    /// High part of each of two counters.
    pub struct GrbmPerfcounterHi: "GRBM_PERFCOUNTER0_HI"
        at 0xd041 * 2 step 3 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    perfcounter_hi: u64 = 0[31:0] << 32;
}
