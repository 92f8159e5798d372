//! Packets that are heard of, and turns that are recorded.

use crate::rig::{Rig, eventually};
use selvedge_sim::cp::{PacketListener, TakenPacket};
use selvedge_sim::record::{Line, Recorder, parse, replay};
use selvedge_sim::{Caches, Machine};
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
struct Heard(Mutex<String>);

impl PacketListener for Heard {
    fn taken(&self, packet: &TakenPacket<'_>) {
        self.0.lock().unwrap().push_str(&packet.to_string());
    }
}

/// One barrier on a queue, until `seen`.
fn run(machine: Machine, seen: impl Fn() -> bool) {
    let rig = Rig::on(machine);
    let queue = rig.queue();
    queue.submit_barrier(0, 0);
    eventually("the packet", seen);
    rig.destroy(queue);
}

#[test]
fn packets_are_heard() {
    let heard = Arc::new(Heard::default());
    let builder = Machine::builder().gpu("gfx1151").unwrap().packets(heard.clone());
    run(builder.build().unwrap(), || !heard.0.lock().unwrap().is_empty());
    let text = heard.0.lock().unwrap().clone();
    assert!(text.starts_with("process 0 GPU 0 queue 0 AQL 0 at 0x"), "{text}");
    assert!(text.contains(" | BARRIER_AND barrier ") && !text.contains("unknown"), "{text}");
}

#[test]
fn turns_are_recorded() {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    let write = move |line: &str| sink.lock().unwrap().push_str(line);
    let recorder = Arc::new(Recorder::new("gfx1151", 18, false, write));
    let builder = Machine::builder().gpu("gfx1151").unwrap().conductor(recorder);
    let builder = builder.caches(Caches::Transparent);
    run(builder.build().unwrap(), || text.lock().unwrap().contains("@ end"));
    let lines = parse(&text.lock().unwrap()).unwrap();
    let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    let [Line::Machine { .. }, Line::Memory { runs, .. }, Line::Begin { rung: 0, words, .. }, ..] =
        &lines[..]
    else {
        panic!("{lines:?}");
    };
    // The packet was the program's; that the slot is free again, and the read index, are the queue's.
    assert!(runs.iter().any(|run| run.value == words[0]));
    let Some([Line::Result { runs, .. }, Line::End { .. }]) = lines.last_chunk() else {
        panic!("{lines:?}");
    };
    let changed: Vec<u32> = runs.iter().map(|run| run.value).collect();
    assert_eq!((changed.len(), changed.contains(&1)), (2, true), "{runs:?}");
}

/// A record may have been damaged, or be another's: what it says is done to this process is not.
#[test]
fn nothing_but_the_records_own_is_reached() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let own = [5u8; 16];
    // VERSION's name, to an address of this process's (drm.h, `struct drm_version`).
    let mut version = [0u8; 64];
    version[16] = 6;
    version[24..32].copy_from_slice(&own.as_ptr().expose_provenance().to_ne_bytes());
    let version = hex(&version);
    // A userptr of 2^64 - 1 bytes, and an export that fails and leaves descriptor 1 in its argument.
    let mut userptr = [0u8; 40];
    userptr[8..16].fill(0xff);
    userptr[24] = 8;
    userptr[36] = 4;
    let userptr = hex(&userptr);
    let export = hex(&[0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 1, 0, 0, 0]);
    let lines = [
        "record 1 18 0 gfx1030".to_owned(),
        "open 3 1 /dev/kfd".to_owned(),
        "open 4 1 /dev/dri/renderD128".to_owned(),
        "open 5 1 /etc/passwd".to_owned(),
        format!("ioctl 4 c0406400 0 ={version} ={version} 0"),
        format!("ioctl 3 c0284b16 0 ={userptr} ={userptr} 0"),
        format!("ioctl 3 c0104b24 0 ={export} ={export} 0"),
        "close 1".to_owned(),
        "mmap 3 7ffffffff000 3 17 0 -22".to_owned(),
        "mmap 3 ffffffffffffffff 3 17 0 4096".to_owned(),
        "munmap ffffffffffffffff ffffffffffffffff".to_owned(),
        "munmap 0 ffffffffffffffff".to_owned(),
        "result 0 0 0 1000=7*268435455 2000=7".to_owned(),
    ];
    let text: String = lines.iter().map(|line| format!("@ {line}\n")).collect();
    let lines = parse(&text).unwrap();
    let outcome = replay(&lines).unwrap();
    // A pointer that is not in the argument.
    assert!(
        parse(&format!("{text}@ ioctl 3 80084b01 0 = = 1 18446744073709551615 = =\n")).is_err()
    );
    let told = |what: &str| outcome.differences.iter().any(|difference| difference.contains(what));
    assert!(told("open gave 5, and here -2"), "{:?}", outcome.differences);
    assert!(told("close gave 0, and here -9"), "{:?}", outcome.differences);
    assert_eq!(own, [5; 16]);
}
