//! How packets get into a ring that a device reads.
//!
//! The ring is memory that a device watches, so it is only ever seen as atomics. A packet is
//! published by writing everything but its first dword, and then the first dword with release
//! ordering: the packet processor may start it at once, even before the doorbell rings. The slot of
//! packet `i` is `i` modulo the number of slots; it is free when the queue's `read_dispatch_id` has
//! passed `i` − slots. Then come `write_dispatch_id` and the doorbell, a 64-bit store of the index
//! of the last packet (gfx9 and later), which are the caller's.
//!
//! On a ring in device memory behind a write-combining mapping, release ordering is not enough: a
//! store fence belongs between body and header and between header and doorbell; use
//! [`Ring::write_body`] and [`Ring::write_header`] around it.

use crate::header::Header;
use crate::{PACKET_BYTES, PACKET_WORDS};
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// Smallest ring in bytes: 256 dwords, what CP_HQD_PQ_CONTROL.QUEUE_SIZE can express
/// (amd_aql_queue.cpp, ComputeRingBufferMinPkts).
pub const MIN_BYTES: usize = 0x400;

/// Why a range of memory is no ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizeError {
    /// Its size in bytes.
    pub got: usize,
}

impl fmt::Display for RingSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "AQL ring of {} bytes: needed a power of two of at least {MIN_BYTES} bytes",
            self.got
        )
    }
}

impl core::error::Error for RingSizeError {}

/// A view of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    slots: &'a [[AtomicU32; PACKET_WORDS]],
}

impl<'a> Ring<'a> {
    /// The ring in `words`.
    ///
    /// # Errors
    /// When the size is not a power of two of at least [`MIN_BYTES`].
    pub const fn new(words: &'a [AtomicU32]) -> Result<Ring<'a>, RingSizeError> {
        let bytes = size_of_val(words);
        if !bytes.is_power_of_two() || bytes < MIN_BYTES {
            return Err(RingSizeError { got: bytes });
        }
        let (slots, _) = words.as_chunks();
        Ok(Ring { slots })
    }

    /// Number of slots, a power of two.
    #[inline]
    pub const fn packets(&self) -> u64 {
        self.slots.len() as u64
    }

    /// The slot of packet `index`, which counts up for ever.
    #[inline]
    pub fn slot(&self, index: u64) -> &'a [AtomicU32; PACKET_WORDS] {
        // The number of slots is a power of two, so the mask keeps the index inside.
        &self.slots[index as usize & (self.slots.len() - 1)]
    }

    /// Marks all slots as holding no packet; to be done before the queue is created, as a zeroed
    /// ring holds vendor-specific packets.
    pub fn invalidate(&self) {
        let invalid = u32::from(Header::INVALID.into_bits());
        for slot in self.slots {
            slot[0].store(invalid, Ordering::Release);
        }
    }

    /// Writes all but the first dword of packet `index`.
    #[inline]
    pub fn write_body(&self, index: u64, words: &[u32; PACKET_WORDS]) {
        // Arrays of 15, so that this is 15 stores and no loop.
        let ([_, cells @ ..], [_, body @ ..]) = (self.slot(index), words);
        for (cell, &word) in cells.iter().zip(body) {
            cell.store(word, Ordering::Relaxed);
        }
    }

    /// Writes the first dword of packet `index`, with release ordering: the device may start it
    /// now.
    #[inline]
    pub fn write_header(&self, index: u64, words: &[u32; PACKET_WORDS]) {
        self.slot(index)[0].store(words[0], Ordering::Release);
    }

    /// Publishes packet `index` in host memory: body, then header.
    #[inline]
    pub fn publish(&self, index: u64, words: &[u32; PACKET_WORDS]) {
        self.write_body(index, words);
        self.write_header(index, words);
    }
}

const _: () = assert!(MIN_BYTES.is_multiple_of(PACKET_BYTES));

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn memory(words: usize) -> Vec<AtomicU32> {
        (0..words).map(|_| AtomicU32::new(0xa5a5_a5a5)).collect()
    }

    #[test]
    fn sizes() {
        for (words, good) in [(0, false), (128, false), (256, true), (257, false), (384, false)] {
            assert_eq!(Ring::new(&memory(words)).is_ok(), good, "{words}");
        }
        assert_eq!(
            Ring::new(&memory(3)).unwrap_err().to_string(),
            "AQL ring of 12 bytes: needed a power of two of at least 1024 bytes"
        );
    }

    #[test]
    fn publishes_into_the_slot_of_the_index() {
        let memory = memory(256);
        let ring = Ring::new(&memory).unwrap();
        ring.invalidate();
        assert_eq!(ring.packets(), 16);
        let packet: [u32; 16] = core::array::from_fn(|i| 100 + i as u32);
        ring.publish((1 << 32) + 17, &packet);
        for (i, word) in memory.iter().enumerate() {
            let expected = match i {
                16..32 => packet[i - 16],
                _ if i.is_multiple_of(16) => 1,
                _ => 0xa5a5_a5a5,
            };
            assert_eq!(word.load(Ordering::Relaxed), expected, "dword {i}");
        }
    }

    /// Miri lets loads see old values where the orderings allow it.
    #[test]
    fn who_sees_the_header_sees_the_body() {
        let memory = memory(256);
        let ring = Ring::new(&memory).unwrap();
        for round in 0..20 {
            ring.invalidate();
            std::thread::scope(|scope| {
                let device = scope.spawn(|| {
                    let slot = ring.slot(0);
                    while slot[0].load(Ordering::Acquire) == 1 {
                        std::thread::yield_now();
                    }
                    slot.each_ref().map(|word| word.load(Ordering::Relaxed))
                });
                let packet = [100 + round; PACKET_WORDS];
                ring.publish(0, &packet);
                assert_eq!(device.join().unwrap(), packet);
            });
        }
    }
}
