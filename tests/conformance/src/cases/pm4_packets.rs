//! PM4 packets, and the ring that they are in.

use super::case;
use crate::memory::Kind;
use crate::pm4_queue::Pm4Queue;
use crate::report::{Outcome, equal};
use crate::subject::eventually;
use crate::{Case, Result, Subject};
use pm4::Header;
use pm4::packet::{
    AtomicMem, AtomicOp, Compare, CondExec, CondWrite, CopyData, CopyDestination, CopySource,
    DataSelect, DmaData, InterruptSelect, PollSpace, ReleaseMem, WaitRegMem, WriteData, WriteSpace,
};
use pm4::sequence::{self, Scope};
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("pm4.ring", "packets are taken round the ring, whole where its end cuts them", ring),
    case(
        "pm4.read_pointer",
        "the read pointer follows what was taken, in dwords of the ring",
        read_pointer,
    ),
    case("pm4.doorbell", "nothing is taken beyond the doorbell's dword", doorbell),
    case("pm4.fence", "fences arrive in order, each of 64 bits", fence),
    case("pm4.interrupt", "a fence's interrupt sets its event when the value is there", interrupt),
    case("pm4.stopped", "a queue of no percentage takes nothing until it has some again", stopped),
    case("pm4.wait", "a wait ends at its comparison, of 32 and 64 bits, and not before", wait),
    case("pm4.write", "as many dwords are written as the packet has", write),
    case("pm4.copy", "dwords, pairs, constants and the clock are copied to memory", copy),
    case("pm4.atomic", "atomics of 32 and 64 bits", atomic),
    case("pm4.condition", "packets behind a condition of zero are skipped, and no more", condition),
    case("pm4.conditional_write", "a write depends on its comparison", conditional_write),
    case("pm4.call", "packets of an indirect buffer are taken before what follows it", call),
    case("pm4.dma", "memory is copied and filled by the command processor", dma),
    case("pm4.time", "time stamps go up", time),
    case("pm4.handoff", "queues wait for each other in memory", handoff),
];

fn ring(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    // A packet of 12 dwords that the ring's end cuts at each of them.
    for before_end in 1..=12u64 {
        queue.advance_to(before_end)?;
        let values: Vec<u32> = (0..8).map(|i| (before_end as u32) << 8 | i).collect();
        queue.send(|to| to.push_with(&WriteData::memory(out.address(), 8), &values))?;
        queue.finish()?;
        for (i, &value) in values.iter().enumerate() {
            let what = format!("dword {i} of a packet {before_end} dwords before the end");
            equal(&what, out.dword(4 * i as u64)?, value)?;
        }
    }
    // And many more dwords than there are at once.
    for _ in 0..40 {
        let (nop, payload) = Pm4Queue::nop(200);
        queue.send(|to| to.push_with(&nop, &payload))?;
    }
    queue.finish()
}

fn read_pointer(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let gate = subject.memory(Kind::Shared, 4096)?;
    for round in 1..=5u32 {
        let (nop, payload) = Pm4Queue::nop(300);
        queue.send(|to| to.push_with(&nop, &payload))?;
        let before = queue.written() % queue.dwords();
        queue.send(|to| {
            sequence::wait_until(to, gate.address(), Compare::EQUAL_TO_THE_REFERENCE_VALUE, round)
        })?;
        let after = queue.written() % queue.dwords();
        eventually(&format!("the read pointer at a packet from {before} to {after}"), || {
            let waits = queue.read_pointer()?;
            Ok(waits == before || waits == after)
        })?;
        gate.set_dword(0, round)?;
        queue.finish()?;
        let end = queue.written() % queue.dwords();
        eventually("the read pointer at the end", || Ok(queue.read_pointer()? == end))?;
    }
    Ok(())
}

fn doorbell(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    queue.finish()?;
    // As long as the doorbell does not tell of it, a packet may be half there.
    let words = queue.packets(|to| to.push_with(&WriteData::memory(out.address(), 1), &[7]))?;
    queue.place(&words)?;
    std::thread::sleep(Duration::from_millis(20));
    equal("what a packet without a doorbell writes", out.dword(0)?, 0)?;
    queue.ring_doorbell();
    queue.finish()?;
    equal("what it writes with a doorbell", out.dword(0)?, 7)
}

