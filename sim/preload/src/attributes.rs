//! Extended attributes of files, which `ls -l` asks for: the machine's have none, as sysfs and devtmpfs without rules of
//! their own.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::inside::{Inside, returned};
use crate::paths;
use crate::raw::{self, call};
use libc::AT_FDCWD;
use selvedge_sys::Errno;
use std::ffi::{c_char, c_void};

/// What the machine says of a path, if it is one of the machine's: nothing but whether it is there.
fn of_machine(path: *const c_char, nothing: Result<isize, Errno>) -> Option<isize> {
    let inside = Inside::enter()?;
    let place = paths::find(AT_FDCWD, path)?;
    // SAFETY: a C string.
    let fd = unsafe {
        let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        raw::openat(AT_FDCWD, place.host().as_ptr(), flags, 0)
    };
    let result = if fd < 0 { Err(Errno::last()) } else { nothing };
    raw::close(fd);
    drop(inside);
    Some(returned(result))
}

/// listxattr(2) and lgetxattr(2), and those that follow links.
macro_rules! attributes {
    ($($name:ident($($argument:ident: $type:ty),*) = $number:ident, $nothing:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(path: *const c_char, $($argument: $type),*) -> isize {
                of_machine(path, $nothing).unwrap_or_else(|| {
                    // SAFETY: the kernel checks all of them.
                    unsafe { call!($number, path $(, $argument)*) as isize }
                })
            }
        )*
    };
}

attributes! {
    listxattr(names: *mut c_char, size: usize) = SYS_listxattr, Ok(0);
    llistxattr(names: *mut c_char, size: usize) = SYS_llistxattr, Ok(0);
    getxattr(name: *const c_char, value: *mut c_void, size: usize) = SYS_getxattr, Err(Errno::ENODATA);
    lgetxattr(name: *const c_char, value: *mut c_void, size: usize) = SYS_lgetxattr, Err(Errno::ENODATA);
}
