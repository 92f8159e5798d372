//! Memory formats.

use core::fmt::{self, Write};

use super::Text;
use crate::encoding::ZeroOffset;
use crate::{Fields, Flags, Opcode, OperandKind, Src};

impl Text<'_, '_> {
    pub(super) fn smem(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Smem { sdata, sbase, soffset, offset, glc, dlc, th, scope } = fields else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        match opcode {
            Opcode::S_PREFETCH_INST
            | Opcode::S_PREFETCH_INST_PC_REL
            | Opcode::S_PREFETCH_DATA
            | Opcode::S_BUFFER_PREFETCH_DATA
            | Opcode::S_PREFETCH_DATA_PC_REL => return self.prefetch(opcode, fields),
            _ if info.dst == OperandKind::None && info.src_count() == 0 => return Ok(()),
            Opcode::S_DCACHE_DISCARD | Opcode::S_DCACHE_DISCARD_X2 => {}
            // The probes' `sdata` is an immediate.
            Opcode::S_ATC_PROBE | Opcode::S_ATC_PROBE_BUFFER => {
                self.integer(sdata.into())?;
            }
            _ => self.sgpr(sdata, info.dst.dwords(self.wave32))?,
        }
        if info.src_count() == 0 {
            return Ok(());
        }
        self.sgpr(sbase, info.src[0].dwords(self.wave32))?;
        let shown = match self.encoding.smem.zero_offset {
            ZeroOffset::Never => offset != 0,
            ZeroOffset::Alone => offset != 0 || soffset == Src::NULL,
            ZeroOffset::Always => true,
        };
        if soffset != Src::NULL || !shown {
            self.source(soffset, OperandKind::B32)?;
            if shown {
                self.f.write_str(" offset:")?;
            }
        } else {
            self.separate()?;
        }
        if shown {
            let sign = if offset < 0 { "-" } else { "" };
            write!(self.f, "{sign}{:#x}", offset.unsigned_abs())?;
        }
        if info.dst == OperandKind::None {
            return Ok(());
        }
        self.flag("glc", glc)?;
        self.flag("dlc", dlc)?;
        self.scoped(opcode, th, scope)
    }

    /// Prefetches have their offset before the register that adds to it, and the length in the field
    /// of the destination.
    fn prefetch(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Smem { sdata, sbase, soffset, offset, .. } = fields else { return Ok(()) };
        let base = opcode.info().src[0];
        if base != OperandKind::None {
            self.sgpr(sbase, base.dwords(self.wave32))?;
        }
        self.separate()?;
        let sign = if offset < 0 { "-" } else { "" };
        write!(self.f, "{sign}{:#x}", offset.unsigned_abs())?;
        self.source(soffset, OperandKind::B32)?;
        self.integer(sdata.into())
    }

