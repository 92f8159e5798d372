//! Opcode numbers that gfx12 does not share with gfx11, memory formats (RDNA4 ISA document, chapter
//! "Microcode formats"; numbers as in tinygrad's generated `runtime/autogen/amd/rdna4/enum.py`).

use crate::Opcode::{self, *};

/// DS.
pub(super) const DS: &[(u16, Opcode)] = &[
    (152, DS_COND_SUB_U32),
    (153, DS_SUB_CLAMP_U32),
    (154, DS_PK_ADD_F16),
    (155, DS_PK_ADD_BF16),
    (168, DS_COND_SUB_RTN_U32),
    (169, DS_SUB_CLAMP_RTN_U32),
    (170, DS_PK_ADD_RTN_F16),
    (171, DS_PK_ADD_RTN_BF16),
    (205, DS_BPERMUTE_FI_B32),
];

/// VFLAT.
pub(super) const VFLAT: &[(u16, Opcode)] =
    &[(80, FLAT_ATOMIC_COND_SUB_U32), (89, FLAT_ATOMIC_PK_ADD_F16), (90, FLAT_ATOMIC_PK_ADD_BF16)];

/// VGLOBAL.
pub(super) const VGLOBAL: &[(u16, Opcode)] = &[
    (43, GLOBAL_INV),
    (44, GLOBAL_WB),
    (79, GLOBAL_WBINV),
    (80, GLOBAL_ATOMIC_COND_SUB_U32),
    (83, GLOBAL_LOAD_BLOCK),
    (84, GLOBAL_STORE_BLOCK),
    (87, GLOBAL_LOAD_TR_B128),
    (88, GLOBAL_LOAD_TR_B64),
    (89, GLOBAL_ATOMIC_PK_ADD_F16),
    (90, GLOBAL_ATOMIC_PK_ADD_BF16),
    (115, GLOBAL_ATOMIC_ORDERED_ADD_B64),
];

/// VSCRATCH.
pub(super) const VSCRATCH: &[(u16, Opcode)] =
    &[(83, SCRATCH_LOAD_BLOCK), (84, SCRATCH_STORE_BLOCK)];

/// VBUFFER.
pub(super) const VBUFFER: &[(u16, Opcode)] = &[
    (80, BUFFER_ATOMIC_COND_SUB_U32),
    (89, BUFFER_ATOMIC_PK_ADD_F16),
    (90, BUFFER_ATOMIC_PK_ADD_BF16),
    (128, TBUFFER_LOAD_FORMAT_X),
    (129, TBUFFER_LOAD_FORMAT_XY),
    (130, TBUFFER_LOAD_FORMAT_XYZ),
    (131, TBUFFER_LOAD_FORMAT_XYZW),
    (132, TBUFFER_STORE_FORMAT_X),
    (133, TBUFFER_STORE_FORMAT_XY),
    (134, TBUFFER_STORE_FORMAT_XYZ),
    (135, TBUFFER_STORE_FORMAT_XYZW),
    (136, TBUFFER_LOAD_D16_FORMAT_X),
    (137, TBUFFER_LOAD_D16_FORMAT_XY),
    (138, TBUFFER_LOAD_D16_FORMAT_XYZ),
    (139, TBUFFER_LOAD_D16_FORMAT_XYZW),
    (140, TBUFFER_STORE_D16_FORMAT_X),
    (141, TBUFFER_STORE_D16_FORMAT_XY),
    (142, TBUFFER_STORE_D16_FORMAT_XYZ),
    (143, TBUFFER_STORE_D16_FORMAT_XYZW),
];
