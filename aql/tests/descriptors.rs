//! Kernel descriptors as LLVM's assembler makes them and its disassembler shows them; see
//! `data/descriptors/SOURCE`.

use aql::descriptor::UserSgprs;
use aql::{Generation, KernelDescriptor};

const DATA: &str = include_str!("data/descriptors/descriptors.txt");

struct Sample {
    target: String,
    generation: Generation,
    bytes: [u8; 64],
    text: String,
}

/// The generation of a family as the data names it.
fn generation(family: &str) -> Generation {
    match family {
        "gfx9" => Generation::Gfx906,
        "gfx90a" => Generation::Gfx90a,
        "gfx94x" => Generation::Gfx94x,
        "gfx10" => Generation::Gfx103,
        "gfx11" => Generation::Gfx11,
        "gfx12" => Generation::Gfx12,
        other => panic!("{other}"),
    }
}

fn samples() -> Vec<Sample> {
    DATA.split("target ")
        .skip(1)
        .map(|block| {
            let mut lines = block.trim().lines();
            let (target, family) = lines.next().unwrap().split_once(' ').unwrap();
            let hex = lines.next().unwrap().strip_prefix("bytes ").unwrap();
            let byte = |i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
            Sample {
                target: target.to_owned(),
                generation: generation(family),
                bytes: std::array::from_fn(byte),
                text: lines.collect::<Vec<_>>().join("\n"),
            }
        })
        .collect()
}

/// The value of a directive in LLVM's text.
fn directive(text: &str, name: &str) -> Option<u32> {
    let line =
        text.lines().find_map(|line| line.trim().strip_prefix(".amdhsa_")?.strip_prefix(name))?;
    Some(line.trim().parse().unwrap())
}

#[test]
fn the_text_is_llvms() {
    let samples = samples();
    assert_eq!(samples.len(), 42);
    for Sample { target, generation, bytes, text } in samples {
        let descriptor = KernelDescriptor::decode(&bytes);
        assert_eq!(descriptor.directives("k", generation).to_string(), text, "{target}");
        assert_eq!(descriptor.encode(), bytes);
    }
}

#[test]
fn what_the_assembler_makes_has_no_reserved_bits() {
    for Sample { target, generation, bytes, .. } in samples() {
        assert_eq!(KernelDescriptor::decode(&bytes).reserved_bits(generation), None, "{target}");
    }
}

#[test]
fn user_sgprs_are_as_many_as_the_assembler_counts() {
    for Sample { target, generation, bytes, text } in samples() {
        let descriptor = KernelDescriptor::decode(&bytes);
        let sgprs = UserSgprs::new(&descriptor, generation).unwrap();
        assert_eq!(sgprs.count, descriptor.rsrc2().user_sgpr_count(), "{target}\n{text}");
        for (name, sgpr) in [
            ("user_sgpr_private_segment_buffer", sgprs.private_segment_buffer),
            ("user_sgpr_dispatch_ptr", sgprs.dispatch_ptr),
            ("user_sgpr_queue_ptr", sgprs.queue_ptr),
            ("user_sgpr_kernarg_segment_ptr", sgprs.kernarg_segment_ptr),
            ("user_sgpr_dispatch_id", sgprs.dispatch_id),
            ("user_sgpr_flat_scratch_init", sgprs.flat_scratch_init),
            ("user_sgpr_private_segment_size", sgprs.private_segment_size),
        ] {
            let enabled = directive(&text, name).unwrap_or(0) == 1;
            assert_eq!(sgpr.is_some(), enabled, "{target}: {name}");
        }
        let length = directive(&text, "user_sgpr_kernarg_preload_length").unwrap_or(0);
        assert_eq!(sgprs.preload.map_or(0, |preload| u32::from(preload.length)), length);
    }
}

/// Every bit means something: a descriptor with one bit flipped has another text, or a bit set that is reserved. Two
/// fields have no directive: the entry's offset and USER_SGPR_COUNT.
#[test]
fn a_flipped_bit_is_noticed() {
    let without_directive = |bit| (128..192).contains(&bit) || (417..422).contains(&bit);
    for Sample { target, generation, bytes, text } in samples() {
        for bit in (0..8 * bytes.len()).filter(|bit| !without_directive(*bit)) {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let descriptor = KernelDescriptor::decode(&flipped);
            let same = descriptor.directives("k", generation).to_string() == text;
            let reserved = descriptor.reserved_bits(generation).is_some();
            assert!(!same || reserved, "{target}: bit {bit}");
        }
    }
}
