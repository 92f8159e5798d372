//! AQL packets, and the ring that they are in.

use super::case;
use crate::aql_queue::AqlQueue;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::subject::eventually;
use crate::{Case, Result, Subject};
use aql::vendor::{Condition, Format};
use aql::{BarrierAnd, BarrierOr, BarrierValue, Header, Pm4Indirect};
use pm4::layout::Writer;
use pm4::packet::WriteData;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case(
        "aql.ring",
        "packets are taken in order round the ring, and their slots are given back",
        ring,
    ),
    case(
        "aql.read_index",
        "the read index passes a packet when it is done, and its header is invalid then",
        read_index,
    ),
    case(
        "aql.header_last",
        "a doorbell ahead of a packet's header waits for the header",
        header_last,
    ),
    case("aql.doorbell", "one doorbell is enough for all packets before it", doorbell),
    case("aql.barrier_and", "a barrier waits until all of its signals are 0", barrier_and),
    case(
        "aql.barrier_or",
        "a barrier of the other kind waits until one of its signals is 0",
        barrier_or,
    ),
    case(
        "aql.barrier_value",
        "a barrier waits until a signal's value, under a mask, compares as it says",
        barrier_value,
    ),
    case("aql.pm4", "an indirect buffer of PM4 packets runs whole, before what is behind it", pm4),
    case("aql.signal", "completion takes one from a signal's value", signal),
    case("aql.event", "completion sets the signal's event and writes its id to the mailbox", event),
    case("aql.times", "start and end of packets are in the order of the packets", times),
    case("aql.between_queues", "a queue waits for a packet of another queue", between_queues),
];

fn ring(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    for _ in 0..3 * queue.slots() + 7 {
        queue.barrier([0; 5])?;
    }
    let last = queue.next() - 1;
    queue.finish(last)?;
    eventually("the read index", || Ok(queue.read_index()? == last + 1))
}

fn read_index(subject: &Subject) -> Result {
    let gate = subject.memory(Kind::Shared, 4096)?;
    gate.set_qword(aql::signal::offset::VALUE, 1)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let first = queue.barrier([0; 5])?;
    let second = queue.barrier([gate.address(), 0, 0, 0, 0])?;
    queue.finish(first)?;
    eventually("the read index after one packet", || Ok(queue.read_index()? == 1))?;
    std::thread::sleep(Duration::from_millis(10));
    equal("the read index while the second waits", queue.read_index()?, 1)?;
    gate.set_qword(aql::signal::offset::VALUE, 0)?;
    queue.finish(second)?;
    eventually("the read index after both", || Ok(queue.read_index()? == 2))?;
    for index in [first, second] {
        let header = Header::from_word(u32::from(queue.header(index)?)).packet_type;
        equal("the type in the packet's slot", header, Header::INVALID.packet_type)?;
    }
    Ok(())
}

fn header_last(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    let signal = queue.arm(1)?;
    queue.ring_doorbell(1);
    std::thread::sleep(Duration::from_millis(10));
    queue.barrier([0; 5])?;
    let mut packet = BarrierAnd::new([0; 5]);
    packet.completion_signal = signal;
    let index = queue.place(&packet.encode())?;
    // The doorbell was rung for it long ago.
    queue.finish(index)
}

fn doorbell(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    for index in 0..10 {
        let mut packet = BarrierAnd::new([0; 5]);
        packet.completion_signal = queue.arm(index)?;
        queue.place(&packet.encode())?;
    }
    std::thread::sleep(Duration::from_millis(10));
    queue.ring_doorbell(9);
    (0..10).try_for_each(|index| queue.finish(index))
}

/// Addresses and values of five signals of the host's.
fn gates(subject: &Subject) -> Result<(crate::memory::Buffer, [u64; 5])> {
    let memory = subject.memory(Kind::Shared, 4096)?;
    let addresses = std::array::from_fn(|i| memory.address() + 64 * i as u64);
    for i in 0..5 {
        memory.set_qword(64 * i + aql::signal::offset::VALUE, 1)?;
    }
    Ok((memory, addresses))
}

