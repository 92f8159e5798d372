//! What the machine costs a program: an ioctl, an empty dispatch on an AQL queue, a copy of 1 MiB by SDMA. Once under
//! `simrun`, through libc's names, and once on a machine in the process itself, through the seam; and their ratio.
//!
//! ```text
//! cargo bench -p selvedge-preload --bench preload [-- ROUNDS]
//! ```
//! Each line has the median of the rounds, by the clock on the wall and in CPU time of the whole process, which is that of
//! the queue's thread, too. A round trip is from the doorbell to the completion that the program sees by polling memory.
#![expect(unsafe_code, reason = "user queues, and libc's clock")]

mod rig;

use rig::Rig;
use selvedge_sys::{Linux, System};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Set for the run under `simrun`.
const UNDER: &str = "SELVEDGE_SIM_TREE";
const DEFAULT_ROUNDS: usize = 9;
/// Operations of a round.
const IOCTLS: u32 = 10_000;
const DISPATCHES: u32 = 1000;
const COPIES: u32 = 200;

/// CPU time of the process so far.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

/// Medians of the rounds, in nanoseconds an operation: wall, CPU.
fn measure(rounds: usize, operations: u32, mut operation: impl FnMut()) -> [f64; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        let (wall, cpu) = (std::time::Instant::now(), cpu_time());
        (0..operations).for_each(|_| operation());
        // The first warms up.
        if round > 0 {
            let per = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(operations);
            all[0].push(per(wall.elapsed()));
            all[1].push(per(cpu_time() - cpu));
        }
    }
    all.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

fn run(system: Arc<dyn System>, rounds: usize) -> [[f64; 2]; 3] {
    let mut rig = Rig::new(system);
    let ioctl = measure(rounds, IOCTLS, || rig.version());
    let dispatch = measure(rounds, DISPATCHES, || rig.dispatch());
    let copy = measure(rounds, COPIES, || rig.copy());
    rig.check_copy();
    [ioctl, dispatch, copy]
}

fn main() {
    // `cargo bench` adds `--bench`.
    let rounds = std::env::args().skip(1).find_map(|text| text.parse().ok());
    let rounds = rounds.unwrap_or(DEFAULT_ROUNDS).max(1);
    if std::env::var_os(UNDER).is_some() {
        for [wall, cpu] in run(Arc::new(Linux), rounds) {
            println!("{wall} {cpu}");
        }
        return;
    }
    let own = std::env::current_exe().expect("this program has a path");
    let mut under = Command::new(env!("CARGO_BIN_EXE_simrun"));
    under.args(["--machine", "gfx1151"]).arg(own).arg(rounds.to_string());
    let output = under.output().expect("simrun runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    let under: Vec<Vec<f64>> = text
        .lines()
        .map(|line| line.split(' ').map(|number| number.parse().expect("a number")).collect())
        .collect();
    let machine = selvedge_sim::Machine::with_gpu("gfx1151").expect("a machine");
    let inside = run(machine.process(), rounds);
    println!("medians of {rounds} rounds, microseconds: wall (CPU)");
    println!("{:<28}{:>22}{:>22}{:>16}", "", "under simrun", "in process", "ratio");
    let names = ["ioctl GET_VERSION", "empty AQL dispatch", "SDMA copy of 1 MiB"];
    for ((name, under), inside) in names.iter().zip(&under).zip(inside) {
        let shown = |times: &[f64]| format!("{:.2} ({:.2})", times[0] / 1e3, times[1] / 1e3);
        let ratio = format!("{:.2} ({:.2})", under[0] / inside[0], under[1] / inside[1]);
        println!("{name:<28}{:>22}{:>22}{ratio:>16}", shown(under), shown(&inside));
    }
}
