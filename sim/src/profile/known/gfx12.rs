//! Boards of gfx12.

use super::{RDNA_CAPABILITY, RDNA_DEBUG_PROPERTIES, caches};
use crate::profile::{Board, Cache, Gpu};

/// Radeon RX 9070 XT: 64 compute units. Shape, clocks, caches and their line size from rocminfo in
/// ROCm/legacy-rocm-build issue 5849, memory size and firmware from issue 6625 there.
pub fn gfx1201() -> Board {
    Board {
        gpu: Gpu {
            name: "gfx1201",
            gfx_target_version: 120001,
            compute_units: 64,
            xccs: 1,
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
        bar_bytes: None,
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
            xccs: 1,
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
        bar_bytes: None,
        system_bytes: 64 << 30,
        gtt_bytes: 32 << 30,
        memory_width: 128,
        memory_mhz: 1258,
        mec_firmware: 358,
        sdma_firmware: 662,
        caches: caches!(4096, 32768, 8, 256),
    }
}
