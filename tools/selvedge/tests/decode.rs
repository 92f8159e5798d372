//! `selvedge decode`: streams that people published decode to what they are said to be; the report as text and JSON.
//!
//! The words are read from `tests/data/streams` of the repository. To renew the expected texts after a change that is
//! meant: `UPDATE_EXPECT=1 cargo test -p selvedge-cli --test decode`.

mod asked;

use asked::{packets, request};
use expect_test::{ExpectFile, expect_file};
use pm4::{Generation, Header};
use sdma::Version;
use selvedge_cli::decode::report::{Hex, Packet, Report};
use selvedge_cli::decode::{Engine, Image, Pointers, RingRequest, decode, words};
use serde_json::Value;

const POSTED: &str =
    include_str!("../../../tests/data/streams/10-pm4-words-from-rings-and-captures.txt");
const REGISTERS: &str =
    include_str!("../../../tests/data/streams/04-gfx1100-compute-registers.txt");
const SDMA_RING: &str = include_str!("../../../tests/data/streams/06-gfx1100-sdma-ring.txt");
const SDMA_FACTS: &str =
    include_str!("../../../tests/data/streams/11-sdma-variable-length-and-field-bugs.json");

/// The words behind `start` in the posted file up to the end of the line, with values for what is left out there.
fn posted(start: &str, end: &str, values: &[(&str, &str)]) -> Vec<u32> {
    let (_, rest) = POSTED.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    let (text, _) = rest.split_once(end).unwrap_or_else(|| panic!("no {end} behind {start}"));
    let mut text = text.replace('|', " ");
    for (name, value) in values {
        assert!(text.contains(name), "{name} in {text}");
        text = text.replace(name, value);
    }
    words(start, text.as_bytes()).unwrap()
}

fn names(report: &Report<'_>) -> Vec<String> {
    report.streams[0].packets.iter().map(|packet| packet.name).collect()
}

#[track_caller]
fn field(packet: &Packet, name: &str) -> u64 {
    let field = packet.fields.iter().find(|field| field.name == name);
    field.unwrap_or_else(|| panic!("no {name} in {packet:?}")).value.0
}

/// Name (or address) and value of what a packet writes.
fn writes(packet: &Packet) -> Vec<(String, u64)> {
    let name = |write: &selvedge_cli::decode::report::RegisterWrite| match &write.name {
        Some(name) => name.clone(),
        None => format!("{:#x}", write.address.0),
    };
    packet.registers.iter().map(|write| (name(write), write.value.0)).collect()
}

#[track_caller]
fn is_text(report: &Report<'_>, expected: ExpectFile) {
    expected.assert_eq(&report.to_string());
}

#[test]
fn headers_from_a_ring() {
    let headers = posted("through debugfs: ", ". Reader", &[]);
    let found: Vec<_> = headers
        .iter()
        .map(|word| {
            let header = Header(*word);
            let name = pm4::packet::opcode_name(header.opcode(), Generation::Gfx906);
            (name.unwrap(), header.dwords().unwrap() - 2)
        })
        .collect();
    let said = [("COND_EXEC", 3), ("WAIT_REG_MEM", 5), ("RELEASE_MEM", 6), ("CONTEXT_CONTROL", 1)];
    assert_eq!(found, said);
}

#[test]
fn a_wrong_write_data() {
    let mut words = posted("Also ", " written", &[]);
    words.push(0x500);
    let asked = request(Engine::Pm4, "gfx90c", words);
    let report = decode(&asked).unwrap();
    assert!(report.faults().is_empty());
    is_text(&report, expect_file!["decode/wrong_write_data.txt"]);
    let packet = &packets(&report, 0)[0];
    assert_eq!((packet.name.as_str(), packet.known), ("WRITE_DATA", false));
    assert_eq!(packet.reserved[0].bits, Hex(4), "the bits that are mis-set");
}

