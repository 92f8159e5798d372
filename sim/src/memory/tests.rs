//! Translations that processors keep, when mappings change under them; copies that L2 keeps.

use super::{
    AddressSpace, Backing, FaultReason, L2, MemoryFault, MemoryType, Path, Permissions, View,
};
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

/// A page behind a cache that keeps copies: the cache, an address space, what the host sees, the HDP's registers.
fn cached(memory_type: MemoryType) -> (Arc<L2>, Arc<AddressSpace>, Arc<Backing>, Arc<Backing>) {
    let hdp = Arc::new(Backing::zeroed(4096));
    let cache = L2::behind_hdp(hdp.clone());
    let (space, host) = (cache.address_space(), Arc::new(Backing::zeroed(4096)));
    assert!(space.map_as(memory_type, (AT, 4096), host.clone(), 0, Permissions::all()));
    (cache, space, host, hdp)
}

#[test]
fn host_and_device_see_each_other_after_write_back_and_invalidation() {
    let (cache, space, host, _) = cached(MemoryType::Cached);
    let mut device = View::new(space);
    assert_eq!(device.read_u32(AT), Ok(0));
    host.store_u32(0, 1);
    device.write_u8(AT + 8, 2).unwrap();
    assert_eq!((device.read_u32(AT), host.load_u32(8)), (Ok(0), 0));
    cache.invalidate();
    assert_eq!((device.read_u32(AT), host.load_u32(8)), (Ok(1), 0));
    assert_eq!(device.read_u8(AT + 8), Ok(2), "what was not written back stays");
    host.store_u8(9, 3);
    cache.write_back();
    assert_eq!(host.load_u32(8), 0x302, "of a word the bytes that were written");
    assert_eq!(device.read_u8(AT + 9), Ok(0));
}

#[test]
fn the_host_has_to_flush_the_hdp() {
    let (cache, space, host, hdp) = cached(MemoryType::CachedBehindHdp);
    let mut device = View::new(space);
    assert_eq!(device.read_u32(AT), Ok(0));
    host.store_u32(0, 1);
    cache.invalidate();
    assert_eq!(device.read_u32(AT), Ok(0));
    hdp.store_u32(0, 1);
    cache.invalidate();
    assert_eq!(device.read_u32(AT), Ok(1));
}

#[test]
fn address_spaces_of_a_gpu_share_its_cache() {
    let (cache, space, host, _) = cached(MemoryType::Cached);
    let other = cache.address_space();
    let range = (2 * AT, 4096);
    assert!(other.map_as(MemoryType::Cached, range, host.clone(), 0, Permissions::all()));
    let (mut one, mut two) = (View::new(space.clone()), View::new(other));
    one.write_u32(AT, 1).unwrap();
    assert_eq!((two.read_u32(2 * AT), host.load_u32(0)), (Ok(1), 0));
    assert!(space.unmap(AT));
    assert_eq!(host.load_u32(0), 1, "unmapping writes back");
}

#[test]
fn processors_that_see_both() {
    let (cache, space, host, _) = cached(MemoryType::Cached);
    let (mut wave, mut processor) = (View::new(space.clone()), View::on(Path::Both, space.clone()));
    wave.write_u32(AT, 1).unwrap();
    host.store_u32(4, 2);
    assert_eq!(processor.read_u64(AT), Ok(2 << 32 | 1));
    assert_eq!(processor.atomic_u32(AT, |value| value + 1), Ok(1));
    assert_eq!((wave.read_u32(AT), host.load_u32(0)), (Ok(2), 2));
    processor.write_u32(AT + 8, 3).unwrap();
    assert_eq!((wave.read_u32(AT + 8), host.load_u32(8)), (Ok(3), 3));
    assert!(processor.window(AT, 4, super::Access::Read).is_none());
    cache.discard();
    assert_eq!(wave.read_u32(AT + 8), Ok(3));
}

/// Caches are worked on while waves store: nothing that they stored is lost.
#[test]
fn write_backs_at_any_time_lose_nothing() {
    const STORES: u32 = 20_000;
    let (cache, space, host, _) = cached(MemoryType::Cached);
    std::thread::scope(|scope| {
        for lane in 0..2 {
            let mut view = View::new(space.clone());
            scope.spawn(move || {
                for value in 1..=STORES {
                    let at = AT + 4 * lane;
                    assert_eq!(view.read_u32(at), Ok(value - 1));
                    view.write_u32(at, value).unwrap();
                }
            });
        }
        for _ in 0..200 {
            cache.write_back();
            cache.invalidate();
        }
    });
    cache.write_back();
    assert_eq!([0, 4].map(|at| host.load_u32(at)), [STORES; 2]);
}

/// What is left of a mapping that was cut shows the bytes that it showed before.
#[test]
fn what_is_left_of_a_mapping_keeps_its_bytes() {
    let space = Arc::new(AddressSpace::new());
    let backing = Arc::new(Backing::zeroed(8 * 4096));
    (0..8).for_each(|page| backing.store_u32(page * 4096, page as u32 + 1));
    assert!(space.map(AT, 8 * 4096, backing, 0, Permissions::all()));
    let mut view = View::new(Arc::clone(&space));
    assert_eq!(view.read_u32(AT + 3 * 4096), Ok(4));
    space.clear(AT + 2 * 4096, AT + 5 * 4096);
    for page in 0..8 {
        let seen = view.read_u32(AT + page * 4096).ok();
        assert_eq!(seen, (!(2..5).contains(&page)).then_some(page as u32 + 1));
    }
    assert_eq!(space.mapping_of(AT + 7 * 4096), Some((AT + 5 * 4096, 3 * 4096)));
    space.clear(0, u64::MAX);
    assert_eq!(space.mappings(), 0);
}
