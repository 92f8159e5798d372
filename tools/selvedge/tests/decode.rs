//! `selvedge decode`: streams that people published decode to what they are said to be, rings, and calls.
//!
//! The words are read from `tests/data/streams` of the repository. To renew the expected texts after a change that is
//! meant: `UPDATE_EXPECT=1 cargo test -p selvedge-cli --test decode`.

use expect_test::{ExpectFile, expect, expect_file};
use pm4::{Generation, Header};
use sdma::Version;
use selvedge_cli::decode::report::{Followed, Hex, Packet, Report};
use selvedge_cli::decode::{
    Engine, Error, Image, Limits, Pointers, Request, RingError, RingRequest, decode, words,
};
use serde_json::Value;

const POSTED: &str =
    include_str!("../../../tests/data/streams/10-pm4-words-from-rings-and-captures.txt");
const REGISTERS: &str =
    include_str!("../../../tests/data/streams/04-gfx1100-compute-registers.txt");
const SDMA_RING: &str = include_str!("../../../tests/data/streams/06-gfx1100-sdma-ring.txt");
const SDMA_FACTS: &str =
    include_str!("../../../tests/data/streams/11-sdma-variable-length-and-field-bugs.json");

fn request(engine: Engine, gfx: &str, words: Vec<u32>) -> Request {
    let generation = Generation::from_name(gfx).unwrap();
    Request {
        engine,
        gfx: gfx.to_owned(),
        generation,
        sdma: Version::for_generation(generation),
        name: "input".to_owned(),
        words,
        base: 0,
        ring: None,
        memory: Vec::new(),
        limits: Limits::DEFAULT,
    }
}

fn report(engine: Engine, gfx: &str, words: Vec<u32>) -> Report {
    decode(&request(engine, gfx, words)).unwrap()
}

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

fn names(report: &Report) -> Vec<&str> {
    report.streams[0].packets.iter().map(|packet| packet.name.as_str()).collect()
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
fn is_text(report: &Report, expected: ExpectFile) {
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
    let report = report(Engine::Pm4, "gfx90c", words);
    assert!(report.faults().is_empty());
    is_text(&report, expect_file!["decode/wrong_write_data.txt"]);
    let packet = &report.streams[0].packets[0];
    assert_eq!((packet.name.as_str(), packet.known), ("WRITE_DATA", false));
    assert_eq!(packet.reserved[0].bits, Hex(4), "the bits that are mis-set");
}

#[test]
fn the_shader_type_of_kfdtest() {
    let words = vec![0xc003_3702, 0x500, 0x1000, 0x70, 0xcafe_babe];
    let report = report(Engine::Pm4, "gfx90a", words);
    let packet = &report.streams[0].packets[0];
    assert_eq!((packet.name.as_str(), packet.payload), ("WRITE_DATA", 1));
    assert_eq!(field(packet, "shader_type"), 1);
    assert!(packet.reserved.is_empty());
}

#[test]
fn a_fill_and_a_fence() {
    let mut words =
        posted("RDNA-class part: ", " (4-byte", &[("<addr lo>", "00001000"), ("<addr hi>", "7f")]);
    words.extend(posted("RELEASE_MEM: ", "\n", &[("<lo>", "00002000"), ("<hi>", "7f")]));
    let report = report(Engine::Pm4, "gfx1030", words);
    assert_eq!(names(&report), ["DMA_DATA", "RELEASE_MEM"]);
    assert!(report.faults().is_empty());
    let [fill, fence] = &report.streams[0].packets[..] else { panic!() };
    assert_eq!(field(fill, "byte_count"), 4);
    assert_eq!(field(fence, "event_type"), 0x28);
    assert_eq!(field(fence, "data_sel"), 2);
    is_text(&report, expect_file!["decode/fill_and_fence.txt"]);
}

#[test]
fn a_flush_with_a_fence() {
    let values = [("<lo>", "00002000"), ("<hi>", "7f")];
    let report = report(Engine::Pm4, "gfx1030", posted("with timestamp: ", " ; DATA_SEL", &values));
    let fence = &report.streams[0].packets[0];
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
    let report = report(Engine::Pm4, "gfx1030", posted("compute dispatch: ", "\n", &values));
    assert!(report.faults().is_empty());
    let set = "SET_SH_REG";
    assert_eq!(names(&report), [set, set, set, set, "DISPATCH_DIRECT", "RELEASE_MEM"]);
    let packets = &report.streams[0].packets;
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
    let report = report(Engine::Pm4, "gfx1030", words);
    assert_eq!(names(&report), ["NOP", "NOP.header", "NOP"]);
    assert_eq!(report.streams[0].packets[0].payload, 8, "its eight body dwords are skipped");
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
    let report = report(Engine::Pm4, "gfx1100", words);
    let found: Vec<_> = report.streams[0].packets.iter().flat_map(writes).collect();
    assert_eq!(found, said);
    let registers: Vec<_> =
        report.streams[0].packets.iter().flat_map(|packet| &packet.registers).collect();
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
        assert!(report.streams[0].packets.is_empty());
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
        assert_eq!(report.streams[0].packets[1].offset, dwords);
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
    asked.base = 0x7f00_1000_0000;
    asked.memory = vec![Image {
        address: 0x8_0000_4000,
        words: vec![0xc002_3f00, 0x4000, 8, 0x0080_0004, 0xc000_1000],
    }];
    asked.ring = Some(RingRequest { pointers: Pointers { read: 7, write: 10 }, all: false });
    is_text(&decode(&asked).unwrap(), expect_file!["decode/aql_ring.txt"]);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 7, write: 10 }, all: true });
    is_text(&decode(&asked).unwrap(), expect_file!["decode/aql_ring_all.txt"]);
}

