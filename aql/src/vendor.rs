//! Vendor-specific packets: `AmdFormat` in dword 0, bits 23:16, says which
//! (`hsa_amd_vendor_packet_header_t`, hsa_ext_amd.h).

use crate::error::DecodeError;
use crate::header::{Header, PacketType};
use crate::words::{high, low, quad};
use core::fmt;

/// Formats (`AmdFormat`).
pub mod format {
    /// An indirect buffer of PM4 (ROCr, amd_aql_queue.cpp, ExecutePM4: `AMD_AQL_FORMAT_PM4_IB`).
    pub const PM4_INDIRECT: u8 = 1;
    /// `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`.
    pub const BARRIER_VALUE: u8 = 2;
    /// `HSA_AMD_PACKET_TYPE_AIE_ERT`: a command for an NPU's firmware; not for GPUs.
    pub const AIE_ERT: u8 = 3;
}

const fn head(header: Header, format: u8, reserved: u8) -> u32 {
    header.into_bits() as u32 | (format as u32) << 16 | (reserved as u32) << 24
}

/// The format of a vendor-specific packet's dword 0.
pub const fn format_of(word: u32) -> u8 {
    (word >> 16) as u8
}

const fn check(word: u32, needed: u8) -> Result<Header, DecodeError> {
    let header = Header::from_word(word);
    if !matches!(header.packet_type(), PacketType::VendorSpecific) {
        return Err(DecodeError::PacketType {
            needed: "vendor-specific",
            got: header.packet_type(),
        });
    }
    if format_of(word) != needed {
        return Err(DecodeError::VendorFormat { needed, got: format_of(word) });
    }
    Ok(header)
}

/// Runs an indirect buffer of PM4 packets.
///
/// | dwords | field |
/// |---|---|
/// | 0 | header 15:0, AmdFormat 23:16 (1), reserved 31:24 |
/// | 1 | PM4 header of INDIRECT_BUFFER: 0xC0023F00 |
/// | 2 | IB_BASE_LO: address 31:2 |
/// | 3 | IB_BASE_HI: address 63:32 |
/// | 4 | IB control: size 19:0 in dwords, VALID 23, the rest carried |
/// | 5 | dwords that remain in the packet: 10 |
/// | 6–13 | reserved |
/// | 14–15 | completion_signal |
///
/// Source: ROCr, amd_aql_queue.cpp, ExecutePM4; Linux nvd.h, PACKET3_INDIRECT_BUFFER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pm4Indirect {
    /// Type, barrier bit, fences.
    pub header: Header,
    /// Must be zero.
    pub reserved0: u8,
    /// Device address of the buffer, a multiple of 4; bits 1:0 are carried.
    pub address: u64,
    /// IB control: size and flags.
    pub control: u32,
    /// [`Pm4Indirect::REMAINING`].
    pub remaining: u32,
    /// Must be zero.
    pub reserved1: [u32; 8],
    /// Address of the signal decremented on completion; 0 for none.
    pub completion_signal: u64,
}

impl Pm4Indirect {
    /// PM4 type-3 header of INDIRECT_BUFFER with four dwords.
    pub const PM4_HEADER: u32 = 0xc002_3f00;
    /// IB control bit VALID.
    pub const VALID: u32 = 1 << 23;
    /// Bits of the IB control that hold the size in dwords.
    pub const SIZE_MASK: u32 = 0xf_ffff;
    /// What dword 5 says: dwords after it.
    pub const REMAINING: u32 = 10;

    /// Runs `dwords` dwords (at most [`Pm4Indirect::SIZE_MASK`], further bits are cut off) at
    /// `address`.
    pub const fn new(address: u64, dwords: u32) -> Pm4Indirect {
        Pm4Indirect {
            header: Header::system(PacketType::VendorSpecific),
            reserved0: 0,
            address,
            control: dwords & Pm4Indirect::SIZE_MASK | Pm4Indirect::VALID,
            remaining: Pm4Indirect::REMAINING,
            reserved1: [0; 8],
            completion_signal: 0,
        }
    }

