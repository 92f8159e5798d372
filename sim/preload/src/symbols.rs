//! libc's own functions, and `dlsym`.
//!
//! A program may look a function up in libc's own handle, as Python's ctypes does for `mmap`: that finds libc's, past
//! every preloaded library. So `dlsym` is interposed too. When what it would return is libc's function of a name that
//! is defined here, it returns the one here. Lookups in the default order, and of the next in order, depend on who
//! calls; these go to the real `dlsym` by a jump, which sees the caller.
#![expect(unsafe_code, reason = "functions of libc's names, looked up by name")]

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of libc's that has a name of ours.
#[derive(Debug)]
pub(crate) struct Original<F> {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    function: PhantomData<F>,
}

impl<F: Copy> Original<F> {
    /// # Safety
    /// `F` is the type of a pointer to libc's function of this name.
    pub(crate) const unsafe fn new(name: &'static CStr) -> Original<F> {
        Original { name, found: AtomicPtr::new(std::ptr::null_mut()), function: PhantomData }
    }

    /// The function; `None` when libc has none.
    pub(crate) fn get(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let mut found = self.found.load(Ordering::Acquire);
        if found.is_null() {
            found = next(self.name);
            self.found.store(found, Ordering::Release);
        }
        // SAFETY: a pointer to the function whose type `new` was promised.
        (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
    }
}

/// Declares [`Original`]s.
macro_rules! original {
    ($(static $name:ident: $type:ty = $symbol:literal;)*) => {
        // SAFETY: the types are those of libc's headers.
        $(pub(crate) static $name: Original<$type> = unsafe { Original::new($symbol) };)*
    };
}
pub(crate) use original;

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// The real `dlsym`, which only `dlvsym` finds.
extern "C" fn real() -> *mut c_void {
    let mut found = REAL.load(Ordering::Acquire);
    // Its versions on x86-64 in glibc 2.34 and newer, and before.
    for version in [c"GLIBC_2.34", c"GLIBC_2.2.5"] {
        if found.is_null() {
            // SAFETY: C strings; the next after this library is libc's.
            found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
        }
    }
    if found.is_null() {
        // Nothing can be done without it.
        std::process::abort();
    }
    REAL.store(found, Ordering::Release);
    found
}

fn look_up(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: `real` is dlsym.
    unsafe { std::mem::transmute::<*mut c_void, Dlsym>(real())(handle, name) }
}

/// The function of this name that comes after ours.
fn next(name: &CStr) -> *mut c_void {
    look_up(libc::RTLD_NEXT, name.as_ptr())
}

/// Finds all of libc's functions, which a forked child cannot do.
pub(crate) fn find() {
    crate::control::FCNTL.get();
    crate::directories::OPENDIR.get();
    crate::directories::SCANDIR.get();
    crate::files::FOPEN.get();
    crate::files::FOPEN64.get();
    crate::links::REALPATH.get();
    crate::working::GETCWD.get();
}

/// dlsym(3) of a handle that stands for a library.
unsafe extern "C" fn look_up_in(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let found = look_up(handle, name);
    if found.is_null() || name.is_null() {
        return found;
    }
    // SAFETY: dlsym has read it.
    let name = unsafe { CStr::from_ptr(name) };
    match interposed(name) {
        Some(ours) if found == next(name) => ours,
        _ => found,
    }
}

/// # Safety
/// As libc's.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // RTLD_DEFAULT is 0, RTLD_NEXT -1.
    naked_asm!(
        "lea rax, [rdi + 1]",
        "cmp rax, 1",
        "ja {look_up_in}",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {real}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        look_up_in = sym look_up_in,
        real = sym real,
    )
}

/// The functions that can be looked up.
macro_rules! table {
    ($($module:ident::{$($name:ident),* $(,)?},)*) => {
        /// The function of this name that is defined here.
        fn interposed(name: &CStr) -> Option<*mut c_void> {
            $($(
                if name.to_bytes() == stringify!($name).as_bytes() {
                    return Some(crate::$module::$name as *const () as *mut c_void);
                }
            )*)*
            None
        }
    };
}

table! {
    files::{open, open64, creat, creat64, openat, openat64, fopen, fopen64, access, eaccess, euidaccess, faccessat},
    status::{stat, stat64, lstat, lstat64, fstat, fstat64, fstatat, fstatat64, statx},
    attributes::{listxattr, llistxattr, getxattr, lgetxattr},
    directories::{opendir, scandir, scandir64},
    links::{readlink, readlinkat, realpath, canonicalize_file_name},
    transfer::{read, pread, pread64, readv, write, pwrite, pwrite64, writev},
    control::{close, close_range, dup, dup2, dup3, fcntl, fcntl64, ftruncate, ftruncate64, fallocate, fallocate64, ioctl},
    readiness::{poll, ppoll},
    select::{select, pselect},
    epoll::{epoll_ctl},
    working::{chdir, fchdir, getcwd},
    memory::{mmap, mmap64, munmap, mremap},
    symbols::{dlsym},
}
