//! Loads and stores of a pass of lanes, whatever computed their places.

use super::atomic;
use super::code::Op;
use super::place::Place;
use super::runs::{RUN, RUNS};
use super::wave::{Env, LANES, M0, Row, Step, Stop, Wave, lanes};
use crate::memory::Access;
use amdgpu_isa::Opcode;

/// What a memory instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Loads this many dwords.
    Load(u32),
    /// Loads a byte or a word, extended to the register.
    LoadSmall { bits: u32, signed: bool },
    /// Loads a byte or a word into one half of the register.
    LoadHalf { bits: u32, signed: bool, high: bool },
    /// Stores this many dwords.
    Store(u32),
    /// Stores the low byte or word of a half of the register.
    StoreSmall { bits: u32, high: bool },
    /// Loads the dwords of a block of 32 that M0 names into the same of 32 registers.
    LoadBlock,
    /// Stores them.
    StoreBlock,
    /// Reads and writes indivisibly.
    Atomic,
}

impl Transfer {
    /// How many dwords it loads or stores, when it does that.
    #[inline(always)]
    pub(super) fn dwords(self) -> Option<(u32, Access)> {
        match self {
            Transfer::Load(dwords) => Some((dwords, Access::Read)),
            Transfer::Store(dwords) => Some((dwords, Access::Write)),
            _ => None,
        }
    }
}

/// The transfer of a FLAT, GLOBAL, SCRATCH or BUFFER operation.
pub(super) fn of(opcode: Opcode) -> Option<Transfer> {
    use Opcode::*;
    use Transfer::*;
    Some(match opcode {
        FLAT_LOAD_B32
        | GLOBAL_LOAD_B32
        | SCRATCH_LOAD_B32
        | BUFFER_LOAD_B32
        | GLOBAL_LOAD_ADDTID_B32 => Load(1),
        FLAT_LOAD_B64 | GLOBAL_LOAD_B64 | SCRATCH_LOAD_B64 | BUFFER_LOAD_B64 => Load(2),
        FLAT_LOAD_B96 | GLOBAL_LOAD_B96 | SCRATCH_LOAD_B96 | BUFFER_LOAD_B96 => Load(3),
        FLAT_LOAD_B128 | GLOBAL_LOAD_B128 | SCRATCH_LOAD_B128 | BUFFER_LOAD_B128 => Load(4),
        FLAT_LOAD_U8 | GLOBAL_LOAD_U8 | SCRATCH_LOAD_U8 | BUFFER_LOAD_U8 => {
            LoadSmall { bits: 8, signed: false }
        }
        FLAT_LOAD_I8 | GLOBAL_LOAD_I8 | SCRATCH_LOAD_I8 | BUFFER_LOAD_I8 => {
            LoadSmall { bits: 8, signed: true }
        }
        FLAT_LOAD_U16 | GLOBAL_LOAD_U16 | SCRATCH_LOAD_U16 | BUFFER_LOAD_U16 => {
            LoadSmall { bits: 16, signed: false }
        }
        FLAT_LOAD_I16 | GLOBAL_LOAD_I16 | SCRATCH_LOAD_I16 | BUFFER_LOAD_I16 => {
            LoadSmall { bits: 16, signed: true }
        }
        FLAT_LOAD_D16_U8 | GLOBAL_LOAD_D16_U8 | SCRATCH_LOAD_D16_U8 | BUFFER_LOAD_D16_U8 => {
            LoadHalf { bits: 8, signed: false, high: false }
        }
        FLAT_LOAD_D16_I8 | GLOBAL_LOAD_D16_I8 | SCRATCH_LOAD_D16_I8 | BUFFER_LOAD_D16_I8 => {
            LoadHalf { bits: 8, signed: true, high: false }
        }
        FLAT_LOAD_D16_B16 | GLOBAL_LOAD_D16_B16 | SCRATCH_LOAD_D16_B16 | BUFFER_LOAD_D16_B16 => {
            LoadHalf { bits: 16, signed: false, high: false }
        }
        FLAT_LOAD_D16_HI_U8
        | GLOBAL_LOAD_D16_HI_U8
        | SCRATCH_LOAD_D16_HI_U8
        | BUFFER_LOAD_D16_HI_U8 => LoadHalf { bits: 8, signed: false, high: true },
        FLAT_LOAD_D16_HI_I8
        | GLOBAL_LOAD_D16_HI_I8
        | SCRATCH_LOAD_D16_HI_I8
        | BUFFER_LOAD_D16_HI_I8 => LoadHalf { bits: 8, signed: true, high: true },
        FLAT_LOAD_D16_HI_B16
        | GLOBAL_LOAD_D16_HI_B16
        | SCRATCH_LOAD_D16_HI_B16
        | BUFFER_LOAD_D16_HI_B16 => LoadHalf { bits: 16, signed: false, high: true },
        FLAT_STORE_B32
        | GLOBAL_STORE_B32
        | SCRATCH_STORE_B32
        | BUFFER_STORE_B32
        | GLOBAL_STORE_ADDTID_B32 => Store(1),
        FLAT_STORE_B64 | GLOBAL_STORE_B64 | SCRATCH_STORE_B64 | BUFFER_STORE_B64 => Store(2),
        FLAT_STORE_B96 | GLOBAL_STORE_B96 | SCRATCH_STORE_B96 | BUFFER_STORE_B96 => Store(3),
        FLAT_STORE_B128 | GLOBAL_STORE_B128 | SCRATCH_STORE_B128 | BUFFER_STORE_B128 => Store(4),
        FLAT_STORE_B8 | GLOBAL_STORE_B8 | SCRATCH_STORE_B8 | BUFFER_STORE_B8 => {
            StoreSmall { bits: 8, high: false }
        }
        FLAT_STORE_B16 | GLOBAL_STORE_B16 | SCRATCH_STORE_B16 | BUFFER_STORE_B16 => {
            StoreSmall { bits: 16, high: false }
        }
        FLAT_STORE_D16_HI_B8
        | GLOBAL_STORE_D16_HI_B8
        | SCRATCH_STORE_D16_HI_B8
        | BUFFER_STORE_D16_HI_B8 => StoreSmall { bits: 8, high: true },
        FLAT_STORE_D16_HI_B16
        | GLOBAL_STORE_D16_HI_B16
        | SCRATCH_STORE_D16_HI_B16
        | BUFFER_STORE_D16_HI_B16 => StoreSmall { bits: 16, high: true },
        GLOBAL_LOAD_BLOCK | SCRATCH_LOAD_BLOCK => LoadBlock,
        GLOBAL_STORE_BLOCK | SCRATCH_STORE_BLOCK => StoreBlock,
        other if atomic::of(other).is_some() => Atomic,
        _ => return None,
    })
}

