//! Allocations.

use crate::process::device;
use crate::scripted::{GPU_ID, SECOND_GPU_ID, Scripted, THIRD_GPU_ID, only};
use kfd::{Allocation, AllocationFlags, Error};
use selvedge_sys::Errno;
use std::sync::atomic::Ordering::Relaxed;

const CALLS: [&str; 4] =
    ["ALLOC_MEMORY_OF_GPU", "FREE_MEMORY_OF_GPU", "MAP_MEMORY_TO_GPU", "UNMAP_MEMORY_FROM_GPU"];

#[test]
fn one_address_for_device_and_cpu() {
    let system = Scripted::new(17);
    let device = device(&system);
    let flags = AllocationFlags::GTT | AllocationFlags::WRITABLE | AllocationFlags::PUBLIC;
    let memory = device.allocate(5000, flags).unwrap();
    assert_eq!((memory.len(), memory.flags()), (8192, flags));
    assert_eq!(memory.address(), memory.host_pointer().unwrap() as u64);
    let args = system.script().allocations[&memory.handle()];
    assert_eq!((args.va_addr, args.size, args.gpu_id), (memory.address(), 8192, GPU_ID));
    let mapping = format!("mmap /dev/dri/renderD128 {:#x} 8192", (memory.handle() & 0xffff) << 12);
    assert_eq!(system.script().log.iter().filter(|line| **line == mapping).count(), 1);

    memory.word(8).unwrap().store(7, Relaxed);
    assert_eq!(memory.long(8).unwrap().load(Relaxed), 7);
    assert_eq!(memory.words().unwrap().len(), 2048);
    assert_eq!(memory.words().unwrap()[2].load(Relaxed), 7);
    for (offset, length) in [(8192, 4), (8190, 4), (2, 4), (u64::MAX - 3, 4)] {
        let error = memory.word(offset).unwrap_err();
        let address = memory.address();
        assert_eq!(error, Error::OutOfBounds { address, size: 8192, offset, length });
    }
}

#[test]
fn alignment_and_limits() {
    let system = Scripted::new(17);
    let device = device(&system);
    let huge = device.allocate(2 << 20, AllocationFlags::VRAM).unwrap();
    assert!(huge.address().is_multiple_of(2 << 20));
    assert_eq!(huge.host_pointer(), None);
    assert!(matches!(huge.words(), Err(Error::NoHostAccess { .. })));
    let aligned = device.allocate_aligned(4096, 1 << 16, AllocationFlags::VRAM).unwrap();
    assert!(aligned.address().is_multiple_of(1 << 16));
    for (size, errno) in [(0, Errno::EINVAL), (1 << 39, Errno::ENOMEM), (u64::MAX, Errno::ENOMEM)] {
        let error = device.allocate(size, AllocationFlags::VRAM).unwrap_err();
        assert_eq!(error.errno(), Some(errno), "{error}");
    }
    let error = device.allocate_aligned(4096, 3, AllocationFlags::VRAM).unwrap_err();
    assert!(matches!(error, Error::Reserve { alignment: 3, .. }), "{error}");
    let contiguous = AllocationFlags::VRAM | AllocationFlags::CONTIGUOUS;
    device.allocate(4096, contiguous).unwrap();
    let old = crate::process::device(&Scripted::new(15));
    assert!(matches!(old.allocate(4096, contiguous), Err(Error::NeedsVersion { .. })));
}

#[test]
fn release_goes_backwards() {
    let system = Scripted::new(17);
    let device = device(&system);
    let memory = device.allocate(4096, AllocationFlags::GTT | AllocationFlags::PUBLIC).unwrap();
    let handle = memory.handle();
    system.take_log();
    drop(memory);
    let log = system.take_log();
    assert_eq!(
        log,
        [
            format!("UNMAP_MEMORY_FROM_GPU {handle:#x} 0+1"),
            format!("FREE_MEMORY_OF_GPU {handle:#x}"),
            "munmap 8192".to_owned(), // the page and its guard
        ]
    );
}

#[test]
fn what_cannot_be_released_is_quarantined() {
    for call in ["UNMAP_MEMORY_FROM_GPU", "FREE_MEMORY_OF_GPU"] {
        let system = Scripted::new(17);
        let device = device(&system);
        let memory = device.allocate(4096, AllocationFlags::GTT).unwrap();
        system.fail(call, Errno::EBUSY, 1);
        system.take_log();
        drop(memory);
        assert_eq!(device.process().quarantined(), 1);
        assert_eq!(only(&system.take_log(), &["munmap"]), [""; 0], "the addresses stay taken");
    }
}

