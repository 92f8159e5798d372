//! Packets that write registers, and those that do nothing.

use super::{Context, Next, Operation};
use crate::cp::hqd::Halt;
use ::pm4::RawPacket;
use ::pm4::layout::HasPayload;
use ::pm4::packet::{
    HdpFlush, LoadShRegIndex, Nop, NopHeader, PrimeUtcl2, RegisterIndex, SetShReg, SetShRegIndex,
    SetShRegPairs, SetShRegPairsPacked, SetShRegPairsPackedGfx12, SetShRegPairsPackedN,
    SetUconfigReg, SetUconfigRegPairs, ShRegisterIndex,
};
use ::pm4::{Generation, register};

impl Context<'_> {
    /// Writes a register, by its address in dwords.
    pub(super) fn set(&mut self, address: u32, value: u32) -> Result<(), Halt> {
        let registers = &mut self.engine.registers;
        match registers.write(self.generation, address, value) {
            Ok(()) => Ok(()),
            Err(what) => Err(self.not_modelled(what)),
        }
    }

    /// Writes the registers that the packet lists.
    fn set_listed<P: HasPayload<Variant = Generation>>(
        &mut self,
        packet: &P,
    ) -> Result<Next, Halt> {
        packet.check_payload().map_err(|error| self.malformed(error))?;
        let (generation, words) = (self.generation, self.words);
        for write in (RawPacket { offset: 0, generation, words }).writes() {
            self.set(write.address, write.value)?;
        }
        Ok(Next::Continue)
    }
}

macro_rules! set {
    ($($Packet:ident),+ $(,)?) => {
        $(
            impl Operation for $Packet {
                fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
                    at.set_listed(self)
                }
            }
        )+
    };
}

set! {
    SetUconfigReg, SetShRegPairs, SetShRegPairsPacked, SetShRegPairsPackedGfx12, SetShRegPairsPackedN,
    SetUconfigRegPairs,
}

impl Operation for SetShReg {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        match self.index {
            RegisterIndex::DEFAULT => at.set_listed(self),
            _ => Err(at.not_modelled("a register index")),
        }
    }
}

impl Operation for SetShRegIndex {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        match self.index {
            // Masks of compute units change no result.
            ShRegisterIndex::DEFAULT | ShRegisterIndex::APPLY_KMD_CU_AND_MASK => {
                at.set_listed(self)
            }
            _ => Err(at.not_modelled("a register index")),
        }
    }
}

impl Operation for LoadShRegIndex {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let mut from = match self.index {
            0 => self.mem_addr,
            2 => at.hqd.memory.acquire_u64(self.mem_addr)?,
            _ => return Err(at.malformed("an unknown index")),
        };
        let mut next = || {
            let value = at.hqd.memory.read_u32(from);
            from = from.wrapping_add(4);
            value
        };
        let mut writes = Vec::new();
        // The number is one of values, or of pairs (PAL, gfx9CmdUtil.cpp, `BuildLoadShRegsIndex`).
        if self.data_format {
            for _ in 0..self.num_dwords {
                writes.push((next()? & 0xffff, next()?));
            }
        } else {
            for offset in (u32::from(self.reg_offset)..).take(self.num_dwords.into()) {
                writes.push((offset, next()?));
            }
        }
        for (offset, value) in writes {
            at.set(register::SH_BASE.saturating_add(offset), value)?;
        }
        Ok(Next::Continue)
    }
}

/// Packets without a task, and one about what this machine does not have: a cache of translations that all waves share.
macro_rules! nothing_to_do {
    ($($Packet:ident),+ $(,)?) => {
        $(
            impl Operation for $Packet {
                fn execute(&self, _: &mut Context<'_>) -> Result<Next, Halt> {
                    Ok(Next::Continue)
                }
            }
        )+
    };
}

nothing_to_do! { Nop, NopHeader, PrimeUtcl2 }

impl Operation for HdpFlush {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.hqd.flush_host_writes();
        Ok(Next::Continue)
    }
}
