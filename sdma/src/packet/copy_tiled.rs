//! COPY_TILED and COPY_L2T_BROADCAST: bytes between linear memory and tiled surfaces.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Copies bytes between linear memory and a tiled surface.
    pub struct CopyTiled: "COPY_TILED" = 1, 1, 13 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_TILED";
    fixed 0x0800ffff = 0x00000000;
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Number of the last mip level.
    mip_max: u8 = 0[23:20] in SDMA4, 5[19:16] in SDMA5_TO_6, 0[24:20] in SDMA7;
    /// Copies from the tiled surface to linear memory; the other way when clear.
    detile: bool = 0[31:31];
    /// First byte of the tiled surface.
    tiled_addr: u64 = 1[31:0] as tiled_addr_31_0 | 2[31:0] << 32 as tiled_addr_63_32;
    /// Width of the surface in elements.
    width: u16 = 3[13:0] in TO_SDMA6, 3[15:0] in SDMA7;
    /// Height of the surface in elements.
    height: u16 = 4[13:0] in TO_SDMA6, 4[15:0] in SDMA7;
    /// Depth of the surface, or its number of slices.
    depth: u16 = 4[26:16] in SDMA4, 4[28:16] in SDMA5_TO_6, 4[29:16] in SDMA7;
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    element_size: u8 = 5[2:0];
    /// Swizzle mode of the surface (that of image descriptors).
    swizzle_mode: u8 = 5[7:3];
    /// Dimensions of the surface: 0 is 1D, 1 is 2D, 2 is 3D.
    dimension: u8 = 5[10:9];
    /// Pitch of the surface less one, in elements, where the swizzle mode does not give it.
    epitch: u16 = 5[31:16] in SDMA4;
    /// First column in the surface, in elements.
    x: u16 = 6[13:0] in TO_SDMA6, 6[15:0] in SDMA7;
    /// First row in the surface, in elements.
    y: u16 = 6[29:16] in TO_SDMA6, 6[31:16] in SDMA7;
    /// First slice in the surface.
    z: u16 = 7[10:0] in SDMA4, 7[12:0] in SDMA5_TO_6, 7[13:0] in SDMA7;
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 7[17:16] in TO_SDMA6;
    /// Cache policy of the linear memory.
    linear_cache_policy: CachePolicy = 7[20:18] in SDMA5_2_TO_6;
    /// Not published beyond its name; drivers leave it clear.
    linear_cc: bool = 7[20:20] in SDMA5_0;
    /// Last-level cache policy of the linear memory.
    linear_mall_policy: MallPolicy = 7[21:20] in SDMA7;
    /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
    tile_sw: u8 = 7[25:24] in TO_SDMA6;
    /// Cache policy of the tiled surface.
    tile_cache_policy: CachePolicy = 7[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the tiled surface.
    tile_mall_policy: MallPolicy = 7[29:28] in SDMA7;
    /// First byte of the linear memory.
    linear_addr: u64 = 8[31:0] as linear_addr_31_0 | 9[31:0] << 32 as linear_addr_63_32;
    /// Distance between two rows of the linear memory in elements.
    linear_pitch: u32 = 10[18:0] in TO_SDMA6, 10[15:0] in SDMA7;
    /// Distance between two slices of the linear memory in elements; 1 when only one is copied.
    linear_slice_pitch: u32 = 11[31:0];
    /// Number of bytes to copy, as stored; AMD does not say whether that is less one.
    count: u32 = 12[19:0] in SDMA4, 12[21:0] in SDMA5_0, 12[29:0] in SDMA5_2_ON;
}

packet! {
    /// Copies linear memory to two tiled surfaces: COPY_TILED with the broadcast bit and a second
    /// surface.
    pub struct CopyL2tBroadcast: "COPY_L2T_BROADCAST" = 1, 1, 16 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_L2T_BROADCAST";
    fixed 0x0800ffff = 0x08000000;
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Number of the last mip level.
    mip_max: u8 = 0[23:20] in SDMA4, 7[19:16] in SDMA5_TO_6, 0[24:20] in SDMA7;
    /// Not published beyond its name; drivers leave it clear.
    videocopy: bool = 0[26:26];
    /// First byte of the first tiled surface.
    tiled_addr0: u64 = 1[31:0] as tiled_addr0_31_0 | 2[31:0] << 32 as tiled_addr0_63_32;
    /// First byte of the second tiled surface.
    tiled_addr1: u64 = 3[31:0] as tiled_addr1_31_0 | 4[31:0] << 32 as tiled_addr1_63_32;
    /// Width of the surface in elements.
    width: u16 = 5[13:0] in TO_SDMA6, 5[15:0] in SDMA7;
    /// Height of the surface in elements.
    height: u16 = 6[13:0] in TO_SDMA6, 6[15:0] in SDMA7;
    /// Depth of the surface, or its number of slices.
    depth: u16 = 6[26:16] in SDMA4, 6[28:16] in SDMA5_TO_6, 6[29:16] in SDMA7;
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    element_size: u8 = 7[2:0];
    /// Swizzle mode of the surface (that of image descriptors).
    swizzle_mode: u8 = 7[7:3];
    /// Dimensions of the surface: 0 is 1D, 1 is 2D, 2 is 3D.
    dimension: u8 = 7[10:9];
    /// Pitch of the surface less one, in elements, where the swizzle mode does not give it.
    epitch: u16 = 7[31:16] in SDMA4;
    /// First column in the surface, in elements.
    x: u16 = 8[13:0] in TO_SDMA6, 8[15:0] in SDMA7;
    /// First row in the surface, in elements.
    y: u16 = 8[29:16] in TO_SDMA6, 8[31:16] in SDMA7;
    /// First slice in the surface.
    z: u16 = 9[10:0] in SDMA4, 9[12:0] in SDMA5_TO_6, 9[13:0] in SDMA7;
    /// Byte swap of the second destination; 0 for none, which is what drivers write.
    dst2_sw: u8 = 10[9:8] in TO_SDMA6;
    /// Cache policy of the second destination.
    dst2_cache_policy: CachePolicy = 10[12:10] in SDMA5_2_TO_6;
    /// Last-level cache policy of the second tiled surface.
    tile1_mall_policy: MallPolicy = 10[13:12] in SDMA7;
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 10[17:16] in TO_SDMA6;
    /// Cache policy of the linear memory.
    linear_cache_policy: CachePolicy = 10[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the linear memory.
    linear_mall_policy: MallPolicy = 10[21:20] in SDMA7;
    /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
    tile_sw: u8 = 10[25:24] in TO_SDMA6;
    /// Cache policy of the tiled surface.
    tile_cache_policy: CachePolicy = 10[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the tiled surface.
    tile_mall_policy: MallPolicy = 10[29:28] in SDMA7;
    /// First byte of the linear memory.
    linear_addr: u64 = 11[31:0] as linear_addr_31_0 | 12[31:0] << 32 as linear_addr_63_32;
    /// Distance between two rows of the linear memory in elements.
    linear_pitch: u32 = 13[18:0] in TO_SDMA6, 13[15:0] in SDMA7;
    /// Distance between two slices of the linear memory in elements; 1 when only one is copied.
    linear_slice_pitch: u32 = 14[31:0];
    /// Number of bytes to copy, as stored; AMD does not say whether that is less one.
    count: u32 = 15[19:0] in SDMA4, 15[21:0] in SDMA5_0, 15[29:0] in SDMA5_2_ON;
}
