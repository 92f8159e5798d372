//! Any packet.

use crate::header::{Header, PacketType};
use crate::vendor::{self, BarrierValue, Pm4Indirect};
use crate::{AgentDispatch, Barrier, KernelDispatch};
use core::fmt;

/// A packet of any kind; decoding cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// A vendor-specific packet that runs an indirect buffer of PM4.
    Pm4Indirect(Pm4Indirect),
    /// A vendor-specific packet that waits for a value.
    BarrierValue(BarrierValue),
    /// No packet yet: everything but the type is meaningless.
    Invalid([u32; 16]),
    /// Kernel dispatch.
    KernelDispatch(KernelDispatch),
    /// Agent dispatch.
    AgentDispatch(AgentDispatch),
    /// Barrier-AND or barrier-OR.
    Barrier(Barrier),
    /// A type or a vendor-specific format that is not known, or a vendor-specific packet that is
    /// not what its format promises.
    Unknown([u32; 16]),
}

impl Packet {
    /// Reads a packet.
    pub const fn decode(words: &[u32; 16]) -> Packet {
        let known = match Header::from_word(words[0]).packet_type() {
            PacketType::Invalid => return Packet::Invalid(*words),
            PacketType::KernelDispatch => match KernelDispatch::decode(words) {
                Ok(packet) => Some(Packet::KernelDispatch(packet)),
                Err(_) => None,
            },
            PacketType::AgentDispatch => match AgentDispatch::decode(words) {
                Ok(packet) => Some(Packet::AgentDispatch(packet)),
                Err(_) => None,
            },
            PacketType::BarrierAnd | PacketType::BarrierOr => match Barrier::decode(words) {
                Ok(packet) => Some(Packet::Barrier(packet)),
                Err(_) => None,
            },
            PacketType::VendorSpecific => match vendor::format_of(words[0]) {
                vendor::format::PM4_INDIRECT => match Pm4Indirect::decode(words) {
                    Ok(packet) => Some(Packet::Pm4Indirect(packet)),
                    Err(_) => None,
                },
                vendor::format::BARRIER_VALUE => match BarrierValue::decode(words) {
                    Ok(packet) => Some(Packet::BarrierValue(packet)),
                    Err(_) => None,
                },
                _ => None,
            },
            PacketType::Unknown(_) => None,
        };
        match known {
            Some(packet) => packet,
            None => Packet::Unknown(*words),
        }
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; 16] {
        match self {
            Packet::Pm4Indirect(packet) => packet.encode(),
            Packet::BarrierValue(packet) => packet.encode(),
            Packet::KernelDispatch(packet) => packet.encode(),
            Packet::AgentDispatch(packet) => packet.encode(),
            Packet::Barrier(packet) => packet.encode(),
            Packet::Invalid(words) | Packet::Unknown(words) => *words,
        }
    }

    /// Type, barrier bit, fences.
    pub const fn header(&self) -> Header {
        match self {
            Packet::Pm4Indirect(packet) => packet.header,
            Packet::BarrierValue(packet) => packet.header,
            Packet::KernelDispatch(packet) => packet.header,
            Packet::AgentDispatch(packet) => packet.header,
            Packet::Barrier(packet) => packet.header,
            Packet::Invalid(words) | Packet::Unknown(words) => Header::from_word(words[0]),
        }
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packet::Pm4Indirect(packet) => packet.fmt(f),
            Packet::BarrierValue(packet) => packet.fmt(f),
            Packet::KernelDispatch(packet) => packet.fmt(f),
            Packet::AgentDispatch(packet) => packet.fmt(f),
            Packet::Barrier(packet) => packet.fmt(f),
            Packet::Invalid(_) => f.write_str("invalid"),
            Packet::Unknown(words) => {
                write!(f, "{} words=", Header::from_word(words[0]))?;
                for (i, word) in words.iter().enumerate() {
                    let separator = if i == 0 { "" } else { " " };
                    write!(f, "{separator}{word:08x}")?;
                }
                Ok(())
            }
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
    fn unknown_packets_show_their_words() {
        let packet = Packet::decode(&[0x0003_0000; 16]);
        assert!(matches!(packet, Packet::Unknown(_)));
        assert!(
            packet
                .to_string()
                .starts_with("vendor-specific acquire=none release=none words=00030000 00030000")
        );
    }

    proptest! {
        #[test]
        fn any_words_round_trip_and_print(mut words: [u32; 16], packet_type in 0u32..8, format in 0u32..4) {
            words[0] = words[0] & 0xff00_ff00 | packet_type | format << 16;
            let packet = Packet::decode(&words);
            prop_assert_eq!(packet.encode(), words);
            prop_assert_eq!(packet.header(), Header::from_word(words[0]));
            prop_assert!(!packet.to_string().is_empty());
        }
    }
}