#[test]
fn the_shader_type_of_kfdtest() {
    let words = vec![0xc003_3702, 0x500, 0x1000, 0x70, 0xcafe_babe];
    let asked = request(Engine::Pm4, "gfx90a", words);
    let report = decode(&asked).unwrap();
    let packet = &packets(&report, 0)[0];
    assert_eq!((packet.name.as_str(), packet.payload), ("WRITE_DATA", 1));
    assert_eq!(field(packet, "shader_type"), 1);
    assert!(packet.reserved.is_empty());
}

#[test]
fn a_fill_and_a_fence() {
    let mut words =
        posted("RDNA-class part: ", " (4-byte", &[("<addr lo>", "00001000"), ("<addr hi>", "7f")]);
    words.extend(posted("RELEASE_MEM: ", "\n", &[("<lo>", "00002000"), ("<hi>", "7f")]));
    let asked = request(Engine::Pm4, "gfx1030", words);
    let report = decode(&asked).unwrap();
    assert_eq!(names(&report), ["DMA_DATA", "RELEASE_MEM"]);
    assert!(report.faults().is_empty());
    let [fill, fence] = &packets(&report, 0)[..] else { panic!() };
    assert_eq!(field(fill, "byte_count"), 4);
    assert_eq!(field(fence, "event_type"), 0x28);
    assert_eq!(field(fence, "data_sel"), 2);
    is_text(&report, expect_file!["decode/fill_and_fence.txt"]);
}

#[test]
fn a_flush_with_a_fence() {
    let values = [("<lo>", "00002000"), ("<hi>", "7f")];
    let asked = request(Engine::Pm4, "gfx1030", posted("with timestamp: ", " ; DATA_SEL", &values));
    let report = decode(&asked).unwrap();
    let fence = &packets(&report, 0)[0];
    assert_eq!(fence.name, "RELEASE_MEM");
    assert_eq!(field(fence, "event_type"), 0x14);
    assert_eq!((field(fence, "data_sel"), field(fence, "gl2_wb")), (1, 1));
    assert_eq!((field(fence, "address"), field(fence, "data")), (0x7f_0000_2000, 0xbeef_cafe));
    is_text(&report, expect_file!["decode/flush_with_fence.txt"]);
}

#[test]
fn a_dispatch() {
    let values = [
        ("<pgm lo>", "00123456"),
        ("<pgm hi>", "00000001"),
        ("<u0>", "00001000"),
        ("<u1>", "0000007f"),
        ("<n>", "00000400"),
        ("<lo>", "00002000"),
        ("<hi>", "0000007f"),
    ];
    let asked = request(Engine::Pm4, "gfx1030", posted("compute dispatch: ", "\n", &values));
    let report = decode(&asked).unwrap();
    assert!(report.faults().is_empty());
    let set = "SET_SH_REG";
    assert_eq!(names(&report), [set, set, set, set, "DISPATCH_DIRECT", "RELEASE_MEM"]);
    let packets = packets(&report, 0);
    let said: Vec<(&str, u64)> = packets[..4]
        .iter()
        .flat_map(|packet| &packet.registers)
        .map(|write| (write.name.as_deref().unwrap(), write.value.0))
        .collect();
    assert_eq!(
        said,
        [
            ("COMPUTE_PGM_LO", 0x12_3456),
            ("COMPUTE_PGM_HI", 1),
            ("COMPUTE_PGM_RSRC2", 10),
            ("COMPUTE_NUM_THREAD_X", 32),
            ("COMPUTE_NUM_THREAD_Y", 1),
            ("COMPUTE_NUM_THREAD_Z", 1),
            ("COMPUTE_USER_DATA_0", 0x1000),
            ("COMPUTE_USER_DATA_1", 0x7f),
            ("COMPUTE_USER_DATA_2", 4),
            ("COMPUTE_USER_DATA_3", 0x3101_6fac),
            ("COMPUTE_USER_DATA_4", 0x400),
        ]
    );
    assert_eq!(packets[0].words.len(), 4, "count 2 is three body dwords");
    assert_eq!(
        writes(&packets[4]),
        [("COMPUTE_DISPATCH_INITIATOR".to_owned(), 0x8041)],
        "1x1x1 groups"
    );
    assert_eq!(field(&packets[5], "data"), 1, "a fence of value 1");
    is_text(&report, expect_file!["decode/dispatch.txt"]);
}

