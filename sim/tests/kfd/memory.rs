//! Allocation, mapping, sharing.

use crate::rig::{DOORBELL_SLICE, PAGE, Rig, anonymous, gtt, reserve};
use kfd::uapi::{self, AllocMemFlags, EventData, request};
use selvedge_sim::Objects;
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

#[test]
fn host_and_second_mapping_see_the_same_bytes() {
    let rig = Rig::new("gfx1151", 18);
    let buffer = rig.buffer(gtt(), 3 * PAGE);
    assert_eq!(buffer.dword(8).load(Relaxed), 0, "GTT comes zeroed");
    buffer.dword(8).store(7, Relaxed);
    let again = rig.mmap(rig.render, 0, 3 * PAGE, buffer.offset).unwrap();
    let other = crate::rig::Buffer { va: again, ..buffer };
    assert_eq!(other.dword(8).load(Relaxed), 7);
    rig.munmap(again, 3 * PAGE);
    rig.release(buffer);
    let (machine, process) = (rig.machine.clone(), rig.process.clone());
    drop(rig);
    process.close(process.open(Path::new("/dev/kfd"), OpenMode::ReadOnly).unwrap()).unwrap();
    assert_eq!((machine.objects().buffers, machine.objects().buffer_bytes), (0, 0));
    drop(process);
    assert_eq!(machine.objects(), Objects::default());
}

#[test]
fn freed_memory_stays_while_it_is_mapped() {
    let rig = Rig::new("gfx1151", 18);
    let buffer = rig.buffer(gtt(), PAGE);
    buffer.dword(0).store(1, Relaxed);
    rig.unmap(buffer.handle).unwrap();
    rig.free(buffer.handle).unwrap();
    assert_eq!(rig.objects().buffers, 0);
    let next = rig.buffer(gtt(), PAGE);
    next.dword(0).store(2, Relaxed);
    assert_eq!(buffer.dword(0).load(Relaxed), 1);
    rig.munmap(buffer.va, PAGE);
    rig.release(next);
    assert_eq!(rig.objects().buffer_bytes, 0);
}

#[test]
fn mmap_takes_only_what_drm_allows() {
    let rig = Rig::new("gfx1151", 18);
    let buffer = rig.buffer(gtt(), 2 * PAGE);
    let mmap = |fd, offset, size| rig.mmap(fd, 0, size, offset).map(|at| rig.munmap(at, size));
    assert_eq!(mmap(rig.render, buffer.offset, PAGE), Ok(()));
    assert_eq!(mmap(rig.render, buffer.offset + PAGE, PAGE), Err(Errno::EINVAL));
    assert_eq!(mmap(rig.render, buffer.offset, 3 * PAGE), Err(Errno::EINVAL));
    assert_eq!(mmap(rig.kfd, buffer.offset, PAGE), Err(Errno::ENODEV));
    let other = rig.process.open(Path::new("/dev/dri/renderD128"), OpenMode::ReadWrite).unwrap();
    assert_eq!(mmap(other, buffer.offset, PAGE), Err(Errno::EINVAL));
    let write = Protection::READ | Protection::WRITE;
    // SAFETY: maps where the kernel likes, and fails.
    let private = unsafe {
        let size = PAGE as usize;
        rig.process.mmap(null_mut(), size, write, MapFlags::PRIVATE, rig.render, buffer.offset)
    };
    assert_eq!(private, Err(Errno::EINVAL), "device memory is not copied on write");
    // SAFETY: as above.
    let unaligned = unsafe {
        let offset = buffer.offset + 1;
        rig.process.mmap(null_mut(), 4096, write, MapFlags::SHARED, rig.render, offset)
    };
    assert_eq!(unaligned, Err(Errno::EINVAL));
}

#[test]
fn alloc_rules() {
    let rig = Rig::new("gfx1100", 18);
    let va = reserve(&rig.process, 1 << 20);
    let errno = |flags, size| rig.alloc(flags, size, va).map(|a| rig.free(a.handle)).err();
    assert_eq!(errno(gtt(), 0), Some(Errno::EINVAL));
    assert_eq!(errno(AllocMemFlags::WRITABLE, PAGE), Some(Errno::EINVAL), "no domain");
    assert_eq!(errno(AllocMemFlags::DOORBELL, PAGE), Some(Errno::EINVAL));
    assert_eq!(errno(AllocMemFlags::DOORBELL, DOORBELL_SLICE), None);
    assert_eq!(errno(AllocMemFlags::MMIO_REMAP, 2 * PAGE), Some(Errno::EINVAL));
    assert_eq!(errno(AllocMemFlags::MMIO_REMAP, PAGE), None);
    assert_eq!(errno(AllocMemFlags::USERPTR, PAGE), Some(Errno::EINVAL), "no address");
    assert_eq!(errno(gtt() | AllocMemFlags::AQL_QUEUE_MEM, 1), Some(Errno::EINVAL));
    assert_eq!(errno(AllocMemFlags::VRAM, 1 << 40), Some(Errno::ENOMEM));
    assert_eq!(errno(AllocMemFlags::VRAM | AllocMemFlags::PUBLIC, PAGE), None);
    let mut other = uapi::AllocMemoryOfGpuArgs {
        size: PAGE,
        gpu_id: rig.gpu_id ^ 1,
        flags: gtt().bits(),
        ..Default::default()
    };
    assert_eq!(rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut other), Err(Errno::EINVAL));
}

