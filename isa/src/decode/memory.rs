//! Memory formats.

use super::Decoder;
use crate::{DecodeError, Fields, Flags, Format, Opcode, OperandKind, Src};

impl Decoder<'_> {
    pub(super) fn smem(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let word = self.wide(word, 2)?;
        let layout = &self.encoding.smem;
        let info = self.opcode.info();
        let sdata = layout.sdata.get(word);
        // Not M0, not EXEC.
        if sdata >= 125 && info.dst != OperandKind::None {
            return Err(self.reserved("sdata", sdata));
        }
        let (sbase, pairs) = (layout.sbase.get(word) * 2, info.src[0].dwords(true));
        Ok(Fields::Smem {
            sdata: self.scalar_register("sdata", sdata, info.dst.dwords(true))?.0 as u8,
            sbase: self.scalar_register("sbase", sbase, pairs)?.0 as u8,
            soffset: Src(layout.soffset.get(word) as u16),
            offset: layout.offset.signed(word),
            glc: layout.glc.flag(word),
            dlc: layout.dlc.flag(word),
            th: layout.th.get(word) as u8,
            scope: layout.scope.get(word) as u8,
        })
    }

    pub(super) fn ds(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let word = self.wide(word, 2)?;
        let layout = &self.encoding.ds;
        let info = self.opcode.info();
        let gds = layout.gds.flag(word);
        if !gds && is_gds_only(self.opcode) {
            return Err(self.reserved("gds", 0));
        }
        Ok(Fields::Ds {
            vdst: self.vgpr("vdst", layout.vdst.get(word), info.dst)?,
            addr: layout.addr.get(word) as u8,
            data0: self.vgpr("data0", layout.data0.get(word), info.src[0])?,
            data1: self.vgpr("data1", layout.data1.get(word), info.src[1])?,
            offset0: layout.offset0.get(word) as u8,
            offset1: layout.offset1.get(word) as u8,
            gds,
        })
    }

    pub(super) fn flat(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let layout = &self.encoding.flat;
        let word = self.wide(word, layout.dwords)?;
        // FLAT has no scalar address. On gfx11 its offset is unsigned without the most significant bit
        // (RDNA3 ISA document, "FLAT, Scratch and Global" format, OFFSET).
        let offset = layout.offset.signed(word);
        let (saddr, offset) = match self.format {
            Format::Flat if layout.flat_unsigned => (Src::NULL, offset & 0xfff),
            Format::Flat => (Src::NULL, offset),
            _ => (Src(layout.saddr.get(word) as u16), offset),
        };
        let info = self.opcode.info();
        let atomic = info.flags.contains(Flags::ATOMIC);
        let glc = layout.glc.flag(word) && (atomic || !layout.glc.is_in(layout.th));
        let returns = glc || !atomic;
        let dst = if returns { info.dst } else { OperandKind::None };
        let wide = self.format != Format::Scratch && saddr == Src::NULL && has_address(self.opcode);
        if saddr != Src::NULL {
            let dwords = if self.format == Format::Scratch { 1 } else { 2 };
            self.scalar_register("saddr", saddr.0.into(), dwords)?;
        }
        Ok(Fields::Flat {
            vdst: self.vgpr("vdst", layout.vdst.get(word), dst)?,
            addr: self.vgprs("addr", layout.addr.get(word), if wide { 2 } else { 1 })?,
            data: self.vgpr("data", layout.data.get(word), info.src[0])?,
            saddr,
            offset,
            sve: self.format == Format::Scratch && layout.sve.flag(word),
            glc,
            slc: layout.slc.flag(word),
            dlc: layout.dlc.flag(word),
            th: layout.th.get(word) as u8,
            scope: layout.scope.get(word) as u8,
        })
    }

    pub(super) fn mubuf(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let layout = &self.encoding.mubuf;
        let word = self.wide(word, layout.dwords)?;
        let soffset = match layout.soffset.get(word) {
            255 => return Err(self.reserved("soffset", 255)),
            code => self.source(1, "soffset", code)?,
        };
        let info = self.opcode.info();
        let (offen, idxen) = (layout.offen.flag(word), layout.idxen.flag(word));
        let tfe = layout.tfe.flag(word);
        let data = info.src[0].dwords(true).max(info.dst.dwords(true));
        Ok(Fields::Mubuf {
            vdata: self.vgprs("vdata", layout.vdata.get(word), data + u8::from(tfe))?,
            vaddr: self.vgprs(
                "vaddr",
                layout.vaddr.get(word),
                u8::from(offen) + u8::from(idxen),
            )?,
            srsrc: self
                .scalar_register("srsrc", layout.srsrc.get(word) * u32::from(layout.srsrc_unit), 4)?
                .0 as u8,
            soffset,
            offset: layout.offset.get(word),
            offen,
            idxen,
            glc: layout.glc.flag(word)
                && (info.flags.contains(Flags::ATOMIC) || !layout.glc.is_in(layout.th)),
            slc: layout.slc.flag(word),
            dlc: layout.dlc.flag(word),
            th: layout.th.get(word) as u8,
            scope: layout.scope.get(word) as u8,
            tfe,
        })
    }
}

/// Whether the operation reads a vector address.
fn has_address(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::GLOBAL_LOAD_ADDTID_B32
            | Opcode::GLOBAL_STORE_ADDTID_B32
            | Opcode::GLOBAL_LOAD_LDS_ADDTID_B32
            | Opcode::GLOBAL_INV
            | Opcode::GLOBAL_WB
            | Opcode::GLOBAL_WBINV
    )
}

/// Whether the operation exists in GDS only.
fn is_gds_only(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::DS_GWS_SEMA_RELEASE_ALL
            | Opcode::DS_GWS_INIT
            | Opcode::DS_GWS_SEMA_V
            | Opcode::DS_GWS_SEMA_BR
            | Opcode::DS_GWS_SEMA_P
            | Opcode::DS_GWS_BARRIER
            | Opcode::DS_ORDERED_COUNT
            | Opcode::DS_ADD_GS_REG_RTN
            | Opcode::DS_SUB_GS_REG_RTN
    )
}
