//! What the layouts depend on.

use core::fmt;
use pm4::Generation;
use pm4::layout::Variants;

/// A family of SDMA engines that lays out packets alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// IP 4.0, 4.1 and 4.2: gfx900 to gfx908, gfx90c.
    V4_0,
    /// IP 4.4.0: gfx90a.
    V4_4,
    /// IP 4.4.2 and later 4.4.x: gfx942, gfx950.
    V4_4_2,
    /// IP 5.0: gfx101x.
    V5_0,
    /// IP 5.2: gfx103x.
    V5_2,
    /// IP 6.0: gfx110x.
    V6_0,
    /// IP 6.1: gfx115x.
    V6_1,
    /// IP 7.0: gfx120x.
    V7_0,
}

/// Sets of versions, for layouts.
pub mod versions {
    use super::Version::*;
    use pm4::layout::Variants;

    /// 4.0 alone (with 4.1 and 4.2).
    pub const SDMA4_0: Variants = V4_0.set();
    /// 4.4 and 4.4.2.
    pub const SDMA4_4: Variants = V4_4.set().or(V4_4_2.set());
    /// All of 4.
    pub const SDMA4: Variants = SDMA4_0.or(SDMA4_4);
    /// 5.0 alone.
    pub const SDMA5_0: Variants = V5_0.set();
    /// 5.2 alone.
    pub const SDMA5_2: Variants = V5_2.set();
    /// 5.0 and 5.2.
    pub const SDMA5: Variants = SDMA5_0.or(SDMA5_2);
    /// 6.0 and 6.1.
    pub const SDMA6: Variants = V6_0.set().or(V6_1.set());
    /// 7.0.
    pub const SDMA7: Variants = V7_0.set();
    /// 5.0, 5.2, 6.0 and 6.1.
    pub const SDMA5_TO_6: Variants = SDMA5.or(SDMA6);
    /// 5.2, 6.0 and 6.1.
    pub const SDMA5_2_TO_6: Variants = SDMA5_2.or(SDMA6);
    /// Everything before 7.0.
    pub const TO_SDMA6: Variants = SDMA4.or(SDMA5_TO_6);
    /// 5.0 and everything after.
    pub const SDMA5_ON: Variants = SDMA5_TO_6.or(SDMA7);
    /// 5.2 and everything after.
    pub const SDMA5_2_ON: Variants = SDMA5_2_TO_6.or(SDMA7);
    /// 6.0 and everything after.
    pub const SDMA6_ON: Variants = SDMA6.or(SDMA7);
    /// Every version there is.
    pub const ALL: Variants = SDMA4.or(SDMA5_ON);
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 8] = [
        Version::V4_0,
        Version::V4_4,
        Version::V4_4_2,
        Version::V5_0,
        Version::V5_2,
        Version::V6_0,
        Version::V6_1,
        Version::V7_0,
    ];

    /// The set of this one alone.
    #[inline(always)]
    pub const fn set(self) -> Variants {
        Variants::one(self as u32)
    }

    /// Whether it is one of a set ([`versions`]).
    #[inline(always)]
    pub const fn is_in(self, set: Variants) -> bool {
        set.contains(self.set())
    }

    /// The version of an IP block as the device lists it (Linux: `ip_discovery/die/*/SDMA0/*/{major,minor,revision}`
    /// in sysfs), or `None` when it is not one of those above.
    ///
    /// The IP versions are those that Linux drives (`amdgpu_discovery_set_sdma_ip_blocks`; 4.4.4 since 6.15, by
    /// `sdma_v4_4_2.c`). 4.3, 4.4.1 and 4.4.3 have no driver and are refused, as is what comes after 7.0, whose
    /// packets may differ as those of [`oss7`](crate::oss7) do.
    pub const fn from_ip(major: u32, minor: u32, revision: u32) -> Option<Version> {
        Some(match (major, minor, revision) {
            (4, 0..=2, _) => Version::V4_0,
            (4, 4, 0) => Version::V4_4,
            (4, 4, 2 | 4 | 5) => Version::V4_4_2,
            (5, 0, _) => Version::V5_0,
            (5, 2, _) => Version::V5_2,
            (6, 0, _) => Version::V6_0,
            (6, 1, _) => Version::V6_1,
            (7, 0, _) => Version::V7_0,
            _ => return None,
        })
    }

    /// The version that a generation's GPUs have. [`from_ip`](Self::from_ip) is better where the device can be
    /// asked: graphics and SDMA versions are paired by product, not by rule.
    ///
    /// Stated in Linux are gfx900 to gfx90a (`amdgpu_discovery.c` sets both versions there) and gfx10 (the
    /// product names of `kfd_device_info_set_sdma_info`). From gfx94x on both versions are read from the device
    /// and no public source pairs them: these are what shipped products report, and gfx950 with 4.4.2 and gfx12
    /// with 7.0 are not confirmed.
    pub const fn for_generation(generation: Generation) -> Version {
        match generation {
            Generation::Gfx906 | Generation::Gfx908 => Version::V4_0,
            Generation::Gfx90a => Version::V4_4,
            Generation::Gfx94x | Generation::Gfx950 => Version::V4_4_2,
            Generation::Gfx101 => Version::V5_0,
            Generation::Gfx103 => Version::V5_2,
            Generation::Gfx11 => Version::V6_0,
            Generation::Gfx115 => Version::V6_1,
            Generation::Gfx12 => Version::V7_0,
        }
    }

    /// The name as golden data and tools write it: `"4.4.2"`.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V4_0 => "4.0",
            Version::V4_4 => "4.4",
            Version::V4_4_2 => "4.4.2",
            Version::V5_0 => "5.0",
            Version::V5_2 => "5.2",
            Version::V6_0 => "6.0",
            Version::V6_1 => "6.1",
            Version::V7_0 => "7.0",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SDMA {}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_versions() {
        // All of kfd_device_info_set_sdma_info, and what is not there.
        for (ip, version) in [
            ((4, 0, 0), Some(Version::V4_0)),
            ((4, 0, 1), Some(Version::V4_0)),
            ((4, 1, 0), Some(Version::V4_0)),
            ((4, 1, 2), Some(Version::V4_0)),
            ((4, 2, 0), Some(Version::V4_0)),
            ((4, 2, 2), Some(Version::V4_0)),
            ((4, 4, 0), Some(Version::V4_4)),
            ((4, 4, 2), Some(Version::V4_4_2)),
            ((4, 4, 4), Some(Version::V4_4_2)),
            ((4, 4, 5), Some(Version::V4_4_2)),
            ((5, 0, 5), Some(Version::V5_0)),
            ((5, 2, 7), Some(Version::V5_2)),
            ((6, 0, 3), Some(Version::V6_0)),
            ((6, 1, 2), Some(Version::V6_1)),
            ((7, 0, 1), Some(Version::V7_0)),
            ((4, 3, 0), None),
            ((4, 4, 1), None),
            ((5, 1, 0), None),
            ((7, 1, 0), None),
            ((3, 0, 0), None),
            ((0, 0, 0), None),
            ((u32::MAX, u32::MAX, u32::MAX), None),
        ] {
            assert_eq!(Version::from_ip(ip.0, ip.1, ip.2), version, "{ip:?}");
        }
    }

    #[test]
    fn every_version_is_in_the_set_of_all() {
        for (index, version) in Version::ALL.into_iter().enumerate() {
            assert_eq!(version as usize, index);
            assert!(version.is_in(versions::ALL));
        }
        assert_eq!(versions::ALL.0.count_ones() as usize, Version::ALL.len());
    }

    #[test]
    fn every_generation_has_one() {
        for generation in Generation::ALL {
            assert!(Version::ALL.contains(&Version::for_generation(generation)), "{generation}");
        }
    }
}
