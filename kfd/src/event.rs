//! Events, and the page of slots through which devices name them.
#![expect(unsafe_code, reason = "slots are words of the event page")]

use crate::allocation::Memory;
use crate::reservation::{KeptRange, Reservation};
use crate::{AllocationFlags, Device, Error, PAGE_SIZE, Process, Result, uapi};
use selvedge_sys::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The event page, bytes: a slot of 8 for each signal event.
const PAGE_BYTES: u64 = uapi::SIGNAL_EVENT_LIMIT as u64 * 8;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Set by a device's interrupt that carries its id, or by [`Event::set`].
    Signal,
    /// Set when a device of this process faults on an address.
    Memory,
    /// Set when a device is reset.
    HardwareException,
}

impl EventKind {
    fn number(self) -> u32 {
        match self {
            EventKind::Signal => uapi::EVENT_SIGNAL,
            EventKind::Memory => uapi::EVENT_MEMORY,
            EventKind::HardwareException => uapi::EVENT_HW_EXCEPTION,
        }
    }
}

/// The page of slots: memory that this process gave to the kernel with its first event. The kernel
/// never gives it back (FREE_MEMORY_OF_GPU on it is EPERM), so it stays as long as its process.
#[derive(Debug)]
pub(crate) struct EventPage {
    memory: Memory,
    /// gpu_ids of the devices that can write slots.
    devices: Vec<u32>,
}

impl EventPage {
    /// Allocates the page on a device and hands it to the kernel.
    ///
    /// CREATE_EVENT with a page creates an event, too. It is never used, and takes id 0 where ids
    /// begin with it, which one path of the kernel's scan overlooks (kfd_events.c,
    /// `kfd_signal_event_interrupt`: the scan for many events begins at 1).
    pub(crate) fn create(process: &Process, device: &Device) -> Result<EventPage> {
        let gpu_id = device.gpu_id();
        let memory = Memory::allocate(device, PAGE_BYTES, PAGE_SIZE, page_flags())?;
        let result = memory.map(process, &[gpu_id]);
        if let Err(error) = result {
            memory.release(process, &[]);
            return Err(error);
        }
        let handle = memory.handle();
        let event_type = uapi::EVENT_SIGNAL;
        match process.driver().create_event(event_type, true, handle) {
            Ok(_) => Ok(EventPage { memory, devices: vec![gpu_id] }),
            Err(errno) => {
                memory.release(process, &[gpu_id]);
                Err(match errno {
                    Errno::EINVAL | Errno::EBUSY => Error::HeldByAnother {
                        what: "the process's event page",
                        holder: crate::holder::name(&**process.system()),
                        errno,
                    },
                    _ => Error::CreateEvent { event_type, errno },
                })
            }
        }
    }

    /// Gives up the page without unmapping it.
    pub(crate) fn keep(self) -> Option<(KeptRange, Vec<u32>, u64)> {
        let handle = self.memory.handle();
        Some((self.memory.into_reservation()?.keep(), self.devices, handle))
    }

    /// Takes the page over again.
    pub(crate) fn from_kept(range: Reservation, devices: Vec<u32>, handle: u64) -> EventPage {
        EventPage { memory: Memory::adopt(range, handle, page_flags()), devices }
    }

    /// Lets one more device write slots.
    pub(crate) fn map_to(&mut self, process: &Process, gpu_id: u32) -> Result<()> {
        if self.devices.contains(&gpu_id) {
            return Ok(());
        }
        self.memory.map(process, &[gpu_id])?;
        self.devices.push(gpu_id);
        Ok(())
    }
}

/// Device and CPU write slots with single stores, uncached.
fn page_flags() -> AllocationFlags {
    AllocationFlags::GTT
        | AllocationFlags::WRITABLE
        | AllocationFlags::EXECUTABLE
        | AllocationFlags::PUBLIC
        | AllocationFlags::COHERENT
        | AllocationFlags::UNCACHED
}

