//! RDNA4 (gfx12).
//!
//! Field positions: RDNA4 ISA document, chapter "Microcode formats"; the same as in tinygrad's
//! generated `runtime/autogen/amd/rdna4/ins.py`. What it has in common with gfx11 is taken from there.

use super::gfx11::{
    DPP16, WAIT_COUNTS, compare, memory as memory11, scalar as scalar11, vector as vector11,
};
use super::{
    Accumulators, Ds, Encoding, Field, Flat, Format, Mubuf, Rows, Smem, Table, ZeroOffset, dense,
    marked, named, prefixes, promoted, table,
};
use crate::Opcode;

mod memory;
mod names;
mod registers;
mod scalar;
mod vector;

pub(super) static GFX12: Encoding = encoding();

static SOP1: [Option<Opcode>; 256] = dense(&[scalar11::SOP1, scalar11::SOP1_GFX11_5, scalar::SOP1]);
static SOP2: [Option<Opcode>; 128] = dense(&[scalar11::SOP2, scalar11::SOP2_GFX11_5, scalar::SOP2]);
static SOPC: [Option<Opcode>; 128] = dense(&[scalar11::SOPC, scalar11::SOPC_GFX11_5]);
static SOPK: [Option<Opcode>; 32] = dense(&[scalar11::SOPK]);
static SOPP: [Option<Opcode>; 128] = dense(&[scalar11::SOPP, scalar11::SOPP_GFX11_5, scalar::SOPP]);
static SMEM: [Option<Opcode>; 64] = dense(&[scalar11::SMEM, scalar::SMEM]);
const VOP1_LISTS: &[Rows] = &[vector11::VOP1, vector11::VOP1_SINCE_GFX11, vector::VOP1];
const VOP2_LISTS: &[Rows] = &[vector11::VOP2, vector11::VOP2_SINCE_GFX11, vector::VOP2];
static VOP1: [Option<Opcode>; 256] = dense(VOP1_LISTS);
static VOP2: [Option<Opcode>; 64] = dense(VOP2_LISTS);
static VOPC: [Option<Opcode>; 256] = dense(&[compare::VOPC]);
static VOP3: [Option<Opcode>; 1024] = promoted(
    dense(&[vector11::VOP3, vector::VOP3]),
    &[(&[compare::VOPC], 0), (VOP2_LISTS, 256), (VOP1_LISTS, 384)],
);
static VOP3P: [Option<Opcode>; 128] =
    dense(&[vector11::VOP3P, vector11::VOP3P_SINCE_GFX11, vector::VOP3P]);
static VINTERP: [Option<Opcode>; 128] = dense(&[vector11::VINTERP]);
static VOPD: [Option<Opcode>; 32] = dense(&[vector11::VOPD]);
static DS: [Option<Opcode>; 256] =
    dense(&[memory11::DS, memory11::DS_SINCE_GFX10, memory11::DS_SINCE_GFX11, memory::DS]);
static VFLAT: [Option<Opcode>; 256] = dense(&[memory11::FLAT, memory::VFLAT]);
static VGLOBAL: [Option<Opcode>; 256] = dense(&[memory11::GLOBAL, memory::VGLOBAL]);
static VSCRATCH: [Option<Opcode>; 256] = dense(&[memory11::SCRATCH, memory::VSCRATCH]);
static VBUFFER: [Option<Opcode>; 256] = dense(&[memory11::MUBUF, memory::VBUFFER]);

