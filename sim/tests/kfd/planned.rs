//! Faults of queues that a plan asks for.

use crate::rig::{Buffer, PAGE, Queue, Rig, eventually, gtt};
use kfd::uapi::{self, EventData};
use selvedge_sim::fault::{PacketFault, Plan};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// The KFD's id of a process's first queue.
const FIRST: u32 = 0;

fn with_plan(plan: Plan) -> (Rig, Queue, Buffer) {
    let rig = Rig::new("gfx1151", 18);
    rig.machine.set_faults(plan);
    let (queue, signal) = (rig.queue(), rig.buffer(gtt(), PAGE));
    assert_eq!(queue.args.queue_id, FIRST);
    (rig, queue, signal)
}

fn submit(queue: &Queue, index: u64, signal: &Buffer) {
    signal.qword(8).store(1, SeqCst);
    queue.submit_barrier(index, signal.va);
}

fn completed(signal: &Buffer) -> bool {
    signal.qword(8).load(SeqCst) == 0
}

#[test]
fn a_hang_at_a_packet() {
    let (rig, queue, signal) = with_plan(Plan::new().at_packet(FIRST, 2, PacketFault::Hang));
    let event = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    submit(&queue, 0, &signal);
    eventually("the first packet", || completed(&signal));
    submit(&queue, 1, &signal);
    eventually("the hang", || rig.machine.faults_struck() == 1);
    let neighbour = Rig::on(rig.machine.clone());
    let (other, others) = (neighbour.queue(), neighbour.buffer(gtt(), PAGE));
    submit(&other, 0, &others);
    assert_eq!(rig.wait(EventData::new(event, 0), 50).1, uapi::WAIT_RESULT_TIMEOUT);
    assert!(!completed(&signal) && !completed(&others), "nobody's queues run, nobody is told");
}

#[test]
fn a_reset_at_a_packet() {
    let (rig, queue, signal) = with_plan(Plan::new().at_packet(FIRST, 1, PacketFault::Reset));
    let event = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    submit(&queue, 0, &signal);
    let (data, result) = rig.wait(EventData::new(event, 0), 10_000);
    assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
    assert_eq!(data.hw_exception().memory_lost, 1);
    assert!(!completed(&signal));
    let neighbour = Rig::on(rig.machine.clone());
    let (other, others) = (neighbour.queue(), neighbour.buffer(gtt(), PAGE));
    submit(&other, 0, &others);
    eventually("another process's packet", || completed(&others));
}

#[test]
fn a_page_fault_at_a_packet() {
    const NOWHERE: u64 = 0x1234_5000;
    let fault = PacketFault::PageFault(NOWHERE);
    let (rig, queue, signal) = with_plan(Plan::new().at_packet(FIRST, 1, fault));
    let event = rig.create_event(uapi::EVENT_MEMORY, 0);
    submit(&queue, 0, &signal);
    let (data, result) = rig.wait(EventData::new(event, 0), 10_000);
    assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
    assert_eq!(data.memory_exception().va, NOWHERE);
    assert!(!completed(&signal));
}

#[test]
fn a_lost_doorbell_is_made_up_for_by_the_next() {
    let (rig, queue, signal) = with_plan(Plan::new().lose_doorbell(FIRST, 1));
    submit(&queue, 0, &signal);
    eventually("the loss", || rig.machine.faults_struck() == 1);
    assert!(!completed(&signal));
    let second = rig.buffer(gtt(), PAGE);
    submit(&queue, 1, &second);
    eventually("both packets", || completed(&signal) && completed(&second));
}

#[test]
fn a_late_doorbell() {
    let delay = Duration::from_millis(30);
    let start = std::time::Instant::now();
    let (rig, queue, signal) = with_plan(Plan::new().delay_doorbell(FIRST, 1, delay));
    submit(&queue, 0, &signal);
    eventually("the packet", || completed(&signal));
    assert!(start.elapsed() >= delay);
    assert_eq!(rig.machine.faults_struck(), 1);
}

/// AQL packets say by their headers whether they are there, whatever doorbells say.
#[test]
fn a_torn_doorbell() {
    let (rig, queue, signal) = with_plan(Plan::new().tear_doorbell(FIRST, 2));
    for index in 0..4 {
        submit(&queue, index, &signal);
        eventually("the packet", || completed(&signal));
    }
    queue.ring_doorbell(1 << 32);
    submit(&queue, 4, &signal);
    eventually("the packet", || completed(&signal));
    assert_eq!(rig.machine.faults_struck(), 1);
}

/// A value whose upper half changes with the lower is seen half written.
#[test]
fn a_torn_signal() {
    let between = Duration::from_millis(400);
    let (rig, queue, signal) = with_plan(Plan::new().tear_write(FIRST, 1, between));
    signal.qword(8).store(1 << 32, SeqCst);
    queue.submit_barrier(0, signal.va);
    let seen = std::cell::Cell::new(1 << 32);
    eventually("a change", || {
        seen.set(signal.qword(8).load(SeqCst));
        seen.get() != 1 << 32
    });
    assert_eq!(seen.get(), 0x1_ffff_ffff);
    eventually("the other half", || signal.qword(8).load(SeqCst) == 0xffff_ffff);
    assert_eq!(rig.machine.faults_struck(), 1);
}
