//! A GPU's L2 that keeps copies: the machine's stale-cache mode.
//!
//! Of memory that is mapped as cached and not coherent, devices see a private copy. A page of 4 KiB is copied when a
//! device first touches it, and with it what it held then: bytes that differ from that are dirty. Write-back copies
//! the dirty bytes to memory; invalidation takes the others from memory again, in that a page without any is copied
//! anew when it is touched next. The host sees memory only. So it sees nothing that was not written back, and what it
//! writes is not seen by devices that have the page, until they invalidate.
//!
//! Both work on the whole cache or on a range of addresses, and wait, as unmapping does, until no access is in progress;
//! each lasts one instruction at most.
//!
//! A discrete GPU's own memory the host reaches through the HDP, which may keep what it writes until it is flushed. Here
//! it keeps it from devices that have the page as long as they have it: invalidation leaves pages alone that were
//! copied after the last flush.

use super::{AddressSpace, Backing};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

const PAGE: u64 = 4096;

/// What the machine's caches do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caches {
    /// All memory is one, for host and devices.
    #[default]
    Transparent,
    /// Devices and host see different bytes until caches are flushed and invalidated, where hardware allows it.
    Stale,
}

impl std::str::FromStr for Caches {
    type Err = String;

    fn from_str(text: &str) -> Result<Caches, String> {
        match text {
            "transparent" => Ok(Caches::Transparent),
            "stale" => Ok(Caches::Stale),
            _ => Err(format!("no kind of caches is called {text:?}; there are transparent, stale")),
        }
    }
}

/// How a mapping is cached (MTYPE of a page-table entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// Not at all, or coherently (UC, CC).
    Coherent,
    /// Until somebody writes back and invalidates (NC, RW).
    Cached,
    /// As [`Cached`](MemoryType::Cached), and host writes pass the HDP.
    CachedBehindHdp,
}

/// The L2 of a GPU.
#[derive(Debug)]
pub struct L2 {
    state: Mutex<State>,
    /// How often the HDP was flushed.
    flushes: AtomicU64,
    /// The registers that flush it.
    hdp: Arc<Backing>,
}

/// What the HDP's flush register holds until somebody writes it.
const NOT_FLUSHED: u32 = 0x4844_5030;

#[derive(Debug, Default)]
struct State {
    /// The address spaces whose accesses go through it.
    spaces: Vec<Weak<AddressSpace>>,
    copies: Vec<Arc<Copied>>,
}

impl L2 {
    /// One that nothing is seen through. `hdp` is the page of registers whose first dword flushes the HDP when it is
    /// written (`KFD_MMIO_REMAP_HDP_MEM_FLUSH_CNTL`, kfd_ioctl.h).
    pub(crate) fn behind_hdp(hdp: Arc<Backing>) -> Arc<L2> {
        hdp.store_u32(0, NOT_FLUSHED);
        Arc::new(L2 { state: Mutex::default(), flushes: AtomicU64::new(0), hdp })
    }

    /// A new address space whose memory is seen through the cache.
    pub fn address_space(self: &Arc<L2>) -> Arc<AddressSpace> {
        let space = Arc::new(AddressSpace::behind(self.clone()));
        let mut state = self.lock();
        state.spaces.retain(|space| space.strong_count() > 0);
        state.spaces.push(Arc::downgrade(&space));
        space
    }

    /// Copies what devices wrote to memory.
    pub fn write_back(&self) {
        self.exclusively(|state| state.copies.iter().for_each(|copy| copy.write_back(&ALL)));
    }

    /// Forgets what devices did not write.
    pub fn invalidate(&self) {
        let flushes = self.flushes();
        self.exclusively(|state| {
            state.copies.iter().for_each(|copy| copy.invalidate(&ALL, flushes));
        });
    }

