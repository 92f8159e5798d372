//! Indirect buffers of PM4 that AQL packets refer to.
//!
//! Of PM4, only what AMD's runtime needs to invalidate caches is modelled: NOP and ACQUIRE_MEM,
//! which have nothing to do here, as there are no caches. Anything else is refused.

use super::error::QueueError;
use super::processor::Halt;
use crate::memory::View;
use aql::Pm4Indirect;

/// IT_NOP (Linux nvd.h, PACKET3_NOP).
const NOP: u32 = 0x10;
/// IT_ACQUIRE_MEM (PACKET3_ACQUIRE_MEM).
const ACQUIRE_MEM: u32 = 0x58;
/// A NOP with this count is one dword long.
const NOP_ONE_DWORD: u32 = 0x3fff;

/// Runs an indirect buffer.
pub(super) fn run(memory: &mut View, packet: &Pm4Indirect) -> Result<(), Halt> {
    let refuse = |problem: String| Halt::from(QueueError::VendorPacket(problem));
    if !packet.valid {
        return Err(refuse(format!("{packet}: the VALID bit is clear")));
    }
    let size = packet.size;
    let mut at = 0;
    while at < size {
        let address = packet.address.wrapping_add(u64::from(at) * 4);
        let header = memory.read_u32(address)?;
        let (kind, count, opcode) = (header >> 30, header >> 16 & 0x3fff, header >> 8 & 0xff);
        let dwords = match (kind, opcode) {
            (2, _) => 1,
            (3, NOP) if count == NOP_ONE_DWORD => 1,
            (3, NOP | ACQUIRE_MEM) => count + 2,
            _ => return Err(refuse(format!("PM4 header {header:#010x} at {address:#x}"))),
        };
        if dwords > size - at {
            let left = size - at;
            return Err(refuse(format!(
                "PM4 packet of {dwords} dwords at {address:#x} in a buffer with {left} left"
            )));
        }
        at += dwords;
    }
    Ok(())
}
