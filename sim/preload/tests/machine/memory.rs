//! Mappings.

use crate::{check, errno, ioctl, on_machine, open};
use kfd::uapi::{AcquireVmArgs, AllocMemFlags, AllocMemoryOfGpuArgs, FreeMemoryOfGpuArgs, request};
use libc::{MAP_FAILED, MAP_FIXED, MAP_SHARED, O_RDWR};
use std::ffi::c_void;

const SIZE: usize = 0x4000;
const ADDRESS: u64 = 0x10_0000_0000;

fn buffers() {
    let ((kfd, handle), render, offset) = buffer();
    let map = |address: *mut c_void, length, flags, fd, offset| {
        // SAFETY: where the kernel likes, or over an own mapping.
        unsafe { libc::mmap(address, length, 3, flags, fd, offset) }
    };
    let first = map(std::ptr::null_mut(), SIZE, MAP_SHARED, render, offset);
    assert_ne!(first, MAP_FAILED);
    let second = map(std::ptr::null_mut(), SIZE, MAP_SHARED, render, offset);
    // SAFETY: mapped just now.
    unsafe {
        first.cast::<u32>().write_volatile(0x1234_5678);
        assert_eq!(second.cast::<u32>().read_volatile(), 0x1234_5678);
        // Other memory over it.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | MAP_FIXED;
        assert_eq!(map(second, SIZE, flags, -1, 0), second);
        assert_eq!(second.cast::<u32>().read_volatile(), 0);
    }
    // Beyond the buffer, and where none is.
    for (length, at) in [(SIZE + 1, offset), (SIZE, offset + 4096), (SIZE, 0)] {
        assert_eq!(map(std::ptr::null_mut(), length, MAP_SHARED, render, at), MAP_FAILED);
        assert_eq!(errno(), libc::EINVAL);
    }
    // SAFETY: own mappings that nothing refers to.
    unsafe {
        check(libc::munmap(first, SIZE)).unwrap();
        let moved = libc::mremap(second, SIZE, 2 * SIZE, libc::MREMAP_MAYMOVE);
        assert_ne!(moved, MAP_FAILED);
        check(libc::munmap(moved, 2 * SIZE)).unwrap();
    }
    let mut free = FreeMemoryOfGpuArgs { handle };
    ioctl(kfd, request::FREE_MEMORY_OF_GPU, &mut free).unwrap();
}

#[test]
fn buffers_are_mapped_from_the_render_node() {
    on_machine("gfx1151", "memory::buffers_are_mapped_from_the_render_node", buffers);
}

/// A buffer of the GPU: the KFD's descriptor and its handle, the render node's and its offset in that.
fn buffer() -> ((i32, u64), i32, i64) {
    let kfd = open(c"/dev/kfd", O_RDWR).unwrap();
    let render = open(c"/dev/dri/renderD128", O_RDWR).unwrap();
    let id = std::fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
    let gpu_id = id.trim().parse().unwrap();
    let mut vm = AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id };
    ioctl(kfd, request::ACQUIRE_VM, &mut vm).unwrap();
    let flags = AllocMemFlags::GTT | AllocMemFlags::WRITABLE | AllocMemFlags::PUBLIC;
    let (size, flags) = (SIZE as u64, flags.bits());
    let mut args =
        AllocMemoryOfGpuArgs { va_addr: ADDRESS, size, gpu_id, flags, ..Default::default() };
    ioctl(kfd, request::ALLOC_MEMORY_OF_GPU, &mut args).unwrap();
    ((kfd, args.handle), render, args.mmap_offset.cast_signed())
}

