//! Matrix multiply-accumulate: D = A × B + C on 16 × 16 tiles.
//!
//! Layout (RDNA3 ISA document, 7.9 "WMMA"): lane n of each group of 16 holds row n of A and column n of B, K
//! running through the registers; the groups hold copies, of which the first is read. Row m, column n of C and D
//! is in lane n of group m mod G of register m / G, where G is the number of groups of 16 lanes in the wave.

use super::code::Op;
use super::float::{self, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use super::mode::Mode;
use super::vector::packed::Packed;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::Opcode;

const SIZE: usize = 16;
type Tile<T> = [[T; SIZE]; SIZE];

/// What the elements of A and B are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    F16,
    BF16,
    Integer(u32),
}

/// Rows of A, or columns of B.
fn floats(wave: &Wave, p: &Packed, index: usize, input: Input) -> Result<Tile<f32>, Stop> {
    let register = register(p, index)?;
    let mut tile = [[0.0; SIZE]; SIZE];
    for (lane, line) in tile.iter_mut().enumerate() {
        for (k, value) in line.iter_mut().enumerate() {
            let dword = wave.lane(register + k / 2, lane);
            let (bits, neg) = if k % 2 == 0 {
                (dword & 0xffff, p.neg_lo >> index & 1)
            } else {
                (dword >> 16, p.neg_hi >> index & 1)
            };
            let bits = bits ^ u32::from(neg) << 15;
            *value = if input == Input::F16 { f16_to_f32(bits) } else { bf16_to_f32(bits) };
        }
    }
    Ok(tile)
}

/// Rows of A, or columns of B; `neg_lo` says whether they are signed.
fn integers(wave: &Wave, p: &Packed, index: usize, bits: u32) -> Result<Tile<i32>, Stop> {
    let register = register(p, index)?;
    let signed = p.neg_lo >> index & 1 != 0;
    let per_dword = 32 / bits as usize;
    let spare = 32 - bits;
    let mut tile = [[0; SIZE]; SIZE];
    for (lane, line) in tile.iter_mut().enumerate() {
        for (k, value) in line.iter_mut().enumerate() {
            let dword = wave.lane(register + k / per_dword, lane);
            let field = dword >> (bits as usize * (k % per_dword)) << spare;
            *value = if signed { field as i32 >> spare } else { (field >> spare) as i32 };
        }
    }
    Ok(tile)
}

fn register(p: &Packed, index: usize) -> Result<usize, Stop> {
    p.valu.src[index]
        .vgpr()
        .map(usize::from)
        .ok_or_else(|| Stop::not_modelled("a WMMA matrix that is not in VGPRs"))
}

/// An element of C: a register, or a constant for all.
fn accumulator(wave: &Wave, op: &Op, p: &Packed, register: usize, lane: usize) -> u32 {
    match p.valu.src[2].vgpr() {
        Some(first) => wave.lane(usize::from(first) + register, lane),
        None => super::vector::uniform(wave, op, p.valu.src[2], 2),
    }
}

/// Executes one of the six operations, for all lanes whatever EXEC says.
pub(super) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let p = &Packed::of(op)?;
    let opcode = op.instruction.opcode;
    let input = match opcode {
        V_WMMA_F32_16X16X16_F16 | V_WMMA_F16_16X16X16_F16 => Input::F16,
        V_WMMA_F32_16X16X16_BF16 | V_WMMA_BF16_16X16X16_BF16 => Input::BF16,
        V_WMMA_I32_16X16X16_IU8 => Input::Integer(8),
        V_WMMA_I32_16X16X16_IU4 => Input::Integer(4),
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    };
    let groups = wave.lanes() / SIZE;
    let mut results = [[0u32; SIZE]; SIZE];
    let place = |m: usize, n: usize| (m / groups, n + SIZE * (m % groups));
    let constant = p.valu.src[2].vgpr().is_none();
    if let Input::Integer(bits) = input {
        let (a, b) = (integers(wave, p, 0, bits)?, integers(wave, p, 1, bits)?);
        for (m, line) in results.iter_mut().enumerate() {
            for (n, value) in line.iter_mut().enumerate() {
                let (register, lane) = place(m, n);
                let c = accumulator(wave, op, p, register, lane);
                let products: i64 = (0..SIZE).map(|k| i64::from(a[m][k] * b[n][k])).sum();
                let sum = i64::from(c as i32) + products;
                *value = if p.valu.clamp {
                    sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
                } else {
                    sum as u32
                };
            }
        }
    } else {
        let (a, b) = (floats(wave, p, 0, input)?, floats(wave, p, 1, input)?);
        let small = matches!(opcode, V_WMMA_F16_16X16X16_F16 | V_WMMA_BF16_16X16X16_BF16);
        for (m, line) in results.iter_mut().enumerate() {
            for (n, value) in line.iter_mut().enumerate() {
                let (register, lane) = place(m, n);
                let bits = accumulator(wave, op, p, register, lane);
                let c = addend(p, bits, small, constant, input);
                let sum = (0..SIZE).fold(c, |sum, k| a[m][k].mul_add(b[n][k], sum));
                *value = result(&wave.mode, sum, small, input);
            }
        }
        if small {
            // One half of each register is written: the one op_sel bit 2 names.
            let shift = if p.op_sel & 4 != 0 { 16 } else { 0 };
            for (m, line) in results.iter_mut().enumerate() {
                for (n, value) in line.iter_mut().enumerate() {
                    let (register, lane) = place(m, n);
                    let old = wave.lane(usize::from(p.valu.vdst) + register, lane);
                    *value = old & !(0xffff << shift) | *value << shift;
                }
            }
        }
    }
    for (m, line) in results.iter().enumerate() {
        for (n, &value) in line.iter().enumerate() {
            let (register, lane) = place(m, n);
            wave.set_lane(usize::from(p.valu.vdst) + register, lane, value);
        }
    }
    Ok(())
}

/// An element of C as a single: `neg_hi` is its absolute value, `neg_lo` its negation.
fn addend(p: &Packed, bits: u32, small: bool, constant: bool, input: Input) -> f32 {
    let value = if small {
        let bits = if p.op_sel & 4 != 0 && !constant { bits >> 16 } else { bits & 0xffff };
        if input == Input::F16 { f16_to_f32(bits) } else { bf16_to_f32(bits) }
    } else {
        f32::from_bits(bits)
    };
    let value = if p.neg_hi & 4 != 0 { value.abs() } else { value };
    if p.neg_lo & 4 != 0 { -value } else { value }
}

fn result(mode: &Mode, sum: f32, small: bool, input: Input) -> u32 {
    match (small, input) {
        (false, _) => float::settle32(sum.to_bits(), &[]),
        (true, Input::F16) => f32_to_f16(mode, sum),
        (true, _) => f32_to_bf16(sum),
    }
}
