//! The process that keeps the board of the machine, and removes the machine's folder when nobody is on the machine any
//! more, however they went.
#![expect(unsafe_code, reason = "fork, flock, pidfd_open and limits")]

use super::tree::{self, Changing, LOCK};
use selvedge_sim::Keeper;
use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Descriptors from here on are out of the way of programs that count on getting small ones.
const HIGH: c_int = 900;

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Starts the keeper, which makes the folder `tree`: a child of init, in a session of its own, with no descriptor of this
/// process's but the board's.
pub(crate) fn start(tree: &Path, board: Keeper) -> io::Result<()> {
    // SAFETY: only asks.
    let main = unsafe { libc::getpid() };
    let (mut here, there) = UnixStream::pair()?;
    // SAFETY: there is one thread here, so that the child may do as it likes.
    let child = check(unsafe { libc::fork() })?;
    if child == 0 {
        drop(here);
        // SAFETY: as above.
        let second = unsafe {
            libc::setsid();
            libc::fork()
        };
        if second == 0 {
            keep(tree, main, board, there);
        }
        // SAFETY: ends this process and runs nothing of its parent's.
        unsafe { libc::_exit(0) };
    }
    drop(there);
    let mut status = -1;
    // SAFETY: waits for the own child.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) })?;
    // It says what it met with, or nothing when it does not exist.
    let mut error = [0; 4];
    here.read_exact(&mut error)?;
    match i32::from_le_bytes(error) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Takes the lock, by a descriptor that the program inherits.
pub(crate) fn stay(tree: &Path) -> io::Result<()> {
    let lock = File::open(tree.join(LOCK))?;
    // SAFETY: locks, and makes a descriptor; where numbers are scarce the next is used.
    unsafe {
        check(libc::flock(lock.as_raw_fd(), libc::LOCK_SH))?;
        let high = libc::fcntl(lock.as_raw_fd(), libc::F_DUPFD, HIGH);
        if high < 0 {
            check(libc::fcntl(lock.as_raw_fd(), libc::F_DUPFD, 0))?;
        }
    }
    Ok(())
}

/// Keeps the board for the process `main`, which becomes the program, and for all that inherit its descriptor or are on
/// the machine without it. Tells `starter` that the folder is there, or why not.
fn keep(tree: &Path, main: libc::pid_t, board: Keeper, mut starter: UnixStream) {
    let created = tree::create(tree);
    let error = created.as_ref().err().map_or(0, |e| e.raw_os_error().unwrap_or(libc::EIO));
    // Who has been killed meanwhile is found to be so below.
    let _ = starter.write_all(&error.to_le_bytes());
    let Ok(listener) = created else {
        let _ = std::fs::remove_dir_all(tree);
        // SAFETY: ends this process and runs nothing of its parent's.
        unsafe { libc::_exit(1) };
    };
    drop(starter);
    // Whoever waits for the end of the program's output does not wait for this process.
    close_all_but([board.as_fd().as_raw_fd(), listener.as_raw_fd()]);
    // SAFETY: changes this process's own.
    unsafe {
        libc::chdir(c"/".as_ptr());
        // A connection each for every process on the machine, a file as large as the buffer for every dma-buf.
        for limit in [libc::RLIMIT_NOFILE, libc::RLIMIT_FSIZE] {
            let mut most: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(limit, &raw mut most);
            most.rlim_cur = most.rlim_max;
            libc::setrlimit(limit, &raw const most);
        }
    }
    let mut changing = Changing::default();
    // Where there is no other thread or connection to be had, the folder is removed all the same.
    let served = UnixStream::pair().and_then(|(here, there)| {
        let lock = tree.join(LOCK);
        std::thread::Builder::new().spawn(move || {
            wait_for(main, &lock);
            drop(there);
        })?;
        board.serve(&listener, &here, |files| changing.write(tree, files))
    });
    if served.is_err() {
        wait_for(main, &tree.join(LOCK));
    }
    let _ = std::fs::remove_dir_all(tree);
    // SAFETY: ends this process and runs nothing of its parent's.
    unsafe { libc::_exit(0) };
}

fn close_all_but(mut kept: [RawFd; 2]) {
    kept.sort_unstable();
    let mut first = 0;
    for last in kept.map(i64::from).into_iter().chain([1 << 32]) {
        if first < last {
            // SAFETY: all descriptors are this process's own.
            unsafe { libc::syscall(libc::SYS_close_range, first, last - 1, 0) };
        }
        first = last + 1;
    }
}

/// Waits for the end of the process `main`, then of all that inherited its descriptor of `lock`.
fn wait_for(main: libc::pid_t, lock: &Path) {
    match open_process(main) {
        Ok(process) => {
            let fd = process.as_raw_fd();
            let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry.
            while unsafe { libc::poll(&raw mut entry, 1, -1) } < 0 {}
        }
        // Linux before 5.3.
        Err(_) => {
            while exists(main) {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    }
    if let Ok(lock) = File::open(lock) {
        // SAFETY: waits.
        while unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) } < 0 {}
    }
}

fn exists(pid: libc::pid_t) -> bool {
    // SAFETY: only asks.
    unsafe { libc::kill(pid, 0) == 0 }
}

fn open_process(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // SAFETY: just made, and owned by nobody else.
    check(fd as c_int).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
