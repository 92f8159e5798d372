//! The working directory, which may be one of the machine's.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::files::machine_path;
use crate::inside::{Inside, set_errno};
use crate::log;
use crate::paths;
use crate::raw::call;
use crate::symbols::{Original, original};
use libc::AT_FDCWD;
use std::ffi::{CStr, c_char, c_int};

pub(crate) type Getcwd = unsafe extern "C" fn(*mut c_char, usize) -> *mut c_char;

original! {
    static GETCWD: Getcwd = c"getcwd";
}

/// Takes note of the new directory, if there is one.
fn moved(result: c_int) -> c_int {
    if result == 0
        && let Some(_inside) = Inside::enter()
    {
        paths::moved();
    }
    result
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn chdir(path: *const c_char) -> c_int {
    let place = Inside::enter().and_then(|_inside| {
        let place = paths::find(AT_FDCWD, path)?;
        if log::is_on() {
            log::line(format_args!("chdir {}", machine_path(&place)));
        }
        Some(place)
    });
    let path = place.as_ref().map_or(path, |place| place.host().as_ptr());
    // SAFETY: the kernel checks the path.
    moved(unsafe { call!(SYS_chdir, path) as c_int })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn fchdir(fd: c_int) -> c_int {
    // SAFETY: the kernel checks the descriptor.
    moved(unsafe { call!(SYS_fchdir, fd) as c_int })
}

/// getcwd(3): of a directory in the machine's folder the path on the machine.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getcwd(buffer: *mut c_char, size: usize) -> *mut c_char {
    let Some(function) = GETCWD.get() else {
        set_errno(libc::ENOSYS);
        return std::ptr::null_mut();
    };
    // SAFETY: libc's own contract.
    let answer = unsafe { function(buffer, size) };
    if !answer.is_null() {
        // SAFETY: getcwd has written a C string.
        unsafe { show(answer) };
    }
    answer
}

/// Cuts the machine's folder off the front of a path in it.
///
/// # Safety
/// `path` is a C string that may be written.
pub(crate) unsafe fn show(path: *mut c_char) {
    // SAFETY: the caller's promise; a tail of the string moves to its front.
    unsafe {
        let whole = CStr::from_ptr(path).to_bytes_with_nul();
        if let Some(rest) = paths::within_tree(whole).filter(|rest| rest.len() > 1) {
            let (from, length) = (rest.as_ptr().cast::<c_char>(), rest.len());
            std::ptr::copy(from, path, length);
        }
    }
}
