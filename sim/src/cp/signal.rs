//! Signals as a packet processor uses them. Addresses are those of `amd_signal_t`; 0 is no signal.

use super::Host;
use crate::memory::{MemoryFault, View};
use aql::signal::offset;

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

/// Decrements the value and tells the host.
pub(super) fn complete(
    memory: &mut View,
    host: &dyn Host,
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
    memory.atomic_u64(signal.wrapping_add(offset::VALUE), |value| value.wrapping_sub(1))?;
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
