//! SQ_THREAD_TRACE_*: what thread traces record.

use crate::generation::Generation;
use crate::generation::generations::{
    GFX9, GFX10, GFX10_11, GFX10_ON, GFX11, GFX11_ON, GFX12, GFX103_ON,
};

register! {
    /// Starts and stops tracing.
    pub struct SqThreadTraceCtrl: "SQ_THREAD_TRACE_CTRL"
        at 0xc335 in GFX9, 0x2347 in GFX10, 0xd9ec in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// 0 off, 1 on, 2 global, 3 with details (SQ_TT_MODE).
    mode: u8 = 0[1:0] in GFX10_ON;
    /// Whether all address spaces are traced.
    all_vmid: bool = 0[2:2] in GFX10_11;
    /// Whether counters of CH are traced (by its name).
    ch_perf_en: bool = 0[3:3] in GFX10;
    /// Whether counters of GL1 are traced (by its name).
    gl1_perf_en: bool = 0[3:3] in GFX11_ON;
    /// Whether a full buffer raises an interrupt.
    interrupt_en: bool = 0[4:4] in GFX10_ON;
    /// Whether both buffers are used.
    double_buffer: bool = 0[5:5] in GFX10_ON;
    /// Fill at which waves are stalled; the unit is not documented.
    hiwater: u8 = 0[8:6] in GFX10_ON;
    /// Whether register writes stall rather than being lost.
    reg_stall_en: bool = 0[9:9] in GFX10;
    /// What becomes of register writes at the high water mark: 0 nothing, 1 they are lost, 2 they
    /// stall.
    reg_at_hwm: u8 = 0[10:9] in GFX11_ON;
    /// Whether the start of waves stalls.
    spi_stall_en: bool = 0[10:10] in GFX10, 0[11:11] in GFX11_ON;
    /// Whether waves stall.
    sq_stall_en: bool = 0[11:11] in GFX10, 0[12:12] in GFX11_ON;
    /// Whether register writes are lost when waves stall.
    reg_drop_on_stall: bool = 0[12:12] in GFX10;
    /// How often utilisation is recorded: 0 each 100 clocks, 1 each 250.
    util_timer: bool = 0[13:13] in GFX10_11, 0[14:14] in GFX12;
    /// Whether all SIMDs stall, not only the one that is traced.
    stall_all_simds: bool = 0[13:13] in GFX12;
    /// What the start of a wave says: 0 little, 1 its allocation, 2 its bin (SQ_TT_WAVESTART_MODE).
    wavestart_mode: u8 = 0[15:14] in GFX10_11, 0[16:15] in GFX12;
    /// How often the time is recorded: 0 never, 1 each 1024 clocks, 2 each 4096 (SQ_TT_RT_FREQ).
    rt_freq: u8 = 0[17:16] in GFX10_11;
    /// Whether markers are counted to synchronise shader engines (by its name).
    sync_count_markers: bool = 0[18:18] in GFX10_ON;
    /// Whether draws are (by its name).
    sync_count_draws: bool = 0[19:19] in GFX10_ON;
    /// How far below the high water mark stalls end; the unit is not documented.
    lowater_offset: u8 = 0[22:20] in GFX103_ON;
    /// Pages that translations are prefetched of (by its name).
    gl1x_prefetch_page: u8 = 0[26:23] in GFX12;
    /// Whether flushes are not padded (by its name).
    auto_flush_padding_dis: bool = 0[28:28] in GFX103_ON;
    /// Whether the buffer is flushed by itself; gfx10.3 has it the other way round (PAL).
    auto_flush_mode: bool = 0[29:29] in GFX103_ON;
    /// Whether all is captured (by its name).
    capture_all: bool = 0[30:30] in GFX10;
    /// Whether register writes that are not the command processor's are recorded (by its name).
    ncp_reg_token_en: bool = 0[30:30] in GFX12;
    /// Whether to start at the buffer's begin.
    reset_buffer: bool = 0[31:31] in GFX9;
    /// Whether draws and dispatches are recorded.
    draw_event_en: bool = 0[31:31] in GFX10_ON;
}

register! {
    /// Where waves are traced in detail.
    pub struct SqThreadTraceMask: "SQ_THREAD_TRACE_MASK"
        at 0xc332 in GFX9, 0x2345 in GFX10, 0xd9ed in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// CU whose waves are.
    cu_sel: u8 = 0[4:0] in GFX9;
    /// SIMD whose waves are.
    simd_sel: u8 = 0[1:0] in GFX10_ON;
    /// WGP whose waves are.
    wgp_sel: u8 = 0[7:4] in GFX10_ON;
    /// Shader array of it (gfx9: SH).
    sa_sel: bool = 0[5:5] as sh_sel in GFX9, 0[9:9] in GFX10_ON;
    /// Whether register writes stall rather than being lost.
    reg_stall_en: bool = 0[7:7] in GFX9;
    /// SIMDs whose waves are traced, one bit each.
    simd_en: u8 = 0[11:8] in GFX9;
    /// Kinds of waves, one bit each: 0 pixel, 1 vertex, 2 geometry, 3 export, 4 hull, 5 local, 6
    /// compute.
    wtype_include: u8 = 0[16:10] in GFX10_ON;
    /// Address spaces: 0 all, else those that match in parts (SQ_THREAD_TRACE_VM_ID_MASK).
    vm_id_mask: u8 = 0[13:12] in GFX9;
    /// Whether the start of waves stalls.
    spi_stall_en: bool = 0[14:14] in GFX9;
    /// Whether waves stall.
    sq_stall_en: bool = 0[15:15] in GFX9;
    /// Whether shader data of waves elsewhere are left out.
    exclude_nondetail_shaderdata: bool = 0[17:17] in GFX11_ON;
    /// Whether long starts of waves elsewhere are left out.
    exclude_nondetail_wavestart_ext: bool = 0[18:18] in GFX12;
    /// Whether allocations of waves elsewhere are left out.
    exclude_nondetail_alloc: bool = 0[19:19] in GFX12;
}

