//! How generations encode operations: tables that differ, read by one decoder.

use crate::{Generation, Opcode};

mod gfx11;
mod gfx12;

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
}

/// Field positions of FLAT, GLOBAL and SCRATCH.
#[derive(Debug)]
pub(crate) struct Flat {
    /// Dwords of an instruction.
    pub(crate) dwords: u8,
    /// Which of the three it is, where they have one prefix.
    pub(crate) segment: Option<Field>,
    /// Whether FLAT's offset is unsigned and lacks the most significant bit.
    pub(crate) flat_unsigned: bool,
    pub(crate) vdst: Field,
    pub(crate) addr: Field,
    pub(crate) data: Field,
    pub(crate) saddr: Field,
    pub(crate) offset: Field,
    pub(crate) sve: Field,
    pub(crate) glc: Field,
    pub(crate) slc: Field,
    pub(crate) dlc: Field,
    pub(crate) th: Field,
    pub(crate) scope: Field,
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
    /// VOPD's second opcode field; the first is in `tables`.
    pub(crate) vopd_y: Field,
    pub(crate) smem: Smem,
    pub(crate) flat: Flat,
    pub(crate) mubuf: Mubuf,
    pub(crate) ds: Ds,
}

impl Encoding {
    pub(crate) fn of(generation: Generation) -> &'static Encoding {
        match generation {
            Generation::Gfx11 => &gfx11::GFX11,
            Generation::Gfx11_5 => &gfx11::GFX11_5,
            Generation::Gfx12 => &gfx12::GFX12,
        }
    }

    pub(crate) fn format(&self, word: u32) -> Option<Format> {
        self.formats[(word >> 23) as usize]
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

/// Expands rows of (number, operation) to a table indexed by number. Fails to compile when two rows
/// have one number or a number does not fit.
const fn dense<const N: usize>(lists: &[&[(u16, Opcode)]]) -> [Option<Opcode>; N] {
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

/// Marks the operations in rows of (number, operation).
const fn marked(lists: &[&[(u16, Opcode)]]) -> [bool; Opcode::ALL.len()] {
    let mut table = [false; Opcode::ALL.len()];
    let mut list = 0;
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            table[lists[list][row].1 as usize] = true;
            row += 1;
        }
        list += 1;
    }
    table
}

/// Names by operation: the neutral ones but for `rows`.
const fn named(rows: &[(Opcode, &'static str)]) -> [&'static str; Opcode::ALL.len()] {
    let mut table = [""; Opcode::ALL.len()];
    let mut index = 0;
    while index < table.len() {
        table[index] = Opcode::ALL[index].name();
        index += 1;
    }
    let mut row = 0;
    while row < rows.len() {
        table[rows[row].0 as usize] = rows[row].1;
        row += 1;
    }
    table
}

/// Adds the VOP3 numbers of operations with a 32-bit encoding, given as rows of (number, operation) and
/// the number that theirs count from: on gfx11 and later VOPC from 0, VOP2 from 256, VOP1 from 384.
const fn promoted<const N: usize>(
    mut vop3: [Option<Opcode>; N],
    ranges: &[(&[(u16, Opcode)], usize)],
) -> [Option<Opcode>; N] {
    let mut range = 0;
    while range < ranges.len() {
        let (rows, base) = ranges[range];
        let mut row = 0;
        while row < rows.len() {
            let (number, opcode) = rows[row];
            vop3[base + number as usize] = Some(opcode);
            row += 1;
        }
        range += 1;
    }
    vop3
}

const fn table(high: u8, low: u8, opcodes: &'static [Option<Opcode>]) -> Table {
    Table { number: Field::bits(high, low), opcodes }
}
