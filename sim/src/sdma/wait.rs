//! Polls, semaphores, conditions.

use super::Sdma;
use super::execute::malformed;
use crate::cp::{Backoff, Halt};
use ::sdma::packet::{CondExe, PollFunction, PollRegmem, PreExe, Semaphore};
use ::sdma::versions::SDMA7;
use std::sync::atomic::{Ordering, fence};

/// `retry_count` of a poll without end (Linux writes it; `sdma_v6_0_ring_emit_pipeline_sync`).
const WITHOUT_END: u16 = 0xfff;

/// Whether `value`, under the mask already, compares with `reference`; `None` for a function that there is not.
fn holds(function: PollFunction, value: u32, reference: u32) -> Option<bool> {
    Some(match function {
        PollFunction::ALWAYS_PASS => true,
        PollFunction::LESS_THAN_REF_VALUE => value < reference,
        PollFunction::LESS_THAN_EQUAL_TO_THE_REF_VALUE => value <= reference,
        PollFunction::EQUAL_TO_THE_REFERENCE_VALUE => value == reference,
        PollFunction::NOT_EQUAL_REFERENCE_VALUE => value != reference,
        PollFunction::GREATER_THAN_OR_EQUAL_REFERENCE_VALUE => value >= reference,
        PollFunction::GREATER_THAN_REFERENCE_VALUE => value > reference,
        _ => return None,
    })
}

impl Sdma {
    /// Waits for a dword of memory, or flushes the host data path.
    pub(super) fn poll(&mut self, packet: &PollRegmem) -> Result<(), Halt> {
        let flush = match self.engine.version.is_in(SDMA7) {
            true if packet.mode > 1 => return Err(self.not_modelled("a mode of POLL_REGMEM")),
            true => packet.mode == 1,
            false => packet.hdp_flush,
        };
        let holds = |value: u32| holds(packet.func, value & packet.mask, packet.value);
        if holds(0).is_none() {
            return Err(self.not_modelled("function 7 of POLL_REGMEM"));
        }
        if !packet.mem_poll {
            return self.poll_register(packet, flush);
        }
        if flush {
            return Err(self.not_modelled("a flush of the host data path with memory"));
        }
        if !packet.addr.is_multiple_of(4) {
            return Err(malformed("a poll of a dword at an address between them"));
        }
        let mut backoff = Backoff::default();
        let mut tries = packet.retry_count;
        loop {
            let value = self.hqd.memory.acquire_u32(packet.addr)?;
            if holds(value) == Some(true) {
                return Ok(());
            }
            // What an engine does when its tries are used up is not published beyond an interrupt that Linux only logs
            // (`sdma_v4_0_process_pool_timeout_irq`). An interval is less than what passes here.
            if tries != WITHOUT_END {
                match tries.checked_sub(1) {
                    Some(left) => tries = left,
                    None => return Err(self.not_modelled("a poll whose tries are used up")),
                }
            }
            self.hqd.rest(backoff.next())?;
        }
    }

    /// Registers are not modelled, but two forms need none: the flush, which is done at once, so that the register
    /// that says what is done has all that was requested; and the one that passes whatever the register holds, which
    /// ROCr writes for a flush (`BuildHdpFlushCommand`).
    fn poll_register(&mut self, packet: &PollRegmem, flush: bool) -> Result<(), Halt> {
        let done =
            flush && holds(packet.func, packet.value & packet.mask, packet.value) == Some(true);
        if flush {
            self.hqd.flush_host_writes();
        }
        if done || packet.func == PollFunction::ALWAYS_PASS {
            return Ok(());
        }
        Err(self.not_modelled("a poll of a register"))
    }

    /// Waits until a semaphore is not zero and takes one off, or signals it (as `cik_sdma_semaphore_ring_emit` of
    /// Linux's `cik_sdma.c` uses it).
    pub(super) fn semaphore(&mut self, packet: &Semaphore) -> Result<(), Halt> {
        let addr = packet.addr;
        if packet.signal {
            let one = packet.write_one;
            fence(Ordering::Release);
            self.hqd
                .memory
                .atomic_u64(addr, |value| if one { 1 } else { value.wrapping_add(1) })?;
            return Ok(());
        }
        self.hqd.wait(|memory| Ok(memory.atomic_u64(addr, |value| value.saturating_sub(1))? != 0))
    }

    /// COND_EXE: how many dwords are skipped.
    pub(super) fn condition(&mut self, packet: &CondExe) -> Result<usize, Halt> {
        if !packet.addr.is_multiple_of(4) {
            return Err(malformed("a condition at an address between dwords"));
        }
        let value = self.hqd.memory.acquire_u32(packet.addr)?;
        Ok(if value == packet.reference { 0 } else { packet.exec_count.into() })
    }

    /// PRE_EXE: how many dwords are skipped. AMD publishes no more than the fields' names; `dev_sel` is taken for one
    /// bit for each engine.
    pub(super) fn selection(&self, packet: &PreExe) -> usize {
        let selected = u32::from(packet.dev_sel).checked_shr(self.engine.number).unwrap_or(0) & 1;
        if selected != 0 { 0 } else { packet.exec_count.into() }
    }
}
