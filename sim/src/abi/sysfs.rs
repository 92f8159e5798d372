//! Files, directories, links and device nodes of sysfs and /dev that belong to the machine.

use super::topology::{ROOT, Topology};
use crate::profile::{Board, Host};
use selvedge_sys::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// Major number of DRM devices (`DRM_MAJOR`, include/drm/drm_file.h).
pub(crate) const DRM_MAJOR: u32 = 226;
/// Major number of `/dev/kfd`: any that the kernel has to spare.
pub(crate) const KFD_MAJOR: u32 = 235;
/// Hardware ids of IP discovery (soc15_hw_ip.h): `GC_HWID`, `SDMA0_HWID`, `NBIF_HWID`.
const HWID_GC: u32 = 11;
const HWID_SDMA: u32 = 42;
const HWID_NBIF: u32 = 108;
/// Links in a path that are followed (`MAXSYMLINKS`, include/linux/namei.h).
const MAX_LINKS: usize = 40;

/// What a path of the machine leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file with this text.
    File(String),
    /// A symbolic link to this path, relative to its directory.
    Link(String),
    /// A character device.
    Device {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
        /// Permissions: `0o666`, or `0o660` of a group that the process is not in.
        mode: u32,
    },
    /// A directory.
    Directory,
}

/// Permissions of a device node: systemd's 50-udev-default.rules give it to the group `render`, for all, or as Debian builds
/// them for that group alone.
fn mode(permission: bool) -> u32 {
    if permission { 0o666 } else { 0o660 }
}

/// Bytes of amdgpu in memory, about.
const MODULE_BYTES: u32 = 0x123_0000;

/// Whether the machine answers for this path. All of sysfs and of device nodes is its own, and the list of modules;
/// the rest of procfs is the host's.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.starts_with("/sys") || path.starts_with("/dev") || path == Path::new(MODULES)
}

/// Whether a path may lead to what changes: memory in use, kfd_processes.
pub(crate) fn is_changing(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    path.starts_with("/sys")
        && (text.ends_with(b"_used") || text.windows(8).any(|part| part == b"kfd/proc"))
}

/// The list of modules (kernel/module/procfs.c, `m_show`).
const MODULES: &str = "/proc/modules";

/// The folder of a GPU.
pub(crate) fn device_folder(board: &Board) -> String {
    format!("/sys/devices/pci0000:00/{}", board.pci_slot())
}

/// The machine's part of the file system.
#[derive(Debug)]
pub(crate) struct Files {
    /// By absolute path, parents of everything among them.
    entries: BTreeMap<String, Entry>,
}

