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

mod dense;
mod scaled;
mod sparse;

use super::code::Op;
use super::float::{bf16_to_f32, f16_to_f32, settle32};
use super::fp8::{self, Format};
use super::scalar::mismatch;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::{Fields, MatrixFormat, Src};

const WAVE: usize = 64;

/// What an element of A or B is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F32,
    /// A single of which ten bits of the fraction count.
    XF32,
    F16,
    BF16,
    I8,
    F64,
    Small(Format),
}

impl Element {
    fn bits(self) -> usize {
        match self {
            Element::F64 => 64,
            Element::F32 | Element::XF32 => 32,
            Element::F16 | Element::BF16 => 16,
            Element::I8 => 8,
            Element::Small(format) => format.bits() as usize,
        }
    }

    /// The value of a float up to 32 bits wide.
    fn single(self, bits: u32) -> f32 {
        match self {
            Element::F16 => f16_to_f32(bits),
            Element::BF16 => bf16_to_f32(bits),
            Element::Small(format) => fp8::to_f32(format, bits),
            Element::XF32 => ten_bits(bits),
            _ => f32::from_bits(bits),
        }
    }
}

/// A single rounded to ten bits of fraction, to nearest even, as rocWMMA's `xfloat32` converts; what the hardware does
/// with the other bits is in no document.
fn ten_bits(bits: u32) -> f32 {
    const DROPPED: u32 = 0x1fff;
    let value = f32::from_bits(bits);
    if !value.is_finite() {
        return value;
    }
    f32::from_bits((bits + (DROPPED >> 1) + (bits >> 13 & 1)) & !DROPPED)
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

/// The shape that the name of an operation says after its prefix.
fn shape(name: &str, [fp8, bf8]: [Format; 2]) -> Option<Shape> {
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
            "XF32" => Element::XF32,
            "F16" => Element::F16,
            "BF16" => Element::BF16,
            "I8" => Element::I8,
            "F64" => Element::F64,
            "FP8" | "F8F6F4" => Element::Small(fp8),
            "BF8" => Element::Small(bf8),
            _ => return None,
        })
    };
    let a = element()?;
    let b = element().unwrap_or(a);
    Some(Shape { size, depth, blocks, a, b })
}

/// The element of a format that an instruction names.
fn element(bits: u8) -> Option<Element> {
    Some(Element::Small(match MatrixFormat::from_bits(bits)? {
        MatrixFormat::Fp8 => Format::Fp8,
        MatrixFormat::Bf8 => Format::Bf8,
        MatrixFormat::Fp6 => Format::Fp6,
        MatrixFormat::Bf6 => Format::Bf6,
        MatrixFormat::Fp4 => Format::Fp4,
    }))
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

    /// The results of all blocks, each by block, row and column.
    fn results(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let Shape { size, blocks, .. } = *self;
        (0..blocks)
            .flat_map(move |block| (0..size).map(move |row| (block, row)))
            .flat_map(move |(block, row)| (0..size).map(move |column| [block, row, column]))
    }
}

/// The operands of an operation, by the numbers that `Wave::row` takes.
struct Operands {
    name: &'static str,
    a: usize,
    b: usize,
    d: usize,
    cbsz: usize,
    abid: usize,
    blgp: usize,
}

impl Operands {
    fn of(wave: &Wave, op: &Op) -> Result<Operands, Stop> {
        let name = op.instruction.opcode.name();
        let Fields::Matrix { vdst, src, cbsz, abid, blgp, .. } = op.instruction.fields else {
            return Err(mismatch(op).expect_err("a mismatch is always an error"));
        };
        let register = |operand: Src| {
            wave.vector_register(operand).ok_or_else(|| {
                Stop::not_modelled(format!("{name} of a matrix that is in no VGPRs"))
            })
        };
        Ok(Operands {
            name,
            a: register(src[0])?,
            b: register(src[1])?,
            d: register(vdst)?,
            cbsz: cbsz.into(),
            abid: abid.into(),
            blgp: blgp.into(),
        })
    }

    fn refuse(&self, what: impl std::fmt::Display) -> Stop {
        Stop::not_modelled(format!("{} {what} is not modelled", self.name))
    }
}

/// One of a lane's elements, of up to 32 bits.
fn bits(wave: &Wave, first: usize, kind: Element, lane: usize, element: usize) -> u32 {
    let width = kind.bits();
    let (register, shift) = (first + element * width / 32, element * width % 32);
    let mut value = u64::from(wave.lane(register, lane));
    if shift + width > 32 {
        value |= u64::from(wave.lane(register + 1, lane)) << 32;
    }
    (value >> shift) as u32 & (u32::MAX >> (32 - width))
}

/// A fused multiply-add as the operations of singles do it.
fn multiply_add(a: f32, b: f32, sum: f32) -> f32 {
    let total = a.mul_add(b, sum).to_bits();
    f32::from_bits(settle32(total, &[a.to_bits(), b.to_bits(), sum.to_bits()]))
}

/// A product of bytes added.
fn multiply_add_bytes(a: u32, b: u32, sum: u32) -> u32 {
    let product = i32::from(a as i8) * i32::from(b as i8);
    (sum as i32).wrapping_add(product) as u32
}

/// MFMA and SMFMAC.
pub(super) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let opcode = op.instruction.opcode;
    let name = opcode.name();
    let operands = Operands::of(wave, op)?;
    let byte_floats = wave.traits.byte_floats;
    let found = if let Some(name) = name.strip_prefix("V_SMFMAC_") {
        shape(name, byte_floats).map(|shape| sparse::run(wave, op, &operands, &shape))
    } else if opcode.has_matrix_formats() {
        let name = name.strip_prefix("V_MFMA_").unwrap_or_default();
        shape(name.strip_prefix("SCALE_").unwrap_or(name), byte_floats)
            .map(|shape| scaled::run(wave, op, &operands, shape))
    } else {
        let name = name.strip_prefix("V_MFMA_").unwrap_or_default();
        shape(name, byte_floats).map(|shape| dense::run(wave, op, &operands, &shape))
    };
    found.unwrap_or_else(|| Err(Stop::not_modelled(format!("{name} is not modelled"))))
}

/// V_MFMA_LD_SCALE_B32 without the operation that it is for.
pub(super) fn lone_scale(_: &mut Wave, op: &Op, _: &mut Env<'_>) -> Step {
    Err(Stop::not_modelled(format!(
        "{} before an operation that takes no scales is not modelled",
        op.instruction.opcode.name()
    )))
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

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_isa::Opcode;
    use std::collections::BTreeSet;

    /// The shape of an operation of whole matrices.
    fn dense(opcode: Opcode) -> Option<Shape> {
        shape(opcode.name().strip_prefix("V_MFMA_")?, [Format::Fp8, Format::Bf8])
    }

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
            (V_MFMA_F32_32X32X4_XF32, 2),
        ] {
            let shape = dense(opcode).expect("a modelled operation");
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
        for shape in Opcode::ALL.iter().filter_map(|&opcode| dense(opcode)) {
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
        assert_eq!(shapes, 47);
    }
}
