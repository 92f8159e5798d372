//! The running kernel, through libc.
//!
//! libc's `open`, `ioctl` and `mmap` and no raw system calls: a preloaded library that interposes
//! them (a simulated machine, a tracer) then sees this process as it sees any other.
#![expect(unsafe_code, reason = "calls libc")]

use crate::{Errno, MapFlags, OpenMode, Protection, Readiness, System};
use std::ffi::{CString, OsString, c_int, c_void};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// The kernel this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

fn check(result: c_int) -> Result<c_int, Errno> {
    if result < 0 { Err(Errno::last()) } else { Ok(result) }
}

fn io(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

// SAFETY: every verb is the system call of that name, which keeps the trait's promises.
unsafe impl System for Linux {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<RawFd, Errno> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
        let mode = match mode {
            OpenMode::ReadOnly => libc::O_RDONLY,
            OpenMode::ReadWrite => libc::O_RDWR,
        };
        // SAFETY: `path` is a C string that outlives the call.
        check(unsafe { libc::open(path.as_ptr(), mode | libc::O_CLOEXEC) })
    }

    fn close(&self, fd: RawFd) -> Result<(), Errno> {
        // SAFETY: close takes any number; whose it is, is the caller's affair as for every verb here.
        check(unsafe { libc::close(fd) }).map(drop)
    }

    unsafe fn ioctl(&self, fd: RawFd, request: u32, argument: *mut c_void) -> Result<i32, Errno> {
        // SAFETY: the caller vouches for `argument`.
        check(unsafe { libc::ioctl(fd, libc::c_ulong::from(request), argument) })
    }

    unsafe fn mmap(
        &self,
        address: *mut c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<*mut c_void, Errno> {
        // The KFD puts its mapping type into bits 63:62, so the offset may look negative.
        let offset = offset.cast_signed();
        // SAFETY: the caller owns the range where MAP_FIXED is given.
        let pointer =
            unsafe { libc::mmap(address, length, protection.bits(), flags.bits(), fd, offset) };
        if pointer == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(pointer) }
    }

    unsafe fn munmap(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller owns the range.
        check(unsafe { libc::munmap(address, length) }).map(drop)
    }

    unsafe fn keep_from_children(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller owns the range.
        check(unsafe { libc::madvise(address, length, libc::MADV_DONTFORK) }).map(drop)
    }

    fn poll(&self, fd: RawFd, timeout: Option<Duration>) -> Result<Readiness, Errno> {
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let milliseconds = timeout.map_or(-1, |t| {
            c_int::try_from(t.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
        });
        // SAFETY: `entry` is one valid pollfd.
        check(unsafe { libc::poll(&raw mut entry, 1, milliseconds) })?;
        let error = entry.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0;
        Ok(Readiness { readable: entry.revents & libc::POLLIN != 0, error })
    }

    fn read(&self, fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the buffer is writable for its length.
        let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        usize::try_from(count).map_err(|_| Errno::last())
    }

    fn write(&self, fd: RawFd, buffer: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the buffer is readable for its length.
        let count = unsafe { libc::write(fd, buffer.as_ptr().cast(), buffer.len()) };
        usize::try_from(count).map_err(|_| Errno::last())
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        std::fs::read(path).map_err(io)
    }

    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        std::fs::read_dir(path)
            .map_err(io)?
            .map(|entry| entry.map(|e| e.file_name()).map_err(io))
            .collect()
    }

    fn identity(&self) -> usize {
        0 // there is one running kernel, however many values name it
    }

    fn description(&self) -> String {
        "Linux".to_owned()
    }

    fn is_simulated(&self) -> bool {
        false
    }
}
