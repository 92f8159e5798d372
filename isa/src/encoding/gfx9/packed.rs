//! Opcode numbers of gfx9, packed formats (AMD "Instinct MI300" and "Vega 7nm" ISA documents, chapter "Microcode
//! formats"; numbers as in tinygrad's generated `runtime/autogen/amd/cdna/enum.py` and, for operations that
//! gfx942 no longer has, as LLVM 19's disassembler reads them).

use crate::Opcode::{self, *};

/// VOP3P.
pub(super) const VOP3P: &[(u16, Opcode)] = &[
    (0, V_PK_MAD_I16),
    (1, V_PK_MUL_LO_U16),
    (2, V_PK_ADD_I16),
    (3, V_PK_SUB_I16),
    (4, V_PK_LSHLREV_B16),
    (5, V_PK_LSHRREV_B16),
    (6, V_PK_ASHRREV_I16),
    (7, V_PK_MAX_I16),
    (8, V_PK_MIN_I16),
    (9, V_PK_MAD_U16),
    (10, V_PK_ADD_U16),
    (11, V_PK_SUB_U16),
    (12, V_PK_MAX_U16),
    (13, V_PK_MIN_U16),
    (14, V_PK_FMA_F16),
    (15, V_PK_ADD_F16),
    (16, V_PK_MUL_F16),
    (17, V_PK_MIN_F16),
    (18, V_PK_MAX_F16),
    (32, V_FMA_MIX_F32),
    (33, V_FMA_MIXLO_F16),
    (34, V_FMA_MIXHI_F16),
    (35, V_DOT2_F32_F16),
    (38, V_DOT2_I32_I16),
    (39, V_DOT2_U32_U16),
    (40, V_DOT4_I32_I8),
    (41, V_DOT4_U32_U8),
    (42, V_DOT8_I32_I4),
    (43, V_DOT8_U32_U4),
];

/// VOP3P. gfx908 and gfx90a have these; gfx942 numbers or names them otherwise.
pub(super) const VOP3P_GFX908_GFX90A: &[(u16, Opcode)] = &[
    (84, V_MFMA_I32_32X32X8_I8),
    (85, V_MFMA_I32_16X16X16_I8),
    (104, V_MFMA_F32_32X32X2_2B_BF16),
    (105, V_MFMA_F32_16X16X2_4B_BF16),
    (107, V_MFMA_F32_4X4X2_16B_BF16),
    (108, V_MFMA_F32_32X32X4_BF16),
    (109, V_MFMA_F32_16X16X8_BF16),
];

/// VOP3P. Only gfx90a has these.
pub(super) const VOP3P_GFX90A: &[(u16, Opcode)] = &[
    (99, V_MFMA_F32_32X32X4_2B_BF16),
    (100, V_MFMA_F32_16X16X4_4B_BF16),
    (101, V_MFMA_F32_4X4X4_16B_BF16),
    (102, V_MFMA_F32_32X32X8_BF16),
    (103, V_MFMA_F32_16X16X16_BF16),
];

/// VOP3P. Only gfx942 has these.
pub(super) const VOP3P_GFX942: &[(u16, Opcode)] =
    &[(62, V_MFMA_F32_16X16X8_XF32), (63, V_MFMA_F32_32X32X4_XF32)];

/// VOP3P. Only gfx950 has these.
pub(super) const VOP3P_GFX950: &[(u16, Opcode)] = &[
    (26, V_DOT2_F32_BF16),
    (27, V_PK_MINIMUM3_F16),
    (28, V_PK_MAXIMUM3_F16),
    (53, V_MFMA_F32_16X16X32_BF16),
    (54, V_MFMA_I32_16X16X64_I8),
    (55, V_MFMA_F32_32X32X16_BF16),
    (56, V_MFMA_I32_32X32X32_I8),
    (57, V_SMFMAC_F32_16X16X64_BF16),
    (58, V_SMFMAC_I32_16X16X128_I8),
    (59, V_SMFMAC_F32_16X16X128_BF8_BF8),
    (60, V_SMFMAC_F32_16X16X128_BF8_FP8),
    (61, V_SMFMAC_F32_16X16X128_FP8_BF8),
    (67, V_SMFMAC_F32_16X16X128_FP8_FP8),
    (70, V_SMFMAC_F32_32X32X32_BF16),
    (71, V_SMFMAC_I32_32X32X64_I8),
    (75, V_SMFMAC_F32_32X32X64_BF8_BF8),
    (78, V_SMFMAC_F32_32X32X64_BF8_FP8),
    (79, V_SMFMAC_F32_32X32X64_FP8_BF8),
    (83, V_SMFMAC_F32_32X32X64_FP8_FP8),
    (84, V_MFMA_F32_16X16X32_F16),
    (85, V_MFMA_F32_32X32X16_F16),
    (90, V_SMFMAC_F32_16X16X64_F16),
    (91, V_SMFMAC_F32_32X32X32_F16),
];

