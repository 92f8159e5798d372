//! What waves find when they start, and what their atomics give back.

use super::{arguments, case};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::Kind;
use crate::pm4_queue::Pm4Queue;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use aql::PACKET_WORDS;

pub(super) const CASES: &[Case] = &[
    case("wave.lds", "a workgroup has all of its LDS, by AQL and by PM4", lds),
    case("wave.private", "waves of a workgroup have private memory of their own", private),
    case("wave.packet", "a kernel finds its packet by the dispatch pointer", packet),
    case("wave.number", "a kernel finds its packet's number", number),
    case("wave.arguments", "arguments of several widths arrive, in SGPRs too", preloaded),
    case("wave.denormals", "products of floats may be denormal, and are rounded", denormals),
    case("wave.tickets", "atomics of 32 and 64 bits give everyone another value", tickets),
    case("wave.operations", "atomics do what they say and give back what was there", operations),
    case("wave.interrupt", "a kernel's message sets an event of the host's", interrupt),
];

/// The kernel's LDS is 12 KiB, and each workgroup's data.
fn lds(subject: &Subject) -> Result {
    const DWORDS: u32 = 3072;
    const GROUPS: u32 = 16;
    let code = Code::load(subject)?;
    let kernel = code.kernel("turn");
    let turned = |i: u32| (i / DWORDS * DWORDS + (DWORDS - 1 - i % DWORDS)) ^ 0x5555_0000;
    let data = subject.memory(Kind::Shared, u64::from(DWORDS * GROUPS) * 4)?;
    data.fill(|i| i ^ 0x5555_0000)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let packet = queue.launch(&kernel, GROUPS * 64, &arguments![data.address()])?;
    queue.finish(packet)?;
    data.check("the data that an AQL packet's kernel turned", turned)?;
    data.fill(|i| i ^ 0x5555_0000)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    queue.launch(&kernel, GROUPS * 64, &arguments![data.address()])?;
    queue.finish()?;
    data.check("the data that a PM4 packet's kernel turned", turned)
}

fn private(subject: &Subject) -> Result {
    const ITEMS: u32 = 256 * 16;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::with_scratch(subject, 64)?;
    let data = subject.memory(Kind::Shared, u64::from(ITEMS) * 4)?;
    data.fill(|i| i % 160)?;
    let packet = queue.kernel(
        &code.kernel("keep"),
        [ITEMS, 1, 1],
        [256, 1, 1],
        &arguments![data.address()],
    )?;
    let index = queue.submit(&packet.encode())?;
    queue.finish(index)?;
    data.check("the data", |i| (i ^ 7 << 24) ^ (i ^ 155 << 24) << 1)
}

fn packet(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    // Round the ring, and more.
    for _ in 0..queue.slots() + 3 {
        let arguments = arguments![out.address()];
        let packet = queue.kernel(&code.kernel("self"), [64, 1, 1], [64, 1, 1], &arguments)?;
        let words = packet.encode();
        let index = queue.submit(&words)?;
        queue.finish(index)?;
        // The header may be another by the time the kernel looks.
        for (dword, &word) in words.iter().enumerate().skip(1) {
            let what = format!("dword {dword} of {PACKET_WORDS} of packet {index}");
            equal(&what, out.dword(4 * dword as u64)?, word)?;
        }
    }
    Ok(())
}

/// The number is the packet's index (HSA Programmer's Reference Manual, `packetid`; LLVM's AMDGPUUsage, Dispatch ID).
fn number(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    for _ in 0..queue.slots() + 3 {
        let index = queue.launch(&code.kernel("number"), 64, &arguments![out.address()])?;
        queue.finish(index)?;
        for lane in [0, 63] {
            equal(&format!("the number of packet {index}"), out.qword(8 * lane)?, index)?;
        }
    }
    Ok(())
}

/// Behind the last argument is something else.
fn preloaded(subject: &Subject) -> Result {
    const ITEMS: u32 = 128;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    for (narrow, wide, half) in [(1u32, 2u64, 3u16), (0x8765_4321, 0x1234_5678_9abc_def0, 0xfedc)] {
        let arguments = arguments![out.address(), narrow, 0u32, wide, half, 0xabcdu16];
        let packet = queue.launch(&code.kernel("preloaded"), ITEMS, &arguments)?;
        queue.finish(packet)?;
        for item in 0..u64::from(ITEMS) {
            let at = 24 * item;
            let got = [out.qword(at)?, out.qword(at + 8)?, out.qword(at + 16)?];
            equal(
                &format!("arguments of work-item {item}"),
                got,
                [narrow.into(), wide, half.into()],
            )?;
        }
    }
    Ok(())
}

/// Pairs of floats: normal and denormal ones, and such whose products are denormal or halfway between two floats.
const PAIRS: [(u32, u32); 8] = [
    (0x3f80_0001, 0x3f80_0001),
    (0x0080_0000, 0x3f00_0000),
    (0x0080_0001, 0x3f00_0000),
    (0x0000_0003, 0x3f00_0000),
    (0x0040_0000, 0x4000_0000),
    (0x8000_0001, 0x4b80_0000),
    (0x3f80_0003, 0x3fc0_0000),
    (0x3eaa_aaab, 0x4040_0000),
];

