//! What is there, from sysfs alone.

use super::Selector;
use crate::Error;
use kfd::topology::{Node, ROOT, Topology, TopologyError};
use kfd::uapi::sysfs::{MEM_HEAP_TYPE_FB_PRIVATE, MEM_HEAP_TYPE_FB_PUBLIC};
use selvedge_sys::{Errno, Linux, System};
use std::fmt;
use std::path::Path;

/// Architectures that exist only inside processors (LLVM, AMDGPUUsage, table "AMDGPU Processors", column APU).
const INTEGRATED: &[&str] = &[
    "gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1103", "gfx1150",
    "gfx1151", "gfx1152", "gfx1153",
];

/// A GPU that the KFD knows, not opened.
#[derive(Clone, Debug)]
pub struct Endpoint {
    node: Node,
}

impl Endpoint {
    /// Architecture, e.g. `gfx1151`.
    pub fn target(&self) -> String {
        self.node.target().to_string()
    }

    /// PCI address, e.g. `0000:c3:00.0`.
    pub fn pci_address(&self) -> String {
        self.node.pci_address()
    }

    /// The device's serial number, when it has one.
    pub fn unique_id(&self) -> Option<u64> {
        Some(self.node.properties.unique_id).filter(|&id| id != 0)
    }

    /// Whether it is a card with memory of its own and not part of a processor. The topology does not say (APUs
    /// have a bank of device memory there, too), so this goes by the architecture.
    pub fn is_discrete(&self) -> bool {
        !INTEGRATED.contains(&self.target().as_str())
    }

    /// Bytes of device memory; of a GPU in a processor, what it may use of system memory.
    pub fn memory_bytes(&self) -> u64 {
        let banks = self.node.memory_banks.iter().map(|bank| &bank.properties);
        banks
            .filter(|bank| {
                matches!(bank.heap_type, MEM_HEAP_TYPE_FB_PUBLIC | MEM_HEAP_TYPE_FB_PRIVATE)
            })
            .map(|bank| bank.size_in_bytes)
            .sum()
    }

    /// Whether the host can reach all of its memory through PCI.
    pub fn device_memory_is_visible(&self) -> bool {
        let mut banks = self.node.memory_banks.iter();
        banks.any(|bank| bank.properties.heap_type == MEM_HEAP_TYPE_FB_PUBLIC)
    }

    /// The KFD's description of it.
    pub fn node(&self) -> &Node {
        &self.node
    }

    pub(super) fn is(&self, index: usize, selector: &Selector) -> bool {
        match selector {
            Selector::Index(wanted) => *wanted == index,
            Selector::Pci { .. } => self.pci_address() == selector.to_string(),
            Selector::UniqueId(id) => self.unique_id() == Some(*id),
            Selector::Target(name) => self.target() == *name,
            Selector::Discrete(wanted) => self.is_discrete() == *wanted,
            Selector::Simulated(_) => false,
        }
    }
}

/// `gfx1151 at 0000:c3:00.0`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.target(), self.pci_address())
    }
}

/// The GPUs of the running kernel, in the KFD's order. Opens no device.
///
/// # Errors
/// [`Error::Kfd`] for a topology that cannot be read; a kernel without the KFD has no GPUs.
pub fn endpoints() -> Result<Vec<Endpoint>, Error> {
    endpoints_on(&Linux)
}

/// The GPUs of any implementor of the seam.
///
/// # Errors
/// As [`endpoints`].
pub fn endpoints_on(system: &dyn System) -> Result<Vec<Endpoint>, Error> {
    let topology = match Topology::read(system, Path::new(ROOT)) {
        Ok(topology) => topology,
        Err(TopologyError::Read { errno: Errno::ENOENT, .. }) => return Ok(Vec::new()),
        Err(error) => return Err(kfd::Error::from(error).into()),
    };
    Ok(topology.gpus().map(|node| Endpoint { node: node.clone() }).collect())
}

/// The GPUs of a simulated machine.
///
/// # Errors
/// [`Error::Unsupported`] for an architecture it has no profile of.
#[cfg(feature = "sim")]
pub fn simulated_endpoints(name: &str) -> Result<Vec<Endpoint>, Error> {
    endpoints_on(super::simulated_system(name)?.as_ref())
}
