//! Boards of gfx9: compute cards.

use crate::profile::{Board, Cache, Gpu};

/// Instinct MI210: 104 compute units. The properties are those that ROCm/k8s-device-plugin has recorded of a machine
/// (`testdata/topo-mi210-xgmi-pcie`); caches as in kfd_crat.c, `aldebaran_cache_info`; memory and its bus from AMD's
/// data sheet of the MI210.
pub fn gfx90a() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx90a",
            gfx_target_version: 90010,
            compute_units: 104,
            xccs: 1,
            shader_engines: 8,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x740f,
        subsystem: (0x1002, 0x0c34),
        pci_revision: 2,
        asic_revision: 1,
        location_id: 0x6300,
        unique_id: 0x1901ead3a2ecd4a6,
        family: 141,
        gc_version: (9, 4, 2),
        nbif_version: (7, 4, 4),
        sdma_version: (4, 4, 0),
        sdma_engines: 2,
        sdma_link_engines: 3,
        sdma_queues_per_engine: 8,
        compute_queues: 24,
        wave_lanes: 64,
        capability: 0x2437_a280,
        debug_properties: 470,
        simds_per_cu: 4,
        waves_per_simd: 8,
        arrays_per_engine: 1,
        cus_per_array: 14,
        max_engine_mhz: 1700,
        vram_bytes: 65520 << 20,
        bar_bytes: None,
        system_bytes: 128 << 30,
        gtt_bytes: 64 << 30,
        memory_width: 4096,
        memory_mhz: 1600,
        mec_firmware: 92,
        sdma_firmware: 9,
        caches: &[
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 1, instruction: false },
            Cache { level: 1, size_kib: 32, line_bytes: 64, shared_by: 2, instruction: true },
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 2, instruction: false },
            Cache { level: 2, size_kib: 8192, line_bytes: 128, shared_by: 14, instruction: false },
        ],
    }
}

/// Radeon VII, the MI50's consumer twin: 60 compute units. Chip, revision, firmware, waves, pool and caches from the
/// rocminfo texts of ROCm/composable_kernel issue 1140 and lmstudio-bug-tracker issue 352; what a node of this family
/// has besides, from the properties of a gfx900 in ROCm's test data; units, clocks and bus from AMD's data sheet.
pub fn gfx906() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx906",
            gfx_target_version: 90006,
            compute_units: 60,
            xccs: 1,
            shader_engines: 4,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x66af,
        subsystem: (0x1002, 0x081e),
        pci_revision: 0xc1,
        asic_revision: 1,
        location_id: 0x0800,
        unique_id: 0,
        family: 141,
        gc_version: (9, 4, 0),
        nbif_version: (7, 4, 0),
        sdma_version: (4, 2, 0),
        sdma_engines: 2,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 8,
        compute_queues: 24,
        wave_lanes: 64,
        capability: 0x2280,
        debug_properties: 0,
        simds_per_cu: 4,
        waves_per_simd: 10,
        arrays_per_engine: 1,
        cus_per_array: 16,
        max_engine_mhz: 1801,
        vram_bytes: 16368 << 20,
        bar_bytes: None,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 4096,
        memory_mhz: 1000,
        mec_firmware: 472,
        sdma_firmware: 145,
        caches: &[
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 1, instruction: false },
            Cache { level: 1, size_kib: 32, line_bytes: 64, shared_by: 3, instruction: true },
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 3, instruction: false },
            Cache { level: 2, size_kib: 8192, line_bytes: 64, shared_by: 16, instruction: false },
        ],
    }
}

/// Instinct MI300X in its SPX mode: eight XCCs of 38 compute units as one GPU. Chip, clocks, firmware, waves, queues,
/// capability and the debugger's bits are those that ROCm/k8s-device-plugin has recorded of a machine
/// (`testdata/topo-mi300-cpx`), where every XCC is a GPU of its own; width and clock of memory, the caches of an XCC and
/// that the kernel does not know their lines, from `testdata/topology-parsing-mi308` there, a sister with fewer units;
/// usable memory, L2 and L3 in SPX mode from rocminfo in ROCm/legacy-rocm-build issue 4414.
///
/// Derived: units and arrays are eight times those of the recorded XCC. The sixteen SDMA engines, of which each recorded
/// GPU has two, are two for all copies and fourteen for links (kfd_device_queue_manager.c, `kfd_get_num_sdma_engines`,
/// `kfd_get_num_xgmi_sdma_engines`), as an MI350X has them in ROCm/rocm-systems pull request 10274. The subsystem is taken
/// to be as the chip.
pub fn gfx942() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx942",
            gfx_target_version: 90402,
            compute_units: 304,
            xccs: 8,
            shader_engines: 4,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x74a1,
        subsystem: (0x1002, 0x74a1),
        pci_revision: 0,
        asic_revision: 1,
        location_id: 0x500,
        unique_id: 0xe3aa_140f_9a5f_9e31,
        family: 141,
        gc_version: (9, 4, 3),
        nbif_version: (7, 9, 0),
        sdma_version: (4, 4, 2),
        sdma_engines: 2,
        sdma_link_engines: 14,
        sdma_queues_per_engine: 8,
        compute_queues: 24,
        wave_lanes: 64,
        capability: 0xa437_a280,
        debug_properties: 1511,
        simds_per_cu: 4,
        waves_per_simd: 8,
        arrays_per_engine: 1,
        cus_per_array: 10,
        max_engine_mhz: 2100,
        vram_bytes: 196_592 << 20,
        bar_bytes: None,
        system_bytes: 256 << 30,
        gtt_bytes: 128 << 30,
        memory_width: 8192,
        memory_mhz: 1300,
        mec_firmware: 177,
        sdma_firmware: 24,
        caches: &[
            Cache { level: 1, size_kib: 32, line_bytes: 0, shared_by: 1, instruction: false },
            Cache { level: 1, size_kib: 64, line_bytes: 0, shared_by: 2, instruction: true },
            Cache { level: 1, size_kib: 16, line_bytes: 0, shared_by: 2, instruction: false },
            Cache { level: 2, size_kib: 4096, line_bytes: 0, shared_by: 10, instruction: false },
            Cache {
                level: 3,
                size_kib: 256 << 10,
                line_bytes: 0,
                shared_by: 10,
                instruction: false,
            },
        ],
    }
}
