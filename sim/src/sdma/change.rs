//! Fences, traps, atomics, time stamps: what comes after all that is before it.

use super::Sdma;
use super::execute::malformed;
use crate::cp::{Backoff, Halt, TcOp};
use ::sdma::packet::{Atomic, Fence, TimestampSet, Trap};
use std::sync::atomic::{Ordering, fence};

/// Bits of a trap's context that the KFD looks at (`event_interrupt_wq_v9` and `event_interrupt_wq_v11`).
const CONTEXT: u32 = 0x0fff_ffff;

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
        let Some(operation) = TcOp::of(packet.atomic_op.0) else {
            return Err(self.not_modelled(format!("atomic operation {}", packet.atomic_op.0)));
        };
        let (data, compare) = (packet.src_data, packet.cmp_data);
        let repeats = packet.looped && operation.function.is_compare();
        let mut backoff = Backoff::default();
        loop {
            let old = operation.execute(&mut self.hqd.memory, packet.addr, data, compare)?;
            if !repeats || operation.swaps(old, compare) {
                return Ok(());
            }
            self.hqd.rest(backoff.next())?;
        }
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
