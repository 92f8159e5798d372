//! Memory of the process that devices reach directly.
#![expect(unsafe_code, reason = "takes the process's word that it keeps registered memory mapped")]

use crate::memory::Backing;

/// The range of the process's address space as device memory.
///
/// The kernel follows what the process does to the range, and so does the simulated machine as far as
/// the process unmaps through the seam: `forget_user_memory` returns when no access to it is in progress.
/// Memory that is unmapped behind its back ends the process with SIGSEGV.
pub(super) fn backing(address: u64, size: u64) -> Backing {
    let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the caller checked that the pages are there; that they stay while they are registered is what the
    // process promises, and the address cannot be checked again at every access.
    unsafe { Backing::revocable(pointer, size) }
}

/// Whether every page of the range is mapped, accessible or not (`vma_lookup`).
pub(super) fn is_mapped(address: u64, size: u64) -> bool {
    let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: MS_ASYNC does nothing on Linux but look for holes in the range.
    unsafe { libc::msync(pointer, size as usize, libc::MS_ASYNC) == 0 }
}
