//! Buffer objects.

use super::process::Mappable;
use crate::board::{Contents, Extent, Held, Request, Use};
use crate::count::Token;
use crate::machine::Shared;
use crate::memory::Backing;
use kfd::uapi::amdgpu::GemDomain;
use selvedge_sys::Errno;
use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// What the driver's users store with a buffer.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) flags: u64,
    /// `AMDGPU_TILING_*`
    pub(crate) tiling: u64,
    pub(crate) bytes: Vec<u8>,
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
    /// Where its users want it: `AMDGPU_GEM_DOMAIN_*`.
    preferred: AtomicU64,
    /// Bytes, as its maker asked.
    alignment: AtomicU64,
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
            preferred: AtomicU64::new(match domain {
                Domain::Vram => GemDomain::VRAM.bits(),
                _ => GemDomain::GTT.bits(),
            }),
            alignment: AtomicU64::new(crate::board::PAGE),
            machine: machine.clone(),
            record,
            _memory: memory,
            _token: machine.counters.buffers.token(),
        })
    }

    /// Where its users want it. Another process that has it from a dma-buf knows where it was made.
    pub(crate) fn preferred(&self) -> GemDomain {
        GemDomain::from_bits_retain(self.preferred.load(Ordering::Relaxed))
    }

    /// Its users want it elsewhere.
    pub(crate) fn prefer(&self, domains: GemDomain) {
        self.preferred.store(domains.bits(), Ordering::Relaxed);
    }

    /// The alignment that was asked for, bytes.
    pub(crate) fn alignment(&self) -> u64 {
        self.alignment.load(Ordering::Relaxed)
    }

    /// Its maker asked for that alignment.
    pub(crate) fn align(&self, bytes: u64) {
        self.alignment.store(bytes, Ordering::Relaxed);
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

    /// What AMDGPU_GEM_METADATA has stored.
    pub(crate) fn metadata(&self) -> Result<Metadata, Errno> {
        let Some(id) = self.record else { return Ok(Metadata::default()) };
        let answer = self.machine.memory.ask(&Request::Metadata { id })?;
        let [flags, tiling, ..] = answer.words;
        Ok(Metadata { flags, tiling, bytes: answer.bytes })
    }

    /// Stores that.
    pub(crate) fn set_metadata(&self, metadata: Metadata) -> Result<(), Errno> {
        let id = self.record.ok_or(Errno::EINVAL)?;
        let Metadata { flags, tiling, bytes } = metadata;
        self.machine.memory.ask(&Request::SetTiling { id, tiling })?;
        // Without bytes the flags stay what they were (amdgpu_object.c, `amdgpu_bo_set_metadata`).
        let flags = if bytes.is_empty() { self.metadata()?.flags } else { flags };
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
