//! Registers that select an instance and read or command its waves.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX11, BEFORE_GFX12, GFX9, GFX10_11, GFX10_ON, GFX11_ON, GFX12,
};

crate::names! {
    /// What SQ_CMD has waves do. Those are named whose number is the same in all hardware.
    pub struct WaveCommand(u8) {
        /// Nothing.
        NULL = 0,
        /// Halt, or go on, as bit 0 of the data says.
        SETHALT = 1,
        /// Save their state.
        SAVECTX = 2,
        /// End.
        KILL = 3,
        /// Enter the trap handler, with the data as trap number.
        TRAP = 5,
        /// Halt on fatal errors, or not, as bit 0 of the data says.
        SETFATALHALT = 7,
    }
}

crate::names! {
    /// Which waves SQ_CMD means.
    pub struct WaveSelection(u8) {
        /// The one with the number.
        SINGLE = 0,
        /// All.
        BROADCAST = 1,
        /// Those of the queue.
        BROADCAST_QUEUE = 2,
        /// Those of the pipe.
        BROADCAST_PIPE = 3,
        /// Those of the micro engine.
        BROADCAST_ME = 4,
    }
}

register! {
    /// Which instances of a block reads and writes of registers reach; index and broadcast at each
    /// level.
    pub struct GrbmGfxIndex: "GRBM_GFX_INDEX"
        at 0xc200 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c gfx_v9_0_select_se_sh";
    /// Number of the instance: a CU or WGP and what it has, or another block's.
    instance_index: u8 =
        0[7:0] in BEFORE_GFX11.or(Generation::Gfx11.set()),
        0[6:0] in GFX12.or(Generation::Gfx115.set());
    /// Number of the shader array (gfx9: SH) in its engine.
    sa_index: u8 = 0[15:8] as sh_index in GFX9, 0[15:8] in GFX10_11, 0[9:8] in GFX12;
    /// Number of the shader engine.
    se_index: u8 = 0[23:16] in BEFORE_GFX12, 0[19:16] in GFX12;
    /// Whether writes go to all shader arrays.
    sa_broadcast_writes: bool = 0[29:29] as sh_broadcast_writes in GFX9, 0[29:29] in GFX10_ON;
    /// Whether writes go to all instances.
    instance_broadcast_writes: bool = 0[30:30];
    /// Whether writes go to all shader engines.
    se_broadcast_writes: bool = 0[31:31];
}

register! {
    /// Which queue's and which address space's registers are seen (CP_HQD_*, SH_MEM_*,
    /// SQ_SHADER_*).
    pub struct GrbmGfxCntl: "GRBM_GFX_CNTL"
        at 0x2022 in BEFORE_GFX11, 0xa900 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: soc15.c soc15_grbm_select";
    /// Pipe.
    pipeid: u8 = 0[1:0];
    /// Micro engine: 0 graphics, 1 and 2 compute.
    meid: u8 = 0[3:2];
    /// Address space.
    vmid: u8 = 0[7:4];
    /// Queue of the pipe.
    queueid: u8 = 0[10:8];
    /// Context (by its name).
    ctxid: u8 = 0[13:11] in GFX11_ON;
}

register! {
    /// Commands waves.
    pub struct SqCmd: "SQ_CMD"
        at 0x237b in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: SQ_IND_CMD_* in the enumerations";
    /// What they do.
    cmd: WaveCommand = 0[2:0] in GFX9, 0[3:0] in GFX10_ON;
    /// Which waves are meant.
    mode: WaveSelection = 0[6:4];
    /// Whether only waves of VM_ID are meant.
    check_vmid: bool = 0[7:7];
    /// Data of the command.
    data: u8 = 0[11:8];
    /// Number of the wave in its SIMD.
    wave_id: u8 = 0[19:16] in GFX9, 0[20:16] in GFX10_ON;
    /// SIMD of the wave.
    simd_id: u8 = 0[21:20] in GFX9;
    /// Queue of the waves.
    queue_id: u8 = 0[26:24];
    /// Address space of the waves.
    vm_id: u8 = 0[31:28];
}

register! {
    /// Which register of which wave SQ_IND_DATA reads.
    pub struct SqIndIndex: "SQ_IND_INDEX"
        at 0x2378 in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c wave_read_ind, gfx_v10_0.c";
    /// Number of the wave in its SIMD.
    wave_id: u8 = 0[3:0] in GFX9, 0[4:0] in GFX10_ON;
    /// SIMD of the wave.
    simd_id: u8 = 0[5:4] in GFX9;
    /// Lane, for VGPRs.
    workitem_id: u8 = 0[11:6] as thread_id in GFX9, 0[10:5] in GFX10_ON;
    /// Whether each read goes on to the next register.
    auto_incr: bool = 0[12:12] in GFX9, 0[11:11] in GFX10_ON;
    /// Whether to read although the wave does not halt.
    force_read: bool = 0[13:13] in GFX9;
    /// Whether the last read got no answer.
    read_timeout: bool = 0[14:14] in GFX9;
    /// Whether the index is not one of a wave.
    unindexed: bool = 0[15:15] in GFX9;
    /// The register: SQ_WAVE_*, an SGPR from 0x200 on, a VGPR from 0x400 on.
    index: u16 = 0[31:16];
}

register! {
    /// The register of a wave that SQ_IND_INDEX selects.
    pub struct SqIndData: "SQ_IND_DATA"
        at 0x2379 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// What it holds.
    data: u32 = 0[31:0];
}
