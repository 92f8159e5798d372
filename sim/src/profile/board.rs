//! GPU boards: what the kernel's driver knows about a device beside its processors.

use super::{Gpu, Kernel};

/// A cache level as the IP discovery table describes it (kfd_crat.c,
/// `kfd_fill_gpu_cache_info_from_gfx_config`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// 1 to 3.
    pub level: u32,
    /// KiB.
    pub size_kib: u32,
    /// Bytes.
    pub line_bytes: u32,
    /// Compute units that share one.
    pub shared_by: u32,
    /// Holds instructions instead of data.
    pub instruction: bool,
}

/// A GPU board. Real numbers; where they come from is said at each profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// What its processors need.
    pub gpu: Gpu,
    /// Part of the CPU's package, with memory of the system.
    pub is_apu: bool,
    /// PCI device id.
    pub device_id: u32,
    /// PCI subsystem vendor and device id.
    pub subsystem: (u16, u16),
    /// PCI revision id.
    pub pci_revision: u32,
    /// Revision of the die (`HSA_CAP_ASIC_REVISION`).
    pub asic_revision: u32,
    /// Bus, device and function as one number.
    pub location_id: u32,
    /// `unique_id`; 0 where the driver cannot read one.
    pub unique_id: u64,
    /// `AMDGPU_FAMILY_*`.
    pub family: u32,
    /// Graphics core: major, minor, revision.
    pub gc_version: (u8, u8, u8),
    /// Bus interface (NBIO, NBIF): major, minor, revision (amdgpu_discovery.c, `amdgpu_discovery_set_ip_blocks`).
    pub nbif_version: (u8, u8, u8),
    /// SDMA: major, minor, revision.
    pub sdma_version: (u8, u8, u8),
    /// SDMA engines.
    pub sdma_engines: u32,
    /// SDMA engines for links to other GPUs.
    pub sdma_link_engines: u32,
    /// Queues of an SDMA engine that user space can have.
    pub sdma_queues_per_engine: u32,
    /// Compute queues of the hardware that user space can have.
    pub compute_queues: u32,
    /// Lanes of a wave (`wave_front_size`).
    pub wave_lanes: u32,
    /// `HSA_CAP_*` bits of the topology, without those for SVM and the revision.
    pub capability: u32,
    /// `debug_prop` of the topology.
    pub debug_properties: u64,
    /// SIMDs of a compute unit.
    pub simds_per_cu: u32,
    /// Waves a SIMD can hold.
    pub waves_per_simd: u32,
    /// Shader arrays of an engine.
    pub arrays_per_engine: u32,
    /// Compute units of a shader array, inactive ones included.
    pub cus_per_array: u32,
    /// Highest clock of the compute units, MHz.
    pub max_engine_mhz: u32,
    /// Bytes of VRAM; of an APU, the carve-out.
    pub vram_bytes: u64,
    /// Bytes of VRAM that the host sees, where it does not see all.
    pub bar_bytes: Option<u64>,
    /// Bytes of system memory.
    pub system_bytes: u64,
    /// What the GPU may use of system memory (`ttm_tt_pages_limit`), bytes.
    pub gtt_bytes: u64,
    /// Width of the memory bus, bits.
    pub memory_width: u32,
    /// Highest memory clock, MHz.
    pub memory_mhz: u32,
    /// Firmware of the compute micro engine.
    pub mec_firmware: u32,
    /// Firmware of the SDMA engine.
    pub sdma_firmware: u32,
    /// Caches, in the order in which the kernel lists them.
    pub caches: &'static [Cache],
}

/// Where the hole of non-canonical addresses starts (`AMDGPU_GMC_HOLE_START`, amdgpu_gmc.h): the end of what a
/// process can use. What the kernel keeps for itself, the trap handler among it, lies above the hole.
const HOLE_START: u64 = 1 << 47;

impl Board {
    /// SIMDs in all.
    pub fn simds(&self) -> u32 {
        self.gpu.compute_units * self.simds_per_cu
    }

    /// Shader arrays of all XCCs.
    pub fn arrays(&self) -> u32 {
        self.gpu.xccs * self.gpu.shader_engines * self.arrays_per_engine
    }

    /// Bytes of VRAM that the host sees (`visible_vram_size`).
    pub fn visible_vram_bytes(&self) -> u64 {
        self.bar_bytes.map_or(self.vram_bytes, |bar| bar.min(self.vram_bytes))
    }

    /// Whether the host sees all VRAM (kfd_topology.h, `kfd_dev_is_large_bar`).
    pub fn has_large_bar(&self) -> bool {
        self.visible_vram_bytes() == self.vram_bytes
    }

    /// The name of the PCI device.
    pub(crate) fn pci_slot(&self) -> String {
        let (bus, device, function) =
            (self.location_id >> 8 & 0xff, self.location_id >> 3 & 0x1f, self.location_id & 7);
        format!("0000:{bus:02x}:{device:02x}.{function}")
    }

    /// PCI class: a VGA controller, a display controller without VGA, which MI200 is, or a processing accelerator, which
    /// MI300 is (include/linux/pci_ids.h, `PCI_CLASS_DISPLAY_VGA`, `PCI_CLASS_DISPLAY_OTHER`,
    /// `PCI_CLASS_ACCELERATOR_PROCESSING`).
    pub(crate) fn pci_class(&self) -> u32 {
        match self.gpu.gfx_target_version {
            90402 => 0x12_0000,
            90010 => 0x03_8000,
            _ => 0x03_0000,
        }
    }

