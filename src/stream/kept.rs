//! What submissions in flight keep alive.

use std::any::Any;
use std::sync::Arc;

/// How many of the last entries are searched for an object: launches in a row mostly use the same ones.
const RECENT: usize = 8;

/// Objects that submissions use, each with the last submission that was seen to use it. An object may
/// be in here more than once.
#[derive(Default)]
pub(super) struct Kept {
    entries: Vec<Entry>,
    /// Entries whose submissions are done are looked for when this submission is.
    next_look: u64,
}

struct Entry {
    object: Arc<dyn Any + Send + Sync>,
    last_use: u64,
}

impl Kept {
    /// Keeps `object` until submission `index` is done.
    #[inline]
    pub(super) fn keep<T: Send + Sync + 'static>(&mut self, object: &Arc<T>, index: u64) {
        let address = Arc::as_ptr(object).cast::<()>();
        let recent = self.entries.iter_mut().rev().take(RECENT);
        for entry in recent {
            if std::ptr::addr_eq(Arc::as_ptr(&entry.object), address) {
                entry.last_use = index;
                return;
            }
        }
        self.entries.push(Entry { object: object.clone(), last_use: index });
    }

    /// Lets go of what only submissions before `retired` used.
    pub(super) fn release(&mut self, retired: u64) {
        self.entries.retain(|entry| entry.last_use >= retired);
        // An entry is looked at a bounded number of times for every submission that adds some.
        self.next_look = retired + (self.entries.len() as u64 / 4).max(16);
    }

    /// The same, when enough submissions were retired for it to be worth it.
    #[inline]
    pub(super) fn release_some(&mut self, retired: u64) {
        if retired >= self.next_look {
            self.release(retired);
        }
    }

    /// Lets go of everything: the device has no work left.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Never lets go: the device may still use all of it.
    pub(super) fn leak(&mut self) {
        std::mem::forget(std::mem::take(&mut self.entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_live_until_their_last_submission_is_done() {
        let objects: Vec<Arc<u32>> = (0..100).map(Arc::new).collect();
        let mut kept = Kept::default();
        for index in 0..1000u64 {
            kept.keep(&objects[index as usize % 20], index);
            kept.keep(&objects[20 + index as usize % 80], index);
        }
        let alive = |from: u64| {
            (0..100usize)
                .filter(|&i| {
                    (from..1000).any(|n| i == n as usize % 20 || i == 20 + n as usize % 80)
                })
                .collect::<Vec<_>>()
        };
        for retired in [0, 1, 500, 930, 990, 999, 1000] {
            kept.release(retired);
            let held: Vec<usize> =
                (0..100).filter(|&i| Arc::strong_count(&objects[i]) > 1).collect();
            assert_eq!(held, alive(retired), "after {retired}");
        }
    }

    #[test]
    fn repeated_launches_take_one_entry() {
        let object = Arc::new(());
        let mut kept = Kept::default();
        (0..100).for_each(|index| kept.keep(&object, index));
        assert_eq!(Arc::strong_count(&object), 2);
        kept.release_some(99);
        assert_eq!(Arc::strong_count(&object), 2);
        kept.release_some(200);
        assert_eq!(Arc::strong_count(&object), 1);
    }
}
