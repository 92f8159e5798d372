//! Registers against AMD's headers; see `data/registers/SOURCE`.

use pm4::Generation;
use pm4::layout::Variants;
use pm4::register::{self, Place, REGISTERS, Register};
use selvedge_golden::{Golden, Variant, compare, exercise, mutate};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const FIELDS: &str = include_str!("data/registers/fields.txt");
const ADDRESSES: &str = include_str!("data/registers/addresses.txt");
const SPACES: &str = include_str!("data/registers/spaces.txt");

/// Address by name and generation.
type Addresses = BTreeMap<(String, &'static str), u32>;

fn name(generation: Generation) -> &'static str {
    match generation {
        Generation::Gfx906 => "gfx906",
        Generation::Gfx908 => "gfx908",
        Generation::Gfx90a => "gfx90a",
        Generation::Gfx94x => "gfx94x",
        Generation::Gfx950 => "gfx950",
        Generation::Gfx101 => "gfx10.1",
        Generation::Gfx103 => "gfx10.3",
        Generation::Gfx11 => "gfx11",
        Generation::Gfx115 => "gfx11.5",
        Generation::Gfx12 => "gfx12",
    }
}

fn variant(generation: Generation) -> Variant {
    Variant { name: name(generation), set: generation.set() }
}

fn variants() -> Vec<Variant> {
    Generation::ALL.map(variant).to_vec()
}

fn golden() -> Golden {
    Golden::parse(FIELDS).unwrap()
}

fn golden_addresses() -> Addresses {
    let mut addresses = Addresses::new();
    for line in ADDRESSES.lines() {
        let [register, generations, address] =
            line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let address = u32::from_str_radix(address, 16).unwrap();
        for generation in generations.split(',') {
            let known = Generation::ALL.map(name).into_iter().find(|known| *known == generation);
            let before = addresses.insert((register.to_owned(), known.unwrap()), address);
            assert_eq!(before, None, "{line}");
        }
    }
    addresses
}

