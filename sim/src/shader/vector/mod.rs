//! The vector ALU.
//!
//! Every operation runs over passes of 32 lanes. Each file holds one kind of operation; its body is compiled
//! twice, once with AVX2, FMA and F16C for hosts that have them, so that its lane loops become vector code.
//! Fetching operands and writing results is compiled with them: a load of 32 bytes has to wait for the two stores of 16
//! that wrote them, which costs more than the operation.
#![expect(
    unsafe_code,
    reason = "calls the copies compiled for host extensions once these were found"
)]

pub(super) mod carry;
pub(super) mod compare;
pub(super) mod convert;
pub(super) mod dot;
pub(super) mod double;
mod dpp;
pub(super) mod dual;
pub(super) mod half;
pub(super) mod integer;
pub(super) mod lane;
pub(super) mod packed;
pub(super) mod partial;
pub(super) mod scalar_float;
pub(super) mod scaled;
pub(super) mod single;
pub(super) mod small;
pub(super) mod transcendental;

use super::code::Op;
use super::float::{self, flush32};
use super::mode::Mode;
use super::scalar::mismatch;
use super::wave::{Env, LANES, Row, Step, Wave, lanes};
use amdgpu_isa::{Fields, Select, Src, Valu};
use std::mem::MaybeUninit;

/// Two dwords a lane.
pub(super) type WideRow = [u64; LANES];

/// Compiles `body` for the host's vector extensions too, and makes `run` choose.
macro_rules! for_host {
    ($run:ident, $body:ident) => {
        #[inline(never)]
        pub(in crate::shader) fn $run(
            wave: &mut $crate::shader::wave::Wave,
            op: &$crate::shader::code::Op,
            env: &mut $crate::shader::wave::Env<'_>,
        ) -> $crate::shader::wave::Step {
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            fn wide(
                wave: &mut $crate::shader::wave::Wave,
                op: &$crate::shader::code::Op,
                env: &mut $crate::shader::wave::Env<'_>,
            ) -> $crate::shader::wave::Step {
                $body(wave, op, env)
            }
            if env.wide {
                // SAFETY: `wide` is set only where `host_is_wide` found these extensions.
                unsafe { wide(wave, op, env) }
            } else {
                $body(wave, op, env)
            }
        }
    };
}
pub(super) use for_host;

/// Gives each operation of the table an executor of its own, found by `handler`; the others are `run`'s. It is two
/// functions: one for instructions whose operands are plain, into which none of the rest is compiled.
macro_rules! operations {
    ($run:ident, |$wave:ident, $op:ident, $v:ident| $($opcode:ident => $body:expr,)*) => {
        pub(in crate::shader) fn handler(
            opcode: amdgpu_isa::Opcode,
        ) -> $crate::shader::code::Handler {
            use $crate::shader::{code::Op, vector, wave::{Env, Step, Wave}};
            match opcode {
                $(amdgpu_isa::Opcode::$opcode => {
                    #[inline(always)]
                    fn body($wave: &mut Wave, $op: &Op, _: &mut Env<'_>) -> Step {
                        let $v = vector::fields($op)?;
                        $body
                    }
                    #[inline(always)]
                    fn body_if_plain(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
                        if !vector::is_plain(vector::fields(op)?) {
                            return general(wave, op, env);
                        }
                        body(wave, op, env)
                    }
                    vector::for_host!(general, body);
                    vector::for_host!(plain, body_if_plain);
                    plain
                })*
                _ => $run,
            }
        }
    };
}
pub(super) use operations;

/// Whether the host has the extensions that `for_host` uses.
pub(super) fn host_is_wide() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// `v_nop`, `v_pipeflush`, and hints.
pub(super) fn nothing(_: &mut Wave, _: &Op, _: &mut Env<'_>) -> Step {
    Ok(())
}

/// The vector fields of an instruction.
#[inline(always)]
pub(super) fn fields(op: &Op) -> Result<&Valu, super::wave::Stop> {
    match &op.instruction.fields {
        Fields::Valu(fields) => Ok(fields),
        _ => Err(mismatch(op).expect_err("a mismatch is always an error")),
    }
}

