//! Boards of gfx10.3.

use super::{RDNA_CAPABILITY, RDNA_DEBUG_PROPERTIES};
use crate::profile::{Board, Cache, Gpu};

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
            xccs: 1,
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
        bar_bytes: None,
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
