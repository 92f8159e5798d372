//! Vendor-specific packets: one file a packet; [`Format`] says which there are.

mod barrier_value;
mod ext_kernel_dispatch;
mod pm4_indirect;

pub use barrier_value::{BarrierValue, Condition};
pub use ext_kernel_dispatch::ExtKernelDispatch;
pub use pm4_indirect::{Pm4Header, Pm4Indirect};

use crate::Generation;
use crate::header::{Header, PacketType};
use pm4::generations;
use pm4::layout::Variants;

pm4::names! {
    /// Which vendor-specific packet it is: `AmdFormat`, bits 23:16 of dword 0 (`hsa_amd_vendor_packet_header_t`,
    /// hsa_ext_amd.h).
    ///
    /// The formats that public headers describe. Two things are not here: 200 is reserved for a packet that AMD has
    /// not released, and the packets for conditional graphs (indirect buffer of AQL, branch, loop) are proposals that
    /// have had two numberings, 4 to 6 and 5 to 7.
    pub struct Format(u8) {
        /// [`Pm4Indirect`]: `AMD_AQL_FORMAT_PM4_IB` of ROCr (amd_aql_queue.cpp, `ExecutePM4`).
        PM4_IB = 1,
        /// [`BarrierValue`]: `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`.
        BARRIER_VALUE = 2,
        /// [`ExtKernelDispatch`]: `HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH`.
        EXT_KERNEL_DISPATCH = 3,
        /// `AMD_AQL_FORMAT_INTERCEPT_MARKER` (hsa_api_trace.h): a call-back of tools in queues that ROCr rewrites
        /// in software. No packet processor ever sees it.
        INTERCEPT_MARKER = 0xfe,
    }
}

impl Format {
    /// `HSA_AMD_PACKET_TYPE_AIE_ERT`: a command for an NPU's firmware, in queues of NPUs alone. Version
    /// 1.21 of hsa_ext_amd.h gives the number to [`Format::EXT_KERNEL_DISPATCH`], for GPUs; NPUs have packets of their
    /// own in later versions (hsa_ext_amd_aie.h).
    pub const AIE_ERT: Format = Format(3);

    /// The format of a dword 0, whatever its type.
    pub const fn from_word(word: u32) -> Format {
        Format((word >> 16) as u8)
    }

    /// The generations whose packet processors are known to accept it.
    ///
    /// AMD publishes no table. PM4_IB: ROCr submits it on gfx9 and everything after. BARRIER_VALUE: AMD's runtime
    /// uses it on gfx90a, gfx94x and gfx950 alone (CLR, rocsettings.cpp, `barrier_value_packet_`).
    /// EXT_KERNEL_DISPATCH: gfx12.5, which [`Generation`] does not have.
    pub const fn accepted_by(self) -> Variants {
        match self {
            Format::PM4_IB => generations::ALL,
            Format::BARRIER_VALUE => generations::GFX90A_ON,
            _ => Variants(0),
        }
    }

    /// Whether packet processors of a generation are known to accept it.
    pub const fn is_accepted_by(self, generation: Generation) -> bool {
        generation.is_in(self.accepted_by())
    }
}

/// The format of a dword 0 that is a vendor-specific packet's.
pub const fn format_of(word: u32) -> Option<Format> {
    match Header::from_word(word).packet_type {
        PacketType::VENDOR_SPECIFIC => Some(Format::from_word(word)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn formats() {
        assert_eq!(format_of(0x0002_1500), Some(Format::BARRIER_VALUE));
        assert_eq!(format_of(0x0002_1502), None);
        for generation in Generation::ALL {
            assert!(Format::PM4_IB.is_accepted_by(generation), "{generation}");
            // gfx90a, gfx94x and gfx950 (ROCR-Runtime's value waits).
            let with_values =
                matches!(generation, Generation::Gfx90a | Generation::Gfx94x | Generation::Gfx950);
            assert_eq!(
                Format::BARRIER_VALUE.is_accepted_by(generation),
                with_values,
                "{generation}"
            );
        }
        assert_eq!(Format(0).accepted_by(), Variants(0));
    }

    #[test]
    fn other_formats_are_refused() {
        let words = BarrierValue::new(0, Condition::EQ, 0).encode();
        assert_eq!(
            Pm4Indirect::decode(&words).unwrap_err().to_string(),
            "PM4_IB: needed dword 0 = 0x00010000 in bits 0x00ff00ff, got 0x00021500"
        );
    }
}
