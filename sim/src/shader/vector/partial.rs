//! What is done around an operation: results that fill a part of their register, those of SDWA, and 16-bit ones where
//! the rest becomes zero; a source whose lanes cross passes.

use super::{active, dpp, fields};
use crate::shader::code::{Handler, Op};
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Env, LANES, Step, Wave};
use amdgpu_isa::{Fields, Instruction, OperandKind, Sdwa, Select, Src, Target};

/// What executes the instruction around its operation, when its result does not go to the register as it is, or what it
/// reads may already be a result.
pub(in crate::shader) fn around(target: Target, instruction: &Instruction) -> Option<Handler> {
    let Fields::Valu(v) = &instruction.fields else { return None };
    let info = instruction.opcode.info();
    if matches!(info.dst, OperandKind::None | OperandKind::Mask) {
        return None;
    }
    let clears = target.clears_high_half(instruction.opcode);
    match v.sdwa {
        Some(Sdwa { dst_sel, .. }) if dst_sel != Select::Dword => Some(select),
        _ if v.dpp.as_ref().is_some_and(dpp::reaches_back) => {
            Some(if clears { clear_high_half_crossing } else { crossing })
        }
        _ if clears => Some(clear_high_half),
        _ => None,
    }
}

/// Executes an instruction whose second pass reads lanes of the first: from a copy of the register, as the first pass
/// may write it.
fn crossing(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    from_copy(wave, op, env, op.inner)
}

fn clear_high_half_crossing(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    from_copy(wave, op, env, clear_high_half)
}

fn from_copy(wave: &mut Wave, op: &Op, env: &mut Env<'_>, then: Handler) -> Step {
    let v = fields(op)?;
    let Some(register) = v.src[0].vgpr() else { return then(wave, op, env) };
    // The copy is in a VGPR that the instruction does not name, of which there is one: waves have at least four, and
    // only VOP1 and VOP2 move lanes so.
    let named =
        |spare: u8| spare == v.vdst || v.src.iter().any(|source| source.vgpr() == Some(spare));
    let Some(spare) = (0..=u8::MAX).take(wave.vgprs()).find(|&spare| !named(spare)) else {
        return mismatch(op);
    };
    let mut op = *op;
    if let Fields::Valu(v) = &mut op.instruction.fields {
        v.src[0] = Src(256 + u16::from(spare));
    }
    let mut kept = [[0; LANES]; 2];
    for half in 0..wave.halves {
        let source = *wave.row(register.into(), half);
        kept[half] = std::mem::replace(wave.row_mut(spare.into(), half), source);
    }
    let step = then(wave, &op, env);
    for half in 0..wave.halves {
        *wave.row_mut(spare.into(), half) = kept[half];
    }
    step
}

/// Low bit and width of a part.
fn place(select: Select) -> (u32, u32) {
    match select {
        Select::Byte0 => (0, 8),
        Select::Byte1 => (8, 8),
        Select::Byte2 => (16, 8),
        Select::Byte3 => (24, 8),
        Select::Word0 => (0, 16),
        Select::Word1 => (16, 16),
        Select::Dword => (0, 32),
    }
}

/// A part of a dword, extended.
pub(super) fn part(value: u32, select: Select, signed: bool) -> u32 {
    let (low, width) = place(select);
    let top = value << (32 - low - width);
    if signed { (top as i32 >> (32 - width)) as u32 } else { top >> (32 - width) }
}

/// A register with a part of it replaced by a result; the rest by `dst_unused` is zero, the part's sign above it, or
/// what it was ("Vega 7nm" ISA document, "SDWA").
fn merged(old: u32, result: u32, sdwa: &Sdwa) -> u32 {
    let (low, width) = place(sdwa.dst_sel);
    let mask = u32::MAX >> (32 - width) << low;
    let placed = result << low & mask;
    match sdwa.dst_unused {
        1 => ((placed << (32 - low - width)) as i32 >> (32 - low - width)) as u32,
        2 => old & !mask | placed,
        _ => placed,
    }
}

fn select(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let v = fields(op)?;
    let Some(sdwa) = v.sdwa else { return (op.inner)(wave, op, env) };
    let register = usize::from(v.vdst);
    let old: [[u32; LANES]; 2] = std::array::from_fn(|half| {
        if half < wave.halves { *wave.row(register, half) } else { [0; LANES] }
    });
    (op.inner)(wave, op, env)?;
    for half in 0..wave.halves {
        let mask = active(wave, v, half);
        let mut out = *wave.row(register, half);
        for lane in 0..LANES {
            out[lane] = merged(old[half][lane], out[lane], &sdwa);
        }
        wave.write(register, half, mask, &out);
    }
    Ok(())
}

fn clear_high_half(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    (op.inner)(wave, op, env)?;
    let v = fields(op)?;
    for half in 0..wave.halves {
        let mask = active(wave, v, half);
        let out = wave.row(v.vdst.into(), half).map(|value| value & 0xffff);
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_extend() {
        assert_eq!(part(0x1280_ff7f, Select::Byte1, true), u32::MAX);
        assert_eq!(part(0x1280_ff7f, Select::Byte2, false), 0x80);
        assert_eq!(part(0x8280_ff7f, Select::Word1, true), 0xffff_8280);
        assert_eq!(part(0x8280_ff7f, Select::Dword, true), 0x8280_ff7f);
    }

    #[test]
    fn results_merge() {
        let sdwa = |dst_sel, dst_unused| Sdwa {
            dst_sel,
            dst_unused,
            src_sel: [Select::Dword; 2],
            sext: [false; 2],
        };
        assert_eq!(merged(0x1111_1111, 0xabcd, &sdwa(Select::Byte1, 0)), 0xcd00);
        assert_eq!(merged(0x1111_1111, 0xabcd, &sdwa(Select::Byte1, 1)), 0xffff_cd00);
        assert_eq!(merged(0x1111_1111, 0xabcd, &sdwa(Select::Word1, 2)), 0xabcd_1111);
    }
}
