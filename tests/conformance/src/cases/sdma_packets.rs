//! SDMA packets, and the ring that they are in.

use super::{arguments, case};
use crate::aql_queue::AqlQueue;
use crate::kernels::Code;
use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::subject::eventually;
use crate::{Case, Result, Subject};
use sdma::packet::{Atomic, AtomicOp, CondExe, CopyBroadcastLinear, PollFunction, WriteUntiled};
use sdma::sequence;
use sdma::split::Pattern;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("sdma.ring", "packets are taken round the ring, and the read pointer counts bytes", ring),
    case("sdma.ring_end", "a packet that the ring's end cuts goes on at its start", ring_end),
    case(
        "sdma.doorbell",
        "a queue waits for the dwords that its write pointer does not tell of",
        doorbell,
    ),
    case("sdma.fence", "fences arrive in order", fence),
    case("sdma.fence_64", "a fence of 64 bits is two of 32", fence_64),
    case("sdma.interrupt", "a trap sets its event when the fence before it is there", interrupt),
    case("sdma.stopped", "a queue of no percentage takes nothing until it has some again", stopped),
    case(
        "sdma.copy",
        "bytes of any number are copied from and to any place, and none beside them",
        copy,
    ),
    case("sdma.large_copy", "a copy of several packets is whole", large_copy),
    case("sdma.broadcast", "one packet copies to two places", broadcast),
    case("sdma.vram", "copies reach the GPU's own memory, to and fro", vram),
    case("sdma.fill", "bytes and dwords are filled, and none beside them", fill),
    case("sdma.write", "as many dwords are written as the packet has", write),
    case("sdma.poll", "a poll ends at its comparison, under its mask, and not before", poll),
    case("sdma.atomic", "atomics of 32 and 64 bits", atomic),
    case(
        "sdma.condition",
        "packets behind a condition that does not hold are skipped, and no more",
        condition,
    ),
    case(
        "sdma.indirect",
        "packets of an indirect buffer are taken before what follows it",
        indirect,
    ),
    case("sdma.time", "time stamps go up", time),
    case(
        "sdma.drain",
        "a copy sees what one before it wrote, with a fence and a poll between them",
        drain,
    ),
    case("sdma.queues", "several queues copy side by side", queues),
    case("sdma.kernel", "a kernel sees what was copied, and a copy what the kernel stored", kernel),
];

fn ring(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    for round in 0..40u32 {
        queue.run(|to| sequence::nops(to, 150 + round as usize * 7))?;
        let end = queue.written() * 4;
        eventually("the read pointer at the end", || Ok(queue.read_pointer()? == end))?;
    }
    Ok(())
}

/// Linux's own rings have it so: `amdgpu_ring_write` masks every dword's index (amdgpu_ring.h).
fn ring_end(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    for before_end in 1..=12u64 {
        queue.advance_to(before_end)?;
        let values: [u32; 8] = std::array::from_fn(|i| (before_end as u32) << 8 | i as u32);
        let packet = WriteUntiled { dst_addr: out.address(), count: 8, ..WriteUntiled::ZERO };
        let words = queue.packets(|to| {
            to.push_with(&packet, &values)?;
            sequence::pad_submission(to)
        })?;
        queue.place_across(&words)?;
        queue.ring_doorbell()?;
        queue.run(|_| Ok(()))?;
        for (i, value) in (0u64..).zip(values) {
            let what = format!("dword {i} of a packet {before_end} dwords before the end");
            equal(&what, out.dword(4 * i)?, value)?;
        }
    }
    Ok(())
}

fn doorbell(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    queue.run(|_| Ok(()))?;
    let words = queue.packets(|to| {
        sequence::fence(to, out.address(), 7)?;
        sequence::pad_submission(to)
    })?;
    queue.place(&words)?;
    std::thread::sleep(Duration::from_millis(20));
    equal("what a packet writes that nobody has told of", out.dword(0)?, 0)?;
    queue.ring_doorbell()?;
    eventually("the packet after its doorbell", || Ok(out.dword(0)? == 7))
}

