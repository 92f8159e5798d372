//! The topology: what nodes (CPUs and GPUs) the machine has, as the KFD describes them in sysfs.
//!
//! The layout is `kfd_topology.c`'s (drivers/gpu/drm/amd/amdkfd, `node_show`, `mem_show`,
//! `kfd_cache_show`, `iolink_show`, `sysprops_show`): a directory for each node with files of
//! `key value` lines. Keys that are not known here are kept, keys that a kernel does not print read
//! as zero or `None`.

mod node;
mod properties;
mod target;

pub use node::{
    Cache, CacheProperties, IoLink, IoLinkProperties, MemoryBank, MemoryBankProperties, Node,
    NodeProperties, SystemProperties,
};
pub use properties::{Properties, Property, parse_properties};
pub use target::{Family, GfxTarget};

use selvedge_sys::{Errno, System};
use std::path::{Path, PathBuf};

/// Where Linux has the topology.
pub const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

/// How often the topology is read again when it changes under the reader.
const ATTEMPTS: u32 = 8;

/// Why the topology could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {errno}{}", file.display(), remedy(*errno))]
    Read {
        /// Which one.
        file: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// A file is not made of `key value` lines, or a value is not what its key needs.
    #[error("{}, line {line}: {text:?} is not {needed}", file.display())]
    Malformed {
        /// Which file.
        file: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The line.
        text: String,
        /// What it should be.
        needed: &'static str,
    },
    /// The topology never stood still.
    #[error("{} changed {ATTEMPTS} times while it was read; try again", root.display())]
    Changing {
        /// Its root.
        root: PathBuf,
    },
}

fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::ENOENT => "; is the amdgpu driver loaded (modprobe amdgpu)?",
        _ => "",
    }
}

/// A node that this process may not see (EPERM: its device cgroup excludes the render node).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForbiddenNode {
    /// The node's number.
    pub index: u32,
    /// The file that could not be read.
    pub file: PathBuf,
}

/// The machine as the KFD describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Counts changes of the topology.
    pub generation_id: u64,
    /// What the firmware's tables say about the platform.
    pub system: SystemProperties,
    /// The nodes that can be seen, by number.
    pub nodes: Vec<Node>,
    /// The nodes that cannot.
    pub forbidden: Vec<ForbiddenNode>,
}

impl Topology {
    /// Reads the topology below `root` (on a running system: [`ROOT`]), again if it changes
    /// meanwhile.
    ///
    /// # Errors
    /// A file that is missing, unreadable or malformed is named, with its line.
    pub fn read(system: &dyn System, root: &Path) -> Result<Topology, TopologyError> {
        let reader = Reader { system, root };
        for _ in 0..ATTEMPTS {
            let before = reader.generation()?;
            let topology = reader.topology(before);
            if reader.generation()? == before {
                return topology;
            }
        }
        Err(TopologyError::Changing { root: root.to_owned() })
    }

    /// The nodes with a GPU.
    pub fn gpus(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.is_gpu())
    }

    /// The node of a number.
    pub fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.index == index)
    }
}

struct Reader<'a> {
    system: &'a dyn System,
    root: &'a Path,
}

impl Reader<'_> {
    fn bytes(&self, file: &Path) -> Result<Vec<u8>, TopologyError> {
        self.system
            .read_file(file)
            .map_err(|errno| TopologyError::Read { file: file.to_owned(), errno })
    }

    fn number(&self, file: &Path) -> Result<u64, TopologyError> {
        properties::parse_number(&self.bytes(file)?, file)
    }

    fn properties(&self, file: &Path) -> Result<Properties, TopologyError> {
        parse_properties(&self.bytes(file)?, file)
    }

    fn generation(&self) -> Result<u64, TopologyError> {
        self.number(&self.root.join("generation_id"))
    }

    fn topology(&self, generation_id: u64) -> Result<Topology, TopologyError> {
        let system = SystemProperties::from_properties(
            self.properties(&self.root.join("system_properties"))?,
        )?;
        let mut topology =
            Topology { generation_id, system, nodes: Vec::new(), forbidden: Vec::new() };
        let nodes = self.root.join("nodes");
        for index in self.numbered(&nodes)? {
            match self.node(&nodes.join(index.to_string()), index) {
                Ok(node) => topology.nodes.push(node),
                Err(TopologyError::Read { file, errno: Errno::EPERM }) => {
                    topology.forbidden.push(ForbiddenNode { index, file });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(topology)
    }

    fn node(&self, directory: &Path, index: u32) -> Result<Node, TopologyError> {
        let file = directory.join("gpu_id");
        let gpu_id = self.number(&file)?;
        let gpu_id = u32::try_from(gpu_id).map_err(|_| TopologyError::Malformed {
            file,
            line: 1,
            text: gpu_id.to_string(),
            needed: "a gpu_id of 32 bits",
        })?;
        let name = String::from_utf8_lossy(&self.bytes(&directory.join("name"))?).trim().to_owned();
        let properties =
            NodeProperties::from_properties(self.properties(&directory.join("properties"))?)?;
        Ok(Node {
            index,
            gpu_id,
            name,
            properties,
            memory_banks: self
                .children(directory, "mem_banks", MemoryBankProperties::from_properties)?
                .map(|(index, properties)| MemoryBank { index, properties })
                .collect(),
            caches: self
                .children(directory, "caches", CacheProperties::from_properties)?
                .map(|(index, properties)| Cache { index, properties })
                .collect(),
            io_links: self.links(directory, "io_links")?,
            p2p_links: self.links(directory, "p2p_links")?,
        })
    }

    fn links(&self, directory: &Path, kind: &str) -> Result<Vec<IoLink>, TopologyError> {
        Ok(self
            .children(directory, kind, IoLinkProperties::from_properties)?
            .map(|(index, properties)| IoLink { index, properties })
            .collect())
    }

    /// What the `properties` files of a node's numbered subdirectories say. Older kernels lack
    /// whole kinds of them.
    fn children<T>(
        &self,
        directory: &Path,
        kind: &str,
        parse: impl Fn(Properties) -> Result<T, TopologyError>,
    ) -> Result<impl Iterator<Item = (u32, T)>, TopologyError> {
        let directory = directory.join(kind);
        let numbers = match self.numbered(&directory) {
            Err(TopologyError::Read { errno: Errno::ENOENT, .. }) => Vec::new(),
            other => other?,
        };
        let mut children = Vec::new();
        for index in numbers {
            let file = directory.join(index.to_string()).join("properties");
            children.push((index, parse(self.properties(&file)?)?));
        }
        Ok(children.into_iter())
    }

    /// The entries of a directory whose names are numbers, in order.
    fn numbered(&self, directory: &Path) -> Result<Vec<u32>, TopologyError> {
        let names = self
            .system
            .list_directory(directory)
            .map_err(|errno| TopologyError::Read { file: directory.to_owned(), errno })?;
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}
