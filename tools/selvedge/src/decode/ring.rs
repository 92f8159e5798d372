//! Rings: which part of them is in flight.

use super::Engine;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Read and write pointer, in the units of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointers {
    /// How far the engine has read.
    pub read: u64,
    /// How far was written.
    pub write: u64,
}

/// Pointers or a ring that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingError {
    /// A ring has a power of two of units.
    Size {
        /// The engine.
        engine: Engine,
        /// Its size in bytes.
        bytes: u64,
    },
    /// SDMA pointers count bytes, of whole dwords.
    Unit {
        /// "read" or "write".
        which: &'static str,
        /// The pointer.
        pointer: u64,
    },
    /// Nothing can be read that was not written.
    Ahead {
        /// The engine.
        engine: Engine,
        /// The pointers.
        pointers: Pointers,
        /// Size of the ring in units.
        size: u64,
    },
    /// More was written than the ring holds.
    Overrun {
        /// The engine.
        engine: Engine,
        /// The pointers.
        pointers: Pointers,
        /// Size of the ring in units.
        size: u64,
    },
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RingError::Size { engine, bytes } => write!(
                f,
                "a ring of {bytes} bytes: needed a power of two of {}; is the whole ring in the file?",
                match engine {
                    Engine::Aql => "packets of 64 bytes",
                    Engine::Pm4 | Engine::Sdma => "dwords",
                }
            ),
            RingError::Unit { which, pointer } => write!(
                f,
                "{which} pointer {pointer:#x}: SDMA pointers count bytes, needed a multiple of 4; if it counts \
                 dwords, multiply it by 4 ({:#x})",
                pointer.saturating_mul(4)
            ),
            RingError::Ahead { engine, pointers: Pointers { read, write }, size } => {
                let unit = engine.unit();
                write!(
                    f,
                    "read pointer {read:#x} is ahead of write pointer {write:#x} (in {unit}, of a ring of {size:#x}): \
                     nothing is read before it is written; "
                )?;
                if read < size {
                    write!(
                        f,
                        "if the pointers were read back to 0 at the end of the ring, add its size to the write \
                         pointer ({:#x})",
                        write.saturating_add(size)
                    )
                } else {
                    f.write_str("are they exchanged?")
                }
            }
            RingError::Overrun { engine, pointers: Pointers { read, write }, size } => {
                let unit = engine.unit();
                write!(
                    f,
                    "write pointer {write:#x} is {:#x} {unit} ahead of read pointer {read:#x}, and the ring has \
                     {size:#x}: what is in flight would overwrite itself; is the file the whole ring, and do both \
                     pointers count {unit}?",
                    write - read
                )
            }
        }
    }
}

impl std::error::Error for RingError {}

/// A ring's size and the places of its pointers, all in dwords; the pointers are less than the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The size, not 0.
    pub dwords: usize,
    /// Where the engine reads next.
    pub read: usize,
    /// Where the next packet is written.
    pub write: usize,
    /// Dwords in flight.
    pub in_flight: usize,
    /// Whether the writer was at the end of the ring before.
    pub wrapped: bool,
}

impl Ring {
    /// The ring of `dwords` dwords with these pointers.
    ///
    /// Pointers of SDMA and AQL only grow. PM4's read pointer starts again at 0 at the end of the ring, and some
    /// dumps do the same to its write pointer.
    ///
    /// # Errors
    /// When the size is that of no ring or the pointers exclude each other.
    pub fn new(engine: Engine, dwords: usize, pointers: Pointers) -> Result<Ring, RingError> {
        let unit = engine.unit_bytes();
        let bytes = 4 * dwords as u64;
        let size = bytes / unit;
        if !size.is_power_of_two() || !bytes.is_multiple_of(unit) {
            return Err(RingError::Size { engine, bytes });
        }
        let Pointers { read, write } = pointers;
        if engine == Engine::Sdma {
            for (which, pointer) in [("read", read), ("write", write)] {
                if pointer % 4 != 0 {
                    return Err(RingError::Unit { which, pointer });
                }
            }
        }
        let reduced = engine == Engine::Pm4 && read < size && (write >= size || write < read);
        let in_flight = if reduced {
            write.wrapping_sub(read) % size
        } else {
            let distance = write.checked_sub(read);
            let distance = distance.ok_or(RingError::Ahead { engine, pointers, size })?;
            if distance > size {
                return Err(RingError::Overrun { engine, pointers, size });
            }
            distance
        };
        // All are less than the size, which is that of something in memory.
        let place = |units: u64| (units % size * unit / 4) as usize;
        Ok(Ring {
            dwords,
            read: place(read),
            write: place(write),
            in_flight: (in_flight * unit / 4) as usize,
            wrapped: write > size || write < read,
        })
    }

