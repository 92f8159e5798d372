//! Time and performance counters.

use crate::generation::{Generation, generations};

packet! {
    /// TIMESTAMP: writes the time when it is executed, when all work before it is done, or both.
    pub struct Timestamp: "TIMESTAMP" = 0xb2, 6 dwords in generations::GFX11_ON;
    source "PAL, PM4_MEC_TIMESTAMP";
    /// Writes the time at which all work before it is done.
    enable_bottom: bool = 1[0:0];
    /// Writes the time at which it is executed.
    enable_top: bool = 1[1:1];
    /// The system's clock rather than the graphics core's.
    clock_sel: bool = 1[2:2];
    /// Where the time of the end goes, a multiple of 8.
    pipe_bot_addr: u64 = 2[31:3] << 3 as pipe_bot_addr_lo | 3[31:0] << 32 as pipe_bot_addr_hi;
    /// Where the time of execution goes, a multiple of 8.
    pipe_top_addr: u64 = 4[31:3] << 3 as pipe_top_addr_lo | 5[31:0] << 32 as pipe_top_addr_hi;
}

packet! {
    /// PERFMON_CONTROL: sets up a counter of the memory controllers.
    pub struct PerfmonControl: "PERFMON_CONTROL" = 0x54, 3 dwords in generations::GFX103_ON;
    source "PAL, PM4_MEC_PERFMON_CONTROL";
    /// Which counter.
    pmc_id: u8 = 1[2:0];
    /// Whether it counts.
    pmc_en: bool = 1[15:15];
    /// Units that it counts in.
    pmc_unit_mask: u8 = 1[23:16];
    /// What it counts.
    pmc_event: u16 = 2[13:0];
}

packet! {
    /// PERF_COUNTER_WINDOW: brackets what performance counters count.
    pub struct PerfCounterWindow: "PERF_COUNTER_WINDOW" = 0x3d, 2 dwords in generations::GFX11_ON;
    source "PAL, PM4_MEC_PERF_COUNTER_WINDOW";
    /// 0 closes the window; on gfx12 7 opens it.
    op: u8 = 1[1:0] in generations::GFX11, 1[2:0] in generations::GFX12;
}
