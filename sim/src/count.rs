//! How many of each kernel object are alive, so that tests can show that nothing leaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts live objects of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Counts one more as long as the token lives.
    pub(crate) fn token(&self) -> Token {
        self.tokens(1)
    }

    /// Counts `amount` more as long as the token lives.
    pub(crate) fn tokens(&self, amount: u64) -> Token {
        self.0.fetch_add(amount, Ordering::Relaxed);
        Token { counter: self.clone(), amount }
    }

    /// How many there are.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something counted.
#[derive(Debug)]
pub(crate) struct Token {
    counter: Counter,
    amount: u64,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.counter.0.fetch_sub(self.amount, Ordering::Relaxed);
    }
}

macro_rules! objects {
    ($($name:ident, $doc:literal;)*) => {
        #[derive(Debug, Default)]
        pub(crate) struct Counters { $(pub(crate) $name: Counter,)* }

        /// Live objects of a machine, over all its processes. All zero when every process has gone.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Objects { $(#[doc = $doc] pub $name: u64,)* }

        impl Counters {
            pub(crate) fn objects(&self) -> Objects {
                Objects { $($name: self.$name.get(),)* }
            }
        }
    };
}

objects! {
    processes, "Linux processes.";
    kfd_processes, "kfd_processes: primary and secondary.";
    files, "Open files, of every kind the machine hands out.";
    vms, "GPU virtual address spaces: one per open render node.";
    buffers, "Buffer objects.";
    buffer_bytes, "Bytes of the machine's memory in use: buffer objects, doorbell and event pages.";
    gpu_mappings, "Mappings of buffers into GPU address spaces.";
    cpu_mappings, "Ranges of process address space mapped from the machine's files.";
    queues, "User queues.";
    events, "Events.";
}
