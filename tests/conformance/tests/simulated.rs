//! The suite on simulated machines.

use selvedge_sim::Machine;
use selvedge_sys::System;
use std::sync::Arc;

/// What is not applicable, with how many cases: these may only fall.
fn ask(name: &str, kfd_minor: u32, not_applicable: usize) {
    let machine = Machine::builder().gpu(name).unwrap().kfd_minor(kfd_minor).unwrap();
    let machine = machine.build().unwrap();
    let system: Arc<dyn System> = machine.process();
    let report = selvedge_conformance::run(&system, 0, &[]);
    println!("{name}, KFD 1.{kfd_minor}\n{report}");
    let [_, failed, other] = report.counts();
    assert_eq!((failed, other), (0, not_applicable), "{name}:\n{report}");
    assert_eq!(machine.refusals(), Vec::<String>::new());
}

macro_rules! machines {
    ($($name:ident $minor:literal $not_applicable:literal)*) => {$(
        #[test]
        fn $name() {
            ask(stringify!($name), $minor, $not_applicable);
        }
    )*};
}

machines! {
    gfx1151 23 0
    gfx1100 23 0
    gfx1201 23 0
    gfx1030 23 0
    gfx90a 23 0
    gfx906 23 0
    gfx942 23 0
    gfx1101 23 0
    gfx1103 23 0
}

/// Faults would end the primary context.
#[test]
fn before_secondary_contexts() {
    ask("gfx1151", 18, 2);
}
