//! Vector ALU formats.

use super::{Decoder, bits};
use crate::encoding::Accumulators;
use crate::{
    DecodeError, Dpp, DualOp, Fields, Flags, Format, MatrixFormat, MatrixScale, OpInfo, Opcode,
    OperandKind, Sdwa, Select, Src, Valu,
};

/// What 9-bit `src0` says besides an operand: the DPP dword that follows.
const DPP8: u32 = 233;
const DPP8_FETCH_INACTIVE: u32 = 234;
const DPP16: u32 = 250;
/// Or the SDWA dword.
const SDWA: u32 = 249;

impl Decoder<'_> {
    pub(super) fn vop1(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let mut valu = neutral(info);
        valu.vdst = self.vgpr("vdst", bits(word, 17, 8), info.dst)?;
        if valu.src_count > 0 {
            self.short_source0(&mut valu, bits(word, 0, 9))?;
        }
        if info.flags.contains(Flags::SCALAR_DST) {
            valu.vdst = self.named_sdst(valu.vdst)?;
        }
        if self.opcode == Opcode::V_ACCVGPR_MOV_B32 {
            valu.src[0].0 += 256;
        }
        self.split_halves(&mut valu, info);
        Ok(Fields::Valu(valu))
    }

    pub(super) fn vop2(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let mut valu = neutral(info);
        valu.vdst = self.vgpr("vdst", bits(word, 17, 8), info.dst)?;
        self.short_source0(&mut valu, bits(word, 0, 9))?;
        let vsrc1 = self.short_source1(&valu, bits(word, 9, 8))?;
        match self.opcode {
            Opcode::V_FMAMK_F32
            | Opcode::V_FMAMK_F16
            | Opcode::V_MADMK_F32
            | Opcode::V_MADMK_F16 => {
                valu.src[1] = self.read_literal()?;
                valu.src[2] = vsrc1;
            }
            Opcode::V_FMAAK_F32
            | Opcode::V_FMAAK_F16
            | Opcode::V_MADAK_F32
            | Opcode::V_MADAK_F16 => {
                valu.src[1] = vsrc1;
                valu.src[2] = self.read_literal()?;
            }
            _ => valu.src[1] = vsrc1,
        }
        if info.src[2] == OperandKind::Mask {
            valu.src[2] = Src::VCC_LO;
        }
        if info.flags.contains(Flags::SDST) {
            valu.sdst = Src::VCC_LO.0 as u8;
        }
        self.split_halves(&mut valu, info);
        Ok(Fields::Valu(valu))
    }

    pub(super) fn vopc(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let mut valu = neutral(info);
        valu.sdst = self.compare_destination(info, Src::VCC_LO.0 as u8);
        if !self.encoding.long_dpp && self.announces_dpp(bits(word, 0, 9)) {
            return Err(DecodeError::InvalidDpp { opcode: self.opcode, control: None });
        }
        self.short_source0(&mut valu, bits(word, 0, 9))?;
        valu.src[1] = self.short_source1(&valu, bits(word, 9, 8))?;
        self.split_halves(&mut valu, info);
        Ok(Fields::Valu(valu))
    }

    pub(super) fn vop3(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        if !self.encoding.has_long_form(self.opcode) {
            let number = self.encoding.table(self.format).number.get(word.into()) as u16;
            return Err(DecodeError::UnknownOpcode { format: self.format, number });
        }
        let word = self.second(word)?;
        let mut valu = Valu {
            vdst: bits(word, 0, 8) as u8,
            clamp: bits(word, 15, 1) != 0,
            vop3: true,
            ..neutral(info)
        };
        if info.flags.contains(Flags::SDST) {
            valu.sdst = self.scalar_register("sdst", bits(word, 8, 7), 1)?.0 as u8;
        } else {
            valu.abs = bits(word, 8, 3) as u8;
            valu.op_sel = bits(word, 11, 4) as u8;
        }
        valu.neg = bits(word, 61, 3) as u8;
        valu.omod = bits(word, 59, 2) as u8;
        if info.dst == OperandKind::Mask {
            if !info.flags.contains(Flags::WRITES_EXEC) || self.encoding.cmpx_writes_sdst {
                valu.vdst = self.named_sdst(valu.vdst)?;
            }
            valu.sdst = self.compare_destination(info, valu.vdst);
            valu.vdst = 0;
        }
        if info.flags.contains(Flags::SCALAR_DST) {
            valu.vdst = self.named_sdst(valu.vdst)?;
        }
        self.vgpr("vdst", valu.vdst.into(), info.dst)?;
        if !info.flags.contains(Flags::TRUTH_TABLE) {
            mask_modifiers(&mut valu, info);
        }
        let has_op_sel =
            info.flags.contains(Flags::OP_SEL) && !self.encoding.no_op_sel.contains(&self.opcode);
        if !self.encoding.true16 && !has_op_sel {
            valu.op_sel = 0;
        }
        self.sources(&mut valu.src, &mut valu.dpp, info, word)?;
        Ok(Fields::Valu(valu))
    }

    pub(super) fn vinterp(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let word = self.second(word)?;
        let mut valu = Valu {
            vdst: bits(word, 0, 8) as u8,
            wait_exp: bits(word, 8, 3) as u8,
            op_sel: bits(word, 11, 4) as u8,
            clamp: bits(word, 15, 1) != 0,
            neg: bits(word, 61, 3) as u8,
            vop3: true,
            ..neutral(info)
        };
        for (index, src) in valu.src.iter_mut().enumerate() {
            // Registers only; scalar ones, too, though LLVM has an operand class of VGPRs.
            *src = match bits(word, 32 + 9 * index as u32, 9) {
                code @ 128..256 => return Err(self.reserved(SOURCES[index], code)),
                code => self.source(index, SOURCES[index], code)?,
            };
        }
        Ok(Fields::Valu(valu))
    }

    pub(super) fn vop3p(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let word = self.second(word)?;
        let mut src = [Src(0); 3];
        let mut dpp = None;
        self.sources(&mut src, &mut dpp, info, word)?;
        Ok(Fields::Vop3p {
            vdst: self.vgpr("vdst", bits(word, 0, 8), info.dst)?,
            src,
            neg_lo: bits(word, 61, 3) as u8,
            neg_hi: bits(word, 8, 3) as u8,
            op_sel: bits(word, 11, 3) as u8,
            op_sel_hi: (bits(word, 59, 2) | bits(word, 14, 1) << 2) as u8,
            clamp: bits(word, 15, 1) != 0,
            dpp,
        })
    }

    /// Matrix operations and the moves of accumulation registers.
    pub(super) fn matrix(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let info = self.opcode.info();
        let word = self.second(word)?;
        let accumulates = match self.encoding.accumulators {
            Accumulators::Always => true,
            Accumulators::ByBit => bits(word, 15, 1) != 0,
        };
        let sparse = info.flags.contains(Flags::READS_DST);
        // Of the destination, then of each source.
        let files = match self.opcode {
            Opcode::V_ACCVGPR_READ_B32 => [false, true, false, false],
            Opcode::V_ACCVGPR_WRITE_B32 => [true, false, false, false],
            _ => {
                let [first, second] = [59, 60].map(|bit| bits(word, bit, 1) != 0);
                [accumulates, first, second, accumulates && !sparse]
            }
        };
        let file = |accumulation: bool, number: u8| {
            Src(u16::from(number) + if accumulation { 512 } else { 256 })
        };
        let multiplies = info.src_count() > 1;
        let field = |low, width| if multiplies { bits(word, low, width) as u8 } else { 0 };
        let (cbsz, abid, blgp) = (field(8, 3), field(11, 4), field(61, 3));
        if self.opcode.has_matrix_formats() {
            for (name, format) in [("cbsz", cbsz), ("blgp", blgp)] {
                if MatrixFormat::from_bits(format).is_none() {
                    return Err(self.reserved(name, format.into()));
                }
            }
        }
        let vdst = self.vgpr("vdst", bits(word, 0, 8), info.dst)?;
        let kinds = self.opcode.matrix_sources(cbsz, blgp);
        let mut src = [Src(0); 3];
        for index in 0..usize::from(info.src_count()) {
            let code = bits(word, 32 + 9 * index as u32, 9);
            src[index] = match code {
                256..512 => {
                    file(files[index + 1], self.vgpr(SOURCES[index], code - 256, kinds[index])?)
                }
                // The addend may be a constant.
                128..=208 | 240..=248 if index == 2 && !sparse => Src(code as u16),
                // So may what is moved.
                _ if self.opcode == Opcode::V_ACCVGPR_WRITE_B32 => {
                    self.source(index, SOURCES[index], code)?
                }
                _ => return Err(self.reserved(SOURCES[index], code)),
            };
        }
        Ok(Fields::Matrix { vdst: file(files[0], vdst), src, cbsz, abid, blgp, scale: None })
    }

    /// V_MFMA_LD_SCALE_B32. With an operation after it that takes scales, which the lowest bit of `abid` says, it is
    /// one instruction of four dwords, V_MFMA_SCALE (LLVM's VOP3PInstructions.td, `VOP3PXe`).
    pub(super) fn scale(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let scaled = |&next: &u32| {
            const TAKES_SCALES: u32 = 1 << 11;
            let table = self.encoding.table(self.format);
            let number = usize::from(table.number.get(next.into()) as u16);
            let takes = self.encoding.format(next) == Some(self.format) && next & TAKES_SCALES != 0;
            match table.opcodes.get(number).copied().flatten().filter(|_| takes)? {
                Opcode::V_MFMA_F32_16X16X128_F8F6F4 => {
                    Some((Opcode::V_MFMA_SCALE_F32_16X16X128_F8F6F4, next))
                }
                Opcode::V_MFMA_F32_32X32X64_F8F6F4 => {
                    Some((Opcode::V_MFMA_SCALE_F32_32X32X64_F8F6F4, next))
                }
                _ => None,
            }
        };
        let Some((opcode, next)) = self.words.get(2).and_then(scaled) else {
            let mut fields = self.vop3p(word)?;
            if let Fields::Vop3p { neg_lo, neg_hi, clamp, .. } = &mut fields {
                (*neg_lo, *neg_hi, *clamp) = (0, 0, false);
            }
            return Ok(fields);
        };
        let word = self.second(word)?;
        let mut src = [Src(0); 2];
        for (index, src) in src.iter_mut().enumerate() {
            *src = match bits(word, 32 + 9 * index as u32, 9) {
                code @ 256.. => Src(code as u16),
                code => return Err(self.reserved(SOURCES[index], code)),
            };
        }
        let scales = MatrixScale {
            src,
            op_sel: bits(word, 11, 2) as u8,
            op_sel_hi: bits(word, 59, 2) as u8,
        };
        self.opcode = opcode;
        self.taken += 1;
        let mut fields = self.matrix(next.into())?;
        if let Fields::Matrix { scale, .. } = &mut fields {
            *scale = Some(scales);
        }
        Ok(fields)
    }

    /// VOPD: two operations with one literal between them. V_DUAL_FMAMK and V_DUAL_FMAAK read the
    /// literal although neither `src0` nor `vsrc1` names it.
    pub(super) fn vopd(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let number = self.encoding.vopd_y.get(word.into()) as u16;
        let opcodes = self.encoding.table(Format::Vopd).opcodes;
        let opcode_y = opcodes.get(usize::from(number)).copied().flatten();
        let opcode_y =
            opcode_y.ok_or(DecodeError::UnknownOpcode { format: Format::Vopd, number })?;
        let word = self.second(word)?;
        let vdst_x = bits(word, 56, 8) as u8;
        // The destinations lie in banks of different parity, so Y's lowest bit is not encoded.
        let vdst_y = (bits(word, 49, 7) << 1) as u8 | (!vdst_x & 1);
        let x = DualOp {
            opcode: self.opcode,
            vdst: vdst_x,
            src0: self.source(0, "srcx0", bits(word, 0, 9))?,
            vsrc1: bits(word, 9, 8) as u8,
        };
        let y = DualOp {
            opcode: opcode_y,
            vdst: vdst_y,
            src0: self.source(0, "srcy0", bits(word, 32, 9))?,
            vsrc1: bits(word, 41, 8) as u8,
        };
        let wants_literal =
            |op: &DualOp| matches!(op.opcode, Opcode::V_FMAMK_F32 | Opcode::V_FMAAK_F32);
        if wants_literal(&x) || wants_literal(&y) {
            self.read_literal()?;
        }
        Ok(Fields::Vopd { x, y })
    }

    /// Source 0 of a 32-bit encoding, which may announce a literal or a DPP dword.
    fn short_source0(&mut self, valu: &mut Valu, code: u32) -> Result<(), DecodeError> {
        match code {
            SDWA if self.encoding.sdwa => self.sdwa(valu)?,
            _ if self.announces_dpp(code) => {
                let (src, dpp, modifiers) = self.dpp(code)?;
                valu.src[0] = src;
                valu.dpp = Some(dpp);
                // DPP16's own modifiers: negate and absolute value of the first two sources.
                valu.neg = (modifiers & 1 | modifiers >> 1 & 2) as u8;
                valu.abs = (modifiers >> 1 & 1 | modifiers >> 2 & 2) as u8;
                mask_modifiers(valu, self.opcode.info());
            }
            _ => valu.src[0] = self.source(0, "src0", code)?,
        }
        Ok(())
    }

    /// Source 1 of a 32-bit encoding, a VGPR unless SDWA says otherwise.
    fn short_source1(&mut self, valu: &Valu, code: u32) -> Result<Src, DecodeError> {
        // SDWA's dword marks a scalar second source by its highest bit.
        let scalar = valu.sdwa.is_some() && self.words.get(1).is_some_and(|word| word >> 31 != 0);
        if scalar {
            return self.sdwa_scalar("vsrc1", code);
        }
        self.source(1, "vsrc1", 256 + code)
    }

    /// A scalar source of SDWA: a register or an inline constant.
    fn sdwa_scalar(&self, field: &'static str, code: u32) -> Result<Src, DecodeError> {
        match code {
            0..128 => self.scalar_register(field, code, 1),
            128..=208 | 240..=248 => Ok(Src(code as u16)),
            _ => Err(self.reserved(field, code)),
        }
    }

    fn announces_dpp(&self, code: u32) -> bool {
        match code {
            DPP8 | DPP8_FETCH_INACTIVE => self.encoding.dpp8,
            DPP16 => true,
            _ => false,
        }
    }

    /// The SDWA dword: source 0, parts of the operands, modifiers, and of compares the destination.
    fn sdwa(&mut self, valu: &mut Valu) -> Result<(), DecodeError> {
        let info = self.opcode.info();
        let invalid = DecodeError::InvalidSdwa { opcode: self.opcode };
        if !info.allows_sdwa() {
            return Err(invalid);
        }
        let word = u64::from(self.dword()?);
        let select = |low| {
            Ok(match bits(word, low, 3) {
                0 => Select::Byte0,
                1 => Select::Byte1,
                2 => Select::Byte2,
                3 => Select::Byte3,
                4 => Select::Word0,
                5 => Select::Word1,
                6 => Select::Dword,
                _ => return Err(invalid),
            })
        };
        let code = bits(word, 0, 8);
        valu.src[0] = match bits(word, 23, 1) {
            0 => self.source(0, "src0", 256 + code)?,
            _ => self.sdwa_scalar("src0", code)?,
        };
        let mut sdwa = Sdwa {
            dst_sel: Select::Dword,
            dst_unused: 0,
            src_sel: [select(16)?, Select::Dword],
            sext: [bits(word, 19, 1) != 0, bits(word, 27, 1) != 0],
        };
        if info.src_count() > 1 {
            sdwa.src_sel[1] = select(24)?;
        }
        if self.format == Format::Vopc {
            if bits(word, 15, 1) != 0 {
                valu.sdst = self.scalar_register("sdst", bits(word, 8, 7), 2)?.0 as u8;
            }
        } else {
            sdwa.dst_sel = select(8)?;
            sdwa.dst_unused = bits(word, 11, 2) as u8;
            if sdwa.dst_unused > 2 {
                return Err(invalid);
            }
            valu.clamp = bits(word, 13, 1) != 0;
            valu.omod = bits(word, 14, 2) as u8;
        }
        valu.neg = (bits(word, 20, 1) | bits(word, 28, 1) << 1) as u8;
        valu.abs = (bits(word, 21, 1) | bits(word, 29, 1) << 1) as u8;
        mask_modifiers(valu, info);
        valu.sdwa = Some(sdwa);
        Ok(())
    }

    /// The sources of a 64-bit encoding; those the operation lacks stay `Src(0)`.
    fn sources(
        &mut self,
        src: &mut [Src; 3],
        dpp: &mut Option<Dpp>,
        info: &OpInfo,
        word: u64,
    ) -> Result<(), DecodeError> {
        let mut control = None;
        for index in 0..usize::from(info.src_count()) {
            let code = bits(word, 32 + 9 * index as u32, 9);
            match code {
                _ if index == 0 && self.encoding.long_dpp && self.announces_dpp(code) => {
                    control = Some(code);
                }
                // The DPP dword takes the literal's place.
                255 if control.is_some() => return Err(self.reserved(SOURCES[index], code)),
                // LLVM's VOP3P DPP operand class; VOP3's may be scalar.
                0..256 if control.is_some() && index == 1 && self.format == Format::Vop3p => {
                    return Err(self.reserved(SOURCES[index], code));
                }
                _ => src[index] = self.source(index, SOURCES[index], code)?,
            }
        }
        if let Some(code) = control {
            let (source, moved, _) = self.dpp(code)?;
            src[0] = source;
            *dpp = Some(moved);
        }
        Ok(())
    }

    /// The DPP dword: source VGPR, movement, and the modifier bits only DPP16 has.
    fn dpp(&mut self, code: u32) -> Result<(Src, Dpp, u32), DecodeError> {
        let info = self.opcode.info();
        let (first, last) = self.encoding.dpp16_wide;
        if !info.allows_dpp() && (first > last || !info.allows_wide_dpp()) {
            return Err(DecodeError::InvalidDpp { opcode: self.opcode, control: None });
        }
        let word = u64::from(self.dword()?);
        let source = Src(256 + bits(word, 0, 8) as u16);
        if code != DPP16 {
            let mut sel = [0; 8];
            for (lane, sel) in sel.iter_mut().enumerate() {
                *sel = bits(word, 8 + 3 * lane as u32, 3) as u8;
            }
            return Ok((source, Dpp::Dpp8 { sel, fi: code == DPP8_FETCH_INACTIVE }, 0));
        }
        let ctrl = bits(word, 8, 9) as u16;
        let within = |&(first, last): &(u16, u16)| (first..=last).contains(&ctrl);
        let wide = !info.allows_dpp();
        if !self.encoding.dpp16.iter().any(within) || wide && !within(&(first, last)) {
            return Err(DecodeError::InvalidDpp { opcode: self.opcode, control: Some(ctrl) });
        }
        let dpp = Dpp::Dpp16 {
            ctrl,
            row_mask: bits(word, 28, 4) as u8,
            bank_mask: bits(word, 24, 4) as u8,
            bound_ctrl: bits(word, 19, 1) != 0,
            fi: self.encoding.dpp8 && bits(word, 18, 1) != 0,
        };
        Ok((source, dpp, bits(word, 20, 4)))
    }

    /// A scalar destination in an 8-bit field.
    fn named_sdst(&self, code: u8) -> Result<u8, DecodeError> {
        Ok(self.scalar_register("vdst", code.into(), 1)?.0 as u8)
    }

    fn compare_destination(&self, info: &OpInfo, named: u8) -> u8 {
        let exec_only = info.flags.contains(Flags::WRITES_EXEC) && !self.encoding.cmpx_writes_sdst;
        if exec_only { Src::EXEC_LO.0 as u8 } else { named }
    }

    /// In 32-bit encodings a 16-bit operand names a half of one of the first 128 VGPRs: bit 7 of the
    /// register number is the half. It moves to `op_sel`, where VOP3 has it.
    fn split_halves(&self, valu: &mut Valu, info: &OpInfo) {
        if !self.encoding.true16 {
            return;
        }
        for (index, (src, kind)) in valu.src.iter_mut().zip(info.src).enumerate() {
            if kind.is_16_bit() && src.0 >= 256 + 128 {
                src.0 -= 128;
                valu.op_sel |= 1 << index;
            }
        }
        if info.dst.is_16_bit() && valu.vdst >= 128 {
            valu.vdst -= 128;
            valu.op_sel |= 1 << 3;
        }
    }
}

