//! Walking streams.

use pm4::layout::{HasPayload, Packet, Writer};
use proptest::prelude::*;
use sdma::packet::{self, *};
use sdma::{Packets, StreamError, Version, oss7};

fn version() -> impl Strategy<Value = Version> {
    prop::sample::select(Version::ALL.to_vec())
}

/// Packets of one of each layout that a version has and whose length is known, all fields zero.
fn one_of_each(version: Version) -> Vec<(&'static str, Vec<u32>)> {
    let known = packet::LAYOUTS.iter().filter(|layout| layout.variants.contains(version.set()));
    known
        .map(|layout| {
            let mut words = vec![0; layout.dwords];
            words[0] = layout.fixed;
            let dwords = packet::dwords(layout, version, &words);
            (*layout, words, dwords)
        })
        .filter_map(|(layout, mut words, dwords)| {
            words.resize(dwords?, 0xffff_ffff);
            Some((layout.name, words))
        })
        .collect()
}

#[test]
fn each_packet_is_found_and_the_next_one_too() {
    for version in Version::ALL {
        let packets = one_of_each(version);
        assert!(packets.len() > 30, "{version}");
        let words: Vec<u32> = packets.iter().flat_map(|(_, words)| words.clone()).collect();
        let mut walk = Packets::new(version, &words);
        let mut offset = 0;
        for (name, words) in &packets {
            let raw = walk.next().unwrap().unwrap();
            assert_eq!((raw.offset, raw.words), (offset, &words[..]), "{version} {name}");
            assert_eq!(raw.name(), Some(*name), "{version}");
            assert!(raw.to_string().starts_with(name), "{raw}");
            offset += words.len();
        }
        assert_eq!(walk.next(), None);
        assert_eq!(walk.offset(), words.len());
    }
}

#[test]
fn cut_off_packets() {
    for version in Version::ALL {
        for (name, words) in one_of_each(version) {
            for got in 1..words.len() {
                let error = Packets::new(version, &words[..got]).next().unwrap().unwrap_err();
                let StreamError::Truncated { offset: 0, packet, needed, got: said, .. } = error
                else {
                    panic!("{error}")
                };
                assert_eq!((packet, said), (name, got));
                assert!(needed > got && needed <= words.len(), "{error}");
            }
        }
    }
}

#[test]
fn payloads() {
    let version = Version::V4_0;
    let mut words = [0xffff_ffff; 40];
    let mut writer = Writer::new(&mut words[..], version);
    let write = WriteUntiled { count: 3, dst_addr: 0x1000, ..WriteUntiled::ZERO };
    assert_eq!(write.payload(), 3);
    // Payload that looks like packets is none.
    writer.push_with(&write, &[5, 6, 7]).unwrap();
    assert!(writer.push_with(&write, &[5, 6]).is_err());
    writer.push_with(&Nop { count: 2, ..Nop::ZERO }, &[1, 1]).unwrap();
    writer.push_with(&Nop::ZERO, &[]).unwrap();
    writer.push(&Trap::ZERO).unwrap();
    let written = writer.written();
    let lines: Vec<String> =
        Packets::new(version, &words[..written]).map(|raw| raw.unwrap().to_string()).collect();
    assert_eq!(
        lines,
        [
            "WRITE_UNTILED dst_addr=0x1000 count=3 sw=0",
            "NOP count=2",
            "NOP count=0",
            "TRAP int_context=0"
        ]
    );
    let raw = Packets::new(version, &words).next().unwrap().unwrap();
    assert_eq!(raw.payload(), [5, 6, 7]);
}

#[test]
fn lengths_that_nobody_knows() {
    let mut words = [0; 16];
    words[0] = WriteTiledBc::LAYOUT.fixed;
    let error = Packets::new(Version::V5_0, &words).next().unwrap().unwrap_err();
    assert!(matches!(error, StreamError::Length { packet: "WRITE_TILED_BC", .. }));
    assert_eq!(
        error.to_string(),
        "packet at dword 0: WRITE_TILED_BC, header 0x00001102: its length is not published"
    );
    words[0] = CopyPageTransfer::LAYOUT.fixed;
    let error = Packets::new(Version::V7_0, &words).next().unwrap().unwrap_err();
    assert!(matches!(error, StreamError::Length { packet: "COPY_PAGE_TRANSFER", .. }));
    let pairs = CopyPhysicalLinear { addr_pair_num: 1, ..CopyPhysicalLinear::ZERO };
    let words = pairs.encode(Version::V6_0);
    let error = Packets::new(Version::V6_0, &words).next().unwrap().unwrap_err();
    assert!(matches!(error, StreamError::Length { packet: "COPY_PHYSICAL_LINEAR", .. }));
    // 4.0 has no such field.
    assert!(Packets::new(Version::V4_0, &words).next().unwrap().is_ok());
}

/// 7.0 has an eighth dword in copies that say so, and only in those.
#[test]
fn forms_by_their_bits() {
    let names = |version, words: &[u32]| -> Vec<String> {
        Packets::new(version, words).map(|raw| raw.unwrap().name().unwrap().to_owned()).collect()
    };
    let plain = CopyLinear { count: 1, ..CopyLinear::ZERO }.encode(Version::V7_0);
    let meta = CopyLinearMeta { count: 1, ..CopyLinearMeta::ZERO }.encode(Version::V7_0);
    let both: Vec<u32> = plain.iter().chain(&meta).chain(&plain).copied().collect();
    assert_eq!(names(Version::V7_0, &both), ["COPY_LINEAR", "COPY_LINEAR.meta", "COPY_LINEAR"]);
    // The same bit is "cache policy valid" before, and adds nothing.
    let cpv = CopyLinear { count: 1, cpv: true, ..CopyLinear::ZERO }.encode(Version::V6_0);
    assert_eq!(names(Version::V6_0, &[cpv, cpv].concat()), ["COPY_LINEAR", "COPY_LINEAR"]);
    // Broadcast copies are longer.
    let wide = CopyBroadcastLinear { count: 1, ..CopyBroadcastLinear::ZERO }.encode(Version::V4_0);
    let plain = CopyLinear { count: 1, ..CopyLinear::ZERO }.encode(Version::V4_0);
    let both: Vec<u32> = wide.iter().chain(&plain).copied().collect();
    assert_eq!(names(Version::V4_0, &both), ["COPY_BROADCAST_LINEAR", "COPY_LINEAR"]);
}

