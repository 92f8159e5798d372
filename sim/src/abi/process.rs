//! A Linux process on the machine.
#![expect(unsafe_code, reason = "implements the seam: mmap, munmap and descriptors")]

use super::buffer::Buffer;
use super::exchange::Call;
use super::file::{Descriptors, Lookup, Node, OpenFile, close, identity};
use super::kfd::KfdProcess;
use super::mappings::Mappings;
use super::{drm, kfd, sysfs, user};
use crate::board::memfd;
use crate::fault::Node as FaultNode;
use crate::machine::Shared;
use crate::memory::Backing;
use selvedge_sys::uapi::number;
use selvedge_sys::{Errno, Linux, MapFlags, OpenMode, Protection, Readiness, System, fork};
use std::ffi::{OsString, c_void};
use std::os::fd::{IntoRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// Identities of simulated processes, far from addresses and small numbers.
static NEXT_IDENTITY: AtomicUsize = AtomicUsize::new(usize::MAX / 2);

/// A Linux process on a simulated machine: an implementor of [`System`].
///
/// It lives inside this process of the host: its address space is ours, its file descriptors are
/// real ones. Several can be on one machine at once. After a real fork, the child's calls on inherited
/// device files fail as the kernel's do (EBADF from ioctl, EINVAL from mmap), and opening device files
/// in it fails with ENODEV: the threads that play the hardware are in the parent.
#[derive(Debug)]
pub struct Process {
    machine: Arc<Shared>,
    /// The simulated process id.
    pid: u32,
    /// The generation of the host process it was made in.
    generation: u32,
    /// Which of all simulated processes this is.
    identity: usize,
    /// Whether it has ended, so that calls which wait are to return.
    exited: AtomicBool,
    descriptors: Mutex<Descriptors>,
    mappings: Mutex<Mappings>,
    /// The primary kfd_process: made at the first open of /dev/kfd, kept until the end of the process.
    primary: Mutex<Option<Arc<KfdProcess>>>,
    token: Mutex<Option<crate::count::Token>>,
    /// Who is told of new descriptors.
    watch: OnceLock<fn(RawFd)>,
}

/// Memory behind a range that mmap is asked for: an offset in the board's file, and the bytes.
pub(crate) type Mappable = (u64, Arc<Backing>);

fn ignore_poison<T>(result: Result<T, PoisonError<T>>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

fn io(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::ENOMEM))
}

impl Process {
    pub(crate) fn new(machine: Arc<Shared>) -> Arc<Process> {
        let pid = machine.new_pid();
        Self::with_descriptors(machine, pid, Descriptors::default())
    }

    pub(crate) fn with_pid(machine: Arc<Shared>, pid: u32) -> Arc<Process> {
        Self::with_descriptors(machine, pid, Descriptors::default())
    }

    fn with_descriptors(machine: Arc<Shared>, pid: u32, descriptors: Descriptors) -> Arc<Process> {
        Arc::new(Process {
            pid,
            generation: fork::generation(),
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            exited: AtomicBool::new(false),
            descriptors: Mutex::new(descriptors),
            mappings: Mutex::new(Mappings::new(machine.counters.cpu_mappings.clone())),
            primary: Mutex::default(),
            token: Mutex::new(Some(machine.counters.processes.token())),
            watch: OnceLock::new(),
            machine,
        })
    }

    /// A child, as fork(2) makes one: it inherits the descriptors and nothing else of the device's.
    pub fn fork(&self) -> Arc<Process> {
        let pid = self.machine.new_pid();
        Self::with_descriptors(self.machine.clone(), pid, self.descriptors().inherited())
    }

