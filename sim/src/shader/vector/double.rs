//! f64.

use super::{WideRow, active, fields, finish_f64, for_host, source, source_f64, write_64};
use crate::shader::code::Op;
use crate::shader::float::{self, flush_in64, settle64};
use crate::shader::mode::Mode;
use crate::shader::special;
use crate::shader::wave::{Env, LANES, Step, Stop, VCC, Wave};
use amdgpu_isa::{Opcode, Valu};

#[inline(always)]
fn map(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    sources: usize,
    f: impl Fn(&Mode, u64, u64, u64) -> u64,
) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let mut rows: [WideRow; 3] = [[0; LANES]; 3];
        for (index, row) in rows.iter_mut().enumerate().take(sources) {
            *row = source_f64(wave, op, v, index, half);
        }
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&mode, rows[0][lane], rows[1][lane], rows[2][lane]);
        }
        finish_f64(&mode, v, &mut out);
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn map1(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(f64) -> f64) -> Step {
    map(wave, op, v, 1, |mode, a, _, _| {
        let a = flush_in64(mode, a);
        let value = settle64(f(f64::from_bits(a)).to_bits(), &[a]);
        float::flush_out64(mode, value)
    })
}

/// Operations with a 32-bit integer as second source.
fn with_integer(wave: &mut Wave, op: &Op, v: &Valu, f: impl Fn(&Mode, u64, u32) -> u64) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let integers = *source(wave, op, v, 1, half, &mut buffer);
        let mut values = source_f64(wave, op, v, 0, half);
        for lane in 0..LANES {
            values[lane] = f(&mode, values[lane], integers[lane]);
        }
        finish_f64(&mode, v, &mut values);
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &values);
    }
    Ok(())
}

/// `v_fmac_f64`: the destination is the addend.
fn accumulate(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let mode = wave.mode;
    for half in 0..wave.halves {
        let [a, b] = [0, 1].map(|index| source_f64(wave, op, v, index, half));
        let register = usize::from(v.vdst);
        let (low, high) = (wave.row(register, half), wave.row(register + 1, half));
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let old = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            out[lane] = float::fma64(&mode, a[lane], b[lane], old);
        }
        finish_f64(&mode, v, &mut out);
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &out);
    }
    Ok(())
}

/// `v_div_fmas_f64`: scaled back in the lanes of VCC.
fn div_fmas(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let vcc = wave.mask(VCC);
    let mode = wave.mode;
    for half in 0..wave.halves {
        let rows: [WideRow; 3] = std::array::from_fn(|i| source_f64(wave, op, v, i, half));
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let condition = vcc >> (32 * half + lane) & 1 != 0;
            let (a, b, c) = (rows[0][lane], rows[1][lane], rows[2][lane]);
            out[lane] = special::div_fmas64(&mode, a, b, c, condition);
        }
        finish_f64(&mode, v, &mut out);
        let mask = wave.exec_half(half);
        write_64(wave, v.vdst, half, mask, &out);
    }
    Ok(())
}

fn frexp_exponent(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    for half in 0..wave.halves {
        let values = source_f64(wave, op, v, 0, half);
        let out = values.map(|a| special::frexp_exp64(flush_in64(&wave.mode, a)) as u32);
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
        V_ADD_F64 => map(wave, op, v, 2, |m, a, b, _| float::add64(m, a, b)),
        V_MUL_F64 => map(wave, op, v, 2, |m, a, b, _| float::mul64(m, a, b)),
        V_FMA_F64 => map(wave, op, v, 3, float::fma64),
        V_FMAC_F64 => accumulate(wave, op, v),
        V_MIN_F64 => map(wave, op, v, 2, |m, a, b, _| float::min64(m, a, b)),
        V_MAX_F64 => map(wave, op, v, 2, |m, a, b, _| float::max64(m, a, b)),
        V_MINIMUM_F64 => map(wave, op, v, 2, |m, a, b, _| float::minimum64(m, a, b)),
        V_MAXIMUM_F64 => map(wave, op, v, 2, |m, a, b, _| float::maximum64(m, a, b)),
        V_TRUNC_F64 => map1(wave, op, v, f64::trunc),
        V_CEIL_F64 => map1(wave, op, v, f64::ceil),
        V_FLOOR_F64 => map1(wave, op, v, f64::floor),
        V_RNDNE_F64 => map1(wave, op, v, f64::round_ties_even),
        V_FRACT_F64 => map1(wave, op, v, |a| {
            // The difference rounds to 1 for tiny negative numbers; the device stays below.
            (a - a.floor()).min(1f64.next_down())
        }),
        // About 14 bits are promised; more do no harm (LLVM refines them by Newton's method).
        V_RCP_F64 => map1(wave, op, v, |a| 1.0 / a),
        V_RSQ_F64 => map1(wave, op, v, |a| 1.0 / a.sqrt()),
        V_SQRT_F64 => map1(wave, op, v, f64::sqrt),
        V_FREXP_MANT_F64 => {
            map(wave, op, v, 1, |m, a, _, _| special::frexp_mant64(flush_in64(m, a)))
        }
        V_FREXP_EXP_I32_F64 => frexp_exponent(wave, op, v),
        V_LDEXP_F64 => with_integer(wave, op, v, |m, a, b| float::ldexp64(m, a, b as i32)),
        V_TRIG_PREOP_F64 => with_integer(wave, op, v, |_, a, b| special::trig_preop(a, b)),
        V_DIV_FMAS_F64 => div_fmas(wave, op, v),
        V_DIV_FIXUP_F64 => map(wave, op, v, 3, |_, a, b, c| special::div_fixup64(a, b, c)),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
