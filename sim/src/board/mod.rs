//! The board: what the processes of a machine share.
//!
//! Everything that devices own is a range of one sparse memfd: buffer objects (VRAM and GTT), doorbell pages, event
//! pages and the MMIO remap page. The simulator maps it once in each process; a program's mmap maps a part of it again,
//! so host and device share the bytes as they do on hardware. Freed ranges are punched out. Who has what of it, and of
//! the ids and hardware queues that processes share, is in the board's books.
//!
//! # Several processes of the host
//! The books of a machine that one process of the host has are in that process, behind a lock. Those of a machine that
//! several share are in another process, the keeper, and a member asks by a connection: one message out, one back.
//! There is no lock in shared memory that a process could die with: each request is done by the keeper as a whole or
//! not at all. What tells that a member is gone is that its connection closes, which the kernel does at exec and when
//! the last thread has ended, SIGKILL or not. The kernel takes a process's address space from it before its files
//! (kernel/exit.c, `do_exit`), thus nobody writes to memory that the keeper then gives to others. A forked child closes
//! the connection that it inherited, so that it does not stand for its parent.
//!
//! - `books`: who holds what. - `request`: what can be asked. - `passing`: messages.
//! - `keeper`: the process with the books. - `member`: the connection to it.
#![expect(unsafe_code, reason = "memfd_create, mmap and fallocate")]

mod books;
mod keeper;
mod member;
mod passing;
mod request;

pub(crate) use books::{Books, Empty};
pub use keeper::Keeper;
pub(crate) use member::{Joined, Listener, Member, News};
pub(crate) use request::{Answer, Request, Use};

use crate::count::{Counter, Token};
use crate::memory::Backing;
use selvedge_sys::{Errno, fork};
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

/// The sparse file, mapped.
#[derive(Debug)]
pub(crate) struct Memory {
    file: OwnedFd,
    base: *mut u8,
    length: u64,
}

// SAFETY: `base` is an address of a mapping that lives as long as the value; access to its bytes goes
// through `Backing`, which is atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// A new file with `capacity` bytes.
    pub(crate) fn new(capacity: u64) -> io::Result<Memory> {
        let length = START + capacity.next_multiple_of(PAGE);
        Memory::of(memfd_of(c"amdgpu", length)?, length)
    }

    /// The file of a board that others are on too.
    fn of(file: OwnedFd, length: u64) -> io::Result<Memory> {
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
        // Core dumps are of the program, not of the machine, as devices' memory is in none.
        // SAFETY: the mapping just made; its bytes stay as they are.
        unsafe { libc::madvise(base, length as usize, libc::MADV_DONTDUMP) };
        Ok(Memory { file, base: base.cast(), length })
    }

    /// Bytes, those before the first range among them.
    fn length(&self) -> u64 {
        self.length
    }

    fn at(&self, offset: u64, size: u64) -> *mut u8 {
        assert!(offset.checked_add(size).is_some_and(|end| end <= self.length));
        // SAFETY: just checked to lie in the mapping.
        unsafe { self.base.add(offset as usize) }
    }

    /// A range as long as the value lives, for who knows that it is taken.
    fn window(self: &Arc<Memory>, offset: u64, size: u64) -> Backing {
        // SAFETY: the range lies in the mapping, which the owner keeps.
        unsafe { Backing::new(self.at(offset, size), size, Box::new(self.clone())) }
    }

    /// Makes a range zeros that take no memory.
    fn punch(&self, offset: u64, size: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (offset, size) = (offset.cast_signed(), size.cast_signed());
        // SAFETY: nothing refers to the range any more. Should it fail, the old contents stay, which a
        // later `Cleared` range would show; memfds support it since Linux 3.5.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, size) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is the value's own, and whatever refers to it keeps the value.
        unsafe { libc::munmap(self.base.cast(), self.length as usize) };
    }
}

/// Where the books are.
#[derive(Debug)]
enum Place {
    Here(Mutex<Books>),
    Keeper(Member),
}

/// The board, for one process of the host.
#[derive(Debug)]
pub(crate) struct Board {
    memory: Arc<Memory>,
    place: Place,
    /// The generation of the host process it was made in.
    generation: u32,
}

impl Board {
    /// One that no other process of the host is on.
    pub(crate) fn alone(memory: Arc<Memory>, books: Books) -> Board {
        let place = Place::Here(Mutex::new(books));
        Board { memory, place, generation: fork::generation() }
    }

    /// The one that a keeper has, at a socket. `length` is that of its memory.
    pub(crate) fn shared(member: Member, file: OwnedFd, capacity: u64) -> io::Result<Board> {
        let memory = Memory::of(file, START + capacity.next_multiple_of(PAGE))?;
        let place = Place::Keeper(member);
        Ok(Board { memory: Arc::new(memory), place, generation: fork::generation() })
    }

