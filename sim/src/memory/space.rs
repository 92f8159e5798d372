//! One GPU VM.

use super::Backing;
use super::cache::{Copied, L2, MemoryType};
use super::journal::Journal;
use bitflags::bitflags;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

bitflags! {
    /// What a mapping allows the device to do (the R, W and X bits of a page-table entry).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Permissions: u8 {
        /// Loads.
        const READ = 1;
        /// Stores and atomics.
        const WRITE = 2;
        /// Instruction fetch.
        const EXECUTE = 4;
    }
}

/// A mapped range.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) backing: Arc<Backing>,
    pub(super) offset: u64,
    pub(super) permissions: Permissions,
    /// Accesses in progress, where unmapping or a cache has to wait for them.
    pub(super) accesses: Option<Arc<AtomicU32>>,
    /// What a cache has of the backing.
    pub(super) copied: Option<Arc<Copied>>,
    /// Of a view that has to look at cache and memory both, or to tell of writes: what it may do. `permissions` have
    /// neither loads nor stores then.
    pub(super) watched: Option<Permissions>,
}

/// The page tables of one process on one GPU.
#[derive(Debug, Default)]
pub struct AddressSpace {
    regions: RwLock<BTreeMap<u64, Region>>,
    generation: AtomicU64,
    /// The cache before memory, when it keeps copies.
    cache: Option<Arc<L2>>,
    /// What is told of writes, if they are.
    journal: OnceLock<Arc<Journal>>,
}

impl AddressSpace {
    /// An address space with nothing mapped.
    pub fn new() -> AddressSpace {
        AddressSpace::default()
    }

    /// One with nothing mapped, whose memory is seen through `cache`.
    pub(super) fn behind(cache: Arc<L2>) -> AddressSpace {
        let mut space = AddressSpace::new();
        space.cache = Some(cache);
        space
    }

    /// The cache before memory, when it keeps copies.
    #[inline]
    pub fn cache(&self) -> Option<&Arc<L2>> {
        self.cache.as_ref()
    }

    /// From now on, what its processors write is told; not through a cache that keeps copies.
    pub(crate) fn keep_journal(&self) -> Arc<Journal> {
        let journal = self.journal.get_or_init(Arc::default).clone();
        // Views forget what they may do without telling.
        self.generation.fetch_add(1, Ordering::SeqCst);
        journal
    }

