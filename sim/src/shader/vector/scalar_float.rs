//! V_S_*: transcendentals of a scalar, by the vector ALU's unit for them.

use super::{clamp16, clamp32, fields, output_power, uniform};
use crate::shader::code::Op;
use crate::shader::float::{self, f16_to_f32, f32_to_f16, flush_in16, settle16, settle32};
use crate::shader::mode::Mode;
use crate::shader::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// `v_s_exp`, `v_s_log`, `v_s_rcp`, `v_s_rsq`, `v_s_sqrt`, of f32 and f16. They do not look at EXEC.
pub(in crate::shader) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    let opcode = op.instruction.opcode;
    let function: fn(f64) -> f64 = match opcode {
        V_S_EXP_F32 | V_S_EXP_F16 => f64::exp2,
        V_S_LOG_F32 | V_S_LOG_F16 => f64::log2,
        V_S_RCP_F32 | V_S_RCP_F16 => |a| 1.0 / a,
        V_S_RSQ_F32 | V_S_RSQ_F16 => |a| 1.0 / a.sqrt(),
        V_S_SQRT_F32 | V_S_SQRT_F16 => f64::sqrt,
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    };
    let source = uniform(wave, op, v.src[0], 0);
    let half = opcode.name().ends_with("F16");
    let value = if half {
        of_half(&wave.mode, v, source, function)
    } else {
        of_single(&wave.mode, v, source, function)
    };
    wave.set_sgpr(v.vdst, value);
    Ok(())
}

fn modified(v: &Valu, bits: u32, sign: u32) -> u32 {
    let bits = if v.abs & 1 != 0 { bits & !sign } else { bits };
    if v.neg & 1 != 0 { bits ^ sign } else { bits }
}

fn of_single(mode: &Mode, v: &Valu, source: u32, function: fn(f64) -> f64) -> u32 {
    // As the operations of vectors: denormals are flushed whatever MODE says.
    let a = float::flush32(modified(v, source, float::SIGN32));
    let result = function(f64::from(f32::from_bits(a))) as f32;
    let result = float::flush32(settle32(result.to_bits(), &[a]));
    let power = output_power(v.omod, mode, !mode.denormals32.flush_outputs);
    let result = (f32::from_bits(result) * 2f32.powi(power)).to_bits();
    if v.clamp { clamp32(mode, result) } else { result }
}

fn of_half(mode: &Mode, v: &Valu, source: u32, function: fn(f64) -> f64) -> u32 {
    let a = flush_in16(mode, modified(v, source & 0xffff, float::SIGN16));
    let result = function(f64::from(f16_to_f32(a))) as f32;
    let result = settle16(f32_to_f16(mode, result), &[a]);
    let power = output_power(v.omod, mode, !mode.denormals16_64.flush_outputs);
    let result = if v.omod == 0 { result } else { float::ldexp16(mode, result, power) };
    if v.clamp { clamp16(mode, result) } else { result }
}
