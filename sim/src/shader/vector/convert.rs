//! Conversions between formats.

use super::{
    active, fields, finish_f16, finish_f32, finish_f64, for_host, source, source_16, source_f16,
    source_f32, source_f64, write_16, write_64,
};
use crate::shader::code::Op;
use crate::shader::float::{self, f16_to_f32, flush_in16, flush_in64};
use crate::shader::fp8::{self, Format};
use crate::shader::mode::{Mode, Round};
use crate::shader::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// What a conversion produces, which decides about output modifiers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Integer,
    Single,
    /// The half that op_sel names.
    Half,
    /// 16 bits of an integer, placed like a half.
    Word,
}

#[inline(always)]
fn put(wave: &mut Wave, v: &Valu, half: usize, to: To, mut out: [u32; LANES]) {
    let mask = active(wave, v, half);
    let mode = wave.mode;
    match to {
        To::Integer => wave.write(v.vdst.into(), half, mask, &out),
        To::Single => {
            finish_f32(&mode, v, &mut out);
            wave.write(v.vdst.into(), half, mask, &out);
        }
        To::Half => {
            finish_f16(&mode, v, &mut out);
            write_16(wave, v, half, mask, &out);
        }
        To::Word => write_16(wave, v, half, mask, &out),
    }
}

#[inline(always)]
fn from_integer(wave: &mut Wave, op: &Op, v: &Valu, to: To, f: impl Fn(&Mode, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = source(wave, op, v, 0, half, &mut buffer);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, a[lane]);
        }
        put(wave, v, half, to, out);
    }
    Ok(())
}

#[inline(always)]
fn from_word(wave: &mut Wave, op: &Op, v: &Valu, to: To, f: impl Fn(&Mode, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = source_16(wave, op, v, 0, half, &mut buffer);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, a[lane]);
        }
        put(wave, v, half, to, out);
    }
    Ok(())
}

#[inline(always)]
fn from_single(wave: &mut Wave, op: &Op, v: &Valu, to: To, f: impl Fn(&Mode, f32) -> u32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = source_f32(wave, op, v, 0, half, &mut buffer);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, f32::from_bits(a[lane]));
        }
        put(wave, v, half, to, out);
    }
    Ok(())
}

#[inline(always)]
fn from_half(wave: &mut Wave, op: &Op, v: &Valu, to: To, f: impl Fn(&Mode, f32) -> u32) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = source_f16(wave, op, v, 0, half, &mut buffer);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, f16_to_f32(flush_in16(&wave.mode, a[lane])));
        }
        put(wave, v, half, to, out);
    }
    Ok(())
}

#[inline(always)]
fn from_double(wave: &mut Wave, op: &Op, v: &Valu, to: To, f: impl Fn(&Mode, f64) -> u32) -> Step {
    for half in 0..wave.halves {
        let a = source_f64(wave, op, v, 0, half);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, f64::from_bits(flush_in64(&wave.mode, a[lane])));
        }
        put(wave, v, half, to, out);
    }
    Ok(())
}

/// 32 bits to a double.
#[inline(always)]
fn to_double(
    wave: &mut Wave,
    op: &Op,
    v: &Valu,
    float: bool,
    f: impl Fn(&Mode, u32) -> u64,
) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = if float {
            source_f32(wave, op, v, 0, half, &mut buffer)
        } else {
            source(wave, op, v, 0, half, &mut buffer)
        };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = f(&wave.mode, a[lane]);
        }
        finish_f64(&wave.mode, v, &mut out);
        let mask = active(wave, v, half);
        write_64(wave, v.vdst, half, mask, &out);
    }
    Ok(())
}

