//! Host access to device-visible memory.
#![expect(unsafe_code, reason = "reads and writes memory that devices share")]

use kfd::Allocation;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

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

    /// Argument memory that is being filled: the caller answers for nobody else, host or device, touching it
    /// meanwhile. What programs can reach goes through the copies below.
    ///
    /// # Panics
    /// When the part does not lie in the allocation.
    #[inline]
    pub(crate) fn span(&self, offset: usize, length: usize) -> Span<'_> {
        Span { pointer: self.at(offset, length), length, _memory: PhantomData }
    }

    /// Copies bytes in. What the device or another thread does there at the same time may tear.
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let cells = self.bytes(offset, bytes.len());
        // SAFETY: eight aligned bytes may be seen as one word of the same atomicity.
        let (head, words, tail) = unsafe { cells.align_to::<AtomicU64>() };
        let (first, rest) = bytes.split_at(head.len());
        let (middle, last) = rest.split_at(8 * words.len());
        store_bytes(head, first);
        for (word, value) in words.iter().zip(middle.as_chunks().0) {
            word.store(u64::from_ne_bytes(*value), Ordering::Relaxed);
        }
        store_bytes(tail, last);
        fence(Ordering::Release);
    }

    /// Copies bytes out. What the device or another thread does there at the same time may tear.
    pub(crate) fn copy_out(&self, offset: usize, bytes: &mut [u8]) {
        fence(Ordering::Acquire);
        let cells = self.bytes(offset, bytes.len());
        // SAFETY: as in `copy_in`.
        let (head, words, tail) = unsafe { cells.align_to::<AtomicU64>() };
        let (first, rest) = bytes.split_at_mut(head.len());
        let (middle, last) = rest.split_at_mut(8 * words.len());
        load_bytes(head, first);
        for (word, value) in words.iter().zip(middle.as_chunks_mut().0) {
            *value = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        load_bytes(tail, last);
    }

    /// Sets bytes. What the device or another thread does there at the same time may tear.
    pub(crate) fn fill(&self, offset: usize, length: usize, value: u8) {
        let cells = self.bytes(offset, length);
        // SAFETY: as in `copy_in`.
        let (head, words, tail) = unsafe { cells.align_to::<AtomicU64>() };
        head.iter().chain(tail).for_each(|byte| byte.store(value, Ordering::Relaxed));
        words.iter().for_each(|word| word.store(u64::from_ne_bytes([value; 8]), Ordering::Relaxed));
        fence(Ordering::Release);
    }

    fn bytes(&self, offset: usize, count: usize) -> &[AtomicU8] {
        let pointer = self.at(offset, count);
        // SAFETY: in range, valid as long as `self`; shared memory may be seen as atomics.
        unsafe { std::slice::from_raw_parts(pointer.cast(), count) }
    }
}

fn store_bytes(cells: &[AtomicU8], bytes: &[u8]) {
    cells.iter().zip(bytes).for_each(|(cell, byte)| cell.store(*byte, Ordering::Relaxed));
}

fn load_bytes(cells: &[AtomicU8], bytes: &mut [u8]) {
    bytes.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = cell.load(Ordering::Relaxed));
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
