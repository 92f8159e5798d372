//! How generations encode operations: tables that differ, read by one decoder.

use crate::{Generation, Opcode};

mod gfx11;

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

/// A bit field of an instruction's first two dwords.
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

    pub(crate) const fn get(self, bits: u64) -> u32 {
        ((bits >> self.shift) & ((1 << self.width) - 1)) as u32
    }

    pub(crate) const fn flag(self, bits: u64) -> bool {
        (bits >> self.shift) & 1 != 0
    }

    /// The field as a two's-complement number.
    pub(crate) const fn signed(self, bits: u64) -> i32 {
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
}

/// Field positions of FLAT, GLOBAL and SCRATCH.
#[derive(Debug)]
pub(crate) struct Flat {
    pub(crate) segment: Field,
    pub(crate) vdst: Field,
    pub(crate) addr: Field,
    pub(crate) data: Field,
    pub(crate) saddr: Field,
    pub(crate) offset: Field,
    pub(crate) sve: Field,
    pub(crate) glc: Field,
    pub(crate) slc: Field,
    pub(crate) dlc: Field,
}

/// Field positions of untyped buffers.
#[derive(Debug)]
pub(crate) struct Mubuf {
    pub(crate) vdata: Field,
    pub(crate) vaddr: Field,
    pub(crate) srsrc: Field,
    pub(crate) soffset: Field,
    pub(crate) offset: Field,
    pub(crate) offen: Field,
    pub(crate) idxen: Field,
    pub(crate) glc: Field,
    pub(crate) slc: Field,
    pub(crate) dlc: Field,
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
        }
    }

    pub(crate) fn format(&self, word: u32) -> Option<Format> {
        self.formats[(word >> 23) as usize]
    }

    pub(crate) fn has_short_form(&self, opcode: Opcode) -> bool {
        self.short_forms[opcode as usize]
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
