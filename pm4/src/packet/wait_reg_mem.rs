//! WAIT_REG_MEM: waits until memory or a register compares with a value.

use super::{CachePolicy, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// Comparisons: what is polled, masked, is on the left, the reference on the right. Without sign.
    pub struct Compare(u8) {
        /// Holds always.
        ALWAYS_PASS = 0,
        /// Less.
        LESS_THAN_REF_VALUE = 1,
        /// Less or equal.
        LESS_THAN_EQUAL_TO_THE_REF_VALUE = 2,
        /// Equal.
        EQUAL_TO_THE_REFERENCE_VALUE = 3,
        /// Not equal.
        NOT_EQUAL_REFERENCE_VALUE = 4,
        /// Greater or equal.
        GREATER_THAN_OR_EQUAL_REFERENCE_VALUE = 5,
        /// Greater.
        GREATER_THAN_REFERENCE_VALUE = 6,
    }
}

crate::names! {
    /// What WAIT_REG_MEM polls.
    pub struct WaitSpace(u8) {
        /// A register.
        REGISTER_SPACE = 0,
        /// Memory.
        MEMORY_SPACE = 1,
    }
}

crate::names! {
    /// What WAIT_REG_MEM does.
    pub struct WaitOperation(u8) {
        /// Waits.
        WAIT_REG_MEM = 0,
        /// Writes the reference to one register, then waits for another.
        WR_WAIT_WR_REG = 1,
        /// Waits for memory and lets the queue be preempted meanwhile.
        WAIT_MEM_PREEMPTABLE = 3,
    }
}

packet! {
    /// WAIT_REG_MEM on memory: waits until 32 bits compare.
    pub struct WaitRegMem: "WAIT_REG_MEM" = 0x3c, 7 dwords
        when mem_space != [WaitSpace::REGISTER_SPACE] in generations::ALL;
    source "PAL, PM4_MEC_WAIT_REG_MEM; nvd.h, soc15d.h, PACKET3_WAIT_REG_MEM";
    /// The comparison.
    function: Compare = 1[2:0];
    /// What is polled: memory.
    mem_space: WaitSpace = 1[5:4];
    /// What is done.
    operation: WaitOperation = 1[7:6];
    /// The scheduler's pipe that is interrupted; for firmware.
    mes_intr_pipe: u8 = 1[23:22] in generations::GFX10_ON;
    /// Tells the scheduler; for firmware.
    mes_action: bool = 1[24:24] in generations::GFX10_ON;
    /// L2 policy.
    cache_policy: CachePolicy = 1[26:25] in generations::GFX10_11;
    /// Temporal hint.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address of the 32 bits, a multiple of 4.
    mem_poll_addr: u64 = 2[31:2] << 2 as mem_poll_addr_lo | 3[31:0] << 32 as mem_poll_addr_hi;
    /// What they are compared with.
    reference: u32 = 4[31:0];
    /// Bits that are compared.
    mask: u32 = 5[31:0];
    /// Clocks between two looks, in units of 16.
    poll_interval: u16 = 6[15:0];
    /// Lets other queues of the pipe run when the first look fails.
    optimize_ace_offload_mode: bool = 6[31:31];
}

impl WaitRegMem {
    /// Waits until the 32 bits at `address` compare with `reference`.
    pub const fn memory(address: u64, function: Compare, reference: u32) -> WaitRegMem {
        WaitRegMem {
            function,
            mem_space: WaitSpace::MEMORY_SPACE,
            mem_poll_addr: address,
            reference,
            mask: u32::MAX,
            poll_interval: 4,
            ..WaitRegMem::ZERO
        }
    }
}

packet! {
    /// WAIT_REG_MEM on a register: waits until it compares, perhaps after writing another.
    pub struct WaitRegMemRegister: "WAIT_REG_MEM.register" = 0x3c, 7 dwords
        when mem_space = [WaitSpace::REGISTER_SPACE] in generations::ALL;
    source "PAL, PM4_MEC_WAIT_REG_MEM; nvd.h, soc15d.h, PACKET3_WAIT_REG_MEM";
    /// The comparison.
    function: Compare = 1[2:0];
    /// What is polled: a register.
    mem_space: WaitSpace = 1[5:4];
    /// What is done.
    operation: WaitOperation = 1[7:6];
    /// The scheduler's pipe that is interrupted; for firmware.
    mes_intr_pipe: u8 = 1[23:22] in generations::GFX10_ON;
    /// Tells the scheduler; for firmware.
    mes_action: bool = 1[24:24] in generations::GFX10_ON;
    /// L2 policy; of no meaning here.
    cache_policy: CachePolicy = 1[26:25] in generations::GFX10_11;
    /// Temporal hint; of no meaning here.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address in dwords of the register that is polled, or, for [`WaitOperation::WR_WAIT_WR_REG`], of that
    /// which is written.
    reg_poll_addr: u32 = 2[17:0];
    /// For [`WaitOperation::WR_WAIT_WR_REG`], address in dwords of the register that is polled after the write.
    reg_write_addr2: u32 = 3[17:0];
    /// What it is compared with, and what is written.
    reference: u32 = 4[31:0];
    /// Bits that are compared.
    mask: u32 = 5[31:0];
    /// Clocks between two looks, in units of 16.
    poll_interval: u16 = 6[15:0];
    /// Lets other queues of the pipe run when the first look fails.
    optimize_ace_offload_mode: bool = 6[31:31];
}