#[test]
fn registers_are_mapped_through_the_kfd() {
    let rig = Rig::new("gfx1100", 18);
    let flags = AllocMemFlags::MMIO_REMAP | AllocMemFlags::WRITABLE;
    let va = reserve(&rig.process, PAGE);
    let remap = rig.alloc(flags, PAGE, va).unwrap();
    assert_eq!(remap.mmap_offset, u64::from(rig.gpu_id) << 46);
    rig.map(remap.handle).unwrap();
    let at = rig.mmap(rig.kfd, 0, PAGE, remap.mmap_offset).unwrap();
    rig.munmap(at, PAGE);
    assert_eq!(rig.mmap(rig.kfd, 0, 2 * PAGE, remap.mmap_offset), Err(Errno::EINVAL));
    let doorbells = 3 << 62 | u64::from(rig.gpu_id) << 46;
    assert_eq!(rig.mmap(rig.kfd, 0, PAGE, doorbells), Err(Errno::EINVAL), "whole slices only");
    let at = rig.mmap(rig.kfd, 0, DOORBELL_SLICE, doorbells).unwrap();
    rig.munmap(at, DOORBELL_SLICE);
}

#[test]
fn mapping_and_freeing_follow_the_kernel_order() {
    let rig = Rig::new("gfx1151", 18);
    let va = reserve(&rig.process, 16 * PAGE);
    let handle = rig.alloc(gtt(), 2 * PAGE, va).unwrap().handle;
    assert_eq!(rig.unmap(handle), Err(Errno::EINVAL), "not mapped");
    rig.map(handle).unwrap();
    rig.map(handle).unwrap();
    assert_eq!(rig.objects().gpu_mappings, 1, "the second time does nothing");
    assert_eq!(rig.free(handle), Err(Errno::EBUSY));
    let overlap = rig.alloc(gtt(), PAGE, va + PAGE).unwrap().handle;
    assert_eq!(rig.map(overlap), Err(Errno::EINVAL), "the addresses are taken");
    let misaligned = rig.alloc(gtt(), PAGE, va + 4 * PAGE + 8).unwrap().handle;
    assert_eq!(rig.map(misaligned), Err(Errno::EINVAL));
    let nowhere = rig.alloc(AllocMemFlags::VRAM, PAGE, 0).unwrap().handle;
    assert_eq!(rig.map(nowhere), Err(Errno::EINVAL), "no address");
    assert_eq!(rig.map(handle + 100), Err(Errno::ENOMEM), "no such buffer");
    assert_eq!(rig.free(handle + 100), Err(Errno::EINVAL));
    rig.unmap(handle).unwrap();
    for handle in [handle, overlap, misaligned, nowhere] {
        rig.free(handle).unwrap();
    }
    assert_eq!(rig.objects().buffers, 0);
}

/// A failure in the middle says how far it came; the call goes on from there.
#[test]
fn partial_mappings_are_counted() {
    let rig = Rig::new("gfx1151", 18);
    let va = reserve(&rig.process, PAGE);
    let handle = rig.alloc(gtt(), PAGE, va).unwrap().handle;
    let ids = [rig.gpu_id, 0xbad].map(AtomicU32::new);
    let mut args = uapi::MapMemoryToGpuArgs {
        handle,
        device_ids_array_ptr: ids.as_ptr().expose_provenance() as u64,
        n_devices: 2,
        n_success: 0,
    };
    assert_eq!(rig.ask(request::MAP_MEMORY_TO_GPU, &mut args), Err(Errno::EINVAL));
    assert_eq!(args.n_success, 1);
    ids[1].store(rig.gpu_id, Relaxed);
    assert_eq!(rig.ask(request::MAP_MEMORY_TO_GPU, &mut args), Ok(()));
    assert_eq!(args.n_success, 2);
}