    /// Ends the process, as exit(2) and signals do: first its descriptors go, then the primary kfd_process with
    /// the address space. Whoever still holds this value finds every descriptor closed, and threads that wait in an
    /// ioctl return from it with EINTR. Dropping the last reference does the same.
    pub fn exit(&self) {
        self.exited.store(true, Ordering::Release);
        let files = self.descriptors().take();
        let own = files.iter().map(|(_, file, _)| file).filter(|file| file.pid == self.pid);
        let contexts = own.filter_map(|file| file.kfd_process());
        contexts.chain(self.existing_primary()).for_each(|context| context.interrupt_waits());
        for (fd, file, ours) in files {
            if ours {
                let _ = close(fd);
            }
            drop(file);
        }
        let primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(primary);
        self.mappings().clear();
        self.token.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// dup(2) has made `copy` of the descriptor `fd`, which is the machine's.
    pub fn duplicated(&self, fd: RawFd, copy: RawFd) {
        let replaced = self.descriptors().duplicate(fd, copy);
        drop(replaced);
    }

    /// A descriptor of the machine's is closed already, or its number leads elsewhere, as after dup2(2).
    pub fn closed(&self, fd: RawFd) {
        let (file, _) = self.descriptors().remove(fd);
        drop(file);
    }

    /// From now on `watch` is told of every descriptor that leads to a new file of the machine's, before the call that
    /// makes it returns. It can be set once.
    pub fn watch_descriptors(&self, watch: fn(RawFd)) {
        let _ = self.watch.set(watch);
    }

    /// Major and minor number of the device that a descriptor leads to.
    pub fn device(&self, fd: RawFd) -> Option<(u32, u32)> {
        match &self.file(fd)?.node {
            Node::Kfd(_) => Some((sysfs::KFD_MAJOR, 0)),
            Node::Render(render) => {
                Some((sysfs::DRM_MAJOR, self.machine.gpus[render.gpu].render_minor))
            }
            Node::DmaBuf(_) | Node::SmiEvents(_) => None,
        }
    }

    /// Whether the host's own poll(2) knows when a descriptor of the machine's is ready.
    pub fn polls_as_the_hosts(&self, fd: RawFd) -> bool {
        self.file(fd).is_some_and(|file| matches!(file.node, Node::SmiEvents(_)))
    }

    /// A range of the address space has been, or is about to be, mapped from elsewhere, moved or unmapped by other
    /// means than the verbs of [`System`].
    pub fn lost(&self, start: u64, length: u64) {
        self.forget(start, length);
    }

    /// mremap(2) of `length` bytes at `start` to `new_length`, which `remap` asks the host for: where they are then.
    /// Mappings of the machine's files move as others do, but do not grow (`VM_DONTEXPAND` and `VM_PFNMAP` of
    /// ttm_bo_vm.c and kfd_chardev.c; mm/mremap.c, `check_prep_vma`), and leave nothing behind where they were.
    ///
    /// # Errors
    /// EFAULT for one that is to grow, EINVAL for one that is to `stay` also; what `remap` says.
    pub fn remap(
        &self,
        (start, length): (u64, u64),
        new_length: u64,
        stay: bool,
        remap: impl FnOnce() -> Result<u64, Errno>,
    ) -> Result<u64, Errno> {
        let Some(pages) = user::pages(start, length.max(1)).filter(|_| !self.is_forked()) else {
            return remap();
        };
        let shown = self.mappings().within(pages.start, pages.end);
        if !shown.is_empty() {
            if stay {
                return Err(Errno::EINVAL);
            }
            if new_length.div_ceil(4096) > length.div_ceil(4096) {
                return Err(Errno::EFAULT);
            }
        }
        self.forget(start, length);
        let result = remap();
        let (to, kept) = match result {
            Ok(to) => (to, new_length.next_multiple_of(4096)),
            Err(_) => (start, pages.end - pages.start),
        };
        let mut mappings = self.mappings();
        for (from, end, backing) in shown {
            let (from, end) = (from - pages.start, (end - pages.start).min(kept));
            if from < end {
                mappings.insert(to + from, to + end, backing);
            }
        }
        result
    }

    /// The simulated process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn machine(&self) -> &Arc<Shared> {
        &self.machine
    }

    fn descriptors(&self) -> MutexGuard<'_, Descriptors> {
        self.descriptors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mappings(&self) -> MutexGuard<'_, Mappings> {
        self.mappings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this is a forked child of the host process that the machine is in.
    fn is_forked(&self) -> bool {
        fork::generation() != self.generation
    }

    /// Whether [`exit`](Process::exit) was called.
    pub(crate) fn has_exited(&self) -> bool {
        self.exited.load(Ordering::Acquire)
    }

