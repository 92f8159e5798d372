//! Vector ALU formats.

use core::fmt::{self, Write};

use super::Text;
use crate::encoding::Encoding;
use crate::{Dpp, DualOp, Fields, Flags, Opcode, OperandKind, Sdwa, Select, Valu};

impl Text<'_, '_> {
    pub(super) fn valu(&mut self, opcode: Opcode, valu: &Valu) -> fmt::Result {
        let info = opcode.info();
        let suffix = suffix(opcode, valu, self.encoding);
        self.mnemonic(opcode, suffix)?;
        // The 32-bit encodings name halves as registers; VOP3 has `op_sel`.
        let half = |bit: usize, kind: OperandKind| match valu.op_sel >> bit & 1 {
            _ if valu.vop3 || !kind.is_16_bit() => "",
            1 => ".h",
            _ if matches!(opcode, Opcode::V_MOV_B16 | Opcode::V_SWAP_B16) => ".l",
            _ => "",
        };
        match info.dst {
            OperandKind::None => {}
            OperandKind::Mask
                if info.flags.contains(Flags::WRITES_EXEC) && !self.encoding.cmpx_writes_sdst => {}
            OperandKind::Mask => self.sgpr(valu.sdst, info.dst.dwords(self.wave32))?,
            _ if info.flags.contains(Flags::SCALAR_DST) => self.sgpr(valu.vdst, 1)?,
            kind if opcode == Opcode::V_ACCVGPR_MOV_B32 => {
                self.data_vgpr(valu.vdst, kind.dwords(self.wave32), true)?;
            }
            kind => {
                self.vgpr(valu.vdst, kind.dwords(self.wave32))?;
                self.f.write_str(half(3, kind))?;
            }
        }
        if info.flags.contains(Flags::SDST) {
            self.sgpr(valu.sdst, OperandKind::Mask.dwords(self.wave32))?;
        }
        let count = usize::from(valu.src_count);
        for (index, (src, kind)) in valu.src.into_iter().zip(info.src).take(count).enumerate() {
            let table = info.flags.contains(Flags::TRUTH_TABLE);
            let modifier = |bits: u8| !table && bits >> index & 1 != 0;
            let (neg, abs) = (modifier(valu.neg), modifier(valu.abs));
            let half = if src.vgpr().is_some() { half(index, kind) } else { "" };
            match opcode {
                Opcode::V_FMAMK_F32
                | Opcode::V_FMAMK_F16
                | Opcode::V_MADMK_F32
                | Opcode::V_MADMK_F16
                    if index == 1 =>
                {
                    self.literal()?;
                }
                Opcode::V_FMAAK_F32
                | Opcode::V_FMAAK_F16
                | Opcode::V_MADAK_F32
                | Opcode::V_MADAK_F16
                    if index == 2 =>
                {
                    self.literal()?;
                }
                _ if valu.sdwa.is_some_and(|sdwa| index < 2 && sdwa.sext[index])
                    && !kind.is_float() =>
                {
                    self.separate()?;
                    self.f.write_str("sext(")?;
                    self.bare_source(src, kind)?;
                    self.f.write_char(')')?;
                }
                // LLVM 19 does not know that the shift is a half register.
                Opcode::V_ALIGNBIT_B32 | Opcode::V_ALIGNBYTE_B32 if index == 2 => {
                    self.modified(src, OperandKind::U32, neg, abs, half)?;
                }
                // LLVM 19 does not know that the pair of bytes is a half register.
                Opcode::V_CVT_PK_F32_FP8 | Opcode::V_CVT_PK_F32_BF8 => {
                    self.modified(src, OperandKind::U32, neg, abs, half)?;
                }
                // The exponent, whose constants LLVM spells as floats.
                Opcode::V_LDEXP_F16 => self.modified(src, OperandKind::F16, neg, abs, half)?,
                _ => self.modified(src, kind, neg, abs, half)?,
            }
        }
        if is_interpolation(opcode) {
            self.flag("clamp", valu.clamp)?;
            self.op_sel(opcode, valu)?;
            return write!(self.f, " wait_exp:{}", valu.wait_exp);
        }
        if info.flags.contains(Flags::TRUTH_TABLE) {
            return self.truth_table(opcode, valu);
        }
        self.op_sel(opcode, valu)?;
        self.flag("clamp", valu.clamp)?;
        self.f.write_str(["", " mul:2", " mul:4", " div:2"][usize::from(valu.omod & 3)])?;
        if let Some(sdwa) = valu.sdwa {
            return self.sdwa(&sdwa, count, info.dst == OperandKind::Mask);
        }
        self.dpp(valu.dpp)
    }

