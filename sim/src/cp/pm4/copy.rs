//! COPY_DATA, DMA_DATA: the command processor copies by itself.
//!
//! That COPY_DATA of 32 bits reads the dword behind as well, and hangs gfx1100 where that is in a page that is not
//! mapped, is not modelled.

use super::{Context, Next, Operation};
use crate::cp::hqd::Halt;
use ::pm4::packet::{
    CopyData, CopyDataRegister, CopyDestination, CopySource, DmaData, DmaDataFillMulti,
    DmaDestination, DmaSource,
};
use std::time::Duration;

/// Bytes that are copied between two looks at whether the queue is to stop.
const PIECE: u32 = 4096;

impl Context<'_> {
    /// What COPY_DATA reads.
    fn copied(&mut self, source: CopySource, from: u64, is_wide: bool) -> Result<u64, Halt> {
        Ok(match source {
            CopySource::TC_L2 | CopySource::TC_L2_OBSOLETE if is_wide => {
                if !from.is_multiple_of(8) {
                    return Err(self.malformed("64 bits are read from a multiple of 8"));
                }
                self.hqd.memory.acquire_u64(from)?
            }
            CopySource::TC_L2 | CopySource::TC_L2_OBSOLETE => {
                self.hqd.memory.acquire_u32(from & !3)?.into()
            }
            CopySource::MEM_MAPPED_REGISTER | CopySource::PERFCOUNTERS if is_wide => {
                self.two_registers(from as u32)?
            }
            CopySource::MEM_MAPPED_REGISTER | CopySource::PERFCOUNTERS => {
                self.register(from as u32)?.into()
            }
            CopySource::IMMEDIATE_DATA => from,
            CopySource::ATOMIC_RETURN_DATA => self.engine.atomic_return,
            CopySource::GPU_CLOCK_COUNT => self.hqd.host.clock(),
            _ => return Err(self.not_modelled("this source")),
        })
    }
}

impl Operation for CopyData {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let value = at.copied(self.src_sel, self.src, self.count_sel)?;
        match self.count_sel {
            true => at.store_u64(self.dst_addr, value)?,
            false => at.store_u32(self.dst_addr & !3, value as u32)?,
        }
        Ok(Next::Continue)
    }
}

impl Operation for CopyDataRegister {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if self.dst_sel != CopyDestination::MEM_MAPPED_REGISTER {
            return Err(at.not_modelled("this destination"));
        }
        let value = at.copied(self.src_sel, self.src, self.count_sel)?;
        let register = self.dst_reg_offset as u32;
        at.set(register, value as u32)?;
        if self.count_sel {
            at.set(register.wrapping_add(1), (value >> 32) as u32)?;
        }
        Ok(Next::Continue)
    }
}

impl Operation for DmaData {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if self.sas || self.das || self.saic || self.daic {
            return Err(at.not_modelled("registers, and addresses that stay the same"));
        }
        // What goes nowhere is read all the same: into L2 (PAL, gfx9CmdUtil.cpp, `BuildPrimeGpuCaches`).
        let to = match self.dst_sel {
            DmaDestination::DST_ADDR_USING_DAS | DmaDestination::DST_ADDR_USING_L2 => {
                Some(self.dst_addr)
            }
            DmaDestination::DST_NOWHERE => None,
            _ => return Err(at.not_modelled("this destination")),
        };
        match (self.src_sel, to) {
            (DmaSource::DATA, Some(to)) => at.fill(to, self.src as u32, self.byte_count)?,
            (DmaSource::DATA, None) => {}
            (DmaSource::SRC_ADDR_USING_SAS | DmaSource::SRC_ADDR_USING_L2, to) => {
                at.copy(to, self.src, self.byte_count)?;
            }
            _ => return Err(at.not_modelled("this source")),
        }
        Ok(Next::Continue)
    }
}

impl Operation for DmaDataFillMulti {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let is_usual = u64::from(self.dst_sel) == u64::from(DmaDestination::DST_ADDR_USING_L2.0)
            && u64::from(self.src_sel) == u64::from(DmaSource::DATA.0);
        if !is_usual || self.memlog_clear {
            return Err(at.not_modelled("another fill than with zeros through L2"));
        }
        let mut address = self.dst_addr;
        for _ in 0..self.dma_count {
            at.hqd.rest(Duration::ZERO)?;
            at.fill(address, 0, self.byte_count)?;
            address = address.wrapping_add(self.byte_stride.into());
        }
        Ok(Next::Continue)
    }
}

impl Context<'_> {
    fn copy(&mut self, mut to: Option<u64>, mut from: u64, mut bytes: u32) -> Result<(), Halt> {
        let mut piece = [0; PIECE as usize];
        while bytes != 0 {
            let length = bytes.min(PIECE);
            let piece = &mut piece[..length as usize];
            self.hqd.memory.read_bytes(from, piece)?;
            if let Some(to) = &mut to {
                self.hqd.memory.write_bytes(*to, piece)?;
                *to = to.wrapping_add(length.into());
            }
            from = from.wrapping_add(length.into());
            bytes -= length;
            self.hqd.rest(Duration::ZERO)?;
        }
        Ok(())
    }

    fn fill(&mut self, mut to: u64, dword: u32, mut bytes: u32) -> Result<(), Halt> {
        if !bytes.is_multiple_of(4) || !to.is_multiple_of(4) {
            return Err(self.malformed("fills are of whole dwords"));
        }
        while bytes != 0 {
            let length = bytes.min(PIECE);
            for _ in 0..length / 4 {
                self.hqd.memory.write_u32(to, dword)?;
                to = to.wrapping_add(4);
            }
            bytes -= length;
            self.hqd.rest(Duration::ZERO)?;
        }
        Ok(())
    }
}
