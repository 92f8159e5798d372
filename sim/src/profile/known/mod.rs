//! The boards that can be had by name.

mod gfx10;
mod gfx11;
mod gfx12;
mod gfx9;

pub use gfx9::{gfx90a, gfx906, gfx942};
pub use gfx10::gfx1030;
pub use gfx11::{gfx1100, gfx1101, gfx1103, gfx1151};
pub use gfx12::{gfx1200, gfx1201};

use super::Board;

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

use caches;

/// `HSA_CAP_*` of kfd_sysfs.h that every gfx10.3, gfx11 and gfx12 GPU has: watch points (four), doorbells of type 2,
/// trap debugging with its two overrides, firmware support for it.
const RDNA_CAPABILITY: u32 = 0x2003_a280;
/// `HSA_DBG_*`: watch address mask bits 7 to 29 (gfx10 and later), dispatch information always valid.
const RDNA_DEBUG_PROPERTIES: u64 = 0x5d7;

/// Names of the boards.
pub fn names() -> &'static [&'static str] {
    &[
        "gfx1151", "gfx1100", "gfx1201", "gfx1200", "gfx90a", "gfx906", "gfx1030", "gfx942",
        "gfx1101", "gfx1103",
    ]
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
        "gfx942" => Some(gfx942()),
        "gfx1101" => Some(gfx1101()),
        "gfx1103" => Some(gfx1103()),
        _ => None,
    }
}
