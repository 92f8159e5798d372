//! What holds for any input.

use amdgpu_isa::{DecodeError, Instructions, Opcode, OperandKind, Target, decode, disassemble};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Any words decode or fail; what decodes has the size it says and prints in both wave sizes.
    #[test]
    fn any_words(words in proptest::collection::vec(any::<u32>(), 0..5), target in 0..Target::ALL.len()) {
        let target = Target::ALL[target];
        match decode(target, &words) {
            Ok(instruction) => {
                let size = usize::from(instruction.size);
                prop_assert!(size % 4 == 0 && (4..=12).contains(&size) && size <= words.len() * 4);
                for wave32 in [true, false] {
                    let text = disassemble(&instruction, target, wave32).to_string();
                    prop_assert!(text.is_ascii() && !text.is_empty());
                }
                // The words after it have no influence, and no word of it is needless.
                prop_assert_eq!(decode(target, &words[..size / 4]), Ok(instruction));
                let shorter = decode(target, &words[..size / 4 - 1]);
                prop_assert!(matches!(shorter, Err(DecodeError::Truncated { .. })), "{shorter:?}");
            }
            Err(DecodeError::Truncated { needed, got, .. }) => {
                prop_assert!(usize::from(needed) > got && got == words.len() * 4);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// A walk covers its bytes without gap or overlap.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut expected = 0;
        for (offset, result) in Instructions::new(Target::Gfx1151, &bytes) {
            prop_assert_eq!(offset, expected);
            expected += result.map_or((bytes.len() - offset).min(4), |found| found.size.into());
        }
        prop_assert_eq!(expected, bytes.len());
    }
}

/// Every first dword's upper half, which holds the format and opcode of most formats.
#[test]
fn every_upper_half() {
    for high in 0..=u16::MAX {
        for low in [0, 0xffff, 0x00fa, 0x0102] {
            let words = [u32::from(high) << 16 | low, 0x7c7c_00ff, 0xff00_e401];
            for target in [Target::Gfx1151, Target::Gfx1201] {
                if let Ok(instruction) = decode(target, &words) {
                    assert!(!disassemble(&instruction, target, true).to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn descriptions_are_consistent() {
    for &opcode in Opcode::ALL {
        let info = opcode.info();
        let count = usize::from(info.src_count());
        assert!(info.src[count..].iter().all(|&kind| kind == OperandKind::None), "{opcode:?}");
    }
}

/// Programs that ran on a gfx1100 give V_INTERP a scalar register, which LLVM does not print.
#[test]
fn interpolation_reads_registers() {
    let decoded = |src0: u32| decode(Target::Gfx1100, &[0xcd02_0004, 0x040c_0200 | src0]);
    assert!(decoded(1).is_ok() && decoded(257).is_ok());
    for constant in [128, 242, 253, 255] {
        assert!(matches!(decoded(constant), Err(DecodeError::ReservedOperand { .. })));
    }
}
