//! V_CMP and V_CMPX.

use super::{
    EMPTY, active, fields, for_host, gather, source, source_16, source_64, source_f16, source_f32,
    source_f64,
};
use crate::shader::code::Op;
use crate::shader::float::{f16_to_f32, flush_in16, flush_in64};
use crate::shader::wave::{EXEC, Env, LANES, Step, Wave};
use amdgpu_isa::{Flags, Opcode, Valu};
use std::sync::LazyLock;

/// Puts the result where the instruction wants it.
#[inline(always)]
fn write(wave: &mut Wave, op: &Op, v: &Valu, mask: u64) {
    wave.set_mask(v.sdst, mask);
    // V_CMPX writes EXEC; on gfx9 beside its destination.
    if op.instruction.opcode.info().flags.contains(Flags::WRITES_EXEC) {
        wave.set_mask(EXEC, mask);
    }
}

/// The lanes of a pass whose operands stand in a relation.
macro_rules! satisfying {
    ($relation:expr, |$lane:ident| $a:expr, $b:expr) => {
        match $relation {
            0 => 0,
            LESS => gather!(|$lane| $a < $b),
            EQUAL => gather!(|$lane| $a == $b),
            GREATER => gather!(|$lane| $a > $b),
            NOT_ABOVE => gather!(|$lane| $a <= $b),
            NOT_BELOW => gather!(|$lane| $a >= $b),
            NOT_LESS => !gather!(|$lane| $a < $b),
            NOT_EQUAL => !gather!(|$lane| $a == $b),
            NOT_GREATER => !gather!(|$lane| $a > $b),
            ALL => u32::MAX,
            relation => {
                let less = gather!(|$lane| $a < $b);
                let equal = gather!(|$lane| $a == $b);
                let greater = gather!(|$lane| $a > $b);
                let when = |bit: u8, lanes: u32| if relation & bit != 0 { lanes } else { 0 };
                when(LESS, less)
                    | when(EQUAL, equal)
                    | when(GREATER, greater)
                    | when(UNORDERED, !(less | equal | greater))
            }
        }
    };
}

/// The lanes of one pass whose operands, as `kind`, stand in a relation.
#[inline(always)]
fn compare(wave: &Wave, op: &Op, v: &Valu, half: usize, relation: u8, kind: Kind) -> u32 {
    let (mut first, mut second) = (EMPTY, EMPTY);
    match kind {
        Kind::F32 => {
            let a = source_f32(wave, op, v, 0, half, &mut first);
            let b = source_f32(wave, op, v, 1, half, &mut second);
            satisfying!(relation, |lane| f32::from_bits(a[lane]), f32::from_bits(b[lane]))
        }
        Kind::I32 | Kind::U32 => {
            let a = source(wave, op, v, 0, half, &mut first);
            let b = source(wave, op, v, 1, half, &mut second);
            match kind {
                Kind::I32 => satisfying!(relation, |lane| a[lane] as i32, b[lane] as i32),
                _ => satisfying!(relation, |lane| a[lane], b[lane]),
            }
        }
        Kind::F16 => {
            let (mut first, mut second) = ([0; LANES], [0; LANES]);
            let a = source_f16(wave, op, v, 0, half, &mut first);
            let b = source_f16(wave, op, v, 1, half, &mut second);
            let single = |bits: &u32| f16_to_f32(flush_in16(&wave.mode, *bits));
            let (a, b) = (a.each_ref().map(single), b.each_ref().map(single));
            satisfying!(relation, |lane| a[lane], b[lane])
        }
        Kind::I16 | Kind::U16 => {
            let (mut first, mut second) = ([0; LANES], [0; LANES]);
            let a = source_16(wave, op, v, 0, half, &mut first);
            let b = source_16(wave, op, v, 1, half, &mut second);
            match kind {
                Kind::I16 => satisfying!(relation, |lane| a[lane] as i16, b[lane] as i16),
                _ => satisfying!(relation, |lane| a[lane], b[lane]),
            }
        }
        Kind::F64 => {
            let double = |bits| f64::from_bits(flush_in64(&wave.mode, bits));
            let a = source_f64(wave, op, v, 0, half).map(double);
            let b = source_f64(wave, op, v, 1, half).map(double);
            satisfying!(relation, |lane| a[lane], b[lane])
        }
        Kind::I64 | Kind::U64 => {
            let a = source_64(wave, op, v, 0, half);
            let b = source_64(wave, op, v, 1, half);
            match kind {
                Kind::I64 => satisfying!(relation, |lane| a[lane] as i64, b[lane] as i64),
                _ => satisfying!(relation, |lane| a[lane], b[lane]),
            }
        }
    }
}

/// The bit of the class mask that names a value's class (RDNA3 ISA document, V_CMP_CLASS).
fn class(negative: bool, exponent: u64, highest: u64, fraction: u64, quiet: bool) -> u32 {
    let (minus, plus) = if exponent == highest && fraction != 0 {
        return u32::from(quiet);
    } else if exponent == highest {
        (2, 9)
    } else if exponent > 0 {
        (3, 8)
    } else if fraction != 0 {
        (4, 7)
    } else {
        (5, 6)
    };
    if negative { minus } else { plus }
}

