//! From a kernel dispatch packet to the shader's registers.

use super::error::QueueError;
use super::hqd::{Halt, read_words};
use super::launch::{self, MAX_WORKGROUP, PRIVATE_APERTURE_HI, SHARED_APERTURE_HI, UNSET};
use crate::memory::{MemoryFault, View};
use crate::profile::Gpu;
use crate::shader::{Launch, Xccs};
use aql::descriptor::{self, Rsrc2, UserSgprs};
use aql::queue::offset;
use aql::scratch::{TmpringSize, waves_are_per_shader_engine};
use aql::{Generation, KernelDescriptor, KernelDispatch, generations};

/// Work-items that a grid can have (ROCr, amd_gpu_agent.cpp, HSA_AGENT_INFO_GRID_MAX_SIZE).
const MAX_GRID: u64 = u32::MAX as u64;

/// What the processor knows beside the packet.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// The GPU.
    pub(super) gpu: &'a Gpu,
    /// Address of the `amd_queue_t`.
    pub(super) queue: u64,
    /// Address of the packet.
    pub(super) packet: u64,
    /// Index of the packet.
    pub(super) index: u64,
    /// Trap handler and its data.
    pub(super) trap_handler: Option<(u64, u64)>,
    /// Where workgroups run.
    pub(super) xccs: Xccs,
}

/// A dispatch that passed the checks.
#[derive(Debug)]
pub(super) struct Dispatch<'a> {
    packet: &'a KernelDispatch,
    surroundings: &'a Surroundings<'a>,
    generation: Generation,
    descriptor: KernelDescriptor,
    sgprs: UserSgprs,
    lanes: u32,
    lds_granules: u16,
    scratch: TmpringSize,
    waves_per_compute_unit: u32,
}

/// PRIV of COMPUTE_PGM_RSRC1, which the packet processor fills in. gfx1100 to gfx1103 run waves with it, so that they
/// take no traps (LLVM's AMDGPU backend, `FeaturePrivEnabledTrap2NopBug` of those; kfdtest, `m_NeedCwsrWA`; the KFD
/// tells their scheduler so, kfd_debug.h, `kfd_dbg_has_cwsr_workaround`).
fn privilege(gpu: &Gpu) -> u32 {
    const PRIV: u32 = 1 << 20;
    if (110_000..=110_003).contains(&gpu.gfx_target_version) { PRIV } else { 0 }
}

impl<'a> Dispatch<'a> {
    /// Checks the packet and the kernel it names.
    ///
    /// Of the reserved fields, `reserved2` (dwords 12 and 13) is not checked: runtimes leave numbers for
    /// profilers there.
    pub(super) fn new(
        packet: &'a KernelDispatch,
        surroundings: &'a Surroundings<'a>,
        memory: &mut View,
    ) -> Result<Dispatch<'a>, Halt> {
        let gpu = surroundings.gpu;
        if packet.reserved[..12] != [0; 12] {
            return Err(QueueError::PacketFormat(packet.to_string()).into());
        }
        check_grid(packet)?;
        let size = check_workgroup(packet)?;
        let granules = Rsrc2::granulated_lds(packet.group_segment_size);
        let lds_granules = match granules {
            Some(granules) if packet.group_segment_size <= gpu.lds_bytes => granules,
            _ => {
                let (got, limit) = (packet.group_segment_size, gpu.lds_bytes);
                return Err(QueueError::GroupSegment { got, limit }.into());
            }
        };

        let address = packet.kernel_object;
        let code_object = |problem: String| QueueError::CodeObject { address, problem };
        let generation = Generation::from_target_version(gpu.gfx_target_version)
            .ok_or_else(|| code_object(format!("descriptors of {} are unknown", gpu.name)))?;
        let descriptor = read_descriptor(memory, address)?;
        if let Some(field) = descriptor.reserved_bits(generation) {
            return Err(code_object(format!("{field} must be zero on {generation}")).into());
        }
        let entry = descriptor.entry(address, generation);
        if !entry.is_multiple_of(descriptor::ENTRY_ALIGNMENT) {
            return Err(code_object(format!("entry {entry:#x} is not a multiple of 256")).into());
        }
        let sgprs = UserSgprs::new(&descriptor, generation)
            .map_err(|error| code_object(error.to_string()))?;

