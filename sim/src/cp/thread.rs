//! The thread of a queue.
#![expect(unsafe_code, reason = "signal masks")]

use super::Host;
use crate::shader::host_float;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Starts a thread that calculates as a fresh one would, whatever the caller's thread is set to, and on which no handlers
/// of the program's signals run. Should `work` panic, `host` is told.
///
/// # Errors
/// When the operating system has no thread left.
pub(super) fn spawn(
    name: String,
    host: Arc<dyn Host>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let _blocked = Blocked::new();
    Builder::new().name(name).spawn(move || {
        // Threads start with the rounding mode of the one that makes them.
        host_float::reset();
        // Nobody looks afterwards at what `work` had in its hands; locks that it held are taken over.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            host.internal_error(message(&*panic));
        }
    })
}

/// Starts a thread that serves the machine, on which no handlers of the program's signals run; it ends by itself.
///
/// # Errors
/// When the operating system has no thread left.
pub(crate) fn quiet_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let _blocked = Blocked::new();
    Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// While it lives, signals to this thread wait, and threads that are made have them blocked for good: all but those
/// that the thread's own instructions raise.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn new() -> Blocked {
        // SAFETY: sets of the thread's own; all zeros are one.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
                libc::sigdelset(&raw mut all, own);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set that was there before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::asm;

    #[test]
    fn signals_stay_with_the_program() {
        let (send, receive) = std::sync::mpsc::channel();
        let blocked = |signal: i32| {
            // SAFETY: asks for the thread's own set.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set);
                libc::sigismember(&raw const set, signal) == 1
            }
        };
        let signals = [libc::SIGINT, libc::SIGPROF, libc::SIGSEGV];
        let work = move || send.send(signals.map(blocked)).unwrap();
        let host = Arc::new(crate::cp::tests::Recorder::default());
        spawn("test".to_owned(), host, work).unwrap().join().unwrap();
        assert_eq!(receive.recv().unwrap(), [true, true, false]);
        assert!(!blocked(libc::SIGINT));
    }

    fn mxcsr() -> u32 {
        let mut value = 0u32;
        // SAFETY: stores to `value`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
        // Without the flags of exceptions that have happened.
        value & !0x3f
    }

    #[test]
    fn rounding_is_not_inherited() {
        /// Toward zero, denormals flushed.
        static ODD: u32 = 0xffc0;
        let started = std::thread::spawn(|| {
            // SAFETY: this thread does no floating-point arithmetic.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const ODD, options(nostack, readonly)) };
            let inherited = std::thread::spawn(mxcsr).join().unwrap();
            let (send, receive) = std::sync::mpsc::channel();
            let work = move || send.send(mxcsr()).unwrap();
            let host = Arc::new(crate::cp::tests::Recorder::default());
            spawn("test".to_owned(), host, work).unwrap().join().unwrap();
            (inherited, receive.recv().unwrap())
        });
        assert_eq!(started.join().unwrap(), (ODD, 0x1f80));
    }
}
