//! In what the generations execute differently, beyond their instructions.

use super::Launch;
use super::fp8::Format;
use amdgpu_isa::{Generation, Target};

/// A hardware register that `s_getreg_b32` and `s_setreg_b32` name, as far as something stands for it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    Mode,
    Status,
    /// TRAPSTS, EXCP_FLAG_PRIV.
    TrapStatus,
    VgprAllocation,
    LdsAllocation,
    InstructionBuffer,
    Apertures,
    ScratchLow,
    ScratchHigh,
    HardwareId,
    /// The accelerator die, XCC_ID.
    Die,
    HardwareId1,
    HardwareId2,
    /// 20 bits of a cycle counter.
    Cycles,
    /// A cycle counter's bits 31:0.
    CyclesLow,
    /// Its bits 63:32.
    CyclesHigh,
    /// STATUS of gfx12.
    StatusGfx12,
    /// What a trap handler saves and restores.
    StatePriv,
    /// Arithmetic exceptions that happened; none does here.
    ExceptionsUser,
    /// Arithmetic exceptions, and others, that enter the trap handler.
    TrapControl,
}

/// How traps and exceptions enter Linux's trap handler, and what that hands on.
#[derive(Debug)]
pub(super) struct Traps {
    /// Bits of the trap's number, and where they are in TTMP1:TTMP0.
    pub(super) number_bits: u32,
    pub(super) number_shift: u32,
    /// Exceptions that always enter the handler, in TRAPSTS or EXCP_FLAG_PRIV; the others that do are not raised here.
    pub(super) memory_violation: u32,
    pub(super) illegal_instruction: u32,
    /// Whether TTMP12 holds STATE_PRIV, not STATUS.
    pub(super) saves_state: bool,
    /// What the handler clears in it.
    pub(super) not_handed_on: u32,
    /// What it clears in TTMP11: that a debugger is attached, as none ever is, or gfx9's IB_STS.FIRST_REPLAY and RCNT,
    /// which are 0 here.
    pub(super) cleared: u32,
    /// It halts a wave with an exception, and takes its PC back, before the process's handler has it
    /// (cwsr_trap_handler_gfx9.asm).
    pub(super) halts_exceptions: bool,
}

/// As gfx11's, but that ECC_ERR is handed on.
static TRAPS_GFX9: Traps =
    Traps { not_handed_on: 0x6, cleared: 0xfc00_0000, halts_exceptions: true, ..TRAPS_GFX11 };

/// RDNA3 ISA document, S_TRAP; gc_11_0_0_sh_mask.h, `SQ_WAVE_TRAPSTS` (EXCP bit 8 by the KFD's
/// `SQ_WAVE_TRAPSTS_MEM_VIOL_MASK`), `SQ_WAVE_STATUS`: SPI_PRIO and ECC_ERR are cleared.
const TRAPS_GFX11: Traps = Traps {
    number_bits: 8,
    number_shift: 48,
    memory_violation: 1 << 8,
    illegal_instruction: 1 << 11,
    saves_state: false,
    not_handed_on: 0x6 | 0x2_0000,
    cleared: 1 << 23,
    halts_exceptions: false,
};

/// RDNA4 ISA document, S_TRAP; amdkfd/cwsr_trap_handler_gfx12.asm, `SQ_WAVE_EXCP_FLAG_PRIV_*`,
/// `SQ_WAVE_STATE_PRIV_ALWAYS_CLEAR_MASK`.
static TRAPS_GFX12: Traps = Traps {
    number_bits: 4,
    number_shift: 60,
    memory_violation: 1 << 4,
    illegal_instruction: 1 << 6,
    saves_state: true,
    not_handed_on: 0xc00 | 0x8000,
    cleared: 1 << 23,
    halts_exceptions: false,
};

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

/// Loads from memory into LDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StagedLoads {
    /// None that compilers emit.
    None,
    /// Of buffers, so many bits of M0 say where in LDS.
    Bits(u32),
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
    pub(super) staged_loads: StagedLoads,
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
    /// Compare-and-store of DS has the comparand in its first data register and the new value in its second, DS_CMPST;
    /// DS_CMPSTORE of gfx11 on has them the other way round (AMD's pseudocode in tinygrad's
    /// `runtime/autogen/amd/{cdna,rdna3,rdna4}/str_pcode.py`; for gfx10.3 Mesa's aco_instruction_selection.cpp,
    /// `visit_shared_atomic`).
    pub(super) comparand_first: bool,
    /// DS_APPEND and DS_CONSUME count at their offset, and M0 is nothing to them (AMD's pseudocode in tinygrad's
    /// `runtime/autogen/amd/rdna4/str_pcode.py`). Before, the document adds "M0.base", LLVM puts the whole address
    /// there (AMDGPUISelDAGToDAG.cpp, `SelectDSAppendConsume`), and Mesa leaves in M0 what there was (ACO,
    /// `visit_shared_append`).
    pub(super) counts_at_offset: bool,
    /// RSRC2 bit 6 is TRAP_PRESENT; gfx12 has another meaning for it, and its waves always take traps.
    pub(super) trap_present: bool,
    /// What Linux's trap handler does, where it is modelled.
    pub(super) traps: Option<&'static Traps>,
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
    staged_loads: StagedLoads::Bits(16),
    message_operations: true,
    comparand_first: true,
    traps: None,
    ..GFX11
};

const GFX11: Traits = Traits {
    vgpr_granule: [8, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::Register,
    packed_ids: true,
    buffers: Buffers::Gfx11,
    staged_loads: StagedLoads::None,
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
    comparand_first: false,
    counts_at_offset: false,
    trap_present: true,
    traps: Some(&TRAPS_GFX11),
};

static GFX12: Traits = Traits {
    vgpr_granule: [8, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::Register,
    packed_ids: true,
    buffers: Buffers::Gfx11,
    staged_loads: StagedLoads::None,
    message_operations: false,
    wide_byte_pairs: false,
    byte_floats: [Format::Fp8, Format::Bf8],
    registers: &[
        (1, Register::Mode),
        (2, Register::StatusGfx12),
        (4, Register::StatePriv),
        (5, Register::VgprAllocation),
        (6, Register::LdsAllocation),
        (7, Register::InstructionBuffer),
        (17, Register::TrapStatus),
        (18, Register::ExceptionsUser),
        (19, Register::TrapControl),
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
    comparand_first: false,
    counts_at_offset: true,
    trap_present: false,
    traps: Some(&TRAPS_GFX12),
};

const GFX906: Traits = Traits {
    vgpr_granule: [4, 4],
    accumulators: Accumulators::None,
    flat_scratch: FlatScratch::SetByKernel,
    packed_ids: false,
    buffers: Buffers::Gfx9,
    staged_loads: StagedLoads::Bits(16),
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
    comparand_first: true,
    counts_at_offset: false,
    trap_present: true,
    traps: Some(&TRAPS_GFX9),
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

const GFX950: Traits = Traits {
    byte_floats: [Format::Fp8, Format::Bf8],
    staged_loads: StagedLoads::Bits(18),
    ..GFX942
};
