//! SQ_THREAD_TRACE_*: what became of thread traces.

use crate::generation::Generation;
use crate::generation::generations::{GFX9, GFX10, GFX10_ON, GFX11_ON, GFX12, GFX103_ON};

register! {
    /// How far tracing and its end are.
    pub struct SqThreadTraceStatus: "SQ_THREAD_TRACE_STATUS"
        at 0xc33a in GFX9, 0x2348 in GFX10, 0xd9f4 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Pipes whose end of tracing is pending, one bit each.
    finish_pending: u16 = 0[9:0] in GFX9, 0[11:0] in GFX10_ON;
    /// Pipes whose tracing ended, one bit each.
    finish_done: u16 = 0[25:16] in GFX9, 0[23:12] in GFX10_ON;
    /// Whether an address could not be translated.
    utc_err: bool = 0[24:24] in GFX10;
    /// Whether a write failed.
    write_error: bool = 0[24:24] in GFX11_ON;
    /// Whether tracing is busy.
    busy: bool = 0[30:30] in GFX9, 0[25:25] in GFX10_ON;
    /// Whether events were lost.
    event_cntr_overflow: bool = 0[26:26] in GFX10;
    /// Whether events stall.
    event_cntr_stall: bool = 0[27:27] in GFX10;
    /// Whether an address could not be translated.
    utc_error: bool = 0[28:28] in GFX9;
    /// Address space that is traced.
    owner_vmid: u8 = 0[31:28] in GFX103_ON;
    /// Whether a buffer was changed.
    new_buf: bool = 0[29:29] in GFX9;
    /// Whether the buffer is full.
    full: bool = 0[31:31] in GFX9;
}

register! {
    /// More of it.
    pub struct SqThreadTraceStatus2: "SQ_THREAD_TRACE_STATUS2"
        at 0x234f in Generation::Gfx103.set(), 0xd9f5 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the first buffer is full.
    buf0_full: bool = 0[0:0];
    /// Whether the second one is.
    buf1_full: bool = 0[1:1];
    /// Whether a packet was lost.
    packet_lost_buf_no_lockdown: bool = 0[4:4];
    /// State of changing buffers.
    buf_issue_status: u8 = 0[12:8] in GFX11_ON;
    /// Whether buffers are being changed.
    buf_issue: bool = 0[13:13] in GFX11_ON;
    /// Whether the write buffer is full.
    write_buf_full: bool = 0[14:14] in GFX11_ON;
}

register! {
    /// How much was written.
    pub struct SqThreadTraceCntr: "SQ_THREAD_TRACE_CNTR"
        at 0xc33c in GFX9;
    source "Linux, amd/include/asic_reg/gc";
    /// Its amount (by its name; the unit is not documented).
    cntr: u32 = 0[31:0];
}

register! {
    /// How much was lost.
    pub struct SqThreadTraceDroppedCntr: "SQ_THREAD_TRACE_DROPPED_CNTR"
        at 0x2349 in GFX10, 0xd9fa in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: Mesa, ac_sqtt.c";
    /// Bytes that the shader engine lost (Mesa).
    cntr: u32 = 0[31:0];
}

register! {
    /// Draws of the graphics pipe.
    pub struct SqThreadTraceGfxDrawCntr: "SQ_THREAD_TRACE_GFX_DRAW_CNTR"
        at 0x234b in GFX10, 0xd9f6 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Their number.
    cntr: u32 = 0[31:0];
}

register! {
    /// Markers of the graphics pipe.
    pub struct SqThreadTraceGfxMarkerCntr: "SQ_THREAD_TRACE_GFX_MARKER_CNTR"
        at 0x234c in GFX10, 0xd9f7 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Their number.
    cntr: u32 = 0[31:0];
}

register! {
    /// Draws of the high-priority graphics pipe.
    pub struct SqThreadTraceHp3dDrawCntr: "SQ_THREAD_TRACE_HP3D_DRAW_CNTR"
        at 0x234d in GFX10, 0xd9f8 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Their number.
    cntr: u32 = 0[31:0];
}

register! {
    /// Markers of the high-priority graphics pipe.
    pub struct SqThreadTraceHp3dMarkerCntr: "SQ_THREAD_TRACE_HP3D_MARKER_CNTR"
        at 0x234e in GFX10, 0xd9f9 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Their number.
    cntr: u32 = 0[31:0];
}

register! {
    /// Tracing before clocks or power are switched off.
    pub struct SqThreadTraceHalt: "SQ_THREAD_TRACE_HALT"
        at 0xd9f0 in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether coarse clock gating is entered.
    enter_cgcg: bool = 0[0:0];
    /// Whether tracing is ready for it.
    cgcg_ready: bool = 0[1:1];
    /// Whether power is switched off.
    enter_poweroff: bool = 0[2:2];
    /// Whether tracing is ready for it.
    poweroff_ready: bool = 0[3:3];
}

register! {
    /// State to restore after power was off.
    pub struct SqThreadTracePoweroffRestore1: "SQ_THREAD_TRACE_POWEROFF_RESTORE_1"
        at 0xd9f1 in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// The state.
    states: u32 = 0[31:0];
}

register! {
    /// Pipes that ended.
    pub struct SqThreadTraceFinishDoneDebug: "SQ_THREAD_TRACE_FINISH_DONE_DEBUG"
        at 0xd9fb in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// Graphics pipes (by its name).
    gfx: u16 = 0[9:0];
    /// Exports (by its name).
    exp: u8 = 0[15:10];
}
