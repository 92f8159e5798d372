//! Every layout against AMD's headers; see `data/packets/SOURCE`.

use aql::header::Header;
use aql::metadata::{
    DataPrefetch, LaunchDescriptor, MetadataBarrier, MetadataHeader, MetadataKernelDispatch,
};
use aql::{
    AgentDispatch, BarrierAnd, BarrierOr, BarrierValue, ExtKernelDispatch, KernelDispatch,
    Pm4Indirect,
};
use pm4::layout::{Layout, Packet, Variants};
use selvedge_golden::{Comparison, Golden, Variant, compare, exercise, mutate};
use std::path::Path;
use std::process::Command;

const FILES: [(&str, &str, &str); 2] = [
    ("current", "rocm-systems", include_str!("data/packets/current.txt")),
    ("newer", "rocm-systems-newer", include_str!("data/packets/newer.txt")),
];

/// The packets are the same in all hardware.
const VARIANTS: [Variant; 1] = [Variant { name: "aql", set: Variants::one(0) }];

fn golden() -> Golden {
    let mut golden = Golden::default();
    for (_, _, text) in FILES {
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

#[test]
fn what_is_compiled_is_the_layout() {
    let mut exercised = Vec::new();
    fn one<P>(exercised: &mut Vec<&'static str>)
    where
        P: Packet<Variant = ()> + PartialEq + std::fmt::Debug + std::fmt::Display,
    {
        exercise::<P>(VARIANTS[0], ());
        exercised.push(P::LAYOUT.name);
    }
    one::<KernelDispatch>(&mut exercised);
    one::<AgentDispatch>(&mut exercised);
    one::<BarrierAnd>(&mut exercised);
    one::<BarrierOr>(&mut exercised);
    one::<Pm4Indirect>(&mut exercised);
    one::<BarrierValue>(&mut exercised);
    one::<ExtKernelDispatch>(&mut exercised);
    one::<MetadataHeader>(&mut exercised);
    one::<MetadataKernelDispatch>(&mut exercised);
    one::<MetadataBarrier>(&mut exercised);
    one::<LaunchDescriptor>(&mut exercised);
    one::<DataPrefetch>(&mut exercised);
    one::<Header>(&mut exercised);
    assert_eq!(exercised, layouts().map(|layout| layout.name).collect::<Vec<_>>());
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

/// With `SELVEDGE_ORACLE`, a directory of AMD's sources: the lines are what they give.
#[test]
fn the_headers_still_give_this() {
    let Some(oracle) = std::env::var_os("SELVEDGE_ORACLE") else {
        println!("skipped: SELVEDGE_ORACLE names no directory with AMD's sources");
        return;
    };
    for (name, tree, lines) in FILES {
        if !Path::new(&oracle).join(tree).exists() {
            println!("skipped: no {tree}");
            continue;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/packets.py");
        let output = Command::new("python3").arg(script).arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), lines, "{name}");
    }
}
