//! What an operand holds, and what its constants mean.

use crate::Src;

/// The type an instruction reads or writes through one operand. It fixes the operand's width and
/// how inline constants and literals expand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// No such operand.
    None,
    /// A lane mask: one SGPR in wave32, two in wave64.
    Mask,
    /// 16 bits without a number format.
    B16,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Half-precision float.
    F16,
    /// Bfloat16.
    BF16,
    /// 32 bits without a number format, packed bytes and nibbles included.
    B32,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Single-precision float.
    F32,
    /// Two 16-bit integers.
    PkB16,
    /// Two half-precision floats.
    PkF16,
    /// Two bfloat16.
    PkBF16,
    /// 64 bits without a number format.
    B64,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// Double-precision float.
    F64,
    /// Two single-precision floats.
    PkF32,
    /// Three dwords.
    B96,
    /// Four dwords.
    B128,
    /// Six dwords.
    B192,
    /// Eight dwords.
    B256,
    /// Sixteen dwords.
    B512,
    /// Thirty-two dwords.
    B1024,
    /// A WMMA accumulator of 32-bit floats: eight VGPRs in wave32, four in wave64.
    AccF32,
    /// A WMMA accumulator of 32-bit integers, sized as [`AccF32`](Self::AccF32).
    AccI32,
    /// A WMMA accumulator of half-precision floats, sized as [`AccF32`](Self::AccF32).
    AccF16,
    /// A WMMA accumulator of bfloat16, sized as [`AccF32`](Self::AccF32).
    AccBF16,
    /// A WMMA accumulator of half-precision floats, two in a VGPR: four VGPRs in wave32, two in wave64.
    AccPkF16,
    /// A WMMA accumulator of bfloat16, sized as [`AccPkF16`](Self::AccPkF16).
    AccPkBF16,
    /// A part of a matrix: 64 bits of each lane in wave32, 32 in wave64.
    Tile64,
    /// A part of a matrix: 128 bits of each lane in wave32, 64 in wave64.
    Tile128,
    /// A part of a matrix: 256 bits of each lane in wave32, 128 in wave64.
    Tile256,
    /// Where the values of a sparse matrix stand: one VGPR.
    SparseIndex,
}

impl OperandKind {
    /// Registers the operand takes, in dwords.
    pub const fn dwords(self, wave32: bool) -> u8 {
        use OperandKind::*;
        match self {
            None => 0,
            Mask => {
                if wave32 {
                    1
                } else {
                    2
                }
            }
            B16 | I16 | U16 | F16 | BF16 | B32 | I32 | U32 | F32 | PkB16 | PkF16 | PkBF16
            | SparseIndex => 1,
            B64 | I64 | U64 | F64 | PkF32 => 2,
            B96 => 3,
            B128 => 4,
            B192 => 6,
            B256 => 8,
            B512 => 16,
            B1024 => 32,
            Tile64 => {
                if wave32 {
                    2
                } else {
                    1
                }
            }
            Tile128 | AccPkF16 | AccPkBF16 => {
                if wave32 {
                    4
                } else {
                    2
                }
            }
            Tile256 | AccF32 | AccI32 | AccF16 | AccBF16 => {
                if wave32 {
                    8
                } else {
                    4
                }
            }
        }
    }

    /// Whether one 16-bit value is held, so that a half of a register can be selected.
    pub const fn is_16_bit(self) -> bool {
        use OperandKind::*;
        matches!(self, B16 | I16 | U16 | F16 | BF16)
    }

    /// Whether the operand is a WMMA accumulator.
    pub const fn is_accumulator(self) -> bool {
        use OperandKind::*;
        matches!(self, AccF32 | AccI32 | AccF16 | AccBF16 | AccPkF16 | AccPkBF16)
    }

    /// Whether the operand is a float, so that negate and absolute-value modifiers apply.
    pub const fn is_float(self) -> bool {
        use OperandKind::*;
        matches!(
            self,
            F16 | BF16
                | F32
                | F64
                | PkF16
                | PkBF16
                | PkF32
                | AccF32
                | AccF16
                | AccBF16
                | AccPkF16
                | AccPkBF16
        )
    }

