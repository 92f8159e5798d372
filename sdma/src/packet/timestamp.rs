//! TIMESTAMP: the engine's counter and the GPU's.

use super::{L2Policy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Sets the engine's own counter.
    pub struct TimestampSet: "TIMESTAMP_SET" = 13, 0, 3 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_TIMESTAMP_SET";
    /// The counter's new value.
    init_data: u64 = 1[31:0] as init_data_31_0 | 2[31:0] << 32 as init_data_63_32;
}

packet! {
    /// Writes the engine's own counter to memory, 64 bits.
    pub struct TimestampGet: "TIMESTAMP_GET" = 13, 1, 3 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_TIMESTAMP_GET";
    /// L2 policy.
    l2_policy: L2Policy = 0[25:24] in SDMA5_2_TO_6;
    /// Does not allocate in the last-level cache (MALL).
    llc_policy: bool = 0[26:26] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Where the counter goes, a multiple of 8. ROCr and AMD's tests take a multiple of 32.
    write_addr: u64 = 1[31:3] << 3 as write_addr_31_3 | 2[31:0] << 32 as write_addr_63_32;
}

packet! {
    /// Writes the GPU's counter, the one that all its engines share, to memory, 64 bits.
    pub struct TimestampGetGlobal: "TIMESTAMP_GET_GLOBAL" = 13, 2, 3 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_TIMESTAMP_GET_GLOBAL";
    /// L2 policy.
    l2_policy: L2Policy = 0[25:24] in SDMA5_2_TO_6;
    /// Does not allocate in the last-level cache (MALL).
    llc_policy: bool = 0[26:26] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Where the counter goes, a multiple of 8. ROCr and AMD's tests take a multiple of 32.
    write_addr: u64 = 1[31:3] << 3 as write_addr_31_3 | 2[31:0] << 32 as write_addr_63_32;
}
