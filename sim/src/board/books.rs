//! The board's books: who holds what of the machine.
//!
//! Everything that processes share is a record here: a range of the memory file, a queue of the hardware, a kfd_process.
//! A record lasts as long as a member holds it or, of a buffer, a dma-buf that was made of it exists anywhere, if only
//! on its way through a socket. A member that leaves, by whatever means, holds nothing from then on.

mod shown;
#[cfg(test)]
mod tests;

use super::request::{Answer, Request, Use};
use super::{Memory, PAGE, START, memfd_of, poison};
use crate::abi::kfd::Engines;
use kfd::uapi::QUEUE_TYPE_COMPUTE_AQL;
use selvedge_sys::Errno;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// The member that the machine's own process is, where there is no other.
pub(super) const ALONE: u64 = 0;
/// Queues of all processes together on a device (`max_num_of_queues_per_device`, kfd_priv.h).
const MAX_QUEUES_PER_DEVICE: u32 = 4096;
/// Bytes that a buffer's metadata can have (`struct drm_amdgpu_gem_metadata`).
const MAX_METADATA: usize = 256;

/// What a record is of.
#[derive(Debug)]
enum What {
    Memory(Piece),
    Queue { gpu: usize, process: u32, queue: (u32, u32, u32) },
    Sdma { gpu: usize, kind: usize, queue: usize },
    Process { pid: u32, number: u32, pasid: u32, context: Option<u32> },
}

/// A piece of memory.
#[derive(Debug)]
struct Piece {
    what: Use,
    gpu: usize,
    bytes: u64,
    /// Where in the file; 0 of the process's own.
    offset: u64,
    flags: u64,
    metadata: (u64, Vec<u8>),
    tiling: u64,
    process: Option<u32>,
}

#[derive(Debug)]
struct Record {
    what: What,
    /// Who holds it, how often.
    holders: BTreeMap<u64, u32>,
    /// dma-bufs of it.
    exports: Vec<Export>,
}

/// A file that stands for a buffer. Whoever has a descriptor of it shares one open file, which holds a lock (flock(2)):
/// the kernel releases it when the last descriptor is gone, in whatever process or queue of messages that was. The
/// board looks by another open file of its own.
#[derive(Debug)]
struct Export(File);

impl Export {
    /// The board's side, and the file to hand out.
    fn new(bytes: u64) -> std::io::Result<(Export, OwnedFd)> {
        // lseek to the end tells a dma-buf's size.
        let own = File::from(memfd_of(c"dmabuf", bytes)?);
        let path = format!("/proc/self/fd/{}", own.as_raw_fd());
        let other = File::options().read(true).write(true).open(path)?;
        other.lock_shared()?;
        Ok((Export(own), other.into()))
    }

    fn is_held(&self) -> bool {
        let free = self.0.try_lock().is_ok();
        if free {
            // Nobody else can have it any more.
            let _ = self.0.unlock();
        }
        !free
    }

    fn identity(&self) -> Option<(u64, u64)> {
        self.0.metadata().ok().map(|file| (file.dev(), file.ino()))
    }
}

/// What is in use.
#[derive(Debug)]
struct Used {
    bytes: u64,
    limit: u64,
}

impl Used {
    /// Counts memory against its limit (amdgpu_amdkfd_gpuvm.c, `amdgpu_amdkfd_reserve_mem_limit`).
    fn add(&mut self, bytes: u64) -> Result<(), Errno> {
        let sum = self.bytes.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.bytes = sum.ok_or(Errno::ENOMEM)?;
        Ok(())
    }
}

/// A GPU as the books begin with it.
#[derive(Debug)]
pub(crate) struct Empty {
    /// The KFD's id of it.
    pub(crate) id: u32,
    /// Bytes of VRAM that processes may have.
    pub(crate) vram_limit: u64,
    /// Its SDMA queues.
    pub(crate) sdma: Engines,
    /// Its folder in sysfs.
    pub(crate) folder: String,
}

