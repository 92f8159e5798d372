//! DISPATCH_DIRECT, DISPATCH_INDIRECT: run the kernel that the COMPUTE_* registers describe.

use crate::generation::{Generation, generations};

packet! {
    /// DISPATCH_DIRECT: runs a grid of workgroups.
    pub struct DispatchDirect: "DISPATCH_DIRECT" = 0x15, 5 dwords in generations::ALL;
    source "PAL, PM4_MEC_DISPATCH_DIRECT";
    /// Length in x: workgroups, or work-items when the initiator has USE_THREAD_DIMENSIONS.
    dim_x: u32 = 1[31:0];
    /// Length in y, likewise.
    dim_y: u32 = 2[31:0];
    /// Length in z, likewise.
    dim_z: u32 = 3[31:0];
    /// Register COMPUTE_DISPATCH_INITIATOR.
    dispatch_initiator: u32 = 4[31:0];
}

impl DispatchDirect {
    /// A grid of that size, with that value of COMPUTE_DISPATCH_INITIATOR.
    pub const fn new([dim_x, dim_y, dim_z]: [u32; 3], dispatch_initiator: u32) -> DispatchDirect {
        DispatchDirect { dim_x, dim_y, dim_z, dispatch_initiator, ..DispatchDirect::ZERO }
    }
}

packet! {
    /// DISPATCH_INDIRECT: runs a grid of workgroups whose size is in memory, as compute queues take it.
    pub struct DispatchIndirect: "DISPATCH_INDIRECT" = 0x16, 4 dwords in generations::ALL;
    source "PAL, PM4_MEC_DISPATCH_INDIRECT";
    /// Address of the three dwords x, y, z; a multiple of 4.
    addr: u64 = 1[31:0] as addr_lo | 2[31:0] << 32 as addr_hi;
    /// Register COMPUTE_DISPATCH_INITIATOR.
    dispatch_initiator: u32 = 3[31:0];
}

packet! {
    /// DISPATCH_INDIRECT as graphics queues take it: the size is at an offset from SET_BASE's address.
    pub struct DispatchIndirectOffset: "DISPATCH_INDIRECT.offset" = 0x16, 3 dwords in generations::ALL;
    source "PAL, PM4_ME_DISPATCH_INDIRECT";
    /// Offset of the three dwords x, y, z, in bytes.
    data_offset: u32 = 1[31:0];
    /// Register COMPUTE_DISPATCH_INITIATOR.
    dispatch_initiator: u32 = 2[31:0];
}

packet! {
    /// DISPATCH_TASK_STATE_INIT: where the rings between task and mesh shaders are described.
    pub struct DispatchTaskStateInit: "DISPATCH_TASK_STATE_INIT" = 0xa9, 3 dwords in generations::GFX10_ON;
    source "PAL, PM4_MEC_DISPATCH_TASK_STATE_INIT";
    /// Address of the description, a multiple of 256.
    control_buf_addr: u64 = 1[31:8] << 8 as control_buf_addr_lo | 2[31:0] << 32 as control_buf_addr_hi;
}

packet! {
    /// DISPATCH_TASKMESH_DIRECT_ACE: runs task shaders, the compute side of task and mesh shaders.
    pub struct DispatchTaskmeshDirectAce: "DISPATCH_TASKMESH_DIRECT_ACE" = 0xaa, 6 dwords in generations::GFX10_ON;
    source "PAL, PM4_MEC_DISPATCH_TASKMESH_DIRECT_ACE";
    /// Workgroups in x.
    x_dim: u32 = 1[31:0];
    /// Workgroups in y.
    y_dim: u32 = 2[31:0];
    /// Workgroups in z.
    z_dim: u32 = 3[31:0];
    /// Register COMPUTE_DISPATCH_INITIATOR.
    dispatch_initiator: u32 = 4[31:0];
    /// The user-data register that gets the index in the ring, in dwords from 0x2c00.
    ring_entry_loc: u16 = 5[15:0];
}

packet! {
    /// DISPATCH_TASKMESH_INDIRECT_MULTI_ACE: runs several grids of task shaders whose sizes are in memory.
    pub struct DispatchTaskmeshIndirectMultiAce: "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE" = 0xad, 11 dwords
        in generations::GFX10_ON;
    source "PAL, PM4_MEC_DISPATCH_TASKMESH_INDIRECT_MULTI_ACE";
    /// Address of the sizes, a multiple of 4.
    data_addr: u64 = 1[31:2] << 2 as data_addr_lo | 2[31:0] << 32 as data_addr_hi;
    /// The user-data register that gets the index in the ring, in dwords from 0x2c00.
    ring_entry_loc: u16 = 3[15:0];
    /// Marks each grid in thread traces.
    thread_trace_marker_enable: bool = 4[0:0];
    /// How many grids is in memory.
    count_indirect_enable: bool = 4[1:1];
    /// Tells shaders which grid they are of.
    draw_index_enable: bool = 4[2:2];
    /// Tells shaders the size of their grid.
    compute_xyz_dim_enable: bool = 4[3:3];
    /// The user-data register that gets the index of the grid, in dwords from 0x2c00.
    dispatch_index_loc: u16 = 4[31:16];
    /// The first of three user-data registers that get the size, in dwords from 0x2c00.
    compute_xyz_dim_loc: u16 = 5[15:0];
    /// How many grids, or how many at most.
    count: u32 = 6[31:0];
    /// Address of how many grids, a multiple of 4.
    count_addr: u64 = 7[31:2] << 2 as count_addr_lo | 8[31:0] << 32 as count_addr_hi;
    /// From one size to the next, in bytes.
    stride: u32 = 9[31:0];
    /// Register COMPUTE_DISPATCH_INITIATOR.
    dispatch_initiator: u32 = 10[31:0];
}
