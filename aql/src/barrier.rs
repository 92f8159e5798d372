//! Barrier packets: wait for up to five signals.

use crate::header::FenceScope;

/// Both barriers: the type in the header says how the signals are joined.
macro_rules! barrier {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal = $packet_type:literal;
        source $source:literal;
    ) => {
        packet! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd = $packet_type in 0xff;
            source $source;
            /// Address of a signal waited for; 0 is no signal and is ignored.
            dep_signal_0: u64 = 2[31:0] as dep_signal_0_lo | 3[31:0] << 32 as dep_signal_0_hi;
            /// Address of a signal waited for; 0 is no signal and is ignored.
            dep_signal_1: u64 = 4[31:0] as dep_signal_1_lo | 5[31:0] << 32 as dep_signal_1_hi;
            /// Address of a signal waited for; 0 is no signal and is ignored.
            dep_signal_2: u64 = 6[31:0] as dep_signal_2_lo | 7[31:0] << 32 as dep_signal_2_hi;
            /// Address of a signal waited for; 0 is no signal and is ignored.
            dep_signal_3: u64 = 8[31:0] as dep_signal_3_lo | 9[31:0] << 32 as dep_signal_3_hi;
            /// Address of a signal waited for; 0 is no signal and is ignored.
            dep_signal_4: u64 = 10[31:0] as dep_signal_4_lo | 11[31:0] << 32 as dep_signal_4_hi;
        }

        impl $Name {
            /// A barrier fenced as [`Self::SYSTEM`], without a completion signal.
            pub const fn new(dep_signals: [u64; 5]) -> $Name {
                let [dep_signal_0, dep_signal_1, dep_signal_2, dep_signal_3, dep_signal_4] = dep_signals;
                $Name {
                    dep_signal_0,
                    dep_signal_1,
                    dep_signal_2,
                    dep_signal_3,
                    dep_signal_4,
                    ..$Name::SYSTEM
                }
            }

            /// The signals waited for, absent ones (0) included.
            pub const fn dep_signals(&self) -> [u64; 5] {
                [
                    self.dep_signal_0,
                    self.dep_signal_1,
                    self.dep_signal_2,
                    self.dep_signal_3,
                    self.dep_signal_4,
                ]
            }
        }
    };
}

barrier! {
    /// Waits until all of its signals are zero; without any it is satisfied at once.
    pub struct BarrierAnd: "BARRIER_AND" = 3;
    source "hsa.h, hsa_barrier_and_packet_t";
}

barrier! {
    /// Waits until any of its signals is zero; without any it is satisfied at once.
    pub struct BarrierOr: "BARRIER_OR" = 5;
    source "hsa.h, hsa_barrier_or_packet_t";
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
            BarrierOr::new([0x40, 0x80, 0, 0, 0]).to_string(),
            "BARRIER_OR barrier acquire=SYSTEM release=SYSTEM dep_signal_0=0x40 dep_signal_1=0x80 \
             dep_signal_2=0 dep_signal_3=0 dep_signal_4=0 completion_signal=0"
        );
        assert_eq!(BarrierAnd::new([0; 5]).encode()[0], 0x1503);
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & !0xff | 3;
            prop_assert_eq!(BarrierAnd::decode(&words).unwrap().encode(), words);
            prop_assert!(BarrierOr::decode(&words).is_err());
            words[0] = words[0] & !0xff | 5;
            prop_assert_eq!(BarrierOr::decode(&words).unwrap().encode(), words);
            prop_assert!(BarrierAnd::decode(&words).is_err());
        }
    }
}
