//! VOP3P: two 16-bit operations in one.

use super::{clamp16, fields, for_host, source};
use crate::shader::code::Op;
use crate::shader::float;
use crate::shader::mode::Mode;
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Env, LANES, Row, Step, Stop, Wave};
use amdgpu_isa::{Dpp, Fields, Opcode, Src, Valu};

/// The fields of VOP3P.
#[derive(Clone, Copy, Debug)]
pub(in crate::shader) struct Packed {
    /// Destination, sources and DPP in the form that `source` takes.
    pub(in crate::shader) valu: Valu,
    pub(in crate::shader) neg_lo: u8,
    pub(in crate::shader) neg_hi: u8,
    pub(in crate::shader) op_sel: u8,
    pub(in crate::shader) op_sel_hi: u8,
}

impl Packed {
    /// The fields of an instruction.
    #[inline(always)]
    pub(in crate::shader) fn of(op: &Op) -> Result<Packed, Stop> {
        let Fields::Vop3p { vdst, src, neg_lo, neg_hi, op_sel, op_sel_hi, clamp, dpp } =
            op.instruction.fields
        else {
            return Err(mismatch(op).expect_err("a mismatch is always an error"));
        };
        Ok(Packed { valu: plain(vdst, src, clamp, dpp), neg_lo, neg_hi, op_sel, op_sel_hi })
    }

    /// Both halves of source `index`, each moved to where it is wanted and negated as asked.
    #[inline(always)]
    fn operand(&self, index: usize, negates: bool, bits: u32) -> (u32, u32) {
        let pick = |sel: u8| if sel >> index & 1 != 0 { bits >> 16 } else { bits & 0xffff };
        let (mut low, mut high) = (pick(self.op_sel), pick(self.op_sel_hi));
        if negates {
            low ^= u32::from(self.neg_lo >> index & 1) << 15;
            high ^= u32::from(self.neg_hi >> index & 1) << 15;
        }
        (low, high)
    }
}

fn plain(vdst: u8, src: [Src; 3], clamp: bool, dpp: Option<Dpp>) -> Valu {
    Valu {
        sdwa: None,
        vdst,
        sdst: Src::NULL.0 as u8,
        src,
        src_count: 3,
        neg: 0,
        abs: 0,
        op_sel: 0,
        clamp,
        omod: 0,
        dpp,
        vop3: true,
        wait_exp: 0,
    }
}

