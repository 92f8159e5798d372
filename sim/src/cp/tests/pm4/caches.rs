//! What packets do to L2 where it keeps copies.

use super::*;
use crate::memory::L2;

const WORD: u64 = 0x40;

fn stale(name: &'static str, gfx_target_version: u32) -> Pm4 {
    let cache = L2::behind_hdp(Arc::new(Backing::zeroed(4096)));
    let gpu = Gpu { name, gfx_target_version, ..gfx1151() };
    Pm4::on(Rig::within(cache.address_space(), gpu))
}

/// RELEASE_MEM without data, of an event at the end of the pipe (PAL, PM4_MEC_RELEASE_MEM).
fn release(event_and_caches: u32) -> [u32; 8] {
    [0xc006_4900, 5 << 8 | event_and_caches, 0, 0, 0, 0, 0, 0]
}

/// A device writes; the host sees it once packets have written it back.
#[test]
fn write_back() {
    let acquire = |control| vec![0xc006_5800, 0, 0xffff_ffff, 0xff, 0, 0, 10, control];
    let acquire_gfx9 = |control| vec![0xc005_5800, control, 0xffff_ffff, 0xff, 0, 0, 10];
    for (name, version, without, with) in [
        // BOTTOM_OF_PIPE_TS; GL2_INV; with GL2_WB.
        ("gfx1100", 110_000, release(0x28 | 1 << 20).to_vec(), release(0x28 | 1 << 21).to_vec()),
        ("gfx1201", 120_001, release(0x14).to_vec(), release(0x14 | 1 << 21).to_vec()),
        // TC_ACTION_ENA, which invalidates; TC_WB_ACTION_ENA.
        ("gfx90a", 90_010, release(0x14 | 1 << 17).to_vec(), release(0x14 | 1 << 15).to_vec()),
        // EVENT_WRITE of CACHE_FLUSH_AND_INV_EVENT and of CACHE_FLUSH: no caches of compute queues.
        ("gfx1100", 110_000, vec![0xc000_4600, 0x16], release(0x28 | 1 << 21).to_vec()),
        ("gfx906", 90_006, vec![0xc000_4600, 6], release(0x28 | 1 << 15).to_vec()),
        ("gfx1030", 100_300, acquire(1 << 14), acquire(1 << 15)),
        ("gfx906", 90_006, acquire_gfx9(1 << 22), acquire_gfx9(1 << 18)),
    ] {
        let mut pm4 = stale(name, version);
        pm4.rig.write_u32(DATA + WORD, 5);
        pm4.run(&without);
        assert_eq!(pm4.rig.data.load_u32(WORD), 0, "{name}");
        pm4.run(&with);
        assert_eq!(pm4.rig.data.load_u32(WORD), 5, "{name}");
    }
}

/// The host writes; devices see it once packets have invalidated what they had.
#[test]
fn invalidation() {
    for (name, version, without, with) in [
        ("gfx1100", 110_000, 1 << 8 | 1 << 9, 1 << 14),
        ("gfx90a", 90_010, 1 << 22 | 1 << 27, 1 << 23),
    ] {
        let mut pm4 = stale(name, version);
        assert_eq!(pm4.rig.read_u32(DATA + WORD), 0);
        pm4.rig.data.store_u32(WORD, 5);
        for (control, seen) in [(without, 0), (with, 5)] {
            match version {
                ..100_000 => pm4.run(&[0xc005_5800, control, 0xffff_ffff, 0xff, 0, 0, 10]),
                _ => pm4.run(&[0xc006_5800, 0, 0xffff_ffff, 0xff, 0, 0, 10, control]),
            }
            assert_eq!(pm4.rig.read_u32(DATA + WORD), seen, "{name}");
        }
    }
}

/// The processor itself stores where everybody sees it, and sees what anybody stored.
#[test]
fn the_processor_sees_both() {
    let mut pm4 = stale("gfx1100", 110_000);
    pm4.rig.write_u32(DATA + WORD, 5);
    pm4.rig.data.store_u32(WORD + 4, 6);
    // COPY_DATA of 64 bits, memory to memory by L2 (PAL, PM4_MEC_COPY_DATA).
    let copy = [
        0xc004_4000,
        2 | 2 << 8 | 1 << 16,
        low(DATA + WORD),
        high(DATA),
        low(DATA + WORD + 8),
        high(DATA),
    ];
    pm4.run(&copy);
    assert_eq!(pm4.rig.data.load_u64(WORD + 8), 6 << 32 | 5);
    assert_eq!(pm4.rig.read_u64(DATA + WORD + 8), 6 << 32 | 5);
}

/// ACQUIRE_MEM of a range, in units of 256 bytes (PAL, PM4_MEC_ACQUIRE_MEM): of gfx9 always, from gfx10 on where
/// GL2_RANGE says so (nvd.h: 2 is the range, 3 its first and last line of 128 bytes, 0 all).
#[test]
fn ranges() {
    let base = low(DATA >> 8);
    let gfx9 = |control, base, size| vec![0xc005_5800, control, size, 0, base, 0, 10];
    let gfx10 = |control, base, size| vec![0xc006_5800, 0, size, 0, base, 0, 10, control];
    let (write_back, invalidate) = (1 << 15, 1 << 14);
    for (name, version, packet, seen) in [
        ("gfx90a", 90_010, gfx9(1 << 18, base + 1, 2), [0, 7, 7, 7, 0]),
        // Everything, as kfdtest writes it.
        ("gfx90a", 90_010, gfx9(1 << 18, 0, u32::MAX), [7; 5]),
        ("gfx90a", 90_010, gfx9(1 << 18, base + 1, u32::MAX), [7; 5]),
        ("gfx1100", 110_000, gfx10(write_back | 2 << 11, base + 1, 2), [0, 7, 7, 7, 0]),
        ("gfx1100", 110_000, gfx10(write_back | 3 << 11, base + 1, 3), [0, 7, 0, 0, 0]),
        ("gfx1100", 110_000, gfx10(write_back, base + 1, 2), [7; 5]),
    ] {
        let mut pm4 = stale(name, version);
        // The ranges start at 0x100 and end at 0x300 or 0x400.
        let places = [0xfc, 0x100, 0x180, 0x2fc, 0x300];
        places.iter().for_each(|at| pm4.rig.write_u32(DATA + at, 7));
        pm4.run(&packet);
        assert_eq!(places.map(|at| pm4.rig.data.load_u32(at)), seen, "{name}");
    }
    for (name, version, packet, seen) in [
        ("gfx90a", 90_010, gfx9(1 << 23, base + 1, 1), [0, 7, 0]),
        ("gfx1100", 110_000, gfx10(invalidate | 2 << 11, base + 1, 1), [0, 7, 0]),
        ("gfx1100", 110_000, gfx10(invalidate, base + 1, 1), [7; 3]),
    ] {
        let mut pm4 = stale(name, version);
        let places = [0xfc, 0x100, 0x200];
        for at in places {
            assert_eq!(pm4.rig.read_u32(DATA + at), 0);
            pm4.rig.data.store_u32(at, 7);
        }
        pm4.run(&packet);
        assert_eq!(places.map(|at| pm4.rig.read_u32(DATA + at)), seen, "{name}");
    }
}