#[test]
fn pm4_ring_with_an_overwritten_packet() {
    // A ring of 16 that was written around: the oldest dwords are the end of a packet.
    let mut ring = vec![0x8000_0000; 16];
    let event = [0xc000_4600, 0x407];
    ring[14] = 0xc002_1000; // NOP of four dwords, that goes on at the start
    ring[15] = 1;
    ring[..2].copy_from_slice(&[2, 3]);
    ring[2..4].copy_from_slice(&event);
    // dwords 4 to 6: what is left of a NOP of seven dwords that began at 0
    ring[4..7].copy_from_slice(&[0x4000_0005, 0x4000_0006, 0x4000_0007]);
    let mut asked = request(Engine::Pm4, "gfx1151", ring);
    asked.base = 0x1000;
    asked.ring = Some(RingRequest { pointers: Pointers { read: 14, write: 20 }, all: true });
    let report = decode(&asked).unwrap();
    is_text(&report, expect_file!["decode/pm4_ring_all.txt"]);
    assert_eq!(report.streams[0].skipped, 3);
    assert_eq!(report.streams[1].packets[1].address, Hex(0x1008), "behind the end is the start");
}

#[test]
fn a_fresh_ring() {
    let mut ring = vec![0; 16];
    ring[..4].copy_from_slice(&[0xc000_4600, 0x407, 0xc000_4600, 0x407]);
    let mut asked = request(Engine::Pm4, "gfx1151", ring);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 2, write: 4 }, all: true });
    let report = decode(&asked).unwrap();
    let parts: Vec<_> = report
        .streams
        .iter()
        .map(|stream| (stream.kind, stream.dwords, stream.packets.len()))
        .collect();
    assert_eq!(parts, [("read", 2, 1), ("in flight", 2, 1), ("unwritten", 12, 0)]);
}

