//! Reaching the memory of the process under the kernel's rule: a bad pointer is EFAULT, never a crash.
#![expect(unsafe_code, reason = "process_vm_readv and process_vm_writev take raw addresses")]

use selvedge_sys::Errno;
use zerocopy::{FromBytes, IntoBytes};

/// First address above the user half of the address space with four-level paging (`TASK_SIZE_MAX`).
pub(crate) const USER_END: u64 = 0x7fff_ffff_f000;

/// `access_ok`: whether the range lies in the user half. It need not be mapped.
pub(crate) fn access_ok(address: u64, size: u64) -> bool {
    address.checked_add(size).is_some_and(|end| end <= USER_END)
}

/// `copy_from_user`.
pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    if !access_ok(address, bytes.len() as u64) {
        return Err(Errno::EFAULT);
    }
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: `local` is a writable slice; the kernel checks every remote address and reports EFAULT.
    let count = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    if usize::try_from(count) == Ok(bytes.len()) { Ok(()) } else { Err(Errno::EFAULT) }
}

/// `copy_to_user`.
pub(crate) fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    if !access_ok(address, bytes.len() as u64) {
        return Err(Errno::EFAULT);
    }
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: `local` is only read from; the kernel checks every remote address, and writes only where
    // the process itself may.
    let count = unsafe {
        libc::process_vm_writev(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    if usize::try_from(count) == Ok(bytes.len()) { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Copies a value in.
pub(crate) fn get<T: FromBytes + IntoBytes>(address: u64) -> Result<T, Errno> {
    let mut value = T::new_zeroed();
    read(address, value.as_mut_bytes())?;
    Ok(value)
}

/// Copies a value out.
pub(crate) fn put<T: IntoBytes + zerocopy::Immutable>(
    address: u64,
    value: &T,
) -> Result<(), Errno> {
    write(address, value.as_bytes())
}

/// Whether every page of the range is mapped and readable (and, when asked, writable).
pub(crate) fn present(address: u64, size: u64, writable: bool) -> bool {
    const PAGE: u64 = 4096;
    let Some(end) = address.checked_add(size) else { return false };
    (address & !(PAGE - 1)..end).step_by(PAGE as usize).all(|page| {
        let mut byte = [0];
        let at = page.max(address);
        // Writing back what was read would race with the program, so a zero-length probe is not
        // enough and an atomic add of zero is: it needs write permission and changes nothing.
        read(at, &mut byte).is_ok() && (!writable || touch(at))
    })
}

/// Whether the page of `address` may be written, learnt without changing it: a futex wake-op that
/// ORs zero into the aligned dword there fails with EFAULT when it may not.
fn touch(address: u64) -> bool {
    const FUTEX_OP_OR_ZERO: u32 = 2 << 28;
    let mut own = 0u32;
    // SAFETY: `own` is a dword nobody waits on; FUTEX_WAKE_OP accesses the second address under the
    // kernel's own fault handling.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            &raw mut own,
            libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG,
            0,
            0usize,
            (address & !3) as usize,
            FUTEX_OP_OR_ZERO,
        )
    };
    result >= 0
}
