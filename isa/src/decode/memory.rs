//! Memory formats.

use super::Decoder;
use crate::encoding::Mubuf;
use crate::{DecodeError, Fields, Flags, Format, Opcode, OperandKind, Src};

impl Decoder<'_> {
    pub(super) fn smem(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let word = self.wide(word, 2)?;
        let layout = &self.encoding.smem;
        let info = self.opcode.info();
        let sdata = layout.sdata.get(word);
        // Not M0, not EXEC.
        let usable = self.normalised(sdata).is_some_and(|code| code < 125);
        if !usable && info.dst != OperandKind::None {
            return Err(self.reserved("sdata", sdata));
        }
        let (named, offset) = (Some(layout.soffset.get(word)), layout.offset.signed(word));
        let (register, offset) = match &layout.choice {
            None => (named, offset),
            Some(choice) => match (choice.imm.flag(word), choice.soffset_en.flag(word)) {
                (true, true) => (named, offset),
                (true, false) => (None, offset),
                (false, true) => (named, 0),
                (false, false) => (Some(layout.offset.get(word) & 0x7f), 0),
            },
        };
        // What is relative to the PC has no base.
        let relative =
            matches!(self.opcode, Opcode::S_PREFETCH_INST_PC_REL | Opcode::S_PREFETCH_DATA_PC_REL);
        let soffset = match register {
            Some(code) if info.src_count() > 0 || relative => {
                self.scalar_register("soffset", code, 1)?
            }
            _ => Src::NULL,
        };
        let (sbase, pairs) = (layout.sbase.get(word) * 2, info.src[0].dwords(true));
        let sdata = match info.dst {
            OperandKind::None => sdata as u8,
            dst => self.scalar_register("sdata", sdata, dst.dwords(true))?.0 as u8,
        };
        Ok(Fields::Smem {
            sdata,
            sbase: self.scalar_register("sbase", sbase, pairs)?.0 as u8,
            soffset,
            offset,
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
        let needs_gds = is_gds_only(self.opcode);
        let gds = layout.gds.flag(word) && (layout.has_gds || needs_gds);
        if !gds && needs_gds {
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
            acc: layout.acc.flag(word),
        })
    }

    pub(super) fn flat(&mut self, word: u64) -> Result<Fields, DecodeError> {
        let layout = &self.encoding.flat;
        let word = self.wide(word, layout.dwords)?;
        // FLAT has no scalar address. Before gfx12 its offset is unsigned without the most significant bit
        // (RDNA3 ISA document, "FLAT, Scratch and Global" format, OFFSET).
        let offset = layout.offset.signed(word);
        let (saddr, offset) = match self.format {
            Format::Flat if layout.flat_offset.exists() => {
                (Src::NULL, layout.flat_offset.get(word) as i32)
            }
            Format::Flat => (Src::NULL, offset),
            _ => match layout.saddr.get(word) {
                none if none == layout.no_saddr => (Src::NULL, offset),
                none if self.format == Format::Scratch && layout.no_address == Some(none) => {
                    (Src::NULL, offset)
                }
                code => {
                    let dwords = if self.format == Format::Scratch { 1 } else { 2 };
                    (self.scalar_register("saddr", code, dwords)?, offset)
                }
            },
        };
        let info = self.opcode.info();
        let atomic = info.flags.contains(Flags::ATOMIC);
        let glc = layout.glc.flag(word) && (atomic || !layout.glc.is_in(layout.th));
        let returns = glc || !atomic;
        let dst = if returns { info.dst } else { OperandKind::None };
        let wide = self.format != Format::Scratch && saddr == Src::NULL && has_address(self.opcode);
        Ok(Fields::Flat {
            vdst: self.vgpr("vdst", layout.vdst.get(word), dst)?,
            addr: self.vgprs("addr", layout.addr.get(word), if wide { 2 } else { 1 })?,
            data: self.vgpr("data", layout.data.get(word), info.src[0])?,
            saddr,
            offset,
            sve: self.format == Format::Scratch
                && if layout.sve.exists() {
                    layout.sve.flag(word)
                } else {
                    saddr == Src::NULL && layout.no_address != Some(layout.saddr.get(word))
                },
            glc,
            slc: layout.slc.flag(word),
            dlc: layout.dlc.flag(word),
            th: layout.th.get(word) as u8,
            scope: layout.scope.get(word) as u8,
            acc: layout.acc.flag(word),
            lds: layout.lds.flag(word),
        })
    }

    pub(super) fn buffer(&mut self, word: u64, layout: &Mubuf) -> Result<Fields, DecodeError> {
        let word = self.wide(word, layout.dwords)?;
        let info = self.opcode.info();
        let soffset = match layout.soffset.get(word) {
            _ if info.dst == OperandKind::None && info.flags.is_empty() => Src(0),
            255 => return Err(self.reserved("soffset", 255)),
            code => self.source(1, "soffset", code)?,
        };
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
            lds: layout.lds.flag(word),
            acc: layout.acc.flag(word),
            format: layout.format.get(word) as u8,
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
