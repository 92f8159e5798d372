//! Packets that are heard of, and turns that are recorded.

use crate::rig::{Rig, eventually};
use selvedge_sim::Machine;
use selvedge_sim::cp::{PacketListener, TakenPacket};
use selvedge_sim::record::{Line, Recorder, parse};
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
