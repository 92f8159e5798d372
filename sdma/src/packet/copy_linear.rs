//! COPY_LINEAR and its kin: bytes from one place to another, or to two.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Copies bytes. Any alignment; where source, destination and length are multiples of 4 the
    /// engine moves dwords by itself, which is faster. Packets of one queue may overlap each
    /// other: a FENCE behind it, not the next copy, says that it is done.
    pub struct CopyLinear: "COPY_LINEAR" = 1, 0, 7 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_LINEAR";
    fixed 0x0800ffff = 0x00000000;
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Copies from the last byte to the first, for a destination that overlaps the source from
    /// above.
    backwards: bool = 0[25:25] in SDMA5_ON;
    /// Number of bytes.
    count: u32 (minus 1) = 1[21:0] in SDMA4_0.or(SDMA5_0), 1[29:0] in SDMA4_4.or(SDMA5_2_ON);
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 2[17:16] in TO_SDMA6;
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 2[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 2[21:20] in SDMA7;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 2[25:24] in TO_SDMA6;
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 2[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 2[29:28] in SDMA7;
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 5[31:0] as dst_addr_31_0 | 6[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Copies bytes of memory that may be compressed: COPY_LINEAR with a further dword, which is
    /// there when bit 19 is set (AMD's names for the bit: `dcc` in PAL, CPV in Linux). Linux
    /// writes every copy of 7.0 so, with that dword zero for memory that is not compressed.
    pub struct CopyLinearMeta: "COPY_LINEAR.meta" = 1, 0, 8 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_COPY_LINEAR";
    fixed 0x0808ffff = 0x00080000;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Copies from the last byte to the first, for a destination that overlaps the source from
    /// above.
    backwards: bool = 0[25:25];
    /// Number of bytes.
    count: u32 (minus 1) = 1[29:0];
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 2[21:20];
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 2[29:28];
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 5[31:0] as dst_addr_31_0 | 6[31:0] << 32 as dst_addr_63_32;
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 7[5:0];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 7[11:9];
    /// How the source is read: 0 past the compression, 2 decompressed (Linux).
    read_compression_mode: u8 = 7[17:16];
    /// How the destination is written: 1 compressed, 2 not (Linux).
    write_compression_mode: u8 = 7[19:18];
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 7[25:24];
    /// Largest uncompressed block: 128 bytes when clear, 256 when set.
    max_uncomp_block_size: bool = 7[26:26];
}

packet! {
    /// Copies bytes to two places: COPY_LINEAR with the broadcast bit and a second destination.
    pub struct CopyBroadcastLinear: "COPY_BROADCAST_LINEAR" = 1, 0, 9 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_BROADCAST_LINEAR";
    fixed 0x0800ffff = 0x08000000;
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Number of bytes.
    count: u32 (minus 1) = 1[21:0] in SDMA4.or(SDMA5_0), 1[29:0] in SDMA5_2_ON;
    /// Byte swap of the second destination; 0 for none, which is what drivers write.
    dst2_sw: u8 = 2[9:8] in TO_SDMA6;
    /// Cache policy of the second destination.
    dst2_cache_policy: CachePolicy = 2[12:10] in SDMA5_2_TO_6;
    /// Last-level cache policy of the second destination.
    dst2_mall_policy: MallPolicy = 2[13:12] in SDMA7;
    /// Byte swap of the first destination; 0 for none, which is what drivers write.
    dst1_sw: u8 = 2[17:16] in TO_SDMA6;
    /// Cache policy of the first destination.
    dst1_cache_policy: CachePolicy = 2[20:18] in SDMA5_2_TO_6;
    /// Last-level cache policy of the first destination.
    dst1_mall_policy: MallPolicy = 2[21:20] in SDMA7;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 2[25:24] in TO_SDMA6;
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 2[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 2[29:28] in SDMA7;
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the first destination.
    dst1_addr: u64 = 5[31:0] as dst1_addr_31_0 | 6[31:0] << 32 as dst1_addr_63_32;
    /// First byte of the second destination.
    dst2_addr: u64 = 7[31:0] as dst2_addr_31_0 | 8[31:0] << 32 as dst2_addr_63_32;
}

packet! {
    /// Copies bytes, in the layout of engines before SDMA 4 ("BC": backward compatible).
    pub struct CopyLinearBc: "COPY_LINEAR_BC" = 1, 16, 7 dwords in SDMA5_TO_6;
    source "Linux navi10, v6_0_0: SDMA_PKT_COPY_LINEAR_BC";
    /// Number of bytes. AMD does not say whether it is stored less one: this is as stored.
    count: u32 = 1[21:0];
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 2[17:16];
    /// Of the destination. Not published beyond its name; drivers leave it clear.
    dst_ha: bool = 2[22:22] in SDMA5, 2[19:19] in SDMA6;
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 2[25:24];
    /// Of the source. Not published beyond its name; drivers leave it clear.
    src_ha: bool = 2[30:30] in SDMA5, 2[27:27] in SDMA6;
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 5[31:0] as dst_addr_31_0 | 6[31:0] << 32 as dst_addr_63_32;
}
