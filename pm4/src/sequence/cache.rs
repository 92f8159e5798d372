//! What to do to caches between those who write memory and those who read it.
//!
//! Two caches stand between a shader and memory that may hold old data: the ones beside it (scalar, vector, on
//! gfx10 and gfx11 GL1), and L2. All shaders of a device share L2, except where it has several XCCs, each with
//! its own. Stores of shaders go through to L2 at once. Hence:
//!
//! | from | to | release | acquire |
//! |---|---|---|---|
//! | shader | shader | nothing | the caches beside |
//! | shader | host, SDMA, another device | write L2 back | |
//! | host, SDMA, another device | shader | | the caches beside, L2 |
//!
//! From gfx12 on the command processor reads and writes memory around L2 (PAL, gfx12Barrier.cpp): what it
//! writes for shaders, or reads of theirs, is like what the host does.

use crate::generation::{Generation, generations};
use crate::layout::{Sink, WriteError, Writer};
use crate::packet::{AcquireMem, AcquireMemGfx9, ReleaseMem};

/// Who else writes or reads the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Shaders of this device.
    Agent,
    /// Anyone: the host, SDMA engines, other devices.
    System,
}

impl Scope {
    /// Whether L2 is in between.
    const fn reaches_memory(self, generation: Generation) -> bool {
        match self {
            Scope::System => true,
            // Several XCCs, with an L2 each, make one agent.
            Scope::Agent => generation.is_in(generations::GFX94X_ON),
        }
    }
}

/// gfx10 and gfx11 have a cache between those beside the shaders and L2 (GL1), and one of metadata.
pub(super) const fn has_gl1(generation: Generation) -> bool {
    generation.is_in(generations::GFX10_11)
}

/// How long the command processor waits between two looks at whether the caches are done: what PAL and Mesa
/// use.
const POLL_INTERVAL: u16 = 10;

/// Makes the shaders that are dispatched after it see what others wrote before. It does not wait for those
/// others: a fence and a wait do ([`wait_until`](super::wait_until),
/// [`wait_for_shaders`](super::wait_for_shaders)).
///
/// Invalidates the scalar and vector caches, where there is one GL1, and for [`Scope::System`] writes L2 back
/// and invalidates it: writes it back because it may also hold what shaders wrote and nobody else has seen yet
/// (PAL, gfx9Barrier.cpp; Mesa, si_cmd_buffer.c: on gfx9 invalidating L2 needs the write-back).
///
/// # Errors
/// When there is no room.
#[inline]
pub fn acquire<S: Sink>(to: &mut Writer<S, Generation>, scope: Scope) -> Result<(), WriteError> {
    let generation = to.variant();
    let l2 = scope.reaches_memory(generation);
    if generation.is_in(generations::GFX9) {
        to.push(&AcquireMemGfx9 {
            sh_kcache_action_ena: true,
            tcl1_action_ena: true,
            tc_action_ena: l2,
            tc_wb_action_ena: l2,
            poll_interval: POLL_INTERVAL,
            ..AcquireMemGfx9::EVERYWHERE
        })
    } else {
        let gl1 = has_gl1(generation);
        to.push(&AcquireMem {
            glk_inv: true,
            glv_inv: true,
            gl1_inv: gl1,
            glm_wb: gl1 && l2,
            glm_inv: gl1 && l2,
            gl2_wb: l2,
            gl2_inv: l2,
            poll_interval: POLL_INTERVAL,
            ..AcquireMem::EVERYWHERE
        })
    }
}

/// Makes the shaders that are dispatched after it see code that was loaded where other bytes may have been. No
/// shader may run that code meanwhile.
///
/// Invalidates the instruction caches and the scalar caches behind them (constants beside the code), L2, and
/// with it the vector caches and GL1, as ROCr does after loading (`GpuAgent::InvalidateCodeCaches`). Unlike
/// ROCr it writes L2 back on every generation, as for [`acquire`].
///
/// # Errors
/// When there is no room.
pub fn new_code<S: Sink>(to: &mut Writer<S, Generation>) -> Result<(), WriteError> {
    let generation = to.variant();
    if generation.is_in(generations::GFX9) {
        to.push(&AcquireMemGfx9 {
            sh_icache_action_ena: true,
            sh_kcache_action_ena: true,
            tc_action_ena: true,
            tc_wb_action_ena: true,
            poll_interval: POLL_INTERVAL,
            ..AcquireMemGfx9::EVERYWHERE
        })
    } else {
        to.push(&AcquireMem {
            gli_inv: 1,
            glk_inv: true,
            glv_inv: true,
            gl1_inv: has_gl1(generation),
            gl2_inv: true,
            gl2_wb: true,
            poll_interval: POLL_INTERVAL,
            ..AcquireMem::EVERYWHERE
        })
    }
}

/// RELEASE_MEM that makes what shaders wrote before it seen in a scope; writes nothing and tells nobody yet.
///
/// Writes L2 back, with the metadata cache where there is one (its write-back needs the invalidation: nvd.h
/// users in gfx_v10_0.c and gfx_v11_0.c), the levels one after the other (`seq`). On gfx9 the write-back alone
/// is WB with NC (gfx_v9_0.c, AMDGPU_FENCE_FLAG_TC_WB_ONLY).
pub(super) const fn release(scope: Scope, generation: Generation) -> ReleaseMem {
    let l2 = scope.reaches_memory(generation);
    let gfx9 = generation.is_in(generations::GFX9);
    let glm = l2 && has_gl1(generation);
    ReleaseMem {
        tc_wb_action_ena: l2 && gfx9,
        tc_nc_action_ena: l2 && gfx9,
        glm_wb: glm,
        glm_inv: glm,
        gl2_wb: l2 && !gfx9,
        seq: if l2 && !gfx9 { 1 } else { 0 },
        ..ReleaseMem::END_OF_PIPE
    }
}
