//! How generations encode operations: tables that differ, read by one decoder.

use crate::{Flags, Generation, Opcode};

mod gfx10;
mod gfx11;
mod gfx12;
mod gfx9;

/// Instruction formats ("microcode formats"), AMD's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "names are AMD's own")]
#[repr(u8)]
pub enum Format {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    Vop3p,
    Vinterp,
    Vopd,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    Exp,
    Ldsdir,
}

impl Format {
    /// Number of formats.
    pub(crate) const COUNT: usize = Format::Ldsdir as usize + 1;

    /// AMD's name in capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Sop1 => "SOP1",
            Format::Sop2 => "SOP2",
            Format::Sopc => "SOPC",
            Format::Sopk => "SOPK",
            Format::Sopp => "SOPP",
            Format::Smem => "SMEM",
            Format::Vop1 => "VOP1",
            Format::Vop2 => "VOP2",
            Format::Vopc => "VOPC",
            Format::Vop3 => "VOP3",
            Format::Vop3p => "VOP3P",
            Format::Vinterp => "VINTERP",
            Format::Vopd => "VOPD",
            Format::Ds => "DS",
            Format::Flat => "FLAT",
            Format::Global => "GLOBAL",
            Format::Scratch => "SCRATCH",
            Format::Mubuf => "MUBUF",
            Format::Mtbuf => "MTBUF",
            Format::Mimg => "MIMG",
            Format::Exp => "EXP",
            Format::Ldsdir => "LDSDIR",
        }
    }
}

/// A bit field of an instruction's first three dwords; none, when it has no bits, which reads as 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    shift: u8,
    width: u8,
}

impl Field {
    /// Bits `high` down to `low`, numbered as AMD's documents number them.
    pub(crate) const fn bits(high: u8, low: u8) -> Field {
        Field { shift: low, width: high - low + 1 }
    }

    /// A field that the generation lacks.
    pub(crate) const NONE: Field = Field { shift: 0, width: 0 };

    /// Whether the generation has it.
    pub(crate) const fn exists(self) -> bool {
        self.width > 0
    }

    pub(crate) const fn get(self, bits: u128) -> u32 {
        ((bits >> self.shift) & ((1 << self.width) - 1)) as u32
    }

    pub(crate) const fn flag(self, bits: u128) -> bool {
        self.get(bits) != 0
    }

    pub(crate) const fn width(self) -> u32 {
        self.width as u32
    }

    /// Whether its bits are part of another field.
    pub(crate) const fn is_in(self, other: Field) -> bool {
        self.shift >= other.shift && self.shift + self.width <= other.shift + other.width
    }

    /// The field as a two's-complement number.
    pub(crate) const fn signed(self, bits: u128) -> i32 {
        let unused = 32 - self.width as u32;
        ((self.get(bits) << unused) as i32) >> unused
    }
}

/// Opcode field and operations of one format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) number: Field,
    pub(crate) opcodes: &'static [Option<Opcode>],
}

/// Field positions of scalar memory.
#[derive(Debug)]
pub(crate) struct Smem {
    pub(crate) sbase: Field,
    pub(crate) sdata: Field,
    pub(crate) soffset: Field,
    pub(crate) offset: Field,
    pub(crate) glc: Field,
    pub(crate) dlc: Field,
    pub(crate) th: Field,
    pub(crate) scope: Field,
    /// Where bits say which offsets there are; otherwise there are both.
    pub(crate) choice: Option<OffsetChoice>,
    pub(crate) zero_offset: ZeroOffset,
}

/// Bits of gfx9's scalar memory that say which offsets there are. Without either, `offset` names a register.
#[derive(Debug)]
pub(crate) struct OffsetChoice {
    pub(crate) imm: Field,
    pub(crate) soffset_en: Field,
}

/// When an immediate offset of zero is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZeroOffset {
    /// Never: without a register offset there is a `null` one.
    Never,
    /// Where there is no register offset.
    Alone,
    Always,
}

