//! COMPUTE_*: the grid of a dispatch and how it starts.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX12, GFX10_11, GFX10_ON, GFX11, GFX11_ON, GFX12, GFX90A_ON, GFX94X_ON,
};

register! {
    /// Starts a dispatch; the last dword of DISPATCH_DIRECT and DISPATCH_INDIRECT has the same
    /// layout.
    pub struct ComputeDispatchInitiator: "COMPUTE_DISPATCH_INITIATOR"
        at 0x2e00 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: PAL, gfx9CmdUtil.cpp and gfx12CmdUtil.cpp";
    /// Whether to launch compute waves; drivers always set it.
    compute_shader_en: bool = 0[0:0];
    /// Whether the last workgroups of X, Y and Z have the sizes NUM_THREAD_PARTIAL.
    partial_tg_en: bool = 0[1:1];
    /// Whether the first workgroup is (0, 0, 0) rather than COMPUTE_START_*.
    force_start_at_000: bool = 0[2:2];
    /// Whether waves append to GDS in order (by its name).
    ordered_append_enbl: bool = 0[3:3];
    /// What the order is of (by its name; values are not documented).
    ordered_append_mode: bool = 0[4:4];
    /// Whether the dimensions count work-items rather than workgroups; the hardware then makes the
    /// last workgroups partial.
    use_thread_dimensions: bool = 0[5:5];
    /// 0 launches workgroups in order, 1 leaves the order to the dispatcher, which may be faster.
    order_mode: bool = 0[6:6];
    /// Whether to invalidate the volatile lines of the scalar cache first (by its name).
    scalar_l1_inv_vol: bool = 0[10:10];
    /// Whether to invalidate the volatile lines of the vector cache first (by its name).
    vector_l1_inv_vol: bool = 0[11:11];
    /// Whether workgroups are walked to and fro rather than always forwards; excludes PARTIAL_TG_EN
    /// and USE_THREAD_DIMENSIONS.
    ping_pong_en: bool = 0[12:12] in GFX12;
    /// Whether the dispatch is tunneled: its waves are let through ahead of others
    /// (COMPUTE_DISPATCH_TUNNEL).
    tunnel_enable: bool = 0[13:13] in GFX10_ON;
    /// Whether waves go on from saved state (by its name).
    restore: bool = 0[14:14];
    /// Whether waves have 32 lanes rather than 64.
    cs_w32_en: bool = 0[15:15] in GFX10_ON;
    /// Whether the program is a task (amplification) shader of a mesh pipeline.
    amp_shader_en: bool = 0[16:16] in GFX11_ON;
    /// Whether the command processor may not preempt within the dispatch when waves cannot be
    /// saved.
    disable_disp_prempt_en: bool = 0[17:17] in GFX11_ON;
    /// Whether shader engines get workgroups in rectangles (COMPUTE_DISPATCH_INTERLEAVE); excludes
    /// USE_THREAD_DIMENSIONS, PARTIAL_TG_EN and ORDERED_APPEND_ENBL.
    interleave_2d_en: bool = 0[18:18] in GFX12;
    /// The queue that thread traces name (by its name).
    ttrace_queue_id: u8 = 0[31:29] in GFX12;
}

register! {
    /// Size of the grid in X, Y and Z; dispatch packets have it too.
    pub struct ComputeDim: "COMPUTE_DIM_X"
        at 0x2e01 * 3 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Number of workgroups, or of work-items with USE_THREAD_DIMENSIONS. With a start other than 0
    /// it is where the grid ends.
    size: u32 = 0[31:0];
}

register! {
    /// First workgroup of the grid in X, Y and Z.
    pub struct ComputeStart: "COMPUTE_START_X"
        at 0x2e04 * 3 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The first workgroup's position, which FORCE_START_AT_000 overrides.
    start: u32 = 0[31:0];
}

register! {
    /// Size of a workgroup in X.
    pub struct ComputeNumThreadX: "COMPUTE_NUM_THREAD_X"
        at 0x2e07 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Work-items of a workgroup in X; the product of the three is 1 to 1024.
    num_thread_full: u16 = 0[15:0] in BEFORE_GFX12, 0[12:0] in GFX12;
    /// How work-items are mapped to lanes in two dimensions: bits of X that are interleaved (by its
    /// name); 0 is row by row.
    interleave_bits_x: u8 = 0[15:13] in GFX12;
    /// Work-items of the last workgroup in X, where PARTIAL_TG_EN says so.
    num_thread_partial: u16 = 0[31:16];
}