/// The registers of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    /// Where loaded values go.
    pub(super) destination: usize,
    /// What is stored.
    pub(super) data: usize,
    /// Whether an atomic returns the old value.
    pub(super) returns: bool,
}

impl Registers {
    /// Those that an instruction names.
    pub(super) fn named(wave: &Wave, vdst: u8, data: u8, acc: bool, returns: bool) -> Registers {
        Registers {
            destination: wave.data_register(vdst, acc),
            data: wave.data_register(data, acc),
            returns,
        }
    }
}

/// Executes a transfer for the lanes of `mask`, which go where `place` says.
pub(super) fn execute(
    wave: &mut Wave,
    op: &Op,
    env: &mut Env<'_>,
    registers: Registers,
    half: usize,
    mask: u32,
    places: &[Place; LANES],
) -> Step {
    let transfer = of(op.instruction.opcode).ok_or_else(|| {
        Stop::not_modelled(format!("{} is not modelled", op.instruction.opcode.name()))
    })?;
    let Registers { destination, data, .. } = registers;
    let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
    match transfer {
        Transfer::Load(dwords) => {
            let mut rows = [[0; LANES]; 4];
            for lane in lanes {
                for dword in 0..dwords {
                    rows[dword as usize][lane] = places[lane].load32(env, 4 * dword)?;
                }
            }
            for dword in 0..dwords as usize {
                wave.write(destination + dword, half, mask, &rows[dword]);
            }
        }
        Transfer::LoadSmall { bits, signed } => {
            let mut row = [0; LANES];
            for lane in lanes {
                row[lane] = small(env, places[lane], bits, signed)?;
            }
            wave.write(destination, half, mask, &row);
        }
        Transfer::LoadHalf { bits, signed, high } => {
            let mut row = *wave.row(destination, half);
            for lane in lanes {
                let value = small(env, places[lane], bits, signed)? & 0xffff;
                row[lane] = if high {
                    row[lane] & 0xffff | value << 16
                } else {
                    row[lane] & 0xffff_0000 | value
                };
            }
            wave.write(destination, half, mask, &row);
        }
        Transfer::Store(dwords) => {
            for lane in lanes {
                for dword in 0..dwords {
                    let value = wave.row(data + dword as usize, half)[lane];
                    places[lane].store32(env, 4 * dword, value)?;
                }
            }
        }
        Transfer::StoreSmall { bits, high } => {
            for lane in lanes {
                let value = wave.row(data, half)[lane] >> if high { 16 } else { 0 };
                if bits == 8 {
                    places[lane].store8(env, 0, value as u8)?;
                } else {
                    places[lane].store16(env, value as u16)?;
                }
            }
        }
        Transfer::LoadBlock => {
            for dword in block(wave) {
                let mut row = [0; LANES];
                for lane in lanes.clone() {
                    row[lane] = places[lane].load32(env, 4 * dword)?;
                }
                wave.write(destination + dword as usize, half, mask, &row);
            }
        }
        Transfer::StoreBlock => {
            for dword in block(wave) {
                for lane in lanes.clone() {
                    let value = wave.row(data + dword as usize, half)[lane];
                    places[lane].store32(env, 4 * dword, value)?;
                }
            }
        }
        Transfer::Atomic => atomic::execute(wave, op, env, registers, half, mask, places)?,
    }
    Ok(())
}

