//! select(2) of descriptors among which are the machine's.
//!
//! For the kernel all of them are files of memory, which are always ready. That is right for the KFD and for dma-bufs. What
//! the machine says is not ready is taken out of the sets; it does not become ready while somebody waits.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors;
use crate::raw::{self, call};
use crate::readiness::ready;
use libc::{fd_set, pollfd, sigset_t, timespec, timeval};
use std::ffi::{c_int, c_void};

/// Takes what is not ready out of the sets, asks the kernel, and should that fail puts it back. Sets that are not there are
/// the kernel's to refuse.
fn select_with(count: c_int, sets: [*mut fd_set; 3], ask: impl Fn() -> c_int) -> c_int {
    // Beyond the descriptors that there are the kernel reads no bits, and sets need not have any.
    let count = count.min(descriptors::end());
    let mut taken = Vec::new();
    for set in sets.into_iter().filter(|set| !set.is_null() && count > 0) {
        // A set is an array of words (`__fd_mask`), the lowest bits first.
        let mut bits = vec![0u8; (count.cast_unsigned() as usize).div_ceil(64) * 8];
        if !raw::peek(set.cast(), &mut bits) {
            continue;
        }
        let before = bits.clone();
        for fd in 0..count {
            let (byte, bit) = (&mut bits[fd as usize / 8], 1 << (fd % 8));
            let entry = pollfd { fd, events: libc::POLLIN | libc::POLLOUT, revents: 0 };
            if *byte & bit != 0 && ready(&entry) == Some(0) {
                *byte &= !bit;
            }
        }
        if bits != before && raw::poke(set.cast(), &bits) {
            taken.push((set, before));
        }
    }
    let result = ask();
    if result < 0 {
        for (set, before) in taken {
            raw::poke(set.cast(), &before);
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
