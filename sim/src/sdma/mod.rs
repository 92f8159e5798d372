//! SDMA engines: what copies memory while compute units do something else.
//!
//! # Architecture
//! - `ring`: the ring, its pointers, and where the next packet comes from.
//! - `execute`: from a packet's name to what does it.
//! - `copy`: copies, fills, writes.
//! - `wait`: polls, semaphores, conditions.
//! - `change`: fences, traps, atomics, time stamps.
//! - `refuse`: what is known of packets and not modelled.
//!
//! Packets and their layouts are those of the crate `sdma`. A queue is a [`RingProcessor`](crate::cp::RingProcessor) of
//! kind [`QueueKind::Sdma`](crate::cp::QueueKind).
//!
//! # Pointers
//! Write pointer, doorbell and read pointer are bytes, of 64 bits, and do not wrap where the ring does (Linux
//! `sdma_v4_0.c` to `sdma_v7_0.c`, `*_ring_set_wptr` and `*_ring_get_rptr`, which shift dwords by 2; ROCr,
//! `amd_blit_sdma.cpp`, `UpdateWriteAndDoorbellRegister`; tinygrad, `ops_amd.py`, `put_value`). From 6.0 on the
//! engine's firmware polls the write pointer's memory, too (`F32_WPTR_POLL_ENABLE` of `kfd_mqd_manager_v11.c` and
//! `kfd_mqd_manager_v12.c`, `update_mqd_sdma`), and may start before the doorbell rings; before that it is the doorbell
//! only.
//!
//! A packet that reaches over the ring's end goes on at its start, as Linux's own rings have it (`amdgpu_ring_write`
//! masks every dword's index); ROCr and tinygrad fill the end with NOPs. A packet that is not whole yet waits for its
//! rest.
//!
//! # Order
//! On hardware copies, fills and writes of a queue may overlap each other; FENCE and ATOMIC are known to come after what
//! is before them (ROCr, `amd_blit_sdma.cpp`, at `sync_command_size`; Linux's `emit_pipeline_sync` polls the fence).
//! Here each packet is complete before the next one starts, unless the machine's ordering mode says otherwise: then copies,
//! fills and writes are done later, in any order, before the next packet of another kind. Bytes are copied from the first
//! to the last, a page's length at a time: a copy onto itself gives what it gives. Queues run side by side, also those
//! of one engine, which on hardware take turns.
//!
//! # Errors
//! - A page fault ends the queue, as one of a shader does; what was copied before it stays copied.
//! - Dwords that are no packet stop the queue where they are: Linux gets an interrupt ("Illegal instruction in SDMA
//!   command stream", `sdma_v4_0_process_illegal_inst_irq`; from 5.0 on its handlers do nothing), of which
//!   `kfd_int_process_v9.c` to `kfd_int_process_v11.c` take no notice. The process is told nothing: it waits in vain.
//!   On hardware such a queue may be found hung when it leaves the engine; here it can be destroyed.
//! - What is known and not modelled is [refused](crate::cp::QueueError::NotModelled), as are packets for the kernel
//!   driver's queues. A register write of a queue without privilege raises an interrupt that Linux logs
//!   (`sdma_v4_0_process_srbm_write_irq`) and seems to be dropped: programs that met it went on (ROCm's issue 1507).
//!
//! # What it does not model
//! - Caches, but for an L2 that keeps copies. Cache policies and memory types change nothing.
//! - Encrypted, compressed, tiled and physical memory, registers, indirect buffers in indirect buffers: refused.
//! - Shortest submissions and double polls that engines of 4.0 need ([`Limits`](::sdma::limits::Limits)).
//! - The counter of activity that firmware keeps behind the read pointer (`read_sdma_queue_counter` of
//!   `kfd_device_queue_manager.c`).
//! - A queue that is stopped in an indirect buffer goes on in it: there is no state to save.

mod change;
mod copy;
mod execute;
mod refuse;
mod ring;
#[cfg(test)]
mod tests;
mod wait;

use crate::cp::{Halt, Hqd, Processor};
use crate::memory::Path;
use ::sdma::Version;
use ::sdma::versions::SDMA5_ON;
use ring::{Pointers, Stream};

/// An SDMA engine of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// What packets it takes.
    pub version: Version,
    /// Its number among the GPU's.
    pub number: u32,
}

impl Engine {
    /// How it reaches memory. Engines of 4.x are behind another hub than the graphics core and know nothing of its L2
    /// (`AMDGPU_MMHUB0` in sdma_v4_0.c and sdma_v4_4_2.c; `AMDGPU_GFXHUB` from sdma_v5_0.c on). From 5.0 on it is a
    /// matter of the policies in registers and packets whether L2 is looked at.
    pub(crate) fn path(self) -> Path {
        if self.version.is_in(SDMA5_ON) { Path::Both } else { Path::Past }
    }
}

/// The processor of an SDMA queue.
#[derive(Debug)]
pub(crate) struct Sdma {
    /// Its `packet` is the place of the next packet, as the read pointer has it.
    hqd: Hqd,
    engine: Engine,
    pointers: Pointers,
    /// The address of the packet that is processed.
    place: u64,
    /// What is added to the GPU's counter to have the engine's own, which TIMESTAMP_SET sets. In what unit that one
    /// counts is not published; here both do in the same.
    counter: u64,
    /// Copies, fills and writes that are held back: places and dwords.
    held: Vec<(u64, Vec<u32>)>,
}

impl Processor for Sdma {
    fn step(&mut self) -> Result<(), Halt> {
        self.packet(&mut Stream::Ring)?;
        self.hqd.memory.release_u64(self.hqd.configuration.read_pointer, self.hqd.packet)?;
        self.hqd.count_packet();
        Ok(())
    }

    fn hqd(&self) -> &Hqd {
        &self.hqd
    }
}

impl Sdma {
    /// Of a queue whose read pointer is at `first`.
    pub(crate) fn new(engine: Engine, first: u64, mut hqd: Hqd) -> Sdma {
        hqd.packet = first;
        Sdma { pointers: Pointers::at(first), place: 0, engine, hqd, counter: 0, held: Vec::new() }
    }
}
