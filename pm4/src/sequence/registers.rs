//! Addresses, in dwords, of the registers that a dispatch needs: those that are in one place in every
//! generation.

use crate::register::*;

/// The one address of a register, or of the first of a row.
const fn only(register: &Register) -> u32 {
    assert!(register.places.len() == 1, "the register is in several places");
    register.places[0].address
}

pub(super) const COMPUTE_START_X: u32 = only(ComputeStart::REGISTER);
pub(super) const COMPUTE_PGM_LO: u32 = only(ComputePgmLo::REGISTER);
pub(super) const COMPUTE_DISPATCH_SCRATCH_BASE_LO: u32 =
    only(ComputeDispatchScratchBaseLo::REGISTER);
pub(super) const COMPUTE_PGM_RSRC1: u32 = only(ComputePgmRsrc1::REGISTER);
pub(super) const COMPUTE_RESOURCE_LIMITS: u32 = only(ComputeResourceLimits::REGISTER);
pub(super) const COMPUTE_TMPRING_SIZE: u32 = only(ComputeTmpringSize::REGISTER);
pub(super) const COMPUTE_RESTART_X: u32 = only(ComputeRestart::REGISTER);
pub(super) const COMPUTE_USER_DATA_0: u32 = only(ComputeUserData::REGISTER);
