//! COPY_T2T: boxes between tiled surfaces.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

/// Declares a form of COPY_T2T: its head, the fields that all forms have, then its own.
macro_rules! t2t {
    ({ $($head:tt)* } $($own:tt)*) => {
        packet! {
            $($head)*
            /// Reads and writes encrypted memory (trusted memory zone).
            tmz: bool = 0[18:18];
            /// First byte of the source.
            src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
            /// First column in the source, in elements.
            src_x: u16 = 3[13:0] in TO_SDMA6, 3[15:0] in SDMA7;
            /// First row in the source, in elements.
            src_y: u16 = 3[29:16] in TO_SDMA6, 3[31:16] in SDMA7;
            /// First slice in the source.
            src_z: u16 = 4[10:0] in SDMA4, 4[12:0] in SDMA5_TO_6, 4[13:0] in SDMA7;
            /// Width of the source in elements.
            src_width: u32 (minus 1) = 4[29:16] in TO_SDMA6, 4[31:16] in SDMA7;
            /// Height of the source in elements.
            src_height: u32 (minus 1) = 5[13:0] in TO_SDMA6, 5[15:0] in SDMA7;
            /// Depth of the source, or its number of slices.
            src_depth: u16 (minus 1) =
                5[26:16] in SDMA4,
                5[28:16] in SDMA5_TO_6,
                5[29:16] in SDMA7;
            /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
            src_element_size: u8 = 6[2:0];
            /// Swizzle mode of the source surface (that of image descriptors).
            src_swizzle_mode: u8 = 6[7:3];
            /// Dimensions of the source surface: 0 is 1D, 1 is 2D, 2 is 3D.
            src_dimension: u8 = 6[10:9];
            /// Number of the last mip level.
            src_mip_max: u8 = 6[19:16] in SDMA5_TO_6, 6[20:16] in SDMA7;
            /// The mip level copied.
            src_mip_id: u8 = 6[23:20] in SDMA5_TO_6, 6[28:24] in SDMA7;
            /// First byte of the destination.
            dst_addr: u64 = 7[31:0] as dst_addr_31_0 | 8[31:0] << 32 as dst_addr_63_32;
            /// First column in the destination, in elements.
            dst_x: u16 = 9[13:0] in TO_SDMA6, 9[15:0] in SDMA7;
            /// First row in the destination, in elements.
            dst_y: u16 = 9[29:16] in TO_SDMA6, 9[31:16] in SDMA7;
            /// First slice in the destination.
            dst_z: u16 = 10[10:0] in SDMA4, 10[12:0] in SDMA5_TO_6, 10[13:0] in SDMA7;
            /// Width of the destination in elements.
            dst_width: u32 (minus 1) = 10[29:16] in TO_SDMA6, 10[31:16] in SDMA7;
            /// Height of the destination in elements.
            dst_height: u32 (minus 1) = 11[13:0] in TO_SDMA6, 11[15:0] in SDMA7;
            /// Depth of the destination, or its number of slices.
            dst_depth: u16 (minus 1) =
                11[26:16] in SDMA4,
                11[28:16] in SDMA5_TO_6,
                11[29:16] in SDMA7;
            /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
            dst_element_size: u8 = 12[2:0];
            /// Swizzle mode of the destination surface (that of image descriptors).
            dst_swizzle_mode: u8 = 12[7:3];
            /// Dimensions of the destination surface: 0 is 1D, 1 is 2D, 2 is 3D.
            dst_dimension: u8 = 12[10:9];
            /// Number of the last mip level.
            dst_mip_max: u8 = 12[19:16] in SDMA5_TO_6, 12[20:16] in SDMA7;
            /// The mip level copied.
            dst_mip_id: u8 = 12[23:20] in SDMA5_TO_6, 12[28:24] in SDMA7;
            /// Width of the box in elements.
            rect_x: u32 (minus 1) = 13[13:0] in TO_SDMA6, 13[15:0] in SDMA7;
            /// Height of the box in elements.
            rect_y: u32 (minus 1) = 13[29:16] in TO_SDMA6, 13[31:16] in SDMA7;
            /// Depth of the box in slices.
            rect_z: u16 (minus 1) = 14[10:0] in SDMA4, 14[12:0] in SDMA5_TO_6, 14[13:0] in SDMA7;
            $($own)*
        }
    };
}

