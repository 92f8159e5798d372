//! A layout against golden lines.

use crate::{Golden, Variant, What};
use pm4::layout::{Field, Layout, Piece, Placement, Variants};

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What is wrong: one line each.
    pub wrong: Vec<String>,
    /// Pieces, joins and headers of ours that no golden line speaks of: `PACKET variant what`.
    pub unproved: Vec<String>,
    /// Pieces that AMD has and we do not: `PACKET variant NAME`.
    pub unknown: Vec<String>,
    /// Golden lines that were compared.
    pub lines: usize,
}

impl Comparison {
    /// Whether nothing was found, beyond what is expected.
    pub fn is_clean(&self) -> bool {
        self.wrong.is_empty() && self.unproved.is_empty() && self.unknown.is_empty()
    }

    fn wrong(&mut self, text: String) {
        self.wrong.push(text);
    }
}

fn pieces(layout: &Layout, variant: Variants) -> impl Iterator<Item = &'static Piece> {
    let placements = layout.fields.iter().filter_map(move |field| field.placement(variant));
    placements.flat_map(|placement| placement.pieces)
}

/// Holds `layout` against `golden` for each of the `variants` that it is for.
pub fn compare(layout: &Layout, golden: &Golden, variants: &[Variant]) -> Comparison {
    let mut result = Comparison::default();
    for variant in variants {
        let lines: Vec<&What> = golden.of(layout.name, variant.name).collect();
        if layout.variants.contains(variant.set) {
            compare_variant(layout, &lines, *variant, &mut result);
        } else if !lines.is_empty() {
            result.unknown.push(format!("{} {}", layout.name, variant.name));
        }
    }
    consistent(layout, variants, &mut result);
    result
}

/// Rules that need no golden line: each field has one placement for a variant, no two overlap, a placement is for
/// variants that the packet has.
fn consistent(layout: &Layout, variants: &[Variant], result: &mut Comparison) {
    for variant in variants {
        let mut used = vec![0u32; layout.dwords];
        if let Some(first) = used.first_mut() {
            *first = layout.fixed_mask;
        }
        for field in layout.fields {
            let here: Vec<_> = field
                .placements
                .iter()
                .filter(|placement| placement.variants.contains(variant.set))
                .collect();
            if here.len() > 1 {
                result.wrong(format!(
                    "{} {} {}: placed twice",
                    layout.name, variant.name, field.name
                ));
            }
            for piece in here.iter().flat_map(|placement| placement.pieces) {
                let end = usize::from(piece.low) + usize::from(piece.width);
                let word = used.get_mut(usize::from(piece.dword));
                match word {
                    Some(word) if piece.width > 0 && end <= 32 && *word & piece.mask() == 0 => {
                        *word |= piece.mask()
                    }
                    _ => result.wrong(format!(
                        "{} {} {}: {piece:?} overlaps another field or the end",
                        layout.name, variant.name, field.name
                    )),
                }
            }
        }
    }
    if layout.fixed & !layout.fixed_mask != 0 {
        result.wrong(format!("{}: fixed bits outside of their mask", layout.name));
    }
}