#[test]
fn what_a_nop_hides_is_no_packet() {
    let nop = posted("capture excerpt: ", " (NOP count 7)", &[]);
    let body = posted("then body = ", " ...", &[]);
    let mut words = [nop, body].concat();
    words.resize(9, 0);
    words.extend([0xffff_1000, 0xc000_1000, 0]);
    let asked = request(Engine::Pm4, "gfx1030", words);
    let report = decode(&asked).unwrap();
    assert_eq!(names(&report), ["NOP", "NOP.header", "NOP"]);
    assert_eq!(packets(&report, 0)[0].payload, 8, "its eight body dwords are skipped");
    is_text(&report, expect_file!["decode/nop.txt"]);
}

#[test]
fn registers_of_a_dispatch() {
    // The same values as a stream writes them.
    let mut words = Vec::new();
    let mut said = Vec::new();
    for line in REGISTERS.lines().filter_map(|line| line.strip_prefix("reg")) {
        let (name, value) = line.split_once(" == 0x").unwrap();
        let value = u32::from_str_radix(value, 16).unwrap();
        let register = pm4::register::named(name).unwrap_or_else(|| panic!("{name}"));
        let index = register.index_of(name).unwrap();
        let address = register.address_at(index, Generation::Gfx11);
        let address = address.unwrap_or_else(|| panic!("{name} is not in gfx11"));
        words.extend([Header::new(0x76, 3).0, address - 0x2c00, value]);
        // Two names of one register; the decoder says the one that newer hardware has.
        said.push((name.replace("DESTINATION_EN", "STATIC_THREAD_MGMT"), u64::from(value)));
    }
    assert_eq!(said.len(), 74);
    let asked = request(Engine::Pm4, "gfx1100", words);
    let report = decode(&asked).unwrap();
    let found: Vec<_> = packets(&report, 0).iter().flat_map(writes).collect();
    assert_eq!(found, said);
    let packets = packets(&report, 0);
    let registers: Vec<_> = packets.iter().flat_map(|packet| &packet.registers).collect();
    let mut text = String::new();
    for write in &registers {
        text += write.name.as_deref().unwrap();
        for field in &write.fields {
            text += &format!(" {}={}", field.name, field.text);
        }
        for reserved in &write.reserved {
            text += &format!(" reserved={:#x}", reserved.bits.0);
        }
        text.push('\n');
    }
    expect_file!["decode/compute_registers.txt"].assert_eq(&text);

    let of =
        |name: &str| *registers.iter().find(|write| write.name.as_deref() == Some(name)).unwrap();
    let value = |register: &str, name: &str| {
        of(register).fields.iter().find(|field| field.name == name).unwrap().value.0
    };
    // "bits 0 COMPUTE_SHADER_EN, 2 FORCE_START_AT_000, 5 USE_THREAD_DIMENSIONS, 12 (look up), 15 CS_W32_EN": in gfx11
    // AMD's headers reserve bit 12.
    let initiator = of("COMPUTE_DISPATCH_INITIATOR");
    let set: Vec<_> = initiator.fields.iter().filter(|field| field.value.0 != 0).collect();
    assert_eq!(
        set.iter().map(|field| field.name).collect::<Vec<_>>(),
        ["compute_shader_en", "force_start_at_000", "use_thread_dimensions", "cs_w32_en"]
    );
    assert_eq!(initiator.reserved[0].bits, Hex(1 << 12));
    // "PGM address = (PGM_HI:PGM_LO)<<8"; bit 8 of PGM_HI is no part of it.
    let address = value("COMPUTE_PGM_HI", "data") | value("COMPUTE_PGM_LO", "data");
    assert_eq!(address, 0x70_f3ba_6ea6 << 8);
    // "TMPRING_SIZE 0x200200 (WAVES 0x200, WAVESIZE 0x200)"; sizes are in units of 256 bytes.
    assert_eq!(value("COMPUTE_TMPRING_SIZE", "waves"), 0x200);
    assert_eq!(value("COMPUTE_TMPRING_SIZE", "wavesize"), 0x200 * 256);
}