    /// The open file of a descriptor (`fget`). A forked child whose parent's other threads were at the table
    /// just then knows none.
    pub(crate) fn file(&self, fd: RawFd) -> Option<Arc<OpenFile>> {
        let found = if self.is_forked() {
            match self.descriptors.try_lock() {
                Ok(mut descriptors) => descriptors.get(fd),
                Err(TryLockError::Poisoned(descriptors)) => descriptors.into_inner().get(fd),
                Err(TryLockError::WouldBlock) => Ok(Lookup::default()),
            }
        } else {
            self.descriptors().get(fd)
        };
        let lookup = found.unwrap_or_else(|errno| {
            let what = "descriptors made by dup(2), where the host does not allow kcmp(2)";
            self.machine.refuse(format!("{what}: {errno}"));
            Lookup::default()
        });
        lookup.file
    }

    /// The buffer of a dma-buf's descriptor. One that came from elsewhere, by a socket, fork or exec, is known by its
    /// inode.
    ///
    /// # Errors
    /// EBADF when there is no such descriptor, EINVAL when it leads to something else (drivers/dma-buf/dma-buf.c,
    /// `dma_buf_get`).
    pub(crate) fn dma_buf(&self, fd: RawFd) -> Result<Arc<Buffer>, Errno> {
        match self.file(fd).as_deref().map(|file| &file.node) {
            Some(Node::DmaBuf(buffer)) => Ok(buffer.clone()),
            Some(_) => Err(Errno::EINVAL),
            None => {
                let (device, inode) = identity(fd)?;
                Buffer::import(&self.machine, device, inode)
            }
        }
    }

    /// Gives a new open file a descriptor.
    pub(crate) fn install(&self, fd: OwnedFd, node: Node, mode: OpenMode) -> RawFd {
        let fd = fd.into_raw_fd();
        let _token = self.machine.counters.files.token();
        let file = OpenFile { node, mode, pid: self.pid, _token };
        self.descriptors().insert(fd, Arc::new(file));
        if let Some(watch) = self.watch.get() {
            watch(fd);
        }
        fd
    }

    /// The primary kfd_process, made when there is none yet (kfd_process.c, `kfd_create_process`).
    fn primary(&self) -> Arc<KfdProcess> {
        let mut primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner);
        primary.get_or_insert_with(|| KfdProcess::new(&self.machine, self.pid, true)).clone()
    }

    /// The primary kfd_process, if there is one.
    pub(crate) fn existing_primary(&self) -> Option<Arc<KfdProcess>> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A range of the address space is about to show something else or nothing: devices lose it first. One that
    /// the kernel will not touch stays.
    fn forget(&self, start: u64, length: u64) {
        if self.is_forked() {
            return;
        }
        let Some(pages) = user::pages(start, length) else { return };
        if let Some(primary) = self.existing_primary() {
            primary.forget_user_memory(pages.start, pages.end);
        }
        let files = self.descriptors().files();
        for render in files.iter().filter_map(|file| file.render()) {
            render.forget_user_memory(pages.start, pages.end);
        }
        self.mappings().remove(pages.start, pages.end);
    }

    fn mappable(
        &self,
        file: &OpenFile,
        offset: u64,
        length: u64,
        cow: bool,
    ) -> Result<Mappable, Errno> {
        match &file.node {
            Node::Kfd(_) if file.pid != self.pid && self.existing_primary().is_none() => {
                Err(Errno::EINVAL)
            }
            Node::Kfd(_) => {
                file.kfd_process().ok_or(Errno::EINVAL)?.mmap(&self.machine, offset, length)
            }
            Node::Render(render) => render.mmap(offset, length, cow),
            Node::DmaBuf(buffer) => buffer.mmap(offset, length, cow),
            Node::SmiEvents(_) => Err(Errno::ENODEV),
        }
    }
}

// SAFETY: mmap maps either what libc's would or a part of the board's file, at an address the host's kernel
// chose or the caller owns; ioctls write to user memory only through `user`, where the UAPI says.
unsafe impl System for Process {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<RawFd, Errno> {
        self.machine.faults.open()?;
        if self.is_forked() {
            return Err(Errno::ENODEV);
        }
        let host = &self.machine.host;
        if path == Path::new("/dev/kfd") {
            if !host.driver {
                return Err(Errno::ENOENT);
            }
            if !host.kfd_permission {
                return Err(Errno::EACCES);
            }
            let fd = memfd(c"kfd").map_err(io)?;
            return Ok(self.install(fd, Node::Kfd(Mutex::new(self.primary())), mode));
        }
        let minor = path.to_str().and_then(|p| p.strip_prefix("/dev/dri/renderD"));
        let gpu = minor.and_then(|minor| minor.parse().ok()).and_then(|minor: u32| {
            self.machine.gpus.iter().position(|gpu| gpu.render_minor == minor)
        });
        let Some(gpu) = gpu else { return Err(Errno::ENOENT) };
        if !host.render_permission {
            return Err(Errno::EACCES);
        }
        let fd = self.machine.memory.reopen().map_err(io)?;
        Ok(self.install(fd, Node::Render(drm::RenderFile::new(&self.machine, gpu)), mode))
    }

