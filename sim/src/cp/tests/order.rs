//! In what order packets complete, in the ordering mode.

use super::*;
use aql::BarrierAnd;

/// Completion signals, each with an event of the packet's number from 1 on.
fn signal_of(packet: u64) -> u64 {
    SIGNALS + 64 * packet
}

fn disordered(ordering: Order) -> Rig {
    let mut rig = Rig::new();
    rig.host = Arc::new(Recorder { ordering, ..Recorder::default() });
    rig.write_u64(DATA, DATA + 256);
    for packet in 0..SLOTS {
        let event = packet + 1;
        rig.signal(signal_of(packet), 1, MAILBOXES + 8 * event, event as u32);
    }
    rig
}

fn kernel_packet(rig: &Rig, barrier: bool) -> KernelDispatch {
    let mut packet = KernelDispatch::new(CODE, DATA, [32, 1, 1], [32, 1, 1]);
    packet.barrier = barrier;
    packet.completion_signal = signal_of(rig.written[0].load(Ordering::Relaxed));
    packet
}

fn place_kernel(rig: &Rig, barrier: bool) {
    rig.place(0, &kernel_packet(rig, barrier).encode());
}

fn place_barrier(rig: &Rig, barrier: bool, signal: u64) {
    let mut packet = BarrierAnd::new([signal, 0, 0, 0, 0]);
    packet.barrier = barrier;
    packet.completion_signal = signal_of(rig.written[0].load(Ordering::Relaxed));
    rig.place(0, &packet.encode());
}

/// Runs what was placed to its end; the packets in the order in which they completed.
fn completed(rig: &Rig) -> Vec<u32> {
    let packets = rig.written[0].load(Ordering::Relaxed);
    let _queue = rig.start_with(rig.configuration(0, QueueKind::Aql), 0);
    rig.ring_doorbell(0, packets - 1);
    wait_for("all completions", || rig.host.told().len() as u64 == packets);
    let read = QUEUE + queue::offset::READ_DISPATCH_ID;
    wait_for("the read pointer", || rig.read_u64(read) == packets);
    let interrupt = |told| match told {
        Told::Interrupt(event) => event,
        other => panic!("{other:?}"),
    };
    rig.host.told().into_iter().map(interrupt).collect()
}

#[test]
fn dispatches_without_the_barrier_bit_complete_in_another_order() {
    for (ordering, barriers, order) in [
        (Order::InOrder, [false; 4], [1, 2, 3, 4]),
        (Order::Adversarial, [false; 4], [4, 3, 2, 1]),
        (Order::Adversarial, [true; 4], [1, 2, 3, 4]),
        (Order::Adversarial, [false, false, true, false], [2, 1, 4, 3]),
    ] {
        let rig = disordered(ordering);
        rig.load(kernel::STORE, |_| ());
        barriers.iter().for_each(|&barrier| place_kernel(&rig, barrier));
        assert_eq!(completed(&rig), order, "{ordering:?}, {barriers:?}");
    }
}

/// A barrier packet is no barrier without its bit.
#[test]
fn barrier_packets_overtake_without_the_barrier_bit() {
    for (barrier, order) in [(false, [2, 1]), (true, [1, 2])] {
        let rig = disordered(Order::Adversarial);
        rig.load(kernel::STORE, |_| ());
        place_kernel(&rig, true);
        place_barrier(&rig, barrier, 0);
        assert_eq!(completed(&rig), order);
    }
}

#[test]
fn a_barrier_that_waits_for_a_held_dispatch_lets_it_run() {
    let rig = disordered(Order::Adversarial);
    rig.load(kernel::STORE, |_| ());
    place_kernel(&rig, false);
    place_barrier(&rig, false, signal_of(0));
    assert_eq!(completed(&rig), [1, 2]);
}

/// A later dispatch may wait for an earlier one, which on hardware has started.
#[test]
fn a_dispatch_that_does_not_end_holds_up_none_before_it() {
    let rig = disordered(Order::Adversarial);
    rig.load(kernel::STORE, |_| ());
    place_kernel(&rig, false);
    // Another kernel, on the second half of the page.
    let mut memory = view(&rig.space);
    let mut descriptor = [0; 64];
    memory.read_bytes(CODE, &mut descriptor).unwrap();
    memory.write_bytes(CODE + 0x800, &descriptor).unwrap();
    memory.write_u32(CODE + 0x900, kernel::ENDLESS[0]).unwrap();
    let mut endless = kernel_packet(&rig, false);
    endless.kernel_object = CODE + 0x800;
    rig.place(0, &endless.encode());
    let queue = rig.start(0);
    rig.ring_doorbell(0, 1);
    wait_for("the first", || rig.value(signal_of(0)) == 0);
    assert_eq!(rig.value(signal_of(1)), 1);
    queue.evict();
}

#[test]
fn seeds_give_orders_again() {
    let order = |seed| {
        let rig = disordered(Order::Seeded(seed));
        rig.load(kernel::STORE, |_| ());
        (0..SLOTS).for_each(|_| place_kernel(&rig, false));
        completed(&rig)
    };
    let orders: Vec<_> = (0..8).map(order).collect();
    assert_eq!((0..8).map(order).collect::<Vec<_>>(), orders);
    let in_order: Vec<u32> = (1..=SLOTS as u32).collect();
    assert!(orders.iter().any(|order| *order != in_order));
    assert!(orders.iter().any(|order| *order != orders[0]));
}
