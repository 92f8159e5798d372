//! MUBUF: untyped buffers.

use super::code::Op;
use super::place::Place;
use super::scalar::mismatch;
use super::transfer::{self, Registers, Transfer};
use super::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode};

/// A buffer resource descriptor (RDNA3 ISA document, 10.3 "Buffer resource descriptor").
struct Descriptor {
    base: u64,
    stride: u64,
    records: u64,
    out_of_bounds: u32,
}

impl Descriptor {
    fn read(wave: &Wave, first: u8) -> Result<Descriptor, Stop> {
        let word = |index: u8| wave.sgpr(first + index);
        if word(1) >> 30 != 0 {
            return Err(Stop::not_modelled("a buffer with swizzled addresses is not modelled"));
        }
        if word(3) >> 23 & 1 != 0 {
            return Err(Stop::not_modelled("a buffer with ADD_TID_ENABLE is not modelled"));
        }
        Ok(Descriptor {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: u64::from(word(1) >> 16 & 0x3fff),
            records: word(2).into(),
            out_of_bounds: word(3) >> 28 & 3,
        })
    }

    /// Where an access goes; beyond the end, nowhere.
    fn place(&self, index: u64, offset: u64, scalar: u64, size: u64) -> Place {
        let outside = match self.out_of_bounds {
            0 => index >= self.records || self.stride != 0 && offset + size > self.stride,
            1 => index >= self.records,
            2 => self.records == 0,
            _ => index * self.stride + offset + size > self.records,
        };
        if outside {
            return Place::Nowhere;
        }
        Place::Memory(
            self.base
                .wrapping_add(scalar)
                .wrapping_add(index.wrapping_mul(self.stride))
                .wrapping_add(offset),
        )
    }
}

/// Bytes that a transfer touches.
fn size(opcode: Opcode) -> u64 {
    match transfer::of(opcode) {
        Some(Transfer::Load(dwords) | Transfer::Store(dwords)) => 4 * u64::from(dwords),
        Some(
            Transfer::LoadSmall { bits, .. }
            | Transfer::LoadHalf { bits, .. }
            | Transfer::StoreSmall { bits, .. },
        ) => u64::from(bits / 8),
        Some(Transfer::Atomic) if opcode.name().ends_with("64") => 8,
        _ => 4,
    }
}

/// MUBUF.
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Mubuf { vdata, vaddr, srsrc, soffset, offset, offen, idxen, glc, tfe, .. } =
        op.instruction.fields
    else {
        return mismatch(op);
    };
    let opcode = op.instruction.opcode;
    if matches!(opcode, Opcode::BUFFER_GL0_INV | Opcode::BUFFER_GL1_INV) {
        // Host and device memory are one here: no cache can be stale.
        return Ok(());
    }
    if tfe {
        return Err(Stop::not_modelled("texture fail enable on a buffer is not modelled"));
    }
    let descriptor = Descriptor::read(wave, srsrc)?;
    let scalar = u64::from(wave.s32(soffset, op.constants[0]));
    let size = size(opcode);
    let registers = Registers { destination: vdata.into(), data: vdata.into(), returns: glc };
    let index_register = usize::from(vaddr);
    let offset_register = index_register + usize::from(idxen);
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let mut places = [Place::Nowhere; LANES];
        for (lane, place) in places.iter_mut().enumerate() {
            if mask >> lane & 1 == 0 {
                continue;
            }
            let index = if idxen { wave.row(index_register, half)[lane] } else { 0 };
            let own = if offen { wave.row(offset_register, half)[lane] } else { 0 };
            let offset = u64::from(own) + u64::from(offset);
            *place = descriptor.place(index.into(), offset, scalar, size);
        }
        transfer::execute(wave, op, env, registers, half, mask, &places)?;
    }
    Ok(())
}