/// The same of 64 bits.
const WIDE_PAIRS: [(u64, u64); 8] = [
    (0x3ff0_0000_0000_0001, 0x3ff0_0000_0000_0001),
    (0x0010_0000_0000_0000, 0x3fe0_0000_0000_0000),
    (0x0010_0000_0000_0001, 0x3fe0_0000_0000_0000),
    (0x0000_0000_0000_0003, 0x3fe0_0000_0000_0000),
    (0x0008_0000_0000_0000, 0x4000_0000_0000_0000),
    (0x8000_0000_0000_0001, 0x4340_0000_0000_0000),
    (0x3ff0_0000_0000_0003, 0x3ff8_0000_0000_0000),
    (0x3fd5_5555_5555_5555, 0x4008_0000_0000_0000),
];

/// The kernel is compiled for floats as IEEE 754 has them: nothing is flushed, ties go to even.
fn denormals(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let (narrow, wide) = (subject.memory(Kind::Shared, 4096)?, subject.memory(Kind::Shared, 4096)?);
    for (i, (a, b)) in (0u64..).zip(PAIRS) {
        narrow.set_dword(8 * i, a)?;
        narrow.set_dword(8 * i + 4, b)?;
    }
    for (i, (a, b)) in (0u64..).zip(WIDE_PAIRS) {
        wide.set_qword(16 * i, a)?;
        wide.set_qword(16 * i + 8, b)?;
    }
    let arguments = arguments![narrow.address(), wide.address()];
    let packet = queue.launch(&code.kernel("product"), 64, &arguments)?;
    queue.finish(packet)?;
    for (i, (a, b)) in (0u64..).zip(PAIRS) {
        let expected = (f32::from_bits(a) * f32::from_bits(b)).to_bits();
        equal(&format!("{a:#x} times {b:#x}"), narrow.dword(8 * i)?, expected)?;
    }
    for (i, (a, b)) in (0u64..).zip(WIDE_PAIRS) {
        let expected = (f64::from_bits(a) * f64::from_bits(b)).to_bits();
        equal(&format!("{a:#x} times {b:#x}"), wide.qword(16 * i)?, expected)?;
    }
    Ok(())
}

fn tickets(subject: &Subject) -> Result {
    const ITEMS: u32 = 1 << 13;
    // The counter's lower half overflows on the way.
    const FIRST: u64 = (7 << 32) - 1000;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let counters = subject.memory(Kind::Shared, 4096)?;
    let out = subject.memory(Kind::Shared, u64::from(ITEMS) * 8)?;
    counters.set_qword(64, FIRST)?;
    let (narrow, wide) = (counters.address(), counters.address() + 64);
    let arguments = arguments![narrow, wide, FIRST, out.address(), ITEMS];
    let packet = queue.launch(&code.kernel("tickets"), ITEMS, &arguments)?;
    queue.finish(packet)?;
    equal("the counter of 32 bits", counters.dword(0)?, ITEMS)?;
    equal("the counter of 64 bits", counters.qword(64)?, FIRST + u64::from(ITEMS))?;
    for (bits, first) in [(32, 0), (64, ITEMS)] {
        let signed = (first..first + ITEMS).map(|i| out.dword(u64::from(i) * 4));
        let mut signed = signed.collect::<Result<Vec<_>>>()?;
        signed.sort_unstable();
        if let Some((i, &got)) = (1u32..).zip(&signed).find(|&(i, &got)| i != got) {
            let text = format!("tickets of {bits} bits: {got} instead of {i} among who has one");
            return Err(Outcome::fail(text));
        }
    }
    Ok(())
}

/// Most operands differ in their sign, so that signed comparisons show.
fn operations(subject: &Subject) -> Result {
    const OPERAND: u32 = 0x8000_0f05;
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let (cells, old) = (memory.address(), memory.address() + 2048);
    for comparand in [0x0123_4567, 0x7654_3210] {
        let start: [u32; 8] = std::array::from_fn(|i| 0x7654_3210 + 0x0101 * i as u32);
        let [a, b, c, d, e, f, ..] = start;
        let swapped = if start[7] == comparand + 0x0707 { OPERAND } else { start[7] };
        let expected = [
            a.wrapping_sub(OPERAND),
            b & OPERAND,
            c | OPERAND,
            d ^ OPERAND,
            e.max(OPERAND),
            f.min(OPERAND),
            OPERAND,
            swapped,
        ];
        for (at, value) in (0u64..).step_by(4).zip(start) {
            memory.set_dword(at, value)?;
            memory.set_dword(2048 + at, 0)?;
        }
        let arguments = arguments![cells, old, OPERAND, comparand + 0x0707u32];
        let packet = queue.launch(&code.kernel("operations"), 64, &arguments)?;
        queue.finish(packet)?;
        let row = |from: u64| -> Result<Vec<u32>> {
            (0..8).map(|i| memory.dword(from + 4 * i)).collect()
        };
        equal("what the operations left", row(0)?, expected.to_vec())?;
        equal("what they gave back", row(2048)?, start.to_vec())?;
    }
    Ok(())
}

fn interrupt(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = AqlQueue::new(subject, 64)?;
    let event = subject.event()?;
    let mailbox = event.mailbox().unwrap_or(0);
    for round in 0..10 {
        let arguments = arguments![mailbox, event.id()];
        let packet = queue.launch(&code.kernel("interrupt"), 64, &arguments)?;
        let what = format!("message {round}");
        subject.wait_for(&what, std::slice::from_ref(&event), || Ok(true))?;
        queue.finish(packet)?;
    }
    Ok(())
}
