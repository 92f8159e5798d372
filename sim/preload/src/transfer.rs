//! Reading and writing descriptors.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, owner};
use crate::inside::{Inside, returned};
use crate::log::{self, Outcome};
use crate::raw::{self, call};
use crate::state;
use libc::{iovec, off_t};
use selvedge_sys::{Errno, System};
use std::ffi::{c_int, c_void};

/// What a read of the machine's descriptor gives; `None` when it is the kernel's to read.
///
/// # Safety
/// `buffer` has room for `size` bytes, or is null.
unsafe fn read_machine(fd: c_int, buffer: *mut c_void, size: usize) -> Option<isize> {
    let result = match owner(fd) {
        Owner::Kernel => return None,
        // Neither node has a read method that a child could get at.
        Owner::Parent => Err(Errno::EINVAL),
        Owner::Machine => {
            let inside = Inside::enter()?;
            let state = state::current()?;
            let mut nothing = [];
            let bytes = if buffer.is_null() {
                &mut nothing[..]
            } else {
                // SAFETY: the caller's promise.
                unsafe { std::slice::from_raw_parts_mut(buffer.cast(), size) }
            };
            let result = state.process.read(fd, bytes).map(usize::cast_signed);
            log::line(format_args!("read {fd} = {}", Outcome(result)));
            drop(inside);
            result
        }
    };
    Some(returned(result))
}

/// What a write of the machine's descriptor gives; `None` when it is the kernel's to write.
fn write_machine(fd: c_int, buffer: *const c_void, size: usize) -> Option<isize> {
    let result = match owner(fd) {
        Owner::Kernel => return None,
        Owner::Parent => Err(Errno::EINVAL),
        Owner::Machine => {
            let inside = Inside::enter()?;
            // More than the set of events of the KFD's SMI file nobody reads.
            let mut bytes = [0; 8];
            let bytes = &mut bytes[..size.min(8)];
            let bytes = if raw::peek(buffer, bytes) { &*bytes } else { &[] };
            let result = state::current()?.process.write(fd, bytes).map(usize::cast_signed);
            log::line(format_args!("write {fd} = {}", Outcome(result)));
            drop(inside);
            result
        }
    };
    Some(returned(result))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, size: usize) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        read_machine(fd, buffer, size).unwrap_or_else(|| call!(SYS_read, fd, buffer, size) as isize)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __read_chk(
    fd: c_int,
    buffer: *mut c_void,
    size: usize,
    _room: usize,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { read(fd, buffer, size) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pread(
    fd: c_int,
    buffer: *mut c_void,
    size: usize,
    offset: off_t,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        read_machine(fd, buffer, size)
            .unwrap_or_else(|| call!(SYS_pread64, fd, buffer, size, offset) as isize)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pread64(
    fd: c_int,
    buffer: *mut c_void,
    size: usize,
    offset: off_t,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { pread(fd, buffer, size, offset) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readv(fd: c_int, parts: *const iovec, count: c_int) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        read_machine(fd, std::ptr::null_mut(), 0)
            .unwrap_or_else(|| call!(SYS_readv, fd, parts, count) as isize)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, size: usize) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        write_machine(fd, buffer, size)
            .unwrap_or_else(|| call!(SYS_write, fd, buffer, size) as isize)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwrite(
    fd: c_int,
    buffer: *const c_void,
    size: usize,
    offset: off_t,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        write_machine(fd, buffer, size)
            .unwrap_or_else(|| call!(SYS_pwrite64, fd, buffer, size, offset) as isize)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pwrite64(
    fd: c_int,
    buffer: *const c_void,
    size: usize,
    offset: off_t,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { pwrite(fd, buffer, size, offset) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> isize {
    // SAFETY: libc's own contract.
    unsafe {
        write_machine(fd, std::ptr::null(), 0)
            .unwrap_or_else(|| call!(SYS_writev, fd, parts, count) as isize)
    }
}
