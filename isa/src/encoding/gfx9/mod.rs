//! gfx9: Vega 7nm (gfx906) and CDNA (gfx908, gfx90a, gfx942, gfx950).
//!
//! Field positions: AMD "Vega 7nm", "Instinct MI100", "MI200" and "MI300" ISA documents, chapter "Microcode
//! formats"; for gfx942 the same as in tinygrad's generated `runtime/autogen/amd/cdna/ins.py`; all of them as LLVM
//! 19's disassembler reads them.

use super::gfx11::memory as memory11;
use super::{
    Accumulators, Ds, Encoding, Field, Flat, Format, Mubuf, OffsetChoice, Rows, Smem, Table,
    WaitCounts, ZeroOffset, dense, marked, named, prefixes, promoted, table,
};
use crate::Opcode;
use compare::VOPC;
use lds::*;
use memory::*;
use packed::*;
use scalar::{SMEM, SOP1, SOP2, SOPC, SOPC_GFX9, SOPK, SOPP, SOPP_GFX9};
use vector::*;

mod compare;
mod lds;
pub(super) mod memory;
pub(super) mod names;
mod packed;
mod registers;
pub(super) mod scalar;
mod vector;

/// Operations of one processor, in the formats in which processors differ.
struct Lists {
    vop1: &'static [Rows],
    vop2: &'static [Rows],
    vop3: &'static [Rows],
    vop3p: &'static [Rows],
    ds: &'static [Rows],
    flat: &'static [Rows],
    global: &'static [Rows],
    scratch: &'static [Rows],
    mubuf: &'static [Rows],
}

const LISTS_GFX906: Lists = Lists {
    vop1: &[VOP1],
    vop2: &[VOP2, VOP2_BEFORE_GFX942, VOP2_GFX906_GFX908],
    vop3: &[VOP3, VOP3_BEFORE_GFX942],
    vop3p: &[VOP3P],
    ds: &[memory11::DS, DS_GFX9, DS_GFX906_GFX908],
    flat: &[FLAT],
    global: &[GLOBAL],
    scratch: &[SCRATCH],
    mubuf: &[MUBUF, MUBUF_BEFORE_GFX950],
};
const LISTS_GFX908: Lists = Lists {
    vop1: &[VOP1],
    vop2: &[VOP2, VOP2_BEFORE_GFX942, VOP2_GFX906_GFX908, VOP2_SINCE_GFX908],
    vop3: &[VOP3, VOP3_BEFORE_GFX942],
    vop3p: &[VOP3P, VOP3P_GFX908_GFX90A, VOP3P_SINCE_GFX908],
    ds: &[memory11::DS, DS_GFX9, DS_GFX906_GFX908],
    flat: &[FLAT],
    global: &[GLOBAL, GLOBAL_SINCE_GFX908],
    scratch: &[SCRATCH],
    mubuf: &[MUBUF, MUBUF_BEFORE_GFX950, MUBUF_SINCE_GFX908],
};
const LISTS_GFX90A: Lists = Lists {
    vop1: &[VOP1, VOP1_SINCE_GFX90A],
    vop2: &[VOP2, VOP2_BEFORE_GFX942, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A],
    vop3: &[VOP3, VOP3_BEFORE_GFX942, VOP3_SINCE_GFX90A],
    vop3p: &[VOP3P, VOP3P_GFX908_GFX90A, VOP3P_SINCE_GFX908, VOP3P_GFX90A, VOP3P_SINCE_GFX90A],
    ds: &[memory11::DS, DS_GFX9, DS_SINCE_GFX90A],
    flat: &[FLAT, FLAT_SINCE_GFX90A],
    global: &[GLOBAL, GLOBAL_SINCE_GFX908, GLOBAL_SINCE_GFX90A],
    scratch: &[SCRATCH],
    mubuf: &[MUBUF, MUBUF_BEFORE_GFX950, MUBUF_SINCE_GFX908, MUBUF_GFX90A, MUBUF_SINCE_GFX90A],
};
const LISTS_GFX942: Lists = Lists {
    vop1: &[VOP1, VOP1_SINCE_GFX90A, VOP1_SINCE_GFX942],
    vop2: &[VOP2, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A, VOP2_SINCE_GFX942],
    vop3: &[VOP3, VOP3_SINCE_GFX90A, VOP3_SINCE_GFX942],
    vop3p: &[VOP3P, VOP3P_SINCE_GFX908, VOP3P_SINCE_GFX90A, VOP3P_SINCE_GFX942, VOP3P_GFX942],
    ds: &[memory11::DS, DS_GFX9, DS_SINCE_GFX90A, DS_SINCE_GFX942],
    flat: &[FLAT, FLAT_SINCE_GFX90A, FLAT_SINCE_GFX942],
    global: &[GLOBAL, GLOBAL_SINCE_GFX908, GLOBAL_SINCE_GFX90A, GLOBAL_SINCE_GFX942],
    scratch: &[SCRATCH, SCRATCH_SINCE_GFX942],
    mubuf: &[
        MUBUF,
        MUBUF_BEFORE_GFX950,
        MUBUF_SINCE_GFX908,
        MUBUF_SINCE_GFX90A,
        MUBUF_SINCE_GFX942,
    ],
};
const LISTS_GFX950: Lists = Lists {
    vop1: &[VOP1, VOP1_SINCE_GFX90A, VOP1_SINCE_GFX942, VOP1_GFX950],
    vop2: &[VOP2, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A, VOP2_SINCE_GFX942, VOP2_GFX950],
    vop3: &[VOP3, VOP3_SINCE_GFX90A, VOP3_SINCE_GFX942, VOP3_GFX950, VOP3_SCALED_GFX950],
    vop3p: &[VOP3P, VOP3P_SINCE_GFX908, VOP3P_SINCE_GFX90A, VOP3P_SINCE_GFX942, VOP3P_GFX950],
    ds: &[memory11::DS, DS_GFX9, DS_SINCE_GFX90A, DS_SINCE_GFX942, DS_GFX950],
    flat: &[FLAT, FLAT_SINCE_GFX90A, FLAT_SINCE_GFX942],
    global: &[GLOBAL, GLOBAL_SINCE_GFX908, GLOBAL_SINCE_GFX90A, GLOBAL_SINCE_GFX942, GLOBAL_GFX950],
    scratch: &[SCRATCH, SCRATCH_SINCE_GFX942],
    mubuf: &[MUBUF, MUBUF_SINCE_GFX908, MUBUF_SINCE_GFX90A, MUBUF_SINCE_GFX942, MUBUF_GFX950],
};

