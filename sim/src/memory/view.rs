//! A processor's way to memory.

use super::cache::Copied;
use super::space::Region;
use super::{AddressSpace, Backing, Permissions};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What an access wanted to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
    /// An instruction fetch.
    Execute,
}

impl Access {
    /// What a mapping must allow for it, and what is wrong where it does not.
    #[inline]
    fn needs(self) -> (Permissions, FaultReason) {
        match self {
            Access::Read => (Permissions::READ, FaultReason::NoRead),
            Access::Write => (Permissions::WRITE, FaultReason::ReadOnly),
            Access::Atomic => (Permissions::READ.union(Permissions::WRITE), FaultReason::ReadOnly),
            Access::Execute => (Permissions::EXECUTE, FaultReason::NoExecute),
        }
    }
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultReason {
    /// Nothing is mapped there.
    NotPresent,
    /// The mapping does not allow stores.
    ReadOnly,
    /// The mapping does not allow instruction fetch.
    NoExecute,
    /// The mapping allows no loads.
    NoRead,
    /// An atomic on an address that is not a multiple of its size.
    Misaligned,
}

/// An access that the memory system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// GPU virtual address.
    pub address: u64,
    /// What was tried.
    pub access: Access,
    /// Why it failed.
    pub reason: FaultReason,
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:#x}: {:?}", self.access, self.address, self.reason)
    }
}

impl std::error::Error for MemoryFault {}

/// Regions that a view remembers.
const ENTRIES: usize = 8;
/// Pages for which it remembers where among them theirs is.
const GUESSES: usize = 64;
const PAGE: u64 = 4096;

/// An access in progress, counted while unmapping has to wait for it.
#[derive(Debug)]
struct InProgress<'a>(Option<&'a AtomicU32>);

impl Drop for InProgress<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(accesses) = self.0 {
            accesses.fetch_sub(1, Ordering::Release);
        }
    }
}

/// How a processor reaches memory that a cache keeps copies of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Through the cache.
    Cached,
    /// Past the cache.
    Past,
    /// Seeing what the cache and what memory has, the newer, and storing to both: of processors of which it is not
    /// known which way they go.
    Both,
}

/// Of memory with copies a window is at most so long, as all of it is copied.
const COPIED_WINDOW: u64 = 16 * PAGE;

/// Where an access goes.
struct Place<'a> {
    region: &'a Region,
    /// In the region's backing.
    offset: u64,
    access: InProgress<'a>,
}

impl Place<'_> {
    /// Bytes from here to the region's end.
    fn left(&self) -> u64 {
        self.region.length - (self.offset - self.region.offset)
    }

    /// What a cache has to know of the access.
    fn watching(&self) -> Option<&Copied> {
        self.region.watched.and(self.region.copied.as_deref())
    }
}

/// An address space as one processor sees it, with a cache of the last translations.
/// Each thread that touches memory has its own.
#[derive(Debug)]
pub struct View {
    space: Arc<AddressSpace>,
    generation: u64,
    cached: [Option<Region>; ENTRIES],
    /// Where in `cached` the region of a page is likely to be, by the page's number.
    guesses: [u8; GUESSES],
    victim: usize,
    path: Path,
}

macro_rules! access {
    ($read:ident, $write:ident, $int:ty, $load:ident, $store:ident) => {
        /// Loads a value; any alignment.
        ///
        /// # Errors
        /// When the address may not be read.
        #[inline]
        pub fn $read(&mut self, address: u64) -> Result<$int, MemoryFault> {
            const SIZE: u64 = size_of::<$int>() as u64;
            if let Some(place) = self.translate(address, SIZE, Access::Read)? {
                return Ok(place.region.backing.$load(place.offset));
            }
            let mut bytes = [0; SIZE as usize];
            self.read_bytes(address, &mut bytes)?;
            Ok(<$int>::from_le_bytes(bytes))
        }

        /// Stores a value; any alignment.
        ///
        /// # Errors
        /// When the address may not be written.
        #[inline]
        pub fn $write(&mut self, address: u64, value: $int) -> Result<(), MemoryFault> {
            const SIZE: u64 = size_of::<$int>() as u64;
            if let Some(place) = self.translate(address, SIZE, Access::Write)? {
                place.region.backing.$store(place.offset, value);
                return Ok(());
            }
            self.write_bytes(address, &value.to_le_bytes())
        }
    };
}