/// The addresses of a register or row as its places have them, those that are there twice twice.
fn addresses(register: &Register) -> Vec<((String, &'static str), u32)> {
    let mut addresses = Vec::new();
    for place in register.places {
        for generation in Generation::ALL.into_iter().filter(|it| it.is_in(place.generations)) {
            for step in 0..place.count {
                let name_at = register.name_at(place.first + step).to_string();
                addresses.push(((name_at, name(generation)), place.address + step * place.step));
            }
        }
    }
    addresses.sort();
    addresses
}

#[test]
fn fields() {
    let golden = golden();
    let mut lines = 0;
    for register in REGISTERS {
        let found = compare(register.layout, &golden, &variants());
        assert!(found.is_clean(), "{found:#?}");
        lines += found.lines;
    }
    assert!(lines > LINES, "{lines}");
    let ours: BTreeSet<&str> = REGISTERS.iter().map(|register| register.layout.name).collect();
    assert_eq!(ours.len(), REGISTERS.len());
    let theirs: BTreeSet<&str> = golden.packets.keys().map(String::as_str).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn wrong_fields_are_noticed() {
    let golden = golden();
    for register in REGISTERS {
        let (flips, mut unnoticed) = mutate(register.layout, &golden, &variants());
        assert!(flips > 20, "{}", register.layout.name);
        // A generation more that has none of the fields: the generations of a layout are those of its addresses,
        // which the tests below hold against the headers.
        unnoticed.retain(|flip| !flip.starts_with(&format!("{} variants", register.layout.name)));
        assert_eq!(unnoticed, [""; 0]);
    }
}

#[test]
fn addresses_are_those_of_the_headers() {
    let mut ours = Addresses::new();
    for register in REGISTERS {
        for (key, address) in addresses(register) {
            assert_eq!(ours.insert(key.clone(), address), None, "{key:?}");
        }
    }
    let theirs = golden_addresses();
    for (key, address) in &theirs {
        assert_eq!(ours.get(key), Some(address), "{key:?}");
    }
    assert_eq!(ours.len(), theirs.len());
    assert!(theirs.len() > ADDRESSES_OF_ALL, "{}", theirs.len());
}

/// Every place that differs from this one in one bit of one number.
fn mutants(place: &Place) -> Vec<Place> {
    let mut all = Vec::new();
    for bit in 0..32 {
        all.push(Place { address: place.address ^ 1 << bit, ..*place });
    }
    for bit in 0..5 {
        all.push(Place { count: place.count ^ 1 << bit, ..*place });
        all.push(Place { first: place.first ^ 1 << bit, ..*place });
        // How far apart the registers are is nothing where there is one.
        if place.count > 1 {
            all.push(Place { step: place.step ^ 1 << bit, ..*place });
        }
    }
    for generation in Generation::ALL {
        let generations = Variants(place.generations.0 ^ generation.set().0);
        all.push(Place { generations, ..*place });
    }
    all
}

#[test]
fn wrong_addresses_are_noticed() {
    let golden = golden_addresses();
    for register in REGISTERS {
        let right = addresses(register);
        assert!(
            right.iter().all(|(key, address)| golden.get(key) == Some(address)),
            "{}",
            register.layout.name
        );
        for (index, place) in register.places.iter().enumerate() {
            for mutant in mutants(place) {
                let mut places = register.places.to_vec();
                places[index] = mutant;
                let mutant = Register { places: places.leak(), ..**register };
                assert_ne!(addresses(&mutant), right, "{mutant:?}");
            }
        }
    }
}

#[test]
fn layouts_and_places_are_of_the_same_generations() {
    for register in REGISTERS {
        let places = register.places.iter().fold(0, |all, place| all | place.generations.0);
        assert_eq!(Variants(places), register.layout.variants, "{}", register.layout.name);
        for generation in Generation::ALL {
            assert_eq!(register.address(generation), register.address_at(0, generation));
            assert_eq!(register.address_at(register.row(), generation), None);
            let here = register.layout.variants.contains(generation.set());
            let mut row = 0..register.row();
            assert_eq!(row.any(|n| register.address_at(n, generation).is_some()), here);
        }
    }
}

#[test]
fn every_register_is_found_by_name_and_address() {
    for register in REGISTERS {
        for index in 0..register.row() {
            let name = register.name_at(index).to_string();
            assert_eq!(register::named(&name), Some(*register), "{name}");
            assert_eq!(register.index_of(&name), Some(index), "{name}");
            for generation in Generation::ALL {
                let Some(address) = register.address_at(index, generation) else { continue };
                assert_eq!(register.index_at(address, generation), Some(index), "{name}");
                let (found, at) = register::at(generation, address).unwrap();
                assert_eq!(found.address_at(at, generation), Some(address), "{name}");
                let alias = ALIASES.iter().any(|(_, alias)| *alias == register.layout.name);
                assert_eq!(
                    (found, at) == (*register, index),
                    !alias || found == *register,
                    "{name}"
                );
            }
        }
    }
    for nothing in
        ["", "COMPUTE_USER_DATA_16", "COMPUTE_USER_DATA_", "COMPUTE_DIM_W", "compute_dim_x"]
    {
        assert_eq!(register::named(nothing), None, "{nothing}");
    }
    for register in REGISTERS {
        assert!(!register.name_at(u32::MAX).to_string().is_empty());
    }
    assert_eq!(register::at(Generation::Gfx12, 0), None);
    assert_eq!(register::at(Generation::Gfx12, u32::MAX), None);
}

/// Other names of registers that come first in [`REGISTERS`].
const ALIASES: &[(&str, &str)] = &[
    ("COMPUTE_STATIC_THREAD_MGMT_SE0", "COMPUTE_DESTINATION_EN_SE0"),
    ("COMPUTE_USER_ACCUM_0", "COMPUTE_PREF_PRI_ACCUM_0"),
    ("CP_HQD_OFFLOAD", "CP_HQD_DMA_OFFLOAD"),
    ("CP_HQD_HQ_STATUS0", "CP_HQD_HQ_SCHEDULER0"),
    ("CP_HQD_HQ_CONTROL0", "CP_HQD_HQ_SCHEDULER1"),
];

#[test]
fn aliases_share_their_addresses() {
    for (first, alias) in ALIASES {
        let [first, alias] = [first, alias].map(|name| register::named(name).unwrap());
        for generation in Generation::ALL {
            if let Some(address) = alias.address(generation) {
                assert_eq!(register::at(generation, address), Some((first, 0)));
            }
        }
    }
}

#[test]
fn spaces_are_those_of_the_set_packets() {
    use register::{CONFIG_BASE, CONFIG_END, SH_BASE, SH_END, UCONFIG_BASE, UCONFIG_END};
    let spaces: Vec<String> = [
        ("CONFIG", CONFIG_BASE, CONFIG_END),
        ("SH", SH_BASE, SH_END),
        ("UCONFIG", UCONFIG_BASE, UCONFIG_END),
    ]
    .into_iter()
    .map(|(name, start, end)| format!("{name} {start:x} {end:x}\n"))
    .collect();
    assert_eq!(spaces.concat(), SPACES);
    for register in REGISTERS {
        let expected = match register.layout.name {
            name if name.starts_with("COMPUTE_") => SH_BASE..SH_END,
            name if name.starts_with("SQ_PERFCOUNTER") => UCONFIG_BASE..UCONFIG_END,
            "GRBM_GFX_INDEX" => UCONFIG_BASE..UCONFIG_END,
            name if name.starts_with("GRBM_STATUS") => CONFIG_BASE..CONFIG_END,
            _ => continue,
        };
        for (key, address) in addresses(register) {
            assert!(expected.contains(&address), "{key:?}");
        }
    }
}

macro_rules! exercise_all {
    (; $($module:ident { $($Register:ident),+ $(,)? } $([$($Value:ident),+ $(,)?])?)+) => {
        for generation in Generation::ALL {
            $($(exercise::<register::$Register>(variant(generation), generation);)+)+
        }
    };
}

#[test]
fn encoders_and_decoders_do_what_the_layouts_say() {
    pm4::registers!(exercise_all);
}

/// What is stored is what the generator prints of the sources that `SELVEDGE_ORACLE` names (see SOURCE).
#[test]
#[ignore = "needs the sources that SELVEDGE_ORACLE names"]
fn the_sources_still_give_this() {
    let sources = std::env::var_os("SELVEDGE_ORACLE").expect("SELVEDGE_ORACLE names the sources");
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/registers.py");
    for (what, stored) in [("fields", FIELDS), ("addresses", ADDRESSES), ("spaces", SPACES)] {
        let output = Command::new("python3")
            .args(["-B", generator])
            .arg(&sources)
            .arg(what)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == stored.as_bytes(), "{what} differ");
    }
}

/// Lines and addresses that there are at least, so that no golden file is empty.
const LINES: usize = 7800;
const ADDRESSES_OF_ALL: usize = 2500;
