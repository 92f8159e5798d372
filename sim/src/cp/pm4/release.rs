//! RELEASE_MEM, EVENT_WRITE, ACQUIRE_MEM, TIMESTAMP: what is about work that came before.
//!
//! Such work is complete already, or in the ordering mode done now by those that wait for it: what is left is what they do to caches, what they write, and interrupts. Of caches
//! there is at most L2, and all of it is acted on, whatever the range.

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
        at.end_of_pipe_event()?;
        at.hqd.drain()?;
        at.hqd.act_on_cache(
            self.tc_wb_action_ena || self.tc_action_ena || self.gl2_wb,
            self.tc_action_ena || self.gl2_inv,
        );
        match self.dst_sel {
            ReleaseDestination::MEMORY_CONTROLLER | ReleaseDestination::TC_L2 => {}
            _ => return Err(at.not_modelled("this destination")),
        }
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
        match self.int_sel {
            InterruptSelect::NONE | InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM => {}
            InterruptSelect::SEND_INTERRUPT_ONLY
            | InterruptSelect::SEND_INTERRUPT_AFTER_WRITE_CONFIRM
            | InterruptSelect::UNCONDITIONALLY_SEND_INT_CTXID => {
                at.hqd.host.end_of_pipe_interrupt(self.int_ctxid);
            }
            _ => return Err(at.not_modelled("this interrupt")),
        }
        Ok(Next::Continue)
    }
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
            (EventType::PIPELINESTAT_START | EventType::PIPELINESTAT_STOP, EventIndex::OTHER) => {
                Ok(Next::Continue)
            }
            (
                event @ (EventType::CACHE_FLUSH | EventType::CACHE_FLUSH_AND_INV_EVENT),
                EventIndex::OTHER,
            ) => {
                at.hqd.act_on_cache(true, event == EventType::CACHE_FLUSH_AND_INV_EVENT);
                Ok(Next::Continue)
            }
            _ => Err(at.not_modelled("this event")),
        }
    }
}

impl Operation for AcquireMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.hqd.act_on_cache(self.gl2_wb, self.gl2_inv);
        Ok(Next::Continue)
    }
}

impl Operation for AcquireMemGfx9 {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.hqd.act_on_cache(self.tc_wb_action_ena, self.tc_action_ena);
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