impl View {
    /// A view that knows no translations yet. Memory is seen through the cache.
    pub fn new(space: Arc<AddressSpace>) -> View {
        View::on(Path::Cached, space)
    }

    /// The view of a processor that goes another way.
    pub fn on(path: Path, space: Arc<AddressSpace>) -> View {
        View {
            path,
            generation: space.generation(),
            space,
            cached: [const { None }; ENTRIES],
            guesses: [0; GUESSES],
            victim: 0,
        }
    }

    /// The address space looked at.
    pub fn space(&self) -> &Arc<AddressSpace> {
        &self.space
    }

    /// The cache entry with the region that contains `address`.
    #[inline]
    fn locate(&mut self, address: u64, access: Access) -> Result<usize, MemoryFault> {
        let generation = self.space.generation();
        if generation != self.generation {
            self.cached = [const { None }; ENTRIES];
            self.generation = generation;
        }
        let guess = usize::from(self.guesses[View::page(address)]) % ENTRIES;
        if self.holds(guess, address) { Ok(guess) } else { self.search(address, access) }
    }

    /// The place of an address's page among the guesses.
    #[inline]
    fn page(address: u64) -> usize {
        (address / PAGE) as usize % GUESSES
    }

    #[inline]
    fn holds(&self, index: usize, address: u64) -> bool {
        self.cached[index].as_ref().is_some_and(|r| address.wrapping_sub(r.start) < r.length)
    }

    #[cold]
    fn search(&mut self, address: u64, access: Access) -> Result<usize, MemoryFault> {
        let index = match (0..ENTRIES).find(|&index| self.holds(index, address)) {
            Some(index) => index,
            None => self.fill(address, access)?,
        };
        self.guesses[View::page(address)] = index as u8;
        Ok(index)
    }

