//! A vendor-specific packet that waits for a value.

use crate::Signed;
use crate::header::FenceScope;

pm4::names! {
    /// How a [`BarrierValue`] compares, signed (`hsa_signal_condition_t`, hsa.h).
    pub struct Condition(u32) {
        /// Equal.
        EQ = 0,
        /// Not equal.
        NE = 1,
        /// Less.
        LT = 2,
        /// Greater or equal.
        GTE = 3,
    }
}

impl Condition {
    /// Whether `left` meets the condition against `right`; `None` for one without a name.
    pub const fn holds(self, left: i64, right: i64) -> Option<bool> {
        Some(match self {
            Condition::EQ => left == right,
            Condition::NE => left != right,
            Condition::LT => left < right,
            Condition::GTE => left >= right,
            _ => return None,
        })
    }
}

packet! {
    /// Waits until the signal's value, masked, meets a condition. The value compared with is not masked. Not every
    /// GPU executes it: [`Format::accepted_by`](crate::vendor::Format::accepted_by).
    pub struct BarrierValue: "BARRIER_VALUE" = 0x0002_0000 in 0x00ff_00ff;
    source "hsa_ext_amd.h, hsa_amd_barrier_value_packet_t";
    /// Address of the signal; 0 counts as satisfied.
    signal: u64 = 2[31:0] as signal_lo | 3[31:0] << 32 as signal_hi;
    /// What to compare with.
    value: Signed = 4[31:0] as value_lo | 5[31:0] << 32 as value_hi;
    /// Which bits of the signal's value to compare.
    mask: u64 = 6[31:0] as mask_lo | 7[31:0] << 32 as mask_hi;
    /// How to compare.
    cond: Condition = 8[31:0];
}

impl BarrierValue {
    /// Waits until the whole value of `signal` meets the condition, fenced as [`BarrierValue::SYSTEM`].
    pub const fn new(signal: u64, cond: Condition, value: i64) -> BarrierValue {
        BarrierValue { signal, value: Signed(value), mask: u64::MAX, cond, ..BarrierValue::SYSTEM }
    }

    /// Whether a value of the signal satisfies it; `None` when the condition has no name.
    pub const fn holds(&self, signal_value: i64) -> Option<bool> {
        self.cond.holds(signal_value & self.mask as i64, self.value.0)
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
        let packet = BarrierValue::new(0x40, Condition::LT, -3);
        assert_eq!(
            packet.to_string(),
            "BARRIER_VALUE barrier acquire=SYSTEM release=SYSTEM signal=0x40 \
             value=0xfffffffffffffffd mask=0xffffffffffffffff cond=LT completion_signal=0"
        );
        assert_eq!(packet.value.to_string(), "-3");
        assert_eq!((packet.holds(-4), packet.holds(-3)), (Some(true), Some(false)));
    }

    #[test]
    fn the_mask_is_for_the_signal_alone() {
        let packet = BarrierValue { mask: 0xff, ..BarrierValue::new(0x40, Condition::EQ, -1) };
        assert_eq!(packet.holds(-1), Some(false));
        let packet = BarrierValue { value: Signed(0xff), ..packet };
        assert_eq!(packet.holds(-1), Some(true));
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & 0xff00_ff00 | 2 << 16;
            prop_assert_eq!(BarrierValue::decode(&words).unwrap().encode(), words);
        }

        #[test]
        fn conditions(left: i64, right: i64) {
            prop_assert_eq!(Condition::LT.holds(left, right), Some(left < right));
            prop_assert_eq!(Condition::GTE.holds(left, right), Some(left >= right));
            prop_assert_eq!(Condition::EQ.holds(left, left), Some(true));
            prop_assert_eq!(Condition::NE.holds(left, left), Some(false));
            prop_assert_eq!(Condition(4).holds(left, right), None);
        }
    }
}