    /// Copies what devices wrote to a range of an address space.
    pub fn write_back_range(&self, space: &AddressSpace, range: &Range<u64>) {
        let parts = space.copied(range);
        self.exclusively(|_| parts.iter().for_each(|(copy, part)| copy.write_back(part)));
    }

    /// Forgets of a range of an address space what devices did not write.
    pub fn invalidate_range(&self, space: &AddressSpace, range: &Range<u64>) {
        let (flushes, parts) = (self.flushes(), space.copied(range));
        self.exclusively(|_| parts.iter().for_each(|(copy, part)| copy.invalidate(part, flushes)));
    }

    /// Loses all that was not written back, as in a reset.
    pub fn discard(&self) {
        self.exclusively(|state| state.copies.iter().for_each(|copy| copy.discard()));
    }

    /// The host's writes have left the HDP.
    pub fn host_writes_flushed(&self) {
        self.flushes.fetch_add(1, Ordering::SeqCst);
    }

    /// How often they have.
    fn flushes(&self) -> u64 {
        let register = self.hdp.atomic_u32(0);
        if register
            .is_some_and(|register| register.swap(NOT_FLUSHED, Ordering::SeqCst) != NOT_FLUSHED)
        {
            self.host_writes_flushed();
        }
        self.flushes.load(Ordering::SeqCst)
    }

    /// The copy of a range of memory, for one more mapping; `None` when it is not of whole pages.
    pub(super) fn map(
        self: &Arc<L2>,
        memory: &Arc<Backing>,
        behind_hdp: bool,
    ) -> Option<Arc<Copied>> {
        if !memory.len().is_multiple_of(PAGE) || !memory.host_address().is_multiple_of(8) {
            return None;
        }
        let mut state = self.lock();
        let same = |copy: &&Arc<Copied>| {
            let of = &copy.memory;
            of.host_address() == memory.host_address() && of.len() == memory.len()
        };
        let found = state.copies.iter().find(same).cloned();
        let copy = found.unwrap_or_else(|| {
            let copy = Arc::new(Copied::new(memory.clone(), behind_hdp, self.clone()));
            state.copies.push(copy.clone());
            copy
        });
        copy.mappings.fetch_add(1, Ordering::Relaxed);
        Some(copy)
    }

