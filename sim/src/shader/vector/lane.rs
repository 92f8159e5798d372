//! Operations that move values between lanes or registers.

use super::{active, fields, source, source_16, uniform};
use crate::shader::code::Op;
use crate::shader::wave::{Env, LANES, M0, Row, Step, Stop, Wave};
use amdgpu_isa::{Opcode, Valu};

/// The VGPR that source `index` names.
fn register(op: &Op, v: &Valu, index: usize) -> Result<usize, Stop> {
    v.src[index].vgpr().map(usize::from).ok_or_else(|| {
        Stop::not_modelled(format!("{} of a source that is no VGPR", op.instruction.opcode.name()))
    })
}

/// A register reached through M0, refused when it is not allocated.
fn indexed(wave: &Wave, base: usize, index: u32) -> Result<usize, Stop> {
    match base.checked_add(index as usize) {
        Some(register) if register < wave.vgprs() => Ok(register),
        _ => Err(Stop::not_modelled(format!(
            "relative access to v[{base} + {index}] of {} allocated VGPRs",
            wave.vgprs()
        ))),
    }
}

/// The scalar value of a source for `v_readlane` and `v_writelane`.
fn scalar(wave: &Wave, op: &Op, v: &Valu, index: usize) -> u32 {
    uniform(wave, op, v.src[index], index)
}

/// `v_permlane16_b32`, `v_permlanex16_b32`: any lane of the same or the other row of 16. Lanes that are off
/// are read only with op_sel bit 0 (fetch inactive), else they give 0 where op_sel bit 1 (bound control) is set
/// and leave the destination where it is not.
fn permute_rows(wave: &mut Wave, op: &Op, v: &Valu, across: bool) -> Step {
    let selectors = u64::from(scalar(wave, op, v, 1)) | u64::from(scalar(wave, op, v, 2)) << 32;
    let (fetch_inactive, bound_control) = (v.op_sel & 1 != 0, v.op_sel & 2 != 0);
    for half in 0..wave.halves {
        let mut buffer = [0; LANES];
        let from = *source(wave, op, v, 0, half, &mut buffer);
        let exec = wave.exec_half(half);
        let mut out: Row = [0; LANES];
        let mut mask = exec;
        for (lane, value) in out.iter_mut().enumerate() {
            let row = if across { !lane & 16 } else { lane & 16 };
            let origin = row + (selectors >> (4 * (lane & 15)) & 15) as usize;
            if fetch_inactive || exec >> origin & 1 != 0 {
                *value = from[origin];
            } else if !bound_control {
                mask &= !(1 << lane);
            }
        }
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

/// `v_permlane16_var_b32`, `v_permlanex16_var_b32`: as those, with a selector for each lane.
fn permute_rows_by_lane(wave: &mut Wave, op: &Op, v: &Valu, across: bool) -> Step {
    let (fetch_inactive, bound_control) = (v.op_sel & 1 != 0, v.op_sel & 2 != 0);
    for half in 0..wave.halves {
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        let from = *source(wave, op, v, 0, half, &mut first);
        let selectors = *source(wave, op, v, 1, half, &mut second);
        let exec = wave.exec_half(half);
        let mut out: Row = [0; LANES];
        let mut mask = exec;
        for (lane, value) in out.iter_mut().enumerate() {
            let row = if across { !lane & 16 } else { lane & 16 };
            let origin = row + (selectors[lane] & 15) as usize;
            if fetch_inactive || exec >> origin & 1 != 0 {
                *value = from[origin];
            } else if !bound_control {
                mask &= !(1 << lane);
            }
        }
        wave.write(v.vdst.into(), half, mask, &out);
    }
    Ok(())
}

fn swap(wave: &mut Wave, first: usize, second: usize) {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let (a, b) = (*wave.row(first, half), *wave.row(second, half));
        wave.write(first, half, mask, &b);
        wave.write(second, half, mask, &a);
    }
}

/// `v_swap_b16`: halves of two registers.
fn swap_halves(wave: &mut Wave, op: &Op, v: &Valu) -> Step {
    let other = register(op, v, 0)?;
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let mut buffer = [0; LANES];
        let a = *source_16(wave, op, v, 0, half, &mut buffer);
        let shift = if v.op_sel & 8 != 0 { 16 } else { 0 };
        let b = wave.row(v.vdst.into(), half).map(|value| value >> shift & 0xffff);
        super::write_16(wave, v, half, mask, &a);
        let shift = if v.op_sel & 1 != 0 { 16 } else { 0 };
        let mut out = *wave.row(other, half);
        for lane in 0..LANES {
            out[lane] = out[lane] & !(0xffff << shift) | b[lane] << shift;
        }
        wave.write(other, half, mask, &out);
    }
    Ok(())
}

