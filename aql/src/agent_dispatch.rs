//! Agent dispatch packet (`hsa_agent_dispatch_packet_t`, hsa.h): a call of a host agent's function.
//! GPUs do not execute it.
//!
//! | dwords | field |
//! |---|---|
//! | 0 | header 15:0, type 31:16 |
//! | 1 | reserved0 |
//! | 2–3 | return_address |
//! | 4–11 | `arg[4]` |
//! | 12–13 | reserved2 |
//! | 14–15 | completion_signal |

use crate::error::DecodeError;
use crate::header::{Header, PacketType};
use crate::words::{halves, high, low, pair, quad};
use core::fmt;

/// Calls function `function` of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AgentDispatch {
    /// Type, barrier bit, fences.
    pub header: Header,
    /// The function (`type` in hsa.h); the application's from 0x8000 on.
    pub function: u16,
    /// Must be zero.
    pub reserved0: u32,
    /// Where the result is stored; 0 for nowhere.
    pub return_address: u64,
    /// Arguments.
    pub arguments: [u64; 4],
    /// Must be zero.
    pub reserved2: u64,
    /// Address of the signal decremented on completion; 0 for none.
    pub completion_signal: u64,
}

impl AgentDispatch {
    /// A call with a system-scope header ([`Header::system`]) and no signal.
    pub const fn new(function: u16, return_address: u64, arguments: [u64; 4]) -> AgentDispatch {
        AgentDispatch {
            header: Header::system(PacketType::AgentDispatch),
            function,
            reserved0: 0,
            return_address,
            arguments,
            reserved2: 0,
            completion_signal: 0,
        }
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; 16] {
        let [a, b, c, d] = self.arguments;
        [
            pair(self.header.into_bits(), self.function),
            self.reserved0,
            low(self.return_address),
            high(self.return_address),
            low(a),
            high(a),
            low(b),
            high(b),
            low(c),
            high(c),
            low(d),
            high(d),
            low(self.reserved2),
            high(self.reserved2),
            low(self.completion_signal),
            high(self.completion_signal),
        ]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header's type is another.
    pub const fn decode(words: &[u32; 16]) -> Result<AgentDispatch, DecodeError> {
        let (header, function) = halves(words[0]);
        let header = Header::from_bits(header);
        if !matches!(header.packet_type(), PacketType::AgentDispatch) {
            return Err(DecodeError::PacketType {
                needed: "agent-dispatch",
                got: header.packet_type(),
            });
        }
        Ok(AgentDispatch {
            header,
            function,
            reserved0: words[1],
            return_address: quad(words, 2),
            arguments: [quad(words, 4), quad(words, 6), quad(words, 8), quad(words, 10)],
            reserved2: quad(words, 12),
            completion_signal: quad(words, 14),
        })
    }

    /// Whether a bit is set that must be zero.
    pub const fn reserved_bits(&self) -> bool {
        self.header.reserved() != 0 || self.reserved0 != 0 || self.reserved2 != 0
    }
}

impl fmt::Display for AgentDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.arguments;
        write!(f, "{} function={:#x}", self.header, self.function)?;
        write!(f, " arguments={a:#x},{b:#x},{c:#x},{d:#x} return={:#x}", self.return_address)?;
        write!(f, " completion={:#x}", self.completion_signal)?;
        match (self.reserved0, self.reserved2) {
            (0, 0) => Ok(()),
            (r0, r2) => write!(f, " reserved={r0:#x}/{r2:#x}"),
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
            AgentDispatch::new(0x8001, 0x40, [1, 2, 3, 4]).to_string(),
            "agent-dispatch barrier acquire=system release=system function=0x8001 \
             arguments=0x1,0x2,0x3,0x4 return=0x40 completion=0x0"
        );
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & !0xff | 4;
            prop_assert_eq!(AgentDispatch::decode(&words).unwrap().encode(), words);
        }
    }
}
