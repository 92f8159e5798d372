//! Running a kernel.

use super::registers::*;
use super::whole::{check_address, check_xccs, only_on, whole};
use crate::generation::Generation;
use crate::layout::{FieldError, Sink, WriteError, Writer};
use crate::packet::{DispatchDirect, SetShReg};
use crate::register::{
    ComputeDispatchInitiator, ComputeNumThreadX, ComputeNumThreadY, ComputeNumThreadZ,
    ComputePgmRsrc3,
};

/// The extent of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Workgroups in x, y, z.
    pub workgroups: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub workgroup: [u16; 3],
    /// Work-items of the last workgroup in x, y, z: as many as in the others, or fewer.
    pub last: [u16; 3],
}

impl Grid {
    /// The workgroups of that size that hold so many work-items; the last ones may be smaller. `None` when a
    /// workgroup is empty.
    pub const fn new(work_items: [u32; 3], workgroup: [u16; 3]) -> Option<Grid> {
        let mut grid = Grid { workgroups: [0; 3], workgroup, last: workgroup };
        let mut i = 0;
        while i < 3 {
            if workgroup[i] == 0 {
                return None;
            }
            grid.workgroups[i] = work_items[i].div_ceil(workgroup[i] as u32);
            let rest = work_items[i] % workgroup[i] as u32;
            if rest != 0 {
                grid.last[i] = rest as u16;
            }
            i += 1;
        }
        Some(grid)
    }

    /// Whether a last workgroup is smaller.
    const fn is_partial(&self) -> bool {
        self.last[0] != self.workgroup[0]
            || self.last[1] != self.workgroup[1]
            || self.last[2] != self.workgroup[2]
    }

    /// The registers COMPUTE_NUM_THREAD_X to Z: a workgroup's size, and that of the last ones if it matters.
    fn num_thread(&self, generation: Generation) -> Result<[u32; 3], FieldError> {
        let [x, y, z] = self.workgroup;
        let [last_x, last_y, last_z] = if self.is_partial() { self.last } else { [0; 3] };
        let x = ComputeNumThreadX {
            num_thread_full: x,
            num_thread_partial: last_x,
            ..ComputeNumThreadX::ZERO
        };
        let y = ComputeNumThreadY {
            num_thread_full: y,
            num_thread_partial: last_y,
            ..ComputeNumThreadY::ZERO
        };
        let z = ComputeNumThreadZ {
            num_thread_full: z,
            num_thread_partial: last_z,
            ..ComputeNumThreadZ::ZERO
        };
        x.check(generation)?;
        y.check(generation)?;
        z.check(generation)?;
        let ([x], [y], [z]) = (x.encode(generation), y.encode(generation), z.encode(generation));
        Ok([x, y, z])
    }
}

/// Memory for the private segments (stacks, spilled registers) of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scratch {
    /// Address, a multiple of 256.
    pub base: u64,
    /// Register COMPUTE_TMPRING_SIZE: waves and memory for each, in units of the generation.
    pub tmpring_size: u32,
    /// XCCs that share the memory: 1 to 8 on gfx94x and gfx950, elsewhere 1.
    pub xccs: u8,
    /// From the memory of one XCC to that of the next, in bytes: a multiple of 256. Not looked at for one XCC.
    pub stride: u64,
}

impl Scratch {
    fn check(&self, generation: Generation) -> Result<(), FieldError> {
        check_xccs(NAME, "scratch.xccs", self.xccs, generation)?;
        check_address(NAME, "scratch.base", self.base, IN_256)?;
        let Some(others) = self.xccs.checked_sub(1).filter(|others| *others > 0) else {
            return Ok(());
        };
        let (field, value) = ("scratch.stride", self.stride);
        check_address(NAME, field, value, IN_256)?;
        let max = (IN_256 - self.base) / u64::from(others);
        if value > max {
            return Err(FieldError::Range { packet: NAME, field, value, min: 0, max });
        }
        Ok(())
    }

