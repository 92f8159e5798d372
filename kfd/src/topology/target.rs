//! Names of instruction sets.

use std::fmt;

/// An instruction set, by its version: `gfx_target_version` of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GfxTarget {
    /// Major version: 9, 10, 11, 12.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Stepping.
    pub stepping: u32,
}

/// Families of instruction sets, by AMD's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// gfx6 to gfx8.
    Gcn,
    /// gfx900 to gfx906, gfx909 and gfx90c.
    Vega,
    /// gfx908.
    Cdna1,
    /// gfx90a.
    Cdna2,
    /// gfx94x.
    Cdna3,
    /// gfx95x.
    Cdna4,
    /// gfx10.1.
    Rdna1,
    /// gfx10.3.
    Rdna2,
    /// gfx11.0.
    Rdna3,
    /// gfx11.5.
    Rdna35,
    /// gfx12.0.
    Rdna4,
    /// gfx12.5.
    Cdna5,
}

impl GfxTarget {
    /// From major × 10000 + minor × 100 + stepping.
    pub const fn from_version(version: u32) -> GfxTarget {
        GfxTarget { major: version / 10_000, minor: version / 100 % 100, stepping: version % 100 }
    }

    /// The family, when it is one that is known.
    pub const fn family(self) -> Option<Family> {
        Some(match (self.major, self.minor, self.stepping) {
            (6..=8, _, _) => Family::Gcn,
            (9, 0, 8) => Family::Cdna1,
            (9, 0, 10) => Family::Cdna2,
            (9, 0, _) => Family::Vega,
            (9, 4, _) => Family::Cdna3,
            (9, 5, _) => Family::Cdna4,
            (10, 1, _) => Family::Rdna1,
            (10, 3, _) => Family::Rdna2,
            (11, 0, _) => Family::Rdna3,
            (11, 5, _) => Family::Rdna35,
            (12, 0, _) => Family::Rdna4,
            (12, 5, _) => Family::Cdna5,
            _ => return None,
        })
    }
}

/// The name that compilers use: minor and stepping are hexadecimal digits, `gfx90a`, `gfx1151`.
impl fmt::Display for GfxTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gfx{}{:x}{:x}", self.major, self.minor, self.stepping)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Gcn => "GCN",
            Family::Vega => "Vega",
            Family::Cdna1 => "CDNA 1",
            Family::Cdna2 => "CDNA 2",
            Family::Cdna3 => "CDNA 3",
            Family::Cdna4 => "CDNA 4",
            Family::Rdna1 => "RDNA 1",
            Family::Rdna2 => "RDNA 2",
            Family::Rdna3 => "RDNA 3",
            Family::Rdna35 => "RDNA 3.5",
            Family::Rdna4 => "RDNA 4",
            Family::Cdna5 => "CDNA 5",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_compilers() {
        for (version, name, family) in [
            (110_501, "gfx1151", Family::Rdna35),
            (90_010, "gfx90a", Family::Cdna2),
            (90_006, "gfx906", Family::Vega),
            (90_008, "gfx908", Family::Cdna1),
            (90_402, "gfx942", Family::Cdna3),
            (100_302, "gfx1032", Family::Rdna2),
            (120_001, "gfx1201", Family::Rdna4),
        ] {
            let target = GfxTarget::from_version(version);
            assert_eq!(target.to_string(), name);
            assert_eq!(target.family(), Some(family));
        }
        assert_eq!(GfxTarget::from_version(0).family(), None);
    }
}
