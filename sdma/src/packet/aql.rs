//! Packets of AQL queues that an SDMA engine reads. They are 16 dwords each and have a header of their own; none
//! of them occurs among the other packets, so they are in [`AQL_LAYOUTS`](super::AQL_LAYOUTS) and not in
//! [`LAYOUTS`](super::LAYOUTS). No public driver makes such queues.

use super::CachePolicy;
use crate::version::{Version, versions::*};

/// Declares an AQL packet of SDMA: its fixed bits are format 7:0, op 19:16 and subop 22:20.
macro_rules! aql_packet {
    (
        $(#[doc = $doc:literal])*
        pub struct $Name:ident: $amd:literal = format $format:literal, op 0, subop 0;
        source $source:literal;
        $($fields:tt)*
    ) => {
        pm4::layout! {
            $(#[doc = $doc])*
            pub struct $Name: $amd, 16 dwords of Version in TO_SDMA6;
            source $source;
            fixed 0x007f_00ff = $format;
            /// Starts when all packets before it are done.
            barrier: bool = 0[8:8];
            /// Acquire fence before it: 0 none, 1 agent, 2 system.
            acquire_fence_scope: u8 = 0[10:9];
            /// Release fence after it: 0 none, 1 agent, 2 system.
            release_fence_scope: u8 = 0[12:11];
            /// Cache policy valid: the packet's cache policy fields count only with it.
            cpv: bool = 0[28:28] in SDMA6;
            $($fields)*
            /// The signal that counts down when it is done; 0 for none.
            completion_signal: u64 =
                14[31:0] as completion_signal_31_0 | 15[31:0] << 32 as completion_signal_63_32;
        }
    };
}

aql_packet! {
    /// Copies bytes: an agent dispatch packet whose function is the copy.
    pub struct AqlCopyLinear: "AQL_COPY_LINEAR" = format 4, op 0, subop 0;
    source "Linux vega10, navi10, v6_0_0: SDMA_AQL_PKT_COPY_LINEAR";
    /// Where the result of an agent dispatch goes.
    return_addr: u64 = 2[31:0] as return_addr_31_0 | 3[31:0] << 32 as return_addr_63_32;
    /// Number of bytes, as stored; AMD does not say whether that is less one.
    count: u32 = 4[21:0];
    /// Byte swap of the destination; 0 for none.
    dst_sw: u8 = 5[17:16];
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 5[20:18] in SDMA6;
    /// Byte swap of the source; 0 for none.
    src_sw: u8 = 5[25:24];
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 5[28:26] in SDMA6;
    /// First byte of the source.
    src_addr: u64 = 6[31:0] as src_addr_31_0 | 7[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 8[31:0] as dst_addr_31_0 | 9[31:0] << 32 as dst_addr_63_32;
}

aql_packet! {
    /// Waits until one of five signals is zero.
    pub struct AqlBarrierOr: "AQL_BARRIER_OR" = format 5, op 0, subop 0;
    source "Linux vega10, navi10, v6_0_0: SDMA_AQL_PKT_BARRIER_OR";
    /// The first signal; 0 for none.
    dependent_addr_0: u64 =
        2[31:0] as dependent_addr_0_31_0 | 3[31:0] << 32 as dependent_addr_0_63_32;
    /// The second signal; 0 for none.
    dependent_addr_1: u64 =
        4[31:0] as dependent_addr_1_31_0 | 5[31:0] << 32 as dependent_addr_1_63_32;
    /// The third signal; 0 for none.
    dependent_addr_2: u64 =
        6[31:0] as dependent_addr_2_31_0 | 7[31:0] << 32 as dependent_addr_2_63_32;
    /// The fourth signal; 0 for none.
    dependent_addr_3: u64 =
        8[31:0] as dependent_addr_3_31_0 | 9[31:0] << 32 as dependent_addr_3_63_32;
    /// The fifth signal; 0 for none.
    dependent_addr_4: u64 =
        10[31:0] as dependent_addr_4_31_0 | 11[31:0] << 32 as dependent_addr_4_63_32;
    /// Cache policy for the first signal.
    cache_policy0: CachePolicy = 12[2:0] in SDMA6;
    /// Cache policy for the second signal.
    cache_policy1: CachePolicy = 12[7:5] in SDMA6;
    /// Cache policy for the third signal.
    cache_policy2: CachePolicy = 12[12:10] in SDMA6;
    /// Cache policy for the fourth signal.
    cache_policy3: CachePolicy = 12[17:15] in SDMA6;
    /// Cache policy for the fifth signal.
    cache_policy4: CachePolicy = 12[22:20] in SDMA6;
}
