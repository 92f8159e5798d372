//! Buffer loads and stores that convert between a format in memory and registers.
//!
//! Formats: "Vega 7nm" ISA document, "Buffer Resource Descriptor" (data format and number format); later generations
//! have one number for both (Mesa's `gfx10-rsrc.json` and `gfx11-rsrc.json`, `GFX10_FORMAT`, `GFX11_FORMAT`). MUBUF takes
//! format and order of the components (DST_SEL, of loads) from the descriptor, MTBUF the format from the instruction and
//! the components in order ("Vega 7nm" ISA document, "Buffer Data"). Components that a format lacks are 0, the fourth 1.
//!
//! How stores round what is between two values of the format is not in the documents: to nearest even, here. Refused is
//! what they do not say: integers that the format does not hold, scaled and small formats in stores, stores of fewer
//! components than the format has.

use super::code::Op;
use super::float::{f16_to_f32, f32_to_f16_nearest};
use super::generation::Buffers;
use super::place::Place;
use super::transfer::Registers;
use super::wave::{Env, LANES, Row, Step, Stop, Wave};
use amdgpu_isa::Fields;

/// How a component's bits are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

use Number::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};

/// Bits of the components, the lowest first, by gfx9's data format. Names in documents begin with the highest.
const LAYOUTS: [&[u32]; 15] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8; 4],
    &[32; 2],
    &[16; 4],
    &[32; 3],
    &[32; 4],
];

/// gfx9's number formats.
const NUMBERS: [Option<Number>; 8] = [
    Some(Unorm),
    Some(Snorm),
    Some(Uscaled),
    Some(Sscaled),
    Some(Uint),
    Some(Sint),
    None,
    Some(Float),
];

/// Numbers of bytes and words.
const PLAIN: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
const ALL: &[Number] = &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float];
const DWORD: &[Number] = &[Uint, Sint, Float];

