//! Atomic operations of FLAT, GLOBAL, SCRATCH, BUFFER and DS.

use super::code::Op;
use super::float::{
    bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16_nearest, max32, max64, min32, min64, settle16,
    settle32, settle64,
};
use super::generation::Traits;
use super::mode::Mode;
use super::place::Place;
use super::transfer::Registers;
use super::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::Opcode;
use std::sync::LazyLock;

/// What an atomic computes from the old value and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The operand.
    Swap,
    /// The operand where the old value equals the comparand.
    CompareSwap,
    /// The operand where the old value equals the comparand as a float.
    CompareSwapFloat,
    /// Old + operand.
    Add,
    /// Old − operand.
    Subtract,
    /// Operand − old.
    ReverseSubtract,
    /// Old − operand, or 0 where that would be negative.
    ClampedSubtract,
    /// Old − operand, or old where that would be negative.
    ConditionalSubtract,
    /// The smaller as signed integers.
    MinSigned,
    /// The smaller as unsigned integers.
    MinUnsigned,
    /// The larger as signed integers.
    MaxSigned,
    /// The larger as unsigned integers.
    MaxUnsigned,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Old + 1, or 0 from the operand on.
    Increment,
    /// Old − 1, or the operand at 0 and above the operand.
    Decrement,
    /// The smaller as floats.
    MinFloat,
    /// The larger as floats.
    MaxFloat,
    /// The smaller as floats, where a NaN loses.
    MinNumber,
    /// The larger as floats, where a NaN loses.
    MaxNumber,
    /// The sum as floats.
    AddFloat,
    /// The sums of two half-precision floats.
    AddHalves,
    /// The sums of two bfloat16.
    AddBFloats,
    /// Old with the operand's bits cleared and the second operand's set.
    MaskOr,
    /// Old − operand when that does not underflow, else old + second operand.
    Wrap,
}

/// Denormals kept, to nearest even, whatever MODE says.
static NUMBERS: LazyLock<Mode> = LazyLock::new(|| Mode::without_switches(0xf0));

impl Function {
    /// The function that the generation has in this one's place: minima and maxima of gfx12 are those in which a NaN
    /// loses.
    pub(super) fn of_generation(self, traits: &Traits) -> Function {
        match self {
            Function::MinFloat if !traits.float_switches => Function::MinNumber,
            Function::MaxFloat if !traits.float_switches => Function::MaxNumber,
            other => other,
        }
    }

    /// The function that the name of an operation says before the type, as DS and scalar memory have it.
    pub(super) fn named(operation: &str, kind: &str) -> Option<Function> {
        Some(match (operation, kind.chars().next()?) {
            ("ADD", 'F') => Function::AddFloat,
            ("ADD", _) => Function::Add,
            ("SUB", _) => Function::Subtract,
            ("COND_SUB", _) => Function::ConditionalSubtract,
            ("SUB_CLAMP", _) => Function::ClampedSubtract,
            ("PK_ADD", 'F') => Function::AddHalves,
            ("PK_ADD", _) => Function::AddBFloats,
            ("RSUB", _) => Function::ReverseSubtract,
            ("INC", _) => Function::Increment,
            ("DEC", _) => Function::Decrement,
            ("MIN", 'I') => Function::MinSigned,
            ("MIN", 'U') => Function::MinUnsigned,
            ("MIN", 'F') => Function::MinFloat,
            ("MAX", 'I') => Function::MaxSigned,
            ("MAX", 'U') => Function::MaxUnsigned,
            ("MAX", 'F') => Function::MaxFloat,
            ("AND", _) => Function::And,
            ("OR", _) => Function::Or,
            ("XOR", _) => Function::Xor,
            ("MSKOR", _) => Function::MaskOr,
            ("STOREXCHG" | "SWAP", _) => Function::Swap,
            ("CMPSTORE", 'F') => Function::CompareSwapFloat,
            ("CMPSTORE" | "CMPSWAP", _) => Function::CompareSwap,
            ("WRAP", _) => Function::Wrap,
            _ => return None,
        })
    }

    /// Whether there are two operands: the new value, then the comparand.
    pub(crate) fn is_compare(self) -> bool {
        matches!(self, Function::CompareSwap | Function::CompareSwapFloat)
    }

