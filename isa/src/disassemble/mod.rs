//! Assembly text, spelt as LLVM 19's `llvm-objdump` spells it.

use core::fmt::{self, Formatter, Write};

use crate::encoding::Encoding;
use crate::{Fields, Instruction, Opcode, Target};

mod immediate;
mod memory;
mod register;
mod vector;

/// The assembly text of an instruction, through [`fmt::Display`].
#[derive(Clone, Copy, Debug)]
pub struct Disassembly<'a> {
    instruction: &'a Instruction,
    encoding: &'static Encoding,
    wave32: bool,
}

/// The text of `instruction` as `llvm-objdump` prints it for `target`, without address comments.
/// `wave32` is the wave size, which decides the width of lane masks: `vcc_lo` or `vcc`.
///
/// Halves of 16-bit registers, which LLVM 19 has no spelling for by default, are spelt as later
/// versions do: `v1.h` for the high half, `v1` for the low.
pub fn disassemble(instruction: &Instruction, target: Target, wave32: bool) -> Disassembly<'_> {
    Disassembly { instruction, encoding: Encoding::of(target.generation()), wave32 }
}

impl fmt::Display for Disassembly<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = Text {
            f,
            encoding: self.encoding,
            wave32: self.wave32,
            literal: self.instruction.literal,
            operands: 0,
        };
        let opcode = self.instruction.opcode;
        match &self.instruction.fields {
            Fields::Valu(valu) => text.valu(opcode, valu),
            Fields::Vop3p { .. } => text.vop3p(opcode, &self.instruction.fields),
            Fields::Matrix { .. } => text.matrix(opcode, &self.instruction.fields),
            Fields::Vopd { x, y } => text.vopd(x, y),
            Fields::Ds { .. } => text.ds(opcode, &self.instruction.fields),
            Fields::Flat { .. } => text.flat(opcode, &self.instruction.fields),
            Fields::Mubuf { .. } => text.mubuf(opcode, &self.instruction.fields),
            Fields::Smem { .. } => text.smem(opcode, &self.instruction.fields),
            _ => text.scalar(opcode, &self.instruction.fields),
        }
    }
}

/// Text under construction.
struct Text<'a, 'b> {
    f: &'a mut Formatter<'b>,
    encoding: &'static Encoding,
    wave32: bool,
    literal: Option<u32>,
    /// Operands written so far.
    operands: usize,
}

impl Text<'_, '_> {
    fn mnemonic(&mut self, opcode: Opcode, suffix: &str) -> fmt::Result {
        self.lower(self.encoding.name(opcode))?;
        self.f.write_str(suffix)
    }

    fn lower(&mut self, name: &str) -> fmt::Result {
        name.chars().try_for_each(|c| self.f.write_char(c.to_ascii_lowercase()))
    }

    /// What goes before an operand: a space before the first, a comma before others.
    fn separate(&mut self) -> fmt::Result {
        self.operands += 1;
        self.f.write_str(if self.operands == 1 { " " } else { ", " })
    }

    /// ` name:value` unless the value is zero.
    fn option(&mut self, name: &str, value: impl Into<i64>) -> fmt::Result {
        match value.into() {
            0 => Ok(()),
            value => write!(self.f, " {name}:{value}"),
        }
    }

    /// ` name` when set.
    fn flag(&mut self, name: &str, set: bool) -> fmt::Result {
        if set { write!(self.f, " {name}") } else { Ok(()) }
    }

    /// ` name:[1,0]` of the lowest `count` bits.
    fn bits(&mut self, name: &str, bits: u8, count: usize) -> fmt::Result {
        write!(self.f, " {name}:[")?;
        for index in 0..count {
            let comma = if index == 0 { "" } else { "," };
            write!(self.f, "{comma}{}", bits >> index & 1)?;
        }
        self.f.write_char(']')
    }
}