    /// What is told of writes, if they are.
    pub(super) fn journal(&self) -> Option<&Journal> {
        self.journal.get().map(Arc::as_ref)
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, BTreeMap<u64, Region>> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, Region>> {
        self.regions.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Maps `length` bytes of `backing` from `offset` on at `start`, coherently. Returns false, and maps nothing, when
    /// the range overlaps a mapping, wraps around, or does not lie in the backing.
    pub fn map(
        &self,
        start: u64,
        length: u64,
        backing: Arc<Backing>,
        offset: u64,
        permissions: Permissions,
    ) -> bool {
        self.map_as(MemoryType::Coherent, (start, length), backing, offset, permissions)
    }

    /// Maps as [`map`](AddressSpace::map), with another memory type, to which only a cache that keeps copies pays
    /// attention.
    pub fn map_as(
        &self,
        memory_type: MemoryType,
        (start, length): (u64, u64),
        backing: Arc<Backing>,
        offset: u64,
        permissions: Permissions,
    ) -> bool {
        let Some(end) = start.checked_add(length) else { return false };
        if length == 0 || offset.checked_add(length).is_none_or(|end| end > backing.len()) {
            return false;
        }
        let behind_hdp = memory_type == MemoryType::CachedBehindHdp;
        let cache = self.cache.as_ref().filter(|_| memory_type != MemoryType::Coherent);
        // Before the lock: whoever works on the cache takes that one first.
        let copied = cache.and_then(|cache| cache.map(&backing, behind_hdp));
        let mut regions = self.write();
        if regions.range(..end).next_back().is_some_and(|(_, r)| r.start + r.length > start) {
            drop(regions);
            if let Some(copied) = &copied {
                copied.cache().unmap(copied);
            }
            return false;
        }
        let accesses = (backing.is_revocable() || copied.is_some()).then(Arc::default);
        let region =
            Region { start, length, backing, offset, permissions, accesses, copied, watched: None };
        regions.insert(start, region);
        self.generation.fetch_add(1, Ordering::Release);
        true
    }

    /// Removes the mapping that starts at `start`; false when there is none. Processors that cached
    /// the translation see it go at their next access. Where the memory may vanish afterwards, returns
    /// only when no access to it is in progress: each lasts one instruction at most.
    pub fn unmap(&self, start: u64) -> bool {
        let gone = self.write().remove(&start);
        // In one order with what `View` does: it counts an access, then looks at the generation. So either
        // the access is seen here, or the new generation there.
        self.generation.fetch_add(1, Ordering::SeqCst);
        if let Some(accesses) = gone.as_ref().and_then(|region| region.accesses.as_ref()) {
            while accesses.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
        }
        if let Some(copied) = gone.as_ref().and_then(|region| region.copied.as_ref()) {
            copied.cache().unmap(copied);
        }
        gone.is_some()
    }

    /// Holds up accesses to cached memory as long as the value lives; those in progress have ended. The order is that
    /// of [`unmap`](AddressSpace::unmap).
    pub(super) fn stop_accesses(&self) -> impl Drop {
        let regions = self.write();
        self.generation.fetch_add(1, Ordering::SeqCst);
        for region in regions.values().filter(|region| region.copied.is_some()) {
            while region.accesses.as_ref().is_some_and(|a| a.load(Ordering::SeqCst) != 0) {
                std::thread::yield_now();
            }
        }
        regions
    }

    /// What the cache has of a range: copies, and where in them.
    pub(super) fn copied(&self, range: &Range<u64>) -> Vec<(Arc<Copied>, Range<u64>)> {
        let part = |region: &Region| {
            let copied = region.copied.clone()?;
            let start = range.start.max(region.start);
            let end = range.end.min(region.start.saturating_add(region.length));
            let of_backing = |address: u64| region.offset + (address - region.start);
            (start < end).then(|| (copied, of_backing(start)..of_backing(end)))
        };
        let regions = self.read();
        let before_end = regions.range(..range.end).rev().map(|(_, region)| region);
        let hit = before_end.take_while(|region| region.start + region.length > range.start);
        hit.filter_map(part).collect()
    }

    /// Unmaps what lies in `start..end`; of mappings that reach out of it, the rest stays. No access sees more gone than
    /// that. As [`unmap`](AddressSpace::unmap) it waits for accesses.
    pub(crate) fn clear(&self, start: u64, end: u64) {
        let mut gone = Vec::new();
        {
            let mut regions = self.write();
            let before = regions.range(..end).rev();
            let hit: Vec<u64> = before
                .take_while(|(_, region)| region.start + region.length > start)
                .map(|(&at, _)| at)
                .collect();
            for at in hit {
                let Some(region) = regions.remove(&at) else { continue };
                let last = region.start + region.length;
                if region.start < start {
                    let length = start - region.start;
                    region.copied.iter().for_each(|copied| copied.mapped_again());
                    regions.insert(at, Region { length, ..region.clone() });
                }
                if last > end {
                    let offset = region.offset + (end - region.start);
                    let rest = Region { start: end, length: last - end, offset, ..region.clone() };
                    region.copied.iter().for_each(|copied| copied.mapped_again());
                    regions.insert(end, rest);
                }
                gone.push(region);
            }
        }
        self.generation.fetch_add(1, Ordering::SeqCst);
        for region in gone {
            while region.accesses.as_ref().is_some_and(|a| a.load(Ordering::SeqCst) != 0) {
                std::thread::yield_now();
            }
            if let Some(copied) = &region.copied {
                copied.cache().unmap(copied);
            }
        }
    }

    /// Number of mappings.
    pub fn mappings(&self) -> usize {
        self.read().len()
    }

    /// The mapping that contains `address`: its start and length.
    pub fn mapping_of(&self, address: u64) -> Option<(u64, u64)> {
        self.lookup(address).map(|r| (r.start, r.length))
    }

    pub(super) fn lookup(&self, address: u64) -> Option<Region> {
        let regions = self.read();
        let (_, region) = regions.range(..=address).next_back()?;
        (address - region.start < region.length).then(|| region.clone())
    }

    /// Changes whenever a translation may have.
    #[inline]
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        let regions =
            std::mem::take(self.regions.get_mut().unwrap_or_else(PoisonError::into_inner));
        for copied in regions.values().filter_map(|region| region.copied.as_ref()) {
            copied.cache().unmap(copied);
        }
    }
}
