//! Telling a forked child from its parent without a system call.
//!
//! A child inherits neither the KFD's process state (its descriptors answer EBADF) nor the ranges marked
//! [`crate::System::keep_from_children`]: touching a ring there is a segmentation fault. So whoever owns
//! such memory keeps the [`generation`] it was made in and leaves it alone in any other.
#![expect(unsafe_code, reason = "registers a handler with pthread_atfork")]

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static REGISTERED: Once = Once::new();

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// How many forks lie between this process and the first one that asked. One relaxed load once the
/// handler is registered, which the first call does.
#[inline]
pub fn generation() -> u32 {
    if !REGISTERED.is_completed() {
        register();
    }
    GENERATION.load(Ordering::Relaxed)
}

#[cold]
fn register() {
    REGISTERED.call_once(|| {
        // SAFETY: the handler only adds to an atomic, which is allowed in a forked child.
        // It fails only for want of memory; the count then stays 0 and a child is told by EBADF.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_another_generation() {
        let before = generation();
        // SAFETY: the child only compares two numbers and leaves without unwinding.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let status = i32::from(generation() != before + 1);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(status) };
        }
        let mut status = 0;
        // SAFETY: `child` is this process's child and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(generation(), before);
    }
}
