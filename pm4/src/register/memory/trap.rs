//! SQ_SHADER_T*, SPI_GDBG_*, TCP_WATCH*: trap handlers, debugging and address watches.

use crate::generation::Generation;
use crate::generation::generations::{
    ALL, BEFORE_GFX11, GFX9, GFX10, GFX10_ON, GFX11_ON, GFX12, GFX90A_ON, GFX94X_ON, GFX103_ON,
    GFX906_908,
};

crate::names! {
    /// Which accesses an address watch looks at: TCP_WATCH0_CNTL.MODE.
    pub struct WatchMode(u8) {
        /// Reads.
        READ = 0,
        /// Writes and atomics.
        NONREAD = 1,
        /// Atomics.
        ATOMIC = 2,
        /// All.
        ALL = 3,
    }
}

register! {
    /// Low part of the address of the trap handler; one for each VMID.
    pub struct SqShaderTbaLo: "SQ_SHADER_TBA_LO"
        at 0x231c in ALL.without(GFX103_ON), 0x2312 in Generation::Gfx103.set(), 0xa9e6 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_program_trap_handler_settings";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    addr_lo: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the trap handler.
    pub struct SqShaderTbaHi: "SQ_SHADER_TBA_HI"
        at 0x231d in ALL.without(GFX103_ON), 0x2313 in Generation::Gfx103.set(), 0xa9e7 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_program_trap_handler_settings";
    /// Bits 47:40 of the address, where they are in it.
    addr_hi: u64 = 0[7:0] << 40;
    /// Whether there is a trap handler.
    trap_en: bool = 0[31:31] in GFX10_ON;
}

register! {
    /// Low part of the address of the trap handler's memory; one for each VMID.
    pub struct SqShaderTmaLo: "SQ_SHADER_TMA_LO"
        at 0x231e in ALL.without(GFX103_ON), 0x2314 in Generation::Gfx103.set(), 0xa9e8 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_program_trap_handler_settings";
    /// Bits 39:8 of the address, where they are in it.
    addr_lo: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the trap handler's memory.
    pub struct SqShaderTmaHi: "SQ_SHADER_TMA_HI"
        at 0x231f in ALL.without(GFX103_ON), 0x2315 in Generation::Gfx103.set(), 0xa9e9 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_program_trap_handler_settings";
    /// Bits 47:40 of the address, where they are in it.
    addr_hi: u64 = 0[7:0] << 40;
}

register! {
    /// How a debugger has waves of an address space start; one for each VMID.
    pub struct SpiGdbgPerVmidCntl: "SPI_GDBG_PER_VMID_CNTL"
        at 0x31d3 in GFX90A_ON, 0x31d2 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_aldebaran.c, amdgpu_amdkfd_gc_9_4_3.c";
    /// Whether no waves of it start.
    stall_vmid: bool = 0[0:0];
    /// How waves start: 0 as ever, 1 halted, 3 in single steps.
    launch_mode: u8 = 0[2:1];
    /// Whether they have a trap handler.
    trap_en: bool = 0[3:3];
    /// Exceptions that trap, in the order of COMPUTE_PGM_RSRC2's, and from bit 7 on address watches
    /// and memory violations.
    excp_en: u16 = 0[12:4];
    /// Whether EXCP_EN replaces what kernels ask for rather than adding to it.
    excp_replace: bool = 0[13:13];
    /// Whether waves trap at their start.
    trap_on_start: bool = 0[14:14] in GFX94X_ON.or(GFX11_ON);
    /// Whether waves trap at their end.
    trap_on_end: bool = 0[15:15] in GFX94X_ON.or(GFX11_ON);
}