#[test]
fn user_memory_must_be_there() {
    let rig = Rig::new("gfx1151", 18);
    let flags = AllocMemFlags::USERPTR | AllocMemFlags::WRITABLE;
    let ask = |address: u64, size: u64| {
        let mut args = uapi::AllocMemoryOfGpuArgs {
            va_addr: address,
            size,
            mmap_offset: address,
            gpu_id: rig.gpu_id,
            flags: flags.bits(),
            ..Default::default()
        };
        rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut args).map(|()| args.handle)
    };
    let memory = anonymous(&rig.process, 4 * PAGE);
    let handle = ask(memory, 4 * PAGE).unwrap();
    rig.map(handle).unwrap();
    let nothing = reserve(&rig.process, 2 * PAGE);
    assert_eq!(ask(nothing, PAGE), Err(Errno::EFAULT));
    assert_eq!(ask(0x7fff_ffff_0000_0000, PAGE), Err(Errno::EFAULT));
    rig.munmap(nothing, 2 * PAGE);
    rig.unmap(handle).unwrap();
    rig.free(handle).unwrap();
}

#[test]
fn available_memory_goes_down_and_up() {
    for name in ["gfx1151", "gfx1100"] {
        let rig = Rig::new(name, 18);
        let available = || {
            let mut args =
                uapi::GetAvailableMemoryArgs { gpu_id: rig.gpu_id, ..Default::default() };
            rig.ask(request::AVAILABLE_MEMORY, &mut args).unwrap();
            args.available
        };
        let before = available();
        let handle = rig.alloc(AllocMemFlags::VRAM, 1 << 30, 0).unwrap().handle;
        assert_eq!(available(), before - (1 << 30), "{name}");
        rig.free(handle).unwrap();
        assert_eq!(available(), before);
        assert_eq!(
            rig.alloc(AllocMemFlags::VRAM, before + (1 << 30), 0).err(),
            Some(Errno::ENOMEM)
        );
    }
}

/// KFD 1.14 leaves in VRAM what the last owner's release wrote there; later kernels clear it.
#[test]
fn fresh_vram() {
    for (minor, content) in [(14, 0xd0be_d0be), (17, 0)] {
        let rig = Rig::new("gfx1100", minor);
        let flags = AllocMemFlags::VRAM | AllocMemFlags::PUBLIC | AllocMemFlags::WRITABLE;
        let buffer = rig.buffer(flags, PAGE);
        assert_eq!(buffer.dword(12).load(Relaxed), content);
    }
}

#[test]
fn dma_bufs_carry_memory_between_contexts() {
    let rig = Rig::new("gfx1100", 23);
    let buffer = rig.buffer(AllocMemFlags::VRAM | gtt(), 2 * PAGE);
    buffer.dword(4).store(99, Relaxed);
    let mut export = uapi::ExportDmabufArgs { handle: buffer.handle, ..Default::default() };
    rig.ask(request::EXPORT_DMABUF, &mut export).unwrap();
    let mut info = uapi::GetDmabufInfoArgs { dmabuf_fd: export.dmabuf_fd, ..Default::default() };
    rig.ask(request::GET_DMABUF_INFO, &mut info).unwrap();
    assert_eq!((info.size, info.gpu_id), (2 * PAGE, rig.gpu_id));
    assert_eq!(info.flags & 3, AllocMemFlags::VRAM.bits());
    let second = rig.process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
    // SAFETY: CREATE_PROCESS has no argument.
    unsafe { rig.process.ioctl(second, request::CREATE_PROCESS, null_mut()).unwrap() };
    let other = Rig::with(rig.machine.clone(), rig.process.clone(), second);
    let va = reserve(&other.process, 2 * PAGE);
    let mut import = uapi::ImportDmabufArgs {
        va_addr: va,
        gpu_id: rig.gpu_id,
        dmabuf_fd: export.dmabuf_fd,
        ..Default::default()
    };
    other.ask(request::IMPORT_DMABUF, &mut import).unwrap();
    other.map(import.handle).unwrap();
    let fd = export.dmabuf_fd.cast_signed();
    let at = rig.mmap(fd, va, 2 * PAGE, 0).unwrap();
    assert_eq!(crate::rig::Buffer { va: at, ..buffer }.dword(4).load(Relaxed), 99);
    rig.process.close(fd).unwrap();
    rig.release(buffer);
    assert_eq!(rig.objects().buffers, 1, "the importer still has it");
    other.unmap(import.handle).unwrap();
    other.free(import.handle).unwrap();
    other.munmap(va, 2 * PAGE);
    assert_eq!((rig.objects().buffers, rig.objects().buffer_bytes), (0, 0));
    // Another test may have the number by now.
    import.dmabuf_fd = u32::MAX;
    assert_eq!(rig.ask(request::IMPORT_DMABUF, &mut import), Err(Errno::EBADF));
}

