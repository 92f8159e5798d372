//! The record of calls: one line each, written by one write(2) to a file opened for appending.
#![expect(unsafe_code, reason = "opens a file by a system call")]

use crate::raw;
use crate::state::settings;
use selvedge_sim::cp::{PacketListener, TakenPacket};
use selvedge_sys::Errno;
use std::ffi::{CString, c_int};
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

static FILE: OnceLock<Option<c_int>> = OnceLock::new();

fn file() -> Option<c_int> {
    *FILE.get_or_init(|| {
        let path = CString::new(settings().log.clone()?.into_vec()).ok()?;
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: a C string.
        let fd = unsafe { raw::openat(libc::AT_FDCWD, path.as_ptr(), flags, 0o644) };
        (fd >= 0).then(|| raw::out_of_the_way(fd))
    })
}

pub(crate) fn is_on() -> bool {
    file().is_some()
}

/// Writes a line, headed by the process and the thread.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    if let Some(fd) = file() {
        let line = format!("{}.{} {text}\n", raw::getpid(), raw::gettid());
        write(fd, line.as_bytes());
    }
}

/// Writes lines that are headed by nothing.
pub(crate) fn lines(text: &str) {
    if let Some(fd) = file() {
        write(fd, text.as_bytes());
    }
}

/// Writes all, at once as long as the kernel does so. Should the disk be full, the program still goes on.
fn write(fd: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty()
        && let written @ 1.. = raw::write(fd, bytes)
    {
        bytes = bytes.get(written.cast_unsigned()..).unwrap_or_default();
    }
}

/// Writes a line for each packet that a queue takes.
#[derive(Debug)]
pub(crate) struct Packets;

impl PacketListener for Packets {
    fn taken(&self, packet: &TakenPacket<'_>) {
        line(format_args!("packet {packet}"));
    }
}

/// A result as strace prints it.
pub(crate) struct Outcome<T>(pub(crate) Result<T, Errno>);

impl<T: Display> Display for Outcome<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(value) => write!(f, "{value}"),
            Err(errno) => match errno.name() {
                Some(name) => write!(f, "-1 {name}"),
                None => write!(f, "-1 errno {}", errno.0),
            },
        }
    }
}
