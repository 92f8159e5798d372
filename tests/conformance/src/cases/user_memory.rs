//! The process's own memory: user pointers and shared virtual memory.
#![expect(unsafe_code, reason = "gives the GPU memory of the process")]

use super::primary;
use crate::memory::Kind;
use crate::report::{Outcome, equal};
use crate::sdma_queue::SdmaQueue;
use crate::{Case, Result, Subject};
use kfd::uapi::SvmFlags;
use kfd::{Allocation, AllocationFlags, SvmAccess, SvmLocation, SvmSetting};
use sdma::sequence;
use sdma::split::Pattern;
use selvedge_sys::{Errno, MapFlags, Protection, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) const CASES: &[Case] = &[
    primary("user.copy", "the GPU reads and writes memory of the process", copy),
    primary("user.twice", "the same memory can be given to the GPU twice", twice),
    primary("user.missing", "memory that is not there is refused", missing),
    primary("svm.attributes", "attributes of a range are kept, and differ by page", attributes),
    primary("svm.access", "a GPU with access uses memory at its own address", access),
    primary("svm.invalid", "ranges that are not there, or no pages, are refused", invalid),
    primary("svm.prefetch", "a range that moves to the GPU and back keeps its bytes", prefetch),
    primary("svm.unmap", "of a range that is unmapped in part, the rest stays in use", unmap),
];

const PAGE: u64 = 4096;
/// Where nothing is: below all that Linux maps by itself.
const NOTHING: u64 = 0x2_0000;

/// Zeroed memory of the process, unmapped in the end.
struct Pages {
    system: Arc<dyn System>,
    address: u64,
    bytes: u64,
}

impl Pages {
    fn new(subject: &Subject, bytes: u64) -> Result<Pages> {
        let system = subject.device().process().system().clone();
        let protection = Protection::READ | Protection::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS;
        // SAFETY: maps where the kernel likes.
        let mapped =
            unsafe { system.mmap(std::ptr::null_mut(), bytes as usize, protection, flags, -1, 0) };
        let address = mapped.map_err(|errno| Outcome::fail(format!("mmap: {errno}")))?;
        Ok(Pages { system, address: address.expose_provenance() as u64, bytes })
    }

    fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }

    fn word(&self, index: u32) -> &AtomicU32 {
        assert!(u64::from(index) * 4 + 4 <= self.bytes);
        let at = self.address as usize + index as usize * 4;
        // SAFETY: in the mapping, which lives as long as the value, but for what `cut` gave back, of which no case asks.
        unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(at)) }
    }

    fn fill(&self, value: impl Fn(u32) -> u32) {
        (0..(self.bytes / 4) as u32).for_each(|i| self.word(i).store(value(i), Ordering::Relaxed));
    }

    fn check(&self, words: std::ops::Range<u32>, value: impl Fn(u32) -> u32) -> Result {
        for i in words {
            let (got, expected) = (self.word(i).load(Ordering::Acquire), value(i));
            equal(&format!("dword {i} of the process's memory"), got, expected)?;
        }
        Ok(())
    }

    fn words(&self) -> u32 {
        (self.bytes / 4) as u32
    }

    /// Gives pages at the end back.
    fn cut(&mut self, bytes: u64) -> Result {
        let at = std::ptr::with_exposed_provenance_mut((self.address + bytes) as usize);
        // SAFETY: the pages are the value's, and nothing asks for them again.
        let unmapped = unsafe { self.system.munmap(at, (self.bytes - bytes) as usize) };
        self.bytes = bytes;
        unmapped.map_err(|errno| Outcome::fail(format!("munmap: {errno}")))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is the value's own, and nothing refers to it any more.
        let _ = unsafe { self.system.munmap(self.pointer().cast(), self.bytes as usize) };
    }
}

const FLAGS: AllocationFlags = AllocationFlags::WRITABLE.union(AllocationFlags::COHERENT);

