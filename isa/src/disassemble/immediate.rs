//! Scalar ALU and program control, with their symbolic immediates.

use core::fmt::{self, Write};

use super::Text;
use crate::{Fields, Flags, Opcode, OperandKind, Src};

impl Text<'_, '_> {
    pub(super) fn scalar(&mut self, opcode: Opcode, fields: &Fields) -> fmt::Result {
        self.mnemonic(opcode, "")?;
        let info = opcode.info();
        let [kind0, kind1, _] = info.src;
        match *fields {
            Fields::Sop1 { sdst, ssrc0 } => {
                if info.dst != OperandKind::None {
                    self.sgpr(sdst, info.dst.dwords(self.wave32))?;
                }
                match opcode {
                    Opcode::S_SENDMSG_RTN_B32 | Opcode::S_SENDMSG_RTN_B64 => self.message(ssrc0.0),
                    _ if kind0 == OperandKind::None => Ok(()),
                    // LLVM prints half-precision constants as single-precision ones here.
                    _ if kind0 == OperandKind::F16 => self.source(ssrc0, OperandKind::F32),
                    _ => self.source(ssrc0, kind0),
                }
            }
            Fields::Sop2 { sdst, ssrc0, ssrc1 } => {
                if info.dst != OperandKind::None {
                    self.sgpr(sdst, info.dst.dwords(self.wave32))?;
                }
                self.source(ssrc0, kind0)?;
                if opcode == Opcode::S_FMAMK_F32 {
                    self.literal()?;
                }
                self.source(ssrc1, kind1)?;
                if opcode == Opcode::S_FMAAK_F32 {
                    self.literal()?;
                }
                Ok(())
            }
            Fields::Sopc { ssrc0, ssrc1 } if opcode == Opcode::S_SET_GPR_IDX_ON => {
                self.source(ssrc0, kind0)?;
                self.register_index_mode(ssrc1.0)
            }
            Fields::Sopc { ssrc0, ssrc1 } => {
                // LLVM prints half-precision constants as integers here.
                let shown = |kind| if kind == OperandKind::F16 { OperandKind::U16 } else { kind };
                self.source(ssrc0, shown(kind0))?;
                self.source(ssrc1, shown(kind1))
            }
            Fields::Sopk { sdst, simm16 } => self.sopk(opcode, sdst, simm16),
            Fields::Sopp { simm16 } => self.sopp(opcode, simm16),
            _ => Ok(()),
        }
    }

    fn sopk(&mut self, opcode: Opcode, sdst: u8, simm16: u16) -> fmt::Result {
        match opcode {
            Opcode::S_VERSION => self.microcode_version(simm16),
            Opcode::S_GETREG_B32 => {
                self.sgpr(sdst, 1)?;
                self.hardware_register(simm16)
            }
            Opcode::S_SETREG_B32 => {
                self.hardware_register(simm16)?;
                self.sgpr(sdst, 1)
            }
            Opcode::S_SETREG_IMM32_B32 => {
                self.hardware_register(simm16)?;
                self.source(Src::LITERAL, OperandKind::B32)
            }
            _ => {
                self.sgpr(sdst, opcode.info().dst.dwords(self.wave32))?;
                if opcode.info().flags.contains(Flags::BRANCH) {
                    self.decimal(simm16)
                } else {
                    self.hex(simm16)
                }
            }
        }
    }

    fn sopp(&mut self, opcode: Opcode, simm16: u16) -> fmt::Result {
        match opcode {
            Opcode::S_WAIT_IDLE
            | Opcode::S_CODE_END
            | Opcode::S_ENDPGM_SAVED
            | Opcode::S_ENDPGM_ORDERED_PS_DONE
            | Opcode::S_WAKEUP
            | Opcode::S_TTRACEDATA
            | Opcode::S_ICACHE_INV
            | Opcode::S_BARRIER
            | Opcode::S_BARRIER_LEAVE
            | Opcode::S_SET_GPR_IDX_OFF => Ok(()),
            Opcode::S_SET_GPR_IDX_MODE => self.register_index_mode(simm16),
            Opcode::S_ENDPGM if simm16 == 0 => Ok(()),
            Opcode::S_ENDPGM => self.decimal(simm16),
            Opcode::S_WAITCNT => self.wait_counts(simm16),
            Opcode::S_WAITCNT_DEPCTR => self.dependency_counters(simm16),
            Opcode::S_DELAY_ALU => self.delay(simm16),
            Opcode::S_SENDMSG | Opcode::S_SENDMSGHALT => self.message(simm16),
            Opcode::S_SET_INST_PREFETCH_DISTANCE
            | Opcode::S_CLAUSE
            | Opcode::S_WAIT_EVENT
            | Opcode::S_ROUND_MODE
            | Opcode::S_SINGLEUSE_VDST
            | Opcode::S_TTRACEDATA_IMM
            | Opcode::S_WAIT_LOADCNT
            | Opcode::S_WAIT_STORECNT
            | Opcode::S_WAIT_SAMPLECNT
            | Opcode::S_WAIT_BVHCNT
            | Opcode::S_WAIT_EXPCNT
            | Opcode::S_WAIT_DSCNT
            | Opcode::S_WAIT_KMCNT
            | Opcode::S_WAIT_LOADCNT_DSCNT
            | Opcode::S_WAIT_STORECNT_DSCNT => self.hex(simm16),
            _ if opcode.info().flags.contains(Flags::BRANCH) => self.decimal(simm16),
            _ => self.integer(simm16),
        }
    }