fn fence(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let mut last = 0;
    for _ in 0..200 {
        last = queue.fence_behind(|_| Ok(()))?;
        let arrived = queue.fenced()?;
        if arrived > last {
            return Err(Outcome::fail(format!("fence {arrived} arrived before it was submitted")));
        }
    }
    queue.wait(last)?;
    equal("the last fence", queue.fenced()?, last)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    for at in [64u64, 68] {
        out.fill(|_| 0xeeee_eeee)?;
        queue.run(|to| sequence::fence(to, out.address() + at, 7))?;
        let expected = |i| if u64::from(i) * 4 == at { 7 } else { 0xeeee_eeee };
        out.check(&format!("a fence at {at}"), expected)?;
    }
    Ok(())
}

fn fence_64(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    queue.run(|to| sequence::fence_64(to, out.address() + 8, 0x0123_4567_89ab_cdef))?;
    out.check("the memory around", |i| match i {
        2 => 0x89ab_cdef,
        3 => 0x0123_4567,
        _ => 0,
    })
}

fn interrupt(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    (0..20).try_for_each(|_| queue.finish_by_event(subject))
}

fn stopped(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    queue.run(|_| Ok(()))?;
    queue.kfd().update(0, 7)?;
    let fence = queue.fence_behind(|_| Ok(()))?;
    std::thread::sleep(Duration::from_millis(30));
    equal("the last fence while it is stopped", queue.fenced()?, fence - 1)?;
    queue.kfd().update(100, 7)?;
    queue.wait(fence)
}

/// A byte that tells its place.
fn sample(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b1) >> 7) as u8
}

fn samples(buffer: &Buffer) -> Result {
    buffer.fill(|i| {
        let at = u64::from(i) * 4;
        u32::from_le_bytes(std::array::from_fn(|k| sample(at + k as u64)))
    })
}

fn byte(buffer: &Buffer, at: u64) -> Result<u8> {
    Ok(buffer.dword(at & !3)?.to_le_bytes()[(at & 3) as usize])
}

/// Checks that `bytes` bytes from `source` of a sample are at `target`, and nothing else but zeros around them.
fn check_copy(to: &Buffer, source: u64, target: u64, bytes: u64) -> Result {
    let around = target.saturating_sub(16)..target + bytes + 16;
    for at in around {
        let inside = at >= target && at < target + bytes;
        let expected = if inside { sample(at - target + source) } else { 0 };
        equal(&format!("byte {at} of {bytes} from {source} to {target}"), byte(to, at)?, expected)?;
    }
    Ok(())
}

fn copy(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let from = subject.memory(Kind::Shared, 8192)?;
    samples(&from)?;
    for bytes in (1..=70u64).chain([127, 255, 1000, 4001]) {
        let to = subject.memory(Kind::Shared, 8192)?;
        let (source, target) = (bytes * 5 % 64, 64 + bytes * 7 % 64);
        let (src, dst) = (from.address() + source, to.address() + target);
        queue.run(|packets| sequence::copy(packets, src, dst, bytes))?;
        check_copy(&to, source, target, bytes)?;
    }
    for source in 0..8 {
        for target in 64..72 {
            let to = subject.memory(Kind::Shared, 4096)?;
            let (src, dst) = (from.address() + source, to.address() + target);
            queue.run(|packets| sequence::copy(packets, src, dst, 37))?;
            check_copy(&to, source, target, 37)?;
        }
    }
    Ok(())
}

fn large_copy(subject: &Subject) -> Result {
    const BYTES: u64 = 9 << 20;
    let mut queue = SdmaQueue::new(subject)?;
    let (from, to) = (subject.memory(Kind::Cached, BYTES)?, subject.memory(Kind::Cached, BYTES)?);
    from.fill(|i| i.wrapping_mul(0x0019_660d) ^ 0x3c6e_f35f)?;
    queue.run(|packets| sequence::copy(packets, from.address(), to.address(), BYTES))?;
    to.check("the copy", |i| i.wrapping_mul(0x0019_660d) ^ 0x3c6e_f35f)
}

