//! Kernels, dispatched by AQL packets.

use super::{arguments, case};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case(
        "dispatch.store",
        "every work-item of a grid runs once, and the host sees its store",
        store,
    ),
    case("dispatch.partial", "the last workgroup of a grid may be partial", partial),
    case("dispatch.vram", "kernels reach the GPU's own memory", vram),
    case("dispatch.bytes", "bytes are copied at any offset, and none beside them change", bytes),
    case("dispatch.geometry", "ids of workgroups and work-items in three dimensions", geometry),
    case("dispatch.lds", "work-items of a group exchange values by LDS and a barrier", lds),
    case("dispatch.scratch", "every work-item has private memory of its own", scratch),
    case(
        "dispatch.atomics",
        "atomics of many workgroups to the host's memory lose nothing",
        atomics,
    ),
    case("dispatch.acquire", "a dispatch sees what the host stored before its doorbell", acquire),
    case(
        "dispatch.barrier_bit",
        "a packet with the barrier bit sees the stores of those before it",
        barrier_bit,
    ),
    case(
        "dispatch.host_flag",
        "a running kernel sees the host's store, and the host the kernel's",
        host_flag,
    ),
    case("dispatch.side_by_side", "kernels of two queues run at the same time", side_by_side),
    case("dispatch.lanes", "waves have the lanes that the kernel was compiled for", lanes),
    case("dispatch.times", "a kernel's start and end enclose it", times),
];

fn store(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    for items in [1u32, 63, 64, 65, 1000, 1 << 16] {
        let out = subject.memory(Kind::Shared, u64::from(items) * 4)?;
        let items_in_groups = items.next_multiple_of(64);
        let arguments = arguments![out.address(), 0x1234_0000u32, items];
        let packet = queue.launch(&code.kernel("store"), items_in_groups, &arguments)?;
        queue.finish(packet)?;
        out.check("the output", |i| if i < items { 0x1234_0000 + i } else { 0 })?;
    }
    Ok(())
}

/// The kernel would store to 128 dwords.
fn partial(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    for items in [1u32, 33, 64, 65, 100, 127] {
        let out = subject.memory(Kind::Shared, 4096)?;
        let packet =
            queue.launch(&code.kernel("store"), items, &arguments![out.address(), 7u32, 128u32])?;
        queue.finish(packet)?;
        out.check("the output", |i| if i < items { 7 + i } else { 0 })?;
    }
    Ok(())
}

fn vram(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Vram, 1 << 20)?;
    let arguments = arguments![out.address(), 0xfeed_0000u32, 1u32 << 18];
    let packet = queue.launch(&code.kernel("fill"), 1 << 18, &arguments)?;
    queue.finish(packet)?;
    out.check("the GPU's memory", |_| 0xfeed_0000)
}

fn bytes(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let from = subject.memory(Kind::Shared, 4096)?;
    from.fill(|i| i.wrapping_mul(0x0403_0201).wrapping_add(0x1357_9bdf))?;
    let byte =
        |at: u64| -> Result<u8> { Ok(from.dword(at & !3)?.to_le_bytes()[(at & 3) as usize]) };
    for (source, target, length) in
        [(0u64, 1u64, 1u32), (3, 2, 5), (1, 7, 64), (17, 30, 200), (5, 5, 1021)]
    {
        let to = subject.memory(Kind::Shared, 4096)?;
        let arguments = arguments![to.address() + target, from.address() + source, length];
        let packet = queue.launch(&code.kernel("copy"), length.next_multiple_of(64), &arguments)?;
        queue.finish(packet)?;
        for at in 0..2048u64 {
            let inside = at >= target && at < target + u64::from(length);
            let expected = if inside { byte(at - target + source)? } else { 0 };
            let got = to.dword(at & !3)?.to_le_bytes()[(at & 3) as usize];
            equal(&format!("byte {at} of {length} from {source} to {target}"), got, expected)?;
        }
    }
    Ok(())
}

fn geometry(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let [width, height, depth] = [12u32, 7, 9];
    let out = subject.memory(Kind::Shared, u64::from(width * height * depth) * 4)?;
    let arguments = arguments![out.address(), width, height];
    let packet =
        queue.kernel(&code.kernel("ids"), [width, height, depth], [4, 4, 4], &arguments)?;
    let index = queue.submit(&packet.encode())?;
    queue.finish(index)?;
    out.check("the ids", |i| {
        let (x, y, z) = (i % width, i / width % height, i / (width * height));
        if z < depth { x | y << 8 | z << 16 | (x % 4) << 24 } else { 0 }
    })
}

fn lds(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let data = subject.memory(Kind::Shared, 64 * 64 * 4)?;
    data.fill(|i| i ^ 0x5555_0000)?;
    let packet = queue.launch(&code.kernel("reverse"), 64 * 64, &arguments![data.address()])?;
    queue.finish(packet)?;
    data.check("the data", |i| (i ^ 63) ^ 0x5555_0000)
}

