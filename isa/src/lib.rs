//! AMD GPU instruction sets: tables, decoder, disassembler.
//!
//! - [`Target`] names a processor, [`Generation`] the encoding it shares with others.
//! - [`decode`] turns dwords into an [`Instruction`]; [`Instructions`] walks a code section.
//! - [`Opcode::info`] tells what an operation reads and writes, and so how its constants expand
//!   ([`OperandKind::inline_constant`], [`OperandKind::literal`]).
//! - [`disassemble`] prints an instruction as LLVM's `llvm-objdump` does.
//!
//! Generations differ in tables (opcode numbers, field positions, names), not in code. Known are gfx11,
//! gfx11.5 and gfx12, without images, ray tracing, typed buffers, exports and LDS parameter loads, and
//! gfx10.3, gfx906, gfx908, gfx90a, gfx942 and gfx950, without images, ray tracing, exports and parameter
//! interpolation.
#![no_std]
#![forbid(unsafe_code)]

mod decode;
mod disassemble;
mod encoding;
mod error;
mod info;
mod instruction;
mod opcode;
mod operand;
mod stream;
mod target;

pub use decode::decode;
pub use disassemble::{Disassembly, disassemble};
pub use encoding::Format;
pub use error::DecodeError;
pub use info::{Flags, MatrixFormat, OpInfo};
pub use instruction::{Dpp, DualOp, Fields, Instruction, MatrixScale, Sdwa, Select, Src, Valu};
pub use opcode::Opcode;
pub use operand::OperandKind;
pub use stream::Instructions;
pub use target::{Generation, Target, UnknownTarget};
