//! What may go on while later packets are processed, in the ordering mode.

use super::*;

fn disordered(ordering: Order) -> Rig {
    let rig = Rig::within(Arc::new(AddressSpace::new()), Version::V6_0, 0, ordering);
    rig.write_u32(SRC, 1);
    rig
}

/// A copy of what another copies overtakes it, unless a fence is between.
#[test]
fn copies_overlap_up_to_a_fence() {
    const DONE: u64 = DST + 0x100;
    let [first, second] = [copy(SRC, DST, 4), copy(DST, DST + 8, 4)];
    for (ordering, between, seen) in [
        (Order::InOrder, &[][..], 1),
        (Order::Adversarial, &[], 0),
        (Order::Adversarial, &fence(DST + 0x80, 5), 1),
    ] {
        let mut rig = disordered(ordering);
        rig.place(&first);
        rig.place(between);
        rig.submit(&[&second[..], &fence(DONE, 9)].concat());
        wait_for("the last fence", || rig.read_u32(DONE) == 9);
        assert_eq!((rig.read_u32(DST), rig.read_u32(DST + 8)), (1, seen), "{ordering:?}");
    }
}

/// The read pointer says what was taken, not what was done; without more packets all is done.
#[test]
fn held_copies_are_done_when_nothing_more_comes() {
    let mut rig = disordered(Order::Adversarial);
    rig.submit(&copy(SRC, DST, 4));
    wait_for("the copy", || rig.read_u32(DST) == 1);
    assert_eq!(rig.read_u64(READ), 28);
}

#[test]
fn a_poll_lets_copies_be_done() {
    let mut rig = disordered(Order::Adversarial);
    let poll = [POLL_EQUAL, low(DST), high(DST), 1, u32::MAX, ENDLESS];
    rig.run(&[&copy(SRC, DST, 4)[..], &poll].concat());
}
