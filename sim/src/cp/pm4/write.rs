//! WRITE_DATA, and stores of the command processor.

use super::{Context, Next, Operation};
use crate::cp::hqd::Halt;
use ::pm4::packet::{WriteData, WriteDataRegister, WriteDestination};
use std::sync::atomic::{Ordering, fence};

impl Context<'_> {
    /// Stores a dword after all that was stored before.
    pub(super) fn store_u32(&mut self, address: u64, value: u32) -> Result<(), Halt> {
        fence(Ordering::Release);
        Ok(self.hqd.memory.write_u32(address, value)?)
    }

    /// Stores 64 bits after all that was stored before, at a multiple of 8.
    pub(super) fn store_u64(&mut self, address: u64, value: u64) -> Result<(), Halt> {
        if !address.is_multiple_of(8) {
            return Err(self.malformed("64 bits go to a multiple of 8"));
        }
        Ok(self.hqd.memory.release_u64(address, value)?)
    }
}

impl Operation for WriteData {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let mut address = self.dst_mem_addr;
        for value in at.payload(self)? {
            at.store_u32(address, value)?;
            if !self.addr_incr {
                address = address.wrapping_add(4);
            }
        }
        Ok(Next::Continue)
    }
}

impl Operation for WriteDataRegister {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if self.dst_sel != WriteDestination::MEM_MAPPED_REGISTER {
            return Err(at.not_modelled("this destination"));
        }
        let mut address = self.dst_mmreg_addr as u32;
        for value in at.payload(self)? {
            at.set(address, value)?;
            if !self.addr_incr {
                address = address.wrapping_add(1);
            }
        }
        Ok(Next::Continue)
    }
}
