//! In what the generations execute differently, beyond their instructions.

use super::Launch;
use super::fp8::Format;
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
    HardwareId,
    /// The accelerator die.
    Die,
    HardwareId1,
    HardwareId2,
    /// 20 bits of a cycle counter.
    Cycles,
    /// A cycle counter's bits 31:0.
    CyclesLow,
    /// Its bits 63:32.
    CyclesHigh,
}

/// Where a wave's scratch address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlatScratch {
    /// In a hardware register that a wave starts with.
    Register,
    /// In a hardware register that the kernel sets from FLAT_SCRATCH_INIT and the wave's offset.
    RegisterSetByKernel,
    /// In the scalar registers FLAT_SCRATCH, which the kernel sets from FLAT_SCRATCH_INIT and the wave's offset.
    SetByKernel,
    /// In the scalar registers FLAT_SCRATCH, which a wave starts with (LLVM's AMDGPUUsage document, "Architected flat
    /// scratch").
    SetByHardware,
}

/// Layouts of buffer descriptors and rules for what is beyond a buffer's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffers {
    /// SWIZZLE_ENABLE is bit 31 of the second dword; offsets from NUM_RECORDS on are outside, or of swizzled records
    /// indices.
    Gfx9,
    /// The same bit, and OOB_SELECT.
    Gfx10,
    /// SWIZZLE_ENABLE has two bits, and OOB_SELECT.
    Gfx11,
}

/// Accumulation VGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accumulators {
    /// None.
    None,
    /// A file of its own, as large as the VGPRs'.
    Separate,
    /// The VGPRs from COMPUTE_PGM_RSRC3.ACCUM_OFFSET on.
    Shared,
}

/// Vector registers of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Registers {
    /// VGPRs.
    pub(super) vgprs: usize,
    /// VGPRs and accumulation VGPRs, which follow them.
    pub(super) all: usize,
}

/// The properties of a generation.
#[derive(Debug)]
pub(super) struct Traits {
    /// VGPRs that RSRC1.VGPRS counts by, in wave32 and in wave64 (LLVM's AMDGPUUsage document,
    /// `GRANULATED_WORKITEM_VGPR_COUNT`).
    vgpr_granule: [usize; 2],
    accumulators: Accumulators,
    pub(super) flat_scratch: FlatScratch,
    /// VGPR 0 holds all work-item ids; otherwise they are in VGPRs 0 to 2.
    pub(super) packed_ids: bool,
    pub(super) buffers: Buffers,
    /// Numbers of messages have four bits, and an operation follows.
    pub(super) message_operations: bool,
    /// V_CVT_PK_F32_FP8 and its like read a register of 32 bits, not a half of one.
    pub(super) wide_byte_pairs: bool,
    /// FP8 and BF8.
    pub(super) byte_floats: [Format; 2],
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
    /// MFMA of doubles negates by the bits that permute lanes otherwise (LLVM's VOP3PInstructions.td, `MAIInst`).
    pub(super) negates_matrices: bool,
    /// MFMA can permute lanes also of matrices of one block whose elements are narrower than 32 bits (AMD's matrix
    /// instruction calculator, "BLGP bits supported").
    pub(super) permutes_single_blocks: bool,
    /// Lane permutations of DS reach all lanes of wave64 (RDNA4 ISA document, DS_PERMUTE_B32), not only the 32 of
    /// the pass.
    pub(super) permutes_whole_wave: bool,
    /// RSRC2 bit 6 is TRAP_PRESENT; gfx12 has another meaning for it, and its waves always take traps.
    pub(super) trap_present: bool,
    /// What Linux's trap handler does is modelled.
    pub(super) takes_traps: bool,
    /// Linux's trap handler halts a wave with an exception, and takes its PC back, before the process's handler has it
    /// (cwsr_trap_handler_gfx9.asm).
    pub(super) halts_exceptions: bool,
}