    fn close(&self, fd: RawFd) -> Result<(), Errno> {
        if self.is_forked() {
            return close(fd);
        }
        let (file, ours) = self.descriptors().remove(fd);
        let result = if ours { close(fd) } else { Ok(()) };
        drop(file);
        result
    }

    unsafe fn ioctl(&self, fd: RawFd, request: u32, argument: *mut c_void) -> Result<i32, Errno> {
        if self.is_forked() {
            return Err(Errno::EBADF);
        }
        let Some(file) = self.file(fd) else {
            if self.has_exited() {
                // Whatever has the number now, it is none of this process.
                return Err(Errno::EBADF);
            }
            // SAFETY: the caller vouches for the argument.
            return unsafe { Linux.ioctl(fd, request, argument) };
        };
        let call = Call::by_number(request, argument.expose_provenance() as u64);
        match &file.node {
            Node::Kfd(_) => {
                self.machine.faults.ioctl(FaultNode::Kfd, number(request))?;
                kfd::ioctl(self, &file, call)
            }
            Node::Render(render) => {
                self.machine.faults.ioctl(FaultNode::Render, number(request))?;
                drm::ioctl(self, render, call)
            }
            Node::DmaBuf(_) | Node::SmiEvents(_) => Err(Errno::ENOTTY),
        }
    }