fn broadcast(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let from = subject.memory(Kind::Shared, 8192)?;
    samples(&from)?;
    for bytes in [4u32, 64, 4096] {
        let to = [subject.memory(Kind::Shared, 8192)?, subject.memory(Kind::Shared, 8192)?];
        let packet = CopyBroadcastLinear {
            count: bytes,
            src_addr: from.address() + 64,
            dst1_addr: to[0].address() + 128,
            dst2_addr: to[1].address() + 256,
            ..CopyBroadcastLinear::ZERO
        };
        queue.run(|packets| Ok(packets.push(&packet)?))?;
        check_copy(&to[0], 64, 128, bytes.into())?;
        check_copy(&to[1], 64, 256, bytes.into())?;
    }
    Ok(())
}

fn vram(subject: &Subject) -> Result {
    const BYTES: u64 = 1 << 20;
    let mut queue = SdmaQueue::new(subject)?;
    let from = subject.memory(Kind::Shared, BYTES)?;
    let (local, back) = (subject.memory(Kind::Vram, BYTES)?, subject.memory(Kind::Shared, BYTES)?);
    from.fill(|i| !i)?;
    queue.run(|to| sequence::copy(to, from.address(), local.address(), BYTES))?;
    queue.run(|to| sequence::copy(to, local.address(), back.address(), BYTES))?;
    back.check("what came back", |i| !i)?;
    local.check("the GPU's memory", |i| !i)
}

fn fill(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    for bytes in [1u64, 2, 3, 4, 5, 31, 64, 100, 4096, 5000] {
        for start in [64u64, 65, 67] {
            let to = subject.memory(Kind::Shared, 8192)?;
            let address = to.address() + start;
            queue.run(|packets| sequence::fill(packets, address, bytes, Pattern::Byte(0xa7)))?;
            for at in start - 16..start + bytes + 16 {
                let inside = at >= start && at < start + bytes;
                let expected = if inside { 0xa7 } else { 0 };
                equal(&format!("byte {at} of {bytes} from {start}"), byte(&to, at)?, expected)?;
            }
        }
    }
    let to = subject.memory(Kind::Shared, 1 << 20)?;
    queue.run(|packets| {
        sequence::fill(packets, to.address() + 8, (1 << 20) - 16, Pattern::Dword(0x1234_5678))
    })?;
    let last = (1 << 18) - 2;
    to.check("the fill of dwords", |i| if i < 2 || i >= last { 0 } else { 0x1234_5678 })
}

fn write(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    for count in [1u32, 2, 3, 17, 255] {
        let out = subject.memory(Kind::Shared, 4096)?;
        let values: Vec<u32> = (0..count).map(|i| i ^ 0xa5a5_0000).collect();
        let packet = WriteUntiled { dst_addr: out.address() + 8, count, ..WriteUntiled::ZERO };
        queue.run(|to| Ok(to.push_with(&packet, &values)?))?;
        out.check(&format!("{count} dwords"), |i| match i.checked_sub(2) {
            Some(i) if i < count => i ^ 0xa5a5_0000,
            _ => 0,
        })?;
    }
    Ok(())
}

