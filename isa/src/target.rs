//! The processors whose instructions this crate knows.

use core::fmt;
use core::str::FromStr;

use crate::encoding::Encoding;
use crate::{Flags, Opcode};

/// Processors that share one instruction encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Generation {
    /// RDNA2: gfx1030–gfx1036.
    Gfx10_3,
    /// RDNA3: gfx1100–gfx1103.
    Gfx11,
    /// RDNA3.5: gfx1150–gfx1153, gfx11 with scalar floating point.
    Gfx11_5,
    /// RDNA4: gfx1200, gfx1201.
    Gfx12,
    /// GCN5 (Vega 7nm): gfx906.
    Gfx906,
    /// CDNA: gfx908.
    Gfx908,
    /// CDNA2: gfx90a.
    Gfx90a,
    /// CDNA3: gfx942.
    Gfx942,
    /// CDNA4: gfx950.
    Gfx950,
}

/// A processor, named as LLVM's `-mcpu` names it (LLVM's AMDGPUUsage document, table "Processors").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Any of gfx1030–gfx1036.
    Gfx10_3Generic,
    /// Navi 21.
    Gfx1030,
    /// Navi 22.
    Gfx1031,
    /// Navi 23.
    Gfx1032,
    /// Van Gogh.
    Gfx1033,
    /// Navi 24.
    Gfx1034,
    /// Rembrandt.
    Gfx1035,
    /// Raphael.
    Gfx1036,
    /// Any of gfx1100–gfx1153: what all of them execute.
    Gfx11Generic,
    /// Navi 31.
    Gfx1100,
    /// Navi 32.
    Gfx1101,
    /// Navi 33.
    Gfx1102,
    /// Phoenix.
    Gfx1103,
    /// Strix Point.
    Gfx1150,
    /// Strix Halo.
    Gfx1151,
    /// Krackan Point.
    Gfx1152,
    /// RDNA3.5.
    Gfx1153,
    /// Any of gfx1200 and gfx1201.
    Gfx12Generic,
    /// Navi 44.
    Gfx1200,
    /// Navi 48.
    Gfx1201,
    /// Vega 20: Instinct MI50 and MI60, Radeon VII.
    Gfx906,
    /// Instinct MI100.
    Gfx908,
    /// Instinct MI200 series.
    Gfx90a,
    /// Instinct MI300 series.
    Gfx942,
    /// Instinct MI350 series.
    Gfx950,
}

