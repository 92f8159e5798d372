//! Operations that LLVM knows and nothing here executes.

use super::*;
use crate::shader::resolve;
use std::collections::BTreeSet;

/// Those of LLVM's listing for a target, in wave32, a line each.
fn refused(target: Target, listing: &str) -> String {
    let mut refused = BTreeSet::new();
    for line in listing.lines() {
        let Some((hex, text)) = line.split_once('\t') else { continue };
        let words: Vec<u32> =
            hex.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        let Ok(instruction) = amdgpu_isa::decode(target, &words) else { continue };
        let name = instruction.opcode.name();
        if text.is_empty() || refused.contains(name) {
            continue;
        }
        if resolve::handler(&instruction).is_none() {
            refused.insert(name);
            continue;
        }
        let mut rig = Rig::on(target, true);
        rig.launch.rsrc1 = 0x3f;
        rig.launch.rsrc2 = 1;
        rig.launch.scratch_bytes_per_wave = 1024;
        let traits = Traits::of(target);
        let mode = rig.wave.mode;
        rig.wave = Wave::new(true, traits, traits.registers(&rig.launch));
        rig.wave.mode = mode;
        if let Err(Stop::Fault(kind)) = rig.execute(&words)
            && let WaveFaultKind::NotModelled(reason) = *kind
            && (reason == format!("{name} is not modelled") || reason.contains("global data share"))
        {
            refused.insert(name);
        }
    }
    Vec::from_iter(refused).join("\n")
}

#[test]
fn of_gfx12() {
    let listing = include_str!("../../../../isa/tests/data/gfx1201.wave32.llvm19.txt");
    expect_test::expect![[r#"
        GLOBAL_ATOMIC_ORDERED_ADD_B64
        S_BARRIER_INIT
        S_BARRIER_JOIN
        S_BARRIER_LEAVE
        S_WAKEUP_BARRIER"#]]
    .assert_eq(&refused(Target::Gfx1201, listing));
}

#[test]
fn of_gfx11() {
    let listing = include_str!("../../../../isa/tests/data/gfx1151.wave32.llvm19.txt");
    expect_test::expect![[r#""#]].assert_eq(&refused(Target::Gfx1151, listing));
}