/// The same, indexed by number.
struct Tables {
    vop1: [Option<Opcode>; 256],
    vop2: [Option<Opcode>; 64],
    vop3: [Option<Opcode>; 1024],
    vop3p: [Option<Opcode>; 128],
    ds: [Option<Opcode>; 256],
    flat: [Option<Opcode>; 128],
    global: [Option<Opcode>; 128],
    scratch: [Option<Opcode>; 128],
    mubuf: [Option<Opcode>; 128],
}

impl Tables {
    const fn of(lists: &Lists) -> Tables {
        Tables {
            vop1: dense(lists.vop1),
            vop2: dense(lists.vop2),
            vop3: promoted(
                dense(lists.vop3),
                &[(&[VOPC], 0), (lists.vop2, 256), (lists.vop1, 320)],
            ),
            vop3p: dense(lists.vop3p),
            ds: dense(lists.ds),
            flat: dense(lists.flat),
            global: dense(lists.global),
            scratch: dense(lists.scratch),
            mubuf: dense(lists.mubuf),
        }
    }
}

static TABLES_GFX906: Tables = Tables::of(&LISTS_GFX906);
static TABLES_GFX908: Tables = Tables::of(&LISTS_GFX908);
static TABLES_GFX90A: Tables = Tables::of(&LISTS_GFX90A);
static TABLES_GFX942: Tables = Tables::of(&LISTS_GFX942);
static TABLES_GFX950: Tables = Tables::of(&LISTS_GFX950);
static SOP1_TABLE: [Option<Opcode>; 256] = dense(&[SOP1]);
static SOP2_TABLE: [Option<Opcode>; 128] = dense(&[SOP2]);
static SOPC_TABLE: [Option<Opcode>; 128] = dense(&[SOPC, SOPC_GFX9]);
static SOPK_TABLE: [Option<Opcode>; 32] = dense(&[SOPK]);
static SOPP_TABLE: [Option<Opcode>; 128] = dense(&[SOPP, SOPP_GFX9]);
static SMEM_TABLE: [Option<Opcode>; 256] = dense(&[SMEM]);
static VOPC_TABLE: [Option<Opcode>; 256] = dense(&[VOPC]);
static MTBUF_TABLE: [Option<Opcode>; 16] = dense(&[MTBUF]);