fn register(rig: &Rig, address: u64, size: u64, va_addr: u64) -> u64 {
    let flags = AllocMemFlags::USERPTR | AllocMemFlags::WRITABLE;
    let mut args = uapi::AllocMemoryOfGpuArgs {
        va_addr,
        size,
        mmap_offset: address,
        gpu_id: rig.gpu_id,
        flags: flags.bits(),
        ..Default::default()
    };
    rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut args).unwrap();
    args.handle
}

fn qword(address: u64) -> &'static AtomicU64 {
    let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the callers' memory, mapped as long as they look at it.
    unsafe { AtomicU64::from_ptr(pointer) }
}

/// Memory of the process is mapped in whole pages, from the one on that the address lies in.
#[test]
fn user_memory_is_mapped_by_pages() {
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, 2 * PAGE);
    let va = reserve(&rig.process, PAGE);
    // A value of a signal 8 bytes into the page.
    qword(memory + 8).store(1, Relaxed);
    let handle = register(&rig, memory + 64, 100, va);
    rig.map(handle).unwrap();
    let queue = rig.queue();
    queue.submit_barrier(0, va);
    crate::rig::eventually("the completion", || qword(memory + 8).load(Relaxed) == 0);
    rig.destroy(queue);
    rig.unmap(handle).unwrap();
    rig.free(handle).unwrap();
}

/// A munmap that the kernel refuses takes nothing from anybody.
#[test]
fn refused_unmappings_change_nothing() {
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, 2 * PAGE);
    qword(memory + 8).store(1, Relaxed);
    let handle = register(&rig, memory, 2 * PAGE, memory);
    rig.map(handle).unwrap();
    let buffer = rig.buffer(gtt(), PAGE);
    let mappings = rig.objects().cpu_mappings;
    for (address, length) in [
        (memory + 8, PAGE),
        (memory, 0),
        (memory, u64::MAX),
        (memory, u64::MAX - 4094),
        (memory, 1 << 47),
        (buffer.va + 1, PAGE),
        (buffer.va, 0),
    ] {
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: fails.
        let answer = unsafe { rig.process.munmap(address, length as usize) };
        assert_eq!(answer, Err(Errno::EINVAL), "{address:?}, {length:#x}");
    }
    assert_eq!(rig.objects().cpu_mappings, mappings);
    let queue = rig.queue();
    queue.submit_barrier(0, memory);
    crate::rig::eventually("the completion", || qword(memory + 8).load(Relaxed) == 0);
    rig.destroy(queue);
}

/// Of overlapping registrations, all that have something of an unmapped range lose it, and no others.
#[test]
fn unmapping_finds_all_registrations() {
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, 8 * PAGE);
    let at = |first: u64, pages: u64, va| register(&rig, memory + first * PAGE, pages * PAGE, va);
    let va = reserve(&rig.process, 32 * PAGE);
    let handles =
        [at(0, 8, va), at(0, 1, va + 8 * PAGE), at(2, 2, va + 16 * PAGE), at(5, 1, va + 24 * PAGE)];
    for handle in handles {
        rig.map(handle).unwrap();
    }
    rig.munmap(memory + 3 * PAGE, PAGE);
    // A store by the queue where nothing is any more is a page fault.
    for (signal, there) in
        [(va + 8 * PAGE, true), (va + 24 * PAGE, true), (va + 16 * PAGE, false), (va, false)]
    {
        let fault = rig.create_event(uapi::EVENT_MEMORY, 0);
        let queue = rig.queue();
        queue.submit_barrier(0, signal);
        let timeout = if there { 200 } else { 10_000 };
        let result = rig.wait(EventData::new(fault, 0), timeout).1;
        let expected = if there { uapi::WAIT_RESULT_TIMEOUT } else { uapi::WAIT_RESULT_COMPLETE };
        assert_eq!(result, expected, "{:#x}", signal - va);
        rig.destroy(queue);
        if !there {
            // The process's queues are evicted now.
            break;
        }
    }
}

/// Device memory of any size costs the host little until it is written, on kernels that poison it, too.
#[test]
fn poison_is_cheap() {
    let rig = Rig::new("gfx1100", 14);
    let start = std::time::Instant::now();
    let handle = rig.alloc(AllocMemFlags::VRAM, 20 << 30, 0).unwrap().handle;
    rig.free(handle).unwrap();
    assert!(start.elapsed().as_secs() < 20);
}

/// The cost of a buffer does not grow with their number.
#[test]
fn many_buffers() {
    const COUNT: u64 = 20_000;
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, PAGE);
    let start = std::time::Instant::now();
    let handles: Vec<u64> = (0..COUNT).map(|_| register(&rig, memory, PAGE, memory)).collect();
    for _ in 0..COUNT {
        rig.munmap(reserve(&rig.process, PAGE), PAGE);
    }
    handles.into_iter().for_each(|handle| rig.free(handle).unwrap());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