/// An event of the kernel, destroyed when dropped.
#[derive(Debug)]
pub struct Event {
    process: Arc<Process>,
    kind: EventKind,
    id: u32,
    /// The slot's address, or null.
    mailbox: usize,
    /// The last age that a wait has seen.
    age: AtomicU64,
}

impl Event {
    /// Creates an event. With `auto_reset`, a wait that sees it set resets it. `device`'s memory
    /// becomes the process's event page when there is none yet.
    ///
    /// # Errors
    /// [`Error::EventSlotsExhausted`], [`Error::HeldByAnother`] when another library gave the
    /// process its event page, [`Error::CreateEvent`]; what allocating the page can answer.
    pub fn create(device: &Device, kind: EventKind, auto_reset: bool) -> Result<Event> {
        let process = device.process();
        process.with_event_page(device, |page| {
            loop {
                let event_type = kind.number();
                let created = process.driver().create_event(event_type, auto_reset, 0);
                let created = created.map_err(|errno| match errno {
                    Errno::ENOSPC => Error::EventSlotsExhausted { slots: uapi::SIGNAL_EVENT_LIMIT },
                    _ => Error::CreateEvent { event_type, errno },
                })?;
                // Id 0 stays allocated and is never used, see `EventPage::create`.
                if kind == EventKind::Signal && created.event_id == 0 {
                    continue;
                }
                let slot = created.event_slot_index as usize;
                let mailbox = match kind {
                    EventKind::Signal if slot < uapi::SIGNAL_EVENT_LIMIT => {
                        page.memory.pointer() as usize + slot * 8
                    }
                    _ => 0,
                };
                return Ok(Event {
                    process: process.clone(),
                    kind,
                    id: created.event_id,
                    mailbox,
                    // Events are born with age 1 (kfd_events.c, `kfd_event_create`).
                    age: AtomicU64::new(1),
                });
            }
        })
    }

    /// The process it belongs to.
    pub fn process(&self) -> &Arc<Process> {
        &self.process
    }

    /// What it is about.
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// Its id: what a device writes into the mailbox and sends with its interrupt.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Address of its slot, for devices and the CPU; signal events have one. A device writes the id
    /// there before it interrupts; idle, the slot is all ones.
    pub fn mailbox(&self) -> Option<u64> {
        (self.mailbox != 0).then_some(self.mailbox as u64)
    }

    /// What is in the slot; signal events have one.
    pub fn slot(&self) -> Option<u64> {
        if self.mailbox == 0 || !self.process.is_here() {
            return None;
        }
        // SAFETY: the slot lies in the event page, which stays mapped as long as the process value.
        Some(unsafe { AtomicU64::from_ptr(self.mailbox as *mut u64) }.load(Ordering::Acquire))
    }

    /// Sets a signal event from the host: waits return.
    ///
    /// # Errors
    /// [`Error::SetEvent`]; EINVAL for other kinds.
    pub fn set(&self) -> Result<()> {
        let event_id = self.id;
        self.process
            .driver()
            .set_event(event_id)
            .map_err(|errno| Error::SetEvent { event_id, errno })
    }

    /// Resets a signal event.
    ///
    /// # Errors
    /// [`Error::ResetEvent`]; EINVAL for other kinds.
    pub fn reset(&self) -> Result<()> {
        let event_id = self.id;
        self.process
            .driver()
            .reset_event(event_id)
            .map_err(|errno| Error::ResetEvent { event_id, errno })
    }

    /// The last age that a wait has seen of it.
    pub(crate) fn age(&self) -> u64 {
        self.age.load(Ordering::Acquire)
    }

    /// A wait has seen an age. Ages only grow, but for one wrap in 2⁶⁴.
    pub(crate) fn saw_age(&self, age: u64) {
        self.age.fetch_max(age, Ordering::Release);
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.process.is_here() && self.process.driver().destroy_event(self.id).is_err() {
            self.process.quarantine();
        }
    }
}