/// Everything else in which processors differ.
struct Variant {
    /// Vector memory's bit for accumulation registers; the earlier processors have TFE there instead.
    acc: bool,
    /// The third cache policy bit.
    third_cache_bit: bool,
    /// Whether SCRATCH has a bit for its vector address, and matrix operations of doubles negation.
    sve: bool,
    even_tuples: bool,
    /// Whether LDS_DIRECT can be a source.
    lds_direct: bool,
    dpp16: &'static [(u16, u16)],
    dpp16_wide: (u16, u16),
    accumulators: Accumulators,
    cache_names: [&'static str; 3],
    scoped_write_back: bool,
    names: [&'static str; Opcode::ALL.len()],
    hardware_registers: &'static [(u16, &'static str)],
}

/// Rows: quads, shifts and rotations of a row, of the wave, mirrors, broadcasts of a row's last lane.
const DPP16: &[(u16, u16)] = &[
    (0, 0xff),
    (0x101, 0x10f),
    (0x111, 0x11f),
    (0x121, 0x12f),
    (0x130, 0x130),
    (0x134, 0x134),
    (0x138, 0x138),
    (0x13c, 0x13c),
    (0x140, 0x143),
];
/// With broadcasts of any lane of a row.
const DPP16_GFX90A: &[(u16, u16)] = &[
    (0, 0xff),
    (0x101, 0x10f),
    (0x111, 0x11f),
    (0x121, 0x12f),
    (0x130, 0x130),
    (0x134, 0x134),
    (0x138, 0x138),
    (0x13c, 0x13c),
    (0x140, 0x143),
    (0x150, 0x15f),
];

pub(super) static GFX906: Encoding = encoding(
    &LISTS_GFX906,
    &TABLES_GFX906,
    &Variant {
        acc: false,
        third_cache_bit: false,
        sve: false,
        even_tuples: false,
        lds_direct: true,
        dpp16: DPP16,
        dpp16_wide: (1, 0),
        accumulators: Accumulators::Always,
        cache_names: ["glc", "slc", ""],
        scoped_write_back: false,
        names: named(&[names::NAMES, names::NAMES_BEFORE_GFX942]),
        hardware_registers: registers::HARDWARE_REGISTERS,
    },
);
pub(super) static GFX908: Encoding = encoding(
    &LISTS_GFX908,
    &TABLES_GFX908,
    &Variant {
        acc: false,
        third_cache_bit: false,
        sve: false,
        even_tuples: false,
        lds_direct: true,
        dpp16: DPP16,
        dpp16_wide: (1, 0),
        accumulators: Accumulators::Always,
        cache_names: ["glc", "slc", ""],
        scoped_write_back: false,
        names: named(&[names::NAMES, names::NAMES_BEFORE_GFX942]),
        hardware_registers: registers::HARDWARE_REGISTERS,
    },
);
pub(super) static GFX90A: Encoding = encoding(
    &LISTS_GFX90A,
    &TABLES_GFX90A,
    &Variant {
        acc: true,
        third_cache_bit: true,
        sve: false,
        even_tuples: false,
        lds_direct: false,
        dpp16: DPP16_GFX90A,
        dpp16_wide: (0x150, 0x15f),
        accumulators: Accumulators::ByBit,
        cache_names: ["glc", "slc", "scc"],
        scoped_write_back: false,
        names: named(&[names::NAMES, names::NAMES_BEFORE_GFX942]),
        hardware_registers: registers::HARDWARE_REGISTERS,
    },
);
pub(super) static GFX942: Encoding = encoding(
    &LISTS_GFX942,
    &TABLES_GFX942,
    &Variant {
        acc: true,
        third_cache_bit: true,
        sve: true,
        even_tuples: false,
        lds_direct: false,
        dpp16: DPP16_GFX90A,
        dpp16_wide: (0x150, 0x15f),
        accumulators: Accumulators::ByBit,
        cache_names: ["sc0", "nt", "sc1"],
        scoped_write_back: true,
        names: named(&[names::NAMES]),
        hardware_registers: registers::HARDWARE_REGISTERS_GFX942,
    },
);
pub(super) static GFX950: Encoding = encoding(
    &LISTS_GFX950,
    &TABLES_GFX950,
    &Variant {
        acc: true,
        third_cache_bit: true,
        sve: true,
        even_tuples: true,
        lds_direct: false,
        dpp16: DPP16_GFX90A,
        dpp16_wide: (0x150, 0x15f),
        accumulators: Accumulators::ByBit,
        cache_names: ["sc0", "nt", "sc1"],
        scoped_write_back: true,
        names: named(&[names::NAMES]),
        hardware_registers: registers::HARDWARE_REGISTERS_GFX942,
    },
);

