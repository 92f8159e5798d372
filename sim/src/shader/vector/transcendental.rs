//! f32 functions beyond arithmetic: reciprocals, roots, exponentials, division helpers, interpolation.

use super::{active, fields, finish_f32, for_host, source, source_f32, uniform};
use crate::shader::code::Op;
use crate::shader::float::{self, f16_to_f32, flush32, settle32};
use crate::shader::mode::{Mode, Round};
use crate::shader::special;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, VCC, Wave};
use amdgpu_isa::{Opcode, Valu};

/// The unit for these has no denormals, whatever MODE says (LLVM's `AMDGPUCodeGenPrepare` scales around it).
#[inline(always)]
fn transcendental(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f32) -> f32) -> Step {
    map(wave, op, v, 1, |_, a, _, _| {
        let a = flush32(a);
        settle32(flush32(f(f32::from_bits(a)).to_bits()), &[a])
    })
}

#[inline(always)]
fn map(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    sources: usize,
    f: impl Fn(&Mode, u32, u32, u32) -> u32,
) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let mut buffers: [Row; 3] = [[0; LANES]; 3];
        let mut rows: [Row; 3] = [[0; LANES]; 3];
        for index in 0..sources {
            rows[index] = *source_f32(wave, op, v, index, half, &mut buffers[index]);
        }
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&mode, rows[0][lane], rows[1][lane], rows[2][lane]);
        }
        finish_f32(&mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// `f` of three singles as numbers.
#[inline(always)]
fn numbers(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f32, f32, f32) -> f32) -> Step {
    map(wave, op, v, 3, |_, a, b, c| {
        settle32(f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits(), &[a, b, c])
    })
}

/// `v_ldexp_f32`: the second source is an integer.
fn ldexp(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = float::ldexp32(&mode, a[lane], b[lane] as i32);
        }
        finish_f32(&mode, v, &mut out);
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// `v_div_fmas_f32`: scaled back in the lanes of VCC.
fn div_fmas(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let vcc = wave.mask(VCC);
    let mode = wave.mode;
    for half in 0..wave.halves {
        let mut rows: [Row; 3] = [[0; LANES]; 3];
        for (index, row) in rows.iter_mut().enumerate() {
            let mut buffer = [0; LANES];
            *row = *source_f32(wave, op, v, index, half, &mut buffer);
        }
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let condition = vcc >> (32 * half + lane) & 1 != 0;
            let (a, b, c) = (rows[0][lane], rows[1][lane], rows[2][lane]);
            out[lane] = special::div_fmas32(&mode, a, b, c, condition);
        }
        finish_f32(&mode, v, &mut out);
        let mask = wave.exec_half(half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// VINTERP: a fused multiply-add whose first source, and for P10 the third, come from fixed lanes of
/// each quad.
fn interpolate(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    use Opcode::*;
    let opcode = op.instruction.opcode;
    let mut mode = wave.mode;
    if matches!(opcode, V_INTERP_P10_RTZ_F16_F32 | V_INTERP_P2_RTZ_F16_F32) {
        mode = mode.with_bits(mode.bits() | 0b1100);
    }
    let p10 = matches!(opcode, V_INTERP_P10_F32 | V_INTERP_P10_F16_F32 | V_INTERP_P10_RTZ_F16_F32);
    let half_sources = !matches!(opcode, V_INTERP_P10_F32 | V_INTERP_P2_F32);
    let value = |wave: &Wave, index: usize, half: usize, lane: usize| {
        let mut bits = match v.src[index].vgpr() {
            Some(register) => wave.row(register.into(), half)[lane],
            None => uniform(wave, op, v.src[index], index),
        };
        let is_half = half_sources && (index == 0 || index == 2 && p10);
        if is_half {
            if v.op_sel >> index & 1 != 0 {
                bits >>= 16;
            }
            bits = f16_to_f32(bits & 0xffff).to_bits();
        }
        if v.neg >> index & 1 != 0 { bits ^ float::SIGN32 } else { bits }
    };
    for half in 0..wave.halves {
        let mut out = [0; LANES];
        for (lane, result) in out.iter_mut().enumerate() {
            let quad = lane & !3;
            let a = value(wave, 0, half, quad + if p10 { 1 } else { 2 });
            let b = value(wave, 1, half, lane);
            let c = value(wave, 2, half, if p10 { quad } else { lane });
            *result = float::fma32(&mode, a, b, c);
        }
        let mask = wave.exec_half(half);
        if matches!(opcode, V_INTERP_P2_F16_F32 | V_INTERP_P2_RTZ_F16_F32) {
            out = out.map(|value| float::f32_to_f16(&mode, f32::from_bits(value)));
            if v.clamp {
                out = out.map(|value| super::clamp16(&mode, value));
            }
            super::write_16(wave, v, half, mask, &out);
        } else {
            finish_f32(&mode, v, &mut out);
            wave.write(v.vdst.into(), half, mask, &out);
        }
    }
    Ok(())
}

/// `v_frexp_exp_i32_f32`: the result is an integer, without output modifiers.
fn frexp_exponent(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = *source_f32(wave, op, v, 0, half, &mut buffer);
        let out = a.map(|a| special::frexp_exp32(a) as u32);
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    match op.instruction.opcode {
        V_RCP_F32 | V_RCP_IFLAG_F32 => transcendental(wave, op, v, |a| 1.0 / a),
        V_SQRT_F32 => transcendental(wave, op, v, f32::sqrt),
        V_RSQ_F32 => transcendental(wave, op, v, |a| (1.0 / f64::from(a).sqrt()) as f32),
        V_EXP_F32 | V_EXP_LEGACY_F32 => transcendental(wave, op, v, |a| f64::from(a).exp2() as f32),
        V_LOG_F32 | V_LOG_LEGACY_F32 => transcendental(wave, op, v, |a| f64::from(a).log2() as f32),
        V_SIN_F32 => transcendental(wave, op, v, |a| special::sin_turns(a.into()) as f32),
        V_COS_F32 => transcendental(wave, op, v, |a| special::cos_turns(a.into()) as f32),
        V_FREXP_MANT_F32 => map(wave, op, v, 1, |_, a, _, _| special::frexp_mant32(a)),
        V_FREXP_EXP_I32_F32 => frexp_exponent(wave, op, v),
        V_LDEXP_F32 => ldexp(wave, op, v),
        V_DIV_FMAS_F32 => div_fmas(wave, op, v),
        V_DIV_FIXUP_F32 => map(wave, op, v, 3, |_, a, b, c| special::div_fixup32(a, b, c)),
        V_CUBEID_F32 => numbers(wave, op, v, special::cube_face),
        V_CUBESC_F32 => numbers(wave, op, v, special::cube_s),
        V_CUBETC_F32 => numbers(wave, op, v, special::cube_t),
        V_CUBEMA_F32 => numbers(wave, op, v, special::cube_major),
        V_MULLIT_F32 => map(wave, op, v, 3, |mode, a, b, c| {
            let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
            let product = special::mullit(x, y, z);
            if mode.round32 != Round::Nearest && product != f32::MIN {
                float::mul32(mode, a, b)
            } else {
                settle32(product.to_bits(), &[a, b])
            }
        }),
        V_INTERP_P10_F32
        | V_INTERP_P2_F32
        | V_INTERP_P10_F16_F32
        | V_INTERP_P2_F16_F32
        | V_INTERP_P10_RTZ_F16_F32
        | V_INTERP_P2_RTZ_F16_F32 => interpolate(wave, op, v),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
