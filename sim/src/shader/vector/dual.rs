//! VOPD: two operations of one pass, both reading before either writes.

use super::{for_host, single, uniform};
use crate::shader::code::Op;
use crate::shader::mode::Round;
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, VCC, Wave};
use amdgpu_isa::{DualOp, Fields, Opcode};

/// The result of one of the two. `index` is 0 for X, 1 for Y: where its constant is.
#[inline(always)]
fn compute(wave: &Wave, op: &Op, part: &DualOp, index: usize, half: usize) -> Result<Row, Stop> {
    use Opcode::*;
    let buffer;
    let a = match part.src0.vgpr() {
        Some(register) => wave.row(register.into(), half),
        None => {
            buffer = [uniform(wave, op, part.src0, index); LANES];
            &buffer
        }
    };
    let b = wave.row(part.vsrc1.into(), half);
    let mut out = [0; LANES];
    let mode = &wave.mode;
    let plain = !mode.denormals32.flush_inputs
        && !mode.denormals32.flush_outputs
        && mode.round32 == Round::Nearest;
    match part.opcode {
        V_MOV_B32 => out = *a,
        V_CNDMASK_B32 => {
            let bits = (wave.mask(VCC) >> (32 * half)) as u32;
            for lane in 0..LANES {
                out[lane] = if bits >> lane & 1 != 0 { b[lane] } else { a[lane] };
            }
        }
        V_ADD_NC_U32 => {
            for lane in 0..LANES {
                out[lane] = a[lane].wrapping_add(b[lane]);
            }
        }
        V_LSHLREV_B32 => {
            for lane in 0..LANES {
                out[lane] = b[lane] << (a[lane] & 31);
            }
        }
        V_AND_B32 => {
            for lane in 0..LANES {
                out[lane] = a[lane] & b[lane];
            }
        }
        V_DOT2ACC_F32_F16 | V_DOT2ACC_F32_BF16 => {
            let c = wave.row(part.vdst.into(), half);
            for lane in 0..LANES {
                out[lane] = if part.opcode == V_DOT2ACC_F32_F16 {
                    super::dot::dot2_f16(mode, a[lane], b[lane], c[lane])
                } else {
                    super::dot::dot2_bf16(mode, a[lane], b[lane], c[lane])
                };
            }
        }
        opcode => {
            let literal = op.literal();
            let old = wave.row(part.vdst.into(), half);
            let fma = |out: &mut Row, f: &dyn Fn(usize) -> (u32, u32, u32)| {
                for lane in 0..LANES {
                    let (a, b, c) = f(lane);
                    let value = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
                    out[lane] = value.to_bits();
                }
                out.iter().all(|value| !f32::from_bits(*value).is_nan())
            };
            let operands = |lane: usize| match opcode {
                V_FMAC_F32 => (a[lane], b[lane], old[lane]),
                V_FMAMK_F32 => (a[lane], literal, b[lane]),
                _ => (a[lane], b[lane], literal),
            };
            let fused = matches!(opcode, V_FMAC_F32 | V_FMAMK_F32 | V_FMAAK_F32);
            if plain && fused && fma(&mut out, &operands) {
                return Ok(out);
            }
            for lane in 0..LANES {
                let (a, b, c) = operands(lane);
                out[lane] = single::dual_lane(mode, opcode, a, b, c).ok_or_else(|| {
                    Stop::not_modelled(format!("{} in VOPD is not modelled", opcode.name()))
                })?;
            }
        }
    }
    Ok(out)
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let Fields::Vopd { x, y } = &op.instruction.fields else { return mismatch(op) };
    for half in 0..wave.halves {
        let first = compute(wave, op, x, 0, half)?;
        let second = compute(wave, op, y, 1, half)?;
        let mask = wave.exec_half(half);
        wave.write(x.vdst.into(), half, mask, &first);
        wave.write(y.vdst.into(), half, mask, &second);
    }
    Ok(())
}
