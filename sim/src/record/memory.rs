//! What changed in an address space since it was last looked at, and who changed it.

use crate::memory::{AddressSpace, Backing, Journal, MappingId, PAGE_DWORDS};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The memory that a queue sees.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) space: Arc<AddressSpace>,
    /// The page of doorbells.
    doorbells: Arc<Backing>,
    /// What queues write there.
    journal: Arc<Journal>,
}

impl Memory {
    pub(super) fn new(space: &Arc<AddressSpace>, doorbells: &Arc<Backing>) -> Memory {
        let journal = space.keep_journal();
        Memory { space: Arc::clone(space), doorbells: Arc::clone(doorbells), journal }
    }
}

/// The bytes of an address space as they were seen last. What was never seen is zero.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: BTreeMap<u64, Box<[u32; PAGE_DWORDS]>>,
    mappings: BTreeSet<MappingId>,
}

/// Dwords that changed, by address: before, now.
pub(super) type Changes = BTreeMap<u64, (u32, u32)>;

impl Shadow {
    /// Looks, and takes what is seen for the state from now on. A mapping that is new counts as zero before. Doorbells,
    /// which processes may map on GPUs, are not memory: part of one would be rung.
    pub(super) fn look(&mut self, Memory { space, doorbells, journal }: &Memory) -> Changes {
        journal.take();
        let mut changes = Changes::new();
        let Shadow { pages, mappings } = self;
        let known = std::cell::RefCell::new(pages);
        space.contents(
            doorbells,
            |now| {
                let now: BTreeSet<MappingId> = now.iter().copied().collect();
                for gone in mappings.difference(&now).chain(now.difference(mappings)) {
                    let range = gone.start..gone.start + gone.length;
                    known.borrow_mut().retain(|address, _| !range.contains(address));
                }
                *mappings = now;
            },
            |address, dwords| {
                let mut pages = known.borrow_mut();
                let known = pages.entry(address).or_insert_with(|| Box::new([0; PAGE_DWORDS]));
                if **known != *dwords {
                    let all = known.iter().zip(dwords).zip((address..).step_by(4));
                    let changed = all.filter(|((before, now), _)| before != now);
                    changes.extend(changed.map(|((&before, &now), at)| (at, (before, now))));
                    **known = *dwords;
                }
            },
        );
        changes
    }

    /// What queues have changed since then, whatever the process wrote there meanwhile.
    pub(super) fn written(&mut self, memory: &Memory) -> Changes {
        let told = memory.journal.take().into_iter();
        let told = told.map(|(address, now)| (address, (self.dword(address), now)));
        let changes: Changes = told.filter(|(_, (before, now))| before != now).collect();
        for (&address, &(_, now)) in &changes {
            self.write(address, now);
        }
        changes
    }

    /// A dword as it was seen last.
    pub(super) fn dword(&self, address: u64) -> u32 {
        let page = self.pages.get(&(address & !0xfff));
        page.map_or(0, |page| page[(address & 0xfff) as usize / 4])
    }

    /// A dword is written, and need not be seen.
    pub(super) fn write(&mut self, address: u64, value: u32) {
        let page = self.pages.entry(address & !0xfff).or_insert_with(|| Box::new([0; PAGE_DWORDS]));
        page[(address & 0xfff) as usize / 4] = value;
    }
}
