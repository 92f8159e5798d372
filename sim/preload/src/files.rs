//! Opening files and asking for access to them.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors;
use crate::inside::{Inside, returned, set_errno};
use crate::log::{self, Outcome};
use crate::paths::{self, Device, Place};
use crate::raw::{self, call};
use crate::state;
use crate::symbols::{Original, original};
use libc::{AT_FDCWD, FILE};
use selvedge_sys::{Errno, OpenMode, System};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

/// openat(2)
///
/// # Safety
/// `path` is a C string, or null.
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int {
    let Some(inside) = Inside::enter() else {
        // SAFETY: the caller's promise.
        return unsafe { raw::openat(directory, path, flags, mode) };
    };
    let place = paths::find(directory, path);
    let Some(place) = place else {
        drop(inside);
        // SAFETY: the caller's promise.
        return unsafe { raw::openat(directory, path, flags, mode) };
    };
    let result = match &place {
        Place::Device(device) => open_device(device, flags),
        Place::Host(host) => open_host(host, flags),
    };
    log_open(&place, flags, result);
    drop(inside);
    returned(result)
}

fn open_host(host: &CStr, flags: c_int) -> Result<c_int, Errno> {
    let open = |flags: c_int| {
        // SAFETY: a C string.
        let fd = unsafe { raw::openat(AT_FDCWD, host.as_ptr(), flags, 0) };
        if fd < 0 { Err(Errno::last()) } else { Ok(fd) }
    };
    if flags & libc::O_ACCMODE == libc::O_RDONLY || flags & libc::O_PATH != 0 {
        return open(flags & !libc::O_CREAT);
    }
    // Nothing of the machine's sysfs can be written (fs/kernfs/file.c, `kernfs_fop_open`) or made; what is not there, or is
    // a directory, is found before that (fs/namei.c, `do_open`).
    let look = |flags: c_int| open(libc::O_PATH | libc::O_CLOEXEC | flags).map(raw::close);
    let is_made = flags & libc::O_CREAT != 0;
    Err(match look(flags & libc::O_NOFOLLOW) {
        Ok(_) if is_made && flags & libc::O_EXCL != 0 => Errno::EEXIST,
        Ok(_) if look(libc::O_DIRECTORY).is_ok() => Errno::EISDIR,
        Ok(_) => Errno::EACCES,
        Err(Errno::ENOENT) if is_made => Errno::EACCES,
        Err(errno) => errno,
    })
}

fn open_device(device: &Device, flags: c_int) -> Result<c_int, Errno> {
    if flags & libc::O_DIRECTORY == libc::O_DIRECTORY {
        return Err(Errno::ENOTDIR);
    }
    if flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL {
        return Err(Errno::EEXIST);
    }
    let mode = match flags & libc::O_ACCMODE {
        libc::O_RDONLY => OpenMode::ReadOnly,
        _ => OpenMode::ReadWrite,
    };
    let state = state::get()?;
    if state.pid != raw::getpid() {
        // A child of vfork, whose descriptors are not this memory's.
        eprintln!("simulated machine: not modelled: opening {} in a child of vfork", device.path);
        return Err(Errno::ENODEV);
    }
    let opened = state.process.open(Path::new(&device.path), mode);
    if let Some(recorder) = &state.recorder {
        recorder.opened(&device.path, mode == OpenMode::ReadWrite, opened);
    }
    let fd = opened?;
    if fd >= descriptors::LIMIT {
        let _ = state.process.close(fd);
        return Err(Errno::EMFILE);
    }
    if flags & libc::O_CLOEXEC == 0 {
        raw::fcntl(fd, libc::F_SETFD, 0);
    }
    Ok(fd)
}

fn log_open(place: &Place, flags: c_int, result: Result<c_int, Errno>) {
    if log::is_on() {
        let path = machine_path(place);
        log::line(format_args!("open {path} {flags:#o} = {}", Outcome(result)));
    }
}

/// The path on the machine, for the record.
pub(crate) fn machine_path(place: &Place) -> String {
    let host = place.host().to_bytes();
    String::from_utf8_lossy(paths::within_tree(host).unwrap_or(host)).into_owned()
}

/// Functions that open: name, and what they pass on.
macro_rules! opens {
    ($($name:ident($($argument:ident: $type:ty),*) => $directory:expr, $path:ident, $flags:expr, $mode:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: libc's own contract.
                unsafe { open_at($directory, $path, $flags, $mode) }
            }
        )*
    };
}

