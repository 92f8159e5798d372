//! Matrix multiply-accumulate: D = A × B + C on 16 × 16 tiles.
//!
//! gfx11 (RDNA3 ISA document, 7.9 "WMMA"): lane n of each group of 16 holds row n of A and column n of B, K running
//! through the registers; the groups hold copies, of which the first is read. Row m, column n of C and D is in lane
//! n of group m mod G of register m / G, where G is the number of groups of 16 lanes in the wave.
//!
//! gfx12 (AMD Matrix Instruction Calculator, `--architecture rdna4 --detail-instruction`): nothing is held twice, and
//! [`Spread`] says which group of 16 lanes has what of K. In wave32, group g holds rows 8 × g to 8 × g + 7 of C and D; in
//! wave64, rows 4 × (g / 2) + 8 × (g mod 2) and the next three. Halves of C and D are packed two to a register.
//!
//! Sparse A (V_SWMMAC, gfx12; the same source): of each four elements in the direction of K, A has two; their places are
//! two bits each of the third source, where the elements' order is A's. `op_sel` says which part of it; C is D.

use super::code::Op;
use super::float::{self, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::fp8;
use super::mode::Mode;
use super::vector::packed::Packed;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::Opcode;

const SIZE: usize = 16;
/// The most that K is.
const DEPTH: usize = 64;

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

/// How K is dealt out to the lanes: the bits of k that say which group of 16 lanes has an element, from the lowest bit
/// of the group's number on. The other bits, in order, are the element's number in its lane.
#[derive(Clone, Copy)]
struct Spread {
    wave32: &'static [u32],
    wave64: &'static [u32],
}

impl Spread {
    /// All elements are in one lane, of which the other groups hold copies (gfx11).
    const NONE: Spread = Spread { wave32: &[], wave64: &[] };

    /// The group of lanes of element k and its number there.
    fn of(&self, k: usize, wave32: bool) -> (usize, usize) {
        let bits = if wave32 { self.wave32 } else { self.wave64 };
        let (mut group, mut index, mut place) = (0, 0, 0);
        for (number, &bit) in bits.iter().enumerate() {
            group |= (k >> bit & 1) << number;
        }
        for bit in 0..DEPTH.ilog2() {
            if !bits.contains(&bit) {
                index |= (k >> bit & 1) << place;
                place += 1;
            }
        }
        (group, index)
    }
}

/// Spreads of dense matrices, by the elements' bits and the extent of K.
const DENSE16: Spread = Spread { wave32: &[2], wave64: &[2, 3] };
const DENSE8: Spread = Spread { wave32: &[3], wave64: &[3, 2] };
/// Of wave64, half of the lanes are not read.
const DENSE4: Spread = Spread { wave32: &[3], wave64: &[3] };
const DENSE4_32: Spread = Spread { wave32: &[4], wave64: &[4, 3] };
/// Those of operations on a sparse matrix, by the same.
const SPARSE16: Spread = Spread { wave32: &[3], wave64: &[3, 4] };
const SPARSE8: Spread = Spread { wave32: &[4], wave64: &[4, 3] };
/// Of wave64, half of the lanes are not read of the sparse matrix.
const SPARSE4: Spread = Spread { wave32: &[4], wave64: &[4] };
const SPARSE4_64: Spread = Spread { wave32: &[5], wave64: &[5, 4] };

/// One of the operations.
#[derive(Clone, Copy)]
struct Shape {
    a: Element,
    b: Element,
    result: Result32,
    /// The extent of K.
    depth: usize,
    spread_a: Spread,
    spread_b: Spread,
    /// Whether C and D are laid out as gfx11 has them.
    copies: bool,
    sparse: bool,
}

impl Shape {
    fn of(opcode: Opcode) -> Option<Shape> {
        use Element::{BF16, Eight, F16, Integer};
        use Opcode::*;
        use fp8::Format::{Bf8, Fp8};
        const fn gfx11(element: Element, result: Result32) -> Shape {
            Shape { copies: true, ..dense(element, element, result, 16, Spread::NONE) }
        }
        const fn dense(
            a: Element,
            b: Element,
            result: Result32,
            depth: usize,
            spread: Spread,
        ) -> Shape {
            let (spread_a, spread_b) = (spread, spread);
            Shape { a, b, result, depth, spread_a, spread_b, copies: false, sparse: false }
        }
        const fn sparse(
            a: Element,
            b: Element,
            result: Result32,
            depth: usize,
            spread: Spread,
        ) -> Shape {
            Shape { sparse: true, ..dense(a, b, result, depth, spread) }
        }
        let eight = |a, b| dense(Eight(a), Eight(b), Result32::Single, 16, DENSE8);
        let sparse_eight = |a, b| sparse(Eight(a), Eight(b), Result32::Single, 32, SPARSE8);
        let half = |element, result| dense(element, element, result, 16, DENSE16);
        let sparse_half = |element, result| sparse(element, element, result, 32, SPARSE16);
        let [nibble, byte] = [Integer(4), Integer(8)];
        Some(match opcode {
            V_WMMA_F32_16X16X16_F16 => gfx11(F16, Result32::Single),
            V_WMMA_F32_16X16X16_BF16 => gfx11(BF16, Result32::Single),
            V_WMMA_F16_16X16X16_F16 => gfx11(F16, Result32::F16),
            V_WMMA_BF16_16X16X16_BF16 => gfx11(BF16, Result32::BF16),
            V_WMMA_I32_16X16X16_IU8 => gfx11(byte, Result32::Integer),
            V_WMMA_I32_16X16X16_IU4 => gfx11(nibble, Result32::Integer),
            V_WMMA_F32_16X16X16_F16_GFX12 => half(F16, Result32::Single),
            V_WMMA_F32_16X16X16_BF16_GFX12 => half(BF16, Result32::Single),
            V_WMMA_F16_16X16X16_F16_GFX12 => half(F16, Result32::F16),
            V_WMMA_BF16_16X16X16_BF16_GFX12 => half(BF16, Result32::BF16),
            V_WMMA_I32_16X16X16_IU8_GFX12 => dense(byte, byte, Result32::Integer, 16, DENSE8),
            V_WMMA_I32_16X16X16_IU4_GFX12 => dense(nibble, nibble, Result32::Integer, 16, DENSE4),
            V_WMMA_I32_16X16X32_IU4 => dense(nibble, nibble, Result32::Integer, 32, DENSE4_32),
            V_WMMA_F32_16X16X16_FP8_FP8 => eight(Fp8, Fp8),
            V_WMMA_F32_16X16X16_FP8_BF8 => eight(Fp8, Bf8),
            V_WMMA_F32_16X16X16_BF8_FP8 => eight(Bf8, Fp8),
            V_WMMA_F32_16X16X16_BF8_BF8 => eight(Bf8, Bf8),
            V_SWMMAC_F32_16X16X32_F16 => sparse_half(F16, Result32::Single),
            V_SWMMAC_F32_16X16X32_BF16 => sparse_half(BF16, Result32::Single),
            V_SWMMAC_F16_16X16X32_F16 => sparse_half(F16, Result32::F16),
            V_SWMMAC_BF16_16X16X32_BF16 => sparse_half(BF16, Result32::BF16),
            V_SWMMAC_I32_16X16X32_IU8 => sparse(byte, byte, Result32::Integer, 32, SPARSE8),
            V_SWMMAC_I32_16X16X32_IU4 => Shape {
                spread_a: SPARSE4,
                ..sparse(nibble, nibble, Result32::Integer, 32, SPARSE8)
            },
            V_SWMMAC_I32_16X16X64_IU4 => sparse(nibble, nibble, Result32::Integer, 64, SPARSE4_64),
            V_SWMMAC_F32_16X16X32_FP8_FP8 => sparse_eight(Fp8, Fp8),
            V_SWMMAC_F32_16X16X32_FP8_BF8 => sparse_eight(Fp8, Bf8),
            V_SWMMAC_F32_16X16X32_BF8_FP8 => sparse_eight(Bf8, Fp8),
            V_SWMMAC_F32_16X16X32_BF8_BF8 => sparse_eight(Bf8, Bf8),
            _ => return None,
        })
    }

    /// Register, lane and shift of row m, column n of C and D.
    fn place(&self, m: usize, n: usize, groups: usize) -> (usize, usize, u32) {
        if self.copies {
            return (m / groups, n + SIZE * (m % groups), 0);
        }
        let part = SIZE / groups;
        let group = (m / 8) | (m / 4 % 2 * 2 % groups);
        let (lane, index) = (n + SIZE * group, m % part);
        match self.result {
            Result32::Single | Result32::Integer => (index, lane, 0),
            Result32::F16 | Result32::BF16 => (index / 2, lane, 16 * (index % 2) as u32),
        }
    }

    /// Columns of B: element k in the direction of K.
    fn column<N: Number>(&self, wave: &Wave, p: &Packed, first: usize, n: usize) -> [N; DEPTH] {
        let mut column = [N::default(); DEPTH];
        for (k, value) in column.iter_mut().enumerate().take(self.depth) {
            let (group, index) = self.spread_b.of(k, wave.lanes() == 32);
            *value = N::read(wave, p, 1, self.b, (first, index), n + SIZE * group);
        }
        column
    }

    /// A row of A: its elements, with the place of each in the direction of K.
    fn row<N: Number>(
        &self,
        wave: &Wave,
        p: &Packed,
        (first, places): (usize, Option<Places>),
        m: usize,
    ) -> ([(N, usize); DEPTH], usize) {
        let wave32 = wave.lanes() == 32;
        let mut row = [(N::default(), 0); DEPTH];
        let Some(places) = places else {
            for (k, value) in row.iter_mut().enumerate().take(self.depth) {
                let (group, index) = self.spread_a.of(k, wave32);
                let lane = m + SIZE * group;
                *value = (N::read(wave, p, 0, self.a, (first, index), lane), k);
            }
            return (row, self.depth);
        };
        for (number, value) in row.iter_mut().enumerate().take(self.depth / 2) {
            let start = number / 2 * 4;
            let (group, index) = self.spread_a.of(start, wave32);
            let (lane, index) = (m + SIZE * group, index / 2 + number % 2);
            let at = wave.lane(places.register, lane) >> places.shift >> (2 * index) & 3;
            let element = N::read(wave, p, 0, self.a, (first, index), lane);
            *value = (element, start + at as usize);
        }
        (row, self.depth / 2)
    }
}

/// Where the places of a sparse matrix's elements are.
#[derive(Clone, Copy)]
struct Places {
    register: usize,
    shift: u32,
}

/// What products are made of.
trait Number: Copy + Default {
    /// An element of source `source`: the one with number `index` from register `first` on.
    fn read(
        wave: &Wave,
        p: &Packed,
        source: usize,
        element: Element,
        at: (usize, usize),
        lane: usize,
    ) -> Self;
}

/// The bits of an element and its number in its register.
fn field(
    wave: &Wave,
    element: Element,
    (first, index): (usize, usize),
    lane: usize,
) -> (u32, usize) {
    let bits = element.bits();
    let per_dword = 32 / bits as usize;
    let (dword, position) = (wave.lane(first + index / per_dword, lane), index % per_dword);
    (dword >> (bits * position as u32) & (u32::MAX >> (32 - bits)), position)
}

impl Number for f32 {
    /// Halves at even places are negated by `neg_lo`, at odd ones by `neg_hi`.
    fn read(
        wave: &Wave,
        p: &Packed,
        source: usize,
        element: Element,
        at: (usize, usize),
        lane: usize,
    ) -> f32 {
        let (bits, position) = field(wave, element, at, lane);
        let neg = if position % 2 == 0 { p.neg_lo } else { p.neg_hi } >> source & 1;
        let negated = bits ^ u32::from(neg) << 15;
        match element {
            Element::F16 => f16_to_f32(negated),
            Element::BF16 => bf16_to_f32(negated),
            Element::Eight(format) => fp8::to_f32(format, bits),
            Element::Integer(_) => 0.0,
        }
    }
}

impl Number for i64 {
    /// `neg_lo` says whether elements are signed.
    fn read(
        wave: &Wave,
        p: &Packed,
        source: usize,
        element: Element,
        at: (usize, usize),
        lane: usize,
    ) -> i64 {
        let (field, _) = field(wave, element, at, lane);
        let spare = 32 - element.bits();
        if p.neg_lo >> source & 1 != 0 {
            ((field << spare) as i32 >> spare).into()
        } else {
            field.into()
        }
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
    shape: &Shape,
    (register, lane, shift): (usize, usize, u32),
) -> u32 {
    let first = if shape.sparse { Some(p.valu.vdst) } else { p.valu.src[2].vgpr() };
    match first {
        Some(first) => wave.lane(usize::from(first) + register, lane) >> shift,
        None => super::vector::uniform(wave, op, p.valu.src[2], 2),
    }
}

/// Executes an operation, for all lanes whatever EXEC says.
pub(super) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    let p = &Packed::of(op)?;
    let opcode = op.instruction.opcode;
    let shape = Shape::of(opcode)
        .ok_or_else(|| Stop::not_modelled(format!("{} is not modelled", opcode.name())))?;
    let groups = wave.lanes() / SIZE;
    let (first, second) = (register(p, 0)?, register(p, 1)?);
    let places = if shape.sparse {
        let bits = u32::from(opcode.sparse_index_bits(groups == 2));
        Some(Places { register: register(p, 2)?, shift: u32::from(p.op_sel) * bits % 32 })
    } else {
        None
    };
    let mut results = [[0u32; SIZE]; SIZE];
    let at = |m, n| accumulator(wave, op, p, &shape, shape.place(m, n, groups));
    if shape.result == Result32::Integer {
        let columns: [_; SIZE] = std::array::from_fn(|n| shape.column::<i64>(wave, p, second, n));
        for (m, line) in results.iter_mut().enumerate() {
            let (row, count) = shape.row::<i64>(wave, p, (first, places), m);
            for (n, value) in line.iter_mut().enumerate() {
                let products = row[..count].iter().map(|&(a, k)| a * columns[n][k]);
                let sum = i64::from(at(m, n) as i32) + products.sum::<i64>();
                *value = if p.valu.clamp {
                    sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                } else {
                    sum as u32
                };
            }
        }
    } else {
        let constant = !shape.sparse && p.valu.src[2].vgpr().is_none();
        let columns: [_; SIZE] = std::array::from_fn(|n| shape.column::<f32>(wave, p, second, n));
        for (m, line) in results.iter_mut().enumerate() {
            let (row, count) = shape.row::<f32>(wave, p, (first, places), m);
            for (n, value) in line.iter_mut().enumerate() {
                let c = addend(p, at(m, n), &shape, constant);
                let sum = row[..count].iter().fold(c, |sum, &(a, k)| a.mul_add(columns[n][k], sum));
                *value = rounded(&wave.mode, sum, shape.result);
            }
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
                    let high = shape.copies && p.op_sel & 4 != 0;
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
    let high = shape.copies && p.op_sel & 4 != 0 && !constant;
    let half = if high { bits >> 16 } else { bits & 0xffff };
    let value = match shape.result {
        Result32::F16 => f16_to_f32(half),
        Result32::BF16 => bf16_to_f32(half),
        Result32::Single | Result32::Integer => f32::from_bits(bits),
    };
    if shape.sparse {
        return value;
    }
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
