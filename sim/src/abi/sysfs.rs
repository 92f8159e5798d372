//! Files and directories of sysfs and /dev that belong to the machine.

use super::topology::{ROOT, Topology};
use crate::machine::Shared;
use selvedge_sys::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// Major number of DRM devices.
const DRM_MAJOR: u32 = 226;
/// Hardware ids of IP discovery (soc15_hw_ip.h): `GC_HWID`, `SDMA0_HWID`.
const HWID_GC: u32 = 11;
const HWID_SDMA: u32 = 42;

/// Whether the machine answers for this path. All of sysfs and of device nodes is its own; the rest (procfs)
/// is the host's.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.starts_with("/sys") || path.starts_with("/dev")
}

/// Every file besides the topology, by path.
fn device_files(machine: &Shared) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut put = |path: String, text: String| {
        files.insert(path, text);
    };
    put("/sys/module/amdgpu/initstate".into(), "live\n".into());
    put("/sys/class/kfd/kfd/dev".into(), "235:0\n".into());
    for (index, gpu) in machine.gpus.iter().enumerate() {
        let minor = Topology::render_minor(index);
        let device = format!("/sys/class/drm/renderD{minor}/device");
        put(format!("/sys/class/drm/renderD{minor}/dev"), format!("{DRM_MAJOR}:{minor}\n"));
        let board = &gpu.board;
        put(format!("{device}/vendor"), "0x1002\n".into());
        put(format!("{device}/device"), format!("{:#06x}\n", board.device_id));
        put(format!("{device}/revision"), format!("{:#04x}\n", board.pci_revision));
        put(format!("{device}/subsystem_vendor"), format!("{:#06x}\n", board.subsystem.0));
        put(format!("{device}/subsystem_device"), format!("{:#06x}\n", board.subsystem.1));
        let (bus, slot, function) =
            (board.location_id >> 8, board.location_id >> 3 & 0x1f, board.location_id & 7);
        let slot_name = format!("PCI_SLOT_NAME=0000:{bus:02x}:{slot:02x}.{function}");
        put(format!("{device}/uevent"), format!("DRIVER=amdgpu\n{slot_name}\n"));
        put(format!("{device}/mem_info_vram_total"), format!("{}\n", board.vram_bytes));
        put(format!("{device}/mem_info_vis_vram_total"), format!("{}\n", board.vram_bytes));
        put(format!("{device}/mem_info_gtt_total"), format!("{}\n", board.gtt_bytes));
        if board.unique_id != 0 {
            put(format!("{device}/unique_id"), format!("{:016x}\n", board.unique_id));
        }
        let mut block = |hwid: u32, instances: u32, version: (u8, u8, u8)| {
            for instance in 0..instances {
                let ip = format!("{device}/ip_discovery/die/0/{hwid}/{instance}");
                for (name, value) in
                    [("major", version.0), ("minor", version.1), ("revision", version.2)]
                {
                    put(format!("{ip}/{name}"), format!("{value}\n"));
                }
                put(format!("{ip}/hw_id"), format!("{hwid}\n"));
                put(format!("{ip}/num_instance"), format!("{instance}\n"));
            }
        };
        block(HWID_GC, 1, board.gc_version);
        block(HWID_SDMA, board.sdma_engines, board.sdma_version);
    }
    files
}

/// Nodes that can be opened but not read like files.
fn device_nodes(machine: &Shared) -> BTreeSet<String> {
    let render = |gpu: &crate::machine::GpuDevice| format!("/dev/dri/renderD{}", gpu.render_minor);
    machine.gpus.iter().map(render).chain(["/dev/kfd".to_owned()]).collect()
}

fn text(path: &Path) -> Result<&str, Errno> {
    path.to_str().map(|path| path.trim_end_matches('/')).ok_or(Errno::ENOENT)
}

/// A file's contents.
pub(crate) fn read(machine: &Shared, path: &Path) -> Result<Vec<u8>, Errno> {
    let path = text(path)?;
    if let Some(contents) = machine.topology.files().get(path) {
        return Ok(contents.clone().into_bytes());
    }
    if let Some(contents) = device_files(machine).get(path) {
        return Ok(contents.clone().into_bytes());
    }
    if device_nodes(machine).contains(path) {
        return Err(Errno::EINVAL);
    }
    match names(machine, path).is_empty() {
        true => Err(Errno::ENOENT),
        false => Err(Errno::EISDIR),
    }
}

/// Names in a directory.
fn names(machine: &Shared, directory: &str) -> BTreeSet<String> {
    let prefix = format!("{directory}/");
    let files = device_files(machine);
    let mut paths: Vec<String> = files.into_keys().collect();
    paths.extend(device_nodes(machine));
    paths.extend(machine.topology.files().keys().cloned());
    let mut names: BTreeSet<String> = paths
        .iter()
        .filter_map(|path| path.strip_prefix(&prefix))
        .filter_map(|rest| rest.split('/').next())
        .map(str::to_owned)
        .collect();
    // Every node has these directories, also when there is nothing in them.
    let node = directory.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix("/nodes/"));
    if node.is_some_and(|node| !names.is_empty() && !node.contains('/')) {
        names.extend(["mem_banks", "caches", "io_links", "p2p_links"].map(str::to_owned));
    }
    names
}

/// The names in a directory.
pub(crate) fn list(machine: &Shared, path: &Path) -> Result<Vec<OsString>, Errno> {
    let path = text(path)?;
    let names = names(machine, path);
    if !names.is_empty() {
        return Ok(names.into_iter().map(OsString::from).collect());
    }
    let is_file = machine.topology.files().contains_key(path)
        || device_files(machine).contains_key(path)
        || device_nodes(machine).contains(path);
    if is_file {
        return Err(Errno::ENOTDIR);
    }
    // An empty directory of a node.
    let (parent, name) = path.rsplit_once('/').ok_or(Errno::ENOENT)?;
    let empty = self::names(machine, parent).contains(name);
    if empty { Ok(Vec::new()) } else { Err(Errno::ENOENT) }
}
