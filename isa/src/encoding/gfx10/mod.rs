//! RDNA2 (gfx10.3).
//!
//! Field positions: RDNA2 ISA document, chapter "Microcode formats", as LLVM 19's disassembler reads them. What it has
//! in common with gfx9 and gfx11 is taken from there.

use super::gfx9::memory::MTBUF;
use super::gfx9::names as names9;
use super::gfx9::scalar as scalar9;
use super::gfx11::{DPP16, memory as memory11, vector as vector11};
use super::{
    Accumulators, Ds, Encoding, Field, Flat, Format, Mubuf, Rows, Smem, Table, WaitCounts,
    ZeroOffset, dense, marked, named, prefixes, promoted, table,
};
use crate::Opcode;
use compare::VOPC;

mod compare;
mod memory;
mod names;
mod registers;
mod scalar;
mod vector;

pub(super) static GFX10_3: Encoding = encoding();

static SOP1: [Option<Opcode>; 256] = dense(&[scalar::SOP1]);
static SOP2: [Option<Opcode>; 128] = dense(&[scalar::SOP2]);
static SOPC: [Option<Opcode>; 128] = dense(&[scalar9::SOPC]);
static SOPK: [Option<Opcode>; 32] = dense(&[scalar::SOPK]);
static SOPP: [Option<Opcode>; 128] = dense(&[scalar9::SOPP, scalar::SOPP]);
static SMEM: [Option<Opcode>; 256] = dense(&[scalar::SMEM]);
const VOP1_LISTS: &[Rows] = &[vector11::VOP1, vector::VOP1];
const VOP2_LISTS: &[Rows] = &[vector11::VOP2, vector11::VOP2_GFX11, vector::VOP2];
static VOP1_TABLE: [Option<Opcode>; 256] = dense(VOP1_LISTS);
static VOP2_TABLE: [Option<Opcode>; 64] = dense(VOP2_LISTS);
static VOPC_TABLE: [Option<Opcode>; 256] = dense(&[VOPC]);
static VOP3: [Option<Opcode>; 1024] =
    promoted(dense(&[vector::VOP3]), &[(&[VOPC], 0), (VOP2_LISTS, 256), (VOP1_LISTS, 384)]);
static VOP3P: [Option<Opcode>; 128] =
    dense(&[vector11::VOP3P, vector11::VOP3P_BEFORE_GFX12, vector::VOP3P]);
static DS: [Option<Opcode>; 256] =
    dense(&[memory11::DS, memory11::DS_SINCE_GFX10, memory11::DS_BEFORE_GFX12, memory::DS]);
static FLAT: [Option<Opcode>; 128] = dense(&[memory::FLAT]);
static GLOBAL: [Option<Opcode>; 128] = dense(&[memory::GLOBAL]);
static SCRATCH: [Option<Opcode>; 128] = dense(&[memory::SCRATCH]);
static MUBUF: [Option<Opcode>; 256] = dense(&[memory::MUBUF]);
static MTBUF_TABLE: [Option<Opcode>; 16] = dense(&[MTBUF]);