/// `v_permlane16_swap_b32`, `v_permlane32_swap_b32`: the upper half of the destination's lanes, of each 32 or of the
/// wave, changes places with the lower half of the source's (AMD's pseudocode of gfx950). What lanes that are off have
/// is read and what they are given is dropped as in `v_permlane16_b32`.
fn swap_lanes(wave: &mut Wave, op: &Op, v: &Valu, distance: usize) -> Step {
    let other = register(op, v, 0)?;
    let vdst = usize::from(v.vdst);
    let (fetch_inactive, bound_control) = (v.op_sel & 1 != 0, v.op_sel & 2 != 0);
    let exec = wave.exec();
    let active = |lane: usize| exec >> lane & 1 != 0;
    for lane in (0..wave.lanes()).filter(|lane| lane & distance == 0) {
        let far = lane + distance;
        let (low, high) = (wave.lane(other, lane), wave.lane(vdst, far));
        for (register, to, from, value) in [(other, lane, far, high), (vdst, far, lane, low)] {
            if !active(to) {
            } else if active(from) || fetch_inactive {
                wave.set_lane(register, to, value);
            } else if bound_control {
                wave.set_lane(register, to, 0);
            }
        }
    }
    Ok(())
}

/// Copies one register to another in the active lanes.
fn copy(wave: &mut Wave, from: usize, to: usize) {
    for half in 0..wave.halves {
        let row = *wave.row(from, half);
        let mask = wave.exec_half(half);
        wave.write(to, half, mask, &row);
    }
}

/// Moves between lanes and registers.
pub(in crate::shader) fn run(wave: &mut Wave, op: &Op, _env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let v = fields(op)?;
    let m0 = wave.sgpr(M0);
    let vdst = usize::from(v.vdst);
    match op.instruction.opcode {
        V_READFIRSTLANE_B32 => {
            let value = match v.src[0].vgpr() {
                Some(register) => {
                    let exec = wave.exec();
                    let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
                    wave.lane(register.into(), lane)
                }
                None => scalar(wave, op, v, 0),
            };
            wave.set_sgpr(v.vdst, value);
        }
        V_READLANE_B32 => {
            let lane = scalar(wave, op, v, 1) as usize & (wave.lanes() - 1);
            let value = match v.src[0].vgpr() {
                Some(register) => wave.lane(register.into(), lane),
                None => scalar(wave, op, v, 0),
            };
            wave.set_sgpr(v.vdst, value);
        }
        V_WRITELANE_B32 => {
            let lane = scalar(wave, op, v, 1) as usize & (wave.lanes() - 1);
            let value = scalar(wave, op, v, 0);
            wave.set_lane(vdst, lane, value);
        }
        V_PERMLANE16_B32 => return permute_rows(wave, op, v, false),
        V_PERMLANEX16_B32 => return permute_rows(wave, op, v, true),
        V_PERMLANE16_VAR_B32 => return permute_rows_by_lane(wave, op, v, false),
        V_PERMLANEX16_VAR_B32 => return permute_rows_by_lane(wave, op, v, true),
        V_PERMLANE64_B32 => {
            // Does nothing in wave32.
            if wave.halves == 2 {
                let from = register(op, v, 0)?;
                let (low, high) = (*wave.row(from, 0), *wave.row(from, 1));
                wave.write(vdst, 0, wave.exec_half(0), &high);
                wave.write(vdst, 1, wave.exec_half(1), &low);
            }
        }
        V_MOVRELD_B32 => {
            let to = indexed(wave, vdst, m0)?;
            for half in 0..wave.halves {
                let mut buffer = [0; LANES];
                let row = *source(wave, op, v, 0, half, &mut buffer);
                let mask = active(wave, v, half);
                wave.write(to, half, mask, &row);
            }
        }
        V_MOVRELS_B32 => {
            let from = indexed(wave, register(op, v, 0)?, m0)?;
            copy(wave, from, vdst);
        }
        V_MOVRELSD_B32 => {
            let from = indexed(wave, register(op, v, 0)?, m0)?;
            let to = indexed(wave, vdst, m0)?;
            copy(wave, from, to);
        }
        V_MOVRELSD_2_B32 => {
            let from = indexed(wave, register(op, v, 0)?, m0 & 0x3ff)?;
            let to = indexed(wave, vdst, m0 >> 16 & 0x3ff)?;
            copy(wave, from, to);
        }
        V_SWAP_B32 => swap(wave, vdst, register(op, v, 0)?),
        V_PERMLANE16_SWAP_B32 => return swap_lanes(wave, op, v, 16),
        V_PERMLANE32_SWAP_B32 => return swap_lanes(wave, op, v, 32),
        V_SWAPREL_B32 => {
            let from = indexed(wave, register(op, v, 0)?, m0 & 0x3ff)?;
            let to = indexed(wave, vdst, m0 >> 16 & 0x3ff)?;
            swap(wave, to, from);
        }
        V_SWAP_B16 => return swap_halves(wave, op, v),
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    }
    Ok(())
}
