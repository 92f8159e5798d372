//! How many waves of a workgroup fit into the vector registers of a compute unit.
//!
//! Sources: LLVM's AMDGPUBaseInfo.cpp (getTotalNumVGPRs, getVGPRAllocGranule, getEUsPerCU,
//! getMaxWavesPerEU) and AMDGPU.td (which targets have FeatureGFX11FullVGPRs or
//! Feature1_5xVGPRs).

/// The vector registers that one workgroup can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterFile {
    /// VGPRs of a SIMD, for waves of the size asked for.
    vgprs: u32,
    /// What an allocation is rounded up to.
    granule: u32,
    /// SIMDs that a workgroup can use.
    simds: u32,
    /// Waves of a SIMD.
    waves: u32,
}

impl RegisterFile {
    /// That of a target (KFD `gfx_target_version`), for waves of `lanes` lanes; `whole_wgp` when
    /// workgroups use both compute units of their workgroup processor (WGP_MODE, from gfx10 on).
    pub(super) fn of(target: u32, lanes: u32, whole_wgp: bool) -> RegisterFile {
        let narrow = |vgprs: u32, granule: u32, waves: u32| RegisterFile {
            vgprs: vgprs * 32 / lanes,
            granule: granule * 32 / lanes,
            simds: if whole_wgp { 4 } else { 2 },
            waves,
        };
        match target {
            110_000 | 110_001 | 110_501 | 120_000.. => narrow(1536, 24, 16),
            100_300.. => narrow(1024, 16, 16),
            100_100.. => narrow(1024, 8, 20),
            90_010 | 90_400.. => RegisterFile { vgprs: 512, granule: 8, simds: 4, waves: 8 },
            _ => RegisterFile { vgprs: 256, granule: 4, simds: 4, waves: 10 },
        }
    }

    /// VGPRs that a wave with so many gets.
    pub(super) fn allocated(&self, vgprs: u32) -> u32 {
        vgprs.next_multiple_of(self.granule)
    }

    /// Waves with so many VGPRs each that a workgroup can have.
    pub(super) fn workgroup_waves(&self, vgprs: u32) -> u32 {
        let fit = self.vgprs / self.allocated(vgprs).max(1);
        fit.min(self.waves) * self.simds
    }
}

#[cfg(test)]
mod tests {
    use super::RegisterFile;

    #[test]
    fn gfx11() {
        let wide = RegisterFile::of(110_501, 32, true);
        assert_eq!(wide.allocated(8), 24);
        assert_eq!(wide.workgroup_waves(96), 64);
        assert_eq!(wide.workgroup_waves(192), 32);
        assert_eq!(wide.workgroup_waves(256), 20);
        let half = RegisterFile::of(110_501, 64, false);
        assert_eq!(half.workgroup_waves(256), 4);
        assert_eq!(RegisterFile::of(110_003, 32, false).workgroup_waves(256), 8);
    }

    #[test]
    fn gfx9() {
        assert_eq!(RegisterFile::of(90_006, 64, false).workgroup_waves(256), 4);
        assert_eq!(RegisterFile::of(90_402, 64, false).workgroup_waves(512), 4);
    }
}
