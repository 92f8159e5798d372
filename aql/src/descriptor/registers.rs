//! The descriptor's register words and bit fields, by generation (AMDGPUUsage, tables
//! compute_pgm_rsrc1/2/3 and "Code Object V3 Kernel Descriptor").
#![expect(clippy::result_unit_err, reason = "in the setters that bitfield-struct generates")]

use bitfield_struct::bitfield;

macro_rules! rsrc1 {
    (
        $(#[$doc:meta])* $name:ident,
        bits_9_6: { $($bits_9_6:tt)* },
        bit_21: { $($bit_21:tt)* },
        bit_23: { $($bit_23:tt)* },
        bits_31_29: { $($bits_31_29:tt)* },
        must_be_zero: $reserved:expr $(,)?
    ) => {
        $(#[$doc])*
        #[bitfield(u32)]
        #[derive(PartialEq, Eq, Hash)]
        pub struct $name {
            /// GRANULATED_WORKITEM_VGPR_COUNT: blocks of VGPRs − 1; see
            /// [`KernelDescriptor::vgprs`](super::KernelDescriptor::vgprs).
            #[bits(6)]
            pub granulated_workitem_vgpr_count: u8,
            $($bits_9_6)*
            /// PRIORITY: filled in by the packet processor.
            #[bits(2)]
            pub priority: u8,
            /// FLOAT_ROUND_MODE_32: 0 nearest even, 1 towards +∞, 2 towards −∞, 3 towards 0.
            #[bits(2)]
            pub float_round_mode_32: u8,
            /// FLOAT_ROUND_MODE_16_64: likewise.
            #[bits(2)]
            pub float_round_mode_16_64: u8,
            /// FLOAT_DENORM_MODE_32: 0 flush sources and results, 1 results, 2 sources, 3 none.
            #[bits(2)]
            pub float_denorm_mode_32: u8,
            /// FLOAT_DENORM_MODE_16_64: likewise.
            #[bits(2)]
            pub float_denorm_mode_16_64: u8,
            /// PRIV: filled in by the packet processor.
            pub privileged: bool,
            $($bit_21)*
            /// DEBUG_MODE: filled in by the packet processor.
            pub debug_mode: bool,
            $($bit_23)*
            /// BULKY: filled in by the packet processor.
            pub bulky: bool,
            /// CDBG_USER: filled in by the packet processor.
            pub cdbg_user: bool,
            /// FP16_OVFL: f16 results that overflow are clamped to the largest number.
            pub fp16_ovfl: bool,
            /// Must be zero.
            #[bits(2)]
            pub reserved: u8,
            $($bits_31_29)*
        }

        impl $name {
            /// Bits that must be zero in a descriptor.
            pub const MUST_BE_ZERO: u32 = RSRC1_MUST_BE_ZERO | $reserved;
        }
    };
}

/// PRIORITY, PRIV, DEBUG_MODE, BULKY, CDBG_USER and bits 28:27.
const RSRC1_MUST_BE_ZERO: u32 = 3 << 10 | 1 << 20 | 1 << 22 | 3 << 24 | 3 << 27;

rsrc1! {
    /// COMPUTE_PGM_RSRC1 on gfx9, gfx90a, gfx94x.
    Rsrc1Gfx9,
    bits_9_6: {
        /// GRANULATED_WAVEFRONT_SGPR_COUNT: blocks of 8 SGPRs − 1, odd.
        #[bits(4)]
        pub granulated_wavefront_sgpr_count: u8,
    },
    bit_21: {
        /// ENABLE_DX10_CLAMP: clamping turns NaN into 0.
        pub enable_dx10_clamp: bool,
    },
    bit_23: {
        /// ENABLE_IEEE_MODE: quiet signalling NaNs.
        pub enable_ieee_mode: bool,
    },
    bits_31_29: {
        /// Must be zero.
        #[bits(3)]
        pub reserved_31_29: u8,
    },
    must_be_zero: 7 << 29,
}

rsrc1! {
    /// COMPUTE_PGM_RSRC1 on gfx10 and gfx11.
    Rsrc1Gfx10,
    bits_9_6: {
        /// Without effect: waves always have 128 SGPRs. AMDGPUUsage wants zero here, but clang 19 writes a
        /// count of blocks all the same.
        #[bits(4)]
        pub reserved_9_6: u8,
    },
    bit_21: {
        /// ENABLE_DX10_CLAMP: clamping turns NaN into 0.
        pub enable_dx10_clamp: bool,
    },
    bit_23: {
        /// ENABLE_IEEE_MODE: quiet signalling NaNs.
        pub enable_ieee_mode: bool,
    },
    bits_31_29: {
        /// WGP_MODE: a workgroup may use both compute units of its workgroup processor.
        pub wgp_mode: bool,
        /// MEM_ORDERED: counters count loads in order.
        pub mem_ordered: bool,
        /// FWD_PROGRESS: waves make progress in turns instead of oldest first.
        pub fwd_progress: bool,
    },
    must_be_zero: 0,
}

rsrc1! {
    /// COMPUTE_PGM_RSRC1 on gfx12.
    Rsrc1Gfx12,
    bits_9_6: {
        /// Without effect: waves always have 128 SGPRs. AMDGPUUsage wants zero here, but clang 19 writes a
        /// count of blocks all the same.
        #[bits(4)]
        pub reserved_9_6: u8,
    },
    bit_21: {
        /// WG_RR_EN: schedule waves of a SIMD round robin.
        pub wg_rr_en: bool,
    },
    bit_23: {
        /// DISABLE_PERF: must be zero.
        pub disable_perf: bool,
    },
    bits_31_29: {
        /// WGP_MODE: a workgroup may use both compute units of its workgroup processor.
        pub wgp_mode: bool,
        /// MEM_ORDERED: counters count loads in order.
        pub mem_ordered: bool,
        /// FWD_PROGRESS: waves make progress in turns instead of oldest first.
        pub fwd_progress: bool,
    },
    must_be_zero: 1 << 23,
}

macro_rules! rsrc2 {
    ($(#[$doc:meta])* $name:ident, bit_6: { $($bit_6:tt)* }) => {
        $(#[$doc])*
        #[bitfield(u32)]
        #[derive(PartialEq, Eq, Hash)]
        pub struct $name {
            /// ENABLE_PRIVATE_SEGMENT: waves have scratch. Without architected flat scratch this adds
            /// the wave's scratch offset to the system SGPRs.
            pub enable_private_segment: bool,
            /// USER_SGPR_COUNT.
            #[bits(5)]
            pub user_sgpr_count: u8,
            $($bit_6)*
            /// ENABLE_SGPR_WORKGROUP_ID_X.
            pub enable_sgpr_workgroup_id_x: bool,
            /// ENABLE_SGPR_WORKGROUP_ID_Y.
            pub enable_sgpr_workgroup_id_y: bool,
            /// ENABLE_SGPR_WORKGROUP_ID_Z.
            pub enable_sgpr_workgroup_id_z: bool,
            /// ENABLE_SGPR_WORKGROUP_INFO.
            pub enable_sgpr_workgroup_info: bool,
            /// ENABLE_VGPR_WORKITEM_ID: 0 x; 1 x and y; 2 x, y and z; 3 undefined.
            #[bits(2)]
            pub enable_vgpr_workitem_id: u8,
            /// ENABLE_EXCEPTION_ADDRESS_WATCH: filled in by the packet processor.
            pub enable_exception_address_watch: bool,
            /// ENABLE_EXCEPTION_MEMORY: filled in by the packet processor.
            pub enable_exception_memory: bool,
            /// GRANULATED_LDS_SIZE: filled in by the packet processor, in units of
            /// [`LDS_GRANULE`](Rsrc2::LDS_GRANULE) bytes.
            #[bits(9)]
            pub granulated_lds_size: u16,
            /// ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION.
            pub enable_exception_ieee_754_fp_invalid_operation: bool,
            /// ENABLE_EXCEPTION_FP_DENORMAL_SOURCE.
            pub enable_exception_fp_denormal_source: bool,
            /// ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO.
            pub enable_exception_ieee_754_fp_division_by_zero: bool,
            /// ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW.
            pub enable_exception_ieee_754_fp_overflow: bool,
            /// ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW.
            pub enable_exception_ieee_754_fp_underflow: bool,
            /// ENABLE_EXCEPTION_IEEE_754_FP_INEXACT.
            pub enable_exception_ieee_754_fp_inexact: bool,
            /// ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO.
            pub enable_exception_int_divide_by_zero: bool,
            /// Must be zero.
            pub reserved_31: bool,
        }

        impl $name {
            /// Bits that must be zero in a descriptor: bit 6, the two exceptions that the packet
            /// processor fills in, GRANULATED_LDS_SIZE and bit 31.
            pub const MUST_BE_ZERO: u32 = 1 << 6 | 3 << 13 | 0x1ff << 15 | 1 << 31;
        }
    };
}

rsrc2! {
    /// COMPUTE_PGM_RSRC2 up to gfx11.
    Rsrc2,
    bit_6: {
        /// ENABLE_TRAP_HANDLER (TRAP_PRESENT): filled in by the packet processor when the
        /// process has a trap handler.
        pub enable_trap_handler: bool,
    }
}

rsrc2! {
    /// COMPUTE_PGM_RSRC2 on gfx12.
    Rsrc2Gfx12,
    bit_6: {
        /// Must be zero.
        pub reserved_6: bool,
    }
}

impl Rsrc2 {
    /// The unit of GRANULATED_LDS_SIZE in bytes: 128 dwords from gfx7 on (AMDGPUUsage,
    /// compute_pgm_rsrc2).
    pub const LDS_GRANULE: u32 = 512;

    /// GRANULATED_LDS_SIZE for a workgroup with so many bytes of LDS; `None` when it does not fit.
    pub const fn granulated_lds(bytes: u32) -> Option<u16> {
        let granules = bytes.div_ceil(Rsrc2::LDS_GRANULE);
        if granules < 1 << 9 { Some(granules as u16) } else { None }
    }
}

/// COMPUTE_PGM_RSRC3 on gfx90a and gfx94x.
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct Rsrc3Gfx90a {
    /// ACCUM_OFFSET: first accumulation VGPR / 4 − 1.
    #[bits(6)]
    pub accum_offset: u8,
    /// Must be zero.
    #[bits(10)]
    pub reserved0: u16,
    /// TG_SPLIT: waves of a workgroup may go to different compute units.
    pub tg_split: bool,
    /// Must be zero.
    #[bits(15)]
    pub reserved1: u16,
}

impl Rsrc3Gfx90a {
    /// Bits that must be zero in a descriptor.
    pub const MUST_BE_ZERO: u32 = 0x3ff << 6 | 0x7fff << 17;
}

/// COMPUTE_PGM_RSRC3 on gfx10.
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct Rsrc3Gfx10 {
    /// SHARED_VGPR_COUNT: blocks of 8 VGPRs that the halves of a wave64 share.
    #[bits(4)]
    pub shared_vgpr_count: u8,
    /// Must be zero.
    #[bits(28)]
    pub reserved: u32,
}

impl Rsrc3Gfx10 {
    /// Bits that must be zero in a descriptor.
    pub const MUST_BE_ZERO: u32 = !0xf;
}

/// COMPUTE_PGM_RSRC3 on gfx11.
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct Rsrc3Gfx11 {
    /// SHARED_VGPR_COUNT: blocks of 8 VGPRs that the halves of a wave64 share.
    #[bits(4)]
    pub shared_vgpr_count: u8,
    /// INST_PREF_SIZE: instruction bytes to prefetch, in units of 128.
    #[bits(6)]
    pub inst_pref_size: u8,
    /// TRAP_ON_START: filled in by the packet processor.
    pub trap_on_start: bool,
    /// TRAP_ON_END: filled in by the packet processor.
    pub trap_on_end: bool,
    /// Must be zero.
    #[bits(19)]
    pub reserved: u32,
    /// IMAGE_OP: must be zero in compute kernels.
    pub image_op: bool,
}

impl Rsrc3Gfx11 {
    /// Bits that must be zero in a descriptor. IMAGE_OP is not among them: it has no effect on
    /// compute, and LLVM's assembler sets what the source says.
    pub const MUST_BE_ZERO: u32 = 3 << 10 | 0x7_ffff << 12;
}

/// COMPUTE_PGM_RSRC3 on gfx12.
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct Rsrc3Gfx12 {
    /// Must be zero.
    #[bits(4)]
    pub reserved0: u8,
    /// INST_PREF_SIZE: instruction bytes to prefetch, in units of 128.
    #[bits(8)]
    pub inst_pref_size: u8,
    /// Must be zero.
    pub reserved1: bool,
    /// GLG_EN: group launch guarantee.
    pub glg_en: bool,
    /// Must be zero.
    #[bits(17)]
    pub reserved2: u32,
    /// IMAGE_OP: must be zero in compute kernels.
    pub image_op: bool,
}

impl Rsrc3Gfx12 {
    /// Bits that must be zero in a descriptor; for IMAGE_OP see [`Rsrc3Gfx11::MUST_BE_ZERO`].
    pub const MUST_BE_ZERO: u32 = 0xf | 1 << 12 | 0x1_ffff << 14;
}

/// KERNEL_CODE_PROPERTIES: bits 463:448.
#[bitfield(u16)]
#[derive(PartialEq, Eq, Hash)]
pub struct Properties {
    /// ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER; not with architected flat scratch.
    pub enable_sgpr_private_segment_buffer: bool,
    /// ENABLE_SGPR_DISPATCH_PTR.
    pub enable_sgpr_dispatch_ptr: bool,
    /// ENABLE_SGPR_QUEUE_PTR.
    pub enable_sgpr_queue_ptr: bool,
    /// ENABLE_SGPR_KERNARG_SEGMENT_PTR.
    pub enable_sgpr_kernarg_segment_ptr: bool,
    /// ENABLE_SGPR_DISPATCH_ID.
    pub enable_sgpr_dispatch_id: bool,
    /// ENABLE_SGPR_FLAT_SCRATCH_INIT; not with architected flat scratch.
    pub enable_sgpr_flat_scratch_init: bool,
    /// ENABLE_SGPR_PRIVATE_SEGMENT_SIZE.
    pub enable_sgpr_private_segment_size: bool,
    /// Must be zero.
    #[bits(3)]
    pub reserved0: u8,
    /// ENABLE_WAVEFRONT_SIZE32, from gfx10 on.
    pub enable_wavefront_size32: bool,
    /// USES_DYNAMIC_STACK, from code object v5 on.
    pub uses_dynamic_stack: bool,
    /// Must be zero.
    #[bits(4)]
    pub reserved1: u8,
}

/// KERNARG_PRELOAD_SPEC: bits 479:464, gfx90a and gfx94x.
#[bitfield(u16)]
#[derive(PartialEq, Eq, Hash)]
pub struct KernargPreload {
    /// KERNARG_PRELOAD_SPEC_LENGTH: dwords of arguments to load into user SGPRs.
    #[bits(7)]
    pub length: u8,
    /// KERNARG_PRELOAD_SPEC_OFFSET: dwords in front of them.
    #[bits(9)]
    pub offset: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_name_the_fields_they_mean() {
        let filled_in = Rsrc1Gfx9::new()
            .with_priority(3)
            .with_privileged(true)
            .with_debug_mode(true)
            .with_bulky(true)
            .with_cdbg_user(true)
            .with_reserved(3);
        assert_eq!(filled_in.into_bits(), RSRC1_MUST_BE_ZERO);
        assert_eq!(filled_in.with_reserved_31_29(7).into_bits(), Rsrc1Gfx9::MUST_BE_ZERO);
        assert_eq!(
            Rsrc1Gfx12::from_bits(RSRC1_MUST_BE_ZERO).with_disable_perf(true).into_bits(),
            Rsrc1Gfx12::MUST_BE_ZERO
        );
        assert_eq!(RSRC1_MUST_BE_ZERO, Rsrc1Gfx10::MUST_BE_ZERO);
        assert_eq!(
            Rsrc2::new()
                .with_enable_trap_handler(true)
                .with_enable_exception_address_watch(true)
                .with_enable_exception_memory(true)
                .with_granulated_lds_size(0x1ff)
                .with_reserved_31(true)
                .into_bits(),
            Rsrc2::MUST_BE_ZERO
        );
        assert_eq!(
            Rsrc3Gfx90a::new().with_reserved0(0x3ff).with_reserved1(0x7fff).into_bits(),
            Rsrc3Gfx90a::MUST_BE_ZERO
        );
        assert_eq!(
            Rsrc3Gfx10::new().with_reserved(0xfff_ffff).into_bits(),
            Rsrc3Gfx10::MUST_BE_ZERO
        );
        assert_eq!(
            Rsrc3Gfx11::new()
                .with_trap_on_start(true)
                .with_trap_on_end(true)
                .with_reserved(0x7_ffff)
                .into_bits(),
            Rsrc3Gfx11::MUST_BE_ZERO
        );
        assert_eq!(
            Rsrc3Gfx12::new()
                .with_reserved0(15)
                .with_reserved1(true)
                .with_reserved2(0x1_ffff)
                .into_bits(),
            Rsrc3Gfx12::MUST_BE_ZERO
        );
    }

    #[test]
    fn lds_granules() {
        assert_eq!(Rsrc2::granulated_lds(0), Some(0));
        assert_eq!(Rsrc2::granulated_lds(1), Some(1));
        assert_eq!(Rsrc2::granulated_lds(65536), Some(128));
        assert_eq!(Rsrc2::granulated_lds(512 * 511 + 1), None);
    }
}