/// A GPU, as far as processes share it.
#[derive(Debug)]
struct Gpu {
    id: u32,
    folder: String,
    vram: Used,
    sdma: Engines,
    queues: u32,
    /// AQL queues there have been (`current_logical_xcc_start` of the kernel's device queue manager).
    aql_queues: u32,
    hangs: bool,
    /// Resets there have been (`gpu_reset_counter`, `vram_lost_counter`).
    resets: u32,
}

/// The books.
#[derive(Debug)]
pub(crate) struct Books {
    memory: Arc<Memory>,
    /// Free ranges of the memory file: start to length.
    free: BTreeMap<u64, u64>,
    gpus: Vec<Gpu>,
    system: Used,
    records: BTreeMap<u64, Record>,
    next_record: u64,
    next_process: u32,
    /// Buffers by the inode of a dma-buf.
    exports: HashMap<(u64, u64), u64>,
    /// Whether the KFD shows the PASID of a process: until Linux 6.14, when it was one for all GPUs.
    pasid_shown: bool,
}

impl Books {
    /// Nobody has anything. GPUs may have `system_limit` bytes of system memory.
    pub(crate) fn new(
        memory: Arc<Memory>,
        gpus: Vec<Empty>,
        system_limit: u64,
        pasid_shown: bool,
    ) -> Books {
        let gpu = |Empty { id, vram_limit, sdma, folder }| Gpu {
            id,
            folder,
            vram: Used { bytes: 0, limit: vram_limit },
            sdma,
            queues: 0,
            aql_queues: 0,
            resets: 0,
            hangs: false,
        };
        Books {
            free: BTreeMap::from([(START, memory.length() - START)]),
            memory,
            gpus: gpus.into_iter().map(gpu).collect(),
            system: Used { bytes: 0, limit: system_limit },
            records: BTreeMap::new(),
            next_record: 1,
            next_process: 0,
            exports: HashMap::new(),
            pasid_shown,
        }
    }

    /// A member is gone, and all that it held.
    pub(super) fn leave(&mut self, member: u64) {
        for record in self.records.values_mut() {
            record.holders.remove(&member);
        }
        self.sweep();
    }

    /// A bit for each GPU that hangs.
    pub(super) fn hanging(&self) -> u64 {
        (0..).zip(&self.gpus).map(|(index, gpu)| u64::from(gpu.hangs) << index).sum()
    }

