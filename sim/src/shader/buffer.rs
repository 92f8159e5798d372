//! MUBUF: untyped buffers.

use super::code::Op;
use super::generation::Buffers;
use super::place::Place;
use super::scalar::mismatch;
use super::transfer::{self, Registers, Transfer};
use super::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode};

/// A buffer resource descriptor (RDNA3 ISA document, 10.3 "Buffer resource descriptor"; "Vega 7nm" ISA document,
/// "Buffer Resource Descriptor").
struct Descriptor {
    base: u64,
    stride: u64,
    records: u64,
    bounds: Bounds,
    /// Lanes whose dwords are neighbours in memory, when addresses are swizzled.
    swizzle: Option<u64>,
    /// Whether the lane's number adds to the index.
    adds_lane: bool,
}

/// What is beyond a buffer's end.
#[derive(Clone, Copy)]
enum Bounds {
    /// OOB_SELECT of gfx10 and gfx11.
    Selected(u32),
    /// gfx9: offsets from NUM_RECORDS on, or of swizzled records the indices.
    Records,
}

impl Descriptor {
    fn read(wave: &Wave, first: u8) -> Result<Descriptor, Stop> {
        let word = |index: u8| wave.sgpr(first + index);
        let descriptor = Descriptor {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: u64::from(word(1) >> 16 & 0x3fff),
            records: word(2).into(),
            bounds: Bounds::Selected(word(3) >> 28 & 3),
            swizzle: None,
            adds_lane: word(3) >> 23 & 1 != 0,
        };
        if wave.traits.buffers != Buffers::Gfx11 {
            // SWIZZLE_ENABLE is bit 31, and INDEX_STRIDE says 8, 16, 32 or 64; elements are dwords.
            if descriptor.adds_lane && descriptor.stride != 0 {
                return Err(Stop::not_modelled(
                    "a buffer with ADD_TID_ENABLE and a stride is not modelled",
                ));
            }
            let swizzled = word(1) >> 31 != 0;
            return Ok(Descriptor {
                bounds: match wave.traits.buffers {
                    Buffers::Gfx9 => Bounds::Records,
                    _ => descriptor.bounds,
                },
                swizzle: swizzled.then(|| 8 << (word(3) >> 21 & 3)),
                ..descriptor
            });
        }
        if word(1) >> 30 != 0 {
            return Err(Stop::not_modelled("a buffer with swizzled addresses is not modelled"));
        }
        if descriptor.adds_lane {
            return Err(Stop::not_modelled("a buffer with ADD_TID_ENABLE is not modelled"));
        }
        Ok(descriptor)
    }

    /// Where an access goes; beyond the end, nowhere.
    fn place(&self, index: u64, offset: u64, scalar: u64, size: u64) -> Place {
        let linear = index.wrapping_mul(self.stride).wrapping_add(offset);
        let outside = match self.bounds {
            Bounds::Selected(0) => {
                index >= self.records || self.stride != 0 && offset + size > self.stride
            }
            Bounds::Selected(3) if self.stride != 0 && self.swizzle.is_some() => {
                index >= self.records || offset + size > self.stride
            }
            Bounds::Selected(1) => index >= self.records,
            Bounds::Selected(2) => self.records == 0,
            Bounds::Selected(_) => linear + size > self.records,
            Bounds::Records if self.stride != 0 && self.swizzle.is_some() => index >= self.records,
            Bounds::Records => linear + size > self.records.saturating_sub(scalar),
        };
        if outside {
            return Place::Nowhere;
        }
        let at = match self.swizzle {
            None => linear,
            // Groups of records, in them dwords of the records in turn.
            Some(lanes) => {
                let dword = (index / lanes).wrapping_mul(self.stride) + offset / 4 * 4;
                dword.wrapping_mul(lanes) + index % lanes * 4 + offset % 4
            }
        };
        Place::Memory(self.base.wrapping_add(scalar).wrapping_add(at))
    }
}

/// Bytes that a transfer touches.
pub(super) fn size(opcode: Opcode) -> u64 {
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

/// Where the lanes of a pass access memory; those that are off, nowhere.
pub(super) fn places(wave: &Wave, op: &Op, half: usize) -> Result<[Place; LANES], Stop> {
    let Fields::Mubuf { vaddr, srsrc, soffset, offset, offen, idxen, .. } = op.instruction.fields
    else {
        return Ok([Place::Nowhere; LANES]);
    };
    let descriptor = Descriptor::read(wave, srsrc)?;
    let scalar = u64::from(wave.s32(soffset, op.constants[0]));
    let size = size(op.instruction.opcode);
    let index_register = usize::from(vaddr);
    let offset_register = index_register + usize::from(idxen);
    let mask = wave.exec_half(half);
    let mut places = [Place::Nowhere; LANES];
    for (lane, place) in places.iter_mut().enumerate() {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let index = if idxen { wave.row(index_register, half)[lane] } else { 0 };
        let own = if offen { wave.row(offset_register, half)[lane] } else { 0 };
        let offset = u64::from(own) + u64::from(offset);
        let thread = if descriptor.adds_lane { (LANES * half + lane) as u64 } else { 0 };
        let index = u64::from(index) + thread;
        if descriptor.swizzle.is_some() && offset % 4 + size > 4 {
            return Err(Stop::not_modelled(
                "an access to a buffer with swizzled addresses that is wider than a dword is not modelled",
            ));
        }
        *place = descriptor.place(index, offset, scalar, size);
    }
    Ok(places)
}

/// MUBUF.
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Mubuf { vdata, glc, tfe, acc, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let opcode = op.instruction.opcode;
    if matches!(
        opcode,
        Opcode::BUFFER_GL0_INV
            | Opcode::BUFFER_GL1_INV
            | Opcode::BUFFER_WBL2
            | Opcode::BUFFER_INV
            | Opcode::BUFFER_INVL2
            | Opcode::BUFFER_WBINVL1
            | Opcode::BUFFER_WBINVL1_VOL
    ) {
        // Host and device memory are one here: no cache can be stale.
        return Ok(());
    }
    if tfe {
        return Err(Stop::not_modelled("texture fail enable on a buffer is not modelled"));
    }
    let registers = Registers::named(wave, vdata, vdata, acc, glc);
    for half in 0..wave.halves {
        let places = places(wave, op, half)?;
        let mask = wave.exec_half(half);
        transfer::execute(wave, op, env, registers, half, mask, &places)?;
    }
    Ok(())
}