fn poll(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let cell = subject.memory(Kind::Shared, 4096)?;
    // Function, reference, mask, a value that does not do, one that does.
    for (function, reference, mask, before, after) in [
        (PollFunction::LESS_THAN_REF_VALUE, 10, u32::MAX, 10, 9),
        (PollFunction::LESS_THAN_EQUAL_TO_THE_REF_VALUE, 10, u32::MAX, 11, 10),
        (PollFunction::EQUAL_TO_THE_REFERENCE_VALUE, 10, u32::MAX, 9, 10),
        (PollFunction::EQUAL_TO_THE_REFERENCE_VALUE, 0x20, 0xf0, 0x3f, 0x52f),
        (PollFunction::NOT_EQUAL_REFERENCE_VALUE, 10, u32::MAX, 10, 11),
        (PollFunction::GREATER_THAN_OR_EQUAL_REFERENCE_VALUE, 10, u32::MAX, 9, 10),
        (PollFunction::GREATER_THAN_REFERENCE_VALUE, 10, u32::MAX, 10, 0xffff_ffff),
    ] {
        cell.set_dword(0, before)?;
        let address = cell.address();
        let fence =
            queue.fence_behind(|to| sequence::poll(to, address, function, reference, mask))?;
        std::thread::sleep(Duration::from_millis(3));
        equal(
            &format!("the fence behind {function} {reference} at {before}"),
            queue.fenced()?,
            fence - 1,
        )?;
        cell.set_dword(0, after)?;
        queue.wait(fence)?;
    }
    Ok(())
}

fn atomic(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    memory.set_qword(0, 1 << 32)?;
    queue.run(|to| sequence::decrement(to, memory.address()))?;
    equal("2^32, less one", memory.qword(0)?, 0xffff_ffff)?;
    for (atomic_op, old, operand, new) in [
        (AtomicOp::ADD_RTN_32, 0xffff_ffff, 3, 2),
        (AtomicOp::OR_RTN_32, 0x0f, 0xf0, 0xff),
        (AtomicOp::SWAP_RTN_32, 1, 2, 2),
        (AtomicOp::ADD_RTN_64, 0xffff_ffff, 1, 0x1_0000_0000),
    ] {
        memory.set_qword(0, old)?;
        let packet =
            Atomic { atomic_op, addr: memory.address(), src_data: operand, ..Atomic::ZERO };
        queue.run(|to| Ok(to.push(&packet)?))?;
        equal(&packet.to_string(), memory.qword(0)?, new)?;
    }
    for (atomic_op, old, new) in [
        (AtomicOp::CMPSWAP_RTN_32, 5, 9),
        (AtomicOp::CMPSWAP_RTN_32, 6, 6),
        (AtomicOp::CMPSWAP_RTN_64, 5, 9),
        (AtomicOp::CMPSWAP_RTN_64, 5 | 1 << 40, 5 | 1 << 40),
    ] {
        memory.set_qword(0, old)?;
        let addr = memory.address();
        let packet = Atomic { atomic_op, addr, src_data: 9, cmp_data: 5, ..Atomic::ZERO };
        queue.run(|to| Ok(to.push(&packet)?))?;
        equal(&format!("{packet} at {old:#x}"), memory.qword(0)?, new)?;
    }
    Ok(())
}

/// With the values that Linux uses (`sdma_v6_0_ring_init_cond_exec`): what others do is not published.
fn condition(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let (flag, out) = (memory.address(), memory.address() + 64);
    for (value, expected) in [(1u32, [1, 2]), (0, [0, 2]), (1, [1, 2])] {
        memory.set_dword(0, value)?;
        memory.set_qword(64, 0)?;
        let skipped = queue.packets(|to| sequence::fence(to, out, 1))?.len() as u16;
        queue.run(|to| {
            to.push(&CondExe { addr: flag, reference: 1, exec_count: skipped, ..CondExe::ZERO })?;
            sequence::fence(to, out, 1)?;
            sequence::fence(to, out + 4, 2)
        })?;
        equal(
            &format!("what is written at {value}"),
            [memory.dword(64)?, memory.dword(68)?],
            expected,
        )?;
    }
    Ok(())
}

