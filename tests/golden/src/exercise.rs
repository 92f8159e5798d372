//! Compiled encoders and decoders against the layout that they were declared with.

use crate::Variant;
use pm4::layout::{DecodeError, Field, FieldError, Form, Layout, Packet, Variants};
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
/// random, values that fit and values that do not, then fields one at a time; and words that nobody encoded.
///
/// # Panics
/// At the first difference.
pub fn exercise<P: Packet + Display>(variant: Variant, selector: P::Variant) {
    let layout = P::LAYOUT;
    if layout.variants.contains(variant.set) {
        let mut numbers = Numbers(0x5e1e_d9e0 | u64::from(variant.set.0) << 32);
        for round in 0..ROUNDS + layout.fields.len() {
            let values = match round.checked_sub(ROUNDS) {
                None => some_values(layout, variant.set, round % 4 == 0, || numbers.next()),
                Some(one) => full(layout, variant.set, one),
            };
            exercise_values::<P>(&values, variant.set, selector);
            let mut words: Vec<u32> = (0..layout.dwords).map(|_| numbers.next() as u32).collect();
            exercise_words::<P>(&words, variant.set, selector);
            words[0] = words[0] & !layout.fixed_mask | layout.fixed;
            exercise_words::<P>(&words, variant.set, selector);
        }
    } else {
        assert!(!P::zero().fits(selector));
        let error = P::zero().check(selector);
        assert_eq!(error, Err(FieldError::NoSuchPacket { packet: layout.name }));
    }
}

/// How many values are tried at random.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 100 };

/// Bits of a field's stored value that a variant has room for; `None` when it has no such field.
fn room(field: &Field, set: Variants) -> Option<u64> {
    let pieces = field.placement(set)?.pieces;
    Some(pieces.iter().fold(0, |bits, piece| bits | piece.value_mask()))
}

/// A value for each field of a layout out of numbers: any, or one that fits and is of the layout's form.
pub fn some_values(
    layout: &Layout,
    set: Variants,
    any: bool,
    mut number: impl FnMut() -> u64,
) -> Vec<u64> {
    let value = |field: &Field| {
        let number = number();
        match (layout.form, room(field, set)) {
            _ if any => number,
            (_, None) => 0,
            (Some(form), Some(room)) if form.field == field.name => of_form(&form, number, room),
            (_, Some(room)) => (number & room).wrapping_add(field.bias),
        }
    };
    layout.fields.iter().map(value).collect()
}

/// A value of the field that tells a form: the number when it is one, else the next that is.
fn of_form(form: &Form, number: u64, room: u64) -> u64 {
    (0..=room)
        .map(|step| number.wrapping_add(step) & room)
        .find(|value| form.holds(*value))
        .unwrap()
}

/// All bits of one field set, and no others but those that tell the layout's form.
fn full(layout: &Layout, set: Variants, one: usize) -> Vec<u64> {
    let value = |(index, field): (usize, &Field)| {
        let number = if index == one { u64::MAX } else { 0 };
        match (layout.form, room(field, set)) {
            (_, None) => 0,
            (Some(form), Some(room)) if form.field == field.name => of_form(&form, number, room),
            (_, Some(room)) => (number & room).wrapping_add(field.bias),
        }
    };
    layout.fields.iter().enumerate().map(value).collect()
}

/// One value of `P`, which may not fit: its words are those that the layout says as data, decoded it is what it was,
/// and it prints.
///
/// # Panics
/// At the first difference.
pub fn exercise_values<P: Packet + Display>(fields: &[u64], set: Variants, selector: P::Variant) {
    let encoded = encode::<P>(fields, selector);
    check_values(P::LAYOUT, set, &encoded, &|words| decode::<P>(words, selector));
}

/// Any words: they decode as `P` when they are long enough and of its form, else not; decoded they keep all their
/// bits, and print.
///
/// # Panics
/// At the first difference.
pub fn exercise_words<P: Packet + Display>(words: &[u32], set: Variants, selector: P::Variant) {
    check_words(P::LAYOUT, set, words, decode::<P>(words, selector));
}

fn check_values(
    layout: &Layout,
    set: Variants,
    encoded: &Encoded,
    decode: &dyn Fn(&[u32]) -> Result<Decoded, DecodeError>,
) {
    let (name, values) = (layout.name, &encoded.values);
    let mut words = vec![0; layout.dwords];
    words[0] = layout.fixed;
    let mut fits = layout.variants.contains(set);
    let mut of_this_form = true;
    for (field, value) in layout.fields.iter().zip(values) {
        fits &= match room(field, set) {
            Some(bits) => value.wrapping_sub(field.bias) & !bits == 0,
            None => *value == 0,
        };
        field.write(*value, &mut words, set);
        if let Some(form) = layout.form.filter(|form| form.field == field.name) {
            of_this_form = form.holds(*value);
        }
    }
    fits &= of_this_form;
    assert_eq!(encoded.words, words, "{name} {values:x?}");
    assert_eq!((encoded.fits, encoded.checks), (fits, fits), "{name} {values:x?}");
    assert!(encoded.text.starts_with(name), "{}", encoded.text);
    let decoded = decode(&words);
    if let Ok(decoded) = &decoded
        && fits
    {
        assert_eq!(&decoded.values, values, "{name}");
    }
    assert!(decoded.is_ok() || !fits, "{name} {values:x?}");
    check_words(layout, set, &words, decoded);
}

fn check_words(
    layout: &Layout,
    set: Variants,
    words: &[u32],
    decoded: Result<Decoded, DecodeError>,
) {
    let name = layout.name;
    let long_enough = words.len() >= layout.dwords;
    let of_it = long_enough && layout.matches(words[0]) && layout.is_form(words, set);
    match decoded {
        Ok(decoded) => {
            assert!(of_it, "{name} {words:x?}");
            assert_eq!(decoded.words, words[..layout.dwords], "{name}");
            for (dword, word) in words[..layout.dwords].iter().enumerate() {
                let unknown = word & !layout.known_bits(dword, set);
                assert_eq!(decoded.reserved[dword], unknown, "{name} dword {dword}");
            }
            assert!(decoded.text.starts_with(name), "{}", decoded.text);
        }
        Err(error) => {
            assert!(!of_it, "{name} {words:x?}: {error}");
            assert_eq!(matches!(error, DecodeError::Short { .. }), !long_enough, "{error}");
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
