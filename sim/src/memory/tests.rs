//! Translations that processors keep, when mappings change under them.

use super::{AddressSpace, Backing, FaultReason, MemoryFault, Permissions, View};
use std::sync::Arc;

const AT: u64 = 0x1000;

fn map(space: &AddressSpace, value: u32) {
    let backing = Arc::new(Backing::zeroed(4096));
    backing.store_u32(0, value);
    assert!(space.map(AT, 4096, backing, 0, Permissions::all()));
}

type Look = fn(&mut View) -> Result<u32, MemoryFault>;

/// The ways to look at a dword.
const LOOKS: [Look; 5] = [
    |view| view.read_u32(AT),
    |view| view.fetch(AT),
    |view| view.atomic_u32(AT, |value| value),
    |view| view.atomic_u64(AT, |value| value).map(|value| value as u32),
    |view| {
        let mut bytes = [0; 4];
        view.read_bytes(AT, &mut bytes).map(|()| u32::from_le_bytes(bytes))
    },
];

#[test]
fn what_was_unmapped_is_not_present_at_the_next_access() {
    for look in LOOKS {
        let space = Arc::new(AddressSpace::new());
        map(&space, 1);
        let mut view = View::new(Arc::clone(&space));
        assert_eq!(look(&mut view), Ok(1));
        assert!(space.unmap(AT));
        let fault = look(&mut view).expect_err("nothing is mapped");
        assert_eq!((fault.address, fault.reason), (AT, FaultReason::NotPresent));
        assert_eq!(
            view.write_u32(AT, 1).map_err(|fault| fault.reason),
            Err(FaultReason::NotPresent)
        );
        assert!(!space.unmap(AT));
    }
}

#[test]
fn other_memory_at_the_same_address_is_seen_at_the_next_access() {
    for look in LOOKS {
        let space = Arc::new(AddressSpace::new());
        map(&space, 1);
        let mut view = View::new(Arc::clone(&space));
        assert_eq!(look(&mut view), Ok(1));
        assert!(space.unmap(AT));
        map(&space, 2);
        assert_eq!(look(&mut view), Ok(2));
    }
}
