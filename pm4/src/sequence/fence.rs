//! Fences: telling others that the work before is done. The queue needs an EOP buffer for each of these.

use super::cache::{Scope, release};
use super::whole::{check_address, whole};
use crate::generation::Generation;
use crate::layout::{Sink, WriteError, Writer};
use crate::packet::{DataSelect, InterruptSelect, ReleaseMem};

/// Where 64 bits can be.
const MULTIPLES_OF_8: u64 = !7;

/// Writes a 64-bit value when all work before it is done and what it wrote is seen in the scope. `address` is a
/// multiple of 8.
///
/// The value is written when the cache write-backs before it have arrived (`int_sel` 3, as PAL and kfdtest do
/// it). The packets that follow do not wait for it. With several XCCs each writes it when it is done itself:
/// [`on_first_xcc`](super::on_first_xcc).
///
/// # Errors
/// When the address is no multiple of 8, or there is no room.
#[inline]
pub fn fence<S: Sink>(
    to: &mut Writer<S, Generation>,
    scope: Scope,
    address: u64,
    value: u64,
) -> Result<(), WriteError> {
    check_address(ReleaseMem::LAYOUT.name, "address", address, MULTIPLES_OF_8)?;
    to.push(&ReleaseMem {
        data_sel: DataSelect::SEND_64_BIT_DATA,
        int_sel: InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM,
        address,
        data: value,
        ..release(scope, to.variant())
    })
}

/// Where the kernel driver looks for the event of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mailbox {
    /// The event's slot in the event page: page address + 8 × slot.
    pub address: u64,
    /// The event's id.
    pub event_id: u32,
}

/// [`fence`], then wakes those who wait for an event of the kernel driver.
///
/// Two packets: first the value, so that it is there when the host wakes up; then the event's id into its
/// mailbox and, when that has arrived, the interrupt (`int_sel` 2). The interrupt carries the id as well; the
/// mailbox is for where the driver does not get it (Linux, kfd_int_process_v9.c and kfd_events.c). With several
/// XCCs each would interrupt: [`on_first_xcc`](super::on_first_xcc).
///
/// # Errors
/// When an address is no multiple of 8, or there is no room for both.
pub fn fence_with_interrupt<S: Sink>(
    to: &mut Writer<S, Generation>,
    scope: Scope,
    address: u64,
    value: u64,
    mailbox: Mailbox,
) -> Result<(), WriteError> {
    check_address(ReleaseMem::LAYOUT.name, "mailbox.address", mailbox.address, MULTIPLES_OF_8)?;
    whole(to, "fence and interrupt", |to| {
        fence(to, scope, address, value)?;
        to.push(&ReleaseMem {
            data_sel: DataSelect::SEND_32_BIT_LOW,
            int_sel: InterruptSelect::SEND_INTERRUPT_AFTER_WRITE_CONFIRM,
            address: mailbox.address,
            data: mailbox.event_id as u64,
            int_ctxid: mailbox.event_id,
            ..ReleaseMem::END_OF_PIPE
        })
    })
}

/// Writes the GPU's clock counter, 64 bits, when all work before it is done. `address` is a multiple of 8.
///
/// [`CopyData::gpu_clock`](crate::packet::CopyData::gpu_clock) writes the time at which the command processor
/// comes by instead: the one for where work starts, this for where it ends. With several XCCs each writes it:
/// [`on_first_xcc`](super::on_first_xcc).
///
/// # Errors
/// When the address is no multiple of 8, or there is no room.
pub fn timestamp<S: Sink>(to: &mut Writer<S, Generation>, address: u64) -> Result<(), WriteError> {
    check_address(ReleaseMem::LAYOUT.name, "address", address, MULTIPLES_OF_8)?;
    to.push(&ReleaseMem {
        data_sel: DataSelect::SEND_GPU_CLOCK_COUNTER,
        int_sel: InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM,
        address,
        ..ReleaseMem::END_OF_PIPE
    })
}