const fn encoding() -> Encoding {
    let none = Table { number: Field::bits(25, 18), opcodes: &[] };
    let mut tables = [none; Format::COUNT];
    tables[Format::Sop1 as usize] = table(15, 8, &SOP1);
    tables[Format::Sop2 as usize] = table(29, 23, &SOP2);
    tables[Format::Sopc as usize] = table(22, 16, &SOPC);
    tables[Format::Sopk as usize] = table(27, 23, &SOPK);
    tables[Format::Sopp as usize] = table(22, 16, &SOPP);
    tables[Format::Smem as usize] = table(25, 18, &SMEM);
    tables[Format::Vop1 as usize] = table(16, 9, &VOP1_TABLE);
    tables[Format::Vop2 as usize] = table(30, 25, &VOP2_TABLE);
    tables[Format::Vopc as usize] = table(24, 17, &VOPC_TABLE);
    tables[Format::Vop3 as usize] = table(25, 16, &VOP3);
    tables[Format::Vop3p as usize] = table(22, 16, &VOP3P);
    tables[Format::Ds as usize] = table(25, 18, &DS);
    tables[Format::Flat as usize] = table(24, 18, &FLAT);
    tables[Format::Global as usize] = table(24, 18, &GLOBAL);
    tables[Format::Scratch as usize] = table(24, 18, &SCRATCH);
    tables[Format::Mubuf as usize] = table(25, 18, &MUBUF);
    tables[Format::Mtbuf as usize] = table(18, 16, &MTBUF_TABLE);
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
            (0b1_1001_1000, 9, Format::Vop3p),
            (0b11_0010, 6, Format::Vinterp),
            (0b11_0110, 6, Format::Ds),
            (0b11_0111, 6, Format::Flat),
            (0b11_1000, 6, Format::Mubuf),
            (0b11_1010, 6, Format::Mtbuf),
            (0b11_1100, 6, Format::Mimg),
            (0b11_1110, 6, Format::Exp),
        ]),
        tables,
        short_forms: marked(&[VOP1_LISTS, VOP2_LISTS, &[VOPC]]),
        names: named(&[names9::NAMES, names::NAMES]),
        messages: registers::MESSAGES,
        unified_formats: memory::FORMATS,
        message_operations: true,
        hardware_registers: registers::HARDWARE_REGISTERS,
        mtbuf_high: Field::bits(53, 53),
        vopd_y: Field::NONE,
        smem: Smem {
            sbase: Field::bits(5, 0),
            sdata: Field::bits(12, 6),
            soffset: Field::bits(63, 57),
            offset: Field::bits(52, 32),
            glc: Field::bits(16, 16),
            dlc: Field::bits(14, 14),
            th: Field::NONE,
            scope: Field::NONE,
            choice: None,
            zero_offset: ZeroOffset::Never,
        },
        flat: Flat {
            dwords: 2,
            segment: Some(Field::bits(15, 14)),
            vdst: Field::bits(63, 56),
            addr: Field::bits(39, 32),
            data: Field::bits(47, 40),
            saddr: Field::bits(54, 48),
            no_saddr: 125,
            offset: Field::bits(11, 0),
            flat_offset: Field::bits(10, 0),
            no_address: Some(127),
            sve: Field::NONE,
            glc: Field::bits(16, 16),
            slc: Field::bits(17, 17),
            dlc: Field::bits(12, 12),
            th: Field::NONE,
            scope: Field::NONE,
            acc: Field::NONE,
            lds: Field::bits(13, 13),
        },
        mubuf: Mubuf { format: Field::NONE, lds: Field::bits(16, 16), ..BUFFER },
        mtbuf: BUFFER,
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
        m0: 124,
        null: Some(125),
        special_sources: &[251, 252, 254],
        dpp16: DPP16,
        dpp16_wide: (1, 0),
        even_tuples: false,
        dpp8: true,
        sdwa: true,
        long_literals: true,
        long_dpp: false,
        true16: false,
        preserves_high_half: true,
        cmpx_writes_sdst: false,
        long_forms: &[],
        no_long_forms: &[Opcode::V_DOT4ACC_I32_I8],
        no_op_sel: &[],
        byte_select: false,
        matrix_negation: false,
        accumulators: Accumulators::ByBit,
        cache_names: ["glc", "slc", "dlc"],
        scoped_write_back: false,
        wait_counts: WaitCounts {
            vmcnt: [Field::bits(3, 0), Field::bits(15, 14)],
            expcnt: Field::bits(6, 4),
            lgkmcnt: Field::bits(13, 8),
        },
    }
}

/// Typed buffers, and what untyped ones have in common with them.
const BUFFER: Mubuf = Mubuf {
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
    dlc: Field::bits(15, 15),
    th: Field::NONE,
    scope: Field::NONE,
    tfe: Field::bits(55, 55),
    lds: Field::NONE,
    acc: Field::NONE,
    format: Field::bits(25, 19),
};
