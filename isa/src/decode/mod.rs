//! The decoder: from dwords to fields.

use crate::encoding::Encoding;
use crate::{DecodeError, Fields, Flags, Format, Instruction, Opcode, OperandKind, Src, Target};

mod memory;
mod scalar;
mod vector;

/// Decodes the instruction that `words` begins with; words after it are ignored.
///
/// Bits the operation does not use are ignored, as the hardware does: sources beyond its last one,
/// modifiers of operands that have no such modifier. Never allocates, never panics.
///
/// # Errors
/// [`DecodeError`] for reserved encodings, for formats without tables, and where `words` is shorter
/// than the instruction (at most [`Instruction::MAX_DWORDS`]).
pub fn decode(target: Target, words: &[u32]) -> Result<Instruction, DecodeError> {
    let encoding = Encoding::of(target.generation());
    let &first = words.first().ok_or(DecodeError::Truncated { format: None, needed: 4, got: 0 })?;
    let major = encoding.format(first).ok_or(DecodeError::UnknownFormat { word: first })?;
    let format = match (major, encoding.flat.segment) {
        (Format::Flat, Some(segment)) => match segment.get(first.into()) {
            0 => Format::Flat,
            1 => Format::Scratch,
            2 => Format::Global,
            _ => return Err(DecodeError::UnknownFormat { word: first }),
        },
        (other, _) => other,
    };
    let table = encoding.table(format);
    if table.opcodes.is_empty() {
        return Err(DecodeError::UnsupportedFormat { format });
    }
    let mut number = table.number.get(first.into()) as u16;
    if format == Format::Mtbuf && encoding.mtbuf_high.exists() {
        let second = words.get(1).copied().unwrap_or_default();
        let high = encoding.mtbuf_high.get(u128::from(second) << 32) as u16;
        number |= high << table.number.width();
    }
    let opcode = table.opcodes.get(usize::from(number)).copied().flatten();
    let opcode = opcode.ok_or(DecodeError::UnknownOpcode { format, number })?;
    let mut decoder = Decoder { encoding, format, opcode, words, taken: 1, literal: None };
    let first = u64::from(first);
    let fields = match format {
        Format::Sop1 => decoder.sop1(first)?,
        Format::Sop2 => decoder.sop2(first)?,
        Format::Sopc => decoder.sopc(first)?,
        Format::Sopk => decoder.sopk(first)?,
        Format::Sopp => Fields::Sopp { simm16: first as u16 },
        Format::Smem => decoder.smem(first)?,
        Format::Vop1 => decoder.vop1(first)?,
        Format::Vop2 => decoder.vop2(first)?,
        Format::Vopc => decoder.vopc(first)?,
        Format::Vop3 => decoder.vop3(first)?,
        Format::Vop3p if opcode == Opcode::V_MFMA_LD_SCALE_B32 => decoder.scale(first)?,
        Format::Vop3p if opcode.info().flags.contains(Flags::MATRIX) => decoder.matrix(first)?,
        Format::Vop3p => decoder.vop3p(first)?,
        Format::Vinterp => decoder.vinterp(first)?,
        Format::Vopd => decoder.vopd(first)?,
        Format::Ds => decoder.ds(first)?,
        Format::Flat | Format::Global | Format::Scratch => decoder.flat(first)?,
        Format::Mubuf => decoder.buffer(first, &encoding.mubuf)?,
        Format::Mtbuf => decoder.buffer(first, &encoding.mtbuf)?,
        Format::Mimg | Format::Exp | Format::Ldsdir => {
            return Err(DecodeError::UnsupportedFormat { format });
        }
    };
    Ok(Instruction {
        opcode: decoder.opcode,
        size: decoder.taken * 4,
        literal: decoder.literal,
        fields,
    })
}

/// One decode under way.
struct Decoder<'a> {
    encoding: &'static Encoding,
    format: Format,
    opcode: Opcode,
    words: &'a [u32],
    /// Dwords read.
    taken: u8,
    literal: Option<u32>,
}