/// No program can take the machine's memory from the others.
fn lengths() {
    let (_, render, offset) = buffer();
    // SAFETY: a mapping where the kernel likes, and calls that change no memory of the test's.
    unsafe {
        let mapped = libc::mmap(std::ptr::null_mut(), SIZE, 3, MAP_SHARED, render, offset);
        assert_ne!(mapped, MAP_FAILED);
        mapped.cast::<u32>().write_volatile(7);
        assert_eq!(check(libc::ftruncate(render, 0)), Err(libc::EINVAL));
        assert_eq!(check(libc::fallocate(render, 0, 0, 1 << 50)), Err(libc::ENODEV));
        for length in [0i64, 1 << 50] {
            let result = libc::syscall(libc::SYS_ftruncate, render, length);
            assert_eq!((result, errno()), (-1, libc::EPERM));
        }
        assert_eq!(mapped.cast::<u32>().read_volatile(), 7);
    }
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let flags = maps.split("VmFlags:").zip(maps.split("VmFlags:").skip(1));
    let shared = flags.filter(|(entry, _)| {
        entry.lines().any(|line| line.contains("-") && line.contains("/memfd:amdgpu"))
    });
    let dumped: Vec<_> = shared
        .filter(|(_, flags)| !flags.lines().next().is_some_and(|flags| flags.contains(" dd ")))
        .collect();
    assert!(maps.contains("/memfd:amdgpu") && dumped.is_empty(), "{dumped:#?}");
}

#[test]
fn the_machines_memory_cannot_be_cut() {
    on_machine("gfx1151", "memory::the_machines_memory_cannot_be_cut", lengths);
}

fn moves() {
    let ((kfd, handle), render, offset) = buffer();
    // SAFETY: own mappings, of which nobody has a reference.
    unsafe {
        let map = || libc::mmap(std::ptr::null_mut(), SIZE, 3, MAP_SHARED, render, offset);
        let old = map();
        old.cast::<u32>().write_volatile(7);
        // What is behind the buffer is somebody else's.
        assert_eq!(libc::mremap(old, SIZE, 2 * SIZE, libc::MREMAP_MAYMOVE), MAP_FAILED);
        assert_eq!(errno(), libc::EFAULT);
        assert_eq!(libc::mremap(old, 0, SIZE, libc::MREMAP_MAYMOVE), MAP_FAILED);
        let stays = libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP;
        assert_eq!(libc::mremap(old, SIZE, SIZE, stays), MAP_FAILED);
        assert_eq!(errno(), libc::EINVAL);
        assert_eq!(old.cast::<u32>().read_volatile(), 7);
        let other = map();
        let moves = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let moved = libc::mremap(old, SIZE, SIZE, moves, other);
        assert_eq!((moved, moved.cast::<u32>().read_volatile()), (other, 7));
        // The buffer lasts as long as it is mapped there.
        let mut free = FreeMemoryOfGpuArgs { handle };
        ioctl(kfd, request::FREE_MEMORY_OF_GPU, &mut free).unwrap();
        assert_eq!(moved.cast::<u32>().read_volatile(), 7);
        check(libc::munmap(moved, SIZE)).unwrap();
    }
}

#[test]
fn mappings_move_and_do_not_grow() {
    on_machine("gfx1151", "memory::mappings_move_and_do_not_grow", moves);
}

/// As Python's ctypes looks functions up.
fn look_up() {
    // SAFETY: C strings; the functions are only compared.
    unsafe {
        let libc_itself = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOW);
        assert!(!libc_itself.is_null());
        let ours: *mut c_void = libc::mmap as *const () as *mut c_void;
        let default = libc::dlsym(libc::RTLD_DEFAULT, c"mmap".as_ptr());
        assert_eq!(libc::dlsym(libc_itself, c"mmap".as_ptr()), default);
        assert_eq!(ours, default);
        let next = libc::dlsym(libc::RTLD_NEXT, c"getpid".as_ptr());
        assert_eq!(next, libc::dlsym(libc_itself, c"getpid".as_ptr()));
        assert!(libc::dlsym(libc_itself, c"no such function".as_ptr()).is_null());
        assert!(!libc::dlerror().is_null());
    }
}

#[test]
fn functions_are_found_in_libcs_handle() {
    on_machine("gfx1151", "memory::functions_are_found_in_libcs_handle", look_up);
}
