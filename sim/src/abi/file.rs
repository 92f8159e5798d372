//! Open files and the descriptors of a process.
#![expect(unsafe_code, reason = "close, fcntl and kcmp")]

use super::buffer::Buffer;
use super::drm::RenderFile;
use super::kfd::KfdProcess;
use crate::count::Token;
use selvedge_sys::{Errno, OpenMode};
use std::collections::HashMap;
use std::os::fd::RawFd;
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
    SmiEvents,
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
}

/// The descriptors of a process that lead to files of the machine.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    table: HashMap<RawFd, Descriptor>,
}

impl Descriptors {
    pub(crate) fn insert(&mut self, fd: RawFd, file: Arc<OpenFile>) {
        self.table.insert(fd, Descriptor { file, inherited: false });
    }

    /// The file of a descriptor. One that was made by dup(2) behind the machine's back is recognised.
    pub(crate) fn get(&mut self, fd: RawFd) -> Option<Arc<OpenFile>> {
        if let Some(descriptor) = self.table.get(&fd) {
            return Some(descriptor.file.clone());
        }
        let known = self.table.iter().find(|&(&known, _)| is_same_file(fd, known));
        let file = known?.1.file.clone();
        self.insert(fd, file.clone());
        Some(file)
    }

    /// The descriptors that a forked child inherits.
    pub(crate) fn inherited(&self) -> Descriptors {
        let inherit = |(&fd, d): (&RawFd, &Descriptor)| {
            (fd, Descriptor { file: d.file.clone(), inherited: true })
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

    /// Everything, as at the end of the process: files, and the numbers that are to be closed.
    pub(crate) fn take(&mut self) -> Vec<(RawFd, Arc<OpenFile>, bool)> {
        self.table.drain().map(|(fd, d)| (fd, d.file, !d.inherited)).collect()
    }
}

/// Whether two descriptors of this process share an open file description.
fn is_same_file(a: RawFd, b: RawFd) -> bool {
    const KCMP_FILE: i32 = 0;
    // SAFETY: kcmp only compares.
    let order = unsafe {
        let pid = libc::getpid();
        libc::syscall(libc::SYS_kcmp, pid, pid, KCMP_FILE, a as usize, b as usize)
    };
    order == 0
}

/// close(2).
pub(crate) fn close(fd: RawFd) -> Result<(), Errno> {
    // SAFETY: the number is the caller's to close.
    if unsafe { libc::close(fd) } < 0 { Err(Errno::last()) } else { Ok(()) }
}