    /// The new dword.
    #[inline]
    pub(crate) fn apply32(self, old: u32, a: u32, b: u32) -> u32 {
        let float = f32::from_bits;
        match self {
            Function::Swap => a,
            Function::CompareSwap => {
                if old == b {
                    a
                } else {
                    old
                }
            }
            Function::CompareSwapFloat => {
                if float(old) == float(b) {
                    a
                } else {
                    old
                }
            }
            Function::Add => old.wrapping_add(a),
            Function::Subtract => old.wrapping_sub(a),
            Function::ReverseSubtract => a.wrapping_sub(old),
            Function::ClampedSubtract => old.saturating_sub(a),
            Function::ConditionalSubtract => old.checked_sub(a).unwrap_or(old),
            Function::MinSigned => (old as i32).min(a as i32) as u32,
            Function::MinUnsigned => old.min(a),
            Function::MaxSigned => (old as i32).max(a as i32) as u32,
            Function::MaxUnsigned => old.max(a),
            Function::And => old & a,
            Function::Or => old | a,
            Function::Xor => old ^ a,
            Function::Increment => {
                if old >= a {
                    0
                } else {
                    old + 1
                }
            }
            Function::Decrement => {
                if old == 0 || old > a {
                    a
                } else {
                    old - 1
                }
            }
            Function::MinFloat => {
                if float(a) < float(old) {
                    a
                } else {
                    old
                }
            }
            Function::MaxFloat => {
                if float(a) > float(old) {
                    a
                } else {
                    old
                }
            }
            Function::MinNumber => min32(&NUMBERS, a, old),
            Function::MaxNumber => max32(&NUMBERS, a, old),
            Function::AddHalves => pairs(old, a, add_halves),
            Function::AddBFloats => pairs(old, a, add_bfloats),
            Function::AddFloat => settle32((float(old) + float(a)).to_bits(), &[old, a]),
            Function::MaskOr => old & !a | b,
            Function::Wrap => {
                if old >= a {
                    old - a
                } else {
                    old.wrapping_add(b)
                }
            }
        }
    }

    /// The new qword.
    #[inline]
    pub(crate) fn apply64(self, old: u64, a: u64, b: u64) -> u64 {
        let float = f64::from_bits;
        match self {
            Function::Swap => a,
            Function::CompareSwap => {
                if old == b {
                    a
                } else {
                    old
                }
            }
            Function::CompareSwapFloat => {
                if float(old) == float(b) {
                    a
                } else {
                    old
                }
            }
            Function::Add => old.wrapping_add(a),
            Function::Subtract => old.wrapping_sub(a),
            Function::ReverseSubtract => a.wrapping_sub(old),
            Function::ClampedSubtract => old.saturating_sub(a),
            Function::ConditionalSubtract => old.checked_sub(a).unwrap_or(old),
            Function::MinSigned => (old as i64).min(a as i64) as u64,
            Function::MinUnsigned => old.min(a),
            Function::MaxSigned => (old as i64).max(a as i64) as u64,
            Function::MaxUnsigned => old.max(a),
            Function::And => old & a,
            Function::Or => old | a,
            Function::Xor => old ^ a,
            Function::Increment => {
                if old >= a {
                    0
                } else {
                    old + 1
                }
            }
            Function::Decrement => {
                if old == 0 || old > a {
                    a
                } else {
                    old - 1
                }
            }
            Function::MinFloat => {
                if float(a) < float(old) {
                    a
                } else {
                    old
                }
            }
            Function::MaxFloat => {
                if float(a) > float(old) {
                    a
                } else {
                    old
                }
            }
            Function::MinNumber => min64(&NUMBERS, a, old),
            Function::MaxNumber => max64(&NUMBERS, a, old),
            // No operation has these.
            Function::AddHalves | Function::AddBFloats => old,
            Function::AddFloat => settle64((float(old) + float(a)).to_bits(), &[old, a]),
            Function::MaskOr => old & !a | b,
            Function::Wrap => {
                if old >= a {
                    old - a
                } else {
                    old.wrapping_add(b)
                }
            }
        }
    }
}

/// `add` of the low and of the high halves.
fn pairs(old: u32, a: u32, add: impl Fn(u32, u32) -> u32) -> u32 {
    add(old & 0xffff, a & 0xffff) & 0xffff | add(old >> 16, a >> 16) << 16
}

/// Rounded to nearest, with denormals, whatever MODE says.
fn add_halves(a: u32, b: u32) -> u32 {
    settle16(f32_to_f16_nearest(f16_to_f32(a) + f16_to_f32(b)), &[a, b])
}

fn add_bfloats(a: u32, b: u32) -> u32 {
    let sum = bf16_to_f32(a) + bf16_to_f32(b);
    f32_to_bf16(f32::from_bits(settle32(sum.to_bits(), &[a << 16, b << 16])))
}

