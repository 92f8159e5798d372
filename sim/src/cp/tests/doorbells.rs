//! What a doorbell alone tells.

use super::*;

/// Producers ring first and store the write index later, or never: the doorbell holds the packet's index.
#[test]
fn a_doorbell_is_enough() {
    let rig = Rig::new();
    let queue = rig.start(0);
    let write = QUEUE + queue::offset::WRITE_DISPATCH_ID;
    for index in 0..2 * SLOTS {
        let packet = rig.dispatch(kernel::END);
        assert_eq!(rig.place(0, &packet.encode()), index);
        rig.write_u64(write, 0);
        rig.ring_doorbell(0, index);
        rig.wait_zero(SIGNALS);
    }
    assert_eq!(rig.read_u64(write), 0);
    let read = QUEUE + queue::offset::READ_DISPATCH_ID;
    wait_for("the read index", || rig.read_u64(read) == 2 * SLOTS);
    assert_eq!(queue.fault(), None);
}

/// A packet that no doorbell told of waits, whatever the write index is.
#[test]
fn without_a_doorbell_nothing_runs() {
    let rig = Rig::new();
    let _queue = rig.start(0);
    let index = rig.place(0, &rig.dispatch(kernel::END).encode());
    thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.value(SIGNALS), 1);
    rig.ring_doorbell(0, index);
    rig.wait_zero(SIGNALS);
}
