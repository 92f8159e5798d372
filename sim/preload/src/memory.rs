//! Mapping memory. The machine must hear of every mapping that goes, because devices may use it.
#![expect(unsafe_code, reason = "functions of libc's names")]

use crate::descriptors::{Owner, is_dma_buf, owner};
use crate::inside::{Inside, returned, set_errno};
use crate::log::{self, Outcome};
use crate::raw::call;
use crate::state::{self, State};
use libc::off_t;
use selvedge_sys::{Errno, MapFlags, Protection, System};
use std::ffi::{c_int, c_void};
use std::fmt;

/// The kind of a mapping: `MAP_SHARED`, `MAP_PRIVATE`, `MAP_SHARED_VALIDATE`.
const TYPE: c_int = 0xf;
const SHARED_VALIDATE: c_int = 3;

/// The machine, if it exists and the process is not a child that shares its parent's memory until it executes
/// something; and what says that the simulator is at work.
fn machine() -> Option<(&'static State, Inside)> {
    let state = state::current()?;
    Some((state, Inside::enter()?))
}

/// The arguments of mmap(2).
#[derive(Clone, Copy)]
struct Mapping {
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: u64,
}

impl Mapping {
    /// # Safety
    /// As mmap(2).
    unsafe fn by_kernel(self) -> *mut c_void {
        let Mapping { address, length, protection, flags, fd, offset } = self;
        // SAFETY: the caller's promise.
        unsafe { call!(SYS_mmap, address, length, protection, flags, fd, offset) as *mut c_void }
    }

    /// # Safety
    /// As mmap(2).
    unsafe fn by_machine(self) -> Result<*mut c_void, Errno> {
        let Some((state, _inside)) = machine() else { return Err(Errno::EAGAIN) };
        // The kernel would refuse the flags that it does not know; drivers know none.
        let flags = match self.flags & TYPE {
            SHARED_VALIDATE => self.flags & !TYPE | libc::MAP_SHARED,
            _ => self.flags,
        };
        let protection = Protection::from_bits_retain(self.protection);
        let flags = MapFlags::from_bits_retain(flags);
        // SAFETY: the caller's promise.
        let result = unsafe {
            state.process.mmap(self.address, self.length, protection, flags, self.fd, self.offset)
        };
        if let Some(recorder) = &state.recorder {
            let numbers = [self.fd, self.protection, self.flags];
            let address = result.map(|pointer| pointer.expose_provenance() as u64);
            recorder.mapped(numbers, self.length as u64, self.offset, address);
        }
        let said = result.map(|pointer| format!("{pointer:p}"));
        log::line(format_args!("mmap {self} = {}", Outcome(said)));
        result
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mapping { address, length, protection, flags, fd, offset } = *self;
        write!(f, "{fd} at {address:p} length {length:#x} ")?;
        write!(f, "protection {protection:#x} flags {flags:#x} offset {offset:#x}")
    }
}

/// The record hears of a range that goes.
fn unmaps(state: &State, address: *mut c_void, length: usize) {
    if let Some(recorder) = &state.recorder {
        recorder.unmaps(address.addr() as u64, length as u64);
    }
}

/// A range of the address space now shows, or is about to show, something that is not the machine's.
fn lost(address: *mut c_void, length: usize) {
    if let Some((state, _inside)) = machine() {
        unmaps(state, address, length);
        state.process.lost(address.addr() as u64, length as u64);
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let offset = offset.cast_unsigned();
    let mapping = Mapping { address, length, protection, flags, fd, offset };
    let owner = if flags & libc::MAP_ANONYMOUS == 0 { owner(fd) } else { Owner::Kernel };
    let result = match owner {
        Owner::Kernel if flags & libc::MAP_ANONYMOUS == 0 && is_dma_buf(fd) => {
            // It came from another process, or by exec.
            // SAFETY: libc's own contract.
            Inside::enter()
                .map(|_inside| state::get().map(drop))
                .transpose()
                .and_then(|_| unsafe { mapping.by_machine() })
        }
        Owner::Kernel => {
            if flags & libc::MAP_FIXED != 0 {
                lost(address, length);
            }
            // SAFETY: libc's own contract.
            return unsafe { mapping.by_kernel() };
        }
        // kfd_chardev.c, `kfd_mmap`: the process has no kfd_process.
        Owner::Parent => Err(Errno::EINVAL),
        // SAFETY: libc's own contract.
        Owner::Machine => unsafe { mapping.by_machine() },
    };
    result.unwrap_or_else(|errno| {
        set_errno(errno.0);
        libc::MAP_FAILED
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: libc's own contract.
    unsafe { mmap(address, length, protection, flags, fd, offset) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    match machine() {
        Some((state, inside)) => {
            unmaps(state, address, length);
            // SAFETY: libc's own contract.
            let result = unsafe { state.process.munmap(address, length) }.map(|()| 0);
            drop(inside);
            returned(result)
        }
        // SAFETY: libc's own contract.
        None => unsafe { call!(SYS_munmap, address, length) as c_int },
    }
}

/// mremap(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn mremap(
    address: *mut c_void,
    length: usize,
    new_length: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    if flags & libc::MREMAP_FIXED != 0 {
        lost(new_address, new_length);
    }
    // SAFETY: libc's own contract.
    let ask = || unsafe {
        call!(SYS_mremap, address, length, new_length, flags, new_address) as *mut c_void
    };
    let Some((state, inside)) = machine() else { return ask() };
    unmaps(state, address, length);
    let old = (address.addr() as u64, length as u64);
    let stays = flags & libc::MREMAP_DONTUNMAP != 0;
    let result = state.process.remap(old, new_length as u64, stays, || {
        let pointer = ask();
        if pointer == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(pointer as u64) }
    });
    drop(inside);
    match result {
        Ok(address) => std::ptr::with_exposed_provenance_mut(address as usize),
        Err(errno) => {
            set_errno(errno.0);
            libc::MAP_FAILED
        }
    }
}
