//! Names of messages and hardware registers (LLVM's AMDGPUAsmUtils.cpp, tables `Msg` and `Hwreg::Opr`).

/// Messages.
pub(super) const MESSAGES: &[(u16, &str)] = &[
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (9, "MSG_GS_ALLOC_REQ"),
    (128, "MSG_RTN_GET_DOORBELL"),
    (129, "MSG_RTN_GET_DDID"),
    (130, "MSG_RTN_GET_TMA"),
    (131, "MSG_RTN_GET_REALTIME"),
    (132, "MSG_RTN_SAVE_WAVE"),
    (133, "MSG_RTN_GET_TBA"),
    (134, "MSG_RTN_GET_TBA_TO_PC"),
    (135, "MSG_RTN_GET_SE_AID_ID"),
];

/// Hardware registers.
pub(super) const HARDWARE_REGISTERS: &[(u16, &str)] = &[
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (4, "HW_REG_STATE_PRIV"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (10, "HW_REG_PERF_SNAPSHOT_DATA"),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO"),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI"),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1"),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2"),
    (17, "HW_REG_EXCP_FLAG_PRIV"),
    (18, "HW_REG_EXCP_FLAG_USER"),
    (19, "HW_REG_TRAP_CTRL"),
    (20, "HW_REG_SCRATCH_BASE_LO"),
    (21, "HW_REG_SCRATCH_BASE_HI"),
    (23, "HW_REG_HW_ID1"),
    (24, "HW_REG_HW_ID2"),
    (29, "HW_REG_SHADER_CYCLES_LO"),
    (30, "HW_REG_SHADER_CYCLES_HI"),
    (31, "HW_REG_DVGPR_ALLOC_LO"),
    (32, "HW_REG_DVGPR_ALLOC_HI"),
];
