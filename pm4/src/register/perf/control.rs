//! CP_PERFMON_CNTL, RLC_*: starting and stopping performance counters.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX12, GFX9, GFX10, GFX12, GFX94X_ON};

crate::names! {
    /// State of counters: CP_PERFMON_CNTL.
    pub struct PerfmonState(u8) {
        /// They stand at zero.
        DISABLE_AND_RESET = 0,
        /// They count.
        START_COUNTING = 1,
        /// They keep what they counted.
        STOP_COUNTING = 2,
        /// As DISABLE_AND_RESET, of phantom counters (by its name).
        DISABLE_AND_RESET_PHANTOM = 4,
        /// Phantom counters count and are dumped (by its name).
        COUNT_AND_DUMP_PHANTOM = 5,
    }
}

crate::names! {
    /// When counters count: CP_PERFMON_CNTL.
    pub struct PerfmonEnableMode(u8) {
        /// Always.
        ALWAYS_COUNT = 0,
        /// While the graphics context enables it.
        COUNT_CONTEXT_TRUE = 2,
        /// While the graphics context does not.
        COUNT_CONTEXT_FALSE = 3,
    }
}

register! {
    /// Starts, samples and stops the performance counters of all blocks.
    pub struct CpPerfmonCntl: "CP_PERFMON_CNTL"
        at 0xd808 in BEFORE_GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: CP_PERFMON_* in the enumerations";
    /// State of the counters that software reads.
    perfmon_state: PerfmonState = 0[3:0];
    /// State of the streaming counters.
    spm_perfmon_state: PerfmonState = 0[7:4];
    /// When they count.
    perfmon_enable_mode: PerfmonEnableMode = 0[9:8];
    /// Whether counters are sampled into the registers that are read.
    perfmon_sample_enable: bool = 0[10:10];
}

register! {
    /// What CP_PERFMON_CNTL is called on gfx12 (PAL still calls it that).
    pub struct CpPerfmonCntl1: "CP_PERFMON_CNTL_1"
        at 0xd808 in GFX12;
    source "Linux, amd/include/asic_reg/gc; meanings: CP_PERFMON_* in the enumerations";
    /// State of the counters that software reads.
    perfmon_state: PerfmonState = 0[3:0];
    /// State of the streaming counters.
    spm_perfmon_state: PerfmonState = 0[7:4];
    /// When they count.
    perfmon_enable_mode: PerfmonEnableMode = 0[9:8];
    /// Whether counters are sampled into the registers that are read.
    perfmon_sample_enable: bool = 0[10:10];
}

register! {
    /// Starts, samples and stops the RLC's own counters.
    pub struct RlcPerfmonCntl: "RLC_PERFMON_CNTL"
        at 0xdcc0 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: RLC_PERFMON_STATE in the enumerations";
    /// 0 reset, 1 counting, 2 stopped, 7 rolling over.
    perfmon_state: u8 = 0[2:0];
    /// Whether they are sampled into the registers that are read.
    perfmon_sample_enable: bool = 0[10:10];
}

register! {
    /// Whether clocks of counters are kept running.
    pub struct RlcPerfmonClkCntl: "RLC_PERFMON_CLK_CNTL"
        at 0xdcbf in GFX9.without(GFX94X_ON), 0xdce4 in GFX10;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether they are; drivers set it while they count.
    perfmon_clock_state: bool = 0[0:0];
}

register! {
    /// The same for the RLC's firmware (by its name).
    pub struct RlcPerfmonClkCntlUcode: "RLC_PERFMON_CLK_CNTL_UCODE"
        at 0xdcbe in Generation::Gfx90a.set(), 0xdce5 in Generation::Gfx101.set();
    source "Linux, amd/include/asic_reg/gc";
    /// Whether they are.
    perfmon_clock_state: bool = 0[0:0];
}
