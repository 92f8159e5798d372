//! Host bytes behind GPU addresses.
#![expect(unsafe_code, reason = "reads and writes memory that host programs and devices share")]

use std::any::Any;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A range of host memory that a device may reach, kept alive by whatever owns it.
///
/// All access is by relaxed atomics, as host and device may touch the same bytes at once.
#[derive(Debug)]
pub struct Backing {
    pointer: *mut u8,
    length: u64,
    /// Whether the range may vanish while the value lives, once no address space maps it.
    revocable: bool,
    /// Frees the range when dropped.
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: a `Backing` is an address range that is valid as long as the value; every access to it
// is atomic.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

macro_rules! access {
    ($load:ident, $store:ident, $int:ty, $atomic:ty) => {
        /// Loads from `offset`, which may be misaligned (then byte by byte).
        ///
        /// # Panics
        /// When the value does not lie in the range; callers translate first.
        #[inline]
        pub fn $load(&self, offset: u64) -> $int {
            const SIZE: usize = size_of::<$int>();
            let pointer = self.at(offset, SIZE as u64);
            if pointer.addr().is_multiple_of(SIZE) {
                // SAFETY: in range and aligned; the memory lives as long as `self`.
                unsafe { <$atomic>::from_ptr(pointer.cast()) }.load(Ordering::Relaxed)
            } else {
                let mut bytes = [0u8; SIZE];
                for (i, byte) in bytes.iter_mut().enumerate() {
                    // SAFETY: `at` checked all `SIZE` bytes.
                    *byte = unsafe { AtomicU8::from_ptr(pointer.add(i)) }.load(Ordering::Relaxed);
                }
                <$int>::from_le_bytes(bytes)
            }
        }

        /// Stores to `offset`, which may be misaligned (then byte by byte).
        ///
        /// # Panics
        /// When the value does not lie in the range; callers translate first.
        #[inline]
        pub fn $store(&self, offset: u64, value: $int) {
            const SIZE: usize = size_of::<$int>();
            let pointer = self.at(offset, SIZE as u64);
            if pointer.addr().is_multiple_of(SIZE) {
                // SAFETY: in range and aligned; the memory lives as long as `self`.
                unsafe { <$atomic>::from_ptr(pointer.cast()) }.store(value, Ordering::Relaxed);
            } else {
                for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                    // SAFETY: `at` checked all `SIZE` bytes.
                    unsafe { AtomicU8::from_ptr(pointer.add(i)) }.store(byte, Ordering::Relaxed);
                }
            }
        }
    };
}

impl Backing {
    /// Wraps a range of host memory.
    ///
    /// # Safety
    /// `pointer..pointer + length` stays mapped readable and writable until `owner` is dropped.
    pub unsafe fn new(pointer: *mut u8, length: u64, owner: Box<dyn Any + Send + Sync>) -> Backing {
        Backing { pointer, length, revocable: false, _owner: owner }
    }

    /// Wraps a range of host memory that somebody else may take away at any time after the last
    /// [`AddressSpace::unmap`](super::AddressSpace::unmap) of it has returned.
    ///
    /// # Safety
    /// `pointer..pointer + length` stays mapped readable and writable as long as an address space maps it;
    /// it is reached through address spaces only.
    pub unsafe fn revocable(pointer: *mut u8, length: u64) -> Backing {
        Backing { pointer, length, revocable: true, _owner: Box::new(()) }
    }

