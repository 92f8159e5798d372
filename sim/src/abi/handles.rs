//! Objects by the lowest free number, as the kernel's IDRs give them (`idr_alloc`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, Range};

/// Numbers of a range, handed out from the lowest on.
#[derive(Debug)]
pub(crate) struct Numbers {
    range: Range<u32>,
    /// Nothing from here on was ever handed out.
    next: u32,
    /// What was given back below.
    free: BTreeSet<u32>,
}

impl Numbers {
    /// All of `range` is free.
    pub(crate) fn new(range: Range<u32>) -> Numbers {
        Numbers { next: range.start, range, free: BTreeSet::new() }
    }

    /// The lowest free number below `end`; `None` when there is none.
    pub(crate) fn take_below(&mut self, end: u32) -> Option<u32> {
        let end = end.min(self.range.end);
        if let Some(&number) = self.free.first() {
            return (number < end).then(|| {
                self.free.remove(&number);
                number
            });
        }
        let number = self.next;
        (number < end).then(|| {
            self.next += 1;
            number
        })
    }

    /// The lowest free number; `None` when there is none.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.take_below(self.range.end)
    }

    /// A number that was taken is free again.
    pub(crate) fn give_back(&mut self, number: u32) {
        debug_assert!(self.range.contains(&number) && number < self.next);
        self.free.insert(number);
    }
}

/// Objects by handle.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    numbers: Numbers,
    objects: BTreeMap<u32, T>,
}

impl<T> Handles<T> {
    /// None yet; the first handle will be `first`.
    pub(crate) fn starting_at(first: u32) -> Handles<T> {
        Handles { numbers: Numbers::new(first..u32::MAX), objects: BTreeMap::new() }
    }

    /// Gives an object the lowest free handle; `None` when there is none.
    pub(crate) fn insert(&mut self, object: T) -> Option<u32> {
        let handle = self.numbers.take()?;
        self.objects.insert(handle, object);
        Some(handle)
    }

    pub(crate) fn remove(&mut self, handle: u32) -> Option<T> {
        let object = self.objects.remove(&handle)?;
        self.numbers.give_back(handle);
        Some(object)
    }

    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.objects.get_mut(&handle)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.objects.values_mut()
    }

    /// All objects, whose handles are free again.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.numbers = Numbers::new(self.numbers.range.clone());
        std::mem::take(&mut self.objects).into_values()
    }
}

/// Handles from 0 on.
impl<T> Default for Handles<T> {
    fn default() -> Handles<T> {
        Handles::starting_at(0)
    }
}

impl<T> Deref for Handles<T> {
    type Target = BTreeMap<u32, T>;

    fn deref(&self) -> &BTreeMap<u32, T> {
        &self.objects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_handle_comes_first() {
        let mut handles = Handles::starting_at(1);
        let all: Vec<_> = ["a", "b", "c"].map(|o| handles.insert(o).unwrap()).into();
        assert_eq!(all, [1, 2, 3]);
        assert_eq!((handles.remove(2), handles.remove(2)), (Some("b"), None));
        assert_eq!(handles.remove(1), Some("a"));
        let again: Vec<_> = ["d", "e", "f"].map(|o| handles.insert(o).unwrap()).into();
        assert_eq!(again, [1, 2, 4]);
        assert_eq!(handles.get(&2), Some(&"e"));
    }

    #[test]
    fn numbers_end() {
        let mut numbers = Numbers::new(1..4);
        assert_eq!((numbers.take_below(2), numbers.take_below(2)), (Some(1), None));
        assert_eq!((numbers.take(), numbers.take(), numbers.take()), (Some(2), Some(3), None));
        numbers.give_back(3);
        assert_eq!((numbers.take_below(3), numbers.take_below(9)), (None, Some(3)));
    }
}
