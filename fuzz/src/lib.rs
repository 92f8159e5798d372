//! What the fuzz targets of the wire crates share.

use pm4::layout::{Layout, Packet, Variants};
use std::fmt::{Debug, Display};

/// Bytes as little-endian dwords; up to three at the end are left out.
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Takes `N` bytes from the front; what is missing is zero.
pub fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (front, rest) = bytes.split_at(N.min(bytes.len()));
    taken[..front.len()].copy_from_slice(front);
    *bytes = rest;
    taken
}

/// One of `all`, by a byte of the input.
pub fn pick<T: Copy>(all: &[T], bytes: &mut &[u8]) -> T {
    let [byte] = take(bytes);
    all[usize::from(byte) % all.len()]
}

/// A value of any kind, valid or not, from bytes: encoded and decoded it stays what it is, its words are those that the
/// layout says as data, and it prints.
pub fn round_trip<P>(bytes: &[u8], set: Variants, variant: P::Variant)
where
    P: Packet + PartialEq + Debug + Display,
{
    let layout = P::LAYOUT;
    let mut bytes = bytes;
    let [choices] = take(&mut bytes);
    let mut packet = P::zero();
    let mut words = vec![0; layout.dwords];
    words[0] = layout.fixed;
    for (index, field) in layout.fields.iter().enumerate() {
        let mut value = u64::from_le_bytes(take(&mut bytes));
        if choices & 1 == 0 {
            // A value that fits, so that most inputs are valid packets.
            let room = field.placement(set).map_or(0, |placement| {
                placement.pieces.iter().fold(0, |bits, piece| bits | piece.value_mask())
            });
            value = (value & room).wrapping_add(if room == 0 { 0 } else { field.bias });
        }
        packet.set(index, value);
        field.write(packet.get(index), &mut words, set);
    }
    assert!(!packet.to_string().is_empty());
    let encoded = packet.to_words(variant);
    assert_eq!(encoded.as_ref(), words, "{packet:?}");
    let decoded = P::from_words(&words, variant).expect("a packet's own words are one");
    assert_eq!(decoded.to_words(variant).as_ref(), words, "{packet:?}");
    assert!(!decoded.to_string().is_empty());
    match packet.check(variant) {
        Ok(()) => assert_eq!(decoded, packet),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any words decode as `P` when their first one is of it, and encode to themselves.
pub fn any_words<P>(words: &[u32], variant: P::Variant)
where
    P: Packet + Debug + Display,
{
    let of_it = words.len() >= P::LAYOUT.dwords && P::LAYOUT.matches(words[0]);
    match P::from_words(words, variant) {
        Ok(packet) => {
            assert!(of_it);
            assert_eq!(packet.to_words(variant).as_ref(), &words[..P::LAYOUT.dwords]);
            assert!(!packet.to_string().is_empty());
        }
        Err(error) => {
            assert!(!of_it);
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Calls a generic function for each type of a list, or gives the layouts of the list:
/// `each!(call(arguments); module: Type, Type)`, `each!(layouts; module: Type, Type)`.
#[macro_export]
macro_rules! each {
    (layouts; $module:path: $($Type:ident),+ $(,)?) => {{
        use $module as types;
        [$(types::$Type::LAYOUT),+]
    }};
    ($call:ident $arguments:tt; $module:path: $($Type:ident),+ $(,)?) => {{
        use $module as types;
        $($crate::each!(@one $call $arguments types::$Type);)+
    }};
    (@one $call:ident ($($argument:expr),*) $Type:path) => {
        $crate::$call::<$Type>($($argument),*)
    };
}

/// Every type with a layout in a crate's list has to be in the target's.
pub fn assert_complete(ours: &[&Layout], theirs: &[&Layout]) {
    for layout in theirs {
        assert!(ours.contains(layout), "{} is in no list of the fuzz target", layout.name);
    }
    assert_eq!(ours.len(), theirs.len());
}