    /// First and last address that a process can use (kfd_flat_memory.c, `kfd_init_apertures_v9`;
    /// amdgpu_amdkfd.c, `gpuvm_size`).
    pub fn gpuvm_range(&self) -> (u64, u64) {
        (1 << 16, HOLE_START - 1)
    }

    /// Base and limit of the LDS aperture (kfd_flat_memory.c, `MAKE_LDS_APP_BASE_V9`).
    pub fn lds_range(&self) -> (u64, u64) {
        (1 << 48, (1 << 48) | 0xffff_ffff)
    }

    /// Base and limit of the scratch aperture.
    pub fn scratch_range(&self) -> (u64, u64) {
        (2 << 48, (2 << 48) | 0xffff_ffff)
    }

    /// Whether compute units come in pairs, as on gfx10 and later.
    pub fn has_workgroup_processors(&self) -> bool {
        self.gpu.gfx_target_version >= 100_000
    }

    /// Whether the MES firmware schedules queues, as on gfx11 and gfx12 (amdgpu_discovery.c,
    /// `amdgpu_discovery_set_mes_ip_blocks`). Before, the driver does, with firmware that looks at doorbells.
    pub fn has_mes(&self) -> bool {
        self.gpu.gfx_target_version >= 110_000
    }

    /// Whether what is asked for as VRAM is in truth system memory (amdgpu_amdkfd_gpuvm.c; `apu_prefer_gtt` in newer
    /// kernels).
    pub fn vram_is_gtt(&self, kernel: &Kernel) -> bool {
        self.is_apu && (kernel.apu_vram_is_always_gtt || self.vram_bytes < self.gtt_bytes)
    }

    /// Size of the memory that the topology shows as the GPU's own, bytes
    /// (amdgpu_amdkfd.c, `amdgpu_amdkfd_get_local_mem_info`).
    pub fn local_memory_bytes(&self, kernel: &Kernel) -> u64 {
        if self.vram_is_gtt(kernel) { self.gtt_bytes } else { self.vram_bytes }
    }
}

/// Sizes of a queue's context save area on one XCC (kfd_queue.c, `kfd_queue_ctx_save_restore_size`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSave {
    /// Control stack, bytes.
    pub control_stack: u32,
    /// Control stack and waves, bytes: `cwsr_size`.
    pub total: u32,
    /// What the debugger needs behind it, bytes; not shown in sysfs.
    pub debug: u32,
}

impl ContextSave {
    /// The sizes that `kernel` asks for on `board`.
    pub fn of(board: &Board, kernel: &Kernel) -> ContextSave {
        const SGPR: u32 = 0x4000;
        const LDS: u32 = 0x1_0000;
        const HARDWARE_REGISTERS: u32 = 0x1000;
        const HEADER: u32 = 40;
        /// What gfx10 can have at most.
        const GFX10_CONTROL_STACK: u32 = 0x7000;
        let vgpr = match board.gpu.gfx_target_version {
            110000 | 110001 | 120000 | 120001 => 0x6_0000,
            110501 => kernel.gfx1151_vgpr_bytes,
            90008 | 90010 | 90402 => 0x8_0000,
            _ => 0x4_0000,
        };
        let cus = board.gpu.compute_units / board.gpu.xccs;
        let engines = board.gpu.xccs * board.gpu.shader_engines;
        // Before gfx10.1 a compute unit has 40 waves, of a shader engine no more than 512, and less of each is kept.
        let (waves, control_bytes) = match board.gpu.gfx_target_version {
            0..100_100 => ((cus * 40).min(engines * 512), 8),
            _ => (cus * 32, 12),
        };
        let wave_data = (cus * (vgpr + SGPR + LDS + HARDWARE_REGISTERS)).next_multiple_of(4096);
        let mut control_stack = (HEADER + waves * control_bytes + 8).next_multiple_of(4096);
        if board.gpu.gfx_target_version / 10000 == 10 {
            control_stack = control_stack.min(GFX10_CONTROL_STACK);
        }
        let debug = (waves * 32).next_multiple_of(64);
        ContextSave { control_stack, total: control_stack + wave_data, debug }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{gfx1100, gfx1151};
    use super::*;

    /// Worked by hand from the kernel's formula.
    #[test]
    fn context_save_sizes() {
        let kernel = Kernel::with_kfd_minor(18).unwrap();
        let sizes = ContextSave::of(&gfx1151(), &kernel);
        assert_eq!(sizes, ContextSave { control_stack: 0x4000, total: 0xea_4000, debug: 0x8000 });
        let sizes = ContextSave::of(&gfx1100(), &kernel);
        assert_eq!(
            sizes,
            ContextSave { control_stack: 0xa000, total: 0x2be_a000, debug: 0x1_8000 }
        );
        // What the kernel's own function gave for boards of the same shape.
        let mut same = 0;
        let golden = include_str!("../../../tests/data/topology/save_area.txt");
        for line in golden.lines().filter(|line| !line.starts_with('#')) {
            let (name, numbers) = line.split_once(' ').unwrap();
            let numbers: Vec<u32> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
            let board = super::super::by_name(name).filter(|board| board.simds() == numbers[1]);
            let Some(board) = board else { continue };
            let sizes = ContextSave::of(&board, &kernel);
            let ours = [sizes.total, sizes.control_stack, sizes.debug];
            assert_eq!(ours, numbers[6..9], "{name}");
            same += 1;
        }
        assert_eq!(same, 9);
        let older = Kernel::with_kfd_minor(14).unwrap();
        assert_eq!(ContextSave::of(&gfx1151(), &older).total, 0x4000 + 32 * 0x5_5000);
    }
}