    /// Size of the buffer in dwords.
    pub const fn size(&self) -> u32 {
        self.control & Pm4Indirect::SIZE_MASK
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; 16] {
        let [a, b, c, d, e, f, g, h] = self.reserved1;
        [
            head(self.header, format::PM4_INDIRECT, self.reserved0),
            Pm4Indirect::PM4_HEADER,
            low(self.address),
            high(self.address),
            self.control,
            self.remaining,
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            low(self.completion_signal),
            high(self.completion_signal),
        ]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header's type or format is another, or dword 1 is not INDIRECT_BUFFER's.
    pub const fn decode(words: &[u32; 16]) -> Result<Pm4Indirect, DecodeError> {
        let header = match check(words[0], format::PM4_INDIRECT) {
            Ok(header) => header,
            Err(error) => return Err(error),
        };
        if words[1] != Pm4Indirect::PM4_HEADER {
            return Err(DecodeError::Pm4Opcode { needed: Pm4Indirect::PM4_HEADER, got: words[1] });
        }
        let [.., a, b, c, d, e, f, g, h, _, _] = *words;
        Ok(Pm4Indirect {
            header,
            reserved0: (words[0] >> 24) as u8,
            address: quad(words, 2),
            control: words[4],
            remaining: words[5],
            reserved1: [a, b, c, d, e, f, g, h],
            completion_signal: quad(words, 14),
        })
    }
}

impl fmt::Display for Pm4Indirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} format=pm4-indirect", self.header)?;
        write!(f, " address={:#x} dwords={}", self.address, self.size())?;
        write!(f, " control={:#x} remaining={}", self.control, self.remaining)?;
        write!(f, " completion={:#x}", self.completion_signal)?;
        if self.reserved0 != 0 || self.reserved1 != [0; 8] {
            write!(f, " reserved={:#x}/{:x?}", self.reserved0, self.reserved1)?;
        }
        Ok(())
    }
}

/// How a barrier-value packet compares, signed (`hsa_signal_condition_t`, hsa.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `HSA_SIGNAL_CONDITION_EQ` (0).
    Equal,
    /// `HSA_SIGNAL_CONDITION_NE` (1).
    NotEqual,
    /// `HSA_SIGNAL_CONDITION_LT` (2).
    Less,
    /// `HSA_SIGNAL_CONDITION_GTE` (3).
    GreaterOrEqual,
    /// A value that hsa.h does not define.
    Unknown(u32),
}

impl Condition {
    /// The condition of a packet's `cond`.
    pub const fn from_bits(bits: u32) -> Condition {
        match bits {
            0 => Condition::Equal,
            1 => Condition::NotEqual,
            2 => Condition::Less,
            3 => Condition::GreaterOrEqual,
            other => Condition::Unknown(other),
        }
    }

    /// A packet's `cond`.
    pub const fn into_bits(self) -> u32 {
        match self {
            Condition::Equal => 0,
            Condition::NotEqual => 1,
            Condition::Less => 2,
            Condition::GreaterOrEqual => 3,
            Condition::Unknown(other) => other,
        }
    }

    /// Whether `left` meets the condition against `right`; `None` for an unknown one.
    pub const fn holds(self, left: i64, right: i64) -> Option<bool> {
        Some(match self {
            Condition::Equal => left == right,
            Condition::NotEqual => left != right,
            Condition::Less => left < right,
            Condition::GreaterOrEqual => left >= right,
            Condition::Unknown(_) => return None,
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Equal => "==",
            Condition::NotEqual => "!=",
            Condition::Less => "<",
            Condition::GreaterOrEqual => ">=",
            Condition::Unknown(other) => return write!(f, "condition({other})"),
        })
    }
}

/// Waits until (signal & mask) meets a condition (`hsa_amd_barrier_value_packet_t`,
/// hsa_ext_amd.h). Only gfx90a, gfx94x and gfx950 are known to execute it.
///
/// | dwords | field |
/// |---|---|
/// | 0 | header 15:0, AmdFormat 23:16 (2), reserved 31:24 |
/// | 1 | reserved0 |
/// | 2–3 | signal |
/// | 4–5 | value |
/// | 6–7 | mask |
/// | 8 | cond |
/// | 9 | reserved1 |
/// | 10–13 | reserved2, reserved3 |
/// | 14–15 | completion_signal |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierValue {
    /// Type, barrier bit, fences.
    pub header: Header,
    /// Must be zero (the header's `reserved`).
    pub reserved: u8,
    /// Must be zero.
    pub reserved0: u32,
    /// Address of the signal; 0 counts as satisfied.
    pub signal: u64,
    /// What to compare with.
    pub value: i64,
    /// Which bits of the signal's value to compare.
    pub mask: i64,
    /// How.
    pub condition: Condition,
    /// Must be zero.
    pub reserved1: u32,
    /// Must be zero.
    pub reserved2: u64,
    /// Must be zero.
    pub reserved3: u64,
    /// Address of the signal decremented on completion; 0 for none.
    pub completion_signal: u64,
}