    /// The dwords of a range that may reach beyond the end and go on at the start.
    pub fn words<'a>(&self, ring: &'a [u32], range: Range<usize>) -> Cow<'a, [u32]> {
        let start = range.start % self.dwords;
        match ring.get(start..start + range.len()) {
            Some(words) => Cow::Borrowed(words),
            None => ring.iter().copied().cycle().skip(start).take(range.len()).collect(),
        }
    }

    /// What is in flight.
    pub fn in_flight(&self) -> Range<usize> {
        self.read..self.read + self.in_flight
    }

    /// What is not: from the write pointer around to the read pointer.
    pub fn rest(&self) -> Range<usize> {
        let start = self.read + self.in_flight;
        start..self.read + self.dwords
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(engine: Engine, dwords: usize, read: u64, write: u64) -> Result<Ring, String> {
        Ring::new(engine, dwords, Pointers { read, write }).map_err(|error| error.to_string())
    }

    #[test]
    fn units() {
        let found = |engine, dwords, read, write| {
            let ring = ring(engine, dwords, read, write).unwrap();
            (ring.read, ring.write, ring.in_flight)
        };
        assert_eq!(
            found(Engine::Pm4, 64, 60, 68),
            (60, 4, 8),
            "only the read pointer starts again"
        );
        assert_eq!(found(Engine::Pm4, 64, 60, 4), (60, 4, 8), "both do");
        assert_eq!(found(Engine::Pm4, 64, 0, 64), (0, 0, 0), "such a ring is not filled");
        assert_eq!(found(Engine::Pm4, 64, 60, 0x1_0000_0044), (60, 4, 8));
        assert_eq!(found(Engine::Pm4, 64, 124, 132), (60, 4, 8), "neither does");
        assert_eq!(found(Engine::Sdma, 64, 0x1f0, 0x210), (60, 4, 8));
        assert_eq!(found(Engine::Sdma, 64, 0, 0x100), (0, 0, 64));
        assert_eq!(found(Engine::Aql, 64, 7, 9), (48, 16, 32));
        assert_eq!(found(Engine::Aql, 64, 0, 4), (0, 0, 64), "an AQL ring may be full");
    }

    #[test]
    fn impossible() {
        for (engine, dwords, read, write, needed) in [
            (
                Engine::Pm4,
                48,
                0,
                0,
                "a ring of 192 bytes: needed a power of two of dwords; is the whole ring in the file?",
            ),
            (
                Engine::Pm4,
                0,
                0,
                0,
                "a ring of 0 bytes: needed a power of two of dwords; is the whole ring in the file?",
            ),
            (
                Engine::Aql,
                24,
                0,
                0,
                "a ring of 96 bytes: needed a power of two of packets of 64 bytes; is the whole ring in the file?",
            ),
            (
                Engine::Sdma,
                64,
                0x40,
                0x82,
                "write pointer 0x82: SDMA pointers count bytes, needed a multiple of 4; if it counts dwords, multiply \
                 it by 4 (0x208)",
            ),
            (
                Engine::Sdma,
                64,
                0x40,
                0x20,
                "read pointer 0x40 is ahead of write pointer 0x20 (in bytes, of a ring of 0x100): nothing is read before \
                 it is written; if the pointers were read back to 0 at the end of the ring, add its size to the write \
                 pointer (0x120)",
            ),
            (
                Engine::Aql,
                64,
                9,
                8,
                "read pointer 0x9 is ahead of write pointer 0x8 (in packets, of a ring of 0x4): nothing is read before \
                 it is written; are they exchanged?",
            ),
            (
                Engine::Sdma,
                64,
                0x40,
                0x144,
                "write pointer 0x144 is 0x104 bytes ahead of read pointer 0x40, and the ring has 0x100: what is in flight \
                 would overwrite itself; is the file the whole ring, and do both pointers count bytes?",
            ),
            (
                Engine::Pm4,
                64,
                64,
                200,
                "write pointer 0xc8 is 0x88 dwords ahead of read pointer 0x40, and the ring has 0x40: what is in flight \
                 would overwrite itself; is the file the whole ring, and do both pointers count dwords?",
            ),
        ] {
            assert_eq!(ring(engine, dwords, read, write).unwrap_err(), needed);
        }
    }

    proptest! {
        #[test]
        fn parts_are_the_ring(
            engine in prop_oneof![Just(Engine::Pm4), Just(Engine::Sdma), Just(Engine::Aql)],
            size in 4u32..8, read: u64, distance in 0u64..600,
        ) {
            let dwords = 1usize << size;
            let words: Vec<u32> = (0..dwords as u32).collect();
            let Ok(ring) = Ring::new(engine, dwords, Pointers { read, write: read.wrapping_add(distance) }) else {
                return Ok(());
            };
            let mut all = ring.words(&words, ring.in_flight()).into_owned();
            prop_assert_eq!(all.first().is_none_or(|word| *word as usize == ring.read), true);
            let rest = ring.words(&words, ring.rest());
            prop_assert_eq!(rest.first().is_none_or(|word| *word as usize == ring.write), true);
            all.extend(rest.iter());
            all.sort_unstable();
            prop_assert_eq!(all, words);
        }
    }
}
