//! COPY_STRUCT: arrays of structures.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Copies between an array of structures and linear memory ("SOA": structure of arrays). No
    /// public driver writes it.
    pub struct CopyStruct: "COPY_STRUCT" = 1, 3, 8 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_STRUCT";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Copies from the structures to linear memory; the other way when clear.
    detile: bool = 0[31:31];
    /// First byte of the array of structures.
    sb_addr: u64 = 1[31:0] as sb_addr_31_0 | 2[31:0] << 32 as sb_addr_63_32;
    /// Index of the first structure.
    start_index: u32 = 3[31:0];
    /// Number of structures.
    count: u32 = 4[31:0];
    /// Stride of the structures, as stored. Its unit is not published.
    stride: u16 = 5[10:0];
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 5[17:16] in TO_SDMA6;
    /// Cache policy of the linear memory.
    linear_cache_policy: CachePolicy = 5[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the linear memory.
    linear_mall_policy: MallPolicy = 5[21:20] in SDMA7;
    /// Byte swap of the structures; 0 for none, which is what drivers write.
    struct_sw: u8 = 5[25:24] in TO_SDMA6;
    /// Cache policy of the structures.
    struct_cache_policy: CachePolicy = 5[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the structures.
    struct_mall_policy: MallPolicy = 5[29:28] in SDMA7;
    /// First byte of the linear memory.
    linear_addr: u64 = 6[31:0] as linear_addr_31_0 | 7[31:0] << 32 as linear_addr_63_32;
}
