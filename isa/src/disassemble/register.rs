//! Registers and constants.

use core::fmt::{self, Write};

use super::Text;
use crate::{OperandKind, Src};

/// Inline float constants, codes 240–248.
const FLOATS: [&str; 9] =
    ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"];

impl Text<'_, '_> {
    /// A VGPR operand.
    pub(super) fn vgpr(&mut self, number: u8, dwords: u8) -> fmt::Result {
        self.separate()?;
        self.range("v", number.into(), dwords)
    }

    /// A VGPR operand, or an accumulation VGPR.
    pub(super) fn data_vgpr(&mut self, number: u8, dwords: u8, acc: bool) -> fmt::Result {
        self.separate()?;
        self.range(if acc { "a" } else { "v" }, number.into(), dwords)
    }

    /// A scalar register operand.
    pub(super) fn sgpr(&mut self, code: u8, dwords: u8) -> fmt::Result {
        self.separate()?;
        self.bare_sgpr(code.into(), dwords)
    }

    /// A source operand.
    pub(super) fn source(&mut self, src: Src, kind: OperandKind) -> fmt::Result {
        self.separate()?;
        self.bare_source(src, kind)
    }

    fn range(&mut self, prefix: &str, first: u16, dwords: u8) -> fmt::Result {
        match dwords {
            0 | 1 => write!(self.f, "{prefix}{first}"),
            _ => write!(self.f, "{prefix}[{first}:{}]", first + u16::from(dwords) - 1),
        }
    }

    /// Tuples are aligned: the hardware ignores the lowest bit of a pair's number, and the lowest two
    /// of a longer tuple's.
    pub(super) fn bare_sgpr(&mut self, code: u16, dwords: u8) -> fmt::Result {
        let aligned = match dwords {
            0 | 1 => code,
            2 => code & !1,
            _ => code & !3,
        };
        let name = match (code, dwords) {
            (102 | 103, 2..) if self.encoding.sgprs <= 102 => "flat_scratch",
            (102, _) if self.encoding.sgprs <= 102 => "flat_scratch_lo",
            (103, _) if self.encoding.sgprs <= 102 => "flat_scratch_hi",
            (104 | 105, 2..) if self.encoding.sgprs <= 102 => "xnack_mask",
            (104, _) if self.encoding.sgprs <= 102 => "xnack_mask_lo",
            (105, _) if self.encoding.sgprs <= 102 => "xnack_mask_hi",
            (0..=105, _) => return self.range("s", aligned, dwords),
            (106 | 107, 2..) => "vcc",
            (106, _) => "vcc_lo",
            (107, _) => "vcc_hi",
            (108..=123, _) => return self.range("ttmp", aligned - 108, dwords),
            (124, _) => "null",
            (125, _) => "m0",
            (126 | 127, 2..) => "exec",
            (126, _) => "exec_lo",
            (127, _) => "exec_hi",
            _ => return write!(self.f, "{code}"),
        };
        self.f.write_str(name)
    }

    pub(super) fn bare_source(&mut self, src: Src, kind: OperandKind) -> fmt::Result {
        let dwords = kind.dwords(self.wave32);
        match src.0 {
            0..=127 => self.bare_sgpr(src.0, dwords),
            128..=192 => write!(self.f, "{}", src.0 - 128),
            193..=208 => write!(self.f, "-{}", src.0 - 192),
            235 => self.f.write_str("src_shared_base"),
            236 => self.f.write_str("src_shared_limit"),
            237 => self.f.write_str("src_private_base"),
            238 => self.f.write_str("src_private_limit"),
            239 => self.f.write_str("src_pops_exiting_wave_id"),
            240..=248 => self.inline_float(src, kind),
            251 => self.f.write_str("src_vccz"),
            252 => self.f.write_str("src_execz"),
            253 => self.f.write_str("src_scc"),
            254 => self.f.write_str("src_lds_direct"),
            Src::LITERAL_CODE => self.constant(kind),
            256..512 => self.range("v", src.0 - 256, dwords),
            512.. => self.range("a", src.0 - 512, dwords),
            code => write!(self.f, "{code}"),
        }
    }

    /// The literal dword in hexadecimal.
    pub(super) fn literal(&mut self) -> fmt::Result {
        self.separate()?;
        write!(self.f, "{:#x}", self.literal.unwrap_or_default())
    }

    /// A literal read as an operand of this kind: spelt as an inline constant where one has its value
    /// (LLVM's AMDGPUInstPrinter.cpp, `printImmediate*`).
    fn constant(&mut self, kind: OperandKind) -> fmt::Result {
        use OperandKind::{B16, I16, U16};
        let literal = self.literal.unwrap_or_default();
        let half = literal & 0xffff;
        // LLVM takes 16-bit integers for 32-bit ones until it prints them in hexadecimal.
        let (compared, shown) = match kind {
            OperandKind::BF16 => (kind, literal),
            B16 | I16 | U16 => (OperandKind::B32, half),
            _ if kind.is_16_bit() => (kind, half),
            _ => (kind, literal),
        };
        // LLVM takes a literal of any 64-bit integer for unsigned.
        let value = match compared {
            OperandKind::I64 => literal.into(),
            _ => compared.literal(literal),
        };
        for code in (128..=208).chain(240..=248) {
            if compared.inline_constant(Src(code)) == Some(value) {
                return self.bare_source(Src(code), compared);
            }
        }
        write!(self.f, "{shown:#x}")
    }

    fn inline_float(&mut self, src: Src, kind: OperandKind) -> fmt::Result {
        match kind {
            // LLVM has no float spelling for 16-bit integers.
            OperandKind::I16 | OperandKind::U16 | OperandKind::B16 => {
                write!(self.f, "{:#x}", kind.inline_constant(src).unwrap_or_default())
            }
            _ => {
                self.f.write_str(FLOATS[usize::from(src.0 - 240)])?;
                // 1/(2π) is printed to its type's precision.
                if src.0 == 248 && kind.dwords(true) == 2 {
                    self.f.write_str("309189532")?;
                }
                Ok(())
            }
        }
    }

    /// A source with its modifiers and, after a register's name, the half of it.
    pub(super) fn modified(
        &mut self,
        src: Src,
        kind: OperandKind,
        neg: bool,
        abs: bool,
        half: &str,
    ) -> fmt::Result {
        self.separate()?;
        // A negated constant is not written as a minus, which would name another constant.
        let named = neg && !abs && is_immediate(src);
        match (named, neg) {
            (true, _) => self.f.write_str("neg(")?,
            (false, true) => self.f.write_char('-')?,
            (false, false) => {}
        }
        if abs {
            self.f.write_char('|')?;
        }
        self.bare_source(src, kind)?;
        self.f.write_str(half)?;
        if abs {
            self.f.write_char('|')?;
        }
        if named { self.f.write_char(')') } else { Ok(()) }
    }
}

fn is_immediate(src: Src) -> bool {
    matches!(src.0, 128..=208 | 240..=248 | Src::LITERAL_CODE)
}