        let lanes = descriptor.wavefront_size(generation);
        let waves = size.div_ceil(lanes);
        let rsrc1 = descriptor.compute_pgm_rsrc1;
        let waves_per_compute_unit =
            launch::waves_per_compute_unit(gpu, generation, rsrc1, lanes, waves)?;
        let scratch = check_scratch(packet, surroundings, memory, generation, lanes)?;
        Ok(Dispatch {
            packet,
            surroundings,
            generation,
            descriptor,
            sgprs,
            lanes,
            lds_granules,
            scratch,
            waves_per_compute_unit,
        })
    }

    /// The registers.
    pub(super) fn launch(&self, memory: &mut View) -> Result<Launch, MemoryFault> {
        let Surroundings { gpu, trap_handler, xccs, .. } = *self.surroundings;
        // Bit 6 is TRAP_PRESENT up to gfx11; gfx12 has another meaning for it. Linux has a handler of its own
        // bound to the process (kfd_process.c, kfd_process_device_init_cwsr_dgpu), whether or not the process has.
        let trap_present = self.generation != Generation::Gfx12;
        let rsrc2 = self
            .descriptor
            .rsrc2()
            .with_granulated_lds_size(self.lds_granules)
            .with_enable_trap_handler(trap_present);
        let engines =
            if waves_are_per_shader_engine(self.generation) { gpu.shader_engines } else { 1 };
        Ok(Launch {
            program: self.descriptor.entry(self.packet.kernel_object, self.generation),
            rsrc1: self.descriptor.compute_pgm_rsrc1 | privilege(gpu),
            rsrc2: rsrc2.into_bits(),
            rsrc3: self.descriptor.compute_pgm_rsrc3,
            wave32: self.lanes == 32,
            user_data: self.user_data(memory)?,
            grid: self.packet.grid_size(),
            start: [0; 3],
            workgroup: self.packet.workgroup_size().map(u32::from),
            lds_bytes: u32::from(self.lds_granules) * Rsrc2::LDS_GRANULE,
            waves_per_compute_unit: self.waves_per_compute_unit,
            fill: UNSET,
            xccs,
            scratch_base: self.scratch_base(memory)?,
            scratch_bytes_per_wave: self.scratch.wave_bytes,
            scratch_waves: self.scratch.waves * engines,
            shared_aperture_hi: SHARED_APERTURE_HI,
            private_aperture_hi: PRIVATE_APERTURE_HI,
            trap_handler,
        })
    }

    /// Address of the scratch of all waves.
    fn scratch_base(&self, memory: &mut View) -> Result<u64, MemoryFault> {
        let field = self.surroundings.queue.wrapping_add(offset::SCRATCH_BACKING_MEMORY_LOCATION);
        memory.read_u64(field)
    }

    /// COMPUTE_USER_DATA: what the descriptor asks for, in its order.
    fn user_data(&self, memory: &mut View) -> Result<[u32; 32], MemoryFault> {
        let Surroundings { queue, packet, index, .. } = *self.surroundings;
        let mut data = [0; 32];
        if let Some(first) = self.sgprs.private_segment_buffer.map(usize::from) {
            let address = queue.wrapping_add(offset::SCRATCH_RESOURCE_DESCRIPTOR);
            read_words(memory, address, &mut data[first..][..4])?;
            if self.generation.is_in(generations::GFX10) {
                data[first + 3] |= index_stride(self.lanes);
            }
        }
        let flat_scratch = match self.sgprs.flat_scratch_init {
            Some(_) => self.scratch_base(memory)?,
            None => 0,
        };
        for (first, value) in [
            (self.sgprs.dispatch_ptr, packet),
            (self.sgprs.queue_ptr, queue),
            (self.sgprs.kernarg_segment_ptr, self.packet.kernarg_address),
            (self.sgprs.dispatch_id, index),
            (self.sgprs.flat_scratch_init, flat_scratch),
        ] {
            if let Some(first) = first.map(usize::from) {
                data[first] = value as u32;
                data[first + 1] = (value >> 32) as u32;
            }
        }
        if let Some(first) = self.sgprs.private_segment_size {
            data[usize::from(first)] = self.packet.private_segment_size.saturating_add(3) & !3;
        }
        if let Some(preload) = self.sgprs.preload {
            let address = self.packet.kernarg_address.wrapping_add(u64::from(preload.offset) * 4);
            let sgprs = &mut data[usize::from(preload.first)..][..usize::from(preload.length)];
            read_words(memory, address, sgprs)?;
        }
        Ok(data)
    }
}