    /// Does what a member asks.
    pub(super) fn handle(&mut self, member: u64, request: &Request) -> Result<Answer, Errno> {
        match request {
            &Request::Take { what, gpu, bytes, flags, process } => {
                let metadata = Default::default();
                let piece =
                    Piece { what, gpu, bytes, offset: 0, flags, metadata, tiling: 0, process };
                let first = self.take(piece);
                let piece = match first {
                    // What only a dma-buf held may be free by now.
                    Err(piece) if self.sweep() => self.take(piece),
                    other => other,
                };
                let piece = piece.map_err(|_| Errno::ENOMEM)?;
                let offset = piece.offset;
                Ok(Answer::of(&[self.record(member, What::Memory(piece)), offset]))
            }
            &Request::Release { id } => {
                let record = self.records.get_mut(&id).ok_or(Errno::EINVAL)?;
                let count = record.holders.get_mut(&member).ok_or(Errno::EINVAL)?;
                *count -= 1;
                if *count == 0 {
                    record.holders.remove(&member);
                }
                if !record.is_held() {
                    self.drop_record(id);
                }
                Ok(Answer::default())
            }
            &Request::Queue { gpu, process, queue } => {
                let device = self.gpus.get_mut(gpu).ok_or(Errno::EINVAL)?;
                if device.queues >= MAX_QUEUES_PER_DEVICE {
                    // kfd_device_queue_manager.c, `create_queue_cpsch`.
                    return Err(Errno::EPERM);
                }
                device.queues += 1;
                let before = device.aql_queues;
                if queue.1 == QUEUE_TYPE_COMPUTE_AQL {
                    device.aql_queues = before.wrapping_add(1);
                }
                let id = self.record(member, What::Queue { gpu, process, queue });
                Ok(Answer::of(&[id, before.into()]))
            }
            &Request::Sdma { gpu, wanted } => {
                let device = self.gpus.get_mut(gpu).ok_or(Errno::EINVAL)?;
                let (kind, queue) = device.sdma.take(wanted).ok_or(Errno::ENOMEM)?;
                let [engine, number] = device.sdma.place(kind, queue).to_words();
                let id = self.record(member, What::Sdma { gpu, kind, queue });
                Ok(Answer::of(&[id, engine, number]))
            }
            &Request::Process { pid, primary } => {
                let number = self.next_process;
                self.next_process += 1;
                let (pasid, context) = (self.free_pasid(), self.free_context(pid));
                let context = (!primary).then_some(context);
                let id = self.record(member, What::Process { pid, number, pasid, context });
                Ok(Answer::of(&[id, number.into()]))
            }
            Request::Usage => {
                self.sweep();
                let all = std::iter::once(&self.system).chain(self.gpus.iter().map(|g| &g.vram));
                let bytes = all.flat_map(|used| used.bytes.to_le_bytes()).collect();
                Ok(Answer { bytes, ..Answer::default() })
            }
            Request::Shown => {
                let files = self.files().into_iter();
                let bytes = files.flat_map(|(path, text)| format!("{path}\0{text}\0").into_bytes());
                Ok(Answer { bytes: bytes.collect(), ..Answer::default() })
            }
            Request::Export { id } => self.export(*id),
            Request::Import { device, inode } => self.import(member, (*device, *inode)),
            Request::SetMetadata { id, flags, bytes } if bytes.len() <= MAX_METADATA => {
                self.piece(*id)?.metadata = (*flags, bytes.clone());
                Ok(Answer::default())
            }
            &Request::SetTiling { id, tiling } => {
                self.piece(id)?.tiling = tiling;
                Ok(Answer::default())
            }
            Request::Metadata { id } => {
                let piece = self.piece(*id)?;
                let (flags, bytes) = &piece.metadata;
                Ok(Answer { bytes: bytes.clone(), ..Answer::of(&[*flags, piece.tiling]) })
            }
            &Request::Hang { gpu } => {
                self.gpus.get_mut(gpu).ok_or(Errno::EINVAL)?.hangs = true;
                Ok(Answer::default())
            }
            &Request::Resets { gpu } => {
                let device = self.gpus.get(gpu).ok_or(Errno::EINVAL)?;
                Ok(Answer::of(&[device.resets.into()]))
            }
            &Request::Reset { gpu } => {
                let device = self.gpus.get_mut(gpu).ok_or(Errno::EINVAL)?;
                device.hangs = false;
                device.resets += 1;
                self.lose_vram(gpu);
                Ok(Answer::default())
            }
            Request::SetMetadata { .. }
            | Request::Join
            | Request::Listen { .. }
            | Request::Refresh => Err(Errno::EINVAL),
        }
    }

    fn record(&mut self, member: u64, what: What) -> u64 {
        let id = self.next_record;
        self.next_record += 1;
        let holders = BTreeMap::from([(member, 1)]);
        self.records.insert(id, Record { what, holders, exports: Vec::new() });
        id
    }

    fn piece(&mut self, id: u64) -> Result<&mut Piece, Errno> {
        match self.records.get_mut(&id).map(|record| &mut record.what) {
            Some(What::Memory(piece)) => Ok(piece),
            _ => Err(Errno::EINVAL),
        }
    }

    fn used(&mut self, what: Use, gpu: usize) -> Option<&mut Used> {
        match what {
            Use::Vram => self.gpus.get_mut(gpu).map(|gpu| &mut gpu.vram),
            Use::Gtt | Use::User => Some(&mut self.system),
            Use::Kernel => None,
        }
    }

