//! WRITE: dwords of the packet to memory.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Writes the dwords that follow it to memory. Its arrival is not a completion: memory may
    /// see it before an earlier copy's bytes. Use [`Fence`](crate::packet::Fence) to tell that
    /// something is done.
    pub struct WriteUntiled: "WRITE_UNTILED" = 2, 0, 4 dwords + payload in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_WRITE_UNTILED";
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Compressed memory: when clear, writes past the compression; when set, writes without
    /// compressing (PAL). Linux sets it and calls it COMPRESS.
    nopte_comp: bool = 0[16:16] in SDMA7;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// First dword of the destination, a multiple of 4.
    dst_addr: u64 = 1[31:0] as dst_addr_31_0 | 2[31:0] << 32 as dst_addr_63_32;
    /// Number of dwords that follow.
    count: u32 (minus 1) = 3[19:0];
    /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it clear,
    /// as the page says so.
    sys: bool = 3[20:20] in SDMA7;
    /// Snoops the CPU's caches.
    snp: bool = 3[22:22] in SDMA7;
    /// The address is a guest physical one; clear for virtual addresses.
    gpa: bool = 3[23:23] in SDMA7;
    /// Byte swap of what is written; 0 for none, which is what drivers write.
    sw: u8 = 3[25:24] in TO_SDMA6;
    /// Cache policy.
    cache_policy: CachePolicy = 3[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 3[29:28] in SDMA7;
}

packet! {
    /// Writes the dwords that follow it to a tiled surface. No public driver writes it; that its
    /// count is stored less one is concluded from WRITE_UNTILED, which shares the field.
    pub struct WriteTiled: "WRITE_TILED" = 2, 1, 9 dwords + payload in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_WRITE_TILED";
    /// Not published beyond its name; drivers leave it clear.
    encrypt: bool = 0[16:16] in TO_SDMA6;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Number of the last mip level.
    mip_max: u8 = 0[23:20] in SDMA4, 5[19:16] in SDMA5_TO_6, 0[24:20] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// First byte of the destination.
    dst_addr: u64 = 1[31:0] as dst_addr_31_0 | 2[31:0] << 32 as dst_addr_63_32;
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
    /// Byte swap of what is written; 0 for none, which is what drivers write.
    sw: u8 = 7[25:24] in TO_SDMA6;
    /// Cache policy.
    cache_policy: CachePolicy = 7[28:26] in SDMA5_2_TO_6;
    /// Last-level cache policy of the destination.
    dst_mall_policy: MallPolicy = 7[29:28] in SDMA7;
    /// Number of dwords that follow.
    count: u32 (minus 1) = 8[19:0];
}

packet! {
    /// Writes the dwords that follow it to a tiled surface, in the layout of engines before SDMA
    /// 4. AMD does not say what its count counts, so its length is taken as unknown when streams
    /// are walked.
    pub struct WriteTiledBc: "WRITE_TILED_BC" = 2, 17, 9 dwords in SDMA5_TO_6;
    source "Linux navi10, v6_0_0: SDMA_PKT_WRITE_TILED_BC";
    /// First byte of the destination.
    dst_addr: u64 = 1[31:0] as dst_addr_31_0 | 2[31:0] << 32 as dst_addr_63_32;
    /// Width of the surface in elements.
    width: u16 = 3[13:0];
    /// Height of the surface in elements.
    height: u16 = 4[13:0];
    /// Depth of the surface, or its number of slices.
    depth: u16 = 4[26:16];
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    element_size: u8 = 5[2:0];
    /// Array mode of the surface (that of gfx6 to gfx8).
    array_mode: u8 = 5[6:3];
    /// Micro tile mode of the surface.
    mit_mode: u8 = 5[10:8];
    /// Tile split size of the surface.
    tilesplit_size: u8 = 5[13:11];
    /// Bank width of the surface.
    bank_w: u8 = 5[16:15];
    /// Bank height of the surface.
    bank_h: u8 = 5[19:18];
    /// Number of banks of the surface.
    num_bank: u8 = 5[22:21];
    /// Macro tile aspect of the surface.
    mat_aspt: u8 = 5[25:24];
    /// Pipe configuration of the surface.
    pipe_config: u8 = 5[30:26];
    /// First column in the surface, in elements.
    x: u16 = 6[13:0];
    /// First row in the surface, in elements.
    y: u16 = 6[29:16];
    /// First slice in the surface.
    z: u16 = 7[10:0];
    /// Byte swap of what is written; 0 for none, which is what drivers write.
    sw: u8 = 7[25:24];
    /// Count as stored, in bits from 2 upwards; AMD does not say of what.
    count: u32 = 8[21:2];
}