/// Field positions of FLAT, GLOBAL and SCRATCH.
#[derive(Debug)]
pub(crate) struct Flat {
    /// Dwords of an instruction.
    pub(crate) dwords: u8,
    /// Which of the three it is, where they have one prefix.
    pub(crate) segment: Option<Field>,
    pub(crate) vdst: Field,
    pub(crate) addr: Field,
    pub(crate) data: Field,
    pub(crate) saddr: Field,
    /// `saddr` where there is no scalar address.
    pub(crate) no_saddr: u32,
    pub(crate) offset: Field,
    /// FLAT's offset, where it is unsigned.
    pub(crate) flat_offset: Field,
    /// `saddr` where SCRATCH has neither a scalar nor a vector address.
    pub(crate) no_address: Option<u32>,
    /// Of SCRATCH. Without the field there is a vector address where there is no scalar one.
    pub(crate) sve: Field,
    pub(crate) glc: Field,
    pub(crate) slc: Field,
    pub(crate) dlc: Field,
    pub(crate) th: Field,
    pub(crate) scope: Field,
    pub(crate) acc: Field,
    pub(crate) lds: Field,
}

/// Field positions of untyped buffers.
#[derive(Debug)]
pub(crate) struct Mubuf {
    /// Dwords of an instruction.
    pub(crate) dwords: u8,
    pub(crate) vdata: Field,
    pub(crate) vaddr: Field,
    pub(crate) srsrc: Field,
    /// SGPRs that `srsrc` counts.
    pub(crate) srsrc_unit: u8,
    pub(crate) soffset: Field,
    pub(crate) offset: Field,
    pub(crate) offen: Field,
    pub(crate) idxen: Field,
    pub(crate) glc: Field,
    pub(crate) slc: Field,
    pub(crate) dlc: Field,
    pub(crate) th: Field,
    pub(crate) scope: Field,
    pub(crate) tfe: Field,
    pub(crate) lds: Field,
    pub(crate) acc: Field,
    /// Of typed buffers.
    pub(crate) format: Field,
}

/// Field positions of LDS.
#[derive(Debug)]
pub(crate) struct Ds {
    pub(crate) vdst: Field,
    pub(crate) addr: Field,
    pub(crate) data0: Field,
    pub(crate) data1: Field,
    pub(crate) offset0: Field,
    pub(crate) offset1: Field,
    pub(crate) gds: Field,
    /// Whether there is GDS memory, not only its barriers.
    pub(crate) has_gds: bool,
    pub(crate) acc: Field,
}

/// Which of a matrix operation's operands may be accumulation registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accumulators {
    /// The destination and the addend always are.
    Always,
    /// A bit says so.
    ByBit,
}

