//! INDIRECT_BUFFER: goes on with packets that are elsewhere.

use super::{CachePolicy, Compare, Temporal};
use crate::generation::{Generation, generations};

packet! {
    /// INDIRECT_BUFFER: executes the packets of another buffer, then goes on behind this packet. Compute queues
    /// do not call from a called buffer (chaining works).
    pub struct IndirectBuffer: "INDIRECT_BUFFER" = 0x3f, 4 dwords in generations::ALL;
    source "PAL, PM4_MEC_INDIRECT_BUFFER; nvd.h, soc15d.h, INDIRECT_BUFFER_VALID";
    /// Address of the buffer, a multiple of 4.
    ib_base: u64 = 1[31:2] << 2 as ib_base_lo | 2[31:0] << 32 as ib_base_hi;
    /// Its length in dwords.
    ib_size: u32 = 3[19:0];
    /// Goes there for good instead of calling: the rest of the buffer that this packet is in is not executed.
    chain: bool = 3[20:20];
    /// Lets the queue be given up while a packet of the buffer polls.
    offload_polling: bool = 3[21:21];
    /// Has to be set on compute queues.
    valid: bool = 3[23:23];
    /// VMID of the buffer; 0 for the queue's own, the only one that user queues can use.
    vmid: u8 = 3[27:24];
    /// L2 policy for reading the buffer.
    cache_policy: CachePolicy = 3[29:28] in generations::BEFORE_GFX12;
    /// Temporal hint for reading the buffer.
    temporal: Temporal = 3[29:28] in generations::GFX12;
}

impl IndirectBuffer {
    /// Calls the buffer of `dwords` dwords at `address`.
    pub const fn call(address: u64, dwords: u32) -> IndirectBuffer {
        IndirectBuffer { ib_base: address, ib_size: dwords, valid: true, ..IndirectBuffer::ZERO }
    }

    /// Goes on in the buffer of `dwords` dwords at `address` for good.
    pub const fn jump(address: u64, dwords: u32) -> IndirectBuffer {
        IndirectBuffer { chain: true, ..IndirectBuffer::call(address, dwords) }
    }
}

packet! {
    /// INDIRECT_BUFFER_PASID: executes packets of another process; for the scheduler.
    pub struct IndirectBufferPasid: "INDIRECT_BUFFER_PASID" = 0x5c, 5 dwords in generations::ALL;
    source "PAL, PM4_MEC_INDIRECT_BUFFER_PASID";
    /// Address of the buffer, a multiple of 4.
    ib_base: u64 = 1[31:2] << 2 as ib_base_lo | 2[31:0] << 32 as ib_base_hi;
    /// Its length in dwords.
    ib_size: u32 = 3[19:0];
    /// Goes there for good instead of calling.
    chain: bool = 3[20:20];
    /// Lets the queue be given up while a packet of the buffer polls.
    offload_polling: bool = 3[21:21];
    /// Has to be set on compute queues.
    valid: bool = 3[23:23];
    /// L2 policy for reading the buffer.
    cache_policy: CachePolicy = 3[29:28] in generations::BEFORE_GFX12;
    /// Temporal hint for reading the buffer.
    temporal: Temporal = 3[29:28] in generations::GFX12;
    /// Address space of the process.
    pasid: u16 = 4[15:0];
}

crate::names! {
    /// What COND_INDIRECT_BUFFER does when the comparison fails.
    pub struct CondIndirectBufferMode(u8) {
        /// Nothing.
        IF_THEN = 1,
        /// Executes the second buffer.
        IF_THEN_ELSE = 2,
    }
}

packet! {
    /// COND_INDIRECT_BUFFER: executes one of two buffers, by what 64 bits of memory hold. It has the opcode of
    /// INDIRECT_BUFFER and is told from it by its length.
    pub struct CondIndirectBuffer: "COND_INDIRECT_BUFFER" = 0x3f, 14 dwords in generations::ALL;
    source "PAL, PM4_MEC_COND_INDIRECT_BUFFER";
    /// Whether there is a second buffer.
    mode: CondIndirectBufferMode = 1[1:0];
    /// The comparison: what is in memory, masked, on the left, the reference on the right.
    function: Compare = 1[10:8];
    /// Address of the 64 bits, a multiple of 8.
    compare_addr: u64 = 2[31:3] << 3 as compare_addr_lo | 3[31:0] << 32 as compare_addr_hi;
    /// Bits of memory that are compared.
    mask: u64 = 4[31:0] as mask_lo | 5[31:0] << 32 as mask_hi;
    /// What they are compared with.
    reference: u64 = 6[31:0] as reference_lo | 7[31:0] << 32 as reference_hi;
    /// Address of the buffer executed when the comparison holds, a multiple of 4.
    ib_base1: u64 = 8[31:2] << 2 as ib_base1_lo | 9[31:0] << 32 as ib_base1_hi;
    /// Its length in dwords.
    ib_size1: u32 = 10[19:0];
    /// L2 policy for reading it.
    cache_policy1: CachePolicy = 10[29:28] in generations::BEFORE_GFX12;
    /// Temporal hint for reading it.
    temporal1: Temporal = 10[29:28] in generations::GFX12;
    /// Address of the buffer executed when the comparison fails, a multiple of 4.
    ib_base2: u64 = 11[31:2] << 2 as ib_base2_lo | 12[31:0] << 32 as ib_base2_hi;
    /// Its length in dwords.
    ib_size2: u32 = 13[19:0];
    /// L2 policy for reading it.
    cache_policy2: CachePolicy = 13[29:28] in generations::BEFORE_GFX12;
    /// Temporal hint for reading it.
    temporal2: Temporal = 13[29:28] in generations::GFX12;
}
