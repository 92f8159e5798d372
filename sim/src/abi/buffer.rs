//! Buffer objects.

use super::process::Mappable;
use crate::board::{Contents, Extent, Held, Request, Use};
use crate::count::Token;
use crate::machine::Shared;
use crate::memory::Backing;
use selvedge_sys::Errno;
use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

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
    machine: Arc<Shared>,
    /// The board's record, of memory that the kernel gave.
    record: Option<u64>,
    _memory: Box<dyn Any + Send + Sync>,
    _token: Token,
}

impl Buffer {
    /// Machine memory: VRAM or GTT. On an APU whose VRAM is system memory the caller passes GTT. VRAM counts as that of
    /// the kfd_process with this number, where there is one.
    ///
    /// # Errors
    /// ENOMEM when the limit or the board is exhausted.
    pub(crate) fn allocate(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        size: u64,
        flags: u64,
        process: Option<u32>,
    ) -> Result<Arc<Buffer>, Errno> {
        let size = size.checked_next_multiple_of(crate::board::PAGE).ok_or(Errno::ENOMEM)?;
        let what = if domain == Domain::Vram { Use::Vram } else { Use::Gtt };
        // GTT pages come zeroed (ttm_tt.c, TTM_TT_FLAG_ZERO_ALLOC).
        let contents = match domain {
            Domain::Vram if !machine.kernel.vram_cleared => Contents::Poison,
            _ => Contents::Cleared,
        };
        let take = Request::Take { what, gpu, bytes: size, flags, process };
        let counter = &machine.counters.buffer_bytes;
        let extent = machine.memory.allocate(&take, size, contents, counter)?;
        let buffer = Self::of(machine, gpu, domain, extent, flags);
        machine.remember(&buffer);
        Ok(buffer)
    }

    fn of(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        extent: Extent,
        flags: u64,
    ) -> Arc<Buffer> {
        let backing = extent.backing.clone();
        let memory = (backing, extent.offset);
        let record = Some(extent.record);
        Self::new(machine, gpu, domain, memory, flags, (record, Box::new(extent)))
    }

    /// A buffer over memory that is somebody else's: the process's, or registers.
    pub(crate) fn over(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        backing: Arc<Backing>,
        flags: u64,
        reservation: Option<Held>,
    ) -> Arc<Buffer> {
        Self::new(machine, gpu, domain, (backing, 0), flags, (None, Box::new(reservation)))
    }

    fn new(
        machine: &Arc<Shared>,
        gpu: usize,
        domain: Domain,
        (backing, offset): (Arc<Backing>, u64),
        flags: u64,
        (record, memory): (Option<u64>, Box<dyn Any + Send + Sync>),
    ) -> Arc<Buffer> {
        Arc::new(Buffer {
            gpu,
            domain,
            size: backing.len(),
            backing,
            offset,
            flags,
            machine: machine.clone(),
            record,
            _memory: memory,
            _token: machine.counters.buffers.token(),
        })
    }

    /// A file that stands for the buffer wherever its descriptors go.
    ///
    /// # Errors
    /// EPERM: the process's own pages and registers cannot be exported (amdgpu_dma_buf.c, `amdgpu_gem_prime_export`).
    pub(crate) fn export(&self) -> Result<OwnedFd, Errno> {
        let id = self.record.ok_or(Errno::EPERM)?;
        self.machine.memory.ask(&Request::Export { id })?.file.ok_or(Errno::EMFILE)
    }

    /// The buffer that a file with this inode stands for.
    ///
    /// # Errors
    /// EINVAL when it stands for none.
    pub(crate) fn import(
        machine: &Arc<Shared>,
        device: u64,
        inode: u64,
    ) -> Result<Arc<Buffer>, Errno> {
        let answer = machine.memory.ask(&Request::Import { device, inode })?;
        let [record, what, gpu, size, flags, offset, ..] = answer.words;
        let counter = &machine.counters.buffer_bytes;
        let extent = machine.memory.extent((record, offset, size), counter);
        let gpu = usize::try_from(gpu).map_err(|_| Errno::EINVAL)?;
        let domain = if what == Use::Vram as u64 { Domain::Vram } else { Domain::Gtt };
        let known = machine.buffers().get(&record).and_then(Weak::upgrade);
        // What was asked for is given back where the process has it already.
        Ok(known.unwrap_or_else(|| {
            let buffer = Self::of(machine, gpu, domain, extent, flags);
            machine.remember(&buffer);
            buffer
        }))
    }

    /// `dma_buf_mmap_internal`: what a mapping of a dma-buf shows.
    pub(crate) fn mmap(&self, offset: u64, length: u64, cow: bool) -> Result<Mappable, Errno> {
        let end = offset.checked_add(length).ok_or(Errno::EINVAL)?;
        if end > self.size || self.offset == 0 || cow {
            return Err(Errno::EINVAL);
        }
        Ok((self.offset + offset, self.backing.clone()))
    }

    /// What AMDGPU_GEM_METADATA has stored: flags and bytes.
    pub(crate) fn metadata(&self) -> Result<(u64, Vec<u8>), Errno> {
        let Some(id) = self.record else { return Ok((0, Vec::new())) };
        let answer = self.machine.memory.ask(&Request::Metadata { id })?;
        Ok((answer.words[0], answer.bytes))
    }

    /// Stores that.
    pub(crate) fn set_metadata(&self, flags: u64, bytes: Vec<u8>) -> Result<(), Errno> {
        let id = self.record.ok_or(Errno::EINVAL)?;
        self.machine.memory.ask(&Request::SetMetadata { id, flags, bytes }).map(drop)
    }
}

impl Shared {
    fn remember(&self, buffer: &Arc<Buffer>) {
        if let Some(record) = buffer.record {
            self.buffers().insert(record, Arc::downgrade(buffer));
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(record) = self.record {
            let mut buffers = self.machine.buffers();
            // Another of the same record may have come meanwhile.
            if buffers.get(&record).is_some_and(|buffer| buffer.strong_count() == 0) {
                buffers.remove(&record);
            }
        }
    }
}
