//! FENCE and TRAP: telling that something is done.

use super::{L2Policy, MallPolicy, Mtype};
use crate::version::{Version, versions::*};

packet! {
    /// Waits for what is before it on the queue and then writes a dword to memory: the completion
    /// of a copy. An interrupt is a [`Trap`](crate::packet::Trap) behind it.
    pub struct Fence: "FENCE" = 5, 0, 4 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_FENCE";
    /// Memory type of the write, where its page does not say: uncached for what CPUs poll.
    mtype: Mtype = 0[18:16] in SDMA5_ON;
    /// Not published beyond its name; drivers leave it clear.
    gcc: bool = 0[19:19] in SDMA5_TO_6;
    /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it clear,
    /// as the page says so.
    sys: bool = 0[20:20] in SDMA5_ON;
    /// Snoops the CPU's caches.
    snp: bool = 0[22:22] in SDMA5_ON;
    /// The address is a guest physical one; clear for virtual addresses.
    gpa: bool = 0[23:23] in SDMA5_ON;
    /// L2 policy.
    l2_policy: L2Policy = 0[25:24] in SDMA5_TO_6;
    /// Does not allocate in the last-level cache (MALL).
    llc_policy: bool = 0[26:26] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// The dword written, a multiple of 4.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in TO_SDMA6,
        1[31:2] << 2 as addr_31_2 | 2[31:0] << 32 as addr_63_32 in SDMA7;
    /// What is written.
    data: u32 = 3[31:0];
}

packet! {
    /// FENCE whose interrupt depends on a value in memory. No public driver writes it.
    pub struct FenceConditionalInterrupt: "FENCE_CONDITIONAL_INTERRUPT" = 5, 1, 8 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_FENCE_CONDITIONAL_INTERRUPT";
    /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it clear,
    /// as the page says so.
    sys: bool = 0[20:20];
    /// Snoops the CPU's caches.
    snp: bool = 0[22:22];
    /// The address is a guest physical one; clear for virtual addresses.
    gpa: bool = 0[23:23];
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26];
    /// Writes 64 bits ("double dword").
    ddw: bool = 0[31:31];
    /// Where the fence value goes; a multiple of 4, or of 8 with `ddw`.
    fence_addr: u64 = 1[31:0] as fence_addr_31_0 | 2[31:0] << 32 as fence_addr_63_32;
    /// The fence value.
    fence_data: u64 = 3[31:0] as fence_data_lo | 4[31:0] << 32 as fence_data_hi;
    /// Where the value is that decides about the interrupt. How it is compared is not published.
    fence_ref_addr: u64 = 5[31:0] as fence_ref_addr_31_0 | 6[31:0] << 32 as fence_ref_addr_63_32;
    /// What the interrupt carries.
    int_context_data: u32 = 7[31:0];
}

packet! {
    /// Raises an interrupt.
    pub struct Trap: "TRAP" = 6, 0, 2 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_TRAP";
    /// What the interrupt carries: for user queues the event to set.
    int_context: u32 = 1[27:0] in TO_SDMA6, 1[31:0] in SDMA7;
}

packet! {
    /// TRAP that raises no interrupt, in SDMA 4, where it has opcode 16.
    pub struct DummyTrapOld: "DUMMY_TRAP.old" = 16, 0, 2 dwords in SDMA4;
    source "Linux vega10: SDMA_PKT_DUMMY_TRAP";
    /// What the interrupt carries: for user queues the event to set.
    int_context: u32 = 1[27:0];
}

packet! {
    /// TRAP that raises no interrupt.
    pub struct DummyTrap: "DUMMY_TRAP" = 32, 0, 2 dwords in SDMA5_ON;
    source "Linux navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_DUMMY_TRAP";
    /// What the interrupt carries: for user queues the event to set.
    int_context: u32 = 1[27:0] in SDMA5_TO_6, 1[31:0] in SDMA7;
}