/// Inputs of kernel `mix` and what the same source makes of them on x86-64 (`kernels/build.py`).
fn mixed() -> Vec<[u32; 2]> {
    let text = include_str!("../../kernels/images/mix.words");
    let word = |hex: &str| u32::from_str_radix(hex.trim_start_matches("0x"), 16).expect("a dword");
    let pair = |line: &str| line.split_once(' ').map(|(before, after)| [word(before), word(after)]);
    text.lines().map(|line| pair(line).expect("two dwords")).collect()
}

fn scratch(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::with_scratch(subject, 64)?;
    let pairs = mixed();
    let pair = |i: u32| pairs[i as usize % pairs.len()];
    let data = subject.memory(Kind::Shared, 4096 * 4)?;
    data.fill(|i| pair(i)[0])?;
    let packet = queue.launch(&code.kernel("mix"), 4096, &arguments![data.address()])?;
    queue.finish(packet)?;
    data.check("the data", |i| pair(i)[1])
}

fn atomics(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let counter = subject.memory(Kind::Shared, 4096)?;
    let items = 1u32 << 14;
    // The sum overflows 32 bits.
    let first = 0xffff_0000;
    counter.set_qword(0, first)?;
    let packet = queue.launch(&code.kernel("add"), items, &arguments![counter.address()])?;
    queue.finish(packet)?;
    equal("the sum", counter.qword(0)?, first + u64::from(items) * u64::from(items - 1) / 2)
}

fn acquire(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    for kind in [Kind::Shared, Kind::Cached] {
        let flag = subject.memory(kind, 4096)?;
        for round in 1..20u32 {
            flag.fill(|_| round)?;
            let arguments = arguments![flag.address(), out.address(), round, !round];
            let packet = queue.launch(&code.kernel("see"), 1024, &arguments)?;
            queue.finish(packet)?;
            out.check(&format!("round {round} of {kind:?} memory"), |_| !round)?;
        }
    }
    Ok(())
}

fn barrier_bit(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let (flag, out) = (subject.memory(Kind::Cached, 4096)?, subject.memory(Kind::Shared, 4096)?);
    for round in 1..20u32 {
        queue.launch(&code.kernel("fill"), 1024, &arguments![flag.address(), round, 1024u32])?;
        let arguments = arguments![flag.address(), out.address(), round, !round];
        let packet = queue.launch(&code.kernel("see"), 1024, &arguments)?;
        queue.finish(packet)?;
        out.check(&format!("round {round}"), |_| !round)?;
    }
    Ok(())
}

fn host_flag(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let flags = subject.memory(Kind::Shared, 4096)?;
    let arguments = arguments![flags.address(), flags.address() + 64, 5u32];
    let packet = queue.launch(&code.kernel("answer"), 64, &arguments)?;
    std::thread::sleep(Duration::from_millis(10));
    equal("the answer before the question", flags.dword(64)?, 0)?;
    equal("the kernel's signal", queue.signal(packet)?, 1)?;
    flags.set_dword(0, 5)?;
    queue.finish(packet)?;
    equal("the answer", flags.dword(64)?, 5)
}

/// Each waits for the other.
fn side_by_side(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let (mut first, mut second) = (AqlQueue::new(subject, 64)?, AqlQueue::new(subject, 64)?);
    let flags = subject.memory(Kind::Shared, 4096)?;
    let (question, middle, end) = (flags.address(), flags.address() + 64, flags.address() + 128);
    let a = first.launch(&code.kernel("answer"), 64, &arguments![middle, end, 3u32])?;
    let b = second.launch(&code.kernel("answer"), 64, &arguments![question, middle, 3u32])?;
    flags.set_dword(0, 3)?;
    first.finish(a)?;
    second.finish(b)?;
    equal("the last flag", flags.dword(128)?, 3)
}

fn lanes(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    let packet = queue.launch(&code.kernel("lanes"), 1024, &arguments![out.address()])?;
    queue.finish(packet)?;
    // clang's default for each target.
    let expected = if subject.generation().has_wave32() { 32 } else { 64 };
    out.check("the lanes", |_| expected)
}

fn times(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let clock = || subject.device().clock_counters();
    let flags = subject.memory(Kind::Shared, 4096)?;
    let mut wrong = String::new();
    // Nothing tells when a kernel has started: it is given ever longer.
    for (round, pause) in (1u32..).zip([10, 100, 1000]) {
        let before = clock()?.gpu;
        let arguments = arguments![flags.address(), flags.address() + 64, round];
        let packet = queue.launch(&code.kernel("answer"), 64, &arguments)?;
        std::thread::sleep(Duration::from_millis(pause));
        let meanwhile = clock()?.gpu;
        flags.set_dword(0, round)?;
        queue.finish(packet)?;
        let after = clock()?.gpu;
        let (start, end) = queue.times(packet)?;
        if before <= start && start <= meanwhile && meanwhile <= end && end <= after {
            return Ok(());
        }
        wrong = format!("{start} to {end}, but the clock was {before}, {meanwhile}, {after}");
        if !(before <= start && meanwhile <= end && end <= after) {
            break;
        }
    }
    Err(Outcome::fail(wrong))
}