const fn encoding(lists: &Lists, operations: &'static Tables, variant: &Variant) -> Encoding {
    let none = Table { number: Field::bits(25, 18), opcodes: &[] };
    let mut tables = [none; Format::COUNT];
    tables[Format::Sop1 as usize] = table(15, 8, &SOP1_TABLE);
    tables[Format::Sop2 as usize] = table(29, 23, &SOP2_TABLE);
    tables[Format::Sopc as usize] = table(22, 16, &SOPC_TABLE);
    tables[Format::Sopk as usize] = table(27, 23, &SOPK_TABLE);
    tables[Format::Sopp as usize] = table(22, 16, &SOPP_TABLE);
    tables[Format::Smem as usize] = table(25, 18, &SMEM_TABLE);
    tables[Format::Vop1 as usize] = table(16, 9, &operations.vop1);
    tables[Format::Vop2 as usize] = table(30, 25, &operations.vop2);
    tables[Format::Vopc as usize] = table(24, 17, &VOPC_TABLE);
    tables[Format::Vop3 as usize] = table(25, 16, &operations.vop3);
    tables[Format::Vop3p as usize] = table(22, 16, &operations.vop3p);
    tables[Format::Ds as usize] = table(24, 17, &operations.ds);
    tables[Format::Flat as usize] = table(24, 18, &operations.flat);
    tables[Format::Global as usize] = table(24, 18, &operations.global);
    tables[Format::Scratch as usize] = table(24, 18, &operations.scratch);
    tables[Format::Mubuf as usize] = table(24, 18, &operations.mubuf);
    tables[Format::Mtbuf as usize] = table(18, 15, &MTBUF_TABLE);
    Encoding {
        formats: prefixes(&[
            (0b1_0111_1101, 9, Format::Sop1),
            (0b1_0111_1110, 9, Format::Sopc),
            (0b1_0111_1111, 9, Format::Sopp),
            (0b1011, 4, Format::Sopk),
            (0b10, 2, Format::Sop2),
            (0b11_0000, 6, Format::Smem),
            (0b011_1111, 7, Format::Vop1),
            (0b011_1110, 7, Format::Vopc),
            (0b0, 1, Format::Vop2),
            (0b11_0100, 6, Format::Vop3),
            (0b1_1010_0111, 9, Format::Vop3p),
            (0b11_0101, 6, Format::Vinterp),
            (0b11_0110, 6, Format::Ds),
            (0b11_0111, 6, Format::Flat),
            (0b11_1000, 6, Format::Mubuf),
            (0b11_1010, 6, Format::Mtbuf),
            (0b11_1100, 6, Format::Mimg),
            (0b11_0001, 6, Format::Exp),
        ]),
        tables,
        short_forms: marked(&[lists.vop1, lists.vop2, &[VOPC]]),
        names: variant.names,
        messages: registers::MESSAGES,
        unified_formats: &[],
        message_operations: true,
        hardware_registers: variant.hardware_registers,
        mtbuf_high: Field::NONE,
        vopd_y: Field::NONE,
        smem: Smem {
            sbase: Field::bits(5, 0),
            sdata: Field::bits(12, 6),
            soffset: Field::bits(63, 57),
            offset: Field::bits(52, 32),
            glc: Field::bits(16, 16),
            dlc: Field::NONE,
            th: Field::NONE,
            scope: Field::NONE,
            choice: Some(OffsetChoice {
                imm: Field::bits(17, 17),
                soffset_en: Field::bits(14, 14),
            }),
            zero_offset: ZeroOffset::Alone,
        },
        flat: Flat {
            dwords: 2,
            segment: Some(Field::bits(15, 14)),
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data: Field::bits(47, 40),
            saddr: Field::bits(54, 48),
            no_saddr: 127,
            offset: Field::bits(12, 0),
            flat_offset: Field::bits(11, 0),
            no_address: None,
            sve: bit_if(variant.sve, 13),
            glc: Field::bits(16, 16),
            slc: Field::bits(17, 17),
            dlc: bit_if(variant.third_cache_bit, 25),
            th: Field::NONE,
            scope: Field::NONE,
            acc: bit_if(variant.acc, 55),
            lds: bit_if(!variant.sve, 13),
        },
        mubuf: Mubuf {
            format: Field::NONE,
            lds: Field::bits(16, 16),
            slc: Field::bits(17, 17),
            dlc: bit_if(variant.third_cache_bit, 15),
            ..buffer(variant)
        },
        mtbuf: buffer(variant),
        ds: Ds {
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data0: Field::bits(47, 40),
            data1: Field::bits(55, 48),
            offset0: Field::bits(7, 0),
            offset1: Field::bits(15, 8),
            gds: Field::bits(16, 16),
            has_gds: !variant.acc,
            acc: bit_if(variant.acc, 25),
        },
        sgprs: 102,
        m0: 124,
        null: None,
        special_sources: if variant.lds_direct { &[251, 252, 254] } else { &[251, 252] },
        dpp16: variant.dpp16,
        dpp16_wide: variant.dpp16_wide,
        even_tuples: variant.even_tuples,
        dpp8: false,
        sdwa: true,
        long_literals: false,
        long_dpp: false,
        true16: false,
        cmpx_writes_sdst: true,
        long_forms: &[Opcode::V_DOT2ACC_F32_F16, Opcode::V_PK_FMAC_F16],
        no_long_forms: &[],
        no_op_sel: &[
            Opcode::V_ADD_NC_U16,
            Opcode::V_SUB_NC_U16,
            Opcode::V_CVT_F32_FP8,
            Opcode::V_CVT_F32_BF8,
            Opcode::V_CVT_PK_F32_FP8,
            Opcode::V_CVT_PK_F32_BF8,
        ],
        byte_select: false,
        preserves_high_half: false,
        matrix_negation: variant.sve,
        accumulators: variant.accumulators,
        cache_names: variant.cache_names,
        scoped_write_back: variant.scoped_write_back,
        wait_counts: WaitCounts {
            vmcnt: [Field::bits(3, 0), Field::bits(15, 14)],
            expcnt: Field::bits(6, 4),
            lgkmcnt: Field::bits(11, 8),
        },
    }
}

/// Typed buffers, and what untyped ones have in common with them.
const fn buffer(variant: &Variant) -> Mubuf {
    Mubuf {
        dwords: 2,
        vdata: Field::bits(47, 40),
        vaddr: Field::bits(39, 32),
        srsrc: Field::bits(52, 48),
        srsrc_unit: 4,
        soffset: Field::bits(63, 56),
        offset: Field::bits(11, 0),
        offen: Field::bits(12, 12),
        idxen: Field::bits(13, 13),
        glc: Field::bits(14, 14),
        slc: Field::bits(54, 54),
        dlc: bit_if(variant.third_cache_bit, 53),
        th: Field::NONE,
        scope: Field::NONE,
        tfe: bit_if(!variant.acc, 55),
        lds: Field::NONE,
        acc: bit_if(variant.acc, 55),
        format: Field::bits(25, 19),
    }
}

const fn bit_if(has: bool, bit: u8) -> Field {
    if has { Field::bits(bit, bit) } else { Field::NONE }
}
