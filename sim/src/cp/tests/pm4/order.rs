//! What overtakes dispatches in the ordering mode.

use super::dispatch::{TINYGRAD, dispatch, rig};
use super::*;

/// Where the kernel stores 0.
const STORED: u64 = DATA + 256;
/// CS_PARTIAL_FLUSH.
const FLUSH: [u32; 2] = [0xc000_4600, 0x407];

fn disordered(ordering: Order) -> Pm4 {
    let mut rig = rig(kernel::STORE);
    rig.host = Arc::new(Recorder { ordering, ..Recorder::default() });
    rig.write_u32(STORED, 7);
    Pm4::on(rig)
}

/// A dispatch that nobody waits for.
fn launched() -> Vec<u32> {
    let mut words = dispatch([1, 1, 1], [32, 1, 1], TINYGRAD);
    words.truncate(words.len() - FLUSH.len());
    words
}

#[test]
fn stores_overtake_dispatches_that_nothing_waits_for() {
    let fence = [0xc006_4900, 0x0070_f514, 0x2000_0000, low(DATA + 64), 0, 1, 0, 0];
    for (ordering, between, last) in [
        (Order::InOrder, &[][..], 5),
        (Order::Adversarial, &[], 0),
        (Order::Adversarial, &FLUSH, 5),
        (Order::Adversarial, &fence, 5),
    ] {
        let mut pm4 = disordered(ordering);
        let words = [&launched()[..], between, &write_data(STORED, &[5]), &FLUSH].concat();
        pm4.run(&words);
        assert_eq!(pm4.rig.read_u32(STORED), last, "{ordering:?}, {between:x?}");
    }
}

/// WAIT_REG_MEM until equal for what the dispatch stores, without end.
#[test]
fn a_wait_lets_dispatches_run() {
    let mut pm4 = disordered(Order::Adversarial);
    let wait = [0xc005_3c00, 3 | 1 << 4, low(STORED), high(STORED), 0, u32::MAX, 4];
    pm4.run(&[&launched()[..], &wait, &write_data(DATA + 64, &[1])].concat());
    assert_eq!((pm4.rig.read_u32(STORED), pm4.rig.read_u32(DATA + 64)), (0, 1));
}

#[test]
fn dispatches_run_when_nothing_more_comes() {
    let mut pm4 = disordered(Order::Adversarial);
    pm4.submit(&launched());
    wait_for("the kernel", || pm4.rig.read_u32(STORED) == 0);
}
