//! Linux kernels by what their KFD does differently.

/// A Linux kernel, as far as its KFD answers differently from others'.
///
/// 1.17 and 1.18 answer as Debian's 6.12.117 and 6.18.15 were seen to; 1.14 and 1.23 follow the sources of
/// Linux 6.5 and 7.3.4 where those differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Minor number of the KFD's version; the major is 1.
    pub minor: u32,
    /// Built with `CONFIG_HSA_AMD_SVM`. Debian's 6.12.117 is not.
    pub svm: bool,
    /// `GET_PROCESS_APERTURES_NEW` refuses a count above the number of nodes (kfd_chardev.c,
    /// `kfd_ioctl_get_process_apertures_new`).
    pub aperture_count_checked: bool,
    /// CREATE_QUEUE checks that the buffers are mapped and have the right sizes (kfd_queue.c,
    /// `kfd_queue_acquire_buffers`, since 6.12).
    pub queue_buffers_checked: bool,
    /// The topology says `cwsr_size` and `ctl_stack_size`, which came to the stable kernels of December 2025.
    pub save_area_shown: bool,
    /// VRAM of an APU is allocated as GTT whenever the GPU is an APU (amdgpu_amdkfd_gpuvm.c,
    /// `AMD_IS_APU`). Newer kernels do so only when the carve-out is smaller than the GTT limit
    /// (`apu_prefer_gtt`).
    pub apu_vram_is_always_gtt: bool,
    /// VRAM is zeroed when allocated (`AMDGPU_GEM_CREATE_VRAM_CLEARED`); before that it holds what its
    /// last owner's release left.
    pub vram_cleared: bool,
    /// Register file that the context save area reserves for a compute unit of gfx1151, bytes
    /// (kfd_queue.c, `kfd_get_vgpr_size_per_cu`).
    pub gfx1151_vgpr_bytes: u32,
    /// Minor number of amdgpu's DRM version (amdgpu_drv.c, `KMS_DRIVER_MINOR`); the major is 3.
    pub amdgpu_minor: i32,
}

impl Kernel {
    /// The KFD versions that are played.
    pub const MINORS: [u32; 4] = [14, 17, 18, 23];

    /// The kernel with KFD 1.`minor`, if it is played.
    pub fn with_kfd_minor(minor: u32) -> Option<Kernel> {
        Self::MINORS.contains(&minor).then_some(Kernel {
            minor,
            svm: minor != 17,
            aperture_count_checked: minor == 17 || minor >= 23,
            queue_buffers_checked: minor >= 17,
            save_area_shown: minor >= 17,
            apu_vram_is_always_gtt: minor == 17,
            vram_cleared: minor >= 17,
            gfx1151_vgpr_bytes: if minor >= 17 { 0x6_0000 } else { 0x4_0000 },
            amdgpu_minor: match minor {
                14 => 54,
                17 => 61,
                _ => 64,
            },
        })
    }

    /// Whether CREATE_PROCESS (secondary contexts) exists.
    pub(crate) fn has_secondary_contexts(&self) -> bool {
        self.minor >= 19
    }

    /// Whether GEM_VA takes a timeline to signal: 64 bytes instead of 40.
    pub(crate) fn has_timelines(&self) -> bool {
        self.minor >= 18
    }

    /// Whether the topology shows a second word of capabilities.
    pub(crate) fn has_capability2(&self) -> bool {
        self.minor >= 18
    }

    /// Whether PROFILER exists.
    pub(crate) fn has_profiler(&self) -> bool {
        self.minor >= 23
    }
}
