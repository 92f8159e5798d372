//! The vector ALU, LDS and vector memory, a register and lane at a time.

use super::Step;
use crate::shader::finding::Decides;
use crate::shader::staged;
use crate::shader::wave::{EXEC, M0, NULL, VCC};
use amdgpu_isa::{DualOp, Fields, Flags, OpInfo, Opcode, OperandKind, Src, Valu};

const ALL: u64 = u64::MAX;

/// Lanes or none.
fn whole(set: bool) -> u64 {
    if set { ALL } else { 0 }
}

/// Operations that take bits from several sources, so that one that is not set may not matter.
fn combines(name: &str) -> bool {
    let starts = [
        "V_AND",
        "V_OR",
        "V_XOR",
        "V_XNOR",
        "V_XAD",
        "V_BFI",
        "V_BITOP",
        "V_PERM_",
        "V_ALIGN",
        "V_LSHL_OR",
        "V_PACK",
        "V_CVT_PK",
        "V_PERMPK",
    ];
    starts.iter().any(|start| name.starts_with(start))
}

/// Operations that take values of other lanes.
fn crosses_lanes(name: &str) -> bool {
    ["V_PERMLANE", "V_INTERP"].iter().any(|start| name.starts_with(start))
}

/// Operations on 64 bits whose result's low half depends on the low halves of their sources only.
fn low_half_is_independent(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, V_MAD_U64_U32 | V_MAD_I64_I32 | V_LSHLREV_B64 | V_LSHL_ADD_U64 | V_MOV_B64)
}