    /// Whether other processes of the host may be on it.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.place, Place::Keeper(_))
    }

    /// A new open file description of the memory, for a render node.
    pub(crate) fn reopen(&self) -> io::Result<OwnedFd> {
        use std::os::unix::fs::OpenOptionsExt;
        std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_CLOEXEC)
            .open(format!("/proc/self/fd/{}", self.fd()))
            .map(OwnedFd::from)
    }

    /// The file, for mappings of it.
    pub(crate) fn fd(&self) -> RawFd {
        self.memory.file.as_raw_fd()
    }

    /// What sysfs shows of the processes: texts by absolute path. Nothing without a keeper.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let bytes = self.ask(&Request::Shown).unwrap_or_default().bytes;
        let text = String::from_utf8_lossy(&bytes);
        let mut parts = text.split_terminator('\0').map(str::to_owned);
        std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect()
    }

    /// Asks for something.
    ///
    /// # Errors
    /// What the request says; ENODEV when there is no keeper any more.
    pub(crate) fn ask(&self, request: &Request) -> Result<Answer, Errno> {
        match &self.place {
            Place::Here(books) => {
                let mut books = books.lock().unwrap_or_else(PoisonError::into_inner);
                books.handle(books::ALONE, request)
            }
            Place::Keeper(member) => member.ask(request),
        }
    }

    /// The record with this id, which was given to this process.
    pub(crate) fn held(self: &Arc<Board>, id: u64) -> Held {
        Held { board: self.clone(), id }
    }

    /// The range of a record that was given to this process.
    pub(crate) fn extent(
        self: &Arc<Board>,
        (id, offset, size): (u64, u64, u64),
        bytes: &Counter,
    ) -> Extent {
        let owner = Box::new(self.held(id));
        // SAFETY: the range lies in the mapping and stays taken as long as its owner, a `Held`, lives;
        // the mapping lives as long as the board, which the owner keeps.
        let backing = unsafe { Backing::new(self.memory.at(offset, size), size, owner) };
        Extent { record: id, offset, backing: Arc::new(backing), _bytes: bytes.tokens(size) }
    }

    /// Takes memory.
    ///
    /// # Errors
    /// ENOMEM when there is not so much left.
    pub(crate) fn allocate(
        self: &Arc<Board>,
        take: &Request,
        size: u64,
        contents: Contents,
        bytes: &Counter,
    ) -> Result<Extent, Errno> {
        let [id, offset, ..] = self.ask(take)?.words;
        let extent = self.extent((id, offset, size), bytes);
        if contents == Contents::Poison {
            poison(&extent.backing);
        }
        Ok(extent)
    }
}

/// A record of the board's that this process holds, until the value is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    board: Arc<Board>,
    /// The record.
    pub(crate) id: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        if fork::generation() != self.board.generation {
            // A forked child shares the bytes with its parent, to whom they belong.
            return;
        }
        match &self.board.place {
            Place::Here(_) => drop(self.board.ask(&Request::Release { id: self.id })),
            Place::Keeper(member) => member.tell(&Request::Release { id: self.id }),
        }
    }
}

/// A part of the board, free for others when the last reference goes.
#[derive(Debug)]
pub(crate) struct Extent {
    /// The board's record of it.
    pub(crate) record: u64,
    /// Byte offset in the board's file: what mmap needs.
    pub(crate) offset: u64,
    /// The bytes.
    pub(crate) backing: Arc<Backing>,
    _bytes: Token,
}

/// An anonymous file, closed on exec.
pub(crate) fn memfd(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: `name` is a C string.
    let fd =
        unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just created, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// One of `bytes` bytes for ever: whoever has a descriptor of it cannot take from others what they have mapped.
pub(crate) fn memfd_of(name: &std::ffi::CStr, bytes: u64) -> io::Result<OwnedFd> {
    let file = memfd(name)?;
    let size = i64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the descriptor is open; nothing maps the file yet.
    unsafe {
        // Beyond the limit there would be a signal (mm/truncate.c, `inode_newsize_ok`).
        if libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) == 0 && limit.rlim_cur < bytes {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        if libc::ftruncate(file.as_raw_fd(), size) < 0
            || libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) < 0
        {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(capacity: u64) -> Arc<Board> {
        let memory = Arc::new(Memory::new(capacity).unwrap());
        Arc::new(Board::alone(memory.clone(), Books::new(memory, Vec::new(), 0, true)))
    }

    fn allocate(board: &Arc<Board>, size: u64, contents: Contents, bytes: &Counter) -> Extent {
        board.allocate(&take(size), size, contents, bytes).unwrap()
    }

    fn take(bytes: u64) -> Request {
        Request::Take { what: Use::Kernel, gpu: 0, bytes, flags: 0, process: None }
    }

    #[test]
    fn ranges_are_given_back_and_joined() {
        let board = alone(1 << 20);
        let bytes = Counter::default();
        let a = allocate(&board, 8192, Contents::Cleared, &bytes);
        let b = allocate(&board, 4096, Contents::Poison, &bytes);
        assert_eq!((a.offset, b.offset), (START, START + 8192));
        assert_eq!(b.backing.load_u32(4), POISON);
        a.backing.store_u32(0, 7);
        assert_eq!(bytes.get(), 12288);
        drop(a);
        drop(b);
        assert_eq!(bytes.get(), 0);
        let whole = allocate(&board, 1 << 20, Contents::Cleared, &bytes);
        assert_eq!(whole.backing.load_u32(0), 0);
        assert_eq!(board.ask(&take(4096)).unwrap_err(), Errno::ENOMEM);
    }

    #[test]
    fn large_ranges_are_poisoned_in_samples() {
        let board = alone(1 << 30);
        let range = allocate(&board, 1 << 30, Contents::Poison, &Counter::default());
        let dwords = [0, (16 << 20) - 4, 16 << 20, (18 << 20) + 4092, 1022 << 20];
        assert!(dwords.iter().all(|&at| range.backing.load_u32(at) == POISON));
        assert_eq!(range.backing.load_u32((16 << 20) + 4096), 0);
        let mut resident = vec![0u8; 1 << 18];
        // SAFETY: the mapping is the board's, and there is a byte for each of its pages.
        let answer = unsafe {
            let start = board.memory.base.add(range.offset as usize).cast();
            libc::mincore(start, 1 << 30, resident.as_mut_ptr())
        };
        assert_eq!(answer, 0);
        assert!(resident.iter().filter(|&&page| page & 1 != 0).count() < 8192);
    }
}