    fn truth_table(&mut self, opcode: Opcode, valu: &Valu) -> fmt::Result {
        match valu.neg | valu.abs << 3 | valu.omod << 6 {
            0 => {}
            table @ 1..=9 => write!(self.f, " bitop3:{table}")?,
            table => write!(self.f, " bitop3:{table:#x}")?,
        }
        self.op_sel(opcode, valu)
    }

    fn sdwa(&mut self, sdwa: &Sdwa, sources: usize, compare: bool) -> fmt::Result {
        let name = |select: Select| match select {
            Select::Byte0 => "BYTE_0",
            Select::Byte1 => "BYTE_1",
            Select::Byte2 => "BYTE_2",
            Select::Byte3 => "BYTE_3",
            Select::Word0 => "WORD_0",
            Select::Word1 => "WORD_1",
            Select::Dword => "DWORD",
        };
        if !compare {
            let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
            let unused = unused.get(usize::from(sdwa.dst_unused)).copied().unwrap_or_default();
            write!(self.f, " dst_sel:{} dst_unused:{unused}", name(sdwa.dst_sel))?;
        }
        for (index, select) in sdwa.src_sel.into_iter().enumerate().take(sources) {
            write!(self.f, " src{index}_sel:{}", name(select))?;
        }
        Ok(())
    }

    /// Matrix operations.
    pub(super) fn matrix(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Matrix { vdst, src, cbsz, abid, blgp, scale } = fields else { return Ok(()) };
        let info = opcode.info();
        self.mnemonic(opcode, "")?;
        self.source(vdst, info.dst)?;
        let count = usize::from(info.src_count());
        for (src, kind) in src.into_iter().zip(opcode.matrix_sources(cbsz, blgp)).take(count) {
            self.source(src, kind)?;
        }
        match scale {
            None => {
                self.option("cbsz", cbsz)?;
                self.option("abid", abid)?;
            }
            Some(scale) => {
                for src in scale.src {
                    self.source(src, OperandKind::B32)?;
                }
                if scale.op_sel != 0 {
                    self.bits("op_sel", scale.op_sel, 3)?;
                }
                self.bits("op_sel_hi", scale.op_sel_hi, 3)?;
                self.option("cbsz", cbsz)?;
            }
        }
        if self.encoding.matrix_negation && opcode.name().starts_with("V_MFMA_F64") {
            return if blgp == 0 { Ok(()) } else { self.bits("neg", blgp, 3) };
        }
        self.option("blgp", blgp)
    }

