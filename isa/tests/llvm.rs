//! The decoder and disassembler against LLVM's disassembler, on encodings neither chose: data made by
//! `generate.py`, which knows nothing of this crate.
//!
//! Disagreements are counted by their reason, and the counts are pinned: they may only fall.

use amdgpu_isa::{Fields, Instruction, Opcode, Target, decode, disassemble};
use expect_test::expect;
use std::collections::BTreeMap;

/// Disagreements with LLVM.
#[derive(Debug, Default)]
struct Disagreements {
    /// Both decode, to different text for no known reason.
    text: Vec<String>,
    /// VOP3's choice of halves of 16-bit operands, which LLVM 19 prints for few operations, and the
    /// pairs of bytes that gfx12 converts, to LLVM 19 a whole register.
    halves: Vec<String>,
    /// A negated or absolute integer: LLVM prints bits that mean nothing, as `sext()` if it must.
    integer_modifier: Vec<String>,
    /// The most significant bit of a FLAT offset, which the hardware ignores.
    flat_offset: Vec<String>,
    /// Only LLVM decodes: operand codes that are reserved on gfx11 (VCCZ and EXECZ, constants where
    /// there must be a register, a literal beside DPP or as a buffer's offset), parameter interpolation of gfx10.
    reserved: Vec<String>,
    /// Only we decode: halves of 16-bit VGPRs in 32-bit encodings, to LLVM 19 an invalid register.
    /// The LLVM 22 data has them.
    short_halves: Vec<String>,
    /// Only we decode: an operand LLVM marks as impossible.
    impossible_operand: Vec<String>,
    /// Only we decode: LLVM rejects bits that the operation does not use, operations missing from its
    /// tables, and halves of 16-bit registers.
    unused_bits: Vec<String>,
}

impl Disagreements {
    fn counts(&self) -> [usize; 8] {
        [
            &self.text,
            &self.halves,
            &self.integer_modifier,
            &self.flat_offset,
            &self.reserved,
            &self.short_halves,
            &self.impossible_operand,
            &self.unused_bits,
        ]
        .map(Vec::len)
    }

    fn check(&self, pinned: [usize; 8]) {
        assert_eq!(self.counts(), pinned, "{self:#?}");
    }
}

fn compare(data: &str, target: Target, wave32: bool) -> Disagreements {
    let mut found = Disagreements::default();
    for line in data.lines().filter(|line| !line.starts_with('#')) {
        let (hex, theirs) = line.split_once('\t').expect("dwords, a tab, text");
        let words = dwords(hex);
        let result = decode(target, &words);
        let ours = match &result {
            Ok(instruction) => disassemble(instruction, target, wave32).to_string(),
            Err(error) => error.to_string(),
        };
        let entry = format!("{hex}: {theirs} | {ours}");
        let impossible = ["/*Invalid", "/* Invalid dpp_ctrl", "not supported starting"];
        let accepted = !theirs.is_empty() && !impossible.iter().any(|mark| theirs.contains(mark));
        match (result, accepted) {
            (Ok(instruction), true) => {
                if ours == theirs && usize::from(instruction.size) == words.len() * 4 {
                } else if without_op_sel(&ours) == theirs
                    || theirs.starts_with("v_cvt_pk_f32_") && ours.contains(".h")
                {
                    found.halves.push(entry);
                } else if theirs.contains("sext(") || theirs.starts_with("v_ldexp_f16") {
                    found.integer_modifier.push(entry);
                } else if theirs.starts_with("flat_") && words[0] & flat_sign(target) != 0 {
                    found.flat_offset.push(entry);
                } else {
                    found.text.push(entry);
                }
            }
            (Err(_), true) => found.reserved.push(entry),
            (Ok(_), false) if theirs.contains("Lo128") => found.short_halves.push(entry),
            (Ok(_), false) if !theirs.is_empty() => found.impossible_operand.push(entry),
            (Ok(_), false) => found.unused_bits.push(entry),
            (Err(_), false) => {}
        }
    }
    found
}

/// The most significant bit of a FLAT offset.
fn flat_sign(target: Target) -> u32 {
    if target.name().starts_with("gfx10") { 0x800 } else { 0x1000 }
}

fn dwords(hex: &str) -> Vec<u32> {
    hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a dword in hex")).collect()
}

/// The text without its ` op_sel:[...]`.
fn without_op_sel(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" op_sel:[") else { return text.to_owned() };
    let (_, after) = rest.split_once(']').expect("a closed list");
    format!("{before}{after}")
}