    /// The cache entry with the region that contains `address`. Where accesses are counted, this one is from now on.
    #[inline]
    fn enter(&mut self, address: u64, size: u64, access: Access) -> Result<usize, MemoryFault> {
        loop {
            let index = self.locate(address, access)?;
            let region = self.cached[index].as_ref();
            let Some(accesses) = region.and_then(|region| region.accesses.as_deref()) else {
                return Ok(index);
            };
            accesses.fetch_add(1, Ordering::SeqCst);
            if self.space.generation() == self.generation {
                if let Some(region) = region
                    && let Some(copied) = region.copied.as_deref()
                    && region.watched.is_none()
                {
                    let within = address - region.start;
                    let length = size.min(region.length - within);
                    copied.touch(region.offset + within, length);
                }
                return Ok(index);
            }
            // Unmapped, perhaps, before the access was counted.
            accesses.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Where an access goes that lies in one region; `None` when it starts in one and ends beyond it, or has to be
    /// watched or told of.
    #[inline]
    fn translate(
        &mut self,
        address: u64,
        size: u64,
        access: Access,
    ) -> Result<Option<Place<'_>>, MemoryFault> {
        let index = self.enter(address, size, access)?;
        let Some(region) = &self.cached[index] else {
            return Err(MemoryFault { address, access, reason: FaultReason::NotPresent });
        };
        let in_progress = InProgress(region.accesses.as_deref());
        let (needed, reason) = access.needs();
        if !region.permissions.contains(needed) {
            if region.watched.is_some_and(|permissions| permissions.contains(needed)) {
                return Ok(None);
            }
            return Err(MemoryFault { address, access, reason });
        }
        let within = address - region.start;
        let whole = within.checked_add(size).is_some_and(|end| end <= region.length);
        Ok(whole.then_some(Place { region, offset: region.offset + within, access: in_progress }))
    }

    fn fill(&mut self, address: u64, access: Access) -> Result<usize, MemoryFault> {
        let mut region = self.space.lookup(address).ok_or(MemoryFault {
            address,
            access,
            reason: FaultReason::NotPresent,
        })?;
        if let Some(copied) = &region.copied {
            match self.path {
                Path::Cached => region.backing = copied.copy().clone(),
                Path::Past | Path::Both => {
                    region.watched =
                        Some(std::mem::replace(&mut region.permissions, Permissions::empty()));
                }
            }
        } else if self.space.journal().is_some() {
            region.watched = Some(region.permissions);
            region.permissions &= Permissions::EXECUTE;
        }
        let index = self.victim;
        self.victim = (index + 1) % ENTRIES;
        self.cached[index] = Some(region);
        Ok(index)
    }

    access!(read_u8, write_u8, u8, load_u8, store_u8);
    access!(read_u16, write_u16, u16, load_u16, store_u16);
    access!(read_u32, write_u32, u32, load_u32, store_u32);
    access!(read_u64, write_u64, u64, load_u64, store_u64);

    /// The range `address..address + length` for repeated access, when it lies in one mapping that
    /// allows it; else `None`, and access by access says what is wrong.
    #[inline]
    pub fn window(&mut self, address: u64, length: u64, access: Access) -> Option<Window<'_>> {
        if length > COPIED_WINDOW && self.space.cache().is_some() {
            return None;
        }
        let Place { region, offset, access } = self.translate(address, length, access).ok()??;
        let shift = address.wrapping_sub(offset);
        Some(Window { backing: &region.backing, shift, _access: access })
    }

    /// Loads bytes; they may span mappings. Those before a bad one are loaded.
    ///
    /// # Errors
    /// When one of them may not be read: the first.
    pub fn read_bytes(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let (mut done, path) = (0, self.path);
        while done < bytes.len() {
            let place = self.byte(address.wrapping_add(done as u64), Access::Read)?;
            let run = &mut bytes[done..];
            let length = place.left().min(run.len() as u64) as usize;
            let run = &mut run[..length];
            match place.watching() {
                Some(copied) if path == Path::Both => copied.load(place.offset, run),
                _ => place.region.backing.load_bytes(place.offset, run),
            }
            done += length;
        }
        Ok(())
    }

