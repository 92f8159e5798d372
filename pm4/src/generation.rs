//! What the layouts depend on.

use crate::layout::Variants;
use core::fmt;

/// A family of graphics cores that lays out packets, registers, descriptors and scratch alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Generation {
    /// gfx900, gfx902, gfx904, gfx906, gfx909, gfx90c.
    Gfx906,
    /// gfx908: accumulation VGPRs, matrix instructions.
    Gfx908,
    /// gfx90a: accumulation VGPRs in one register file with the others.
    Gfx90a,
    /// gfx940, gfx941, gfx942: gfx90a with architected flat scratch, several XCCs.
    Gfx94x,
    /// gfx950: gfx942 with 160 KiB of LDS.
    Gfx950,
    /// gfx101x.
    Gfx101,
    /// gfx103x.
    Gfx103,
    /// gfx110x.
    Gfx11,
    /// gfx115x.
    Gfx115,
    /// gfx120x.
    Gfx12,
}

/// Sets of generations, for layouts.
pub mod generations {
    use super::Generation::*;
    use crate::layout::Variants;

    /// gfx906 to gfx950.
    pub const GFX9: Variants = Gfx906.set().or(Gfx908.set()).or(GFX90A_ON);
    /// gfx906 and gfx908: those without one register file for all VGPRs.
    pub const GFX906_908: Variants = Gfx906.set().or(Gfx908.set());
    /// gfx90a, gfx94x, gfx950.
    pub const GFX90A_ON: Variants = Gfx90a.set().or(GFX94X_ON);
    /// gfx94x, gfx950.
    pub const GFX94X_ON: Variants = Gfx94x.set().or(Gfx950.set());
    /// gfx101x and gfx103x.
    pub const GFX10: Variants = Gfx101.set().or(Gfx103.set());
    /// gfx110x and gfx115x.
    pub const GFX11: Variants = Gfx11.set().or(Gfx115.set());
    /// gfx120x.
    pub const GFX12: Variants = Gfx12.set();
    /// gfx101x and everything after.
    pub const GFX10_ON: Variants = GFX10.or(GFX11_ON);
    /// gfx103x and everything after.
    pub const GFX103_ON: Variants = Gfx103.set().or(GFX11_ON);
    /// gfx110x and everything after.
    pub const GFX11_ON: Variants = GFX11.or(GFX12);
    /// gfx906 to gfx103x.
    pub const BEFORE_GFX11: Variants = GFX9.or(GFX10);
    /// gfx906 to gfx115x.
    pub const BEFORE_GFX12: Variants = BEFORE_GFX11.or(GFX11);
    /// gfx101x to gfx115x.
    pub const GFX10_11: Variants = GFX10.or(GFX11);
    /// Every generation there is.
    pub const ALL: Variants = GFX9.or(GFX10_ON);
}

impl Generation {
    /// Every generation, oldest first.
    pub const ALL: [Generation; 10] = [
        Generation::Gfx906,
        Generation::Gfx908,
        Generation::Gfx90a,
        Generation::Gfx94x,
        Generation::Gfx950,
        Generation::Gfx101,
        Generation::Gfx103,
        Generation::Gfx11,
        Generation::Gfx115,
        Generation::Gfx12,
    ];

    /// The set of this one alone.
    #[inline(always)]
    pub const fn set(self) -> Variants {
        Variants::one(self as u32)
    }

    /// Whether it is one of a set ([`generations`]).
    #[inline(always)]
    pub const fn is_in(self, set: Variants) -> bool {
        set.contains(self.set())
    }

    /// The generation of a KFD `gfx_target_version` (major×10000 + minor×100 + stepping, in
    /// decimal: 110501 is gfx1151), or `None` when it is not one of those above.
    pub const fn from_target_version(version: u32) -> Option<Generation> {
        Some(match (version / 10000, version / 100 % 100, version % 100) {
            (9, 0, 8) => Generation::Gfx908,
            (9, 0, 10) => Generation::Gfx90a,
            (9, 0, _) => Generation::Gfx906,
            (9, 4, _) => Generation::Gfx94x,
            (9, 5, _) => Generation::Gfx950,
            (10, 1, _) => Generation::Gfx101,
            (10, 3, _) => Generation::Gfx103,
            (11, 0, _) => Generation::Gfx11,
            (11, 5, _) => Generation::Gfx115,
            (12, 0, _) => Generation::Gfx12,
            _ => return None,
        })
    }

