//! System calls, which nobody interposes. Their results and errno are those of libc's functions of these names. They
//! are no cancellation points.
#![expect(unsafe_code, reason = "makes system calls")]

use std::ffi::{CStr, c_char, c_int, c_void};

/// A system call with the arguments as they are.
macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {
        libc::syscall(libc::$number $(, $argument)*)
    };
}
pub(crate) use call;

/// openat(2)
///
/// # Safety
/// `path` is a C string or what the kernel refuses.
pub(crate) unsafe fn openat(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: u32,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { call!(SYS_openat, directory, path, flags, mode) as c_int }
}

pub(crate) fn close(fd: c_int) -> c_int {
    // SAFETY: the number is the caller's to close.
    unsafe { call!(SYS_close, fd) as c_int }
}

pub(crate) fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: used with commands whose argument is a number.
    unsafe { call!(SYS_fcntl, fd, command, argument) as c_int }
}

/// The descriptor at a number that is out of the way of programs which count on getting small ones, if there is one.
pub(crate) fn out_of_the_way(fd: c_int) -> c_int {
    const HIGH: usize = 900;
    let high = fcntl(fd, libc::F_DUPFD_CLOEXEC, HIGH);
    if high < 0 {
        return fd;
    }
    close(fd);
    high
}

pub(crate) fn write(fd: c_int, bytes: &[u8]) -> isize {
    // SAFETY: the slice is readable.
    unsafe { call!(SYS_write, fd, bytes.as_ptr(), bytes.len()) as isize }
}

pub(crate) fn getpid() -> u32 {
    // SAFETY: only asks.
    unsafe { call!(SYS_getpid) as u32 }
}

pub(crate) fn gettid() -> u32 {
    // SAFETY: only asks.
    unsafe { call!(SYS_gettid) as u32 }
}

/// readlinkat(2); `None` when it is no link or does not fit.
pub(crate) fn readlink(path: &CStr, buffer: &mut [u8]) -> Option<usize> {
    // SAFETY: both are valid for their lengths.
    let length = unsafe {
        call!(SYS_readlinkat, libc::AT_FDCWD, path.as_ptr(), buffer.as_mut_ptr(), buffer.len())
    };
    usize::try_from(length).ok().filter(|&length| length < buffer.len())
}

/// Copies from the program's memory, which need not be there.
pub(crate) fn peek(address: *const c_void, bytes: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address.cast_mut(), iov_len: bytes.len() };
    // SAFETY: `local` is writable; the kernel checks the other address.
    let count = unsafe {
        let (local, remote) = (&raw const local, &raw const remote);
        call!(SYS_process_vm_readv, getpid(), local, 1usize, remote, 1usize, 0usize)
    };
    usize::try_from(count) == Ok(bytes.len())
}

/// Copies to the program's memory, which need not be there, or be writable.
pub(crate) fn poke(address: *mut c_void, bytes: &[u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address, iov_len: bytes.len() };
    // SAFETY: `local` is only read; the kernel checks the other address.
    let count = unsafe {
        let (local, remote) = (&raw const local, &raw const remote);
        call!(SYS_process_vm_writev, getpid(), local, 1usize, remote, 1usize, 0usize)
    };
    usize::try_from(count) == Ok(bytes.len())
}

/// Room for a path.
pub(crate) type PathBuffer = [u8; libc::PATH_MAX as usize];

/// A path in the program's memory, which need not be there; `None` as well when the kernel would call it too long.
pub(crate) fn path(address: *const c_char, buffer: &mut PathBuffer) -> Option<&[u8]> {
    const PAGE: usize = 4096;
    let mut length = 0;
    // What is behind the end of the path need not be there either.
    while length < buffer.len() {
        let at = address.wrapping_add(length);
        let part = &mut buffer[length..];
        let room = part.len().min(PAGE - at.addr() % PAGE);
        if !peek(at.cast(), &mut part[..room]) {
            return None;
        }
        if let Some(end) = part[..room].iter().position(|&byte| byte == 0) {
            return Some(&buffer[..length + end]);
        }
        length += room;
    }
    None
}
