//! Operations that LLVM knows and nothing here executes.

use super::*;
use crate::shader::resolve;
use std::collections::{BTreeMap, BTreeSet};

/// Those of LLVM's listing for a target: what has no executor, or is refused by name, or with any operands because it
/// is of the global data share.
fn refused(target: Target, wave32: bool, listing: &str) -> BTreeSet<&'static str> {
    let (mut refused, mut of_global_share, mut executed) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for line in listing.lines() {
        let Some((hex, text)) = line.split_once('\t') else { continue };
        let words: Vec<u32> =
            hex.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        let Ok(instruction) = amdgpu_isa::decode(target, &words) else { continue };
        let name = instruction.opcode.name();
        // What LLVM spells with a comment is no instruction to it.
        if text.is_empty() || text.contains("/*") || refused.contains(name) {
            continue;
        }
        if resolve::handler(&instruction).is_none() {
            refused.insert(name);
            continue;
        }
        let mut rig = Rig::whole(target, wave32);
        rig.launch.rsrc2 = 1;
        rig.launch.scratch_bytes_per_wave = 1024;
        if let Err(Stop::Fault(kind)) = rig.execute(&words)
            && let WaveFaultKind::NotModelled(reason) = *kind
        {
            if reason == format!("{name} is not modelled") {
                refused.insert(name);
            } else if reason.contains("global data share") {
                of_global_share.insert(name);
            }
        } else {
            executed.insert(name);
        }
    }
    refused.extend(of_global_share.difference(&executed));
    refused
}

#[test]
fn operations_that_nothing_executes() {
    let mut targets: BTreeMap<&str, String> = BTreeMap::new();
    for (target, wave32, listing) in [
        (Target::Gfx906, false, include_str!("../../../../isa/tests/data/gfx906.llvm19.txt")),
        (Target::Gfx908, false, include_str!("../../../../isa/tests/data/gfx908.llvm19.txt")),
        (Target::Gfx90a, false, include_str!("../../../../isa/tests/data/gfx90a.llvm19.txt")),
        (Target::Gfx942, false, include_str!("../../../../isa/tests/data/gfx942.llvm19.txt")),
        (Target::Gfx950, false, include_str!("../../../../isa/tests/data/gfx950.llvm22.txt")),
        (
            Target::Gfx1030,
            true,
            include_str!("../../../../isa/tests/data/gfx1030.wave32.llvm19.txt"),
        ),
        (
            Target::Gfx1151,
            true,
            include_str!("../../../../isa/tests/data/gfx1151.wave32.llvm19.txt"),
        ),
        (
            Target::Gfx1201,
            true,
            include_str!("../../../../isa/tests/data/gfx1201.wave32.llvm19.txt"),
        ),
    ] {
        for name in refused(target, wave32, listing) {
            *targets.entry(name).or_default() += &format!(" {target}");
        }
    }
    let lines: Vec<String> =
        targets.into_iter().map(|(name, targets)| format!("{name}:{targets}")).collect();
    expect_test::expect![[r#"
        DS_ADD_GS_REG_RTN: gfx1151
        DS_ADD_SRC2_F32: gfx906 gfx908
        DS_ADD_SRC2_U32: gfx906 gfx908
        DS_ADD_SRC2_U64: gfx906 gfx908
        DS_AND_SRC2_B32: gfx906 gfx908
        DS_AND_SRC2_B64: gfx906 gfx908
        DS_BVH_STACK_RTN_B32: gfx1151
        DS_DEC_SRC2_U32: gfx906 gfx908
        DS_DEC_SRC2_U64: gfx906 gfx908
        DS_INC_SRC2_U32: gfx906 gfx908
        DS_INC_SRC2_U64: gfx906 gfx908
        DS_MAX_SRC2_F32: gfx906 gfx908
        DS_MAX_SRC2_F64: gfx906 gfx908
        DS_MAX_SRC2_I32: gfx906 gfx908
        DS_MAX_SRC2_I64: gfx906 gfx908
        DS_MAX_SRC2_U32: gfx906 gfx908
        DS_MAX_SRC2_U64: gfx906 gfx908
        DS_MIN_SRC2_F32: gfx906 gfx908
        DS_MIN_SRC2_F64: gfx906 gfx908
        DS_MIN_SRC2_I32: gfx906 gfx908
        DS_MIN_SRC2_I64: gfx906 gfx908
        DS_MIN_SRC2_U32: gfx906 gfx908
        DS_MIN_SRC2_U64: gfx906 gfx908
        DS_ORDERED_COUNT: gfx906 gfx908 gfx1030 gfx1151
        DS_OR_SRC2_B32: gfx906 gfx908
        DS_OR_SRC2_B64: gfx906 gfx908
        DS_RSUB_SRC2_U32: gfx906 gfx908
        DS_RSUB_SRC2_U64: gfx906 gfx908
        DS_STORE_SRC2_B32: gfx906 gfx908
        DS_STORE_SRC2_B64: gfx906 gfx908
        DS_SUB_GS_REG_RTN: gfx1151
        DS_SUB_SRC2_U32: gfx906 gfx908
        DS_SUB_SRC2_U64: gfx906 gfx908
        DS_XOR_SRC2_B32: gfx906 gfx908
        DS_XOR_SRC2_B64: gfx906 gfx908
        GLOBAL_ATOMIC_ORDERED_ADD_B64: gfx1201
        S_BARRIER_INIT: gfx1201
        S_BARRIER_JOIN: gfx1201
        S_BARRIER_LEAVE: gfx1201
        S_CBRANCH_G_FORK: gfx906 gfx908 gfx90a gfx942 gfx950
        S_CBRANCH_I_FORK: gfx906 gfx908 gfx90a gfx942 gfx950
        S_CBRANCH_JOIN: gfx906 gfx908 gfx90a gfx942 gfx950
        S_ENDPGM_ORDERED_PS_DONE: gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030
        S_RFE_RESTORE_B64: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_LOAD_B128: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_LOAD_B32: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_LOAD_B64: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_STORE_B128: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_STORE_B32: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SCRATCH_STORE_B64: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SETVSKIP: gfx906 gfx908 gfx90a gfx942 gfx950
        S_SUBVECTOR_LOOP_BEGIN: gfx1030 gfx1151
        S_SUBVECTOR_LOOP_END: gfx1030 gfx1151
        S_WAKEUP_BARRIER: gfx1201
        V_CVT_PKACCUM_U8_F32: gfx906 gfx908 gfx90a gfx942 gfx950
        V_SCREEN_PARTITION_4SE_B32: gfx906 gfx908 gfx90a gfx942 gfx950"#]]
    .assert_eq(&lines.join("\n"));
}
