//! Reservations of GPU virtual addresses.
//!
//! A GPU address is, by policy, a CPU address too: the process's own mmap is the one arbiter that all
//! libraries in a process respect (ROCr and HIP do the same, libhsakmt's fmm.c
//! `mmap_aperture_allocate_aligned`). A reservation is address space that neither side can touch
//! until something is mapped over it.
#![expect(unsafe_code, reason = "a kept range is taken over again by its address")]

use crate::{Error, PAGE_SIZE, Result};
use selvedge_sys::{Errno, Mapping, Protection, System};
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// Alignment of large reservations, bytes: one entry of the second page-table level.
pub(crate) const HUGE_PAGE_SIZE: u64 = 2 << 20;

/// A range of addresses, aligned, with an untouchable guard page after it. Freed when dropped.
#[derive(Debug)]
pub struct Reservation {
    /// The range, the slack of its alignment and the guard page.
    mapping: Mapping,
    offset: usize,
    length: usize,
}

impl Reservation {
    /// Reserves `length` bytes, rounded up to pages. `alignment` is a power of two of at least a
    /// page; large ranges are aligned to 2 MiB in any case, so that devices can use large pages.
    ///
    /// # Errors
    /// [`Error::Reserve`] when there is no such range.
    pub fn new(system: &Arc<dyn System>, length: u64, alignment: u64) -> Result<Reservation> {
        let failed = |errno| Error::Reserve { length, alignment, errno };
        if length == 0 || !alignment.is_power_of_two() {
            return Err(failed(Errno::EINVAL));
        }
        let alignment = match length {
            HUGE_PAGE_SIZE.. => alignment.max(HUGE_PAGE_SIZE),
            _ => alignment.max(PAGE_SIZE),
        };
        let rounded = length.checked_next_multiple_of(PAGE_SIZE);
        // The kernel aligns to pages already; one page of guard lies behind the range.
        let whole = rounded.and_then(|rounded| rounded.checked_add(alignment));
        let (Some(rounded), Some(whole)) = (rounded, whole) else {
            return Err(failed(Errno::ENOMEM));
        };
        let mapping = Mapping::reserve(system, whole as usize).map_err(failed)?;
        mapping.keep_from_children().map_err(failed)?;
        let offset = mapping.address().next_multiple_of(alignment) - mapping.address();
        Ok(Reservation { mapping, offset: offset as usize, length: rounded as usize })
    }

    /// The first address.
    pub fn address(&self) -> u64 {
        self.mapping.address() + self.offset as u64
    }

    /// Bytes, a multiple of the page.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.length as u64
    }

    /// The first byte, for the CPU; it may be touched only where something is mapped.
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.mapping.pointer().wrapping_add(self.offset)
    }

    /// Maps a file over the whole range, for the CPU.
    pub(crate) fn map_file(&self, fd: RawFd, offset: u64) -> std::result::Result<(), Errno> {
        let protection = Protection::READ | Protection::WRITE;
        self.mapping.replace(self.offset, self.length, protection, fd, offset)?;
        // A mapping over part of the range does not inherit its advice.
        self.mapping.keep_from_children()
    }

    /// Leaves the range alone for good, because a device may still use it.
    pub(crate) fn abandon(&self) {
        self.mapping.abandon();
    }

    /// Gives the range up without unmapping it; see [`Reservation::from_kept`].
    pub(crate) fn keep(self) -> KeptRange {
        let (pointer, whole) = self.mapping.into_raw();
        KeptRange {
            pointer: pointer.as_ptr() as usize,
            whole,
            offset: self.offset,
            length: self.length,
        }
    }

    /// Takes a range over again.
    ///
    /// # Safety
    /// The range was kept from a reservation of the same `system`, and nobody else took it over.
    pub(crate) unsafe fn from_kept(
        system: &Arc<dyn System>,
        range: KeptRange,
    ) -> Option<Reservation> {
        let pointer = NonNull::new(range.pointer as *mut u8)?;
        // SAFETY: the caller's promise.
        let mapping = unsafe { Mapping::from_raw(system, pointer, range.whole) };
        mapping.keep_from_children().ok()?;
        Some(Reservation { mapping, offset: range.offset, length: range.length })
    }
}

/// A range that outlives its [`Reservation`].
#[derive(Debug)]
pub(crate) struct KeptRange {
    pointer: usize,
    whole: usize,
    offset: usize,
    length: usize,
}
