//! MFMA of matrices of which the instruction says the formats, with a scale for each 32 elements of a row of A or a
//! column of B, or none.
//!
//! Layout (examples of "Introduction to Matrix Core Programming on AMD CDNA3 and CDNA4 architecture" by authors at AMD;
//! Triton's `AccelerateAMDMatmul.cpp` and `LinearLayoutConversions.cpp`): a lane holds 32 elements. Of 4 and 6 bits they
//! follow each other in K; of 8 bits the first 16 do, as those of the other groups of lanes do after them, and then
//! the second 16. The scales of a row are in as many groups of lanes as there are, in order of K, each in one of the
//! register's bytes; 127 is one.
//!
//! Products of 32 elements are added, then scaled and added to C; the documents do not tell of rounding between.

use super::{Element, Operands, Shape, WAVE, bits, element, multiply_add};
use crate::shader::code::Op;
use crate::shader::float::settle32;
use crate::shader::scalar::mismatch;
use crate::shader::wave::{Step, Wave};
use amdgpu_isa::Fields;

/// Elements that share a scale, and that a lane holds.
const SHARING: usize = 32;
/// Elements of eight bits that follow each other in a lane.
const RUN: usize = 16;
/// The scale that is one.
const ONE: u32 = 127;
/// The scale that is no number.
const NAN: u32 = 255;

/// The lane of an element, and which of the lane's elements it is.
fn place(shape: &Shape, kind: Element, line: usize, k: usize) -> (usize, usize) {
    let groups = WAVE / shape.size;
    let (group, within) = match kind.bits() {
        8 => (k / RUN % groups, k / (RUN * groups) * RUN + k % RUN),
        _ => (k / SHARING, k % SHARING),
    };
    (group * shape.size + line, within)
}

/// The values of A or B, line by line.
fn values(wave: &Wave, shape: &Shape, first: usize, kind: Element) -> Vec<f32> {
    (0..shape.size)
        .flat_map(|line| (0..shape.depth).map(move |k| (line, k)))
        .map(|(line, k)| {
            let (lane, at) = place(shape, kind, line, k);
            kind.single(bits(wave, first, kind, lane, at))
        })
        .collect()
}

pub(super) fn run(wave: &mut Wave, op: &Op, operands: &Operands, shape: Shape) -> Step {
    let &Operands { a, b, d, cbsz, abid, blgp, .. } = operands;
    let Fields::Matrix { src, scale, .. } = op.instruction.fields else { return mismatch(op) };
    let (Some(kind_a), Some(kind_b)) = (element(cbsz as u8), element(blgp as u8)) else {
        return mismatch(op);
    };
    if scale.is_none() && abid != 0 {
        return Err(operands.refuse(format_args!("with abid:{abid}")));
    }
    let scales = match scale {
        None => None,
        Some(scale) => {
            let [Some(a), Some(b)] = scale.src.map(|source| wave.vector_register(source)) else {
                return Err(operands.refuse("with a scale in no VGPR"));
            };
            Some((scale, [a, b]))
        }
    };
    let scale_of = |index: usize, line: usize, block: usize| match scales {
        None => ONE,
        Some((scale, registers)) => {
            let byte = scale.op_sel >> index & 1 | (scale.op_sel_hi >> index & 1) << 1;
            wave.lane(registers[index], block * shape.size + line) >> (8 * byte) & 0xff
        }
    };
    let (of_a, of_b) = (values(wave, &shape, a, kind_a), values(wave, &shape, b, kind_b));
    let c = wave.vector_register(src[2]);
    let results: Vec<(usize, usize, u32)> = shape
        .results()
        .map(|[_, row, column]| {
            let (lane, at) = shape.result(0, row, column);
            let start = c.map_or(op.constants[2] as u32, |c| wave.lane(c + at, lane));
            let sum = (0..shape.depth / SHARING).fold(f32::from_bits(start), |sum, block| {
                let run = |line: usize| line * shape.depth + block * SHARING..;
                let pairs = of_a[run(row)].iter().zip(&of_b[run(column)]).take(SHARING);
                let dot = pairs.fold(0.0, |dot, (&x, &y)| multiply_add(x, y, dot));
                add_scaled(sum, dot, scale_of(0, row, block), scale_of(1, column, block))
            });
            (lane, at, sum.to_bits())
        })
        .collect();
    for (lane, at, value) in results {
        wave.set_lane(d + at, lane, value);
    }
    Ok(())
}

/// `sum` + `dot` × both scales.
fn add_scaled(sum: f32, dot: f32, a: u32, b: u32) -> f32 {
    if a == NAN || b == NAN {
        return f32::from_bits(settle32(f32::NAN.to_bits(), &[sum.to_bits()]));
    }
    let scaled = f64::from(dot) * 2f64.powi(a as i32 + b as i32 - 2 * ONE as i32);
    let total = ((f64::from(sum)) + scaled) as f32;
    f32::from_bits(settle32(total.to_bits(), &[sum.to_bits(), dot.to_bits()]))
}
