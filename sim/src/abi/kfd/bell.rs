//! What threads in WAIT_EVENTS sleep on: a condition variable from whose sleep a signal wakes, as from
//! `TASK_INTERRUPTIBLE`.
#![expect(unsafe_code, reason = "futex")]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The bell of what a mutex guards. It is rung with the mutex locked, or after it was.
#[derive(Debug, Default)]
pub(super) struct Bell {
    /// How often it was rung.
    rings: AtomicU32,
    sleepers: AtomicU32,
}

/// `struct futex_waitv`
#[repr(C)]
struct Waiter {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// Linux before 5.16, or a filter of system calls, has no futex_waitv.
static IS_OLD: AtomicBool = AtomicBool::new(false);

impl Bell {
    /// Wakes all that sleep.
    pub(super) fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: wakes threads.
            unsafe { libc::syscall(libc::SYS_futex, self.rings.as_ptr(), operation, i32::MAX) };
        }
    }

    /// Sleeps until it is rung, the time comes, or a handler of a signal has run whose action does not say SA_RESTART;
    /// whether it was that.
    pub(super) fn sleep<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        end: Option<Instant>,
    ) -> (MutexGuard<'a, T>, bool) {
        let rings = self.rings.load(Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        drop(guard);
        let interrupted = self.wait(rings, end);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        (mutex.lock().unwrap_or_else(PoisonError::into_inner), interrupted)
    }

    fn wait(&self, rings: u32, end: Option<Instant>) -> bool {
        let until = end.map(|end| monotonic(end.saturating_duration_since(Instant::now())));
        let until = until.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        if !IS_OLD.load(Ordering::Relaxed) {
            const FUTEX_32: u32 = 2; // FUTEX2_SIZE_U32, linux/futex.h
            let waiter = Waiter {
                value: rings.into(),
                address: self.rings.as_ptr().expose_provenance() as u64,
                flags: FUTEX_32 | libc::FUTEX_PRIVATE_FLAG.cast_unsigned(),
                reserved: 0,
            };
            // Of the calls that sleep until a time, this one ends by ERESTARTSYS as the KFD's does: it goes on after a
            // handler with SA_RESTART (kernel/futex/waitwake.c, `futex_wait_multiple`).
            // SAFETY: reads its arguments, and sleeps.
            let result = unsafe {
                let (waiter, clock) = (&raw const waiter, libc::CLOCK_MONOTONIC);
                libc::syscall(libc::SYS_futex_waitv, waiter, 1, 0, until, clock)
            };
            match last_error(result) {
                Some(libc::ENOSYS | libc::EPERM) => IS_OLD.store(true, Ordering::Relaxed),
                error => return error == Some(libc::EINTR),
            }
        }
        // With a time this ends by EINTR after any handler.
        let operation = libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: as above.
        let result = unsafe {
            let (word, nowhere) = (self.rings.as_ptr(), std::ptr::null::<u32>());
            libc::syscall(libc::SYS_futex, word, operation, rings, until, nowhere, u32::MAX)
        };
        last_error(result) == Some(libc::EINTR)
    }
}

fn last_error(result: i64) -> Option<i32> {
    (result < 0).then(|| std::io::Error::last_os_error().raw_os_error()).flatten()
}

/// The time on the monotonic clock after so long.
fn monotonic(left: Duration) -> libc::timespec {
    let now = Duration::from_nanos(crate::clock::monotonic_ns().cast_unsigned());
    let then = now.saturating_add(left);
    libc::timespec {
        tv_sec: i64::try_from(then.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: then.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ringing_and_time_wake() {
        let (bell, mutex) = (Bell::default(), Mutex::new(0));
        let lock = || mutex.lock().unwrap();
        let soon = Some(Instant::now() + Duration::from_millis(5));
        assert!(!bell.sleep(&mutex, lock(), soon).1);
        assert!(Some(Instant::now()) >= soon);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                let mut guard = lock();
                while *guard == 0 {
                    guard = bell.sleep(&mutex, guard, None).0;
                }
            });
            while bell.sleepers.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            *lock() = 1;
            bell.ring();
            sleeper.join().unwrap();
        });
    }
}