    fn op_sel(&mut self, opcode: Opcode, valu: &Valu) -> fmt::Result {
        if valu.op_sel == 0 || !valu.vop3 {
            return Ok(());
        }
        let count = usize::from(valu.src_count);
        match opcode {
            // Fetch-inactive and bound control, not halves.
            Opcode::V_PERMLANE16_B32
            | Opcode::V_PERMLANEX16_B32
            | Opcode::V_PERMLANE16_VAR_B32
            | Opcode::V_PERMLANEX16_VAR_B32
                if valu.op_sel & 3 == 0 =>
            {
                Ok(())
            }
            Opcode::V_PERMLANE16_B32
            | Opcode::V_PERMLANEX16_B32
            | Opcode::V_PERMLANE16_VAR_B32
            | Opcode::V_PERMLANEX16_VAR_B32 => self.bits("op_sel", valu.op_sel, 2),
            Opcode::V_PERMLANE16_SWAP_B32 | Opcode::V_PERMLANE32_SWAP_B32 => {
                self.option("bound_ctrl", valu.op_sel >> 1 & 1)?;
                self.option("fi", valu.op_sel & 1)
            }
            // The byte read: its number's bits are in reverse order.
            Opcode::V_CVT_F32_FP8 | Opcode::V_CVT_F32_BF8 if self.encoding.byte_select => {
                self.option("byte_sel", (valu.op_sel & 1) << 1 | valu.op_sel >> 1 & 1)
            }
            // The byte written.
            Opcode::V_CVT_SR_FP8_F32 | Opcode::V_CVT_SR_BF8_F32 if self.encoding.byte_select => {
                self.option("byte_sel", valu.op_sel >> 2)
            }
            // The byte written.
            Opcode::V_CVT_SCALEF32_PK_FP4_F16 | Opcode::V_CVT_SCALEF32_PK_FP4_BF16 => {
                self.bits("op_sel", valu.op_sel, 4)
            }
            // LLVM counts the accumulator as a source here.
            Opcode::V_FMAC_F16 => self.bits("op_sel", valu.op_sel & !4, 4),
            Opcode::V_CVT_SR_FP8_F32 | Opcode::V_CVT_SR_BF8_F32 => {
                self.bits("op_sel", valu.op_sel, 4)
            }
            // The destination's bit follows the last source's.
            _ => {
                let sources = valu.op_sel & ((1 << count) - 1);
                self.bits("op_sel", sources | (valu.op_sel >> 3) << count, count + 1)
            }
        }
    }

    pub(super) fn vop3p(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Vop3p { vdst, src, neg_lo, neg_hi, op_sel, op_sel_hi, clamp, dpp } = fields
        else {
            return Ok(());
        };
        let info = opcode.info();
        self.mnemonic(opcode, if dpp.is_some() { "_e64_dpp" } else { "" })?;
        if info.dst != OperandKind::None {
            self.vgpr(vdst, info.dst.dwords(self.wave32))?;
        }
        let count = usize::from(info.src_count());
        let used = (1 << count) - 1;
        // The mixed-precision multiply-adds use the negate-high bits as absolute value.
        let mixed = is_mixed(opcode);
        for (index, (src, kind)) in src.into_iter().zip(info.src).take(count).enumerate() {
            let (neg, abs) = (neg_lo >> index & 1 != 0, neg_hi >> index & 1 != 0);
            let kind = if mixed { OperandKind::F16 } else { kind };
            self.modified(src, kind, mixed && neg, mixed && abs, "")?;
        }
        if info.src[2] == OperandKind::SparseIndex {
            let groups = 32 / opcode.sparse_index_bits(self.wave32);
            self.option("index_key", op_sel & (groups - 1))?;
        }
        // Matrices of 32-bit accumulators and packed ones have no halves to select.
        let has_halves = !info.dst.is_accumulator()
            || matches!(info.dst, OperandKind::AccF16 | OperandKind::AccBF16);
        if has_halves && op_sel & used != 0 {
            self.bits("op_sel", op_sel, count)?;
        }
        if has_halves && op_sel_hi & used != if mixed { 0 } else { used } {
            self.bits("op_sel_hi", op_sel_hi, count)?;
        }
        if !mixed && neg_lo & used != 0 {
            self.bits("neg_lo", neg_lo, count)?;
        }
        if !mixed && neg_hi & used != 0 {
            self.bits("neg_hi", neg_hi, count)?;
        }
        self.flag("clamp", clamp)?;
        self.dpp(dpp)
    }

    pub(super) fn vopd(&mut self, x: &DualOp, y: &DualOp) -> fmt::Result {
        self.dual(x)?;
        self.f.write_str(" :: ")?;
        self.operands = 0;
        self.dual(y)
    }

