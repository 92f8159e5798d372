//! One file a packet or packet family.
//!
//! Sources, as each packet names them. "Linux vega10", "navi10" and "v6_0_0" are `vega10_sdma_pkt_open.h` (4.x),
//! `navi10_sdma_pkt_open.h` (5.x) and `sdma_v6_0_0_pkt_open.h` (6.x) of Linux 6.12, `drivers/gpu/drm/amd/amdgpu`;
//! "PAL gfx10" and "gfx12" are `gfx10_merged_sdma_packets.h` (5.0 to 6.x) and `gfx12_merged_sdma_packets.h` (7.0)
//! of GPUOpen's PAL, `src/core/hw/gfxip/sdma`; ROCr is `sdma_registers.h` of its `core/inc`. Where they disagree:
//!
//! - 5.2 has no header of its own in Linux, which drives it with that of 5.0. PAL's knows the difference, so 5.2 is
//!   PAL's: 30-bit copy counts, cache policies, the places of `dst_sw` in physical copies.
//! - 4.4 and 4.4.2 have no header of their own either. Linux's has 22-bit copy counts; ROCr writes 30 bits on
//!   gfx90a, and since 2025 on gfx942 and gfx950. The field has 30 bits here,
//!   [`Limits`](crate::limits::Limits) say what to use.
//! - 7.0 is PAL's, with what Linux writes there beyond it: the memory type of FENCE, WRITE_INCR.

/// Declares a packet for [`layout!`](pm4::layout!): adds the fixed bits of dword 0, which are the opcode in 7:0,
/// the sub-opcode in 15:8, and others that tell forms of a packet apart.
///
/// `"NAME" = opcode, sub-opcode, n dwords` is a packet of a fixed length. `n dwords + payload` is one with further
/// dwords behind these, as many as its field `count` says.
macro_rules! packet {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $op:literal, $sub_op:literal, $dwords:literal dwords in $variants:expr;
        source $source:literal;
        fixed $mask:literal = $fixed:literal;
        $($fields:tt)*
    ) => {
        pm4::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords of Version in $variants;
            source $source;
            fixed $mask = $fixed | $op | $sub_op << 8;
            $($fields)*
        }
    };
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $op:literal, $sub_op:literal, $dwords:literal dwords in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        pm4::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords of Version in $variants;
            source $source;
            fixed 0xffff = $op | $sub_op << 8;
            $($fields)*
        }
    };
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $op:literal, $sub_op:literal, $dwords:literal dwords + payload in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        pm4::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords + payload of Version in $variants;
            source $source;
            fixed 0xffff = $op | $sub_op << 8;
            $($fields)*
        }

        impl pm4::layout::HasPayload for $Name {
            #[inline(always)]
            fn payload(&self) -> usize {
                self.count as usize
            }
        }
    };
}

mod aql;
mod atomic;
mod control;
mod copy_bc;
mod copy_linear;
mod copy_physical;
mod copy_struct;
mod copy_t2t;
mod copy_tiled;
mod copy_tiled_window;
mod copy_window;
mod fence;
mod fill;
mod gcr;
mod length;
mod poll;
mod register;
mod timestamp;
mod translation;
mod write;

pub use aql::{AqlBarrierOr, AqlCopyLinear};
pub use atomic::{Atomic, AtomicOp, MemIncr, Semaphore};
pub use control::{CondExe, Indirect, Nop, PreExe};
pub use copy_bc::{CopyT2tBc, CopyTiledBc, CopyTiledBcSlice, CopyTiledSubwinBc};
pub use copy_linear::{CopyBroadcastLinear, CopyLinear, CopyLinearBc, CopyLinearMeta};
pub use copy_physical::{
    CopyDirtyPage, CopyPageTransfer, CopyPhysicalLinear, CopyPhysicalLinearMeta,
};
pub use copy_struct::CopyStruct;
pub use copy_t2t::{CopyT2t, CopyT2tCompressed, CopyT2tMeta};
pub use copy_tiled::{CopyL2tBroadcast, CopyTiled};
pub use copy_tiled_window::{CopyTiledSubwin, CopyTiledSubwinCompressed, CopyTiledSubwinMeta};
pub use copy_window::{CopyLinearSubwin, CopyLinearSubwinBc, CopyLinearSubwinLarge};
pub use fence::{DummyTrap, DummyTrapOld, Fence, FenceConditionalInterrupt, Trap};
pub use fill::{
    ConstantFill, ConstantFillPage, DataFillMulti, DecompressBltLinear, DecompressBltSubwin,
    FillSize,
};
pub use gcr::{GcrReq, GcrUser};
pub use length::dwords;
pub use poll::{
    PollDbitWriteMem, PollFunction, PollMemVerify, PollMemVerifyShort, PollRegWriteMem,
    PollRegWriteMemIndexed, PollRegmem,
};
pub use register::{RegisterRmw, RegisterRmwIndexed, RegisterWrite, SrbmWrite};
pub use timestamp::{TimestampGet, TimestampGetGlobal, TimestampSet};
pub use translation::{
    GpuvmInv, Invalidation, PtepdeCopy, PtepdeCopyBackwards, PtepdeRmw, PtepdeRmwMany,
    VmInvalidation, WriteIncr,
};
pub use write::{WriteTiled, WriteTiledBc, WriteUntiled};

use crate::version::Version;
use pm4::layout::Layout;

pm4::names! {
    /// Memory type of an access: how caches treat it (AMD's MTYPE of `navi10_enum.h` to `soc24_enum.h`).
    pub struct Mtype(u8) {
        /// Cached, read and written, unshared.
        C_RW_US = 0,
        /// Cached, read only, shared.
        C_RO_S = 2,
        /// Uncached.
        UC = 3,
        /// Cached, read and written, shared.
        C_RW_S = 4,
        /// Cached, read only, unshared.
        C_RO_US = 6,
    }
}