register! {
    /// Which pipes' waves trap for a debugger.
    pub struct SpiGdbgTrapConfig: "SPI_GDBG_TRAP_CONFIG"
        at 0x31d2 in BEFORE_GFX11, 0xb944 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Micro engine.
    me_sel: u8 = 0[1:0] in GFX906_908.or(Generation::Gfx101.set());
    /// Pipe.
    pipe_sel: u8 = 0[3:2] in GFX906_908.or(Generation::Gfx101.set());
    /// Queue.
    queue_sel: u8 = 0[6:4] in GFX906_908.or(Generation::Gfx101.set());
    /// Whether the micro engine must be that.
    me_match: bool = 0[7:7] in GFX906_908.or(Generation::Gfx101.set());
    /// Whether the pipe must be that.
    pipe_match: bool = 0[8:8] in GFX906_908.or(Generation::Gfx101.set());
    /// Whether the queue must be that.
    queue_match: bool = 0[9:9] in GFX906_908.or(Generation::Gfx101.set());
    /// Whether waves that match trap.
    trap_en: bool = 0[15:15] in GFX906_908.or(Generation::Gfx101.set());
    /// Address spaces whose waves trap, one bit each.
    vmid_sel: u16 = 0[31:16] in GFX906_908.or(Generation::Gfx101.set());
    /// Queues of pipe 0 whose waves trap, one bit each (by its name).
    pipe0_en: u8 = 0[7:0] in GFX90A_ON.or(GFX11_ON);
    /// The same of pipe 1.
    pipe1_en: u8 = 0[15:8] in GFX90A_ON.or(GFX11_ON);
    /// The same of pipe 2.
    pipe2_en: u8 = 0[23:16] in GFX90A_ON.or(GFX11_ON);
    /// The same of pipe 3.
    pipe3_en: u8 = 0[31:24] in GFX90A_ON.or(GFX11_ON);
}

register! {
    /// Stops the start of waves.
    pub struct SpiGdbgWaveCntl: "SPI_GDBG_WAVE_CNTL"
        at 0x31d1 in BEFORE_GFX11, 0xb943 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c";
    /// Whether no waves start at all.
    stall_ra: bool = 0[0:0];
    /// Address spaces whose waves do not start, one bit each.
    stall_vmid: u16 = 0[16:1] in GFX10.or(GFX906_908);
    /// Whether no waves are launched.
    stall_launch: bool = 0[1:1] in GFX11_ON;
    /// Whether stopping took effect.
    stall_status: bool = 0[2:2] in GFX12;
}

register! {
    /// High part of an address that is watched, in each of four watches.
    pub struct TcpWatchAddrH: "TCP_WATCH0_ADDR_H"
        at 0x32a0 * 4 step 3 in BEFORE_GFX11, 0x32a8 * 4 step 3 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_set_address_watch";
    /// Bits 47:32 of the address, where they are in it.
    addr: u64 = 0[15:0] << 32;
}

register! {
    /// Low part of an address that is watched, in each of four watches.
    pub struct TcpWatchAddrL: "TCP_WATCH0_ADDR_L"
        at 0x32a1 * 4 step 3 in BEFORE_GFX11, 0x32a9 * 4 step 3 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_set_address_watch";
    /// Bits 31:6 or 31:7 of the address, where they are in it.
    addr: u32 = 0[31:6] << 6 in GFX9.without(GFX94X_ON), 0[31:7] << 7 in GFX94X_ON.or(GFX10_ON);
}

register! {
    /// What an address watch looks at, in each of four.
    pub struct TcpWatchCntl: "TCP_WATCH0_CNTL"
        at 0x32a2 * 4 step 3 in BEFORE_GFX11, 0x32aa * 4 step 3 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: amdgpu_amdkfd_gfx_v9.c kgd_gfx_v9_set_address_watch";
    /// Bits of the address that have to be the watched one's, the lowest of them the lowest one of
    /// TCP_WATCH0_ADDR_L.
    mask: u32 = 0[23:0] in GFX9, 0[22:0] in GFX10_ON;
    /// Address space that is watched.
    vmid: u8 = 0[27:24];
    /// Whether addresses are the host's (by its name).
    atc: bool = 0[28:28] in GFX9;
    /// Accesses that are looked at.
    mode: WatchMode = 0[30:29];
    /// Whether the watch is on.
    valid: bool = 0[31:31];
}
