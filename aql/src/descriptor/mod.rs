//! The kernel descriptor: 64 bytes, 64-aligned, that a dispatch packet's `kernel_object` points to
//! (AMDGPUUsage, "Kernel Descriptor"; symbol `NAME.kd` of a code object).

mod registers;
mod text;
mod user_sgprs;

pub use registers::{
    KernargPreload, Properties, Rsrc1Gfx9, Rsrc1Gfx10, Rsrc1Gfx12, Rsrc2, Rsrc2Gfx12, Rsrc3Gfx10,
    Rsrc3Gfx11, Rsrc3Gfx12, Rsrc3Gfx90a,
};
pub use text::Directives;
pub use user_sgprs::{MAX_USER_SGPRS, PreloadSgprs, UserSgprError, UserSgprs};

use crate::{Generation, generations};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Size and alignment in bytes.
pub const BYTES: usize = 64;

/// Alignment in bytes of a kernel's first instruction.
pub const ENTRY_ALIGNMENT: u64 = 256;

/// What a kernel with preloaded arguments has in front of its entry for firmware that does not
/// preload; firmware that does adds as many bytes to the entry.
pub const PRELOAD_PROLOGUE_BYTES: u64 = 256;

/// The descriptor's bytes. Registers are raw here; which of the views ([`Rsrc1Gfx10`], …) to take
/// depends on the [`Generation`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(64))]
pub struct KernelDescriptor {
    /// GROUP_SEGMENT_FIXED_SIZE: static LDS of a workgroup, bytes.
    pub group_segment_fixed_size: u32,
    /// PRIVATE_SEGMENT_FIXED_SIZE: scratch of a work-item, bytes.
    pub private_segment_fixed_size: u32,
    /// KERNARG_SIZE: bytes of arguments; 0 when unspecified.
    pub kernarg_size: u32,
    /// Must be zero.
    pub reserved0: [u8; 4],
    /// KERNEL_CODE_ENTRY_BYTE_OFFSET: from the descriptor to the first instruction.
    pub kernel_code_entry_byte_offset: i64,
    /// Must be zero.
    pub reserved1: [u8; 20],
    /// COMPUTE_PGM_RSRC3: [`Rsrc3Gfx90a`], [`Rsrc3Gfx10`], [`Rsrc3Gfx11`], [`Rsrc3Gfx12`]; must be
    /// zero on gfx9.
    pub compute_pgm_rsrc3: u32,
    /// COMPUTE_PGM_RSRC1: [`Rsrc1Gfx9`], [`Rsrc1Gfx10`], [`Rsrc1Gfx12`].
    pub compute_pgm_rsrc1: u32,
    /// COMPUTE_PGM_RSRC2: [`Rsrc2`], [`Rsrc2Gfx12`].
    pub compute_pgm_rsrc2: u32,
    /// KERNEL_CODE_PROPERTIES: [`Properties`].
    pub kernel_code_properties: u16,
    /// KERNARG_PRELOAD_SPEC: [`KernargPreload`].
    pub kernarg_preload: u16,
    /// Must be zero.
    pub reserved3: [u8; 4],
}

const _: () = assert!(size_of::<KernelDescriptor>() == BYTES);

impl KernelDescriptor {
    /// Reads a descriptor; all bytes are one.
    pub fn decode(bytes: &[u8; BYTES]) -> KernelDescriptor {
        zerocopy::transmute!(*bytes)
    }

    /// The descriptor's bytes.
    pub fn encode(&self) -> [u8; BYTES] {
        zerocopy::transmute!(*self)
    }

    /// Address of the first instruction for a descriptor at `address`, as firmware that preloads
    /// arguments (where the generation does) computes it.
    pub const fn entry(&self, address: u64, generation: Generation) -> u64 {
        let entry = address.wrapping_add_signed(self.kernel_code_entry_byte_offset);
        if generation.has_kernarg_preload() && self.preload().length() != 0 {
            entry.wrapping_add(PRELOAD_PROLOGUE_BYTES)
        } else {
            entry
        }
    }

    /// KERNEL_CODE_PROPERTIES.
    pub const fn properties(&self) -> Properties {
        Properties::from_bits(self.kernel_code_properties)
    }

    /// KERNARG_PRELOAD_SPEC.
    pub const fn preload(&self) -> KernargPreload {
        KernargPreload::from_bits(self.kernarg_preload)
    }

    /// COMPUTE_PGM_RSRC2, which but for one bit is the same everywhere.
    pub const fn rsrc2(&self) -> Rsrc2 {
        Rsrc2::from_bits(self.compute_pgm_rsrc2)
    }

    /// Lanes of a wave.
    pub const fn wavefront_size(&self, generation: Generation) -> u32 {
        if generation.has_wave32() && self.properties().enable_wavefront_size32() { 32 } else { 64 }
    }

    /// VGPRs of a work-item, rounded up as the register encodes them
    /// (GRANULATED_WORKITEM_VGPR_COUNT).
    pub const fn vgprs(&self, generation: Generation) -> u32 {
        let granule = match generation {
            Generation::Gfx906 | Generation::Gfx908 => 4,
            Generation::Gfx90a | Generation::Gfx94x | Generation::Gfx950 => 8,
            _ => 256 / self.wavefront_size(generation),
        };
        ((self.compute_pgm_rsrc1 & 0x3f) + 1) * granule
    }

