//! MFMA of whole matrices.

use super::{Element, Operands, Shape, WAVE, bits, multiply_add, multiply_add_bytes};
use crate::shader::code::Op;
use crate::shader::float::settle64;
use crate::shader::wave::{Step, Wave};
use amdgpu_isa::{Fields, OperandKind, Src};

/// The lane that B is read from instead of `lane` (AMD's matrix instruction calculator, `--blgp`): one of the halves or
/// of the quarters of the wave for all, or the next quarter.
fn permuted(blgp: usize, lane: usize) -> usize {
    match blgp {
        0 => lane,
        1 | 2 => 32 * (blgp - 1) + lane % 32,
        3 => (lane + 16) % WAVE,
        _ => 16 * (blgp - 4) + lane % 16,
    }
}

pub(super) fn run(wave: &mut Wave, op: &Op, operands: &Operands, shape: &Shape) -> Step {
    let &Operands { a, b, d, cbsz, abid, blgp, .. } = operands;
    if 1 << cbsz > shape.blocks {
        return Err(operands.refuse(format_args!("with cbsz:{cbsz}")));
    }
    if shape.a == Element::F64 {
        return doubles(wave, op, operands, shape);
    }
    let permutes =
        shape.blocks > 1 || shape.a == Element::F32 || wave.traits.permutes_single_blocks;
    if blgp != 0 && !permutes {
        return Err(operands.refuse(format_args!("with blgp:{blgp}")));
    }
    // Groups of 2^cbsz blocks read one block of A.
    let of_a = |block: usize| (block >> cbsz << cbsz) + abid % (1 << cbsz);
    let c = addend(wave, op);
    let results: Vec<(usize, usize, u32)> = shape
        .results()
        .map(|[block, row, column]| {
            let (lane, element) = shape.result(block, row, column);
            let start = c.map_or(op.constants[2] as u32, |c| wave.lane(c + element, lane));
            let pairs = (0..shape.depth).map(|k| {
                let (lane_a, element_a) = shape.element(of_a(block), row, k);
                let (lane_b, element_b) = shape.element(block, column, k);
                (
                    bits(wave, a, shape.a, lane_a, element_a),
                    bits(wave, b, shape.b, permuted(blgp, lane_b), element_b),
                )
            });
            let value = if shape.a == Element::I8 {
                pairs.fold(start, |sum, (x, y)| multiply_add_bytes(x, y, sum))
            } else {
                pairs
                    .fold(f32::from_bits(start), |sum, (x, y)| {
                        multiply_add(shape.a.single(x), shape.b.single(y), sum)
                    })
                    .to_bits()
            };
            (lane, element, value)
        })
        .collect();
    for (lane, element, value) in results {
        wave.set_lane(d + element, lane, value);
    }
    Ok(())
}

/// The register of C, unless it is a constant.
fn addend(wave: &Wave, op: &Op) -> Option<usize> {
    match op.instruction.fields {
        Fields::Matrix { src, .. } => wave.vector_register(src[2]),
        _ => None,
    }
}

/// Of doubles. Where the generation says so, the bits that permute lanes otherwise negate A, B and C.
fn doubles(wave: &mut Wave, op: &Op, operands: &Operands, shape: &Shape) -> Step {
    const SIGN: u64 = 1 << 63;
    let &Operands { a, b, d, cbsz, abid, blgp, .. } = operands;
    if blgp != 0 && !wave.traits.negates_matrices {
        return Err(operands.refuse(format_args!("with blgp:{blgp}")));
    }
    let [neg_a, neg_b, neg_c] = [0, 1, 2].map(|bit| if blgp >> bit & 1 != 0 { SIGN } else { 0 });
    let of_a = |block: usize| (block >> cbsz << cbsz) + abid % (1 << cbsz);
    let double = |first: usize, (lane, element): (usize, usize)| {
        let low = wave.lane(first + 2 * element, lane);
        u64::from(low) | u64::from(wave.lane(first + 2 * element + 1, lane)) << 32
    };
    let constant = match op.instruction.fields {
        Fields::Matrix { src: [_, _, Src(code)], .. } => {
            OperandKind::F64.inline_constant(Src(code)).unwrap_or(0)
        }
        _ => 0,
    };
    let c = addend(wave, op);
    let results: Vec<((usize, usize), u64)> = shape
        .results()
        .map(|[block, row, column]| {
            let place = shape.result(block, row, column);
            let start = c.map_or(constant, |c| double(c, place)) ^ neg_c;
            let value = (0..shape.depth).fold(start, |sum, k| {
                let x = double(a, shape.element(of_a(block), row, k)) ^ neg_a;
                let y = double(b, shape.element(block, column, k)) ^ neg_b;
                let total = f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(sum));
                settle64(total.to_bits(), &[x, y, sum])
            });
            (place, value)
        })
        .collect();
    for ((lane, element), value) in results {
        wave.set_lane(d + 2 * element, lane, value as u32);
        wave.set_lane(d + 2 * element + 1, lane, (value >> 32) as u32);
    }
    Ok(())
}