/// The function and width in bits of a FLAT, GLOBAL or BUFFER atomic.
pub(super) fn of(opcode: Opcode) -> Option<(Function, u32)> {
    use Function::*;
    use Opcode::*;
    Some(match opcode {
        FLAT_ATOMIC_SWAP_B32 | GLOBAL_ATOMIC_SWAP_B32 | BUFFER_ATOMIC_SWAP_B32 => (Swap, 32),
        FLAT_ATOMIC_CMPSWAP_B32 | GLOBAL_ATOMIC_CMPSWAP_B32 | BUFFER_ATOMIC_CMPSWAP_B32 => {
            (CompareSwap, 32)
        }
        FLAT_ATOMIC_ADD_U32 | GLOBAL_ATOMIC_ADD_U32 | BUFFER_ATOMIC_ADD_U32 => (Add, 32),
        FLAT_ATOMIC_SUB_U32 | GLOBAL_ATOMIC_SUB_U32 | BUFFER_ATOMIC_SUB_U32 => (Subtract, 32),
        FLAT_ATOMIC_CSUB_U32 | GLOBAL_ATOMIC_CSUB_U32 | BUFFER_ATOMIC_CSUB_U32 => {
            (ClampedSubtract, 32)
        }
        FLAT_ATOMIC_MIN_I32 | GLOBAL_ATOMIC_MIN_I32 | BUFFER_ATOMIC_MIN_I32 => (MinSigned, 32),
        FLAT_ATOMIC_MIN_U32 | GLOBAL_ATOMIC_MIN_U32 | BUFFER_ATOMIC_MIN_U32 => (MinUnsigned, 32),
        FLAT_ATOMIC_MAX_I32 | GLOBAL_ATOMIC_MAX_I32 | BUFFER_ATOMIC_MAX_I32 => (MaxSigned, 32),
        FLAT_ATOMIC_MAX_U32 | GLOBAL_ATOMIC_MAX_U32 | BUFFER_ATOMIC_MAX_U32 => (MaxUnsigned, 32),
        FLAT_ATOMIC_AND_B32 | GLOBAL_ATOMIC_AND_B32 | BUFFER_ATOMIC_AND_B32 => (And, 32),
        FLAT_ATOMIC_OR_B32 | GLOBAL_ATOMIC_OR_B32 | BUFFER_ATOMIC_OR_B32 => (Or, 32),
        FLAT_ATOMIC_XOR_B32 | GLOBAL_ATOMIC_XOR_B32 | BUFFER_ATOMIC_XOR_B32 => (Xor, 32),
        FLAT_ATOMIC_INC_U32 | GLOBAL_ATOMIC_INC_U32 | BUFFER_ATOMIC_INC_U32 => (Increment, 32),
        FLAT_ATOMIC_DEC_U32 | GLOBAL_ATOMIC_DEC_U32 | BUFFER_ATOMIC_DEC_U32 => (Decrement, 32),
        FLAT_ATOMIC_CMPSWAP_F32 | GLOBAL_ATOMIC_CMPSWAP_F32 | BUFFER_ATOMIC_CMPSWAP_F32 => {
            (CompareSwapFloat, 32)
        }
        FLAT_ATOMIC_MIN_F32 | GLOBAL_ATOMIC_MIN_F32 | BUFFER_ATOMIC_MIN_F32 => (MinFloat, 32),
        FLAT_ATOMIC_MAX_F32 | GLOBAL_ATOMIC_MAX_F32 | BUFFER_ATOMIC_MAX_F32 => (MaxFloat, 32),
        FLAT_ATOMIC_ADD_F32 | GLOBAL_ATOMIC_ADD_F32 | BUFFER_ATOMIC_ADD_F32 => (AddFloat, 32),
        FLAT_ATOMIC_COND_SUB_U32 | GLOBAL_ATOMIC_COND_SUB_U32 | BUFFER_ATOMIC_COND_SUB_U32 => {
            (ConditionalSubtract, 32)
        }
        FLAT_ATOMIC_PK_ADD_F16 | GLOBAL_ATOMIC_PK_ADD_F16 | BUFFER_ATOMIC_PK_ADD_F16 => {
            (AddHalves, 32)
        }
        FLAT_ATOMIC_PK_ADD_BF16 | GLOBAL_ATOMIC_PK_ADD_BF16 | BUFFER_ATOMIC_PK_ADD_BF16 => {
            (AddBFloats, 32)
        }
        FLAT_ATOMIC_CMPSWAP_F64 | GLOBAL_ATOMIC_CMPSWAP_F64 | BUFFER_ATOMIC_CMPSWAP_F64 => {
            (CompareSwapFloat, 64)
        }
        FLAT_ATOMIC_ADD_F64 | GLOBAL_ATOMIC_ADD_F64 | BUFFER_ATOMIC_ADD_F64 => (AddFloat, 64),
        FLAT_ATOMIC_MIN_F64 | GLOBAL_ATOMIC_MIN_F64 | BUFFER_ATOMIC_MIN_F64 => (MinFloat, 64),
        FLAT_ATOMIC_MAX_F64 | GLOBAL_ATOMIC_MAX_F64 | BUFFER_ATOMIC_MAX_F64 => (MaxFloat, 64),
        FLAT_ATOMIC_SWAP_B64 | GLOBAL_ATOMIC_SWAP_B64 | BUFFER_ATOMIC_SWAP_B64 => (Swap, 64),
        FLAT_ATOMIC_CMPSWAP_B64 | GLOBAL_ATOMIC_CMPSWAP_B64 | BUFFER_ATOMIC_CMPSWAP_B64 => {
            (CompareSwap, 64)
        }
        FLAT_ATOMIC_ADD_U64 | GLOBAL_ATOMIC_ADD_U64 | BUFFER_ATOMIC_ADD_U64 => (Add, 64),
        FLAT_ATOMIC_SUB_U64 | GLOBAL_ATOMIC_SUB_U64 | BUFFER_ATOMIC_SUB_U64 => (Subtract, 64),
        FLAT_ATOMIC_MIN_I64 | GLOBAL_ATOMIC_MIN_I64 | BUFFER_ATOMIC_MIN_I64 => (MinSigned, 64),
        FLAT_ATOMIC_MIN_U64 | GLOBAL_ATOMIC_MIN_U64 | BUFFER_ATOMIC_MIN_U64 => (MinUnsigned, 64),
        FLAT_ATOMIC_MAX_I64 | GLOBAL_ATOMIC_MAX_I64 | BUFFER_ATOMIC_MAX_I64 => (MaxSigned, 64),
        FLAT_ATOMIC_MAX_U64 | GLOBAL_ATOMIC_MAX_U64 | BUFFER_ATOMIC_MAX_U64 => (MaxUnsigned, 64),
        FLAT_ATOMIC_AND_B64 | GLOBAL_ATOMIC_AND_B64 | BUFFER_ATOMIC_AND_B64 => (And, 64),
        FLAT_ATOMIC_OR_B64 | GLOBAL_ATOMIC_OR_B64 | BUFFER_ATOMIC_OR_B64 => (Or, 64),
        FLAT_ATOMIC_XOR_B64 | GLOBAL_ATOMIC_XOR_B64 | BUFFER_ATOMIC_XOR_B64 => (Xor, 64),
        FLAT_ATOMIC_INC_U64 | GLOBAL_ATOMIC_INC_U64 | BUFFER_ATOMIC_INC_U64 => (Increment, 64),
        FLAT_ATOMIC_DEC_U64 | GLOBAL_ATOMIC_DEC_U64 | BUFFER_ATOMIC_DEC_U64 => (Decrement, 64),
        _ => return None,
    })
}

