//! One process that opens the device, dispatches and closes it, again and again.

use crate::program::{Holdings, add, vram_used};
use crate::{on_machine, times};
use selvedge::Device;
use std::time::Instant;

/// After so many cycles all that is made once is there.
const WARM: u32 = 4;

fn render_files(holdings: &Holdings) -> usize {
    holdings.files.get("/dev/dri/renderD128").copied().unwrap_or(0)
}

/// `kept`: how many render files stay open, from the first cycle to the end of the process.
fn cycles(kept: usize) {
    assert_eq!(vram_used(), 0);
    let count = times(20, 10_000);
    let mut warm = None;
    let start = Instant::now();
    for cycle in 0..count {
        let device = Device::open(0).unwrap();
        add(&device, cycle);
        assert_eq!(render_files(&Holdings::now()), 1);
        drop(device);
        if cycle == WARM {
            warm = Some((Holdings::now(), vram_used()));
        }
    }
    println!("stress: {count} cycles of open, dispatch, close: {:?}", start.elapsed());
    let after = (Holdings::now(), vram_used());
    assert_eq!(render_files(&after.0), kept);
    assert_eq!(Some(&after), warm.as_ref());
    assert_eq!(after.1, 0);
    println!("stress: left: {} threads, {} mappings", after.0.threads, after.0.mappings);
}

/// A context of its own for each cycle, which takes all with it.
#[test]
fn secondary_contexts() {
    on_machine("7.3", "cycles::secondary_contexts", || cycles(0));
}

/// The process's only context, which lasts: one render file, opened once.
#[test]
fn the_primary_context() {
    on_machine("6.18", "cycles::the_primary_context", || cycles(1));
}
