//! Packets that complete.

use super::*;
use aql::vendor::Condition;
use aql::{BarrierAnd, BarrierOr, BarrierValue, FenceScope, Pm4Indirect};
use signal::offset;

#[test]
fn a_dispatch_runs_and_completes() {
    let rig = Rig::new();
    let queue = rig.start(0);
    let mut packet = rig.dispatch(kernel::STORE);
    packet.grid_size_x = 64;
    rig.write_u64(DATA, DATA + 256);
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    for lane in 0..32 {
        assert!(rig.read_u32(DATA + 256 + 4 * lane) <= 1, "one of the two workgroups wrote last");
    }
    assert_eq!(rig.host.told(), [], "a signal without mailbox tells nobody");
    assert_eq!(rig.read_u64(QUEUE + queue::offset::READ_DISPATCH_ID), 1);
    assert_eq!(rig.read_u32(RING) & 0xffff, 1, "the slot is invalid again");
    let statistics = queue.statistics();
    assert_eq!((statistics.packets, statistics.dispatches), (1, 1));
    assert!(statistics.instructions > 0);
    assert_eq!(queue.fault(), None);
}

#[test]
fn completion_writes_the_mailbox_and_interrupts() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    let packet = rig.dispatch(kernel::END);
    rig.signal(SIGNALS, 5, MAILBOXES + 8 * 33, 33);
    rig.write_u64(MAILBOXES + 8 * 33, u64::MAX);
    rig.submit(0, &packet.encode());
    wait_for("the interrupt", || !rig.host.told().is_empty());
    assert_eq!(rig.host.told(), [Told::Interrupt(33)]);
    assert_eq!(rig.read_u64(MAILBOXES + 8 * 33), 33);
    assert_eq!(rig.value(SIGNALS), 4, "the value is decremented, not zeroed");
}

#[test]
fn timestamps_only_when_profiling() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    let packet = rig.dispatch(kernel::END);
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    assert_eq!(rig.read_u64(SIGNALS + offset::START_TS), 0);

    let properties = queue::Properties::new().with_enable_profiling(true).into_bits();
    rig.write_field(queue::offset::QUEUE_PROPERTIES, properties);
    rig.set_value(SIGNALS, 1);
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    let start = rig.read_u64(SIGNALS + offset::START_TS);
    let end = rig.read_u64(SIGNALS + offset::END_TS);
    assert!(start > 0 && end > start, "{start} to {end}");
}

#[test]
fn an_invalid_header_is_waited_for() {
    let rig = Rig::new();
    let queue = rig.start(0);
    let packet = rig.dispatch(kernel::END).encode();
    let mut early = packet;
    early[0] = 1;
    let index = rig.submit(0, &early);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.value(SIGNALS), 1);
    rig.write_u32(RING + index * PACKET_BYTES as u64, packet[0]);
    rig.wait_zero(SIGNALS);
    assert_eq!(queue.statistics().packets, 1);
}

#[test]
fn nothing_runs_before_the_first_doorbell() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    let index = rig.place(0, &rig.dispatch(kernel::END).encode());
    thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.value(SIGNALS), 1);
    rig.ring_doorbell(0, index);
    rig.wait_zero(SIGNALS);
}

#[test]
fn the_ring_wraps() {
    let rig = Rig::new();
    let queue = rig.start(0);
    let packet = rig.dispatch(kernel::END).encode();
    let count = 5 * SLOTS + 3;
    rig.set_value(SIGNALS, count as i64);
    for _ in 0..count {
        rig.submit(0, &packet);
    }
    rig.wait_zero(SIGNALS);
    assert_eq!(rig.read_u64(QUEUE + queue::offset::READ_DISPATCH_ID), count);
    assert_eq!(queue.statistics().packets, count);
}

#[test]
fn indices_have_64_bits() {
    let rig = Rig::new();
    let first = (1 << 32) - 3;
    let queue = rig.start_at(0, first);
    rig.write_u64(QUEUE + queue::offset::READ_DISPATCH_ID, first);
    let packet = rig.dispatch(kernel::END).encode();
    rig.set_value(SIGNALS, 40);
    for _ in 0..40 {
        rig.submit(0, &packet);
    }
    rig.wait_zero(SIGNALS);
    assert_eq!(rig.read_u64(QUEUE + queue::offset::READ_DISPATCH_ID), first + 40);
    assert_eq!(queue.statistics().packets, 40);
}

/// Stores its dispatch id to the address in the first argument (llvm-mc-19, gfx1151): s_load_b64 s[6:7], s[0:1], 0x0;
/// v_mov_b32 v0, 0; v_mov_b32 v1, s2; v_mov_b32 v2, s3; s_waitcnt lgkmcnt(0); global_store_b64 v0, v[1:2], s[6:7];
/// s_waitcnt_vscnt null, 0x0; s_endpgm
#[rustfmt::skip]
const DISPATCH_ID: &[u32] = &[
    0xf404_0180, 0xf800_0000, 0x7e00_0280, 0x7e02_0202, 0x7e04_0203, 0xbf89_fc07, 0xdc6e_0000, 0x0006_0100,
    0xbc7c_0000, 0xbfb0_0000,
];