    /// The bits an inline constant (codes 128–208 and 240–248) supplies to an operand of this kind;
    /// `None` for a code that is no inline constant (RDNA3 ISA document, "Inline constants").
    ///
    /// Integers are sign-extended to the operand's width. Floats take the precision of the operand's
    /// width, integer operands included: 16-bit operands the half-precision pattern, 64-bit ones the
    /// double. Packed operands are 32 bits wide: packed floats have the pattern of one element in
    /// the low half and zero in the high one, which `op_sel_hi` can select around; packed integers
    /// the single-precision pattern (LLVM's AMDGPUDisassembler.cpp, `decodeFPImmed`, and
    /// AMDGPUBaseInfo.cpp, `getInlineEncodingV216`).
    pub const fn inline_constant(self, src: Src) -> Option<u64> {
        use OperandKind::*;
        let code = src.0;
        let bits: u64 = match code {
            128..=192 => (code - 128) as u64,
            193..=208 => -(code as i64 - 192) as u64,
            240..=248 => {
                let index = (code - 240) as usize;
                return Option::Some(match self {
                    BF16 | PkBF16 | AccBF16 | AccPkBF16 => (INLINE_F32[index] >> 16) as u64,
                    F16 | B16 | I16 | U16 | PkF16 | AccF16 | AccPkF16 => INLINE_F16[index] as u64,
                    F64 | B64 | I64 | U64 => INLINE_F64[index],
                    _ => INLINE_F32[index] as u64,
                });
            }
            _ => return Option::None,
        };
        Option::Some(match self.dwords(false) {
            _ if self.is_16_bit() => bits & 0xffff,
            2 if !self.is_accumulator() => bits,
            _ => bits & 0xffff_ffff,
        })
    }

    /// The bits a literal dword supplies to an operand of this kind (RDNA3 ISA document, "Literal
    /// constants"): the high dword of a double, sign-extended for signed and zero-extended for other
    /// 64-bit operands, the low half for 16-bit ones.
    pub const fn literal(self, literal: u32) -> u64 {
        match self {
            OperandKind::F64 => (literal as u64) << 32,
            OperandKind::I64 => literal as i32 as i64 as u64,
            _ if self.is_16_bit() => (literal & 0xffff) as u64,
            _ => literal as u64,
        }
    }
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2π), codes 240–248.
const INLINE_F16: [u16; 9] =
    [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];
const INLINE_F32: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];
const INLINE_F64: [u64; 9] = [
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x4000_0000_0000_0000,
    0xc000_0000_0000_0000,
    0x4010_0000_0000_0000,
    0xc010_0000_0000_0000,
    0x3fc4_5f30_6dc9_c882,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_integers_extend_to_the_operand() {
        let minus_one = Src(193);
        assert_eq!(OperandKind::B16.inline_constant(minus_one), Some(0xffff));
        assert_eq!(OperandKind::F32.inline_constant(minus_one), Some(0xffff_ffff));
        assert_eq!(OperandKind::I64.inline_constant(minus_one), Some(u64::MAX));
        assert_eq!(OperandKind::U32.inline_constant(Src(192)), Some(64));
        assert_eq!(OperandKind::U32.inline_constant(Src(208)), Some(0xffff_fff0));
    }

    #[test]
    fn inline_floats_have_the_operands_precision() {
        let one = Src(242);
        assert_eq!(OperandKind::F16.inline_constant(one), Some(0x3c00));
        assert_eq!(OperandKind::BF16.inline_constant(one), Some(0x3f80));
        assert_eq!(OperandKind::U32.inline_constant(one), Some(0x3f80_0000));
        assert_eq!(OperandKind::F64.inline_constant(one), Some(1f64.to_bits()));
        for (index, value) in [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0].into_iter().enumerate() {
            let code = Src(240 + index as u16);
            assert_eq!(OperandKind::F64.inline_constant(code), Some(f64::to_bits(value)));
            assert_eq!(
                OperandKind::F32.inline_constant(code),
                Some(f32::to_bits(value as f32).into())
            );
        }
    }

    #[test]
    fn what_is_no_inline_constant() {
        for code in [0, 106, 127, 209, 235, 239, 249, 253, 255, 256, 511] {
            assert_eq!(OperandKind::B32.inline_constant(Src(code)), None);
        }
    }

    #[test]
    fn literals_expand() {
        assert_eq!(OperandKind::F64.literal(0x3ff0_0000), 1f64.to_bits());
        assert_eq!(OperandKind::I64.literal(0xffff_fffe), -2i64 as u64);
        assert_eq!(OperandKind::U64.literal(0xffff_fffe), 0xffff_fffe);
        assert_eq!(OperandKind::F16.literal(0x1234_3c00), 0x3c00);
    }
}
