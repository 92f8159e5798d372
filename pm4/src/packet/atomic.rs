//! ATOMIC_MEM, ATOMIC_GDS: atomics that the command processor does.

use super::{CachePolicy, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// Atomics of L2: those that return the old value (`RTN`) and those that do not, on 32 and on 64 bits.
    pub struct AtomicOp(u8) {
        /// Replaces, 32 bits; returns.
        ATOMIC_SWAP_RTN_32 = 7,
        /// Replaces when equal to `cmp_data`, 32 bits; returns.
        ATOMIC_CMPSWAP_RTN_32 = 8,
        /// Adds, 32 bits; returns.
        ATOMIC_ADD_RTN_32 = 15,
        /// Subtracts, 32 bits; returns.
        ATOMIC_SUB_RTN_32 = 16,
        /// Lesser with sign, 32 bits; returns.
        ATOMIC_SMIN_RTN_32 = 17,
        /// Lesser without sign, 32 bits; returns.
        ATOMIC_UMIN_RTN_32 = 18,
        /// Greater with sign, 32 bits; returns.
        ATOMIC_SMAX_RTN_32 = 19,
        /// Greater without sign, 32 bits; returns.
        ATOMIC_UMAX_RTN_32 = 20,
        /// And, 32 bits; returns.
        ATOMIC_AND_RTN_32 = 21,
        /// Or, 32 bits; returns.
        ATOMIC_OR_RTN_32 = 22,
        /// Exclusive or, 32 bits; returns.
        ATOMIC_XOR_RTN_32 = 23,
        /// Adds 1, or 0 at the operand, 32 bits; returns.
        ATOMIC_INC_RTN_32 = 24,
        /// Subtracts 1, or the operand at 0 or above it, 32 bits; returns.
        ATOMIC_DEC_RTN_32 = 25,
        /// Replaces, 64 bits; returns.
        ATOMIC_SWAP_RTN_64 = 39,
        /// Replaces when equal to `cmp_data`, 64 bits; returns.
        ATOMIC_CMPSWAP_RTN_64 = 40,
        /// Adds, 64 bits; returns.
        ATOMIC_ADD_RTN_64 = 47,
        /// Subtracts, 64 bits; returns.
        ATOMIC_SUB_RTN_64 = 48,
        /// Lesser with sign, 64 bits; returns.
        ATOMIC_SMIN_RTN_64 = 49,
        /// Lesser without sign, 64 bits; returns.
        ATOMIC_UMIN_RTN_64 = 50,
        /// Greater with sign, 64 bits; returns.
        ATOMIC_SMAX_RTN_64 = 51,
        /// Greater without sign, 64 bits; returns.
        ATOMIC_UMAX_RTN_64 = 52,
        /// And, 64 bits; returns.
        ATOMIC_AND_RTN_64 = 53,
        /// Or, 64 bits; returns.
        ATOMIC_OR_RTN_64 = 54,
        /// Exclusive or, 64 bits; returns.
        ATOMIC_XOR_RTN_64 = 55,
        /// Adds 1, or 0 at the operand, 64 bits; returns.
        ATOMIC_INC_RTN_64 = 56,
        /// Subtracts 1, or the operand at 0 or above it, 64 bits; returns.
        ATOMIC_DEC_RTN_64 = 57,
        /// Replaces, 32 bits.
        ATOMIC_SWAP_32 = 71,
        /// Replaces when equal to `cmp_data`, 32 bits.
        ATOMIC_CMPSWAP_32 = 72,
        /// Adds, 32 bits.
        ATOMIC_ADD_32 = 79,
        /// Subtracts, 32 bits.
        ATOMIC_SUB_32 = 80,
        /// Lesser with sign, 32 bits.
        ATOMIC_SMIN_32 = 81,
        /// Lesser without sign, 32 bits.
        ATOMIC_UMIN_32 = 82,
        /// Greater with sign, 32 bits.
        ATOMIC_SMAX_32 = 83,
        /// Greater without sign, 32 bits.
        ATOMIC_UMAX_32 = 84,
        /// And, 32 bits.
        ATOMIC_AND_32 = 85,
        /// Or, 32 bits.
        ATOMIC_OR_32 = 86,
        /// Exclusive or, 32 bits.
        ATOMIC_XOR_32 = 87,
        /// Adds 1, or 0 at the operand, 32 bits.
        ATOMIC_INC_32 = 88,
        /// Subtracts 1, or the operand at 0 or above it, 32 bits.
        ATOMIC_DEC_32 = 89,
        /// Replaces, 64 bits.
        ATOMIC_SWAP_64 = 103,
        /// Replaces when equal to `cmp_data`, 64 bits.
        ATOMIC_CMPSWAP_64 = 104,
        /// Adds, 64 bits.
        ATOMIC_ADD_64 = 111,
        /// Subtracts, 64 bits.
        ATOMIC_SUB_64 = 112,
        /// Lesser with sign, 64 bits.
        ATOMIC_SMIN_64 = 113,
        /// Lesser without sign, 64 bits.
        ATOMIC_UMIN_64 = 114,
        /// Greater with sign, 64 bits.
        ATOMIC_SMAX_64 = 115,
        /// Greater without sign, 64 bits.
        ATOMIC_UMAX_64 = 116,
        /// And, 64 bits.
        ATOMIC_AND_64 = 117,
        /// Or, 64 bits.
        ATOMIC_OR_64 = 118,
        /// Exclusive or, 64 bits.
        ATOMIC_XOR_64 = 119,
        /// Adds 1, or 0 at the operand, 64 bits.
        ATOMIC_INC_64 = 120,
        /// Subtracts 1, or the operand at 0 or above it, 64 bits.
        ATOMIC_DEC_64 = 121,
    }
}

