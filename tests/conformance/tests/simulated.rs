//! The suite on simulated machines.

use selvedge_sim::Machine;
use selvedge_sys::System;
use std::sync::Arc;

/// What is not applicable, with how many cases: these may only fall. Each GPU of the machine is asked.
fn ask(description: &str, kfd_minor: u32, not_applicable: usize) {
    let machine = Machine::described(description).unwrap().kfd_minor(kfd_minor).unwrap();
    let machine = machine.build().unwrap();
    let system: Arc<dyn System> = machine.process();
    let report = selvedge_conformance::run(&system, 0, &[]);
    println!("{description}, KFD 1.{kfd_minor}\n{report}");
    let [_, failed, other] = report.counts();
    assert_eq!((failed, other), (0, not_applicable), "{description}:\n{report}");
    assert_eq!(machine.refusals(), Vec::<String>::new());
}

/// One GPU has no other, and its memory is seen by the host.
const ONE_GPU: usize = 8;

macro_rules! machines {
    ($($name:ident $minor:literal $others:literal)*) => {$(
        #[test]
        fn $name() {
            ask(stringify!($name), $minor, ONE_GPU + $others);
        }
    )*};
}

machines! {
    gfx1151 23 1
    gfx1100 23 1
    gfx1201 23 1
    gfx1030 23 2
    gfx90a 23 0
    gfx906 23 1
    gfx942 23 0
    gfx1101 23 1
    gfx1103 23 1
}

/// Faults would end the primary context, and there is no other.
#[test]
fn before_secondary_contexts() {
    ask("gfx1151", 18, 9 + ONE_GPU);
}

/// Debian's kernel has no shared virtual memory.
#[test]
fn without_shared_virtual_memory() {
    ask("gfx1100", 17, 14 + ONE_GPU);
}

#[test]
fn on_the_oldest_kernel() {
    ask("gfx90a", 14, 8 + ONE_GPU);
}

/// What is asked of several GPUs, from each to the next.
fn ask_peers(description: &str, not_applicable: &[usize]) {
    let machine = Machine::described(description).unwrap().kfd_minor(23).unwrap();
    let machine = machine.build().unwrap();
    let system: Arc<dyn System> = machine.process();
    for (gpu, not_applicable) in not_applicable.iter().enumerate() {
        let report = selvedge_conformance::run(&system, gpu, &["peer.", "memory."]);
        println!("{description}, GPU {gpu}\n{report}");
        let [_, failed, other] = report.counts();
        assert_eq!((failed, other), (0, *not_applicable), "{description}, GPU {gpu}:\n{report}");
    }
    assert_eq!(machine.refusals(), Vec::<String>::new());
}

/// `memory.small_bar` and `peer.refused` are not applicable where all is well, four cases of `peer` where no link is, and
/// `memory.vram` with a small BAR.
#[test]
fn several_gpus() {
    for (description, not_applicable) in [
        ("gfx90a,gfx90a", &[2, 2][..]),
        ("gfx942,gfx942", &[2, 2]),
        ("gfx1100,gfx1100", &[2, 2]),
        ("gfx1151,gfx1100", &[2, 2]),
        ("gfx1201,gfx1030,gfx90a", &[2, 2, 2]),
        ("gfx90a,gfx90a+two-cpus", &[2, 2]),
        ("gfx1100,gfx1100+no-p2p", &[5, 5]),
        ("gfx90a,gfx90a+no-p2p", &[2, 2]),
        ("gfx1100,gfx1100+small-bar", &[5, 2]),
        ("gfx1100+small-bar,gfx1100+small-bar", &[5, 5]),
    ] {
        ask_peers(description, not_applicable);
    }
}
