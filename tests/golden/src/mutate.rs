//! Wrong definitions, to see that each is noticed.

use crate::{Golden, Variant, compare};
use pm4::layout::{Field, Layout, Piece, Placement, Variants};

/// Leaks a copy: layouts are `'static`, and there are only so many mutations in a test.
fn leak<T: Clone>(values: &[T]) -> &'static [T] {
    Box::leak(values.to_vec().into_boxed_slice())
}

fn with_field(layout: &Layout, index: usize, field: Field) -> Layout {
    let mut fields = layout.fields.to_vec();
    fields[index] = field;
    Layout { fields: leak(&fields), ..*layout }
}

fn with_placement(field: &Field, index: usize, placement: Placement) -> Field {
    let mut placements = field.placements.to_vec();
    placements[index] = placement;
    Field { placements: leak(&placements), ..*field }
}

fn with_piece(placement: &Placement, index: usize, piece: Piece) -> Placement {
    let mut pieces = placement.pieces.to_vec();
    pieces[index] = piece;
    Placement { pieces: leak(&pieces), ..*placement }
}

/// Every piece that differs from this one in one bit of one number.
fn pieces(piece: &Piece) -> Vec<(&'static str, Piece)> {
    let mut all = Vec::new();
    for bit in 0..5 {
        all.push(("dword", Piece { dword: piece.dword ^ 1 << bit, ..*piece }));
        all.push(("low", Piece { low: piece.low ^ 1 << bit, ..*piece }));
    }
    for bit in 0..6 {
        all.push(("width", Piece { width: piece.width ^ 1 << bit, ..*piece }));
        all.push(("shift", Piece { shift: piece.shift ^ 1 << bit, ..*piece }));
    }
    all.retain(|(_, piece)| (1..=32).contains(&piece.width) && piece.low < 32);
    all
}

/// Every set that differs from this one in one of the variants.
fn sets(set: Variants, variants: &[Variant]) -> Vec<Variants> {
    variants.iter().map(|variant| Variants(set.0 ^ variant.set.0)).collect()
}

/// Flips one bit of each number of the layout in turn and returns the flips that [`compare`] does not notice.
///
/// Flipped are the position of each piece (dword, lowest bit, width, bit of the value), the variants of the packet
/// and of each placement, what is subtracted, named values, and the bits that tell the packet. The first number
/// returned is how many flips there were.
pub fn mutate(layout: &Layout, golden: &Golden, variants: &[Variant]) -> (usize, Vec<String>) {
    let clean = compare(layout, golden, variants);
    let mut flips = 0;
    let mut unnoticed = Vec::new();
    let mut judge = |what: String, mutant: &Layout| {
        flips += 1;
        let got = compare(mutant, golden, variants);
        if (&got.wrong, &got.unproved, &got.unknown)
            == (&clean.wrong, &clean.unproved, &clean.unknown)
        {
            unnoticed.push(format!("{} {what}", layout.name));
        }
    };
    for bit in 0..32 {
        if layout.fixed_mask != 0 {
            judge(
                format!("fixed bit {bit}"),
                &Layout { fixed: layout.fixed ^ 1 << bit, ..*layout },
            );
            judge(
                format!("fixed mask bit {bit}"),
                &Layout { fixed_mask: layout.fixed_mask ^ 1 << bit, ..*layout },
            );
        }
    }
    for set in sets(layout.variants, variants) {
        judge(format!("variants {set:x?}"), &Layout { variants: set, ..*layout });
    }
    for (f, field) in layout.fields.iter().enumerate() {
        judge(
            format!("{} bias", field.name),
            &with_field(layout, f, Field { bias: field.bias ^ 1, ..*field }),
        );
        for (index, (value, name)) in field.names.iter().enumerate() {
            for bit in 0..8 {
                let mut names = field.names.to_vec();
                names[index] = (value ^ 1 << bit, name);
                let mutant = Field { names: leak(&names), ..*field };
                judge(format!("{} {name} bit {bit}", field.name), &with_field(layout, f, mutant));
            }
        }
        for (p, placement) in field.placements.iter().enumerate() {
            let reach = Variants(placement.variants.0 & layout.variants.0);
            for set in sets(reach, variants) {
                if Variants(set.0 ^ reach.0).contains(layout.variants) {
                    let mutant =
                        with_placement(field, p, Placement { variants: set, ..*placement });
                    judge(
                        format!("{} variants {set:x?}", field.name),
                        &with_field(layout, f, mutant),
                    );
                }
            }
            for (index, piece) in placement.pieces.iter().enumerate() {
                for (what, mutant) in pieces(piece) {
                    let mutant = with_placement(field, p, with_piece(placement, index, mutant));
                    judge(
                        format!("{} {what} of {}", field.name, piece.name),
                        &with_field(layout, f, mutant),
                    );
                }
            }
        }
    }
    (flips, unnoticed)
}
