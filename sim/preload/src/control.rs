//! Closing and duplicating descriptors, and ioctl.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{self, Owner, owner};
use crate::inside::{Inside, returned};
use crate::log::{self, Outcome};
use crate::raw::{self, call};
use crate::symbols::{Original, original};
use crate::{arguments, epoll, state};
use selvedge_sys::{Errno, System};
use std::ffi::{c_int, c_uint, c_ulong, c_void};

#[unsafe(no_mangle)]
pub(crate) extern "C" fn close(fd: c_int) -> c_int {
    epoll::closed(fd);
    match owner(fd) {
        Owner::Kernel => raw::close(fd),
        Owner::Parent => {
            descriptors::release(fd);
            raw::close(fd)
        }
        Owner::Machine => {
            let (Some(inside), Some(state)) = (Inside::enter(), state::current()) else {
                return raw::close(fd);
            };
            // Before it is closed, when another thread may get the number.
            descriptors::release(fd);
            let result = state.process.close(fd).map(|()| 0);
            if let Some(recorder) = &state.recorder {
                recorder.closed(fd);
            }
            log::line(format_args!("close {fd} = {}", Outcome(result)));
            drop(inside);
            returned(result)
        }
    }
}

/// The kernel has closed the descriptor, or made it lead to something else.
fn gone(fd: c_int, before: Owner) {
    epoll::closed(fd);
    if before == Owner::Kernel {
        return;
    }
    let inside = Inside::enter();
    descriptors::release(fd);
    if before == Owner::Machine
        && let Some(state) = state::current()
    {
        state.process.closed(fd);
        if let Some(recorder) = &state.recorder {
            recorder.closed(fd);
        }
        log::line(format_args!("close {fd} = 0"));
    }
    drop(inside);
}

