//! `selvedge decode --ring`.

mod asked;

use asked::{packets, request};
use expect_test::expect_file;
use selvedge_cli::decode::report::{Hex, Inside};
use selvedge_cli::decode::{Engine, Error, Pointers, Request, RingError, RingRequest, decode};

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
    asked.base = Some(0x1000);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 14, write: 20 }, all: true });
    let report = decode(&asked).unwrap();
    expect_file!["decode/pm4_ring_all.txt"].assert_eq(&report.to_string());
    assert_eq!(report.streams[0].skipped, 3);
    assert_eq!(packets(&report, 1)[1].address, Hex(0x1008), "behind the end is the start");
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
        .map(|stream| (stream.kind, stream.dwords, stream.packets.iter().count()))
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

/// What a PM4 ring tells of its read pointer, and the fault of what is in flight.
fn read_pointer(ring: &[u32], read: u64, write: u64) -> (Option<Inside>, Option<String>) {
    let mut asked: Request = request(Engine::Pm4, "gfx1151", ring.to_vec());
    asked.ring = Some(RingRequest { pointers: Pointers { read, write }, all: false });
    let report = decode(&asked).unwrap();
    let fault = report.streams[0].fault.as_ref().map(|fault| fault.problem.clone());
    if let Some(inside) = &report.ring.as_ref().unwrap().inside {
        let text = format!("dword {}, which seems to be {inside}\n", read % ring.len() as u64);
        assert!(report.to_string().contains(&text), "{text}{report}");
    }
    (report.ring.unwrap().inside, fault)
}

#[test]
fn a_read_pointer_inside_a_packet_of_a_fresh_ring_is_told() {
    let mut ring = [0; 16];
    ring[..2].copy_from_slice(&[0xc000_4600, 0x407]);
    ring[2..6].copy_from_slice(&[0xc002_1000, 1, 0xc000_4600, 0x407]);
    let inside = |read| Inside { offset: 2, dwords: 4, name: "NOP".to_owned(), read };
    for read in [0, 2] {
        assert_eq!(read_pointer(&ring, read, 6), (None, None));
    }
    // What follows is a packet by its looks, too.
    assert_eq!(read_pointer(&ring, 4, 6), (Some(inside(2)), None));
    assert_eq!(inside(2).to_string(), "2 dwords inside NOP, 4 dwords from dword 2 on");
    let (told, fault) = read_pointer(&ring, 5, 6);
    assert_eq!(told, Some(inside(3)));
    let fault = fault.unwrap();
    assert!(
        fault.ends_with(
            "; the read pointer seems to be 3 dwords inside NOP, 4 dwords from dword 2 on"
        ),
        "{fault}"
    );
}

#[test]
fn a_read_pointer_inside_a_packet_of_a_ring_written_around_is_told_when_it_leads_nowhere() {
    let mut ring = [0x8000_0000; 16];
    // Around the end of the ring.
    ring[14..].copy_from_slice(&[0xc003_1000, 0xc000_4600]);
    ring[..3].copy_from_slice(&[0x407, 0x4000_0000, 0xc000_4600]);
    assert_eq!(read_pointer(&ring, 14, 20), (None, None));
    let inside = |read| Inside { offset: 14, dwords: 5, name: "NOP".to_owned(), read };
    let (told, fault) = read_pointer(&ring, 17, 20);
    assert_eq!(told, Some(inside(3)));
    assert!(fault.unwrap().contains("; the read pointer seems to be 3 dwords inside NOP"));
    // A body that leads from the read pointer to the write pointer is as good as a packet.
    ring[3] = 0x407;
    ring[2] = 0xc000_4600;
    assert_eq!(read_pointer(&ring, 18, 20), (None, None));
}

#[test]
fn a_first_dword_that_is_no_header_may_mean_a_read_pointer_inside_a_packet() {
    let ring = [0x4000_0000; 16];
    let (told, fault) = read_pointer(&ring, 4, 6);
    assert_eq!(told, None);
    let fault = fault.unwrap();
    assert!(fault.ends_with("; or the read pointer is inside a packet"), "{fault}");
    // Nothing says so of what is no ring.
    let asked = request(Engine::Pm4, "gfx1151", ring.to_vec());
    assert!(!decode(&asked).unwrap().faults()[0].contains("read pointer"));
}

#[test]
fn a_full_first_round_of_a_ring_is_read_and_not_unwritten() {
    let mut asked = request(Engine::Sdma, "gfx1100", vec![0; 16]);
    asked.ring = Some(RingRequest { pointers: Pointers { read: 32, write: 64 }, all: true });
    let report = decode(&asked).unwrap();
    let parts: Vec<_> = report.streams.iter().map(|stream| (stream.kind, stream.dwords)).collect();
    assert_eq!(parts, [("read", 8), ("in flight", 8)]);
}