impl Target {
    /// Every target.
    pub const ALL: &'static [Target] = &[
        Target::Gfx10_3Generic,
        Target::Gfx1030,
        Target::Gfx1031,
        Target::Gfx1032,
        Target::Gfx1033,
        Target::Gfx1034,
        Target::Gfx1035,
        Target::Gfx1036,
        Target::Gfx11Generic,
        Target::Gfx1100,
        Target::Gfx1101,
        Target::Gfx1102,
        Target::Gfx1103,
        Target::Gfx1150,
        Target::Gfx1151,
        Target::Gfx1152,
        Target::Gfx1153,
        Target::Gfx12Generic,
        Target::Gfx1200,
        Target::Gfx1201,
        Target::Gfx906,
        Target::Gfx908,
        Target::Gfx90a,
        Target::Gfx942,
        Target::Gfx950,
    ];

    /// Whether there are waves of 32 lanes: not on gfx9.
    pub const fn has_wave32(self) -> bool {
        matches!(
            self.generation(),
            Generation::Gfx10_3 | Generation::Gfx11 | Generation::Gfx11_5 | Generation::Gfx12
        )
    }

    /// LLVM's name, e.g. `gfx1151`.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Gfx10_3Generic => "gfx10-3-generic",
            Target::Gfx1030 => "gfx1030",
            Target::Gfx1031 => "gfx1031",
            Target::Gfx1032 => "gfx1032",
            Target::Gfx1033 => "gfx1033",
            Target::Gfx1034 => "gfx1034",
            Target::Gfx1035 => "gfx1035",
            Target::Gfx1036 => "gfx1036",
            Target::Gfx11Generic => "gfx11-generic",
            Target::Gfx1100 => "gfx1100",
            Target::Gfx1101 => "gfx1101",
            Target::Gfx1102 => "gfx1102",
            Target::Gfx1103 => "gfx1103",
            Target::Gfx1150 => "gfx1150",
            Target::Gfx1151 => "gfx1151",
            Target::Gfx1152 => "gfx1152",
            Target::Gfx1153 => "gfx1153",
            Target::Gfx12Generic => "gfx12-generic",
            Target::Gfx1200 => "gfx1200",
            Target::Gfx1201 => "gfx1201",
            Target::Gfx906 => "gfx906",
            Target::Gfx908 => "gfx908",
            Target::Gfx90a => "gfx90a",
            Target::Gfx942 => "gfx942",
            Target::Gfx950 => "gfx950",
        }
    }

    /// The encoding this processor decodes.
    pub const fn generation(self) -> Generation {
        match self {
            Target::Gfx10_3Generic
            | Target::Gfx1030
            | Target::Gfx1031
            | Target::Gfx1032
            | Target::Gfx1033
            | Target::Gfx1034
            | Target::Gfx1035
            | Target::Gfx1036 => Generation::Gfx10_3,
            Target::Gfx11Generic
            | Target::Gfx1100
            | Target::Gfx1101
            | Target::Gfx1102
            | Target::Gfx1103 => Generation::Gfx11,
            Target::Gfx1150 | Target::Gfx1151 | Target::Gfx1152 | Target::Gfx1153 => {
                Generation::Gfx11_5
            }
            Target::Gfx12Generic | Target::Gfx1200 | Target::Gfx1201 => Generation::Gfx12,
            Target::Gfx906 => Generation::Gfx906,
            Target::Gfx908 => Generation::Gfx908,
            Target::Gfx90a => Generation::Gfx90a,
            Target::Gfx942 => Generation::Gfx942,
            Target::Gfx950 => Generation::Gfx950,
        }
    }

    /// Whether the operation's 16-bit result clears the rest of its register. Only gfx9 does so, but for the operations
    /// that select halves (LLVM's GCNSubtarget.cpp, `zeroesHigh16BitsOfDest`).
    pub fn clears_high_half(self, opcode: Opcode) -> bool {
        let info = opcode.info();
        let encoding = Encoding::of(self.generation());
        let selects = info.flags.contains(Flags::OP_SEL) && !encoding.no_op_sel.contains(&opcode);
        !encoding.true16 && !encoding.preserves_high_half && info.dst.is_16_bit() && !selects
    }

    /// The target with this LLVM name (`gfx1151`), or `None`.
    pub fn from_name(name: &str) -> Option<Target> {
        Self::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// The target of a KFD topology's decimal `gfx_target_version`, such as 110501 for gfx1151: ten
    /// thousands are the major version, hundreds the minor, units the stepping (Linux
    /// `drivers/gpu/drm/amd/amdkfd/kfd_device.c`, `kgd2kfd_probe`).
    pub fn from_gfx_target_version(version: u32) -> Option<Target> {
        Some(match version {
            100300 => Target::Gfx1030,
            100301 => Target::Gfx1031,
            100302 => Target::Gfx1032,
            100303 => Target::Gfx1033,
            100304 => Target::Gfx1034,
            100305 => Target::Gfx1035,
            100306 => Target::Gfx1036,
            110000 => Target::Gfx1100,
            110001 => Target::Gfx1101,
            110002 => Target::Gfx1102,
            110003 => Target::Gfx1103,
            110500 => Target::Gfx1150,
            110501 => Target::Gfx1151,
            110502 => Target::Gfx1152,
            110503 => Target::Gfx1153,
            120000 => Target::Gfx1200,
            120001 => Target::Gfx1201,
            90006 => Target::Gfx906,
            90008 => Target::Gfx908,
            90010 => Target::Gfx90a,
            90402 => Target::Gfx942,
            90500 => Target::Gfx950,
            _ => return None,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no target of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTarget;

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no instruction tables for this processor; known are")?;
        Target::ALL.iter().try_for_each(|target| write!(f, " {target}"))
    }
}

impl core::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Target::from_name(name).ok_or(UnknownTarget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for &target in Target::ALL {
            assert_eq!(target.name().parse(), Ok(target));
        }
        assert_eq!("gfx803".parse::<Target>(), Err(UnknownTarget));
    }

    #[test]
    fn topology_versions() {
        assert_eq!(Target::from_gfx_target_version(110501), Some(Target::Gfx1151));
        assert_eq!(Target::from_gfx_target_version(110000), Some(Target::Gfx1100));
        assert_eq!(Target::from_gfx_target_version(120001), Some(Target::Gfx1201));
        assert_eq!(Target::from_gfx_target_version(110900), None);
    }
}
