//! Memory that host and GPU use together.

use crate::report::{Outcome, Result};
use kfd::{Allocation, AllocationFlags, Device, Location};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Where memory is and how it is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// System memory, fine-grained and uncached: rings, signals, what both sides use at once.
    Shared,
    /// System memory that the GPU may cache.
    Cached,
    /// The GPU's own, where the host can see it.
    Vram,
    /// System memory that holds code.
    Code,
}

impl Kind {
    fn flags(self) -> AllocationFlags {
        let common =
            AllocationFlags::WRITABLE | AllocationFlags::PUBLIC | AllocationFlags::NO_SUBSTITUTE;
        common
            | match self {
                Kind::Shared => {
                    AllocationFlags::GTT
                        | AllocationFlags::EXECUTABLE
                        | AllocationFlags::COHERENT
                        | AllocationFlags::UNCACHED
                }
                Kind::Cached => AllocationFlags::GTT,
                Kind::Vram => AllocationFlags::VRAM,
                Kind::Code => AllocationFlags::GTT | AllocationFlags::EXECUTABLE,
            }
    }
}

/// Whether the topology says that the GPU's memory is its own (`HSA_MEM_HEAP_TYPE_FB_PRIVATE`).
pub(crate) fn has_small_bar(device: &Device) -> bool {
    const PRIVATE: u32 = 2;
    device.node().memory_banks.iter().any(|bank| bank.properties.heap_type == PRIVATE)
}

/// Memory at one address for host and GPU.
#[derive(Clone, Debug)]
pub(crate) struct Buffer(Arc<Allocation>);

impl Buffer {
    /// Allocates whole pages and clears them.
    pub(crate) fn new(device: &Arc<Device>, kind: Kind, bytes: u64) -> Result<Buffer> {
        if kind == Kind::Vram && has_small_bar(device) {
            let why = "the host does not see all of the GPU's memory";
            return Err(Outcome::NotApplicable(why.to_owned()));
        }
        let allocation = device.allocate(bytes, kind.flags())?;
        if kind == Kind::Vram && allocation.host_pointer().is_none() {
            return Err(Outcome::NotApplicable(
                "the host does not see the GPU's memory".to_owned(),
            ));
        }
        let buffer = Buffer(allocation);
        for word in buffer.0.words()? {
            word.store(0, Relaxed);
        }
        Ok(buffer)
    }

    pub(crate) fn allocation(&self) -> &Arc<Allocation> {
        &self.0
    }

    /// Address, for the GPU and the host.
    pub(crate) fn address(&self) -> u64 {
        self.0.address()
    }

    /// A place in it.
    pub(crate) fn at(&self, offset: u64) -> Location {
        Location { allocation: self.0.clone(), offset }
    }

    pub(crate) fn dword(&self, offset: u64) -> Result<u32> {
        Ok(self.0.word(offset)?.load(Acquire))
    }

    pub(crate) fn qword(&self, offset: u64) -> Result<u64> {
        Ok(self.0.long(offset)?.load(Acquire))
    }

    pub(crate) fn set_dword(&self, offset: u64, value: u32) -> Result {
        self.0.word(offset)?.store(value, Release);
        Ok(())
    }

    pub(crate) fn set_qword(&self, offset: u64, value: u64) -> Result {
        self.0.long(offset)?.store(value, Release);
        Ok(())
    }

    /// Stores bytes, of a length that is a multiple of four, at such an offset.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result {
        let (words, rest) = bytes.as_chunks::<4>();
        assert!(rest.is_empty(), "whole dwords");
        for (at, word) in (offset..).step_by(4).zip(words) {
            self.set_dword(at, u32::from_le_bytes(*word))?;
        }
        Ok(())
    }

    /// Stores `f(i)` in dword i of all.
    pub(crate) fn fill(&self, f: impl Fn(u32) -> u32) -> Result {
        for (word, i) in self.0.words()?.iter().zip(0..) {
            word.store(f(i), Relaxed);
        }
        Ok(())
    }

    /// The first dword of all that is not `expected(i)`.
    pub(crate) fn check(&self, what: &str, expected: impl Fn(u32) -> u32) -> Result {
        for (word, i) in self.0.words()?.iter().zip(0..) {
            let (got, expected) = (word.load(Acquire), expected(i));
            if got != expected {
                let text = format!("{what}: dword {i} is {got:#x}, expected {expected:#x}");
                return Err(Outcome::fail(text));
            }
        }
        Ok(())
    }
}
