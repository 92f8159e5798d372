//! A descriptor as assembler text.

use super::{
    KernelDescriptor, Rsrc1Gfx10, Rsrc1Gfx12, Rsrc2, Rsrc3Gfx10, Rsrc3Gfx11, Rsrc3Gfx12,
    Rsrc3Gfx90a,
};
use crate::Generation;
use core::fmt;

/// Displays a descriptor as LLVM's disassembler does: the directives of an `.amdhsa_kernel` block
/// (AMDGPUUsage, "AMDHSA Kernel Assembler Directives"). Register counts are rounded up to what the
/// registers encode.
#[derive(Clone, Copy, Debug)]
pub struct Directives<'a> {
    pub(super) descriptor: &'a KernelDescriptor,
    pub(super) name: &'a str,
    pub(super) generation: Generation,
}

impl Directives<'_> {
    fn rsrc3(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = self.descriptor.compute_pgm_rsrc3;
        match self.generation {
            Generation::Gfx906 | Generation::Gfx908 => Ok(()),
            Generation::Gfx90a | Generation::Gfx94x | Generation::Gfx950 => {
                let rsrc3 = Rsrc3Gfx90a::from_bits(register);
                directive(f, "accum_offset", (u32::from(rsrc3.accum_offset()) + 1) * 4)?;
                directive(f, "tg_split", rsrc3.tg_split().into())
            }
            Generation::Gfx101 | Generation::Gfx103 => {
                let rsrc3 = Rsrc3Gfx10::from_bits(register);
                self.shared_vgprs(f, rsrc3.shared_vgpr_count())
            }
            Generation::Gfx11 | Generation::Gfx115 => {
                let rsrc3 = Rsrc3Gfx11::from_bits(register);
                self.shared_vgprs(f, rsrc3.shared_vgpr_count())?;
                comment(f, "INST_PREF_SIZE", rsrc3.inst_pref_size().into())?;
                comment(f, "TRAP_ON_START", rsrc3.trap_on_start().into())?;
                comment(f, "TRAP_ON_END", rsrc3.trap_on_end().into())?;
                comment(f, "IMAGE_OP", rsrc3.image_op().into())
            }
            Generation::Gfx12 => {
                let rsrc3 = Rsrc3Gfx12::from_bits(register);
                comment(f, "INST_PREF_SIZE", rsrc3.inst_pref_size().into())?;
                comment(f, "GLG_EN", rsrc3.glg_en().into())?;
                comment(f, "IMAGE_OP", rsrc3.image_op().into())
            }
        }
    }

    /// Only waves of 64 lanes can have any.
    fn shared_vgprs(&self, f: &mut fmt::Formatter<'_>, blocks: u8) -> fmt::Result {
        if self.descriptor.properties().enable_wavefront_size32() {
            comment(f, "SHARED_VGPR_COUNT", blocks.into())
        } else {
            directive(f, "shared_vgpr_count", blocks.into())
        }
    }

    fn rsrc1(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let generation = self.generation;
        // The fields in common lie alike in all views.
        let rsrc1 = Rsrc1Gfx10::from_bits(self.descriptor.compute_pgm_rsrc1);
        directive(f, "next_free_vgpr", self.descriptor.vgprs(generation))?;
        directive(f, "reserve_vcc", 0)?;
        if !generation.has_architected_flat_scratch() {
            directive(f, "reserve_flat_scratch", 0)?;
        }
        directive(f, "reserve_xnack_mask", 0)?;
        directive(f, "next_free_sgpr", (u32::from(rsrc1.reserved_9_6()) + 1) * 8)?;
        directive(f, "float_round_mode_32", rsrc1.float_round_mode_32().into())?;
        directive(f, "float_round_mode_16_64", rsrc1.float_round_mode_16_64().into())?;
        directive(f, "float_denorm_mode_32", rsrc1.float_denorm_mode_32().into())?;
        directive(f, "float_denorm_mode_16_64", rsrc1.float_denorm_mode_16_64().into())?;
        if generation != Generation::Gfx12 {
            directive(f, "dx10_clamp", rsrc1.enable_dx10_clamp().into())?;
            directive(f, "ieee_mode", rsrc1.enable_ieee_mode().into())?;
        }
        directive(f, "fp16_overflow", rsrc1.fp16_ovfl().into())?;
        if generation.has_wave32() {
            directive(f, "workgroup_processor_mode", rsrc1.wgp_mode().into())?;
            directive(f, "memory_ordered", rsrc1.mem_ordered().into())?;
            directive(f, "forward_progress", rsrc1.fwd_progress().into())?;
        }
        if generation == Generation::Gfx12 {
            let rsrc1 = Rsrc1Gfx12::from_bits(self.descriptor.compute_pgm_rsrc1);
            directive(f, "round_robin_scheduling", rsrc1.wg_rr_en().into())?;
        }
        Ok(())
    }

    fn rsrc2(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rsrc2: Rsrc2 = self.descriptor.rsrc2();
        let scratch = if self.generation.has_architected_flat_scratch() {
            "enable_private_segment"
        } else {
            "system_sgpr_private_segment_wavefront_offset"
        };
        for (name, value) in [
            (scratch, rsrc2.enable_private_segment().into()),
            ("system_sgpr_workgroup_id_x", rsrc2.enable_sgpr_workgroup_id_x().into()),
            ("system_sgpr_workgroup_id_y", rsrc2.enable_sgpr_workgroup_id_y().into()),
            ("system_sgpr_workgroup_id_z", rsrc2.enable_sgpr_workgroup_id_z().into()),
            ("system_sgpr_workgroup_info", rsrc2.enable_sgpr_workgroup_info().into()),
            ("system_vgpr_workitem_id", rsrc2.enable_vgpr_workitem_id().into()),
            (
                "exception_fp_ieee_invalid_op",
                rsrc2.enable_exception_ieee_754_fp_invalid_operation().into(),
            ),
            ("exception_fp_denorm_src", rsrc2.enable_exception_fp_denormal_source().into()),
            (
                "exception_fp_ieee_div_zero",
                rsrc2.enable_exception_ieee_754_fp_division_by_zero().into(),
            ),
            ("exception_fp_ieee_overflow", rsrc2.enable_exception_ieee_754_fp_overflow().into()),
            ("exception_fp_ieee_underflow", rsrc2.enable_exception_ieee_754_fp_underflow().into()),
            ("exception_fp_ieee_inexact", rsrc2.enable_exception_ieee_754_fp_inexact().into()),
            ("exception_int_div_zero", rsrc2.enable_exception_int_divide_by_zero().into()),
        ] {
            directive(f, name, value)?;
        }
        Ok(())
    }

    fn properties(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let properties = self.descriptor.properties();
        let own_scratch = !self.generation.has_architected_flat_scratch();
        for (shown, name, value) in [
            (
                own_scratch,
                "user_sgpr_private_segment_buffer",
                properties.enable_sgpr_private_segment_buffer(),
            ),
            (true, "user_sgpr_dispatch_ptr", properties.enable_sgpr_dispatch_ptr()),
            (true, "user_sgpr_queue_ptr", properties.enable_sgpr_queue_ptr()),
            (true, "user_sgpr_kernarg_segment_ptr", properties.enable_sgpr_kernarg_segment_ptr()),
            (true, "user_sgpr_dispatch_id", properties.enable_sgpr_dispatch_id()),
            (
                own_scratch,
                "user_sgpr_flat_scratch_init",
                properties.enable_sgpr_flat_scratch_init(),
            ),
            (true, "user_sgpr_private_segment_size", properties.enable_sgpr_private_segment_size()),
            (
                self.generation.has_wave32(),
                "wavefront_size32",
                properties.enable_wavefront_size32(),
            ),
            (true, "uses_dynamic_stack", properties.uses_dynamic_stack()),
        ] {
            if shown {
                directive(f, name, value.into())?;
            }
        }
        let preload = self.descriptor.preload();
        if preload.length() != 0 {
            directive(f, "user_sgpr_kernarg_preload_length", preload.length().into())?;
        }
        if preload.offset() != 0 {
            directive(f, "user_sgpr_kernarg_preload_offset", preload.offset().into())?;
        }
        Ok(())
    }
}

fn directive(f: &mut fmt::Formatter<'_>, name: &str, value: u32) -> fmt::Result {
    writeln!(f, "\t.amdhsa_{name} {value}")
}

/// What has a field but no directive.
fn comment(f: &mut fmt::Formatter<'_>, name: &str, value: u32) -> fmt::Result {
    writeln!(f, "\t; {name} {value}")
}

impl fmt::Display for Directives<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, ".amdhsa_kernel {}", self.name)?;
        directive(f, "group_segment_fixed_size", self.descriptor.group_segment_fixed_size)?;
        directive(f, "private_segment_fixed_size", self.descriptor.private_segment_fixed_size)?;
        directive(f, "kernarg_size", self.descriptor.kernarg_size)?;
        self.rsrc3(f)?;
        self.rsrc1(f)?;
        self.rsrc2(f)?;
        self.properties(f)?;
        write!(f, ".end_amdhsa_kernel")
    }
}
