//! Many queues, and many processes.

use crate::program::{Addition, Holdings, LONG, add, load, vram_used};
use crate::{on_machine, times};
use selvedge::Device;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const QUEUES: u32 = 64;

fn queues() {
    let device = Device::open(0).unwrap();
    let code = load(&device, "k01_vadd");
    let rounds = times(4, 200);
    // What is made once, at the first use, stays.
    add(&device, 1);
    let before = Holdings::now();
    let start = Instant::now();
    {
        let streams: Vec<_> = (0..QUEUES).map(|_| device.stream().unwrap()).collect();
        let additions: Vec<_> = (0..QUEUES).map(|salt| Addition::new(&device, salt)).collect();
        let folder = format!("/sys/class/kfd/kfd/proc/{}/queues", std::process::id());
        assert!(std::fs::read_dir(folder).unwrap().count() >= QUEUES as usize);
        for _ in 0..rounds {
            let started = streams.iter().zip(&additions).map(|(s, a)| a.start(s, &code));
            let started: Vec<_> = started.collect();
            started.iter().for_each(|submission| submission.wait(LONG).unwrap());
            additions.iter().for_each(Addition::check);
        }
    }
    println!("stress: {QUEUES} queues, {rounds} dispatches on each: {:?}", start.elapsed());
    assert_eq!(Holdings::now(), before);
}

#[test]
fn queues_on_one_device() {
    on_machine("6.18", "many::queues_on_one_device", queues);
}

/// Another process: this test again, as the one with this number.
fn another(test: &str, number: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(NUMBER, number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

const NUMBER: &str = "STRESS_NUMBER";
const PROCESSES: u32 = 8;
const AT_ONCE: &str = "many::processes_at_once";

fn processes() {
    let rounds = times(10, 1000);
    if let Some(number) = std::env::var_os(NUMBER) {
        let number: u32 = number.to_str().unwrap().parse().unwrap();
        let device = Device::open(0).unwrap();
        let (code, stream) = (load(&device, "k01_vadd"), device.stream().unwrap());
        for round in 0..rounds {
            // Every round has memory of its own, which was somebody else's before.
            let addition = Addition::new(&device, number * rounds + round);
            addition.start(&stream, &code).wait(LONG).unwrap();
            addition.check();
        }
        return;
    }
    let start = Instant::now();
    let children: Vec<_> = (0..PROCESSES).map(|number| another(AT_ONCE, number)).collect();
    let ended: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap()).collect();
    assert!(ended.iter().all(|status| status.success()), "{ended:?}");
    println!("stress: {PROCESSES} processes, {rounds} dispatches in each: {:?}", start.elapsed());
    assert_eq!(vram_used(), 0);
    assert_eq!(std::fs::read_dir("/sys/class/kfd/kfd/proc").unwrap().count(), 0);
}

#[test]
fn processes_at_once() {
    on_machine("6.18", AT_ONCE, processes);
}
