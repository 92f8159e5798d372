//! Compiled encoders and decoders against the layout that they were declared with.

use crate::Variant;
use pm4::layout::{DecodeError, FieldError, Layout, Packet, Variants};
use std::fmt::Display;

/// A generator of numbers: the same ones in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// What a type makes of a value.
struct Encoded {
    /// The value's fields, as far as their types hold them.
    values: Vec<u64>,
    words: Vec<u32>,
    fits: bool,
    checks: bool,
    text: String,
}

/// What a type makes of words.
struct Decoded {
    values: Vec<u64>,
    reserved: Vec<u32>,
    /// The words encoded again.
    words: Vec<u32>,
    text: String,
}

fn values<P: Packet>(packet: &P) -> Vec<u64> {
    (0..P::LAYOUT.fields.len()).map(|index| packet.get(index)).collect()
}

fn encode<P: Packet + Display>(fields: &[u64], selector: P::Variant) -> Encoded {
    let mut packet = P::zero();
    for (index, value) in fields.iter().enumerate() {
        packet.set(index, *value);
    }
    Encoded {
        values: values(&packet),
        words: packet.to_words(selector).as_ref().to_vec(),
        fits: packet.fits(selector),
        checks: packet.check(selector).is_ok(),
        text: packet.to_string(),
    }
}

fn decode<P: Packet + Display>(
    words: &[u32],
    selector: P::Variant,
) -> Result<Decoded, DecodeError> {
    let packet = P::from_words(words, selector)?;
    Ok(Decoded {
        values: values(&packet),
        reserved: packet.reserved().as_ref().to_vec(),
        words: packet.to_words(selector).as_ref().to_vec(),
        text: packet.to_string(),
    })
}

/// Encodes and decodes values of `P` for a variant and compares with what its [`Layout`] says as data: many at
/// random, values that fit and values that do not, then fields one at a time.
///
/// # Panics
/// At the first difference.
pub fn exercise<P: Packet + Display>(variant: Variant, selector: P::Variant) {
    let layout = P::LAYOUT;
    if layout.variants.contains(variant.set) {
        run(layout, variant.set, &|values| encode::<P>(values, selector), &|words| {
            decode::<P>(words, selector)
        });
    } else {
        assert!(!P::zero().fits(selector));
        let error = P::zero().check(selector);
        assert_eq!(error, Err(FieldError::NoSuchPacket { packet: layout.name }));
    }
}

/// How many values are tried at random.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 100 };

fn run(
    layout: &Layout,
    set: Variants,
    encode: &dyn Fn(&[u64]) -> Encoded,
    decode: &dyn Fn(&[u32]) -> Result<Decoded, DecodeError>,
) {
    let mut numbers = Numbers(0x5e1e_d9e0 | u64::from(set.0) << 32);
    let room: Vec<Option<u64>> = layout
        .fields
        .iter()
        .map(|field| {
            let pieces = field.placement(set)?.pieces;
            Some(pieces.iter().fold(0, |bits, piece| bits | piece.value_mask()))
        })
        .collect();
    for round in 0..ROUNDS + layout.fields.len() {
        let asked: Vec<u64> = layout
            .fields
            .iter()
            .zip(&room)
            .enumerate()
            .map(|(index, (field, room))| {
                let stored = match round.checked_sub(ROUNDS) {
                    None if round % 4 == 0 => numbers.next(),
                    None => numbers.next() & room.unwrap_or(0),
                    Some(one) if one == index => room.unwrap_or(0),
                    Some(_) => 0,
                };
                stored.wrapping_add(field.bias)
            })
            .collect();
        let encoded = encode(&asked);
        let mut words = vec![0; layout.dwords];
        words[0] = layout.fixed;
        let mut fits = true;
        for ((field, room), value) in layout.fields.iter().zip(&room).zip(&encoded.values) {
            fits &= match room {
                Some(bits) => value.wrapping_sub(field.bias) & !bits == 0,
                None => *value == 0,
            };
            field.write(*value, &mut words, set);
        }
        let name = layout.name;
        assert_eq!(encoded.words, words, "{name} {asked:x?}");
        assert_eq!((encoded.fits, encoded.checks), (fits, fits), "{name} {asked:x?}");
        assert!(encoded.text.starts_with(name), "{}", encoded.text);
        let decoded = decode(&words).expect("what was encoded decodes");
        assert_eq!(decoded.words, words, "{name} {asked:x?}");
        assert!(!fits || decoded.values == encoded.values, "{name} {asked:x?}");
        any_words(layout, set, &mut numbers, decode);
    }
}

/// Words that nobody encoded decode, keep all their bits and print.
fn any_words(
    layout: &Layout,
    set: Variants,
    numbers: &mut Numbers,
    decode: &dyn Fn(&[u32]) -> Result<Decoded, DecodeError>,
) {
    let mut words: Vec<u32> = (0..layout.dwords).map(|_| numbers.next() as u32).collect();
    assert!(decode(&words[1..]).is_err());
    if layout.fixed_mask != 0 {
        words[0] = !layout.fixed;
        assert!(decode(&words).is_err());
    }
    words[0] = words[0] & !layout.fixed_mask | layout.fixed;
    let decoded = decode(&words).expect("words with the right header decode");
    assert_eq!(decoded.words, words, "{}", layout.name);
    for (dword, word) in words.iter().enumerate() {
        let unknown = word & !layout.known_bits(dword, set);
        assert_eq!(decoded.reserved[dword], unknown, "{} dword {dword}", layout.name);
    }
    assert!(!decoded.text.is_empty());
}
