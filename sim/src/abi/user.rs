//! Reaching the memory of the process under the kernel's rule: a bad pointer is EFAULT, never a crash.
#![expect(unsafe_code, reason = "process_vm_readv and process_vm_writev take raw addresses")]

use selvedge_sys::Errno;
use std::cell::RefCell;
use std::ops::Range;
use zerocopy::{FromBytes, IntoBytes};

/// First address above the user half of the address space with four-level paging (`TASK_SIZE_MAX`).
pub(crate) const USER_END: u64 = 0x7fff_ffff_f000;

thread_local! {
    /// What calls of this thread may reach of the process's memory, when that is not all.
    static REACH: RefCell<Option<Vec<Range<u64>>>> = const { RefCell::new(None) };
}

/// Makes calls whose arguments nobody has vouched for: outside `ranges` nothing is mapped for them.
pub(crate) fn within<T>(ranges: Vec<Range<u64>>, calls: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            REACH.set(None);
        }
    }
    REACH.set(Some(ranges));
    let _restore = Restore;
    calls()
}

/// Whether the range lies in the user half, and this thread may reach it.
fn reaches(address: u64, size: u64) -> bool {
    let holds = |range: &Range<u64>| range.start <= address && address + size <= range.end;
    access_ok(address, size)
        && REACH.with_borrow(|reach| reach.as_ref().is_none_or(|ranges| ranges.iter().any(holds)))
}

/// `access_ok`: whether the range lies in the user half. It need not be mapped.
pub(crate) fn access_ok(address: u64, size: u64) -> bool {
    address.checked_add(size).is_some_and(|end| end <= USER_END)
}

/// The whole pages of a range that the kernel would map or unmap: from a page's start, not empty, in the user
/// half (mm/vma.c, `do_vmi_munmap`; `get_unmapped_area`).
pub(crate) fn pages(start: u64, length: u64) -> Option<std::ops::Range<u64>> {
    const PAGE: u64 = 4096;
    let size = length.checked_next_multiple_of(PAGE)?;
    let valid = start.is_multiple_of(PAGE) && size != 0 && access_ok(start, size);
    valid.then(|| start..start + size)
}

/// `copy_from_user`.
pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    if !reaches(address, bytes.len() as u64) {
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
    if !reaches(address, bytes.len() as u64) {
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

/// Whether every page of the range is mapped and readable (and, when asked, writable). As in the kernel,
/// where `hmm_range_fault` brings them in, they are there afterwards.
pub(crate) fn present(address: u64, size: u64, writable: bool) -> bool {
    const PAGE: u64 = 4096;
    let start = address & !(PAGE - 1);
    let Some(end) = address.checked_add(size).and_then(|end| end.checked_next_multiple_of(PAGE))
    else {
        return false;
    };
    if !reaches(start, end - start) {
        return false;
    }
    let advice = if writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
    let pointer = std::ptr::with_exposed_provenance_mut(start as usize);
    // SAFETY: brings pages in as an access would, and changes none; a range that is not mapped is an error.
    if unsafe { libc::madvise(pointer, (end - start) as usize, advice) } == 0 {
        return true;
    }
    // Mappings of devices, and kernels before 5.14, do not know the advice.
    let unknown = Errno::last() == Errno::EINVAL;
    unknown
        && (start..end)
            .step_by(PAGE as usize)
            .all(|page| read(page, &mut [0]).is_ok() && (!writable || is_writable(page)))
}

/// Whether a page may be written, learnt without changing it: a futex operation that ORs zero into its
/// first dword fails with EFAULT when it may not.
fn is_writable(page: u64) -> bool {
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
            page as usize,
            FUTEX_OP_OR_ZERO,
        )
    };
    result >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_pages() {
        assert_eq!(pages(0x1000, 1), Some(0x1000..0x2000));
        for (start, length) in [(0x1001, 1), (0, 0), (0, u64::MAX), (USER_END, 1), (!0xfff, 4096)] {
            assert_eq!(pages(start, length), None, "{start:#x}, {length:#x}");
        }
    }

    #[test]
    fn calls_that_are_not_trusted_reach_nothing_else() {
        let (mut here, mut there) = ([1u8; 8], [2u8; 8]);
        let [own, other] =
            [&mut here, &mut there].map(|a| a.as_mut_ptr().expose_provenance() as u64);
        within(vec![0..0, own..own + 8], || {
            assert_eq!(
                (get::<u64>(own), get::<u32>(own + 4)),
                (Ok(u64::MAX / 255), Ok(0x0101_0101))
            );
            assert_eq!(get::<u64>(own + 1), Err(Errno::EFAULT));
            assert_eq!(put(other, &7u64), Err(Errno::EFAULT));
            assert!(!present(other, 8, true));
        });
        assert_eq!((put(other, &7u64), there), (Ok(()), 7u64.to_ne_bytes()));
    }

    #[test]
    fn presence_is_by_page_and_permission() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, whose second page is made read-only and whose third is given back.
        let base = unsafe {
            let base = libc::mmap(std::ptr::null_mut(), 12288, 3, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(base.byte_add(4096), 4096, libc::PROT_READ), 0);
            assert_eq!(libc::munmap(base.byte_add(8192), 4096), 0);
            base.expose_provenance() as u64
        };
        assert!(present(base + 8, 4000, true));
        assert!(present(base, 8192, false));
        assert!(!present(base, 8192, true));
        assert!(!present(base, 8193, false));
        assert!(!present(u64::MAX - 4096, 8192, false));
        assert!(is_writable(base) && !is_writable(base + 4096));
        assert_eq!(read(base + 8190, &mut [0; 4]), Err(Errno::EFAULT));
        assert_eq!(write(base + 4096, &[1]), Err(Errno::EFAULT));
        assert_eq!((put(base, &7u64), get::<u64>(base)), (Ok(()), Ok(7)));
        // SAFETY: nobody else knows the memory.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(base as usize), 8192) };
    }
}
