//! gfx9 against LLVM 19's disassembler, as in `llvm.rs`: data made by `generate.py`, which knows nothing of this crate.
//!
//! Disagreements are counted by their reason, and the counts are pinned: they may only fall.

use std::collections::BTreeSet;

use amdgpu_isa::{Opcode, Target, decode, disassemble};

/// Disagreements with LLVM.
#[derive(Debug, Default)]
struct Disagreements {
    /// Both decode, to different text for no known reason.
    text: Vec<String>,
    /// A negated integer, which LLVM prints as `sext()`.
    integer_modifier: Vec<String>,
    /// The most significant bit of a FLAT offset, which the hardware ignores.
    flat_offset: Vec<String>,
    /// A register offset of scalar memory with an immediate one of zero, which LLVM prints.
    zero_offset: Vec<String>,
    /// Only LLVM decodes: registers and constants where there can be none, tuples that run into FLAT_SCRATCH,
    /// parameter interpolation.
    reserved: Vec<String>,
    /// Only we decode: an operand LLVM marks as impossible.
    impossible_operand: Vec<String>,
    /// Only we decode: LLVM rejects bits that the operation does not use.
    unused_bits: Vec<String>,
}

impl Disagreements {
    fn check(&self, pinned: [usize; 7]) {
        let counts = [
            &self.text,
            &self.integer_modifier,
            &self.flat_offset,
            &self.zero_offset,
            &self.reserved,
            &self.impossible_operand,
            &self.unused_bits,
        ];
        assert_eq!(counts.map(Vec::len), pinned, "{self:#?}");
    }
}

fn compare(data: &str, target: Target) -> Disagreements {
    let mut found = Disagreements::default();
    for line in data.lines().filter(|line| !line.starts_with('#')) {
        let (hex, theirs) = line.split_once('\t').expect("dwords, a tab, text");
        let words = dwords(hex);
        let result = decode(target, &words);
        let ours = match &result {
            Ok(instruction) => disassemble(instruction, target, false).to_string(),
            Err(error) => error.to_string(),
        };
        let entry = format!("{hex}: {theirs} | {ours}");
        let accepted = !theirs.is_empty() && !theirs.contains("/*");
        match (result, accepted) {
            (Ok(instruction), true) => {
                if ours == theirs && usize::from(instruction.size) == words.len() * 4 {
                } else if theirs.contains("sext(") {
                    found.integer_modifier.push(entry);
                } else if theirs.starts_with("flat_") && words[0] & 0x1000 != 0 {
                    found.flat_offset.push(entry);
                } else if theirs.replace(" offset:0x0", "") == ours {
                    found.zero_offset.push(entry);
                } else {
                    found.text.push(entry);
                }
            }
            (Err(_), true) => found.reserved.push(entry),
            (Ok(_), false) if !theirs.is_empty() => found.impossible_operand.push(entry),
            (Ok(_), false) => found.unused_bits.push(entry),
            (Err(_), false) => {}
        }
    }
    found
}

fn dwords(hex: &str) -> Vec<u32> {
    hex.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a dword in hex")).collect()
}

const GFX906: &str = include_str!("data/gfx906.llvm19.txt");
const GFX908: &str = include_str!("data/gfx908.llvm19.txt");
const GFX90A: &str = include_str!("data/gfx90a.llvm19.txt");
const GFX942: &str = include_str!("data/gfx942.llvm19.txt");
const GFX950: &str = include_str!("data/gfx950.llvm22.txt");

#[test]
fn gfx906() {
    compare(GFX906, Target::Gfx906).check([0, 1, 0, 6, 25, 1, 873]);
}

#[test]
fn gfx908() {
    compare(GFX908, Target::Gfx908).check([0, 0, 0, 0, 11, 0, 795]);
}

#[test]
fn gfx90a() {
    compare(GFX90A, Target::Gfx90a).check([0, 1, 2, 7, 12, 0, 858]);
}

#[test]
fn gfx942() {
    compare(GFX942, Target::Gfx942).check([0, 0, 3, 9, 14, 0, 882]);
}

/// LLVM 22 has spellings of its own: `lit()` for literals that are inline constants, no `op_sel_hi` of dot products
/// of bytes, `op_sel` of V_ALIGNBYTE, `dst_sel` of V_CVT_F32_FP8 left out. Literals of VOP3 and of buffers' offsets, which
/// it reads, are in no document (reserved); EXEC as an address it takes for impossible.
#[test]
fn gfx950() {
    compare(GFX950, Target::Gfx950).check([29, 0, 0, 11, 75, 16, 881]);
}

/// What no encoding above confirms of the operations that decode at all.
fn unconfirmed(data: &str, target: Target) -> Vec<Opcode> {
    let mut missing = BTreeSet::new();
    for high in 0..=u16::MAX {
        for second in [0, 0x1_0203, 0x0480_0500, 0x007f_0000] {
            let words = [u32::from(high) << 16, second, 0];
            missing.extend(decode(target, &words).map(|found| found.opcode));
            let words = [u32::from(high) << 16 | 0x0200, second, 0];
            missing.extend(decode(target, &words).map(|found| found.opcode));
        }
        // Second halves of four dwords.
        let words = [0xd3ac_0000, 0x0002_0300, u32::from(high) << 16 | 1 << 11, 0x0402_0300];
        missing.extend(decode(target, &words).map(|found| found.opcode));
    }
    for low in 0..=u16::MAX {
        for high in [0xbe80, 0x7e00, 0x7c00] {
            missing.extend(decode(target, &[high << 16 | u32::from(low), 0]).map(|it| it.opcode));
        }
    }
    for line in data.lines() {
        let Some((hex, theirs)) = line.split_once('\t').filter(|(_, theirs)| !theirs.is_empty())
        else {
            continue;
        };
        let Ok(instruction) = decode(target, &dwords(hex)) else { continue };
        if disassemble(&instruction, target, false).to_string() == theirs {
            missing.remove(&instruction.opcode);
        }
    }
    missing.into_iter().collect()
}

#[test]
fn every_operation_is_confirmed() {
    let missing = [
        unconfirmed(GFX906, Target::Gfx906),
        unconfirmed(GFX908, Target::Gfx908),
        unconfirmed(GFX90A, Target::Gfx90a),
        unconfirmed(GFX942, Target::Gfx942),
        unconfirmed(GFX950, Target::Gfx950),
    ];
    assert_eq!(missing, [const { Vec::new() }; 5]);
}
