//! Matrix multiply-adds of gfx908 and later: D = A × B + C on tiles of 4, 16 or 32 rows and columns, of which an
//! operation has one or several blocks; and the moves of accumulation registers.
//!
//! Layout (AMD "Instinct MI300" ISA document, "Matrix Arithmetic Instructions"; AMD's matrix instruction calculator):
//! lanes form groups of as many as A has rows. A group holds part of K, or a block of its own where there are several;
//! what a lane holds of K runs through its registers. B has its columns where A has its rows. Of C and D a lane holds
//! one column; of rows, four at a time go to a group (of doubles one at a time), then to the next.
//!
//! Products are added in order of K, each by a fused multiply-add that rounds to nearest and keeps denormals; the
//! documents do not tell what the hardware does between. EXEC has no influence.

use super::code::Op;
use super::float::{bf16_to_f32, f16_to_f32, settle32, settle64};
use super::fp8::{self, Format};
use super::scalar::mismatch;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode, OperandKind, Src};

const WAVE: usize = 64;

/// What an element of A or B is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F32,
    F16,
    BF16,
    I8,
    F64,
    Eight(Format),
}

impl Element {
    fn bits(self) -> usize {
        match self {
            Element::F64 => 64,
            Element::F32 => 32,
            Element::F16 | Element::BF16 => 16,
            Element::I8 | Element::Eight(_) => 8,
        }
    }

    /// The value of a float up to 32 bits wide.
    fn single(self, bits: u32) -> f32 {
        match self {
            Element::F16 => f16_to_f32(bits),
            Element::BF16 => bf16_to_f32(bits),
            Element::Eight(format) => fp8::to_f32(format, bits),
            _ => f32::from_bits(bits),
        }
    }
}

/// The shape of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Rows of A, columns of B.
    size: usize,
    /// Columns of A, rows of B.
    depth: usize,
    blocks: usize,
    a: Element,
    b: Element,
}

/// The shape that the name of an operation says.
fn shape(opcode: Opcode, [fp8, bf8]: [Format; 2]) -> Option<Shape> {
    let name = opcode.name().strip_prefix("V_MFMA_")?;
    let mut parts = name.split('_');
    parts.next()?;
    let mut sizes = parts.next()?.split('X').map(|size| size.parse().ok());
    let (size, _, depth) = (sizes.next()??, sizes.next()??, sizes.next()??);
    let mut parts = parts.peekable();
    let blocks = match parts.peek()?.strip_suffix('B').and_then(|count| count.parse().ok()) {
        Some(count) => {
            parts.next();
            count
        }
        None => 1,
    };
    let mut element = || {
        Some(match parts.next()? {
            "F32" => Element::F32,
            "F16" => Element::F16,
            "BF16" => Element::BF16,
            "I8" => Element::I8,
            "F64" => Element::F64,
            "FP8" => Element::Eight(fp8),
            "BF8" => Element::Eight(bf8),
            _ => return None,
        })
    };
    let a = element()?;
    let b = element().unwrap_or(a);
    Some(Shape { size, depth, blocks, a, b })
}

impl Shape {
    /// The lane of an element of A (row, column) or B (column, row), and which of the lane's elements it is.
    fn element(&self, block: usize, line: usize, k: usize) -> (usize, usize) {
        let groups = WAVE / self.size / self.blocks;
        let each = self.depth / groups;
        let group = k / each * self.blocks + block;
        (group * self.size + line, k % each)
    }

    /// The lane of an element of C and D, and which of the lane's elements it is.
    fn result(&self, block: usize, row: usize, column: usize) -> (usize, usize) {
        let groups = WAVE / self.size / self.blocks;
        if self.a == Element::F64 {
            // 4 × 4: one row to a group of 16 lanes; 16 × 16: one to each of four groups, in turn.
            let group = row % groups * self.blocks + block;
            return (group * self.size + column, row / groups);
        }
        if self.size == 4 {
            return (block * self.size + column, row);
        }
        // Several blocks lie one after the other, each in all groups.
        let groups = WAVE / self.size;
        let group = row / 4 % groups;
        let each = self.size / groups;
        (group * self.size + column, block * each + row / 4 / groups * 4 + row % 4)
    }
}

/// A move of an accumulation register.
pub(super) fn transfer(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let (to, from) = match &op.instruction.fields {
        Fields::Matrix { vdst, src, .. } => (*vdst, src[0]),
        Fields::Valu(v) => (Src(512 + u16::from(v.vdst)), v.src[0]),
        _ => return mismatch(op),
    };
    let Some(to) = wave.vector_register(to) else { return mismatch(op) };
    for half in 0..wave.halves {
        let row = match wave.vector_register(from) {
            Some(from) => *wave.row(from, half),
            None => [wave.s32(from, op.constants[0]); super::wave::LANES],
        };
        let mask = wave.exec_half(half);
        wave.write(to, half, mask, &row);
    }
    Ok(())
}

