//! COMPUTE_*: what of a dispatch is counted and traced.

use crate::generation::Generation;
use crate::generation::generations::ALL;

register! {
    /// Whether pipeline statistics count.
    pub struct ComputePipelinestatEnable: "COMPUTE_PIPELINESTAT_ENABLE"
        at 0x2e0a in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether compute shader invocations are counted.
    pipelinestat_enable: bool = 0[0:0];
}

register! {
    /// Whether performance counters count what the pipe's waves do.
    pub struct ComputePerfcountEnable: "COMPUTE_PERFCOUNT_ENABLE"
        at 0x2e0b in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether they do.
    perfcount_enable: bool = 0[0:0];
}

register! {
    /// Whether thread traces record what the pipe's waves do.
    pub struct ComputeThreadTraceEnable: "COMPUTE_THREAD_TRACE_ENABLE"
        at 0x2e1e in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether they do.
    thread_trace_enable: bool = 0[0:0];
}
