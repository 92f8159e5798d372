//! Packets that decide whether others are executed, or whether something is written.

use super::{CachePolicy, Compare, Temporal};
use crate::generation::{Generation, generations};

packet! {
    /// COND_EXEC: skips the next dwords when a dword in memory is zero.
    pub struct CondExec: "COND_EXEC" = 0x22, 5 dwords in generations::ALL;
    source "PAL, PM4_MEC_COND_EXEC";
    /// Address of the dword, a multiple of 4.
    addr: u64 = 1[31:2] << 2 as addr_lo | 2[31:0] << 32 as addr_hi;
    /// L2 policy for reading it.
    cache_policy: CachePolicy = 3[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint for reading it.
    temporal: Temporal = 3[26:25] in generations::GFX12;
    /// How many dwords behind this packet are skipped: whole packets.
    exec_count: u16 = 4[13:0];
}

packet! {
    /// PRED_EXEC: the next dwords are executed by some of the GPU's parts only. On gfx94x and gfx950 the parts
    /// are the XCCs of a partition; it works in indirect buffers, not in the ring itself. On gfx10 and later only
    /// the front end of graphics queues (PFP) is documented to take it.
    pub struct PredExec: "PRED_EXEC" = 0x23, 2 dwords in generations::ALL;
    source "ROCr, amd_gpu_pm4.h, PM4_PRED_EXEC; PAL, PM4_PFP_PRED_EXEC";
    /// How many dwords behind this packet it is about: whole packets.
    exec_count: u16 = 1[13:0];
    /// Which parts execute them, one bit each: virtual XCCs, or devices of linked adapters before there were
    /// XCCs.
    device_select: u8 = 1[31:24];
}

crate::names! {
    /// What COND_WRITE compares.
    pub struct PollSpace(u8) {
        /// A register.
        REGISTER = 0,
        /// Memory.
        MEMORY = 1,
    }
}

crate::names! {
    /// Where COND_WRITE writes.
    pub struct WriteSpace(u8) {
        /// A register.
        REGISTER = 0,
        /// Memory.
        MEMORY = 1,
        /// Scratch registers of the command processor.
        SCRATCH = 2,
    }
}

packet! {
    /// COND_WRITE: writes a dword when a comparison holds.
    pub struct CondWrite: "COND_WRITE" = 0x45, 9 dwords in generations::ALL;
    source "PAL, PM4_MEC_COND_WRITE";
    /// The comparison: what is polled, masked, on the left, the reference on the right.
    function: Compare = 1[2:0];
    /// What is polled.
    poll_space: PollSpace = 1[4:4];
    /// Where to write.
    write_space: WriteSpace = 1[9:8];
    /// Whether to wait until the write has arrived.
    wr_confirm: bool = 1[20:20] in generations::GFX10_ON;
    /// What is polled: an address in bytes, a multiple of 4, or one of a register in dwords.
    poll_address: u64 = 2[31:0] as poll_address_lo | 3[31:0] << 32 as poll_address_hi;
    /// What it is compared with.
    reference: u32 = 4[31:0];
    /// Bits that are compared.
    mask: u32 = 5[31:0];
    /// Where to write: an address in bytes, a multiple of 4, or one of a register in dwords.
    write_address: u64 = 6[31:0] as write_address_lo | 7[31:0] << 32 as write_address_hi;
    /// What is written.
    write_data: u32 = 8[31:0];
}