const fn encoding() -> Encoding {
    let none = Table { number: Field::bits(21, 14), opcodes: &[] };
    let mut tables = [none; Format::COUNT];
    tables[Format::Sop1 as usize] = table(15, 8, &SOP1);
    tables[Format::Sop2 as usize] = table(29, 23, &SOP2);
    tables[Format::Sopc as usize] = table(22, 16, &SOPC);
    tables[Format::Sopk as usize] = table(27, 23, &SOPK);
    tables[Format::Sopp as usize] = table(22, 16, &SOPP);
    tables[Format::Smem as usize] = table(18, 13, &SMEM);
    tables[Format::Vop1 as usize] = table(16, 9, &VOP1);
    tables[Format::Vop2 as usize] = table(30, 25, &VOP2);
    tables[Format::Vopc as usize] = table(24, 17, &VOPC);
    tables[Format::Vop3 as usize] = table(25, 16, &VOP3);
    tables[Format::Vop3p as usize] = table(22, 16, &VOP3P);
    tables[Format::Vinterp as usize] = table(20, 16, &VINTERP);
    tables[Format::Vopd as usize] = table(25, 22, &VOPD);
    tables[Format::Ds as usize] = table(25, 18, &DS);
    tables[Format::Flat as usize] = table(21, 14, &VFLAT);
    tables[Format::Global as usize] = table(21, 14, &VGLOBAL);
    tables[Format::Scratch as usize] = table(21, 14, &VSCRATCH);
    tables[Format::Mubuf as usize] = table(21, 14, &VBUFFER);
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
            (0b1110_1100, 8, Format::Flat),
            (0b1110_1101, 8, Format::Scratch),
            (0b1110_1110, 8, Format::Global),
            (0b11_0001, 6, Format::Mubuf),
            (0b11_0100, 6, Format::Mimg),
            (0b11_1001, 6, Format::Mimg),
            (0b11_1110, 6, Format::Exp),
        ]),
        tables,
        short_forms: marked(&[VOP1_LISTS, VOP2_LISTS, &[compare::VOPC]]),
        names: named(&[names::NAMES]),
        messages: registers::MESSAGES,
        unified_formats: memory11::FORMATS,
        message_operations: false,
        hardware_registers: registers::HARDWARE_REGISTERS,
        mtbuf_high: Field::NONE,
        vopd_y: Field::bits(21, 17),
        smem: Smem {
            sbase: Field::bits(5, 0),
            sdata: Field::bits(12, 6),
            soffset: Field::bits(63, 57),
            offset: Field::bits(55, 32),
            glc: Field::NONE,
            dlc: Field::NONE,
            th: Field::bits(24, 23),
            scope: Field::bits(22, 21),
            choice: None,
            zero_offset: ZeroOffset::Always,
        },
        flat: Flat {
            dwords: 3,
            segment: None,
            vdst: Field::bits(39, 32),
            addr: Field::bits(71, 64),
            data: Field::bits(62, 55),
            saddr: Field::bits(6, 0),
            no_saddr: 124,
            offset: Field::bits(95, 72),
            flat_offset: Field::NONE,
            no_address: None,
            sve: Field::bits(49, 49),
            // The lowest bit of an atomic's `th`.
            glc: Field::bits(52, 52),
            slc: Field::NONE,
            dlc: Field::NONE,
            th: Field::bits(54, 52),
            scope: Field::bits(51, 50),
            acc: Field::NONE,
            lds: Field::NONE,
        },
        mubuf: VBUFFER_FIELDS,
        mtbuf: VBUFFER_FIELDS,
        ds: Ds {
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data0: Field::bits(47, 40),
            data1: Field::bits(55, 48),
            offset0: Field::bits(7, 0),
            offset1: Field::bits(15, 8),
            gds: Field::NONE,
            has_gds: false,
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
        byte_select: true,
        preserves_high_half: false,
        matrix_negation: false,
        accumulators: Accumulators::ByBit,
        cache_names: ["", "", ""],
        scoped_write_back: false,
        wait_counts: WAIT_COUNTS,
    }
}

const VBUFFER_FIELDS: Mubuf = Mubuf {
    dwords: 3,
    vdata: Field::bits(39, 32),
    vaddr: Field::bits(71, 64),
    srsrc: Field::bits(47, 41),
    srsrc_unit: 1,
    soffset: Field::bits(6, 0),
    offset: Field::bits(95, 72),
    offen: Field::bits(62, 62),
    idxen: Field::bits(63, 63),
    glc: Field::bits(52, 52),
    slc: Field::NONE,
    dlc: Field::NONE,
    th: Field::bits(54, 52),
    scope: Field::bits(51, 50),
    tfe: Field::bits(22, 22),
    lds: Field::NONE,
    acc: Field::NONE,
    format: Field::bits(61, 55),
};
