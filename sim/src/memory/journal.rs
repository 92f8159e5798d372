//! What devices write, told as they write it: for records.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last values of dwords that the processors of an address space wrote since somebody took them. What the host
/// writes to the same places, at whatever moment, is not among them.
#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<BTreeMap<u64, u32>>);

impl Journal {
    fn dwords(&self) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes were written at an address. Of a dword of which they are a part, `memory` has the rest.
    pub(super) fn wrote(&self, address: u64, bytes: &[u8], memory: impl Fn(u64) -> u32) {
        let mut dwords = self.dwords();
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let (dword, first) = (at & !3, (at & 3) as usize);
            let part = &bytes[done..bytes.len().min(done + 4 - first)];
            let mut value = match part.len() {
                4 => [0; 4],
                _ => dwords.get(&dword).copied().unwrap_or_else(|| memory(dword)).to_le_bytes(),
            };
            value[first..first + part.len()].copy_from_slice(part);
            dwords.insert(dword, u32::from_le_bytes(value));
            done += part.len();
        }
    }

    /// Takes what there is.
    pub(crate) fn take(&self) -> BTreeMap<u64, u32> {
        std::mem::take(&mut *self.dwords())
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::{AddressSpace, Backing, Permissions, View};
    use std::sync::Arc;

    #[test]
    fn writes_of_all_kinds_are_told_and_those_of_the_host_are_not() {
        let space = Arc::new(AddressSpace::new());
        let backing = Arc::new(Backing::zeroed(8192));
        let permissions = Permissions::READ | Permissions::WRITE | Permissions::EXECUTE;
        assert!(space.map(0x1000, 8192, Arc::clone(&backing), 0, permissions));
        let mut view = View::new(Arc::clone(&space));
        view.write_u32(0x1000, 1).unwrap();
        // From here on.
        let journal = space.keep_journal();
        backing.store_u32(0x40, 0x4433_2211);
        assert_eq!(view.read_u32(0x1040), Ok(0x4433_2211));
        assert_eq!(view.fetch(0x1040), Ok(0x4433_2211));
        view.write_u32(0x1010, 7).unwrap();
        backing.store_u32(0x10, 8);
        view.write_u64(0x101e, 0x0807_0605_0403_0201).unwrap();
        view.write_u8(0x1041, 0xaa).unwrap();
        view.write_u16(0x1042, 0xbbcc).unwrap();
        assert_eq!(view.atomic_u32(0x1010, |value| value + 1), Ok(8));
        assert_eq!(view.atomic_u64(0x1080, |_| u64::MAX - 1), Ok(0));
        assert!(view.window(0x1000, 64, crate::memory::Access::Write).is_none());
        let told: Vec<(u64, u32)> = journal.take().into_iter().collect();
        let expected = [
            (0x1010, 9),
            (0x101c, 0x0201_0000),
            (0x1020, 0x0605_0403),
            (0x1024, 0x0807),
            (0x1040, 0xbbcc_aa11),
            (0x1080, 0xffff_fffe),
            (0x1084, 0xffff_ffff),
        ];
        assert_eq!(told, expected);
        assert!(journal.take().is_empty());
    }
}