t2t! {
    {
        /// Copies a box between two tiled surfaces without compression metadata.
        pub struct CopyT2t: "COPY_T2T" = 1, 6, 15 dwords in ALL;
        source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_T2T";
        fixed 0x0008ffff = 0x00000000;
    }
    /// Number of the last mip level.
    mip_max: u8 = 0[23:20] in SDMA4;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Pitch of the source surface less one, in elements, where the swizzle mode does not give
    /// it.
    src_epitch: u16 = 6[31:16] in SDMA4;
    /// Pitch of the destination surface less one, in elements, where the swizzle mode does not
    /// give it.
    dst_epitch: u16 = 12[31:16] in SDMA4;
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 14[17:16] in TO_SDMA6;
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 14[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 14[21:20] in SDMA7;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 14[25:24] in TO_SDMA6;
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 14[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 14[29:28] in SDMA7;
}

t2t! {
    {
        /// Copies a box between two tiled surfaces, one with compression metadata in memory of
        /// its own: COPY_T2T with `dcc` set and three further dwords.
        pub struct CopyT2tMeta: "COPY_T2T.meta" = 1, 6, 18 dwords in SDMA5_TO_6;
        source "Linux navi10, v6_0_0; PAL gfx10: SDMA_PKT_COPY_T2T";
        fixed 0x0008ffff = 0x00080000;
    }
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Which side has the metadata: the source when set, the destination when clear (PAL).
    dcc_dir: bool = 0[31:31];
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 14[17:16];
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 14[20:18] in SDMA5_2_TO_6;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 14[25:24];
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 14[28:26] in SDMA5_2_TO_6;
    /// First byte of the compression metadata, a multiple of 256.
    meta_addr: u64 = 15[31:0] as meta_addr_31_0 | 16[31:0] << 32 as meta_addr_63_32;
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 17[6:0];
    /// Leaves out the colour transform of the compression.
    color_transform_disable: bool = 17[7:7];
    /// Whether alpha is in the highest component.
    alpha_is_on_msb: bool = 17[8:8];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 17[11:9];
    /// 0 colour, 1 depth, 2 stencil (Mesa).
    surface_type: u8 = 17[13:12];
    /// Last-level cache policy of the metadata. Not published beyond its name.
    meta_llc: bool = 17[14:14] in SDMA5_2_TO_6;
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 17[25:24];
    /// Largest uncompressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_uncomp_block_size: u8 = 17[27:26];
    /// Writes compressed.
    write_compress_enable: bool = 17[28:28];
    /// The metadata is encrypted.
    meta_tmz: bool = 17[29:29];
    /// The metadata is pipe aligned.
    pipe_aligned: bool = 17[31:31] in SDMA5_2_TO_6;
}

t2t! {
    {
        /// Copies a box between two tiled surfaces, either compressed: COPY_T2T with `dcc` set
        /// and one further dword.
        pub struct CopyT2tCompressed: "COPY_T2T.compressed" = 1, 6, 16 dwords in SDMA7;
        source "PAL gfx12: SDMA_PKT_COPY_T2T";
        fixed 0x0008ffff = 0x00080000;
    }
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 14[21:20];
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 14[29:28];
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 15[5:0];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 15[11:9];
    /// How the source is read: 0 past the compression, 2 decompressed (Linux).
    read_compression_mode: u8 = 15[17:16];
    /// How the destination is written: 1 compressed, 2 not (Linux).
    write_compression_mode: u8 = 15[19:18];
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 15[25:24];
    /// Largest uncompressed block: 128 bytes when clear, 256 when set.
    max_uncomp_block_size: bool = 15[26:26];
}
