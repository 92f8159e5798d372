//! The trait.
#![expect(unsafe_code, reason = "ioctl and mmap take the caller's word for their pointers")]

use crate::Errno;
use bitflags::bitflags;
use std::ffi::{OsString, c_void};
use std::fmt::Debug;
use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

/// How a device node is opened. `O_CLOEXEC` is always added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// `O_RDONLY`.
    ReadOnly,
    /// `O_RDWR`.
    ReadWrite,
}

bitflags! {
    /// `PROT_*` of mmap(2), with Linux's values.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Protection: i32 {
        /// `PROT_READ`
        const READ = 1;
        /// `PROT_WRITE`
        const WRITE = 2;
        /// `PROT_EXEC`
        const EXEC = 4;
    }

    /// `MAP_*` of mmap(2), with Linux's x86-64 values.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MapFlags: i32 {
        /// `MAP_SHARED`
        const SHARED = 0x1;
        /// `MAP_PRIVATE`
        const PRIVATE = 0x2;
        /// `MAP_FIXED`
        const FIXED = 0x10;
        /// `MAP_ANONYMOUS`
        const ANONYMOUS = 0x20;
        /// `MAP_NORESERVE`
        const NORESERVE = 0x4000;
        /// `MAP_FIXED_NOREPLACE`
        const FIXED_NOREPLACE = 0x10_0000;
    }
}

/// What [`System::poll`] saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// There is something to read.
    pub readable: bool,
    /// The file is in an error state or was hung up.
    pub error: bool,
}

/// The operating system, as far as a driver in user space needs one.
///
/// Paths are absolute paths of the system being driven: `/dev/kfd`, `/dev/dri/renderD128`,
/// `/sys/devices/virtual/kfd/kfd/topology/...`. File descriptors are real descriptors of this
/// process, and belong to whoever opened them; [`crate::File`] closes them.
///
/// # Safety
///
/// An implementor promises that a successful [`mmap`](System::mmap) with an address of 0 or of a
/// range the caller reserved touches no other memory, that the returned range stays mapped until
/// [`munmap`](System::munmap) or a mapping over it, and that ioctl writes only where the UAPI says.
pub unsafe trait System: Send + Sync + Debug {
    /// open(2) of a device node.
    fn open(&self, path: &Path, mode: OpenMode) -> Result<RawFd, Errno>;

    /// close(2). The last close of an open file has meaning in the kernel, so it is a verb here.
    fn close(&self, fd: RawFd) -> Result<(), Errno>;

    /// ioctl(2). Returns its non-negative result.
    ///
    /// # Safety
    /// `argument` is what `request` expects: a pointer to an argument struct (with all that it
    /// points to in turn valid), or null.
    unsafe fn ioctl(&self, fd: RawFd, request: u32, argument: *mut c_void) -> Result<i32, Errno>;

    /// mmap(2). `fd` is −1 with [`MapFlags::ANONYMOUS`].
    ///
    /// # Safety
    /// With [`MapFlags::FIXED`] the range belongs to the caller.
    unsafe fn mmap(
        &self,
        address: *mut c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<*mut c_void, Errno>;

    /// munmap(2).
    ///
    /// # Safety
    /// The range belongs to the caller and nothing refers to it any more.
    unsafe fn munmap(&self, address: *mut c_void, length: usize) -> Result<(), Errno>;

    /// madvise(2) with `MADV_DONTFORK`: a fork's child does not inherit the range.
    ///
    /// # Safety
    /// The range belongs to the caller.
    unsafe fn keep_from_children(&self, address: *mut c_void, length: usize) -> Result<(), Errno>;

    /// poll(2) of one descriptor for reading; `None` waits for ever.
    fn poll(&self, fd: RawFd, timeout: Option<Duration>) -> Result<Readiness, Errno>;

    /// read(2).
    fn read(&self, fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno>;

    /// write(2), to a file that an ioctl handed out. By default there is no such file that takes it.
    fn write(&self, fd: RawFd, buffer: &[u8]) -> Result<usize, Errno> {
        let _ = (fd, buffer);
        Err(Errno::ENOSYS)
    }

    /// The whole contents of a sysfs or procfs file.
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno>;

    /// The names in a directory, in no particular order, without `.` and `..`.
    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, Errno>;

    /// Which machine this is: two implementors with the same identity drive the same kernel. What a
    /// process has only once (its primary KFD context) is kept by this number. 0 is the running kernel, which
    /// outlives every value that stands for it; the default is the implementor's address.
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>() as usize
    }

    /// A name for people: `Linux`, or `simulated gfx1151`. Programs print it, nothing branches on it.
    fn description(&self) -> String;

    /// Whether what answers is hardware. What runs simulated says so.
    fn is_simulated(&self) -> bool;
}