#[test]
fn sdma_rings_count_bytes() {
    let number = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(" {name} 0x"))?;
        u64::from_str_radix(rest.split_whitespace().next()?, 16).ok()
    };
    let mut rings = 0;
    for line in SDMA_RING.lines().filter(|line| line.contains("RB BASE")) {
        let [read, write, control] =
            ["RPTR", "WPTR", "CNTL"].map(|name| number(line, name).unwrap());
        // RB_SIZE, bits 5:1 of SDMA0_QUEUE0_RB_CNTL: the logarithm of the size in dwords.
        let dwords = 1 << (control >> 1 & 0x1f);
        let mut asked = request(Engine::Sdma, "gfx1100", vec![0; dwords]);
        asked.ring = Some(RingRequest { pointers: Pointers { read, write }, all: false });
        let report = decode(&asked).unwrap();
        let ring = report.ring.as_ref().unwrap();
        assert_eq!((ring.unit, ring.size, ring.in_flight), ("bytes", 4 * dwords as u64, 0), "idle");
        assert_eq!(ring.read_offset as u64, read % (4 * dwords as u64) / 4);
        assert!(packets(&report, 0).is_empty());
        rings += 1;
    }
    assert_eq!(rings, 4);

    // "byte write pointer = ring->wptr << 2": 0x4c0 is 0x130 dwords.
    let (_, doorbell) = SDMA_RING.split_once("WDOORBELL64(0x00000214, 0x").unwrap();
    let write = u64::from_str_radix(&doorbell[..16], 16).unwrap();
    let mut asked = request(Engine::Sdma, "gfx1100", vec![0; 0x800]);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 0, write }, all: false });
    let report = decode(&asked).unwrap();
    assert_eq!(report.streams[0].dwords, 0x130);
    is_text(&report, expect_file!["decode/sdma_ring.txt"]);
}

/// SDMA 7.1 is no version that streams are decoded for; its lengths are known.
#[test]
fn sdma_lengths() {
    let facts: Value = serde_json::from_str(SDMA_FACTS).unwrap();
    let facts = facts["facts"].as_array().unwrap();
    let said = |name: &str| {
        let values = facts.iter().find_map(|fact| fact.get("values")).unwrap();
        usize::try_from(values[name].as_u64().unwrap()).unwrap()
    };
    for (name, words) in [
        ("COPY_LINEAR_PHY", &[0x0801, 0][..]),
        ("COPY_LINEAR_WAIT_SIGNAL", &[0xc000_0001]),
        ("WRITE_LINEAR", &[0x0002, 0, 0, 0]),
        ("FENCE", &[0x0005]),
        ("FENCE_64B", &[0x0205]),
        ("CONSTANT_FILL", &[0x000b]),
        ("POLL_MEM_64B", &[0x0508]),
    ] {
        assert_eq!(sdma::oss7::dwords(words), Some(said(name)), "{name}");
    }
    // "wait and signal blocks are omitted when their header bits are 0": the next packet is at the right dword.
    for (header, dwords) in [(0x1, 7), (0x4000_0001, 14), (0x8000_0001, 12), (0xc000_0001, 19)] {
        assert_eq!(sdma::oss7::dwords(&[header]), Some(dwords));
    }
    // In the versions before, a packet of each length and what follows it.
    for (version, header, name, dwords) in [
        (Version::V6_0, 0x0001, "COPY_LINEAR", 7),
        (Version::V6_0, 0x0005, "FENCE", 4),
        (Version::V6_0, 0x000b, "CONSTANT_FILL", 5),
        (Version::V6_0, 0x0008, "POLL_REGMEM", 6),
        (Version::V4_4_2, 0x000a, "ATOMIC", 8),
    ] {
        let mut asked = request(Engine::Sdma, "gfx1100", vec![0; dwords + 2]);
        asked.sdma = version;
        asked.words[0] = header;
        asked.words[dwords] = 6;
        let report = decode(&asked).unwrap();
        assert_eq!(names(&report), [name, "TRAP"], "{version}");
        assert_eq!(packets(&report, 0)[1].offset, dwords);
    }
}

