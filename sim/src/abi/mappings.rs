//! Which parts of the address space are mapped from the machine's files.

use crate::count::{Counter, Token};
use crate::memory::Backing;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
struct Mapped {
    end: u64,
    /// Keeps the bytes from being given to someone else while they are mapped.
    backing: Arc<Backing>,
    _token: Token,
}

/// Mapped ranges by start. The kernel's list of VMAs, as far as the machine's files are in it.
#[derive(Debug)]
pub(crate) struct Mappings {
    ranges: BTreeMap<u64, Mapped>,
    counter: Counter,
}

impl Mappings {
    pub(crate) fn new(counter: Counter) -> Mappings {
        Mappings { ranges: BTreeMap::new(), counter }
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Notes that `start..end`, whole pages, now maps `backing`.
    pub(crate) fn insert(&mut self, start: u64, end: u64, backing: Arc<Backing>) {
        self.remove(start, end);
        self.ranges.insert(start, Mapped { end, backing, _token: self.counter.token() });
    }

    /// What `start..end` maps: ranges with what they show.
    pub(crate) fn within(&self, start: u64, end: u64) -> Vec<(u64, u64, Arc<Backing>)> {
        let hit = self.ranges.range(..end).filter(|(_, mapped)| mapped.end > start);
        hit.map(|(&at, mapped)| (at.max(start), mapped.end.min(end), mapped.backing.clone()))
            .collect()
    }

    /// Notes that `start..end`, whole pages, maps nothing of the machine's any more.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        let hit: Vec<u64> = self
            .ranges
            .range(..end)
            .rev()
            .take_while(|(_, mapped)| mapped.end > start)
            .map(|(&at, _)| at)
            .collect();
        for at in hit {
            let Some(mapped) = self.ranges.remove(&at) else { continue };
            for (from, to) in [(at, start.min(mapped.end)), (end.max(at), mapped.end)] {
                if from < to {
                    let (backing, _token) = (mapped.backing.clone(), self.counter.token());
                    self.ranges.insert(from, Mapped { end: to, backing, _token });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmapping_the_middle_leaves_two() {
        let counter = Counter::default();
        let mut mappings = Mappings::new(counter.clone());
        mappings.insert(0x10000, 0x14000, Arc::new(Backing::zeroed(8)));
        mappings.insert(0x20000, 0x21000, Arc::new(Backing::zeroed(8)));
        mappings.remove(0x11000, 0x12000);
        let ranges: Vec<_> = mappings.ranges.iter().map(|(&s, m)| (s, m.end)).collect();
        assert_eq!(ranges, [(0x10000, 0x11000), (0x12000, 0x14000), (0x20000, 0x21000)]);
        let within = mappings.within(0x10800, 0x13000);
        let within: Vec<_> = within.into_iter().map(|(start, end, _)| (start, end)).collect();
        assert_eq!(within, [(0x10800, 0x11000), (0x12000, 0x13000)]);
        mappings.insert(0x0f000, 0x2f000, Arc::new(Backing::zeroed(8)));
        assert_eq!(counter.get(), 1);
        mappings.remove(0, u64::MAX - 0xfff);
        assert_eq!(counter.get(), 0);
    }
}