/// Whether operands and result are what registers and constants hold, as they are.
#[inline(always)]
pub(super) fn is_plain(v: &Valu) -> bool {
    v.sdwa.is_none() && v.dpp.is_none() && v.neg == 0 && v.abs == 0 && v.omod == 0 && !v.clamp
}

/// Lanes of one pass that the instruction writes.
#[inline(always)]
pub(super) fn active(wave: &Wave, v: &Valu, half: usize) -> u32 {
    let exec = wave.exec_half(half);
    match &v.dpp {
        None => exec,
        Some(movement) => exec & dpp::written(movement, half, wave.exec(), wave.lanes()),
    }
}

/// A 32-bit source that is no VGPR, the same for all lanes.
#[inline(always)]
pub(super) fn uniform(wave: &Wave, op: &Op, source: Src, index: usize) -> u32 {
    wave.s32(source, op.constants[index])
}

/// A 64-bit source that is no VGPR.
#[inline(always)]
pub(super) fn uniform64(wave: &Wave, op: &Op, source: Src, index: usize) -> u64 {
    wave.s64(source, op.constants[index])
}

/// Room for the lanes of a source that are not as a register has them.
pub(super) trait Buffer {
    /// Puts lanes there.
    fn fill(&mut self, lanes: Row) -> &mut Row;
}

impl Buffer for Row {
    #[inline(always)]
    fn fill(&mut self, lanes: Row) -> &mut Row {
        *self = lanes;
        self
    }
}

/// Room that is not written when the source is a register.
impl Buffer for MaybeUninit<Row> {
    #[inline(always)]
    fn fill(&mut self, lanes: Row) -> &mut Row {
        self.write(lanes)
    }
}

/// An empty [`Buffer`].
pub(super) const EMPTY: MaybeUninit<Row> = MaybeUninit::uninit();

/// A 32-bit source of one pass without modifiers; `buffer` holds it when it is no plain VGPR.
#[inline(always)]
pub(super) fn source<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    index: usize,
    half: usize,
    buffer: &'a mut impl Buffer,
) -> &'a Row {
    let source = v.src[index];
    if index < 2
        && let Some(sdwa) = &v.sdwa
        && sdwa.src_sel[index] != Select::Dword
    {
        let buffer = buffer.fill(match source.vgpr() {
            Some(register) => *wave.row(usize::from(register), half),
            None => [uniform(wave, op, source, index); LANES],
        });
        for value in buffer.iter_mut() {
            *value = partial::part(*value, sdwa.src_sel[index], sdwa.sext[index]);
        }
        return buffer;
    }
    match source.vgpr() {
        Some(register) => match &v.dpp {
            Some(movement) if index == 0 => {
                let buffer = buffer.fill([0; LANES]);
                dpp::moved(wave, register.into(), movement, half, buffer);
                buffer
            }
            _ => wave.row(usize::from(register), half),
        },
        None => buffer.fill([uniform(wave, op, source, index); LANES]),
    }
}

/// The lanes for which a condition holds.
macro_rules! gather {
    (|$lane:ident| $condition:expr) => {
        $crate::shader::runs::sign_bits(&$crate::shader::wave::lanes!(|$lane| {
            if $condition { u32::MAX } else { 0 }
        }))
    };
}
pub(super) use gather;

/// Absolute value and negation by the instruction's bits for a source.
#[inline(always)]
pub(super) fn modifiers(v: &Valu, index: usize) -> (bool, bool) {
    (v.abs >> index & 1 != 0, v.neg >> index & 1 != 0)
}

/// A source of type f32: with modifiers, and denormals flushed when MODE says so.
#[inline(always)]
pub(super) fn source_f32<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    index: usize,
    half: usize,
    buffer: &'a mut impl Buffer,
) -> &'a Row {
    let (abs, neg) = modifiers(v, index);
    let flush = wave.mode.denormals32.flush_inputs;
    if abs || neg || flush {
        return modified_f32(wave, op, v, index, half, buffer.fill([0; LANES]));
    }
    source(wave, op, v, index, half, buffer)
}

