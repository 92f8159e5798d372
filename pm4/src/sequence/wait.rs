//! Waiting in a queue, and going on elsewhere.

use super::whole::whole;
use crate::generation::Generation;
use crate::layout::{Sink, WriteError, Writer};
use crate::packet::{
    Compare, DataSelect, IndirectBuffer, InterruptSelect, ReleaseMem, WaitRegMem, WaitRegMem64,
};

/// Waits until all shaders before it have ended. `cell` is a dword that nobody else writes, a multiple of 4,
/// which does not hold `value` yet: count up, or take a dword of a NOP in the same buffer that is executed
/// once.
///
/// RELEASE_MEM writes the cell when the shaders are done, WAIT_REG_MEM waits for that. EVENT_WRITE with
/// CS_PARTIAL_FLUSH says the same in one packet but keeps the queue from being preempted while it waits, which
/// kfdtest (Dispatch.cpp) avoids for that reason, and old firmware of gfx10 hangs on it. Neither touches a
/// cache: see [`acquire`](super::acquire).
///
/// For one XCC. Several write the same cell, and the first that is done lets all others go on: there
/// CS_PARTIAL_FLUSH waits, in each for its own shaders (tinygrad does this).
///
/// # Errors
/// When the address is no multiple of 4, or there is no room for both.
pub fn wait_for_shaders<S: Sink>(
    to: &mut Writer<S, Generation>,
    cell: u64,
    value: u32,
) -> Result<(), WriteError> {
    whole(to, "RELEASE_MEM and WAIT_REG_MEM", |to| {
        to.push(&ReleaseMem {
            data_sel: DataSelect::SEND_32_BIT_LOW,
            int_sel: InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM,
            address: cell,
            data: value as u64,
            ..ReleaseMem::END_OF_PIPE
        })?;
        wait_until(to, cell, Compare::EQUAL_TO_THE_REFERENCE_VALUE, value)
    })
}

/// Waits until 32 bits of memory compare with a value: for another queue, an SDMA engine or the host. `address`
/// is a multiple of 4.
///
/// Other queues of the pipe run meanwhile (`optimize_ace_offload_mode`, as in kfdtest and PAL). On gfx12 the
/// command processor reads around L2: whoever writes the value there has to release it for
/// [`Scope::System`](super::Scope::System).
///
/// # Errors
/// When the address is no multiple of 4, or there is no room.
pub fn wait_until<S: Sink>(
    to: &mut Writer<S, Generation>,
    address: u64,
    function: Compare,
    value: u32,
) -> Result<(), WriteError> {
    to.push(&WaitRegMem {
        optimize_ace_offload_mode: true,
        ..WaitRegMem::memory(address, function, value)
    })
}

/// [`wait_until`] for 64 bits; `address` is a multiple of 8.
///
/// # Errors
/// When the address is no multiple of 8, or there is no room.
pub fn wait_until_64<S: Sink>(
    to: &mut Writer<S, Generation>,
    address: u64,
    function: Compare,
    value: u64,
) -> Result<(), WriteError> {
    to.push(&WaitRegMem64 {
        optimize_ace_offload_mode: true,
        ..WaitRegMem64::memory(address, function, value)
    })
}

/// Executes the packets of another buffer, `dwords` dwords at `address`, then goes on. The buffer must not call
/// in turn.
///
/// On gfx9 Linux sets IB_EXE_DISABLE for every compute queue (kfd_mqd_manager_v9.c, `update_mqd`). AMD does not
/// document what that stops; kfdtest calls buffers from queues of PM4 packets there nevertheless, tinygrad and
/// ROCr with the vendor packet PM4_IB from queues of AQL packets.
///
/// # Errors
/// When the address is no multiple of 4, the length above 0xfffff, or there is no room.
pub fn call<S: Sink>(
    to: &mut Writer<S, Generation>,
    address: u64,
    dwords: u32,
) -> Result<(), WriteError> {
    to.push(&IndirectBuffer::call(address, dwords))
}
