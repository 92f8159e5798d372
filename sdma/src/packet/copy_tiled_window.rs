//! COPY_TILED_SUBWIN: boxes between linear and tiled surfaces.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

/// Declares a form of COPY_TILED_SUBWIN: its head, the fields that all forms have, then its own.
macro_rules! tiled_window {
    ({ $($head:tt)* } $($own:tt)*) => {
        packet! {
            $($head)*
            /// Reads and writes encrypted memory (trusted memory zone).
            tmz: bool = 0[18:18];
            /// Number of the last mip level.
            mip_max: u8 = 0[23:20] in SDMA4, 6[19:16] in SDMA5_TO_6, 6[20:16] in SDMA7;
            /// The mip level copied.
            mip_id: u8 = 0[27:24] in SDMA4, 6[23:20] in SDMA5_TO_6, 6[28:24] in SDMA7;
            /// Copies from the tiled surface to linear memory; the other way when clear.
            detile: bool = 0[31:31];
            /// First byte of the tiled surface.
            tiled_addr: u64 = 1[31:0] as tiled_addr_31_0 | 2[31:0] << 32 as tiled_addr_63_32;
            /// First column in the tiled surface, in elements.
            tiled_x: u16 = 3[13:0] in TO_SDMA6, 3[15:0] in SDMA7;
            /// First row in the tiled surface, in elements.
            tiled_y: u16 = 3[29:16] in TO_SDMA6, 3[31:16] in SDMA7;
            /// First slice in the tiled surface.
            tiled_z: u16 = 4[10:0] in SDMA4, 4[12:0] in SDMA5_TO_6, 4[13:0] in SDMA7;
            /// Width of the surface in elements.
            width: u32 (minus 1) = 4[29:16] in TO_SDMA6, 4[31:16] in SDMA7;
            /// Height of the surface in elements.
            height: u32 (minus 1) = 5[13:0] in TO_SDMA6, 5[15:0] in SDMA7;
            /// Depth of the surface, or its number of slices.
            depth: u16 (minus 1) = 5[26:16] in SDMA4, 5[28:16] in SDMA5_TO_6, 5[29:16] in SDMA7;
            /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
            element_size: u8 = 6[2:0];
            /// Swizzle mode of the surface (that of image descriptors).
            swizzle_mode: u8 = 6[7:3];
            /// Dimensions of the surface: 0 is 1D, 1 is 2D, 2 is 3D.
            dimension: u8 = 6[10:9];
            /// First byte of the linear memory.
            linear_addr: u64 = 7[31:0] as linear_addr_31_0 | 8[31:0] << 32 as linear_addr_63_32;
            /// First column in the linear memory, in elements.
            linear_x: u16 = 9[13:0] in TO_SDMA6, 9[15:0] in SDMA7;
            /// First row in the linear memory, in elements.
            linear_y: u16 = 9[29:16] in TO_SDMA6, 9[31:16] in SDMA7;
            /// First slice in the linear memory.
            linear_z: u16 = 10[10:0] in SDMA4, 10[12:0] in SDMA5_TO_6, 10[13:0] in SDMA7;
            /// Distance between two rows of the linear memory in elements.
            linear_pitch: u32 (minus 1) = 10[29:16] in TO_SDMA6, 10[31:16] in SDMA7;
            /// Distance between two slices of the linear memory in elements; 1 when only one is
            /// copied.
            linear_slice_pitch: u64 (minus 1) = 11[27:0] in TO_SDMA6, 11[31:0] in SDMA7;
            /// Width of the box in elements.
            rect_x: u32 (minus 1) = 12[13:0] in TO_SDMA6, 12[15:0] in SDMA7;
            /// Height of the box in elements.
            rect_y: u32 (minus 1) = 12[29:16] in TO_SDMA6, 12[31:16] in SDMA7;
            /// Depth of the box in slices.
            rect_z: u16 (minus 1) = 13[10:0] in SDMA4, 13[12:0] in SDMA5_TO_6, 13[13:0] in SDMA7;
            $($own)*
        }
    };
}

