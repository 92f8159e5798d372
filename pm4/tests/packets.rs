//! Packets against AMD's definitions; see `data/packets/SOURCE`.

use pm4::layout::{HasPayload, Writer};
use pm4::packet::*;
use pm4::{Generation, Header, Packets};
use proptest::prelude::*;
use selvedge_golden::{Golden, Variant, compare, exercise, mutate};
use std::process::Command;

const PACKETS: &str = include_str!("data/packets/packets.txt");
const OPCODES: &str = include_str!("data/packets/opcodes.txt");

/// The generations as golden lines name them.
const VARIANTS: [(&str, Generation); 10] = [
    ("gfx906", Generation::Gfx906),
    ("gfx908", Generation::Gfx908),
    ("gfx90a", Generation::Gfx90a),
    ("gfx94x", Generation::Gfx94x),
    ("gfx950", Generation::Gfx950),
    ("gfx10.1", Generation::Gfx101),
    ("gfx10.3", Generation::Gfx103),
    ("gfx11", Generation::Gfx11),
    ("gfx11.5", Generation::Gfx115),
    ("gfx12", Generation::Gfx12),
];

fn variants() -> [Variant; 10] {
    VARIANTS.map(|(name, generation)| Variant { name, set: generation.set() })
}

macro_rules! exercise_all {
    (; $($Packet:ident),+ $(,)?) => {
        for (variant, (_, generation)) in variants().into_iter().zip(VARIANTS) {
            $(exercise::<$Packet>(variant, generation);)+
        }
    };
}

#[test]
fn encoders_and_decoders_do_what_the_layouts_say() {
    pm4::packets!(exercise_all);
}

/// Names of values that some generations lack: the name, the generations, and why it is declared nevertheless. A name
/// belongs to a type, which all generations share.
const LACKING: [(&str, &str, &str); 14] = [
    ("TC_L2_OBSOLETE", "gfx9", "called MEMORY there"),
    ("ATOMIC_ADD32BIT_LOW", "gfx9", "came with gfx10.3"),
    ("ATOMIC_ADD32BIT_LOW", "gfx10.1", "came with gfx10.3"),
    ("ATOMIC_ADD32BIT_LOW", "gfx12", "went away"),
    ("NOA", "gfx9", "cache policies 2 and 3 came with gfx10"),
    ("BYPASS", "gfx9", "cache policies 2 and 3 came with gfx10"),
    ("WAIT_FOR_WRITE_CONFIRMATION", "gfx9", "came with gfx10"),
    ("SEND_AND_CONTINUE", "gfx9", "came with gfx10"),
    ("QUEUE_WRITE_POINTER_REGISTER", "gfx10.", "gfx9 and gfx11 on have it"),
    ("QUEUE_WRITE_POINTER_POLL_MASK_BIT", "gfx10.", "gfx9 and gfx11 on have it"),
    ("GDS", "gfx12", "went away with the global data share"),
    ("GDS_ATOMIC_RETURN_DATA0", "gfx12", "went away with the global data share"),
    ("GDS_ATOMIC_RETURN_DATA1", "gfx12", "went away with the global data share"),
    ("STORE_GDS_DATA_TO_MEMORY", "gfx12", "went away with the global data share"),
];

/// The entry of [`LACKING`] that a finding `PACKET GENERATION FIELD NAME` is of.
fn lacking(finding: &str) -> Option<usize> {
    let words: Vec<&str> = finding.split(' ').collect();
    let &[_, generation, _, name] = &words[..] else { return None };
    LACKING.iter().position(|(lacking, of, _)| *lacking == name && generation.starts_with(of))
}

