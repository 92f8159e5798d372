//! Whose process this is.

use selvedge_sys::fork;

/// The process that made a kernel object. After fork, the child has the value but not the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(u32);

impl Owner {
    /// The calling process.
    pub(crate) fn current() -> Owner {
        Owner(fork::generation())
    }

    /// Whether the calling process is the one that made the object: one load and a comparison.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        self == Owner::current()
    }
}