fn class32(bits: u32) -> u32 {
    let fraction = bits & 0x7f_ffff;
    class(bits >> 31 != 0, u64::from(bits >> 23 & 0xff), 0xff, fraction.into(), bits >> 22 & 1 != 0)
}

fn class16(bits: u32) -> u32 {
    let fraction = bits & 0x3ff;
    class(
        bits >> 15 & 1 != 0,
        u64::from(bits >> 10 & 0x1f),
        0x1f,
        fraction.into(),
        bits >> 9 & 1 != 0,
    )
}

fn class64(bits: u64) -> u32 {
    let fraction = bits & 0xf_ffff_ffff_ffff;
    class(bits >> 63 != 0, bits >> 52 & 0x7ff, 0x7ff, fraction, bits >> 51 & 1 != 0)
}

/// Classes see denormals whatever MODE says.
fn classes(wave: &Wave, op: &Op, v: &Valu, half: usize, opcode: Opcode) -> u32 {
    use Opcode::*;
    let (mut first, mut second) = ([0; LANES], [0; LANES]);
    match opcode {
        V_CMP_CLASS_F64 | V_CMPX_CLASS_F64 => {
            let a = source_f64(wave, op, v, 0, half);
            let b = source(wave, op, v, 1, half, &mut second);
            gather!(|lane| b[lane] >> class64(a[lane]) & 1 != 0)
        }
        V_CMP_CLASS_F16 | V_CMPX_CLASS_F16 => {
            let a = source_f16(wave, op, v, 0, half, &mut first);
            let b = source_16(wave, op, v, 1, half, &mut second);
            gather!(|lane| b[lane] >> class16(a[lane]) & 1 != 0)
        }
        _ => {
            let (abs, neg) = super::modifiers(v, 0);
            let a = source(wave, op, v, 0, half, &mut first);
            let b = source(wave, op, v, 1, half, &mut second);
            let keep = if abs { 0x7fff_ffff } else { u32::MAX };
            let flip = if neg { 0x8000_0000 } else { 0 };
            gather!(|lane| b[lane] >> class32(a[lane] & keep ^ flip) & 1 != 0)
        }
    }
}

// A relation is the set of outcomes for which it holds, as the opcode numbers have it.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;
const ALL: u8 = LESS | EQUAL | GREATER | UNORDERED;
const NOT_ABOVE: u8 = LESS | EQUAL;
const NOT_BELOW: u8 = EQUAL | GREATER;
const NOT_LESS: u8 = ALL & !LESS;
const NOT_EQUAL: u8 = ALL & !EQUAL;
const NOT_GREATER: u8 = ALL & !GREATER;

/// The type compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

/// Splits `V_CMP[X]_relation_type`.
fn parse(name: &str) -> Option<(u8, Kind)> {
    let name = name.strip_prefix("V_CMPX_").or_else(|| name.strip_prefix("V_CMP_"))?;
    let (relation, kind) = name.split_once('_')?;
    let relation = match relation {
        "F" => 0,
        "LT" => LESS,
        "EQ" => EQUAL,
        "LE" => LESS | EQUAL,
        "GT" => GREATER,
        "LG" => LESS | GREATER,
        "GE" => EQUAL | GREATER,
        "O" => LESS | EQUAL | GREATER,
        "U" => UNORDERED,
        "NGE" => UNORDERED | LESS,
        "NLG" => UNORDERED | EQUAL,
        "NGT" => UNORDERED | LESS | EQUAL,
        "NLE" => UNORDERED | GREATER,
        "NEQ" | "NE" => UNORDERED | LESS | GREATER,
        "NLT" => UNORDERED | EQUAL | GREATER,
        "T" => UNORDERED | LESS | EQUAL | GREATER,
        _ => return None,
    };
    let kind = match kind {
        "F16" => Kind::F16,
        "F32" => Kind::F32,
        "F64" => Kind::F64,
        "I16" => Kind::I16,
        "U16" => Kind::U16,
        "I32" => Kind::I32,
        "U32" => Kind::U32,
        "I64" => Kind::I64,
        "U64" => Kind::U64,
        _ => return None,
    };
    Some((relation, kind))
}

/// All comparisons by opcode.
static COMPARISONS: LazyLock<Vec<Option<(u8, Kind)>>> =
    LazyLock::new(|| Opcode::ALL.iter().map(|opcode| parse(opcode.name())).collect());

for_host!(run, body);

#[inline(always)]
fn body(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    let opcode = op.instruction.opcode;
    let comparison = COMPARISONS[opcode as usize];
    let mut mask = 0;
    for half in 0..wave.halves {
        let bits = match comparison {
            Some((relation, kind)) => compare(wave, op, v, half, relation, kind),
            None => classes(wave, op, v, half, opcode),
        };
        // Lanes that are off give 0.
        mask |= u64::from(bits & active(wave, v, half)) << (32 * half);
    }
    write(wave, op, v, mask);
    Ok(())
}
