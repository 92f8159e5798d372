//! The ranges of the address space that a record needs, which are this process's for nothing else.
#![expect(unsafe_code, reason = "maps the ranges of a record")]

use super::ReplayError;
use crate::Process;
use crate::record::arguments::user_range;
use crate::record::format::Line;
use selvedge_sys::{Linux, MapFlags, Protection, System};
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;

const PAGE: u64 = 4096;

/// The whole pages that a range is in, start and end; `None` for an empty range and one that reaches beyond all addresses.
fn pages(start: u64, length: u64) -> Option<(u64, u64)> {
    let end = start.checked_add(length)?.checked_next_multiple_of(PAGE)?;
    Some((start & !(PAGE - 1), end)).filter(|(start, end)| start < end)
}

/// The ranges of the address space that a record needs, in whole pages, none overlapping another: where devices were
/// mapped, and what memory of the process devices were given.
pub fn ranges(lines: &[(usize, Line)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = lines
        .iter()
        .filter_map(|(_, line)| match line {
            Line::Map { result, length, .. } => {
                u64::try_from(*result).ok().map(|address| (address, *length))
            }
            Line::Ioctl { request, before, result: 0.., .. } => user_range(*request, before),
            _ => None,
        })
        .filter_map(|(start, length)| pages(start, length))
        .collect();
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in all {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// A record's ranges, taken in this process: starts and ends.
pub(super) struct Addresses(Vec<(u64, u64)>);

impl Addresses {
    /// Takes the ranges, in which nothing may be.
    pub(super) fn reserve(lines: &[(usize, Line)]) -> Result<Addresses, ReplayError> {
        let ranges = ranges(lines);
        for &(start, end) in &ranges {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let flags = flags | libc::MAP_FIXED_NOREPLACE;
            let address = with_exposed_provenance_mut(start as usize);
            let length = (end - start) as usize;
            // SAFETY: MAP_FIXED_NOREPLACE takes only what nobody has.
            let pointer = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags, -1, 0) };
            if pointer == libc::MAP_FAILED {
                return Err(ReplayError::Taken { address: start });
            }
        }
        Ok(Addresses(ranges))
    }

    /// Whether a range is the record's, in whole pages.
    pub(super) fn hold(&self, start: u64, length: u64) -> bool {
        let pages = pages(start, length);
        pages.is_some_and(|(start, end)| self.0.iter().any(|own| own.0 <= start && end <= own.1))
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|&(start, end)| start..end)
    }

    /// The process may read and write this range, if it is the record's.
    pub(super) fn open(&self, start: u64, length: u64) {
        if let Some((start, end)) = pages(start, length)
            && self.hold(start, end - start)
        {
            let address = with_exposed_provenance_mut(start as usize);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: the range was reserved; more access to it takes none away.
            unsafe { libc::mprotect(address, (end - start) as usize, access) };
        }
    }

    /// What of a range is the record's is nobody's again.
    pub(super) fn release(&self, process: &Process, address: u64, length: u64) {
        let Some((address, end)) = pages(address, length) else { return };
        let parts = self
            .0
            .iter()
            .map(|&(start, last)| (start.max(address), last.min(end)))
            .filter(|(start, end)| start < end);
        for (start, end) in parts {
            process.lost(start, end - start);
            let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE;
            let at = with_exposed_provenance_mut(start as usize);
            let (length, flags) = ((end - start) as usize, flags | MapFlags::FIXED);
            // SAFETY: the range was reserved for the record, and devices have lost it.
            let _ = unsafe { Linux.mmap(at, length, Protection::empty(), flags, -1, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kfd::uapi::{AllocMemFlags, AllocMemoryOfGpuArgs, request};
    use zerocopy::IntoBytes;

    /// Memory that the kernel would not take is not needed.
    #[test]
    fn calls_that_failed_need_no_memory() {
        let args = AllocMemoryOfGpuArgs {
            mmap_offset: 0x7000_0000,
            size: 0x2000,
            flags: AllocMemFlags::USERPTR.bits(),
            ..Default::default()
        };
        let before = args.as_bytes().to_vec();
        let (request, after) = (request::ALLOC_MEMORY_OF_GPU, before.clone());
        let call = |result| {
            let (before, after) = (before.clone(), after.clone());
            (1, Line::Ioctl { fd: 3, request, result, before, after, pointed: Vec::new() })
        };
        assert_eq!(ranges(&[call(-22)]), []);
        assert_eq!(ranges(&[call(0)]), [(0x7000_0000, 0x7000_2000)]);
    }

    #[test]
    fn ranges_are_merged_in_pages() {
        let map = |result, length| {
            let (protection, flags, offset) = (3, 1, 0);
            (1, Line::Map { fd: 3, length, protection, flags, offset, result })
        };
        let lines = [map(0x5000, 1), map(0x1000, 0x1001), map(-12, 5), map(0x3000, 0x1000)];
        assert_eq!(ranges(&lines), [(0x1000, 0x4000), (0x5000, 0x6000)]);
        // What reaches beyond all addresses is nowhere.
        assert_eq!(ranges(&[map(0x1000, u64::MAX), map(0x1000, u64::MAX - 0x1000)]), []);
    }
}
