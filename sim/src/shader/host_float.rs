//! The host's floating-point control.
#![expect(unsafe_code, reason = "sets MXCSR")]

use std::arch::asm;

/// All exceptions masked, to nearest even, denormals kept: what Rust code is compiled for.
static MXCSR: u32 = 0x1f80;

/// Gives this thread the control that Rust code is compiled for. Threads inherit that of the thread which starts
/// them, and programs that simulate a GPU may have set theirs to flush denormals.
pub(crate) fn reset() {
    // SAFETY: `MXCSR` is readable and a valid value; it is the one that the compiler assumes.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const MXCSR, options(nostack, readonly)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> u32 {
        let mut mxcsr = 0u32;
        // SAFETY: `mxcsr` is writable.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
        mxcsr
    }

    #[test]
    fn threads_start_with_their_parents_control() {
        static FLUSHING: u32 = 0x1f80 | 0x8040;
        let (inherited, mended) = std::thread::spawn(|| {
            // SAFETY: a valid value, under which this thread only starts another.
            unsafe {
                asm!("ldmxcsr [{}]", in(reg) &raw const FLUSHING, options(nostack, readonly))
            };
            let child = std::thread::spawn(|| {
                let inherited = control();
                reset();
                (inherited, control())
            });
            let controls = child.join();
            reset();
            controls
        })
        .join()
        .expect("no panic")
        .expect("no panic");
        assert_eq!((inherited, mended), (FLUSHING, MXCSR));
    }
}
