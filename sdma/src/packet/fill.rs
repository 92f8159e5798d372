//! CONSTANT_FILL and its kin.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

pm4::names! {
    /// What a fill repeats.
    pub struct FillSize(u8) {
        /// Bytes: any address, any length.
        BYTE = 0,
        /// Dwords: address and length are multiples of 4.
        DW = 2,
    }
}

packet! {
    /// Fills memory with a byte or a dword.
    pub struct ConstantFill: "CONSTANT_FILL" = 11, 0, 5 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_CONSTANT_FILL";
    /// Byte swap of what is written; 0 for none, which is what drivers write.
    sw: u8 = 0[17:16] in TO_SDMA6;
    /// Compressed memory: when clear, writes past the compression; when set, writes without
    /// compressing (PAL). Linux sets it and calls it COMPRESS.
    nopte_comp: bool = 0[16:16] in SDMA7;
    /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it clear,
    /// as the page says so.
    sys: bool = 0[20:20] in SDMA7;
    /// Snoops the CPU's caches.
    snp: bool = 0[22:22] in SDMA7;
    /// The address is a guest physical one; clear for virtual addresses.
    gpa: bool = 0[23:23] in SDMA7;
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// What is repeated. Linux leaves it BYTE, and fills with zeros.
    fillsize: FillSize = 0[31:30];
    /// First byte of the destination; a multiple of 4 with dword fill.
    dst_addr: u64 = 1[31:0] as dst_addr_31_0 | 2[31:0] << 32 as dst_addr_63_32;
    /// The byte (bits 7:0) or dword to fill with.
    src_data: u32 = 3[31:0] as src_data_31_0;
    /// Number of bytes; with dword fill the two lowest bits stored do not count.
    count: u32 (minus 1) = 4[21:0] in SDMA4.or(SDMA5), 4[29:0] in SDMA6_ON;
}

packet! {
    /// Fills several ranges that lie one stride apart. No public driver writes it.
    pub struct DataFillMulti: "DATA_FILL_MULTI" = 11, 1, 6 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_DATA_FILL_MULTI";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[25:24] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Not published beyond its name; drivers leave it clear.
    memlog_clr: bool = 0[31:31];
    /// Distance between the starts of two ranges in bytes.
    byte_stride: u32 = 1[31:0];
    /// Number of ranges, as stored.
    dma_count: u32 = 2[31:0];
    /// First byte of the destination.
    dst_addr: u64 = 3[31:0] as dst_addr_31_0 | 4[31:0] << 32 as dst_addr_63_32;
    /// Bytes of each range as stored; AMD does not say whether that is less one.
    count: u32 = 5[25:0];
}

packet! {
    /// Fills whole pages with a byte or a dword. No public driver writes it.
    pub struct ConstantFillPage: "CONSTANT_FILL_PAGE" = 11, 4, 5 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_CONSTANT_FILL_PAGE";
    /// Compressed memory: when clear, writes past the compression; when set, writes without
    /// compressing (PAL). Linux sets it and calls it COMPRESS.
    nopte_comp: bool = 0[16:16];
    /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it clear,
    /// as the page says so.
    sys: bool = 0[20:20];
    /// Snoops the CPU's caches.
    snp: bool = 0[22:22];
    /// The address is a guest physical one; clear for virtual addresses.
    gpa: bool = 0[23:23];
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26];
    /// What is repeated.
    fillsize: FillSize = 0[31:30];
    /// The byte (bits 7:0) or dword to fill with.
    src_data: u32 = 1[31:0] as src_data_31_0;
    /// Not published beyond its name.
    page_unit: u8 = 2[3:0];
    /// Number of pages, as stored.
    page_num: u16 = 2[31:16];
    /// First byte of the destination.
    dst_addr: u64 = 3[31:0] as dst_addr_31_0 | 4[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Decompresses memory in place.
    pub struct DecompressBltLinear: "DECOMPRESS_BLT_LINEAR" = 11, 3, 4 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_DECOMPRESS_BLT_LINEAR";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26];
    /// First byte of the source.
    src_addr: u64 = 1[31:8] << 8 as src_addr_31_8 | 2[31:0] << 32 as src_addr_63_32;
    /// Count of 256-byte blocks as stored; AMD does not say whether that is less one.
    count: u32 = 3[31:8];
}

packet! {
    /// Decompresses a box of a tiled surface in place.
    pub struct DecompressBltSubwin: "DECOMPRESS_BLT_SUBWIN" = 11, 2, 9 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_DECOMPRESS_BLT_SUBWIN";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26];
    /// First byte of the source.
    src_addr: u64 = 1[31:8] << 8 as src_addr_31_8 | 2[31:0] << 32 as src_addr_63_32;
    /// First column in the tiled surface, in elements.
    tiled_x: u16 = 3[15:0];
    /// First row in the tiled surface, in elements.
    tiled_y: u16 = 3[31:16];
    /// First slice in the tiled surface.
    tiled_z: u16 = 4[13:0];
    /// Width of the surface in elements.
    width: u16 = 4[31:16];
    /// Height of the surface in elements.
    height: u16 = 5[15:0];
    /// Depth of the surface, or its number of slices.
    depth: u16 = 5[29:16];
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    element_size: u8 = 6[2:0];
    /// Swizzle mode of the surface (that of image descriptors).
    swizzle_mode: u8 = 6[7:3];
    /// Dimensions of the surface: 0 is 1D, 1 is 2D, 2 is 3D.
    dimension: u8 = 6[10:9];
    /// Number of the last mip level.
    mip_max: u8 = 6[20:16];
    /// The mip level copied.
    mip_id: u8 = 6[28:24];
    /// Width of the box in elements.
    rect_x: u16 = 7[15:0];
    /// Height of the box in elements.
    rect_y: u16 = 7[31:16];
    /// Depth of the box in slices.
    rect_z: u16 = 8[13:0];
}
