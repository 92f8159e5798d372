//! A copy of a ring, read packet by packet.

use crate::{PACKET_BYTES, PACKET_WORDS, Packet};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

/// Why a copy of a ring and two indices do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DumpError {
    /// The ring is not a power of two of packets.
    Size {
        /// Its dwords.
        got: usize,
    },
    /// The write index is before the read index.
    Behind {
        /// The read index.
        read: u64,
        /// The write index.
        write: u64,
    },
    /// More packets are between the indices than the ring holds.
    TooMany {
        /// The read index.
        read: u64,
        /// The write index.
        write: u64,
        /// The packets that the ring holds.
        slots: u64,
    },
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DumpError::Size { got } => write!(
                f,
                "AQL ring of {got} dwords: needed a power of two of packets of {PACKET_WORDS} dwords"
            ),
            DumpError::Behind { read, write } => {
                write!(
                    f,
                    "AQL ring: needed a write index of at least {read}, the read index, got {write}"
                )
            }
            DumpError::TooMany { read, write, slots } => write!(
                f,
                "AQL ring: read index {read}, write index {write}: needed at most {slots} packets between \
                 them, the size of the ring, got {}",
                write - read
            ),
        }
    }
}

impl core::error::Error for DumpError {}

/// Where a packet is between the two indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Before the read index: the processor has taken it. What it left is in the slot, an INVALID header as a rule.
    Retired,
    /// Between the indices: reserved by the host, and ready for the processor unless it is INVALID.
    InFlight,
    /// At the write index or after it: nobody has used the slot in this round.
    Free,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Retired => "retired",
            State::InFlight => "in flight",
            State::Free => "free",
        })
    }
}

/// A slot of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The packet's index, which counts up for ever.
    pub index: u64,
    /// Where it is in the ring, bytes.
    pub offset: usize,
    /// Where it is between the indices.
    pub state: State,
    /// What the slot holds.
    pub packet: Packet,
}

/// The slots of a ring, by index; see [`packets`].
#[derive(Clone, Debug)]
pub struct Slots<'a> {
    words: &'a [[u32; PACKET_WORDS]],
    /// The indices not yet given.
    left: Range<u64>,
    read: u64,
    write: u64,
}

/// The slots of a ring of which `words` is a copy, each once, from the lowest index to the highest.
///
/// `read` is the queue's `read_dispatch_id` and `write` its `write_dispatch_id`: packet `i` is in slot `i` modulo the
/// number of slots. First come the packets before `write` that the ring still has room for, then slots that are not used
/// yet.
///
/// ```
/// use aql::dump::State;
/// use aql::{BarrierAnd, Header, Packet, packets};
///
/// let mut ring = [0; 4 * 16];
/// for slot in ring.chunks_mut(16) {
///     slot[0] = Header::INVALID.into_bits().into();
/// }
/// ring[16..32].copy_from_slice(&BarrierAnd::new([0; 5]).encode());
/// let slots: Vec<_> = packets(&ring, 5, 6)?.collect();
/// assert_eq!(slots.iter().map(|slot| slot.index).collect::<Vec<_>>(), [2, 3, 4, 5]);
/// assert_eq!((slots[3].offset, slots[3].state), (64, State::InFlight));
/// assert!(matches!(slots[3].packet, Packet::BarrierAnd(_)));
/// # Ok::<(), aql::dump::DumpError>(())
/// ```
///
/// # Errors
/// When the ring is not a power of two of packets, or the indices cannot be its.
pub const fn packets(words: &[u32], read: u64, write: u64) -> Result<Slots<'_>, DumpError> {
    let got = words.len();
    let (words, rest) = words.as_chunks();
    if !words.len().is_power_of_two() || !rest.is_empty() {
        return Err(DumpError::Size { got });
    }
    let slots = words.len() as u64;
    match write.checked_sub(read) {
        None => return Err(DumpError::Behind { read, write }),
        Some(in_flight) if in_flight > slots => {
            return Err(DumpError::TooMany { read, write, slots });
        }
        Some(_) => {}
    }
    let first = write.saturating_sub(slots);
    Ok(Slots { words, left: first..first + slots, read, write })
}

impl Iterator for Slots<'_> {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        let index = self.left.next()?;
        let slot = (index % self.words.len().max(1) as u64) as usize;
        let state = match index {
            _ if index >= self.write => State::Free,
            _ if index >= self.read => State::InFlight,
            _ => State::Retired,
        };
        let packet = Packet::decode(self.words.get(slot)?);
        Some(Slot { index, offset: slot * PACKET_BYTES, state, packet })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl FusedIterator for Slots<'_> {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::KernelDispatch;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn sizes() {
        for (words, good) in [(0, false), (15, false), (16, true), (17, false), (48, false)] {
            assert_eq!(packets(&vec![0; words], 0, 0).is_ok(), good, "{words}");
        }
        assert_eq!(
            packets(&[0; 48], 0, 0).unwrap_err().to_string(),
            "AQL ring of 48 dwords: needed a power of two of packets of 16 dwords"
        );
    }

    #[test]
    fn indices() {
        let ring = [0; 64];
        assert_eq!(
            packets(&ring, 9, 8).unwrap_err().to_string(),
            "AQL ring: needed a write index of at least 9, the read index, got 8"
        );
        assert_eq!(
            packets(&ring, 8, 13).unwrap_err().to_string(),
            "AQL ring: read index 8, write index 13: needed at most 4 packets between them, the size of \
             the ring, got 5"
        );
        assert!(packets(&ring, 8, 12).is_ok());
        assert_eq!(packets(&ring, u64::MAX, u64::MAX).unwrap().count(), 4);
    }

    #[test]
    fn a_young_ring_has_free_slots() {
        let mut ring = [1; 64];
        let dispatch = KernelDispatch::new(0x40, 0, [1; 3], [1; 3]);
        ring[16..32].copy_from_slice(&dispatch.encode());
        let slots: Vec<Slot> = packets(&ring, 1, 2).unwrap().collect();
        let states: Vec<State> = slots.iter().map(|slot| slot.state).collect();
        assert_eq!(states, [State::Retired, State::InFlight, State::Free, State::Free]);
        assert_eq!(slots[1].packet, Packet::KernelDispatch(dispatch));
        assert_eq!(slots[3].offset, 192);
        assert_eq!(State::InFlight.to_string(), "in flight");
    }

    proptest! {
        #[test]
        fn every_slot_once(power in 0u32..6, read: u64, in_flight in 0u64..70, word: u32) {
            let count = 1u64 << power;
            let ring = vec![word; 16 << power];
            let Some(write) = read.checked_add(in_flight) else { return Ok(()) };
            let Ok(slots) = packets(&ring, read, write) else {
                prop_assert!(in_flight > count);
                return Ok(());
            };
            let slots: Vec<Slot> = slots.collect();
            prop_assert_eq!(slots.len() as u64, count);
            let mut seen = vec![false; slots.len()];
            for slot in &slots {
                prop_assert_eq!(slot.index % count * 64, slot.offset as u64);
                prop_assert!(!core::mem::replace(&mut seen[slot.offset / 64], true));
                let between = (read..write).contains(&slot.index);
                prop_assert_eq!(slot.state == State::InFlight, between);
            }
            let flying = slots.iter().filter(|slot| slot.state == State::InFlight).count();
            prop_assert_eq!(flying as u64, in_flight);
        }
    }
}
