//! SQ_PERFCOUNTER*, SQG_PERFCOUNTER*: counters of shader cores.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX11, GFX9, GFX10, GFX11_ON, GFX90A_ON, GFX103_ON,
};

register! {
    /// What a counter counts, one for each of 16. On gfx11 and later the selection of counter n is
    /// number 2n (tinygrad, ops_amd.py).
    pub struct SqPerfcounterSelect: "SQ_PERFCOUNTER0_SELECT"
        at 0xd9c0 * 16 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The event (SQ_PERF_SEL of the enumerations).
    perf_sel: u16 = 0[8:0];
    /// Banks of the caches that are counted.
    sqc_bank_mask: u8 = 0[15:12] in ALL.without(GFX103_ON);
    /// Clients of the caches that are counted.
    sqc_client_mask: u8 = 0[19:16] in GFX9;
    /// How the counter streams: 0 not.
    spm_mode: u8 = 0[23:20];
    /// SIMDs that are counted, one bit each.
    simd_mask: u8 = 0[27:24] in GFX9;
    /// How events are accumulated: 0 summed.
    perf_mode: u8 = 0[31:28];
}

register! {
    /// Low part of each of 16 counters; from gfx11 on all of each of 8.
    pub struct SqPerfcounterLo: "SQ_PERFCOUNTER0_LO"
        at 0xd1c0 * 16 step 2 in BEFORE_GFX11, 0xd1c0 * 8 step 2 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    perfcounter_lo: u32 = 0[31:0];
}

register! {
    /// High part of each of 16 counters.
    pub struct SqPerfcounterHi: "SQ_PERFCOUNTER0_HI"
        at 0xd1c1 * 16 step 2 in BEFORE_GFX11;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    perfcounter_hi: u64 = 0[31:0] << 32;
}

register! {
    /// Which waves are counted.
    pub struct SqPerfcounterCtrl: "SQ_PERFCOUNTER_CTRL"
        at 0xd9e0 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether pixel shaders are counted.
    ps_en: bool = 0[0:0];
    /// Whether vertex shaders are.
    vs_en: bool = 0[1:1] in BEFORE_GFX11;
    /// Whether geometry shaders are.
    gs_en: bool = 0[2:2];
    /// Whether export shaders are.
    es_en: bool = 0[3:3] in BEFORE_GFX11;
    /// Whether hull shaders are.
    hs_en: bool = 0[4:4];
    /// Whether local shaders are.
    ls_en: bool = 0[5:5] in BEFORE_GFX11;
    /// Whether compute shaders are.
    cs_en: bool = 0[6:6];
    /// How often counters are sent on; values are not documented.
    cntr_rate: u8 = 0[12:8] in GFX9, 0[9:8] in GFX10;
    /// Whether counters are not flushed (by its name).
    disable_flush: bool = 0[13:13] in BEFORE_GFX11;
    /// Whether waves of graphics pipe 0 are not counted.
    disable_me0pipe0_perf: bool = 0[14:14] in GFX103_ON;
    /// Whether waves of graphics pipe 1 are not.
    disable_me0pipe1_perf: bool = 0[15:15] in GFX103_ON;
    /// Address spaces whose waves are counted, one bit each.
    vmid_mask: u16 = 0[31:16] in GFX90A_ON;
    /// Whether waves of compute pipe 0 are not.
    disable_me1pipe0_perf: bool = 0[16:16] in GFX103_ON;
    /// Whether waves of compute pipe 1 are not.
    disable_me1pipe1_perf: bool = 0[17:17] in GFX103_ON;
    /// Whether waves of compute pipe 2 are not.
    disable_me1pipe2_perf: bool = 0[18:18] in GFX103_ON;
    /// Whether waves of compute pipe 3 are not.
    disable_me1pipe3_perf: bool = 0[19:19] in GFX103_ON;
}

register! {
    /// Which waves are counted, whatever their pipes say.
    pub struct SqPerfcounterCtrl2: "SQ_PERFCOUNTER_CTRL2"
        at 0xd9e2 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether waves are counted although COMPUTE_PERFCOUNT_ENABLE is off.
    force_en: bool = 0[0:0];
    /// Address spaces whose waves are counted, one bit each.
    vmid_en: u16 = 0[16:1] in GFX11_ON;
}

register! {
    /// Shader arrays' CUs that are counted.
    pub struct SqPerfcounterMask: "SQ_PERFCOUNTER_MASK"
        at 0xd9e1 in GFX9;
    source "Linux, amd/include/asic_reg/gc";
    /// CUs of the first shader array, one bit each.
    sh0_mask: u16 = 0[15:0];
    /// CUs of the second one.
    sh1_mask: u16 = 0[31:16];
}

register! {
    /// What a counter of the part of a shader engine's core outside of WGPs counts, in each of 8.
    pub struct SqgPerfcounterSelect: "SQG_PERFCOUNTER0_SELECT"
        at 0xd9d0 * 8 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The event (SQ_PERF_SEL of the enumerations).
    perf_sel: u16 = 0[8:0];
    /// How the counter streams: 0 not.
    spm_mode: u8 = 0[23:20];
    /// How events are accumulated: 0 summed.
    perf_mode: u8 = 0[31:28];
}

register! {
    /// Low part of such a counter, in each of 8.
    pub struct SqgPerfcounterLo: "SQG_PERFCOUNTER0_LO"
        at 0xd1e4 * 8 step 2 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    perfcounter_lo: u32 = 0[31:0];
}

register! {
    /// High part of such a counter, in each of 8.
    pub struct SqgPerfcounterHi: "SQG_PERFCOUNTER0_HI"
        at 0xd1e5 * 8 step 2 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    perfcounter_hi: u64 = 0[31:0] << 32;
}

register! {
    /// Which waves these count.
    pub struct SqgPerfcounterCtrl: "SQG_PERFCOUNTER_CTRL"
        at 0xd9d8 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether pixel shaders are counted.
    ps_en: bool = 0[0:0];
    /// Whether geometry shaders are.
    gs_en: bool = 0[2:2];
    /// Whether hull shaders are.
    hs_en: bool = 0[4:4];
    /// Whether compute shaders are.
    cs_en: bool = 0[6:6];
    /// Whether waves of graphics pipe 0 are not counted.
    disable_me0pipe0_perf: bool = 0[14:14];
    /// Whether waves of graphics pipe 1 are not.
    disable_me0pipe1_perf: bool = 0[15:15];
    /// Whether waves of compute pipe 0 are not.
    disable_me1pipe0_perf: bool = 0[16:16];
    /// Whether waves of compute pipe 1 are not.
    disable_me1pipe1_perf: bool = 0[17:17];
    /// Whether waves of compute pipe 2 are not.
    disable_me1pipe2_perf: bool = 0[18:18];
    /// Whether waves of compute pipe 3 are not.
    disable_me1pipe3_perf: bool = 0[19:19];
}

register! {
    /// Which waves these count, whatever their pipes say.
    pub struct SqgPerfcounterCtrl2: "SQG_PERFCOUNTER_CTRL2"
        at 0xd9da in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether waves are counted although COMPUTE_PERFCOUNT_ENABLE is off.
    force_en: bool = 0[0:0];
    /// Address spaces whose waves are counted, one bit each.
    vmid_en: u16 = 0[16:1];
}
