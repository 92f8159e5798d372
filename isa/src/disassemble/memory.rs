//! Memory formats.

use core::fmt::{self, Write};

use super::Text;
use crate::{Fields, Flags, Opcode, OperandKind, Src};

impl Text<'_, '_> {
    pub(super) fn smem(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Smem { sdata, sbase, soffset, offset, glc, dlc } = fields else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        match opcode {
            Opcode::S_GL1_INV | Opcode::S_DCACHE_INV => return Ok(()),
            // The probes' `sdata` is an immediate.
            Opcode::S_ATC_PROBE | Opcode::S_ATC_PROBE_BUFFER => {
                self.integer(sdata.into())?;
            }
            _ => self.sgpr(sdata, info.dst.dwords(self.wave32))?,
        }
        self.sgpr(sbase, info.src[0].dwords(self.wave32))?;
        if soffset != Src::NULL || offset == 0 {
            self.source(soffset, OperandKind::B32)?;
            if offset != 0 {
                self.f.write_str(" offset:")?;
            }
        } else {
            self.separate()?;
        }
        if offset != 0 {
            let sign = if offset < 0 { "-" } else { "" };
            write!(self.f, "{sign}{:#x}", offset.unsigned_abs())?;
        }
        self.flag("glc", glc)?;
        self.flag("dlc", dlc)
    }

    pub(super) fn ds(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Ds { vdst, addr, data0, data1, offset0, offset1, gds } = fields else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        if info.dst != OperandKind::None {
            self.vgpr(vdst, info.dst.dwords(self.wave32))?;
        }
        if has_address(opcode) {
            self.vgpr(addr, 1)?;
        }
        for (data, kind) in [data0, data1].into_iter().zip(info.src) {
            if kind != OperandKind::None {
                self.vgpr(data, kind.dwords(self.wave32))?;
            }
        }
        let offset = u16::from_le_bytes([offset0, offset1]);
        if has_two_offsets(opcode) {
            self.option("offset0", offset0)?;
            self.option("offset1", offset1)?;
        } else if opcode == Opcode::DS_SWIZZLE_B32 {
            self.swizzle(offset)?;
        } else {
            self.option("offset", offset)?;
        }
        self.flag("gds", gds)
    }

    /// DS_SWIZZLE_B32's offset: a permutation of each quad, or masks applied to the lane number
    /// (RDNA3 ISA document, DS_SWIZZLE_B32).
    fn swizzle(&mut self, offset: u16) -> fmt::Result {
        const LANES: u16 = 31;
        if offset == 0 {
            return Ok(());
        }
        self.f.write_str(" offset:")?;
        if offset & 0xff00 == 0x8000 {
            self.f.write_str("swizzle(QUAD_PERM")?;
            for lane in 0..4 {
                write!(self.f, ",{}", offset >> (2 * lane) & 3)?;
            }
            return self.f.write_char(')');
        }
        if offset & 0x8000 != 0 {
            return write!(self.f, "{offset}");
        }
        let (and, or, xor) = (offset & LANES, offset >> 5 & LANES, offset >> 10 & LANES);
        let group = LANES - and + 1;
        if and == LANES && or == 0 && xor.is_power_of_two() {
            write!(self.f, "swizzle(SWAP,{xor})")
        } else if and == LANES && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            write!(self.f, "swizzle(REVERSE,{})", xor + 1)
        } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
            write!(self.f, "swizzle(BROADCAST,{group},{or})")
        } else {
            // For each bit of the lane number, what becomes of a zero and of a one.
            let (zeros, ones) = (or ^ xor, (and | or) ^ xor);
            self.f.write_str("swizzle(BITMASK_PERM,\"")?;
            for bit in (0..5).rev() {
                self.f.write_char(match (zeros >> bit & 1, ones >> bit & 1) {
                    (0, 0) => '0',
                    (1, 1) => '1',
                    (0, _) => 'p',
                    _ => 'i',
                })?;
            }
            self.f.write_str("\")")
        }
    }

    pub(super) fn flat(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Flat { vdst, addr, data, saddr, offset, sve, glc, slc, dlc } = fields else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        let name = opcode.name();
        let scratch = name.starts_with("SCRATCH");
        let scalar = saddr != Src::NULL;
        if info.dst != OperandKind::None && (!info.flags.contains(Flags::ATOMIC) || glc) {
            self.vgpr(vdst, info.dst.dwords(self.wave32))?;
        }
        if scratch && !sve {
            self.off()?;
        } else if !name.contains("ADDTID") {
            self.vgpr(addr, if scratch || scalar { 1 } else { 2 })?;
        }
        if info.src[0] != OperandKind::None {
            self.vgpr(data, info.src[0].dwords(self.wave32))?;
        }
        match (scalar, scratch) {
            (true, _) => self.sgpr(saddr.0 as u8, if scratch { 1 } else { 2 })?,
            (false, _) if name.starts_with("FLAT") => {}
            (false, _) => self.off()?,
        }
        self.option("offset", offset)?;
        self.cache(glc, slc, dlc)
    }

    pub(super) fn mubuf(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Mubuf {
            vdata,
            vaddr,
            srsrc,
            soffset,
            offset,
            offen,
            idxen,
            glc,
            slc,
            dlc,
            tfe,
        } = fields
        else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        if matches!(opcode, Opcode::BUFFER_GL0_INV | Opcode::BUFFER_GL1_INV) {
            return Ok(());
        }
        let info = opcode.info();
        let data = if info.src[0] == OperandKind::None { info.dst } else { info.src[0] };
        if data != OperandKind::None {
            self.vgpr(vdata, data.dwords(self.wave32) + u8::from(tfe))?;
        }
        match u8::from(offen) + u8::from(idxen) {
            0 => self.off()?,
            dwords => self.vgpr(vaddr, dwords)?,
        }
        self.sgpr(srsrc, 4)?;
        self.source(soffset, OperandKind::B32)?;
        self.flag("idxen", idxen)?;
        self.flag("offen", offen)?;
        self.option("offset", offset)?;
        self.cache(glc, slc, dlc)?;
        self.flag("tfe", tfe)
    }

    fn off(&mut self) -> fmt::Result {
        self.separate()?;
        self.f.write_str("off")
    }

    fn cache(&mut self, glc: bool, slc: bool, dlc: bool) -> fmt::Result {
        self.flag("glc", glc)?;
        self.flag("slc", slc)?;
        self.flag("dlc", dlc)
    }
}

fn has_address(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::DS_NOP
            | Opcode::DS_CONSUME
            | Opcode::DS_APPEND
            | Opcode::DS_LOAD_ADDTID_B32
            | Opcode::DS_STORE_ADDTID_B32
            | Opcode::DS_GWS_SEMA_RELEASE_ALL
            | Opcode::DS_GWS_SEMA_V
            | Opcode::DS_GWS_SEMA_P
            | Opcode::DS_ADD_GS_REG_RTN
            | Opcode::DS_SUB_GS_REG_RTN
    )
}

fn has_two_offsets(opcode: Opcode) -> bool {
    opcode.name().contains("_2ADDR_")
}