#[test]
fn aql_ring() {
    let mut ring = vec![0; 4 * 16];
    for slot in ring.chunks_mut(16) {
        slot[0] = 1;
    }
    let mut dispatch =
        aql::KernelDispatch::new(0x7f00_0000_0040, 0x7f00_0001_0000, [4096, 1, 1], [256, 1, 1]);
    dispatch.completion_signal = 0x7f00_0000_1000;
    ring[48..].copy_from_slice(&dispatch.encode());
    ring[..16].copy_from_slice(&aql::Pm4Indirect::new(0x8_0000_4000, 4).encode());
    ring[32] = 7;
    let mut asked = request(Engine::Aql, "gfx1151", ring);
    asked.base = Some(0x7f00_1000_0000);
    asked.memory = vec![Image {
        name: "image".to_owned(),
        address: 0x8_0000_4000,
        words: vec![0xc002_3f00, 0x4000, 8, 0x0080_0004, 0xc000_1000],
    }];
    asked.ring = Some(RingRequest { pointers: Pointers { read: 7, write: 10 }, all: false });
    is_text(&decode(&asked).unwrap(), expect_file!["decode/aql_ring.txt"]);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 7, write: 10 }, all: true });
    is_text(&decode(&asked).unwrap(), expect_file!["decode/aql_ring_all.txt"]);
}

#[test]
fn json() {
    let mut asked = request(Engine::Pm4, "gfx1151", vec![0xc002_3f00, 0x1000, 0, 0x0080_0003]);
    asked.words.extend([0xc001_7600, 0x20c, 0x12_3456, 0xc006_4900, 0]);
    let json = serde_json::to_string_pretty(&decode(&asked).unwrap()).unwrap();
    expect_file!["decode/schema.json"].assert_eq(&format!("{json}\n"));
}

#[test]
fn the_words_of_a_cut_off_packet_are_shown() {
    let words = [0xc006_4900, 1, 2, 3, 4, 5, 6];
    let asked = request(Engine::Pm4, "gfx1151", words.to_vec());
    let report = decode(&asked).unwrap();
    let text = report.to_string();
    let shown = "FAULT\n    c0064900 00000001 00000002 00000003 00000004 00000005 00000006\n";
    assert!(text.contains(shown), "{text}");
    let fault = report.streams[0].fault.as_ref().unwrap();
    assert_eq!(fault.words, words.map(|word| Hex(word.into())));
}

#[test]
fn of_a_long_cut_off_packet_the_rest_is_counted() {
    let mut words = vec![0xc0ff_1000];
    words.resize(100, 7);
    let asked = request(Engine::Pm4, "gfx1151", words);
    let report = decode(&asked).unwrap();
    let text = report.to_string();
    assert_eq!(text.matches("00000007").count(), 63);
    assert!(text.contains("    and 36 dwords more\n"), "{text}");
    let fault = report.streams[0].fault.as_ref().unwrap();
    assert_eq!((fault.words.len(), fault.got), (64, 100));
}