impl Decoder<'_> {
    fn dword(&mut self) -> Result<u32, DecodeError> {
        let word = self.words.get(usize::from(self.taken)).copied();
        self.taken += 1;
        word.ok_or(DecodeError::Truncated {
            format: Some(self.format),
            needed: self.taken * 4,
            got: self.words.len() * 4,
        })
    }

    /// The first two dwords of a 64-bit encoding.
    fn second(&mut self, first: u64) -> Result<u64, DecodeError> {
        Ok(first | u64::from(self.dword()?) << 32)
    }

    /// The dwords of an encoding of two or three.
    fn wide(&mut self, first: u64, dwords: u8) -> Result<u128, DecodeError> {
        let mut bits = u128::from(self.second(first)?);
        if dwords > 2 {
            bits |= u128::from(self.dword()?) << 64;
        }
        Ok(bits)
    }

    /// Reads the literal dword, which all operands that want one share.
    fn read_literal(&mut self) -> Result<Src, DecodeError> {
        if self.literal.is_none() {
            self.literal = Some(self.dword()?);
        }
        Ok(Src::LITERAL)
    }

    /// Source `index` of the operation, named `field`: 8-bit codes of the scalar ALU, 9-bit ones of
    /// the vector ALU.
    fn source(&mut self, index: usize, field: &'static str, code: u32) -> Result<Src, DecodeError> {
        let info = self.opcode.info();
        let kind = info.src[index];
        let scalar = matches!(self.format, Format::Sop1 | Format::Sop2 | Format::Sopc);
        let register = match index {
            0 => info.flags.contains(Flags::REGISTER_SRC0),
            1 => info.flags.contains(Flags::REGISTER_SRC1),
            _ => false,
        };
        let long = self.has_long_form();
        if code == Src::LITERAL_CODE.into() && long && !self.encoding.long_literals {
            return Err(self.reserved(field, code));
        }
        if self.encoding.special_sources.contains(&code) {
            return Ok(Src(code as u16));
        }
        let valid = match kind {
            OperandKind::Mask => code < 128,
            OperandKind::SparseIndex => code >= 256,
            _ if register && scalar => code < 128,
            _ if register => code >= 256,
            _ if kind.is_accumulator() => matches!(code, 128..=208 | 240..=248 | 256..),
            _ if kind.dwords(true) > 2 => code >= 256,
            _ if info.flags.contains(Flags::SCALAR_SOURCES) => code < 256,
            _ => true,
        };
        match code {
            _ if !valid => Err(self.reserved(field, code)),
            0..128 => self.scalar_register(field, code, kind.dwords(true)),
            128..=208 | 235..=239 | 240..=248 | 253 => Ok(Src(code as u16)),
            255 => self.read_literal(),
            256..=511 => self.vgpr(field, code - 256, kind).map(|vgpr| Src(256 + u16::from(vgpr))),
            _ => Err(self.reserved(field, code)),
        }
    }

    fn has_long_form(&self) -> bool {
        matches!(self.format, Format::Vop3 | Format::Vop3p | Format::Vinterp)
    }

    /// The register code of gfx11 that means the same.
    fn normalised(&self, code: u32) -> Option<u32> {
        match code {
            _ if code == self.encoding.m0 => Some(Src::M0.0.into()),
            _ if Some(code) == self.encoding.null => Some(Src::NULL.0.into()),
            124 | 125 => None,
            _ => Some(code),
        }
    }

    /// A scalar register that can begin an operand of so many dwords. Pairs cannot be M0 or begin
    /// with the high half of VCC or EXEC; longer ones are SGPRs, trap temporaries or NULL.
    fn scalar_register(
        &self,
        field: &'static str,
        code: u32,
        dwords: u8,
    ) -> Result<Src, DecodeError> {
        let named = code;
        let Some(code) = self.normalised(code) else { return Err(self.reserved(field, named)) };
        let sgprs = self.encoding.sgprs;
        let valid = match (dwords, code) {
            (0 | 1, _) => code < 128,
            (2, 107 | 125 | 127) => false,
            (2, 103 | 105) if code > sgprs => false,
            (2, _) => code < 128,
            (_, 124) => true,
            (_, 0..=105) => (code & !3) + u32::from(dwords) <= sgprs,
            (_, 108..=123) => (code & !3) + u32::from(dwords) <= 124,
            _ => false,
        };
        if valid { Ok(Src(code as u16)) } else { Err(self.reserved(field, code)) }
    }

    /// A VGPR that can begin an operand of this kind.
    fn vgpr(&self, field: &'static str, code: u32, kind: OperandKind) -> Result<u8, DecodeError> {
        // Accumulators are smallest in wave64; the wave size is not known here.
        self.vgprs(field, code, kind.dwords(false))
    }

    /// A VGPR that begins a tuple of so many.
    fn vgprs(&self, field: &'static str, code: u32, dwords: u8) -> Result<u8, DecodeError> {
        let even = dwords < 2 || !self.encoding.even_tuples || code.is_multiple_of(2);
        if even && code + u32::from(dwords.max(1)) <= 256 {
            Ok(code as u8)
        } else {
            Err(self.reserved(field, code))
        }
    }

    fn reserved(&self, field: &'static str, code: u32) -> DecodeError {
        DecodeError::ReservedOperand { opcode: self.opcode, field, code: code as u16 }
    }
}

/// Bits `low` and up of `word`, `width` of them.
const fn bits(word: u64, low: u32, width: u32) -> u32 {
    ((word >> low) & ((1 << width) - 1)) as u32
}
