//! DS loads that transpose (gfx950): 16 lanes load part of a matrix row by row, and each gets a column.
//!
//! A lane's 64 bits, or 96 of elements of six, are part of a row; several lanes one after the other have a row, as it
//! has 16 elements (CDNA4 ISA document, 11.4 "MFMA Transpose Load from LDS"; IREE's lowering to `amdgpu.transpose_load`
//! has the addresses by lane).

use super::wave::{Env, Step, Stop, Wave};

/// Lanes that transpose together, and columns of their matrix.
const LANES: usize = 16;

/// Loads with elements of so many bits.
pub(super) fn load(
    wave: &mut Wave,
    env: &Env<'_>,
    vdst: usize,
    addr: usize,
    offset: u32,
    bits: usize,
) -> Step {
    if wave.exec() != u64::MAX {
        return Err(Stop::not_modelled(
            "a transposing load with lanes that are off is not modelled",
        ));
    }
    let each = if bits == 6 { 16 } else { 64 / bits };
    let lanes_of_a_row = LANES / each;
    for first in (0..wave.lanes()).step_by(LANES) {
        let loaded: Vec<u128> = (first..first + LANES)
            .map(|lane| {
                let at = wave.lane(addr, lane).wrapping_add(offset);
                let dword = |index: u32| u128::from(env.lds.load32(at.wrapping_add(4 * index)));
                dword(0) | dword(1) << 32 | if bits == 6 { dword(2) << 64 } else { 0 }
            })
            .collect();
        for column in 0..LANES {
            let value = (0..each).fold(0u128, |value, row| {
                let part = loaded[row * lanes_of_a_row + column / each];
                let element = part >> (column % each * bits) & ((1 << bits) - 1);
                value | element << (row * bits)
            });
            for index in 0..(each * bits).div_ceil(32) {
                wave.set_lane(vdst + index, first + column, (value >> (32 * index)) as u32);
            }
        }
    }
    Ok(())
}
