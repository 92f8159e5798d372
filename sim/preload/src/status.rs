//! What files are: the machine's device nodes are character devices.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, owner};
use crate::files::machine_path;
use crate::inside::{Inside, returned};
use crate::log::{self, Outcome};
use crate::paths::{self, Place};
use crate::raw::{self, call};
use crate::state;
use libc::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, statx as Statx};
use selvedge_sys::Errno;
use std::ffi::{c_char, c_int, c_uint};

/// Permissions of a device node that is open.
const OPEN: u32 = 0o666;

const NOTHING: *const c_char = c"".as_ptr();

/// What is asked about.
enum Subject {
    /// A device node, by its numbers and permissions.
    Device(u32, u32, u32),
    /// A place in the machine's folder.
    Place(Place),
    /// The kernel's.
    Kernel,
}

/// Whether a path is empty, and so about the descriptor.
fn is_empty(path: *const c_char) -> bool {
    let mut first = [1];
    path.is_null() || path == NOTHING || raw::peek(path.cast(), &mut first) && first == [0]
}

fn subject(directory: c_int, path: *const c_char, flags: c_int) -> Subject {
    if flags & AT_EMPTY_PATH != 0 && is_empty(path) {
        let device = (owner(directory) == Owner::Machine)
            .then(state::current)
            .flatten()
            .and_then(|state| state.process.device(directory));
        return device
            .map_or(Subject::Kernel, |(major, minor)| Subject::Device(major, minor, OPEN));
    }
    match paths::find(directory, path) {
        // A link is a link, when it is asked about.
        Some(Place::Device(device)) if flags & AT_SYMLINK_NOFOLLOW == 0 || !device.by_link => {
            Subject::Device(device.major, device.minor, device.permissions)
        }
        Some(place) => Subject::Place(place),
        None => Subject::Kernel,
    }
}

/// Gives the program an answer, if it has a place for it.
fn answered<T>(out: *mut T, answer: &T) -> Result<c_int, Errno> {
    // SAFETY: of structures of the kernel's all bytes are set.
    let bytes =
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(answer).cast(), size_of::<T>()) };
    if raw::poke(out.cast(), bytes) { Ok(0) } else { Err(Errno::EFAULT) }
}

/// fstatat(2)
///
/// # Safety
/// `path` is a C string or null, `out` a place for the answer.
unsafe fn status_at(
    directory: c_int,
    path: *const c_char,
    out: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the kernel checks both.
    let ask = |directory: c_int, path: *const c_char| unsafe {
        call!(SYS_newfstatat, directory, path, out, flags) as c_int
    };
    let Some(inside) = Inside::enter() else { return ask(directory, path) };
    let result = match subject(directory, path, flags) {
        Subject::Kernel => {
            drop(inside);
            return ask(directory, path);
        }
        Subject::Place(place) => {
            let result = match ask(AT_FDCWD, place.host().as_ptr()) {
                0 => Ok(0),
                _ => Err(Errno::last()),
            };
            if log::is_on() {
                let path = machine_path(&place);
                log::line(format_args!("stat {path} = {}", Outcome(result)));
            }
            result
        }
        Subject::Device(major, minor, permissions) => {
            log::line(format_args!("stat {directory} = character device {major}:{minor}"));
            // SAFETY: all zeros are a value.
            let mut answer: libc::stat = unsafe { std::mem::zeroed() };
            answer.st_mode = libc::S_IFCHR | permissions;
            answer.st_nlink = 1;
            answer.st_blksize = 4096;
            answer.st_ino = u64::from(major << 8 | minor);
            answer.st_rdev = libc::makedev(major, minor);
            answered(out, &answer)
        }
    };
    drop(inside);
    returned(result)
}

/// statx(2)
///
/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut Statx,
) -> c_int {
    // SAFETY: the kernel checks all.
    let ask = |directory: c_int, path: *const c_char| unsafe {
        call!(SYS_statx, directory, path, flags, mask, out) as c_int
    };
    let Some(inside) = Inside::enter() else { return ask(directory, path) };
    let result = match subject(directory, path, flags) {
        Subject::Kernel => {
            drop(inside);
            return ask(directory, path);
        }
        Subject::Place(place) => match ask(AT_FDCWD, place.host().as_ptr()) {
            0 => Ok(0),
            _ => Err(Errno::last()),
        },
        Subject::Device(major, minor, permissions) => {
            log::line(format_args!("statx {directory} = character device {major}:{minor}"));
            // SAFETY: all zeros are a value.
            let mut answer: Statx = unsafe { std::mem::zeroed() };
            answer.stx_mask = libc::STATX_BASIC_STATS;
            answer.stx_mode = (libc::S_IFCHR | permissions) as u16;
            answer.stx_nlink = 1;
            answer.stx_blksize = 4096;
            answer.stx_ino = u64::from(major << 8 | minor);
            (answer.stx_rdev_major, answer.stx_rdev_minor) = (major, minor);
            answered(out, &answer)
        }
    };
    drop(inside);
    returned(result)
}

/// The functions of libc that are fstatat(2) with some arguments fixed.
macro_rules! statuses {
    ($($name:ident($($argument:ident: $type:ty),*) => $directory:expr, $path:expr, $out:ident, $flags:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: libc's own contract.
                unsafe { status_at($directory, $path, $out, $flags) }
            }
        )*
    };
}

/// libc's structure; its 64-bit twin is the same on x86-64.
type Out = *mut libc::stat;
statuses! {
    stat(path: *const c_char, out: Out) => AT_FDCWD, path, out, 0;
    stat64(path: *const c_char, out: Out) => AT_FDCWD, path, out, 0;
    lstat(path: *const c_char, out: Out) => AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW;
    lstat64(path: *const c_char, out: Out) => AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW;
    fstat(fd: c_int, out: Out) => fd, NOTHING, out, AT_EMPTY_PATH;
    fstat64(fd: c_int, out: Out) => fd, NOTHING, out, AT_EMPTY_PATH;
    fstatat(directory: c_int, path: *const c_char, out: Out, flags: c_int) => directory, path, out, flags;
    fstatat64(directory: c_int, path: *const c_char, out: Out, flags: c_int) => directory, path, out, flags;
    // glibc before 2.33: the first argument is the structure's version.
    __xstat(_version: c_int, path: *const c_char, out: Out) => AT_FDCWD, path, out, 0;
    __xstat64(_version: c_int, path: *const c_char, out: Out) => AT_FDCWD, path, out, 0;
    __lxstat(_version: c_int, path: *const c_char, out: Out) => AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW;
    __lxstat64(_version: c_int, path: *const c_char, out: Out) => AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW;
    __fxstat(_version: c_int, fd: c_int, out: Out) => fd, NOTHING, out, AT_EMPTY_PATH;
    __fxstat64(_version: c_int, fd: c_int, out: Out) => fd, NOTHING, out, AT_EMPTY_PATH;
    __fxstatat(_version: c_int, directory: c_int, path: *const c_char, out: Out, flags: c_int) => directory, path, out, flags;
    __fxstatat64(_version: c_int, directory: c_int, path: *const c_char, out: Out, flags: c_int) => directory, path, out, flags;
}
