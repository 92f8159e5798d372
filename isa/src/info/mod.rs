//! What every operation reads and writes, whatever generation encodes it.

use bitflags::bitflags;

use crate::{Opcode, OperandKind};

mod buffer;
mod compare;
mod flat;
mod lds;
mod matrix;
mod packed;
mod scalar;
mod scalar_memory;
mod scaled;
mod vector;

pub use matrix::MatrixFormat;

bitflags! {
    /// Properties of an operation beyond its explicit operands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flags: u32 {
        /// Reads memory into registers.
        const LOAD = 1 << 0;
        /// Writes registers to memory.
        const STORE = 1 << 1;
        /// Reads and writes memory indivisibly. DS operations return the old value when they have a
        /// destination; FLAT and buffer ones when the `glc` bit is set.
        const ATOMIC = 1 << 2;
        /// May change the program counter.
        const BRANCH = 1 << 3;
        /// Ends the wave.
        const ENDS_PROGRAM = 1 << 4;
        /// Reads SCC implicitly.
        const READS_SCC = 1 << 5;
        /// Writes SCC.
        const WRITES_SCC = 1 << 6;
        /// Reads VCC without naming it. Carry-ins and selects are explicit sources instead.
        const READS_VCC = 1 << 7;
        /// Reads EXEC beyond its use as the lane mask.
        const READS_EXEC = 1 << 8;
        /// Writes EXEC.
        const WRITES_EXEC = 1 << 9;
        /// Reads M0 without naming it.
        const READS_M0 = 1 << 10;
        /// Old contents of the destination are an input: accumulators, partial writes, swaps.
        const READS_DST = 1 << 11;
        /// Has a scalar destination beside the vector one: carry-outs and V_DIV_SCALE's condition.
        const SDST = 1 << 12;
        /// Has no DPP form although its operands would fit one.
        const NO_DPP = 1 << 13;
        /// Has only the 32-bit encoding.
        const NO_VOP3 = 1 << 14;
        /// The VOP3 encoding's `op_sel` bits have meaning of their own, not only as halves of 16-bit
        /// operands.
        const OP_SEL = 1 << 15;
        /// Negate and absolute value apply to the first two sources although they have no number
        /// format.
        const FLOAT_MODIFIERS = 1 << 16;
        /// The first source must be a register: a VGPR of vector operations, an SGPR of scalar ones.
        const REGISTER_SRC0 = 1 << 17;
        /// The second source must be a register.
        const REGISTER_SRC1 = 1 << 18;
        /// Sources that need not be VGPRs must not be: lane selects and values for one lane.
        const SCALAR_SOURCES = 1 << 19;
        /// The destination field of this vector operation names a scalar register.
        const SCALAR_DST = 1 << 20;
        /// Has no SDWA form although its operands would fit one.
        const NO_SDWA = 1 << 21;
        /// Multiplies matrices or moves accumulation registers: [`Fields::Matrix`](crate::Fields::Matrix).
        const MATRIX = 1 << 22;
        /// The modifiers are a truth table of the three sources' bits: negate its bits 2:0, absolute value 5:3, the
        /// output modifier 7:6.
        const TRUTH_TABLE = 1 << 23;
    }
}

/// Operands and properties of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpInfo {
    /// The destination; [`OperandKind::Mask`] for vector compares, whose result is scalar.
    pub dst: OperandKind,
    /// The sources. Scalar: `ssrc0`, `ssrc1`; for SOPK compares, S_SETREG_B32 and the split waits the
    /// register in the `sdst` field. Vector: `src` as decoded, with carry-ins explicit and a FMAMK or
    /// FMAAK literal where the multiply-add reads it. Scalar memory: the base. Memory: the data
    /// operands.
    pub src: [OperandKind; 3],
    /// Everything else.
    pub flags: Flags,
}

impl OpInfo {
    /// Whether the operation can have its first source moved between lanes: no operand is wider
    /// than a dword, and it is not one of those [`Flags::NO_DPP`] names.
    pub const fn allows_dpp(&self) -> bool {
        let [a, b, c] = self.src;
        !self.flags.contains(Flags::NO_DPP)
            && self.dst.dwords(true) <= 1
            && a.dwords(true) <= 1
            && b.dwords(true) <= 1
            && c.dwords(true) <= 1
    }

