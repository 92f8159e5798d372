//! Any 64 bytes are an AQL packet that encodes to itself, any bytes and indices a ring or an error; any values of
//! packets are what they were when encoded and decoded.
//!
//! The first byte says what is done: 0 packets, 1 a ring between two indices, else values of all packets.
#![no_main]

use aql::metadata::*;
use aql::*;
use libfuzzer_sys::fuzz_target;
use pm4::layout::Variants;
use selvedge_fuzz::{dwords, exercise_each, take};

fn one(words: &[u32; 16]) {
    let packet = Packet::decode(words);
    assert_eq!(packet.encode(), *words);
    assert_eq!(packet.header(), Header::from_word(words[0]));
    assert!(!packet.to_string().is_empty());
}

fuzz_target!(
    |bytes: &[u8]| {
        let mut bytes = bytes;
        match take(&mut bytes) {
            [0] => dwords(bytes).as_chunks().0.iter().for_each(one),
            [1] => {
                let [read, in_flight] = [(); 2].map(|()| u64::from_le_bytes(take(&mut bytes)));
                let words = dwords(bytes);
                match aql::packets(&words, read, read.wrapping_add(in_flight % 64)) {
                    Ok(slots) => assert_eq!(slots.count(), words.len() / 16),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
            _ => {
                aql::packets!(exercise_each bytes, Variants::ALL, ());
                aql::records!(exercise_each bytes, Variants::ALL, ());
            }
        }
    }
);
