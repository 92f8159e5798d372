//! SMFMAC: A has at most two values in each four of K; the index says where they stand.
//!
//! Layout (AMD's matrix instruction calculator, for gfx942; gfx950's operations are twice as deep): B lies as that of
//! MFMA does, and A as if it had half the columns. A lane's index has two bits for each value of A that the lane holds,
//! the place among four. Where the index takes less than a register, `abid` chooses which part it is, unless
//! `cbsz` is set, then it is the lowest.

use super::{Element, Operands, Shape, bits, multiply_add, multiply_add_bytes};
use crate::shader::code::Op;
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Step, Wave};
use amdgpu_isa::Fields;

/// Bits of the index for one value.
const INDEX: usize = 2;

pub(super) fn run(wave: &mut Wave, op: &Op, operands: &Operands, shape: &Shape) -> Step {
    let &Operands { a, b, d, cbsz, abid, blgp, .. } = operands;
    if blgp != 0 {
        return Err(operands.refuse(format_args!("with blgp:{blgp}")));
    }
    let Fields::Matrix { src, .. } = op.instruction.fields else { return mismatch(op) };
    let Some(index) = wave.vector_register(src[2]) else {
        return Err(operands.refuse("with an index that is in no VGPR"));
    };
    let compressed = Shape { depth: shape.depth / 2, ..*shape };
    let part = INDEX * compressed.depth * shape.size / super::WAVE;
    let first = match cbsz {
        0 if (abid + 1) * part > 32 => {
            return Err(operands.refuse(format_args!("with abid:{abid}")));
        }
        0 => abid * part,
        _ => 0,
    };
    let results: Vec<(usize, usize, u32)> = shape
        .results()
        .map(|[block, row, column]| {
            let (lane, element) = shape.result(block, row, column);
            let start = wave.lane(d + element, lane);
            let pairs = (0..compressed.depth).map(|value| {
                let (lane_a, element_a) = compressed.element(block, row, value);
                let place = wave.lane(index, lane_a) >> (first + INDEX * element_a) & 3;
                let (lane_b, element_b) =
                    shape.element(block, column, value / 2 * 4 + place as usize);
                (
                    bits(wave, a, shape.a, lane_a, element_a),
                    bits(wave, b, shape.b, lane_b, element_b),
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
