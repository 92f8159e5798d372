//! Any packet.

use crate::header::{Header, PacketType};
use crate::vendor::{BarrierValue, ExtKernelDispatch, Format, Pm4Header, Pm4Indirect};
use crate::{AgentDispatch, BarrierAnd, BarrierOr, KernelDispatch, PACKET_WORDS};
use core::fmt;

/// A packet of any kind; decoding cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packet {
    /// A vendor-specific packet that runs an indirect buffer of PM4.
    Pm4Indirect(Pm4Indirect),
    /// A vendor-specific packet that waits for a value.
    BarrierValue(BarrierValue),
    /// A vendor-specific packet that starts a kernel in clusters. NPUs have another packet of this format.
    ExtKernelDispatch(ExtKernelDispatch),
    /// No packet yet: everything but the type is meaningless.
    Invalid([u32; PACKET_WORDS]),
    /// Kernel dispatch.
    KernelDispatch(KernelDispatch),
    /// Agent dispatch.
    AgentDispatch(AgentDispatch),
    /// Barrier for all signals.
    BarrierAnd(BarrierAnd),
    /// Barrier for any signal.
    BarrierOr(BarrierOr),
    /// A type or a vendor-specific format that is not known, or a vendor-specific packet that is
    /// not what its format promises.
    Unknown([u32; PACKET_WORDS]),
}

/// The packet in `words`, if it is one of this type.
macro_rules! known {
    ($Name:ident, $words:ident) => {
        match $Name::decode($words) {
            Ok(packet) => Packet::$Name(packet),
            Err(_) => Packet::Unknown(*$words),
        }
    };
}

impl Packet {
    /// Reads a packet.
    pub const fn decode(words: &[u32; PACKET_WORDS]) -> Packet {
        match Header::from_word(words[0]).packet_type {
            PacketType::INVALID => Packet::Invalid(*words),
            PacketType::KERNEL_DISPATCH => known!(KernelDispatch, words),
            PacketType::AGENT_DISPATCH => known!(AgentDispatch, words),
            PacketType::BARRIER_AND => known!(BarrierAnd, words),
            PacketType::BARRIER_OR => known!(BarrierOr, words),
            PacketType::VENDOR_SPECIFIC => match Format::from_word(words[0]) {
                Format::PM4_IB if words[1] == Pm4Header::INDIRECT_BUFFER.into_bits() => {
                    known!(Pm4Indirect, words)
                }
                Format::BARRIER_VALUE => known!(BarrierValue, words),
                Format::EXT_KERNEL_DISPATCH => known!(ExtKernelDispatch, words),
                _ => Packet::Unknown(*words),
            },
            _ => Packet::Unknown(*words),
        }
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; PACKET_WORDS] {
        match self {
            Packet::Pm4Indirect(packet) => packet.encode(),
            Packet::BarrierValue(packet) => packet.encode(),
            Packet::ExtKernelDispatch(packet) => packet.encode(),
            Packet::KernelDispatch(packet) => packet.encode(),
            Packet::AgentDispatch(packet) => packet.encode(),
            Packet::BarrierAnd(packet) => packet.encode(),
            Packet::BarrierOr(packet) => packet.encode(),
            Packet::Invalid(words) | Packet::Unknown(words) => *words,
        }
    }

    /// Type, barrier bit, fences.
    pub const fn header(&self) -> Header {
        Header::from_word(self.encode()[0])
    }

    /// Address of the signal that tells of its completion; 0 for none, and for packets that are not known.
    pub const fn completion_signal(&self) -> u64 {
        match self {
            Packet::Pm4Indirect(packet) => packet.completion_signal,
            Packet::BarrierValue(packet) => packet.completion_signal,
            Packet::ExtKernelDispatch(packet) => packet.completion_signal,
            Packet::KernelDispatch(packet) => packet.completion_signal,
            Packet::AgentDispatch(packet) => packet.completion_signal,
            Packet::BarrierAnd(packet) => packet.completion_signal,
            Packet::BarrierOr(packet) => packet.completion_signal,
            Packet::Invalid(_) | Packet::Unknown(_) => 0,
        }
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packet::Pm4Indirect(packet) => packet.fmt(f),
            Packet::BarrierValue(packet) => packet.fmt(f),
            Packet::ExtKernelDispatch(packet) => packet.fmt(f),
            Packet::KernelDispatch(packet) => packet.fmt(f),
            Packet::AgentDispatch(packet) => packet.fmt(f),
            Packet::BarrierAnd(packet) => packet.fmt(f),
            Packet::BarrierOr(packet) => packet.fmt(f),
            Packet::Invalid(_) => f.write_str("INVALID"),
            Packet::Unknown(words) => {
                write!(f, "unknown packet_type={} words=", self.header().packet_type)?;
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
        let packet = Packet::decode(&[0x0004_0000; 16]);
        assert!(matches!(packet, Packet::Unknown(_)));
        assert!(
            packet
                .to_string()
                .starts_with("unknown packet_type=VENDOR_SPECIFIC words=00040000 00040000")
        );
    }

    #[test]
    fn another_pm4_packet_is_not_what_the_format_promises() {
        let mut words = Pm4Indirect::new(0x1000, 4).encode();
        assert!(matches!(Packet::decode(&words), Packet::Pm4Indirect(_)));
        words[1] = 0xc000_1000;
        assert_eq!(Packet::decode(&words), Packet::Unknown(words));
    }

    proptest! {
        #[test]
        fn any_words_round_trip_and_print(
            mut words: [u32; 16],
            packet_type in 0u32..8,
            format in 0u32..5,
            indirect: bool,
        ) {
            words[0] = words[0] & 0xff00_ff00 | packet_type | format << 16;
            if indirect {
                words[1] = Pm4Header::INDIRECT_BUFFER.0;
            }
            let packet = Packet::decode(&words);
            prop_assert_eq!(packet.encode(), words);
            prop_assert_eq!(packet.header(), Header::from_word(words[0]));
            prop_assert!(!packet.to_string().is_empty());
            if !matches!(packet, Packet::Invalid(_) | Packet::Unknown(_)) {
                let signal = u64::from(words[14]) | u64::from(words[15]) << 32;
                prop_assert_eq!(packet.completion_signal(), signal);
            }
        }
    }
}
