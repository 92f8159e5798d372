//! Every layout against AMD's headers; see `data/packets/SOURCE`.

use aql::header::Header;
use aql::metadata::{
    DataPrefetch, LaunchDescriptor, MetadataBarrier, MetadataHeader, MetadataKernelDispatch,
};
use aql::{
    AgentDispatch, BarrierAnd, BarrierOr, BarrierValue, ExtKernelDispatch, KernelDispatch,
    Pm4Indirect,
};
use pm4::layout::{Layout, Variants};
use selvedge_golden::{Comparison, Golden, Variant, compare, exercise, mutate};
use std::process::Command;

const FILES: [(&str, &str); 2] = [
    ("current", include_str!("data/packets/current.txt")),
    ("newer", include_str!("data/packets/newer.txt")),
];

/// The packets are the same in all hardware.
const VARIANTS: [Variant; 1] = [Variant { name: "aql", set: Variants::one(0) }];

fn golden() -> Golden {
    let mut golden = Golden::default();
    for (_, text) in FILES {
        golden.extend(Golden::parse(text).unwrap());
    }
    golden
}

fn layouts() -> impl Iterator<Item = &'static Layout> {
    aql::LAYOUTS.iter().chain(aql::metadata::LAYOUTS).copied().chain([Header::LAYOUT])
}

#[test]
fn layouts_are_those_of_the_headers() {
    let golden = golden();
    for layout in layouts() {
        let got = compare(layout, &golden, &VARIANTS);
        let lines = got.lines;
        assert_eq!(got, Comparison { lines, ..Comparison::default() }, "{}", layout.name);
        // A head, a piece each and wholes at the least.
        assert!(lines >= layout.fields.len() + 8, "{}: {lines} lines", layout.name);
    }
    let known: Vec<_> = layouts().map(|layout| layout.name).collect();
    assert_eq!(golden.packets.keys().filter(|name| !known.contains(&name.as_str())).count(), 0);
    assert_eq!(golden.packets.len(), known.len());
}

#[test]
fn a_wrong_layout_is_noticed() {
    let golden = golden();
    let mut all = 0;
    for layout in layouts() {
        let (flips, unnoticed) = mutate(layout, &golden, &VARIANTS);
        assert_eq!(unnoticed, [""; 0]);
        all += flips;
    }
    assert!(all > 5000, "{all} flips");
}

macro_rules! exercise_all {
    (; $($Packet:ident),+ $(,)?) => { $(exercise::<$Packet>(VARIANTS[0], ());)+ };
}

#[test]
fn what_is_compiled_is_the_layout() {
    aql::packets!(exercise_all);
    aql::records!(exercise_all);
    exercise::<Header>(VARIANTS[0], ());
}

/// A word can start one packet only.
#[test]
fn packets_are_told_apart() {
    for (index, one) in aql::LAYOUTS.iter().enumerate() {
        for other in &aql::LAYOUTS[index + 1..] {
            let both = one.fixed_mask & other.fixed_mask;
            assert_ne!(one.fixed & both, other.fixed & both, "{} and {}", one.name, other.name);
        }
    }
}

/// What is stored is what the generator prints of the sources that `SELVEDGE_ORACLE` names (see SOURCE).
#[test]
#[ignore = "needs the sources that SELVEDGE_ORACLE names"]
fn the_headers_still_give_this() {
    for (name, lines) in FILES {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/packets.py");
        let output = Command::new("python3").arg(script).arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), lines, "{name}");
    }
}
