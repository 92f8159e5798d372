//! Opening, duplicating, closing; children.

use crate::{check, errno, ioctl, on_machine, open, version};
use kfd::uapi::{AcquireVmArgs, request};
use libc::{EBADF, EINVAL, ENOTTY, O_CLOEXEC, O_RDWR};
use std::process::Command;

fn close(fd: i32) {
    // SAFETY: the test's own descriptor.
    check(unsafe { libc::close(fd) }).unwrap();
}

fn duplicates() {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    // SAFETY: these make descriptors.
    let copies = unsafe {
        [
            libc::dup(kfd),
            libc::dup2(kfd, 200),
            libc::dup3(kfd, 201, O_CLOEXEC),
            libc::fcntl(kfd, libc::F_DUPFD_CLOEXEC, 300),
            libc::fcntl(kfd, libc::F_DUPFD, 300),
        ]
    };
    assert_eq!(copies[1..], [200, 201, 300, 301]);
    close(kfd);
    for copy in copies {
        assert_eq!(version(copy), Ok(18));
    }
    // Requests that the kernel takes care of itself, of whatever file.
    // SAFETY: changes and asks for flags of the test's own.
    unsafe {
        let closes = || libc::fcntl(copies[0], libc::F_GETFD) & libc::FD_CLOEXEC;
        check(libc::ioctl(copies[0], libc::FIOCLEX, 0)).unwrap();
        assert_eq!(closes(), libc::FD_CLOEXEC);
        check(libc::ioctl(copies[0], libc::FIONCLEX, 0)).unwrap();
        assert_eq!(closes(), 0);
    }
    // Another file takes the number.
    let null = open(c"/dev/null", O_RDWR).unwrap();
    assert_eq!(null, kfd);
    assert_eq!(version(null), Err(ENOTTY));
    // SAFETY: replaces one of the test's own.
    assert_eq!(unsafe { libc::dup2(null, 200) }, 200);
    assert_eq!(version(200), Err(ENOTTY));
    // SAFETY: closes the test's own.
    check(unsafe { libc::close_range(201, 300, 0) }).unwrap();
    assert_eq!((version(201), version(300), version(301)), (Err(EBADF), Err(EBADF), Ok(18)));
    for fd in [copies[0], 301] {
        close(fd);
        assert_eq!(version(fd), Err(EBADF));
    }
}

#[test]
fn duplicates_lead_to_the_same_file() {
    on_machine("gfx1151", "descriptors::duplicates_lead_to_the_same_file", duplicates);
}

/// What amdgpu_amdkfd_gpuvm.c counts: the last close of a render node's file.
fn last_close() {
    let kfd = open(c"/dev/kfd", O_RDWR).unwrap();
    let render = open(c"/dev/dri/renderD128", O_RDWR).unwrap();
    let id = std::fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
    let gpu_id = id.trim().parse().unwrap();
    // SAFETY: makes a descriptor.
    let copy = check(unsafe { libc::dup(render) }).unwrap();
    close(render);
    let mut args = AcquireVmArgs { drm_fd: copy.cast_unsigned(), gpu_id };
    assert_eq!(ioctl(kfd, request::ACQUIRE_VM, &mut args), Ok(0));
    args.drm_fd = render.cast_unsigned();
    assert_eq!(ioctl(kfd, request::ACQUIRE_VM, &mut args), Err(EINVAL));
    // SAFETY: neither has such a method; the buffers are valid.
    unsafe {
        let mut byte = 0u8;
        assert_eq!((libc::read(kfd, (&raw mut byte).cast(), 1), errno()), (-1, EINVAL));
        assert_eq!((libc::write(kfd, (&raw const byte).cast(), 1), errno()), (-1, EINVAL));
        assert_eq!((libc::write(copy, (&raw const byte).cast(), 1), errno()), (-1, EINVAL));
    }
    let mut entries = [kfd, copy].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: two entries.
    assert_eq!(unsafe { libc::poll(entries.as_mut_ptr(), 2, 1000) }, 1);
    assert_eq!(entries.map(|entry| entry.revents), [libc::POLLIN, 0]);
    assert_eq!(entries.map(|entry| entry.fd), [kfd, copy]);
}

#[test]
fn a_file_lives_as_long_as_its_last_descriptor() {
    on_machine("gfx1100", "descriptors::a_file_lives_as_long_as_its_last_descriptor", last_close);
}

/// Runs `body` in a forked child.
fn in_child(body: impl FnOnce()) {
    // SAFETY: this test's process has no other thread that matters to the child.
    let child = check(unsafe { libc::fork() }).unwrap();
    if child == 0 {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the own child.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) }).unwrap();
    assert_eq!(status, 0);
}

fn children() {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    in_child(|| {
        assert_eq!(version(kfd), Err(EBADF));
        // SAFETY: maps where the kernel likes, if at all.
        let mapped =
            unsafe { libc::mmap(std::ptr::null_mut(), 4096, 1, libc::MAP_SHARED, kfd, i64::MIN) };
        assert_eq!((mapped, errno()), (libc::MAP_FAILED, EINVAL));
        let own = open(c"/dev/kfd", O_RDWR).unwrap();
        assert_ne!(own, kfd);
        assert_eq!((version(own), version(kfd)), (Ok(18), Err(EBADF)));
        // The number of the inherited one can be had again.
        close(kfd);
        assert_eq!(open(c"/dev/kfd", O_RDWR), Ok(kfd));
        assert_eq!(version(kfd), Ok(18));
        in_child(|| assert_eq!((version(own), version(kfd)), (Err(EBADF), Err(EBADF))));
    });
    assert_eq!(version(kfd), Ok(18));
    // A program that a child executes is on a machine like this.
    let output =
        Command::new("cat").arg("/sys/class/drm/renderD128/device/device").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0x1586\n");
    assert_eq!(version(kfd), Ok(18));
}

#[test]
fn children_have_what_the_kernel_leaves_them() {
    on_machine("gfx1151", "descriptors::children_have_what_the_kernel_leaves_them", children);
}