    /// A mapping of a copy is gone. Linux flushes when it takes a mapping away (kfd_chardev.c,
    /// `kfd_ioctl_unmap_memory_from_gpu`, TLB_FLUSH_HEAVYWEIGHT).
    pub(super) fn unmap(&self, copy: &Arc<Copied>) {
        self.exclusively(|state| {
            copy.write_back(&ALL);
            copy.discard();
            if copy.mappings.fetch_sub(1, Ordering::Relaxed) == 1 {
                state.copies.retain(|other| !Arc::ptr_eq(other, copy));
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something while nobody accesses the copies.
    fn exclusively(&self, work: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        let spaces: Vec<_> = state.spaces.iter().filter_map(Weak::upgrade).collect();
        let stopped: Vec<_> = spaces.iter().map(|space| space.stop_accesses()).collect();
        work(&mut state);
        drop(stopped);
        // Before the address spaces: the end of one takes the lock.
        drop(state);
    }
}

/// What an L2 has of a range of memory. Unless noted, callers count as an access in progress.
#[derive(Debug)]
pub(super) struct Copied {
    memory: Arc<Backing>,
    /// What devices see of present pages.
    copy: Arc<Backing>,
    /// What present pages held when they were copied; in step with what memory is known to hold.
    snapshot: Backing,
    present: Box<[AtomicBool]>,
    /// Present pages, and the HDP's flushes before each was copied. Whoever changes what is present holds the lock.
    pages: Mutex<Vec<(u64, u64)>>,
    behind_hdp: bool,
    mappings: AtomicU64,
    cache: Arc<L2>,
}

impl Copied {
    /// A mapping of it becomes two.
    pub(super) fn mapped_again(&self) {
        self.mappings.fetch_add(1, Ordering::Relaxed);
    }

    fn new(memory: Arc<Backing>, behind_hdp: bool, cache: Arc<L2>) -> Copied {
        let length = memory.len();
        let pages = length / PAGE;
        Copied {
            copy: Arc::new(Backing::zeroed(length)),
            snapshot: Backing::zeroed(length),
            present: (0..pages).map(|_| AtomicBool::new(false)).collect(),
            pages: Mutex::default(),
            memory,
            behind_hdp,
            mappings: AtomicU64::new(0),
            cache,
        }
    }

    /// What devices see.
    pub(super) fn copy(&self) -> &Arc<Backing> {
        &self.copy
    }

    /// The cache.
    pub(super) fn cache(&self) -> &Arc<L2> {
        &self.cache
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_present(&self, page: u64) -> bool {
        self.present[page as usize].load(Ordering::Acquire)
    }

    /// Makes sure that the pages of a range are there.
    pub(super) fn touch(&self, offset: u64, bytes: u64) {
        let last = (offset + bytes.saturating_sub(1)) / PAGE;
        for page in offset / PAGE..=last {
            if !self.is_present(page) {
                self.fill(&mut self.lock(), page);
            }
        }
    }

    fn fill(&self, pages: &mut Vec<(u64, u64)>, page: u64) {
        if self.is_present(page) {
            return;
        }
        // First: a flush that comes meanwhile is one after the page was copied.
        let flushes = self.cache.flushes();
        let mut bytes = [0; PAGE as usize];
        self.memory.load_bytes(page * PAGE, &mut bytes);
        self.snapshot.store_bytes(page * PAGE, &bytes);
        self.copy.store_bytes(page * PAGE, &bytes);
        pages.push((page, flushes));
        self.present[page as usize].store(true, Ordering::Release);
    }

    /// Calls `each` with the parts of a range by page, in `bytes` and in the range.
    fn parts(offset: u64, length: usize, mut each: impl FnMut(u64, u64, Range<usize>)) {
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let run = ((PAGE - at % PAGE) as usize).min(length - done);
            each(at / PAGE, at, done..done + run);
            done += run;
        }
    }

    /// Loads what a processor sees to which cache and memory are one: dirty bytes of the cache, others of memory.
    pub(super) fn load(&self, offset: u64, bytes: &mut [u8]) {
        let length = bytes.len();
        Copied::parts(offset, length, |page, at, range| {
            let bytes = &mut bytes[range];
            self.memory.load_bytes(at, bytes);
            if self.is_present(page) {
                let (mut copy, mut snapshot) = ([0; PAGE as usize], [0; PAGE as usize]);
                let (copy, snapshot) = (&mut copy[..bytes.len()], &mut snapshot[..bytes.len()]);
                self.snapshot.load_bytes(at, snapshot);
                self.copy.load_bytes(at, copy);
                for (byte, (&copy, &snapshot)) in bytes.iter_mut().zip(copy.iter().zip(&*snapshot))
                {
                    if copy != snapshot {
                        *byte = copy;
                    }
                }
            }
        });
    }

    /// Stores to cache and memory both.
    pub(super) fn store(&self, offset: u64, bytes: &[u8]) {
        let _pages = self.lock();
        Copied::parts(offset, bytes.len(), |page, at, range| {
            let bytes = &bytes[range];
            self.memory.store_bytes(at, bytes);
            if self.is_present(page) {
                self.snapshot.store_bytes(at, bytes);
                self.copy.store_bytes(at, bytes);
            }
        });
    }

    /// An atomic operation, in the cache and then in memory, of the aligned word of four or eight bytes at `offset`.
    /// `operate` does it to an aligned place of a backing and says whether it did.
    pub(super) fn atomic<T>(
        &self,
        offset: u64,
        bytes: u64,
        operate: impl Fn(&Backing) -> Option<T>,
    ) -> Option<T> {
        let mut pages = self.lock();
        self.fill(&mut pages, offset / PAGE);
        self.refill(offset, bytes);
        let result = operate(&self.copy)?;
        self.write_back_words(offset, bytes);
        Some(result)
    }

    /// Another processor of the device wrote to memory, past the cache: what is kept of it is not the host's doing, so
    /// that it goes with the next invalidation.
    pub(super) fn written_past(&self, offset: u64, bytes: u64) {
        let mut pages = self.lock();
        let range = offset / PAGE..=(offset + bytes.saturating_sub(1)) / PAGE;
        for (page, flushes) in &mut *pages {
            if range.contains(page) {
                *flushes = PAST;
            }
        }
    }

    /// Clean bytes of a range, of whole words, are taken from memory.
    fn refill(&self, offset: u64, bytes: u64) {
        for at in (offset & !7..offset + bytes).step_by(8) {
            let (copy, snapshot) = (self.copy.load_u64(at), self.snapshot.load_u64(at));
            let dirty = differing(copy, snapshot);
            let clean = self.memory.load_u64(at) & !dirty;
            self.copy.store_u64(at, copy & dirty | clean);
            self.snapshot.store_u64(at, snapshot & dirty | clean);
        }
    }

    /// Dirty bytes of a range, of whole words, are stored in memory, each word at once.
    fn write_back_words(&self, offset: u64, bytes: u64) {
        for at in (offset & !7..offset + bytes).step_by(8) {
            let (copy, snapshot) = (self.copy.load_u64(at), self.snapshot.load_u64(at));
            let dirty = differing(copy, snapshot);
            if dirty == 0 {
                continue;
            }
            if let Some(cell) = self.memory.atomic_u64(at) {
                let merge = |memory: u64| Some(memory & !dirty | copy & dirty);
                let _ = cell.fetch_update(Ordering::AcqRel, Ordering::Relaxed, merge);
            }
            self.snapshot.store_u64(at, copy);
        }
    }

    /// Whether nothing of a page is dirty.
    fn is_clean(&self, page: u64) -> bool {
        let (mut copy, mut snapshot) = ([0; PAGE as usize], [0; PAGE as usize]);
        self.copy.load_bytes(page * PAGE, &mut copy);
        self.snapshot.load_bytes(page * PAGE, &mut snapshot);
        copy == snapshot
    }

    /// Nobody accesses it meanwhile, here and below.
    fn write_back(&self, range: &Range<u64>) {
        for &(page, _) in &*self.lock() {
            let (offset, bytes) = part_of(page, range);
            if bytes != 0 && !self.is_clean(page) {
                self.write_back_words(offset, bytes);
            }
        }
    }

    fn invalidate(&self, range: &Range<u64>, flushes: u64) {
        self.lock().retain(|&(page, before)| {
            let (offset, bytes) = part_of(page, range);
            if bytes == 0 || self.behind_hdp && before == flushes {
                return true;
            }
            if bytes == PAGE && self.is_clean(page) {
                self.present[page as usize].store(false, Ordering::Relaxed);
                return false;
            }
            self.refill(offset, bytes);
            true
        });
    }

    fn discard(&self) {
        for (page, _) in self.lock().drain(..) {
            self.present[page as usize].store(false, Ordering::Relaxed);
        }
    }
}

/// All of a range of memory.
const ALL: Range<u64> = 0..u64::MAX;

/// What a range has of a page: its offset and length.
fn part_of(page: u64, range: &Range<u64>) -> (u64, u64) {
    let offset = range.start.max(page * PAGE);
    (offset, range.end.min((page + 1) * PAGE).saturating_sub(offset))
}

/// Of pages that another processor of the device wrote: no number of flushes.
const PAST: u64 = u64::MAX;

/// All bits of the bytes that differ.
fn differing(one: u64, other: u64) -> u64 {
    let bytes = (one ^ other).to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff });
    u64::from_le_bytes(bytes)
}
