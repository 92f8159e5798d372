//! Which paths are the machine's, and where they lead.
//!
//! `simrun` has written the machine's sysfs and /dev as real files, directories and links into a folder of its own, so
//! that opening, listing and following them is the kernel's work. Only a device node is told apart: in the folder it is
//! a file that holds its numbers.

use crate::raw;
use crate::state::{self, settings};
use std::ffi::{CStr, CString, OsString, c_char, c_int};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Major number of DRM devices (include/drm/drm_file.h, `DRM_MAJOR`).
pub(crate) const DRM_MAJOR: u32 = 226;

/// Files and folders that the machine answers for, with all below them; of those that end in a colon or are `pci`,
/// with all whose names begin so. What the host has there does not exist on the machine.
const OURS: [&str; 16] = [
    "/dev/accel",
    "/dev/dri",
    "/dev/dxg",
    "/dev/kfd",
    "/proc/modules",
    "/sys/bus/pci",
    "/sys/class/accel",
    "/sys/class/drm",
    "/sys/class/kfd",
    "/sys/dev/char/226:",
    "/sys/dev/char/235:",
    "/sys/dev/char/261:",
    "/sys/devices/pci",
    "/sys/devices/virtual/kfd",
    "/sys/module/amdgpu",
    "/sys/module/amdxdna",
];

/// Where a path of the machine leads.
#[derive(Debug)]
pub(crate) enum Place {
    /// A device node.
    Device(Device),
    /// A file, a directory, a link or nothing, at this path of the host.
    Host(CString),
}

/// A device node.
#[derive(Debug)]
pub(crate) struct Device {
    /// Its path on the machine.
    pub(crate) path: String,
    /// The path of what stands for it, or of a link to that.
    pub(crate) host: CString,
    /// Whether it is a link.
    pub(crate) by_link: bool,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    /// Who may open it: all, or owner and group, which the program is not and is not in.
    pub(crate) permissions: u32,
}

impl Place {
    /// What is at the place on the host.
    pub(crate) fn host(&self) -> &CStr {
        match self {
            Place::Device(device) => &device.host,
            Place::Host(path) => path,
        }
    }
}

/// The folder of the machine's files, without a slash at its end.
pub(crate) fn tree() -> Option<&'static [u8]> {
    settings().tree.as_deref().map(OsStrExt::as_bytes)
}

/// The part of a path that lies in the machine's folder: the path on the machine.
pub(crate) fn within_tree(path: &[u8]) -> Option<&[u8]> {
    path.strip_prefix(tree()?).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Where a path leads, if it is one of the machine's. One that cannot be read is the kernel's to refuse.
pub(crate) fn find(directory: c_int, path: *const c_char) -> Option<Place> {
    let mut buffer = [0; libc::PATH_MAX as usize];
    let path = raw::path(path, &mut buffer)?;
    match path.first()? {
        // Allocates nothing for what is not the machine's: signal handlers and forked children open files, too.
        b'/' if is_odd(path) => place(path.to_vec()),
        b'/' if is_ours(path) => place(path.to_vec()),
        b'/' => None,
        _ if directory == libc::AT_FDCWD && !climbs(path) && !HERE.load(Ordering::Relaxed) => None,
        _ => {
            let mut buffer = [0; libc::PATH_MAX as usize];
            let base = directory_path(directory, &mut buffer)?;
            let base = match within_tree(base) {
                Some(base) => base,
                None if climbs(path) || is_above_ours(base) => base,
                None => return None,
            };
            place([base, b"/", path].concat())
        }
    }
}

/// Whether a relative path may lead above where it begins.
fn climbs(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/').any(|name| name == b"..")
}

/// Whether the working directory is in the machine's folder, or above what the machine answers for.
static HERE: AtomicBool = AtomicBool::new(false);

/// The working directory may have changed.
pub(crate) fn moved() {
    let mut buffer = [0; libc::PATH_MAX as usize];
    let path = directory_path(libc::AT_FDCWD, &mut buffer);
    let is_here = path.is_some_and(|path| within_tree(path).is_some() || is_above_ours(path));
    HERE.store(is_here, Ordering::Relaxed);
}

/// Whether a directory of the host has something of the machine's in it, at whatever depth.
fn is_above_ours(directory: &[u8]) -> bool {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    let mut ours = OURS.iter().map(|ours| ours.as_bytes());
    ours.any(|ours| ours.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/")))
}

/// The path of an open directory, or of the working directory.
fn directory_path(fd: c_int, buffer: &mut [u8]) -> Option<&[u8]> {
    let length = match fd {
        libc::AT_FDCWD => raw::readlink(c"/proc/self/cwd", buffer),
        _ => raw::readlink(&CString::new(format!("/proc/self/fd/{fd}")).ok()?, buffer),
    };
    length.map(|length| &buffer[..length])
}

/// Whether a path is written in another way than the shortest.
fn is_odd(path: &[u8]) -> bool {
    let pairs = path.windows(2);
    pairs
        .zip(path[1..].iter().skip(1).chain([&b'/']))
        .any(|(pair, _)| pair == b"//" || pair == b"/.")
}

/// The shortest way to write an absolute path, links aside.
fn shortest(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            _ => names.push(name),
        }
    }
    names.iter().flat_map(|name| [b"/".as_slice(), name].concat()).collect()
}

