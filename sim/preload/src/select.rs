//! select(2) of descriptors among which are the machine's.
//!
//! For the kernel all of them are files of memory, which are always ready. That is right for the KFD and for dma-bufs. What
//! the machine says is not ready is taken out of the sets; it does not become ready while somebody waits.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::raw::call;
use crate::readiness::ready;
use libc::{fd_set, pollfd, sigset_t, timespec, timeval};
use std::ffi::{c_int, c_void};

/// Takes what is not ready out of the sets, asks the kernel, and should that fail puts it back.
///
/// # Safety
/// The sets are null or have room for `count` descriptors.
unsafe fn select_with(count: c_int, sets: [*mut fd_set; 3], ask: impl Fn() -> c_int) -> c_int {
    const BITS: usize = usize::BITS as usize;
    let mut taken = Vec::new();
    for set in sets.into_iter().filter(|set| !set.is_null()) {
        for fd in 0..count {
            let bit = 1usize << (fd as usize % BITS);
            // SAFETY: the caller's promise; a set is an array of words (`__fd_mask`).
            let word = unsafe { &mut *set.cast::<usize>().add(fd as usize / BITS) };
            let entry = pollfd { fd, events: libc::POLLIN | libc::POLLOUT, revents: 0 };
            if *word & bit != 0 && ready(&entry) == Some(0) {
                *word &= !bit;
                taken.push((std::ptr::from_mut(word), bit));
            }
        }
    }
    let result = ask();
    if result < 0 {
        for (word, bit) in taken {
            // SAFETY: as above.
            unsafe { *word |= bit };
        }
    }
    result
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: libc's own contract.
    unsafe {
        let ask = || call!(SYS_select, count, read, write, except, timeout) as c_int;
        select_with(count, [read, write, except], ask)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    /// Bytes of the kernel's signal set (`_NSIG / 8`).
    const SIGNAL_SET: usize = 8;
    let signals: [*const c_void; 2] = [mask.cast(), std::ptr::without_provenance(SIGNAL_SET)];
    // SAFETY: libc's own contract.
    unsafe {
        let ask = || {
            // The kernel writes the time that is left to it; libc does not pass that on.
            let mut time = timeout.as_ref().copied();
            let time = time.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
            call!(SYS_pselect6, count, read, write, except, time, signals.as_ptr()) as c_int
        };
        select_with(count, [read, write, except], ask)
    }
}
