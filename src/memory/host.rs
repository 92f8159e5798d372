//! Host access to device-visible memory.
#![expect(unsafe_code, reason = "reads and writes memory that devices share")]

use kfd::Allocation;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// An allocation that the host has mapped.
#[derive(Debug)]
pub(crate) struct HostVisible {
    allocation: Arc<Allocation>,
    pointer: *mut u8,
    length: usize,
}

// SAFETY: the pointer is an address of the allocation, which is `Send`; what is done with it is
// bounds-checked here and either atomic or exclusive by the caller's word.
unsafe impl Send for HostVisible {}
// SAFETY: as above.
unsafe impl Sync for HostVisible {}

impl HostVisible {
    /// Wraps an allocation; `None` when the host has no mapping of it.
    pub(crate) fn new(allocation: Arc<Allocation>) -> Option<HostVisible> {
        let pointer = allocation.host_pointer()?;
        let length = allocation.len() as usize;
        Some(HostVisible { allocation, pointer, length })
    }

    /// Device address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.allocation.address()
    }

    /// The allocation.
    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    #[inline]
    fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(
            offset.checked_add(bytes).is_some_and(|end| end <= self.length),
            "{bytes} bytes at {offset} of an allocation of {}",
            self.length
        );
        // SAFETY: just checked to lie inside the mapping.
        unsafe { self.pointer.add(offset) }
    }

    /// Dwords from `offset` (a multiple of 4) on.
    #[inline]
    pub(crate) fn dwords(&self, offset: usize, count: usize) -> &[AtomicU32] {
        assert!(offset.is_multiple_of(4));
        let pointer = self.at(offset, 4 * count);
        // SAFETY: in range, aligned (mappings are page-aligned), valid as long as `self`; shared memory
        // may be seen as atomics.
        unsafe { std::slice::from_raw_parts(pointer.cast(), count) }
    }

    /// The qword at `offset`, a multiple of 8.
    #[inline]
    pub(crate) fn qword(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8));
        let pointer = self.at(offset, 8);
        // SAFETY: as in `dwords`.
        unsafe { AtomicU64::from_ptr(pointer.cast()) }
    }

    /// A part that nobody else, host or device, touches while it is written.
    ///
    /// # Panics
    /// When the part does not lie in the allocation.
    #[inline]
    pub(crate) fn span(&self, offset: usize, length: usize) -> Span<'_> {
        Span { pointer: self.at(offset, length), length, _memory: PhantomData }
    }

    /// Copies bytes in. What the device does there at the same time may tear.
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        self.span(offset, bytes.len()).write(0, bytes);
        fence(Ordering::Release);
    }

    /// Copies bytes out. What the device does there at the same time may tear.
    pub(crate) fn copy_out(&self, offset: usize, bytes: &mut [u8]) {
        fence(Ordering::Acquire);
        let pointer = self.at(offset, bytes.len());
        // SAFETY: `at` checked the range; the destination is exclusive and cannot overlap a mapping
        // that no reference is ever made to.
        unsafe { pointer.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
    }
}

/// A part of device-visible memory that is being filled.
#[derive(Debug)]
pub(crate) struct Span<'a> {
    pointer: *mut u8,
    length: usize,
    _memory: PhantomData<&'a HostVisible>,
}

impl Span<'_> {
    /// Sets every byte.
    #[inline]
    pub(crate) fn fill(&self, value: u8) {
        // SAFETY: `HostVisible::span` checked the range.
        unsafe { self.pointer.write_bytes(value, self.length) };
    }

    /// Copies bytes to `offset`.
    ///
    /// # Panics
    /// When they do not fit.
    #[inline]
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(
            offset.checked_add(bytes.len()).is_some_and(|end| end <= self.length),
            "{} bytes at {offset} of {}",
            bytes.len(),
            self.length
        );
        // SAFETY: just checked; the source is an ordinary slice, which never overlaps memory that no
        // reference is made to.
        unsafe {
            bytes.as_ptr().copy_to_nonoverlapping(self.pointer.add(offset), bytes.len());
        }
    }
}
