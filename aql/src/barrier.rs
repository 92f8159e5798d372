//! Barrier packets (`hsa_barrier_and_packet_t`, `hsa_barrier_or_packet_t`, hsa.h): wait for
//! signals.
//!
//! | dwords | field |
//! |---|---|
//! | 0 | header 15:0, reserved0 31:16 |
//! | 1 | reserved1 |
//! | 2–11 | `dep_signal[5]` |
//! | 12–13 | reserved2 |
//! | 14–15 | completion_signal |

use crate::error::DecodeError;
use crate::header::{Header, PacketType};
use crate::words::{halves, high, low, pair, quad};
use core::fmt;

/// Waits until all (barrier-AND) or any (barrier-OR) of its signals are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// Type (which says AND or OR), barrier bit, fences.
    pub header: Header,
    /// Must be zero.
    pub reserved0: u16,
    /// Must be zero.
    pub reserved1: u32,
    /// Addresses of the signals waited for. 0 is no signal and is ignored; a packet without any
    /// signal is satisfied at once.
    pub dependencies: [u64; 5],
    /// Must be zero.
    pub reserved2: u64,
    /// Address of the signal decremented on completion; 0 for none.
    pub completion_signal: u64,
}

impl Barrier {
    /// Waits for all of the signals.
    pub const fn and(dependencies: [u64; 5]) -> Barrier {
        Barrier::new(PacketType::BarrierAnd, dependencies)
    }

    /// Waits for any of the signals.
    pub const fn or(dependencies: [u64; 5]) -> Barrier {
        Barrier::new(PacketType::BarrierOr, dependencies)
    }

    const fn new(packet_type: PacketType, dependencies: [u64; 5]) -> Barrier {
        Barrier {
            header: Header::system(packet_type),
            reserved0: 0,
            reserved1: 0,
            dependencies,
            reserved2: 0,
            completion_signal: 0,
        }
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; 16] {
        let [a, b, c, d, e] = self.dependencies;
        [
            pair(self.header.into_bits(), self.reserved0),
            self.reserved1,
            low(a),
            high(a),
            low(b),
            high(b),
            low(c),
            high(c),
            low(d),
            high(d),
            low(e),
            high(e),
            low(self.reserved2),
            high(self.reserved2),
            low(self.completion_signal),
            high(self.completion_signal),
        ]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header's type is neither barrier-AND nor barrier-OR.
    pub const fn decode(words: &[u32; 16]) -> Result<Barrier, DecodeError> {
        let (header, reserved0) = halves(words[0]);
        let header = Header::from_bits(header);
        if !matches!(header.packet_type(), PacketType::BarrierAnd | PacketType::BarrierOr) {
            return Err(DecodeError::PacketType {
                needed: "barrier-and or barrier-or",
                got: header.packet_type(),
            });
        }
        Ok(Barrier {
            header,
            reserved0,
            reserved1: words[1],
            dependencies: [
                quad(words, 2),
                quad(words, 4),
                quad(words, 6),
                quad(words, 8),
                quad(words, 10),
            ],
            reserved2: quad(words, 12),
            completion_signal: quad(words, 14),
        })
    }

    /// Whether a bit is set that must be zero.
    pub const fn reserved_bits(&self) -> bool {
        self.header.reserved() != 0
            || self.reserved0 != 0
            || self.reserved1 != 0
            || self.reserved2 != 0
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e] = self.dependencies;
        write!(f, "{} dependencies={a:#x},{b:#x},{c:#x},{d:#x},{e:#x}", self.header)?;
        write!(f, " completion={:#x}", self.completion_signal)?;
        match (self.reserved0, self.reserved1, self.reserved2) {
            (0, 0, 0) => Ok(()),
            (r0, r1, r2) => write!(f, " reserved={r0:#x}/{r1:#x}/{r2:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn reads_well() {
        assert_eq!(
            Barrier::or([0x40, 0x80, 0, 0, 0]).to_string(),
            "barrier-or barrier acquire=system release=system dependencies=0x40,0x80,0x0,0x0,0x0 \
             completion=0x0"
        );
        assert_eq!(Barrier::and([0; 5]).encode()[0], 0x1503);
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16], any: bool) {
            words[0] = words[0] & !0xff | if any { 5 } else { 3 };
            prop_assert_eq!(Barrier::decode(&words).unwrap().encode(), words);
        }
    }
}
