//! Any dwords are a PM4 stream up to a fault, for any generation; any values of packets are what they were when
//! encoded and decoded.
//!
//! The first byte picks the generation, the second what is done: 0 a stream, else values and words of all packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pm4::packet::*;
use pm4::{Generation, Packets, register};
use selvedge_fuzz::{dwords, exercise_each, pick, take};

fn stream(generation: Generation, words: &[u32]) {
    let mut packets = Packets::new(generation, words);
    let mut covered = 0;
    for packet in packets.by_ref() {
        let Ok(packet) = packet else { continue };
        assert_eq!(packet.offset, covered);
        assert_eq!(packet.words, &words[covered..covered + packet.words.len()]);
        covered += packet.words.len();
        assert!(!packet.to_string().is_empty());
        assert!(packet.layout().is_none_or(|layout| layout.dwords <= packet.words.len()));
        for write in packet.writes() {
            assert_eq!(packet.words[write.dword], write.value);
            if let Some((register, index)) = write.register {
                assert_eq!(register.address_at(index, generation), Some(write.address));
            }
        }
        assert!(packet.indirect_buffers().count() <= 2);
    }
    assert_eq!(packets.offset(), covered);
    assert!(covered == words.len() || packets.next().is_none());
}

/// Registers as data: a word is its fields and what is reserved.
fn registers(generation: Generation, word: u32) {
    let set = generation.set();
    for layout in register::REGISTERS.iter().map(|register| register.layout) {
        let mut again = [word & !layout.known_bits(0, set)];
        for field in layout.fields {
            if let Some(value) = field.read(&[word], set) {
                field.write(value, &mut again, set);
            }
        }
        assert_eq!(again, [word], "{}", layout.name);
    }
    let _ = register::at(generation, word);
}

fuzz_target!(
    |bytes: &[u8]| {
        let mut bytes = bytes;
        let generation = pick(&Generation::ALL, &mut bytes);
        match take(&mut bytes) {
            [0] => stream(generation, &dwords(bytes)),
            _ => {
                pm4::packets!(exercise_each bytes, generation.set(), generation);
                registers(generation, dwords(bytes).first().copied().unwrap_or(0));
            }
        }
    }
);
