//! Memory.

use super::case;
use crate::memory::{Buffer, Kind, has_small_bar};
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::{Case, Result, Subject};
use kfd::AllocationFlags;
use sdma::sequence;
use sdma::split::Pattern;
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
    case("memory.kept", "memory keeps its bytes while it is mapped to no GPU", kept),
    case(
        "memory.fresh",
        "fresh memory of the system is zero, and the GPU's own where Linux clears it",
        fresh,
    ),
    case("memory.large", "a buffer of 256 MiB is used at both ends and between", large),
    case("memory.many", "many buffers of many sizes come and go, and keep apart", many),
    case("memory.budget", "what is available falls and rises with what is in use", budget),
    case("memory.refused", "nothing, and more than there is, is refused", refused),
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

fn kept(subject: &Subject) -> Result {
    for kind in [Kind::Shared, Kind::Cached, Kind::Vram] {
        let buffer = match subject.memory(kind, 1 << 16) {
            Err(Outcome::NotApplicable(_)) => continue,
            other => other?,
        };
        buffer.fill(|i| i ^ 0xaaaa)?;
        buffer.allocation().unmap_from(&[subject.device()])?;
        buffer.allocation().map_to(&[subject.device()])?;
        let mut queue = SdmaQueue::new(subject)?;
        let copy = subject.memory(Kind::Shared, 1 << 16)?;
        queue.run(|to| sequence::copy(to, buffer.address(), copy.address(), 1 << 16))?;
        copy.check(&format!("{kind:?} memory that was mapped again"), |i| i ^ 0xaaaa)?;
    }
    Ok(())
}

/// Kinds of memory as the kernel gives them, copied by the engine before the host has touched them.
fn fresh(subject: &Subject) -> Result {
    let version = subject.device().process().version();
    // Cleared since Linux 6.12 (`AMDGPU_GEM_CREATE_VRAM_CLEARED`).
    let clears_vram = version.major > 1 || version.minor >= 17;
    let mut queue = SdmaQueue::new(subject)?;
    let kinds = [(AllocationFlags::GTT, true), (AllocationFlags::VRAM, clears_vram)];
    for (kind, _) in kinds.into_iter().filter(|(_, is_zero)| *is_zero) {
        for _ in 0..3 {
            let memory = subject.device().allocate(1 << 18, kind | AllocationFlags::WRITABLE)?;
            let copy = subject.memory(Kind::Shared, 1 << 18)?;
            copy.fill(|_| 1)?;
            queue.run(|to| sequence::copy(to, memory.address(), copy.address(), 1 << 18))?;
            copy.check(&format!("fresh memory, {kind:?}"), |_| 0)?;
            queue.run(|to| sequence::fill(to, memory.address(), 1 << 18, Pattern::Dword(!0)))?;
        }
    }
    Ok(())
}

fn large(subject: &Subject) -> Result {
    const BYTES: u64 = 256 << 20;
    let flags = AllocationFlags::GTT | AllocationFlags::WRITABLE;
    let memory = subject.device().allocate(BYTES, flags)?;
    let mut queue = SdmaQueue::new(subject)?;
    let copy = subject.memory(Kind::Shared, 4096)?;
    for (number, at) in (1u32..).zip([0, 4096, BYTES / 2 - 4096, BYTES / 2, BYTES - 4096]) {
        let (place, out) = (memory.address() + at, copy.address());
        queue.run(|to| sequence::fill(to, place, 4096, Pattern::Dword(number)))?;
        queue.run(|to| sequence::copy(to, place, out, 4096))?;
        copy.check(&format!("the page at {at:#x}"), |_| number)?;
    }
    Ok(())
}

fn many(subject: &Subject) -> Result {
    let size = |i: u32| 4096 * (1 + u64::from(i * 37 % 64));
    let make = |i: u32| -> Result<Buffer> {
        let buffer = subject.memory(Kind::Shared, size(i))?;
        buffer.fill(|word| word ^ i << 20)?;
        Ok(buffer)
    };
    let mut buffers = (0..64).map(make).collect::<Result<Vec<_>>>()?;
    for i in (0..64u32).step_by(2) {
        buffers[i as usize] = make(i)?;
    }
    for (i, buffer) in (0u32..).zip(&buffers) {
        buffer.check(&format!("buffer {i}"), |word| word ^ i << 20)?;
    }
    Ok(())
}

fn budget(subject: &Subject) -> Result {
    const BYTES: u64 = 64 << 20;
    let device = subject.device();
    let before = match device.available_memory() {
        Err(error) if error.errno() == Some(Errno::ENOTTY) => {
            return Err(Outcome::NotApplicable("this kernel does not tell".to_owned()));
        }
        other => other?,
    };
    let memory = device.allocate(BYTES, AllocationFlags::VRAM)?;
    let between = device.available_memory()?;
    // Others may use the GPU at the same time, but hardly as much.
    if between > before - BYTES / 2 {
        return Err(Outcome::fail(format!("{before} bytes were available, then {between}")));
    }
    drop(memory);
    let after = device.available_memory()?;
    if after < between + BYTES / 2 {
        return Err(Outcome::fail(format!("{between} bytes were available, then {after}")));
    }
    Ok(())
}

fn refused(subject: &Subject) -> Result {
    let device = subject.device();
    let nothing = device.allocate(0, AllocationFlags::GTT | AllocationFlags::WRITABLE);
    equal("whether an allocation of nothing fails", nothing.is_err(), true)?;
    let available = device.available_memory()?;
    let too_much = device.allocate(available + (1 << 30), AllocationFlags::VRAM);
    equal("whether an allocation of too much fails", too_much.is_err(), true)
}
