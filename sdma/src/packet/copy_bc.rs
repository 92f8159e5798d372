//! Copies and writes of tiled surfaces as engines before SDMA 4 had them. SDMA 5 and 6 still take them.

use crate::version::{Version, versions::*};

/// Declares a form of COPY_TILED_BC: its head, the fields that all forms have, then its own.
macro_rules! tiled_bc {
    ({ $($head:tt)* } $($own:tt)*) => {
        packet! {
            $($head)*
            /// Copies from the tiled surface to linear memory; the other way when clear.
            detile: bool = 0[31:31];
            /// First byte of the tiled surface.
            tiled_addr: u64 = 1[31:0] as tiled_addr_31_0 | 2[31:0] << 32 as tiled_addr_63_32;
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
            /// Byte swap of the linear memory; 0 for none, which is what drivers write.
            linear_sw: u8 = 7[17:16];
            /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
            tile_sw: u8 = 7[25:24];
            /// First byte of the linear memory.
            linear_addr: u64 = 8[31:0] as linear_addr_31_0 | 9[31:0] << 32 as linear_addr_63_32;
            /// Distance between two rows of the linear memory in elements.
            linear_pitch: u32 = 10[18:0];
            $($own)*
        }
    };
}

tiled_bc! {
    {
        /// Copies bytes between linear memory and a tiled surface, in the layout of engines
        /// before SDMA 4.
        pub struct CopyTiledBc: "COPY_TILED_BC" = 1, 17, 12 dwords in SDMA5;
        source "Linux navi10: SDMA_PKT_COPY_TILED_BC";
    }
    /// Count as stored, in bits from 2 upwards; AMD does not say of what.
    count: u32 = 11[21:2];
}

tiled_bc! {
    {
        /// COPY_TILED_BC of SDMA 6, which has a slice pitch.
        pub struct CopyTiledBcSlice: "COPY_TILED_BC.slice" = 1, 17, 13 dwords in SDMA6;
        source "Linux v6_0_0: SDMA_PKT_COPY_TILED_BC";
    }
    /// Distance between two slices of the linear memory in elements; 1 when only one is copied.
    linear_slice_pitch: u32 = 11[31:0];
    /// Count as stored, in bits from 2 upwards; AMD does not say of what.
    count: u32 = 12[21:2];
}

packet! {
    /// Copies a box between a linear and a tiled surface, in the layout of engines before SDMA 4.
    pub struct CopyTiledSubwinBc: "COPY_TILED_SUBWIN_BC" = 1, 21, 14 dwords in SDMA5_TO_6;
    source "Linux navi10, v6_0_0: SDMA_PKT_COPY_TILED_SUBWIN_BC";
    /// Copies from the tiled surface to linear memory; the other way when clear.
    detile: bool = 0[31:31];
    /// First byte of the tiled surface.
    tiled_addr: u64 = 1[31:0] as tiled_addr_31_0 | 2[31:0] << 32 as tiled_addr_63_32;
    /// First column in the tiled surface, in elements.
    tiled_x: u16 = 3[13:0];
    /// First row in the tiled surface, in elements.
    tiled_y: u16 = 3[29:16];
    /// First slice in the tiled surface.
    tiled_z: u16 = 4[10:0];
    /// Width of the surface in elements.
    width: u16 = 4[29:16];
    /// Height of the surface in elements.
    height: u16 = 5[13:0];
    /// Depth of the surface, or its number of slices.
    depth: u16 = 5[26:16];
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    element_size: u8 = 6[2:0];
    /// Array mode of the surface (that of gfx6 to gfx8).
    array_mode: u8 = 6[6:3];
    /// Micro tile mode of the surface.
    mit_mode: u8 = 6[10:8];
    /// Tile split size of the surface.
    tilesplit_size: u8 = 6[13:11];
    /// Bank width of the surface.
    bank_w: u8 = 6[16:15];
    /// Bank height of the surface.
    bank_h: u8 = 6[19:18];
    /// Number of banks of the surface.
    num_bank: u8 = 6[22:21];
    /// Macro tile aspect of the surface.
    mat_aspt: u8 = 6[25:24];
    /// Pipe configuration of the surface.
    pipe_config: u8 = 6[30:26];
    /// First byte of the linear memory.
    linear_addr: u64 = 7[31:0] as linear_addr_31_0 | 8[31:0] << 32 as linear_addr_63_32;
    /// First column in the linear memory, in elements.
    linear_x: u16 = 9[13:0];
    /// First row in the linear memory, in elements.
    linear_y: u16 = 9[29:16];
    /// First slice in the linear memory.
    linear_z: u16 = 10[10:0];
    /// Distance between two rows of the linear memory in elements.
    linear_pitch: u16 = 10[29:16];
    /// Distance between two slices of the linear memory in elements; 1 when only one is copied.
    linear_slice_pitch: u32 = 11[27:0];
    /// Width of the box in elements.
    rect_x: u16 = 12[13:0];
    /// Height of the box in elements.
    rect_y: u16 = 12[29:16];
    /// Depth of the box in slices.
    rect_z: u16 = 13[10:0];
    /// Byte swap of the linear memory; 0 for none, which is what drivers write.
    linear_sw: u8 = 13[17:16];
    /// Byte swap of the tiled surface; 0 for none, which is what drivers write.
    tile_sw: u8 = 13[25:24];
}