impl BarrierValue {
    /// Waits until the whole value of `signal` meets the condition.
    pub const fn new(signal: u64, condition: Condition, value: i64) -> BarrierValue {
        BarrierValue {
            header: Header::system(PacketType::VendorSpecific),
            reserved: 0,
            reserved0: 0,
            signal,
            value,
            mask: -1,
            condition,
            reserved1: 0,
            reserved2: 0,
            reserved3: 0,
            completion_signal: 0,
        }
    }

    /// The packet's dwords.
    pub const fn encode(&self) -> [u32; 16] {
        [
            head(self.header, format::BARRIER_VALUE, self.reserved),
            self.reserved0,
            low(self.signal),
            high(self.signal),
            low(self.value as u64),
            high(self.value as u64),
            low(self.mask as u64),
            high(self.mask as u64),
            self.condition.into_bits(),
            self.reserved1,
            low(self.reserved2),
            high(self.reserved2),
            low(self.reserved3),
            high(self.reserved3),
            low(self.completion_signal),
            high(self.completion_signal),
        ]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header's type or format is another.
    pub const fn decode(words: &[u32; 16]) -> Result<BarrierValue, DecodeError> {
        let header = match check(words[0], format::BARRIER_VALUE) {
            Ok(header) => header,
            Err(error) => return Err(error),
        };
        Ok(BarrierValue {
            header,
            reserved: (words[0] >> 24) as u8,
            reserved0: words[1],
            signal: quad(words, 2),
            value: quad(words, 4) as i64,
            mask: quad(words, 6) as i64,
            condition: Condition::from_bits(words[8]),
            reserved1: words[9],
            reserved2: quad(words, 10),
            reserved3: quad(words, 12),
            completion_signal: quad(words, 14),
        })
    }

    /// Whether a bit is set that must be zero.
    pub const fn reserved_bits(&self) -> bool {
        self.header.reserved() != 0
            || self.reserved != 0
            || self.reserved0 != 0
            || self.reserved1 != 0
            || self.reserved2 != 0
            || self.reserved3 != 0
    }
}

impl fmt::Display for BarrierValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} format=barrier-value", self.header)?;
        write!(f, " ({:#x} & {:#x})", self.signal, self.mask)?;
        write!(f, " {} {}", self.condition, self.value)?;
        write!(f, " completion={:#x}", self.completion_signal)?;
        let reserved = [
            u64::from(self.reserved),
            self.reserved0.into(),
            self.reserved1.into(),
            self.reserved2,
            self.reserved3,
        ];
        if reserved != [0; 5] {
            write!(f, " reserved={reserved:x?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn read_well() {
        assert_eq!(
            Pm4Indirect::new(0x1000, 12).to_string(),
            "vendor-specific barrier acquire=system release=system format=pm4-indirect \
             address=0x1000 dwords=12 control=0x80000c remaining=10 completion=0x0"
        );
        assert_eq!(
            BarrierValue::new(0x40, Condition::Less, -3).to_string(),
            "vendor-specific barrier acquire=system release=system format=barrier-value \
             (0x40 & 0xffffffffffffffff) < -3 completion=0x0"
        );
    }

    #[test]
    fn other_formats_are_refused() {
        let words = BarrierValue::new(0, Condition::Equal, 0).encode();
        assert_eq!(
            Pm4Indirect::decode(&words).unwrap_err().to_string(),
            "vendor format (dword 0, bits 23:16): needed 1, got 2"
        );
        let mut words = Pm4Indirect::new(0, 0).encode();
        words[1] = 0xc000_1000;
        assert_eq!(
            Pm4Indirect::decode(&words).unwrap_err().to_string(),
            "PM4 header (dword 1): needed 0xc0023f00, got 0xc0001000"
        );
    }

    proptest! {
        #[test]
        fn round_trip_pm4(mut words: [u32; 16]) {
            words[0] = words[0] & 0xff00_ff00 | 1 << 16;
            words[1] = Pm4Indirect::PM4_HEADER;
            prop_assert_eq!(Pm4Indirect::decode(&words).unwrap().encode(), words);
        }

        #[test]
        fn round_trip_barrier_value(mut words: [u32; 16]) {
            words[0] = words[0] & 0xff00_ff00 | 2 << 16;
            prop_assert_eq!(BarrierValue::decode(&words).unwrap().encode(), words);
        }

        #[test]
        fn conditions(left: i64, right: i64) {
            prop_assert_eq!(Condition::Less.holds(left, right), Some(left < right));
            prop_assert_eq!(Condition::GreaterOrEqual.holds(left, right), Some(left >= right));
            prop_assert_eq!(Condition::Equal.holds(left, left), Some(true));
            prop_assert_eq!(Condition::NotEqual.holds(left, left), Some(false));
            prop_assert_eq!(Condition::Unknown(4).holds(left, right), None);
        }
    }
}
