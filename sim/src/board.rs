//! The memory of the machine that devices own: one sparse file that everything is carved from.
//!
//! Buffer objects (VRAM and GTT), doorbell pages, event pages and the MMIO remap page are ranges of one
//! memfd. The simulator maps it once; a program's mmap maps a part of it again, so host and device share
//! the bytes as they do on hardware. Freed ranges are punched out.
#![expect(unsafe_code, reason = "memfd_create, mmap and fallocate")]

use crate::count::{Counter, Token};
use crate::memory::Backing;
use selvedge_sys::fork;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// Where the first range starts. Linux's DRM hands out mmap offsets from 4 GiB on
/// (`DRM_FILE_PAGE_OFFSET_START`, include/drm/drm_vma_manager.h).
const START: u64 = 1 << 32;

/// What a fresh range contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Zeros.
    Cleared,
    /// What [`poison`] writes.
    Poison,
}

/// The pattern that older kernels wipe freed VRAM with (`AMDGPU_POISON`, amdgpu.h).
const POISON: u32 = 0xd0be_d0be;
/// So much of a range is poisoned as a whole; beyond it, one page in each step, so that the host need not have as
/// much memory as the boards.
const POISON_WHOLE: u64 = 16 << 20;
const POISON_STEP: u64 = 2 << 20;

/// Overwrites a range: wholly up to 16 MiB, then the first page of every 2 MiB. What is left between keeps its
/// bytes, zeros when it is fresh.
pub(crate) fn poison(backing: &Backing) {
    let whole = backing.len().min(POISON_WHOLE);
    let samples = (whole..backing.len()).step_by(POISON_STEP as usize);
    let pages = samples.map(|page| page..backing.len().min(page + PAGE));
    for range in std::iter::once(0..whole).chain(pages) {
        range.step_by(4).for_each(|at| backing.store_u32(at, POISON));
    }
}

/// The sparse file and who has which part of it.
#[derive(Debug)]
pub(crate) struct Board {
    file: OwnedFd,
    base: *mut u8,
    length: u64,
    /// The generation of the host process it was made in.
    generation: u32,
    /// Free ranges: start to length.
    free: Mutex<BTreeMap<u64, u64>>,
}

// SAFETY: `base` is an address of a mapping that lives as long as the value; access to its bytes goes
// through `Backing`, which is atomic.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

impl Board {
    /// A board with `capacity` bytes.
    pub(crate) fn new(capacity: u64) -> io::Result<Board> {
        let file = memfd(c"amdgpu")?;
        let length = START + capacity.next_multiple_of(PAGE);
        let size = i64::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the descriptor is open; nothing maps the file yet.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new shared mapping where the kernel likes.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let free = Mutex::new(BTreeMap::from([(START, length - START)]));
        Ok(Board { file, base: base.cast(), length, generation: fork::generation(), free })
    }

    /// A new open file description of the memory, for a render node.
    pub(crate) fn reopen(&self) -> io::Result<OwnedFd> {
        use std::os::unix::fs::OpenOptionsExt;
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_CLOEXEC)
            .open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
            .map(OwnedFd::from)
    }

    /// The file, for mappings of it.
    pub(crate) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn free_ranges(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, u64>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `size` bytes, rounded up to pages, from the lowest place where they fit.
    pub(crate) fn allocate(
        self: &Arc<Board>,
        size: u64,
        contents: Contents,
        bytes: &Counter,
    ) -> Option<Extent> {
        let size = size.checked_next_multiple_of(PAGE)?;
        let offset = {
            let mut free = self.free_ranges();
            let (&offset, &length) = free.iter().find(|&(_, &length)| length >= size)?;
            free.remove(&offset);
            if length > size {
                free.insert(offset + size, length - size);
            }
            offset
        };
        // SAFETY: the range lies in the mapping and stays taken as long as its owner, a `Range`, lives;
        // the mapping lives as long as the board, which the owner keeps.
        let backing = unsafe {
            let owner = Box::new(Range { board: self.clone(), offset, size });
            Backing::new(self.base.add(offset as usize), size, owner)
        };
        if contents == Contents::Poison {
            poison(&backing);
        }
        Some(Extent { offset, backing: Arc::new(backing), _bytes: bytes.tokens(size) })
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: the mapping is the board's own and every range of it has been given back.
        unsafe { libc::munmap(self.base.cast(), self.length as usize) };
    }
}

/// A part of the board, free for others when the last reference goes.
#[derive(Debug)]
pub(crate) struct Extent {
    /// Byte offset in the board's file: what mmap needs.
    pub(crate) offset: u64,
    /// The bytes.
    pub(crate) backing: Arc<Backing>,
    _bytes: Token,
}

/// Gives a range back: its pages are punched out, so the next owner finds zeros.
#[derive(Debug)]
struct Range {
    board: Arc<Board>,
    offset: u64,
    size: u64,
}

impl Drop for Range {
    fn drop(&mut self) {
        if fork::generation() != self.board.generation {
            // A forked child shares the bytes with its parent, to whom they belong.
            return;
        }
        let (offset, size) = (self.offset.cast_signed(), self.size.cast_signed());
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: nothing refers to the range any more. Should it fail, the old contents stay, which a
        // later `Cleared` range would show; memfds support it since Linux 3.5.
        unsafe { libc::fallocate(self.board.fd(), mode, offset, size) };
        let mut free = self.board.free_ranges();
        let (mut start, mut length) = (self.offset, self.size);
        if let Some(next) = free.remove(&(start + length)) {
            length += next;
        }
        if let Some((&before, &size)) = free.range(..start).next_back()
            && before + size == start
        {
            start = before;
            length += size;
        }
        free.insert(start, length);
    }
}

/// An anonymous file, closed on exec.
pub(crate) fn memfd(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: `name` is a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_given_back_and_joined() {
        let board = Arc::new(Board::new(1 << 20).unwrap());
        let bytes = Counter::default();
        let a = board.allocate(5000, Contents::Cleared, &bytes).unwrap();
        let b = board.allocate(4096, Contents::Poison, &bytes).unwrap();
        assert_eq!((a.offset, b.offset), (START, START + 8192));
        assert_eq!(b.backing.load_u32(4), POISON);
        a.backing.store_u32(0, 7);
        assert_eq!(bytes.get(), 12288);
        drop(a);
        drop(b);
        assert_eq!(bytes.get(), 0);
        assert_eq!(board.free_ranges().len(), 1);
        let whole = board.allocate(1 << 20, Contents::Cleared, &bytes).unwrap();
        assert_eq!(whole.backing.load_u32(0), 0);
        assert!(board.allocate(1, Contents::Cleared, &bytes).is_none());
    }

    #[test]
    fn large_ranges_are_poisoned_in_samples() {
        let board = Arc::new(Board::new(1 << 30).unwrap());
        let range = board.allocate(1 << 30, Contents::Poison, &Counter::default()).unwrap();
        let dwords = [0, (16 << 20) - 4, 16 << 20, (18 << 20) + 4092, 1022 << 20];
        assert!(dwords.iter().all(|&at| range.backing.load_u32(at) == POISON));
        assert_eq!(range.backing.load_u32((16 << 20) + 4096), 0);
        let mut resident = vec![0u8; 1 << 18];
        // SAFETY: the mapping is the board's, and there is a byte for each of its pages.
        let answer = unsafe {
            let start = board.base.add(range.offset as usize).cast();
            libc::mincore(start, 1 << 30, resident.as_mut_ptr())
        };
        assert_eq!(answer, 0);
        assert!(resident.iter().filter(|&&page| page & 1 != 0).count() < 8192);
    }
}