/// Everything that differs between generations.
#[derive(Debug)]
pub(crate) struct Encoding {
    /// Format by the top nine bits of the first dword.
    pub(crate) formats: [Option<Format>; 512],
    /// Operations by format.
    pub(crate) tables: [Table; Format::COUNT],
    /// By operation, whether it has a 32-bit vector encoding (VOP1, VOP2 or VOPC).
    pub(crate) short_forms: [bool; Opcode::ALL.len()],
    /// The generation's own names, by operation.
    pub(crate) names: [&'static str; Opcode::ALL.len()],
    /// Names of messages (S_SENDMSG, S_SENDMSG_RTN).
    pub(crate) messages: &'static [(u16, &'static str)],
    /// Names of hardware registers (S_GETREG, S_SETREG).
    pub(crate) hardware_registers: &'static [(u16, &'static str)],
    /// Highest bit of typed buffers' opcode, in the second dword.
    pub(crate) mtbuf_high: Field,
    /// VOPD's second opcode field; the first is in `tables`.
    pub(crate) vopd_y: Field,
    pub(crate) smem: Smem,
    pub(crate) flat: Flat,
    pub(crate) mubuf: Mubuf,
    pub(crate) mtbuf: Mubuf,
    pub(crate) ds: Ds,
    /// Ordinary scalar registers; codes from here to VCC are special ones.
    pub(crate) sgprs: u32,
    /// Code of M0.
    pub(crate) m0: u32,
    /// Code of NULL, where there is one.
    pub(crate) null: Option<u32>,
    /// Special sources that only some generations have: VCCZ, EXECZ, LDS_DIRECT.
    pub(crate) special_sources: &'static [u32],
    /// DPP16's controls, as ranges.
    pub(crate) dpp16: &'static [(u16, u16)],
    /// Controls with which operands of 64 bits can be moved, too.
    pub(crate) dpp16_wide: (u16, u16),
    /// Whether tuples of VGPRs begin at even ones.
    pub(crate) even_tuples: bool,
    /// Whether there is DPP8.
    pub(crate) dpp8: bool,
    /// Whether there is SDWA.
    pub(crate) sdwa: bool,
    /// Whether VOP3 and VOP3P can have a literal.
    pub(crate) long_literals: bool,
    /// Whether VOP3, VOP3P and VOPC can have a DPP dword.
    pub(crate) long_dpp: bool,
    /// Whether 32-bit encodings name halves of registers.
    pub(crate) true16: bool,
    /// Whether 16-bit results leave the rest of their registers alone although no encoding names halves.
    pub(crate) preserves_high_half: bool,
    /// Whether V_CMPX writes its scalar destination beside EXEC.
    pub(crate) cmpx_writes_sdst: bool,
    /// Operations spelt as having a VOP3 form in spite of [`Flags::NO_VOP3`](crate::Flags::NO_VOP3).
    pub(crate) long_forms: &'static [Opcode],
    /// Operations without a VOP3 form in spite of lacking that flag.
    pub(crate) no_long_forms: &'static [Opcode],
    /// Operations whose `op_sel` means nothing in spite of [`Flags::OP_SEL`](crate::Flags::OP_SEL).
    pub(crate) no_op_sel: &'static [Opcode],
    /// Whether conversions of bytes to or from floats select a byte instead of halves.
    pub(crate) byte_select: bool,
    /// Whether matrix operations of doubles negate by the bits that permute lanes otherwise.
    pub(crate) matrix_negation: bool,
    /// Accumulation registers of matrix operations.
    pub(crate) accumulators: Accumulators,
    /// Names of the cache policy bits, in the order glc, slc, dlc; empty where scope and temporal hint
    /// are the policy.
    pub(crate) cache_names: [&'static str; 3],
    /// Whether the cache policy of BUFFER_WBL2 and BUFFER_INV is their scope, and is shown.
    pub(crate) scoped_write_back: bool,
    /// S_WAITCNT's counters.
    pub(crate) wait_counts: WaitCounts,
    /// Typed buffers' formats where data and number format are one number, from 1 on: data formats in order, each with
    /// a set of number formats (UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT: a bit each).
    pub(crate) unified_formats: &'static [(&'static str, u8)],
    /// Whether messages are four bits, followed by an operation and a stream.
    pub(crate) message_operations: bool,
}

/// Bits of S_WAITCNT's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitCounts {
    /// Low and high bits.
    pub(crate) vmcnt: [Field; 2],
    pub(crate) expcnt: Field,
    pub(crate) lgkmcnt: Field,
}

impl Encoding {
    pub(crate) fn of(generation: Generation) -> &'static Encoding {
        match generation {
            Generation::Gfx10_3 => &gfx10::GFX10_3,
            Generation::Gfx11 => &gfx11::GFX11,
            Generation::Gfx11_5 => &gfx11::GFX11_5,
            Generation::Gfx12 => &gfx12::GFX12,
            Generation::Gfx906 => &gfx9::GFX906,
            Generation::Gfx908 => &gfx9::GFX908,
            Generation::Gfx90a => &gfx9::GFX90A,
            Generation::Gfx942 => &gfx9::GFX942,
            Generation::Gfx950 => &gfx9::GFX950,
        }
    }

    pub(crate) fn format(&self, word: u32) -> Option<Format> {
        self.formats[(word >> 23) as usize]
    }

    pub(crate) fn has_long_form(&self, opcode: Opcode) -> bool {
        match opcode.info().flags.contains(Flags::NO_VOP3) {
            true => self.long_forms.contains(&opcode),
            false => !self.no_long_forms.contains(&opcode),
        }
    }

    pub(crate) fn has_short_form(&self, opcode: Opcode) -> bool {
        self.short_forms[opcode as usize]
    }

    /// The generation's own name of an operation.
    pub(crate) fn name(&self, opcode: Opcode) -> &'static str {
        self.names[opcode as usize]
    }

    pub(crate) fn table(&self, format: Format) -> &Table {
        &self.tables[format as usize]
    }
}

