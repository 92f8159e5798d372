//! MUBUF and MTBUF: buffers.

use super::code::Op;
use super::format;
use super::generation::Buffers;
use super::place::Place;
use super::scalar::mismatch;
use super::staged;
use super::transfer::{self, Registers, Transfer};
use super::wave::{Env, LANES, Step, Stop, Wave};
use amdgpu_isa::{Fields, Instruction, Opcode};

/// A buffer resource descriptor (RDNA3 ISA document, 10.3 "Buffer resource descriptor"; "Vega 7nm" ISA document,
/// "Buffer Resource Descriptor"; Mesa's `gfx10-rsrc.json`, `gfx11-rsrc.json`, `SQ_BUF_RSRC_WORD*`).
struct Descriptor {
    base: u64,
    stride: u64,
    records: u64,
    bounds: Bounds,
    swizzle: Option<Swizzle>,
    /// Whether the lane's number adds to the index.
    adds_lane: bool,
}

/// Swizzled addresses: elements of neighbouring records are neighbours in memory.
#[derive(Clone, Copy)]
struct Swizzle {
    /// Records that are interleaved (INDEX_STRIDE).
    records: u64,
    /// Bytes of an element.
    element: u64,
}

/// What is beyond a buffer's end.
#[derive(Clone, Copy)]
enum Bounds {
    /// OOB_SELECT of gfx10 and later.
    Selected(u32),
    /// gfx9: offsets from NUM_RECORDS on, or of swizzled records the indices.
    Records,
}

impl Descriptor {
    fn read(wave: &Wave, first: u8) -> Result<Descriptor, Stop> {
        let word = |index: u8| wave.sgpr(first + index);
        let buffers = wave.traits.buffers;
        let adds_lane = word(3) >> 23 & 1 != 0;
        let stride = u64::from(word(1) >> 16 & 0x3fff);
        // The data format's bits are 17:14 of the stride when the lane's number adds to the index. Not so from gfx10 on:
        // there the descriptor that ROCr makes of scratch has both ADD_TID_ENABLE and a format (`aql::scratch`).
        let more = match buffers {
            Buffers::Gfx9 if adds_lane => u64::from(word(3) >> 15 & 0xf),
            _ => 0,
        };
        // From gfx11 on there are elements of 4, 8 and 16 bytes.
        let element = match (word(1) >> 30, buffers) {
            (0, _) => None,
            (enabled, Buffers::Gfx11) => Some(2 << enabled),
            (enabled, _) => (enabled & 2 != 0).then_some(4),
        };
        let records = 8 << (word(3) >> 21 & 3);
        Ok(Descriptor {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: stride | more << 14,
            records: word(2).into(),
            bounds: match buffers {
                Buffers::Gfx9 => Bounds::Records,
                _ => Bounds::Selected(word(3) >> 28 & 3),
            },
            swizzle: element.map(|element| Swizzle { records, element }),
            adds_lane,
        })
    }

    /// Where an access goes; beyond the end, nowhere.
    fn place(&self, index: u64, offset: u64, scalar: u64, size: u64) -> Place {
        let at = match self.swizzle {
            None => index.wrapping_mul(self.stride).wrapping_add(offset),
            // Groups of records, in them elements of the records in turn.
            Some(Swizzle { records, element }) => (index / records)
                .wrapping_mul(self.stride)
                .wrapping_add(offset / element * element)
                .wrapping_mul(records)
                .wrapping_add(index % records * element + offset % element),
        };
        let outside = match self.bounds {
            Bounds::Selected(0) => {
                index >= self.records || self.stride != 0 && offset + size > self.stride
            }
            Bounds::Selected(3) if self.stride != 0 && self.swizzle.is_some() => {
                index >= self.records || offset + size > self.stride
            }
            Bounds::Selected(1) => index >= self.records,
            Bounds::Selected(2) => self.records == 0,
            Bounds::Selected(_) => at.saturating_add(size) > self.records,
            Bounds::Records if self.stride != 0 && self.swizzle.is_some() => index >= self.records,
            Bounds::Records => at.saturating_add(size) > self.records.saturating_sub(scalar),
        };
        if outside {
            return Place::Nowhere;
        }
        Place::Memory(self.base.wrapping_add(scalar).wrapping_add(at))
    }
}

/// Bytes of memory that a lane of an instruction touches, but for typed buffers.
pub(super) fn size(instruction: &Instruction) -> u64 {
    let opcode = instruction.opcode;
    match staged::of(instruction).or_else(|| transfer::of(opcode)) {
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

/// The dword of the descriptor that has the format.
fn last(wave: &Wave, op: &Op) -> u32 {
    match op.instruction.fields {
        Fields::Mubuf { srsrc, .. } => wave.sgpr(srsrc + 3),
        _ => 0,
    }
}

/// Bytes that a buffer's instruction touches.
pub(super) fn extent(wave: &Wave, op: &Op) -> Result<u64, Stop> {
    let typed = format::of(wave, op, last(wave, op))?;
    Ok(typed.map_or_else(|| size(&op.instruction), |typed| typed.size()))
}

/// Where the lanes of a pass access memory; those that are off, nowhere.
pub(super) fn places(wave: &Wave, op: &Op, half: usize) -> Result<[Place; LANES], Stop> {
    let Fields::Mubuf { vaddr, srsrc, soffset, offset, offen, idxen, .. } = op.instruction.fields
    else {
        return Ok([Place::Nowhere; LANES]);
    };
    let descriptor = Descriptor::read(wave, srsrc)?;
    let scalar = u64::from(wave.s32(soffset, op.constants[0]));
    let size = extent(wave, op)?;
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
        if descriptor
            .swizzle
            .is_some_and(|Swizzle { element, .. }| offset % element + size > element)
        {
            return Err(Stop::not_modelled(
                "an access to a buffer with swizzled addresses that is wider than an element is not modelled",
            ));
        }
        *place = descriptor.place(index, offset, scalar, size);
    }
    Ok(places)
}

/// MUBUF.
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Mubuf { vdata, glc, dlc: sc1, tfe, acc, .. } = op.instruction.fields else {
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
        // Of the caches that there are, L2 alone keeps anything here.
        let system = glc && sc1;
        let of_l2 = match opcode {
            Opcode::BUFFER_INV => system,
            Opcode::BUFFER_INVL2 => true,
            _ => false,
        };
        env.act_on_cache(opcode == Opcode::BUFFER_WBL2, of_l2);
        return Ok(());
    }
    if tfe {
        return Err(Stop::not_modelled("texture fail enable on a buffer is not modelled"));
    }
    let typed = format::of(wave, op, last(wave, op))?;
    let staged = staged::of(&op.instruction);
    let registers = Registers::named(wave, vdata, vdata, acc, glc);
    for half in 0..wave.halves {
        let places = places(wave, op, half)?;
        let mask = wave.exec_half(half);
        if let Some(typed) = &typed {
            typed.execute(wave, env, registers, half, mask, &places)?;
        } else if let Some(transfer) = staged {
            staged::execute(wave, op, env, transfer, half, mask, &places)?;
        } else {
            transfer::execute(wave, op, env, registers, half, mask, &places)?;
        }
    }
    Ok(())
}
