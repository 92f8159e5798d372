//! Queues come, stop, go on and go.

use super::{arguments, case};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use selvedge_sys::Errno;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("queue.again", "queues are made and destroyed over and over, with one packet each", again),
    case("queue.many", "24 queues work side by side", many),
    case("queue.stopped", "a queue of no percentage does nothing until it has some again", stopped),
    case(
        "queue.destroyed_while_it_waits",
        "a queue that waits for a signal can be destroyed",
        destroyed,
    ),
    case("queue.no_ring", "a queue without a ring does nothing until it has one", no_ring),
    case(
        "queue.kernel_stopped",
        "a queue can be stopped in a kernel, which then goes on",
        in_kernel,
    ),
    case("queue.kernel_destroyed", "a queue can be destroyed in a kernel", kernel_destroyed),
    case("queue.priorities", "queues of all priorities do their work", priorities),
    case("queue.mask", "workgroups run on the compute units that the queue may use", mask),
    case("queue.gws", "global wave sync belongs to one queue", gws),
];

fn again(subject: &Subject) -> Result {
    for _ in 0..20 {
        let mut queue = AqlQueue::new(subject, 64)?;
        let packet = queue.barrier([0; 5])?;
        queue.finish(packet)?;
    }
    equal("what could not be released", subject.device().process().quarantined(), 0)
}

fn many(subject: &Subject) -> Result {
    let mut queues = (0..24).map(|_| AqlQueue::new(subject, 64)).collect::<Result<Vec<_>>>()?;
    for _ in 0..3 {
        let packets =
            queues.iter_mut().map(|queue| queue.barrier([0; 5])).collect::<Result<Vec<_>>>()?;
        for (queue, packet) in queues.iter().zip(packets) {
            queue.finish(packet)?;
        }
    }
    Ok(())
}

fn stopped(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    let first = queue.barrier([0; 5])?;
    queue.finish(first)?;
    queue.kfd().update(0, 7)?;
    let second = queue.barrier([0; 5])?;
    std::thread::sleep(Duration::from_millis(50));
    equal("the signal while it is stopped", queue.signal(second)?, 1)?;
    queue.kfd().update(100, 7)?;
    queue.finish(second)
}

fn destroyed(subject: &Subject) -> Result {
    let signal = subject.memory(Kind::Shared, 4096)?;
    signal.set_qword(aql::signal::offset::VALUE, 1)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let packet = queue.barrier([signal.address(), 0, 0, 0, 0])?;
    std::thread::sleep(Duration::from_millis(20));
    if queue.signal(packet)? == 0 {
        return Err(Outcome::fail("it did not wait for its signal"));
    }
    drop(queue);
    equal("what could not be released", subject.device().process().quarantined(), 0)
}

fn no_ring(subject: &Subject) -> Result {
    let mut queue = AqlQueue::new(subject, 64)?;
    let first = queue.barrier([0; 5])?;
    queue.finish(first)?;
    queue.kfd().set_ring(None)?;
    let second = queue.barrier([0; 5])?;
    std::thread::sleep(Duration::from_millis(30));
    equal("the signal while it has no ring", queue.signal(second)?, 1)?;
    queue.kfd().set_ring(Some(queue.ring_memory().clone()))?;
    queue.finish(second)
}

/// A queue with a kernel in it that waits for the flag at the memory's start to be 5, and then stores that 64 bytes on.
fn waiting(subject: &Subject) -> Result<(AqlQueue, u64, crate::memory::Buffer)> {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let flags = subject.memory(Kind::Shared, 4096)?;
    let arguments = arguments![flags.address(), flags.address() + 64, 5u32];
    let packet = queue.launch(&code.kernel("answer"), 64, &arguments)?;
    queue.keep(code);
    std::thread::sleep(Duration::from_millis(10));
    Ok((queue, packet, flags))
}

fn in_kernel(subject: &Subject) -> Result {
    let (queue, packet, flags) = waiting(subject)?;
    queue.kfd().update(0, 7)?;
    flags.set_dword(0, 5)?;
    std::thread::sleep(Duration::from_millis(30));
    equal("the answer while it is stopped", flags.dword(64)?, 0)?;
    queue.kfd().update(100, 7)?;
    queue.finish(packet)?;
    equal("the answer", flags.dword(64)?, 5)
}

