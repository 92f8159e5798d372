//! The thread of a queue.
#![expect(unsafe_code, reason = "sets the rounding mode of the thread")]

use super::Host;
use std::any::Any;
use std::arch::asm;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// MXCSR as a process starts with it: round to nearest, denormals kept, no exceptions taken (System V ABI for
/// x86-64, 3.2.3).
static DEFAULT_MXCSR: u32 = 0x1f80;

/// Starts a thread that calculates as a fresh one would, whatever the caller's thread is set to. Should `work`
/// panic, `host` is told.
///
/// # Errors
/// When the operating system has no thread left.
pub(super) fn spawn(
    name: String,
    host: Arc<dyn Host>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name).spawn(move || {
        reset_mxcsr();
        // Nobody looks afterwards at what `work` had in its hands; locks that it held are taken over.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            host.internal_error(message(&*panic));
        }
    })
}

/// Threads start with the MXCSR of the one that makes them.
fn reset_mxcsr() {
    // SAFETY: loads the value that Rust code is compiled for.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const DEFAULT_MXCSR, options(nostack, readonly));
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(started.join().unwrap(), (ODD, DEFAULT_MXCSR));
    }
}
