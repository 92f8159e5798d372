//! Reading links and resolving paths.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, owner};
use crate::files::machine_path;
use crate::inside::{Inside, returned, set_errno};
use crate::log::{self, Outcome};
use crate::paths::{self, DRM_MAJOR};
use crate::raw::call;
use crate::state;
use crate::symbols::{Original, original};
use crate::working;
use libc::AT_FDCWD;
use selvedge_sys::Errno;
use std::ffi::{CStr, c_char, c_int};

/// readlinkat(2)
///
/// # Safety
/// `path` is a C string or null; `buffer` has room for `size` bytes.
unsafe fn read_link(
    directory: c_int,
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: the kernel checks both.
    let ask = |directory: c_int, path: *const c_char| unsafe {
        call!(SYS_readlinkat, directory, path, buffer, size) as isize
    };
    let Some(inside) = Inside::enter() else { return ask(directory, path) };
    let place = paths::find(directory, path);
    let result = match &place {
        Some(place) => match ask(AT_FDCWD, place.host().as_ptr()) {
            length if length < 0 => Err(Errno::last()),
            length => Ok(length),
        },
        None => match ask(directory, path) {
            length if length < 0 => Err(Errno::last()),
            // SAFETY: the kernel has read the path and written so many bytes.
            length => Ok(unsafe { shown(path, buffer, size, length) }),
        },
    };
    if log::is_on()
        && let Some(place) = &place
    {
        let path = machine_path(place);
        log::line(format_args!("readlink {path} = {}", Outcome(result)));
    }
    drop(inside);
    returned(result)
}

/// What procfs says of a descriptor, said of the machine's file.
///
/// # Safety
/// `path` is a C string, `buffer` has room for `size` bytes and holds `length`.
unsafe fn shown(path: *const c_char, buffer: *mut c_char, size: usize, length: isize) -> isize {
    // SAFETY: the caller's promise.
    let (path, link) = unsafe {
        let link = std::slice::from_raw_parts(buffer.cast::<u8>(), length.cast_unsigned());
        (CStr::from_ptr(path).to_bytes(), link)
    };
    if !path.starts_with(b"/proc/") {
        return length;
    }
    let name = match descriptor(path).filter(|&fd| owner(fd) == Owner::Machine).and_then(device) {
        Some(name) => name.into_bytes(),
        None => match paths::within_tree(link) {
            Some(rest) => rest.to_vec(),
            None => return length,
        },
    };
    let length = name.len().min(size);
    // SAFETY: within the buffer.
    unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(name.as_ptr(), length) };
    length.cast_signed()
}

/// The descriptor that a path of procfs is about.
fn descriptor(path: &[u8]) -> Option<c_int> {
    let rest = std::str::from_utf8(path).ok()?.strip_prefix("/proc/")?;
    let (process, fd) = rest.split_once("/fd/")?;
    let own =
        process == "self" || process == "thread-self" || process.parse() == Ok(std::process::id());
    fd.parse().ok().filter(|_| own)
}

/// The path of a device node.
fn device(fd: c_int) -> Option<String> {
    let (major, minor) = state::current()?.process.device(fd)?;
    Some(if major == DRM_MAJOR {
        format!("/dev/dri/renderD{minor}")
    } else {
        "/dev/kfd".to_owned()
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readlink(
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { read_link(AT_FDCWD, path, buffer, size) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn readlinkat(
    directory: c_int,
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { read_link(directory, path, buffer, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __readlink_chk(
    path: *const c_char,
    buffer: *mut c_char,
    size: usize,
    _room: usize,
) -> isize {
    // SAFETY: libc's own contract.
    unsafe { read_link(AT_FDCWD, path, buffer, size) }
}

pub(crate) type Realpath = unsafe extern "C" fn(*const c_char, *mut c_char) -> *mut c_char;

original! {
    static REALPATH: Realpath = c"realpath";
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realpath(
    path: *const c_char,
    resolved: *mut c_char,
) -> *mut c_char {
    let Some(function) = REALPATH.get() else {
        set_errno(libc::ENOSYS);
        return std::ptr::null_mut();
    };
    let place = Inside::enter().and_then(|_inside| paths::find(AT_FDCWD, path));
    let Some(place) = place else {
        // SAFETY: libc's own contract.
        return unsafe { function(path, resolved) };
    };
    // SAFETY: a C string, and the caller's buffer or null.
    let answer = unsafe { function(place.host().as_ptr(), resolved) };
    if answer.is_null() {
        return answer;
    }
    // SAFETY: realpath has written a C string.
    unsafe { working::show(answer) };
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __realpath_chk(
    path: *const c_char,
    resolved: *mut c_char,
    _room: usize,
) -> *mut c_char {
    // SAFETY: libc's own contract.
    unsafe { realpath(path, resolved) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn canonicalize_file_name(path: *const c_char) -> *mut c_char {
    // SAFETY: libc's own contract.
    unsafe { realpath(path, std::ptr::null_mut()) }
}
