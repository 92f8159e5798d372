//! Finding and opening devices.
//!
//! - [`endpoints`]: what is there, from sysfs alone; opens nothing.
//! - [`Selector`]: how a program or a person names one.
//! - [`Device`]: an open one.

mod discovery;
mod fault_watch;
mod inner;
mod registry;
mod selector;
mod trap_handler;

#[cfg(feature = "sim")]
pub use discovery::simulated_endpoints;
pub use discovery::{Endpoint, endpoints, endpoints_on};
pub(crate) use inner::{DeviceInner, Shape};
pub use selector::{DEFAULT_SIMULATED, Selector};

use crate::Error;
use crate::code::TargetId;
use kfd::Lifetime;
use selvedge_sys::{Linux, System};
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::sync::{Mutex, PoisonError, Weak};

/// An open GPU. Clones share it.
#[derive(Clone)]
pub struct Device {
    inner: Arc<DeviceInner>,
}

/// The environment variable that [`Device::from_env`] reads.
pub const DEVICE_VARIABLE: &str = "SELVEDGE_DEVICE";

impl Device {
    /// Opens a hardware GPU by its position in [`endpoints`].
    ///
    /// # Errors
    /// [`Error::NoDevice`] with what is there; else what Linux says.
    pub fn open(index: usize) -> Result<Device, Error> {
        Device::select(&Selector::Index(index))
    }

    /// Opens what `SELVEDGE_DEVICE` names (see [`Selector`]); unset, the first hardware GPU.
    ///
    /// # Errors
    /// [`Error::NoDevice`] with what is there and how to get the simulated machine; else what Linux
    /// says. Nothing falls back to the simulated machine by itself.
    pub fn from_env() -> Result<Device, Error> {
        match std::env::var(DEVICE_VARIABLE) {
            Ok(text) => Device::select(&text.parse()?),
            Err(std::env::VarError::NotPresent) => Device::open(0),
            Err(std::env::VarError::NotUnicode(text)) => Err(Error::Selector {
                text: text.to_string_lossy().into_owned(),
                reason: "SELVEDGE_DEVICE is not valid UTF-8",
            }),
        }
    }

    /// Opens a device by any of its names.
    ///
    /// # Errors
    /// As [`Device::from_env`].
    pub fn select(selector: &Selector) -> Result<Device, Error> {
        match selector {
            Selector::Simulated(name) => simulated(name),
            _ => {
                let system: Arc<dyn System> = Arc::new(Linux);
                Device::on_selected(&system, selector, Lifetime::Auto)
            }
        }
    }

