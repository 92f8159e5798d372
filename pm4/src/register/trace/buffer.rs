//! SQ_THREAD_TRACE_*: where thread traces go.

use crate::generation::Generation;
use crate::generation::generations::{GFX9, GFX10, GFX10_11, GFX10_ON, GFX11, GFX11_ON, GFX12};

register! {
    /// Low part of the address of the buffer.
    pub struct SqThreadTraceBase: "SQ_THREAD_TRACE_BASE"
        at 0xc330 in GFX9;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 43:12 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 4096.
    addr: u64 = 0[31:0] << 12;
}

register! {
    /// High part of the address of the buffer.
    pub struct SqThreadTraceBase2: "SQ_THREAD_TRACE_BASE2"
        at 0xc337 in GFX9;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 47:44 of the address, where they are in it.
    addr_hi: u64 = 0[3:0] << 44;
}

register! {
    /// Size of the buffer.
    pub struct SqThreadTraceSize: "SQ_THREAD_TRACE_SIZE"
        at 0xc331 in GFX9;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bytes, a multiple of 4096.
    size: u64 = 0[21:0] << 12;
}

register! {
    /// Low part of the address of the first buffer.
    pub struct SqThreadTraceBuf0Base: "SQ_THREAD_TRACE_BUF0_BASE"
        at 0x2340 in GFX10, 0xd9e8 in GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 43:12 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 4096.
    base_lo: u64 = 0[31:0] << 12;
}

register! {
    /// Size of the first buffer, and to gfx11.5 the high part of its address.
    pub struct SqThreadTraceBuf0Size: "SQ_THREAD_TRACE_BUF0_SIZE"
        at 0x2341 in GFX10, 0xd9e9 in GFX11, 0xd9e6 in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 47:44 of the address, where they are in it.
    base_hi: u64 = 0[3:0] << 44 in GFX10_11;
    /// Bytes, a multiple of 4096.
    size: u64 = 0[29:8] << 12 in GFX10_11, 0[21:0] << 12 in GFX12;
}

register! {
    /// Low part of the address of the first buffer.
    pub struct SqThreadTraceBuf0BaseLo: "SQ_THREAD_TRACE_BUF0_BASE_LO"
        at 0xd9e7 in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 43:12 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 4096.
    base_lo: u64 = 0[31:0] << 12;
}

register! {
    /// High part of the address of the first buffer.
    pub struct SqThreadTraceBuf0BaseHi: "SQ_THREAD_TRACE_BUF0_BASE_HI"
        at 0xd9e8 in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 56:44 of the address, where they are in it.
    base_hi: u64 = 0[12:0] << 44;
}

register! {
    /// Low part of the address of the second buffer.
    pub struct SqThreadTraceBuf1Base: "SQ_THREAD_TRACE_BUF1_BASE"
        at 0x2342 in GFX10, 0xd9ea in GFX11;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 43:12 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 4096.
    base_lo: u64 = 0[31:0] << 12;
}

register! {
    /// Size of the second buffer, and to gfx11.5 the high part of its address.
    pub struct SqThreadTraceBuf1Size: "SQ_THREAD_TRACE_BUF1_SIZE"
        at 0x2343 in GFX10, 0xd9eb in GFX11, 0xd9e9 in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 47:44 of the address, where they are in it.
    base_hi: u64 = 0[3:0] << 44 in GFX10_11;
    /// Bytes, a multiple of 4096.
    size: u64 = 0[29:8] << 12 in GFX10_11, 0[21:0] << 12 in GFX12;
}

register! {
    /// Low part of the address of the second buffer.
    pub struct SqThreadTraceBuf1BaseLo: "SQ_THREAD_TRACE_BUF1_BASE_LO"
        at 0xd9ea in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 43:12 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 4096.
    base_lo: u64 = 0[31:0] << 12;
}

register! {
    /// High part of the address of the second buffer.
    pub struct SqThreadTraceBuf1BaseHi: "SQ_THREAD_TRACE_BUF1_BASE_HI"
        at 0xd9eb in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: tinygrad, ops_amd.py; PAL, PerfExperiment";
    /// Bits 56:44 of the address, where they are in it.
    base_hi: u64 = 0[12:0] << 44;
}

register! {
    /// How far the trace has been written.
    pub struct SqThreadTraceWptr: "SQ_THREAD_TRACE_WPTR"
        at 0xc339 in GFX9, 0x2344 in GFX10, 0xd9ef in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: Mesa, radv_sqtt.c";
    /// Position in 32 bytes.
    wptr: u32 = 0[29:0] in GFX9;
    /// Position in 32 bytes; on gfx11 and gfx11.5 counted from address 0 rather than from the
    /// buffer's start (Mesa).
    offset: u32 = 0[28:0] in GFX10_ON;
    /// Position of reading (by its name).
    read_offset: u8 = 0[31:30] in GFX9;
    /// Buffer that is written.
    buffer_id: bool = 0[31:31] in GFX10_ON;
}

register! {
    /// Fill at which waves are stalled.
    pub struct SqThreadTraceHiwater: "SQ_THREAD_TRACE_HIWATER"
        at 0xc33b in GFX9;
    source "Linux, amd/include/asic_reg/gc";
    /// The fill; its unit is not documented.
    hiwater: u8 = 0[2:0];
}

register! {
    /// Writes appear in the trace: markers of drivers.
    pub struct SqThreadTraceUserdata: "SQ_THREAD_TRACE_USERDATA_0"
        at 0xc340 * 4 in GFX9, 0xc340 * 8 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// What appears.
    data: u32 = 0[31:0];
}
