//! The boards that can be had by name.

use super::{Board, Cache, Gpu};

/// Caches of gfx11 and gfx12, in the kernel's order: vector L1, instruction, scalar, GL1, L2, L3. The sizes are of the
/// IP discovery table, as are the line sizes of vector L1, GL1 and L2; where it gives none the kernel takes 128 bytes, 64
/// for the scalar cache and L3 (kfd_crat.c, `kfd_fill_gpu_cache_info_from_gfx_config`).
macro_rules! caches {
    ($l2:literal, $l3:literal, $cus_per_array:literal, $line_bytes:literal) => {
        &[
            Cache {
                level: 1,
                size_kib: 32,
                line_bytes: $line_bytes,
                shared_by: 1,
                instruction: false,
            },
            Cache { level: 1, size_kib: 32, line_bytes: 128, shared_by: 2, instruction: true },
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 2, instruction: false },
            Cache {
                level: 1,
                size_kib: 256,
                line_bytes: $line_bytes,
                shared_by: $cus_per_array,
                instruction: false,
            },
            Cache {
                level: 2,
                size_kib: $l2,
                line_bytes: $line_bytes,
                shared_by: $cus_per_array,
                instruction: false,
            },
            Cache {
                level: 3,
                size_kib: $l3,
                line_bytes: 64,
                shared_by: $cus_per_array,
                instruction: false,
            },
        ]
    };
}

/// `HSA_CAP_*` of kfd_sysfs.h that every gfx10.3, gfx11 and gfx12 GPU has: watch points (four), doorbells of type 2,
/// trap debugging with its two overrides, firmware support for it.
const RDNA_CAPABILITY: u32 = 0x2003_a280;
/// `HSA_DBG_*`: watch address mask bits 7 to 29 (gfx10 and later), dispatch information always valid.
const RDNA_DEBUG_PROPERTIES: u64 = 0x5d7;

/// Strix Halo, Radeon 8050S: 32 compute units. Shape and clocks from the configuration of a real machine in
/// ROCm/rocm-systems, `emulation/rocjitsu/configs/gfx1151.json`; memory sizes from noamsto/nix-amd-ai issue
/// 42; firmware from ROCm/rocprof-trace-decoder issue 6; caches from BOINC issue 5361.
pub fn gfx1151() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1151",
            gfx_target_version: 110501,
            compute_units: 32,
            shader_engines: 2,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: true,
        device_id: 0x1586,
        subsystem: (0x1002, 0x1586),
        pci_revision: 0,
        asic_revision: 0,
        location_id: 0xc300,
        unique_id: 0,
        family: 150,
        gc_version: (11, 5, 1),
        nbif_version: (7, 11, 1),
        sdma_version: (6, 1, 1),
        sdma_engines: 1,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 6,
        compute_queues: 8,
        wave_lanes: 32,
        capability: RDNA_CAPABILITY,
        debug_properties: RDNA_DEBUG_PROPERTIES,
        simds_per_cu: 2,
        waves_per_simd: 16,
        arrays_per_engine: 2,
        cus_per_array: 8,
        max_engine_mhz: 2700,
        vram_bytes: 4 << 30,
        system_bytes: 128 << 30,
        gtt_bytes: 96 << 30,
        memory_width: 256,
        memory_mhz: 1000,
        mec_firmware: 32,
        sdma_firmware: 17,
        caches: caches!(2048, 32768, 8, 128),
    }
}

/// Radeon RX 7900 XTX: 96 compute units. Shape, clocks and firmware from the whole properties file in
/// tinygrad's `test/mockgpu/amd/amdgpu.py`; caches from ROCm/hipBLASLt issue 831.
pub fn gfx1100() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1100",
            gfx_target_version: 110000,
            compute_units: 96,
            shader_engines: 6,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x744c,
        subsystem: (0x1002, 0x0e3b),
        pci_revision: 0xc8,
        asic_revision: 0,
        location_id: 0x8600,
        unique_id: 0,
        family: 145,
        gc_version: (11, 0, 0),
        nbif_version: (4, 3, 0),
        sdma_version: (6, 0, 0),
        sdma_engines: 2,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 6,
        compute_queues: 8,
        wave_lanes: 32,
        capability: RDNA_CAPABILITY,
        debug_properties: RDNA_DEBUG_PROPERTIES,
        simds_per_cu: 2,
        waves_per_simd: 16,
        arrays_per_engine: 2,
        cus_per_array: 8,
        max_engine_mhz: 2482,
        vram_bytes: 24560 << 20,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 384,
        memory_mhz: 1249,
        mec_firmware: 2140,
        sdma_firmware: 20,
        caches: caches!(6144, 98304, 8, 128),
    }
}

/// Radeon RX 9070 XT: 64 compute units. Shape, clocks, caches and their line size from rocminfo in
/// ROCm/legacy-rocm-build issue 5849, memory size and firmware from issue 6625 there.
pub fn gfx1201() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1201",
            gfx_target_version: 120001,
            compute_units: 64,
            shader_engines: 4,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x7550,
        subsystem: (0x1002, 0x0e3b),
        pci_revision: 0xc0,
        asic_revision: 1,
        location_id: 0x300,
        unique_id: 0,
        family: 152,
        gc_version: (12, 0, 1),
        nbif_version: (6, 3, 1),
        sdma_version: (7, 0, 1),
        sdma_engines: 2,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 6,
        compute_queues: 8,
        wave_lanes: 32,
        capability: RDNA_CAPABILITY,
        debug_properties: RDNA_DEBUG_PROPERTIES,
        simds_per_cu: 2,
        waves_per_simd: 16,
        arrays_per_engine: 2,
        cus_per_array: 8,
        max_engine_mhz: 2570,
        vram_bytes: 16304 << 20,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 256,
        memory_mhz: 1258,
        mec_firmware: 358,
        sdma_firmware: 662,
        caches: caches!(8192, 65536, 8, 256),
    }
}