/// VOP3P. All but gfx906 have these.
pub(super) const VOP3P_SINCE_GFX908: &[(u16, Opcode)] = &[
    (64, V_MFMA_F32_32X32X1_2B_F32),
    (65, V_MFMA_F32_16X16X1_4B_F32),
    (66, V_MFMA_F32_4X4X1_16B_F32),
    (68, V_MFMA_F32_32X32X2_F32),
    (69, V_MFMA_F32_16X16X4_F32),
    (72, V_MFMA_F32_32X32X4_2B_F16),
    (73, V_MFMA_F32_16X16X4_4B_F16),
    (74, V_MFMA_F32_4X4X4_16B_F16),
    (76, V_MFMA_F32_32X32X8_F16),
    (77, V_MFMA_F32_16X16X16_F16),
    (80, V_MFMA_I32_32X32X4_2B_I8),
    (81, V_MFMA_I32_16X16X4_4B_I8),
    (82, V_MFMA_I32_4X4X4_16B_I8),
    (88, V_ACCVGPR_READ_B32),
    (89, V_ACCVGPR_WRITE_B32),
];

/// VOP3P. gfx90a and later have these.
pub(super) const VOP3P_SINCE_GFX90A: &[(u16, Opcode)] = &[
    (48, V_PK_FMA_F32),
    (49, V_PK_MUL_F32),
    (50, V_PK_ADD_F32),
    (51, V_PK_MOV_B32),
    (110, V_MFMA_F64_16X16X4_F64),
    (111, V_MFMA_F64_4X4X4_4B_F64),
];

/// VOP3P. gfx942 and gfx950 have these.
pub(super) const VOP3P_SINCE_GFX942: &[(u16, Opcode)] = &[
    (86, V_MFMA_I32_32X32X16_I8),
    (87, V_MFMA_I32_16X16X32_I8),
    (93, V_MFMA_F32_32X32X4_2B_BF16),
    (94, V_MFMA_F32_16X16X4_4B_BF16),
    (95, V_MFMA_F32_4X4X4_16B_BF16),
    (96, V_MFMA_F32_32X32X8_BF16),
    (97, V_MFMA_F32_16X16X16_BF16),
    (98, V_SMFMAC_F32_16X16X32_F16),
    (100, V_SMFMAC_F32_32X32X16_F16),
    (102, V_SMFMAC_F32_16X16X32_BF16),
    (104, V_SMFMAC_F32_32X32X16_BF16),
    (106, V_SMFMAC_I32_16X16X64_I8),
    (108, V_SMFMAC_I32_32X32X32_I8),
    (112, V_MFMA_F32_16X16X32_BF8_BF8),
    (113, V_MFMA_F32_16X16X32_BF8_FP8),
    (114, V_MFMA_F32_16X16X32_FP8_BF8),
    (115, V_MFMA_F32_16X16X32_FP8_FP8),
    (116, V_MFMA_F32_32X32X16_BF8_BF8),
    (117, V_MFMA_F32_32X32X16_BF8_FP8),
    (118, V_MFMA_F32_32X32X16_FP8_BF8),
    (119, V_MFMA_F32_32X32X16_FP8_FP8),
    (120, V_SMFMAC_F32_16X16X64_BF8_BF8),
    (121, V_SMFMAC_F32_16X16X64_BF8_FP8),
    (122, V_SMFMAC_F32_16X16X64_FP8_BF8),
    (123, V_SMFMAC_F32_16X16X64_FP8_FP8),
    (124, V_SMFMAC_F32_32X32X32_BF8_BF8),
    (125, V_SMFMAC_F32_32X32X32_BF8_FP8),
    (126, V_SMFMAC_F32_32X32X32_FP8_BF8),
    (127, V_SMFMAC_F32_32X32X32_FP8_FP8),
];