/// Operations with their numbers.
type Rows = &'static [(u16, Opcode)];

/// Expands rows of (number, operation) to a table indexed by number. Fails to compile when two rows
/// have one number or a number does not fit.
const fn dense<const N: usize>(lists: &[Rows]) -> [Option<Opcode>; N] {
    let mut table = [None; N];
    let mut list = 0;
    while list < lists.len() {
        let rows = lists[list];
        let mut row = 0;
        while row < rows.len() {
            let (number, opcode) = rows[row];
            assert!(table[number as usize].is_none(), "two operations have one number");
            table[number as usize] = Some(opcode);
            row += 1;
        }
        list += 1;
    }
    table
}

/// Expands rows of (leading bits, how many, format) to a table indexed by nine leading bits. Longer
/// prefixes win.
const fn prefixes(rows: &[(u16, u8, Format)]) -> [Option<Format>; 512] {
    let mut table = [None; 512];
    let mut length = 1;
    while length <= 9 {
        let mut row = 0;
        while row < rows.len() {
            let (prefix, bits, format) = rows[row];
            if bits == length {
                let first = (prefix as usize) << (9 - bits);
                let mut index = first;
                while index < first + (1 << (9 - bits)) {
                    table[index] = Some(format);
                    index += 1;
                }
            }
            row += 1;
        }
        length += 1;
    }
    table
}

/// Marks the operations in rows of (number, operation) of several formats.
const fn marked(formats: &[&[Rows]]) -> [bool; Opcode::ALL.len()] {
    let mut table = [false; Opcode::ALL.len()];
    let mut format = 0;
    while format < formats.len() {
        let lists = formats[format];
        let mut list = 0;
        while list < lists.len() {
            let mut row = 0;
            while row < lists[list].len() {
                table[lists[list][row].1 as usize] = true;
                row += 1;
            }
            list += 1;
        }
        format += 1;
    }
    table
}

/// Names by operation: the neutral ones but for rows of (operation, name). Later rows win.
const fn named(lists: &[&[(Opcode, &'static str)]]) -> [&'static str; Opcode::ALL.len()] {
    let mut table = [""; Opcode::ALL.len()];
    let mut index = 0;
    while index < table.len() {
        table[index] = Opcode::ALL[index].name();
        index += 1;
    }
    let mut list = 0;
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            table[lists[list][row].0 as usize] = lists[list][row].1;
            row += 1;
        }
        list += 1;
    }
    table
}

/// Adds the VOP3 numbers of operations with a 32-bit encoding, given as rows of (number, operation) and
/// the number that theirs count from: VOPC from 0, VOP2 from 256, VOP1 from 384 (gfx9: 320).
const fn promoted<const N: usize>(
    mut vop3: [Option<Opcode>; N],
    ranges: &[(&[Rows], usize)],
) -> [Option<Opcode>; N] {
    let mut range = 0;
    while range < ranges.len() {
        let (lists, base) = ranges[range];
        let mut list = 0;
        while list < lists.len() {
            let mut row = 0;
            while row < lists[list].len() {
                let (number, opcode) = lists[list][row];
                // The packed multiply-add has no VOP3 form on any generation.
                if opcode as u16 != Opcode::V_PK_FMAC_F16 as u16 {
                    vop3[base + number as usize] = Some(opcode);
                }
                row += 1;
            }
            list += 1;
        }
        range += 1;
    }
    vop3
}

const fn table(high: u8, low: u8, opcodes: &'static [Option<Opcode>]) -> Table {
    Table { number: Field::bits(high, low), opcodes }
}