register! {
    /// What is recorded.
    pub struct SqThreadTraceTokenMask: "SQ_THREAD_TRACE_TOKEN_MASK"
        at 0xc333 in GFX9, 0x2346 in GFX10, 0xd9ee in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Kinds of tokens that are, one bit each (SQ_THREAD_TRACE_TOKEN_TYPE).
    token_mask: u16 = 0[15:0] in GFX9;
    /// Kinds of tokens that are not, one bit each (SQ_TT_TOKEN_MASK_TOKEN_EXCLUDE_SHIFT).
    token_exclude: u16 =
        0[11:0] in GFX12.or(Generation::Gfx101.set()),
        0[10:0] in GFX103_ON.without(GFX12);
    /// Whether numbers of active lanes are recorded.
    ttrace_exec: bool = 0[11:11] in GFX11, 0[12:12] in GFX12;
    /// Whether bottom-of-pipe events are.
    bop_events_token_include: bool = 0[12:12] in GFX103_ON.without(GFX12), 0[13:13] in GFX12;
    /// Whether waits at barriers are not.
    exclude_barrier_wait: bool = 0[14:14] in GFX12;
    /// Kinds of register writes that are, one bit each.
    reg_mask: u8 = 0[23:16] in GFX9;
    /// Kinds of register writes that are, one bit each (SQ_TT_TOKEN_MASK_REG_INCLUDE).
    reg_include: u8 = 0[23:16] in GFX10_ON;
    /// Whether register writes are lost when waves stall.
    reg_drop_on_stall: bool = 0[24:24] in GFX9;
    /// Kinds of instructions that are not, one bit each (SQ_TT_TOKEN_MASK_INST_EXCLUDE).
    inst_exclude: u8 = 0[25:24] in GFX10_ON;
    /// Kinds of register writes that are not, one bit each (SQ_TT_TOKEN_MASK_REG_EXCLUDE).
    reg_exclude: u8 = 0[28:26] in GFX103_ON;
    /// Whether register writes are recorded on all shader engines.
    reg_detail_all: bool = 0[31:31] in GFX10_ON;
}

register! {
    /// Kinds of instructions that are recorded.
    pub struct SqThreadTraceTokenMask2: "SQ_THREAD_TRACE_TOKEN_MASK2"
        at 0xc338 in GFX9;
    source "Linux, amd/include/asic_reg/gc";
    /// One bit each (SQ_THREAD_TRACE_INST_TYPE).
    inst_mask: u32 = 0[31:0];
}

register! {
    /// CUs whose counters are traced.
    pub struct SqThreadTracePerfMask: "SQ_THREAD_TRACE_PERF_MASK"
        at 0xc334 in GFX9;
    source "Linux, amd/include/asic_reg/gc";
    /// CUs of the first shader array, one bit each.
    sh0_mask: u16 = 0[15:0];
    /// CUs of the second one.
    sh1_mask: u16 = 0[31:16];
}

register! {
    /// How tracing works on gfx9.
    pub struct SqThreadTraceMode: "SQ_THREAD_TRACE_MODE"
        at 0xc336 in GFX9;
    source "Linux, amd/include/asic_reg/gc; meanings: SQ_THREAD_TRACE_* in vega10_enum.h";
    /// What is traced of pixel shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_ps: u8 = 0[2:0];
    /// What is traced of vertex shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_vs: u8 = 0[5:3];
    /// What is traced of geometry shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_gs: u8 = 0[8:6];
    /// What is traced of export shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_es: u8 = 0[11:9];
    /// What is traced of hull shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_hs: u8 = 0[14:12];
    /// What is traced of local shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_ls: u8 = 0[17:15];
    /// What is traced of compute shaders: 0 nothing, 1 that of the CU, other values are not
    /// documented.
    mask_cs: u8 = 0[20:18];
    /// 0 off, 1 on.
    mode: u8 = 0[22:21];
    /// 0 all, 1 what is selected, 2 details of what is selected.
    capture_mode: u8 = 0[24:23];
    /// Whether the buffer is flushed by itself.
    autoflush_en: bool = 0[25:25];
    /// Whether counters of L2 are traced.
    tc_perf_en: bool = 0[26:26];
    /// What of instruction issue is traced (SQ_THREAD_TRACE_ISSUE_MASK).
    issue_mask: u8 = 0[28:27];
    /// For tests.
    test_mode: bool = 0[29:29];
    /// Whether a full buffer raises an interrupt.
    interrupt_en: bool = 0[30:30];
    /// Whether a full buffer is overwritten.
    wrap: bool = 0[31:31];
}