impl Traits {
    /// Those of a target.
    pub(super) fn of(target: Target) -> &'static Traits {
        match target.generation() {
            Generation::Gfx10_3 => &GFX10_3,
            Generation::Gfx11 | Generation::Gfx11_5 => &GFX11,
            Generation::Gfx12 => &GFX12,
            Generation::Gfx906 => &GFX906,
            Generation::Gfx908 => &GFX908,
            Generation::Gfx90a => &GFX90A,
            Generation::Gfx942 => &GFX942,
            Generation::Gfx950 => &GFX950,
        }
    }

    /// The registers of each of a dispatch's waves. ACCUM_OFFSET counts VGPRs by four, less one (LLVM's AMDGPUUsage
    /// document, `compute_pgm_rsrc3` for gfx90a, gfx942).
    pub(super) fn registers(&self, launch: &Launch) -> Registers {
        let granules = (launch.rsrc1 & 0x3f) as usize + 1;
        let vgprs = granules * self.vgpr_granule[usize::from(!launch.wave32)];
        match self.accumulators {
            Accumulators::None => Registers { vgprs: vgprs.min(256), all: vgprs.min(256) },
            Accumulators::Separate => Registers { vgprs: vgprs.min(256), all: 2 * vgprs.min(256) },
            Accumulators::Shared => {
                let first = 4 * ((launch.rsrc3 & 0x3f) as usize + 1);
                Registers { vgprs: first.min(vgprs).min(256), all: vgprs.min(512) }
            }
        }
    }

    /// The hardware register with this number.
    pub(super) fn register(&self, number: u32) -> Option<Register> {
        self.registers.iter().find(|&&(known, _)| known == number).map(|&(_, register)| register)
    }
}

const GFX10_3: Traits = Traits {
    flat_scratch: FlatScratch::RegisterSetByKernel,
    packed_ids: false,
    buffers: Buffers::Gfx10,
    message_operations: true,
    takes_traps: false,
    halts_exceptions: false,
    ..GFX11
};

const GFX11: Traits = Traits {
    vgpr_granule: [8, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::Register,
    packed_ids: true,
    buffers: Buffers::Gfx11,
    message_operations: false,
    wide_byte_pairs: false,
    byte_floats: [Format::Fp8, Format::Bf8],
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
    negates_matrices: false,
    permutes_single_blocks: true,
    permutes_whole_wave: false,
    trap_present: true,
    takes_traps: true,
    halts_exceptions: false,
};

static GFX12: Traits = Traits {
    vgpr_granule: [8, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::Register,
    packed_ids: true,
    buffers: Buffers::Gfx11,
    message_operations: false,
    wide_byte_pairs: false,
    byte_floats: [Format::Fp8, Format::Bf8],
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
    negates_matrices: false,
    permutes_single_blocks: true,
    permutes_whole_wave: true,
    trap_present: false,
    takes_traps: false,
    halts_exceptions: false,
};

const GFX906: Traits = Traits {
    vgpr_granule: [4, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::SetByKernel,
    packed_ids: false,
    buffers: Buffers::Gfx9,
    message_operations: true,
    wide_byte_pairs: true,
    byte_floats: [Format::Fp8Fnuz, Format::Bf8Fnuz],
    registers: &[
        (1, Register::Mode),
        (2, Register::Status),
        (3, Register::TrapStatus),
        (4, Register::HardwareId),
        (7, Register::InstructionBuffer),
        (15, Register::Apertures),
    ],
    architected_ids: false,
    float_switches: true,
    negates_matrices: false,
    permutes_single_blocks: true,
    permutes_whole_wave: true,
    trap_present: true,
    takes_traps: true,
    halts_exceptions: true,
};

const GFX908: Traits = Traits { accumulators: Accumulators::Separate, ..GFX906 };

const GFX90A: Traits =
    Traits { vgpr_granule: [8, 8], accumulators: Accumulators::Shared, packed_ids: true, ..GFX906 };

const GFX942: Traits = Traits {
    negates_matrices: true,
    permutes_single_blocks: false,
    flat_scratch: FlatScratch::SetByHardware,
    registers: &[
        (1, Register::Mode),
        (2, Register::Status),
        (3, Register::TrapStatus),
        (4, Register::HardwareId),
        (7, Register::InstructionBuffer),
        (15, Register::Apertures),
        (20, Register::Die),
    ],
    ..GFX90A
};

const GFX950: Traits = Traits { byte_floats: [Format::Fp8, Format::Bf8], ..GFX942 };
