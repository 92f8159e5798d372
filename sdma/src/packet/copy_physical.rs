//! Copies by physical address and page. User queues have no use for them.

use super::{L2Policy, MallPolicy, Mtype};
use crate::version::{Version, versions::*};

packet! {
    /// Copies the pages that were written to, by physical address. For the kernel driver only.
    pub struct CopyDirtyPage: "COPY_DIRTY_PAGE" = 1, 7, 7 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COPY_DIRTY_PAGE";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Copies all pages, not only those written to: so its name says.
    all: bool = 0[31:31];
    /// Number of bytes as stored; AMD does not say whether that is less one.
    count: u32 = 1[21:0];
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 2[3:2] in SDMA7;
    /// Memory type of the destination.
    dst_mtype: Mtype = 2[5:3] in SDMA5_TO_6;
    /// L2 policy of the destination.
    dst_l2_policy: L2Policy = 2[7:6] in SDMA5_TO_6;
    /// Last-level cache policy of the destination: keeps it out, as `llc_policy` elsewhere.
    dst_llc: bool = 2[8:8] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 2[11:10] in SDMA7;
    /// Memory type of the source.
    src_mtype: Mtype = 2[13:11] in SDMA5_TO_6;
    /// L2 policy of the source.
    src_l2_policy: L2Policy = 2[15:14] in SDMA5_TO_6;
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 2[17:16] in SDMA4.or(SDMA5_0), 2[18:17] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source: keeps it out, as `llc_policy` elsewhere.
    src_llc: bool = 2[16:16] in SDMA5_2_TO_6;
    /// Of the destination. Not published beyond its name; drivers leave it clear.
    dst_gcc: bool = 2[19:19];
    /// The destination is system memory.
    dst_sys: bool = 2[20:20];
    /// Snoops the CPU's caches for the destination.
    dst_snoop: bool = 2[22:22];
    /// The destination's address is a guest physical one.
    dst_gpa: bool = 2[23:23];
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 2[25:24] in TO_SDMA6;
    /// The source is system memory.
    src_sys: bool = 2[28:28];
    /// Snoops the CPU's caches for the source.
    src_snoop: bool = 2[30:30];
    /// The source's address is a guest physical one.
    src_gpa: bool = 2[31:31];
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 5[31:0] as dst_addr_31_0 | 6[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Copies bytes by physical address. For the kernel driver only.
    pub struct CopyPhysicalLinear: "COPY_PHYSICAL_LINEAR" = 1, 8, 7 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10: SDMA_PKT_COPY_PHYSICAL_LINEAR";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[19:19] in SDMA5_2_TO_6;
    /// Number of bytes as stored; AMD does not say whether that is less one.
    count: u32 = 1[21:0];
    /// Number of further address pairs. How they follow is not published: packets with any have
    /// no known length.
    addr_pair_num: u8 = 1[31:24] in SDMA5_2_TO_6;
    /// Memory type of the destination.
    dst_mtype: Mtype = 2[5:3] in SDMA5_TO_6;
    /// L2 policy of the destination.
    dst_l2_policy: L2Policy = 2[7:6] in SDMA5_TO_6;
    /// Last-level cache policy of the destination: keeps it out, as `llc_policy` elsewhere.
    dst_llc: bool = 2[8:8] in SDMA5_2_TO_6;
    /// Memory type of the source.
    src_mtype: Mtype = 2[13:11] in SDMA5_TO_6;
    /// L2 policy of the source.
    src_l2_policy: L2Policy = 2[15:14] in SDMA5_TO_6;
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 2[17:16] in SDMA4.or(SDMA5_0), 2[18:17] in SDMA5_2_TO_6;
    /// Last-level cache policy of the source: keeps it out, as `llc_policy` elsewhere.
    src_llc: bool = 2[16:16] in SDMA5_2_TO_6;
    /// Of the destination. Not published beyond its name; drivers leave it clear.
    dst_gcc: bool = 2[19:19];
    /// The destination is system memory.
    dst_sys: bool = 2[20:20];
    /// Not published beyond its name.
    dst_log: bool = 2[21:21];
    /// Snoops the CPU's caches for the destination.
    dst_snoop: bool = 2[22:22];
    /// The destination's address is a guest physical one.
    dst_gpa: bool = 2[23:23];
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 2[25:24];
    /// Of the source. Not published beyond its name; drivers leave it clear.
    src_gcc: bool = 2[27:27];
    /// The source is system memory.
    src_sys: bool = 2[28:28];
    /// Snoops the CPU's caches for the source.
    src_snoop: bool = 2[30:30];
    /// The source's address is a guest physical one.
    src_gpa: bool = 2[31:31];
    /// First byte of the source.
    src_addr: u64 = 3[31:0] as src_addr_31_0 | 4[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 5[31:0] as dst_addr_31_0 | 6[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Copies bytes by physical address: SDMA 7 has a dword about compression in it. For the
    /// kernel driver only.
    pub struct CopyPhysicalLinearMeta: "COPY_PHYSICAL_LINEAR.meta" = 1, 8, 8 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_COPY_PHYSICAL_LINEAR";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Not published beyond its name.
    nsd: bool = 0[28:28];
    /// Number of bytes as stored; AMD does not say whether that is less one.
    count: u32 = 1[21:0];
    /// Number of further address pairs. How they follow is not published: packets with any have
    /// no known length.
    addr_pair_num: u8 = 1[31:24];
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 2[9:8];
    /// Last-level cache policy of the source.
    src_mall_policy: MallPolicy = 2[17:16];
    /// Of the destination. Not published beyond its name; drivers leave it clear.
    dst_gcc: bool = 2[19:19];
    /// The destination is system memory.
    dst_sys: bool = 2[20:20];
    /// Not published beyond its name.
    dst_log: bool = 2[21:21];
    /// Snoops the CPU's caches for the destination.
    dst_snoop: bool = 2[22:22];
    /// The destination's address is a guest physical one.
    dst_gpa: bool = 2[23:23];
    /// Of the source. Not published beyond its name; drivers leave it clear.
    src_gcc: bool = 2[27:27];
    /// The source is system memory.
    src_sys: bool = 2[28:28];
    /// Snoops the CPU's caches for the source.
    src_snoop: bool = 2[30:30];
    /// The source's address is a guest physical one.
    src_gpa: bool = 2[31:31];
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 3[5:0];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 3[11:9];
    /// How the source is read: 0 past the compression, 2 decompressed (Linux).
    read_compression_mode: u8 = 3[17:16];
    /// How the destination is written: 1 compressed, 2 not (Linux).
    write_compression_mode: u8 = 3[19:18];
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 3[25:24];
    /// Largest uncompressed block: 128 bytes when clear, 256 when set.
    max_uncomp_block_size: bool = 3[26:26];
    /// Compression: the fields of this dword count.
    dcc: bool = 3[31:31];
    /// First byte of the source.
    src_addr: u64 = 4[31:0] as src_addr_31_0 | 5[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 6[31:0] as dst_addr_31_0 | 7[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Moves pages between local and system memory and rewrites page table entries. For the
    /// kernel driver only. How many dwords follow with several addresses is not published.
    pub struct CopyPageTransfer: "COPY_PAGE_TRANSFER" = 1, 12, 11 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_COPY_PAGE_TRANSFER";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Size of a page, as stored. The values are not published.
    page_size: u8 = 0[27:24];
    /// Direction of the move. Which value is which is not published.
    d: bool = 0[31:31];
    /// Last-level cache policy for page table entries.
    pte_mall_policy: MallPolicy = 1[1:0];
    /// The page table entries are in system memory.
    pte_sys: bool = 1[4:4];
    /// Snoops the CPU's caches for page table entries.
    pte_snp: bool = 1[6:6];
    /// Last-level cache policy for local memory.
    localmem_mall_policy: MallPolicy = 1[9:8];
    /// Snoops the CPU's caches for local memory.
    localmem_snp: bool = 1[14:14];
    /// Last-level cache policy for system memory.
    sysmem_mall_policy: MallPolicy = 1[17:16];
    /// Snoops the CPU's caches for system memory.
    sysmem_snp: bool = 1[22:22];
    /// Number of system memory addresses, as stored.
    sysmem_addr_array_num: u8 = 1[31:24];
    /// Data format of the compressed surface, as colour buffers have it.
    data_format: u8 = 2[5:0];
    /// Number type of the compressed surface, as colour buffers have it.
    number_type: u8 = 2[11:9];
    /// How the source is read: 0 past the compression, 2 decompressed (Linux).
    read_compression_mode: u8 = 2[17:16];
    /// How the destination is written: 1 compressed, 2 not (Linux).
    write_compression_mode: u8 = 2[19:18];
    /// Largest compressed block: 0 is 64 bytes, 1 is 128, 2 is 256.
    max_comp_block_size: u8 = 2[25:24];
    /// Largest uncompressed block: 128 bytes when clear, 256 when set.
    max_uncomp_block_size: bool = 2[26:26];
    /// Compression: the fields of this dword count.
    dcc: bool = 2[31:31];
    /// Mask of the entries' bits. Whether of those that change is not published.
    mask: u64 = 3[31:0] as mask_31_0 | 4[31:0] << 32 as mask_63_32;
    /// First page table entry, a multiple of 8.
    pte_addr: u64 = 5[31:3] << 3 as pte_addr_31_3 | 6[31:0] << 32 as pte_addr_63_32;
    /// The page in local memory.
    localmem_addr: u64 = 7[31:0] as localmem_addr_31_0 | 8[31:0] << 32 as localmem_addr_63_32;
    /// The page in system memory.
    sysmem_addr: u64 = 9[31:0] as sysmem_addr_31_0 | 10[31:0] << 32 as sysmem_addr_63_32;
}