    /// The first field that must be zero and is not, by its name in AMDGPUUsage.
    ///
    /// Bits that the packet processor fills in (PRIORITY, PRIV, DEBUG_MODE, BULKY, CDBG_USER,
    /// ENABLE_TRAP_HANDLER, the two exception bits and GRANULATED_LDS_SIZE) belong to them.
    pub fn reserved_bits(&self, generation: Generation) -> Option<&'static str> {
        let properties = self.properties();
        let architected = generation.has_architected_flat_scratch();
        let rsrc1_reserved = match generation {
            _ if generation.is_in(generations::GFX9) => Rsrc1Gfx9::MUST_BE_ZERO,
            Generation::Gfx12 => Rsrc1Gfx12::MUST_BE_ZERO,
            _ => Rsrc1Gfx10::MUST_BE_ZERO,
        };
        let rsrc3_reserved = match generation {
            Generation::Gfx906 | Generation::Gfx908 => u32::MAX,
            Generation::Gfx90a | Generation::Gfx94x | Generation::Gfx950 => {
                Rsrc3Gfx90a::MUST_BE_ZERO
            }
            Generation::Gfx101 | Generation::Gfx103 => Rsrc3Gfx10::MUST_BE_ZERO,
            Generation::Gfx11 | Generation::Gfx115 => Rsrc3Gfx11::MUST_BE_ZERO,
            Generation::Gfx12 => Rsrc3Gfx12::MUST_BE_ZERO,
        };
        let checks = [
            ("reserved bits 127:96", self.reserved0 != [0; 4]),
            ("reserved bits 351:192", self.reserved1 != [0; 20]),
            ("reserved bits 511:480", self.reserved3 != [0; 4]),
            ("COMPUTE_PGM_RSRC1", self.compute_pgm_rsrc1 & rsrc1_reserved != 0),
            ("COMPUTE_PGM_RSRC2", self.compute_pgm_rsrc2 & Rsrc2::MUST_BE_ZERO != 0),
            ("COMPUTE_PGM_RSRC3", self.compute_pgm_rsrc3 & rsrc3_reserved != 0),
            (
                "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER",
                architected && properties.enable_sgpr_private_segment_buffer(),
            ),
            (
                "ENABLE_SGPR_FLAT_SCRATCH_INIT",
                architected && properties.enable_sgpr_flat_scratch_init(),
            ),
            (
                "ENABLE_WAVEFRONT_SIZE32",
                !generation.has_wave32() && properties.enable_wavefront_size32(),
            ),
            ("KERNEL_CODE_PROPERTIES", properties.reserved0() != 0 || properties.reserved1() != 0),
            (
                "KERNARG_PRELOAD_SPEC",
                !generation.has_kernarg_preload() && self.kernarg_preload != 0,
            ),
        ];
        checks.into_iter().find(|(_, wrong)| *wrong).map(|(name, _)| name)
    }

    /// The descriptor as assembler directives: LLVM's `.amdhsa_kernel` block.
    pub const fn directives<'a>(&'a self, name: &'a str, generation: Generation) -> Directives<'a> {
        Directives { descriptor: self, name, generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries() {
        let mut descriptor = KernelDescriptor {
            kernel_code_entry_byte_offset: -0x100,
            kernarg_preload: KernargPreload::new().with_length(2).into_bits(),
            ..KernelDescriptor::default()
        };
        assert_eq!(descriptor.entry(0x1000, Generation::Gfx90a), 0x1000);
        assert_eq!(descriptor.entry(0x1000, Generation::Gfx11), 0xf00);
        descriptor.kernarg_preload = 0;
        assert_eq!(descriptor.entry(0x1000, Generation::Gfx90a), 0xf00);
    }

    #[test]
    fn reserved_bits_are_named() {
        let mut descriptor = KernelDescriptor::default();
        for generation in [Generation::Gfx906, Generation::Gfx11, Generation::Gfx12] {
            assert_eq!(descriptor.reserved_bits(generation), None);
        }
        descriptor.compute_pgm_rsrc3 = 1;
        assert_eq!(descriptor.reserved_bits(Generation::Gfx906), Some("COMPUTE_PGM_RSRC3"));
        assert_eq!(descriptor.reserved_bits(Generation::Gfx103), None);
        assert_eq!(descriptor.reserved_bits(Generation::Gfx12), Some("COMPUTE_PGM_RSRC3"));
        descriptor = KernelDescriptor { kernel_code_properties: 1, ..KernelDescriptor::default() };
        assert_eq!(descriptor.reserved_bits(Generation::Gfx103), None);
        assert_eq!(
            descriptor.reserved_bits(Generation::Gfx11),
            Some("ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER")
        );
    }

    proptest! {
        #[test]
        fn round_trip(bytes in prop::array::uniform32(any::<[u8; 2]>())) {
            let bytes: [u8; 64] = zerocopy::transmute!(bytes);
            let descriptor = KernelDescriptor::decode(&bytes);
            prop_assert_eq!(descriptor.encode(), bytes);
            prop_assert_eq!(
                descriptor.compute_pgm_rsrc1,
                u32::from_le_bytes([bytes[48], bytes[49], bytes[50], bytes[51]])
            );
        }
    }
}
