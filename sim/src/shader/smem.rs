//! Scalar memory.

use super::code::Op;
use super::scalar::mismatch;
use super::wave::{Env, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode};

/// SMEM: loads to SGPRs, cache invalidation.
pub(super) fn smem(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Smem { sdata, sbase, soffset, offset, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let dwords = match op.instruction.opcode {
        // Host and device memory are one here: no cache can be stale.
        S_GL1_INV | S_DCACHE_INV => return Ok(()),
        S_LOAD_B32 | S_BUFFER_LOAD_B32 => 1,
        S_LOAD_B64 | S_BUFFER_LOAD_B64 => 2,
        S_LOAD_B128 | S_BUFFER_LOAD_B128 => 4,
        S_LOAD_B256 | S_BUFFER_LOAD_B256 => 8,
        S_LOAD_B512 | S_BUFFER_LOAD_B512 => 16,
        other => return Err(Stop::not_modelled(format!("{} is not modelled", other.name()))),
    };
    let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
    let buffer = matches!(
        op.instruction.opcode,
        S_BUFFER_LOAD_B32
            | S_BUFFER_LOAD_B64
            | S_BUFFER_LOAD_B128
            | S_BUFFER_LOAD_B256
            | S_BUFFER_LOAD_B512
    );
    let mut values = [0u32; 16];
    let values = &mut values[..dwords];
    if buffer {
        load_buffer(wave, env, sbase, offset, values)?;
    } else {
        // Loads are of whole dwords: the two lowest bits are dropped (RDNA3 ISA document, 9.1).
        let address = wave.sgpr64(sbase).wrapping_add_signed(offset) & !3;
        load(env, address, values)?;
    }
    for (register, value) in (sdata..).zip(values) {
        wave.set_sgpr(register, *value);
    }
    Ok(())
}

fn load(env: &mut Env<'_>, address: u64, values: &mut [u32]) -> Step {
    for (at, value) in (address..).step_by(4).zip(values) {
        *value = env.memory.read_u32(at)?;
    }
    Ok(())
}

/// `s_buffer_load`: dwords beyond the buffer's end read as 0.
fn load_buffer(wave: &Wave, env: &mut Env<'_>, sbase: u8, offset: i64, values: &mut [u32]) -> Step {
    let low = wave.sgpr64(sbase);
    let base = low & 0xffff_ffff_ffff;
    let stride = low >> 48 & 0x3fff;
    let records = u64::from(wave.sgpr(sbase + 2));
    let size = if stride == 0 { records } else { records * stride };
    let offset = offset as u64 & !3;
    for (index, value) in values.iter_mut().enumerate() {
        let at = offset.wrapping_add(4 * index as u64);
        *value = match at.checked_add(4) {
            Some(end) if end <= size => env.memory.read_u32(base.wrapping_add(at))?,
            _ => 0,
        };
    }
    Ok(())
}
