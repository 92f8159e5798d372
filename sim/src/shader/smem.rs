//! Scalar memory.

use super::code::Op;
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
    /// What it loads, and whether from a buffer.
    fn of(opcode: Opcode) -> Option<(Size, bool)> {
        use Opcode::*;
        use Size::*;
        let small = |bits, signed| Small { bits, signed };
        Some(match opcode {
            S_LOAD_B32 => (Dwords(1), false),
            S_LOAD_B64 => (Dwords(2), false),
            S_LOAD_B96 => (Dwords(3), false),
            S_LOAD_B128 => (Dwords(4), false),
            S_LOAD_B256 => (Dwords(8), false),
            S_LOAD_B512 => (Dwords(16), false),
            S_LOAD_U8 => (small(8, false), false),
            S_LOAD_I8 => (small(8, true), false),
            S_LOAD_U16 => (small(16, false), false),
            S_LOAD_I16 => (small(16, true), false),
            S_BUFFER_LOAD_B32 => (Dwords(1), true),
            S_BUFFER_LOAD_B64 => (Dwords(2), true),
            S_BUFFER_LOAD_B96 => (Dwords(3), true),
            S_BUFFER_LOAD_B128 => (Dwords(4), true),
            S_BUFFER_LOAD_B256 => (Dwords(8), true),
            S_BUFFER_LOAD_B512 => (Dwords(16), true),
            S_BUFFER_LOAD_U8 => (small(8, false), true),
            S_BUFFER_LOAD_I8 => (small(8, true), true),
            S_BUFFER_LOAD_U16 => (small(16, false), true),
            S_BUFFER_LOAD_I16 => (small(16, true), true),
            _ => return None,
        })
    }
}

/// SMEM: loads to SGPRs, stores of them, clocks, cache invalidation, prefetches.
pub(super) fn smem(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let Fields::Smem { sdata, sbase, soffset, offset, .. } = op.instruction.fields else {
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
        S_STORE_B32 | S_STORE_B64 | S_STORE_B128 => {
            let dwords = opcode.info().dst.dwords(true);
            let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
            let address = wave.sgpr64(sbase).wrapping_add_signed(offset) & !3;
            for index in 0..dwords {
                let at = address.wrapping_add(4 * u64::from(index));
                env.memory.write_u32(at, wave.sgpr(sdata + index))?;
            }
            return Ok(());
        }
        _ => {}
    }
    let (size, buffer) = Size::of(opcode)
        .ok_or_else(|| Stop::not_modelled(format!("{} is not modelled", opcode.name())))?;
    let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
    let load = Load::new(wave, size, buffer, sbase, offset);
    let inside = |ahead: u64| load.inside(ahead);
    match size {
        Size::Dwords(count) => {
            let mut values = [0u32; 16];
            let bytes = 4 * count as u64;
            if !buffer && let Some(window) = env.memory.window(load.base, bytes, Access::Read) {
                window.load_dwords(load.base, &mut values[..count]);
                drop(window);
                for (register, value) in (sdata..).zip(&values[..count]) {
                    wave.set_sgpr(register, *value);
                }
                return Ok(());
            }
            for (value, ahead) in values.iter_mut().zip((0..).step_by(4)).take(count) {
                if let Some(address) = inside(ahead) {
                    *value = env.memory.read_u32(address)?;
                }
            }
            for (register, value) in (sdata..).zip(&values[..count]) {
                wave.set_sgpr(register, *value);
            }
        }
        Size::Small { bits, signed } => {
            let value = match (inside(0), bits) {
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

/// Where a load reads.
struct Load {
    base: u64,
    offset: u64,
    limit: u64,
    unit: u64,
}

impl Load {
    fn new(wave: &Wave, size: Size, buffer: bool, sbase: u8, offset: i64) -> Load {
        // Loads are of whole units: the lowest bits of the address are dropped (RDNA3 ISA document, 9.1).
        let unit = match size {
            Size::Dwords(_) => 4,
            Size::Small { bits, .. } => u64::from(bits / 8),
        };
        if buffer {
            let buffer = Buffer::read(wave, sbase);
            let offset = offset as u64 & !(unit - 1);
            Load { base: buffer.base, offset, limit: buffer.size, unit }
        } else {
            let base = wave.sgpr64(sbase).wrapping_add_signed(offset) & !(unit - 1);
            Load { base, offset: 0, limit: u64::MAX, unit }
        }
    }

    /// Address of the unit so many bytes ahead; none beyond a buffer's end.
    fn inside(&self, ahead: u64) -> Option<u64> {
        let at = self.offset.wrapping_add(ahead);
        match at.checked_add(self.unit) {
            Some(end) if end <= self.limit => Some(self.base.wrapping_add(at)),
            _ => None,
        }
    }
}

/// Addresses and bytes of what an instruction is about to load or store.
pub(super) fn extent(wave: &Wave, op: &Op) -> Vec<(u64, u64)> {
    let Fields::Smem { sbase, soffset, offset, .. } = op.instruction.fields else {
        return Vec::new();
    };
    let opcode = op.instruction.opcode;
    let offset = i64::from(offset).wrapping_add(i64::from(wave.s32(soffset, 0)));
    match Size::of(opcode) {
        Some((size, buffer)) => {
            let load = Load::new(wave, size, buffer, sbase, offset);
            let units = if let Size::Dwords(count) = size { count as u64 } else { 1 };
            let units = (0..units).filter_map(|unit| load.inside(unit * load.unit));
            units.map(|address| (address, load.unit)).collect()
        }
        None => {
            let address = wave.sgpr64(sbase).wrapping_add_signed(offset) & !3;
            vec![(address, 4 * u64::from(opcode.info().dst.dwords(true)))]
        }
    }
}

/// The buffer of an `s_buffer_load`; what is beyond its end reads as 0.
struct Buffer {
    base: u64,
    size: u64,
}

impl Buffer {
    fn read(wave: &Wave, sbase: u8) -> Buffer {
        let low = wave.sgpr64(sbase);
        let stride = low >> 48 & 0x3fff;
        let records = u64::from(wave.sgpr(sbase + 2));
        let size = if stride == 0 { records } else { records * stride };
        Buffer { base: low & 0xffff_ffff_ffff, size }
    }
}