/// The path from a directory to another place, by way of that place's parent, as sysfs writes its links (fs/kernfs/symlink.c,
/// `kernfs_get_target_path`).
fn relative(directory: &str, target: &str) -> String {
    let (from, to) = (components(directory), components(target));
    let parent = &to[..to.len().saturating_sub(1)];
    let common = from.iter().zip(parent).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

fn components(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

impl Files {
    /// Those of a machine with working boards and ones that no driver has.
    pub(crate) fn new(host: &Host, boards: &[Board], idle: &[Board], topology: &Topology) -> Files {
        let mut files = Files { entries: BTreeMap::new() };
        for board in idle {
            files.pci_device(board);
        }
        if !host.driver {
            // Others may have devices of the class, and modules.
            files.put("/sys/class/drm".to_owned(), Entry::Directory);
            files.file(MODULES, "");
            return files;
        }
        for (path, text) in topology.files() {
            files.file(path, text);
        }
        // Every node has these directories, also when there is nothing in them (kfd_topology.c,
        // `kfd_build_sysfs_node_entry`).
        for node in 0..host.cpu_nodes as usize + boards.len() {
            for name in ["mem_banks", "caches", "io_links", "p2p_links"] {
                files.put(format!("{ROOT}/nodes/{node}/{name}"), Entry::Directory);
            }
        }
        let live = format!("amdgpu {MODULE_BYTES} 0 - Live 0x0000000000000000\n");
        files.file(MODULES, &live);
        files.file("/sys/module/amdgpu/initstate", "live\n");
        files.file("/sys/module/amdgpu/coresize", &format!("{MODULE_BYTES}\n"));
        files.file("/sys/module/amdgpu/refcnt", "0\n");
        files.put("/sys/module/amdgpu/holders".to_owned(), Entry::Directory);
        files.file("/sys/bus/pci/drivers/amdgpu/uevent", "");
        let (kfd, drm) = ("/sys/devices/virtual/kfd/kfd", "/sys/class/drm");
        files.file(&format!("{kfd}/dev"), &format!("{KFD_MAJOR}:0\n"));
        files.file(&format!("{kfd}/uevent"), &format!("MAJOR={KFD_MAJOR}\nMINOR=0\nDEVNAME=kfd\n"));
        files.put(format!("{kfd}/proc"), Entry::Directory);
        files.link(&format!("{kfd}/subsystem"), "/sys/class/kfd");
        files.link("/sys/class/kfd/kfd", kfd);
        files.link(&format!("/sys/dev/char/{KFD_MAJOR}:0"), kfd);
        let mode = mode(host.kfd_permission);
        files.put("/dev/kfd".to_owned(), Entry::Device { major: KFD_MAJOR, minor: 0, mode });
        files.put(drm.to_owned(), Entry::Directory);
        for (index, board) in boards.iter().enumerate() {
            files.gpu(board, Topology::render_minor(index), host.render_permission);
        }
        files
    }

    /// A PCI device as such (drivers/pci/pci-sysfs.c); gives its folder.
    fn pci_device(&mut self, board: &Board) -> String {
        let slot = board.pci_slot();
        let device = device_folder(board);
        let (vendor, id) = (0x1002, board.device_id);
        let (subsystem_vendor, subsystem) = board.subsystem;
        let class = board.pci_class();
        let modalias = format!(
            "pci:v{vendor:08X}d{id:08X}sv{subsystem_vendor:08X}sd{subsystem:08X}\
             bc{:02X}sc{:02X}i{:02X}",
            class >> 16,
            class >> 8 & 0xff,
            class & 0xff
        );
        let uevent = format!(
            "PCI_CLASS={class:04X}\nPCI_ID={vendor:04X}:{id:04X}\n\
             PCI_SUBSYS_ID={subsystem_vendor:04X}:{subsystem:04X}\nPCI_SLOT_NAME={slot}\n\
             MODALIAS={modalias}\n"
        );
        for (name, text) in [
            ("vendor", format!("{vendor:#06x}\n")),
            ("device", format!("{id:#06x}\n")),
            ("revision", format!("{:#04x}\n", board.pci_revision)),
            ("class", format!("{class:#08x}\n")),
            ("subsystem_vendor", format!("{subsystem_vendor:#06x}\n")),
            ("subsystem_device", format!("{subsystem:#06x}\n")),
            ("modalias", format!("{modalias}\n")),
            ("uevent", uevent),
        ] {
            self.file(&format!("{device}/{name}"), &text);
        }
        self.link(&format!("{device}/subsystem"), "/sys/bus/pci");
        self.link(&format!("/sys/bus/pci/devices/{slot}"), &device);
        device
    }

    /// A GPU that amdgpu has, and its render node (drivers/gpu/drm/drm_sysfs.c).
    fn gpu(&mut self, board: &Board, minor: u32, permission: bool) {
        let slot = board.pci_slot();
        let device = self.pci_device(board);
        let uevent = format!("{device}/uevent");
        if let Some(Entry::File(text)) = self.entries.get_mut(&uevent) {
            text.insert_str(0, "DRIVER=amdgpu\n");
        }
        for (name, text) in [
            ("mem_info_vram_total", format!("{}\n", board.vram_bytes)),
            ("mem_info_vis_vram_total", format!("{}\n", board.visible_vram_bytes())),
            ("mem_info_gtt_total", format!("{}\n", board.gtt_bytes)),
            ("mem_info_vram_used", "0\n".to_owned()),
            ("mem_info_vis_vram_used", "0\n".to_owned()),
            ("mem_info_gtt_used", "0\n".to_owned()),
        ] {
            self.file(&format!("{device}/{name}"), &text);
        }
        if board.unique_id != 0 {
            self.file(&format!("{device}/unique_id"), &format!("{:016x}\n", board.unique_id));
        }
        self.link(&format!("{device}/driver"), "/sys/bus/pci/drivers/amdgpu");
        self.link(&format!("/sys/bus/pci/drivers/amdgpu/{slot}"), &device);
        self.block(&device, HWID_GC, board.gpu.xccs, board.gc_version);
        self.block(&device, HWID_NBIF, 1, board.nbif_version);
        let engines = board.sdma_engines + board.sdma_link_engines;
        self.block(&device, HWID_SDMA, engines, board.sdma_version);

        let node = format!("{device}/drm/renderD{minor}");
        let numbers = format!("MAJOR={DRM_MAJOR}\nMINOR={minor}\nDEVNAME=dri/renderD{minor}\n");
        self.file(&format!("{node}/dev"), &format!("{DRM_MAJOR}:{minor}\n"));
        self.file(&format!("{node}/uevent"), &format!("{numbers}DEVTYPE=drm_minor\n"));
        self.link(&format!("{node}/device"), &device);
        self.link(&format!("{node}/subsystem"), "/sys/class/drm");
        self.link(&format!("/sys/class/drm/renderD{minor}"), &node);
        self.link(&format!("/sys/dev/char/{DRM_MAJOR}:{minor}"), &node);
        let render = format!("/dev/dri/renderD{minor}");
        self.link(&format!("/dev/dri/by-path/pci-{slot}-render"), &render);
        let mode = mode(permission);
        self.put(render, Entry::Device { major: DRM_MAJOR, minor, mode });
    }

    /// Instances of a block of IP discovery (amdgpu_discovery.c, `ip_hw_instance_attrs`).
    fn block(&mut self, device: &str, hwid: u32, instances: u32, version: (u8, u8, u8)) {
        for instance in 0..instances {
            let ip = format!("{device}/ip_discovery/die/0/{hwid}/{instance}");
            for (name, value) in [
                ("major", u32::from(version.0)),
                ("minor", u32::from(version.1)),
                ("revision", u32::from(version.2)),
                ("hw_id", hwid),
                ("num_instance", instance),
            ] {
                self.file(&format!("{ip}/{name}"), &format!("{value}\n"));
            }
        }
    }

    fn put(&mut self, path: String, entry: Entry) {
        let mut parent = path.as_str();
        while let Some((above, _)) = parent.rsplit_once('/').filter(|(above, _)| !above.is_empty())
        {
            self.entries.entry(above.to_owned()).or_insert(Entry::Directory);
            parent = above;
        }
        self.entries.insert(path, entry);
    }

    fn file(&mut self, path: &str, text: &str) {
        self.put(path.to_owned(), Entry::File(text.to_owned()));
    }

    fn link(&mut self, path: &str, target: &str) {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        self.put(path.to_owned(), Entry::Link(relative(directory, target)));
    }

    /// With what the board's books say just now.
    pub(crate) fn with(&self, shown: BTreeMap<String, String>) -> Files {
        let mut files = Files { entries: self.entries.clone() };
        shown.into_iter().for_each(|(path, text)| files.put(path, Entry::File(text)));
        files
    }

    /// Everything, by absolute path.
    pub(crate) fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    /// The path without links, and what is there.
    fn resolve(&self, path: &Path) -> Result<(String, &Entry), Errno> {
        let mut rest: Vec<String> = components(path.to_str().ok_or(Errno::ENOENT)?)
            .into_iter()
            .map(str::to_owned)
            .collect();
        rest.reverse();
        let (mut place, mut links) = (String::new(), 0);
        while let Some(name) = rest.pop() {
            match name.as_str() {
                "." => continue,
                ".." => {
                    place.truncate(place.rfind('/').unwrap_or(0));
                    continue;
                }
                _ => {}
            }
            let next = format!("{place}/{name}");
            match self.entries.get(&next) {
                Some(Entry::Link(target)) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno(libc::ELOOP));
                    }
                    rest.extend(components(target).into_iter().rev().map(str::to_owned));
                }
                Some(Entry::File(_) | Entry::Device { .. }) if !rest.is_empty() => {
                    return Err(Errno::ENOTDIR);
                }
                Some(_) => place = next,
                None => return Err(Errno::ENOENT),
            }
        }
        let entry = self.entries.get(&place).ok_or(Errno::ENOENT)?;
        Ok((place, entry))
    }

    /// A file's contents.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        match self.resolve(path)?.1 {
            Entry::File(text) => Ok(text.clone().into_bytes()),
            Entry::Directory => Err(Errno::EISDIR),
            Entry::Device { .. } | Entry::Link(_) => Err(Errno::EINVAL),
        }
    }

    /// The names in a directory.
    pub(crate) fn list(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        let (place, entry) = self.resolve(path)?;
        if *entry != Entry::Directory {
            return Err(Errno::ENOTDIR);
        }
        let prefix = format!("{place}/");
        let below = self.entries.range(prefix.clone()..);
        let names: BTreeSet<&str> = below
            .map_while(|(path, _)| path.strip_prefix(&prefix))
            .filter_map(|rest| rest.split('/').next())
            .collect();
        Ok(names.into_iter().map(OsString::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_as_in_sysfs() {
        let device = "/sys/devices/pci0000:00/0000:03:00.0";
        assert_eq!(
            relative("/sys/class/drm", &format!("{device}/drm/renderD128")),
            "../../devices/pci0000:00/0000:03:00.0/drm/renderD128"
        );
        assert_eq!(relative(&format!("{device}/drm/renderD128"), device), "../../../0000:03:00.0");
    }
}
