//! What stops a queue, and how it is told.

use super::{arguments, case, faulting};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::Kind;
use crate::pm4_queue::Pm4Queue;
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::subject::DEADLINE;
use crate::{Case, Result, Subject};
use aql::KernelDispatch;
use kfd::uapi::exception;
use kfd::{AllocationFlags, Event, EventKind, MemoryException, Report, WaitOutcome, WaitSet};
use pm4::packet::WriteData;
use std::sync::Arc;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("error.lds", "a dispatch with more LDS than there is stops its queue", lds),
    case("error.dimensions", "a dispatch of no work-items stops its queue", dimensions),
    case("error.workgroup", "a workgroup of more than 1024 work-items stops its queue", workgroup),
    case("error.packet", "a packet that no queue knows stops its queue", packet),
    case(
        "error.scratch",
        "a dispatch that needs private memory waits where the queue has none",
        scratch,
    ),
    faulting("fault.store", "a kernel's store to nowhere is told with its page", store),
    faulting("fault.queues", "a fault ends every queue of its context", queues),
    faulting("fault.contexts", "a fault leaves other contexts alone", contexts),
    faulting("fault.read_only", "a store to memory that may only be read is told so", read_only),
    faulting("fault.sdma", "an SDMA engine's store to nowhere is told with its page", sdma_store),
    faulting("fault.pm4", "a packet's store to nowhere is told with its page", pm4_store),
];

/// Submits what is wrong with a dispatch; the queue's error must be these.
fn wrong(
    subject: &Subject,
    value: u64,
    code: u32,
    spoil: impl FnOnce(&mut KernelDispatch),
) -> Result {
    let image = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    let arguments = arguments![out.address(), 1u32, 64u32];
    let mut packet = queue.kernel(&image.kernel("store"), [64, 1, 1], [64, 1, 1], &arguments)?;
    spoil(&mut packet);
    let index = queue.submit(&packet.encode())?;
    let (got, exceptions) = queue.error()?;
    equal("the error", got, value)?;
    equal("the exceptions", exceptions, exception::mask(code))?;
    equal("the packet's signal", queue.signal(index)?, 1)?;
    out.check("the output", |_| 0)
}

/// Values of `queue_inactive_signal`: ROCr, amd_aql_queue.cpp, `DynamicQueueEventsHandler`.
fn lds(subject: &Subject) -> Result {
    wrong(subject, 4, exception::QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID, |packet| {
        packet.group_segment_size = 1 << 20;
    })
}

fn dimensions(subject: &Subject) -> Result {
    wrong(subject, 2, exception::QUEUE_PACKET_DISPATCH_DIM_INVALID, |packet| {
        packet.grid_size_x = 0;
    })
}

fn workgroup(subject: &Subject) -> Result {
    wrong(subject, 64, exception::QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID, |packet| {
        packet.grid_size_x = 2048;
        packet.workgroup_size_x = 1025;
    })
}

fn packet(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    // Type 6 is in no edition of the HSA specification.
    let mut words = [0; aql::PACKET_WORDS];
    words[0] = 6;
    queue.submit(&words)?;
    let (value, exceptions) = queue.error()?;
    equal("the error", value, 32)?;
    equal("the exceptions", exceptions, exception::mask(exception::QUEUE_PACKET_UNSUPPORTED))
}

fn scratch(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let data = subject.memory(Kind::Shared, 4096)?;
    data.fill(|i| i)?;
    let events = [queue.event().clone()];
    let packet = queue.launch(&code.kernel("mix"), 1024, &arguments![data.address()])?;
    let value = queue.wait_for_scratch(subject, &events)?;
    let expected = if subject.generation().has_wave32() { 0x400 } else { 1 };
    equal("the error", value, expected)?;
    equal("the packet's signal", queue.signal(packet)?, 1)?;
    data.check("the data", |i| i)
}

/// An event of memory faults, and a wait for it.
fn watch(subject: &Subject) -> Result<WaitSet> {
    let event = Arc::new(Event::create(subject.device(), EventKind::Memory, false)?);
    Ok(WaitSet::new(subject.device().process(), vec![event]))
}

/// Runs a store to a page that is not mapped, and checks what is told of it.
fn fault(subject: &Subject, queue: &mut AqlQueue, watch: &mut WaitSet) -> Result {
    let code = Code::load(subject)?;
    let page = {
        let gone = subject.memory(Kind::Shared, 4096)?;
        gone.address()
    };
    queue.launch(&code.kernel("fill"), 64, &arguments![page, 1u32, 64u32])?;
    let not_present = told(subject, watch, page)?.not_present;
    equal("whether the page is not present", not_present, true)
}

fn store(subject: &Subject) -> Result {
    let mut watch = watch(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    fault(subject, &mut queue, &mut watch)
}

/// Checks what a fault is told with.
fn told(subject: &Subject, watch: &mut WaitSet, page: u64) -> Result<MemoryException> {
    equal("the wait for the fault", watch.wait_any(Some(DEADLINE))?, WaitOutcome::Complete)?;
    match watch.report(0) {
        Some(Report::Memory(told)) => {
            equal("the fault's page", told.address & !0xfff, page)?;
            equal("the fault's GPU", told.gpu_id, subject.device().gpu_id())?;
            Ok(told)
        }
        other => Err(Outcome::fail(format!("it was told as {other:?}"))),
    }
}

fn contexts(subject: &Subject) -> Result {
    let neighbour = subject.neighbour()?;
    let mut other = AqlQueue::new(&neighbour, 64)?;
    let mut watch = watch(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    fault(subject, &mut queue, &mut watch)?;
    for _ in 0..3 {
        let packet = other.barrier([0; 5])?;
        other.finish(packet)?;
    }
    let mut later = AqlQueue::new(&neighbour, 64)?;
    let packet = later.barrier([0; 5])?;
    later.finish(packet)
}

fn read_only(subject: &Subject) -> Result {
    let mut watch = watch(subject)?;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let memory = subject.device().allocate(4096, AllocationFlags::GTT)?;
    let page = memory.address();
    queue.launch(&code.kernel("fill"), 64, &arguments![page, 1u32, 64u32])?;
    equal("whether it may only be read", told(subject, &mut watch, page)?.read_only, true)
}

fn sdma_store(subject: &Subject) -> Result {
    let mut watch = watch(subject)?;
    let mut queue = SdmaQueue::new(subject)?;
    let page = subject.memory(Kind::Shared, 4096)?.address();
    queue.send(|to| sdma::sequence::fence(to, page, 1))?;
    told(subject, &mut watch, page).map(drop)
}

fn pm4_store(subject: &Subject) -> Result {
    let mut watch = watch(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let page = subject.memory(Kind::Shared, 4096)?.address();
    queue.send(|to| to.push_with(&WriteData::memory(page, 1), &[1]))?;
    told(subject, &mut watch, page).map(drop)
}

fn queues(subject: &Subject) -> Result {
    let mut watch = watch(subject)?;
    let (mut queue, mut other) = (AqlQueue::new(subject, 64)?, AqlQueue::new(subject, 64)?);
    let packet = other.barrier([0; 5])?;
    other.finish(packet)?;
    fault(subject, &mut queue, &mut watch)?;
    let mut later = AqlQueue::new(subject, 64)?;
    for queue in [&mut other, &mut later] {
        let packet = queue.barrier([0; 5])?;
        std::thread::sleep(Duration::from_millis(50));
        equal("the signal of a packet after the fault", queue.signal(packet)?, 1)?;
    }
    Ok(())
}
