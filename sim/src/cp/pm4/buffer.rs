//! Indirect buffers: packets elsewhere than in the ring.

use super::{Context, Engine, Next, Operation, bad_packet, length};
use crate::cp::hqd::{Halt, Hqd, read_words};
use ::pm4::Header;
use ::pm4::packet::{CondIndirectBuffer, CondIndirectBufferMode, IndirectBuffer};
use std::time::Duration;

/// An indirect buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cp) struct Buffer {
    /// Where its first packet is.
    pub(in crate::cp) address: u64,
    /// Its length in dwords.
    pub(in crate::cp) dwords: u32,
}

/// Runs an indirect buffer to its end, or to the end of the last that it goes on in.
///
/// Compute queues do not call from a called buffer (PAL, gfx9CmdStream: chains alone on compute). How often buffers
/// go on in others has no bound; the queue can be stopped between any two packets.
pub(in crate::cp) fn run(engine: &mut Engine, hqd: &mut Hqd, first: Buffer) -> Result<(), Halt> {
    let (mut buffer, mut at) = (first, 0);
    let mut words = Vec::new();
    while at < buffer.dwords {
        hqd.rest(Duration::ZERO)?;
        let address = buffer.address.wrapping_add(u64::from(at) * 4);
        let header = Header(hqd.memory.acquire_u32(address)?);
        let left = buffer.dwords - at;
        let dwords = length(address, header)?;
        if dwords > left {
            let problem = format!("{dwords} dwords in a buffer with {left} left");
            return Err(bad_packet(address, header, problem));
        }
        words.resize(dwords as usize, 0);
        read_words(&mut hqd.memory, address, &mut words)?;
        words[0] = header.0;
        at += dwords;
        match engine.execute(hqd, &words, [address, address.wrapping_add(4)], false)? {
            Next::Continue => {}
            Next::Skip(count) if count <= buffer.dwords - at => at += count,
            Next::Skip(count) => {
                let problem = format!("skips {count} dwords of {} left", buffer.dwords - at);
                return Err(bad_packet(address, header, problem));
            }
            Next::Call(_) => {
                let problem = "calls an indirect buffer from an indirect buffer";
                return Err(bad_packet(address, header, problem));
            }
            Next::Jump(next) => (buffer, at) = (next, 0),
        }
    }
    Ok(())
}

impl Operation for IndirectBuffer {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        if !self.valid {
            return Err(at.malformed("the VALID bit is clear"));
        }
        if self.ib_size == 0 {
            return Err(at.malformed("an empty buffer"));
        }
        if self.vmid != 0 {
            return Err(at.not_modelled("an indirect buffer of another VMID"));
        }
        let buffer = Buffer { address: self.ib_base, dwords: self.ib_size };
        match (self.chain, at.in_ring) {
            (false, _) => Ok(Next::Call(buffer)),
            (true, false) => Ok(Next::Jump(buffer)),
            (true, true) => Err(at.malformed("a ring goes on in an indirect buffer for good")),
        }
    }
}

/// In a buffer it goes on in the chosen one for good, as INDIRECT_BUFFER with CHAIN does: PAL ends blocks with it, loops
/// by it, and has chosen blocks jump to what follows (gfxCmdStream.cpp, `If`, `EndIf`, `While`).
impl Operation for CondIndirectBuffer {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        // The layout has bits 31:3 of the address; the hardware takes multiples of 4 (PAL, gfx9CmdUtil.cpp and
        // gfx12CmdUtil.cpp, `BuildCondIndirectBuffer`).
        let address = self.compare_addr | u64::from(self.reserved[2] & 4);
        let value = if address.is_multiple_of(8) {
            at.hqd.memory.acquire_u64(address)?
        } else {
            let low = at.hqd.memory.acquire_u32(address)?;
            let high = at.hqd.memory.acquire_u32(address.wrapping_add(4))?;
            u64::from(low) | u64::from(high) << 32
        };
        // What PAL documents is `(memory & mask) op reference` (palCmdBuffer.h, `CmdIf`); a gfx1151 was seen to mask the
        // reference, too, a gfx1100 not to (hrx, docs/reference/amd/gpu/pm4/conditional.md).
        if self.reference & !self.mask != 0 {
            return Err(at.not_modelled("a reference with bits outside its mask"));
        }
        let holds = at.compare(self.function, value & self.mask, self.reference)?;
        let chosen = match (self.mode, holds) {
            (CondIndirectBufferMode::IF_THEN | CondIndirectBufferMode::IF_THEN_ELSE, true) => {
                Some((self.ib_base1, self.ib_size1))
            }
            (CondIndirectBufferMode::IF_THEN, false) => None,
            (CondIndirectBufferMode::IF_THEN_ELSE, false) => Some((self.ib_base2, self.ib_size2)),
            _ => return Err(at.malformed("an unknown mode")),
        };
        Ok(match chosen {
            Some((_, 0)) => return Err(at.malformed("an empty buffer")),
            Some((address, dwords)) if at.in_ring => Next::Call(Buffer { address, dwords }),
            Some((address, dwords)) => Next::Jump(Buffer { address, dwords }),
            None => Next::Continue,
        })
    }
}
