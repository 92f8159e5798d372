//! The scalar ALU, branches and scalar memory, bit by bit where masks are made.

use super::Step;
use crate::shader::finding::Decides;
use crate::shader::wave::EXEC;
use amdgpu_isa::{Fields, Flags, Opcode, Src};

/// Values and set bits of an operand.
#[derive(Clone, Copy)]
struct Bits {
    value: u64,
    set: u64,
}

impl Bits {
    fn not(self) -> Bits {
        Bits { value: !self.value, set: self.set }
    }

    /// A bit is set when both are, or when one is that is 0.
    fn and(self, other: Bits) -> Bits {
        let zero = self.set & !self.value | other.set & !other.value;
        Bits { value: self.value & other.value, set: self.set & other.set | zero }
    }

    fn or(self, other: Bits) -> Bits {
        self.not().and(other.not()).not()
    }

    fn xor(self, other: Bits) -> Bits {
        Bits { value: self.value ^ other.value, set: self.set & other.set }
    }
}

/// A bitwise operation by the first word of its name after `S_`.
fn bitwise(name: &str, a: Bits, b: Bits) -> Option<Bits> {
    let operation = name.strip_prefix("S_")?;
    let operation = operation.strip_suffix("_B32").or_else(|| operation.strip_suffix("_B64"))?;
    let operation = operation.strip_suffix("_SAVEEXEC").unwrap_or(operation);
    let operation = operation.strip_suffix("_WREXEC").unwrap_or(operation);
    Some(match operation {
        "AND" => a.and(b),
        "OR" => a.or(b),
        "XOR" => a.xor(b),
        "NAND" => a.and(b).not(),
        "NOR" => a.or(b).not(),
        "XNOR" => a.xor(b).not(),
        "AND_NOT1" => a.and(b.not()),
        "OR_NOT1" => a.or(b.not()),
        "AND_NOT0" => a.not().and(b),
        "OR_NOT0" => a.not().or(b),
        _ => return None,
    })
}

const ALL: u64 = u64::MAX;

/// All bits or none.
fn whole(set: bool) -> u64 {
    if set { ALL } else { 0 }
}