/// Gives the GPU memory, from an offset on.
fn register(
    subject: &Subject,
    pages: &Pages,
    offset: u64,
    bytes: u64,
) -> kfd::Result<Arc<Allocation>> {
    // SAFETY: cases keep the pages as long as what they registered, and look at them as atomics.
    unsafe {
        let pointer = pages.pointer().add(offset as usize);
        Allocation::register(subject.device(), pointer, bytes, FLAGS)
    }
}

fn copy(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let pages = Pages::new(subject, 4 * PAGE)?;
    let registered = register(subject, &pages, 0, 4 * PAGE)?;
    let other = subject.memory(Kind::Shared, 4 * PAGE)?;
    pages.fill(|i| i.wrapping_mul(3));
    let (own, shared) = (registered.address(), other.address());
    queue.run(|to| sequence::copy(to, own, shared, 4 * PAGE))?;
    other.check("what was read", |i| i.wrapping_mul(3))?;
    other.fill(|i| !i)?;
    queue.run(|to| sequence::copy(to, shared, own, 4 * PAGE))?;
    pages.check(0..pages.words(), |i| !i)
}

fn twice(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let pages = Pages::new(subject, 2 * PAGE)?;
    let fill = |queue: &mut SdmaQueue, memory: &Allocation, value| {
        queue.run(|to| sequence::fill(to, memory.address(), PAGE, Pattern::Dword(value)))
    };
    let first = register(subject, &pages, 0, 2 * PAGE)?;
    fill(&mut queue, &first, 1)?;
    pages.check(0..1024, |_| 1)?;
    drop(first);
    let second = register(subject, &pages, 0, 2 * PAGE)?;
    fill(&mut queue, &second, 2)?;
    pages.check(0..2048, |i| if i < 1024 { 2 } else { 0 })
}

fn missing(subject: &Subject) -> Result {
    let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(NOTHING as usize);
    // SAFETY: nothing is there, which the kernel is to see.
    let answer = unsafe { Allocation::register(subject.device(), pointer, PAGE, FLAGS) };
    match answer {
        Err(error) => equal("the error", error.errno(), Some(Errno::EFAULT)),
        Ok(_) => Err(Outcome::fail("memory that is not mapped was accepted")),
    }
}

/// Sets attributes of a range.
///
/// # Safety
/// As [`kfd::Process::set_svm`].
unsafe fn set(subject: &Subject, start: u64, bytes: u64, settings: &[SvmSetting]) -> Result {
    // SAFETY: the caller's promise.
    match unsafe { subject.device().process().set_svm(start, bytes, settings) } {
        Err(error) if error.errno() == Some(Errno::EPERM) => {
            Err(Outcome::NotApplicable("this kernel has no shared virtual memory".to_owned()))
        }
        other => Ok(other?),
    }
}

fn attributes(subject: &Subject) -> Result {
    let (process, gpu) = (subject.device().process(), subject.device().gpu_id());
    let pages = Pages::new(subject, 8 * PAGE)?;
    let ask =
        |first: u64, count: u64| process.svm(pages.address + first * PAGE, count * PAGE, &[gpu]);
    // SAFETY: the pages live as long as their attributes.
    unsafe {
        let settings = [SvmSetting::Granularity(4), SvmSetting::Set(SvmFlags::GPU_READ_MOSTLY)];
        set(subject, pages.address, 8 * PAGE, &settings)?;
        let more = [
            SvmSetting::Access(gpu, SvmAccess::Access),
            SvmSetting::Granularity(2),
            SvmSetting::Preferred(SvmLocation::System),
        ];
        set(subject, pages.address + 4 * PAGE, 4 * PAGE, &more)?;
    }
    let first = ask(0, 4)?;
    equal("the granularity", first.granularity, 4)?;
    equal("the access", first.access, vec![SvmAccess::None])?;
    equal("the place", first.preferred, SvmLocation::Undefined)?;
    let second = ask(4, 4)?;
    equal("the other granularity", second.granularity, 2)?;
    equal("the other access", second.access, vec![SvmAccess::Access])?;
    equal("the other place", second.preferred, SvmLocation::System)?;
    let both = ask(0, 8)?;
    equal("the granularity of both", both.granularity, 2)?;
    equal("the place of both", both.preferred, SvmLocation::Undefined)?;
    equal("the flag of both", both.set.contains(SvmFlags::GPU_READ_MOSTLY), true)
}