    fn dual(&mut self, op: &DualOp) -> fmt::Result {
        self.f.write_str("v_dual")?;
        self.lower(self.encoding.name(op.opcode).trim_start_matches('V'))?;
        let [kind0, kind1, _] = op.opcode.info().src;
        self.vgpr(op.vdst, 1)?;
        self.source(op.src0, kind0)?;
        if op.opcode == Opcode::V_FMAMK_F32 {
            self.literal()?;
        }
        if kind1 != OperandKind::None {
            self.vgpr(op.vsrc1, 1)?;
        }
        if op.opcode == Opcode::V_FMAAK_F32 {
            self.literal()?;
        }
        Ok(())
    }

    fn dpp(&mut self, dpp: Option<Dpp>) -> fmt::Result {
        match dpp {
            None => Ok(()),
            Some(Dpp::Dpp8 { sel, fi }) => {
                self.f.write_str(" dpp8:[")?;
                for (lane, sel) in sel.into_iter().enumerate() {
                    write!(self.f, "{}{sel}", if lane == 0 { "" } else { "," })?;
                }
                self.f.write_char(']')?;
                self.option("fi", fi)
            }
            Some(Dpp::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fi }) => {
                let lanes = ctrl & 15;
                match ctrl >> 4 {
                    0..=15 => {
                        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| ctrl >> shift & 3);
                        write!(self.f, " quad_perm:[{a},{b},{c},{d}]")?;
                    }
                    0x10 => write!(self.f, " row_shl:{lanes}")?,
                    0x11 => write!(self.f, " row_shr:{lanes}")?,
                    0x12 => write!(self.f, " row_ror:{lanes}")?,
                    0x13 => {
                        let name = ["shl", "rol", "shr", "ror"][usize::from(lanes >> 2)];
                        write!(self.f, " wave_{name}:1")?;
                    }
                    0x14 if lanes == 0 => self.f.write_str(" row_mirror")?,
                    0x14 if lanes == 1 => self.f.write_str(" row_half_mirror")?,
                    0x14 => write!(self.f, " row_bcast:{}", if lanes == 2 { 15 } else { 31 })?,
                    0x15 if !self.encoding.dpp8 => write!(self.f, " row_newbcast:{lanes}")?,
                    0x15 => write!(self.f, " row_share:{lanes}")?,
                    _ => write!(self.f, " row_xmask:{lanes}")?,
                }
                write!(self.f, " row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}")?;
                self.option("bound_ctrl", bound_ctrl)?;
                self.option("fi", fi)
            }
        }
    }
}

/// The encoding, after the mnemonic of operations that have several.
fn suffix(opcode: Opcode, valu: &Valu, encoding: &Encoding) -> &'static str {
    let info = opcode.info();
    let has_short_form = encoding.has_short_form(opcode);
    match (valu.vop3, valu.dpp.is_some()) {
        _ if valu.sdwa.is_some() => "_sdwa",
        _ if is_interpolation(opcode) => "",
        // LLVM leaves the suffix out where one encoding is all there is, and for these.
        (_, false)
            if matches!(
                opcode,
                Opcode::V_NOP
                    | Opcode::V_CLREXCP
                    | Opcode::V_PIPEFLUSH
                    | Opcode::V_READFIRSTLANE_B32
            ) =>
        {
            ""
        }
        (false, false) if !encoding.has_long_form(opcode) => "",
        (false, false) => "_e32",
        (false, true) if info.dst == OperandKind::Mask => "",
        (false, true) => "_dpp",
        (true, true) => "_e64_dpp",
        (true, false) if has_short_form => "_e64",
        (true, false) => "",
    }
}

fn is_interpolation(opcode: Opcode) -> bool {
    opcode.name().starts_with("V_INTERP")
}

fn is_mixed(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::V_FMA_MIX_F32 | Opcode::V_FMA_MIXLO_F16 | Opcode::V_FMA_MIXHI_F16)
}