fn fence(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    let mut last = 0;
    for i in 0..200u64 {
        last = queue.fence()?;
        let value = i << 33 | i;
        queue.send(|to| sequence::fence(to, Scope::System, out.address(), value))?;
        let arrived = queue.fenced()?;
        if arrived > last {
            return Err(Outcome::fail(format!("fence {arrived} arrived before it was submitted")));
        }
    }
    queue.wait(last)?;
    queue.finish()?;
    equal("the last value", out.qword(0)?, 199 << 33 | 199)?;
    // One of 32 bits leaves its neighbours alone, on either side.
    for at in [64u64, 68] {
        out.fill(|_| 0xeeee_eeee)?;
        let narrow = ReleaseMem {
            data_sel: DataSelect::SEND_32_BIT_LOW,
            int_sel: InterruptSelect::SEND_DATA_AND_WRITE_CONFIRM,
            address: out.address() + at,
            data: 0x0123_4567_89ab_cdef,
            ..ReleaseMem::END_OF_PIPE
        };
        queue.send(|to| to.push(&narrow))?;
        queue.finish()?;
        let expected = |i| if u64::from(i) * 4 == at { 0x89ab_cdef } else { 0xeeee_eeee };
        out.check(&format!("a fence of 32 bits at {at}"), expected)?;
    }
    Ok(())
}

fn interrupt(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    for _ in 0..20 {
        queue.finish_by_event(subject)?;
    }
    equal("the event's slot in the end", queue.event().slot(), Some(u64::MAX))
}

fn stopped(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    queue.finish()?;
    queue.kfd().update(0, 7)?;
    let fence = queue.fence()?;
    std::thread::sleep(Duration::from_millis(30));
    equal("the last fence while it is stopped", queue.fenced()?, fence - 1)?;
    queue.kfd().update(100, 7)?;
    queue.wait(fence)
}

fn wait(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let cell = subject.memory(Kind::Shared, 4096)?;
    // Function, reference, a value that does not do, one that does.
    for (function, reference, before, after) in [
        (Compare::LESS_THAN_REF_VALUE, 10u32, 10u32, 9u32),
        (Compare::LESS_THAN_EQUAL_TO_THE_REF_VALUE, 10, 11, 10),
        (Compare::EQUAL_TO_THE_REFERENCE_VALUE, 10, 9, 10),
        (Compare::NOT_EQUAL_REFERENCE_VALUE, 10, 10, 11),
        (Compare::GREATER_THAN_OR_EQUAL_REFERENCE_VALUE, 10, 9, 10),
        (Compare::GREATER_THAN_REFERENCE_VALUE, 10, 10, 0xffff_ffff),
    ] {
        cell.set_qword(0, u64::from(before))?;
        queue.send(|to| sequence::wait_until(to, cell.address(), function, reference))?;
        let fence = queue.fence()?;
        std::thread::sleep(Duration::from_millis(3));
        equal(
            &format!("the fence behind {function} {reference} at {before}"),
            queue.fenced()?,
            fence - 1,
        )?;
        cell.set_dword(0, after)?;
        queue.wait(fence)?;
    }
    // What the mask leaves out does not count.
    let masked = WaitRegMem {
        mask: 0xf0,
        ..WaitRegMem::memory(cell.address(), Compare::EQUAL_TO_THE_REFERENCE_VALUE, 0x20)
    };
    cell.set_qword(0, 0x3f)?;
    queue.send(|to| to.push(&masked))?;
    let fence = queue.fence()?;
    std::thread::sleep(Duration::from_millis(3));
    equal("the fence behind a wait under a mask", queue.fenced()?, fence - 1)?;
    cell.set_dword(0, 0x52f)?;
    queue.wait(fence)?;
    cell.set_qword(0, 5)?;
    let wide = 5 | 1 << 40;
    queue.send(|to| {
        sequence::wait_until_64(to, cell.address(), Compare::EQUAL_TO_THE_REFERENCE_VALUE, wide)
    })?;
    let fence = queue.fence()?;
    std::thread::sleep(Duration::from_millis(3));
    equal("the fence behind a wait for 64 bits", queue.fenced()?, fence - 1)?;
    cell.set_qword(0, wide)?;
    queue.wait(fence)
}

fn write(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    for count in [1u32, 2, 3, 7, 64, 255] {
        let out = subject.memory(Kind::Shared, 4096)?;
        let values: Vec<u32> = (0..count).map(|i| i ^ 0xa5a5_0000).collect();
        queue.send(|to| to.push_with(&WriteData::memory(out.address() + 8, count), &values))?;
        queue.finish()?;
        out.check(&format!("{count} dwords"), |i| match i.checked_sub(2) {
            Some(i) if i < count => i ^ 0xa5a5_0000,
            _ => 0,
        })?;
    }
    Ok(())
}

