//! Signals as a packet processor uses them. Addresses are those of `amd_signal_t`; 0 is no signal.

use super::Host;
use crate::memory::{MemoryFault, View};
use aql::signal::offset;
use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::Duration;

/// What to do to the host after a signal's value has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    mailbox: u64,
    id: u32,
}

impl Event {
    /// The event of a signal, if it has one.
    fn of(memory: &mut View, signal: u64) -> Result<Option<Event>, MemoryFault> {
        let mailbox = memory.read_u64(signal.wrapping_add(offset::EVENT_MAILBOX_PTR))?;
        let id = memory.read_u32(signal.wrapping_add(offset::EVENT_ID))?;
        Ok((mailbox != 0).then_some(Event { mailbox, id }))
    }

    fn send(self, memory: &mut View, host: &dyn Host) -> Result<(), MemoryFault> {
        memory.release_u64(self.mailbox, self.id.into())?;
        host.end_of_pipe_interrupt(self.id);
        Ok(())
    }
}

/// The value.
pub(super) fn value(memory: &mut View, signal: u64) -> Result<i64, MemoryFault> {
    Ok(memory.acquire_u64(signal.wrapping_add(offset::VALUE))?.cast_signed())
}

/// Writes the halves of a value one after the other.
pub(super) fn torn(
    memory: &mut View,
    address: u64,
    value: u64,
    between: Duration,
) -> Result<(), MemoryFault> {
    fence(Ordering::Release);
    memory.write_u32(address, value as u32)?;
    thread::sleep(between);
    memory.write_u32(address.wrapping_add(4), (value >> 32) as u32)
}

/// Decrements the value and tells the host.
pub(super) fn complete(
    memory: &mut View,
    host: &dyn Host,
    queue: u32,
    signal: u64,
    timestamps: Option<(u64, u64)>,
) -> Result<(), MemoryFault> {
    if signal == 0 {
        return Ok(());
    }
    if let Some((start, end)) = timestamps {
        memory.write_u64(signal.wrapping_add(offset::START_TS), start)?;
        memory.write_u64(signal.wrapping_add(offset::END_TS), end)?;
    }
    // A host that sees the value may free the signal, so the event comes first.
    let event = Event::of(memory, signal)?;
    let address = signal.wrapping_add(offset::VALUE);
    match host.torn_write(queue) {
        None => {
            memory.atomic_u64(address, |value| value.wrapping_sub(1))?;
        }
        Some(between) => {
            let value = memory.read_u64(address)?.wrapping_sub(1);
            torn(memory, address, value, between)?;
        }
    }
    event.map_or(Ok(()), |event| event.send(memory, host))
}

/// Replaces the value and tells the host.
pub(super) fn store(
    memory: &mut View,
    host: &dyn Host,
    signal: u64,
    value: u64,
) -> Result<(), MemoryFault> {
    if signal == 0 {
        return Ok(());
    }
    let event = Event::of(memory, signal)?;
    memory.atomic_u64(signal.wrapping_add(offset::VALUE), |_| value)?;
    event.map_or(Ok(()), |event| event.send(memory, host))
}
