//! An open device node.
#![expect(unsafe_code, reason = "forwards the seam's unsafe verbs")]

use crate::{Errno, OpenMode, System};
use std::ffi::c_void;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;

/// An open file of a [`System`], closed when dropped.
#[derive(Debug)]
pub struct File {
    system: Arc<dyn System>,
    fd: RawFd,
}

impl File {
    /// Opens a device node, again as long as a signal interrupts it.
    ///
    /// # Errors
    /// As open(2), never EINTR.
    pub fn open(system: &Arc<dyn System>, path: &Path, mode: OpenMode) -> Result<File, Errno> {
        loop {
            match system.open(path, mode) {
                Err(Errno::EINTR) => {}
                other => return Ok(File { system: system.clone(), fd: other? }),
            }
        }
    }

    /// Takes over a descriptor that an ioctl handed out (dma-buf, SMI events).
    ///
    /// # Safety
    /// The descriptor is open on `system` and nobody else closes it.
    pub unsafe fn from_raw(system: &Arc<dyn System>, fd: RawFd) -> File {
        File { system: system.clone(), fd }
    }

    /// Gives up the descriptor without closing it.
    pub fn into_raw(mut self) -> RawFd {
        std::mem::replace(&mut self.fd, -1)
    }

    /// The descriptor, for use while this file lives.
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// The system that opened it.
    pub fn system(&self) -> &Arc<dyn System> {
        &self.system
    }

    /// ioctl(2), started again as long as a signal interrupts it.
    ///
    /// # Safety
    /// As [`System::ioctl`].
    ///
    /// # Errors
    /// As ioctl(2), never EINTR (nor ERESTARTSYS, which it is inside the kernel).
    pub unsafe fn ioctl<T>(&self, request: u32, argument: *mut T) -> Result<i32, Errno> {
        loop {
            // SAFETY: the caller's promise is the same as the one asked for.
            match unsafe { self.system.ioctl(self.fd, request, argument.cast::<c_void>()) } {
                Err(Errno::EINTR | Errno::ERESTARTSYS) => {}
                other => return other,
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if self.fd >= 0 {
            // The descriptor is gone whatever close says (close(2), NOTES).
            let _ = self.system.close(self.fd);
        }
    }
}