fn copy(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let (from, to) = (memory.address(), memory.address() + 64);
    memory.set_qword(0, 0x0123_4567_89ab_cdef)?;
    let base = CopyData {
        dst_sel: CopyDestination::TC_L2,
        wr_confirm: true,
        dst_addr: to,
        ..CopyData::ZERO
    };
    let from_memory = CopyData { src_sel: CopySource::TC_L2, src: from, ..base };
    let constant =
        CopyData { src_sel: CopySource::IMMEDIATE_DATA, src: 0xfedc_ba98_7654_3210, ..base };
    for (packet, expected) in [
        (from_memory, 0x89ab_cdef),
        (CopyData { count_sel: true, ..from_memory }, 0x0123_4567_89ab_cdef),
        (CopyData { src: 0x7654_3210, ..constant }, 0x7654_3210),
        (CopyData { count_sel: true, ..constant }, 0xfedc_ba98_7654_3210),
    ] {
        memory.set_qword(64, 0)?;
        queue.send(|to| to.push(&packet))?;
        queue.finish()?;
        equal(&packet.to_string(), memory.qword(64)?, expected)?;
    }
    let clock = || subject.device().clock_counters();
    let before = clock()?.gpu;
    queue.send(|packets| packets.push(&CopyData::gpu_clock(to)))?;
    queue.finish()?;
    let (seen, after) = (memory.qword(64)?, clock()?.gpu);
    if before <= seen && seen <= after {
        return Ok(());
    }
    Err(Outcome::fail(format!("the clock was {before} to {after}, and {seen} was copied")))
}

fn atomic(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    for (atomic, old, operand, new) in [
        (AtomicOp::ATOMIC_ADD_RTN_32, 0xffff_ffff, 3, 2),
        (AtomicOp::ATOMIC_SUB_RTN_32, 1, 3, 0xffff_fffe),
        (AtomicOp::ATOMIC_OR_RTN_32, 0x0f, 0xf0, 0xff),
        (AtomicOp::ATOMIC_UMAX_RTN_32, 0x8000_0000, 5, 0x8000_0000),
        (AtomicOp::ATOMIC_SMAX_RTN_32, 0x8000_0000, 5, 5),
        (AtomicOp::ATOMIC_SWAP_RTN_32, 1, 2, 2),
        (AtomicOp::ATOMIC_ADD_RTN_64, 0xffff_ffff, 1, 0x1_0000_0000),
        (
            AtomicOp::ATOMIC_XOR_RTN_64,
            0x5555_0000_ffff_0000,
            0xffff_0000_ffff_ffff,
            0xaaaa_0000_0000_ffff,
        ),
    ] {
        memory.set_qword(0, old)?;
        let packet =
            AtomicMem { atomic, addr: memory.address(), src_data: operand, ..AtomicMem::ZERO };
        memory.set_qword(64, 0)?;
        queue.send(|to| {
            to.push(&packet)?;
            to.push(&CopyData {
                src_sel: CopySource::ATOMIC_RETURN_DATA,
                dst_sel: CopyDestination::TC_L2,
                count_sel: true,
                wr_confirm: true,
                dst_addr: memory.address() + 64,
                ..CopyData::ZERO
            })
        })?;
        queue.finish()?;
        equal(&packet.to_string(), memory.qword(0)?, new)?;
        equal(&format!("the value before {packet}"), memory.dword(64)?, old as u32)?;
    }
    for (atomic, old, new) in [
        (AtomicOp::ATOMIC_CMPSWAP_RTN_32, 5, 9),
        (AtomicOp::ATOMIC_CMPSWAP_RTN_32, 6, 6),
        (AtomicOp::ATOMIC_CMPSWAP_RTN_64, 5, 9),
        (AtomicOp::ATOMIC_CMPSWAP_RTN_64, 5 | 1 << 40, 5 | 1 << 40),
    ] {
        memory.set_qword(0, old)?;
        let addr = memory.address();
        let packet = AtomicMem { atomic, addr, src_data: 9, cmp_data: 5, ..AtomicMem::ZERO };
        queue.send(|to| to.push(&packet))?;
        queue.finish()?;
        equal(&format!("{packet} at {old:#x}"), memory.qword(0)?, new)?;
    }
    Ok(())
}

fn condition(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let (flag, out) = (memory.address(), memory.address() + 64);
    for (value, expected) in [(1u32, [1, 2]), (0, [0, 2]), (0x8000_0000, [1, 2])] {
        memory.set_dword(0, value)?;
        memory.set_qword(64, 0)?;
        let write = queue.packets(|to| to.push_with(&WriteData::memory(out, 1), &[1]))?;
        queue.send(|to| {
            to.push(&CondExec { addr: flag, exec_count: write.len() as u16, ..CondExec::ZERO })?;
            to.push_with(&WriteData::memory(out, 1), &[1])?;
            to.push_with(&WriteData::memory(out + 4, 1), &[2])
        })?;
        queue.finish()?;
        equal(
            &format!("what is written with {value:#x}"),
            [memory.dword(64)?, memory.dword(68)?],
            expected,
        )?;
    }
    Ok(())
}