    unsafe fn mmap(
        &self,
        address: *mut c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<*mut c_void, Errno> {
        let is_file = !flags.contains(MapFlags::ANONYMOUS) && !self.is_forked();
        let file = is_file.then(|| self.file(fd)).flatten();
        let came = match &file {
            // One of the board's that this process did not make, or made in another life.
            None if is_file && !self.has_exited() => self.dma_buf(fd).ok(),
            _ => None,
        };
        let Some(mode) =
            file.as_ref().map(|file| file.mode).or(came.as_ref().map(|_| OpenMode::ReadWrite))
        else {
            if self.is_forked() && !flags.contains(MapFlags::ANONYMOUS) {
                return Err(Errno::EINVAL);
            }
            if flags.contains(MapFlags::FIXED) {
                self.forget(address as u64, length as u64);
            }
            // SAFETY: the caller's promise is passed on.
            return unsafe { Linux.mmap(address, length, protection, flags, fd, offset) };
        };
        self.machine.faults.mmap()?;
        let shared = flags.contains(MapFlags::SHARED);
        if length == 0
            || !offset.is_multiple_of(4096)
            || shared == flags.contains(MapFlags::PRIVATE)
        {
            return Err(Errno::EINVAL);
        }
        let writes = protection.contains(Protection::WRITE);
        if shared && writes && mode == OpenMode::ReadOnly {
            return Err(Errno::EACCES);
        }
        // No place for it in any address space (`get_unmapped_area`, before the driver is asked).
        let pages = user::pages(0, length as u64).ok_or(Errno::ENOMEM)?.end;
        let cow = !shared && writes;
        let (at, backing) = match (&file, &came) {
            (Some(file), _) => self.mappable(file, offset, pages, cow)?,
            (None, Some(buffer)) => buffer.mmap(offset, pages, cow)?,
            (None, None) => return Err(Errno::EBADF),
        };
        // Private mappings of device memory show the device's bytes as shared ones do.
        let flags = flags.difference(MapFlags::PRIVATE) | MapFlags::SHARED;
        let board = self.machine.memory.fd();
        if flags.contains(MapFlags::FIXED) {
            self.forget(address as u64, length as u64);
        }
        // SAFETY: with MAP_FIXED the range is the caller's.
        let pointer = unsafe { Linux.mmap(address, length, protection, flags, board, at)? };
        self.mappings().insert(pointer as u64, pointer as u64 + pages, backing);
        // SAFETY: the range was just mapped, and keeps its bytes. VM_DONTDUMP (ttm_bo_vm.c, `ttm_bo_mmap_obj`).
        unsafe { libc::madvise(pointer, length, libc::MADV_DONTDUMP) };
        if let Some(context) = file.and_then(|file| file.kfd_process()) {
            context.mapped(offset, pages);
            // VM_DONTCOPY of kfd_doorbell_mmap, kfd_event_mmap and kfd_mmio_mmap.
            // SAFETY: the range was just mapped.
            unsafe { Linux.keep_from_children(pointer, length)? };
        }
        Ok(pointer)
    }

    unsafe fn munmap(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        self.forget(address as u64, length as u64);
        // SAFETY: the caller's promise is passed on.
        unsafe { Linux.munmap(address, length) }
    }

    unsafe fn keep_from_children(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promise is passed on.
        unsafe { Linux.keep_from_children(address, length) }
    }

    fn poll(&self, fd: RawFd, timeout: Option<Duration>) -> Result<Readiness, Errno> {
        match self.file(fd).as_deref().map(|file| &file.node) {
            // A file without a poll method is always ready (DEFAULT_POLLMASK).
            Some(Node::Kfd(_) | Node::DmaBuf(_)) => Ok(Readiness { readable: true, error: false }),
            // No events ever come. poll(2) of no descriptor waits just so.
            Some(Node::Render(_)) => Linux.poll(-1, timeout),
            Some(Node::SmiEvents(_)) | None => Linux.poll(fd, timeout),
        }
    }

    fn read(&self, fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self.file(fd).as_deref().map(|file| &file.node) {
            Some(Node::Kfd(_) | Node::DmaBuf(_)) => Err(Errno::EINVAL),
            Some(Node::Render(_)) => Err(Errno::EAGAIN),
            Some(Node::SmiEvents(_)) | None => Linux.read(fd, buffer),
        }
    }

    fn write(&self, fd: RawFd, buffer: &[u8]) -> Result<usize, Errno> {
        match self.file(fd).as_deref().map(|file| &file.node) {
            // Neither node has such a method (fs/read_write.c, `vfs_write`), nor has a dma-buf.
            Some(Node::Kfd(_) | Node::Render(_) | Node::DmaBuf(_)) => Err(Errno::EINVAL),
            Some(Node::SmiEvents(file)) => file.write(buffer),
            None => Linux.write(fd, buffer),
        }
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        if sysfs::is_changing(path) {
            self.machine.files.with(self.machine.memory.files()).read(path)
        } else if sysfs::is_ours(path) {
            self.machine.files.read(path)
        } else {
            Linux.read_file(path)
        }
    }

    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        if sysfs::is_changing(path) {
            self.machine.files.with(self.machine.memory.files()).list(path)
        } else if sysfs::is_ours(path) {
            self.machine.files.list(path)
        } else {
            Linux.list_directory(path)
        }
    }

    fn identity(&self) -> usize {
        self.identity
    }

    fn description(&self) -> String {
        let names: Vec<&str> = self.machine.gpus.iter().map(|gpu| gpu.board.gpu.name).collect();
        if names.is_empty() {
            "simulated machine without a GPU".to_owned()
        } else {
            format!("simulated {}", names.join(", "))
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.is_forked() {
            // Queues have no threads here, and the memory is the parent's.
            std::mem::forget(std::mem::take(ignore_poison(self.descriptors.get_mut())));
            std::mem::forget(ignore_poison(self.primary.get_mut()).take());
            return;
        }
        self.exit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A forked child waits for no lock that a thread of its parent held.
    #[test]
    fn polling_after_a_fork() {
        let machine = crate::Machine::with_gpu("gfx1151").unwrap();
        let process = machine.process();
        let fd = process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
        let held = process.descriptors();
        // SAFETY: the child makes system calls and leaves without unwinding.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child, should it wait after all.
            unsafe { libc::alarm(10) };
            let polled = process.poll(fd, Some(Duration::ZERO));
            let read = process.read(fd, &mut [0; 8]);
            let ready = polled.is_ok_and(|polled| polled.readable);
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(!ready || read.is_ok_and(|count| count != 0))) };
        }
        let mut status = -1;
        // SAFETY: `child` is this process's child and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        drop(held);
    }
}
