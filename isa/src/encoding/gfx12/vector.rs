//! Opcode numbers that gfx12 does not share with gfx11, vector formats (RDNA4 ISA document, chapter
//! "Microcode formats"; numbers as in tinygrad's generated `runtime/autogen/amd/rdna4/enum.py`).

use crate::Opcode::{self, *};

/// VOP1.
pub(super) const VOP1: &[(u16, Opcode)] =
    &[(108, V_CVT_F32_FP8), (109, V_CVT_F32_BF8), (110, V_CVT_PK_F32_FP8), (111, V_CVT_PK_F32_BF8)];

/// VOP2.
pub(super) const VOP2: &[(u16, Opcode)] = &[
    (2, V_ADD_F64),
    (6, V_MUL_F64),
    (13, V_MIN_F64),
    (14, V_MAX_F64),
    (21, V_MIN_F32),
    (22, V_MAX_F32),
    (31, V_LSHLREV_B64),
    (48, V_MIN_F16),
    (49, V_MAX_F16),
];

/// VOP3 operations that have no 32-bit encoding.
pub(super) const VOP3: &[(u16, Opcode)] = &[
    (553, V_MIN3_F32),
    (554, V_MAX3_F32),
    (555, V_MIN3_F16),
    (556, V_MAX3_F16),
    (557, V_MINIMUM3_F32),
    (558, V_MAXIMUM3_F32),
    (559, V_MINIMUM3_F16),
    (560, V_MAXIMUM3_F16),
    (561, V_MED3_F32),
    (562, V_MED3_F16),
    (616, V_MINMAX_F32),
    (617, V_MAXMIN_F32),
    (618, V_MINMAX_F16),
    (619, V_MAXMIN_F16),
    (620, V_MINIMUMMAXIMUM_F32),
    (621, V_MAXIMUMMINIMUM_F32),
    (622, V_MINIMUMMAXIMUM_F16),
    (623, V_MAXIMUMMINIMUM_F16),
    (640, V_S_EXP_F32),
    (641, V_S_EXP_F16),
    (642, V_S_LOG_F32),
    (643, V_S_LOG_F16),
    (644, V_S_RCP_F32),
    (645, V_S_RCP_F16),
    (646, V_S_RSQ_F32),
    (647, V_S_RSQ_F16),
    (648, V_S_SQRT_F32),
    (649, V_S_SQRT_F16),
    (783, V_PERMLANE16_VAR_B32),
    (784, V_PERMLANEX16_VAR_B32),
    (833, V_MINIMUM_F64),
    (834, V_MAXIMUM_F64),
    (869, V_MINIMUM_F32),
    (870, V_MAXIMUM_F32),
    (871, V_MINIMUM_F16),
    (872, V_MAXIMUM_F16),
    (873, V_CVT_PK_FP8_F32),
    (874, V_CVT_PK_BF8_F32),
    (875, V_CVT_SR_FP8_F32),
    (876, V_CVT_SR_BF8_F32),
];

/// VOP3P.
pub(super) const VOP3P: &[(u16, Opcode)] = &[
    (27, V_PK_MIN_F16),
    (28, V_PK_MAX_F16),
    (29, V_PK_MINIMUM_F16),
    (30, V_PK_MAXIMUM_F16),
    (36, V_DOT4_F32_FP8_BF8),
    (37, V_DOT4_F32_BF8_FP8),
    (38, V_DOT4_F32_FP8_FP8),
    (39, V_DOT4_F32_BF8_BF8),
    (64, V_WMMA_F32_16X16X16_F16_GFX12),
    (65, V_WMMA_F32_16X16X16_BF16_GFX12),
    (66, V_WMMA_F16_16X16X16_F16_GFX12),
    (67, V_WMMA_BF16_16X16X16_BF16_GFX12),
    (68, V_WMMA_I32_16X16X16_IU8_GFX12),
    (69, V_WMMA_I32_16X16X16_IU4_GFX12),
    (70, V_WMMA_F32_16X16X16_FP8_FP8),
    (71, V_WMMA_F32_16X16X16_FP8_BF8),
    (72, V_WMMA_F32_16X16X16_BF8_FP8),
    (73, V_WMMA_F32_16X16X16_BF8_BF8),
    (74, V_WMMA_I32_16X16X32_IU4),
    (80, V_SWMMAC_F32_16X16X32_F16),
    (81, V_SWMMAC_F32_16X16X32_BF16),
    (82, V_SWMMAC_F16_16X16X32_F16),
    (83, V_SWMMAC_BF16_16X16X32_BF16),
    (84, V_SWMMAC_I32_16X16X32_IU8),
    (85, V_SWMMAC_I32_16X16X32_IU4),
    (86, V_SWMMAC_I32_16X16X64_IU4),
    (87, V_SWMMAC_F32_16X16X32_FP8_FP8),
    (88, V_SWMMAC_F32_16X16X32_FP8_BF8),
    (89, V_SWMMAC_F32_16X16X32_BF8_FP8),
    (90, V_SWMMAC_F32_16X16X32_BF8_BF8),
];