    /// Address of the memory of one XCC.
    const fn base_of(&self, xcc: u8) -> u64 {
        self.base.wrapping_add(self.stride.wrapping_mul(xcc as u64))
    }
}

/// What a dispatch needs to know. Most of it is in the kernel's descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch<'a> {
    /// Address of the code, a multiple of 256.
    pub code: u64,
    /// Register COMPUTE_PGM_RSRC1.
    pub rsrc1: u32,
    /// Register COMPUTE_PGM_RSRC2. The descriptor's lacks the size of LDS and SCRATCH_EN says whether there is
    /// scratch.
    pub rsrc2: u32,
    /// Register COMPUTE_PGM_RSRC3, which gfx906 and gfx908 do not have.
    pub rsrc3: u32,
    /// Register COMPUTE_RESOURCE_LIMITS; 0 for none.
    pub resource_limits: u32,
    /// What the user SGPRs hold: up to 16, in the order that the descriptor's properties say.
    pub user_data: &'a [u32],
    /// Private memory; `None` when the kernel needs none.
    pub scratch: Option<Scratch>,
    /// The extent.
    pub grid: Grid,
    /// The kernel is of waves of 32 lanes.
    pub wave32: bool,
}

impl Dispatch<'_> {
    /// Nothing: no code, no work-items.
    pub const ZERO: Dispatch<'static> = Dispatch {
        code: 0,
        rsrc1: 0,
        rsrc2: 0,
        rsrc3: 0,
        resource_limits: 0,
        user_data: &[],
        scratch: None,
        grid: Grid { workgroups: [0; 3], workgroup: [1; 3], last: [1; 3] },
        wave32: false,
    };

    /// The register COMPUTE_DISPATCH_INITIATOR.
    fn initiator(&self, generation: Generation) -> Result<u32, FieldError> {
        let initiator = ComputeDispatchInitiator {
            compute_shader_en: true,
            partial_tg_en: self.grid.is_partial(),
            force_start_at_000: true,
            cs_w32_en: self.wave32,
            ..ComputeDispatchInitiator::ZERO
        };
        initiator.check(generation)?;
        let [initiator] = initiator.encode(generation);
        Ok(initiator)
    }

    /// Refuses addresses that the registers would cut off, and what there is too much of.
    fn check(&self, generation: Generation) -> Result<(), FieldError> {
        check_address(NAME, "code", self.code, IN_256)?;
        if self.user_data.len() > 16 {
            let value = self.user_data.len() as u64;
            return Err(FieldError::Range {
                packet: NAME,
                field: "length of user_data",
                value,
                min: 0,
                max: 16,
            });
        }
        match &self.scratch {
            Some(scratch) => scratch.check(generation),
            None => Ok(()),
        }
    }
}

#[inline(always)]
fn set<S: Sink>(
    to: &mut Writer<S, Generation>,
    register: u32,
    values: &[u32],
) -> Result<(), WriteError> {
    to.push_with(&SetShReg::new(register, values.len() as u32), values)
}

/// What errors call the whole.
const NAME: &str = "dispatch";

/// Addresses that COMPUTE_PGM_LO and HI, and those of the scratch base, can hold.
const IN_256: u64 = 0xffff_ffff_ff00;

/// An address in units of 256 bytes, as two registers.
const fn in_256(address: u64) -> [u32; 2] {
    [(address >> 8) as u32, (address >> 40) as u32]
}

/// Where each XCC finds its scratch. With several of them each gets its own value: PRED_EXEC has the next
/// packet executed by one XCC.
fn set_scratch<S: Sink>(
    to: &mut Writer<S, Generation>,
    scratch: &Scratch,
) -> Result<(), WriteError> {
    for xcc in 0..scratch.xccs {
        if scratch.xccs > 1 {
            to.push(&only_on(xcc, 4))?;
        }
        set(to, COMPUTE_DISPATCH_SCRATCH_BASE_LO, &in_256(scratch.base_of(xcc)))?;
    }
    Ok(())
}

