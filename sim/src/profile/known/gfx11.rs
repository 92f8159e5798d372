//! Boards of gfx11 and gfx11.5.

use super::{RDNA_CAPABILITY, RDNA_DEBUG_PROPERTIES, caches};
use crate::profile::{Board, Cache, Gpu};

/// Strix Halo, Radeon 8050S: 32 compute units. Shape and clocks from the configuration of a real machine in
/// ROCm/rocm-systems, `emulation/rocjitsu/configs/gfx1151.json`; memory sizes from noamsto/nix-amd-ai issue
/// 42; firmware from ROCm/rocprof-trace-decoder issue 6; caches from BOINC issue 5361.
pub fn gfx1151() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1151",
            gfx_target_version: 110501,
            compute_units: 32,
            xccs: 1,
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
        bar_bytes: None,
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
            xccs: 1,
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
        bar_bytes: None,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 384,
        memory_mhz: 1249,
        mec_firmware: 2140,
        sdma_firmware: 20,
        caches: caches!(6144, 98304, 8, 128),
    }
}

/// Radeon RX 7800 XT (Navi 32): 60 compute units. Units, clock, chip, place and caches from rocminfo in lamikr/rocm_sdk_builder
/// issue 246; 256 bits of memory from AMD's data sheet. Derived: three engines of two arrays, as 60 units in whole arrays of
/// ten are, and `amdgpu_discovery.c` has gc 11.0.3 with NBIF 4.3.0 and SDMA 6.0.3, of two engines; the usable memory, as
/// of other boards with 16 GiB (rocminfo in legacy-rocm-build issue 1881), and its clock, as of 19.5 Gb/s GDDR6; firmware
/// as of gfx1100.
pub fn gfx1101() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1101",
            gfx_target_version: 110001,
            compute_units: 60,
            shader_engines: 3,
            ..gfx1100().gpu
        },
        device_id: 0x747e,
        subsystem: (0x1002, 0x0e3b),
        pci_revision: 0xc8,
        location_id: 0x300,
        gc_version: (11, 0, 3),
        sdma_version: (6, 0, 3),
        cus_per_array: 10,
        max_engine_mhz: 2254,
        vram_bytes: 16368 << 20,
        memory_width: 256,
        memory_mhz: 1219,
        caches: caches!(4096, 65536, 10, 128),
        ..gfx1100()
    }
}

/// Ryzen 7 7840U (Phoenix, Radeon 780M): 12 compute units. All but the family is what LACT's test data has recorded of such
/// a machine (`tests/snapshots/amd/phoenix`); the family is amdgpu_discovery.c's of gc 11.0.1.
pub fn gfx1103() -> Board {
    const L1: Cache =
        Cache { level: 1, size_kib: 32, line_bytes: 128, shared_by: 1, instruction: false };
    const CACHES: &[Cache] = &[
        L1,
        Cache { shared_by: 2, instruction: true, ..L1 },
        Cache { size_kib: 16, line_bytes: 64, shared_by: 2, ..L1 },
        Cache { size_kib: 256, shared_by: 6, ..L1 },
        Cache { level: 2, size_kib: 2048, shared_by: 6, ..L1 },
    ];
    Board {
        gpu: Gpu {
            name: "gfx1103",
            gfx_target_version: 110003,
            compute_units: 12,
            shader_engines: 1,
            ..gfx1151().gpu
        },
        device_id: 0x15bf,
        subsystem: (0x17aa, 0x50da),
        pci_revision: 0xdd,
        asic_revision: 9,
        location_id: 0x6400,
        family: 148,
        gc_version: (11, 0, 1),
        nbif_version: (7, 7, 0),
        sdma_version: (6, 0, 1),
        cus_per_array: 6,
        gtt_bytes: 31_433_977_856,
        memory_width: 128,
        memory_mhz: 800,
        mec_firmware: 67,
        sdma_firmware: 23,
        caches: CACHES,
        ..gfx1151()
    }
}