#[test]
fn gfx1030_wave32() {
    compare(include_str!("data/gfx1030.wave32.llvm19.txt"), Target::Gfx1030, true)
        .check([0, 0, 3, 1, 44, 0, 1, 773]);
}

#[test]
fn gfx1030_wave64() {
    compare(include_str!("data/gfx1030.wave64.llvm19.txt"), Target::Gfx1030, false)
        .check([0, 0, 1, 0, 5, 0, 1, 665]);
}

#[test]
fn gfx1151_wave32() {
    compare(include_str!("data/gfx1151.wave32.llvm19.txt"), Target::Gfx1151, true)
        .check([0, 129, 8, 2, 53, 94, 1, 1332]);
}

#[test]
fn gfx1151_wave64() {
    compare(include_str!("data/gfx1151.wave64.llvm19.txt"), Target::Gfx1151, false)
        .check([0, 33, 3, 0, 12, 42, 1, 758]);
}

#[test]
fn gfx1100_wave32() {
    compare(include_str!("data/gfx1100.wave32.llvm19.txt"), Target::Gfx1100, true)
        .check([0, 30, 3, 1, 6, 43, 1, 749]);
}

#[test]
fn gfx1201_wave32() {
    compare(include_str!("data/gfx1201.wave32.llvm19.txt"), Target::Gfx1201, true)
        .check([0, 133, 7, 0, 60, 99, 4, 1398]);
}

/// Operations of gfx12 that LLVM 19 does not know. LLVM 22 has another spelling of literals that are
/// inline constants.
#[test]
fn gfx1201_later() {
    let data = include_str!("data/gfx1201.later.llvm22.txt");
    compare(data, Target::Gfx1201, true).check([2, 0, 0, 0, 2, 0, 0, 2]);
    let missing = unconfirmed(data, Target::Gfx1201, true);
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn gfx1201_wave64() {
    compare(include_str!("data/gfx1201.wave64.llvm19.txt"), Target::Gfx1201, false)
        .check([0, 27, 1, 0, 13, 46, 1, 818]);
}

#[test]
fn gfx1200_wave32() {
    compare(include_str!("data/gfx1200.wave32.llvm19.txt"), Target::Gfx1200, true)
        .check([0, 39, 0, 0, 16, 53, 1, 802]);
}

#[test]
fn gfx1200_wave64() {
    compare(include_str!("data/gfx1200.wave64.llvm19.txt"), Target::Gfx1200, false)
        .check([0, 6, 1, 0, 6, 31, 1, 762]);
}

/// Operations of the target's tables that no encoding in the data confirms, by format. As the data has
/// every opcode number, decoding it finds the whole of the tables.
fn unconfirmed(data: &str, target: Target, wave32: bool) -> Vec<(String, Opcode)> {
    let mut format = String::new();
    let mut operations = BTreeMap::new();
    for line in data.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            format = name.to_owned();
            continue;
        }
        let (hex, theirs) = line.split_once('\t').expect("dwords, a tab, text");
        let Ok(instruction) = decode(target, &dwords(hex)) else { continue };
        let confirmed = disassemble(&instruction, target, wave32).to_string() == theirs;
        let mut note = |opcode| {
            *operations.entry((format.clone(), opcode)).or_insert(false) |= confirmed;
        };
        note(instruction.opcode);
        if let Fields::Vopd { y, .. } = instruction.fields {
            note(y.opcode);
        }
    }
    operations.into_iter().filter(|&(_, confirmed)| !confirmed).map(|(key, _)| key).collect()
}

#[test]
fn every_gfx1030_operation_is_confirmed() {
    let data = include_str!("data/gfx1030.wave32.llvm19.txt");
    assert_eq!(unconfirmed(data, Target::Gfx1030, true), []);
}