    /// Stores bytes; they may span mappings. Those before a bad one are stored.
    ///
    /// # Errors
    /// When one of them may not be written: the first.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let (mut done, path) = (0, self.path);
        while done < bytes.len() {
            let place = self.byte(address.wrapping_add(done as u64), Access::Write)?;
            let run = &bytes[done..];
            let length = place.left().min(run.len() as u64) as usize;
            let run = &run[..length];
            match place.watching() {
                Some(copied) if path == Path::Both => copied.store(place.offset, run),
                Some(copied) => {
                    place.region.backing.store_bytes(place.offset, run);
                    copied.written_past(place.offset, length as u64);
                }
                None => place.region.backing.store_bytes(place.offset, run),
            }
            drop(place);
            self.tell(address.wrapping_add(done as u64), run);
            done += length;
        }
        Ok(())
    }

    /// Fetches an instruction dword.
    ///
    /// # Errors
    /// When the address may not be executed.
    pub fn fetch(&mut self, address: u64) -> Result<u32, MemoryFault> {
        match self.translate(address, 4, Access::Execute)? {
            Some(place) => Ok(place.region.backing.load_u32(place.offset)),
            None => Err(MemoryFault {
                address: address + 3,
                access: Access::Execute,
                reason: FaultReason::NotPresent,
            }),
        }
    }

    /// Replaces the dword at `address` by `update` of it, atomically, and returns what was there.
    ///
    /// # Errors
    /// When the address is misaligned or may not be read and written.
    #[inline]
    pub fn atomic_u32(
        &mut self,
        address: u64,
        update: impl Fn(u32) -> u32,
    ) -> Result<u32, MemoryFault> {
        let misaligned =
            MemoryFault { address, access: Access::Atomic, reason: FaultReason::Misaligned };
        if let Some(place) = self.translate(address, 4, Access::Atomic)? {
            if !address.is_multiple_of(4) {
                return Err(misaligned);
            }
            let cell = place.region.backing.atomic_u32(place.offset).ok_or(misaligned)?;
            let old =
                cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, |value| Some(update(value)));
            return Ok(old.unwrap_or_else(|value| value));
        }
        self.watched_atomic(address, 4, |backing, offset| {
            let cell = backing.atomic_u32(offset)?;
            let update = |value| Some(update(value));
            cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, update).ok()
        })
        .inspect(|&old| self.tell(address, &update(old).to_le_bytes()))
    }

    /// Replaces the qword at `address` by `update` of it, atomically, and returns what was there.
    ///
    /// # Errors
    /// When the address is misaligned or may not be read and written.
    #[inline]
    pub fn atomic_u64(
        &mut self,
        address: u64,
        update: impl Fn(u64) -> u64,
    ) -> Result<u64, MemoryFault> {
        let misaligned =
            MemoryFault { address, access: Access::Atomic, reason: FaultReason::Misaligned };
        if let Some(place) = self.translate(address, 8, Access::Atomic)? {
            if !address.is_multiple_of(8) {
                return Err(misaligned);
            }
            let cell = place.region.backing.atomic_u64(place.offset).ok_or(misaligned)?;
            let old =
                cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, |value| Some(update(value)));
            return Ok(old.unwrap_or_else(|value| value));
        }
        self.watched_atomic(address, 8, |backing, offset| {
            let cell = backing.atomic_u64(offset)?;
            let update = |value| Some(update(value));
            cell.fetch_update(Ordering::AcqRel, Ordering::Acquire, update).ok()
        })
        .inspect(|&old| self.tell(address, &update(old).to_le_bytes()))
    }

    /// Loads a dword with acquire ordering (signals, rings, pointers).
    ///
    /// # Errors
    /// When the address may not be read.
    pub fn acquire_u32(&mut self, address: u64) -> Result<u32, MemoryFault> {
        let value = self.read_u32(address)?;
        std::sync::atomic::fence(Ordering::Acquire);
        Ok(value)
    }

    /// Loads a qword with acquire ordering (signals, rings, pointers).
    ///
    /// # Errors
    /// When the address may not be read.
    pub fn acquire_u64(&mut self, address: u64) -> Result<u64, MemoryFault> {
        let value = self.read_u64(address)?;
        std::sync::atomic::fence(Ordering::Acquire);
        Ok(value)
    }

    /// Stores a qword with release ordering.
    ///
    /// # Errors
    /// When the address may not be written.
    pub fn release_u64(&mut self, address: u64, value: u64) -> Result<(), MemoryFault> {
        std::sync::atomic::fence(Ordering::Release);
        self.write_u64(address, value)
    }

    /// Tells of bytes that were written, where that is asked for.
    fn tell(&self, address: u64, bytes: &[u8]) {
        if let Some(journal) = self.space.journal() {
            journal.wrote(address, bytes, |dword| self.space.dword(dword));
        }
    }

    /// An atomic operation on memory that a cache watches or whose writes are told; on all other, one of a word across
    /// mappings.
    #[cold]
    fn watched_atomic<T>(
        &mut self,
        address: u64,
        bytes: u64,
        operate: impl Fn(&Backing, u64) -> Option<T>,
    ) -> Result<T, MemoryFault> {
        let path = self.path;
        let reason = FaultReason::Misaligned;
        let misaligned = MemoryFault { address, access: Access::Atomic, reason };
        let place = self.byte(address, Access::Atomic)?;
        if !address.is_multiple_of(bytes) || place.left() < bytes {
            return Err(misaligned);
        }
        let done = match place.watching() {
            Some(copied) if path == Path::Both => {
                copied.atomic(place.offset, bytes, |backing| operate(backing, place.offset))
            }
            Some(copied) => {
                let done = operate(&place.region.backing, place.offset);
                copied.written_past(place.offset, bytes);
                done
            }
            None => operate(&place.region.backing, place.offset),
        };
        done.ok_or(misaligned)
    }

    /// Where an access of one byte goes, watched or not.
    fn byte(&mut self, address: u64, access: Access) -> Result<Place<'_>, MemoryFault> {
        let index = self.enter(address, 1, access)?;
        let Some(region) = &self.cached[index] else {
            return Err(MemoryFault { address, access, reason: FaultReason::NotPresent });
        };
        let in_progress = InProgress(region.accesses.as_deref());
        let (needed, reason) = access.needs();
        if !region.watched.unwrap_or(region.permissions).contains(needed) {
            return Err(MemoryFault { address, access, reason });
        }
        let offset = region.offset + (address - region.start);
        Ok(Place { region, offset, access: in_progress })
    }
}

