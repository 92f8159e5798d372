//! Linux error numbers.

use std::fmt;

/// A Linux error number. A newtype and not an enum, because the KFD returns numbers that libc does
/// not name (524, ENOTSUPP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($name:ident $value:expr, $text:literal;)*) => {
        impl Errno {
            $(#[doc = concat!($text, ".")] pub const $name: Errno = Errno($value);)*

            /// The symbolic name, e.g. `EINVAL`, when this crate knows it.
            pub const fn name(self) -> Option<&'static str> {
                $(if self.0 == $value { return Some(stringify!($name)); })*
                None
            }

            /// What the number means, in a few words.
            pub const fn meaning(self) -> &'static str {
                $(if self.0 == $value { return $text; })*
                "unknown error"
            }
        }
    };
}

errnos! {
    EPERM libc::EPERM, "Operation not permitted";
    ENOENT libc::ENOENT, "No such file or directory";
    ESRCH libc::ESRCH, "No such process";
    EINTR libc::EINTR, "Interrupted by a signal";
    EIO libc::EIO, "I/O error";
    ENXIO libc::ENXIO, "No such device or address";
    EBADF libc::EBADF, "Bad file descriptor";
    EAGAIN libc::EAGAIN, "Try again";
    ENOMEM libc::ENOMEM, "Out of memory";
    EACCES libc::EACCES, "Permission denied";
    EFAULT libc::EFAULT, "Bad address";
    EBUSY libc::EBUSY, "Device or resource busy";
    EEXIST libc::EEXIST, "Already exists";
    ENODEV libc::ENODEV, "No such device";
    ENOTDIR libc::ENOTDIR, "Not a directory";
    EISDIR libc::EISDIR, "Is a directory";
    EINVAL libc::EINVAL, "Invalid argument";
    EMFILE libc::EMFILE, "Too many open files";
    ENOTTY libc::ENOTTY, "Inappropriate ioctl for device";
    ENOSPC libc::ENOSPC, "No space left";
    ENOSYS libc::ENOSYS, "Function not implemented";
    ENODATA libc::ENODATA, "No data available";
    ETIME libc::ETIME, "Timer expired";
    EPROTO libc::EPROTO, "Protocol error";
    EOVERFLOW libc::EOVERFLOW, "Value too large";
    EOPNOTSUPP libc::EOPNOTSUPP, "Operation not supported";
    EADDRINUSE libc::EADDRINUSE, "Address already in use";
    ETIMEDOUT libc::ETIMEDOUT, "Timed out";
    ECANCELED libc::ECANCELED, "Cancelled";
    ERESTARTSYS 512, "Interrupted, to be restarted";
    ENOTSUPP 524, "Operation not supported (kernel-internal number)";
}

impl Errno {
    /// The calling thread's `errno`.
    pub fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.meaning()),
            None => write!(f, "errno {}", self.0),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.0),
        }
    }
}

impl std::error::Error for Errno {}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        std::io::Error::from_raw_os_error(errno.0)
    }
}
