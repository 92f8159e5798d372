//! Indirect buffers of PM4 that AQL packets refer to.
//!
//! Of PM4, only what AMD's runtime needs to invalidate caches is modelled: NOP and ACQUIRE_MEM,
//! which have nothing to do here, as there are no caches. Anything else is refused.

use super::error::QueueError;
use super::hqd::Halt;
use crate::memory::View;
use ::pm4::Header;
use aql::Pm4Indirect;

/// IT_NOP (Linux nvd.h, PACKET3_NOP).
const NOP: u8 = 0x10;
/// IT_ACQUIRE_MEM (PACKET3_ACQUIRE_MEM).
const ACQUIRE_MEM: u8 = 0x58;

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
        let header = Header(memory.read_u32(address)?);
        let known = match header.packet_type() {
            2 => true,
            3 => matches!(header.opcode(), NOP | ACQUIRE_MEM),
            _ => false,
        };
        let Some(dwords) = header.dwords().filter(|_| known) else {
            return Err(refuse(format!("PM4 header {:#010x} at {address:#x}", header.0)));
        };
        let dwords = dwords as u32;
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