/// Pages that the GPU may use.
fn accessible(subject: &Subject, bytes: u64) -> Result<Pages> {
    let pages = Pages::new(subject, bytes)?;
    let access = SvmSetting::Access(subject.device().gpu_id(), SvmAccess::Access);
    // SAFETY: the pages' end takes them from the GPU, too, and cases look at them as atomics.
    unsafe { set(subject, pages.address, bytes, &[access])? };
    Ok(pages)
}

fn access(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let pages = accessible(subject, 4 * PAGE)?;
    pages.fill(|i| i + 7);
    let copy = subject.memory(Kind::Shared, 4 * PAGE)?;
    queue.run(|to| sequence::copy(to, pages.address, copy.address(), 4 * PAGE))?;
    copy.check("what was read", |i| i + 7)?;
    queue.run(|to| sequence::fill(to, pages.address + PAGE, PAGE, Pattern::Dword(1)))?;
    pages.check(0..pages.words(), |i| if (1024..2048).contains(&i) { 1 } else { i + 7 })
}

fn invalid(subject: &Subject) -> Result {
    let pages = accessible(subject, PAGE)?;
    let settings = [SvmSetting::Granularity(3)];
    for (what, start, bytes, expected) in [
        ("a range that is not there", NOTHING, PAGE, Errno::EFAULT),
        ("a range that is no whole page", pages.address, 100, Errno::EINVAL),
        ("a range of nothing", pages.address, 0, Errno::EINVAL),
        ("a start within a page", pages.address + 8, PAGE, Errno::EINVAL),
    ] {
        // SAFETY: no device gets access.
        let answer = unsafe { subject.device().process().set_svm(start, bytes, &settings) };
        equal(what, answer.err().and_then(|error| error.errno()), Some(expected))?;
    }
    Ok(())
}

fn prefetch(subject: &Subject) -> Result {
    const BYTES: u64 = 64 * PAGE;
    let (process, gpu) = (subject.device().process(), subject.device().gpu_id());
    let mut queue = SdmaQueue::new(subject)?;
    let pages = accessible(subject, BYTES)?;
    let copy = subject.memory(Kind::Shared, BYTES)?;
    for round in 1..=3u32 {
        pages.fill(|i| i ^ round << 24);
        for place in [SvmLocation::Device(gpu), SvmLocation::System] {
            // SAFETY: as `accessible`.
            unsafe { set(subject, pages.address, BYTES, &[SvmSetting::Prefetch(place)])? };
            equal("the place", process.svm(pages.address, BYTES, &[])?.prefetch, place)?;
            queue.run(|to| sequence::copy(to, pages.address, copy.address(), BYTES))?;
            copy.check("what the GPU reads", |i| i ^ round << 24)?;
        }
        queue.run(|to| sequence::fill(to, pages.address, BYTES, Pattern::Dword(round)))?;
        pages.check(0..pages.words(), |_| round)?;
    }
    Ok(())
}

fn unmap(subject: &Subject) -> Result {
    let mut queue = SdmaQueue::new(subject)?;
    let mut pages = accessible(subject, 8 * PAGE)?;
    pages.fill(|i| i);
    pages.cut(3 * PAGE)?;
    let copy = subject.memory(Kind::Shared, 3 * PAGE)?;
    queue.run(|to| sequence::copy(to, pages.address, copy.address(), 3 * PAGE))?;
    copy.check("what is left", |i| i)
}