#[test]
fn failures_leave_nothing_behind() {
    for call in ["ALLOC_MEMORY_OF_GPU", "mmap /dev/dri/renderD128", "MAP_MEMORY_TO_GPU"] {
        let system = Scripted::new(17);
        let device = device(&system);
        system.fail(call, Errno::ENOMEM, 1);
        let flags = AllocationFlags::GTT | AllocationFlags::PUBLIC;
        let error = device.allocate(4096, flags).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::ENOMEM), "{call}: {error}");
        assert!(system.script().allocations.is_empty(), "{call}");
        assert_eq!(device.process().quarantined(), 0);
    }
}

#[test]
fn mapping_to_several_devices_goes_on_where_it_was_interrupted() {
    let system = Scripted::new(17);
    let first = device(&system);
    let process = first.process();
    let node = process.gpus().nth(1).unwrap().clone();
    let second = process.device(&node).unwrap();
    let memory = first.allocate(4096, AllocationFlags::GTT).unwrap();
    let handle = memory.handle();
    memory.unmap_from(&[&first]).unwrap();
    system.take_log();

    // A signal after the first device: the call is repeated with what is done.
    system.script().partial.push_back((1, Errno::EINTR));
    memory.map_to(&[&first, &second]).unwrap();
    assert_eq!(
        only(&system.take_log(), &CALLS),
        [
            format!("MAP_MEMORY_TO_GPU {handle:#x} 0+2"),
            format!("MAP_MEMORY_TO_GPU {handle:#x} 1+2"),
        ]
    );
    assert_eq!(memory.mapped_to(), [GPU_ID, SECOND_GPU_ID]);

    // A failure after the first device: what is done stays done and is undone by drop.
    memory.unmap_from(&[&first, &second]).unwrap();
    system.script().partial.push_back((1, Errno::ENOMEM));
    let error = memory.map_to(&[&first, &second]).unwrap_err();
    assert!(matches!(error, Error::Map { done: 1, .. }), "{error}");
    assert_eq!(memory.mapped_to(), [GPU_ID]);
    system.take_log();
    drop(memory);
    assert_eq!(
        only(&system.take_log(), &CALLS),
        [
            format!("UNMAP_MEMORY_FROM_GPU {handle:#x} 0+1"),
            format!("FREE_MEMORY_OF_GPU {handle:#x}"),
        ]
    );
}

#[test]
fn a_device_that_cannot_be_unmapped_stays() {
    let system = Scripted::new(17);
    system.add_gpu(THIRD_GPU_ID);
    let first = device(&system);
    let process = first.process();
    let mut others = process.gpus().skip(1).map(|node| process.device(node).unwrap());
    let (second, third) = (others.next().unwrap(), others.next().unwrap());
    let all = [&*first, &*second, &*third];
    let memory = first.allocate(4096, AllocationFlags::GTT).unwrap();
    let handle = memory.handle();
    memory.map_to(&all).unwrap();
    assert_eq!(memory.mapped_to(), [GPU_ID, SECOND_GPU_ID, THIRD_GPU_ID]);

    system.script().partial.push_back((1, Errno::ENOMEM));
    let error = memory.unmap_from(&all).unwrap_err();
    assert!(matches!(error, Error::Unmap { done: 1, .. }), "{error}");
    assert_eq!(memory.mapped_to(), [SECOND_GPU_ID, THIRD_GPU_ID]);
    system.take_log();
    drop(memory);
    assert_eq!(
        only(&system.take_log(), &CALLS),
        [
            format!("UNMAP_MEMORY_FROM_GPU {handle:#x} 0+2"),
            format!("FREE_MEMORY_OF_GPU {handle:#x}"),
        ]
    );
    assert_eq!(system.script().unmapped_devices, [SECOND_GPU_ID, THIRD_GPU_ID]);
}

#[test]
#[expect(unsafe_code, reason = "registers memory of the test")]
fn memory_of_the_process() {
    let system = Scripted::new(17);
    let device = device(&system);
    let buffer = vec![0_u8; 3 * 4096];
    let start = (buffer.as_ptr() as usize).next_multiple_of(4096) as *mut u8;
    let flags = AllocationFlags::WRITABLE;
    // SAFETY: the buffer outlives the allocation and nobody else looks at it.
    let memory = unsafe { Allocation::register(&device, start, 8192, flags) }.unwrap();
    let args = system.script().allocations[&memory.handle()];
    assert_eq!(args.va_addr, start as u64);
    assert_eq!(args.flags, (flags | AllocationFlags::USERPTR).bits());
    // SAFETY: as above.
    let error = unsafe { Allocation::register(&device, start, 100, flags) }.unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EINVAL));
    drop(memory);
    assert_eq!(buffer.len(), 3 * 4096);
}