/// Operations LLVM 19 lacks on gfx11, and formats of an operation that it does not print.
#[test]
fn every_gfx1151_operation_is_confirmed() {
    let data = include_str!("data/gfx1151.wave32.llvm19.txt");
    expect![[r#"
        [
            (
                "flat",
                FLAT_ATOMIC_CSUB_U32,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_ADDTID_B32,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_U8,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_I8,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_U16,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_I16,
            ),
            (
                "global",
                GLOBAL_LOAD_LDS_B32,
            ),
            (
                "scratch",
                SCRATCH_LOAD_LDS_U8,
            ),
            (
                "scratch",
                SCRATCH_LOAD_LDS_I8,
            ),
            (
                "scratch",
                SCRATCH_LOAD_LDS_U16,
            ),
            (
                "scratch",
                SCRATCH_LOAD_LDS_I16,
            ),
            (
                "scratch",
                SCRATCH_LOAD_LDS_B32,
            ),
            (
                "sopp",
                S_ENDPGM_ORDERED_PS_DONE,
            ),
            (
                "vop1",
                V_NOP,
            ),
            (
                "vop3",
                V_MOV_B16,
            ),
            (
                "vopd",
                V_DOT2ACC_F32_BF16,
            ),
        ]
    "#]]
    .assert_debug_eq(&unconfirmed(data, Target::Gfx1151, true));
}

/// Operations LLVM 19 lacks on gfx12.
#[test]
fn every_gfx1201_operation_is_confirmed() {
    let data = include_str!("data/gfx1201.wave32.llvm19.txt");
    expect![[r#"
        [
            (
                "ds",
                DS_NOP,
            ),
            (
                "ds",
                DS_BPERMUTE_FI_B32,
            ),
            (
                "sop1",
                S_ALLOC_VGPR,
            ),
            (
                "vop1",
                V_NOP,
            ),
            (
                "vop1",
                V_SWAP_B16,
            ),
            (
                "vop3",
                V_NOP,
            ),
            (
                "vop3",
                V_PIPEFLUSH,
            ),
            (
                "vop3",
                V_MOV_B16,
            ),
            (
                "vop3",
                V_PERMLANEX16_VAR_B32,
            ),
            (
                "vopd",
                V_DOT2ACC_F32_F16,
            ),
            (
                "vopd",
                V_DOT2ACC_F32_BF16,
            ),
        ]
    "#]]
    .assert_debug_eq(&unconfirmed(data, Target::Gfx1201, true));
}

/// LLVM 22 names the half of every 16-bit register, low ones too, so it tells what `op_sel` must be.
fn different_halves(data: &str, target: Target) -> Vec<String> {
    let mut different = Vec::new();
    for line in data.lines() {
        let Some((hex, theirs)) = line.split_once('\t') else { continue };
        if theirs.contains("/*") {
            continue; // An impossible operand.
        }
        let instruction = decode(target, &dwords(hex));
        let ours = match &instruction {
            Ok(instruction) => disassemble(instruction, target, true).to_string(),
            Err(error) => error.to_string(),
        };
        let plain = |text: &str| without_op_sel(text).replace(".l", "").replace(".h", "");
        if plain(&ours) != plain(theirs) || instruction.is_ok_and(|it| halves(&it) != spelt(theirs))
        {
            different.push(format!("{hex}: {theirs} | {ours}"));
        }
    }
    different
}

#[test]
fn gfx1151_halves() {
    let different =
        different_halves(include_str!("data/gfx1151.true16.llvm22.txt"), Target::Gfx1151);
    // Absolute class masks, a constant where V_PERMLANEX16 needs a VGPR, literals beside DPP, and
    // LLVM 22's new spelling of literals that are inline constants.
    assert_eq!(different.len(), 7, "{different:#?}");
}

#[test]
fn gfx1201_halves() {
    let different =
        different_halves(include_str!("data/gfx1201.true16.llvm22.txt"), Target::Gfx1201);
    // The same, and where a class mask or a pair of bytes has `op_sel`.
    assert_eq!(different.len(), 8, "{different:#?}");
}

/// Whether each 16-bit VGPR operand, in order of the text, is a high half.
fn halves(instruction: &Instruction) -> Vec<bool> {
    let Fields::Valu(valu) = instruction.fields else { return Vec::new() };
    let info = instruction.opcode.info();
    let high = |bit: usize| valu.op_sel >> bit & 1 != 0;
    let mut halves = Vec::new();
    if info.dst.is_16_bit() {
        halves.push(high(3));
    }
    for (index, (src, kind)) in valu.src.into_iter().zip(info.src).enumerate() {
        if kind.is_16_bit() && src.vgpr().is_some() {
            halves.push(high(index));
        }
    }
    halves
}

/// The same from LLVM's text: `v1.h`, `v2.l`.
fn spelt(text: &str) -> Vec<bool> {
    let suffixes = text.match_indices('.').map(|(at, _)| &text[at + 1..]);
    suffixes.filter(|rest| rest.starts_with(['h', 'l'])).map(|rest| rest.starts_with('h')).collect()
}
