//! In what the generations execute differently, beyond their instructions.

use amdgpu_isa::{Generation, Target};

/// A hardware register that `s_getreg_b32` and `s_setreg_b32` name, as far as something stands for it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    Mode,
    Status,
    TrapStatus,
    VgprAllocation,
    LdsAllocation,
    InstructionBuffer,
    Apertures,
    ScratchLow,
    ScratchHigh,
    HardwareId1,
    HardwareId2,
    /// 20 bits of a cycle counter.
    Cycles,
    /// A cycle counter's bits 31:0.
    CyclesLow,
    /// Its bits 63:32.
    CyclesHigh,
}

/// The properties of a generation.
#[derive(Debug)]
pub(super) struct Traits {
    /// Hardware registers by number (LLVM's AMDGPUAsmUtils.cpp, table `Hwreg::Opr`).
    pub(super) registers: &'static [(u32, Register)],
    /// Workgroup ids and the wave's number are in trap temporaries, which all waves can read, not in SGPRs after
    /// the user data (LLVM's AMDGPUUsage document, "Initial Kernel Execution State": workgroup ids of gfx12;
    /// AMDGPULegalizerInfo.cpp, `legalizeWaveID`).
    pub(super) architected_ids: bool,
    /// MODE has DX10_CLAMP and IEEE. Without them NaNs are clamped to 0, and the minimum and maximum are those of
    /// IEEE 754-2019's minimumNumber and maximumNumber, which quiet the first of two NaNs (RDNA4 ISA document,
    /// V_MIN_NUM_F32; LLVM's GCNSubtarget.h, `hasIEEEMode`, `hasDX10ClampMode`).
    pub(super) float_switches: bool,
    /// Lane permutations of DS reach all lanes of wave64 (RDNA4 ISA document, DS_PERMUTE_B32), not only the 32 of
    /// the pass.
    pub(super) permutes_whole_wave: bool,
    /// What Linux's trap handler does is modelled.
    pub(super) takes_traps: bool,
}

impl Traits {
    /// Those of a target.
    pub(super) fn of(target: Target) -> &'static Traits {
        match target.generation() {
            Generation::Gfx11 | Generation::Gfx11_5 => &GFX11,
            Generation::Gfx12 => &GFX12,
            // Whose dispatches do not start.
            Generation::Gfx906 | Generation::Gfx908 | Generation::Gfx90a | Generation::Gfx942 => {
                &GFX11
            }
        }
    }

    /// The hardware register with this number.
    pub(super) fn register(&self, number: u32) -> Option<Register> {
        self.registers.iter().find(|&&(known, _)| known == number).map(|&(_, register)| register)
    }
}

static GFX11: Traits = Traits {
    registers: &[
        (1, Register::Mode),
        (2, Register::Status),
        (3, Register::TrapStatus),
        (5, Register::VgprAllocation),
        (6, Register::LdsAllocation),
        (7, Register::InstructionBuffer),
        (15, Register::Apertures),
        (20, Register::ScratchLow),
        (21, Register::ScratchHigh),
        (23, Register::HardwareId1),
        (24, Register::HardwareId2),
        (29, Register::Cycles),
    ],
    architected_ids: false,
    float_switches: true,
    permutes_whole_wave: false,
    takes_traps: true,
};

static GFX12: Traits = Traits {
    registers: &[
        (1, Register::Mode),
        (5, Register::VgprAllocation),
        (6, Register::LdsAllocation),
        (7, Register::InstructionBuffer),
        (20, Register::ScratchLow),
        (21, Register::ScratchHigh),
        (23, Register::HardwareId1),
        (24, Register::HardwareId2),
        (29, Register::CyclesLow),
        (30, Register::CyclesHigh),
    ],
    architected_ids: true,
    float_switches: false,
    permutes_whole_wave: true,
    takes_traps: false,
};
