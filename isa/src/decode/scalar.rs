//! Scalar formats.

use super::{Decoder, bits};
use crate::{DecodeError, Fields, Opcode, Src};

impl Decoder<'_> {
    pub(super) fn sop1(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let code = bits(word, 0, 8);
        let ssrc0 = match self.opcode {
            // A message number, not an operand.
            Opcode::S_SENDMSG_RTN_B32 | Opcode::S_SENDMSG_RTN_B64 => Src(code as u16),
            _ if self.opcode.info().src_count() == 0 => Src(0),
            _ => self.source(0, "ssrc0", code)?,
        };
        Ok(Fields::Sop1 { sdst: self.sdst(word)?, ssrc0 })
    }

    pub(super) fn sop2(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let ssrc0 = self.source(0, "ssrc0", bits(word, 0, 8))?;
        let ssrc1 = self.source(1, "ssrc1", bits(word, 8, 8))?;
        if matches!(self.opcode, Opcode::S_FMAAK_F32 | Opcode::S_FMAMK_F32) {
            self.read_literal()?;
        }
        Ok(Fields::Sop2 { sdst: self.sdst(word)?, ssrc0, ssrc1 })
    }

    pub(super) fn sopc(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let ssrc0 = self.source(0, "ssrc0", bits(word, 0, 8))?;
        let ssrc1 = match self.opcode {
            // Which operands are indexed, not an operand.
            Opcode::S_SET_GPR_IDX_ON => Src(bits(word, 8, 8) as u16),
            _ => self.source(1, "ssrc1", bits(word, 8, 8))?,
        };
        Ok(Fields::Sopc { ssrc0, ssrc1 })
    }

    pub(super) fn sopk(&mut self, word: u64) -> Result<Fields, DecodeError> {
        if self.opcode == Opcode::S_SETREG_IMM32_B32 {
            self.read_literal()?;
        }
        Ok(Fields::Sopk { sdst: self.sdst(word)?, simm16: word as u16 })
    }

    fn sdst(&self, word: u64) -> Result<u8, DecodeError> {
        let dwords = self.opcode.info().dst.dwords(true);
        Ok(self.scalar_register("sdst", bits(word, 16, 7), dwords)?.0 as u8)
    }
}