/// A source of type f32 that is not as it is in the register.
#[inline(never)]
fn modified_f32<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    index: usize,
    half: usize,
    buffer: &'a mut Row,
) -> &'a Row {
    let (abs, neg) = modifiers(v, index);
    let mut plain = [0; LANES];
    let row = source(wave, op, v, index, half, &mut plain);
    let keep = if abs { !float::SIGN32 } else { u32::MAX };
    let flip = if neg { float::SIGN32 } else { 0 };
    for lane in 0..LANES {
        buffer[lane] = row[lane] & keep ^ flip;
    }
    if wave.mode.denormals32.flush_inputs {
        for value in buffer.iter_mut() {
            *value = flush32(*value);
        }
    }
    buffer
}

/// A 16-bit source in the low half of each dword, without modifiers.
#[inline(never)]
pub(super) fn source_16<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    index: usize,
    half: usize,
    buffer: &'a mut Row,
) -> &'a Row {
    let mut plain = [0; LANES];
    let row = source(wave, op, v, index, half, &mut plain);
    // Constants hold their value in the low half whatever op_sel says.
    let high = v.op_sel >> index & 1 != 0
        && v.src[index].0 != 255
        && !(128..256).contains(&v.src[index].0);
    let shift = if high { 16 } else { 0 };
    for lane in 0..LANES {
        buffer[lane] = row[lane] >> shift & 0xffff;
    }
    buffer
}

/// A source of type f16 in the low half of each dword, with modifiers; flushing is left to the operation.
#[inline(never)]
pub(super) fn source_f16<'a>(
    wave: &'a Wave,
    op: &Op,
    v: &Valu,
    index: usize,
    half: usize,
    buffer: &'a mut Row,
) -> &'a Row {
    let (abs, neg) = modifiers(v, index);
    source_16(wave, op, v, index, half, buffer);
    let keep = if abs { !float::SIGN16 } else { u32::MAX };
    let flip = if neg { float::SIGN16 } else { 0 };
    for value in buffer.iter_mut() {
        *value = *value & keep ^ flip;
    }
    buffer
}