proptest! {
    /// Any dwords: the walk ends, keeps every dword of what it yields, and prints.
    #[test]
    fn any_dwords(version in version(), words in prop::collection::vec(any::<u32>(), 0..200), mask in prop::sample::select(vec![u32::MAX, 0x1f, 0x11f3f, 0xffff])) {
        let words: Vec<u32> = words.iter().enumerate().map(|(index, word)| if index % 5 == 0 { word & mask } else { *word }).collect();
        let mut offset = 0;
        let mut faults = 0;
        for raw in Packets::new(version, &words) {
            prop_assert_eq!(faults, 0, "nothing after a fault");
            match raw {
                Ok(raw) => {
                    prop_assert_eq!(raw.offset, offset);
                    prop_assert_eq!(raw.words, &words[offset..offset + raw.words.len()]);
                    prop_assert!(!raw.words.is_empty() && !raw.to_string().is_empty());
                    offset += raw.words.len();
                }
                Err(error) => {
                    prop_assert_eq!((error.offset(), error.header()), (offset, words[offset]));
                    prop_assert!(error.to_string().starts_with("packet at dword"));
                    faults += 1;
                }
            }
        }
        prop_assert!(faults == 1 || offset == words.len());
        prop_assert!(oss7::dwords(&words).is_none_or(|dwords| dwords > 0));
    }
}

/// Packets of the engine after these, by the lengths that AMD's code gives them: where the next one starts.
#[test]
fn oss7_lengths() {
    let wait = 1 << 30;
    let signal = 1 << 31;
    let mut multicast = [0x0a01, 0, 3];
    for (first, dwords) in [
        (&[0x0001][..], 7),
        (&[0x0001 | wait], 14),
        (&[0x0001 | signal], 12),
        (&[0x0001 | wait | signal], 19),
        (&[0x0001 | 1 << 27], 9),
        (&[0x0401], 13),
        (&[0x0801, 0], 8),
        (&[0x0901 | wait | signal], 19),
        (&multicast, 13),
        (&[0x0002, 0, 0, 0], 5),
        (&[0x0002, 0, 0, 9], 14),
        (&[0x0005], 4),
        (&[0x0205], 5),
        (&[0x0006], 2),
        (&[0x0008], 6),
        (&[0x0508], 8),
        (&[0x000a], 8),
        (&[0x000b], 5),
        (&[0x020d], 3),
        (&[0x0111], 6),
        (&[0x3_0000], 4),
    ] {
        assert_eq!(oss7::dwords(first), Some(dwords), "{first:x?}");
    }
    multicast[0] |= wait;
    assert_eq!(oss7::dwords(&multicast), None, "the number of destinations is farther on");
    assert_eq!(oss7::dwords(&[0x0801, 1 << 24]), None);
    assert_eq!(oss7::dwords(&[0x0002]), None);
    assert_eq!(oss7::dwords(&[0xff]), None);
    assert_eq!(oss7::dwords(&[]), None);

    // Compact copies with a signal alone, which a decoder that took each for 19 dwords ran past.
    let mut stream = vec![0xffff_ffff; 12 + 19 + 7 + 5 + 8];
    for (at, header) in [(0, 0x8000_0001), (12, 0xc000_0001), (31, 1), (38, 0x0205), (43, 0x0508)] {
        stream[at] = header;
    }
    let mut starts = Vec::new();
    let mut at = 0;
    while at < stream.len() {
        starts.push(at);
        at += oss7::dwords(&stream[at..]).unwrap();
    }
    assert_eq!((starts, at), (vec![0, 12, 31, 38, 43], stream.len()));
    // None of this is taken for a packet of 7.0 that it is not: what 7.0 lacks ends the walk.
    let faults: Vec<_> = [0x0205, 0x0508, 0x0a01, 0x0901]
        .map(|header| Packets::new(Version::V7_0, &[header, 0]).next().unwrap().unwrap_err())
        .into();
    assert!(faults.iter().all(|fault| matches!(fault, StreamError::Unknown { .. })), "{faults:?}");
    assert_eq!(
        faults[0].to_string(),
        "packet at dword 0: header 0x00000205: SDMA 7.0 has no opcode 0x05 (FENCE) with sub-opcode 0x02"
    );
}

#[test]
fn every_packet_encodes_to_what_is_walked() {
    fn one<P: Packet<Variant = Version>>(packet: P, version: Version) {
        let words = packet.to_words(version);
        let raw = Packets::new(version, words.as_ref()).next().unwrap().unwrap();
        assert_eq!(raw.layout(), Some(P::LAYOUT), "{version}");
    }
    for version in Version::ALL {
        one(Fence { addr: 0x1000, data: 7, ..Fence::ZERO }, version);
        one(PollRegmem { mem_poll: true, ..PollRegmem::ZERO }, version);
        one(CopyLinearSubwin { rect_x: 1, ..CopyLinearSubwin::ZERO }, version);
    }
}