    /// Whether the operation can have its first source moved between lanes where wide operands can be: those of two
    /// dwords.
    pub const fn allows_wide_dpp(&self) -> bool {
        !self.flags.contains(Flags::NO_DPP)
            && self.src[0].dwords(true) <= 2
            && self.dst.dwords(true) <= 2
    }

    /// Whether the operation can take parts of its operands: no operand is wider than a dword, and it is not one of
    /// those [`Flags::NO_SDWA`] names.
    pub const fn allows_sdwa(&self) -> bool {
        let [a, b, c] = self.src;
        !self.flags.contains(Flags::NO_SDWA)
            && !self.flags.contains(Flags::NO_DPP)
            && self.dst.dwords(true) <= 1
            && a.dwords(true) <= 1
            && b.dwords(true) <= 1
            && c.dwords(true) <= 1
    }

    /// How many sources there are.
    pub const fn src_count(&self) -> u8 {
        let mut count = 0;
        while count < 3 && !matches!(self.src[count], OperandKind::None) {
            count += 1;
        }
        count as u8
    }
}

/// Rows of `OPCODE: destination = sources | FLAGS;`.
macro_rules! info {
    ($($opcode:ident: $dst:ident = $($src:ident)* $(| $($flag:ident)*)?;)*) => {
        pub(super) const ROWS: &[(crate::Opcode, super::OpInfo)] = &[$((
            crate::Opcode::$opcode,
            super::row(
                crate::OperandKind::$dst,
                &[$(crate::OperandKind::$src),*],
                super::Flags::empty()$($(.union(super::Flags::$flag))*)?,
            ),
        ),)*];
    };
}
use info;

const fn row(dst: OperandKind, src: &[OperandKind], flags: Flags) -> OpInfo {
    let mut info = OpInfo { dst, src: [OperandKind::None; 3], flags };
    let mut index = 0;
    while index < src.len() {
        info.src[index] = src[index];
        index += 1;
    }
    info
}

/// All rows by opcode; compilation fails if an opcode has none or two.
static INFO: [OpInfo; Opcode::ALL.len()] = {
    let none = row(OperandKind::None, &[], Flags::empty());
    let mut table = [none; Opcode::ALL.len()];
    let mut seen = [false; Opcode::ALL.len()];
    let families = [
        scalar::ROWS,
        vector::ROWS,
        compare::ROWS,
        packed::ROWS,
        lds::ROWS,
        flat::ROWS,
        buffer::ROWS,
        scalar_memory::ROWS,
        matrix::ROWS,
        scaled::ROWS,
    ];
    let mut family = 0;
    while family < families.len() {
        let rows = families[family];
        let mut index = 0;
        while index < rows.len() {
            let opcode = rows[index].0 as usize;
            assert!(!seen[opcode], "an opcode is described twice");
            seen[opcode] = true;
            table[opcode] = rows[index].1;
            index += 1;
        }
        family += 1;
    }
    let mut opcode = 0;
    while opcode < seen.len() {
        assert!(seen[opcode], "an opcode is not described");
        opcode += 1;
    }
    table
};

impl Opcode {
    /// Bits of the sparse matrix's index that one lane holds, of a V_SWMMAC: `op_sel` chooses which of
    /// the register's groups of so many they are (LLVM's VOP3PInstructions.td, `IndexType` of
    /// `VOP3PWMMA_Profile`).
    pub const fn sparse_index_bits(self, wave32: bool) -> u8 {
        match (self, wave32) {
            (Opcode::V_SWMMAC_I32_16X16X64_IU4, true) => 32,
            (Opcode::V_SWMMAC_I32_16X16X64_IU4 | Opcode::V_SWMMAC_I32_16X16X32_IU4, _)
            | (_, true) => 16,
            (_, false) => 8,
        }
    }

    /// The operation's operands and properties.
    pub fn info(self) -> &'static OpInfo {
        &INFO[self as usize]
    }
}