/// A 64-bit source without modifiers.
#[inline(always)]
pub(super) fn source_64(wave: &Wave, op: &Op, v: &Valu, index: usize, half: usize) -> WideRow {
    let source = v.src[index];
    match source.vgpr() {
        Some(register) => {
            let register = usize::from(register);
            let (mut low, mut high) = (*wave.row(register, half), *wave.row(register + 1, half));
            if let (Some(movement), 0) = (&v.dpp, index) {
                dpp::moved(wave, register, movement, half, &mut low);
                dpp::moved(wave, register + 1, movement, half, &mut high);
            }
            lanes!(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
        }
        None => [uniform64(wave, op, source, index); LANES],
    }
}

/// A source of type f64 with modifiers; flushing is left to the operation.
#[inline(never)]
pub(super) fn source_f64(wave: &Wave, op: &Op, v: &Valu, index: usize, half: usize) -> WideRow {
    let (abs, neg) = modifiers(v, index);
    let mut wide = source_64(wave, op, v, index, half);
    if abs {
        wide.iter_mut().for_each(|value| *value &= !float::SIGN64);
    }
    if neg {
        wide.iter_mut().for_each(|value| *value ^= float::SIGN64);
    }
    wide
}

/// Writes a 64-bit result.
#[inline(always)]
pub(super) fn write_64(wave: &mut Wave, register: u8, half: usize, mask: u32, values: &WideRow) {
    let low = lanes!(|lane| values[lane] as u32);
    let high = lanes!(|lane| (values[lane] >> 32) as u32);
    wave.write(usize::from(register), half, mask, &low);
    wave.write(usize::from(register) + 1, half, mask, &high);
}

/// Writes a 16-bit result to the half that op_sel bit 3 names; the other half stays.
#[inline(never)]
pub(super) fn write_16(wave: &mut Wave, v: &Valu, half: usize, mask: u32, values: &Row) {
    let old = wave.row(usize::from(v.vdst), half);
    let mut merged = [0; LANES];
    if v.op_sel & 8 != 0 {
        for lane in 0..LANES {
            merged[lane] = old[lane] & 0xffff | values[lane] << 16;
        }
    } else {
        for lane in 0..LANES {
            merged[lane] = old[lane] & 0xffff_0000 | values[lane] & 0xffff;
        }
    }
    wave.write(usize::from(v.vdst), half, mask, &merged);
}

/// The output modifier's factor as a power of two, when it applies: not while the results' denormals are
/// kept (RDNA3 ISA document, "Output modifiers"), nor in IEEE mode (LLVM's SIFoldOperands.cpp, `tryFoldOMod`).
#[inline(always)]
fn output_power(omod: u8, mode: &Mode, denormals_kept: bool) -> i32 {
    match omod {
        _ if denormals_kept || mode.ieee => 0,
        1 => 1,
        2 => 2,
        3 => -1,
        _ => 0,
    }
}

/// Output modifier, clamp and denormal flush of an f32 result.
#[inline(always)]
pub(super) fn finish_f32(mode: &Mode, v: &Valu, values: &mut Row) {
    if v.omod != 0 || v.clamp || mode.denormals32.flush_outputs {
        modify_f32(mode, v, values);
    }
}

#[inline(never)]
fn modify_f32(mode: &Mode, v: &Valu, values: &mut Row) {
    let flush = mode.denormals32.flush_outputs;
    if v.omod != 0 {
        let power = output_power(v.omod, mode, !flush);
        let factor = 2f32.powi(power);
        for value in values.iter_mut() {
            *value = (f32::from_bits(*value) * factor).to_bits();
        }
    }
    if v.clamp {
        for value in values.iter_mut() {
            *value = clamp32(mode, *value);
        }
    }
    if flush {
        for value in values.iter_mut() {
            *value = flush32(*value);
        }
    }
}

/// An f32 limited to [0, 1]; NaN becomes 0 with DX10_CLAMP.
#[inline(always)]
pub(super) fn clamp32(mode: &Mode, bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return if mode.dx10_clamp { 0 } else { bits };
    }
    if value <= 0.0 {
        0
    } else if value >= 1.0 {
        0x3f80_0000
    } else {
        bits
    }
}

/// An f16 limited to [0, 1].
#[inline(always)]
pub(super) fn clamp16(mode: &Mode, bits: u32) -> u32 {
    if float::is_nan16(bits) {
        return if mode.dx10_clamp { 0 } else { bits };
    }
    if bits & 0x8000 != 0 { 0 } else { (bits & 0x7fff).min(0x3c00) }
}

/// Output modifier and clamp of an f16 result.
#[inline(never)]
pub(super) fn finish_f16(mode: &Mode, v: &Valu, values: &mut Row) {
    if v.omod != 0 {
        let power = output_power(v.omod, mode, !mode.denormals16_64.flush_outputs);
        for value in values.iter_mut() {
            *value = float::ldexp16(mode, *value, power);
        }
    }
    if v.clamp {
        for value in values.iter_mut() {
            *value = clamp16(mode, *value);
        }
    }
}

