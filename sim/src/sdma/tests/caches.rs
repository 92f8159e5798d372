//! How engines and L2 see each other's writes, where L2 keeps copies.

use super::*;
use crate::memory::{L2, MemoryType};

/// A page that is cached.
const CACHED: u64 = 0x80_0000;

fn stale(version: Version) -> (Rig, Arc<Backing>) {
    let cache = L2::behind_hdp(Arc::new(Backing::zeroed(4096)));
    let rig = Rig::within(cache.address_space(), version, 0, Order::InOrder);
    let memory = Arc::new(Backing::zeroed(4096));
    let permissions = Permissions::READ | Permissions::WRITE;
    // As a discrete GPU's own memory: what engines write past the cache, no flush of the HDP has to follow.
    let memory_type = MemoryType::CachedBehindHdp;
    assert!(rig.space.map_as(memory_type, (CACHED, 4096), memory.clone(), 0, permissions));
    (rig, memory)
}

/// Engines of 4.x read memory, whatever the graphics core has written.
#[test]
fn engines_of_another_hub_read_what_was_written_back() {
    for (version, seen) in [(Version::V4_0, 0), (Version::V4_4, 0), (Version::V6_0, 5)] {
        let (mut rig, _) = stale(version);
        rig.write_u32(CACHED, 5);
        rig.run(&copy(CACHED, DST, 4));
        assert_eq!(rig.read_u32(DST), seen, "{version}");
        rig.space.cache().unwrap().write_back();
        rig.run(&copy(CACHED, DST, 4));
        assert_eq!(rig.read_u32(DST), 5, "{version}");
    }
}

/// What they write, it sees after it has invalidated.
#[test]
fn engines_of_another_hub_write_past_the_cache() {
    let (mut rig, memory) = stale(Version::V4_0);
    assert_eq!(rig.read_u32(CACHED), 0);
    rig.write_u32(SRC, 5);
    rig.run(&copy(SRC, CACHED, 4));
    assert_eq!((rig.read_u32(CACHED), memory.load_u32(0)), (0, 5));
    rig.space.cache().unwrap().invalidate();
    assert_eq!(rig.read_u32(CACHED), 5);
}

#[test]
fn gcr_writes_back_and_invalidates() {
    let (mut rig, memory) = stale(Version::V6_0);
    rig.write_u32(CACHED, 5);
    // GCR_USER of all memory (ROCr, amd_blit_sdma.cpp, `BuildGCRCommand`): bits 15 and 14 are GL2_WB and GL2_INV.
    let gcr = |control: u32| [0x0111, 0, control << 16, 0, 0];
    rig.run(&gcr(1 << 14));
    assert_eq!(memory.load_u32(0), 0);
    rig.run(&gcr(1 << 15));
    assert_eq!(memory.load_u32(0), 5);
    memory.store_u32(0, 6);
    rig.space.cache().unwrap().host_writes_flushed();
    rig.run(&gcr(1 << 15));
    assert_eq!(rig.read_u32(CACHED), 5);
    rig.run(&gcr(1 << 14));
    assert_eq!(rig.read_u32(CACHED), 6);
}

/// GL2_RANGE 2 is the range, from its first line to its last (PAL gfx12, SDMA_PKT_GCR_USER).
#[test]
fn gcr_of_a_range() {
    let (mut rig, memory) = stale(Version::V6_0);
    let places = [0x78, 0x80, 0x178, 0x180];
    places.iter().for_each(|at| rig.write_u32(CACHED + at, 5));
    let (first, last) = (low(CACHED + 0x80), low(CACHED + 0x100));
    let gcr = |select: u32| [0x0111, first, (1 << 15 | select << 11) << 16, last, 0];
    rig.run(&gcr(2));
    assert_eq!(places.map(|at| memory.load_u32(at)), [0, 5, 5, 0]);
    let text = rig.refused(&gcr(1));
    assert!(text.contains("volatile lines"), "{text}");
}