fn compare_variant(layout: &Layout, lines: &[&What], variant: Variant, result: &mut Comparison) {
    let at = format!("{} {}", layout.name, variant.name);
    let ours: Vec<&Piece> = pieces(layout, variant.set).collect();
    let mut proved = vec![false; ours.len()];
    let (mut head, mut joins, mut biases, mut names) = (false, Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        result.lines += 1;
        match line {
            What::Head { mask, value } => {
                head = true;
                if (layout.fixed_mask, layout.fixed) != (*mask, *value) {
                    result.wrong(format!(
                        "{at}: dword 0 is {:#x} in {:#x}, golden {value:#x} in {mask:#x}",
                        layout.fixed, layout.fixed_mask
                    ));
                }
            }
            What::Piece { name, words } => match ours.iter().position(|piece| piece.name == name) {
                None => result.unknown.push(format!("{at} {name}")),
                Some(index) => {
                    proved[index] = true;
                    let piece = ours[index];
                    let mut mine = vec![0; layout.dwords];
                    if let (Some(word), 1..=32) =
                        (mine.get_mut(usize::from(piece.dword)), piece.width)
                    {
                        *word = piece.mask();
                    }
                    if mine != *words {
                        result.wrong(format!("{at} {name}: {mine:x?}, golden {words:x?}"));
                    }
                }
            },
            What::Join(parts) => joins.push(parts),
            What::Bias { name, bias } => biases.push((name.as_str(), *bias)),
            What::Names { name, values } => names.push((name.as_str(), values)),
            What::Whole { values, words } => {
                if let Err(error) = whole(layout, values, words, variant) {
                    result.wrong(format!("{at}: {error}"));
                }
            }
        }
    }
    if !head && layout.fixed_mask != 0 {
        result.unproved.push(format!("{at} header"));
    }
    for (piece, _) in ours.iter().zip(&proved).filter(|(_, proved)| !**proved) {
        result.unproved.push(format!("{at} {}", piece.name));
    }
    for field in layout.fields {
        let Some(placement) = field.placement(variant.set) else { continue };
        let first = placement.pieces.first().map_or("", |piece| piece.name);
        let golden = biases.iter().find(|(name, _)| *name == first).map_or(0, |(_, bias)| *bias);
        if field.bias != golden {
            result.wrong(format!("{at} {}: less {}, golden less {golden}", field.name, field.bias));
        }
        compare_names(
            &at,
            field,
            names.iter().find(|(name, _)| *name == first).map(|(_, values)| *values),
            result,
        );
        compare_join(&at, field, placement, &joins, result);
    }
}

fn compare_names(
    at: &str,
    field: &Field,
    golden: Option<&Vec<(String, u32)>>,
    result: &mut Comparison,
) {
    for (value, name) in field.names {
        match golden.and_then(|golden| golden.iter().find(|(golden, _)| golden == name)) {
            Some((_, golden)) if u64::from(*golden) == *value => {}
            Some((_, golden)) => {
                result.wrong(format!("{at} {} {name}: {value:#x}, golden {golden:#x}", field.name));
            }
            None => result.unproved.push(format!("{at} {} {name}", field.name)),
        }
    }
}

fn compare_join(
    at: &str,
    field: &Field,
    placement: &Placement,
    joins: &[&Vec<(String, u8)>],
    result: &mut Comparison,
) {
    let mine: Vec<(&str, u8)> =
        placement.pieces.iter().map(|piece| (piece.name, piece.shift)).collect();
    let Some(&(first, shift)) = mine.first() else { return };
    match joins.iter().find(|parts| parts.iter().any(|(name, _)| name == first)) {
        None if mine.len() == 1 && shift == 0 => {}
        None => result.unproved.push(format!("{at} {} joined", field.name)),
        Some(parts) => {
            let golden: Vec<(&str, u8)> =
                parts.iter().map(|(name, shift)| (name.as_str(), *shift)).collect();
            if mine != golden {
                result.wrong(format!("{at} {}: joined as {mine:?}, golden {golden:?}", field.name));
            }
        }
    }
}

/// Encodes a whole packet by the layout's data and reads it back.
fn whole(
    layout: &Layout,
    values: &[(String, u32)],
    words: &[u32],
    variant: Variant,
) -> Result<(), String> {
    let mut mine = vec![0; layout.dwords];
    mine[0] = layout.fixed;
    for field in layout.fields {
        let Some(placement) = field.placement(variant.set) else { continue };
        let mut value = 0;
        for piece in placement.pieces {
            if let Some((_, stored)) = values.iter().find(|(name, _)| name == piece.name) {
                value |= u64::from(*stored) << piece.shift;
            }
        }
        let value = value.wrapping_add(field.bias);
        field.write(value, &mut mine, variant.set);
        let read = field.read(words, variant.set);
        if read != Some(value) {
            return Err(format!(
                "{} = {value:#x}, read as {read:x?} from golden {words:x?}",
                field.name
            ));
        }
    }
    let known = |name: &String| pieces(layout, variant.set).any(|piece| piece.name == name);
    if let Some((name, _)) = values.iter().find(|(name, _)| !known(name)) {
        return Err(format!("{name} of a whole packet is unknown"));
    }
    if mine == words && layout.matches(words[0]) {
        Ok(())
    } else {
        Err(format!("{mine:x?}, golden {words:x?}"))
    }
}