fn conditional_write(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let packet = CondWrite {
        function: Compare::EQUAL_TO_THE_REFERENCE_VALUE,
        poll_space: PollSpace::MEMORY,
        write_space: WriteSpace::MEMORY,
        poll_address: memory.address(),
        reference: 0x20,
        mask: 0xf0,
        write_address: memory.address() + 64,
        write_data: 9,
        ..CondWrite::ZERO
    };
    for (value, expected) in [(0x25, 9), (0x35, 0)] {
        memory.set_dword(0, value)?;
        memory.set_dword(64, 0)?;
        queue.send(|to| to.push(&packet))?;
        queue.finish()?;
        equal(&format!("what is written at {value:#x}"), memory.dword(64)?, expected)?;
    }
    Ok(())
}

fn call(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let (buffer, out) = (subject.memory(Kind::Shared, 8192)?, subject.memory(Kind::Shared, 4096)?);
    for round in 1..10u32 {
        let words = queue.packets(|to| {
            to.push_with(&WriteData::memory(out.address(), 2), &[round, round])?;
            to.push_with(&WriteData::memory(out.address() + 8, 1), &[round])
        })?;
        for (at, &word) in (0..).step_by(4).zip(&words) {
            buffer.set_dword(at, word)?;
        }
        queue.send(|to| {
            sequence::call(to, buffer.address(), words.len() as u32)?;
            to.push_with(&WriteData::memory(out.address() + 4, 1), &[!round])
        })?;
        queue.finish()?;
        let got = [out.dword(0)?, out.dword(4)?, out.dword(8)?];
        equal("what the buffer and the packet behind it wrote", got, [round, !round, round])?;
    }
    // A long one, whose last packet alone does something.
    const DWORDS: u32 = 5000;
    let long = subject.memory(Kind::Shared, u64::from(DWORDS) * 4)?;
    let last = queue.packets(|to| to.push_with(&WriteData::memory(out.address(), 1), &[77]))?;
    let first = DWORDS - last.len() as u32;
    long.fill(|i| match i.checked_sub(first) {
        Some(i) => last.get(i as usize).copied().unwrap_or(0),
        None => Header::NOP.0,
    })?;
    queue.send(|to| sequence::call(to, long.address(), DWORDS))?;
    queue.finish()?;
    equal("what the end of a long buffer wrote", out.dword(0)?, 77)
}

fn dma(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let from = subject.memory(Kind::Shared, 8192)?;
    from.fill(|i| i.wrapping_mul(0x0101_0107))?;
    for bytes in [4u32, 60, 256, 4096] {
        let to = subject.memory(Kind::Shared, 8192)?;
        let packet = DmaData::copy(to.address() + 64, from.address() + 128, bytes);
        queue.send(|packets| packets.push(&packet))?;
        queue.finish()?;
        to.check(&format!("a copy of {bytes} bytes"), |i| match i.checked_sub(16) {
            Some(i) if i < bytes / 4 => (i + 32).wrapping_mul(0x0101_0107),
            _ => 0,
        })?;
        let packet = DmaData::fill(to.address(), 0x1357_9bdf, bytes);
        queue.send(|packets| packets.push(&packet))?;
        queue.finish()?;
        equal("the first filled dword", to.dword(0)?, 0x1357_9bdf)?;
        equal("the last filled dword", to.dword(u64::from(bytes) - 4)?, 0x1357_9bdf)?;
    }
    Ok(())
}

fn time(subject: &Subject) -> Result {
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let mut before = subject.device().clock_counters()?.gpu;
    for _ in 0..10 {
        queue.send(|to| sequence::timestamp(to, memory.address()))?;
        queue.finish()?;
        let (seen, after) = (memory.qword(0)?, subject.device().clock_counters()?.gpu);
        if seen < before || seen > after {
            return Err(Outcome::fail(format!("{seen} is not from {before} to {after}")));
        }
        before = seen;
    }
    Ok(())
}

fn handoff(subject: &Subject) -> Result {
    let (mut first, mut second) = (Pm4Queue::new(subject, 1024)?, Pm4Queue::new(subject, 1024)?);
    let memory = subject.memory(Kind::Shared, 4096)?;
    let (there, back) = (memory.address(), memory.address() + 64);
    for round in 1..=20u32 {
        let equals = Compare::EQUAL_TO_THE_REFERENCE_VALUE;
        second.send(|to| {
            sequence::wait_until(to, there, equals, round)?;
            to.push_with(&WriteData::memory(back, 1), &[round])
        })?;
        first.send(|to| {
            to.push_with(&WriteData::memory(there, 1), &[round])?;
            sequence::wait_until(to, back, equals, round)
        })?;
        first.finish()?;
    }
    second.finish()
}