const SOURCES: [&str; 3] = ["src0", "src1", "src2"];

/// An operation with no modifiers and its sources still unset.
fn neutral(info: &OpInfo) -> Valu {
    Valu {
        vdst: 0,
        sdst: Src::NULL.0 as u8,
        src: [Src(0); 3],
        src_count: info.src_count(),
        neg: 0,
        abs: 0,
        op_sel: 0,
        clamp: false,
        omod: 0,
        dpp: None,
        sdwa: None,
        vop3: false,
        wait_exp: 0,
    }
}

/// Clears modifiers of operands that have none: negate and absolute value of what is no float,
/// half selection of what is not 16 bits wide, output modifier of what is no float.
fn mask_modifiers(valu: &mut Valu, info: &OpInfo) {
    let mut floats = if info.flags.contains(Flags::FLOAT_MODIFIERS) { 0b11 } else { 0 };
    let mut halves = u8::from(info.dst.is_16_bit()) << 3;
    for (index, kind) in info.src.iter().enumerate() {
        floats |= u8::from(kind.is_float()) << index;
        halves |= u8::from(kind.is_16_bit()) << index;
    }
    valu.neg &= floats;
    valu.abs &= floats;
    if floats == 0 {
        if !info.dst.is_float() {
            valu.omod = 0;
        }
        valu.clamp &= info.dst != OperandKind::Mask;
    }
    if info.flags.contains(Flags::SCALAR_DST) {
        valu.op_sel = 0;
    } else if !info.flags.contains(Flags::OP_SEL) {
        valu.op_sel &= halves;
    }
}
