//! Conversions between floats and those of 8, 6 and 4 bits with a scale (gfx950): the small value times the scale is
//! the other. The scale is the power of two that the last source's exponent says; NaN and infinity make all NaN.
//!
//! Which bits are read and written: AMD's pseudocode (tinygrad's `runtime/autogen/amd/cdna/str_pcode.py`). Rounding,
//! also by chance, and NaN: ROCm's `amd_hip_ocp_host.hpp`. Denormals are kept.

use super::integer::next_random;
use super::{fields, source};
use crate::shader::code::Op;
use crate::shader::float::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::shader::fp8::{self, Format};
use crate::shader::mode::Mode;
use crate::shader::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// A type converted from or to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Half,
    BFloat,
    Small(Format),
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "F32" => Kind::Single,
            "F16" => Kind::Half,
            "BF16" => Kind::BFloat,
            "FP8" => Kind::Small(Format::Fp8),
            "BF8" => Kind::Small(Format::Bf8),
            "FP6" => Kind::Small(Format::Fp6),
            "BF6" => Kind::Small(Format::Bf6),
            "FP4" => Kind::Small(Format::Fp4),
            _ => return None,
        })
    }

    fn bits(self) -> usize {
        match self {
            Kind::Single => 32,
            Kind::Half | Kind::BFloat => 16,
            Kind::Small(format) => format.bits() as usize,
        }
    }

    /// Bits of the fraction of what is no small float.
    fn fraction(self) -> u32 {
        match self {
            Kind::Half => 10,
            Kind::BFloat => 7,
            _ => 23,
        }
    }

    fn to_f32(self, bits: u32) -> f32 {
        match self {
            Kind::Half => f16_to_f32(bits),
            Kind::BFloat => bf16_to_f32(bits),
            Kind::Small(format) => fp8::to_f32(format, bits),
            Kind::Single => f32::from_bits(bits),
        }
    }

    /// To what is no small float, to nearest even.
    fn rounded(self, value: f64) -> u32 {
        // Small floats have so few bits that rounding to a single before changes nothing.
        let single = value as f32;
        match self {
            Kind::Half => f32_to_f16(&Mode::default(), single) & 0xffff,
            Kind::BFloat => f32_to_bf16(single) & 0xffff,
            _ => single.to_bits(),
        }
    }
}

/// What the name of an operation says.
struct Conversion {
    /// Whether it rounds by chance.
    chance: bool,
    /// Values converted.
    count: usize,
    /// Whether they come from two sources in turn.
    interleaved: bool,
    to: Kind,
    from: Kind,
}

fn conversion(opcode: Opcode) -> Option<Conversion> {
    let name = opcode.name().strip_prefix("V_CVT_SCALEF32_")?;
    let (chance, name) = name.strip_prefix("SR_").map_or((false, name), |name| (true, name));
    let (first, rest) = name.split_once('_')?;
    let (count, rest) = match first {
        "PK" => (2, rest),
        "PK32" | "2XPK16" => (32, rest),
        _ => (1, name),
    };
    let (to, from) = rest.split_once('_')?;
    let (to, from) = (Kind::of(to)?, Kind::of(from)?);
    // Two singles are two sources, where there is no random number between them and the scale.
    let interleaved = from == Kind::Single && !chance && first != "PK32";
    Some(Conversion { chance, count, interleaved, to, from })
}

/// Part of a run of registers of one lane, from a bit on.
fn field(dwords: &[u32], start: usize, width: usize) -> u32 {
    let (index, shift) = (start / 32, start % 32);
    let mut value = u64::from(dwords[index]);
    if shift + width > 32 {
        value |= u64::from(dwords[index + 1]) << 32;
    }
    (value >> shift) as u32 & (u32::MAX >> (32 - width))
}

/// Puts a value into part of such a run.
fn put(dwords: &mut [u32], start: usize, width: usize, value: u32) {
    let (index, shift) = (start / 32, start % 32);
    let (mask, value) = (u64::from(u32::MAX >> (32 - width)) << shift, u64::from(value) << shift);
    dwords[index] = dwords[index] & !(mask as u32) | value as u32;
    if shift + width > 32 {
        dwords[index + 1] = dwords[index + 1] & !((mask >> 32) as u32) | (value >> 32) as u32;
    }
}