/// INDEX_STRIDE (bits 22:21 of the buffer descriptor's last dword) for a wave: 2 is 32, 3 is 64.
fn index_stride(lanes: u32) -> u32 {
    if lanes == 32 { 2 << 21 } else { 3 << 21 }
}

fn work_items(grid: [u32; 3]) -> Option<u64> {
    grid.iter().try_fold(1u64, |items, &size| items.checked_mul(size.into()))
}

/// Rules of hsa.h (`hsa_kernel_dispatch_packet_t`). A grid smaller than its workgroup is a partial
/// workgroup, which the hardware can run.
fn check_grid(packet: &KernelDispatch) -> Result<(), QueueError> {
    let (dimensions, grid) = (packet.dimensions, packet.grid_size());
    let unused = &grid[usize::from(dimensions)..];
    let problem = if dimensions == 0 {
        "there must be 1 to 3 dimensions"
    } else if grid.contains(&0) {
        "every size must be at least 1"
    } else if unused.iter().any(|&size| size != 1) {
        "unused dimensions must be 1"
    } else if work_items(grid).is_none_or(|items| items > MAX_GRID) {
        "there can be at most 4294967295 work-items"
    } else {
        return Ok(());
    };
    Err(QueueError::Dimensions { dimensions, grid, problem })
}

/// The number of work-items of a workgroup.
fn check_workgroup(packet: &KernelDispatch) -> Result<u32, QueueError> {
    let workgroup = packet.workgroup_size();
    let unused = &workgroup[usize::from(packet.dimensions)..];
    let size = workgroup.iter().try_fold(1u32, |size, &next| size.checked_mul(next.into()));
    let problem = match size {
        Some(0) => "every size must be at least 1",
        Some(_) if unused.iter().any(|&size| size != 1) => "unused dimensions must be 1",
        Some(size @ 1..=MAX_WORKGROUP) => return Ok(size),
        _ => "there can be at most 1024 work-items",
    };
    Err(QueueError::WorkgroupSize { workgroup, problem })
}

fn read_descriptor(memory: &mut View, address: u64) -> Result<KernelDescriptor, Halt> {
    let problem = if address == 0 {
        "no kernel"
    } else if !address.is_multiple_of(descriptor::BYTES as u64) {
        "not a multiple of 64"
    } else {
        let mut bytes = [0; descriptor::BYTES];
        memory.read_bytes(address, &mut bytes)?;
        return Ok(KernelDescriptor::decode(&bytes));
    };
    Err(QueueError::CodeObject { address, problem: problem.to_owned() }.into())
}

/// COMPUTE_TMPRING_SIZE, if it is enough for the packet's private segment.
///
/// The firmware compares with `scratch_wave64_lane_byte_size`; the hardware then uses
/// COMPUTE_TMPRING_SIZE. Waves would run over each other's scratch if the two differed, so that
/// here the smaller counts.
fn check_scratch(
    packet: &KernelDispatch,
    surroundings: &Surroundings<'_>,
    memory: &mut View,
    generation: Generation,
    lanes: u32,
) -> Result<TmpringSize, Halt> {
    let register =
        memory.read_u32(surroundings.queue.wrapping_add(offset::COMPUTE_TMPRING_SIZE))?;
    let lane_bytes =
        memory.read_u32(surroundings.queue.wrapping_add(offset::SCRATCH_WAVE64_LANE_BYTE_SIZE))?;
    let tmpring = TmpringSize::decode(register, generation);
    let needed = u64::from(packet.private_segment_size).next_multiple_of(4) * u64::from(lanes);
    let available = match tmpring.waves {
        0 => 0,
        _ => u64::from(tmpring.wave_bytes).min(u64::from(lane_bytes) * 64),
    };
    if needed > available {
        return Err(QueueError::Scratch { needed, available, lanes }.into());
    }
    Ok(tmpring)
}
