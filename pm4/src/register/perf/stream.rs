//! RLC_SPM_*: streaming counters to memory at intervals.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX11, GFX9, GFX10_11, GFX10_ON, GFX11, GFX11_ON, GFX12, GFX103_ON,
};

register! {
    /// How often counters are sampled and what becomes of a full ring.
    pub struct RlcSpmPerfmonCntl: "RLC_SPM_PERFMON_CNTL"
        at 0xdc80 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// What becomes of a full ring; drivers set 0.
    perfmon_ring_mode: u8 = 0[13:12];
    /// Whether the shader clock is not counted along.
    disable_gfxclock_count: bool = 0[14:14] in GFX11;
    /// When the first interval starts; values are not documented.
    perfmon_sample_interval_start_mode: bool = 0[14:14] in GFX12;
    /// What the interval counts; values are not documented.
    perfmon_sample_interval_type: bool = 0[15:15] in GFX12;
    /// Clocks between samples.
    perfmon_sample_interval: u16 = 0[31:16];
}

register! {
    /// Low part of the address of the ring that samples go to.
    pub struct RlcSpmPerfmonRingBaseLo: "RLC_SPM_PERFMON_RING_BASE_LO"
        at 0xdc81 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0 of the address.
    ring_base_lo: u32 = 0[31:0];
}

register! {
    /// High part of the address of the ring.
    pub struct RlcSpmPerfmonRingBaseHi: "RLC_SPM_PERFMON_RING_BASE_HI"
        at 0xdc82 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 47:32 of the address, where they are in it.
    ring_base_hi: u64 = 0[15:0] << 32;
}

register! {
    /// Size of the ring.
    pub struct RlcSpmPerfmonRingSize: "RLC_SPM_PERFMON_RING_SIZE"
        at 0xdc83 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Bytes.
    ring_base_size: u32 = 0[31:0];
}

register! {
    /// Size of a sample and of its parts.
    pub struct RlcSpmPerfmonSegmentSize: "RLC_SPM_PERFMON_SEGMENT_SIZE"
        at 0xdc84 in BEFORE_GFX11, 0xdc87 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Size of the whole, in lines of 16 counters.
    perfmon_segment_size: u8 = 0[7:0] in BEFORE_GFX11;
    /// Lines of what is outside of shader engines.
    global_num_line: u8 = 0[15:11] in BEFORE_GFX11;
    /// Lines of shader engine 0.
    se0_num_line: u8 = 0[20:16] in BEFORE_GFX11;
    /// Lines of shader engine 1.
    se1_num_line: u8 = 0[25:21] in BEFORE_GFX11;
    /// Lines of shader engine 2.
    se2_num_line: u8 = 0[30:26] in BEFORE_GFX11;
    /// Size of the whole, in segments.
    total_num_segment: u16 = 0[15:0] in GFX11_ON;
    /// Segments of what is outside of shader engines.
    global_num_segment: u8 = 0[23:16] in GFX11_ON;
    /// Segments of each shader engine.
    se_num_segment: u8 = 0[31:24] in GFX11_ON;
}

register! {
    /// How samples are written to memory.
    pub struct RlcSpmMcCntl: "RLC_SPM_MC_CNTL"
        at 0xec71 in BEFORE_GFX11, 0xa982 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Address space of the ring.
    rlc_spm_vmid: u8 = 0[3:0];
    /// How L2 keeps what is written.
    rlc_spm_policy: u8 = 0[4:4] in GFX9, 0[5:4] in GFX10_11;
    /// A property of the write; the name is all that is documented.
    rlc_spm_sdr: u8 = 0[5:4] in GFX12;
    /// Whether writes are counted.
    rlc_spm_perf_cntr: bool = 0[5:5] in GFX9, 0[6:6] in GFX10_ON;
    /// Whether writes are marked as erroneous data (by its name).
    rlc_spm_fed: bool = 0[6:6] in GFX9, 0[7:7] in GFX10_ON;
    /// Whether RLC_SPM_MTYPE overrides the page's.
    rlc_spm_mtype_over: bool = 0[7:7] in GFX9, 0[8:8] in GFX10_11;
    /// Memory type of writes.
    rlc_spm_mtype: u8 = 0[9:8] in GFX9, 0[11:9] in GFX10_11;
    /// Temporal hint of writes.
    rlc_spm_temporal: u8 = 0[10:8] in GFX12;
    /// Compression of writes.
    rlc_spm_comp: u8 = 0[12:11] in GFX12;
    /// A property of the write; the name is all that is documented.
    rlc_spm_bc: bool = 0[12:12] in GFX10_11;
    /// Whether writes may be reordered (by its name).
    rlc_spm_ro: bool =
        0[13:13] in Generation::Gfx103.set().or(Generation::Gfx11.set()),
        0[14:14] in GFX12;
    /// Whether RLC_SPM_COMP overrides the page's.
    rlc_spm_comp_over: bool = 0[13:13] in GFX12;
    /// Whether writes are volatile.
    rlc_spm_vol: bool = 0[14:14] in GFX10_11;
    /// Whether L2 does not fetch the rest of a line.
    rlc_spm_nofill: bool = 0[15:15] in GFX10_ON;
    /// Whether the last-level cache does not keep writes.
    rlc_spm_llc_noalloc: bool = 0[18:18] in GFX103_ON.without(GFX12);
    /// Whether that overrides the page's.
    rlc_spm_llc_noalloc_over: bool = 0[19:19] in GFX103_ON.without(GFX12);
}
