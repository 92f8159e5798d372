//! The process that removes the machine's folder when nobody is on the machine any more, however they went.
#![expect(unsafe_code, reason = "fork, flock and pidfd_open")]

use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// The file whose lock every process on the machine holds, by a descriptor that it inherits.
const LOCK: &str = ".lock";
/// Descriptors from here on are out of the way of programs that count on getting small ones.
const HIGH: c_int = 900;

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Starts the keeper of `tree`: a child of init, in a session of its own, with no descriptor of this process's.
pub(crate) fn start(tree: &Path) -> io::Result<()> {
    let lock = OpenOptions::new().write(true).create_new(true).open(tree.join(LOCK))?;
    // SAFETY: only asks.
    let main = unsafe { libc::getpid() };
    // SAFETY: locks; there is one thread here, so that the child may do as it likes.
    let child = unsafe {
        check(libc::flock(lock.as_raw_fd(), libc::LOCK_SH))?;
        check(libc::fork())?
    };
    if child == 0 {
        // SAFETY: as above.
        let second = unsafe {
            libc::setsid();
            libc::fork()
        };
        if second == 0 {
            keep(tree, main);
        }
        // SAFETY: ends this process and runs nothing of its parent's.
        unsafe { libc::_exit(c_int::from(second < 0)) };
    }
    let mut status = -1;
    // SAFETY: waits for the own child.
    unsafe { check(libc::waitpid(child, &raw mut status, 0))? };
    if status != 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    // The program inherits the lock.
    // SAFETY: makes a descriptor; where numbers are scarce the next is used.
    unsafe {
        let high = libc::fcntl(lock.as_raw_fd(), libc::F_DUPFD, HIGH);
        if high < 0 {
            check(libc::fcntl(lock.as_raw_fd(), libc::F_DUPFD, 0))?;
        }
    }
    Ok(())
}

/// Waits for the process `main`, which becomes the program, then for all that inherited its descriptor.
fn keep(tree: &Path, main: libc::pid_t) {
    // Whoever waits for the end of the program's output does not wait for this process.
    // SAFETY: all descriptors are this process's own.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        libc::chdir(c"/".as_ptr());
    }
    if let Ok(process) = open_process(main) {
        let mut entry = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry.
        while unsafe { libc::poll(&raw mut entry, 1, -1) } < 0 {}
    }
    if let Ok(lock) = File::open(tree.join(LOCK)) {
        // SAFETY: waits.
        while unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) } < 0 {}
    }
    let _ = std::fs::remove_dir_all(tree);
    // SAFETY: ends this process and runs nothing of its parent's.
    unsafe { libc::_exit(0) };
}

fn open_process(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // SAFETY: just made, and owned by nobody else.
    check(fd as c_int).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}