fn barrier_and(subject: &Subject) -> Result {
    let (memory, addresses) = gates(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let packet = queue.barrier(addresses)?;
    for i in [3, 0, 4, 1, 2] {
        std::thread::sleep(Duration::from_millis(5));
        equal("the barrier's signal", queue.signal(packet)?, 1)?;
        memory.set_qword(64 * i + aql::signal::offset::VALUE, 0)?;
    }
    queue.finish(packet)
}

fn barrier_or(subject: &Subject) -> Result {
    for chosen in 0..5 {
        let (memory, addresses) = gates(subject)?;
        let mut queue = AqlQueue::new(subject, 64)?;
        let mut packet = BarrierOr::new(addresses);
        packet.completion_signal = queue.arm(0)?;
        let index = queue.submit(&packet.encode())?;
        std::thread::sleep(Duration::from_millis(5));
        equal("the barrier's signal", queue.signal(index)?, 1)?;
        memory.set_qword(64 * chosen + aql::signal::offset::VALUE, 0)?;
        queue.finish(index)?;
    }
    Ok(())
}

fn barrier_value(subject: &Subject) -> Result {
    if !Format::BARRIER_VALUE.is_accepted_by(subject.generation()) {
        let why =
            "AMD's runtime uses these packets on gfx90a and gfx94x alone (CLR, rocsettings.cpp)";
        return Err(Outcome::NotApplicable(why.to_owned()));
    }
    let memory = subject.memory(Kind::Shared, 4096)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    // Condition, reference, mask, a value that does not do, one that does.
    for (cond, reference, mask, before, after) in [
        (Condition::EQ, 5, !0, 5 | 1 << 40, 5),
        (Condition::EQ, 0x20, 0xf0, 0x3f, 0x52f),
        (Condition::NE, 5, !0, 5, 6),
        (Condition::LT, 5, !0, 5, u64::MAX),
        (Condition::GTE, 5, !0, u64::MAX, 5),
    ] {
        memory.set_qword(aql::signal::offset::VALUE, before)?;
        let mut packet = BarrierValue::new(memory.address(), cond, reference);
        packet.mask = mask;
        packet.completion_signal = queue.arm(queue.next())?;
        let index = queue.submit(&packet.encode())?;
        std::thread::sleep(Duration::from_millis(5));
        let what = format!("the barrier's signal at {before:#x}, {cond} {reference:#x}");
        equal(&what, queue.signal(index)?, 1)?;
        memory.set_qword(aql::signal::offset::VALUE, after)?;
        queue.finish(index)?;
    }
    Ok(())
}

/// As ROCr runs PM4 packets (amd_aql_queue.cpp, `ExecutePM4`). Each XCC runs the buffer.
fn pm4(subject: &Subject) -> Result {
    let (buffer, out) = (subject.memory(Kind::Shared, 8192)?, subject.memory(Kind::Shared, 4096)?);
    let mut queue = AqlQueue::new(subject, 64)?;
    for (round, nops) in (1u32..).zip([0u32, 10, 200, 300, 1500]) {
        let mut words = vec![pm4::Header::NOP.0; nops as usize + 8];
        let mut writer = Writer::new(&mut words[nops as usize..], subject.generation());
        let written = writer.push_with(&WriteData::memory(out.address(), 1), &[round]);
        written.map_err(|error| Outcome::fail(error.to_string()))?;
        for (at, &word) in (0..).step_by(4).zip(&words) {
            buffer.set_dword(at, word)?;
        }
        let mut packet = Pm4Indirect::new(buffer.address(), words.len() as u32);
        packet.completion_signal = queue.arm(queue.next())?;
        let index = queue.submit(&packet.encode())?;
        queue.finish(index)?;
        equal(&format!("what is written behind {nops} NOPs"), out.dword(0)?, round)?;
    }
    Ok(())
}

fn signal(subject: &Subject) -> Result {
    let memory = subject.memory(Kind::Shared, 4096)?;
    memory.set_qword(aql::signal::offset::VALUE, 12)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    for _ in 0..12 {
        let mut packet = BarrierAnd::new([0; 5]);
        packet.completion_signal = memory.address();
        queue.submit(&packet.encode())?;
    }
    let last = queue.barrier([0; 5])?;
    queue.finish(last)?;
    equal("the value after twelve packets", memory.qword(aql::signal::offset::VALUE)?, 0)
}

fn event(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    for _ in 0..10 {
        let events = [queue.event().clone()];
        let packet = queue.barrier([0; 5])?;
        subject.wait_for("a completion", &events, || Ok(queue.signal(packet)? == 0))?;
    }
    Ok(())
}

fn times(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    let mut before = 0;
    for _ in 0..10 {
        let packet = queue.barrier([0; 5])?;
        queue.finish(packet)?;
        let (start, end) = queue.times(packet)?;
        if start == 0 || start < before || end < start {
            return Err(Outcome::fail(format!("after {before} came {start} to {end}")));
        }
        before = end;
    }
    Ok(())
}

fn between_queues(subject: &Subject) -> Result {
    let (mut first, mut second) = (AqlQueue::new(subject, 64)?, AqlQueue::new(subject, 64)?);
    for round in 0..20 {
        let signal = first.arm(round)?;
        let waiting = second.barrier([signal, 0, 0, 0, 0])?;
        equal("the second queue's signal", second.signal(waiting)?, 1)?;
        let packet = first.barrier([0; 5])?;
        second.finish(waiting)?;
        equal("the first queue's signal", first.signal(packet)?, 0)?;
    }
    Ok(())
}
