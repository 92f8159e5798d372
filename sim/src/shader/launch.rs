//! The state a wave starts with.

use super::Launch;
use super::generation::FlatScratch;
use super::mode::Mode;
use super::wave::{EXEC, FLAT_SCRATCH, LANES, Wave};

impl Launch {
    /// Lanes of a wave.
    pub(super) fn lanes(&self) -> u32 {
        if self.wave32 { 32 } else { 64 }
    }

    /// Work-items of a workgroup.
    pub(super) fn workgroup_items(&self) -> u32 {
        self.workgroup.iter().product()
    }

    /// Waves of a workgroup.
    pub(super) fn waves(&self) -> u32 {
        self.workgroup_items().div_ceil(self.lanes())
    }

    /// Workgroups along each dimension that run.
    pub(super) fn workgroups(&self) -> [u64; 3] {
        std::array::from_fn(|i| {
            let end = self.grid[i].div_ceil(self.workgroup[i].max(1));
            u64::from(end.saturating_sub(self.start[i]))
        })
    }

    /// Whether a workgroup has at most the 1024 work-items of hardware, the workgroups can be counted, and there is an XCC.
    pub(super) fn has_sane_sizes(&self) -> bool {
        let items =
            self.workgroup.iter().map(|&size| u64::from(size)).try_fold(1, u64::checked_mul);
        let groups = self.workgroups().into_iter().try_fold(1, u64::checked_mul);
        items.is_some_and(|items| items <= 1024) && groups.is_some() && self.xccs.count != 0
    }

    /// Whether waves take traps (STATUS.TRAP_EN): RSRC2.TRAP_PRESENT.
    pub(super) fn takes_traps(&self) -> bool {
        self.rsrc2 >> 6 & 1 != 0
    }

    /// Which arithmetic exceptions trap, where traps are taken: RSRC2.EXCP_EN.
    pub(super) fn arithmetic_exceptions(&self) -> u32 {
        self.rsrc2 >> 24 & 0x7f
    }

    /// Whether the kernel uses scratch (RSRC2.SCRATCH_EN) and the dispatch provides it.
    pub(super) fn uses_scratch(&self) -> bool {
        self.rsrc2 & 1 != 0 && self.scratch_bytes_per_wave != 0
    }
}

/// A workgroup about to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Its id.
    pub(super) id: [u32; 3],
}

impl Group {
    /// The workgroup with a running number, x fastest.
    pub(super) fn numbered(launch: &Launch, number: u64) -> Group {
        let [x, y, _] = launch.workgroups();
        let from_start = [number % x, number / x % y, number / x / y];
        Group { id: std::array::from_fn(|i| launch.start[i] + from_start[i] as u32) }
    }

    /// Work-items along each dimension; the last workgroups of a grid may be partial.
    fn size(&self, launch: &Launch) -> [u32; 3] {
        std::array::from_fn(|i| {
            let start = u64::from(self.id[i]) * u64::from(launch.workgroup[i]);
            (u64::from(launch.grid[i]) - start).min(launch.workgroup[i].into()) as u32
        })
    }

    /// Work-items.
    fn items(&self, launch: &Launch) -> u32 {
        self.size(launch).iter().product()
    }

    /// Waves that have work-items.
    pub(super) fn waves(&self, launch: &Launch) -> u32 {
        self.items(launch).div_ceil(launch.lanes())
    }
}

/// Sets a wave up (LLVM's AMDGPUUsage document, "Initial Kernel Execution State": user SGPRs, then the
/// workgroup ids that RSRC2 enables, on gfx9 and gfx10 the offset of the wave's scratch; work-item ids in VGPR 0, or in VGPRs 0
/// to 2; scratch by FLAT_SCRATCH).
pub(super) fn prepare(wave: &mut Wave, launch: &Launch, group: Group, number: u32, scratch: u64) {
    wave.reset(launch.fill);
    wave.pc = launch.program;
    wave.id = number;
    wave.scratch = scratch;
    let exceptions = launch.arithmetic_exceptions();
    wave.mode = Mode::from_rsrc1(launch.rsrc1, exceptions, wave.traits.float_switches);
    wave.privileged = launch.rsrc1 >> 20 & 1 != 0;
    wave.trap_control = exceptions;
    let user = (launch.rsrc2 >> 1 & 0x1f) as u8;
    for code in 0..user {
        wave.set_sgpr(code, launch.user_data[usize::from(code)]);
    }
    let next = if wave.traits.architected_ids {
        let [x, y, z] = group.id;
        wave.set_architected_ids(x, y & 0xffff | z << 16, number);
        user
    } else {
        workgroup_ids(wave, launch, group, number, user)
    };
    match wave.traits.flat_scratch {
        FlatScratch::Register => {}
        // PRIVATE_SEGMENT_WAVEFRONT_OFFSET, enabled by SCRATCH_EN.
        FlatScratch::SetByKernel | FlatScratch::RegisterSetByKernel => {
            wave.scratch = u64::from(launch.fill) << 32 | u64::from(launch.fill);
            if launch.rsrc2 & 1 != 0 {
                wave.set_sgpr(next, scratch.wrapping_sub(launch.scratch_base) as u32);
            }
        }
        FlatScratch::SetByHardware => wave.set_sgpr64(FLAT_SCRATCH, scratch),
    }
    let [width, height, _] = group.size(launch);
    let items = group.items(launch);
    let first = number * launch.lanes();
    let active = items.saturating_sub(first).min(launch.lanes());
    let exec = if active == 64 { u64::MAX } else { (1 << active) - 1 };
    wave.set_mask(EXEC, exec);
    // TIDIG_COMP_CNT: 0 x, 1 x and y, 2 all three; the others are 0.
    let components = launch.rsrc2 >> 11 & 3;
    for half in 0..wave.halves {
        let mut ids = [[0; LANES]; 3];
        let start = first + (half * LANES) as u32;
        let (mut x, mut y, mut z) = (start % width, start / width % height, start / width / height);
        for lane in 0..LANES {
            ids[0][lane] = x;
            ids[1][lane] = y;
            ids[2][lane] = z;
            x += 1;
            if x == width {
                x = 0;
                y += 1;
                if y == height {
                    y = 0;
                    z += 1;
                }
            }
        }
        if wave.traits.packed_ids {
            let row = wave.row_mut(0, half);
            for lane in 0..LANES {
                row[lane] = ids[0][lane];
                if components >= 1 {
                    row[lane] |= ids[1][lane] << 10;
                }
                if components >= 2 {
                    row[lane] |= ids[2][lane] << 20;
                }
            }
        } else {
            for component in 0..=components.min(2) as usize {
                if component < wave.vgprs() {
                    *wave.row_mut(component, half) = ids[component];
                }
            }
        }
    }
}

/// Workgroup ids in the SGPRs from `next` on, those that RSRC2 enables; gives the next SGPR.
fn workgroup_ids(wave: &mut Wave, launch: &Launch, group: Group, number: u32, mut next: u8) -> u8 {
    for (dimension, bit) in [7, 8, 9].into_iter().enumerate() {
        if launch.rsrc2 >> bit & 1 != 0 {
            wave.set_sgpr(next, group.id[dimension]);
            next += 1;
        }
    }
    if launch.rsrc2 >> 10 & 1 != 0 {
        // TG_SIZE_EN: waves in the workgroup 5:0, this wave's number 11:6 (RDNA3 ISA document, "Wave
        // initialisation").
        wave.set_sgpr(next, group.waves(launch) & 0x3f | (number & 0x3f) << 6);
        next += 1;
    }
    next
}
