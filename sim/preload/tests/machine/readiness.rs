//! select and epoll.

use crate::{check, errno, ioctl, on_machine, open};
use kfd::uapi::amdgpu::{GemCreate, GemCreateIn, GemDomain, drm_request};
use libc::{EEXIST, ENOENT, EPERM, O_CLOEXEC, O_RDWR};
use std::time::{Duration, Instant};

/// A dma-buf of a buffer of the render node's.
fn dma_buf(render: i32) -> i32 {
    let wanted = GemCreateIn {
        bo_size: 4096,
        alignment: 4096,
        domains: GemDomain::GTT.bits(),
        domain_flags: 0,
    };
    let mut create = GemCreate { in_: wanted };
    ioctl(render, drm_request::GEM_CREATE, &mut create).unwrap();
    let handle = create.out().handle;
    let mut prime = selvedge_sys::drm::PrimeHandle { handle, flags: 0, fd: 0 };
    ioctl(render, selvedge_sys::drm::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    prime.fd
}

fn opened() -> [i32; 3] {
    let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
    let render = open(c"/dev/dri/renderD128", O_RDWR | O_CLOEXEC).unwrap();
    [kfd, render, dma_buf(render)]
}

fn selected() {
    let all = opened();
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors; sets of this function's own.
    unsafe {
        check(libc::pipe(pipe.as_mut_ptr())).unwrap();
        let count = 1 + all.iter().chain(&pipe).max().unwrap();
        let set_of = |fds: &[i32]| {
            let mut set: libc::fd_set = std::mem::zeroed();
            fds.iter().for_each(|&fd| libc::FD_SET(fd, &raw mut set));
            set
        };
        let ready = |set: &libc::fd_set| all.map(|fd| libc::FD_ISSET(fd, set));
        let mut read = set_of(&all);
        let mut write = read;
        let result = libc::select(
            count,
            &raw mut read,
            &raw mut write,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        assert_eq!(
            (result, ready(&read), ready(&write)),
            (4, [true, false, true], [true, false, true])
        );
        // With what is the kernel's.
        let mut read = set_of(&[all[1], pipe[0]]);
        let start = Instant::now();
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 20_000 };
        assert_eq!(
            libc::select(
                count,
                &raw mut read,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &raw mut time
            ),
            0
        );
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert_eq!(libc::write(pipe[1], c"x".as_ptr().cast(), 1), 1);
        let mut read = set_of(&[all[1], pipe[0]]);
        let (none, forever) = (std::ptr::null_mut(), std::ptr::null());
        let result = libc::pselect(count, &raw mut read, none, none, forever, std::ptr::null());
        assert_eq!((result, libc::FD_ISSET(pipe[0], &read), ready(&read)), (1, true, [false; 3]));
        // An error leaves the sets as they were.
        let mut read = set_of(&[all[1], pipe[0]]);
        let mut bad = libc::timeval { tv_sec: -1, tv_usec: 0 };
        assert_eq!(
            libc::select(
                count,
                &raw mut read,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &raw mut bad
            ),
            -1
        );
        assert!(libc::FD_ISSET(all[1], &read));
    }
}

#[test]
fn select_sees_what_is_ready() {
    on_machine("gfx1151", "readiness::select_sees_what_is_ready", selected);
}

fn polled() {
    let [kfd, render, buffer] = opened();
    // SAFETY: descriptors and events of this function's own.
    unsafe {
        let epoll = check(libc::epoll_create1(libc::EPOLL_CLOEXEC)).unwrap();
        let control = |operation, fd: i32, events: i32| {
            let mut event = libc::epoll_event { events: events as u32, u64: fd as u64 };
            check(libc::epoll_ctl(epoll, operation, fd, &raw mut event))
        };
        let (add, modify, delete) = (libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_DEL);
        let both = libc::EPOLLIN | libc::EPOLLOUT;
        // Its file has no poll method.
        assert_eq!(control(add, kfd, both), Err(EPERM));
        assert_eq!(control(add, render, both), Ok(0));
        assert_eq!(control(add, render, both), Err(EEXIST));
        let wait = || {
            let mut events: [libc::epoll_event; 4] = std::mem::zeroed();
            let count = check(libc::epoll_wait(epoll, events.as_mut_ptr(), 4, 20)).unwrap();
            events.map(|event| (event.u64, event.events as i32))[..count as usize].to_vec()
        };
        assert_eq!(wait(), []);
        assert_eq!(control(modify, buffer, both), Err(ENOENT));
        assert_eq!(control(add, buffer, libc::EPOLLIN), Ok(0));
        assert_eq!(wait(), [(buffer as u64, libc::EPOLLIN)]);
        assert_eq!(control(modify, buffer, both), Ok(0));
        assert_eq!(wait(), [(buffer as u64, both)]);
        assert_eq!(control(delete, render, 0), Ok(0));
        assert_eq!(control(delete, render, 0), Err(ENOENT));
        // A descriptor that is closed is watched no more.
        libc::close(buffer);
        assert_eq!(wait(), []);
        let again = dma_buf(render);
        assert_eq!((again, control(add, again, libc::EPOLLIN)), (buffer, Ok(0)));
        libc::close(epoll);
        assert_eq!((control(add, again, libc::EPOLLIN), errno()), (Err(libc::EBADF), libc::EBADF));
        assert_eq!(libc::epoll_create1(0), epoll);
        assert_eq!(control(add, again, libc::EPOLLIN), Ok(0));
    }
}

#[test]
fn epoll_watches_the_machines_files() {
    on_machine("gfx1151", "readiness::epoll_watches_the_machines_files", polled);
}
