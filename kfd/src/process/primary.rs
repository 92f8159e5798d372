//! The primary context: one for the Linux process and machine, however many values name it, and kept
//! when none does.
//!
//! The kernel's primary kfd_process lives until the Linux process ends, and with it the files that hold
//! its page tables, its event page and its runtime. So when the last [`Process`] value goes, these are
//! kept by number, and the next value takes them over.
//!
//! A machine that is gone before its process's end takes its descriptors with it.
#![expect(unsafe_code, reason = "what outlives a process value is taken over again by number")]

use super::{Description, Process, State, lock};
use crate::Result;
use crate::driver::Driver;
use crate::event::EventPage;
use crate::owner::Owner;
use crate::render::RenderFile;
use crate::reservation::{KeptRange, Reservation};
use selvedge_sys::{File, System};
use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

/// A process that someone may still use, and what stays when nobody does.
struct Entry {
    identity: usize,
    owner: Owner,
    process: Weak<Process>,
    system: Weak<dyn System>,
    kept: Option<Kept>,
}

/// The primary context between two uses.
#[derive(Debug)]
struct Kept {
    driver: RawFd,
    render_files: Vec<(u32, RawFd)>,
    event_page: Option<(KeptRange, Vec<u32>, u64)>,
    runtime_enabled: bool,
}

static PRIMARIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
/// Tells that a process's last value was dropped and its [`Kept`] is there.
static KEPT: Condvar = Condvar::new();

impl Entry {
    fn new(system: &Arc<dyn System>, process: Weak<Process>, kept: Option<Kept>) -> Entry {
        Entry {
            identity: system.identity(),
            owner: Owner::current(),
            process,
            system: Arc::downgrade(system),
            kept,
        }
    }

    /// Whether the last value is being dropped at this moment.
    fn is_in_between(&self) -> bool {
        self.process.strong_count() == 0 && self.kept.is_none()
    }
}

/// The primary context's value: the one that there is, or a new one. `driver` is an open /dev/kfd for a
/// process that has none yet.
pub(super) fn open(system: Arc<dyn System>, driver: Option<Driver>) -> Result<Arc<Process>> {
    let mut primaries = lock(&PRIMARIES);
    // The running kernel (identity 0) outlives every value that stands for it.
    let is_there = |entry: &Entry| entry.identity == 0 || entry.system.strong_count() != 0;
    primaries.retain(|entry| entry.owner.is_current() && is_there(entry));
    let identity = system.identity();
    while primaries.iter().any(|entry| entry.identity == identity && entry.is_in_between()) {
        primaries = KEPT.wait(primaries).unwrap_or_else(PoisonError::into_inner);
    }
    let position = primaries.iter().position(|entry| entry.identity == identity);
    let entry = position.map(|position| primaries.swap_remove(position));
    if let Some(process) = entry.as_ref().and_then(|entry| entry.process.upgrade()) {
        primaries.extend(entry);
        return Ok(process);
    }
    let kept = entry.and_then(|entry| entry.kept);
    let was_kept = kept.is_some();
    let (driver, state) = match (kept, driver) {
        // SAFETY: what was kept belongs to the same machine, and has left the list.
        (Some(kept), _) => unsafe { kept.revive(&system) },
        (None, Some(driver)) => (driver, State::default()),
        (None, None) => (Process::open_driver(&system)?, State::default()),
    };
    let (process, result) = match Description::read(&system, &driver) {
        Ok(description) => {
            let process = Process::build(system.clone(), driver, description, true, state);
            (Arc::downgrade(&process), Ok(process))
        }
        Err(error) if was_kept => {
            let kept = Some(Kept::new(driver, state));
            primaries.push(Entry::new(&system, Weak::new(), kept));
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    primaries.push(Entry::new(&system, process, None));
    result
}

impl Kept {
    fn new(driver: Driver, state: State) -> Kept {
        Kept {
            driver: driver.into_file().into_raw(),
            render_files: state
                .render_files
                .into_iter()
                // With the last process value, all devices are gone that shared the file.
                .filter_map(|(gpu_id, file)| {
                    Some((gpu_id, Arc::into_inner(file)?.into_file().into_raw()))
                })
                .collect(),
            event_page: state.event_page.and_then(EventPage::keep),
            runtime_enabled: state.runtime_enabled,
        }
    }

    /// Takes the primary context over again.
    ///
    /// # Safety
    /// It was kept from a process of the same machine and is taken over once.
    unsafe fn revive(self, system: &Arc<dyn System>) -> (Driver, State) {
        // SAFETY: the descriptors were given up by the process that opened them.
        let file = |fd| unsafe { File::from_raw(system, fd) };
        let render = |fd| Arc::new(RenderFile::new(file(fd)));
        let event_page = self.event_page.and_then(|(range, devices, handle)| {
            // SAFETY: so was the range.
            let range = unsafe { Reservation::from_kept(system, range)? };
            Some(EventPage::from_kept(range, devices, handle))
        });
        let state = State {
            render_files: self.render_files.into_iter().map(|(id, fd)| (id, render(fd))).collect(),
            devices: Vec::new(),
            event_page,
            runtime_enabled: self.runtime_enabled,
        };
        (Driver::from_file(file(self.driver)), state)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: nothing uses the driver after this.
        let driver = unsafe { ManuallyDrop::take(&mut self.driver) };
        if !self.is_primary || !self.owner.is_current() {
            return;
        }
        let state = std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        let kept = Kept::new(driver, state);
        let mut primaries = lock(&PRIMARIES);
        let identity = self.system.identity();
        // The entry was made with this process and stays until it is revived.
        if let Some(entry) = primaries.iter_mut().find(|entry| entry.identity == identity) {
            entry.kept = Some(kept);
        }
        KEPT.notify_all();
    }
}