    /// Opens the first GPU of any implementor of the seam: the running kernel, or a simulated machine.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn on(system: Arc<dyn System>) -> Result<Device, Error> {
        Device::on_selected(&system, &Selector::Index(0), Lifetime::Auto)
    }

    /// Opens a GPU of `system` by any of its names, with a chosen life of Linux's process state.
    ///
    /// A device that is open already, and well, is shared and not opened again, but for
    /// [`Lifetime::Instance`], which always makes a context of its own.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn on_selected(
        system: &Arc<dyn System>,
        selector: &Selector,
        lifetime: Lifetime,
    ) -> Result<Device, Error> {
        let endpoints = endpoints_on(system.as_ref())?;
        let endpoint = endpoints.iter().enumerate().find(|(i, e)| e.is(*i, selector));
        let Some((_, endpoint)) = endpoint else {
            return Err(no_device(selector, &endpoints));
        };
        Ok(Device { inner: registry::open(system, endpoint, lifetime)? })
    }

    /// Opens a hardware GPU by its position in [`endpoints`], if it is the architecture that a program was made
    /// for.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with both architectures when it is another one; else as [`Device::open`].
    pub fn open_for(index: usize, target: &str) -> Result<Device, Error> {
        Device::on_for(&(Arc::new(Linux) as Arc<dyn System>), index, target)
    }

    /// [`Device::open_for`] on any implementor of the seam. Nothing is opened when the architecture is another.
    ///
    /// # Errors
    /// As [`Device::open_for`].
    pub fn on_for(system: &Arc<dyn System>, index: usize, target: &str) -> Result<Device, Error> {
        let endpoints = endpoints_on(system.as_ref())?;
        match endpoints.get(index) {
            Some(endpoint) if endpoint.target() != target => Err(Error::Unsupported {
                device: endpoint.to_string(),
                reason: format!("this program is for {target}"),
            }),
            _ => Device::on_selected(system, &Selector::Index(index), Lifetime::Auto),
        }
    }

    pub(crate) fn from_inner(inner: Arc<DeviceInner>) -> Device {
        Device { inner }
    }

    pub(crate) fn inner(&self) -> &Arc<DeviceInner> {
        &self.inner
    }

    /// What code has to be compiled for.
    pub fn target(&self) -> &TargetId {
        self.inner.target()
    }

    /// Where it is and what it is called.
    pub fn endpoint(&self) -> &Endpoint {
        self.inner.endpoint()
    }

    /// Whether this is a simulated machine and not hardware.
    pub fn is_simulated(&self) -> bool {
        self.inner.is_simulated()
    }

    /// Ticks in a second of the device's clock.
    pub fn clock_frequency(&self) -> u64 {
        self.inner.clock_frequency()
    }

    /// Bytes of device memory that can still be allocated.
    ///
    /// # Errors
    /// What Linux says.
    pub fn available_memory(&self) -> Result<u64, Error> {
        self.inner.check_fork("device")?;
        Ok(self.inner.kfd().available_memory()?)
    }

    /// Kernel objects that Linux would not take back. They stay allocated until the process ends, as the device may
    /// still use them.
    pub fn quarantined(&self) -> usize {
        self.inner.process().quarantined()
    }

    /// The fault that ended the device for this process, if there was one: looks, does not wait.
    pub fn fault(&self) -> Option<Arc<crate::Fault>> {
        self.inner.poll_fault()
    }
}

/// `gfx1151 at 0000:c3:00.0`, and whether it is simulated.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.inner.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.inner.name()).finish_non_exhaustive()
    }
}

fn no_device(selector: &Selector, endpoints: &[Endpoint]) -> Error {
    let present = match endpoints {
        [] => "none".to_owned(),
        some => some.iter().map(Endpoint::to_string).collect::<Vec<_>>().join(", "),
    };
    let remedy = match endpoints {
        [] if cfg!(feature = "sim") => {
            format!("; set {DEVICE_VARIABLE}=sim to use the simulated machine")
        }
        [] => format!(
            "; build with the feature `sim` and set {DEVICE_VARIABLE}=sim to use the simulated machine"
        ),
        some => format!("; indices go from 0 to {}", some.len() - 1),
    };
    Error::NoDevice { selector: selector.to_string(), present, remedy }
}

#[cfg(feature = "sim")]
fn simulated(name: &str) -> Result<Device, Error> {
    Device::on(simulated_system(name)?)
}

/// The simulated machine with this GPU. There is one of each name in the process, as there is one hardware: it
/// lives as long as something uses it.
#[cfg(feature = "sim")]
fn simulated_system(name: &str) -> Result<Arc<dyn System>, Error> {
    static MACHINES: Mutex<Vec<(String, Weak<dyn System>)>> = Mutex::new(Vec::new());
    let mut machines = MACHINES.lock().unwrap_or_else(PoisonError::into_inner);
    machines.retain(|(_, system)| system.strong_count() != 0);
    let running = machines.iter().find(|(running, _)| running == name);
    if let Some(system) = running.and_then(|(_, system)| system.upgrade()) {
        return Ok(system);
    }
    let machine =
        selvedge_sim::Machine::described(name).and_then(selvedge_sim::Builder::build).map_err(
            |error| Error::Unsupported { device: format!("sim:{name}"), reason: error.to_string() },
        )?;
    let system: Arc<dyn System> = machine.process();
    machines.push((name.to_owned(), Arc::downgrade(&system)));
    Ok(system)
}

#[cfg(not(feature = "sim"))]
fn simulated(name: &str) -> Result<Device, Error> {
    Err(Error::NoDevice {
        selector: format!("sim:{name}"),
        present: "no simulated machine in this build".to_owned(),
        remedy: "; build with the feature `sim`".to_owned(),
    })
}
