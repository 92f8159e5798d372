//! Which descriptors are the machine's. No locks: a forked child, a signal handler and a child of vfork look here too.

use crate::{raw, state};
use selvedge_sys::fork;
use std::ffi::{CStr, c_int};
use std::io::Write as _;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Descriptors from this number on are never the machine's.
pub(crate) const LIMIT: c_int = 1 << 16;

/// For each descriptor 0, or one more than the generation of the process that opened it.
static MARKS: [AtomicU32; LIMIT as usize] = [const { AtomicU32::new(0) }; LIMIT as usize];

/// Who has a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The kernel.
    Kernel,
    /// The machine's process that this process is.
    Machine,
    /// The machine's process that was this one's parent: it came by fork.
    Parent,
}

/// No descriptor from here on was ever the machine's.
static END: AtomicI32 = AtomicI32::new(0);

/// No descriptor from here on is the machine's.
pub(crate) fn end() -> c_int {
    END.load(Ordering::Acquire)
}

/// A forked child looks after what it has inherited. Linux copies the descriptors first and the memory later, and the
/// parent's other threads go on in between: a mark may be of a descriptor that came too late.
pub(crate) extern "C" fn forked() {
    let inherited = (0..END.load(Ordering::Acquire))
        .filter(|&fd| mark_of(fd).is_some_and(|mark| mark.load(Ordering::Acquire) != 0));
    // A dma-buf is known by its inode, in the child as in any other process that gets it.
    inherited.filter(|&fd| !is_memory(fd, b"/memfd:") || is_dma_buf(fd)).for_each(release);
}

/// Whether a descriptor leads to a dma-buf.
pub(crate) fn is_dma_buf(fd: c_int) -> bool {
    is_memory(fd, b"/memfd:dmabuf ")
}

/// Whether a descriptor leads to a file of memory whose name begins so, as all of the machine's do.
fn is_memory(fd: c_int, name: &[u8]) -> bool {
    let mut link = *b"/proc/self/fd/\0\0\0\0\0\0";
    let mut rest = &mut link[14..];
    let mut target = [0; 64];
    // A number below LIMIT has at most five digits.
    let written = (0..LIMIT).contains(&fd) && write!(rest, "{fd}").is_ok();
    let path = CStr::from_bytes_until_nul(&link).ok().filter(|_| written);
    match path.and_then(|path| raw::readlink(path, &mut target)) {
        Some(length) => target[..length].starts_with(name),
        // Without procfs.
        None => raw::fcntl(fd, libc::F_GETFD, 0) >= 0,
    }
}

fn mark_of(fd: c_int) -> Option<&'static AtomicU32> {
    usize::try_from(fd).ok().and_then(|index| MARKS.get(index))
}

pub(crate) fn owner(fd: c_int) -> Owner {
    let Some(mark) = mark_of(fd).map(|mark| mark.load(Ordering::Acquire)).filter(|&mark| mark != 0)
    else {
        return Owner::Kernel;
    };
    if mark != fork::generation().wrapping_add(1) {
        return Owner::Parent;
    }
    // A child of vfork shares the memory but has descriptors of its own, which it closes before it executes something.
    let same = state::current().is_some_and(|state| state.pid == raw::getpid());
    if same { Owner::Machine } else { Owner::Kernel }
}

/// The descriptor is the machine's from now on.
pub(crate) fn claim(fd: c_int) {
    match mark_of(fd) {
        Some(mark) => {
            mark.store(fork::generation().wrapping_add(1), Ordering::Release);
            END.fetch_max(fd + 1, Ordering::Release);
        }
        None => eprintln!("simulated machine: not modelled: descriptors from {LIMIT} on: {fd}"),
    }
}

/// `copy` is what `fd` is.
pub(crate) fn copy(fd: c_int, copy: c_int) {
    if let (Some(from), Some(to)) = (mark_of(fd), mark_of(copy)) {
        to.store(from.load(Ordering::Acquire), Ordering::Release);
        END.fetch_max(copy + 1, Ordering::Release);
    }
}

/// The number leads nowhere from now on, or to what is not the machine's.
pub(crate) fn release(fd: c_int) {
    if let Some(mark) = mark_of(fd) {
        mark.store(0, Ordering::Release);
    }
}

/// The numbers in a range that are not the kernel's.
pub(crate) fn claimed(first: u32, last: u32) -> impl Iterator<Item = c_int> {
    let end = last.saturating_add(1).min(END.load(Ordering::Acquire).cast_unsigned());
    (first..end).map(u32::cast_signed).filter(|&fd| owner(fd) != Owner::Kernel)
}
