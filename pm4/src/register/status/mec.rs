//! CP_MEC*: the micro engines that run the firmware of compute queues (MEC).

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX12, GFX9, GFX10_11, GFX10_ON, GFX11_ON, GFX12, GFX103_ON,
};

register! {
    /// Stops and resets micro engines.
    pub struct CpMecCntl: "CP_MEC_CNTL"
        at 0x208d in ALL.without(GFX103_ON), 0x21b5 in Generation::Gfx103.set(), 0xa802 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether to invalidate the instruction cache.
    mec_invalidate_icache: bool = 0[4:4] in GFX9, 0[27:27] in GFX10_ON;
    /// Whether pipe 0 of micro engine 1 is held in reset.
    mec_me1_pipe0_reset: bool = 0[16:16];
    /// Whether pipe 1 of micro engine 1 is held in reset.
    mec_me1_pipe1_reset: bool = 0[17:17];
    /// Whether pipe 2 of micro engine 1 is held in reset.
    mec_me1_pipe2_reset: bool = 0[18:18] in BEFORE_GFX12;
    /// Whether pipe 3 of micro engine 1 is held in reset.
    mec_me1_pipe3_reset: bool = 0[19:19] in BEFORE_GFX12;
    /// Whether pipe 0 of micro engine 2 is held in reset.
    mec_me2_pipe0_reset: bool = 0[20:20] in BEFORE_GFX12;
    /// Whether pipe 1 of micro engine 2 is held in reset.
    mec_me2_pipe1_reset: bool = 0[21:21] in BEFORE_GFX12;
    /// Whether pipe 2 of micro engine 2 is held in reset.
    mec_me2_pipe2_reset: bool = 0[22:22] in GFX10_11;
    /// Whether pipe 3 of micro engine 2 is held in reset.
    mec_me2_pipe3_reset: bool = 0[23:23] in GFX10_11;
    /// Whether micro engine 2 is halted.
    mec_me2_halt: bool = 0[28:28] in BEFORE_GFX12;
    /// Whether it does one step.
    mec_me2_step: bool = 0[29:29] in BEFORE_GFX12;
    /// Whether micro engine 1 is halted.
    mec_me1_halt: bool = 0[30:30];
    /// Whether it does one step.
    mec_me1_step: bool = 0[31:31];
}

register! {
    /// Stops and resets the micro engine of those with 64-bit firmware (RS64).
    pub struct CpMecRs64Cntl: "CP_MEC_RS64_CNTL"
        at 0xc904 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Spare bits.
    spare: u8 = 0[3:0] in GFX12;
    /// Whether to invalidate the instruction cache.
    mec_invalidate_icache: bool = 0[4:4];
    /// Whether pipe 0 is held in reset.
    mec_pipe0_reset: bool = 0[16:16];
    /// Whether pipe 1 is held in reset.
    mec_pipe1_reset: bool = 0[17:17];
    /// Whether pipe 2 is held in reset.
    mec_pipe2_reset: bool = 0[18:18];
    /// Whether pipe 3 is held in reset.
    mec_pipe3_reset: bool = 0[19:19];
    /// Whether pipe 0 is on.
    mec_pipe0_active: bool = 0[26:26];
    /// Whether pipe 1 is on.
    mec_pipe1_active: bool = 0[27:27];
    /// Whether pipe 2 is on.
    mec_pipe2_active: bool = 0[28:28];
    /// Whether pipe 3 is on.
    mec_pipe3_active: bool = 0[29:29];
    /// Whether the engine is halted.
    mec_halt: bool = 0[30:30];
    /// Whether it does one step.
    mec_step: bool = 0[31:31];
}

register! {
    /// Where a micro engine's firmware is, for each of two.
    pub struct CpMecInstrPntr: "CP_MEC1_INSTR_PNTR"
        at 0x21a8 * 2 in BEFORE_GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// Its instruction, counted from the start of the firmware.
    instr_pntr: u16 = 0[15:0];
}

register! {
    /// Where the 64-bit firmware is.
    pub struct CpMecRs64InstrPntr: "CP_MEC_RS64_INSTR_PNTR"
        at 0xc908 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Its instruction, counted from the start of the firmware.
    instr_pntr: u32 = 0[19:0];
}

register! {
    /// Packet that a micro engine is at, for each of two. Each read gives another dword of what it
    /// read last.
    pub struct CpMecMeHeaderDump: "CP_MEC_ME1_HEADER_DUMP"
        at 0x208e * 2 in BEFORE_GFX12, 0x208e in GFX12;
    source "Linux, amd/include/asic_reg/gc";
    /// The header of a packet.
    header_dump: u32 = 0[31:0];
}

register! {
    /// First doorbell of compute queues.
    pub struct CpMecDoorbellRangeLower: "CP_MEC_DOORBELL_RANGE_LOWER"
        at 0x305c in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c, gfx_v11_0.c";
    /// Offset in the doorbell aperture, in bytes, a multiple of 4.
    doorbell_range_lower: u32 = 0[27:2] << 2 in ALL.without(GFX103_ON), 0[11:2] << 2 in GFX103_ON;
}

register! {
    /// Last doorbell of compute queues.
    pub struct CpMecDoorbellRangeUpper: "CP_MEC_DOORBELL_RANGE_UPPER"
        at 0x305d in ALL;
    source "Linux, amd/include/asic_reg/gc; meanings: gfx_v9_0.c, gfx_v11_0.c";
    /// Offset in the doorbell aperture, in bytes, a multiple of 4.
    doorbell_range_upper: u32 = 0[27:2] << 2 in ALL.without(GFX103_ON), 0[11:2] << 2 in GFX103_ON;
}