packet! {
    /// WAIT_REG_MEM64 on memory: waits until 64 bits compare.
    pub struct WaitRegMem64: "WAIT_REG_MEM64" = 0x93, 9 dwords
        when mem_space != [WaitSpace::REGISTER_SPACE] in generations::ALL;
    source "PAL, PM4_MEC_WAIT_REG_MEM64";
    /// The comparison.
    function: Compare = 1[2:0];
    /// What is polled: memory.
    mem_space: WaitSpace = 1[5:4];
    /// What is done.
    operation: WaitOperation = 1[7:6];
    /// The scheduler's pipe that is interrupted; for firmware.
    mes_intr_pipe: u8 = 1[23:22] in generations::GFX10_ON;
    /// Tells the scheduler; for firmware.
    mes_action: bool = 1[24:24] in generations::GFX10_ON;
    /// L2 policy.
    cache_policy: CachePolicy = 1[26:25] in generations::GFX10_11;
    /// Temporal hint.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address of the 64 bits, a multiple of 8.
    mem_poll_addr: u64 = 2[31:3] << 3 as mem_poll_addr_lo | 3[31:0] << 32 as mem_poll_addr_hi;
    /// What they are compared with.
    reference: u64 = 4[31:0] as reference | 5[31:0] << 32 as reference_hi;
    /// Bits that are compared.
    mask: u64 = 6[31:0] as mask | 7[31:0] << 32 as mask_hi;
    /// Clocks between two looks, in units of 16.
    poll_interval: u16 = 8[15:0];
    /// Lets other queues of the pipe run when the first look fails.
    optimize_ace_offload_mode: bool = 8[31:31];
}

impl WaitRegMem64 {
    /// Waits until the 64 bits at `address` compare with `reference`.
    pub const fn memory(address: u64, function: Compare, reference: u64) -> WaitRegMem64 {
        WaitRegMem64 {
            function,
            mem_space: WaitSpace::MEMORY_SPACE,
            mem_poll_addr: address,
            reference,
            mask: u64::MAX,
            poll_interval: 4,
            ..WaitRegMem64::ZERO
        }
    }
}

packet! {
    /// WAIT_REG_MEM64 on registers: waits until two that follow one another compare.
    pub struct WaitRegMem64Register: "WAIT_REG_MEM64.register" = 0x93, 9 dwords
        when mem_space = [WaitSpace::REGISTER_SPACE] in generations::ALL;
    source "PAL, PM4_MEC_WAIT_REG_MEM64";
    /// The comparison.
    function: Compare = 1[2:0];
    /// What is polled: registers.
    mem_space: WaitSpace = 1[5:4];
    /// What is done.
    operation: WaitOperation = 1[7:6];
    /// The scheduler's pipe that is interrupted; for firmware.
    mes_intr_pipe: u8 = 1[23:22] in generations::GFX10_ON;
    /// Tells the scheduler; for firmware.
    mes_action: bool = 1[24:24] in generations::GFX10_ON;
    /// L2 policy; of no meaning here.
    cache_policy: CachePolicy = 1[26:25] in generations::GFX10_11;
    /// Temporal hint; of no meaning here.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address in dwords of the register that is polled, or, for [`WaitOperation::WR_WAIT_WR_REG`], of that
    /// which is written.
    reg_poll_addr: u32 = 2[17:0];
    /// For [`WaitOperation::WR_WAIT_WR_REG`], address in dwords of the register that is polled after the write.
    reg_write_addr2: u32 = 3[17:0];
    /// What they are compared with, and what is written.
    reference: u64 = 4[31:0] as reference | 5[31:0] << 32 as reference_hi;
    /// Bits that are compared.
    mask: u64 = 6[31:0] as mask | 7[31:0] << 32 as mask_hi;
    /// Clocks between two looks, in units of 16.
    poll_interval: u16 = 8[15:0];
    /// Lets other queues of the pipe run when the first look fails.
    optimize_ace_offload_mode: bool = 8[31:31];
}
