//! Opcode numbers that gfx12 does not share with gfx11, scalar formats (RDNA4 ISA document, chapter
//! "Microcode formats"; numbers as in tinygrad's generated `runtime/autogen/amd/rdna4/enum.py`).

use crate::Opcode::{self, *};

/// SOP1.
pub(super) const SOP1: &[(u16, Opcode)] = &[
    (78, S_BARRIER_SIGNAL),
    (79, S_BARRIER_SIGNAL_ISFIRST),
    (80, S_GET_BARRIER_STATE),
    (81, S_BARRIER_INIT),
    (82, S_BARRIER_JOIN),
    (83, S_ALLOC_VGPR),
    (87, S_WAKEUP_BARRIER),
    (88, S_SLEEP_VAR),
];

/// SOP2.
pub(super) const SOP2: &[(u16, Opcode)] = &[
    (79, S_MINIMUM_F32),
    (80, S_MAXIMUM_F32),
    (81, S_MINIMUM_F16),
    (82, S_MAXIMUM_F16),
    (83, S_ADD_NC_U64),
    (84, S_SUB_NC_U64),
    (85, S_MUL_U64),
];

/// SOPP.
pub(super) const SOPP: &[(u16, Opcode)] = &[
    (20, S_BARRIER_WAIT),
    (21, S_BARRIER_LEAVE),
    (64, S_WAIT_LOADCNT),
    (65, S_WAIT_STORECNT),
    (66, S_WAIT_SAMPLECNT),
    (67, S_WAIT_BVHCNT),
    (68, S_WAIT_EXPCNT),
    (70, S_WAIT_DSCNT),
    (71, S_WAIT_KMCNT),
    (72, S_WAIT_LOADCNT_DSCNT),
    (73, S_WAIT_STORECNT_DSCNT),
];

/// SMEM.
pub(super) const SMEM: &[(u16, Opcode)] = &[
    (5, S_LOAD_B96),
    (8, S_LOAD_I8),
    (9, S_LOAD_U8),
    (10, S_LOAD_I16),
    (11, S_LOAD_U16),
    (16, S_BUFFER_LOAD_B32),
    (17, S_BUFFER_LOAD_B64),
    (18, S_BUFFER_LOAD_B128),
    (19, S_BUFFER_LOAD_B256),
    (20, S_BUFFER_LOAD_B512),
    (21, S_BUFFER_LOAD_B96),
    (24, S_BUFFER_LOAD_I8),
    (25, S_BUFFER_LOAD_U8),
    (26, S_BUFFER_LOAD_I16),
    (27, S_BUFFER_LOAD_U16),
    (36, S_PREFETCH_INST),
    (37, S_PREFETCH_INST_PC_REL),
    (38, S_PREFETCH_DATA),
    (39, S_BUFFER_PREFETCH_DATA),
    (40, S_PREFETCH_DATA_PC_REL),
];
