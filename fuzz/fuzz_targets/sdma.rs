//! Any dwords are an SDMA stream up to a fault, for any version; any values of packets are what they were when encoded
//! and decoded.
//!
//! The first byte picks the version, the second what is done: 0 a stream, else values and words of all packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sdma::packet::*;
use sdma::{Packets, Version, oss7};
use selvedge_fuzz::{dwords, exercise_each, pick, take};

fn stream(version: Version, words: &[u32]) {
    let mut packets = Packets::new(version, words);
    let mut covered = 0;
    for packet in packets.by_ref() {
        match packet {
            Ok(packet) => {
                assert_eq!(packet.offset, covered);
                assert_eq!(packet.words, &words[covered..covered + packet.words.len()]);
                covered += packet.words.len();
                assert!(packet.name().is_some());
                assert!(packet.payload().len() < packet.words.len());
                assert!(!packet.to_string().is_empty());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert_eq!(packets.offset(), covered);
    assert!(covered == words.len() || packets.next().is_none());
    assert!(oss7::dwords(words).is_none_or(|dwords| dwords > 0));
}

fuzz_target!(
    |bytes: &[u8]| {
        let mut bytes = bytes;
        let version = pick(&Version::ALL, &mut bytes);
        match take(&mut bytes) {
            [0] => stream(version, &dwords(bytes)),
            _ => {
                sdma::packets!(exercise_each bytes, version.set(), version);
                sdma::aql_packets!(exercise_each bytes, version.set(), version);
            }
        }
    }
);
