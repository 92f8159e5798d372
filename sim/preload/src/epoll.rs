//! epoll(7) on the machine's descriptors.
//!
//! For the kernel all of them are files of memory, which epoll refuses. That is right for the KFD, whose file has no poll
//! method. In place of the others it gets a descriptor that is as ready as they are: a dma-buf always (nothing that it
//! would wait for is ever pending), a render node never.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, is_dma_buf, owner};
use crate::inside::{Inside, returned};
use crate::raw::{self, call};
use crate::readiness::ready;
use crate::state;
use libc::{epoll_event, pollfd};
use selvedge_sys::{Errno, fork};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What stands for a descriptor, by the epoll's and its number.
static WATCHED: Mutex<BTreeMap<(c_int, c_int), OwnedFd>> = Mutex::new(BTreeMap::new());
/// How many there are, and one more than the generation of the process that has them: nobody else locks.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static GENERATION: AtomicUsize = AtomicUsize::new(0);

fn watched() -> MutexGuard<'static, BTreeMap<(c_int, c_int), OwnedFd>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stand_in(is_ready: bool) -> Result<OwnedFd, Errno> {
    // A counter that is not zero can be read and written; a timer that is not set never expires.
    // SAFETY: these make descriptors.
    let fd = unsafe {
        if is_ready {
            call!(SYS_eventfd2, 1, libc::EFD_CLOEXEC) as c_int
        } else {
            call!(SYS_timerfd_create, libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) as c_int
        }
    };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: just made, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(raw::out_of_the_way(fd)) })
}

/// Whether the machine watches the descriptor itself, and then whether it is ready.
fn is_ready(fd: c_int) -> Option<bool> {
    let is_machines = match owner(fd) {
        Owner::Machine => {
            let _inside = Inside::enter()?;
            // The KFD's has no poll method: the kernel refuses the file of memory, too.
            state::current()?
                .process
                .device(fd)
                .is_none_or(|(major, _)| major == crate::paths::DRM_MAJOR)
        }
        Owner::Kernel => return is_dma_buf(fd).then_some(true),
        Owner::Parent => false,
    };
    let entry = pollfd { fd, events: libc::POLLIN | libc::POLLOUT, revents: 0 };
    is_machines.then(|| ready(&entry).is_some_and(|events| events != 0))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: libc's own contract.
    let ask = |fd: c_int| unsafe { call!(SYS_epoll_ctl, epoll, operation, fd, event) as c_int };
    let Some(is_ready) = is_ready(fd) else { return ask(fd) };
    let Some(inside) = Inside::enter() else { return ask(fd) };
    let result = change((epoll, fd), operation, is_ready, ask);
    drop(inside);
    returned(result)
}

fn change(
    key: (c_int, c_int),
    operation: c_int,
    is_ready: bool,
    ask: impl Fn(c_int) -> c_int,
) -> Result<c_int, Errno> {
    let mut watched = watched();
    GENERATION.store(fork::generation() as usize + 1, Ordering::Release);
    let asked = |fd: c_int| if ask(fd) < 0 { Err(Errno::last()) } else { Ok(0) };
    let result = match (operation, watched.get(&key)) {
        (libc::EPOLL_CTL_ADD, Some(_)) => Err(Errno::EEXIST),
        (libc::EPOLL_CTL_ADD, None) => {
            let stand_in = stand_in(is_ready)?;
            asked(stand_in.as_raw_fd()).inspect(|_| {
                watched.insert(key, stand_in);
            })
        }
        (_, None) => Err(Errno::ENOENT),
        (_, Some(stand_in)) => {
            let result = asked(stand_in.as_raw_fd());
            if operation == libc::EPOLL_CTL_DEL {
                watched.remove(&key);
            }
            result
        }
    };
    COUNT.store(watched.len(), Ordering::Release);
    result
}

/// This process has closed a descriptor, an epoll's or one that is watched: what stands for it goes, too.
pub(crate) fn closed(fd: c_int) {
    let own = || {
        GENERATION.load(Ordering::Acquire) == fork::generation() as usize + 1
            && state::current().is_some_and(|state| state.pid == raw::getpid())
    };
    if COUNT.load(Ordering::Acquire) == 0 || !own() {
        return;
    }
    let Some(_inside) = Inside::enter() else { return };
    let mut watched = watched();
    watched.retain(|&(epoll, watched), _| epoll != fd && watched != fd);
    COUNT.store(watched.len(), Ordering::Release);
}
