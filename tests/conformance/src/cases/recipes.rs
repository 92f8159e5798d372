//! Engines that work together, and boxes.

use super::case;
use crate::memory::Kind;
use crate::pm4_queue::Pm4Queue;
use crate::report::equal;
use crate::sdma_queue::SdmaQueue;
use crate::{Case, Result, Subject};
use pm4::packet::{Compare, WriteData};
use sdma::packet::{CopyLinearSubwin, PollFunction};
use sdma::sequence;
use sdma::split::Pattern;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    case("sdma.rectangle", "a box of elements is copied, and nothing beside it", rectangle),
    case("sdma.volume", "a box of several slices is copied, and nothing beside it", volume),
    case("recipe.copy_then_pm4", "a PM4 queue waits for a copy", copy_then_pm4),
    case("recipe.pm4_then_copy", "a copy waits for a PM4 queue", pm4_then_copy),
];

/// Copies a box between two surfaces of one shape, 64 elements wide and 16 high, and checks all of the target.
fn window(subject: &Subject, log2: u8, from: [u16; 3], to: [u16; 3], size: [u32; 3]) -> Result {
    const WIDTH: u64 = 64;
    const HEIGHT: u64 = 16;
    const DEPTH: u64 = 4;
    let bytes = (WIDTH * HEIGHT * DEPTH) << log2;
    let mut queue = SdmaQueue::new(subject)?;
    let source = subject.memory(Kind::Shared, bytes)?;
    let target = subject.memory(Kind::Shared, bytes)?;
    source.fill(|i| i.wrapping_mul(0x0101_0107) ^ 0x1234_5678)?;
    target.fill(|_| 0xeeee_eeee)?;
    let packet = CopyLinearSubwin {
        elementsize: log2,
        src_addr: source.address(),
        src_x: from[0],
        src_y: from[1],
        src_z: from[2],
        src_pitch: WIDTH as u32,
        src_slice_pitch: WIDTH * HEIGHT,
        dst_addr: target.address(),
        dst_x: to[0],
        dst_y: to[1],
        dst_z: to[2],
        dst_pitch: WIDTH as u32,
        dst_slice_pitch: WIDTH * HEIGHT,
        rect_x: size[0],
        rect_y: size[1],
        rect_z: size[2] as u16,
        ..CopyLinearSubwin::ZERO
    };
    queue.run(|packets| Ok(packets.push(&packet)?))?;
    let byte = |buffer: &crate::memory::Buffer, at: u64| -> Result<u8> {
        Ok((buffer.dword(at & !3)? >> (at % 4 * 8)) as u8)
    };
    for at in 0..bytes {
        let element = at >> log2;
        let place = [element % WIDTH, element / WIDTH % HEIGHT, element / WIDTH / HEIGHT];
        let inside = (0..3).all(|d| {
            let first = u64::from(to[d]);
            (first..first + u64::from(size[d])).contains(&place[d])
        });
        let expected = if inside {
            let [x, y, z] = [0, 1, 2].map(|d| place[d] - u64::from(to[d]) + u64::from(from[d]));
            byte(&source, (((z * HEIGHT + y) * WIDTH + x) << log2) + at % (1 << log2))?
        } else {
            0xee
        };
        equal(
            &format!("byte {at} of elements of {} bytes", 1 << log2),
            byte(&target, at)?,
            expected,
        )?;
    }
    Ok(())
}

fn rectangle(subject: &Subject) -> Result {
    for log2 in 0..=4 {
        window(subject, log2, [0, 0, 0], [0, 0, 0], [64, 16, 1])?;
        window(subject, log2, [3, 1, 0], [17, 9, 0], [23, 5, 1])?;
        window(subject, log2, [63, 15, 0], [0, 0, 0], [1, 1, 1])?;
    }
    Ok(())
}

fn volume(subject: &Subject) -> Result {
    window(subject, 2, [5, 2, 1], [8, 3, 0], [16, 7, 3])?;
    window(subject, 0, [4, 0, 0], [4, 0, 2], [33, 16, 2])
}

fn copy_then_pm4(subject: &Subject) -> Result {
    let (mut copies, mut queue) = (SdmaQueue::new(subject)?, Pm4Queue::new(subject, 1024)?);
    let data = subject.memory(Kind::Shared, 4096)?;
    let flag = subject.memory(Kind::Shared, 4096)?;
    for round in 1..=10u32 {
        let equals = Compare::EQUAL_TO_THE_REFERENCE_VALUE;
        queue.send(|to| {
            pm4::sequence::wait_until(to, flag.address(), equals, round)?;
            to.push_with(&WriteData::memory(flag.address() + 64, 1), &[round])
        })?;
        let fence = queue.fence()?;
        std::thread::sleep(Duration::from_millis(2));
        equal("the fence before the copy", queue.fenced()?, fence - 1)?;
        copies.send(|to| {
            sequence::fill(to, data.address(), 4096, Pattern::Dword(round))?;
            sequence::write_back(to)?;
            sequence::fence(to, flag.address(), round)
        })?;
        queue.wait(fence)?;
        equal("what came behind the copy", flag.dword(64)?, round)?;
        data.check("what was filled", |_| round)?;
    }
    Ok(())
}

fn pm4_then_copy(subject: &Subject) -> Result {
    let (mut copies, mut queue) = (SdmaQueue::new(subject)?, Pm4Queue::new(subject, 1024)?);
    let memory = subject.memory(Kind::Shared, 4096)?;
    let copy = subject.memory(Kind::Shared, 4096)?;
    let (flag, data) = (memory.address(), memory.address() + 256);
    for round in 1..=10u32 {
        let equals = PollFunction::EQUAL_TO_THE_REFERENCE_VALUE;
        let fence = copies.fence_behind(|to| {
            sequence::poll(to, flag, equals, round, u32::MAX)?;
            sequence::copy(to, data, copy.address(), 4)
        })?;
        std::thread::sleep(Duration::from_millis(2));
        equal("the copy before its time", copy.dword(0)?, (round - 1) * 3)?;
        queue.send(|to| {
            to.push_with(&WriteData::memory(data, 1), &[round * 3])?;
            to.push_with(&WriteData::memory(flag, 1), &[round])
        })?;
        copies.wait(fence)?;
        equal("the copy", copy.dword(0)?, round * 3)?;
    }
    queue.finish()
}
