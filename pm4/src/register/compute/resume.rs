//! COMPUTE_*: what the command processor writes to go on with a dispatch that was preempted, and what
//! identifies a pipe.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX11, GFX9, GFX10, GFX11, GFX11_ON, GFX12};

register! {
    /// Workgroup at which an interrupted dispatch goes on, in X, Y and Z.
    pub struct ComputeRestart: "COMPUTE_RESTART_X"
        at 0x2e1b * 3 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Its position.
    restart: u32 = 0[31:0];
}

register! {
    /// Workgroup in X at which the second core goes on.
    pub struct ComputeRestartX2: "COMPUTE_RESTART_X2"
        at 0x2e29 in Generation::Gfx90a.set();
    source "Linux, amd/include/asic_reg/gc";
    /// Its position.
    restart: u32 = 0[31:0];
}

register! {
    /// Workgroup in Y at which the second core goes on.
    pub struct ComputeRestartY2: "COMPUTE_RESTART_Y2"
        at 0x2e2a in Generation::Gfx90a.set();
    source "Linux, amd/include/asic_reg/gc";
    /// Its position.
    restart: u32 = 0[31:0];
}

register! {
    /// Workgroup in Z at which the second core goes on.
    pub struct ComputeRestartZ2: "COMPUTE_RESTART_Z2"
        at 0x2e2b in Generation::Gfx90a.set();
    source "Linux, amd/include/asic_reg/gc";
    /// Its position.
    restart: u32 = 0[31:0];
}

register! {
    /// A word of the saved state from which waves are launched again: the control stack of a
    /// preempted queue consists of them.
    pub struct ComputeRelaunch: "COMPUTE_RELAUNCH"
        at 0x2e22 in GFX9, 0x2e2b in GFX10, 0x2e30 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The state or event.
    payload: u32 = 0[29:0];
    /// Whether the word is an event.
    is_event: bool = 0[30:30];
    /// Whether the word is state for the waves that follow.
    is_state: bool = 0[31:31];
}

register! {
    /// The second word of saved state (by its name).
    pub struct ComputeRelaunch2: "COMPUTE_RELAUNCH2"
        at 0x2e2e in GFX10, 0x2e33 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The state or event.
    payload: u32 = 0[29:0];
    /// Whether the word is an event.
    is_event: bool = 0[30:30];
    /// Whether the word is state for the waves that follow.
    is_state: bool = 0[31:31];
}

register! {
    /// Low part of the address that waves are restored from.
    pub struct ComputeWaveRestoreAddrLo: "COMPUTE_WAVE_RESTORE_ADDR_LO"
        at 0x2e23 in GFX9, 0x2e2c in GFX10, 0x2e31 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Low bits of the address.
    addr: u32 = 0[31:0];
}

register! {
    /// High part of the address that waves are restored from.
    pub struct ComputeWaveRestoreAddrHi: "COMPUTE_WAVE_RESTORE_ADDR_HI"
        at 0x2e24 in GFX9, 0x2e2d in GFX10, 0x2e32 in GFX11_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// High bits of the address.
    addr: u16 = 0[15:0];
}

register! {
    /// State of the dispatcher. AMD documents no more than the names.
    pub struct ComputeMiscReserved: "COMPUTE_MISC_RESERVED"
        at 0x2e1f in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Shader engine that state is sent to.
    send_seid: u8 = 0[1:0] in BEFORE_GFX11, 0[2:0] in GFX11, 0[3:0] in GFX12;
    /// Shader engine of the second core that state is sent to.
    send_seid_core1: u8 = 0[3:2] in Generation::Gfx90a.set();
    /// Core that waves are restored on.
    restore_core_id: bool = 0[4:4] in Generation::Gfx90a.set();
    /// Base of the wave numbers.
    wave_id_base: u16 = 0[16:5];
    /// Whether the first core's dispatcher has walked its grid.
    crawler_done_core0: bool = 0[17:17] in Generation::Gfx90a.set();
    /// Whether the second core's dispatcher has walked its grid.
    crawler_done_core1: bool = 0[18:18] in Generation::Gfx90a.set();
}
