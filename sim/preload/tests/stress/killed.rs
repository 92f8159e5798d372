//! A process that is killed while its kernel runs, one that hangs the GPU, and one that goes on beside them.

use crate::program::{Addition, Holdings, LONG, add, launch, load, vram_used};
use crate::{on_machine, times};
use selvedge::{Device, Fault, Placement};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TEST: &str = "killed::in_mid_dispatch";
const VICTIM: &str = "STRESS_VICTIM";

/// Runs a kernel that never ends, says so, and waits to be killed.
fn victim() {
    let device = Device::open(0).unwrap();
    let _memory = device.allocate(64 << 20, Placement::Device).unwrap();
    let progress = device.allocate(4, Placement::Coherent).unwrap();
    progress.fill(0).unwrap();
    let (code, stream) = (load(&device, "endless"), device.stream().unwrap());
    let _endless = launch(&stream, &code, "endless", 64, &[(&progress).into()]);
    while progress.read::<u32>().unwrap()[0] < 10 {
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("\nspins");
    std::thread::sleep(LONG);
    panic!("nobody killed it");
}

/// This test again, as the victim.
fn command(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(VICTIM, "1").stdout(Stdio::piped());
    command
}

fn start() -> Child {
    let mut child = command(TEST).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().any(|line| line.unwrap() == "spins"), "it never came so far");
    child
}

fn others() {
    if std::env::var_os(VICTIM).is_some() {
        return victim();
    }
    let device = Device::open(0).unwrap();
    let (code, stream) = (load(&device, "k01_vadd"), device.stream().unwrap());
    let addition = Addition::new(&device, 7);
    addition.start(&stream, &code).wait(LONG).unwrap();
    let before = (Holdings::now(), vram_used());
    let rounds = times(3, 50);
    let begin = Instant::now();
    for round in 0..rounds {
        let mut victim = start();
        let pid = victim.id();
        assert!(vram_used() >= before.1 + (64 << 20));
        // In mid-dispatch here, too.
        let other = Addition::new(&device, round);
        let running = other.start(&stream, &code);
        victim.kill().unwrap();
        victim.wait().unwrap();
        running.wait(LONG).unwrap();
        other.check();
        drop((running, other));
        assert_eq!(vram_used(), before.1);
        assert!(std::fs::metadata(format!("/sys/class/kfd/kfd/proc/{pid}")).is_err());
        addition.start(&stream, &code).wait(LONG).unwrap();
        addition.check();
    }
    println!("stress: {rounds} processes killed in mid-dispatch: {:?}", begin.elapsed());
    assert_eq!((Holdings::now(), vram_used()), before);
}

#[test]
fn in_mid_dispatch() {
    on_machine("6.18", TEST, others);
}

const ANY: &str = "killed::at_any_moment";
/// How many live at once.
const AT_ONCE: usize = 4;

/// Opens, allocates, dispatches, exports and closes until it is killed.
fn works() {
    for salt in 0.. {
        let device = Device::open(0).unwrap();
        add(&device, salt);
        let _memory = device.allocate(8 << 20, Placement::Device).unwrap();
    }
}

fn at_random() {
    if std::env::var_os(VICTIM).is_some() {
        return works();
    }
    let count = times(20, 1000);
    let begin = Instant::now();
    let mut living = std::collections::VecDeque::new();
    // Any sequence does: xorshift, from a seed that is not said to matter.
    let mut random = std::process::id() | 1;
    for _ in 0..count {
        living.push_back(command(ANY).stderr(Stdio::null()).spawn().unwrap());
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        std::thread::sleep(Duration::from_micros((random % 30_000).into()));
        if living.len() > AT_ONCE {
            let mut victim: Child = living.pop_front().unwrap();
            victim.kill().unwrap();
            victim.wait().unwrap();
        }
    }
    for mut victim in living {
        victim.kill().unwrap();
        victim.wait().unwrap();
    }
    assert_eq!(vram_used(), 0);
    assert_eq!(std::fs::read_dir("/sys/class/kfd/kfd/proc").unwrap().count(), 0);
    add(&Device::open(0).unwrap(), 1);
    println!("stress: {count} processes killed at any moment: {:?}", begin.elapsed());
}

#[test]
fn at_any_moment() {
    on_machine("7.3", ANY, at_random);
}

const HANG: &str = "killed::one_that_hangs_the_gpu";

/// Runs a kernel that never ends, on a machine that looks for such: the GPU is reset.
fn hangs() {
    let device = Device::open(0).unwrap();
    let progress = device.allocate(4, Placement::Coherent).unwrap();
    let (code, stream) = (load(&device, "endless"), device.stream().unwrap());
    let endless = launch(&stream, &code, "endless", 64, &[(&progress).into()]);
    endless.wait(LONG).unwrap_err();
    assert!(matches!(device.fault().as_deref(), Some(Fault::Reset(_))), "{:?}", device.fault());
}

fn is_reset() {
    if std::env::var_os(VICTIM).is_some() {
        return hangs();
    }
    let device = Device::open(0).unwrap();
    let (code, stream) = (load(&device, "k01_vadd"), device.stream().unwrap());
    let addition = Addition::new(&device, 7);
    addition.start(&stream, &code).wait(LONG).unwrap();
    let output = command(HANG).env("SELVEDGE_SIM_WATCHDOG", "100000").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    // All was done before the other heard of it; this process hears a moment later.
    let start = Instant::now();
    while device.fault().is_none() && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(device.fault().as_deref(), Some(Fault::Reset(_))), "{:?}", device.fault());
    drop((addition, stream, code, device));
    // The next context finds the GPU working.
    add(&Device::open(0).unwrap(), 1);
}

#[test]
fn one_that_hangs_the_gpu() {
    on_machine("7.3", HANG, is_reset);
}
