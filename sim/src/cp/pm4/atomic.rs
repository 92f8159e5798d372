//! ATOMIC_MEM.

use super::{Context, Next, Operation};
use crate::cp::TcOp;
use crate::cp::hqd::{Backoff, Halt};
use crate::shader::AtomicFunction;
use ::pm4::packet::{AtomicCommand, AtomicMem, AtomicOp};

impl Operation for AtomicMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        // Those on floats have no name in this packet.
        let is_named =
            AtomicOp::NAMES.iter().any(|&(number, _)| number == u64::from(self.atomic.0));
        let Some(operation) = TcOp::of(self.atomic.0).filter(|_| is_named) else {
            return Err(at.not_modelled("this atomic"));
        };
        let loops = match self.command {
            AtomicCommand::SINGLE_PASS_ATOMIC
            | AtomicCommand::WAIT_FOR_WRITE_CONFIRMATION
            | AtomicCommand::SEND_AND_CONTINUE => false,
            AtomicCommand::LOOP_UNTIL_COMPARE_SATISFIED
                if operation.function == AtomicFunction::CompareSwap =>
            {
                true
            }
            _ => return Err(at.malformed("this operation has no such command")),
        };
        let mut backoff = Backoff::default();
        loop {
            let memory = &mut at.hqd.memory;
            let old = operation.execute(memory, self.addr, self.src_data, self.cmp_data)?;
            if operation.returns {
                at.engine.atomic_return = old;
            }
            if !loops || operation.swaps(old, self.cmp_data) {
                return Ok(Next::Continue);
            }
            at.hqd.rest(backoff.next())?;
        }
    }
}