#[test]
fn layouts_are_those_of_the_headers() {
    let golden = Golden::parse(PACKETS).unwrap();
    let mut lines = 0;
    let mut used = [false; LACKING.len()];
    let mut found = Vec::new();
    for layout in LAYOUTS {
        let result = compare(layout, &golden, &variants());
        lines += result.lines;
        found.extend(result.wrong);
        found.extend(result.unknown);
        for finding in result.unproved {
            match lacking(&finding) {
                Some(entry) => used[entry] = true,
                None => found.push(finding),
            }
        }
    }
    for packet in golden.packets.keys() {
        if !LAYOUTS.iter().any(|layout| layout.name == packet) {
            found.push(format!("{packet}: no layout"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(used.iter().all(|used| *used), "{used:?}");
    assert!(lines > 7000, "{lines}");
}

#[test]
fn wrong_layouts_would_be_noticed() {
    let golden = Golden::parse(PACKETS).unwrap();
    let mut flips = 0;
    let mut unnoticed = Vec::new();
    for layout in LAYOUTS {
        let (of_layout, found) = mutate(layout, &golden, &variants());
        flips += of_layout;
        unnoticed.extend(found);
    }
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
    assert!(flips > 25000, "{flips}");
}

/// Lines `OPCODE GENERATIONS NAME...`.
fn opcode_lines() -> impl Iterator<Item = (u8, Vec<&'static str>, Vec<&'static str>)> {
    OPCODES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut words = line.split(' ');
        let opcode = u8::from_str_radix(words.next().unwrap(), 16).unwrap();
        (opcode, words.next().unwrap().split(',').collect(), words.collect())
    })
}

#[test]
fn opcodes_have_the_names_of_the_headers() {
    let mut named = 0;
    for (name, generation) in VARIANTS {
        for opcode in 0..=255 {
            let names = opcode_lines()
                .find(|(of, generations, _)| *of == opcode && generations.contains(&name));
            match (names, opcode_name(opcode, generation)) {
                (None, None) => {}
                (Some((_, _, names)), Some(ours)) if names.contains(&ours) => named += 1,
                (names, ours) => panic!("{opcode:#x} of {name} is {ours:?}, golden {names:?}"),
            }
        }
    }
    assert!(named > 1200, "{named}");
}

/// A packet's name is that of its opcode, before the dot.
#[test]
fn layouts_are_named_after_their_opcodes() {
    for layout in LAYOUTS {
        let opcode = Header(layout.fixed).opcode();
        let name = layout.name.split('.').next().unwrap();
        for (variant, _) in
            VARIANTS.into_iter().filter(|(_, generation)| generation.is_in(layout.variants))
        {
            let names = opcode_lines()
                .find(|(of, generations, _)| *of == opcode && generations.contains(&variant));
            let (_, _, names) = names.unwrap_or_else(|| panic!("{name} of {variant} has no name"));
            assert!(names.contains(&name), "{name} of {variant} is {names:?}");
        }
    }
}

/// Every packet is found by its own words, with whatever else is in them.
#[test]
fn layouts_are_found() {
    for (_, generation) in VARIANTS {
        for expected in LAYOUTS.iter().filter(|layout| generation.is_in(layout.variants)) {
            let dwords = expected.dwords as u32 + u32::from(expected.payload);
            let mut words = vec![0; dwords as usize];
            words[0] = Header::new(Header(expected.fixed).opcode(), dwords).0 | 3;
            if let Some(form) = expected.form {
                let field = &expected.fields[expected.index(form.field).unwrap()];
                let value = (0..4).find(|value| form.holds(*value)).unwrap();
                field.write(value, &mut words, generation.set());
            }
            let found = layout(generation, &words).map(|layout| layout.name);
            assert_eq!(found, Some(expected.name), "{generation}");
        }
        assert_eq!(
            layout(generation, &[Header::NOP.0]).map(|layout| layout.name),
            Some("NOP.header")
        );
        for strange in [0, 0x8000_0000, 0x0002_1234, 0xc000_0000, 0xc00a_4600, u32::MAX] {
            assert_eq!(layout(generation, &[strange, 0]), None, "{strange:#x}");
        }
        assert_eq!(layout(generation, &[]), None);
    }
}

/// What dword 1 tells of forms of one length: PAL, *_MEC_*_dst_sel_*, mem_space; kfd_pm4_headers_ai.h, unmap_queues and
/// query_status.
#[test]
fn forms_are_told_by_dword_1() {
    for (name, second) in [
        ("WRITE_DATA", 2 << 8),
        ("WRITE_DATA", 5 << 8),
        ("WRITE_DATA.register", 0),
        ("WRITE_DATA.register", 3 << 8),
        ("WRITE_DATA.register", 0xf << 8),
        ("COPY_DATA", 2 << 8),
        ("COPY_DATA", 5 << 8),
        ("COPY_DATA.register", 0),
        ("COPY_DATA.register", 6 << 8),
        ("WAIT_REG_MEM", 1 << 4),
        ("WAIT_REG_MEM.register", 0xc0),
        ("WAIT_REG_MEM64", 1 << 4),
        ("WAIT_REG_MEM64.register", 0),
        ("UNMAP_QUEUES", 0),
        ("UNMAP_QUEUES", 3 << 4),
        ("UNMAP_QUEUES.process", 1 << 4),
        ("QUERY_STATUS", 0),
        ("QUERY_STATUS", 2 << 28),
        ("QUERY_STATUS.process", 1 << 28),
    ] {
        let of_name = LAYOUTS.iter().find(|layout| layout.name == name).unwrap();
        let mut words = [0; 9];
        words[0] = Header::new(Header(of_name.fixed).opcode(), of_name.dwords as u32).0;
        words[1] = second;
        let found = layout(Generation::Gfx11, &words[..of_name.dwords]).unwrap();
        assert_eq!(found.name, name, "{second:#x}");
    }
    let generation = Generation::Gfx11;
    let wait = WaitRegMem::memory(0x2000, Compare::ALWAYS_PASS, 7);
    assert_eq!(
        WaitRegMemRegister::decode(&wait.encode(generation), generation).unwrap_err().to_string(),
        "WAIT_REG_MEM.register: mem_space = 0x1 is another form of the packet"
    );
    let register = WaitRegMem { mem_space: WaitSpace::REGISTER_SPACE, ..wait };
    assert_eq!(
        register.check(generation).unwrap_err().to_string(),
        "WAIT_REG_MEM: mem_space = 0x0 is another form of the packet, which has its own type"
    );
    assert!(!register.fits(generation));
}

#[test]
fn constructors() {
    let generation = Generation::Gfx115;
    assert_eq!(SetShReg::new(0x2e12, 2).encode(generation), [0xc002_7600, 0x212]);
    assert_eq!(SetShReg::new(0x2e12, 2).register(), 0x2e12);
    assert!(SetShReg::new(0x2e12, 2).check(generation).is_ok());
    for register in [0, 0x2bff, 0x3000, 0xc200, u32::MAX] {
        assert!(SetShReg::new(register, 1).check(generation).is_err(), "{register:#x}");
    }
    assert_eq!(SetUconfigReg::new(0xc200, 1).encode(generation), [0xc001_7900, 0x200]);
    assert!(SetConfigReg::new(0x2c00, 1).check(generation).is_err());
    assert_eq!(Nop::skipping(1).encode(generation), [0xc000_1000]);
    assert!(Nop::skipping(0).check(generation).is_err());
    assert_eq!(NopHeader::ZERO.encode(generation), [Header::NOP.0]);
    let jump = IndirectBuffer::jump(0x1_0000_2000, 0x30).encode(generation);
    assert_eq!(jump, [0xc002_3f00, 0x2000, 1, 0x90_0030]);
    let write = WriteData::memory(0x1_0000_2004, 2);
    assert_eq!(write.encode(generation), [0xc004_3700, 0x10_0500, 0x2004, 1]);
    assert!(WriteData::memory(0x1_0000_2002, 2).check(generation).is_err());
    let wait = WaitRegMem::memory(0x2000, Compare::GREATER_THAN_OR_EQUAL_REFERENCE_VALUE, 7);
    assert_eq!(wait.encode(generation), [0xc005_3c00, 0x15, 0x2000, 0, 7, u32::MAX, 4]);
    assert_eq!(AcquireMem::EVERYWHERE.encode(generation)[2..4], [0xffff_ffff, 0xff]);
    assert_eq!(EventWrite::CS_PARTIAL_FLUSH.encode(generation), [0xc000_4600, 0x407]);
}

/// What a packet with a payload of that many dwords is refused with.
fn refused(packet: impl HasPayload<Variant = Generation>, payload: usize) -> String {
    let mut buffer = vec![0; 0x5000];
    let mut packets = Writer::new(&mut buffer[..], Generation::Gfx11);
    let error = packets.push_with(&packet, &vec![0; payload]).unwrap_err();
    assert_eq!(packets.written(), 0);
    error.to_string()
}

#[test]
fn lengths_that_hardware_takes_otherwise_are_refused() {
    assert_eq!(refused(Nop::skipping(0x4000), 0x4000), "NOP: dwords = 16385, needed 2 to 16384");
    assert_eq!(refused(SetShReg::new(0x2fff, 3), 3), "SET_SH_REG: dwords = 5, needed 3");
    assert_eq!(refused(SetShReg::new(0x2ff0, 17), 17), "SET_SH_REG: dwords = 19, needed 3 to 18");
    assert_eq!(refused(SetShReg::new(0x2e12, 0), 0), "SET_SH_REG: dwords = 2, needed 3 to 496");
    assert_eq!(
        refused(SetShReg { reg_offset: 0x400, ..SetShReg::new(0x2c00, 1) }, 1),
        "SET_SH_REG: reg_offset = 1024, needed 0 to 1023"
    );
    assert_eq!(refused(SetUconfigReg::new(0xffff, 2), 2), "SET_UCONFIG_REG: dwords = 4, needed 3");
    assert_eq!(
        refused(WriteData { dwords: 3, ..WriteData::memory(0, 0) }, 0),
        "WRITE_DATA: dwords = 3, needed 4 to 16385"
    );
    assert_eq!(SetShRegPairsPacked::new(4).encode(Generation::Gfx11), [0xc006_bb00, 4]);
    assert_eq!(
        refused(SetShRegPairsPacked { reg_writes_count: 6, ..SetShRegPairsPacked::new(4) }, 6),
        "SET_SH_REG_PAIRS_PACKED: dwords = 8, needed 11"
    );
    assert_eq!(
        refused(SetShRegPairsPacked::new(3), 6),
        "SET_SH_REG_PAIRS_PACKED: reg_writes_count = 0x3, needed 0x0 to 0x2aaa, a multiple of 0x2"
    );
    assert_eq!(
        refused(SetShRegPairsPackedN::new(16), 24),
        "SET_SH_REG_PAIRS_PACKED_N: reg_writes_count = 0x10, needed 0x0 to 0xe, a multiple of 0x2"
    );
}

/// What the writer takes is one packet of that length.
fn is_one_packet<P: HasPayload<Variant = Generation>>(
    generation: Generation,
    dwords: u32,
    second: u32,
) -> bool {
    let header = P::LAYOUT.fixed & 0xc000_ff00 | dwords.wrapping_sub(2) << 16 & 0x3fff_0000;
    let mut words = vec![0; P::LAYOUT.dwords];
    words[0] = header;
    if let Some(word) = words.get_mut(1) {
        *word = second;
    }
    let Ok(packet) = P::from_words(&words, generation) else {
        return false; // words of another form
    };
    let payload = vec![0x5a5a_5a5a; packet.payload()];
    let mut buffer = vec![0; P::LAYOUT.dwords + payload.len()];
    let mut packets = Writer::new(&mut buffer[..], generation);
    if packets.push_with(&packet, &payload).is_err() {
        return false;
    }
    assert_eq!(packets.left(), 0);
    let walked: Vec<_> = Packets::new(generation, &buffer).collect();
    assert!(
        matches!(walked[..], [Ok(only)] if only.words.len() == buffer.len()),
        "{}: {dwords} {walked:x?}",
        P::LAYOUT.name
    );
    true
}

macro_rules! one_packet_each {
    ($generation:expr, $dwords:expr, $second:expr; $($Packet:ident),* $(,)?) => {{
        let taken = [$(is_one_packet::<$Packet>($generation, $dwords, $second)),*];
        let names = vec![$($Packet::LAYOUT.name),*];
        (names, taken.iter().filter(|taken| **taken).count())
    }};
}

proptest! {
    #[test]
    fn what_the_writer_takes_is_one_packet(
        generation in 0..VARIANTS.len(),
        dwords in prop_oneof![0u32..20, 0x3ff0u32..0x4003, 0u32..0x4003],
        second in prop_oneof![0u32..0x500, any::<u32>()],
    ) {
        let (_, generation) = VARIANTS[generation];
        let (mut names, taken) = one_packet_each!(
            generation, dwords, second;
            Nop, WriteData, WriteDataRegister, SetConfigReg, SetShReg, SetQueueReg, SetUconfigReg,
            SetShRegIndex, SetShRegPairs, SetShRegPairsPacked, SetShRegPairsPackedGfx12,
            SetShRegPairsPackedN, SetUconfigRegPairs, ExecuteIndirectV2,
        );
        prop_assert!(taken > 0 || !(2..=0x4000).contains(&dwords), "a NOP can be that long");
        let with_payload = LAYOUTS.iter().filter(|layout| layout.payload);
        let mut all: Vec<_> = with_payload.map(|layout| layout.name).collect();
        all.sort();
        names.sort();
        prop_assert_eq!(names, all);
    }
}

/// What is stored is what the generators print of the sources that `SELVEDGE_ORACLE` names (see SOURCE).
#[test]
#[ignore = "needs the sources that SELVEDGE_ORACLE names"]
fn stored_lines_are_those_of_the_sources() {
    for (script, stored) in [("packets.py", PACKETS), ("packets_opcodes.py", OPCODES)] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
        let output =
            Command::new("python3").arg("-B").arg(script).current_dir(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), stored, "{script}");
    }
}