    /// Zeroed memory of the process's heap, for tests and for state no program maps.
    pub fn zeroed(length: u64) -> Backing {
        const { assert!(usize::BITS == 64) };
        let words = length.div_ceil(8) as usize;
        // The allocator's pages of zeros: what is never touched costs nothing.
        let zeros = Box::into_raw(vec![0u64; words].into_boxed_slice());
        // SAFETY: the slice is owned by nobody else, and the atomic has the representation of its integer and, on
        // 64-bit hosts, its alignment.
        let owner = unsafe { Box::from_raw(zeros as *mut [AtomicU64]) };
        let pointer = owner.as_ptr().cast_mut().cast::<u8>();
        // SAFETY: a boxed slice of atomics does not move with its box, and atomics may be written
        // through a shared pointer.
        unsafe { Backing::new(pointer, length, Box::new(owner)) }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The host address of the first byte.
    pub fn host_address(&self) -> usize {
        self.pointer.addr()
    }

    /// Whether unmapping has to wait for accesses in progress.
    pub(super) fn is_revocable(&self) -> bool {
        self.revocable
    }

    #[inline]
    fn at(&self, offset: u64, size: u64) -> *mut u8 {
        assert!(
            offset.checked_add(size).is_some_and(|end| end <= self.length),
            "access outside its backing"
        );
        // SAFETY: just checked to lie inside the range.
        unsafe { self.pointer.add(offset as usize) }
    }

    access!(load_u8, store_u8, u8, AtomicU8);
    access!(load_u16, store_u16, u16, AtomicU16);
    access!(load_u32, store_u32, u32, AtomicU32);
    access!(load_u64, store_u64, u64, AtomicU64);

    /// Loads consecutive dwords from `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the range.
    #[inline]
    pub fn load_dwords(&self, offset: u64, values: &mut [u32]) {
        let pointer = self.at(offset, 4 * values.len() as u64);
        if !pointer.addr().is_multiple_of(4) {
            for (at, value) in (offset..).step_by(4).zip(values) {
                *value = self.load_u32(at);
            }
            return;
        }
        let (pairs, rest) = if pointer.addr().is_multiple_of(8) {
            values.as_chunks_mut::<2>()
        } else {
            (&mut [][..], values)
        };
        for (index, pair) in pairs.iter_mut().enumerate() {
            // SAFETY: `at` checked all the dwords, and the pairs are aligned.
            let cell = unsafe { AtomicU64::from_ptr(pointer.add(8 * index).cast()) };
            let value = cell.load(Ordering::Relaxed);
            *pair = [value as u32, (value >> 32) as u32];
        }
        let first = 2 * pairs.len();
        for (index, value) in (first..).zip(rest) {
            // SAFETY: `at` checked all the dwords, and they are aligned.
            let cell = unsafe { AtomicU32::from_ptr(pointer.add(4 * index).cast()) };
            *value = cell.load(Ordering::Relaxed);
        }
    }

    /// Stores consecutive dwords from `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the range.
    #[inline]
    pub fn store_dwords(&self, offset: u64, values: &[u32]) {
        let pointer = self.at(offset, 4 * values.len() as u64);
        if !pointer.addr().is_multiple_of(4) {
            for (at, &value) in (offset..).step_by(4).zip(values) {
                self.store_u32(at, value);
            }
            return;
        }
        let (pairs, rest) = if pointer.addr().is_multiple_of(8) {
            values.as_chunks::<2>()
        } else {
            (&[][..], values)
        };
        for (index, &[low, high]) in pairs.iter().enumerate() {
            // SAFETY: `at` checked all the dwords, and the pairs are aligned.
            let cell = unsafe { AtomicU64::from_ptr(pointer.add(8 * index).cast()) };
            cell.store(u64::from(low) | u64::from(high) << 32, Ordering::Relaxed);
        }
        for (index, &value) in (2 * pairs.len()..).zip(rest) {
            // SAFETY: `at` checked all the dwords, and they are aligned.
            let cell = unsafe { AtomicU32::from_ptr(pointer.add(4 * index).cast()) };
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// Loads bytes from `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the range.
    pub fn load_bytes(&self, offset: u64, bytes: &mut [u8]) {
        let pointer = self.at(offset, bytes.len() as u64);
        let head = pointer.align_offset(8).min(bytes.len());
        let body = head + (bytes.len() - head) / 8 * 8;
        for (index, byte) in bytes[..head].iter_mut().enumerate() {
            // SAFETY: `at` checked all the bytes.
            *byte = unsafe { AtomicU8::from_ptr(pointer.add(index)) }.load(Ordering::Relaxed);
        }
        let (chunks, _) = bytes[head..body].as_chunks_mut::<8>();
        for (index, chunk) in chunks.iter_mut().enumerate() {
            // SAFETY: `at` checked all the bytes, and those from `head` on are aligned.
            let cell = unsafe { AtomicU64::from_ptr(pointer.add(head + 8 * index).cast()) };
            *chunk = cell.load(Ordering::Relaxed).to_ne_bytes();
        }
        for (index, byte) in (body..).zip(&mut bytes[body..]) {
            // SAFETY: `at` checked all the bytes.
            *byte = unsafe { AtomicU8::from_ptr(pointer.add(index)) }.load(Ordering::Relaxed);
        }
    }

    /// Stores bytes from `offset` on.
    ///
    /// # Panics
    /// When they do not lie in the range.
    pub fn store_bytes(&self, offset: u64, bytes: &[u8]) {
        let pointer = self.at(offset, bytes.len() as u64);
        let head = pointer.align_offset(8).min(bytes.len());
        let body = head + (bytes.len() - head) / 8 * 8;
        for (index, &byte) in bytes[..head].iter().enumerate() {
            // SAFETY: `at` checked all the bytes.
            unsafe { AtomicU8::from_ptr(pointer.add(index)) }.store(byte, Ordering::Relaxed);
        }
        let (chunks, _) = bytes[head..body].as_chunks::<8>();
        for (index, &chunk) in chunks.iter().enumerate() {
            // SAFETY: `at` checked all the bytes, and those from `head` on are aligned.
            let cell = unsafe { AtomicU64::from_ptr(pointer.add(head + 8 * index).cast()) };
            cell.store(u64::from_ne_bytes(chunk), Ordering::Relaxed);
        }
        for (index, &byte) in (body..).zip(&bytes[body..]) {
            // SAFETY: `at` checked all the bytes.
            unsafe { AtomicU8::from_ptr(pointer.add(index)) }.store(byte, Ordering::Relaxed);
        }
    }

    /// The naturally aligned dword at `offset` as an atomic, or `None` when it is misaligned.
    ///
    /// # Panics
    /// When it does not lie in the range.
    #[inline]
    pub fn atomic_u32(&self, offset: u64) -> Option<&AtomicU32> {
        let pointer = self.at(offset, 4);
        // SAFETY: in range, aligned, and alive as long as the borrow of `self`.
        pointer.addr().is_multiple_of(4).then(|| unsafe { AtomicU32::from_ptr(pointer.cast()) })
    }

    /// The naturally aligned qword at `offset` as an atomic, or `None` when it is misaligned.
    ///
    /// # Panics
    /// When it does not lie in the range.
    #[inline]
    pub fn atomic_u64(&self, offset: u64) -> Option<&AtomicU64> {
        let pointer = self.at(offset, 8);
        // SAFETY: in range, aligned, and alive as long as the borrow of `self`.
        pointer.addr().is_multiple_of(8).then(|| unsafe { AtomicU64::from_ptr(pointer.cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Access, AddressSpace, FaultReason, Permissions, View};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// Memory that its owner may take away is touched by nobody once unmapping has returned.
    #[test]
    fn unmapping_waits_for_accesses_to_revocable_memory() {
        let owner = Backing::zeroed(4096);
        for revocable in [true, false] {
            let space = Arc::new(AddressSpace::new());
            let backing = if revocable {
                // SAFETY: `owner` lives until the end of the test.
                unsafe { Backing::revocable(owner.pointer, 4096) }
            } else {
                Backing::zeroed(4096)
            };
            assert!(space.map(0x1000, 4096, Arc::new(backing), 0, Permissions::READ));
            let mut view = View::new(Arc::clone(&space));
            let window = view.window(0x1000, 4096, Access::Read).unwrap();
            let unmapped = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(space.unmap(0x1000));
                    unmapped.store(true, Ordering::SeqCst);
                });
                std::thread::sleep(Duration::from_millis(50));
                assert_eq!(unmapped.load(Ordering::SeqCst), !revocable);
                assert_eq!(window.load_u32(0x1000), 0);
                drop(window);
            });
            let fault = view.read_u32(0x1000).unwrap_err();
            assert_eq!(fault.reason, FaultReason::NotPresent);
        }
    }
}
