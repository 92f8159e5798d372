//! Packets: one file a packet or packet family.
//!
//! Every packet that compute queues take is here, and those of the kernel driver's queues, which are encoded
//! and decoded like all others. [`layout`] finds the layout of a packet in memory, [`opcode_name`] the name of
//! an opcode, also of those that only graphics queues take.
//!
//! Names of packets and fields are AMD's. Where sources disagree the newest header of AMD's for the generation
//! and the compute micro-engine decides (PAL `*_mec_pm4_packets.h`); it is named with each packet.

/// Declares a type-3 packet for [`layout!`](crate::layout!): adds the header and its two flags.
///
/// `"NAME" = opcode, n dwords` is a packet of a fixed length. `"NAME" = opcode, n dwords + payload` is one with
/// further dwords behind these; it has a field `dwords`, its whole length. `checked check` names a function that
/// finds fault with that length, for where hardware takes fewer than the field can say.
macro_rules! packet {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $opcode:literal, $dwords:literal dwords
            $(when $form:ident $is:tt [$($value:expr),+])? in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        $crate::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords $(when $form $is [$($value),+])?
                of Generation in $variants;
            source $source;
            fixed 0xffff_ff00 = $crate::Header::new($opcode, $dwords).0;
            /// Skipped when the predicate of the queue says so.
            predicate: bool = 0[0:0];
            /// Shader type: set for compute, which compute queues do not look at.
            shader_type: bool = 0[1:1];
            $($fields)*
        }
    };
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $opcode:literal, $dwords:literal dwords + payload
            $(when $form:ident $is:tt [$($value:expr),+])? $(checked $check:ident)? in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        $crate::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords + payload $(when $form $is [$($value),+])?
                of Generation in $variants;
            source $source;
            fixed 0xc000_ff00 = $crate::Header::new($opcode, 2).0;
            /// Skipped when the predicate of the queue says so.
            predicate: bool = 0[0:0];
            /// Shader type: set for compute, which compute queues do not look at.
            shader_type: bool = 0[1:1];
            /// Length of the packet in dwords, header and payload included.
            dwords: u32 (minus 2) = 0[29:16] as count;
            $($fields)*
        }

        impl $crate::layout::HasPayload for $Name {
            #[inline(always)]
            fn payload(&self) -> usize {
                (self.dwords as usize).saturating_sub($dwords)
            }

            #[inline(always)]
            fn check_payload(&self) -> ::core::result::Result<(), $crate::layout::FieldError> {
                $crate::packet::check_dwords($amd, self.dwords, $dwords, 0x4001)?;
                $(self.$check()?;)?
                Ok(())
            }
        }
    };
}

mod acquire_mem;
mod atomic;
mod cache;
mod condition;
mod copy_data;
mod counters;
mod dispatch;
mod dma_data;
mod event;
mod execute_indirect;
mod indirect_buffer;
mod nop;
mod opcode;
mod release_mem;
mod scheduler;
mod scheduler_queues;
mod set_register;
mod sync;
mod translation;
mod wait_reg_mem;
mod write_data;

pub use acquire_mem::{AcquireMem, AcquireMemGfx9};
pub use atomic::{AtomicCommand, AtomicGds, AtomicMem, AtomicOp};
pub use cache::{CachePolicy, Temporal};
pub use condition::{CondExec, CondWrite, PollSpace, PredExec, WriteSpace};
pub use copy_data::{CopyData, CopyDataRegister, CopyDestination, CopySource};
pub use counters::{PerfCounterWindow, PerfmonControl, Timestamp};
pub use dispatch::{
    DispatchDirect, DispatchIndirect, DispatchIndirectOffset, DispatchTaskStateInit,
    DispatchTaskmeshDirectAce, DispatchTaskmeshIndirectMultiAce,
};
pub use dma_data::{DmaData, DmaDataFillMulti, DmaDestination, DmaSource};
pub use event::{EventIndex, EventType, EventWrite, EventWriteAddress};
pub use execute_indirect::ExecuteIndirectV2;
pub use indirect_buffer::{
    CondIndirectBuffer, CondIndirectBufferMode, IndirectBuffer, IndirectBufferPasid,
};
pub use nop::{Nop, NopHeader};
pub use opcode::opcode_name;
pub use release_mem::{
    DataSelect, InterruptSelect, ReleaseDestination, ReleaseEventIndex, ReleaseMem,
};
pub use scheduler::{
    MapProcess, MapProcessDebug, MapProcessVm, ResourcesQueueType, RunList, SetResources,
};
pub use scheduler_queues::{
    EngineSelect, MapQueueSelect, MapQueueType, MapQueues, QueryStatus, QueryStatusProcess,
    StatusCommand, StatusEngine, StatusSelect, UnmapAction, UnmapQueueSelect, UnmapQueues,
    UnmapQueuesProcess,
};
pub use set_register::{
    LoadShRegIndex, RegisterIndex, SetBase, SetConfigReg, SetQueueReg, SetShReg, SetShRegIndex,
    SetShRegPairs, SetShRegPairsPacked, SetShRegPairsPackedGfx12, SetShRegPairsPackedN,
    SetUconfigReg, SetUconfigRegPairs, ShRegisterIndex,
};
pub use sync::{HdpFlush, MemSemaphore, PfpSyncMe, Rewind, RunCleanerShader, SemaphoreSelect};
pub use translation::{InvalidateTlbs, PrimeUtcl2};
pub use wait_reg_mem::{
    Compare, WaitOperation, WaitRegMem, WaitRegMem64, WaitRegMem64Register, WaitRegMemRegister,
    WaitSpace,
};
pub use write_data::{WriteData, WriteDataRegister, WriteDestination};

