//! Matrix multiply-accumulate: D = A × B + C on 16 × 16 tiles.
//!
//! gfx11 (RDNA3 ISA document, 7.9 "WMMA"): lane n of each group of 16 holds row n of A and column n of B, K running
//! through the registers; the groups hold copies, of which the first is read. Row m, column n of C and D is in lane
//! n of group m mod G of register m / G, where G is the number of groups of 16 lanes in the wave.
//!
//! gfx12 (RDNA4 ISA document, "WMMA"; tinygrad's `test/mockgpu/amd/emu.py`, `_compile_wmma`): nothing is held twice.
//! Group g of 16 lanes holds the g-th part of K, and of the rows of C and D; halves of C and D are packed two to a
//! register. How K is dealt out is the same for A and B, so that it does not matter.

use super::code::Op;
use super::float::{self, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::fp8;
use super::mode::Mode;
use super::vector::packed::Packed;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::Opcode;

const SIZE: usize = 16;
/// The most that K is.
const DEPTH: usize = 32;

/// What the elements of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    F16,
    BF16,
    Eight(fp8::Format),
    Integer(u32),
}

impl Element {
    fn bits(self) -> u32 {
        match self {
            Element::F16 | Element::BF16 => 16,
            Element::Eight(_) => 8,
            Element::Integer(bits) => bits,
        }
    }
}

/// What C and D are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Result32 {
    Single,
    Integer,
    F16,
    BF16,
}

/// One of the operations.
#[derive(Clone, Copy)]
struct Shape {
    a: Element,
    b: Element,
    result: Result32,
    /// The extent of K.
    depth: usize,
    /// Whether the groups of lanes hold parts, not copies (gfx12).
    spread: bool,
}

impl Shape {
    fn of(opcode: Opcode) -> Option<Shape> {
        use Element::*;
        use Opcode::*;
        use fp8::Format::{Bf8, Fp8};
        let shape = |element, result, depth, spread| Shape {
            a: element,
            b: element,
            result,
            depth,
            spread,
        };
        let eight = |a, b| Shape {
            a: Eight(a),
            b: Eight(b),
            result: Result32::Single,
            depth: 16,
            spread: true,
        };
        Some(match opcode {
            V_WMMA_F32_16X16X16_F16 => shape(F16, Result32::Single, 16, false),
            V_WMMA_F32_16X16X16_BF16 => shape(BF16, Result32::Single, 16, false),
            V_WMMA_F16_16X16X16_F16 => shape(F16, Result32::F16, 16, false),
            V_WMMA_BF16_16X16X16_BF16 => shape(BF16, Result32::BF16, 16, false),
            V_WMMA_I32_16X16X16_IU8 => shape(Integer(8), Result32::Integer, 16, false),
            V_WMMA_I32_16X16X16_IU4 => shape(Integer(4), Result32::Integer, 16, false),
            V_WMMA_F32_16X16X16_F16_GFX12 => shape(F16, Result32::Single, 16, true),
            V_WMMA_F32_16X16X16_BF16_GFX12 => shape(BF16, Result32::Single, 16, true),
            V_WMMA_F16_16X16X16_F16_GFX12 => shape(F16, Result32::F16, 16, true),
            V_WMMA_BF16_16X16X16_BF16_GFX12 => shape(BF16, Result32::BF16, 16, true),
            V_WMMA_I32_16X16X16_IU8_GFX12 => shape(Integer(8), Result32::Integer, 16, true),
            V_WMMA_I32_16X16X16_IU4_GFX12 => shape(Integer(4), Result32::Integer, 16, true),
            V_WMMA_I32_16X16X32_IU4 => shape(Integer(4), Result32::Integer, 32, true),
            V_WMMA_F32_16X16X16_FP8_FP8 => eight(Fp8, Fp8),
            V_WMMA_F32_16X16X16_FP8_BF8 => eight(Fp8, Bf8),
            V_WMMA_F32_16X16X16_BF8_FP8 => eight(Bf8, Fp8),
            V_WMMA_F32_16X16X16_BF8_BF8 => eight(Bf8, Bf8),
            _ => return None,
        })
    }

    /// Lane and number within it of element `k` of a row of A or column of B.
    fn element(&self, line: usize, k: usize, groups: usize) -> (usize, usize) {
        if !self.spread {
            return (line, k);
        }
        let part = self.depth / groups;
        (line + SIZE * (k / part), k % part)
    }

    /// Register, lane and shift of row m, column n of C and D.
    fn place(&self, m: usize, n: usize, groups: usize) -> (usize, usize, u32) {
        if !self.spread {
            return (m / groups, n + SIZE * (m % groups), 0);
        }
        let part = SIZE / groups;
        let (lane, index) = (n + SIZE * (m / part), m % part);
        match self.result {
            Result32::Single | Result32::Integer => (index, lane, 0),
            Result32::F16 | Result32::BF16 => (index / 2, lane, 16 * (index % 2) as u32),
        }
    }

    /// The bits of the elements of a row of A or a column of B, with each one's number in its register.
    fn line(
        &self,
        wave: &Wave,
        register: usize,
        element: Element,
        line: usize,
    ) -> [(u32, usize); DEPTH] {
        let groups = wave.lanes() / SIZE;
        let bits = element.bits();
        let per_dword = 32 / bits as usize;
        let mut values = [(0, 0); DEPTH];
        for (k, value) in values.iter_mut().enumerate().take(self.depth) {
            let (lane, index) = self.element(line, k, groups);
            let dword = wave.lane(register + index / per_dword, lane);
            let position = index % per_dword;
            let field = dword >> (bits * position as u32) & (u32::MAX >> (32 - bits));
            *value = (field, position);
        }
        values
    }
}

