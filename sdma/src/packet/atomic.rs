//! ATOMIC and what else changes a number in memory.

use super::{CachePolicy, L2Policy, MallPolicy};
use crate::version::{Version, versions::*};

pm4::names! {
    /// An operation of ATOMIC: TC_OP_ATOMIC_* of AMD's `vega10_enum.h` to `soc24_enum.h`. The operand is `src_data`; `_RTN`
    /// returns the value before, which nobody sees here. ROCr uses ADD_RTN_64.
    pub struct AtomicOp(u8) {
        /// Stores the operand if memory is equal to `cmp_data`, floating point; 32 bits, returning.
        FCMPSWAP_RTN_32 = 1,
        /// Keeps the lesser, floating point; 32 bits, returning.
        FMIN_RTN_32 = 2,
        /// Keeps the greater, floating point; 32 bits, returning.
        FMAX_RTN_32 = 3,
        /// Stores the operand; 32 bits, returning.
        SWAP_RTN_32 = 7,
        /// Stores the operand if memory is equal to `cmp_data`; 32 bits, returning.
        CMPSWAP_RTN_32 = 8,
        /// Adds; 32 bits, returning.
        ADD_RTN_32 = 15,
        /// Subtracts the operand; 32 bits, returning.
        SUB_RTN_32 = 16,
        /// Keeps the lesser, signed; 32 bits, returning.
        SMIN_RTN_32 = 17,
        /// Keeps the lesser, unsigned; 32 bits, returning.
        UMIN_RTN_32 = 18,
        /// Keeps the greater, signed; 32 bits, returning.
        SMAX_RTN_32 = 19,
        /// Keeps the greater, unsigned; 32 bits, returning.
        UMAX_RTN_32 = 20,
        /// Clears bits that the operand lacks; 32 bits, returning.
        AND_RTN_32 = 21,
        /// Sets bits of the operand; 32 bits, returning.
        OR_RTN_32 = 22,
        /// Flips bits of the operand; 32 bits, returning.
        XOR_RTN_32 = 23,
        /// Adds one; from the operand on, stores zero; 32 bits, returning.
        INC_RTN_32 = 24,
        /// Subtracts one; from zero or above the operand, stores it; 32 bits, returning.
        DEC_RTN_32 = 25,
        /// Stores the operand if memory is equal to `cmp_data`, floating point; 64 bits, returning.
        FCMPSWAP_RTN_64 = 33,
        /// Keeps the lesser, floating point; 64 bits, returning.
        FMIN_RTN_64 = 34,
        /// Keeps the greater, floating point; 64 bits, returning.
        FMAX_RTN_64 = 35,
        /// Stores the operand; 64 bits, returning.
        SWAP_RTN_64 = 39,
        /// Stores the operand if memory is equal to `cmp_data`; 64 bits, returning.
        CMPSWAP_RTN_64 = 40,
        /// Adds; 64 bits, returning.
        ADD_RTN_64 = 47,
        /// Subtracts the operand; 64 bits, returning.
        SUB_RTN_64 = 48,
        /// Keeps the lesser, signed; 64 bits, returning.
        SMIN_RTN_64 = 49,
        /// Keeps the lesser, unsigned; 64 bits, returning.
        UMIN_RTN_64 = 50,
        /// Keeps the greater, signed; 64 bits, returning.
        SMAX_RTN_64 = 51,
        /// Keeps the greater, unsigned; 64 bits, returning.
        UMAX_RTN_64 = 52,
        /// Clears bits that the operand lacks; 64 bits, returning.
        AND_RTN_64 = 53,
        /// Sets bits of the operand; 64 bits, returning.
        OR_RTN_64 = 54,
        /// Flips bits of the operand; 64 bits, returning.
        XOR_RTN_64 = 55,
        /// Adds one; from the operand on, stores zero; 64 bits, returning.
        INC_RTN_64 = 56,
        /// Subtracts one; from zero or above the operand, stores it; 64 bits, returning.
        DEC_RTN_64 = 57,
        /// Stores the operand if memory is equal to `cmp_data`, floating point; 32 bits.
        FCMPSWAP_32 = 65,
        /// Keeps the lesser, floating point; 32 bits.
        FMIN_32 = 66,
        /// Keeps the greater, floating point; 32 bits.
        FMAX_32 = 67,
        /// Stores the operand; 32 bits.
        SWAP_32 = 71,
        /// Stores the operand if memory is equal to `cmp_data`; 32 bits.
        CMPSWAP_32 = 72,
        /// Adds; 32 bits.
        ADD_32 = 79,
        /// Subtracts the operand; 32 bits.
        SUB_32 = 80,
        /// Keeps the lesser, signed; 32 bits.
        SMIN_32 = 81,
        /// Keeps the lesser, unsigned; 32 bits.
        UMIN_32 = 82,
        /// Keeps the greater, signed; 32 bits.
        SMAX_32 = 83,
        /// Keeps the greater, unsigned; 32 bits.
        UMAX_32 = 84,
        /// Clears bits that the operand lacks; 32 bits.
        AND_32 = 85,
        /// Sets bits of the operand; 32 bits.
        OR_32 = 86,
        /// Flips bits of the operand; 32 bits.
        XOR_32 = 87,
        /// Adds one; from the operand on, stores zero; 32 bits.
        INC_32 = 88,
        /// Subtracts one; from zero or above the operand, stores it; 32 bits.
        DEC_32 = 89,
        /// Stores the operand if memory is equal to `cmp_data`, floating point; 64 bits.
        FCMPSWAP_64 = 97,
        /// Keeps the lesser, floating point; 64 bits.
        FMIN_64 = 98,
        /// Keeps the greater, floating point; 64 bits.
        FMAX_64 = 99,
        /// Stores the operand; 64 bits.
        SWAP_64 = 103,
        /// Stores the operand if memory is equal to `cmp_data`; 64 bits.
        CMPSWAP_64 = 104,
        /// Adds; 64 bits.
        ADD_64 = 111,
        /// Subtracts the operand; 64 bits.
        SUB_64 = 112,
        /// Keeps the lesser, signed; 64 bits.
        SMIN_64 = 113,
        /// Keeps the lesser, unsigned; 64 bits.
        UMIN_64 = 114,
        /// Keeps the greater, signed; 64 bits.
        SMAX_64 = 115,
        /// Keeps the greater, unsigned; 64 bits.
        UMAX_64 = 116,
        /// Clears bits that the operand lacks; 64 bits.
        AND_64 = 117,
        /// Sets bits of the operand; 64 bits.
        OR_64 = 118,
        /// Flips bits of the operand; 64 bits.
        XOR_64 = 119,
        /// Adds one; from the operand on, stores zero; 64 bits.
        INC_64 = 120,
        /// Subtracts one; from zero or above the operand, stores it; 64 bits.
        DEC_64 = 121,
    }
}

