//! Opcode numbers of gfx9, lds formats (AMD "Instinct MI300" and "Vega 7nm" ISA documents, chapter "Microcode
//! formats"; numbers as in tinygrad's generated `runtime/autogen/amd/cdna/enum.py` and, for operations that
//! gfx942 no longer has, as LLVM 19's disassembler reads them).

use crate::Opcode::{self, *};

/// DS. Only gfx9 numbers or has these so.
pub(super) const DS_GFX9: &[(u16, Opcode)] = &[
    (17, DS_CMPSTORE_F32),
    (29, DS_STORE_ADDTID_B32),
    (49, DS_CMPSTORE_RTN_F32),
    (52, DS_WRAP_RTN_B32),
    (53, DS_ADD_RTN_F32),
    (61, DS_SWIZZLE_B32),
    (62, DS_PERMUTE_B32),
    (63, DS_BPERMUTE_B32),
    (81, DS_CMPSTORE_F64),
    (84, DS_STORE_B8_D16_HI),
    (85, DS_STORE_B16_D16_HI),
    (86, DS_LOAD_U8_D16),
    (87, DS_LOAD_U8_D16_HI),
    (88, DS_LOAD_I8_D16),
    (89, DS_LOAD_I8_D16_HI),
    (90, DS_LOAD_U16_D16),
    (91, DS_LOAD_U16_D16_HI),
    (113, DS_CMPSTORE_RTN_F64),
    (152, DS_GWS_SEMA_RELEASE_ALL),
    (153, DS_GWS_INIT),
    (154, DS_GWS_SEMA_V),
    (155, DS_GWS_SEMA_BR),
    (156, DS_GWS_SEMA_P),
    (157, DS_GWS_BARRIER),
    (182, DS_LOAD_ADDTID_B32),
    (189, DS_CONSUME),
    (190, DS_APPEND),
];

/// DS. Only gfx906 and gfx908 have these.
pub(super) const DS_GFX906_GFX908: &[(u16, Opcode)] = &[
    (128, DS_ADD_SRC2_U32),
    (129, DS_SUB_SRC2_U32),
    (130, DS_RSUB_SRC2_U32),
    (131, DS_INC_SRC2_U32),
    (132, DS_DEC_SRC2_U32),
    (133, DS_MIN_SRC2_I32),
    (134, DS_MAX_SRC2_I32),
    (135, DS_MIN_SRC2_U32),
    (136, DS_MAX_SRC2_U32),
    (137, DS_AND_SRC2_B32),
    (138, DS_OR_SRC2_B32),
    (139, DS_XOR_SRC2_B32),
    (141, DS_STORE_SRC2_B32),
    (146, DS_MIN_SRC2_F32),
    (147, DS_MAX_SRC2_F32),
    (149, DS_ADD_SRC2_F32),
    (191, DS_ORDERED_COUNT),
    (192, DS_ADD_SRC2_U64),
    (193, DS_SUB_SRC2_U64),
    (194, DS_RSUB_SRC2_U64),
    (195, DS_INC_SRC2_U64),
    (196, DS_DEC_SRC2_U64),
    (197, DS_MIN_SRC2_I64),
    (198, DS_MAX_SRC2_I64),
    (199, DS_MIN_SRC2_U64),
    (200, DS_MAX_SRC2_U64),
    (201, DS_AND_SRC2_B64),
    (202, DS_OR_SRC2_B64),
    (203, DS_XOR_SRC2_B64),
    (205, DS_STORE_SRC2_B64),
    (210, DS_MIN_SRC2_F64),
    (211, DS_MAX_SRC2_F64),
];

/// DS. Only gfx950 has these.
pub(super) const DS_GFX950: &[(u16, Opcode)] = &[
    (224, DS_LOAD_B64_TR_B4),
    (225, DS_LOAD_B96_TR_B6),
    (226, DS_LOAD_B64_TR_B8),
    (227, DS_LOAD_B64_TR_B16),
];

/// DS. gfx90a and later have these.
pub(super) const DS_SINCE_GFX90A: &[(u16, Opcode)] = &[(92, DS_ADD_F64), (124, DS_ADD_RTN_F64)];

/// DS. gfx942 and gfx950 have these.
pub(super) const DS_SINCE_GFX942: &[(u16, Opcode)] = &[
    (23, DS_PK_ADD_F16),
    (24, DS_PK_ADD_BF16),
    (183, DS_PK_ADD_RTN_F16),
    (184, DS_PK_ADD_RTN_BF16),
];