    /// LLVM prints plain integers in decimal if they fit an inline constant.
    pub(super) fn integer(&mut self, value: u16) -> fmt::Result {
        if value <= 64 { self.decimal(value) } else { self.hex(value) }
    }

    fn hex(&mut self, value: u16) -> fmt::Result {
        self.separate()?;
        write!(self.f, "{value:#x}")
    }

    fn decimal(&mut self, value: u16) -> fmt::Result {
        self.separate()?;
        write!(self.f, "{value}")
    }

    /// S_WAITCNT: a counter that is waited for nothing is left out, unless all are.
    fn wait_counts(&mut self, simm16: u16) -> fmt::Result {
        let layout = &self.encoding.wait_counts;
        let fields = |simm16: u16| {
            let bits = simm16.into();
            let [low, high] = layout.vmcnt;
            let vmcnt = low.get(bits) | high.get(bits) << low.width();
            [vmcnt, layout.expcnt.get(bits), layout.lgkmcnt.get(bits)]
        };
        let ([vmcnt, expcnt, lgkmcnt], [no_vmcnt, no_expcnt, no_lgkmcnt]) =
            (fields(simm16), fields(u16::MAX));
        let counts = [
            ("vmcnt", vmcnt, no_vmcnt),
            ("expcnt", expcnt, no_expcnt),
            ("lgkmcnt", lgkmcnt, no_lgkmcnt),
        ];
        let all = counts.iter().all(|&(_, count, none)| count == none);
        for (name, count, none) in counts {
            if all || count != none {
                write!(self.f, " {name}({count})")?;
            }
        }
        Ok(())
    }

    /// S_WAITCNT_DEPCTR (LLVM's AMDGPUAsmUtils.cpp, table `DepCtrInfo`).
    fn dependency_counters(&mut self, simm16: u16) -> fmt::Result {
        let counters = [
            ("hold_cnt", simm16 >> 7 & 1, 1),
            ("sa_sdst", simm16 & 1, 1),
            ("va_vdst", simm16 >> 12, 15),
            ("va_sdst", simm16 >> 9 & 7, 7),
            ("va_ssrc", simm16 >> 8 & 1, 1),
            ("va_vcc", simm16 >> 1 & 1, 1),
            ("vm_vsrc", simm16 >> 2 & 7, 7),
        ];
        if simm16 & 0x60 != 0 {
            return self.hex(simm16);
        }
        let all = counters.iter().all(|&(_, count, none)| count == none);
        for (name, count, none) in counters {
            if all || count != none {
                write!(self.f, " depctr_{name}({count})")?;
            }
        }
        Ok(())
    }

    /// S_SET_GPR_IDX_ON and _MODE: which operands are indexed.
    fn register_index_mode(&mut self, mode: u16) -> fmt::Result {
        if mode > 15 {
            return self.hex(mode);
        }
        self.separate()?;
        self.f.write_str("gpr_idx(")?;
        let mut comma = "";
        for (bit, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
            if mode >> bit & 1 != 0 {
                write!(self.f, "{comma}{name}")?;
                comma = ",";
            }
        }
        self.f.write_char(')')
    }

    /// S_DELAY_ALU (RDNA3 ISA document, S_DELAY_ALU): two dependencies and how many instructions the
    /// second skips.
    fn delay(&mut self, simm16: u16) -> fmt::Result {
        const DEPENDENCIES: [&str; 12] = [
            "NO_DEP",
            "VALU_DEP_1",
            "VALU_DEP_2",
            "VALU_DEP_3",
            "VALU_DEP_4",
            "TRANS32_DEP_1",
            "TRANS32_DEP_2",
            "TRANS32_DEP_3",
            "FMA_ACCUM_CYCLE_1",
            "SALU_CYCLE_1",
            "SALU_CYCLE_2",
            "SALU_CYCLE_3",
        ];
        const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
        let parts = [
            ("instid0", simm16 & 15, &DEPENDENCIES[..], "/* invalid instid value */"),
            ("instskip", simm16 >> 4 & 7, &SKIPS[..], "/* invalid instskip value */"),
            ("instid1", simm16 >> 7 & 15, &DEPENDENCIES[..], "/* invalid instid value */"),
        ];
        let mut separator = " ";
        for (part, value, names, invalid) in parts {
            if value != 0 {
                let name = names.get(usize::from(value)).unwrap_or(&invalid);
                write!(self.f, "{separator}{part}({name})")?;
                separator = " | ";
            }
        }
        if separator == " " { self.f.write_str(" 0") } else { Ok(()) }
    }

