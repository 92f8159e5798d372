//! RDNA3 (gfx11) and RDNA3.5 (gfx11.5).
//!
//! Field positions: RDNA3 ISA document, chapter "Microcode formats"; the same as in tinygrad's
//! generated `runtime/autogen/amd/rdna3/ins.py`.

use super::gfx9::memory::MTBUF;
use super::{
    Accumulators, Ds, Encoding, Field, Flat, Format, Mubuf, Rows, Smem, Table, WaitCounts,
    ZeroOffset, dense, marked, named, prefixes, promoted, table,
};
use crate::Opcode;

pub(super) mod compare;
pub(super) mod memory;
mod registers;
pub(super) mod scalar;
pub(super) mod vector;

pub(super) static GFX11: Encoding = encoding(&SCALAR_GFX11);
pub(super) static GFX11_5: Encoding = encoding(&SCALAR_GFX11_5);

/// The formats in which gfx11 and gfx11.5 differ.
struct Scalar {
    sop1: [Option<Opcode>; 256],
    sop2: [Option<Opcode>; 128],
    sopc: [Option<Opcode>; 128],
    sopp: [Option<Opcode>; 128],
}

static SCALAR_GFX11: Scalar = Scalar {
    sop1: dense(&[scalar::SOP1]),
    sop2: dense(&[scalar::SOP2]),
    sopc: dense(&[scalar::SOPC]),
    sopp: dense(&[scalar::SOPP, scalar::SOPP_GFX11]),
};
static SCALAR_GFX11_5: Scalar = Scalar {
    sop1: dense(&[scalar::SOP1, scalar::SOP1_GFX11_5]),
    sop2: dense(&[scalar::SOP2, scalar::SOP2_GFX11_5]),
    sopc: dense(&[scalar::SOPC, scalar::SOPC_GFX11_5]),
    sopp: dense(&[scalar::SOPP, scalar::SOPP_GFX11, scalar::SOPP_GFX11_5]),
};
static SOPK: [Option<Opcode>; 32] = dense(&[scalar::SOPK, scalar::SOPK_GFX11]);
static SMEM: [Option<Opcode>; 256] = dense(&[scalar::SMEM, scalar::SMEM_GFX11]);
const VOP1_LISTS: &[Rows] = &[vector::VOP1, vector::VOP1_SINCE_GFX11];
const VOP2_LISTS: &[Rows] = &[vector::VOP2, vector::VOP2_SINCE_GFX11, vector::VOP2_GFX11];
static VOP1: [Option<Opcode>; 256] = dense(VOP1_LISTS);
static VOP2: [Option<Opcode>; 64] = dense(VOP2_LISTS);
static VOPC: [Option<Opcode>; 256] = dense(&[compare::VOPC, compare::VOPC_GFX11]);
static VOP3: [Option<Opcode>; 1024] = promoted(
    dense(&[vector::VOP3, vector::VOP3_GFX11]),
    &[(&[compare::VOPC, compare::VOPC_GFX11], 0), (VOP2_LISTS, 256), (VOP1_LISTS, 384)],
);
static VOP3P: [Option<Opcode>; 128] = dense(&[
    vector::VOP3P,
    vector::VOP3P_SINCE_GFX11,
    vector::VOP3P_BEFORE_GFX12,
    vector::VOP3P_GFX11,
]);
static VINTERP: [Option<Opcode>; 128] = dense(&[vector::VINTERP]);
static VOPD: [Option<Opcode>; 32] = dense(&[vector::VOPD]);
static MTBUF_TABLE: [Option<Opcode>; 16] = dense(&[MTBUF]);
static DS: [Option<Opcode>; 256] = dense(&[
    memory::DS,
    memory::DS_SINCE_GFX10,
    memory::DS_SINCE_GFX11,
    memory::DS_BEFORE_GFX12,
    memory::DS_GFX11,
]);
static FLAT: [Option<Opcode>; 128] = dense(&[memory::FLAT, memory::FLAT_GFX11]);
static GLOBAL: [Option<Opcode>; 128] = dense(&[memory::GLOBAL, memory::GLOBAL_GFX11]);
static SCRATCH: [Option<Opcode>; 128] = dense(&[memory::SCRATCH, memory::SCRATCH_GFX11]);
static MUBUF: [Option<Opcode>; 256] = dense(&[memory::MUBUF, memory::MUBUF_GFX11]);