impl Step<'_> {
    /// Lanes in which a vector register is set.
    fn row(&self, register: usize) -> u64 {
        self.registers.vector.get(register).copied().unwrap_or(ALL)
    }

    /// Lanes in which all dwords of a vector register operand are set.
    fn rows(&self, register: usize, dwords: u8) -> u64 {
        (register..).take(usize::from(dwords)).fold(ALL, |set, register| set & self.row(register))
    }

    fn set_rows(&mut self, register: usize, dwords: u8, mask: u64, set: u64) {
        for register in (register..).take(usize::from(dwords)) {
            if let Some(row) = self.registers.vector.get_mut(register) {
                *row = *row & !mask | set & mask;
            }
        }
    }

    /// Lanes in which a source is set.
    fn source(&self, source: Src, kind: OperandKind) -> u64 {
        let dwords = kind.dwords(self.wave.halves == 1);
        match self.wave.vector_register(source) {
            // Of two singles one may be all that is meant.
            Some(register) if kind == OperandKind::PkF32 => {
                self.row(register) | self.row(register + 1)
            }
            Some(register) => self.rows(register, dwords),
            None if kind == OperandKind::Mask => self.mask(source.0) | !self.all_lanes(),
            // A lane mask may be set in part, and is kept in lanes as it is.
            None => whole((source.0..).take(dwords.into()).all(|code| self.bits(code) != 0)),
        }
    }

    /// As [`source`](Step::source), set in all lanes when it is in any: what goes across lanes.
    fn source_of_any_lane(&self, source: Src, kind: OperandKind) -> u64 {
        whole(self.source(source, kind) & self.all_lanes() != 0)
    }

    /// Lanes in which the result of an operation on these sources is set.
    fn result(&self, opcode: Opcode, info: &OpInfo, sources: &[Src], across: bool) -> u64 {
        let name = opcode.name();
        let of = |index: usize| match across && index == 0 || crosses_lanes(name) {
            true => self.source_of_any_lane(sources[index], info.src[index]),
            false => self.source(sources[index], info.src[index]),
        };
        let used = || (0..sources.len()).filter(|&index| info.src[index] != OperandKind::None);
        if opcode == Opcode::V_CNDMASK_B32 || opcode == Opcode::V_CNDMASK_B16 {
            let (mask, known) = (self.wave.source_mask(sources[2]), of(2));
            return known & (mask & of(1) | !mask & of(0));
        }
        if combines(name) {
            // Constants say nothing.
            let variable = |&index: &usize| sources[index].0 < 128 || sources[index].0 >= 256;
            let mut variables = used().filter(variable).peekable();
            return match variables.peek() {
                None => ALL,
                Some(_) => variables.fold(0, |set, index| set | of(index)),
            };
        }
        used().fold(ALL, |set, index| set & of(index))
    }

    pub(super) fn valu(&mut self, valu: &Valu) {
        use Opcode::*;
        let opcode = self.op.instruction.opcode;
        let (name, info) = (opcode.name(), *opcode.info());
        let exec = self.wave.exec();
        let vdst = usize::from(valu.vdst);
        let sources = &valu.src[..usize::from(valu.src_count).min(3)];
        match opcode {
            V_NOP | V_PIPEFLUSH | V_CLREXCP => return,
            V_READFIRSTLANE_B32 | V_READLANE_B32 => {
                let lane = match opcode {
                    V_READLANE_B32 => self.wave.s32(valu.src[1], self.op.constants[1]),
                    _ if exec == 0 => 0,
                    _ => exec.trailing_zeros(),
                };
                let lane = lane as usize % self.wave.lanes();
                let set = self.source(valu.src[0], OperandKind::B32) >> lane & 1 != 0;
                return self.set_bits(valu.vdst, 1, whole(set));
            }
            V_WRITELANE_B32 => {
                let lane = self.wave.s32(valu.src[1], self.op.constants[1]);
                let lane = lane as usize % self.wave.lanes();
                let set = self.source(valu.src[0], OperandKind::B32);
                return self.set_rows(vdst, 1, 1 << lane, set);
            }
            V_SWAP_B32 => {
                if let Some(other) = valu.src[0].vgpr().map(usize::from) {
                    let (own, others) = (self.row(vdst), self.row(other));
                    self.set_rows(vdst, 1, exec, others);
                    self.set_rows(other, 1, exec, own);
                }
                return;
            }
            V_SWAP_B16 => return,
            V_ACCVGPR_MOV_B32 => {
                let set = self.source(valu.src[0], OperandKind::B32);
                return self.set_rows(self.wave.data_register(valu.vdst, true), 1, exec, set);
            }
            // Which register is read depends on M0.
            V_MOVRELS_B32 => return self.set_rows(vdst, 1, exec, ALL),
            V_MOVRELD_B32 | V_MOVRELSD_B32 | V_MOVRELSD_2_B32 | V_SWAPREL_B32 => {
                // The destination is behind it by M0, of which parts may be meant.
                let m0 = self.wave.sgpr(M0);
                for index in [m0, m0 & 0x3ff, m0 >> 16 & 0x3ff] {
                    self.set_rows(vdst.wrapping_add(index as usize), 1, exec, ALL);
                }
                return;
            }
            _ => {}
        }
        if self.wave.indexes {
            // The registers are named by M0.
            let index = (self.wave.sgpr(M0) & 0xff) as usize;
            self.set_rows(vdst, 1, exec, ALL);
            return self.set_rows(vdst + index, 1, exec, ALL);
        }
        let mut set = self.result(opcode, &info, sources, valu.dpp.is_some());
        if info.flags.contains(Flags::READS_VCC) {
            set &= self.mask(VCC.into()) | !self.all_lanes();
        }
        let partial = valu.sdwa.is_some() || info.dst.is_16_bit() || valu.dpp.is_some();
        if info.flags.contains(Flags::READS_DST) && !partial && info.dst != OperandKind::Mask {
            set &= self.rows(vdst, info.dst.dwords(self.wave.halves == 1));
        }
        let dwords = info.dst.dwords(self.wave.halves == 1);
        // A compare's result; that of lanes that are off is 0.
        let condition = set | !exec;
        if info.dst == OperandKind::Mask {
            if name.starts_with("V_CMPX") {
                self.set_mask(EXEC, condition);
            }
            if valu.sdst != EXEC && valu.sdst != NULL {
                self.set_mask(valu.sdst, condition);
            }
            return;
        }
        if info.flags.contains(Flags::SDST) && valu.sdst != NULL {
            self.set_mask(valu.sdst, condition);
        }
        if info.flags.contains(Flags::SCALAR_DST) {
            return self.set_bits(valu.vdst, dwords, whole(set == ALL));
        }
        if low_half_is_independent(opcode) {
            // Compilers leave the high half of a source unset where they need the low half of the result only.
            let kind =
                |kind: OperandKind| if kind.dwords(true) == 2 { OperandKind::B32 } else { kind };
            let low = OpInfo { src: info.src.map(kind), ..info };
            self.set_rows(vdst, 1, exec, self.result(opcode, &low, sources, valu.dpp.is_some()));
            return self.set_rows(vdst + 1, 1, exec, set);
        }
        if name.starts_with("V_PERMLANE")
            && name.ends_with("SWAP_B32")
            && let Some(other) = valu.src[0].vgpr().map(usize::from)
        {
            self.set_rows(other, 1, exec, set);
        }
        self.set_rows(vdst, dwords, exec, set);
    }

    pub(super) fn matrix_or_packed(&mut self) {
        let opcode = self.op.instruction.opcode;
        let info = *opcode.info();
        let wave32 = self.wave.halves == 1;
        let name = opcode.name();
        match self.op.instruction.fields {
            Fields::Vop3p { vdst, src, dpp, .. } => {
                let across = name.contains("WMMA") || name.contains("SWMMAC");
                let set = match across {
                    true => self.matrix_result(&src, &info),
                    false => self.result(opcode, &info, &src, dpp.is_some()),
                };
                let mask = if across { ALL } else { self.wave.exec() };
                self.set_rows(vdst.into(), info.dst.dwords(wave32), mask, set);
            }
            Fields::Matrix { vdst, src, cbsz, blgp, .. } => {
                let info = OpInfo { src: opcode.matrix_sources(cbsz, blgp), ..info };
                let moves =
                    matches!(opcode, Opcode::V_ACCVGPR_READ_B32 | Opcode::V_ACCVGPR_WRITE_B32);
                let (mask, set) = match moves {
                    true => (self.wave.exec(), self.source(src[0], OperandKind::B32)),
                    false => (ALL, self.matrix_result(&src, &info)),
                };
                if let Some(register) = self.wave.vector_register(vdst) {
                    self.set_rows(register, info.dst.dwords(wave32), mask, set);
                }
            }
            _ => {}
        }
    }

    /// A matrix is set when every register of its sources is in some lane.
    fn matrix_result(&self, src: &[Src; 3], info: &OpInfo) -> u64 {
        let dwords = |kind: OperandKind| kind.dwords(self.wave.halves == 1);
        let set = src.iter().zip(info.src).all(|(&source, kind)| {
            let Some(first) = self.wave.vector_register(source) else { return true };
            (first..).take(usize::from(dwords(kind))).all(|register| self.row(register) != 0)
        });
        whole(set)
    }

    pub(super) fn dual(&mut self, x: DualOp, y: DualOp) {
        let exec = self.wave.exec();
        let halves = [x, y].map(|half| {
            let info = half.opcode.info();
            let second = Src(256 + u16::from(half.vsrc1));
            let sources = match half.opcode {
                Opcode::V_MOV_B32 => [half.src0, Src(128), Src(128)],
                Opcode::V_CNDMASK_B32 => [half.src0, second, Src::VCC_LO],
                _ => [half.src0, second, Src(128)],
            };
            let mut set = self.result(half.opcode, info, &sources, false);
            if info.flags.contains(Flags::READS_DST) {
                set &= self.row(half.vdst.into());
            }
            (usize::from(half.vdst), set)
        });
        for (register, set) in halves {
            self.set_rows(register, 1, exec, set);
        }
    }

    /// DS: an address decides where; data may be unset, and is set in LDS.
    pub(super) fn lds(&mut self) {
        let Fields::Ds { vdst, addr, data0, acc, .. } = self.op.instruction.fields else { return };
        let opcode = self.op.instruction.opcode;
        let info = opcode.info();
        let exec = self.wave.exec();
        let accesses = Flags::LOAD.union(Flags::STORE).union(Flags::ATOMIC);
        let by_m0 = info.flags.contains(Flags::READS_M0);
        let mut set = ALL;
        if info.flags.intersects(accesses) {
            if !by_m0 {
                self.vector_decides(addr.into(), 1, exec, Decides::Address);
            }
        } else if opcode == Opcode::DS_SWIZZLE_B32 {
            set = whole(self.row(addr.into()) != 0);
        } else {
            set = whole(self.row(data0.into()) != 0);
        }
        let dwords = info.dst.dwords(self.wave.halves == 1);
        self.set_rows(self.wave.data_register(vdst, acc), dwords, exec, set);
    }

    /// FLAT and buffers: an address decides where; data decides what memory holds, in the lanes that `stores` to GPU
    /// memory.
    pub(super) fn memory(&mut self, stores: impl Fn(usize) -> bool) {
        let opcode = self.op.instruction.opcode;
        let info = *opcode.info();
        if !info.flags.intersects(Flags::LOAD.union(Flags::STORE).union(Flags::ATOMIC)) {
            return;
        }
        let exec = self.wave.exec();
        let (data, destination, returns) = match self.op.instruction.fields {
            Fields::Flat { vdst, addr, data, saddr, sve, glc, acc, .. } => {
                let scalar = saddr.0 != u16::from(NULL);
                let scratch = opcode.name().starts_with("SCRATCH");
                let dwords = match (scratch, scalar) {
                    (true, _) => u8::from(sve),
                    (false, true) => u8::from(!opcode.name().contains("ADDTID")),
                    (false, false) => 2,
                };
                self.vector_decides(addr.into(), dwords, exec, Decides::Address);
                if scalar {
                    let dwords = if scratch { 1 } else { 2 };
                    self.scalar_decides(saddr.0, dwords, Decides::Address);
                }
                let [data, vdst] = [data, vdst].map(|code| self.wave.data_register(code, acc));
                (data, vdst, glc)
            }
            Fields::Mubuf { vdata, vaddr, srsrc, soffset, offen, idxen, glc, acc, .. } => {
                let dwords = u8::from(offen) + u8::from(idxen);
                self.vector_decides(vaddr.into(), dwords, exec, Decides::Address);
                self.scalar_decides(srsrc.into(), 4, Decides::Address);
                self.scalar_decides(soffset.0, 1, Decides::Address);
                let data = self.wave.data_register(vdata, acc);
                (data, data, glc)
            }
            _ => return,
        };
        let wave32 = self.wave.halves == 1;
        if staged::of(&self.op.instruction).is_some() {
            // It names no VGPR for data, but M0, where in LDS.
            return self.scalar_decides(M0.into(), 1, Decides::Address);
        }
        if info.flags.intersects(Flags::STORE.union(Flags::ATOMIC)) {
            let lanes =
                (0..self.wave.lanes()).filter(|&lane| exec >> lane & 1 != 0 && stores(lane));
            let mask = lanes.fold(0, |mask, lane| mask | 1 << lane);
            let dwords = info.src[0].dwords(wave32);
            if info.flags.contains(Flags::ATOMIC) {
                self.vector_decides(data, dwords, mask, Decides::Memory);
            } else {
                self.stored(data, dwords, mask);
            }
        }
        if info.flags.contains(Flags::LOAD) || returns {
            self.set_rows(destination, info.dst.dwords(wave32), exec, ALL);
        }
    }

    /// A store of several dwords. Those at its end that are not set are padding, as behind three floats, which compilers
    /// store as four dwords; but when none is set, that is none.
    fn stored(&mut self, first: usize, dwords: u8, mask: u64) {
        let end = first + usize::from(dwords);
        let any = |step: &Self, from| (from..end).fold(0, |set, register| set | step.row(register));
        let stores = any(self, first);
        for register in first..end {
            let padding = stores & !any(self, register);
            self.vector_decides(register, 1, mask & !padding, Decides::Memory);
        }
    }
}
