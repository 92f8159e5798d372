//! Whether a call of libc is the program's or the simulator's own.
#![expect(unsafe_code, reason = "errno")]

use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, calls of libc on this thread are the simulator's and go straight to the kernel. A signal handler
/// that interrupts it calls the kernel too. errno is afterwards what it was before.
#[derive(Debug)]
pub(crate) struct Inside {
    errno: c_int,
}

impl Inside {
    /// `None` when this thread is inside already.
    pub(crate) fn enter() -> Option<Inside> {
        (!INSIDE.replace(true)).then(|| Inside { errno: errno() })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        set_errno(self.errno);
        INSIDE.set(false);
    }
}

pub(crate) fn errno() -> c_int {
    // SAFETY: the thread's own variable.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(value: c_int) {
    // SAFETY: the thread's own variable.
    unsafe { *libc::__errno_location() = value }
}

/// A result as libc's functions return it.
pub(crate) fn returned<T: From<i8>>(result: Result<T, selvedge_sys::Errno>) -> T {
    result.unwrap_or_else(|errno| {
        set_errno(errno.0);
        T::from(-1)
    })
}