const fn encoding(scalar: &'static Scalar) -> Encoding {
    let none = Table { number: Field::bits(25, 18), opcodes: &[] };
    let mut tables = [none; Format::COUNT];
    tables[Format::Sop1 as usize] = table(15, 8, &scalar.sop1);
    tables[Format::Sop2 as usize] = table(29, 23, &scalar.sop2);
    tables[Format::Sopc as usize] = table(22, 16, &scalar.sopc);
    tables[Format::Sopk as usize] = table(27, 23, &SOPK);
    tables[Format::Sopp as usize] = table(22, 16, &scalar.sopp);
    tables[Format::Smem as usize] = table(25, 18, &SMEM);
    tables[Format::Vop1 as usize] = table(16, 9, &VOP1);
    tables[Format::Vop2 as usize] = table(30, 25, &VOP2);
    tables[Format::Vopc as usize] = table(24, 17, &VOPC);
    tables[Format::Vop3 as usize] = table(25, 16, &VOP3);
    tables[Format::Vop3p as usize] = table(22, 16, &VOP3P);
    tables[Format::Vinterp as usize] = table(22, 16, &VINTERP);
    tables[Format::Vopd as usize] = table(25, 22, &VOPD);
    tables[Format::Ds as usize] = table(25, 18, &DS);
    tables[Format::Flat as usize] = table(24, 18, &FLAT);
    tables[Format::Global as usize] = table(24, 18, &GLOBAL);
    tables[Format::Scratch as usize] = table(24, 18, &SCRATCH);
    tables[Format::Mubuf as usize] = table(25, 18, &MUBUF);
    tables[Format::Mtbuf as usize] = table(18, 15, &MTBUF_TABLE);
    Encoding {
        formats: prefixes(&[
            (0b1_0111_1101, 9, Format::Sop1),
            (0b1_0111_1110, 9, Format::Sopc),
            (0b1_0111_1111, 9, Format::Sopp),
            (0b1011, 4, Format::Sopk),
            (0b10, 2, Format::Sop2),
            (0b11_1101, 6, Format::Smem),
            (0b011_1111, 7, Format::Vop1),
            (0b011_1110, 7, Format::Vopc),
            (0b0, 1, Format::Vop2),
            (0b11_0101, 6, Format::Vop3),
            (0b1100_1100, 8, Format::Vop3p),
            (0b1100_1101, 8, Format::Vinterp),
            (0b1100_1110, 8, Format::Ldsdir),
            (0b11_0010, 6, Format::Vopd),
            (0b11_0110, 6, Format::Ds),
            (0b11_0111, 6, Format::Flat),
            (0b11_1000, 6, Format::Mubuf),
            (0b11_1010, 6, Format::Mtbuf),
            (0b11_1100, 6, Format::Mimg),
            (0b11_1110, 6, Format::Exp),
        ]),
        tables,
        short_forms: marked(&[VOP1_LISTS, VOP2_LISTS, &[compare::VOPC, compare::VOPC_GFX11]]),
        names: named(&[]),
        messages: registers::MESSAGES,
        unified_formats: memory::FORMATS,
        message_operations: false,
        hardware_registers: registers::HARDWARE_REGISTERS,
        mtbuf_high: Field::NONE,
        vopd_y: Field::bits(21, 17),
        smem: Smem {
            sbase: Field::bits(5, 0),
            sdata: Field::bits(12, 6),
            soffset: Field::bits(63, 57),
            offset: Field::bits(52, 32),
            glc: Field::bits(14, 14),
            dlc: Field::bits(13, 13),
            th: Field::NONE,
            scope: Field::NONE,
            choice: None,
            zero_offset: ZeroOffset::Never,
        },
        flat: Flat {
            dwords: 2,
            segment: Some(Field::bits(17, 16)),
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data: Field::bits(47, 40),
            saddr: Field::bits(54, 48),
            no_saddr: 124,
            offset: Field::bits(12, 0),
            flat_offset: Field::bits(11, 0),
            no_address: None,
            sve: Field::bits(55, 55),
            glc: Field::bits(14, 14),
            slc: Field::bits(15, 15),
            dlc: Field::bits(13, 13),
            th: Field::NONE,
            scope: Field::NONE,
            acc: Field::NONE,
            lds: Field::NONE,
        },
        mubuf: BUFFER,
        mtbuf: Mubuf { format: Field::bits(25, 19), ..BUFFER },
        ds: Ds {
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data0: Field::bits(47, 40),
            data1: Field::bits(55, 48),
            offset0: Field::bits(7, 0),
            offset1: Field::bits(15, 8),
            gds: Field::bits(17, 17),
            has_gds: true,
            acc: Field::NONE,
        },
        sgprs: 106,
        m0: 125,
        null: Some(124),
        special_sources: &[],
        dpp16: DPP16,
        dpp16_wide: (1, 0),
        even_tuples: false,
        dpp8: true,
        sdwa: false,
        long_literals: true,
        long_dpp: true,
        true16: true,
        cmpx_writes_sdst: false,
        long_forms: &[],
        no_long_forms: &[],
        no_op_sel: &[],
        byte_select: false,
        preserves_high_half: false,
        matrix_negation: false,
        accumulators: Accumulators::ByBit,
        cache_names: ["glc", "slc", "dlc"],
        scoped_write_back: false,
        wait_counts: WAIT_COUNTS,
    }
}

/// S_WAITCNT.
pub(super) const WAIT_COUNTS: WaitCounts = WaitCounts {
    vmcnt: [Field::bits(15, 10), Field::NONE],
    expcnt: Field::bits(2, 0),
    lgkmcnt: Field::bits(9, 4),
};

/// DPP16: quads, shifts and rotations of a row, mirrors, shares and exchanges of a row's lanes.
pub(super) const DPP16: &[(u16, u16)] =
    &[(0, 0xff), (0x101, 0x10f), (0x111, 0x11f), (0x121, 0x12f), (0x140, 0x141), (0x150, 0x16f)];

const BUFFER: Mubuf = Mubuf {
    dwords: 2,
    vdata: Field::bits(47, 40),
    vaddr: Field::bits(39, 32),
    srsrc: Field::bits(52, 48),
    srsrc_unit: 4,
    soffset: Field::bits(63, 56),
    offset: Field::bits(11, 0),
    offen: Field::bits(54, 54),
    idxen: Field::bits(55, 55),
    glc: Field::bits(14, 14),
    slc: Field::bits(12, 12),
    dlc: Field::bits(13, 13),
    th: Field::NONE,
    scope: Field::NONE,
    tfe: Field::bits(53, 53),
    lds: Field::NONE,
    acc: Field::NONE,
    format: Field::NONE,
};