/// The dwords of a block that M0 names.
fn block(wave: &Wave) -> impl Iterator<Item = u32> + use<> {
    let named = wave.sgpr(M0);
    (0..32).filter(move |dword| named >> dword & 1 != 0)
}

/// A byte or a word, extended to a dword.
pub(super) fn small(env: &mut Env<'_>, place: Place, bits: u32, signed: bool) -> Result<u32, Stop> {
    let value = match bits {
        8 => u32::from(place.load8(env, 0)?),
        _ => u32::from(place.load16(env)?),
    };
    let spare = 32 - bits;
    Ok(if signed { ((value << spare) as i32 >> spare) as u32 } else { value })
}

/// Dword transfers of all lanes, in runs whose dwords follow each other in memory from the `firsts` of each pass on;
/// false when a run does not lie in one mapping. Then nothing was loaded, and what was stored will be stored again.
#[inline(always)]
pub(super) fn rising<const DWORDS: usize>(
    wave: &mut Wave,
    env: &mut Env<'_>,
    access: Access,
    registers: Registers,
    firsts: &[[u64; RUNS]; 2],
) -> bool {
    let bytes = (4 * RUN * DWORDS) as u64;
    let mut memory = [[[0u32; DWORDS]; LANES]; 2];
    for half in 0..wave.halves {
        if access == Access::Write {
            for dword in 0..DWORDS {
                let row = wave.row(registers.data + dword, half);
                for lane in 0..LANES {
                    memory[half][lane][dword] = row[lane];
                }
            }
        }
        let (runs, _) = memory[half].as_chunks_mut::<RUN>();
        for (run, &first) in runs.iter_mut().zip(&firsts[half]) {
            let Some(window) = env.memory.window(first, bytes, access) else { return false };
            match access {
                Access::Write => window.store_dwords(first, run.as_flattened()),
                _ => window.load_dwords(first, run.as_flattened_mut()),
            }
        }
    }
    if access == Access::Read {
        for half in 0..wave.halves {
            for dword in 0..DWORDS {
                *wave.row_mut(registers.destination + dword, half) =
                    lanes!(|lane| memory[half][lane][dword]);
            }
        }
    }
    true
}

/// The dword transfers of lanes whose addresses all lie in one mapping; false when they do not, and nothing
/// has been done then.
#[inline(always)]
pub(super) fn in_one_mapping(
    wave: &mut Wave,
    env: &mut Env<'_>,
    transfer: Transfer,
    registers: Registers,
    half: usize,
    mask: u32,
    addresses: &[u64; LANES],
) -> bool {
    let Some((dwords, access)) = transfer.dwords() else { return false };
    let dwords = dwords as usize;
    let size = 4 * dwords as u64;
    let (mut low, mut high) = (u64::MAX, 0);
    let mut dense = mask == u32::MAX;
    for lane in 0..LANES {
        if mask >> lane & 1 != 0 {
            low = low.min(addresses[lane]);
            high = high.max(addresses[lane]);
        }
        dense &= addresses[lane] == addresses[0].wrapping_add(size * lane as u64);
    }
    let Some(length) = high.wrapping_sub(low).checked_add(size) else { return false };
    let Some(window) = env.memory.window(low, length, access) else { return false };
    match transfer {
        Transfer::Load(1) if dense => {
            let mut row = [0; LANES];
            window.load_dwords(addresses[0], &mut row);
            *wave.row_mut(registers.destination, half) = row;
        }
        Transfer::Load(_) => {
            let mut rows: [Row; 4] = [[0; LANES]; 4];
            for lane in 0..LANES {
                if mask >> lane & 1 != 0 {
                    for dword in 0..dwords {
                        rows[dword][lane] = window.load_u32(addresses[lane] + 4 * dword as u64);
                    }
                }
            }
            for dword in 0..dwords {
                wave.write(registers.destination + dword, half, mask, &rows[dword]);
            }
        }
        _ if dense && dwords == 1 => {
            window.store_dwords(addresses[0], wave.row(registers.data, half));
        }
        _ => {
            for lane in 0..LANES {
                if mask >> lane & 1 != 0 {
                    for dword in 0..dwords {
                        let value = wave.row(registers.data + dword, half)[lane];
                        window.store_u32(addresses[lane] + 4 * dword as u64, value);
                    }
                }
            }
        }
    }
    true
}
