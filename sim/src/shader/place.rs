//! Where a lane's memory access goes.

use super::Launch;
use super::wave::{Env, Stop, Wave};
use crate::memory::{Access, FaultReason, MemoryFault};

/// One lane's target.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// GPU memory at a virtual address.
    Memory(u64),
    /// The lane's scratch, at this offset.
    Scratch(Scratch),
    /// The workgroup's LDS.
    Lds(u32),
    /// Beyond a buffer's end: loads give 0, stores are dropped.
    Nowhere,
}

/// A lane's scratch: dwords of neighbouring lanes are neighbours in memory
/// (LLVM's AMDGPUUsage document, "Private memory swizzling" of the wave's scratch).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scratch {
    /// Where the wave's scratch starts.
    base: u64,
    lanes: u32,
    lane: u32,
    offset: u32,
}

impl Scratch {
    /// The scratch byte of a lane.
    #[inline]
    pub(super) fn new(wave: &Wave, lane: usize, offset: u32) -> Scratch {
        Scratch { base: wave.scratch_base(), lanes: wave.lanes() as u32, lane: lane as u32, offset }
    }

    /// The virtual address of the byte `ahead` of this one.
    #[inline]
    pub(super) fn address(&self, ahead: u32) -> u64 {
        let offset = self.offset.wrapping_add(ahead);
        let dword = u64::from(offset / 4) * u64::from(self.lanes) + u64::from(self.lane);
        self.base.wrapping_add(4 * dword + u64::from(offset % 4))
    }

    /// The offset within the lane's scratch.
    pub(super) fn offset(&self) -> u32 {
        self.offset
    }

    /// Whether it is the first byte of a dword.
    #[inline]
    pub(super) fn is_dword(&self) -> bool {
        self.offset.is_multiple_of(4)
    }
}

impl Place {
    /// The place a flat address names (RDNA3 ISA document, 11.3 "FLAT": the apertures).
    #[inline]
    pub(super) fn of_flat(wave: &Wave, launch: &Launch, lane: usize, address: u64) -> Place {
        let high = (address >> 32) as u32;
        if high == launch.shared_aperture_hi {
            Place::Lds(address as u32)
        } else if high == launch.private_aperture_hi {
            Place::Scratch(Scratch::new(wave, lane, address as u32))
        } else {
            Place::Memory(address)
        }
    }

    /// Refuses an atomic of `size` bytes at an offset that is not a multiple of them; GPU memory looks itself.
    pub(super) fn check_alignment(self, env: &Env<'_>, size: u32) -> Result<(), MemoryFault> {
        let address = match self {
            Place::Scratch(scratch) if !scratch.offset.is_multiple_of(size) => scratch.address(0),
            Place::Lds(offset) if !offset.is_multiple_of(size) => {
                u64::from(env.launch.shared_aperture_hi) << 32 | u64::from(offset)
            }
            _ => return Ok(()),
        };
        Err(MemoryFault { address, access: Access::Atomic, reason: FaultReason::Misaligned })
    }

    pub(super) fn load8(self, env: &mut Env<'_>, ahead: u32) -> Result<u8, Stop> {
        Ok(match self {
            Place::Memory(address) => env.memory.read_u8(address.wrapping_add(ahead.into()))?,
            Place::Scratch(scratch) => env.memory.read_u8(scratch.address(ahead))?,
            Place::Lds(address) => env.lds.load8(address.wrapping_add(ahead)),
            Place::Nowhere => 0,
        })
    }

    pub(super) fn load16(self, env: &mut Env<'_>) -> Result<u16, Stop> {
        match self {
            Place::Memory(address) => Ok(env.memory.read_u16(address)?),
            Place::Scratch(scratch) if scratch.offset % 4 != 3 => {
                Ok(env.memory.read_u16(scratch.address(0))?)
            }
            Place::Lds(address) => Ok(env.lds.load16(address)),
            _ => Ok(u16::from_le_bytes([self.load8(env, 0)?, self.load8(env, 1)?])),
        }
    }

    pub(super) fn load32(self, env: &mut Env<'_>, ahead: u32) -> Result<u32, Stop> {
        match self {
            Place::Memory(address) => {
                Ok(env.memory.read_u32(address.wrapping_add(ahead.into()))?)
            }
            Place::Scratch(scratch) if scratch.offset.is_multiple_of(4) => {
                Ok(env.memory.read_u32(scratch.address(ahead))?)
            }
            Place::Lds(address) => Ok(env.lds.load32(address.wrapping_add(ahead))),
            _ => {
                let mut bytes = [0; 4];
                for (byte, at) in bytes.iter_mut().zip(ahead..) {
                    *byte = self.load8(env, at)?;
                }
                Ok(u32::from_le_bytes(bytes))
            }
        }
    }

    pub(super) fn store8(self, env: &mut Env<'_>, ahead: u32, value: u8) -> Result<(), Stop> {
        match self {
            Place::Memory(address) => {
                env.memory.write_u8(address.wrapping_add(ahead.into()), value)?;
            }
            Place::Scratch(scratch) => env.memory.write_u8(scratch.address(ahead), value)?,
            Place::Lds(address) => env.lds.store8(address.wrapping_add(ahead), value),
            Place::Nowhere => {}
        }
        Ok(())
    }

    pub(super) fn store16(self, env: &mut Env<'_>, value: u16) -> Result<(), Stop> {
        match self {
            Place::Memory(address) => env.memory.write_u16(address, value)?,
            Place::Scratch(scratch) if scratch.offset % 4 != 3 => {
                env.memory.write_u16(scratch.address(0), value)?;
            }
            Place::Lds(address) => env.lds.store16(address, value),
            _ => {
                let [low, high] = value.to_le_bytes();
                self.store8(env, 0, low)?;
                self.store8(env, 1, high)?;
            }
        }
        Ok(())
    }

    pub(super) fn store32(self, env: &mut Env<'_>, ahead: u32, value: u32) -> Result<(), Stop> {
        match self {
            Place::Memory(address) => {
                env.memory.write_u32(address.wrapping_add(ahead.into()), value)?;
            }
            Place::Scratch(scratch) if scratch.offset.is_multiple_of(4) => {
                env.memory.write_u32(scratch.address(ahead), value)?;
            }
            Place::Lds(address) => env.lds.store32(address.wrapping_add(ahead), value),
            _ => {
                for (byte, at) in value.to_le_bytes().into_iter().zip(ahead..) {
                    self.store8(env, at, byte)?;
                }
            }
        }
        Ok(())
    }

    /// Replaces a dword; in GPU memory atomically.
    pub(super) fn update32(
        self,
        env: &mut Env<'_>,
        update: impl Fn(u32) -> u32,
    ) -> Result<u32, Stop> {
        if let Place::Memory(address) = self {
            return Ok(env.memory.atomic_u32(address, update)?);
        }
        self.check_alignment(env, 4)?;
        let old = self.load32(env, 0)?;
        self.store32(env, 0, update(old))?;
        Ok(old)
    }

    /// Replaces a qword; in GPU memory atomically.
    pub(super) fn update64(
        self,
        env: &mut Env<'_>,
        update: impl Fn(u64) -> u64,
    ) -> Result<u64, Stop> {
        if let Place::Memory(address) = self {
            return Ok(env.memory.atomic_u64(address, update)?);
        }
        self.check_alignment(env, 8)?;
        let old = u64::from(self.load32(env, 0)?) | u64::from(self.load32(env, 4)?) << 32;
        let new = update(old);
        self.store32(env, 0, new as u32)?;
        self.store32(env, 4, (new >> 32) as u32)?;
        Ok(old)
    }
}
