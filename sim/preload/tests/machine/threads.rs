//! Many threads at once, some of which fork.

use crate::{on_machine, open, version};
use libc::{EBADF, ENOTTY, O_CLOEXEC, O_RDWR};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Opens, duplicates, replaces and closes.
fn open_and_close() {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    // SAFETY: makes a descriptor, and closes an own one.
    let copy = unsafe {
        let copy = libc::dup(kfd);
        libc::close(kfd);
        copy
    };
    assert_eq!(version(copy), Ok(18));
    let null = open(c"/dev/null", O_RDWR).unwrap();
    assert_eq!(version(null), Err(ENOTTY));
    // SAFETY: replaces and closes own descriptors.
    unsafe { libc::dup2(null, copy) };
    assert_eq!(version(copy), Err(ENOTTY));
    // SAFETY: as above.
    unsafe {
        libc::close(null);
        libc::close(copy);
    }
}

fn render_node() {
    let render = open(c"/dev/dri/renderD128", O_RDWR | O_CLOEXEC).unwrap();
    // SAFETY: an own descriptor, and memory that nobody else has.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        assert_eq!(libc::fstat(render, &raw mut status), 0);
        assert_eq!(status.st_rdev, libc::makedev(226, 128));
        libc::close(render);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let memory = libc::mmap(std::ptr::null_mut(), 65536, 3, flags, -1, 0);
        assert_eq!(libc::munmap(memory, 65536), 0);
    }
}

/// The status of a child that `body` ran in. No thread but the caller's is in it.
fn child(body: fn(i32) -> i32, fd: i32) -> i32 {
    let mut status = -1;
    // SAFETY: the child makes system calls and leaves without unwinding; should it wait for a lock that nobody
    // holds there, the alarm ends it.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(20);
            libc::_exit(body(fd));
        }
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
    }
    status
}

fn fork() {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    let body = |kfd| {
        let inherited = version(kfd) == Err(EBADF);
        let own = open(c"/dev/kfd", O_RDWR).is_ok_and(|own| version(own) == Ok(18));
        i32::from(!inherited) << 1 | i32::from(!own)
    };
    assert_eq!(child(body, kfd), 0);
    // The child closes its own descriptor, not this one.
    // SAFETY: as in `child`; a child of vfork calls close and leaves.
    #[expect(deprecated, reason = "what Python and others do")]
    let vfork = unsafe {
        let child = libc::vfork();
        if child == 0 {
            libc::close(kfd);
            libc::_exit(0);
        }
        child
    };
    let mut status = -1;
    // SAFETY: the own child.
    assert_eq!(unsafe { libc::waitpid(vfork, &raw mut status, 0) }, vfork);
    assert_eq!(version(kfd), Ok(18));
    // SAFETY: an own descriptor.
    unsafe { libc::close(kfd) };
}

fn read_sysfs() {
    let id = std::fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
    assert!(id.trim().parse::<u32>().is_ok());
}

fn all_at_once() {
    let work = [open_and_close, render_node, fork, read_sysfs, open_and_close, fork];
    let counts: [AtomicU32; 6] = Default::default();
    std::thread::scope(|scope| {
        for (work, count) in work.iter().zip(&counts) {
            scope.spawn(move || {
                while !STOP.load(Ordering::Relaxed) {
                    work();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
        STOP.store(true, Ordering::Relaxed);
    });
    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) > 0));
}

#[test]
fn threads_do_not_disturb_each_other() {
    on_machine("gfx1151", "threads::threads_do_not_disturb_each_other", all_at_once);
}