pm4::names! {
    /// How the graphics core's L2 treats an access (AMD's GL2_CACHE_POLICIES of `navi10_enum.h` to `soc24_enum.h`).
    pub struct L2Policy(u8) {
        /// Least recently used lines go first: the usual.
        LRU = 0,
        /// Streamed: not expected to be used again.
        STREAM = 1,
        /// Does not allocate a line.
        NOA = 2,
        /// Goes past the cache.
        BYPASS = 3,
    }
}

pm4::names! {
    /// How caches treat an access: [`L2Policy`] in bits 1:0, and [`CachePolicy::without_llc`] in bit 2.
    pub struct CachePolicy(u8) {
        /// [`L2Policy::LRU`].
        LRU = 0,
        /// [`L2Policy::STREAM`].
        STREAM = 1,
        /// [`L2Policy::NOA`].
        NOA = 2,
        /// [`L2Policy::BYPASS`].
        BYPASS = 3,
    }
}

impl CachePolicy {
    /// The same of L2, without allocation in the last-level cache (MALL): `llc_policy` of packets that have the two
    /// apart.
    #[must_use]
    pub const fn without_llc(self) -> CachePolicy {
        CachePolicy(self.0 | 4)
    }
}

pm4::names! {
    /// How the last-level cache (MALL) of SDMA 7 treats an access (PAL's `SdmaMallPolicy`).
    pub struct MallPolicy(u8) {
        /// Regular temporal: the usual.
        RT = 0,
        /// Non-temporal: not expected to be used again.
        NT = 1,
        /// High-priority temporal: kept before regular ones.
        HT = 2,
        /// Last use: non-temporal, and what it hits need not be written back.
        LU = 3,
    }
}

/// Calls a macro with every packet type: `packets!(name arguments)` is `name!(arguments; CopyLinear, ...)`.
#[doc(hidden)]
#[macro_export]
macro_rules! packets {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            CopyLinear, CopyLinearMeta, CopyBroadcastLinear, CopyLinearBc, CopyLinearSubwin,
            CopyLinearSubwinBc, CopyLinearSubwinLarge, CopyDirtyPage, CopyPhysicalLinear,
            CopyPhysicalLinearMeta, CopyPageTransfer, CopyTiled, CopyL2tBroadcast,
            CopyTiledSubwin, CopyTiledSubwinMeta, CopyTiledSubwinCompressed, CopyT2t, CopyT2tMeta,
            CopyT2tCompressed, CopyStruct, CopyTiledBc, CopyTiledBcSlice, CopyTiledSubwinBc,
            CopyT2tBc, WriteUntiled, WriteTiled, WriteTiledBc, ConstantFill, DataFillMulti,
            ConstantFillPage, DecompressBltLinear, DecompressBltSubwin, Fence,
            FenceConditionalInterrupt, Trap, DummyTrapOld, DummyTrap, PollRegmem, PollRegWriteMem,
            PollRegWriteMemIndexed, PollDbitWriteMem, PollMemVerify, PollMemVerifyShort, Atomic,
            Semaphore, MemIncr, TimestampSet, TimestampGet, TimestampGetGlobal, Nop, Indirect,
            CondExe, PreExe, SrbmWrite, RegisterWrite, RegisterRmw, RegisterRmwIndexed, GcrReq,
            GcrUser, WriteIncr, PtepdeCopy, PtepdeRmw, PtepdeRmwMany, PtepdeCopyBackwards,
            GpuvmInv, VmInvalidation, Invalidation,
        }
    };
}

/// As `packets!`, with the AQL packets that SDMA engines read.
#[doc(hidden)]
#[macro_export]
macro_rules! aql_packets {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            AqlCopyLinear, AqlBarrierOr,
        }
    };
}

macro_rules! layouts {
    (; $($Packet:ident),+ $(,)?) => { &[$($Packet::LAYOUT),+] };
}

/// Every layout of a packet that there is.
pub const LAYOUTS: &[&Layout] = packets!(layouts);

/// Every layout of an AQL packet that SDMA engines read.
pub const AQL_LAYOUTS: &[&Layout] = aql_packets!(layouts);

/// AMD's name of an opcode, bits 7:0 of dword 0 (SDMA_OP_*); `None` when the version has no such opcode.
pub const fn opcode_name(version: Version, opcode: u8) -> Option<&'static str> {
    use crate::version::versions::{SDMA4, SDMA5_ON, SDMA7};
    Some(match opcode {
        0 => "NOP",
        1 => "COPY",
        2 => "WRITE",
        4 => "INDIRECT",
        5 => "FENCE",
        6 => "TRAP",
        7 => "SEM",
        8 => "POLL_REGMEM",
        9 => "COND_EXE",
        10 => "ATOMIC",
        11 => "CONST_FILL",
        12 => "PTEPDE",
        13 => "TIMESTAMP",
        14 if version.is_in(SDMA7) => "REGISTER_WRITE",
        14 => "SRBM_WRITE",
        15 => "PRE_EXE",
        16 if version.is_in(SDMA4) => "DUMMY_TRAP",
        16 => "GPUVM_INV",
        17 if version.is_in(SDMA5_ON) => "GCR_REQ",
        32 if version.is_in(SDMA5_ON) => "DUMMY_TRAP",
        _ => return None,
    })
}

/// The layout of the packet whose dword 0 this is. Of several forms it is the one that more bits speak for.
pub fn layout(version: Version, header: u32) -> Option<&'static Layout> {
    LAYOUTS
        .iter()
        .filter(|layout| layout.variants.contains(version.set()) && layout.matches(header))
        .max_by_key(|layout| layout.fixed_mask.count_ones())
        .copied()
}