/// Two values packed into a dword.
#[inline(always)]
fn pack(wave: &mut Wave, op: &Op, v: &Valu, kind: Pack, f: impl Fn(&Mode, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let (a, b) = match kind {
            Pack::Singles => (
                source_f32(wave, op, v, 0, half, &mut first),
                source_f32(wave, op, v, 1, half, &mut second),
            ),
            Pack::Halves => (
                source_f16(wave, op, v, 0, half, &mut first),
                source_f16(wave, op, v, 1, half, &mut second),
            ),
            Pack::Integers => (
                source(wave, op, v, 0, half, &mut first),
                source(wave, op, v, 1, half, &mut second),
            ),
        };
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let low = f(&wave.mode, a[lane]) & 0xffff;
            out[lane] = low | f(&wave.mode, b[lane]) << 16;
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Pack {
    Singles,
    Halves,
    Integers,
}

/// [−1, 1] to a signed 16-bit integer.
#[inline(always)]
fn snorm(value: f32) -> u32 {
    ((value.clamp(-1.0, 1.0) * 32767.0 + 0.5).floor()) as i32 as u32 & 0xffff
}

/// [0, 1] to an unsigned 16-bit integer.
#[inline(always)]
fn unorm(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * 65535.0 + 0.5).floor() as u32
}

/// `v_cvt_pk_u8_f32`: a byte put into the third source.
fn pack_byte(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let shift = 8 * (b[lane] & 3);
            let byte = u32::from(f32::from_bits(a[lane]) as u8);
            out[lane] = c[lane] & !(0xff << shift) | byte << shift;
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// `v_cvt_f32_fp8`, `v_cvt_f32_bf8`: one byte, whose number's bits op_sel has in reverse order.
fn from_byte(wave: &mut Wave, op: &Op, v: &Valu, format: Format) -> Step {
    let byte = u32::from((v.op_sel & 1) << 1 | v.op_sel >> 1 & 1);
    from_integer(wave, op, v, To::Single, |_, a| fp8::to_f32(format, a >> (8 * byte)).to_bits())
}

/// `v_cvt_pk_f32_fp8`, `v_cvt_pk_f32_bf8`: the two bytes of a half.
fn from_bytes(wave: &mut Wave, op: &Op, v: &Valu, format: Format) -> Step {
    // Such constants tell a whole register from a half.
    if wave.traits.wide_byte_pairs && matches!(v.src[0].0, 240..=248) {
        return Err(Stop::not_modelled("a conversion of bytes of an inline float is not modelled"));
    }
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let a = *source_16(wave, op, v, 0, half, &mut buffer);
        let mask = active(wave, v, half);
        for (register, shift) in [(v.vdst, 0), (v.vdst + 1, 8)] {
            let mut out = a.map(|a| fp8::to_f32(format, a >> shift).to_bits());
            finish_f32(&wave.mode, v, &mut out);
            wave.write(register.into(), half, mask, &out);
        }
    }
    Ok(())
}

/// `v_cvt_pk_fp8_f32`, `v_cvt_pk_bf8_f32`: two bytes for the half that op_sel names.
fn to_bytes(wave: &mut Wave, op: &Op, v: &Valu, format: Format) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let b = source_f32(wave, op, v, 1, half, &mut second);
        let byte = |bits: u32| fp8::from_f32(&wave.mode, format, f32::from_bits(bits));
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = byte(a[lane]) | byte(b[lane]) << 8;
        }
        put(wave, v, half, To::Word, out);
    }
    Ok(())
}

/// `v_cvt_sr_fp8_f32`, `v_cvt_sr_bf8_f32`: a single to the byte that op_sel bits 3:2 name, rounded by the second source.
fn dither(wave: &mut Wave, op: &Op, v: &Valu, format: Format) -> Step {
    let shift = 8 * u32::from(v.op_sel >> 2 & 3);
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let random = source(wave, op, v, 1, half, &mut second);
        let mut out = *wave.row(v.vdst.into(), half);
        for lane in 0..LANES {
            let byte =
                fp8::from_f32(&wave.mode, format, fp8::dithered(format, a[lane], random[lane]));
            out[lane] = out[lane] & !(0xff << shift) | byte << shift;
        }
        let mask = active(wave, v, half);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// The bits of the largest half-precision float; the next are infinity's.
const LARGEST_F16: u32 = 0x7bff;

/// `v_cvt_sr_f16_f32`, `v_cvt_sr_bf16_f32`: a single to the half that op_sel names, rounded by the second source as
/// gfx950's conversions with a scale round.
fn dither_half(wave: &mut Wave, op: &Op, v: &Valu, cut: impl Fn(&Mode, f32, u32) -> u32) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let a = source_f32(wave, op, v, 0, half, &mut first);
        let random = source(wave, op, v, 1, half, &mut second);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let value = f32::from_bits(a[lane]);
            let sign = a[lane] >> 16 & 0x8000;
            out[lane] = match op.instruction.opcode {
                _ if value.is_finite() => sign | cut(&wave.mode, value, random[lane]),
                Opcode::V_CVT_SR_F16_F32 => float::f32_to_f16(&wave.mode, value),
                _ => float::f32_to_bf16(value),
            };
        }
        put(wave, v, half, To::Word, out);
    }
    Ok(())
}