/// A row of A or a column of B as numbers; halves at even places are negated by `neg_lo`, at odd ones by `neg_hi`.
fn float(p: &Packed, index: usize, element: Element, (bits, position): (u32, usize)) -> f32 {
    let neg = if position % 2 == 0 { p.neg_lo } else { p.neg_hi } >> index & 1;
    let negated = bits ^ u32::from(neg) << 15;
    match element {
        Element::F16 => f16_to_f32(negated),
        Element::BF16 => bf16_to_f32(negated),
        Element::Eight(format) => fp8::to_f32(format, bits),
        Element::Integer(_) => 0.0,
    }
}

/// An integer element; `neg_lo` says whether it is signed.
fn integer(p: &Packed, index: usize, element: Element, (field, _): (u32, usize)) -> i64 {
    let spare = 32 - element.bits();
    if p.neg_lo >> index & 1 != 0 {
        ((field << spare) as i32 >> spare).into()
    } else {
        field.into()
    }
}

fn register(p: &Packed, index: usize) -> Result<usize, Stop> {
    p.valu.src[index]
        .vgpr()
        .map(usize::from)
        .ok_or_else(|| Stop::not_modelled("a WMMA matrix that is not in VGPRs"))
}

/// An element of C: a register's, or a constant for all.
fn accumulator(
    wave: &Wave,
    op: &Op,
    p: &Packed,
    (register, lane, shift): (usize, usize, u32),
) -> u32 {
    match p.valu.src[2].vgpr() {
        Some(first) => wave.lane(usize::from(first) + register, lane) >> shift,
        None => super::vector::uniform(wave, op, p.valu.src[2], 2),
    }
}

/// Executes an operation, for all lanes whatever EXEC says.
pub(super) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let p = &Packed::of(op)?;
    let opcode = op.instruction.opcode;
    let unmodelled = || Stop::not_modelled(format!("{} is not modelled", opcode.name()));
    let shape = Shape::of(opcode).ok_or_else(unmodelled)?;
    let groups = wave.lanes() / SIZE;
    // Where 16 bits of a register would hold a lane's part, nothing says which.
    if shape.spread && shape.depth / groups * (shape.a.bits() as usize) < 32 {
        return Err(unmodelled());
    }
    let (first, second) = (register(p, 0)?, register(p, 1)?);
    let constant = p.valu.src[2].vgpr().is_none();
    let mut results = [[0u32; SIZE]; SIZE];
    let columns: [_; SIZE] = std::array::from_fn(|n| shape.line(wave, second, shape.b, n));
    for (m, line) in results.iter_mut().enumerate() {
        let row = shape.line(wave, first, shape.a, m);
        for (n, value) in line.iter_mut().enumerate() {
            let c = accumulator(wave, op, p, shape.place(m, n, groups));
            let pairs = row.iter().zip(&columns[n]).take(shape.depth);
            *value = if shape.result == Result32::Integer {
                let sum = pairs
                    .map(|(&a, &b)| integer(p, 0, shape.a, a) * integer(p, 1, shape.b, b))
                    .fold(i64::from(c as i32), |sum, product| sum + product);
                if p.valu.clamp {
                    sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                } else {
                    sum as u32
                }
            } else {
                let c = addend(p, c, &shape, constant);
                let sum = pairs.fold(c, |sum, (&a, &b)| {
                    float(p, 0, shape.a, a).mul_add(float(p, 1, shape.b, b), sum)
                });
                rounded(&wave.mode, sum, shape.result)
            };
        }
    }
    for (m, line) in results.iter().enumerate() {
        for (n, &value) in line.iter().enumerate() {
            let (register, lane, shift) = shape.place(m, n, groups);
            let register = usize::from(p.valu.vdst) + register;
            let value = match shape.result {
                Result32::Single | Result32::Integer => value,
                Result32::F16 | Result32::BF16 => {
                    // gfx11 writes one half of each register: the one op_sel bit 2 names.
                    let high = !shape.spread && p.op_sel & 4 != 0;
                    let shift = if high { 16 } else { shift };
                    wave.lane(register, lane) & !(0xffff << shift) | value << shift
                }
            };
            wave.set_lane(register, lane, value);
        }
    }
    Ok(())
}

/// An element of C as a single: `neg_hi` is its absolute value, `neg_lo` its negation.
fn addend(p: &Packed, bits: u32, shape: &Shape, constant: bool) -> f32 {
    let high = !shape.spread && p.op_sel & 4 != 0 && !constant;
    let half = if high { bits >> 16 } else { bits & 0xffff };
    let value = match shape.result {
        Result32::F16 => f16_to_f32(half),
        Result32::BF16 => bf16_to_f32(half),
        Result32::Single | Result32::Integer => f32::from_bits(bits),
    };
    let value = if p.neg_hi & 4 != 0 { value.abs() } else { value };
    if p.neg_lo & 4 != 0 { -value } else { value }
}

fn rounded(mode: &Mode, sum: f32, result: Result32) -> u32 {
    match result {
        Result32::Single | Result32::Integer => float::settle32(sum.to_bits(), &[]),
        Result32::F16 => f32_to_f16(mode, sum),
        Result32::BF16 => f32_to_bf16(sum),
    }
}
