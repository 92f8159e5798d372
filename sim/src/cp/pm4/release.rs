//! RELEASE_MEM, EVENT_WRITE, ACQUIRE_MEM, TIMESTAMP: what is about work that came before.
//!
//! Such work is complete already, or in the ordering mode done now by those that wait for it: what is left is what they
//! do to caches, what they write, and interrupts. Of caches there is at most L2.

use super::{Context, Next, Operation};
use crate::cp::hqd::Halt;
use crate::cp::signal;
use crate::memory::{Access, FaultReason, MemoryFault};
use ::pm4::packet::{
    AcquireMem, AcquireMemGfx9, DataSelect, EventIndex, EventType, EventWrite, InterruptSelect,
    ReleaseDestination, ReleaseEventIndex, ReleaseMem, Timestamp,
};
use ::pm4::{Generation, generations};

impl Operation for ReleaseMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let is_known = match self.event_index {
            ReleaseEventIndex::END_OF_PIPE => matches!(
                self.event_type,
                EventType::CACHE_FLUSH_TS
                    | EventType::CACHE_FLUSH_AND_INV_TS_EVENT
                    | EventType::BOTTOM_OF_PIPE_TS
            ),
            ReleaseEventIndex::SHADER_DONE => self.event_type == EventType::CS_DONE,
            _ => false,
        };
        if !is_known {
            return Err(at.not_modelled("this event"));
        }
        check(self, at)?;
        at.end_of_pipe_event()?;
        at.hqd.drain()?;
        // Of gfx9 TC_ACTION without TC_WB_ACTION writes nothing back (Mesa, si_gfx_cs.c, at `tc_flags`).
        at.hqd
            .act_on_cache(self.tc_wb_action_ena || self.gl2_wb, self.tc_action_ena || self.gl2_inv);
        match self.data_sel {
            DataSelect::NONE => {}
            DataSelect::SEND_32_BIT_LOW => at.store_u32(self.address, self.data as u32)?,
            DataSelect::SEND_64_BIT_DATA => match at.hqd.host.torn_write(at.hqd.configuration.id) {
                None => at.store_u64(self.address, self.data)?,
                Some(between) => {
                    signal::torn(&mut at.hqd.memory, self.address, self.data, between)?;
                }
            },
            DataSelect::SEND_GPU_CLOCK_COUNTER => {
                let clock = at.hqd.host.clock();
                at.store_u64(self.address, clock)?;
            }
            DataSelect::ATOMIC_ADD32BIT_LOW if has_add(at.generation) => {
                let data = self.data as u32;
                at.hqd.memory.atomic_u32(self.address, |value| value.wrapping_add(data))?;
            }
            _ => return Err(at.not_modelled("this data")),
        }
        if interrupts(self.int_sel) == Some(true) {
            at.hqd.host.end_of_pipe_interrupt(self.int_ctxid);
        }
        Ok(Next::Continue)
    }
}

/// Whether it interrupts; `None` for what is not modelled.
fn interrupts(select: InterruptSelect) -> Option<bool> {
    Some(match select {
        InterruptSelect::NONE | InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM => false,
        InterruptSelect::SEND_INTERRUPT_ONLY
        | InterruptSelect::SEND_INTERRUPT_AFTER_WRITE_CONFIRM
        | InterruptSelect::UNCONDITIONALLY_SEND_INT_CTXID => true,
        _ => return None,
    })
}

/// Refuses what is not modelled, before anything is done: a packet that interrupts when memory compares writes nothing
/// (PAL, gfx9CmdUtil.cpp, `BuildNativeFenceRaiseInterrupt`).
fn check(packet: &ReleaseMem, at: &Context<'_>) -> Result<(), Halt> {
    let is_memory =
        matches!(packet.dst_sel, ReleaseDestination::MEMORY_CONTROLLER | ReleaseDestination::TC_L2);
    if !is_memory {
        return Err(at.not_modelled("this destination"));
    }
    // There is no field for a range.
    if packet.gl2_range != 0 && (packet.gl2_wb || packet.gl2_inv) {
        return Err(at.not_modelled("a part of L2"));
    }
    interrupts(packet.int_sel).map(|_| ()).ok_or_else(|| at.not_modelled("this interrupt"))
}

/// ATOMIC_ADD32BIT_LOW is in the headers of gfx10.3 and gfx11.
fn has_add(generation: Generation) -> bool {
    generation.is_in(generations::GFX103_ON) && !generation.is_in(generations::GFX12)
}

impl Context<'_> {
    /// The hardware notes events at the end of the pipe in the queue's EOP buffer; without one it does so at address 0
    /// (tinygrad, ops_amd.py, `signal`).
    fn end_of_pipe_event(&self) -> Result<(), MemoryFault> {
        match self.hqd.configuration.end_of_pipe_buffer {
            0 => {
                let (access, reason) = (Access::Write, FaultReason::NotPresent);
                Err(MemoryFault { address: 0, access, reason })
            }
            _ => Ok(()),
        }
    }
}

impl Operation for EventWrite {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        match (self.event_type, self.event_index) {
            (EventType::CS_PARTIAL_FLUSH, EventIndex::CS_PARTIAL_FLUSH) => {
                at.hqd.drain()?;
                Ok(Next::Continue)
            }
            // Flushes are of the colour and depth caches of the graphics pipeline: L2 has fields of its own in packets
            // that act on it (PAL, gfx9CmdUtil.cpp, `BuildReleaseMemGeneric`: nothing of such events on compute queues).
            (
                EventType::PIPELINESTAT_START
                | EventType::PIPELINESTAT_STOP
                | EventType::CACHE_FLUSH
                | EventType::CACHE_FLUSH_AND_INV_EVENT,
                EventIndex::OTHER,
            ) => Ok(Next::Continue),
            _ => Err(at.not_modelled("this event")),
        }
    }
}

impl Operation for AcquireMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let range = self.base..self.base.saturating_add(self.size);
        match at.hqd.act_on_cache_by(self.gl2_range, range, self.gl2_wb, self.gl2_inv) {
            true => Ok(Next::Continue),
            false => Err(at.not_modelled("volatile lines of L2")),
        }
    }
}

/// It has a range always (soc15d.h). All bits of COHER_SIZE are everything, whatever COHER_SIZE_HI says: kfdtest leaves
/// that 0 and means all (PM4Packet.cpp, `PM4AcquireMemoryPacket::InitPacketAI`).
impl Operation for AcquireMemGfx9 {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let range = match (self.size >> 8) as u32 {
            u32::MAX => 0..u64::MAX,
            _ => self.base..self.base.saturating_add(self.size),
        };
        at.hqd.act_on_cache_in(&range, self.tc_wb_action_ena, self.tc_action_ena);
        Ok(Next::Continue)
    }
}

impl Operation for Timestamp {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if self.clock_sel {
            return Err(at.not_modelled("the system's clock"));
        }
        for (enabled, address) in
            [(self.enable_top, self.pipe_top_addr), (self.enable_bottom, self.pipe_bot_addr)]
        {
            if enabled {
                let clock = at.hqd.host.clock();
                at.store_u64(address, clock)?;
            }
        }
        Ok(Next::Continue)
    }
}