    /// The generation of a processor's name as compilers write it, with or without target features: `gfx1151`,
    /// `gfx90a`, `gfx942:sramecc+:xnack-`. The last two digits are
    /// minor version and stepping in hexadecimal, what is before them the major version (AMDGPUUsage,
    /// "Processors"). `None` when the name is not of that form or the generation not one of those above.
    pub fn from_name(name: &str) -> Option<Generation> {
        let processor = name.split(':').next()?;
        let digits = processor.strip_prefix("gfx")?;
        let (major, rest) = digits.split_at_checked(digits.len().checked_sub(2)?)?;
        let digit = |text: &str| u32::from_str_radix(text, 16).ok();
        let (minor, stepping) = rest.split_at_checked(1)?;
        let major = match major {
            "9" => 9,
            "10" => 10,
            "11" => 11,
            "12" => 12,
            _ => return None,
        };
        Generation::from_target_version(major * 10000 + digit(minor)? * 100 + digit(stepping)?)
    }

    /// Whether the hardware initialises FLAT_SCRATCH by itself, so that kernels have no private
    /// segment buffer and no flat scratch init (AMDGPUUsage, "Processors", target property
    /// *Architected flat scratch*).
    pub const fn has_architected_flat_scratch(self) -> bool {
        self.is_in(generations::GFX94X_ON.or(generations::GFX11_ON))
    }

    /// Whether kernel arguments can be preloaded into user SGPRs (AMDGPUUsage, "Preloaded Kernel
    /// Arguments": GFX90A and GFX940).
    pub const fn has_kernarg_preload(self) -> bool {
        self.is_in(generations::GFX90A_ON)
    }

    /// Whether kernels choose between waves of 32 and of 64 lanes.
    pub const fn has_wave32(self) -> bool {
        self.is_in(generations::GFX10_ON)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Generation::Gfx906 => "gfx906",
            Generation::Gfx908 => "gfx908",
            Generation::Gfx90a => "gfx90a",
            Generation::Gfx94x => "gfx94x",
            Generation::Gfx950 => "gfx950",
            Generation::Gfx101 => "gfx10.1",
            Generation::Gfx103 => "gfx10.3",
            Generation::Gfx11 => "gfx11",
            Generation::Gfx115 => "gfx11.5",
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
            (90006, Some(Generation::Gfx906)),
            (90008, Some(Generation::Gfx908)),
            (90012, Some(Generation::Gfx906)),
            (90010, Some(Generation::Gfx90a)),
            (90402, Some(Generation::Gfx94x)),
            (90500, Some(Generation::Gfx950)),
            (100100, Some(Generation::Gfx101)),
            (100302, Some(Generation::Gfx103)),
            (110000, Some(Generation::Gfx11)),
            (110501, Some(Generation::Gfx115)),
            (120001, Some(Generation::Gfx12)),
            (120500, None),
            (80003, None),
            (0, None),
            (u32::MAX, None),
        ] {
            assert_eq!(Generation::from_target_version(version), generation, "{version}");
        }
    }

    #[test]
    fn names() {
        for (name, generation) in [
            ("gfx906", Some(Generation::Gfx906)),
            ("gfx90c", Some(Generation::Gfx906)),
            ("gfx90a", Some(Generation::Gfx90a)),
            ("gfx942", Some(Generation::Gfx94x)),
            ("gfx950", Some(Generation::Gfx950)),
            ("gfx1036", Some(Generation::Gfx103)),
            ("gfx1103", Some(Generation::Gfx11)),
            ("gfx1151", Some(Generation::Gfx115)),
            ("gfx1201", Some(Generation::Gfx12)),
            ("gfx942:sramecc+:xnack-", Some(Generation::Gfx94x)),
            ("gfx1250", None),
            ("gfx803", None),
            ("gfx", None),
            ("gfx1", None),
            ("gfxé1", None),
            ("gfx11é", None),
            ("1151", None),
        ] {
            assert_eq!(Generation::from_name(name), generation, "{name}");
        }
    }

    #[test]
    fn every_generation_is_in_the_set_of_all() {
        for (index, generation) in Generation::ALL.into_iter().enumerate() {
            assert_eq!(generation as usize, index);
            assert!(generation.is_in(generations::ALL));
        }
        assert_eq!(generations::ALL.0.count_ones() as usize, Generation::ALL.len());
    }
}
