//! Scalar memory.

use super::atomic::Function;
use super::code::Op;
use super::place::Place;
use super::scalar::mismatch;
use super::wave::{Env, Step, Stop, Wave};
use crate::memory::Access;
use amdgpu_isa::{Fields, Opcode};

/// What an instruction loads.
#[derive(Clone, Copy)]
enum Size {
    Dwords(usize),
    /// A byte or a word, extended.
    Small {
        bits: u32,
        signed: bool,
    },
}

impl Size {
    /// What it loads.
    fn of(opcode: Opcode) -> Option<Size> {
        use Opcode::*;
        use Size::*;
        let small = |bits, signed| Small { bits, signed };
        Some(match opcode {
            S_LOAD_B32 | S_BUFFER_LOAD_B32 => Dwords(1),
            S_LOAD_B64 | S_BUFFER_LOAD_B64 => Dwords(2),
            S_LOAD_B96 | S_BUFFER_LOAD_B96 => Dwords(3),
            S_LOAD_B128 | S_BUFFER_LOAD_B128 => Dwords(4),
            S_LOAD_B256 | S_BUFFER_LOAD_B256 => Dwords(8),
            S_LOAD_B512 | S_BUFFER_LOAD_B512 => Dwords(16),
            S_LOAD_U8 | S_BUFFER_LOAD_U8 => small(8, false),
            S_LOAD_I8 | S_BUFFER_LOAD_I8 => small(8, true),
            S_LOAD_U16 | S_BUFFER_LOAD_U16 => small(16, false),
            S_LOAD_I16 | S_BUFFER_LOAD_I16 => small(16, true),
            _ => return None,
        })
    }

    /// Bytes that are accessed as a whole: the lowest bits of the address are dropped (RDNA3 ISA document, 9.1).
    fn unit(self) -> u64 {
        match self {
            Size::Dwords(_) => 4,
            Size::Small { bits, .. } => u64::from(bits / 8),
        }
    }
}