/// Output modifier and clamp of an f64 result.
#[inline(never)]
pub(super) fn finish_f64(mode: &Mode, v: &Valu, values: &mut WideRow) {
    if v.omod != 0 {
        let power = output_power(v.omod, mode, !mode.denormals16_64.flush_outputs);
        for value in values.iter_mut() {
            *value = float::ldexp64(mode, *value, power);
        }
    }
    if v.clamp {
        for value in values.iter_mut() {
            let number = f64::from_bits(*value);
            if number.is_nan() {
                if mode.dx10_clamp {
                    *value = 0;
                }
            } else {
                *value = number.clamp(0.0, 1.0).to_bits();
                if number <= 0.0 {
                    *value = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{AddressSpace, View};
    use crate::shader::barrier::Barriers;
    use crate::shader::generation::{Registers, Traits};
    use crate::shader::lds::Lds;
    use crate::shader::{Launch, operands, resolve};
    use amdgpu_isa::Target;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Words by LLVM's assembler.
    const INSTRUCTIONS: &[[u32; 3]] = &[
        [0xd613_0000, 0x040e_0501, 0x0000_0000], // v_fma_f32 v0, v1, v2, v3
        [0xcc0e_4000, 0x1c0e_0501, 0x0000_0000], // v_pk_fma_f16 v0, v1, v2, v3
        [0xd614_0008, 0x041a_0902, 0x0000_0000], // v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]
        [0xcc13_4000, 0x1c0e_0501, 0x0000_0000], // v_dot2_f32_f16 v0, v1, v2, v3
        [0x7e00_4b01, 0x0000_0000, 0x0000_0000], // v_exp_f32 v0, v1
        [0x7e00_5d01, 0x0000_0000, 0x0000_0000], // v_rsq_f32 v0, v1
        [0x7e00_1501, 0x0000_0000, 0x0000_0000], // v_cvt_f16_f32 v0, v1
        [0xd6fe_6a08, 0x0412_0702, 0x0000_0000], // v_mad_u64_u32 v[8:9], vcc_lo, v2, v3, v[4:5]
        [0x7c3c_0501, 0x0000_0000, 0x0000_0000], // v_cmp_nlt_f32 vcc_lo, v1, v2
        [0xd644_0000, 0x040e_0501, 0x0000_0000], // v_perm_b32 v0, v1, v2, v3
        [0xcc20_4000, 0x0c0e_0501, 0x0000_0000], // v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[1,0,1]
        [0xd61f_0000, 0x040e_0501, 0x0000_0000], // v_med3_f32 v0, v1, v2, v3
        [0xc814_0501, 0x0002_0b04, 0x0000_0000], // v_dual_fmac_f32 v0, v1, v2 :: v_dual_max_f32 v3, v4, v5
        [0x6400_0501, 0x0000_0000, 0x0000_0000], // v_add_f16 v0, v1, v2
        [0xd653_0000, 0x040e_0501, 0x0000_0000], // v_mad_i16 v0, v1, v2, v3
        [0x1e00_04fa, 0xff09_1301, 0x0000_0000], // v_min_f32_dpp v0, v1, v2 row_shr:3 row_mask:0xf bank_mask:0xf bound_ctrl:1
        [0x0600_0501, 0x0000_0000, 0x0000_0000], // v_add_f32 v0, v1, v2
        [0x5600_0501, 0x0000_0000, 0x0000_0000], // v_fmac_f32 v0, v1, v2
        [0x1000_0401, 0x0000_0000, 0x0000_0000], // v_mul_f32 v0, s1, v2
        [0xd503_8200, 0x2802_0501, 0x0000_0000], // v_add_f32_e64 v0, -v1, |v2| clamp mul:2
        [0x2000_0501, 0x0000_0000, 0x0000_0000], // v_max_f32 v0, v1, v2
        [0xd700_6a00, 0x0002_0501, 0x0000_0000], // v_add_co_u32 v0, vcc_lo, v1, v2
        [0x4200_0501, 0x0000_0000, 0x0000_0000], // v_sub_co_ci_u32 v0, vcc_lo, v1, v2, vcc_lo
        [0xd702_8200, 0x0002_0501, 0x0000_0000], // v_subrev_co_u32 v0, s2, v1, v2 clamp
        [0xd520_8200, 0x0012_0501, 0x0000_0000], // v_add_co_ci_u32_e64 v0, s2, v1, v2, s4 clamp
        [0xd6ff_6a08, 0x0412_0702, 0x0000_0000], // v_mad_i64_i32 v[8:9], vcc_lo, v2, v3, v[4:5]
        [0xd73c_0008, 0x0002_0902, 0x0000_0000], // v_lshlrev_b64 v[8:9], v2, v[4:5]
        [0xd73e_0008, 0x0002_0887, 0x0000_0000], // v_ashrrev_i64 v[8:9], 7, v[4:5]
        [0x7c96_0501, 0x0000_0000, 0x0000_0000], // v_cmp_le_u32 vcc_lo, v1, v2
        [0x7c2a_0501, 0x0000_0000, 0x0000_0000], // v_cmp_lg_f32 vcc_lo, v1, v2
        [0x7cb8_0902, 0x0000_0000, 0x0000_0000], // v_cmp_gt_u64 vcc_lo, v[2:3], v[4:5]
        [0x7c52_0902, 0x0000_0000, 0x0000_0000], // v_cmp_nge_f64 vcc_lo, v[2:3], v[4:5]
        [0x7c6c_0501, 0x0000_0000, 0x0000_0000], // v_cmp_ge_i16 vcc_lo, v1, v2
        [0x0200_0501, 0x0000_0000, 0x0000_0000], // v_cndmask_b32 v0, v1, v2, vcc_lo
        [0xd656_0000, 0x040e_0501, 0x0000_0000], // v_lshl_or_b32 v0, v1, v2, v3
        [0xd60b_0000, 0x040e_0501, 0x0000_0000], // v_mad_u32_u24 v0, v1, v2, v3
        [0xd526_8000, 0x0002_0501, 0x0000_0000], // v_sub_nc_u32_e64 v0, v1, v2 clamp
        [0x3400_0501, 0x0000_0000, 0x0000_0000], // v_ashrrev_i32 v0, v1, v2
        [0x4a00_04fa, 0xff00_b101, 0x0000_0000], // v_add_nc_u32_dpp v0, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
    ];

    fn execute(words: &[u32; 3], rows: &[u32], mode: u32, wide: bool) -> (Vec<u32>, u64) {
        let launch = Launch {
            program: 0,
            rsrc1: 1,
            rsrc2: 0,
            rsrc3: 0,
            wave32: true,
            user_data: [0; 32],
            grid: [32, 1, 1],
            start: [0; 3],
            workgroup: [32, 1, 1],
            lds_bytes: 0,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: 0,
            private_aperture_hi: 0,
            trap_handler: None,
        };
        let instruction = amdgpu_isa::decode(Target::Gfx1151, words).expect("LLVM's words");
        let run = resolve::handler(&instruction).expect("a modelled operation");
        let op = Op {
            run,
            inner: run,
            constants: operands::constants(&instruction, &launch),
            instruction,
        };
        let mut wave =
            Wave::new(true, Traits::of(Target::Gfx1151), Registers { vgprs: 16, all: 16 });
        wave.mode = Mode::from_bits(mode);
        wave.set_mask(crate::shader::wave::EXEC, 0xf0ff_3fff);
        for (index, &value) in rows.iter().enumerate() {
            wave.set_lane(index / LANES, index % LANES, value);
        }
        let mut memory = View::new(Arc::new(AddressSpace::new()));
        let mut env = Env {
            memory: &mut memory,
            lds: &mut Lds::default(),
            launch: &launch,
            barriers: &mut Barriers::default(),
            outside: &std::sync::atomic::AtomicBool::new(false),
            wide,
            invalidate_code: false,
        };
        (op.run)(&mut wave, &op, &mut env).expect("no fault");
        let registers = (0..10 * LANES).map(|i| wave.lane(i / LANES, i % LANES)).collect();
        (registers, wave.mask(crate::shader::wave::VCC))
    }

    proptest! {
        #[test]
        fn the_copy_for_the_host_computes_what_the_portable_one_does(
            rows in prop::collection::vec(any::<u32>(), 10 * LANES),
            which in 0..INSTRUCTIONS.len(),
            mode in 0u32..1024,
        ) {
            if host_is_wide() {
                let words = &INSTRUCTIONS[which];
                let portable = execute(words, &rows, mode, false);
                prop_assert_eq!(portable, execute(words, &rows, mode, true));
            }
        }
    }
}
