//! Packets and registers as text.

use super::{Field, Layout, Packet, Variants};
use core::fmt;

/// A field's value as people read it: yes or no as 1 or 0, names where there are some, small numbers in
/// decimal, others in hexadecimal.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The field.
    pub field: &'a Field,
    /// Its value.
    pub value: u64,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.names.iter().find(|(named, _)| *named == self.value) {
            Some((_, name)) => f.write_str(name),
            None if self.value < 10 => write!(f, "{}", self.value),
            None => write!(f, "{:#x}", self.value),
        }
    }
}

fn show_fields(
    f: &mut fmt::Formatter<'_>,
    layout: &'static Layout,
    value: impl Fn(usize, &'static Field) -> Option<u64>,
    reserved: impl Fn(usize) -> u32,
) -> fmt::Result {
    f.write_str(layout.name)?;
    for (index, field) in layout.fields.iter().enumerate() {
        match value(index, field) {
            None => {}
            Some(0) if field.flag => {}
            Some(_) if field.flag => write!(f, " {}", field.name)?,
            Some(value) => write!(f, " {}={}", field.name, Shown { field, value })?,
        }
    }
    for dword in 0..layout.dwords {
        match reserved(dword) {
            0 => {}
            bits => write!(f, " reserved[{dword}]={bits:#x}")?,
        }
    }
    Ok(())
}

/// Writes a packet's name and its fields on one line; flags are named when they are set. Fields of hardware
/// variants that have none of the packet's values (zero there) are left out.
///
/// # Errors
/// Those of the formatter.
pub fn show_values<P: Packet>(f: &mut fmt::Formatter<'_>, packet: &P) -> fmt::Result {
    let everywhere = |field: &Field| {
        field.placements.iter().fold(0, |all, placement| all | placement.variants.0)
            & P::LAYOUT.variants.0
            == P::LAYOUT.variants.0
    };
    let value = |index, field: &'static Field| {
        let value = packet.get(index);
        (value != 0 || everywhere(field)).then_some(value)
    };
    let reserved = packet.reserved();
    show_fields(f, P::LAYOUT, value, |dword| reserved.as_ref().get(dword).copied().unwrap_or(0))
}

/// Writes a packet's name and its fields, read from words, on one line.
///
/// # Errors
/// Those of the formatter.
pub fn show(
    f: &mut fmt::Formatter<'_>,
    layout: &'static Layout,
    words: &[u32],
    variant: Variants,
) -> fmt::Result {
    let reserved =
        |dword: usize| words.get(dword).map_or(0, |word| word & !layout.known_bits(dword, variant));
    show_fields(f, layout, |_, field| field.read(words, variant), reserved)
}
