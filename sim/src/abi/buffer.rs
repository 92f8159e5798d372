//! Buffer objects.

use crate::board::Contents;
use crate::count::Token;
use crate::machine::{Reservation, Shared};
use crate::memory::Backing;
use selvedge_sys::Errno;
use std::any::Any;
use std::sync::{Arc, Mutex};

/// Where a buffer's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Memory of the GPU.
    Vram,
    /// System memory that the kernel gave.
    Gtt,
    /// Memory that is the process's own.
    User,
    /// A page of registers: doorbells or MMIO remap.
    Registers,
}

/// A buffer object.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// The GPU it was made on.
    pub(crate) gpu: usize,
    pub(crate) domain: Domain,
    /// Bytes, whole pages.
    pub(crate) size: u64,
    pub(crate) backing: Arc<Backing>,
    /// Where mmap of a render node finds it; 0 when it cannot be mapped.
    pub(crate) offset: u64,
    /// `AMDGPU_GEM_CREATE_*`
    pub(crate) flags: u64,
    /// Metadata that AMDGPU_GEM_METADATA stores, and its flags.
    pub(crate) metadata: Mutex<(u64, Vec<u8>)>,
    _memory: Box<dyn Any + Send + Sync>,
    _reservation: Option<Reservation>,
    _token: Token,
}

impl Buffer {
    /// Machine memory: VRAM or GTT. On an APU whose VRAM is system memory the caller passes GTT.
    ///
    /// # Errors
    /// ENOMEM when the limit or the board is exhausted.
    pub(crate) fn allocate(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        size: u64,
        flags: u64,
    ) -> Result<Arc<Buffer>, Errno> {
        let size = size.checked_next_multiple_of(crate::board::PAGE).ok_or(Errno::ENOMEM)?;
        let pool = (domain == Domain::Vram).then_some(gpu);
        let reservation = machine.reserve(pool, size)?;
        // GTT pages come zeroed (ttm_tt.c, TTM_TT_FLAG_ZERO_ALLOC).
        let contents = match domain {
            Domain::Vram if !machine.kernel.vram_cleared => Contents::Poison,
            _ => Contents::Cleared,
        };
        let extent = machine
            .memory
            .allocate(size, contents, &machine.counters.buffer_bytes)
            .ok_or(Errno::ENOMEM)?;
        let backing = extent.backing.clone();
        let offset = extent.offset;
        if let Some(gpu) = pool {
            machine.gpus[gpu].keep_track(&backing);
        }
        Ok(Self::new(
            machine,
            gpu,
            domain,
            (size, backing, offset),
            flags,
            Box::new(extent),
            Some(reservation),
        ))
    }

    /// A buffer over memory that is somebody else's: the process's, or registers.
    pub(crate) fn over(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        backing: Arc<Backing>,
        reservation: Option<Reservation>,
    ) -> Arc<Buffer> {
        let memory = (backing.len(), backing, 0);
        Self::new(machine, gpu, domain, memory, 0, Box::new(()), reservation)
    }

    fn new(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        (size, backing, offset): (u64, Arc<Backing>, u64),
        flags: u64,
        memory: Box<dyn Any + Send + Sync>,
        reservation: Option<Reservation>,
    ) -> Arc<Buffer> {
        Arc::new(Buffer {
            gpu,
            domain,
            size,
            backing,
            offset,
            flags,
            metadata: Mutex::default(),
            _memory: memory,
            _reservation: reservation,
            _token: machine.counters.buffers.token(),
        })
    }
}
