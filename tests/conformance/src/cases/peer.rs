//! Several GPUs: each other's memory, and signals.

use super::{arguments, case};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::{Case, Result, Subject};
use kfd::AllocationFlags;
use sdma::sequence;
use selvedge_sys::Errno;
use zerocopy::IntoBytes;

pub(super) const CASES: &[Case] = &[
    case("peer.kernel_reads", "a kernel reads another GPU's memory", kernel_reads),
    case(
        "peer.kernel_writes",
        "a kernel writes another GPU's memory, and kernels there see it",
        kernel_writes,
    ),
    case("peer.sdma_reads", "SDMA copies from another GPU's memory", sdma_reads),
    case("peer.sdma_writes", "SDMA copies to another GPU's memory", sdma_writes),
    case("peer.signal", "a queue of one GPU waits for a signal that another completes", signal),
    case("peer.counter", "atomics of two GPUs to the host's memory lose nothing", counter),
    case("peer.refused", "another GPU's memory is refused where no link leads to it", refused),
];

const BYTES: u64 = 1 << 16;

fn pattern(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b1) ^ 0x5eed
}

/// The GPU whose memory the subject's is to reach, by a link in the topology.
fn linked(subject: &Subject) -> Result<Subject> {
    let other = subject.other()?;
    if subject.reaches(&other) {
        Ok(other)
    } else {
        Err(Outcome::NotApplicable(format!("no link leads to the memory of {}", other.target())))
    }
}

/// Memory of the other GPU, seen by both and the host.
fn memory_of(other: &Subject, subject: &Subject) -> Result<Buffer> {
    let memory = other.memory(Kind::Vram, BYTES)?;
    memory.allocation().map_to(&[subject.device()])?;
    Ok(memory)
}

fn kernel_reads(subject: &Subject) -> Result {
    let other = linked(subject)?;
    let from = memory_of(&other, subject)?;
    let (code, to) = (Code::load(subject)?, subject.memory(Kind::Shared, BYTES)?);
    from.fill(pattern)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let arguments = arguments![to.address(), from.address(), BYTES as u32];
    let packet = queue.launch(&code.kernel("copy"), BYTES as u32, &arguments)?;
    queue.finish(packet)?;
    to.check("what the kernel read", pattern)
}

fn kernel_writes(subject: &Subject) -> Result {
    let other = linked(subject)?;
    let to = memory_of(&other, subject)?;
    let (code, items) = (Code::load(subject)?, BYTES as u32 / 4);
    let mut queue = AqlQueue::new(subject, 64)?;
    let arguments = arguments![to.address(), 0x77_0000u32, items];
    let packet = queue.launch(&code.kernel("store"), items, &arguments)?;
    queue.finish(packet)?;
    to.check("what the host reads", |i| 0x77_0000 + i)?;
    let (code, seen) = (Code::load(&other)?, other.memory(Kind::Shared, BYTES)?);
    let mut queue = AqlQueue::new(&other, 64)?;
    let arguments = arguments![seen.address(), to.address(), BYTES as u32];
    let packet = queue.launch(&code.kernel("copy"), BYTES as u32, &arguments)?;
    queue.finish(packet)?;
    seen.check("what the other GPU reads", |i| 0x77_0000 + i)
}

fn sdma_reads(subject: &Subject) -> Result {
    let other = linked(subject)?;
    let from = memory_of(&other, subject)?;
    let to = subject.memory(Kind::Shared, BYTES)?;
    from.fill(pattern)?;
    let mut queue = SdmaQueue::new(subject)?;
    queue.run(|packets| sequence::copy(packets, from.address(), to.address(), BYTES))?;
    to.check("what was copied", pattern)
}

fn sdma_writes(subject: &Subject) -> Result {
    let other = linked(subject)?;
    let to = memory_of(&other, subject)?;
    let from = subject.memory(Kind::Shared, BYTES)?;
    from.fill(pattern)?;
    let mut queue = SdmaQueue::new(subject)?;
    queue.run(|packets| sequence::copy(packets, from.address(), to.address(), BYTES))?;
    to.check("what was copied", pattern)
}

fn signal(subject: &Subject) -> Result {
    let other = subject.other()?;
    let signal = subject.memory(Kind::Shared, 4096)?;
    signal.allocation().map_to(&[other.device()])?;
    let code = Code::load(subject)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    let (mut one, mut two) = (AqlQueue::new(subject, 64)?, AqlQueue::new(&other, 64)?);
    for round in 1..=20u32 {
        signal.write(0, aql::Signal::user(1).as_bytes())?;
        let waits = two.barrier([signal.address(), 0, 0, 0, 0])?;
        let arguments = arguments![out.address(), round, 1024u32];
        let mut packet = one.kernel(&code.kernel("store"), [1024, 1, 1], [64, 1, 1], &arguments)?;
        equal("the signal of the GPU that waits", two.signal(waits)?, 1)?;
        packet.completion_signal = signal.address();
        one.submit(&packet.encode())?;
        two.finish(waits)?;
        out.check(&format!("round {round}"), |i| round + i)?;
    }
    Ok(())
}

fn counter(subject: &Subject) -> Result {
    const ITEMS: u32 = 1 << 14;
    let other = subject.other()?;
    let counter = subject.memory(Kind::Shared, 4096)?;
    counter.allocation().map_to(&[other.device()])?;
    let (code, other_code) = (Code::load(subject)?, Code::load(&other)?);
    let (mut one, mut two) = (AqlQueue::new(subject, 64)?, AqlQueue::new(&other, 64)?);
    let arguments = arguments![counter.address()];
    let first = one.launch(&code.kernel("add"), ITEMS, &arguments)?;
    let second = two.launch(&other_code.kernel("add"), ITEMS, &arguments)?;
    one.finish(first)?;
    two.finish(second)?;
    let items = u64::from(ITEMS);
    equal("the counter", counter.qword(0)?, items * (items - 1))
}

fn refused(subject: &Subject) -> Result {
    let other = subject.other()?;
    if subject.reaches(&other) {
        let why = format!("a link leads to the memory of {}", other.target());
        return Err(Outcome::NotApplicable(why));
    }
    // Not for the host to see: where the BAR is small, such memory is not to be had.
    let flags = AllocationFlags::VRAM | AllocationFlags::WRITABLE | AllocationFlags::NO_SUBSTITUTE;
    let memory = other.device().allocate(BYTES, flags)?;
    match memory.map_to(&[subject.device()]) {
        Ok(()) => Err(Outcome::fail("it was mapped")),
        Err(error) => equal("the error", error.errno(), Some(Errno::EINVAL)),
    }
}
