//! Fences and flushes, and what is seen without them where L2 keeps copies.

use super::*;
use crate::memory::L2;
use aql::BarrierAnd;
use aql::header::FenceScope;

/// Where the kernel stores.
const RESULT: u64 = 0x100;
const OTHER_RESULT: u64 = 0x200;

fn stale(gpu: Gpu) -> Rig {
    let cache = L2::behind_hdp(Arc::new(Backing::zeroed(4096)));
    let rig = Rig::within(cache.address_space(), gpu);
    rig.data.store_u64(0, DATA + RESULT);
    for result in [RESULT, OTHER_RESULT] {
        rig.data.store_u32(result, 7);
    }
    rig
}

/// Runs a kernel that stores 0 where the dword at the start of the data says.
fn run(rig: &Rig, acquire: FenceScope, release: FenceScope) {
    let mut packet = rig.dispatch(kernel::STORE);
    packet.acquire = acquire;
    packet.release = release;
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
}

/// What the host sees of the results.
fn results(rig: &Rig) -> [u32; 2] {
    [RESULT, OTHER_RESULT].map(|result| rig.data.load_u32(result))
}

#[test]
fn without_a_release_the_host_sees_nothing() {
    for (release, seen) in [(FenceScope::NONE, 7), (FenceScope::AGENT, 7), (FenceScope::SYSTEM, 0)]
    {
        let rig = stale(gfx1151());
        let _queue = rig.start(0);
        run(&rig, FenceScope::SYSTEM, release);
        assert_eq!(results(&rig), [seen, 7], "{release:?}");
        // A barrier's fence is one of all before it.
        rig.signal(SIGNALS, 1, 0, 0);
        let mut barrier = BarrierAnd::new([0; 5]);
        barrier.completion_signal = SIGNALS;
        rig.submit(0, &barrier.encode());
        rig.wait_zero(SIGNALS);
        assert_eq!(results(&rig), [0, 7]);
    }
}

#[test]
fn without_an_acquire_devices_see_what_was() {
    for (acquire, seen) in
        [(FenceScope::NONE, [0, 7]), (FenceScope::AGENT, [0, 7]), (FenceScope::SYSTEM, [0, 0])]
    {
        let rig = stale(gfx1151());
        let _queue = rig.start(0);
        run(&rig, FenceScope::SYSTEM, FenceScope::SYSTEM);
        rig.data.store_u64(0, DATA + OTHER_RESULT);
        run(&rig, acquire, FenceScope::SYSTEM);
        assert_eq!(results(&rig), seen, "{acquire:?}");
    }
}

#[test]
fn what_is_coherent_is_seen_at_once() {
    let cache = L2::behind_hdp(Arc::new(Backing::zeroed(4096)));
    let rig = Rig::within(cache.address_space(), gfx1151());
    assert!(rig.space.unmap(DATA));
    assert!(rig.space.map(DATA, 4096, rig.data.clone(), 0, Permissions::READ | Permissions::WRITE));
    rig.data.store_u64(0, DATA + RESULT);
    rig.data.store_u32(RESULT, 7);
    let _queue = rig.start(0);
    run(&rig, FenceScope::NONE, FenceScope::NONE);
    assert_eq!(rig.data.load_u32(RESULT), 0);
}
