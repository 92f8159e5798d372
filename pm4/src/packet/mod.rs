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
        $vis:vis struct $Name:ident: $amd:literal = $opcode:literal, $dwords:literal dwords in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        $crate::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords of Generation in $variants;
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
            $(checked $check:ident)? in $variants:expr;
        source $source:literal;
        $($fields:tt)*
    ) => {
        $crate::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, $dwords dwords + payload of Generation in $variants;
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
            fn payload(&self) -> usize {
                (self.dwords as usize).saturating_sub($dwords)
            }

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
fn check_dwords(packet: &'static str, dwords: u32, min: u32, max: u32) -> Result<(), FieldError> {
    if dwords >= min && dwords <= max {
        return Ok(());
    }
    let (value, min, max) = (dwords.into(), min.into(), max.into());
    Err(FieldError::Range { packet, field: "dwords", value, min, max })
}

/// Every layout of a packet that there is, by opcode; of forms of one packet, those that are more particular
/// first.
pub const LAYOUTS: &[&Layout] = &[
    NopHeader::LAYOUT,
    Nop::LAYOUT,
    SetBase::LAYOUT,
    DispatchDirect::LAYOUT,
    DispatchIndirect::LAYOUT,
    DispatchIndirectOffset::LAYOUT,
    AtomicGds::LAYOUT,
    AtomicMem::LAYOUT,
    CondExec::LAYOUT,
    PredExec::LAYOUT,
    WriteData::LAYOUT,
    WriteDataRegister::LAYOUT,
    MemSemaphore::LAYOUT,
    WaitRegMemRegister::LAYOUT,
    WaitRegMem::LAYOUT,
    PerfCounterWindow::LAYOUT,
    IndirectBuffer::LAYOUT,
    CondIndirectBuffer::LAYOUT,
    CopyData::LAYOUT,
    CopyDataRegister::LAYOUT,
    PfpSyncMe::LAYOUT,
    CondWrite::LAYOUT,
    EventWrite::LAYOUT,
    EventWriteAddress::LAYOUT,
    ReleaseMem::LAYOUT,
    DmaData::LAYOUT,
    PerfmonControl::LAYOUT,
    AcquireMem::LAYOUT,
    AcquireMemGfx9::LAYOUT,
    Rewind::LAYOUT,
    IndirectBufferPasid::LAYOUT,
    PrimeUtcl2::LAYOUT,
    LoadShRegIndex::LAYOUT,
    SetConfigReg::LAYOUT,
    SetShReg::LAYOUT,
    SetQueueReg::LAYOUT,
    SetUconfigReg::LAYOUT,
    WaitRegMem64Register::LAYOUT,
    WaitRegMem64::LAYOUT,
    HdpFlush::LAYOUT,
    InvalidateTlbs::LAYOUT,
    DmaDataFillMulti::LAYOUT,
    SetShRegIndex::LAYOUT,
    SetResources::LAYOUT,
    MapProcess::LAYOUT,
    MapProcessDebug::LAYOUT,
    MapQueues::LAYOUT,
    UnmapQueuesProcess::LAYOUT,
    UnmapQueues::LAYOUT,
    QueryStatusProcess::LAYOUT,
    QueryStatus::LAYOUT,
    RunList::LAYOUT,
    MapProcessVm::LAYOUT,
    DispatchTaskStateInit::LAYOUT,
    DispatchTaskmeshDirectAce::LAYOUT,
    DispatchTaskmeshIndirectMultiAce::LAYOUT,
    Timestamp::LAYOUT,
    ExecuteIndirectV2::LAYOUT,
    SetShRegPairs::LAYOUT,
    SetShRegPairsPacked::LAYOUT,
    SetShRegPairsPackedGfx12::LAYOUT,
    SetShRegPairsPackedN::LAYOUT,
    SetUconfigRegPairs::LAYOUT,
    RunCleanerShader::LAYOUT,
];

/// Forms that have the length of another form: the bits of dword 1 that tell, and what they are in this one.
const FORMS: &[(&Layout, u32, &[u32])] = &[
    (WriteData::LAYOUT, 0xf << 8, &[2 << 8, 5 << 8]),
    (CopyData::LAYOUT, 0xf << 8, &[2 << 8, 5 << 8]),
    (WaitRegMemRegister::LAYOUT, 0x3 << 4, &[0]),
    (WaitRegMem64Register::LAYOUT, 0x3 << 4, &[0]),
    (UnmapQueuesProcess::LAYOUT, 0x3 << 4, &[1 << 4]),
    (QueryStatusProcess::LAYOUT, 0x3 << 28, &[1 << 28]),
];

/// Whether dword 1 speaks for a form among those of one length.
fn is_form(layout: &Layout, words: &[u32]) -> bool {
    let Some(&second) = words.get(1) else { return true };
    match FORMS.iter().find(|(form, ..)| form.name == layout.name) {
        Some((_, mask, values)) => values.contains(&(second & mask)),
        None => true,
    }
}

/// The layout of the packet that starts at `words`, by its header and, where a packet has several forms of one
/// length, by dword 1. `None` when there is none for this opcode, generation and length.
pub fn layout(generation: Generation, words: &[u32]) -> Option<&'static Layout> {
    let &header = words.first()?;
    let dwords = Header(header).dwords()?;
    let of_header = |layout: &Layout| {
        let long_enough =
            if layout.payload { dwords >= layout.dwords } else { dwords == layout.dwords };
        layout.matches(header) && generation.is_in(layout.variants) && long_enough
    };
    LAYOUTS.iter().find(|layout| of_header(layout) && is_form(layout, words)).copied()
}