    pub(super) fn ds(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        let &Fields::Ds { vdst, addr, data0, data1, offset0, offset1, gds, acc } = fields else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        if info.dst != OperandKind::None {
            self.data_vgpr(vdst, info.dst.dwords(self.wave32), acc)?;
        }
        if has_address(opcode) {
            // What GWS operations have there is data.
            self.data_vgpr(addr, 1, acc && opcode.name().starts_with("DS_GWS"))?;
        }
        for (data, kind) in [data0, data1].into_iter().zip(info.src) {
            if kind != OperandKind::None {
                self.data_vgpr(data, kind.dwords(self.wave32), acc)?;
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
        let &Fields::Flat {
            vdst,
            addr,
            data,
            saddr,
            offset,
            sve,
            glc,
            slc,
            dlc,
            th,
            scope,
            acc,
            lds,
        } = fields
        else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        if matches!(opcode, Opcode::GLOBAL_INV | Opcode::GLOBAL_WB | Opcode::GLOBAL_WBINV) {
            return self.scoped(opcode, th, scope);
        }
        let info = opcode.info();
        let name = opcode.name();
        let scratch = name.starts_with("SCRATCH");
        let scalar = saddr != Src::NULL;
        if info.dst != OperandKind::None && (!info.flags.contains(Flags::ATOMIC) || glc) && !lds {
            self.data_vgpr(vdst, info.dst.dwords(self.wave32), acc)?;
        }
        if scratch && !sve {
            self.off()?;
        } else if !name.contains("ADDTID") {
            self.vgpr(addr, if scratch || scalar { 1 } else { 2 })?;
        }
        if info.src[0] != OperandKind::None {
            self.data_vgpr(data, info.src[0].dwords(self.wave32), acc)?;
        }
        match (scalar, scratch) {
            (true, _) => self.sgpr(saddr.0 as u8, if scratch { 1 } else { 2 })?,
            (false, _) if name.starts_with("FLAT") => {}
            (false, _) => self.off()?,
        }
        self.option("offset", offset)?;
        self.cache(glc, slc, dlc)?;
        self.scoped(opcode, th, scope)?;
        self.flag("lds", lds)
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
            th,
            scope,
            tfe,
            lds,
            acc,
            format,
        } = fields
        else {
            return Ok(());
        };
        self.mnemonic(opcode, "")?;
        if matches!(opcode, Opcode::BUFFER_GL0_INV | Opcode::BUFFER_GL1_INV) {
            return Ok(());
        }
        let info = opcode.info();
        if matches!(opcode, Opcode::BUFFER_INV | Opcode::BUFFER_WBL2) {
            let scoped = self.encoding.scoped_write_back;
            return if scoped { self.cache(glc, false, dlc) } else { Ok(()) };
        }
        if info.dst == OperandKind::None && info.flags.is_empty() {
            return Ok(());
        }
        let data = if info.src[0] == OperandKind::None { info.dst } else { info.src[0] };
        if data != OperandKind::None && !lds {
            self.data_vgpr(vdata, data.dwords(self.wave32) + u8::from(tfe), acc)?;
        }
        let addressed = opcode != Opcode::BUFFER_STORE_LDS_B32;
        match u8::from(offen) + u8::from(idxen) {
            _ if !addressed => {}
            0 => self.off()?,
            dwords => self.vgpr(vaddr, dwords)?,
        }
        self.sgpr(srsrc, 4)?;
        self.source(soffset, OperandKind::B32)?;
        if opcode.name().starts_with("TBUFFER") {
            self.buffer_format(format)?;
        }
        self.flag("idxen", idxen)?;
        self.flag("offen", offen)?;
        self.option("offset", offset)?;
        self.cache(glc, slc, dlc)?;
        self.scoped(opcode, th, scope)?;
        self.flag("tfe", tfe)?;
        self.flag("lds", lds)
    }

    /// Data and number format of a typed buffer, without what is the default (LLVM's AMDGPUAsmUtils.cpp, namespace
    /// `MTBUFFormat`).
    fn buffer_format(&mut self, format: u8) -> fmt::Result {
        if !self.encoding.unified_formats.is_empty() {
            return self.unified_format(format);
        }
        const DATA: [&str; 16] = [
            "INVALID",
            "8",
            "16",
            "8_8",
            "32",
            "16_16",
            "10_11_11",
            "11_11_10",
            "10_10_10_2",
            "2_10_10_10",
            "8_8_8_8",
            "32_32",
            "16_16_16_16",
            "32_32_32",
            "32_32_32_32",
            "RESERVED_15",
        ];
        const NUMBER: [&str; 8] =
            ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
        let (data, number) = (format & 15, format >> 4 & 7);
        if (data, number) == (1, 0) {
            return Ok(());
        }
        self.f.write_str(" format:[")?;
        if data != 1 {
            write!(self.f, "BUF_DATA_FORMAT_{}", DATA[usize::from(data)])?;
        }
        if data != 1 && number != 0 {
            self.f.write_char(',')?;
        }
        if number != 0 {
            write!(self.f, "BUF_NUM_FORMAT_{}", NUMBER[usize::from(number)])?;
        }
        self.f.write_char(']')
    }

    /// The same where both are one number.
    fn unified_format(&mut self, format: u8) -> fmt::Result {
        const NUMBER: [&str; 7] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"];
        let mut left = match format {
            0 => return self.f.write_str(" format:[BUF_FMT_INVALID]"),
            1 => return Ok(()),
            _ => format - 1,
        };
        for (data, numbers) in self.encoding.unified_formats {
            for (index, number) in NUMBER.into_iter().enumerate() {
                if numbers >> index & 1 == 0 {
                } else if left == 0 {
                    return write!(self.f, " format:[BUF_FMT_{data}_{number}]");
                } else {
                    left -= 1;
                }
            }
        }
        write!(self.f, " format:{format}")
    }

    fn off(&mut self) -> fmt::Result {
        self.separate()?;
        self.f.write_str("off")
    }

    /// The cache policy before gfx12.
    fn cache(&mut self, glc: bool, slc: bool, dlc: bool) -> fmt::Result {
        for (name, set) in self.encoding.cache_names.into_iter().zip([glc, slc, dlc]) {
            self.flag(name, set && !name.is_empty())?;
        }
        Ok(())
    }

    /// The cache policy of gfx12: what the temporal hint means depends on the operation, and partly on
    /// the scope (LLVM's AMDGPUInstPrinter.cpp, `printTH`, `printScope`).
    fn scoped(&mut self, opcode: Opcode, th: u8, scope: u8) -> fmt::Result {
        const DEVICE: u8 = 2;
        const SYSTEM: u8 = 3;
        let flags = opcode.info().flags;
        if th == 0 {
        } else if flags.contains(Flags::ATOMIC) {
            match (th, scope >= DEVICE) {
                (4..=7, true) if th & 2 != 0 => self.f.write_str(" th:TH_ATOMIC_CASCADE_NT")?,
                (4..=7, true) => self.f.write_str(" th:TH_ATOMIC_CASCADE_RT")?,
                (4..=7, false) => write!(self.f, " th:TH_ATOMIC_{th:#x}")?,
                _ => {
                    let hint = ["", "RETURN", "NT", "NT_RETURN"][usize::from(th & 3)];
                    write!(self.f, " th:TH_ATOMIC_{hint}")?;
                }
            }
        } else {
            let store = flags.contains(Flags::STORE);
            let name = if store { "STORE" } else { "LOAD" };
            let hint = match th {
                1 => "NT",
                2 => "HT",
                3 if scope == SYSTEM => "BYPASS",
                3 if store => "RT_WB",
                3 => "LU",
                4 => "NT_RT",
                5 => "RT_NT",
                6 => "NT_HT",
                _ if store => "NT_WB",
                _ => "",
            };
            match hint {
                "" => write!(self.f, " th:{th:#x}")?,
                _ => write!(self.f, " th:TH_{name}_{hint}")?,
            }
        }
        let scope = ["", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"][usize::from(scope & 3)];
        if scope.is_empty() { Ok(()) } else { write!(self.f, " scope:{scope}") }
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
