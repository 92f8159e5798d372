//! COPY_LINEAR_SUBWIN: boxes between linear surfaces.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Copies a box of elements between two linear surfaces. Everything but the addresses counts
    /// elements of `1 << elementsize` bytes, so an element has to divide both pitches, both slice
    /// pitches and what lies between an address and the multiple of 4 below it. Addresses are
    /// multiples of 4; what is beyond goes into `src_x` and `dst_x` (ROCr,
    /// `BuildCopyRectCommand`).
    pub struct CopyLinearSubwin: "COPY_LINEAR_SUBWIN" = 1, 4, 13 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_LINEAR_SUBWIN";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    elementsize: u8 = 0[31:29];
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First column in the source, in elements.
    src_x: u16 = 3[13:0] in TO_SDMA6, 3[15:0] in SDMA7;
    /// First row in the source, in elements.
    src_y: u16 = 3[29:16] in TO_SDMA6, 3[31:16] in SDMA7;
    /// First slice in the source.
    src_z: u16 = 4[10:0] in SDMA4, 4[12:0] in SDMA5_TO_6, 4[13:0] in SDMA7;
    /// Distance between two rows of the source in elements.
    src_pitch: u32 (minus 1) = 4[31:13] in TO_SDMA6, 4[31:16] in SDMA7;
    /// Distance between two slices of the source in elements; 1 when only one is copied.
    src_slice_pitch: u64 (minus 1) = 5[27:0] in TO_SDMA6, 5[31:0] in SDMA7;
    /// First byte of the destination.
    dst_addr: u64 = 6[31:0] as dst_addr_31_0 | 7[31:0] << 32 as dst_addr_63_32;
    /// First column in the destination, in elements.
    dst_x: u16 = 8[13:0] in TO_SDMA6, 8[15:0] in SDMA7;
    /// First row in the destination, in elements.
    dst_y: u16 = 8[29:16] in TO_SDMA6, 8[31:16] in SDMA7;
    /// First slice in the destination.
    dst_z: u16 = 9[10:0] in SDMA4, 9[12:0] in SDMA5_TO_6, 9[13:0] in SDMA7;
    /// Distance between two rows of the destination in elements.
    dst_pitch: u32 (minus 1) = 9[31:13] in TO_SDMA6, 9[31:16] in SDMA7;
    /// Distance between two slices of the destination in elements; 1 when only one is copied.
    dst_slice_pitch: u64 (minus 1) = 10[27:0] in TO_SDMA6, 10[31:0] in SDMA7;
    /// Width of the box in elements.
    rect_x: u32 (minus 1) = 11[13:0] in TO_SDMA6, 11[15:0] in SDMA7;
    /// Height of the box in elements.
    rect_y: u32 (minus 1) = 11[29:16] in TO_SDMA6, 11[31:16] in SDMA7;
    /// Depth of the box in slices.
    rect_z: u16 (minus 1) = 12[10:0] in SDMA4, 12[12:0] in SDMA5_TO_6, 12[13:0] in SDMA7;
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 12[17:16] in TO_SDMA6;
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 12[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 12[21:20] in SDMA7;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 12[25:24] in TO_SDMA6;
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 12[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 12[29:28] in SDMA7;
}

packet! {
    /// Copies a box of elements between two linear surfaces, in the layout of engines before SDMA
    /// 4.
    pub struct CopyLinearSubwinBc: "COPY_LINEAR_SUBWIN_BC" = 1, 20, 13 dwords in SDMA5_TO_6;
    source "Linux navi10, v6_0_0: SDMA_PKT_COPY_LINEAR_SUBWIN_BC";
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    elementsize: u8 = 0[31:29];
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First column in the source, in elements.
    src_x: u16 = 3[13:0];
    /// First row in the source, in elements.
    src_y: u16 = 3[29:16];
    /// First slice in the source.
    src_z: u16 = 4[10:0];
    /// Distance between two rows of the source in elements.
    src_pitch: u16 = 4[26:13];
    /// Distance between two slices of the source in elements; 1 when only one is copied.
    src_slice_pitch: u32 = 5[27:0];
    /// First byte of the destination.
    dst_addr: u64 = 6[31:0] as dst_addr_31_0 | 7[31:0] << 32 as dst_addr_63_32;
    /// First column in the destination, in elements.
    dst_x: u16 = 8[13:0];
    /// First row in the destination, in elements.
    dst_y: u16 = 8[29:16];
    /// First slice in the destination.
    dst_z: u16 = 9[10:0];
    /// Distance between two rows of the destination in elements.
    dst_pitch: u16 = 9[26:13];
    /// Distance between two slices of the destination in elements; 1 when only one is copied.
    dst_slice_pitch: u32 = 10[27:0];
    /// Width of the box in elements.
    rect_x: u16 = 11[13:0];
    /// Height of the box in elements.
    rect_y: u16 = 11[29:16];
    /// Depth of the box in slices.
    rect_z: u16 = 12[10:0];
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 12[17:16];
    /// Of the destination. Not published beyond its name; drivers leave it clear.
    dst_ha: bool = 12[22:22] in SDMA5, 12[19:19] in SDMA6;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 12[25:24];
    /// Of the source. Not published beyond its name; drivers leave it clear.
    src_ha: bool = 12[30:30] in SDMA5, 12[27:27] in SDMA6;
}

packet! {
    /// Copies a box between two linear surfaces whose sizes do not fit COPY_LINEAR_SUBWIN:
    /// offsets and sizes have 32 bits, slice pitches 48. It has no element size. No public driver
    /// writes it and AMD does not say whether sizes are stored less one: they are as stored.
    pub struct CopyLinearSubwinLarge: "COPY_LINEAR_SUBWIN_LARGE" = 1, 36, 20 dwords in SDMA5_2_ON;
    source "Linux v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_LINEAR_SUBWIN_LARGE";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First column in the source, in elements.
    src_x: u32 = 3[31:0];
    /// First row in the source, in elements.
    src_y: u32 = 4[31:0];
    /// First slice in the source.
    src_z: u32 = 5[31:0];
    /// Distance between two rows of the source in elements.
    src_pitch: u32 = 6[31:0];
    /// Distance between two slices of the source in elements; 1 when only one is copied.
    src_slice_pitch: u64 =
        7[31:0] as src_slice_pitch_31_0 | 8[15:0] << 32 as src_slice_pitch_47_32;
    /// First byte of the destination.
    dst_addr: u64 = 9[31:0] as dst_addr_31_0 | 10[31:0] << 32 as dst_addr_63_32;
    /// First column in the destination, in elements.
    dst_x: u32 = 11[31:0];
    /// First row in the destination, in elements.
    dst_y: u32 = 12[31:0];
    /// First slice in the destination.
    dst_z: u32 = 13[31:0];
    /// Distance between two rows of the destination in elements.
    dst_pitch: u32 = 14[31:0];
    /// Distance between two slices of the destination in elements; 1 when only one is copied.
    dst_slice_pitch: u64 =
        15[31:0] as dst_slice_pitch_31_0 | 16[15:0] << 32 as dst_slice_pitch_47_32;
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 16[17:16] in SDMA5_2_TO_6;
    /// Cache policy of the destination.
    dst_policy: CachePolicy = 16[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 16[21:20] in SDMA7;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 16[25:24] in SDMA5_2_TO_6;
    /// Cache policy of the source.
    src_policy: CachePolicy = 16[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 16[29:28] in SDMA7;
    /// Width of the box in elements.
    rect_x: u32 = 17[31:0];
    /// Height of the box in elements.
    rect_y: u32 = 18[31:0];
    /// Depth of the box in slices.
    rect_z: u32 = 19[31:0];
}