    /// Gives a piece its place, the lowest where it fits; or gives it back.
    fn take(&mut self, mut piece: Piece) -> Result<Piece, Piece> {
        let known = piece.gpu < self.gpus.len() || piece.what != Use::Vram;
        if !known || piece.bytes == 0 || !piece.bytes.is_multiple_of(PAGE) {
            return Err(piece);
        }
        let fits = |(_, length): &(&u64, &u64)| **length >= piece.bytes;
        let place = match piece.what {
            Use::User => None,
            _ => match self.free.iter().find(fits) {
                Some((&offset, &length)) => Some((offset, length)),
                None => return Err(piece),
            },
        };
        if let Some(used) = self.used(piece.what, piece.gpu)
            && used.add(piece.bytes).is_err()
        {
            return Err(piece);
        }
        if let Some((offset, length)) = place {
            self.free.remove(&offset);
            if length > piece.bytes {
                self.free.insert(offset + piece.bytes, length - piece.bytes);
            }
            piece.offset = offset;
        }
        Ok(piece)
    }

    fn give_back(&mut self, piece: &Piece) {
        if let Some(used) = self.used(piece.what, piece.gpu) {
            used.bytes -= piece.bytes;
        }
        if piece.offset == 0 {
            return;
        }
        // The next owner finds zeros.
        self.memory.punch(piece.offset, piece.bytes);
        let (mut start, mut length) = (piece.offset, piece.bytes);
        if let Some(next) = self.free.remove(&(start + length)) {
            length += next;
        }
        if let Some((&before, &size)) = self.free.range(..start).next_back()
            && before + size == start
        {
            start = before;
            length += size;
        }
        self.free.insert(start, length);
    }

    fn drop_record(&mut self, id: u64) {
        let Some(record) = self.records.remove(&id) else { return };
        for export in &record.exports {
            export.identity().map(|identity| self.exports.remove(&identity));
        }
        match record.what {
            What::Memory(piece) => self.give_back(&piece),
            What::Queue { gpu, .. } => self.gpus[gpu].queues -= 1,
            What::Sdma { gpu, kind, queue } => self.gpus[gpu].sdma.give_back(kind, queue),
            What::Process { .. } => {}
        }
    }

    /// Drops what nobody holds; whether there was any.
    fn sweep(&mut self) -> bool {
        let gone: Vec<u64> =
            self.records.iter().filter(|(_, r)| !r.is_held()).map(|(&id, _)| id).collect();
        gone.iter().for_each(|&id| self.drop_record(id));
        !gone.is_empty()
    }

    fn export(&mut self, id: u64) -> Result<Answer, Errno> {
        let piece = self.piece(id)?;
        if !matches!(piece.what, Use::Vram | Use::Gtt) {
            return Err(Errno::EPERM);
        }
        let bytes = piece.bytes;
        let (export, file) = Export::new(bytes).map_err(|_| Errno::EMFILE)?;
        let identity = export.identity().ok_or(Errno::ENOMEM)?;
        self.exports.insert(identity, id);
        if let Some(record) = self.records.get_mut(&id) {
            let exports = &mut self.exports;
            record.exports.retain(|export| {
                let held = export.is_held();
                if !held && let Some(identity) = export.identity() {
                    exports.remove(&identity);
                }
                held
            });
            record.exports.push(export);
        }
        Ok(Answer { file: Some(file), ..Answer::default() })
    }

    fn import(&mut self, member: u64, identity: (u64, u64)) -> Result<Answer, Errno> {
        let id = *self.exports.get(&identity).ok_or(Errno::EINVAL)?;
        let record = self.records.get_mut(&id).ok_or(Errno::EINVAL)?;
        let What::Memory(piece) = &record.what else { return Err(Errno::EINVAL) };
        *record.holders.entry(member).or_default() += 1;
        let Piece { what, gpu, bytes, flags, offset, .. } = *piece;
        Ok(Answer::of(&[id, what as u64, gpu as u64, bytes, flags, offset]))
    }

    fn lose_vram(&self, lost: usize) {
        for record in self.records.values() {
            if let What::Memory(Piece { what: Use::Vram, gpu, bytes, offset, .. }) = record.what
                && gpu == lost
            {
                poison(&self.memory.window(offset, bytes));
            }
        }
    }
}

impl Record {
    fn is_held(&self) -> bool {
        !self.holders.is_empty() || self.exports.iter().any(Export::is_held)
    }
}
