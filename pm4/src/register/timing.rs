//! Clocks: reading the GPU's counter of reference clocks.

use crate::generation::Generation;
use crate::generation::generations::{ALL, GFX10, GFX10_ON, GFX11_ON, GFX90A_ON, GFX103_ON};

register! {
    /// A write captures the counter, to be read from RLC_GPU_CLOCK_COUNT_LSB and MSB.
    pub struct RlcCaptureGpuClockCount: "RLC_CAPTURE_GPU_CLOCK_COUNT"
        at 0xec26 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c gfx_v9_0_get_gpu_clock_counter";
    /// Write 1.
    capture: bool = 0[0:0];
}

register! {
    /// Low part of the captured counter of reference clocks (100 MHz on most GPUs).
    pub struct RlcGpuClockCountLsb: "RLC_GPU_CLOCK_COUNT_LSB"
        at 0xec24 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c gfx_v9_0_get_gpu_clock_counter";
    /// Bits 31:0.
    gpu_clocks_lsb: u32 = 0[31:0];
}

register! {
    /// High part of the captured counter.
    pub struct RlcGpuClockCountMsb: "RLC_GPU_CLOCK_COUNT_MSB"
        at 0xec25 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c gfx_v9_0_get_gpu_clock_counter";
    /// Bits 63:32, where they are in it.
    gpu_clocks_msb: u64 = 0[31:0] << 32;
}

register! {
    /// The same of a second reader.
    pub struct RlcCaptureGpuClockCount1: "RLC_CAPTURE_GPU_CLOCK_COUNT_1"
        at 0xecea in GFX90A_ON.or(GFX10_ON);
    source "Linux, amd/include/asic_reg/gc";
    /// Write 1.
    capture: bool = 0[0:0];
}

register! {
    /// Low part of what the second reader captured.
    pub struct RlcGpuClockCountLsb1: "RLC_GPU_CLOCK_COUNT_LSB_1"
        at 0xece8 in GFX90A_ON.or(GFX10), 0xecfb in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    gpu_clocks_lsb: u32 = 0[31:0];
}

register! {
    /// High part of what the second reader captured.
    pub struct RlcGpuClockCountMsb1: "RLC_GPU_CLOCK_COUNT_MSB_1"
        at 0xece9 in GFX90A_ON.or(GFX10), 0xecfc in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    gpu_clocks_msb: u64 = 0[31:0] << 32;
}

register! {
    /// The same of a third reader.
    pub struct RlcCaptureGpuClockCount2: "RLC_CAPTURE_GPU_CLOCK_COUNT_2"
        at 0xecef in GFX90A_ON.or(GFX10_ON);
    source "Linux, amd/include/asic_reg/gc";
    /// Write 1.
    capture: bool = 0[0:0];
}

register! {
    /// Low part of what the third reader captured.
    pub struct RlcGpuClockCountLsb2: "RLC_GPU_CLOCK_COUNT_LSB_2"
        at 0xeceb in GFX90A_ON.or(GFX10_ON);
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    gpu_clocks_lsb: u32 = 0[31:0];
}

register! {
    /// High part of what the third reader captured.
    pub struct RlcGpuClockCountMsb2: "RLC_GPU_CLOCK_COUNT_MSB_2"
        at 0xecec in GFX90A_ON.or(GFX10_ON);
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    gpu_clocks_msb: u64 = 0[31:0] << 32;
}

register! {
    /// Low part of the counter as streaming counters (SPM) see it.
    pub struct RlcGpuClockCountSpmLsb: "RLC_GPU_CLOCK_COUNT_SPM_LSB"
        at 0xede4 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    gpu_clocks_lsb: u32 = 0[31:0];
}

register! {
    /// High part of the counter as streaming counters see it.
    pub struct RlcGpuClockCountSpmMsb: "RLC_GPU_CLOCK_COUNT_SPM_MSB"
        at 0xede5 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    gpu_clocks_msb: u64 = 0[31:0] << 32;
}

register! {
    /// Low part of what the command processor adds to its timestamps (by its name).
    pub struct CpGpuTimestampOffsetLo: "CP_GPU_TIMESTAMP_OFFSET_LO"
        at 0x31ac in GFX103_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    offset_lo: u32 = 0[31:0];
}

register! {
    /// High part of what the command processor adds to its timestamps (by its name).
    pub struct CpGpuTimestampOffsetHi: "CP_GPU_TIMESTAMP_OFFSET_HI"
        at 0x31ad in GFX103_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32, where they are in it.
    offset_hi: u64 = 0[31:0] << 32;
}
