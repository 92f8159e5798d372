//! CP_HQD_CTX_SAVE_* and others: where waves of a hardware queue are saved when it is unmapped (CWSR).
//! The control stack grows downwards from CP_HQD_CNTL_STACK_SIZE, the waves' state upwards from there.

use crate::generation::Generation;
use crate::generation::generations::{GFX9, GFX10, GFX10_ON, GFX11_ON, GFX90A_ON, GFX906_908};

register! {
    /// Low part of the address of the save area.
    pub struct CpHqdCtxSaveBaseAddrLo: "CP_HQD_CTX_SAVE_BASE_ADDR_LO"
        at 0x3270 in GFX9, 0x3234 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 31:12 of the address, where they are in it.
    addr: u32 = 0[31:12] << 12;
}

register! {
    /// High part of the address of the save area.
    pub struct CpHqdCtxSaveBaseAddrHi: "CP_HQD_CTX_SAVE_BASE_ADDR_HI"
        at 0x3271 in GFX9, 0x3235 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:32 of the address, where they are in it.
    addr_hi: u64 = 0[15:0] << 32;
}

register! {
    /// How the save area is accessed; KFD sets 0.
    pub struct CpHqdCtxSaveControl: "CP_HQD_CTX_SAVE_CONTROL"
        at 0x3272 in GFX9, 0x3236 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// How L2 keeps it.
    policy: u8 = 0[3:3] in GFX9, 0[4:3] in GFX10_ON;
    /// Whether the page need not be executable (by its name).
    exe_disable: bool = 0[23:23];
}

register! {
    /// Size of the save area.
    pub struct CpHqdCtxSaveSize: "CP_HQD_CTX_SAVE_SIZE"
        at 0x3276 in GFX9, 0x323a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bytes, a multiple of 4096.
    size: u32 =
        0[24:12] << 12 in GFX10.or(GFX906_908),
        0[26:12] << 12 in GFX90A_ON,
        0[25:12] << 12 in GFX11_ON;
}

register! {
    /// Top of the control stack.
    pub struct CpHqdCntlStackOffset: "CP_HQD_CNTL_STACK_OFFSET"
        at 0x3273 in GFX9, 0x3237 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bytes from the start of the save area; what is from there to CP_HQD_CNTL_STACK_SIZE is in
    /// use.
    offset: u16 = 0[14:2] << 2 in GFX10.or(GFX906_908), 0[15:2] << 2 in GFX90A_ON.or(GFX11_ON);
}

register! {
    /// Room for the control stack.
    pub struct CpHqdCntlStackSize: "CP_HQD_CNTL_STACK_SIZE"
        at 0x3274 in GFX9, 0x3238 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bytes, a multiple of 4096.
    size: u16 = 0[14:12] << 12 in GFX10.or(GFX906_908), 0[15:12] << 12 in GFX90A_ON.or(GFX11_ON);
}

register! {
    /// End of the waves' state.
    pub struct CpHqdWgStateOffset: "CP_HQD_WG_STATE_OFFSET"
        at 0x3275 in GFX9, 0x3239 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bytes from the start of the save area.
    offset: u32 =
        0[24:2] << 2 in GFX10.or(GFX906_908),
        0[26:2] << 2 in GFX90A_ON,
        0[25:2] << 2 in GFX11_ON;
}

register! {
    /// Top of the control stack of a suspended queue.
    pub struct CpHqdSuspendCntlStackOffset: "CP_HQD_SUSPEND_CNTL_STACK_OFFSET"
        at 0x3241 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bytes from the start of the save area.
    offset: u16 = 0[14:2] << 2 in GFX10, 0[15:2] << 2 in GFX11_ON;
}

register! {
    /// How much the control stack of a suspended queue holds.
    pub struct CpHqdSuspendCntlStackDwCnt: "CP_HQD_SUSPEND_CNTL_STACK_DW_CNT"
        at 0x3242 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords.
    cnt: u16 = 0[12:0] in GFX10, 0[13:0] in GFX11_ON;
}

register! {
    /// End of the waves' state of a suspended queue.
    pub struct CpHqdSuspendWgStateOffset: "CP_HQD_SUSPEND_WG_STATE_OFFSET"
        at 0x3243 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bytes from the start of the save area.
    offset: u32 = 0[24:2] << 2 in GFX10, 0[25:2] << 2 in GFX11_ON;
}