/// The kernel has made `copy` of a descriptor.
fn copied(fd: c_int, copy: c_int) {
    let from = owner(fd);
    if copy < 0 || from == Owner::Kernel {
        return;
    }
    let inside = Inside::enter();
    descriptors::copy(fd, copy);
    if from == Owner::Machine
        && let Some(state) = state::current()
    {
        state.process.duplicated(fd, copy);
        if let Some(recorder) = &state.recorder {
            recorder.duplicated(fd, copy);
        }
        log::line(format_args!("dup {fd} = {copy}"));
    }
    drop(inside);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dup(fd: c_int) -> c_int {
    // SAFETY: makes a descriptor.
    let copy = unsafe { call!(SYS_dup, fd) as c_int };
    copied(fd, copy);
    copy
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dup2(fd: c_int, copy: c_int) -> c_int {
    let before = owner(copy);
    // SAFETY: the number is the caller's to replace.
    let result = unsafe { call!(SYS_dup2, fd, copy) as c_int };
    if result >= 0 && fd != copy {
        gone(copy, before);
        copied(fd, copy);
    }
    result
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dup3(fd: c_int, copy: c_int, flags: c_int) -> c_int {
    let before = owner(copy);
    // SAFETY: the number is the caller's to replace.
    let result = unsafe { call!(SYS_dup3, fd, copy, flags) as c_int };
    if result >= 0 {
        gone(copy, before);
        copied(fd, copy);
    }
    result
}

pub(crate) type Fcntl = unsafe extern "C" fn(c_int, c_int, usize) -> c_int;

original! {
    static FCNTL: Fcntl = c"fcntl";
}

/// fcntl(2), whose last argument is a number or an address. libc's does more than the system call for F_GETOWN.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        let copy = raw::fcntl(fd, command, argument);
        copied(fd, copy);
        return copy;
    }
    match FCNTL.get() {
        // SAFETY: libc's own contract.
        Some(function) => unsafe { function(fd, command, argument) },
        None => raw::fcntl(fd, command, argument),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { fcntl(fd, command, argument) }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    const CLOEXEC: c_int = 1 << 2; // CLOSE_RANGE_CLOEXEC, linux/close_range.h
    let claimed: Vec<(c_int, Owner)> = if flags & CLOEXEC == 0 {
        descriptors::claimed(first, last).map(|fd| (fd, owner(fd))).collect()
    } else {
        Vec::new()
    };
    // SAFETY: the numbers are the caller's to close.
    let result = unsafe { call!(SYS_close_range, first, last, flags) as c_int };
    if result == 0 {
        claimed.into_iter().for_each(|(fd, before)| gone(fd, before));
    }
    result
}

#[unsafe(no_mangle)]
extern "C" fn closefrom(first: c_int) {
    close_range(first.max(0).cast_unsigned(), c_uint::MAX, 0);
}

/// What the kernel says of a length for what is no regular file (fs/open.c, `do_ftruncate` and `vfs_fallocate`). For it
/// the machine's descriptors lead to files of memory, which all processes on the machine share.
fn refuse_length(fd: c_int, errno: Errno, ask: impl FnOnce() -> c_int) -> c_int {
    if owner(fd) == Owner::Kernel { ask() } else { returned(Err(errno)) }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn ftruncate(fd: c_int, length: libc::off_t) -> c_int {
    // SAFETY: the kernel checks both.
    refuse_length(fd, Errno::EINVAL, || unsafe { call!(SYS_ftruncate, fd, length) as c_int })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn ftruncate64(fd: c_int, length: libc::off_t) -> c_int {
    ftruncate(fd, length)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn fallocate(
    fd: c_int,
    mode: c_int,
    offset: libc::off_t,
    length: libc::off_t,
) -> c_int {
    // SAFETY: the kernel checks all of them.
    refuse_length(fd, Errno::ENODEV, || unsafe {
        call!(SYS_fallocate, fd, mode, offset, length) as c_int
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn fallocate64(
    fd: c_int,
    mode: c_int,
    offset: libc::off_t,
    length: libc::off_t,
) -> c_int {
    fallocate(fd, mode, offset, length)
}

/// Whether a request is about the descriptor or its file, not the device: no driver sees it (fs/ioctl.c, `do_vfs_ioctl`).
fn is_of_all_files(request: u32) -> bool {
    let request = libc::c_ulong::from(request);
    matches!(request, libc::FIOCLEX | libc::FIONCLEX | libc::FIONBIO | libc::FIOASYNC)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // The kernel takes 32 bits of it.
    let request = request as u32;
    let owner = if is_of_all_files(request) { Owner::Kernel } else { owner(fd) };
    let result = match owner {
        // SAFETY: libc's own contract.
        Owner::Kernel => return unsafe { call!(SYS_ioctl, fd, request, argument) as c_int },
        // kfd_chardev.c, `kfd_ioctl`: the caller is not the process that opened it.
        Owner::Parent => {
            if let Some(_inside) = Inside::enter() {
                log::line(format_args!("ioctl {fd} {request:#x} of the parent's = -1 EBADF"));
            }
            Err(Errno::EBADF)
        }
        Owner::Machine => {
            let (Some(inside), Some(state)) = (Inside::enter(), state::current()) else {
                // A signal handler has interrupted the simulator.
                // SAFETY: libc's own contract.
                return unsafe { call!(SYS_ioctl, fd, request, argument) as c_int };
            };
            let recorder = state.recorder.as_ref();
            let address = argument.expose_provenance() as u64;
            let before = recorder.map(|recorder| recorder.argument(request, address));
            // SAFETY: libc's own contract.
            let result = unsafe { state.process.ioctl(fd, request, argument) };
            if let (Some(recorder), Some(before)) = (recorder, before) {
                recorder.returned(fd, address, before, result);
            }
            if log::is_on() {
                let device = state.process.device(fd);
                let call = arguments::Call { device, request, argument };
                log::line(format_args!("ioctl {fd} {call} = {}", Outcome(result)));
            }
            drop(inside);
            result
        }
    };
    returned(result)
}
