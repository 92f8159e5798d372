//! A vendor-specific packet that runs PM4.

use crate::header::FenceScope;

pm4::names! {
    /// The PM4 packet that a [`Pm4Indirect`] carries, as its type-3 header.
    pub struct Pm4Header(u32) {
        /// INDIRECT_BUFFER with four dwords.
        INDIRECT_BUFFER = 0xc002_3f00,
    }
}

packet! {
    /// Runs an indirect buffer of PM4 packets. Dwords 1 to 4 are PM4's own INDIRECT_BUFFER packet.
    pub struct Pm4Indirect: "PM4_IB" = 0x0001_0000 in 0x00ff_00ff;
    source "ROCr, amd_aql_queue.cpp, amd_aql_pm4_ib; amd_gpu_pm4.h, PM4_INDIRECT_BUFFER_*";
    /// Which PM4 packet dwords 1 to 4 are: [`Pm4Header::INDIRECT_BUFFER`].
    pm4_header: Pm4Header = 1[31:0] as ib_jump_cmd;
    /// Device address of the buffer, a multiple of 4.
    address: u64 = 2[31:2] << 2 as ib_base_lo | 3[15:0] << 32 as ib_base_hi;
    /// Size of the buffer in dwords, at most 0xfffff.
    size: u32 = 4[19:0] as ib_size;
    /// The buffer is valid. ROCr sets it always.
    valid: bool = 4[23:23] as ib_valid;
    /// How many dwords of the packet follow this one: [`Pm4Indirect::REMAINING`].
    remaining: u32 = 5[31:0] as dw_cnt_remain;
}

impl Pm4Indirect {
    /// What [`remaining`](Self::remaining) has to be.
    pub const REMAINING: u32 = 10;

    /// Runs `size` dwords at `address`, fenced as [`Pm4Indirect::SYSTEM`].
    pub const fn new(address: u64, size: u32) -> Pm4Indirect {
        Pm4Indirect {
            pm4_header: Pm4Header::INDIRECT_BUFFER,
            address,
            size,
            valid: true,
            remaining: Pm4Indirect::REMAINING,
            ..Pm4Indirect::SYSTEM
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
            Pm4Indirect::new(0x1000, 12).to_string(),
            "PM4_IB barrier acquire=SYSTEM release=SYSTEM pm4_header=INDIRECT_BUFFER address=0x1000 \
             size=0xc valid remaining=0xa completion_signal=0"
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert_eq!(
            Pm4Indirect::new(0x1002, 0).check().unwrap_err().to_string(),
            "PM4_IB: address = 0x1002, needed 0x0 to 0xfffffffffffc, a multiple of 0x4"
        );
        assert!(Pm4Indirect::new(0x1000, 0x10_0000).check().is_err());
        assert_eq!(Pm4Indirect::new(0x1000, 0xf_ffff).check(), Ok(()));
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & 0xff00_ff00 | 1 << 16;
            prop_assert_eq!(Pm4Indirect::decode(&words).unwrap().encode(), words);
        }
    }
}
