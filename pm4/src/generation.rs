//! What the layouts depend on.

use core::fmt;

/// A family of graphics cores that lays out descriptors, scratch and COMPUTE registers alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Generation {
    /// gfx900, gfx902, gfx904, gfx906, gfx908, gfx909, gfx90c.
    Gfx9,
    /// gfx90a: accumulation VGPRs in one register file with the others.
    Gfx90a,
    /// gfx940, gfx941, gfx942, gfx950: gfx90a with architected flat scratch.
    Gfx94x,
    /// gfx101x and gfx103x.
    Gfx10,
    /// gfx110x and gfx115x.
    Gfx11,
    /// gfx120x.
    Gfx12,
}

impl Generation {
    /// The generation of a KFD `gfx_target_version` (major×10000 + minor×100 + stepping, in
    /// decimal: 110501 is gfx1151), or `None` when it is not one of those above.
    pub const fn from_target_version(version: u32) -> Option<Generation> {
        Some(match (version / 10000, version / 100 % 100, version % 100) {
            (9, 0, 10) => Generation::Gfx90a,
            (9, 0, _) => Generation::Gfx9,
            (9, 4 | 5, _) => Generation::Gfx94x,
            (10, 1 | 3, _) => Generation::Gfx10,
            (11, 0 | 5, _) => Generation::Gfx11,
            (12, 0, _) => Generation::Gfx12,
            _ => return None,
        })
    }

    /// Whether the hardware initialises FLAT_SCRATCH by itself, so that kernels have no private
    /// segment buffer and no flat scratch init (AMDGPUUsage, "Processors", target property
    /// *Architected flat scratch*).
    pub const fn has_architected_flat_scratch(self) -> bool {
        matches!(self, Generation::Gfx94x | Generation::Gfx11 | Generation::Gfx12)
    }

    /// Whether kernel arguments can be preloaded into user SGPRs (AMDGPUUsage, "Preloaded Kernel
    /// Arguments": GFX90A and GFX940).
    pub const fn has_kernarg_preload(self) -> bool {
        matches!(self, Generation::Gfx90a | Generation::Gfx94x)
    }

    /// Whether kernels choose between waves of 32 and of 64 lanes.
    pub const fn has_wave32(self) -> bool {
        matches!(self, Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Generation::Gfx9 => "gfx9",
            Generation::Gfx90a => "gfx90a",
            Generation::Gfx94x => "gfx94x",
            Generation::Gfx10 => "gfx10",
            Generation::Gfx11 => "gfx11",
            Generation::Gfx12 => "gfx12",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_versions() {
        for (version, generation) in [
            (90006, Some(Generation::Gfx9)),
            (90012, Some(Generation::Gfx9)),
            (90010, Some(Generation::Gfx90a)),
            (90402, Some(Generation::Gfx94x)),
            (90500, Some(Generation::Gfx94x)),
            (100302, Some(Generation::Gfx10)),
            (110000, Some(Generation::Gfx11)),
            (110501, Some(Generation::Gfx11)),
            (120001, Some(Generation::Gfx12)),
            (120500, None),
            (80003, None),
            (0, None),
            (u32::MAX, None),
        ] {
            assert_eq!(Generation::from_target_version(version), generation, "{version}");
        }
    }
}
