//! Memory as dma-bufs, which other contexts and drivers can have.

use super::case;
use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::{Case, Result, Subject};
use kfd::{Allocation, AllocationFlags};
use sdma::sequence;

pub(super) const CASES: &[Case] = &[
    case("dmabuf.info", "a dma-buf says what memory it is", info),
    case("dmabuf.import", "imported memory is the exported memory, and outlives it", import),
    case("dmabuf.contexts", "contexts share memory by a dma-buf", contexts),
];

fn info(subject: &Subject) -> Result {
    for (kind, flag) in [(Kind::Shared, AllocationFlags::GTT), (Kind::Vram, AllocationFlags::VRAM)]
    {
        let memory = match subject.memory(kind, 3 * 4096) {
            Err(Outcome::NotApplicable(_)) => continue,
            other => other?,
        };
        let file = memory.allocation().export_dmabuf()?;
        let info = subject.device().process().dmabuf_info(file.fd())?;
        equal("the size", info.size, 3 * 4096)?;
        equal("the GPU", info.gpu_id, subject.device().gpu_id())?;
        // What an APU calls its own memory may be the system's.
        if !(kind == Kind::Vram && info.flags.contains(AllocationFlags::GTT)) {
            equal("whether it is of its kind", info.flags.contains(flag), true)?;
        }
        equal("the metadata", info.metadata, Vec::new())?;
    }
    Ok(())
}

/// Copies all of `from` to fresh memory, and checks it.
fn copied(subject: &Subject, from: &Allocation, value: impl Fn(u32) -> u32) -> Result {
    let to = subject.memory(Kind::Shared, from.len())?;
    let mut queue = SdmaQueue::new(subject)?;
    queue.run(|packets| sequence::copy(packets, from.address(), to.address(), from.len()))?;
    to.check("the copy", value)
}

fn exported(subject: &Subject) -> Result<Buffer> {
    let memory = subject.memory(Kind::Shared, 2 * 4096)?;
    memory.fill(|i| i ^ 0x5a5a_0000)?;
    Ok(memory)
}

fn import(subject: &Subject) -> Result {
    let memory = exported(subject)?;
    let file = memory.allocation().export_dmabuf()?;
    let imported = Allocation::import_dmabuf(subject.device(), file.fd())?;
    equal("the length", imported.len(), 2 * 4096)?;
    equal("whether it has another address", imported.address() != memory.address(), true)?;
    copied(subject, &imported, |i| i ^ 0x5a5a_0000)?;
    memory.fill(|i| i)?;
    copied(subject, &imported, |i| i)?;
    drop(memory);
    drop(file);
    copied(subject, &imported, |i| i)
}

fn contexts(subject: &Subject) -> Result {
    let neighbour = subject.neighbour()?;
    let memory = exported(&neighbour)?;
    let file = memory.allocation().export_dmabuf()?;
    let imported = Allocation::import_dmabuf(subject.device(), file.fd())?;
    copied(subject, &imported, |i| i ^ 0x5a5a_0000)?;
    // And back: what one context's engine writes, the other's host sees.
    let mut queue = SdmaQueue::new(subject)?;
    let pattern = sdma::split::Pattern::Dword(77);
    queue.run(|packets| sequence::fill(packets, imported.address(), 4096, pattern))?;
    memory.check("the exporter's memory", |i| if i < 1024 { 77 } else { i ^ 0x5a5a_0000 })?;
    drop(neighbour);
    drop(memory);
    copied(subject, &imported, |i| if i < 1024 { 77 } else { i ^ 0x5a5a_0000 })
}
