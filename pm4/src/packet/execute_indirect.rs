//! EXECUTE_INDIRECT_V2: dispatches whose arguments a shader wrote.

use crate::generation::{Generation, generations};

packet! {
    /// EXECUTE_INDIRECT_V2: runs several grids, for each of which sizes and user data are in memory.
    pub struct ExecuteIndirectV2: "EXECUTE_INDIRECT_V2" = 0xb4, 13 dwords + payload in generations::GFX12;
    source "PAL, PM4_MEC_EXECUTE_INDIRECT_V2 of gfx12";
    /// How many grids is in memory.
    count_indirect_enable: bool = 1[0:0];
    /// User data of a grid, in dwords.
    userdata_dw_count: u8 = 1[5:1];
    /// Tells shaders which grid they are of.
    command_index_enable: bool = 1[6:6];
    /// Registers that point at spilled user data: 0 to 2.
    num_spill_regs: u8 = 1[9:8];
    /// Copies to memory before the first grid.
    init_mem_copy_count: u8 = 1[12:10];
    /// Copies to memory before each grid.
    update_mem_copy_count: u8 = 1[18:16];
    /// What is run: 2 a dispatch, 5 task and mesh shaders.
    operation: u8 = 1[21:19];
    /// Which stages get user data: 0 compute alone.
    userdata_scatter_mode: u8 = 1[25:23];
    /// Marks each grid in thread traces.
    thread_trace_enable: bool = 1[31:31];
    /// Address of how many grids, a multiple of 4.
    count_addr: u64 = 2[31:2] << 2 as count_addr_lo | 3[15:0] << 32 as count_addr_hi;
    /// How many grids, or how many at most.
    max_count: u32 = 4[31:0];
    /// From the arguments of one grid to the next, in bytes.
    stride: u32 = 5[31:0];
    /// Address of the arguments, a multiple of 4.
    data_addr: u64 = 6[31:2] << 2 as data_addr_lo | 7[15:0] << 32 as data_addr_hi;
    /// Offset of the user data in the arguments, in bytes.
    userdata_offset: u16 = 8[31:16];
    /// Address of the table of spilled user data, a multiple of 4.
    spill_table_addr: u64 = 9[31:2] << 2 as spill_table_addr_lo | 10[15:0] << 32 as spill_table_addr_hi;
    /// From the spilled user data of one grid to the next, in bytes.
    spill_table_stride: u16 = 11[31:16];
    /// First register that points at spilled user data, in dwords from 0x2c00.
    spill_compute_reg0: u16 = 12[15:0];
    /// Second register that points at spilled user data.
    spill_compute_reg1: u16 = 12[31:16];
}
