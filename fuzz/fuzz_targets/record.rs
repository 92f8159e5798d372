//! Any text is a record of a process on the simulated machine, or an error that names the line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_sim::record::{parse, ranges};

fuzz_target!(|text: &str| {
    let Ok(lines) = parse(text) else { return };
    assert!(ranges(&lines).is_sorted());
    // What was read reads the same when it is written.
    let written: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
    let again = parse(&written).expect("what was written");
    assert!(again.iter().map(|(_, line)| line).eq(lines.iter().map(|(_, line)| line)));
});