/// SMEM: loads to SGPRs, stores of them, atomics, clocks, cache invalidation, prefetches.
pub(super) fn smem(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Smem { sdata, sbase, soffset, offset, glc, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let opcode = op.instruction.opcode;
    match opcode {
        // Host and device memory are one here: no cache can be stale, and none gets anything ahead of time.
        S_GL1_INV
        | S_DCACHE_INV
        | S_DCACHE_INV_VOL
        | S_DCACHE_WB
        | S_DCACHE_WB_VOL
        | S_DCACHE_DISCARD
        | S_DCACHE_DISCARD_X2
        | S_ATC_PROBE
        | S_ATC_PROBE_BUFFER
        | S_PREFETCH_INST
        | S_PREFETCH_INST_PC_REL
        | S_PREFETCH_DATA
        | S_PREFETCH_DATA_PC_REL
        | S_BUFFER_PREFETCH_DATA => return Ok(()),
        S_MEMTIME => {
            wave.set_sgpr64(sdata, wave.executed);
            return Ok(());
        }
        S_MEMREALTIME => {
            wave.set_sgpr64(sdata, env.outside.clock());
            return Ok(());
        }
        _ => {}
    }
    let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
    if let Some((function, wide)) = atomic(opcode) {
        let unit = if wide { 8 } else { 4 };
        let place = Target::of(wave, opcode, sbase, offset, unit).place();
        return update(wave, env, place, function, wide, glc.then_some(sdata), sdata);
    }
    if let Some(dwords) = stored(opcode) {
        let target = Target::of(wave, opcode, sbase, offset, 4);
        for index in 0..dwords {
            if let Some(address) = target.at(4 * u64::from(index)) {
                env.memory.write_u32(address, wave.sgpr(sdata + index))?;
            }
        }
        return Ok(());
    }
    let size = Size::of(opcode)
        .ok_or_else(|| Stop::not_modelled(format!("{} is not modelled", opcode.name())))?;
    let target = Target::of(wave, opcode, sbase, offset, size.unit());
    match size {
        Size::Dwords(count) => {
            let mut values = [0u32; 16];
            let bytes = 4 * count as u64;
            if target.limit == u64::MAX
                && let Some(window) = env.memory.window(target.base, bytes, Access::Read)
            {
                window.load_dwords(target.base, &mut values[..count]);
                drop(window);
                for (register, value) in (sdata..).zip(&values[..count]) {
                    wave.set_sgpr(register, *value);
                }
                return Ok(());
            }
            for (value, ahead) in values.iter_mut().zip((0..).step_by(4)).take(count) {
                if let Some(address) = target.at(ahead) {
                    *value = env.memory.read_u32(address)?;
                }
            }
            for (register, value) in (sdata..).zip(&values[..count]) {
                wave.set_sgpr(register, *value);
            }
        }
        Size::Small { bits, signed } => {
            let value = match (target.at(0), bits) {
                (Some(address), 8) => u32::from(env.memory.read_u8(address)?),
                (Some(address), _) => u32::from(env.memory.read_u16(address)?),
                (None, _) => 0,
            };
            let spare = 32 - bits;
            let value = if signed { ((value << spare) as i32 >> spare) as u32 } else { value };
            wave.set_sgpr(sdata, value);
        }
    }
    Ok(())
}

/// Addresses and bytes of what an instruction is about to load or store.
pub(super) fn extent(wave: &Wave, op: &Op) -> Vec<(u64, u64)> {
    let Fields::Smem { sbase, soffset, offset, .. } = op.instruction.fields else {
        return Vec::new();
    };
    let opcode = op.instruction.opcode;
    let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
    let (unit, units) = match (Size::of(opcode), atomic(opcode), stored(opcode)) {
        (Some(Size::Dwords(count)), ..) => (4, count as u64),
        (Some(size), ..) => (size.unit(), 1),
        (_, Some((_, wide)), _) => (if wide { 8 } else { 4 }, 1),
        (_, _, Some(dwords)) => (4, dwords.into()),
        _ => return Vec::new(),
    };
    let target = Target::of(wave, opcode, sbase, offset, unit);
    let addresses = (0..units).filter_map(|index| target.at(index * unit));
    addresses.map(|address| (address, unit)).collect()
}

/// Dwords that a store writes.
fn stored(opcode: Opcode) -> Option<u8> {
    use Opcode::*;
    Some(match opcode {
        S_STORE_B32 | S_BUFFER_STORE_B32 => 1,
        S_STORE_B64 | S_BUFFER_STORE_B64 => 2,
        S_STORE_B128 | S_BUFFER_STORE_B128 => 4,
        _ => return None,
    })
}

/// The function of a scalar atomic, and whether it is 64 bits wide.
fn atomic(opcode: Opcode) -> Option<(Function, bool)> {
    let name = opcode.name().strip_prefix("S_")?;
    let name = name.strip_prefix("BUFFER_").unwrap_or(name).strip_prefix("ATOMIC_")?;
    let (operation, kind) = name.rsplit_once('_')?;
    Some((Function::named(operation, kind)?, kind.ends_with("64")))
}

/// A scalar atomic: the operand is in `data`, the comparand in the registers after it.
fn update(
    wave: &mut Wave,
    env: &mut Env<'_>,
    place: Place,
    function: Function,
    wide: bool,
    returned: Option<u8>,
    data: u8,
) -> Step {
    let compare = function.is_compare();
    if wide {
        let a = wave.sgpr64(data);
        let b = if compare { wave.sgpr64(data + 2) } else { 0 };
        let old = place.update64(env, |old| function.apply64(old, a, b))?;
        if let Some(register) = returned {
            wave.set_sgpr64(register, old);
        }
    } else {
        let a = wave.sgpr(data);
        let b = if compare { wave.sgpr(data + 1) } else { 0 };
        let old = place.update32(env, |old| function.apply32(old, a, b))?;
        if let Some(register) = returned {
            wave.set_sgpr(register, old);
        }
    }
    Ok(())
}

/// Where a scalar access goes: from `offset` on of what begins at `base` and has so many bytes. What is beyond a
/// buffer's end reads as 0, and is not written.
struct Target {
    base: u64,
    offset: u64,
    limit: u64,
    unit: u64,
}

impl Target {
    fn of(wave: &Wave, opcode: Opcode, sbase: u8, offset: i64, unit: u64) -> Target {
        let aligned = !(unit - 1);
        if !opcode.name().starts_with("S_BUFFER") {
            let base = wave.sgpr64(sbase).wrapping_add_signed(offset) & aligned;
            return Target { base, offset: 0, limit: u64::MAX, unit };
        }
        let low = wave.sgpr64(sbase);
        let stride = low >> 48 & 0x3fff;
        let records = u64::from(wave.sgpr(sbase + 2));
        let limit = if stride == 0 { records } else { records * stride };
        Target { base: low & 0xffff_ffff_ffff, offset: offset as u64 & aligned, limit, unit }
    }

    /// The address of the unit so many bytes ahead.
    fn at(&self, ahead: u64) -> Option<u64> {
        let at = self.offset.wrapping_add(ahead);
        match at.checked_add(self.unit) {
            Some(end) if end <= self.limit => Some(self.base.wrapping_add(at)),
            _ => None,
        }
    }

    fn place(&self) -> Place {
        self.at(0).map_or(Place::Nowhere, Place::Memory)
    }
}