    /// S_SENDMSG and S_SENDMSG_RTN.
    fn message(&mut self, simm16: u16) -> fmt::Result {
        self.separate()?;
        if self.encoding.message_operations {
            let (id, operation, stream) = (simm16 & 15, simm16 >> 4 & 7, simm16 >> 8 & 3);
            return match (
                name(self.encoding.messages, id),
                message_operation(id, operation, stream),
            ) {
                (Some(name), Some("")) => write!(self.f, "sendmsg({name})"),
                (Some(name), Some(operation)) if id == 15 || operation == "GS_OP_NOP" => {
                    write!(self.f, "sendmsg({name}, {operation})")
                }
                (Some(name), Some(operation)) => {
                    write!(self.f, "sendmsg({name}, {operation}, {stream})")
                }
                _ if simm16 & 0xfc80 == 0 => {
                    write!(self.f, "sendmsg({id}, {operation}, {stream})")
                }
                _ => write!(self.f, "{simm16}"),
            };
        }
        match name(self.encoding.messages, simm16 & 0xff) {
            Some(name) => write!(self.f, "sendmsg({name})"),
            None if simm16 > 0xff => write!(self.f, "{simm16}"),
            None => write!(self.f, "sendmsg({simm16}, 0, 0)"),
        }
    }

    /// S_VERSION: the generation a program was made for and three flags (LLVM's AMDGPUAsmUtils.cpp,
    /// namespace `UCVersion`).
    fn microcode_version(&mut self, simm16: u16) -> fmt::Result {
        const FLAGS: [(u16, &str); 3] = [(1 << 13, "W64"), (1 << 14, "W32"), (1 << 15, "MDP")];
        if simm16 & 0x1f00 != 0 {
            return self.hex(simm16);
        }
        self.separate()?;
        let mut left = FLAGS.iter().filter(|(bit, _)| simm16 & bit != 0).count();
        for _ in 1..left {
            self.f.write_char('(')?;
        }
        match simm16 & 0xff {
            0 => self.f.write_str("UC_VERSION_GFX7")?,
            4 => self.f.write_str("UC_VERSION_GFX10")?,
            6 => self.f.write_str("UC_VERSION_GFX11")?,
            9 => self.f.write_str("UC_VERSION_GFX12")?,
            other => write!(self.f, "{other}")?,
        }
        for (_, name) in FLAGS.iter().filter(|(bit, _)| simm16 & bit != 0) {
            left -= 1;
            let close = if left > 0 { ")" } else { "" };
            write!(self.f, "|UC_VERSION_{name}_BIT{close}")?;
        }
        Ok(())
    }

    /// S_GETREG and S_SETREG: register, first bit, number of bits.
    fn hardware_register(&mut self, simm16: u16) -> fmt::Result {
        self.separate()?;
        let id = simm16 & 63;
        self.f.write_str("hwreg(")?;
        match name(self.encoding.hardware_registers, id) {
            Some(name) => self.f.write_str(name)?,
            None => write!(self.f, "{id}")?,
        }
        match (simm16 >> 6 & 31, (simm16 >> 11) + 1) {
            (0, 32) => {}
            (first, count) => write!(self.f, ", {first}, {count}")?,
        }
        self.f.write_char(')')
    }
}

/// The name of a number in a table of them.
fn name(names: &'static [(u16, &'static str)], number: u16) -> Option<&'static str> {
    names.iter().find(|&&(known, _)| known == number).map(|&(_, name)| name)
}

/// The operation of a gfx9 message; empty for messages that have none, `None` where the combination means nothing
/// (LLVM's AMDGPUBaseInfo.cpp, `isValidMsgOp` and `isValidMsgStream`).
fn message_operation(id: u16, operation: u16, stream: u16) -> Option<&'static str> {
    match (id, operation, stream) {
        (3, 0, 0) => Some("GS_OP_NOP"),
        (2 | 3, 1, _) => Some("GS_OP_CUT"),
        (2 | 3, 2, _) => Some("GS_OP_EMIT"),
        (2 | 3, 3, _) => Some("GS_OP_EMIT_CUT"),
        (15, 1, 0) => Some("SYSMSG_OP_ECC_ERR_INTERRUPT"),
        (15, 2, 0) => Some("SYSMSG_OP_REG_RD"),
        (15, 4, 0) => Some("SYSMSG_OP_TTRACE_PC"),
        (2 | 3 | 15, ..) => None,
        (_, 0, 0) => Some(""),
        _ => None,
    }
}
