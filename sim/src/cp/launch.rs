//! What launches have in common, whoever asks for them.

use super::error::QueueError;
use super::register_file::RegisterFile;
use crate::profile::Gpu;
use aql::descriptor::{Properties, Rsrc1Gfx10};
use aql::{Generation, KernelDescriptor};

/// Work-items that a workgroup can have (ROCr, amd_gpu_agent.cpp,
/// HSA_AGENT_INFO_WORKGROUP_MAX_SIZE).
pub(super) const MAX_WORKGROUP: u32 = 1024;

/// Bits 63:32 of the LDS aperture that the KFD sets up on gfx9 and later (kfd_flat_memory.c,
/// kfd_init_apertures_v9).
pub(super) const SHARED_APERTURE_HI: u32 = 0x0001_0000;

/// Bits 63:32 of the scratch aperture, likewise.
pub(super) const PRIVATE_APERTURE_HI: u32 = 0x0002_0000;

/// What registers and LDS hold that nothing has set: not a number as a float of any width, no address as a pair.
pub(super) const UNSET: u32 = 0x7ffd_7ffd;

/// The number of waves that a compute unit holds, if those of a workgroup fit; by COMPUTE_PGM_RSRC1 and the lanes of a
/// wave.
pub(super) fn waves_per_compute_unit(
    gpu: &Gpu,
    generation: Generation,
    rsrc1: u32,
    lanes: u32,
    waves: u32,
) -> Result<u32, QueueError> {
    let wgp_mode = generation.has_wave32() && Rsrc1Gfx10::from_bits(rsrc1).wgp_mode();
    let file = RegisterFile::of(gpu.gfx_target_version, lanes, wgp_mode);
    let properties = Properties::new().with_enable_wavefront_size32(lanes == 32);
    let descriptor = KernelDescriptor {
        compute_pgm_rsrc1: rsrc1,
        kernel_code_properties: properties.into_bits(),
        ..KernelDescriptor::default()
    };
    let vgprs = file.allocated(descriptor.vgprs(generation));
    let limit = file.workgroup_waves(vgprs);
    if waves > limit {
        return Err(QueueError::Registers { waves, vgprs, limit });
    }
    Ok(if wgp_mode { limit / 2 } else { limit })
}