opens! {
    open(path: *const c_char, flags: c_int, mode: u32) => AT_FDCWD, path, flags, mode;
    open64(path: *const c_char, flags: c_int, mode: u32) => AT_FDCWD, path, flags, mode;
    __open(path: *const c_char, flags: c_int, mode: u32) => AT_FDCWD, path, flags, mode;
    __open64(path: *const c_char, flags: c_int, mode: u32) => AT_FDCWD, path, flags, mode;
    __open_2(path: *const c_char, flags: c_int) => AT_FDCWD, path, flags, 0;
    __open64_2(path: *const c_char, flags: c_int) => AT_FDCWD, path, flags, 0;
    creat(path: *const c_char, mode: u32) => AT_FDCWD, path, CREATE, mode;
    creat64(path: *const c_char, mode: u32) => AT_FDCWD, path, CREATE, mode;
    openat(directory: c_int, path: *const c_char, flags: c_int, mode: u32) => directory, path, flags, mode;
    openat64(directory: c_int, path: *const c_char, flags: c_int, mode: u32) => directory, path, flags, mode;
    __openat_2(directory: c_int, path: *const c_char, flags: c_int) => directory, path, flags, 0;
    __openat64_2(directory: c_int, path: *const c_char, flags: c_int) => directory, path, flags, 0;
}

/// creat(2)
const CREATE: c_int = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;

pub(crate) type Fopen = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut FILE;

/// fopen(3): libc's, of the file that stands for the machine's.
///
/// # Safety
/// `path` and `mode` are C strings.
unsafe fn open_stream(
    function: &Original<Fopen>,
    path: *const c_char,
    mode: *const c_char,
) -> *mut FILE {
    let Some(fopen) = function.get() else {
        set_errno(libc::ENOSYS);
        return std::ptr::null_mut();
    };
    let place = Inside::enter().and_then(|_inside| paths::find(AT_FDCWD, path));
    let Some(place) = place else {
        // SAFETY: the caller's promise.
        return unsafe { fopen(path, mode) };
    };
    // SAFETY: the caller's promise.
    let mode_text = unsafe { CStr::from_ptr(mode) }.to_bytes();
    if mode_text.first() != Some(&b'r') || mode_text.contains(&b'+') {
        set_errno(libc::EACCES);
        return std::ptr::null_mut();
    }
    if let Place::Device(device) = &place {
        // libc would close the descriptor without asking us.
        eprintln!("simulated machine: not modelled: fopen of {}", device.path);
        set_errno(libc::ENOTSUP);
        return std::ptr::null_mut();
    }
    // SAFETY: both are C strings.
    let stream = unsafe { fopen(place.host().as_ptr(), mode) };
    if let Some(_inside) = Inside::enter() {
        let what = if stream.is_null() { "null" } else { "a stream" };
        log::line(format_args!("fopen {} = {what}", machine_path(&place)));
    }
    stream
}

original! {
    static FOPEN: Fopen = c"fopen";
    static FOPEN64: Fopen = c"fopen64";
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: libc's own contract.
    unsafe { open_stream(&FOPEN, path, mode) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: libc's own contract.
    unsafe { open_stream(&FOPEN64, path, mode) }
}

/// faccessat(2)
///
/// # Safety
/// `path` is a C string, or null.
unsafe fn access_at(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the kernel checks the path.
    let ask = |directory: c_int, path: *const c_char| unsafe {
        match flags {
            0 => call!(SYS_faccessat, directory, path, mode) as c_int,
            _ => call!(SYS_faccessat2, directory, path, mode, flags) as c_int,
        }
    };
    let Some(inside) = Inside::enter() else { return ask(directory, path) };
    let place = paths::find(directory, path);
    let Some(place) = place else {
        drop(inside);
        return ask(directory, path);
    };
    let result = match (ask(AT_FDCWD, place.host().as_ptr()), &place) {
        (0, Place::Host(_)) if mode & libc::W_OK != 0 => Err(Errno::EACCES),
        (0, Place::Device(device)) if mode & !device.permissions.cast_signed() & 7 != 0 => {
            Err(Errno::EACCES)
        }
        (0, _) => Ok(0),
        _ => Err(Errno::last()),
    };
    if log::is_on() {
        let path = machine_path(&place);
        log::line(format_args!("access {path} {mode:#o} = {}", Outcome(result)));
    }
    drop(inside);
    returned(result)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { access_at(AT_FDCWD, path, mode, 0) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn eaccess(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { access_at(AT_FDCWD, path, mode, libc::AT_EACCESS) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn euidaccess(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { access_at(AT_FDCWD, path, mode, libc::AT_EACCESS) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn faccessat(
    directory: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: libc's own contract.
    unsafe { access_at(directory, path, mode, flags) }
}