crate::names! {
    /// How ATOMIC_MEM goes on.
    pub struct AtomicCommand(u8) {
        /// Once.
        SINGLE_PASS_ATOMIC = 0,
        /// Again and again until the comparison of a compare-and-swap holds.
        LOOP_UNTIL_COMPARE_SATISFIED = 1,
        /// Once, and waits until it is done; gfx10 and later.
        WAIT_FOR_WRITE_CONFIRMATION = 2,
        /// Once, and does not wait; gfx10 and later.
        SEND_AND_CONTINUE = 3,
    }
}

packet! {
    /// ATOMIC_MEM: an atomic on memory.
    pub struct AtomicMem: "ATOMIC_MEM" = 0x1e, 9 dwords in generations::ALL;
    source "PAL, PM4_MEC_ATOMIC_MEM; vega10_enum.h, navi10_enum.h, soc21_enum.h, soc24_enum.h";
    /// What is done. With `RTN` the old value can be had by COPY_DATA.
    atomic: AtomicOp = 1[6:0];
    /// How it goes on.
    command: AtomicCommand = 1[11:8];
    /// L2 policy.
    cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address, a multiple of what is operated on.
    addr: u64 = 2[31:0] as addr_lo | 3[31:0] << 32 as addr_hi;
    /// The operand.
    src_data: u64 = 4[31:0] as src_data_lo | 5[31:0] << 32 as src_data_hi;
    /// What a compare-and-swap compares with.
    cmp_data: u64 = 6[31:0] as cmp_data_lo | 7[31:0] << 32 as cmp_data_hi;
    /// Clocks between two tries of a loop, in units of 16.
    loop_interval: u16 = 8[12:0];
}

packet! {
    /// ATOMIC_GDS: an atomic on the global data share.
    pub struct AtomicGds: "ATOMIC_GDS" = 0x1d, 11 dwords in generations::BEFORE_GFX12;
    source "PAL, PM4_MEC_ATOMIC_GDS";
    /// What is done: an operation of GDS.
    atom_op: u8 = 1[7:0];
    /// Repeats a compare-and-swap until it passes.
    atom_cmp_swap: bool = 1[16:16];
    /// Waits until it is done.
    atom_complete: bool = 1[17:17];
    /// Keeps the old value.
    atom_read: bool = 1[18:18];
    /// How old values are kept: 0 one of 32 bits, 1 two, 2 one of 64 bits, 3 two.
    atom_rd_cntl: u8 = 1[20:19];
    /// Bytes that the offsets grow by with each repetition.
    auto_inc_bytes: u8 = 2[5:0];
    /// Mode of clamping.
    dmode: bool = 2[8:8];
    /// Base of the range in GDS.
    atom_base: u16 = 3[15:0];
    /// Length of the range in GDS.
    atom_size: u16 = 4[15:0];
    /// First offset in the range.
    atom_offset0: u8 = 5[7:0];
    /// Second offset in the range.
    atom_offset1: u8 = 5[23:16];
    /// Destination in GDS.
    atom_dst: u32 = 6[31:0];
    /// First operand.
    atom_src0: u64 = 7[31:0] as atom_src0 | 8[31:0] << 32 as atom_src0_u;
    /// Second operand.
    atom_src1: u64 = 9[31:0] as atom_src1 | 10[31:0] << 32 as atom_src1_u;
}