/// Executes an atomic for the lanes of `mask`, one after the other.
pub(super) fn execute(
    wave: &mut Wave,
    op: &Op,
    env: &mut Env<'_>,
    registers: Registers,
    half: usize,
    mask: u32,
    places: &[Place; LANES],
) -> Step {
    let opcode = op.instruction.opcode;
    let (function, bits) = of(opcode)
        .ok_or_else(|| Stop::not_modelled(format!("{} is not modelled", opcode.name())))?;
    let function = function.of_generation(wave.traits);
    let Registers { destination, data, returns } = registers;
    let compare = function.is_compare();
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        let dword = |wave: &Wave, index: usize| wave.row(data + index, half)[lane];
        if bits == 32 {
            let a = dword(wave, 0);
            let b = if compare { dword(wave, 1) } else { 0 };
            let old = places[lane].update32(env, |old| function.apply32(old, a, b))?;
            if returns {
                wave.row_mut(destination, half)[lane] = old;
            }
        } else {
            let qword = |wave: &Wave, index: usize| {
                u64::from(dword(wave, index)) | u64::from(dword(wave, index + 1)) << 32
            };
            let a = qword(wave, 0);
            let b = if compare { qword(wave, 2) } else { 0 };
            let old = places[lane].update64(env, |old| function.apply64(old, a, b))?;
            if returns {
                wave.row_mut(destination, half)[lane] = old as u32;
                wave.row_mut(destination + 1, half)[lane] = (old >> 32) as u32;
            }
        }
    }
    Ok(())
}
