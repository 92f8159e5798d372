//! Who else drives the GPU in this process, and sharing its page tables.
//!
//! The primary kfd_process belongs to the whole Linux process. When ROCr, HIP or another copy of us
//! has acquired a GPU's page tables already, ACQUIRE_VM with a second render file is EBUSY, and with
//! the very same open file it succeeds (kfd_chardev.c, `kfd_ioctl_acquire_vm`). So its file is looked
//! for among this process's descriptors, and a duplicate of it is used.
#![expect(unsafe_code, reason = "duplicates a descriptor with fcntl and takes it over")]

use crate::driver::Driver;
use selvedge_sys::{File, System};
use std::path::Path;
use std::sync::Arc;

/// Libraries that are known to drive the KFD, by their files' names.
const LIBRARIES: [(&str, &str); 5] = [
    ("libamdhip64", "HIP"),
    ("libhsa-runtime64", "ROCr"),
    ("libhsakmt", "libhsakmt"),
    ("libamdocl64", "the ROCm OpenCL runtime"),
    ("libamdf", "libamdf"),
];

/// Names whoever else in this process may hold the KFD.
pub(crate) fn name(system: &dyn System) -> String {
    let maps = system.read_file(Path::new("/proc/self/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let found: Vec<String> = LIBRARIES
        .iter()
        .filter_map(|(file, what)| {
            let path = maps.lines().find_map(|line| {
                let path = &line[line.find('/')?..];
                path.rsplit('/').next()?.starts_with(file).then_some(path)
            })?;
            Some(format!("{what} ({path})"))
        })
        .collect();
    if found.is_empty() {
        "another user of the KFD, none of the libraries known here".to_owned()
    } else {
        found.join(" or ")
    }
}

/// Finds the render file that holds a GPU's page tables among this process's descriptors, and
/// duplicates it. Trying a descriptor is harmless: the kernel answers EBUSY or EINVAL for any other.
pub(crate) fn join(system: &Arc<dyn System>, driver: &Driver, gpu_id: u32) -> Option<File> {
    let names = system.list_directory(Path::new("/proc/self/fd")).ok()?;
    let descriptors = names.iter().filter_map(|name| name.to_str()?.parse::<i32>().ok());
    descriptors.filter(|&fd| fd > 2).find_map(|fd| {
        driver.acquire_vm(fd, gpu_id).ok()?;
        // SAFETY: fcntl takes any number; a bad one is an error.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        // SAFETY: the duplicate was made here and belongs to nobody else.
        (copy >= 0).then(|| unsafe { File::from_raw(system, copy) })
    })
}
