//! poll(2) of descriptors among which are the machine's.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, owner};
use crate::inside::Inside;
use crate::raw::call;
use crate::state;
use libc::{nfds_t, pollfd, sigset_t, timespec};
use selvedge_sys::System;
use std::ffi::{c_int, c_short, c_void};
use std::time::Duration;

/// What a file without a poll method is ready for (include/linux/poll.h, `DEFAULT_POLLMASK`).
const ALWAYS: c_short = libc::POLLIN | libc::POLLOUT | libc::POLLRDNORM | libc::POLLWRNORM;

/// What the machine says of a descriptor; `None` when it is the kernel's.
pub(crate) fn ready(entry: &pollfd) -> Option<c_short> {
    match owner(entry.fd) {
        Owner::Kernel => None,
        Owner::Parent => Some(entry.events & ALWAYS),
        Owner::Machine => {
            let _inside = Inside::enter()?;
            let process = &state::current()?.process;
            if process.polls_as_the_hosts(entry.fd) {
                return None;
            }
            let readiness = process.poll(entry.fd, Some(Duration::ZERO)).ok()?;
            Some(if readiness.readable { entry.events & ALWAYS } else { 0 })
        }
    }
}

/// Asks the kernel about the others, with `wait` while nothing of the machine's is ready. What is not ready never
/// becomes so, but for what the kernel knows about itself.
///
/// # Safety
/// `entries` are `count` of them, or null.
unsafe fn poll_with(
    entries: *mut pollfd,
    count: nfds_t,
    ask: impl Fn(*mut pollfd, bool) -> c_int,
) -> c_int {
    let entries = if entries.is_null() || usize::try_from(count).is_err() {
        &mut []
    } else {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(entries, count as usize) }
    };
    let answers: Vec<Option<c_short>> = entries.iter().map(ready).collect();
    let numbers: Vec<c_int> = entries.iter().map(|entry| entry.fd).collect();
    for (entry, _) in entries.iter_mut().zip(&answers).filter(|(_, answer)| answer.is_some()) {
        entry.fd = -1; // poll(2) takes no notice of it
    }
    let already = answers.iter().flatten().filter(|&&events| events != 0).count();
    let result = ask(entries.as_mut_ptr(), already == 0);
    for ((entry, answer), fd) in entries.iter_mut().zip(answers).zip(numbers) {
        if let Some(events) = answer {
            (entry.fd, entry.revents) = (fd, events);
        }
    }
    if result < 0 { result } else { result + already as c_int }
}

/// Whether none of the descriptors is the machine's.
///
/// # Safety
/// As [`poll_with`].
unsafe fn all_kernel(entries: *const pollfd, count: nfds_t) -> bool {
    entries.is_null()
        || (0..count as usize).all(|index| {
            // SAFETY: the caller's promise.
            owner(unsafe { (*entries.add(index)).fd }) == Owner::Kernel
        })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: libc's own contract.
    unsafe {
        let ask = |entries: *mut pollfd, wait: bool| {
            call!(SYS_poll, entries, count, if wait { timeout } else { 0 }) as c_int
        };
        if all_kernel(entries, count) { ask(entries, true) } else { poll_with(entries, count, ask) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __poll_chk(
    entries: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    _room: usize,
) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { poll(entries, count, timeout) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ppoll(
    entries: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    /// Bytes of the kernel's signal set (`_NSIG / 8`).
    const SIGNAL_SET: usize = 8;
    // The kernel writes the time that is left to it; libc does not pass that on.
    let zero = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: libc's own contract.
    unsafe {
        let ask = |entries: *mut pollfd, wait: bool| {
            let mut time = if timeout.is_null() || !wait { zero } else { *timeout };
            let pointer: *mut c_void = if timeout.is_null() && wait {
                std::ptr::null_mut()
            } else {
                (&raw mut time).cast()
            };
            call!(SYS_ppoll, entries, count, pointer, mask, SIGNAL_SET) as c_int
        };
        if all_kernel(entries, count) { ask(entries, true) } else { poll_with(entries, count, ask) }
    }
}