/// Radeon RX 9060 XT: 32 compute units. Shape, clocks, caches and their line size from rocminfo in
/// ROCm/legacy-rocm-build issue 6342; firmware as of gfx1201.
pub fn gfx1200() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1200",
            gfx_target_version: 120000,
            compute_units: 32,
            shader_engines: 2,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x7590,
        subsystem: (0x1002, 0x0e3b),
        pci_revision: 0xc0,
        asic_revision: 1,
        location_id: 0xa00,
        unique_id: 0,
        family: 152,
        gc_version: (12, 0, 0),
        nbif_version: (6, 3, 1),
        sdma_version: (7, 0, 0),
        sdma_engines: 2,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 6,
        compute_queues: 8,
        wave_lanes: 32,
        capability: RDNA_CAPABILITY,
        debug_properties: RDNA_DEBUG_PROPERTIES,
        simds_per_cu: 2,
        waves_per_simd: 16,
        arrays_per_engine: 2,
        cus_per_array: 8,
        max_engine_mhz: 2740,
        vram_bytes: 16304 << 20,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 128,
        memory_mhz: 1258,
        mec_firmware: 358,
        sdma_firmware: 662,
        caches: caches!(4096, 32768, 8, 256),
    }
}

/// Instinct MI210: 104 compute units. The properties are those that ROCm/k8s-device-plugin has recorded of a machine
/// (`testdata/topo-mi210-xgmi-pcie`); caches as in kfd_crat.c, `aldebaran_cache_info`; memory and its bus from AMD's
/// data sheet of the MI210.
pub fn gfx90a() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx90a",
            gfx_target_version: 90010,
            compute_units: 104,
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

/// Radeon RX 6900 XT (Navi 21): 80 compute units. Units, boost clock, memory and its bus from AMD's data sheet; chip and
/// size of memory as sysfs shows them of such a card; caches as in kfd_crat.c, `sienna_cichlid_cache_info`; what a node of
/// this generation has besides, and firmware, from a recorded gfx1033 (Steam Deck, in LACT's test data), with SDMA engines
/// as in kfd_device.c and gfx_v10_0.c's queues.
pub fn gfx1030() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1030",
            gfx_target_version: 100300,
            compute_units: 80,
            shader_engines: 4,
            scratch_slots_per_cu: 32,
            lds_bytes: 64 << 10,
        },
        is_apu: false,
        device_id: 0x73bf,
        subsystem: (0x1002, 0x0e3a),
        pci_revision: 0xc0,
        asic_revision: 1,
        location_id: 0x300,
        unique_id: 0,
        family: 143,
        gc_version: (10, 3, 0),
        nbif_version: (3, 3, 0),
        sdma_version: (5, 2, 0),
        sdma_engines: 4,
        sdma_link_engines: 0,
        sdma_queues_per_engine: 8,
        compute_queues: 8,
        wave_lanes: 32,
        capability: RDNA_CAPABILITY,
        debug_properties: RDNA_DEBUG_PROPERTIES,
        simds_per_cu: 2,
        waves_per_simd: 16,
        arrays_per_engine: 2,
        cus_per_array: 10,
        max_engine_mhz: 2250,
        vram_bytes: 16368 << 20,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 256,
        memory_mhz: 1000,
        mec_firmware: 122,
        sdma_firmware: 70,
        caches: &[
            Cache { level: 1, size_kib: 16, line_bytes: 128, shared_by: 1, instruction: false },
            Cache { level: 1, size_kib: 32, line_bytes: 64, shared_by: 2, instruction: true },
            Cache { level: 1, size_kib: 16, line_bytes: 64, shared_by: 2, instruction: false },
            Cache { level: 1, size_kib: 128, line_bytes: 128, shared_by: 10, instruction: false },
            Cache { level: 2, size_kib: 4096, line_bytes: 128, shared_by: 10, instruction: false },
            Cache {
                level: 3,
                size_kib: 128 << 10,
                line_bytes: 64,
                shared_by: 10,
                instruction: false,
            },
        ],
    }
}

/// Names of the boards.
pub fn names() -> &'static [&'static str] {
    &["gfx1151", "gfx1100", "gfx1201", "gfx1200", "gfx90a", "gfx906", "gfx1030"]
}

/// The board with this name.
pub fn by_name(name: &str) -> Option<Board> {
    match name {
        "gfx1151" => Some(gfx1151()),
        "gfx1100" => Some(gfx1100()),
        "gfx1201" => Some(gfx1201()),
        "gfx1200" => Some(gfx1200()),
        "gfx90a" => Some(gfx90a()),
        "gfx906" => Some(gfx906()),
        "gfx1030" => Some(gfx1030()),
        _ => None,
    }
}
