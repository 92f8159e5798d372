//! The machine's time.
#![expect(unsafe_code, reason = "clock_gettime")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds in a tick of the GPU's counter: 100 MHz.
const NS_PER_TICK: u64 = 10;

/// Where the machine's clocks come from: the GPU's counter and time stamps, and what GET_CLOCK_COUNTERS
/// tells of the CPU's. Deadlines of waits are always on the host's clock.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The host's own clocks.
    #[default]
    Host,
    /// One that stands still until told otherwise.
    Manual(ManualClock),
}

/// A clock that tests drive. Clones are the same clock.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock at `ns` nanoseconds.
    pub fn at(ns: u64) -> ManualClock {
        ManualClock(Arc::new(AtomicU64::new(ns)))
    }

    /// Lets `ns` nanoseconds pass.
    pub fn advance(&self, ns: u64) {
        self.0.fetch_add(ns, Ordering::Relaxed);
    }
}

/// The host's monotonic clock, which deadlines of system calls are on.
pub(crate) fn monotonic_ns() -> i64 {
    Clock::Host.read(libc::CLOCK_MONOTONIC).cast_signed()
}

impl Clock {
    fn read(&self, host: libc::clockid_t) -> u64 {
        match self {
            Clock::Manual(clock) => clock.0.load(Ordering::Relaxed),
            Clock::Host => {
                let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                // SAFETY: `time` is a valid timespec; these clocks always exist on Linux.
                unsafe { libc::clock_gettime(host, &raw mut time) };
                time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
            }
        }
    }

    /// `ktime_get_raw_ns`.
    pub(crate) fn raw_ns(&self) -> u64 {
        self.read(libc::CLOCK_MONOTONIC_RAW)
    }

    /// `ktime_get_boottime_ns`.
    pub(crate) fn boottime_ns(&self) -> u64 {
        self.read(libc::CLOCK_BOOTTIME)
    }

    /// The GPU's timestamp counter.
    pub(crate) fn gpu_ticks(&self) -> u64 {
        self.raw_ns() / NS_PER_TICK
    }
}
