//! Open files and the descriptors of a process.
#![expect(unsafe_code, reason = "close, fcntl, fstat and kcmp")]

use super::buffer::Buffer;
use super::drm::RenderFile;
use super::kfd::{KfdProcess, SmiFile};
use crate::count::Token;
use selvedge_sys::{Errno, OpenMode};
use std::collections::HashMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// What an open file is.
#[derive(Debug)]
pub(crate) enum Node {
    /// `/dev/kfd`. CREATE_PROCESS replaces what it leads to.
    Kfd(Mutex<Arc<KfdProcess>>),
    /// A render node.
    Render(Arc<RenderFile>),
    /// A buffer that can be handed to others.
    DmaBuf(Arc<Buffer>),
    /// System management events of a GPU.
    SmiEvents(Arc<SmiFile>),
}

/// An open file, closed when its last descriptor is and nobody in the kernel holds it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) node: Node,
    pub(crate) mode: OpenMode,
    /// The process that opened it.
    pub(crate) pid: u32,
    pub(crate) _token: Token,
}

impl OpenFile {
    /// The kfd_process behind a `/dev/kfd`.
    pub(crate) fn kfd_process(&self) -> Option<Arc<KfdProcess>> {
        match &self.node {
            Node::Kfd(process) => {
                Some(process.lock().unwrap_or_else(PoisonError::into_inner).clone())
            }
            _ => None,
        }
    }

    /// The render node's file.
    pub(crate) fn render(&self) -> Option<&Arc<RenderFile>> {
        match &self.node {
            Node::Render(file) => Some(file),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Descriptor {
    file: Arc<OpenFile>,
    /// Came from the parent by fork; the number is the parent's to close.
    inherited: bool,
    /// Of one that was made behind the machine's back, and may be closed so: another descriptor of the same
    /// file, to tell by.
    reference: Option<OwnedFd>,
}

/// The descriptors of a process that lead to files of the machine.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    table: HashMap<RawFd, Descriptor>,
}

impl Descriptors {
    pub(crate) fn insert(&mut self, fd: RawFd, file: Arc<OpenFile>) {
        self.table.insert(fd, Descriptor { file, inherited: false, reference: None });
    }

    /// The file of a descriptor. One that was made by dup(2) behind the machine's back is recognised; what its
    /// number led to before comes with it, to be dropped without a lock held.
    ///
    /// # Errors
    /// When the host does not let descriptors be compared: then nobody knows.
    pub(crate) fn get(&mut self, fd: RawFd) -> Result<Lookup, Errno> {
        let mut stale = None;
        if let Some(descriptor) = self.table.get(&fd) {
            let same = match &descriptor.reference {
                Some(reference) => is_same_file(fd, reference.as_raw_fd())?,
                None => true,
            };
            if same {
                return Ok(Lookup { file: Some(descriptor.file.clone()), _stale: None });
            }
            stale = self.table.remove(&fd).map(|descriptor| descriptor.file);
        }
        for (&known, descriptor) in &self.table {
            if is_same_file(fd, known)? {
                let file = descriptor.file.clone();
                let reference = Some(duplicate(fd)?);
                let descriptor = Descriptor { file: file.clone(), inherited: false, reference };
                self.table.insert(fd, descriptor);
                return Ok(Lookup { file: Some(file), _stale: stale });
            }
        }
        Ok(Lookup { file: None, _stale: stale })
    }

    /// `copy` leads to the file of `fd`. What it led to before, to be dropped without a lock held.
    pub(crate) fn duplicate(&mut self, fd: RawFd, copy: RawFd) -> Option<Arc<OpenFile>> {
        let file = self.table.get(&fd).map(|descriptor| descriptor.file.clone())?;
        let descriptor = Descriptor { file, inherited: false, reference: None };
        self.table.insert(copy, descriptor).map(|descriptor| descriptor.file)
    }

    /// The descriptors that a forked child inherits.
    pub(crate) fn inherited(&self) -> Descriptors {
        let inherit = |(&fd, d): (&RawFd, &Descriptor)| {
            (fd, Descriptor { file: d.file.clone(), inherited: true, reference: None })
        };
        Descriptors { table: self.table.iter().map(inherit).collect() }
    }

    /// Forgets a descriptor. The file, to be dropped without a lock held, and whether the number
    /// is to be closed.
    pub(crate) fn remove(&mut self, fd: RawFd) -> (Option<Arc<OpenFile>>, bool) {
        match self.table.remove(&fd) {
            Some(descriptor) => (Some(descriptor.file), !descriptor.inherited),
            None => (None, true),
        }
    }

    /// All open files; one with several descriptors may come as often.
    pub(crate) fn files(&self) -> Vec<Arc<OpenFile>> {
        self.table.values().map(|descriptor| descriptor.file.clone()).collect()
    }

    /// Everything, as at the end of the process: files, and the numbers that are to be closed.
    pub(crate) fn take(&mut self) -> Vec<(RawFd, Arc<OpenFile>, bool)> {
        self.table.drain().map(|(fd, d)| (fd, d.file, !d.inherited)).collect()
    }
}

/// What [`Descriptors::get`] found.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    pub(crate) file: Option<Arc<OpenFile>>,
    _stale: Option<Arc<OpenFile>>,
}

/// Whether two descriptors of this process share an open file description; one that is closed shares none.
fn is_same_file(a: RawFd, b: RawFd) -> Result<bool, Errno> {
    const KCMP_FILE: i32 = 0;
    // SAFETY: kcmp only compares.
    let order = unsafe {
        let pid = libc::getpid();
        libc::syscall(libc::SYS_kcmp, pid, pid, KCMP_FILE, a as usize, b as usize)
    };
    match order {
        0.. => Ok(order == 0),
        _ if Errno::last() == Errno::EBADF => Ok(false),
        _ => Err(Errno::last()),
    }
}

/// Another descriptor of the same file, closed on exec.
fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: makes a descriptor and changes none.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(Errno::last());
    }
    // SAFETY: just made, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Device and number of the inode that a descriptor leads to.
///
/// # Errors
/// EBADF when it leads nowhere.
pub(crate) fn identity(fd: RawFd) -> Result<(u64, u64), Errno> {
    // SAFETY: all zeros are a status, which the kernel fills in.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::syscall(libc::SYS_fstat, fd, &raw mut status) < 0 {
            return Err(Errno::last());
        }
        Ok((status.st_dev, status.st_ino))
    }
}

/// Whether execve(2) closes the descriptor.
pub(crate) fn set_close_on_exec(fd: &OwnedFd, closed: bool) -> Result<(), Errno> {
    let flags = if closed { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: changes a flag of a descriptor that the caller owns.
    let result = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, flags) };
    if result < 0 { Err(Errno::last()) } else { Ok(()) }
}

/// close(2).
pub(crate) fn close(fd: RawFd) -> Result<(), Errno> {
    // SAFETY: the number is the caller's to close.
    if unsafe { libc::close(fd) } < 0 { Err(Errno::last()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_compared() {
        let file = crate::board::memfd(c"one").unwrap();
        let other = crate::board::memfd(c"two").unwrap();
        let copy = duplicate(file.as_raw_fd()).unwrap();
        assert_eq!(is_same_file(file.as_raw_fd(), copy.as_raw_fd()), Ok(true));
        assert_eq!(is_same_file(file.as_raw_fd(), other.as_raw_fd()), Ok(false));
        assert_eq!(is_same_file(file.as_raw_fd(), -1), Ok(false));
    }
}