packet! {
    /// Copies a box between two tiled surfaces, in the layout of engines before SDMA 4.
    pub struct CopyT2tBc: "COPY_T2T_BC" = 1, 22, 15 dwords in SDMA5_TO_6;
    source "Linux navi10, v6_0_0: SDMA_PKT_COPY_T2T_BC";
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First column in the source, in elements.
    src_x: u16 = 3[13:0];
    /// First row in the source, in elements.
    src_y: u16 = 3[29:16];
    /// First slice in the source.
    src_z: u16 = 4[10:0];
    /// Width of the source in elements.
    src_width: u16 = 4[29:16];
    /// Height of the source in elements.
    src_height: u16 = 5[13:0];
    /// Depth of the source, or its number of slices.
    src_depth: u16 = 5[26:16];
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    src_element_size: u8 = 6[2:0];
    /// Array mode of the source surface (that of gfx6 to gfx8).
    src_array_mode: u8 = 6[6:3];
    /// Micro tile mode of the source surface.
    src_mit_mode: u8 = 6[10:8];
    /// Tile split size of the source surface.
    src_tilesplit_size: u8 = 6[13:11];
    /// Bank width of the source surface.
    src_bank_w: u8 = 6[16:15];
    /// Bank height of the source surface.
    src_bank_h: u8 = 6[19:18];
    /// Number of banks of the source surface.
    src_num_bank: u8 = 6[22:21];
    /// Macro tile aspect of the source surface.
    src_mat_aspt: u8 = 6[25:24];
    /// Pipe configuration of the source surface.
    src_pipe_config: u8 = 6[30:26];
    /// First byte of the destination.
    dst_addr: u64 = 7[31:0] as dst_addr_31_0 | 8[31:0] << 32 as dst_addr_63_32;
    /// First column in the destination, in elements.
    dst_x: u16 = 9[13:0];
    /// First row in the destination, in elements.
    dst_y: u16 = 9[29:16];
    /// First slice in the destination.
    dst_z: u16 = 10[10:0];
    /// Width of the destination in elements.
    dst_width: u16 = 10[29:16];
    /// Height of the destination in elements.
    dst_height: u16 = 11[13:0];
    /// Depth of the destination, or its number of slices.
    dst_depth: u16 = 11[27:16];
    /// Size of an element as a power of two: 0 is 1 byte, 4 is 16 bytes.
    dst_element_size: u8 = 12[2:0];
    /// Array mode of the destination surface (that of gfx6 to gfx8).
    dst_array_mode: u8 = 12[6:3];
    /// Micro tile mode of the destination surface.
    dst_mit_mode: u8 = 12[10:8];
    /// Tile split size of the destination surface.
    dst_tilesplit_size: u8 = 12[13:11];
    /// Bank width of the destination surface.
    dst_bank_w: u8 = 12[16:15];
    /// Bank height of the destination surface.
    dst_bank_h: u8 = 12[19:18];
    /// Number of banks of the destination surface.
    dst_num_bank: u8 = 12[22:21];
    /// Macro tile aspect of the destination surface.
    dst_mat_aspt: u8 = 12[25:24];
    /// Pipe configuration of the destination surface.
    dst_pipe_config: u8 = 12[30:26];
    /// Width of the box in elements.
    rect_x: u16 = 13[13:0];
    /// Height of the box in elements.
    rect_y: u16 = 13[29:16];
    /// Depth of the box in slices.
    rect_z: u16 = 14[10:0];
    /// Byte swap of the destination; 0 for none, which is what drivers write.
    dst_sw: u8 = 14[17:16];
    /// Byte swap of the source; 0 for none, which is what drivers write.
    src_sw: u8 = 14[25:24];
}