/// Runs a kernel: sets all that it depends on and starts it. The packets that follow do not wait for it.
///
/// - Program: address and RSRC1 to 3.
/// - TMPRING_SIZE, zero without scratch: a wave must not be given what another kernel left there. The scratch base
///   is for where hardware initialises flat scratch itself ([`Generation::has_architected_flat_scratch`]);
///   elsewhere user data say it and the register is not looked at.
/// - RESTART_X to Z, zero: the dispatch starts at its first workgroup. Otherwise it might start where one that was
///   preempted went on.
/// - START_X to Z and FORCE_START_AT_000, zero likewise.
/// - NUM_THREAD_X to Z: size of a workgroup, and of the last ones where PARTIAL_TG_EN says that they are smaller
///   (Mesa, `radv_emit_dispatch_packets`).
///
/// Order and registers are those of kfdtest (Dispatch.cpp) and tinygrad (ops_amd.py). Registers about counters
/// and masks of compute units are left as the kernel driver set them up for the queue. Up to 53 dwords, with
/// scratch 4 more, or 6 for each of several XCCs. Scratch for several XCCs works in indirect buffers only, as it
/// takes PRED_EXEC.
///
/// # Errors
/// When an address is not a multiple of 256 or has more than 48 bits, there are more than 16 user data, a
/// workgroup is larger than the registers can say (0x1fff work-items in x and y on gfx12), the generation has no
/// waves of 32 or not so many XCCs, or there is no room.
#[inline]
pub fn dispatch<S: Sink>(
    to: &mut Writer<S, Generation>,
    dispatch: &Dispatch<'_>,
) -> Result<(), WriteError> {
    let generation = to.variant();
    dispatch.check(generation)?;
    let [x, y, z] = dispatch.grid.num_thread(generation)?;
    let initiator = dispatch.initiator(generation)?;
    whole(to, NAME, |to| {
        set(to, COMPUTE_PGM_LO, &in_256(dispatch.code))?;
        set(to, COMPUTE_PGM_RSRC1, &[dispatch.rsrc1, dispatch.rsrc2])?;
        if let Some(register) = ComputePgmRsrc3::REGISTER.address(generation) {
            set(to, register, &[dispatch.rsrc3])?;
        }
        let tmpring_size = dispatch.scratch.map_or(0, |scratch| scratch.tmpring_size);
        set(to, COMPUTE_TMPRING_SIZE, &[tmpring_size])?;
        if let Some(scratch) = &dispatch.scratch {
            set_scratch(to, scratch)?;
        }
        set(to, COMPUTE_RESTART_X, &[0; 3])?;
        if !dispatch.user_data.is_empty() {
            set(to, COMPUTE_USER_DATA_0, dispatch.user_data)?;
        }
        set(to, COMPUTE_RESOURCE_LIMITS, &[dispatch.resource_limits])?;
        set(to, COMPUTE_START_X, &[0, 0, 0, x, y, z])?;
        to.push(&DispatchDirect::new(dispatch.grid.workgroups, initiator))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::register::{
        ComputeDispatchScratchBaseHi, ComputeDispatchScratchBaseLo, ComputePgmHi, ComputePgmLo,
    };

    #[test]
    fn addresses_are_those_that_registers_hold() {
        for generation in Generation::ALL {
            let bits = |layout: &Layout| -> u64 {
                let pieces = layout.fields[0].placement(generation.set()).unwrap().pieces;
                pieces.iter().map(|piece| piece.value_mask()).sum()
            };
            assert_eq!(bits(ComputePgmLo::LAYOUT) + bits(ComputePgmHi::LAYOUT), IN_256);
            let base = bits(ComputeDispatchScratchBaseLo::LAYOUT)
                + bits(ComputeDispatchScratchBaseHi::LAYOUT);
            assert_eq!(base, IN_256);
        }
    }
}
