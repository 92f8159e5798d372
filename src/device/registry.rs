//! Devices that are open, so that opening one again shares it.

use super::{DeviceInner, Endpoint};
use crate::{Error, Fault};
use kfd::Lifetime;
use selvedge_sys::System;
use std::sync::{Arc, Mutex, PoisonError, Weak};

struct Entry {
    /// [`System::identity`] of the machine it is on.
    system: usize,
    gpu_id: u32,
    lifetime: Lifetime,
    device: Weak<DeviceInner>,
}

static OPEN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Machine, GPU and fault of every primary context that a page fault or a reset has ended: what is created there
/// later does not run, either, for as long as the process lives.
static ENDED: Mutex<Vec<(usize, u32, Arc<Fault>)>> = Mutex::new(Vec::new());

/// The fault that ended the primary context on a GPU.
pub(super) fn primary_fault(system: usize, gpu_id: u32) -> Option<Arc<Fault>> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = ended.iter().find(|(of, gpu, _)| (*of, *gpu) == (system, gpu_id));
    found.map(|(.., fault)| fault.clone())
}

/// Remembers that a fault has ended the primary context on a GPU.
pub(super) fn note_primary_fault(system: usize, gpu_id: u32, fault: &Arc<Fault>) {
    if primary_fault(system, gpu_id).is_none() {
        let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push((system, gpu_id, fault.clone()));
    }
}

/// The open device of this endpoint and lifetime, or a new one.
pub(super) fn open(
    system: &Arc<dyn System>,
    endpoint: &Endpoint,
    lifetime: Lifetime,
) -> Result<Arc<DeviceInner>, Error> {
    if lifetime == Lifetime::Instance {
        return DeviceInner::open(system, endpoint, lifetime);
    }
    // Held while opening, so that two threads that open the same device get the same one.
    let mut entries = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    entries.retain(|entry| entry.device.strong_count() != 0);
    let (system_id, gpu_id) = (system.identity(), endpoint.node().gpu_id);
    let same = |entry: &&Entry| {
        (entry.system, entry.gpu_id, entry.lifetime) == (system_id, gpu_id, lifetime)
    };
    // A device that was lost stays lost; one from before a fork is the parent's.
    let usable = |device: &Arc<DeviceInner>| {
        device.check_alive().is_ok() && device.check_fork("device").is_ok()
    };
    let shared = entries.iter().filter(same).filter_map(|entry| entry.device.upgrade());
    if let Some(device) = shared.into_iter().find(usable) {
        return Ok(device);
    }
    let device = DeviceInner::open(system, endpoint, lifetime)?;
    entries.push(Entry { system: system_id, gpu_id, lifetime, device: Arc::downgrade(&device) });
    Ok(device)
}