#[inline(always)]
fn map(
    wave: &mut Wave,
    op: &Op,
    packed: &Packed,
    negates: bool,
    f: impl Fn(&Mode, u32, u32, u32) -> u32,
) -> Step {
    let mode = wave.mode;
    let v = &packed.valu;
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let mut out: Row = [0; LANES];
        for lane in 0..LANES {
            let (a_low, a_high) = packed.operand(0, negates, a[lane]);
            let (b_low, b_high) = packed.operand(1, negates, b[lane]);
            let (c_low, c_high) = packed.operand(2, negates, c[lane]);
            let low = f(&mode, a_low, b_low, c_low) & 0xffff;
            out[lane] = low | f(&mode, a_high, b_high, c_high) << 16;
        }
        let mask = super::active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

#[inline(always)]
fn floats(
    wave: &mut Wave,
    op: &Op,
    packed: &Packed,
    f: impl Fn(&Mode, u32, u32, u32) -> u32,
) -> Step {
    let clamp = packed.valu.clamp;
    map(wave, op, packed, true, |mode, a, b, c| {
        let value = f(mode, a, b, c);
        if clamp { clamp16(mode, value) } else { value }
    })
}

#[inline(always)]
fn signed(wave: &mut Wave, op: &Op, packed: &Packed, f: impl Fn(i32, i32, i32) -> i32) -> Step {
    let clamp = packed.valu.clamp;
    map(wave, op, packed, false, |_, a, b, c| {
        let extend = |x: u32| i32::from(x as u16 as i16);
        let value = f(extend(a), extend(b), extend(c));
        let value = if clamp { value.clamp(i16::MIN.into(), i16::MAX.into()) } else { value };
        value as u32
    })
}

#[inline(always)]
fn unsigned(wave: &mut Wave, op: &Op, packed: &Packed, f: impl Fn(i64, i64, i64) -> i64) -> Step {
    let clamp = packed.valu.clamp;
    map(wave, op, packed, false, |_, a, b, c| {
        let value = f(a.into(), b.into(), c.into());
        let value = if clamp { value.clamp(0, 0xffff) } else { value };
        value as u32
    })
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let p = &Packed::of(op)?;
    match op.instruction.opcode {
        V_PK_FMA_F16 => floats(wave, op, p, float::fma16),
        V_PK_ADD_F16 => floats(wave, op, p, |m, a, b, _| float::add16(m, a, b)),
        V_PK_MUL_F16 => floats(wave, op, p, |m, a, b, _| float::mul16(m, a, b)),
        V_PK_MIN_F16 => floats(wave, op, p, |m, a, b, _| float::min16(m, a, b)),
        V_PK_MAX_F16 => floats(wave, op, p, |m, a, b, _| float::max16(m, a, b)),
        V_PK_MINIMUM_F16 => floats(wave, op, p, |m, a, b, _| float::minimum16(m, a, b)),
        V_PK_MAXIMUM_F16 => floats(wave, op, p, |m, a, b, _| float::maximum16(m, a, b)),
        V_PK_MINIMUM3_F16 => {
            floats(wave, op, p, |m, a, b, c| float::minimum16(m, float::minimum16(m, a, b), c))
        }
        V_PK_MAXIMUM3_F16 => {
            floats(wave, op, p, |m, a, b, c| float::maximum16(m, float::maximum16(m, a, b), c))
        }
        V_PK_MAD_I16 => signed(wave, op, p, |a, b, c| a * b + c),
        V_PK_ADD_I16 => signed(wave, op, p, |a, b, _| a + b),
        V_PK_SUB_I16 => signed(wave, op, p, |a, b, _| a - b),
        V_PK_MAX_I16 => signed(wave, op, p, |a, b, _| a.max(b)),
        V_PK_MIN_I16 => signed(wave, op, p, |a, b, _| a.min(b)),
        V_PK_ASHRREV_I16 => signed(wave, op, p, |a, b, _| b >> (a & 15)),
        V_PK_MAD_U16 => unsigned(wave, op, p, |a, b, c| a * b + c),
        V_PK_MUL_LO_U16 => map(wave, op, p, false, |_, a, b, _| a.wrapping_mul(b)),
        V_PK_ADD_U16 => unsigned(wave, op, p, |a, b, _| a + b),
        V_PK_SUB_U16 => unsigned(wave, op, p, |a, b, _| a - b),
        V_PK_MAX_U16 => unsigned(wave, op, p, |a, b, _| a.max(b)),
        V_PK_MIN_U16 => unsigned(wave, op, p, |a, b, _| a.min(b)),
        V_PK_LSHLREV_B16 => map(wave, op, p, false, |_, a, b, _| b << (a & 15)),
        V_PK_LSHRREV_B16 => map(wave, op, p, false, |_, a, b, _| b >> (a & 15)),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}

/// Two single-precision operations in one, and `v_pk_mov_b32`: op_sel says which dword of a source the low result
/// takes, op_sel_hi which the high one.
pub(in crate::shader) fn run_singles(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let p = &Packed::of(op)?;
    let v = &p.valu;
    let mode = wave.mode;
    let opcode = op.instruction.opcode;
    let count = usize::from(opcode.info().src_count());
    for half in 0..wave.halves {
        let mut sources = [[0u64; LANES]; 3];
        for (index, row) in sources.iter_mut().enumerate().take(count) {
            *row = super::source_64(wave, op, v, index, half);
        }
        let pick = |index: usize, lane: usize, sel: u8, neg: u8| {
            let high = sel >> index & 1 != 0;
            let bits = (sources[index][lane] >> if high { 32 } else { 0 }) as u32;
            bits ^ u32::from(neg >> index & 1) << 31
        };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            if opcode == V_PK_MOV_B32 {
                let low = pick(0, lane, p.op_sel, 0);
                // The high result is the second source, which op_sel chooses from, too.
                out[lane] = u64::from(low) | u64::from(pick(1, lane, p.op_sel, 0)) << 32;
                continue;
            }
            let one = |sel: u8, neg: u8| {
                let [a, b, c] = [0, 1, 2].map(|index| pick(index, lane, sel, neg));
                let value = match opcode {
                    V_PK_FMA_F32 => float::fma32(&mode, a, b, c),
                    V_PK_MUL_F32 => float::mul32(&mode, a, b),
                    _ => float::add32(&mode, a, b),
                };
                if v.clamp { super::clamp32(&mode, value) } else { value }
            };
            let (low, high) = (one(p.op_sel, p.neg_lo), one(p.op_sel_hi, p.neg_hi));
            out[lane] = u64::from(low) | u64::from(high) << 32;
        }
        let mask = super::active(wave, v, half);
        super::write_64(wave, v.vdst, half, mask, &out);
    }
    Ok(())
}

/// `v_pk_fmac_f16`, which has the VOP2 encoding.
pub(in crate::shader) fn run_vop2(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    let mode = wave.mode;
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let old = wave.row(v.vdst.into(), half);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let fma = |shift: u32| {
                let pick = |bits: u32| bits >> shift & 0xffff;
                float::fma16(&mode, pick(a[lane]), pick(b[lane]), pick(old[lane]))
            };
            out[lane] = fma(0) | fma(16) << 16;
        }
        let mask = super::active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}