/// Memory that was translated and checked once, for many accesses.
#[derive(Debug)]
pub struct Window<'a> {
    backing: &'a Backing,
    /// GPU address minus offset in the backing.
    shift: u64,
    _access: InProgress<'a>,
}

impl Window<'_> {
    /// Loads a dword; any alignment.
    ///
    /// # Panics
    /// When it lies outside the backing.
    #[inline(always)]
    pub fn load_u32(&self, address: u64) -> u32 {
        self.backing.load_u32(address.wrapping_sub(self.shift))
    }

    /// Stores a dword; any alignment.
    ///
    /// # Panics
    /// When it lies outside the backing.
    #[inline(always)]
    pub fn store_u32(&self, address: u64, value: u32) {
        self.backing.store_u32(address.wrapping_sub(self.shift), value);
    }

    /// Loads consecutive dwords.
    ///
    /// # Panics
    /// When they do not lie in the backing.
    #[inline]
    pub fn load_dwords(&self, address: u64, values: &mut [u32]) {
        self.backing.load_dwords(address.wrapping_sub(self.shift), values);
    }

    /// Stores consecutive dwords.
    ///
    /// # Panics
    /// When they do not lie in the backing.
    #[inline]
    pub fn store_dwords(&self, address: u64, values: &[u32]) {
        self.backing.store_dwords(address.wrapping_sub(self.shift), values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_address_space_is_not_mapped() {
        let mut view = View::new(Arc::new(AddressSpace::new()));
        for address in [u64::MAX, u64::MAX - 3] {
            let reason = FaultReason::NotPresent;
            let fault = MemoryFault { address, access: Access::Read, reason };
            assert_eq!(view.read_bytes(address, &mut [0; 8]), Err(fault));
            let fault = MemoryFault { access: Access::Write, ..fault };
            assert_eq!(view.write_bytes(address, &[0; 8]), Err(fault));
        }
    }

    #[test]
    fn windows_are_whole_and_allowed_ranges() {
        let space = Arc::new(AddressSpace::new());
        let backing = Arc::new(Backing::zeroed(8192));
        assert!(space.map(0x1000, 4096, Arc::clone(&backing), 4096, Permissions::READ));
        let mut view = View::new(space);
        backing.store_u32(4096 + 8, 7);
        let window = view.window(0x1000, 4096, Access::Read).expect("all of the mapping");
        let mut dwords = [0; 3];
        window.load_dwords(0x1004, &mut dwords);
        assert_eq!((dwords, window.load_u32(0x1008)), ([0, 7, 0], 7));
        drop(window);
        assert!(view.window(0x1000, 4097, Access::Read).is_none());
        assert!(view.window(0x1ffc, u64::MAX, Access::Read).is_none());
        assert!(view.window(0x1000, 4, Access::Write).is_none());
    }
}
