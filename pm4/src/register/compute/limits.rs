//! COMPUTE_*: where waves of a dispatch may run and how many of them.

use crate::generation::Generation;
use crate::generation::generations::{ALL, GFX9, GFX10_ON, GFX11_ON, GFX12, GFX94X_ON};

register! {
    /// Limits of the waves under way; all zero is no limit.
    pub struct ComputeResourceLimits: "COMPUTE_RESOURCE_LIMITS"
        at 0x2e15 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: PAL, gfx9PipelineChunkCs.cpp";
    /// Most waves of a shader engine, whatever the name says (PAL); 0 is no limit.
    waves_per_sh: u16 = 0[9:0];
    /// Most workgroups of a CU, 1 to 15; 0 is no limit.
    tg_per_cu: u8 = 0[15:12];
    /// Free waves of a shader array below which it is locked for others, in units of 4; 0 never
    /// locks.
    lock_threshold: u8 = 0[21:16];
    /// Whether the first wave of each workgroup goes to the next SIMD; drivers set it when the
    /// number of waves of a workgroup is a multiple of 4.
    simd_dest_cntl: bool = 0[22:22];
    /// Whether waves are distributed over SIMDs by force (by its name).
    force_simd_dist: bool = 0[23:23];
    /// How many workgroups, less one, are tried on a CU before the next one's turn.
    cu_group_count: u8 = 0[26:24];
    /// SIMDs of each CU that get no waves, one bit each (by its name).
    simd_disable: u8 = 0[30:27] in GFX9;
}

register! {
    /// Which CUs of a shader engine waves may run on; one register for each engine. KFD sets them
    /// from a queue's CU mask.
    pub struct ComputeStaticThreadMgmt: "COMPUTE_STATIC_THREAD_MGMT_SE0"
        at 0x2e16 * 2 in ALL,
            0x2e19 * 2 from 2 in ALL,
            0x2e25 * 4 from 4 in GFX9.without(GFX94X_ON),
            0x2e2b * 4 from 4 in GFX11_ON,
            0x2e23 from 8 in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// CUs of the engine's first shader array (gfx9: SH), one bit each; with gfx10.1 and later two
    /// bits are a WGP.
    sa0_cu_en: u16 = 0[15:0] as sh0_cu_en in GFX9, 0[15:0] in GFX10_ON;
    /// CUs of the second one.
    sa1_cu_en: u16 = 0[31:16] as sh1_cu_en in GFX9, 0[31:16] in GFX10_ON;
}

register! {
    /// Another name that the headers have for COMPUTE_STATIC_THREAD_MGMT_SE0 to 3.
    pub struct ComputeDestinationEn: "COMPUTE_DESTINATION_EN_SE0"
        at 0x2e16 * 2 in GFX10_ON, 0x2e19 * 2 from 2 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// CUs of the engine, one bit each, in the order of the two fields there.
    cu_en: u32 = 0[31:0];
}

register! {
    /// How the pipe asks for room for workgroups. AMD documents no more than the names; Mesa and
    /// PAL leave it alone or write zero.
    pub struct ComputeReqCtrl: "COMPUTE_REQ_CTRL"
        at 0x2e22 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether requests are grouped on a CU while they can be.
    soft_grouping_en: bool = 0[0:0];
    /// How many such requests go to a CU.
    number_of_requests_per_cu: u8 = 0[4:1];
    /// How long a grouped request may wait before another CU is tried.
    soft_grouping_allocation_timeout: u8 = 0[8:5];
    /// Whether a hard lock has hysteresis.
    hard_lock_hysteresis: bool = 0[9:9];
    /// Low threshold of the hard lock.
    hard_lock_low_threshold: u8 = 0[14:10];
    /// Whether requests of stages that produce for others are locked out meanwhile.
    producer_request_lockout: bool = 0[15:15];
    /// Whether all CUs are looked at for room rather than the next in turn.
    global_scanning_en: bool = 0[16:16];
    /// Rate of allocations above which requests are slowed.
    allocation_rate_throttling_threshold: u8 = 0[19:17];
    /// Entries of the preallocation buffer that are for this pipe.
    dedicated_preallocation_buffer_limit: u8 = 0[26:20];
}
