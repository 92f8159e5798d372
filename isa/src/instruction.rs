//! A decoded instruction.

use crate::Opcode;

/// One decoded instruction: what it does, how long it is, and its operand fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// The operation.
    pub opcode: Opcode,
    /// Length in bytes including a literal or DPP dword: 4, 8, 12, or 16.
    pub size: u8,
    /// The literal constant dword, where the encoding carried one.
    pub literal: Option<u32>,
    /// The operand fields of its format.
    pub fields: Fields,
}

impl Instruction {
    /// The most dwords of one.
    pub const MAX_DWORDS: usize = 4;
}

/// A source operand of the scalar or vector ALU, as the 9-bit hardware code of gfx11
/// (RDNA3 ISA document, section 3.1 "Source operands"; other generations are normalised to it):
/// 0–105 SGPR, 106/107 VCC, 108–123 TTMP, 124 NULL, 125 M0, 126/127 EXEC, 128–208 inline
/// integers, 235–238 apertures, 240–248 inline floats, 253 SCC, 255 literal, 256–511 VGPR. What gfx11 lacks
/// keeps its code of gfx9: 102/103 FLAT_SCRATCH, 104/105 XNACK_MASK, 251 VCCZ, 252 EXECZ, 254 LDS_DIRECT; 512–767
/// are accumulation VGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src(pub u16);

impl Src {
    /// `vcc_lo`.
    pub const VCC_LO: Src = Src(106);
    /// `null`.
    pub const NULL: Src = Src(124);
    /// `m0`.
    pub const M0: Src = Src(125);
    /// `exec_lo`.
    pub const EXEC_LO: Src = Src(126);
    /// `src_scc`.
    pub const SCC: Src = Src(253);
    /// A literal dword follows the instruction.
    pub const LITERAL: Src = Src(Src::LITERAL_CODE);
    pub(crate) const LITERAL_CODE: u16 = 255;

    /// The VGPR number, when this is one.
    pub const fn vgpr(self) -> Option<u8> {
        match self.0 {
            256..512 => Some((self.0 - 256) as u8),
            _ => None,
        }
    }

    /// The accumulation VGPR's number, when this is one.
    pub const fn accumulator(self) -> Option<u8> {
        match self.0 {
            512..768 => Some((self.0 - 512) as u8),
            _ => None,
        }
    }
}

/// Data-parallel-primitive lane movement applied to `src0` (RDNA3 ISA document, DPP16 and DPP8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dpp {
    /// DPP16: `dpp_ctrl`, masks, and what an out-of-range lane reads.
    Dpp16 {
        /// 9-bit control: quad_perm, row_shl, row_mirror, ...
        ctrl: u16,
        /// Rows (of 16 lanes) that are written.
        row_mask: u8,
        /// Banks (of 4 lanes in a row) that are written.
        bank_mask: u8,
        /// Out-of-range lanes read 0 instead of disabling the lane.
        bound_ctrl: bool,
        /// Fetch inactive lanes.
        fi: bool,
    },
    /// DPP8: a source lane (0–7) for each lane of a group of eight.
    Dpp8 {
        /// Source lane of each of the eight.
        sel: [u8; 8],
        /// Fetch inactive lanes.
        fi: bool,
    },
}

/// Sub-dword addressing: which part of each operand a VOP1, VOP2 or VOPC operation takes ("Vega 7nm" ISA document,
/// "SDWA"). Negate, absolute value, clamp and output modifiers are in [`Valu`], and so is a scalar source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdwa {
    /// Part of the destination that is written.
    pub dst_sel: Select,
    /// What becomes of the rest of the destination: 0 zero, 1 sign of the part, 2 preserved.
    pub dst_unused: u8,
    /// Part of each source.
    pub src_sel: [Select; 2],
    /// Whether each source's part is sign-extended.
    pub sext: [bool; 2],
}

/// A part of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names are AMD's own")]
pub enum Select {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    Dword,
}

/// Half of a dual-issue VOPD instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualOp {
    /// The operation, as its single-issue name (`V_DUAL_ADD_F32` → `V_ADD_F32`).
    pub opcode: Opcode,
    /// Destination VGPR.
    pub vdst: u8,
    /// First source. Both halves share [`Instruction::literal`].
    pub src0: Src,
    /// Second source VGPR; unused by V_MOV_B32. V_FMAMK_F32 computes `src0 * literal + vsrc1`,
    /// V_FMAAK_F32 `src0 * vsrc1 + literal`; V_CNDMASK_B32 selects by VCC.
    pub vsrc1: u8,
}