fn indirect(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let (buffer, out) = (subject.memory(Kind::Shared, 8192)?, subject.memory(Kind::Shared, 4096)?);
    for round in 1..10u32 {
        let words = queue.packets(|to| {
            // The last of them are longer than 255 dwords.
            sequence::nops(to, round as usize * 100)?;
            sequence::fence(to, out.address(), round)?;
            sequence::fence(to, out.address() + 4, round)?;
            sequence::pad(to, 8)
        })?;
        for (at, &word) in (0..).step_by(4).zip(&words) {
            buffer.set_dword(at, word)?;
        }
        // The packets before it in the same submission are some, too.
        queue.run(|_| Ok(()))?;
        let place = queue.written();
        let packets = queue.packets(|to| {
            sequence::indirect(to, place, buffer.address(), words.len() as u32)?;
            sequence::fence(to, out.address() + 4, !round)?;
            sequence::pad_submission(to)
        })?;
        queue.place(&packets)?;
        queue.ring_doorbell()?;
        queue.run(|_| Ok(()))?;
        let got = [out.dword(0)?, out.dword(4)?];
        equal("what the buffer and the packet behind it wrote", got, [round, !round])?;
    }
    Ok(())
}

fn time(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let mut before = subject.device().clock_counters()?.gpu;
    for _ in 0..10 {
        queue.run(|to| sequence::timestamp(to, memory.address()))?;
        let (seen, after) = (memory.qword(0)?, subject.device().clock_counters()?.gpu);
        if seen < before || seen > after {
            return Err(Outcome::fail(format!("{seen} is not from {before} to {after}")));
        }
        before = seen;
    }
    Ok(())
}

fn drain(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let memory = subject.memory(Kind::Shared, 3 << 16)?;
    let cell = subject.memory(Kind::Shared, 4096)?;
    let (a, b, c) = (memory.address(), memory.address() + (1 << 16), memory.address() + (2 << 16));
    for round in 1..20u32 {
        memory.fill(|i| if i < 1 << 14 { i ^ (round << 20) } else { 0 })?;
        queue.run(|to| {
            sequence::copy(to, a, b, 1 << 16)?;
            sequence::drain(to, cell.address(), round)?;
            sequence::copy(to, b, c, 1 << 16)
        })?;
        memory.check("the copies", |i| (i % (1 << 14)) ^ (round << 20))?;
    }
    Ok(())
}

fn queues(subject: &Subject) -> Result {
    const BYTES: u64 = 1 << 18;
    let mut queues = (0..2).map(|_| SdmaQueue::new(subject)).collect::<Result<Vec<_>>>()?;
    let from = subject.memory(Kind::Shared, BYTES)?;
    from.fill(|i| i)?;
    let targets =
        (0..2).map(|_| subject.memory(Kind::Shared, BYTES)).collect::<Result<Vec<_>>>()?;
    let mut fences = Vec::new();
    for (queue, to) in queues.iter_mut().zip(&targets) {
        fences.push(queue.fence_behind(|packets| {
            sequence::copy(packets, from.address(), to.address(), BYTES)
        })?);
    }
    for ((queue, to), fence) in queues.iter().zip(&targets).zip(fences) {
        queue.wait(fence)?;
        to.check("the copy", |i| i)?;
    }
    Ok(())
}

fn kernel(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let (mut compute, mut copies) = (AqlQueue::new(subject, 64)?, SdmaQueue::new(subject)?);
    let (data, out) = (subject.memory(Kind::Cached, 4096)?, subject.memory(Kind::Shared, 4096)?);
    let back = subject.memory(Kind::Shared, 4096)?;
    for round in 1..20u32 {
        copies.run(|to| sequence::fill(to, data.address(), 4096, Pattern::Dword(round)))?;
        let arguments = arguments![data.address(), out.address(), round, !round];
        let packet = compute.launch(&code.kernel("see"), 1024, &arguments)?;
        compute.finish(packet)?;
        copies.run(|to| sequence::copy(to, out.address(), back.address(), 4096))?;
        back.check(&format!("round {round}"), |_| !round)?;
    }
    Ok(())
}
