//! AMD GPU instruction sets: tables, decoder, disassembler.
#![no_std]
#![forbid(unsafe_code)]

mod instruction;
mod opcode;

pub use instruction::{Dpp, DualOp, Fields, Instruction, Src, Valu};
pub use opcode::Opcode;