#[test]
fn impossible_pointers() {
    let mut asked = request(Engine::Aql, "gfx1151", vec![1; 64]);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 9, write: 8 }, all: false });
    let error = decode(&asked).unwrap_err();
    assert!(error.is_usage());
    assert!(error.to_string().starts_with("input: read pointer 0x9 is ahead"), "{error}");
    asked.words.pop();
    let error = decode(&asked).unwrap_err();
    assert!(!error.is_usage());
    assert!(matches!(error, Error::Ring { error: RingError::Size { bytes: 252, .. }, .. }));
}

/// INDIRECT_BUFFER of PM4.
fn call(address: u32, dwords: u32) -> [u32; 4] {
    [0xc002_3f00, address, 0, 0x0080_0000 | dwords]
}

#[test]
fn calls_are_followed() {
    let nop = [0xc000_1000, 0];
    let mut asked = request(
        Engine::Pm4,
        "gfx1151",
        [&call(0x1000, 4)[..], &call(0x2000, 2), &call(0x3000, 2)].concat(),
    );
    asked.memory = vec![
        Image { address: 0xff8, words: [&nop[..], &call(0x2000, 2)].concat() },
        Image { address: 0x2000, words: nop.to_vec() },
        Image { address: 0x3000, words: vec![0] },
    ];
    let report = decode(&asked).unwrap();
    let outcomes = |stream: usize| -> Vec<_> {
        let calls = report.streams[stream].packets.iter().flat_map(|packet| &packet.calls);
        calls.map(|call| call.followed.clone()).collect()
    };
    assert_eq!(
        outcomes(0),
        [
            Followed::Decoded { stream: 1 },
            Followed::Decoded { stream: 2 },
            Followed::Missing { known_dwords: 1 },
        ]
    );
    assert_eq!(outcomes(1), [Followed::Decoded { stream: 2 }], "known already");
    assert_eq!(report.streams.len(), 3);
    is_text(&report, expect_file!["decode/calls.txt"]);
}

#[test]
fn cycles_and_limits_end() {
    let mut asked = request(Engine::Pm4, "gfx1151", call(0x1000, 4).to_vec());
    asked.memory = vec![
        Image { address: 0x1000, words: call(0x2000, 4).to_vec() },
        Image { address: 0x2000, words: call(0x1000, 4).to_vec() },
    ];
    let outcome = |asked: &Request, stream: usize| {
        decode(asked).unwrap().streams[stream].packets[0].calls[0].followed.clone()
    };
    assert_eq!(outcome(&asked, 2), Followed::Cycle { stream: 1 });
    for (limit, name) in [
        (Limits { depth: 1, ..Limits::DEFAULT }, "depth"),
        (Limits { buffers: 1, ..Limits::DEFAULT }, "buffers"),
        (Limits { dwords: 7, ..Limits::DEFAULT }, "dwords"),
    ] {
        asked.limits = limit;
        assert_eq!(outcome(&asked, 1), Followed::Limit { limit: name });
    }
}

#[test]
fn sdma_calls_are_followed() {
    let mut words = vec![0x4, 0x1000, 0, 2, 0, 0];
    words.extend([0xff, 0]);
    let mut asked = request(Engine::Sdma, "gfx1100", words);
    asked.memory = vec![Image { address: 0x1000, words: vec![6, 0] }];
    let report = decode(&asked).unwrap();
    assert_eq!(report.streams[1].packets[0].name, "TRAP");
    expect![[r#"
        [
            "input: dword 6 (address 0x18): 0x000000ff: SDMA 6.0 has no packet of opcode 0xff and sub-opcode 0x00, and only a packet that is known says where the next one is; is it another version (--sdma)?",
        ]
    "#]]
    .assert_debug_eq(&report.faults());
}

#[test]
fn json() {
    let mut asked = request(Engine::Pm4, "gfx1151", call(0x1000, 3).to_vec());
    asked.words.extend([0xc001_7600, 0x20c, 0x12_3456, 0xc006_4900, 0]);
    let json = serde_json::to_string_pretty(&decode(&asked).unwrap()).unwrap();
    expect_file!["decode/schema.json"].assert_eq(&format!("{json}\n"));
}