tiled_window! {
    {
        /// Copies a box between a linear and a tiled surface without compression metadata.
        pub struct CopyTiledSubwin: "COPY_TILED_SUBWIN" = 1, 5, 14 dwords in ALL;
        source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_TILED_SUBWIN";
        fixed 0x0008ffff = 0x00000000;
    }
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Pitch of the surface less one, in elements, where the swizzle mode does not give it.
    epitch: u16 = 6[31:16] in SDMA4;
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 13[17:16] in TO_SDMA6;
    /// Cache policy of the linear memory.
    linear_cache_policy: CachePolicy = 13[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the linear memory.
    linear_mall_policy: MallPolicy = 13[21:20] in SDMA7;
    /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
    tile_sw: u8 = 13[25:24] in TO_SDMA6;
    /// Cache policy of the tiled surface.
    tile_cache_policy: CachePolicy = 13[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the tiled surface.
    tile_mall_policy: MallPolicy = 13[29:28] in SDMA7;
}

tiled_window! {
    {
        /// Copies a box between a linear and a tiled surface with compression metadata in memory
        /// of its own: COPY_TILED_SUBWIN with `dcc` set and three further dwords.
        pub struct CopyTiledSubwinMeta: "COPY_TILED_SUBWIN.meta" = 1, 5, 17 dwords in SDMA5_TO_6;
        source "Linux navi10, v6_0_0; PAL gfx10: SDMA_PKT_COPY_TILED_SUBWIN";
        fixed 0x0008ffff = 0x00080000;
    }
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 13[17:16];
    /// Cache policy of the linear memory.
    linear_cache_policy: CachePolicy = 13[20:18] in SDMA5_2_TO_6;
    /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
    tile_sw: u8 = 13[25:24];
    /// Cache policy of the tiled surface.
    tile_cache_policy: CachePolicy = 13[28:26] in SDMA5_2_TO_6;
    /// First byte of the compression metadata, a multiple of 256.
    meta_addr: u64 = 14[31:0] as meta_addr_31_0 | 15[31:0] << 32 as meta_addr_63_32;
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 16[6:0];
    /// Leaves out the colour transform of the compression.
    color_transform_disable: bool = 16[7:7];
    /// Whether alpha is in the highest component.
    alpha_is_on_msb: bool = 16[8:8];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 16[11:9];
    /// 0 colour, 1 depth, 2 stencil (Mesa).
    surface_type: u8 = 16[13:12];
    /// Last-level cache policy of the metadata. Not published beyond its name.
    meta_llc: bool = 16[14:14] in SDMA5_2_TO_6;
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 16[25:24];
    /// Largest uncompressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_uncomp_block_size: u8 = 16[27:26];
    /// Writes compressed.
    write_compress_enable: bool = 16[28:28];
    /// The metadata is encrypted.
    meta_tmz: bool = 16[29:29];
    /// The metadata is pipe aligned.
    pipe_aligned: bool = 16[31:31] in SDMA5_2_TO_6;
}

tiled_window! {
    {
        /// Copies a box between a linear and a tiled surface, either compressed:
        /// COPY_TILED_SUBWIN with `dcc` set and one further dword.
        pub struct CopyTiledSubwinCompressed: "COPY_TILED_SUBWIN.compressed" = 1, 5, 15 dwords in SDMA7;
        source "PAL gfx12: SDMA_PKT_COPY_TILED_SUBWIN";
        fixed 0x0008ffff = 0x00080000;
    }
    /// Last-level cache policy of the linear memory.
    linear_mall_policy: MallPolicy = 13[21:20];
    /// Last-level cache policy of the tiled surface.
    tile_mall_policy: MallPolicy = 13[29:28];
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 14[5:0];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 14[11:9];
    /// How the source is read: 0 past the compression, 2 decompressed (Linux).
    read_compression_mode: u8 = 14[17:16];
    /// How the destination is written: 1 compressed, 2 not (Linux).
    write_compression_mode: u8 = 14[19:18];
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 14[25:24];
    /// Largest uncompressed block: 128 bytes when clear, 256 when set.
    max_uncomp_block_size: bool = 14[26:26];
}