/// A path that leads to what is the machine's: the shortest way to where that begins, and from there on as it was written,
/// as a link followed by `..` leads elsewhere. What the host has on the way is not in the machine's folder.
fn entered(path: &[u8]) -> Vec<u8> {
    let ends = (1..path.len()).filter(|&end| path[end] == b'/');
    let entry = ends.map(|end| (end, shortest(&path[..end]))).find(|(_, way)| is_ours(way));
    entry.map_or_else(|| shortest(path), |(end, way)| [&way, &path[end..]].concat())
}

fn is_ours(path: &[u8]) -> bool {
    OURS.iter().any(|ours| {
        let rest = path.strip_prefix(ours.as_bytes());
        let any = ours.ends_with(':') || ours.ends_with("devices/pci");
        rest.is_some_and(|rest| any || rest.is_empty() || rest.starts_with(b"/"))
    })
}

/// Whether a path may lead to what the keeper of the board writes when it is asked for: memory in use, kfd_processes.
fn is_changing(path: &[u8]) -> bool {
    path.ends_with(b"_used") || path.windows(8).any(|part| part == b"kfd/proc")
}

fn place(path: Vec<u8>) -> Option<Place> {
    let short = shortest(&path);
    if !is_ours(&short) {
        return None;
    }
    if is_changing(&short)
        && let Some(board) = state::board()
    {
        // Without a keeper the files stay as they are.
        let _ = selvedge_sim::Keeper::refresh(&board);
    }
    let host = [tree()?, &entered(&path)].concat();
    if short.starts_with(b"/dev/")
        && let Some(device) = device(&host)
    {
        return Some(Place::Device(device));
    }
    CString::new(host).ok().map(Place::Host)
}

/// The device node that a path of the folder leads to.
fn device(host: &[u8]) -> Option<Device> {
    let written = OsString::from_vec(host.to_vec());
    let by_link = std::fs::symlink_metadata(&written).ok()?.is_symlink();
    let place = std::fs::canonicalize(&written).ok()?;
    if !place.is_file() {
        return None;
    }
    let numbers = std::fs::read_to_string(&place).ok()?;
    let (major, minor) = numbers.trim().split_once(':')?;
    let path = String::from_utf8(within_tree(place.as_os_str().as_bytes())?.to_vec()).ok()?;
    Some(Device {
        path,
        host: CString::new(written.into_vec()).ok()?,
        by_link,
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        permissions: place.metadata().ok()?.permissions().mode() & 0o777,
    })
}