packet! {
    /// One atomic operation on memory. Like FENCE it comes after what is before it: ROCr counts
    /// signals down with it.
    pub struct Atomic: "ATOMIC" = 10, 0, 8 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_ATOMIC";
    /// Repeats compare operations until they succeed, `loop_interval` apart.
    looped: bool = 0[16:16] as loop;
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18];
    /// Cache policy.
    cache_policy: CachePolicy = 0[22:20] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[23:22] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[24:24] in SDMA5_2_TO_6;
    /// The operation.
    atomic_op: AtomicOp = 0[31:25];
    /// The operand in memory, a multiple of its size.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in TO_SDMA6,
        1[31:2] << 2 as addr_31_2 | 2[31:0] << 32 as addr_63_32 in SDMA7;
    /// The operand of the packet.
    src_data: u64 = 3[31:0] as src_data_31_0 | 4[31:0] << 32 as src_data_63_32;
    /// What CMPSWAP compares with.
    cmp_data: u64 = 5[31:0] as cmp_data_31_0 | 6[31:0] << 32 as cmp_data_63_32;
    /// Pause between two tries. Its unit is not published.
    loop_interval: u16 = 7[12:0];
}

packet! {
    /// Waits for or signals a 64-bit semaphore in memory.
    pub struct Semaphore: "SEMAPHORE" = 7, 0, 3 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_SEMAPHORE";
    /// Signals by storing one instead of adding one.
    write_one: bool = 0[29:29];
    /// Signals; waits when clear.
    signal: bool = 0[30:30];
    /// Not published beyond its name; drivers leave it clear.
    mailbox: bool = 0[31:31];
    /// The semaphore, a multiple of 8.
    addr: u64 = 1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32;
}

packet! {
    /// Adds one to a counter in memory (PAL counts finished command buffers with it).
    pub struct MemIncr: "MEM_INCR" = 7, 1, 3 dwords in SDMA5_ON;
    source "Linux v6_0_0; PAL gfx10, gfx12: SDMA_PKT_MEM_INCR";
    /// L2 policy.
    l2_policy: L2Policy = 0[25:24] in SDMA5_2_TO_6;
    /// Does not allocate in the last-level cache (MALL).
    llc_policy: bool = 0[26:26] in SDMA5_2_TO_6;
    /// Last-level cache policy.
    mall_policy: MallPolicy = 0[27:26] in SDMA7;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// The counter, a multiple of 8.
    addr: u64 =
        1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32 in SDMA5_TO_6,
        1[31:3] << 3 as addr_31_3 | 2[31:0] << 32 as addr_63_32 in SDMA7;
}