/// The id of a dispatch is the index of its packet, whatever came before it (LLVM's AMDGPUUsage, Dispatch ID).
#[test]
fn kernels_know_the_index_of_their_packet() {
    let rig = Rig::new();
    let first = (1 << 32) - 2;
    let _queue = rig.start_at(0, first);
    rig.write_u64(QUEUE + queue::offset::READ_DISPATCH_ID, first);
    let packet = rig.dispatch(DISPATCH_ID);
    rig.load(DISPATCH_ID, |descriptor| {
        descriptor.kernel_code_properties |=
            Properties::new().with_enable_sgpr_dispatch_id(true).into_bits();
    });
    let barrier = BarrierAnd { completion_signal: SIGNALS, ..BarrierAnd::SYSTEM };
    for (round, packet) in
        [packet.encode(), barrier.encode(), packet.encode(), packet.encode()].iter().enumerate()
    {
        rig.write_u64(DATA, DATA + 256 + 8 * round as u64);
        rig.set_value(SIGNALS, 1);
        rig.submit(0, packet);
        rig.wait_zero(SIGNALS);
    }
    let ids = [0, 1, 2, 3].map(|round| rig.read_u64(DATA + 256 + 8 * round));
    assert_eq!(ids, [first, 0, first + 2, first + 3]);
}

#[test]
fn the_lower_of_two_doorbells_may_come_last() {
    let rig = Rig::new();
    let queue = rig.start(0);
    assert!(queue.set_running(false));
    let packet = rig.dispatch(kernel::END).encode();
    rig.set_value(SIGNALS, 2);
    let (first, second) = (rig.place(0, &packet), rig.place(0, &packet));
    rig.ring_doorbell(0, second);
    rig.ring_doorbell(0, first);
    assert!(queue.set_running(true));
    rig.wait_zero(SIGNALS);
}

#[test]
fn barriers_wait_across_queues() {
    let rig = Rig::new();
    let (_a, _b) = (rig.start(0), rig.start(1));
    let [one, two, done, after] = [1, 2, 3, 4].map(|i| SIGNALS + 64 * i);
    for signal in [one, two, done, after] {
        rig.signal(signal, 1, 0, 0);
    }
    // Queue 1 waits for both, then says so.
    let mut barrier = BarrierAnd::new([one, 0, two, 0, 0]);
    barrier.completion_signal = done;
    rig.submit(1, &barrier.encode());
    // Queue 0 completes the first, waits for queue 1, then completes the last.
    let mut packet = rig.dispatch(kernel::END);
    packet.completion_signal = one;
    rig.submit(0, &packet.encode());
    let mut barrier = BarrierOr::new([done, after, 0, 0, 0]);
    barrier.completion_signal = after;
    rig.submit(0, &barrier.encode());
    rig.wait_zero(one);
    thread::sleep(Duration::from_millis(20));
    assert_eq!((rig.value(done), rig.value(after)), (1, 1));
    rig.set_value(two, 0);
    rig.wait_zero(after);
    assert_eq!(rig.value(done), 0);
}

/// hsa.h, `hsa_barrier_and_packet_t`: handles of 0 are "dependencies already satisfied"; `hsa_barrier_or_packet_t`: they
/// are "dependencies not satisfied".
#[test]
fn barriers_without_signals() {
    let rig = Rig::new();
    let queue = rig.start(0);
    rig.signal(SIGNALS, 2, 0, 0);
    let and = BarrierAnd { completion_signal: SIGNALS, ..BarrierAnd::SYSTEM };
    rig.submit(0, &and.encode());
    let or = BarrierOr { completion_signal: SIGNALS, ..BarrierOr::SYSTEM };
    rig.submit(0, &or.encode());
    wait_for("the first barrier", || rig.value(SIGNALS) == 1);
    wait_for("the queue's rest", || queue.is_parked());
    assert_eq!((rig.value(SIGNALS), queue.statistics().packets), (1, 1));
    assert!(queue.set_running(false), "it can be stopped");
}

#[test]
fn barrier_or_needs_one() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    rig.signal(SIGNALS, 1, 0, 0);
    let signals = [1, 2, 3, 4, 5].map(|i| SIGNALS + 64 * i);
    for signal in signals {
        rig.signal(signal, -1, 0, 0);
    }
    let mut barrier = BarrierOr::new(signals);
    barrier.completion_signal = SIGNALS;
    rig.submit(0, &barrier.encode());
    thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.value(SIGNALS), 1, "only zero counts");
    rig.set_value(signals[4], 0);
    rig.wait_zero(SIGNALS);
}

#[test]
fn barrier_value_where_the_firmware_has_it() {
    let rig = Rig::of(Gpu { name: "gfx942", gfx_target_version: 90_402, ..gfx1151() });
    let _queue = rig.start(0);
    rig.signal(SIGNALS, 2, 0, 0);
    rig.signal(SIGNALS + 64, 0x1_0000_0007, 0, 0);
    let mut packet = BarrierValue::new(SIGNALS + 64, Condition::LT, 7);
    packet.mask = 0xffff_ffff;
    packet.completion_signal = SIGNALS;
    rig.submit(0, &packet.encode());
    thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.value(SIGNALS), 2);
    rig.set_value(SIGNALS + 64, 0x1_0000_0006);
    wait_for("the barrier", || rig.value(SIGNALS) == 1);
    packet.signal = 0;
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
}

#[test]
fn indirect_buffers_that_invalidate_caches() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    // ACQUIRE_MEM of gfx10 and later, a NOP of two dwords, a NOP of one.
    let buffer = [0xc006_5800, 0, 0, 0, 0, 0, 0, 0, 0xc000_1000, 0, 0xffff_1000];
    for (i, word) in buffer.iter().enumerate() {
        rig.write_u32(DATA + 4 * i as u64, *word);
    }
    rig.signal(SIGNALS, 1, 0, 0);
    let mut packet = Pm4Indirect::new(DATA, buffer.len() as u32);
    packet.completion_signal = SIGNALS;
    // The header that AMD's runtime uses: no barrier bit.
    (packet.barrier, packet.acquire) = (false, FenceScope::NONE);
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
}
