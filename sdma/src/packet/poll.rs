//! POLL: waiting for memory and registers.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

pm4::names! {
    /// A comparison of what is read with what is given. The names are those of PM4's WAIT_REG_MEM, which has the
    /// same values; Linux, ROCr and tinygrad use 3 and 5 with SDMA.
    pub struct PollFunction(u8) {
        /// Does not wait.
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

packet! {
    /// Waits until a dword of memory or a register compares with a value. gfx90x and gfx908 are
    /// known to go on early: write it twice there ([`sequence::poll`](crate::sequence::poll)).
    ///
    /// PAL's structure for 7.0 has a seventh dword, GRBM_GFX_INDEX. Linux and ROCr write six
    /// there too, and PAL's seventh is zero, which is a NOP: six it is.
    pub struct PollRegmem: "POLL_REGMEM" = 8, 0, 6 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_POLL_REGMEM";
    /// Die whose register it is. Linux leaves it 0.
    virtual_die_id: u8 = 0[17:16] in SDMA7;
    /// Register domain. Linux leaves it 0.
    domain: bool = 0[18:18] in SDMA7;
    /// Register bridge. Linux leaves it 0.
    bridge: bool = 0[19:19] in SDMA7;
    /// Cache policy.
    cache_policy: CachePolicy = 0[22:20] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[23:22] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[24:24] in SDMA5_2_TO_6;
    /// Flushes the host data path: with registers, writes `value` to the request register (its
    /// byte offset in bits 63:32 of `addr`) and waits for the done register.
    hdp_flush: bool = 0[26:26] in TO_SDMA6;
    /// 0 polls. 1 flushes the host data path (bit 26, HDP_FLUSH in Linux): writes `value` to the
    /// request register (its byte offset in bits 63:32 of `addr`) and waits for the done
    /// register.
    mode: u8 = 0[27:26] in SDMA7;
    /// The comparison of the value read, under `mask`, with `value`.
    func: PollFunction = 0[30:28];
    /// Polls memory; a register when clear.
    mem_poll: bool = 0[31:31];
    /// Address of the dword, a multiple of 4; for a register its byte offset.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in TO_SDMA6,
        1[31:2] << 2 as addr_31_2 | 2[31:0] << 32 as addr_63_32 in SDMA7;
    /// The value compared with.
    value: u32 = 3[31:0];
    /// Bits of the value read that count.
    mask: u32 = 4[31:0];
    /// Pause between two reads, in units of 16 clocks.
    interval: u16 = 5[15:0];
    /// How often to read; 0xfff is without end.
    retry_count: u16 = 5[27:16];
}

packet! {
    /// Reads a register and writes it to memory.
    pub struct PollRegWriteMem: "POLL_REG_WRITE_MEM" = 8, 1, 4 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10: SDMA_PKT_POLL_REG_WRITE_MEM";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Byte offset of the register, a multiple of 4.
    src_addr: u32 = 1[31:2] << 2 as src_addr_31_2;
    /// Where the value goes, a multiple of 4.
    dst_addr: u64 = 2[31:0] as dst_addr_31_0 | 3[31:0] << 32 as dst_addr_63_32;
}

packet! {
    /// Reads a register of 7.0 and writes it to memory, with the GRBM_GFX_INDEX to read it by.
    pub struct PollRegWriteMemIndexed: "POLL_REG_WRITE_MEM.indexed" = 8, 1, 5 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_POLL_REG_WRITE_MEM";
    /// Die whose register it is. Linux leaves it 0.
    virtual_die_id: u8 = 0[17:16];
    /// Register domain. Linux leaves it 0.
    domain: bool = 0[18:18];
    /// Register bridge. Linux leaves it 0.
    bridge: bool = 0[19:19];
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[23:22];
    /// Byte offset of the register, a multiple of 4.
    src_addr: u32 = 1[31:2] << 2 as src_addr_31_2;
    /// Where the value goes, a multiple of 4.
    dst_addr: u64 = 2[31:2] << 2 as dst_addr_31_2 | 3[31:0] << 32 as dst_addr_63_32;
    /// What to put into GRBM_GFX_INDEX for this access. When the engine looks at it is not
    /// published.
    grbm_gfx_index: u32 = 4[31:0];
}

packet! {
    /// Writes the dirty bits of pages to memory. For the kernel driver only.
    pub struct PollDbitWriteMem: "POLL_DBIT_WRITE_MEM" = 8, 2, 5 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_POLL_DBIT_WRITE_MEM";
    /// Not published beyond its name.
    ea: u8 = 0[17:16] in TO_SDMA6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[17:16] in SDMA7;
    /// Not published beyond its name.
    dp: bool = 0[23:23] in SDMA7;
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Not published beyond its name.
    vfid: u8 = 0[28:24] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Where the bits go.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in TO_SDMA6,
        1[31:5] << 5 as addr_31_5 | 2[31:0] << 32 as addr_63_32 in SDMA7;
    /// Number of the first page.
    start_page: u32 = 3[22:0] as start_page_22_0 in SDMA7;
    /// Address of the first page's dirty bit, as stored in bits 31:4.
    start_addr: u32 = 3[31:4] << 4 as start_addr_31_4 in TO_SDMA6;
    /// Number of pages, as stored.
    page_num: u32 = 4[31:0] as page_num_31_0;
}

packet! {
    /// Compares two ranges of memory, or one with a pattern, and records the result. Linux's
    /// headers have a thirteenth dword, reserved, PAL's has twelve; no public driver writes it.
    pub struct PollMemVerify: "POLL_MEM_VERIFY" = 8, 3, 13 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10: SDMA_PKT_POLL_MEM_VERIFY";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// Compares with the pattern or the two ranges. Which value is which is not published.
    mode: bool = 0[31:31];
    /// The pattern compared with.
    pattern: u32 = 1[31:0];
    /// First byte of the first range.
    cmp0_start: u64 = 2[31:0] as cmp0_start_31_0 | 3[31:0] << 32 as cmp0_start_63_32;
    /// End of the first range.
    cmp0_end: u64 = 4[31:0] as cmp0_end_31_0 | 5[31:0] << 32 as cmp0_end_63_32;
    /// First byte of the second range.
    cmp1_start: u64 = 6[31:0] as cmp1_start_31_0 | 7[31:0] << 32 as cmp1_start_63_32;
    /// End of the second range.
    cmp1_end: u64 = 8[31:0] as cmp1_end_31_0 | 9[31:0] << 32 as cmp1_end_63_32;
    /// Where the result goes.
    rec: u64 = 10[31:0] as rec_31_0 | 11[31:0] << 32 as rec_63_32;
}

packet! {
    /// POLL_MEM_VERIFY of 7.0, without the reserved dword at the end.
    pub struct PollMemVerifyShort: "POLL_MEM_VERIFY.short" = 8, 3, 12 dwords in SDMA7;
    source "PAL gfx12: SDMA_PKT_POLL_MEM_VERIFY";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28];
    /// Compares with the pattern or the two ranges. Which value is which is not published.
    mode: bool = 0[31:31];
    /// The pattern compared with.
    pattern: u32 = 1[31:0];
    /// First byte of the first range.
    cmp0_start: u64 = 2[31:0] as cmp0_start_31_0 | 3[31:0] << 32 as cmp0_start_63_32;
    /// End of the first range.
    cmp0_end: u64 = 4[31:0] as cmp0_end_31_0 | 5[31:0] << 32 as cmp0_end_63_32;
    /// First byte of the second range.
    cmp1_start: u64 = 6[31:0] as cmp1_start_31_0 | 7[31:0] << 32 as cmp1_start_63_32;
    /// End of the second range.
    cmp1_end: u64 = 8[31:0] as cmp1_end_31_0 | 9[31:0] << 32 as cmp1_end_63_32;
    /// Where the result goes.
    rec: u64 = 10[31:0] as rec_31_0 | 11[31:0] << 32 as rec_63_32;
}
