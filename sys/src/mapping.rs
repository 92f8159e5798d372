//! A range of address space.
#![expect(unsafe_code, reason = "owns memory obtained from mmap")]

use crate::{Errno, MapFlags, Protection, System, fork};
use std::os::fd::RawFd;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A range that its children inherit.
const INHERITED: u64 = u64::MAX;
/// A range that is nobody's to unmap any more.
const ABANDONED: u64 = u64::MAX - 1;

/// A mapping made through [`System::mmap`], unmapped when dropped. No reference to its bytes is ever
/// formed: a device may change them at any time. Use [`Mapping::pointer`] with atomics or volatile copies.
#[derive(Debug)]
pub struct Mapping {
    system: Arc<dyn System>,
    pointer: NonNull<u8>,
    length: usize,
    /// The [`fork::generation`] that kept it from its children, [`INHERITED`] or [`ABANDONED`].
    kept_by: AtomicU64,
}

// SAFETY: a mapping is an address range; all accesses to it go through raw pointers whose users
// answer for synchronisation.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives out only the address and the length.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps part of a file where the kernel likes.
    ///
    /// # Errors
    /// As mmap(2).
    pub fn of_file(
        system: &Arc<dyn System>,
        fd: RawFd,
        offset: u64,
        length: usize,
        protection: Protection,
    ) -> Result<Mapping, Errno> {
        Mapping::new(system, null_mut(), length, protection, MapFlags::SHARED, fd, offset)
    }

    /// Reserves address space that nothing can touch until something is mapped over it.
    ///
    /// # Errors
    /// As mmap(2).
    pub fn reserve(system: &Arc<dyn System>, length: usize) -> Result<Mapping, Errno> {
        let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE;
        Mapping::new(system, null_mut(), length, Protection::empty(), flags, -1, 0)
    }

    /// Anonymous private memory, zeroed.
    ///
    /// # Errors
    /// As mmap(2).
    pub fn anonymous(system: &Arc<dyn System>, length: usize) -> Result<Mapping, Errno> {
        let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS;
        let protection = Protection::READ | Protection::WRITE;
        Mapping::new(system, null_mut(), length, protection, flags, -1, 0)
    }

    /// Takes over a range that [`Mapping::into_raw`] gave up.
    ///
    /// # Safety
    /// The range is mapped, was obtained from this `system`, and nobody else owns it.
    pub unsafe fn from_raw(
        system: &Arc<dyn System>,
        pointer: NonNull<u8>,
        length: usize,
    ) -> Mapping {
        Mapping { system: system.clone(), pointer, length, kept_by: AtomicU64::new(INHERITED) }
    }

    /// Gives up the range without unmapping it.
    pub fn into_raw(mut self) -> (NonNull<u8>, usize) {
        let length = std::mem::replace(&mut self.length, 0);
        (self.pointer, length)
    }

    fn new(
        system: &Arc<dyn System>,
        address: *mut std::ffi::c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<Mapping, Errno> {
        // SAFETY: without MAP_FIXED nothing that exists is replaced.
        let pointer = unsafe { system.mmap(address, length, protection, flags, fd, offset)? };
        let pointer = NonNull::new(pointer.cast::<u8>()).ok_or(Errno::ENOMEM)?;
        Ok(Mapping { system: system.clone(), pointer, length, kept_by: AtomicU64::new(INHERITED) })
    }

    /// Maps part of a file over part of this range (`MAP_FIXED`).
    ///
    /// # Errors
    /// EINVAL when the part does not lie in this range, else as mmap(2).
    pub fn replace(
        &self,
        at: usize,
        length: usize,
        protection: Protection,
        fd: RawFd,
        offset: u64,
    ) -> Result<(), Errno> {
        let address = self.part(at, length)?;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the part lies in a range this value owns.
        unsafe { self.system.mmap(address.cast(), length, protection, flags, fd, offset)? };
        Ok(())
    }

    /// Turns part of this range back into an untouchable reservation.
    ///
    /// # Errors
    /// EINVAL when the part does not lie in this range, else as mmap(2).
    pub fn clear(&self, at: usize, length: usize) -> Result<(), Errno> {
        let address = self.part(at, length)?;
        let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: the part lies in a range this value owns.
        unsafe {
            self.system.mmap(address.cast(), length, Protection::empty(), flags, -1, 0)?;
        }
        Ok(())
    }

    /// Keeps the range out of forked children. A child's copy of this value then owns nothing.
    ///
    /// # Errors
    /// As madvise(2).
    pub fn keep_from_children(&self) -> Result<(), Errno> {
        // SAFETY: the range is this value's own.
        unsafe { self.system.keep_from_children(self.pointer.as_ptr().cast(), self.length)? };
        self.kept_by.store(u64::from(fork::generation()), Ordering::Relaxed);
        Ok(())
    }

    /// Leaves the range mapped when this value is dropped, because something may still use it.
    pub fn abandon(&self) {
        self.kept_by.store(ABANDONED, Ordering::Relaxed);
    }

    /// Whether the range is this value's to unmap, in the calling process.
    fn is_ours(&self) -> bool {
        match self.kept_by.load(Ordering::Relaxed) {
            INHERITED => true,
            owner => owner == u64::from(fork::generation()),
        }
    }

    fn part(&self, at: usize, length: usize) -> Result<*mut u8, Errno> {
        match at.checked_add(length) {
            // SAFETY: `at` was just checked to lie inside the mapping.
            Some(end) if end <= self.length => Ok(unsafe { self.pointer.as_ptr().add(at) }),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The first byte.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The first byte's address.
    pub fn address(&self) -> u64 {
        self.pointer.as_ptr() as u64
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the mapping is empty; it never is.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.length != 0 && self.is_ours() {
            // SAFETY: the range was mapped by this value and is given up with it.
            let _ = unsafe { self.system.munmap(self.pointer.as_ptr().cast(), self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Linux;

    const PAGE: usize = 4096;

    fn system() -> Arc<dyn System> {
        Arc::new(Linux)
    }

    /// Whether a page is mapped: msync(2) answers ENOMEM for one that is not.
    fn is_mapped(address: u64) -> bool {
        // SAFETY: msync of any address is a question without effect on private memory.
        unsafe { libc::msync(address as *mut libc::c_void, PAGE, libc::MS_ASYNC) == 0 }
    }

    #[test]
    fn parts_lie_inside() {
        let mapping = Mapping::reserve(&system(), 4 * PAGE).unwrap();
        for (at, length) in [(4 * PAGE, PAGE), (0, 5 * PAGE), (PAGE, usize::MAX)] {
            assert_eq!(mapping.clear(at, length), Err(Errno::EINVAL));
            let protection = Protection::READ;
            assert_eq!(mapping.replace(at, length, protection, -1, 0), Err(Errno::EINVAL));
        }
        mapping.clear(PAGE, PAGE).unwrap();
        assert_eq!((mapping.len(), mapping.is_empty()), (4 * PAGE, false));
    }

    #[test]
    fn what_is_given_up_or_abandoned_stays_mapped() {
        let system = system();
        let mapping = Mapping::anonymous(&system, PAGE).unwrap();
        let address = mapping.address();
        let (pointer, length) = mapping.into_raw();
        assert!(is_mapped(address));
        // SAFETY: the range was given up just now.
        let mapping = unsafe { Mapping::from_raw(&system, pointer, length) };
        mapping.abandon();
        drop(mapping);
        assert!(is_mapped(address));
        // SAFETY: the abandoned range is the test's own.
        drop(unsafe { Mapping::from_raw(&system, pointer, length) });
    }

    #[test]
    fn a_child_owns_nothing_that_was_kept_from_it() {
        let mapping = Mapping::anonymous(&system(), PAGE).unwrap();
        mapping.keep_from_children().unwrap();
        let address = mapping.address();
        // SAFETY: the child only maps, unmaps and leaves without unwinding.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let was_absent = !is_mapped(address);
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            // SAFETY: nothing is there.
            let own = unsafe { libc::mmap(address as *mut _, PAGE, protection, flags, -1, 0) };
            drop(mapping);
            let stays = own as u64 == address && is_mapped(address);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!(was_absent && stays))) };
        }
        let mut status = 0;
        // SAFETY: `child` is this process's child and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(is_mapped(address));
    }
}
