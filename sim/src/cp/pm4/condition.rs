//! Packets that decide whether others are executed, or whether something is written.

use super::{Context, Next, Operation};
use crate::cp::hqd::Halt;
use ::pm4::generations;
use ::pm4::packet::{CondExec, CondWrite, PollSpace, PredExec, WriteSpace};

impl Operation for CondExec {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let goes_on = at.hqd.memory.acquire_u32(self.addr)? != 0;
        Ok(if goes_on { Next::Continue } else { Next::Skip(self.exec_count.into()) })
    }
}

/// XCCs are meant by their logical numbers (VIRTUAL_XCC_ID_SELECT); one that has a queue for itself is the first.
impl Operation for PredExec {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if at.in_ring || !at.generation.is_in(generations::GFX9) {
            // tinygrad, ops_amd.py, `_submit`: in rings it does not work.
            return Err(at.not_modelled("PRED_EXEC elsewhere than in indirect buffers of gfx9"));
        }
        let is_meant = self.device_select >> at.engine.xccs.only.unwrap_or(0) & 1 != 0;
        Ok(if is_meant { Next::Continue } else { Next::Skip(self.exec_count.into()) })
    }
}

impl Operation for CondWrite {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let value = match self.poll_space {
            PollSpace::MEMORY => at.hqd.memory.acquire_u32(self.poll_address & !3)?,
            _ => at.register(self.poll_address as u32)?,
        };
        if !at.compare(self.function, (value & self.mask).into(), self.reference.into())? {
            return Ok(Next::Continue);
        }
        match self.write_space {
            WriteSpace::MEMORY => at.store_u32(self.write_address & !3, self.write_data)?,
            WriteSpace::REGISTER => at.set(self.write_address as u32, self.write_data)?,
            _ => return Err(at.not_modelled("scratch registers of the command processor")),
        }
        Ok(Next::Continue)
    }
}
