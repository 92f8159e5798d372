//! A ring of bytes given out and taken back in the same order.

/// Hands out ranges of a ring. Positions count up for ever; a range never wraps around the end.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Bytes, a power of two.
    size: u64,
    /// Where the next range starts at the earliest.
    head: u64,
    /// Everything before this is free again.
    tail: u64,
}

impl Arena {
    /// An arena of `size` bytes, a power of two.
    pub(crate) fn new(size: u64) -> Arena {
        debug_assert!(size.is_power_of_two());
        Arena { size, head: 0, tail: 0 }
    }

    /// Where a range of `bytes` bytes would start and end, when there is room for it.
    #[inline]
    fn place(&self, bytes: u64) -> Option<(u64, u64)> {
        let bytes = bytes.next_multiple_of(64);
        let mut start = self.head;
        let offset = start & (self.size - 1);
        if offset + bytes > self.size {
            start += self.size - offset;
        }
        let end = start + bytes;
        (end - self.tail <= self.size).then_some((start, end))
    }

    /// Whether there is room for `bytes` bytes now.
    #[inline]
    pub(crate) fn has(&self, bytes: u64) -> bool {
        self.place(bytes).is_some()
    }

    /// The offset of `bytes` free bytes, a multiple of 64, and the position to give to
    /// [`Arena::release`] when they are done with; `None` when there is no room now.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u64) -> Option<(u64, u64)> {
        let (start, end) = self.place(bytes)?;
        self.head = end;
        Some((start & (self.size - 1), end))
    }

    /// Frees everything before `position`.
    #[inline]
    pub(crate) fn release(&mut self, position: u64) {
        debug_assert!(position >= self.tail && position <= self.head);
        self.tail = position;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No two ranges that are out at the same time overlap, and all lie in the ring.
        #[test]
        fn ranges_are_disjoint(steps in prop::collection::vec((0u64..900, any::<bool>()), 1..200)) {
            let mut arena = Arena::new(4096);
            let mut out = std::collections::VecDeque::new();
            for (bytes, release) in steps {
                if release && let Some((_, _, position)) = out.pop_front() {
                    arena.release(position);
                }
                if let Some((offset, position)) = arena.take(bytes) {
                    prop_assert!(offset.is_multiple_of(64) && offset + bytes <= 4096);
                    for &(other, length, _) in &out {
                        prop_assert!(offset >= other + length || other >= offset + bytes);
                    }
                    out.push_back((offset, bytes, position));
                } else {
                    prop_assert!(!out.is_empty(), "an empty arena has room for {bytes}");
                }
            }
        }
    }
}
