//! Programs of the runtime under `simrun`: one that opens and closes the device again and again, one with many queues, many
//! at once, one that is killed in mid-dispatch. Nothing may be left of any, and the others go on.
//!
//! The tests take seconds. With `SELVEDGE_STRESS` set they are as large as they are meant to be by hand, and say what they
//! took:
//!
//! ```sh
//! SELVEDGE_STRESS=1 cargo test --release -p selvedge-preload --test stress -- --nocapture --test-threads 1
//! ```
//!
//! Each test runs itself again on the machine, and there once more for each further process.

#![expect(unsafe_code, reason = "runs the repository's own kernels")]

mod cycles;
mod killed;
mod many;
mod program;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Set by `simrun` for every program on the machine.
const ON_MACHINE: &str = "SELVEDGE_SIM_TREE";
/// Asks for the large form.
const LARGE: &str = "SELVEDGE_STRESS";

/// How often, in the small form and in the large one.
fn times(small: u32, large: u32) -> u32 {
    if std::env::var_os(LARGE).is_some() { large } else { small }
}

/// Runs `body`, the body of the test called `name`, on a machine with one gfx1100.
fn on_machine(kernel: &str, name: &str, body: fn()) {
    if std::env::var_os(ON_MACHINE).is_some() {
        return body();
    }
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_simrun"))
        .args(["--machine", "gfx1100", "--kernel", kernel])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{}\n{said}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    said.lines().filter(|line| line.starts_with("stress: ")).for_each(|line| println!("{line}"));
    println!("stress: {name}, Linux {kernel}: {:?} in all", start.elapsed());
}

/// The committed code object of `name` for gfx1100.
fn object(name: &str) -> Vec<u8> {
    let objects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/objects/gfx1100");
    std::fs::read(objects.join(format!("v5/wave32/{name}.hsaco"))).unwrap()
}