register! {
    /// Size of a workgroup in Y.
    pub struct ComputeNumThreadY: "COMPUTE_NUM_THREAD_Y"
        at 0x2e08 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Work-items of a workgroup in Y; the product of the three is 1 to 1024.
    num_thread_full: u16 = 0[15:0] in BEFORE_GFX12, 0[12:0] in GFX12;
    /// How work-items are mapped to lanes in two dimensions: bits of Y that are interleaved (by its
    /// name); 0 is row by row.
    interleave_bits_y: u8 = 0[15:13] in GFX12;
    /// Work-items of the last workgroup in Y, where PARTIAL_TG_EN says so.
    num_thread_partial: u16 = 0[31:16];
}

register! {
    /// Size of a workgroup in Z.
    pub struct ComputeNumThreadZ: "COMPUTE_NUM_THREAD_Z"
        at 0x2e09 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Work-items of a workgroup in Z; the product of the three is 1 to 1024.
    num_thread_full: u16 = 0[15:0];
    /// Work-items of the last workgroup in Z, where PARTIAL_TG_EN says so.
    num_thread_partial: u16 = 0[31:16];
}

register! {
    /// Size of the grid in X, Y and Z before scaling (by its name).
    pub struct ComputePrescaledDim: "COMPUTE_PRESCALED_DIM_X"
        at 0x2e35 * 3 in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// Number of workgroups.
    size: u32 = 0[31:0];
}

register! {
    /// How workgroups are dealt to shader engines.
    pub struct ComputeDispatchInterleave: "COMPUTE_DISPATCH_INTERLEAVE"
        at 0x2e2f in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// How much goes to one shader engine before the next gets some, in work-items; 1 deals single
    /// workgroups.
    interleave: u16 = 0[9:0] in GFX11;
    /// How much goes to one shader engine before the next gets some, without INTERLEAVE_2D_EN: 64
    /// to 512 work-items, or 1 for single workgroups.
    interleave_1d: u16 = 0[9:0] in GFX12;
    /// Binary logarithm of the width of the rectangle of workgroups that goes to one shader engine,
    /// with INTERLEAVE_2D_EN.
    interleave_2d_x_size: u8 = 0[19:16] in GFX12;
    /// Binary logarithm of the height of that rectangle.
    interleave_2d_y_size: u8 = 0[27:24] in GFX12;
}

register! {
    /// How tunneling (TUNNEL_ENABLE) ends.
    pub struct ComputeDispatchTunnel: "COMPUTE_DISPATCH_TUNNEL"
        at 0x2e7d in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// How long tunneling goes on after the dispatch (by its name; the unit is not documented).
    off_delay: u16 = 0[9:0] in GFX10_11, 0[12:0] in GFX12;
    /// Whether it ends at once (by its name).
    immediate: bool = 0[10:10] in GFX10_11;
}

register! {
    /// Low part of the address of the packet that is dispatched (by its name).
    pub struct ComputeDispatchPktAddrLo: "COMPUTE_DISPATCH_PKT_ADDR_LO"
        at 0x2e0e in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Low bits of the address; which of its bits bit 0 is, AMD does not say.
    data: u32 = 0[31:0];
}

register! {
    /// High part of the address of the packet that is dispatched (by its name).
    pub struct ComputeDispatchPktAddrHi: "COMPUTE_DISPATCH_PKT_ADDR_HI"
        at 0x2e0f in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// High bits of the address.
    data: u8 = 0[7:0];
}

register! {
    /// Number of the dispatch (by its name).
    pub struct ComputeDispatchId: "COMPUTE_DISPATCH_ID"
        at 0x2e20 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The number.
    dispatch_id: u32 = 0[31:0];
}

register! {
    /// Number of a workgroup (by its name).
    pub struct ComputeThreadgroupId: "COMPUTE_THREADGROUP_ID"
        at 0x2e21 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The number.
    threadgroup_id: u32 = 0[31:0];
}

register! {
    /// Index of the dispatch among those under way (CP_HQD_DDID_* count them; by its name).
    pub struct ComputeDdidIndex: "COMPUTE_DDID_INDEX"
        at 0x2e29 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The index.
    index: u16 = 0[10:0];
}

register! {
    /// How many workgroups in a row one XCC of a partition gets.
    pub struct ComputeTgChunkSize: "COMPUTE_TG_CHUNK_SIZE"
        at 0x2e27 in GFX94X_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Number of workgroups before the next XCC's turn; KFD sets 1 for AQL queues of several XCCs
    /// and 0 otherwise.
    tg_chunk_size: u16 = 0[15:0];
}

register! {
    /// The end of a dispatch (by its name).
    pub struct ComputeDispatchEnd: "COMPUTE_DISPATCH_END"
        at 0x2e7e in GFX90A_ON.or(GFX10_ON);
    source "Linux, amd/include/asic_reg/gc";
    /// The value written.
    data: u32 = 0[31:0];
}

register! {
    /// A place for writes that are to have no effect (by its name).
    pub struct ComputeNowhere: "COMPUTE_NOWHERE"
        at 0x2e7f in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// The value written.
    data: u32 = 0[31:0];
}