use crate::Header;
use crate::generation::Generation;
use crate::layout::{FieldError, Layout};

/// Refuses a length outside a range.
#[inline(always)]
fn check_dwords(packet: &'static str, dwords: u32, min: u32, max: u32) -> Result<(), FieldError> {
    if dwords >= min && dwords <= max {
        return Ok(());
    }
    let (value, min, max) = (dwords.into(), min.into(), max.into());
    Err(FieldError::Range { packet, field: "dwords", value, min, max })
}

/// Calls a macro with every type that has a layout of a packet, by opcode; of forms of one packet, those that are
/// more particular first: `packets!(name arguments)` is `name!(arguments; Nop, SetBase, ...)`.
#[doc(hidden)]
#[macro_export]
macro_rules! packets {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            NopHeader, Nop, SetBase, DispatchDirect, DispatchIndirect, DispatchIndirectOffset,
            AtomicGds, AtomicMem, CondExec, PredExec, WriteData, WriteDataRegister, MemSemaphore,
            WaitRegMemRegister, WaitRegMem, PerfCounterWindow, IndirectBuffer,
            CondIndirectBuffer, CopyData, CopyDataRegister, PfpSyncMe, CondWrite, EventWrite,
            EventWriteAddress, ReleaseMem, DmaData, PerfmonControl, AcquireMem, AcquireMemGfx9,
            Rewind, IndirectBufferPasid, PrimeUtcl2, LoadShRegIndex, SetConfigReg, SetShReg,
            SetQueueReg, SetUconfigReg, WaitRegMem64Register, WaitRegMem64, HdpFlush,
            InvalidateTlbs, DmaDataFillMulti, SetShRegIndex, SetResources, MapProcess,
            MapProcessDebug, MapQueues, UnmapQueuesProcess, UnmapQueues, QueryStatusProcess,
            QueryStatus, RunList, MapProcessVm, DispatchTaskStateInit, DispatchTaskmeshDirectAce,
            DispatchTaskmeshIndirectMultiAce, Timestamp, ExecuteIndirectV2, SetShRegPairs,
            SetShRegPairsPacked, SetShRegPairsPackedGfx12, SetShRegPairsPackedN,
            SetUconfigRegPairs, RunCleanerShader,
        }
    };
}

macro_rules! layouts {
    (; $($Packet:ident),+ $(,)?) => { &[$($Packet::LAYOUT),+] };
}

/// Every layout of a packet that there is, by opcode; of forms of one packet, those that are more particular
/// first.
pub const LAYOUTS: &[&Layout] = packets!(layouts);

/// The layout of the packet that starts at `words`, by its header and, where a packet has several forms of one
/// length, by the field that tells them apart. `None` when there is none for this opcode, generation and length.
pub fn layout(generation: Generation, words: &[u32]) -> Option<&'static Layout> {
    let &header = words.first()?;
    let dwords = Header(header).dwords()?;
    let is_it = |layout: &&&Layout| {
        let long_enough =
            if layout.payload { dwords >= layout.dwords } else { dwords == layout.dwords };
        layout.matches(header)
            && generation.is_in(layout.variants)
            && long_enough
            && layout.is_form(words, generation.set())
    };
    LAYOUTS.iter().find(is_it).copied()
}