/// `v_cvt_f32_bf16`.
fn from_bfloat(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let out = source_f16(wave, op, v, 0, half, &mut buffer).map(|bits| bits << 16);
        put(wave, v, half, To::Single, out);
    }
    Ok(())
}

/// `v_ashr_pk_i8_i32`, `v_ashr_pk_u8_i32`: two shifted integers, saturated to bytes.
fn shift_bytes(wave: &mut Wave, op: &Op, v: &Valu, [least, most]: [i32; 2]) -> Step {
    for half in 0..wave.halves {
        let (mut first, mut second, mut third) = ([0; LANES], [0; LANES], [0; LANES]);
        let a = source(wave, op, v, 0, half, &mut first);
        let b = source(wave, op, v, 1, half, &mut second);
        let c = source(wave, op, v, 2, half, &mut third);
        let mut out = [0; LANES];
        for lane in 0..LANES {
            let byte =
                |bits: u32| ((bits as i32) >> (c[lane] & 31)).clamp(least, most) as u32 & 0xff;
            out[lane] = byte(a[lane]) | byte(b[lane]) << 8;
        }
        put(wave, v, half, To::Word, out);
    }
    Ok(())
}

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    let [fp8, bf8] = wave.traits.byte_floats;
    let byte = |index: u32| move |_: &Mode, a: u32| ((a >> (8 * index) & 0xff) as f32).to_bits();
    match op.instruction.opcode {
        V_CVT_F32_I32 => {
            from_integer(wave, op, v, To::Single, |m, a| float::i64_to_f32(m, i64::from(a as i32)))
        }
        V_CVT_F32_U32 => {
            from_integer(wave, op, v, To::Single, |m, a| float::i64_to_f32(m, i64::from(a)))
        }
        V_CVT_F32_UBYTE0 => from_integer(wave, op, v, To::Single, byte(0)),
        V_CVT_F32_UBYTE1 => from_integer(wave, op, v, To::Single, byte(1)),
        V_CVT_F32_UBYTE2 => from_integer(wave, op, v, To::Single, byte(2)),
        V_CVT_F32_UBYTE3 => from_integer(wave, op, v, To::Single, byte(3)),
        V_CVT_OFF_F32_I4 => from_integer(wave, op, v, To::Single, |_, a| {
            (((a as i32) << 28 >> 28) as f32 / 16.0).to_bits()
        }),
        V_CVT_U32_F32 => from_single(wave, op, v, To::Integer, |_, a| float::f32_to_u32(a)),
        V_CVT_I32_F32 => from_single(wave, op, v, To::Integer, |_, a| float::f32_to_i32(a) as u32),
        V_CVT_NEAREST_I32_F32 => {
            from_single(wave, op, v, To::Integer, |_, a| (a + 0.5).floor() as i32 as u32)
        }
        V_CVT_FLOOR_I32_F32 => {
            from_single(wave, op, v, To::Integer, |_, a| a.floor() as i32 as u32)
        }
        V_CVT_F16_F32 => from_single(wave, op, v, To::Half, float::f32_to_f16),
        V_CVT_F32_F16 => from_half(wave, op, v, To::Single, |_, a| float::quiet32(a.to_bits())),
        V_CVT_F32_F64 => {
            from_double(wave, op, v, To::Single, |m, a| float::f64_to_f32(m, a.to_bits()))
        }
        V_CVT_I32_F64 => from_double(wave, op, v, To::Integer, |_, a| a as i32 as u32),
        V_CVT_U32_F64 => from_double(wave, op, v, To::Integer, |_, a| a as u32),
        V_CVT_F64_F32 => to_double(wave, op, v, true, float::f32_to_f64),
        V_CVT_F64_I32 => to_double(wave, op, v, false, |_, a| f64::from(a as i32).to_bits()),
        V_CVT_F64_U32 => to_double(wave, op, v, false, |_, a| f64::from(a).to_bits()),
        V_CVT_F16_U16 => from_word(wave, op, v, To::Half, |m, a| float::i32_to_f16(m, a as i32)),
        V_CVT_F16_I16 => {
            from_word(wave, op, v, To::Half, |m, a| float::i32_to_f16(m, i32::from(a as i16)))
        }
        V_CVT_U16_F16 => from_half(wave, op, v, To::Word, |_, a| u32::from(a as u16)),
        V_CVT_I16_F16 => from_half(wave, op, v, To::Word, |_, a| a as i16 as u32 & 0xffff),
        V_CVT_NORM_I16_F16 => from_half(wave, op, v, To::Word, |_, a| snorm(a)),
        V_CVT_NORM_U16_F16 => from_half(wave, op, v, To::Word, |_, a| unorm(a)),
        V_CVT_I32_I16 => from_word(wave, op, v, To::Integer, |_, a| a as i16 as u32),
        V_CVT_U32_U16 => from_word(wave, op, v, To::Integer, |_, a| a & 0xffff),
        V_SAT_PK_U8_I16 => from_integer(wave, op, v, To::Word, |_, a| {
            let saturated = |word: u32| i32::from(word as i16).clamp(0, 255) as u32;
            saturated(a) | saturated(a >> 16) << 8
        }),
        V_CVT_PK_RTZ_F16_F32 => {
            pack(wave, op, v, Pack::Singles, |m, a| float::pack_rtz(m, a, 0) & 0xffff)
        }
        V_CVT_PK_I16_F32 => {
            pack(wave, op, v, Pack::Singles, |_, a| f32::from_bits(a) as i16 as u32)
        }
        V_CVT_PK_U16_F32 => {
            pack(wave, op, v, Pack::Singles, |_, a| u32::from(f32::from_bits(a) as u16))
        }
        V_CVT_PK_NORM_I16_F32 => pack(wave, op, v, Pack::Singles, |_, a| snorm(f32::from_bits(a))),
        V_CVT_PK_NORM_U16_F32 => pack(wave, op, v, Pack::Singles, |_, a| unorm(f32::from_bits(a))),
        V_CVT_PK_NORM_I16_F16 => {
            pack(wave, op, v, Pack::Halves, |m, a| snorm(f16_to_f32(flush_in16(m, a))))
        }
        V_CVT_PK_NORM_U16_F16 => {
            pack(wave, op, v, Pack::Halves, |m, a| unorm(f16_to_f32(flush_in16(m, a))))
        }
        V_CVT_PK_U16_U32 => pack(wave, op, v, Pack::Integers, |_, a| a.min(0xffff)),
        V_CVT_PK_I16_I32 => pack(wave, op, v, Pack::Integers, |_, a| {
            (a as i32).clamp(i16::MIN.into(), i16::MAX.into()) as u32
        }),
        V_PACK_B32_F16 => {
            pack(wave, op, v, Pack::Halves, |m, a| float::flush_out16(m, flush_in16(m, a)))
        }
        V_CVT_PK_U8_F32 => pack_byte(wave, op, v),
        V_CVT_F32_FP8 => from_byte(wave, op, v, fp8),
        V_CVT_F32_BF8 => from_byte(wave, op, v, bf8),
        V_CVT_PK_F32_FP8 => from_bytes(wave, op, v, fp8),
        V_CVT_PK_F32_BF8 => from_bytes(wave, op, v, bf8),
        V_CVT_PK_FP8_F32 => to_bytes(wave, op, v, fp8),
        V_CVT_PK_BF8_F32 => to_bytes(wave, op, v, bf8),
        V_CVT_PK_BF16_F32 => {
            pack(wave, op, v, Pack::Singles, |_, a| float::f32_to_bf16(f32::from_bits(a)))
        }
        V_CVT_PK_F16_F32 => pack(wave, op, v, Pack::Singles, |m, a| {
            let mut nearest = *m;
            nearest.round16_64 = Round::Nearest;
            float::f32_to_f16(&nearest, f32::from_bits(a))
        }),
        V_CVT_F32_BF16 => from_bfloat(wave, op, v),
        V_CVT_SR_F16_F32 => dither_half(wave, op, v, |m, value, random| {
            let magnitude = fp8::cut(value, 23, 0, [10, 15], random);
            let limit = if m.fp16_overflow { LARGEST_F16 } else { LARGEST_F16 + 1 };
            magnitude.min(limit)
        }),
        V_CVT_SR_BF16_F32 => {
            dither_half(wave, op, v, |_, value, random| fp8::cut(value, 23, 0, [7, 127], random))
        }
        V_ASHR_PK_I8_I32 => shift_bytes(wave, op, v, [i8::MIN.into(), i8::MAX.into()]),
        V_ASHR_PK_U8_I32 => shift_bytes(wave, op, v, [0, u8::MAX.into()]),
        V_CVT_SR_FP8_F32 => dither(wave, op, v, fp8),
        V_CVT_SR_BF8_F32 => dither(wave, op, v, bf8),
        other => Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
}