fn kernel_destroyed(subject: &Subject) -> Result {
    let (queue, packet, flags) = waiting(subject)?;
    equal("the kernel's signal", queue.signal(packet)?, 1)?;
    drop(queue);
    flags.set_dword(0, 5)?;
    std::thread::sleep(Duration::from_millis(10));
    equal("the answer of a queue that is gone", flags.dword(64)?, 0)?;
    equal("what could not be released", subject.device().process().quarantined(), 0)
}

fn priorities(subject: &Subject) -> Result {
    let mut queues = Vec::new();
    for priority in 0..=15 {
        let mut queue = AqlQueue::new(subject, 64)?;
        queue.kfd().update(100, priority)?;
        let packet = queue.barrier([0; 5])?;
        queues.push((queue, packet));
    }
    queues.iter().try_for_each(|(queue, packet)| queue.finish(*packet))?;
    let (queue, _) = &queues[0];
    match queue.kfd().update(100, 16) {
        Err(_) => Ok(()),
        Ok(()) => Err(Outcome::fail("priority 16 was accepted")),
    }
}

/// Where workgroups ran: the parts of HW_ID that name the compute unit, without the wave's slot.
fn places(subject: &Subject, queue: &mut AqlQueue, code: &Code) -> Result<Vec<u32>> {
    const GROUPS: u32 = 1024;
    // CU_ID 11:8, SH_ID 12, SE_ID 15:13; or WGP_ID 13:10, SA_ID 16, SE_ID 20:18.
    let unit = if subject.generation().has_wave32() { 0x001d_3c00 } else { 0xff00 };
    let out = subject.memory(Kind::Shared, u64::from(GROUPS) * 4)?;
    let packet = queue.launch(&code.kernel("place"), GROUPS * 64, &arguments![out.address()])?;
    queue.finish(packet)?;
    let mut seen = (0..GROUPS)
        .map(|group| Ok(out.dword(u64::from(group) * 4)? & unit))
        .collect::<Result<Vec<_>>>()?;
    seen.sort_unstable();
    seen.dedup();
    Ok(seen)
}

fn mask(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let all = places(subject, &mut queue, &code)?;
    let node = subject.device().node();
    let (units, xccs) = (node.compute_unit_count(), node.xcc_count());
    // Each pair alone, of the first few and the last. The bits of several XCCs take turns, and each gets its pair
    // (Linux kfd_mqd_manager.c, `mqd_symmetrically_map_cu_mask`).
    let bits = 2 * xccs;
    let pairs = units / bits;
    let mut others = Vec::new();
    for pair in [0, 1, 2, 3, pairs - 1] {
        let mut words = vec![0u32; units.div_ceil(32) as usize];
        for bit in pair * bits..(pair + 1) * bits {
            words[(bit / 32) as usize] |= 1 << (bit % 32);
        }
        queue.kfd().set_cu_mask(&words)?;
        let seen = places(subject, &mut queue, &code)?;
        let most = if subject.generation().has_wave32() { 1 } else { 2 };
        if seen.is_empty() || seen.len() > most || !seen.iter().all(|place| all.contains(place)) {
            let text = format!("pair {pair} of compute units is {seen:x?}; all are {all:x?}");
            return Err(Outcome::fail(text));
        }
        if others.contains(&seen) {
            return Err(Outcome::fail(format!("pair {pair} is where another one is: {seen:x?}")));
        }
        others.push(seen);
    }
    queue.kfd().set_cu_mask(&vec![u32::MAX; units.div_ceil(32) as usize])?;
    equal("the units of a full mask", places(subject, &mut queue, &code)?, all)
}

fn gws(subject: &Subject) -> Result {
    let (first, second) = (AqlQueue::new(subject, 64)?, AqlQueue::new(subject, 64)?);
    match first.kfd().set_global_wave_sync(1) {
        Err(error) if error.errno() == Some(Errno::ENODEV) => {
            return Err(Outcome::NotApplicable("the GPU has no global wave sync".to_owned()));
        }
        other => other?,
    }
    let again = second.kfd().set_global_wave_sync(1);
    equal("another queue's", again.err().and_then(|error| error.errno()), Some(Errno::EBUSY))?;
    first.kfd().set_global_wave_sync(0)?;
    second.kfd().set_global_wave_sync(1)?;
    drop(second);
    first.kfd().set_global_wave_sync(1)?;
    Ok(first.kfd().set_global_wave_sync(0)?)
}