/// `v_cvt_scalef32_*`.
pub(in crate::shader) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    let opcode = op.instruction.opcode;
    let refused =
        |what: &str| Err(Stop::not_modelled(format!("{} {what} is not modelled", opcode.name())));
    let Some(conversion) = conversion(opcode) else { return refused("as it is") };
    let Conversion { chance, count, interleaved, to, from } = conversion;
    let last = usize::from(v.src_count) - 1;
    let signs = if from == Kind::Single && count < 32 && (interleaved || count == 1) {
        (1 << last) - 1
    } else {
        0
    };
    if (v.neg | v.abs) & ((1 << last) - 1) & !signs != 0 || v.omod != 0 || v.clamp {
        return refused("with such modifiers");
    }
    // Where values are read and written, when a register has room for more.
    let (place_from, place_to) = places(v, &conversion);
    let read = from.bits() * if interleaved { count / 2 } else { count };
    let written = to.bits() * count;
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let mut buffers = [[0; LANES]; 3];
        let [first, second, third] = &mut buffers;
        let random = *source(wave, op, v, 1, half, first);
        let scales = *source(wave, op, v, last, half, second);
        let low = *source(wave, op, v, 0, half, third);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let sources = |index: usize, plain: u32| -> Vec<u32> {
                let registers = (place_from + read).div_ceil(32);
                match v.src[index].vgpr() {
                    Some(register) => (0..registers)
                        .map(|at| wave.row(usize::from(register) + at, half)[lane])
                        .collect(),
                    None => vec![plain; registers],
                }
            };
            let a = sources(0, low[lane]);
            // Otherwise source 1 is one register, the scale or a random number.
            let b = if interleaved { sources(1, random[lane]) } else { Vec::new() };
            let scale = match scales[lane] >> 23 & 0xff {
                0xff => None,
                exponent => Some(exponent as i32 - 127),
            };
            let mut random = random[lane];
            let vdst = usize::from(v.vdst);
            let mut out: Vec<u32> = (0..(place_to + written).div_ceil(32))
                .map(|at| wave.row(vdst + at, half)[lane])
                .collect();
            for index in 0..count {
                let (operand, values, at) = match interleaved && count > 1 {
                    true => (index % 2, if index % 2 == 0 { &a } else { &b }, index / 2),
                    false => (0, &a, index),
                };
                let bits = field(values, place_from + at * from.bits(), from.bits());
                let mut value = from.to_f32(bits);
                if v.abs >> operand & 1 != 0 && operand < last {
                    value = value.abs();
                }
                if v.neg >> operand & 1 != 0 && operand < last {
                    value = -value;
                }
                let result = match (to, from) {
                    (Kind::Small(format), _) => {
                        let (value, scale) =
                            scale.map_or((f32::NAN.copysign(value), 0), |scale| (value, scale));
                        if chance {
                            let kept = from.fraction();
                            fp8::from_scaled_by_chance(
                                &wave.mode, format, value, kept, scale, random,
                            )
                        } else {
                            fp8::from_scaled(&wave.mode, format, value, scale)
                        }
                    }
                    _ => to.rounded(match scale {
                        Some(scale) => f64::from(value) * 2f64.powi(scale),
                        None => f64::NAN.copysign(value.into()),
                    }),
                };
                random = next_random(random);
                put(&mut out, place_to + index * to.bits(), to.bits(), result);
            }
            for (at, value) in out.into_iter().enumerate() {
                wave.row_mut(vdst + at, half)[lane] = value;
            }
        }
    }
    Ok(())
}

/// The bits from which on values are read and written: `op_sel` 1:0 names a byte or, of a pair of bytes, bit 0 a half
/// of the source; its bits 3:2 a byte or bit 3 a half of the destination.
fn places(v: &Valu, conversion: &Conversion) -> (usize, usize) {
    let Conversion { count, to, from, .. } = *conversion;
    let (source, destination) = (usize::from(v.op_sel & 3), usize::from(v.op_sel >> 2 & 3));
    if count > 2 {
        return (0, 0);
    }
    match (to, from) {
        (Kind::Small(_), _) if to.bits() * count == 16 => (0, 16 * (destination >> 1)),
        (Kind::Small(_), _) => (0, 8 * destination),
        _ if from.bits() * count == 16 => (16 * (source & 1), 0),
        (Kind::Half, _) if count == 1 => (8 * source, 16 * (destination >> 1)),
        _ => (8 * source, 0),
    }
}
