//! Layouts against AMD's headers; see `data/packets/SOURCE`.

use pm4::layout::{Field, Layout, Placement};
use sdma::packet::*;
use sdma::{Version, packet};
use selvedge_golden::{Golden, Variant, What, compare, exercise, mutate};
use std::collections::BTreeSet;
use std::process::Command;

const GOLDEN: &str = include_str!("data/packets/packets.txt");

fn variants() -> [Variant; 8] {
    Version::ALL.map(|version| Variant { name: version.name(), set: version.set() })
}

fn layouts() -> impl Iterator<Item = &'static Layout> {
    packet::LAYOUTS.iter().chain(packet::AQL_LAYOUTS).copied()
}

#[test]
fn the_headers_say_the_same() {
    let golden = Golden::parse(GOLDEN).unwrap();
    let (mut lines, mut unproved) = (0, Vec::new());
    for layout in layouts() {
        let found = compare(layout, &golden, &variants());
        assert_eq!(found.wrong, [""; 0], "{}", layout.name);
        assert_eq!(found.unknown, [""; 0], "{}", layout.name);
        unproved.extend(found.unproved);
        lines += found.lines;
    }
    assert_eq!(unproved, [""; 0]);
    assert!(lines > 4000, "{lines} lines compared");
}

#[test]
fn every_packet_of_the_headers_has_a_layout() {
    let golden = Golden::parse(GOLDEN).unwrap();
    let ours: BTreeSet<&str> = layouts().map(|layout| layout.name).collect();
    let theirs: BTreeSet<&str> =
        golden.packets.keys().map(String::as_str).filter(|name| *name != "OPCODES").collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), layouts().count(), "names are unique");
}

/// A layout without placements for versions that it is not for: forms of one packet share fields, and with them
/// placements that only another form uses.
fn live(layout: &'static Layout) -> Layout {
    let fields = layout.fields.iter().map(|field| {
        let here = |placement: &&Placement| placement.variants.contains(layout.variants);
        let placements: Vec<Placement> = field.placements.iter().filter(here).copied().collect();
        Field { placements: placements.leak(), ..*field }
    });
    Layout { fields: fields.collect::<Vec<_>>().leak(), ..*layout }
}

#[test]
fn wrong_layouts_are_noticed() {
    let golden = Golden::parse(GOLDEN).unwrap();
    let (mut all, mut missed) = (0, Vec::new());
    for layout in layouts() {
        assert!(live(layout).fields.iter().all(|field| !field.placements.is_empty()));
        let (flips, unnoticed) = mutate(&live(layout), &golden, &variants());
        missed.extend(unnoticed);
        all += flips;
    }
    assert_eq!(missed, [""; 0]);
    assert!(all > 20_000, "{all} flips");
}

#[test]
fn opcodes() {
    let golden = Golden::parse(GOLDEN).unwrap();
    for version in Version::ALL {
        let lines: Vec<&What> = golden.of("OPCODES", version.name()).collect();
        let [What::Names { values, .. }] = lines[..] else { panic!("{version}: {lines:?}") };
        assert!(values.len() > 15);
        for opcode in 0..=255u8 {
            let theirs = values.iter().find(|(_, value)| *value == u32::from(opcode));
            let theirs = theirs.map(|(name, _)| name.as_str());
            assert_eq!(packet::opcode_name(version, opcode), theirs, "{version} {opcode}");
        }
    }
}

macro_rules! exercise_all {
    (; $($Packet:ident),+ $(,)?) => {
        for (variant, version) in variants().into_iter().zip(Version::ALL) {
            $(exercise::<$Packet>(variant, version);)+
        }
    };
}

#[test]
fn encoders_and_decoders_do_what_the_layouts_say() {
    sdma::packets!(exercise_all);
    sdma::aql_packets!(exercise_all);
}

/// What is stored is what the generator prints of the sources that `SELVEDGE_ORACLE` names (see SOURCE).
#[test]
#[ignore = "needs the sources that SELVEDGE_ORACLE names"]
fn the_headers_still_give_this() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/");
    let output = Command::new("python3").arg(format!("{directory}packets.py")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap() == GOLDEN, "packets.txt differs");
}