/// Fields of every vector ALU encoding but VOP3P and VOPD (VOP1, VOP2, VOPC, VOP3, VOP3SD,
/// VINTERP, with or without DPP). Fields an encoding lacks have their neutral value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valu {
    /// Destination VGPR (or SGPR code for V_READLANE/V_READFIRSTLANE).
    pub vdst: u8,
    /// Scalar destination: VOPC result (VCC in the 32-bit encoding, 126 EXEC for CMPX), carry-out of VOP3SD
    /// and of VOP2's carry instructions. 124 (NULL) when the operation has none.
    pub sdst: u8,
    /// Sources; unused ones are `Src(0)`. VOP2's carry-in or selector (VCC) is made explicit in
    /// `src[2]`. The literal of V_FMAMK is `src[1]` and of V_FMAAK `src[2]`, so that both, like V_FMA,
    /// compute `src[0] * src[1] + src[2]`. Accumulators (V_FMAC, V_DOT2ACC) read `vdst`, not a source.
    pub src: [Src; 3],
    /// How many of `src` the operation reads.
    pub src_count: u8,
    /// Negate, bit per source; clear for sources that cannot be negated.
    pub neg: u8,
    /// Absolute value, bit per source, taken before [`neg`](Self::neg); clear for sources that have none.
    pub abs: u8,
    /// High-half select, bits 0–2 per source, bit 3 destination; clear for operands that are not 16
    /// bits wide. In the 32-bit encodings, which name halves as registers (bit 7 of a VGPR number is
    /// the half, so that only v0–v127 are in reach), the half is moved here and the register number
    /// is the plain one. V_PERMLANE16 and V_PERMLANEX16 have fetch-inactive in bit 0 and bound
    /// control in bit 1.
    pub op_sel: u8,
    /// Clamp (integer saturation or to the range 0 to 1).
    pub clamp: bool,
    /// Output modifier: 0 none, 1 ×2, 2 ×4, 3 ÷2; 0 for operations without floats.
    pub omod: u8,
    /// Lane movement on `src[0]`.
    pub dpp: Option<Dpp>,
    /// Parts of the operands.
    pub sdwa: Option<Sdwa>,
    /// Whether the 64-bit (VOP3) encoding was used.
    pub vop3: bool,
    /// VINTERP's wait for outstanding exports (7: none).
    pub wait_exp: u8,
}

/// Scales of the two matrices of V_MFMA_SCALE, given by the V_MFMA_LD_SCALE_B32 that its encoding begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixScale {
    /// VGPRs with four scales each.
    pub src: [Src; 2],
    /// Low bits of which of the four it is, bit per source.
    pub op_sel: u8,
    /// High bits.
    pub op_sel_hi: u8,
}

/// Operand fields by format. Field names are AMD's (RDNA3 ISA document, chapter "Microcode formats").
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "field names are the document's own")]
pub enum Fields {
    /// Scalar, one source. S_SENDMSG_RTN has its message number in `ssrc0`.
    Sop1 { sdst: u8, ssrc0: Src },
    /// Scalar, two sources. S_FMAAK_F32 computes `ssrc0 * ssrc1 + literal`, S_FMAMK_F32
    /// `ssrc0 * literal + ssrc1`.
    Sop2 { sdst: u8, ssrc0: Src, ssrc1: Src },
    /// Scalar with a 16-bit immediate (S_SETREG_IMM32_B32 has its literal in `literal`). For compares,
    /// S_SETREG_B32 and the split waits `sdst` is a source.
    Sopk { sdst: u8, simm16: u16 },
    /// Scalar compare.
    Sopc { ssrc0: Src, ssrc1: Src },
    /// Program control.
    Sopp { simm16: u16 },
    /// Scalar memory. `sbase` is the first SGPR of the pair or quad; `offset` is
    /// sign-extended 21 bits (gfx12: 24 bits).
    Smem {
        sdata: u8,
        sbase: u8,
        soffset: Src,
        offset: i32,
        glc: bool,
        dlc: bool,
        th: u8,
        scope: u8,
    },
    /// Vector ALU.
    Valu(Valu),
    /// Packed vector ALU, WMMA, dot products. The mixed-precision multiply-adds have absolute value in
    /// `neg_hi`; unused sources are `Src(0)`.
    Vop3p {
        vdst: u8,
        src: [Src; 3],
        neg_lo: u8,
        neg_hi: u8,
        op_sel: u8,
        op_sel_hi: u8,
        clamp: bool,
        dpp: Option<Dpp>,
    },
    /// Matrix multiply-add, or a move of an accumulation register. `vdst` is a VGPR or an accumulation VGPR. `cbsz`
    /// and `abid` broadcast blocks of the first matrix, `blgp` permutes lanes of the second or, for doubles, negates;
    /// but see [`Opcode::has_matrix_formats`]. V_MFMA_SCALE has a `scale`.
    Matrix { vdst: Src, src: [Src; 3], cbsz: u8, abid: u8, blgp: u8, scale: Option<MatrixScale> },
    /// Dual issue.
    Vopd { x: DualOp, y: DualOp },
    /// LDS and GDS. With `acc` data and destination are accumulation VGPRs.
    Ds { vdst: u8, addr: u8, data0: u8, data1: u8, offset0: u8, offset1: u8, gds: bool, acc: bool },
    /// FLAT, GLOBAL and SCRATCH. `saddr` is NULL (124) when absent; `sve` is SCRATCH's "vaddr used" bit.
    /// `offset` is signed, but unsigned and below 4096 for FLAT before gfx12. `dlc` is gfx90a's `scc`
    /// and gfx942's `sc1`, whose `sc0` is `glc` and `nt` is `slc`; gfx12 has a temporal hint (`th`) and a
    /// `scope` instead of the three, and `glc` is set when an atomic's hint asks for the old value.
    /// `lds`: a load goes to LDS. With `acc`, data and destination are accumulation VGPRs.
    Flat {
        vdst: u8,
        addr: u8,
        data: u8,
        saddr: Src,
        offset: i32,
        sve: bool,
        glc: bool,
        slc: bool,
        dlc: bool,
        th: u8,
        scope: u8,
        acc: bool,
        lds: bool,
    },
    /// Buffer. The cache policy, `lds` and `acc` are as FLAT's. `format`: a typed buffer's data format (low
    /// four bits) and number format.
    Mubuf {
        vdata: u8,
        vaddr: u8,
        srsrc: u8,
        soffset: Src,
        offset: u32,
        offen: bool,
        idxen: bool,
        glc: bool,
        slc: bool,
        dlc: bool,
        th: u8,
        scope: u8,
        tfe: bool,
        lds: bool,
        acc: bool,
        format: u8,
    },
}
