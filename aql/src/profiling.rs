//! When packets ran.
//!
//! A queue whose [`Properties::enable_profiling`](crate::queue::Properties) is set (bit 3 of `queue_properties`) has its
//! packet processor write two values of the GPU's clock to the completion signal of each packet, before it decrements
//! the signal's value: [`start_ts`](crate::Signal::start_ts) when it began to process the packet and
//! [`end_ts`](crate::Signal::end_ts) when the packet was complete ([`Signal::interval`](crate::Signal::interval)). Who
//! sees the value decremented sees both. A packet without a completion signal leaves no times.
//!
//! - The processor reads the property when it loads the queue: set it before the queue is created. ROCr takes a queue
//!   off the hardware and puts it back when it changes later (amd_aql_queue.cpp, `SetProfiling`).
//! - The times are those of packets, not of waves: the first contains what fetching and acquiring takes, the second what
//!   the last wave and its writes take. Where the firmware takes them, beside the fences or between, is not published;
//!   nor which of several XCCs gives them.
//! - Nobody resets them: a signal that is used again has the old times until the new packet ends, and all of them 0 on a
//!   queue without the property.
//! - Ticks are those of the counter whose frequency the KFD tells (`hsa_amd_agent_info_t`:
//!   `HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY`), 100 MHz on most devices, whatever the shader clock does. The counters of
//!   two devices have nothing to do with each other.
//!
//! A later amd_hsa_signal.h has a second form of signals, of 1024 bytes, and hints in the low bits of a signal's address,
//! some of which turn the times on or off for one packet. This crate has neither.

use core::num::NonZeroU64;
use core::time::Duration;

/// The frequency of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockRate {
    hertz: NonZeroU64,
}

impl ClockRate {
    /// A clock of so many ticks a second.
    pub const fn new(hertz: NonZeroU64) -> ClockRate {
        ClockRate { hertz }
    }

    /// A clock of so many ticks a second; `None` for one that stands still.
    pub const fn from_hertz(hertz: u64) -> Option<ClockRate> {
        match NonZeroU64::new(hertz) {
            Some(hertz) => Some(ClockRate { hertz }),
            None => None,
        }
    }

    /// Ticks a second.
    pub const fn hertz(self) -> u64 {
        self.hertz.get()
    }

    /// How long so many ticks take, rounded down to a nanosecond. Exact for any number of ticks.
    ///
    /// ```
    /// use aql::profiling::ClockRate;
    /// use std::time::Duration;
    ///
    /// let rate = ClockRate::from_hertz(100_000_000).unwrap();
    /// assert_eq!(rate.duration(123), Duration::from_nanos(1230));
    /// ```
    pub const fn duration(self, ticks: u64) -> Duration {
        let hertz = self.hertz.get();
        let (seconds, rest) = (ticks / hertz, ticks % hertz);
        // Less than a second, so less than 10⁹.
        let nanoseconds = rest as u128 * 1_000_000_000 / hertz as u128;
        Duration::new(seconds, nanoseconds as u32)
    }

    /// How many whole ticks a time takes; `None` when they are more than 64 bits.
    pub const fn ticks(self, time: Duration) -> Option<u64> {
        let hertz = self.hertz.get() as u128;
        let ticks =
            time.as_secs() as u128 * hertz + time.subsec_nanos() as u128 * hertz / 1_000_000_000;
        if ticks <= u64::MAX as u128 { Some(ticks as u64) } else { None }
    }
}

/// Two values of a clock, the first not after the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    start: u64,
    end: u64,
}

impl Interval {
    /// From `start` to `end`; `None` when it is backwards or one of them is 0, which stands for no time.
    pub const fn new(start: u64, end: u64) -> Option<Interval> {
        if start == 0 || end < start { None } else { Some(Interval { start, end }) }
    }

    /// The first value, ticks.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// The last value, ticks.
    pub const fn end(self) -> u64 {
        self.end
    }

    /// Ticks between them.
    pub const fn ticks(self) -> u64 {
        self.end - self.start
    }

    /// Time between them.
    pub const fn duration(self, rate: ClockRate) -> Duration {
        rate.duration(self.ticks())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates() {
        assert_eq!(ClockRate::from_hertz(0), None);
        let rate = ClockRate::from_hertz(27_000_000).unwrap();
        assert_eq!(rate.duration(1), Duration::from_nanos(37));
        assert_eq!(rate.duration(27_000_001), Duration::new(1, 37));
        let slow = ClockRate::new(NonZeroU64::MIN);
        assert_eq!(slow.duration(u64::MAX), Duration::from_secs(u64::MAX));
        let fast = ClockRate::new(NonZeroU64::MAX);
        assert_eq!(fast.duration(u64::MAX - 1), Duration::from_nanos(999_999_999));
        assert_eq!(fast.ticks(Duration::from_secs(1)), Some(u64::MAX));
        assert_eq!(fast.ticks(Duration::from_secs(2)), None);
    }

    #[test]
    fn intervals() {
        assert_eq!(Interval::new(0, 5), None);
        assert_eq!(Interval::new(5, 4), None);
        assert_eq!(Interval::new(5, 0), None);
        assert_eq!(Interval::new(5, 5).map(Interval::ticks), Some(0));
        let interval = Interval::new(5, 105).unwrap();
        let rate = ClockRate::from_hertz(100_000_000).unwrap();
        assert_eq!((interval.ticks(), interval.duration(rate)), (100, Duration::from_micros(1)));
    }

    proptest! {
        #[test]
        fn durations_are_rounded_down(ticks: u64, hertz in 1u64..) {
            let rate = ClockRate::from_hertz(hertz).unwrap();
            let exact = u128::from(ticks).checked_mul(1_000_000_000);
            if let Some(exact) = exact {
                prop_assert_eq!(rate.duration(ticks).as_nanos(), exact / u128::from(hertz));
            }
            let back = rate.ticks(rate.duration(ticks)).unwrap();
            prop_assert!(back <= ticks && ticks - back <= hertz / 1_000_000_000 + 1);
        }
    }
}