/// MFMA.
pub(super) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let Fields::Matrix { vdst, src, cbsz, abid, blgp, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let name = op.instruction.opcode.name();
    let Some(shape) = shape(op.instruction.opcode, wave.traits.byte_floats) else {
        return Err(Stop::not_modelled(format!("{name} is not modelled")));
    };
    if blgp != 0 {
        return Err(Stop::not_modelled(format!("{name} with blgp is not modelled")));
    }
    if 1 << cbsz > shape.blocks {
        return Err(Stop::not_modelled(format!("{name} with cbsz:{cbsz} is not modelled")));
    }
    let register = |operand: Src| {
        wave.vector_register(operand)
            .ok_or_else(|| Stop::not_modelled(format!("{name} of a matrix that is in no VGPRs")))
    };
    let (a, b, d) = (register(src[0])?, register(src[1])?, register(vdst)?);
    let c = wave.vector_register(src[2]);
    let bits = |first: usize, kind: Element, (lane, element): (usize, usize)| {
        let width = kind.bits();
        let dword = wave.lane(first + element * width / 32, lane);
        dword >> (element * width % 32) & (u32::MAX >> (32 - width.min(32)))
    };
    let wide = |first: usize, (lane, element): (usize, usize)| {
        let low = wave.lane(first + 2 * element, lane);
        u64::from(low) | u64::from(wave.lane(first + 2 * element + 1, lane)) << 32
    };
    // Groups of 2^cbsz blocks read one block of A.
    let of_a = |block: usize| (block >> cbsz << cbsz) + usize::from(abid) % (1 << cbsz);
    let doubles = shape.a == Element::F64;
    let mut results: Vec<(usize, usize, u64)> = Vec::with_capacity(4 * WAVE * 32);
    for block in 0..shape.blocks {
        for row in 0..shape.size {
            for column in 0..shape.size {
                let (lane, element) = shape.result(block, row, column);
                let pairs = (0..shape.depth)
                    .map(|k| (shape.element(of_a(block), row, k), shape.element(block, column, k)));
                let value = if doubles {
                    let constant = OperandKind::F64.inline_constant(src[2]).unwrap_or(0);
                    let start = c.map_or(constant, |c| wide(c, (lane, element)));
                    pairs.fold(start, |sum, (at_a, at_b)| {
                        let [x, y, z] = [wide(a, at_a), wide(b, at_b), sum];
                        let sum = f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(z));
                        settle64(sum.to_bits(), &[x, y, z])
                    })
                } else {
                    let start = c.map_or(op.constants[2] as u32, |c| wave.lane(c + element, lane));
                    pairs
                        .fold(start, |sum, (at_a, at_b)| {
                            let (x, y) = (bits(a, shape.a, at_a), bits(b, shape.b, at_b));
                            if shape.a == Element::I8 {
                                let product = i32::from(x as i8) * i32::from(y as i8);
                                return (sum as i32).wrapping_add(product) as u32;
                            }
                            let (x, y) = (shape.a.single(x), shape.b.single(y));
                            let total = x.mul_add(y, f32::from_bits(sum)).to_bits();
                            settle32(total, &[x.to_bits(), y.to_bits(), sum])
                        })
                        .into()
                };
                results.push((lane, element, value));
            }
        }
    }
    for (lane, element, value) in results {
        if doubles {
            wave.set_lane(d + 2 * element, lane, value as u32);
            wave.set_lane(d + 2 * element + 1, lane, (value >> 32) as u32);
        } else {
            wave.set_lane(d + element, lane, value as u32);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What AMD's matrix instruction calculator prints as "Register to matrix element mapping": of a lane and its
    /// elements the k of A, of a lane and its registers the row of C and D.
    #[test]
    fn layouts_are_those_of_the_calculator() {
        use Opcode::*;
        for (opcode, each_k) in [
            (V_MFMA_F32_16X16X4_F32, 1),
            (V_MFMA_F32_16X16X16_F16, 4),
            (V_MFMA_F32_16X16X32_FP8_FP8, 8),
            (V_MFMA_F32_32X32X8_F16, 4),
        ] {
            let shape = shape(opcode, [Format::Fp8, Format::Bf8]).expect("a modelled operation");
            let size = shape.size;
            for lane in 0..WAVE {
                for element in 0..each_k {
                    let k = each_k * (lane / size) + element;
                    assert_eq!(shape.element(0, lane % size, k), (lane, element), "{opcode:?}");
                }
                for register in 0..size * size / WAVE {
                    let row = match size {
                        32 => 8 * (register / 4) % 32 + 4 * (lane / 32) + register % 4,
                        _ => 4 * (lane / 16) + register % 4,
                    };
                    assert_eq!(shape.result(0, row, lane % size), (lane, register), "{opcode:?}");
                }
            }
        }
    }

    /// Every element has a place of its own, and the places fill the registers.
    #[test]
    fn layouts_are_one_to_one() {
        let mut shapes = 0;
        for shape in
            Opcode::ALL.iter().filter_map(|&opcode| shape(opcode, [Format::Fp8, Format::Bf8]))
        {
            shapes += 1;
            let mut inputs = BTreeSet::new();
            let mut results = BTreeSet::new();
            for block in 0..shape.blocks {
                for line in 0..shape.size {
                    inputs.extend((0..shape.depth).map(|k| shape.element(block, line, k)));
                    results.extend((0..shape.size).map(|column| shape.result(block, line, column)));
                }
            }
            let elements = shape.blocks * shape.size;
            assert_eq!(inputs.len(), elements * shape.depth, "{shape:?}");
            assert_eq!(results.len(), elements * shape.size, "{shape:?}");
            assert!(
                inputs
                    .iter()
                    .all(|&(lane, at)| { lane < WAVE && at < elements * shape.depth / WAVE })
            );
            assert!(
                results
                    .iter()
                    .all(|&(lane, at)| { lane < WAVE && at < elements * shape.size / WAVE })
            );
        }
        assert_eq!(shapes, 43);
    }
}
