//! Who hears of page faults and resets.
//!
//! Linux tells a process state (`kfd_process`) of these through events; every wait of ours includes them, and
//! one thread for each process state waits when nobody else does. Whoever hears of one tells all devices
//! of the process state.

use super::DeviceInner;
use kfd::{Event, EventKind, Process, Report, WaitOutcome, WaitSet};
use selvedge_sys::fork;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// Every process state that is watched.
static WATCHES: Mutex<Vec<Weak<FaultWatch>>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The watch over one process state.
pub(crate) struct FaultWatch {
    process: Arc<Process>,
    /// Page faults, resets. They reset themselves when a wait has seen them, so that a fault of one GPU does not
    /// wake the waits of another for ever.
    faults: [Arc<Event>; 2],
    /// Wakes the thread to its end.
    wake: Arc<Event>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    fork_generation: u32,
}

#[derive(Default)]
struct Shared {
    devices: Mutex<Vec<Weak<DeviceInner>>>,
    stop: AtomicBool,
}

impl Shared {
    /// Tells the devices what a wait has learnt.
    fn tell(&self, set: &WaitSet) {
        for (_, report) in set.reports().filter(|(_, report)| *report != Report::Signal) {
            let devices: Vec<Arc<DeviceInner>> =
                lock(&self.devices).iter().filter_map(Weak::upgrade).collect();
            devices.iter().for_each(|device| device.note_fault(&report));
        }
    }
}

impl FaultWatch {
    /// The watch over a device's process state, shared by all devices in it.
    pub(super) fn of(device: &kfd::Device) -> Result<Arc<FaultWatch>, kfd::Error> {
        let mut watches = lock(&WATCHES);
        watches.retain(|watch| watch.strong_count() != 0);
        let process = device.process();
        let existing = watches.iter().filter_map(Weak::upgrade);
        if let Some(watch) = existing.into_iter().find(|w| Arc::ptr_eq(&w.process, process)) {
            return Ok(watch);
        }
        let event = |kind| Event::create(device, kind, true).map(Arc::new);
        let watch = Arc::new(FaultWatch {
            process: process.clone(),
            faults: [event(EventKind::Memory)?, event(EventKind::HardwareException)?],
            wake: event(EventKind::Signal)?,
            shared: Arc::default(),
            thread: Mutex::default(),
            fork_generation: fork::generation(),
        });
        watches.push(Arc::downgrade(&watch));
        Ok(watch)
    }

    /// Adds a device to those that are told.
    pub(super) fn tell_also(&self, device: &Arc<DeviceInner>) {
        let mut devices = lock(&self.shared.devices);
        devices.retain(|device| device.strong_count() != 0);
        devices.push(Arc::downgrade(device));
    }

    /// Starts the thread, if it does not run yet: from now on there is work that may fault.
    pub(super) fn start(&self) -> std::io::Result<()> {
        let mut thread = lock(&self.thread);
        if thread.is_some() {
            return Ok(());
        }
        let shared = self.shared.clone();
        let [memory, reset] = self.faults.clone();
        let mut set = WaitSet::new(&self.process, vec![memory, reset, self.wake.clone()]);
        let watch = move || {
            while !shared.stop.load(Ordering::Acquire) {
                match set.wait_any(None) {
                    Ok(_) => shared.tell(&set),
                    // The events are gone, or the process is a forked child: there is nothing to hear.
                    Err(_) => return,
                }
            }
        };
        *thread = Some(std::thread::Builder::new().name("selvedge-faults".into()).spawn(watch)?);
        Ok(())
    }

    /// Prepares to wait for `event` or a fault.
    pub(super) fn waiter(&self, event: &Arc<Event>) -> Waiter<'_> {
        let [memory, reset] = self.faults.clone();
        let events = vec![memory, reset, event.clone()];
        Waiter { watch: self, set: WaitSet::new(&self.process, events) }
    }

    /// Looks for a fault without waiting.
    pub(super) fn poll(&self) {
        let mut set = WaitSet::new(&self.process, self.faults.to_vec());
        if let Ok(WaitOutcome::Complete) = set.wait_any(Some(Duration::ZERO)) {
            self.shared.tell(&set);
        }
    }
}

impl Drop for FaultWatch {
    fn drop(&mut self) {
        if fork::generation() != self.fork_generation {
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        let thread = lock(&self.thread).take();
        // Telling the devices may have left the thread with the last reference to one.
        if let Some(thread) = thread.filter(|t| t.thread().id() != std::thread::current().id())
            && (0..3).any(|_| self.wake.set().is_ok())
        {
            let _ = thread.join();
        }
    }
}

/// A wait for an event or a fault.
pub(crate) struct Waiter<'a> {
    watch: &'a FaultWatch,
    set: WaitSet,
}

impl Waiter<'_> {
    /// Sleeps until the event was set since the last wait (or since this was made), a fault, or `timeout`. That
    /// the event was set says nothing more: the caller looks again at what it waits for.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Result<(), kfd::Error> {
        if self.set.wait_any(Some(timeout))? == WaitOutcome::Complete {
            self.watch.shared.tell(&self.set);
        }
        Ok(())
    }
}
