//! Which descriptors are the machine's. No locks: a forked child, a signal handler and a child of vfork look here too.

use crate::{raw, state};
use selvedge_sys::fork;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// The descriptor is the machine's from now on. False when the number is too large.
pub(crate) fn claim(fd: c_int) -> bool {
    let Some(mark) = mark_of(fd) else { return false };
    mark.store(fork::generation().wrapping_add(1), Ordering::Release);
    true
}

/// `copy` is what `fd` is.
pub(crate) fn copy(fd: c_int, copy: c_int) {
    if let (Some(from), Some(to)) = (mark_of(fd), mark_of(copy)) {
        to.store(from.load(Ordering::Acquire), Ordering::Release);
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
    let last = last.min(LIMIT as u32 - 1);
    (first..=last).map(u32::cast_signed).filter(|&fd| owner(fd) != Owner::Kernel)
}
