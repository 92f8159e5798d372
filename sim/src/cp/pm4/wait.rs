//! WAIT_REG_MEM, REWIND: packets that wait. The queue can be stopped at any time meanwhile.

use super::{Context, Next, Operation};
use crate::cp::hqd::{Backoff, Halt};
use crate::shader::Xccs;
use ::pm4::packet::{
    Compare, Rewind, WaitOperation, WaitRegMem, WaitRegMem64, WaitRegMem64Register,
    WaitRegMemRegister, WaitSpace,
};

/// Whether a comparison holds; `None` for one that does not exist.
fn holds(function: Compare, value: u64, reference: u64) -> Option<bool> {
    Some(match function {
        Compare::ALWAYS_PASS => true,
        Compare::LESS_THAN_REF_VALUE => value < reference,
        Compare::LESS_THAN_EQUAL_TO_THE_REF_VALUE => value <= reference,
        Compare::EQUAL_TO_THE_REFERENCE_VALUE => value == reference,
        Compare::NOT_EQUAL_REFERENCE_VALUE => value != reference,
        Compare::GREATER_THAN_OR_EQUAL_REFERENCE_VALUE => value >= reference,
        Compare::GREATER_THAN_REFERENCE_VALUE => value > reference,
        _ => return None,
    })
}

impl Context<'_> {
    /// Compares what was polled, masked already, with the reference.
    pub(super) fn compare(
        &self,
        function: Compare,
        value: u64,
        reference: u64,
    ) -> Result<bool, Halt> {
        holds(function, value, reference).ok_or_else(|| self.malformed("an unknown comparison"))
    }

    /// Looks again and again.
    fn poll(
        &mut self,
        function: Compare,
        mask: u64,
        reference: u64,
        look: impl Fn(&mut Context<'_>) -> Result<u64, Halt>,
    ) -> Result<Next, Halt> {
        let mut backoff = Backoff::default();
        loop {
            let value = look(self)?;
            if self.compare(function, value & mask, reference)? {
                return Ok(Next::Continue);
            }
            // What it waits for may come of it.
            self.hqd.drain()?;
            let Xccs { count, only, .. } = self.engine.xccs;
            if only.is_some_and(|xcc| xcc + 1 < count) {
                return Err(self.not_modelled("XCCs of an AQL queue that wait"));
            }
            self.hqd.rest(backoff.next())?;
        }
    }

    /// What packets that do not wait for registers have to say.
    fn check_memory(&self, space: WaitSpace, operation: WaitOperation) -> Result<(), Halt> {
        match (space, operation) {
            (
                WaitSpace::MEMORY_SPACE,
                WaitOperation::WAIT_REG_MEM | WaitOperation::WAIT_MEM_PREEMPTABLE,
            ) => Ok(()),
            _ => Err(self.malformed("neither memory nor registers are waited for")),
        }
    }

    /// The register to poll, after writing another when the packet says so.
    fn polled_register(
        &mut self,
        operation: WaitOperation,
        [first, second]: [u32; 2],
        reference: u64,
    ) -> Result<u32, Halt> {
        match operation {
            WaitOperation::WAIT_REG_MEM => Ok(first),
            WaitOperation::WR_WAIT_WR_REG => {
                self.set(first, reference as u32)?;
                Ok(second)
            }
            _ => Err(self.malformed("an operation that is not one on registers")),
        }
    }

    /// Reads a register, by its address in dwords.
    pub(super) fn register(&self, address: u32) -> Result<u32, Halt> {
        let value = self.engine.registers.read(self.generation, address);
        value.ok_or_else(|| self.not_modelled(format!("reading register {address:#x}")))
    }

    /// Reads a register and, as the high half, the next.
    pub(super) fn two_registers(&self, address: u32) -> Result<u64, Halt> {
        let low = self.register(address)?;
        Ok(u64::from(low) | u64::from(self.register(address.wrapping_add(1))?) << 32)
    }
}

impl Operation for WaitRegMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.check_memory(self.mem_space, self.operation)?;
        at.poll(self.function, self.mask.into(), self.reference.into(), |at| {
            Ok(at.hqd.memory.acquire_u32(self.mem_poll_addr)?.into())
        })
    }
}

impl Operation for WaitRegMem64 {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.check_memory(self.mem_space, self.operation)?;
        at.poll(self.function, self.mask, self.reference, |at| {
            Ok(at.hqd.memory.acquire_u64(self.mem_poll_addr)?)
        })
    }
}

impl Operation for WaitRegMemRegister {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let registers = [self.reg_poll_addr, self.reg_write_addr2];
        let polled = at.polled_register(self.operation, registers, self.reference.into())?;
        at.poll(self.function, self.mask.into(), self.reference.into(), |at| {
            Ok(at.register(polled)?.into())
        })
    }
}

impl Operation for WaitRegMem64Register {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if self.operation != WaitOperation::WAIT_REG_MEM {
            return Err(at.not_modelled("writing registers before waiting for 64 bits"));
        }
        at.poll(self.function, self.mask, self.reference, |at| at.two_registers(self.reg_poll_addr))
    }
}

/// Waits until the packet in memory says that it is valid.
impl Operation for Rewind {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        const VALID: u64 = 1 << 31;
        let body = at.body;
        at.poll(Compare::EQUAL_TO_THE_REFERENCE_VALUE, VALID, VALID, |at| {
            Ok(at.hqd.memory.acquire_u32(body)?.into())
        })
    }
}
