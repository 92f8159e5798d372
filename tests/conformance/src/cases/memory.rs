//! Memory.

use super::case;
use crate::memory::{Kind, has_small_bar};
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use kfd::AllocationFlags;
use selvedge_sys::Errno;

pub(super) const CASES: &[Case] = &[
    case("memory.pages", "allocations are whole pages, at addresses of their own", pages),
    case("memory.vram", "the host reads back what it wrote to the GPU's memory", vram),
    case(
        "memory.small_bar",
        "memory of the GPU's that the host is to see is refused where its BAR is small",
        small_bar,
    ),
    case(
        "memory.mapped",
        "memory is mapped to the GPU once, and can be unmapped and mapped again",
        mapped,
    ),
];

fn pages(subject: &Subject) -> Result {
    let sizes = [1, 4096, 4097, 1 << 16, (2 << 20) + 1];
    let mut ranges = Vec::new();
    let mut held = Vec::new();
    for kind in [Kind::Shared, Kind::Cached, Kind::Code] {
        for size in sizes {
            let buffer = subject.memory(kind, size)?;
            let (start, length) = (buffer.address(), buffer.allocation().len());
            equal("the length", length, size.next_multiple_of(4096))?;
            equal("the address in its page", start % 4096, 0)?;
            ranges.push(start..start + length);
            held.push(buffer);
        }
    }
    ranges.sort_by_key(|range| range.start);
    match ranges.windows(2).find(|pair| pair[0].end > pair[1].start) {
        Some(pair) => Err(Outcome::fail(format!("{:x?} and {:x?} overlap", pair[0], pair[1]))),
        None => Ok(()),
    }
}

fn vram(subject: &Subject) -> Result {
    let buffer = subject.memory(Kind::Vram, 1 << 20)?;
    buffer.fill(|i| i.wrapping_mul(0x9e37_79b1))?;
    buffer.check("memory", |i| i.wrapping_mul(0x9e37_79b1))
}

fn small_bar(subject: &Subject) -> Result {
    let device = subject.device();
    if !has_small_bar(device) {
        return Err(Outcome::NotApplicable("the host sees the GPU's memory".to_owned()));
    }
    let flags = AllocationFlags::VRAM | AllocationFlags::WRITABLE;
    device.allocate(4096, flags)?;
    match device.allocate(4096, flags | AllocationFlags::PUBLIC) {
        Ok(_) => Err(Outcome::fail("it was allocated")),
        Err(error) => equal("the error", error.errno(), Some(Errno::EINVAL)),
    }
}

fn mapped(subject: &Subject) -> Result {
    let buffer = subject.memory(Kind::Shared, 4096)?;
    let (memory, device) = (buffer.allocation(), subject.device());
    equal("the GPUs that see it", memory.mapped_to(), vec![device.gpu_id()])?;
    for _ in 0..3 {
        memory.unmap_from(&[device])?;
        equal("the GPUs that see it", memory.mapped_to(), vec![])?;
        memory.map_to(&[device])?;
    }
    equal("the GPUs that see it", memory.mapped_to(), vec![device.gpu_id()])
}
