//! NOP, INDIRECT and conditions: what is executed next.

use super::{CachePolicy, MallPolicy};
use crate::version::{Version, versions::*};

packet! {
    /// Does nothing and skips the dwords that it says follow it. A dword of zero is the shortest
    /// one. Mesa takes it to wait for the copies before it; ROCr and PAL do not rely on that, nor
    /// does this crate.
    pub struct Nop: "NOP" = 0, 0, 1 dwords + payload in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_NOP";
    /// How many dwords follow and are skipped.
    count: u16 = 0[29:16];
}

packet! {
    /// Goes on with packets elsewhere and comes back. The last dword of this packet has to be the
    /// last of a group of 8 in the ring ([`sequence::indirect`](crate::sequence::indirect) sees
    /// to it), and the buffer is padded to a multiple of 8 dwords.
    pub struct Indirect: "INDIRECT" = 4, 0, 6 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_INDIRECT";
    /// VMID of the buffer; 0 in user queues, which have one already.
    vmid: u8 = 0[19:16];
    /// Runs the buffer with privilege.
    privileged: bool = 0[31:31] as priv in SDMA5_ON;
    /// The buffer, a multiple of 32.
    ib_base: u64 = 1[31:0] as ib_base_31_0 | 2[31:0] << 32 as ib_base_63_32;
    /// Length of the buffer in dwords.
    ib_size: u32 = 3[19:0];
    /// Where the engine saves its state when it is preempted in the buffer; 0 for none.
    csa_addr: u64 = 4[31:0] as csa_addr_31_0 | 5[31:0] << 32 as csa_addr_63_32;
}

packet! {
    /// Skips the dwords behind it unless a dword of memory is equal to `reference`.
    pub struct CondExe: "COND_EXE" = 9, 0, 5 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_COND_EXE";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// The dword compared, a multiple of 4.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in TO_SDMA6,
        1[31:2] << 2 as addr_31_2 | 2[31:0] << 32 as addr_63_32 in SDMA7;
    /// What it is compared with.
    reference: u32 = 3[31:0];
    /// Number of dwords behind the packet that depend on it.
    exec_count: u16 = 4[13:0];
}

packet! {
    /// Lets only some of the engines execute the dwords behind it.
    pub struct PreExe: "PRE_EXE" = 15, 0, 2 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_PRE_EXE";
    /// Engines that execute: one bit each.
    dev_sel: u8 = 0[23:16];
    /// Number of dwords behind the packet that depend on it.
    exec_count: u16 = 1[13:0];
}
