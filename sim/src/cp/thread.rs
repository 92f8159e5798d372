//! The thread of a queue.

use super::Host;
use crate::shader::host_float;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

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
        // Threads start with the rounding mode of the one that makes them.
        host_float::reset();
        // Nobody looks afterwards at what `work` had in its hands; locks that it held are taken over.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            host.internal_error(message(&*panic));
        }
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    #![expect(unsafe_code, reason = "looks at and sets the rounding mode of the thread")]

    use super::*;
    use std::arch::asm;

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