/// The formats of a generation in order from 1 on: data format and its number formats.
type Formats = [(usize, &'static [Number]); 14];

const GFX10: Formats = [
    (1, PLAIN),
    (2, ALL),
    (3, PLAIN),
    (4, DWORD),
    (5, ALL),
    (6, ALL),
    (7, ALL),
    (8, PLAIN),
    (9, PLAIN),
    (10, PLAIN),
    (11, DWORD),
    (12, ALL),
    (13, DWORD),
    (14, DWORD),
];

const GFX11: Formats = [
    (1, PLAIN),
    (2, ALL),
    (3, PLAIN),
    (4, DWORD),
    (5, ALL),
    (6, &[Float]),
    (7, &[Float]),
    (8, &[Unorm, Snorm, Uint, Sint]),
    (9, PLAIN),
    (10, PLAIN),
    (11, DWORD),
    (12, ALL),
    (13, DWORD),
    (14, DWORD),
];

/// Bits of the components and what they are, of a format by its one number.
fn numbered(formats: &Formats, format: u32) -> Option<(&'static [u32], Number)> {
    let mut rest = (format as usize).checked_sub(1)?;
    for &(layout, numbers) in formats {
        match numbers.get(rest) {
            Some(&number) => return Some((LAYOUTS[layout], number)),
            None => rest -= numbers.len(),
        }
    }
    None
}

/// The same by gfx9's data format and number format, of which there are the pairs that gfx10 has one number for (LLVM's
/// AMDGPUAsmUtils.cpp, `DfmtNfmt2UFmtGFX10`).
fn paired(data: u32, number: u32) -> Option<(&'static [u32], Number)> {
    let number = NUMBERS[number as usize & 7]?;
    let (layout, _) = GFX10
        .iter()
        .find(|&&(layout, numbers)| layout == data as usize && numbers.contains(&number))?;
    Some((LAYOUTS[*layout], number))
}

/// A load or store of a format.
#[derive(Debug)]
pub(super) struct Typed {
    bits: &'static [u32],
    number: Number,
    stores: bool,
    /// Components in registers.
    count: usize,
    /// Registers hold halves.
    halves: bool,
    /// The one half is the upper one.
    high: bool,
    /// Where each loaded component comes from: 0, 1, or 4 and the component's number.
    select: [u32; 4],
}

/// What an instruction loads or stores with a descriptor whose last dword is `last`; `None` when it converts nothing.
pub(super) fn of(wave: &Wave, op: &Op, last: u32) -> Result<Option<Typed>, Stop> {
    let name = op.instruction.opcode.name();
    let Some((head, components)) = name.split_once("_FORMAT_") else { return Ok(None) };
    let own = match (head.starts_with("TBUFFER"), &op.instruction.fields) {
        (true, Fields::Mubuf { format, .. }) => Some(u32::from(*format)),
        _ => None,
    };
    let found = match (wave.traits.buffers, own) {
        (Buffers::Gfx9, None) => paired(last >> 15 & 0xf, last >> 12 & 7),
        (Buffers::Gfx9, Some(own)) => paired(own & 0xf, own >> 4 & 7),
        (Buffers::Gfx10, own) => numbered(&GFX10, own.unwrap_or(last >> 12 & 0x7f)),
        (Buffers::Gfx11, own) => numbered(&GFX11, own.unwrap_or(last >> 12 & 0x3f)),
    };
    let Some((bits, number)) = found else {
        return Err(Stop::not_modelled(format!(
            "{name} of a buffer's format that is not modelled"
        )));
    };
    let typed = Typed {
        bits,
        number,
        stores: head.contains("STORE"),
        count: components.len(),
        halves: head.contains("D16"),
        high: head.ends_with("HI"),
        select: match own {
            None => [0, 3, 6, 9].map(|shift| last >> shift & 7),
            Some(_) => [4, 5, 6, 7],
        },
    };
    let unstorable = typed.count < bits.len()
        || matches!(number, Uscaled | Sscaled)
        || number == Float && bits[0] < 16;
    if typed.stores && unstorable {
        return Err(Stop::not_modelled(format!(
            "{name} of {number:?} components of {bits:?} bits is not modelled"
        )));
    }
    Ok(Some(typed))
}

impl Typed {
    /// Bytes in memory.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.bits.iter().sum::<u32>() / 8)
    }

    /// Loads or stores for the lanes of `mask`.
    pub(super) fn execute(
        &self,
        wave: &mut Wave,
        env: &mut Env<'_>,
        registers: Registers,
        half: usize,
        mask: u32,
        places: &[Place; LANES],
    ) -> Step {
        let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
        if self.stores {
            for lane in lanes {
                let mut data = 0u128;
                let mut shift = 0;
                for (component, &bits) in self.bits.iter().enumerate() {
                    let value = self.stored(wave, registers.data, half, lane, component);
                    data |= u128::from(self.encode(value, bits)?) << shift;
                    shift += bits;
                }
                let size = self.size() as usize;
                for (byte, at) in data.to_le_bytes().into_iter().take(size).zip(0..) {
                    places[lane].store8(env, at, byte)?;
                }
            }
            return Ok(());
        }
        let width = if self.halves { self.count.div_ceil(2) } else { self.count };
        let mut rows: [Row; 4] = [[0; LANES]; 4];
        for (register, row) in rows.iter_mut().enumerate().take(width) {
            *row = *wave.row(registers.destination + register, half);
        }
        for lane in lanes {
            let values = self.load(env, places[lane])?;
            for (component, &value) in values.iter().enumerate().take(self.count) {
                if !self.halves {
                    rows[component][lane] = value;
                    continue;
                }
                let value = if self.is_integer() {
                    value & 0xffff
                } else {
                    f32_to_f16_nearest(f32::from_bits(value))
                };
                let shift = if self.high || !component.is_multiple_of(2) { 16 } else { 0 };
                let row = &mut rows[component / 2][lane];
                *row = *row & !(0xffff << shift) | value << shift;
            }
        }
        for (register, row) in rows.iter().enumerate().take(width) {
            wave.write(registers.destination + register, half, mask, row);
        }
        Ok(())
    }

    fn is_integer(&self) -> bool {
        matches!(self.number, Uint | Sint)
    }

    /// The four components as registers get them; beyond the buffer's end 0.
    fn load(&self, env: &mut Env<'_>, place: Place) -> Result<[u32; 4], Stop> {
        if matches!(place, Place::Nowhere) {
            return Ok([0; 4]);
        }
        let mut data = [0; 16];
        for (byte, at) in data.iter_mut().take(self.size() as usize).zip(0..) {
            *byte = place.load8(env, at)?;
        }
        let one = if self.is_integer() { 1 } else { 1f32.to_bits() };
        let mut components = [0, 0, 0, one];
        let mut rest = u128::from_le_bytes(data);
        for (component, &bits) in components.iter_mut().zip(self.bits) {
            *component = self.decode(rest as u32 & (u32::MAX >> (32 - bits)), bits);
            rest >>= bits;
        }
        let mut selected = [0; 4];
        for (value, select) in selected.iter_mut().zip(self.select) {
            *value = match select {
                0 => 0,
                1 => one,
                4.. => components[select as usize - 4],
                _ => {
                    let text = format!("component {select} of a buffer's format is not modelled");
                    return Err(Stop::not_modelled(text));
                }
            };
        }
        Ok(selected)
    }

    /// What a component of so many bits is.
    fn decode(&self, raw: u32, bits: u32) -> u32 {
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        match self.number {
            Uint => raw,
            Sint => signed as u32,
            Uscaled => (raw as f32).to_bits(),
            Sscaled => (signed as f32).to_bits(),
            Unorm => ((f64::from(raw) / largest(bits)) as f32).to_bits(),
            Snorm => ((f64::from(signed) / largest(bits - 1)) as f32).max(-1.0).to_bits(),
            Float if bits == 32 => raw,
            Float if bits == 16 => f16_to_f32(raw).to_bits(),
            // Halves without sign and with fewer bits of fraction.
            Float => f16_to_f32(raw << (15 - bits)).to_bits(),
        }
    }

    /// What a register gives to store.
    fn stored(&self, wave: &Wave, first: usize, half: usize, lane: usize, component: usize) -> u32 {
        if !self.halves {
            return wave.row(first + component, half)[lane];
        }
        let dword = wave.row(first + component / 2, half)[lane];
        let upper = self.high || !component.is_multiple_of(2);
        let value = if upper { dword >> 16 } else { dword & 0xffff };
        match self.number {
            Uint => value,
            Sint => value as u16 as i16 as u32,
            _ => f16_to_f32(value).to_bits(),
        }
    }

    /// The component's bits.
    fn encode(&self, value: u32, bits: u32) -> Result<u32, Stop> {
        let mask = u32::MAX >> (32 - bits);
        let single = f64::from(f32::from_bits(value));
        Ok(match self.number {
            Uint if value & !mask != 0 => return Err(too_wide(value, bits)),
            Sint if self.decode(value & mask, bits) != value => return Err(too_wide(value, bits)),
            Uint | Sint => value & mask,
            Unorm => (single.clamp(0.0, 1.0) * largest(bits)).round_ties_even() as u32,
            Snorm => {
                let scaled = (single.clamp(-1.0, 1.0) * largest(bits - 1)).round_ties_even();
                scaled as i32 as u32 & mask
            }
            Float if bits == 16 => f32_to_f16_nearest(f32::from_bits(value)),
            Float | Uscaled | Sscaled => value,
        })
    }
}

/// The largest number of so many bits.
fn largest(bits: u32) -> f64 {
    f64::from(u32::MAX >> (32 - bits.max(1)))
}

#[cold]
fn too_wide(value: u32, bits: u32) -> Stop {
    Stop::not_modelled(format!("{value:#x} stored in {bits} bits of a buffer's format"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLVM's AMDGPUAsmUtils.cpp, `DfmtNfmt2UFmtGFX10`.
    #[test]
    fn formats_of_gfx9_are_those_that_gfx10_numbers() {
        assert_eq!(paired(1, 0), Some((&[8][..], Unorm)));
        assert_eq!(paired(4, 7), Some((&[32][..], Float)));
        assert_eq!(paired(9, 0), Some((LAYOUTS[9], Unorm)));
        // Singles of 8 bits, normalized dwords, a number that is reserved, no data.
        for (data, number) in [(1, 7), (10, 7), (4, 0), (11, 1), (14, 2), (2, 6), (0, 4), (15, 4)] {
            assert_eq!(paired(data, number), None, "{data} {number}");
        }
        let pairs = (0..16).flat_map(|data| (0..8).map(move |number| paired(data, number)));
        let count: usize = GFX10.iter().map(|(_, numbers)| numbers.len()).sum();
        assert_eq!(pairs.flatten().count(), count);
    }
}
