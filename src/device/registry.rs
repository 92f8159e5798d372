//! Devices that are open, so that opening one again shares it.

use super::{DeviceInner, Endpoint};
use crate::Error;
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
