//! poll(2) of descriptors among which are the machine's.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{self, Owner, owner};
use crate::inside::{Inside, set_errno};
use crate::raw::{self, call};
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
/// becomes so, but for what the kernel knows about itself. Entries that are not there are the kernel's to refuse.
fn poll_with(
    entries: *mut pollfd,
    count: nfds_t,
    ask: impl Fn(*mut pollfd, bool) -> c_int,
) -> c_int {
    let Some(mut own) = machines(entries, count) else { return ask(entries, true) };
    let numbers: Vec<c_int> = own.iter().map(|entry| entry.fd).collect();
    let answers: Vec<Option<c_short>> = own.iter().map(ready).collect();
    for (entry, _) in own.iter_mut().zip(&answers).filter(|(_, answer)| answer.is_some()) {
        entry.fd = -1; // poll(2) takes no notice of it
    }
    let already = answers.iter().flatten().filter(|&&events| events != 0).count();
    let result = ask(own.as_mut_ptr(), already == 0);
    if result < 0 {
        return result;
    }
    for ((entry, answer), fd) in own.iter_mut().zip(answers).zip(numbers) {
        if let Some(events) = answer {
            (entry.fd, entry.revents) = (fd, events);
        }
    }
    if !raw::poke(entries.cast(), bytes(&mut own)) {
        set_errno(libc::EFAULT);
        return -1;
    }
    result + already as c_int
}

/// A copy of the entries, if any of them is the machine's.
fn machines(entries: *const pollfd, count: nfds_t) -> Option<Vec<pollfd>> {
    // More descriptors than any process can have the kernel refuses.
    const MOST: nfds_t = 1 << 20;
    if descriptors::end() == 0 || count == 0 || count > MOST {
        return None;
    }
    let mut own = vec![pollfd { fd: -1, events: 0, revents: 0 }; count as usize];
    let read = raw::peek(entries.cast(), bytes(&mut own));
    own.iter().any(|entry| owner(entry.fd) != Owner::Kernel).then_some(own).filter(|_| read)
}

fn bytes(entries: &mut [pollfd]) -> &mut [u8] {
    let length = size_of_val(entries);
    // SAFETY: the entries' memory; they have no padding, and every value is one.
    unsafe { std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast(), length) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn poll(entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: libc's own contract.
    unsafe {
        let ask = |entries: *mut pollfd, wait: bool| {
            call!(SYS_poll, entries, count, if wait { timeout } else { 0 }) as c_int
        };
        poll_with(entries, count, ask)
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
        poll_with(entries, count, ask)
    }
}
