//! Fences, traps, atomics, time stamps: what comes after all that is before it.

use super::Sdma;
use super::execute::malformed;
use crate::cp::{Backoff, Halt};
use crate::shader::AtomicFunction as Function;
use ::sdma::packet::{Atomic, Fence, TimestampSet, Trap};
use std::sync::atomic::{Ordering, fence};

/// Bits of a trap's context that the KFD looks at (`event_interrupt_wq_v9` and `event_interrupt_wq_v11`).
const CONTEXT: u32 = 0x0fff_ffff;

/// The function of an `atomic_op`, and whether it is one of 64 bits. Its lowest five bits name the function, bit 5 says
/// 64 bits, bit 6 that nothing is returned (TC_OP of AMD's `vega10_enum.h` to `soc24_enum.h`).
fn function(op: u8) -> Option<(Function, bool)> {
    let function = match op & 0x1f {
        1 => Function::CompareSwapFloat,
        2 => Function::MinFloat,
        3 => Function::MaxFloat,
        7 => Function::Swap,
        8 => Function::CompareSwap,
        15 => Function::Add,
        16 => Function::Subtract,
        17 => Function::MinSigned,
        18 => Function::MinUnsigned,
        19 => Function::MaxSigned,
        20 => Function::MaxUnsigned,
        21 => Function::And,
        22 => Function::Or,
        23 => Function::Xor,
        24 => Function::Increment,
        25 => Function::Decrement,
        _ => return None,
    };
    Some((function, op & 0x20 != 0))
}

impl Sdma {
    /// Writes a dword behind all that was copied.
    pub(super) fn fence(&mut self, packet: &Fence) -> Result<(), Halt> {
        if !packet.addr.is_multiple_of(4) {
            return Err(malformed("a fence at an address between dwords"));
        }
        fence(Ordering::Release);
        Ok(self.hqd.memory.write_u32(packet.addr, packet.data)?)
    }

    pub(super) fn trap(&self, packet: &Trap) {
        self.hqd.host.end_of_pipe_interrupt(packet.int_context & CONTEXT);
    }

    /// An atomic operation; one that compares and is to be repeated waits until it finds what it looks for.
    pub(super) fn atomic(&mut self, packet: &Atomic) -> Result<(), Halt> {
        let Some((function, wide)) = function(packet.atomic_op.0) else {
            return Err(self.not_modelled(format!("atomic operation {}", packet.atomic_op.0)));
        };
        let (data, compare) = (packet.src_data, packet.cmp_data);
        let repeats = packet.looped && function.is_compare();
        let mut backoff = Backoff::default();
        loop {
            // Whether the comparison holds is whether another operand takes the place of what was there.
            let swaps = if wide {
                let old = self.change_qword(packet.addr, function, data, compare)?;
                function.apply64(old, !old, compare) != old
            } else {
                let (data, compare) = (data as u32, compare as u32);
                let old = self.change_dword(packet.addr, function, data, compare)?;
                function.apply32(old, !old, compare) != old
            };
            if swaps || !repeats {
                return Ok(());
            }
            self.hqd.rest(backoff.next())?;
        }
    }

    fn change_dword(
        &mut self,
        addr: u64,
        function: Function,
        data: u32,
        compare: u32,
    ) -> Result<u32, Halt> {
        Ok(self.hqd.memory.atomic_u32(addr, |old| function.apply32(old, data, compare))?)
    }

    /// Returns what was there.
    pub(super) fn change_qword(
        &mut self,
        addr: u64,
        function: Function,
        data: u64,
        compare: u64,
    ) -> Result<u64, Halt> {
        Ok(self.hqd.memory.atomic_u64(addr, |old| function.apply64(old, data, compare))?)
    }

    pub(super) fn set_counter(&mut self, packet: &TimestampSet) {
        self.counter = packet.init_data.wrapping_sub(self.hqd.host.clock());
    }

    /// Stores the GPU's counter, displaced.
    pub(super) fn store_counter(&mut self, address: u64, displacement: u64) -> Result<(), Halt> {
        let counter = self.hqd.host.clock().wrapping_add(displacement);
        Ok(self.hqd.memory.release_u64(address, counter)?)
    }
}