impl Step<'_> {
    pub(super) fn scalar(&mut self) {
        let opcode = self.op.instruction.opcode;
        match self.op.instruction.fields {
            Fields::Sop1 { sdst, ssrc0 } => self.sop1(sdst, ssrc0),
            Fields::Sop2 { sdst, ssrc0, ssrc1 } => self.sop2(sdst, ssrc0, ssrc1),
            Fields::Sopc { ssrc0, ssrc1 } => {
                let [a, b, _] = opcode.info().src;
                self.registers.scc = self.operand(ssrc0, a) & self.operand(ssrc1, b) == ALL;
            }
            Fields::Sopk { sdst, .. } => self.sopk(sdst),
            Fields::Sopp { .. } => self.sopp(),
            Fields::Smem { sdata, sbase, soffset, .. } => {
                let info = opcode.info();
                if info.flags.contains(Flags::LOAD) || info.flags.contains(Flags::STORE) {
                    let dwords = if opcode.name().contains("BUFFER") { 4 } else { 2 };
                    self.scalar_decides(sbase.into(), dwords, Decides::Address);
                    self.scalar_decides(soffset.0, 1, Decides::Address);
                }
                let dwords = info.dst.dwords(true);
                if info.flags.contains(Flags::STORE) {
                    self.scalar_decides(sdata.into(), dwords, Decides::Memory);
                } else {
                    self.set_bits(sdata, dwords, ALL);
                }
            }
            _ => {}
        }
    }

    fn sop1(&mut self, sdst: u8, ssrc0: Src) {
        use Opcode::*;
        let opcode = self.op.instruction.opcode;
        let (name, info) = (opcode.name(), opcode.info());
        let wave32 = self.wave.halves == 1;
        let dwords = info.dst.dwords(wave32);
        let source = self.operand(ssrc0, info.src[0]);
        let set = source == ALL;
        if name.contains("SAVEEXEC") || name.contains("WREXEC") {
            let of = |value, set| Bits { value, set };
            let wide = name.ends_with("64");
            let code = u16::from(EXEC);
            let exec = match wide {
                true => of(self.wave.sgpr64(EXEC), self.bits64(code)),
                false => of(self.wave.sgpr(EXEC).into(), u64::from(self.bits(code)) | !0 << 32),
            };
            let value = self.value(ssrc0, wide);
            let Some(result) = bitwise(name, of(value, source), exec) else { return };
            self.set_bits(EXEC, dwords, result.set);
            let old = if name.contains("WREXEC") { result.set } else { exec.set };
            self.set_bits(sdst, dwords, old);
            self.registers.scc = known_zero(result, wide);
            return self.check_execution();
        }
        let bits = match opcode {
            S_MOV_B32 | S_MOV_B64 | S_NOT_B32 | S_NOT_B64 => source,
            S_CMOV_B32 | S_CMOV_B64 => match (self.registers.scc, self.wave.scc) {
                (true, true) => source,
                (true, false) => return,
                (false, _) => 0,
            },
            S_SETPC_B64 | S_SWAPPC_B64 | S_RFE_B64 => {
                self.scalar_decides(ssrc0.0, 2, Decides::Address);
                ALL
            }
            // Which register is read depends on M0.
            S_MOVRELS_B32 | S_MOVRELS_B64 | S_MOVRELD_B32 | S_MOVRELD_B64 | S_MOVRELSD_2_B32 => ALL,
            S_BITSET0_B32 | S_BITSET0_B64 | S_BITSET1_B32 | S_BITSET1_B64 => return,
            _ if name.contains("SENDMSG") || name.contains("GETPC") => ALL,
            _ => whole(set),
        };
        if name.contains("MOVRELD") || name.contains("MOVRELSD") {
            // The register behind it by M0.
            let code = u32::from(sdst).wrapping_add(self.wave.sgpr(crate::shader::wave::M0));
            if code < 106 {
                self.set_bits(code as u8, dwords, ALL);
            }
            return;
        }
        self.set_bits(sdst, dwords, bits);
        if info.flags.contains(Flags::WRITES_SCC) {
            self.registers.scc = set;
        }
        if sdst == EXEC {
            self.check_execution();
        }
    }

    /// Value of an operand.
    fn value(&self, source: Src, wide: bool) -> u64 {
        let constant = self.op.constants[0];
        if wide { self.wave.s64(source, constant) } else { self.wave.s32(source, constant).into() }
    }

    fn sop2(&mut self, sdst: u8, ssrc0: Src, ssrc1: Src) {
        let opcode = self.op.instruction.opcode;
        let (name, info) = (opcode.name(), opcode.info());
        let wave32 = self.wave.halves == 1;
        let dwords = info.dst.dwords(wave32);
        let wide = info.dst.dwords(wave32) == 2;
        let (a, b) = (self.operand(ssrc0, info.src[0]), self.operand(ssrc1, info.src[1]));
        let set = a & b == ALL;
        let [first, second, _] = self.op.constants;
        let values = match wide {
            true => [self.wave.s64(ssrc0, first), self.wave.s64(ssrc1, second)],
            false => [self.wave.s32(ssrc0, first).into(), self.wave.s32(ssrc1, second).into()],
        };
        let operands = [(values[0], a), (values[1], b)].map(|(value, set)| Bits { value, set });
        let scc = self.registers.scc;
        let mut condition = set && (scc || !info.flags.contains(Flags::READS_SCC));
        let bits = if let Some(result) = bitwise(name, operands[0], operands[1]) {
            condition = known_zero(result, wide);
            result.set
        } else if name.starts_with("S_CSELECT") {
            match (scc, self.wave.scc) {
                (true, true) => a,
                (true, false) => b,
                (false, _) => 0,
            }
        } else if b == ALL && (name.starts_with("S_LSHL_B") || name.starts_with("S_LSHR_B")) {
            let amount = values[1] & if wide { 63 } else { 31 };
            match name.starts_with("S_LSHL") {
                true => a << amount | !(ALL << amount),
                false if wide => a >> amount | !(ALL >> amount),
                false => a >> amount | !0 << (32 - amount),
            }
        } else if name.starts_with("S_PACK") {
            // Halves of either.
            whole(a != !0 << 32 && b != !0 << 32)
        } else {
            whole(condition)
        };
        self.set_bits(sdst, dwords, bits);
        if info.flags.contains(Flags::WRITES_SCC) {
            self.registers.scc = condition;
        }
        if sdst == EXEC {
            self.check_execution();
        }
    }

    fn sopk(&mut self, sdst: u8) {
        let opcode = self.op.instruction.opcode;
        let (name, info) = (opcode.name(), opcode.info());
        let own = self.bits(sdst.into()) == u32::MAX;
        if name.starts_with("S_CMPK") {
            self.registers.scc = own;
        } else if name.starts_with("S_ADDK") || name.starts_with("S_MULK") {
            self.set_bits(sdst, 1, whole(own));
            if info.flags.contains(Flags::WRITES_SCC) {
                self.registers.scc = own;
            }
        } else if name.starts_with("S_CMOVK") {
            match (self.registers.scc, self.wave.scc) {
                (true, true) => self.set_bits(sdst, 1, ALL),
                (true, false) => {}
                (false, _) => self.set_bits(sdst, 1, 0),
            }
        } else {
            self.set_bits(sdst, info.dst.dwords(true), ALL);
            if sdst == EXEC {
                self.check_execution();
            }
        }
    }

    fn sopp(&mut self) {
        use Opcode::*;
        let (known, register) = match self.op.instruction.opcode {
            S_CBRANCH_SCC0 | S_CBRANCH_SCC1 => (self.registers.scc, "scc"),
            S_CBRANCH_VCCZ | S_CBRANCH_VCCNZ => (self.vcc_is_known(), "vcc"),
            S_CBRANCH_EXECZ | S_CBRANCH_EXECNZ => (self.zero_is_known(EXEC), "exec"),
            _ => return,
        };
        if !known {
            self.report(register.to_owned(), Decides::Branch);
        }
    }
}

/// Whether it is known that a value is zero or not.
fn known_zero(bits: Bits, wide: bool) -> bool {
    let width = if wide { ALL } else { u32::MAX.into() };
    bits.set & width == width || bits.set & bits.value & width != 0
}
