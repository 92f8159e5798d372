//! Listing directories: libc's streams, of the directories that stand for the machine's.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::files::machine_path;
use crate::inside::{Inside, set_errno};
use crate::log;
use crate::paths::{self, Place};
use crate::symbols::{Original, original};
use libc::{AT_FDCWD, DIR, dirent};
use std::ffi::{c_char, c_int};

pub(crate) type Opendir = unsafe extern "C" fn(*const c_char) -> *mut DIR;
pub(crate) type Filter = Option<unsafe extern "C" fn(*const dirent) -> c_int>;
pub(crate) type Order =
    Option<unsafe extern "C" fn(*mut *const dirent, *mut *const dirent) -> c_int>;
pub(crate) type Scandir =
    unsafe extern "C" fn(*const c_char, *mut *mut *mut dirent, Filter, Order) -> c_int;

original! {
    static OPENDIR: Opendir = c"opendir";
    static SCANDIR: Scandir = c"scandir";
}

/// Where a path leads, said to the record.
fn find(what: &str, path: *const c_char) -> Option<Place> {
    let _inside = Inside::enter()?;
    let place = paths::find(AT_FDCWD, path)?;
    if log::is_on() {
        log::line(format_args!("{what} {}", machine_path(&place)));
    }
    Some(place)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    let Some(function) = OPENDIR.get() else {
        set_errno(libc::ENOSYS);
        return std::ptr::null_mut();
    };
    // SAFETY: libc's own contract.
    unsafe {
        let place = find("opendir", path);
        function(place.as_ref().map_or(path, |place| place.host().as_ptr()))
    }
}

/// On x86-64 the one structure serves both `scandir` and `scandir64`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn scandir(
    path: *const c_char,
    names: *mut *mut *mut dirent,
    filter: Filter,
    order: Order,
) -> c_int {
    let Some(function) = SCANDIR.get() else {
        set_errno(libc::ENOSYS);
        return -1;
    };
    // SAFETY: libc's own contract.
    unsafe {
        let place = find("scandir", path);
        function(place.as_ref().map_or(path, |place| place.host().as_ptr()), names, filter, order)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn scandir64(
    path: *const c_char,
    names: *mut *mut *mut dirent,
    filter: Filter,
    order: Order,
) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { scandir(path, names, filter, order) }
}
