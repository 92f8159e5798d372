//! sysfs, /dev, and what is not the machine's.

use crate::{check, is_on_machine, on_machine, open, simrun};
use libc::{EACCES, ENOTDIR, O_DIRECTORY, O_RDONLY, O_WRONLY};
use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

const NODES: &str = "/sys/devices/virtual/kfd/kfd/topology/nodes";
const DEVICE: &str = "/sys/devices/pci0000:00/0000:c3:00.0";

fn names(path: &str) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn tree() {
    assert_eq!(names(NODES), ["0", "1"]);
    let by_class = fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
    assert_eq!(by_class, fs::read_to_string(format!("{NODES}/1/gpu_id")).unwrap());
    assert_ne!(by_class, "0\n");
    assert_eq!(
        fs::read_to_string("/sys//class/drm/./renderD128/device/vendor").unwrap(),
        "0x1002\n"
    );
    assert_eq!(names("/sys/class/drm"), ["renderD128"]);
    assert_eq!(fs::read("/dev/dri/renderD129").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::read("/dev/accel/accel0").unwrap_err().kind(), ErrorKind::NotFound);
    // Links, from wherever they are read.
    assert_eq!(
        fs::canonicalize("/sys/class/drm/renderD128/device").unwrap().to_str(),
        Some(DEVICE)
    );
    assert_eq!(
        fs::canonicalize("/sys/dev/char/226:128/device/driver").unwrap().to_str(),
        Some("/sys/bus/pci/drivers/amdgpu")
    );
    let link = fs::read_link(format!("{DEVICE}/subsystem")).unwrap();
    assert_eq!(link.to_str(), Some("../../../bus/pci"));
    // Relative to a directory that is open.
    let nodes = fs::File::open(NODES).unwrap();
    // SAFETY: C strings.
    let id = check(unsafe { libc::openat(nodes.as_raw_fd(), c"1/gpu_id".as_ptr(), O_RDONLY) });
    assert!(id.is_ok());
    let dri = fs::File::open("/dev/dri").unwrap();
    // SAFETY: C strings.
    let node =
        check(unsafe { libc::openat(dri.as_raw_fd(), c"renderD128".as_ptr(), libc::O_RDWR) });
    let shown = fs::read_link(format!("/proc/self/fd/{}", node.unwrap())).unwrap();
    assert_eq!(shown.to_str(), Some("/dev/dri/renderD128"));
    let shown = fs::read_link(format!("/proc/self/fd/{}", nodes.as_raw_fd())).unwrap();
    assert_eq!(shown.to_str(), Some(NODES));
    // Relative to one that the host has.
    let class = fs::File::open("/sys/class").unwrap();
    // SAFETY: C strings.
    unsafe {
        let path = c"kfd/kfd/topology/nodes/1/gpu_id";
        assert!(check(libc::openat(class.as_raw_fd(), path.as_ptr(), O_RDONLY)).is_ok());
        assert!(check(libc::chdir(c"/dev".as_ptr())).is_ok());
        assert!(fs::metadata("kfd").unwrap().file_type().is_char_device());
        assert!(check(libc::chdir(c"/tmp".as_ptr())).is_ok());
    }
    for path in ["../dev/kfd", "/tmp/../dev/kfd", "/dev/../dev/./kfd"] {
        assert!(fs::metadata(path).unwrap().file_type().is_char_device(), "{path}");
    }
    // What is not there is not, and directories are none.
    assert_eq!(open(c"/dev/dri/card0", libc::O_RDWR), Err(libc::ENOENT));
    assert_eq!(open(c"/dev/kfd/x", libc::O_RDWR), Err(ENOTDIR));
    assert_eq!(open(c"/dev/dri", libc::O_RDWR), Err(libc::EISDIR));
    let exclusively = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    assert_eq!(open(c"/sys/class/kfd/kfd/dev", exclusively), Err(libc::EEXIST));
    // Nothing can be written or made.
    assert_eq!(open(c"/sys/class/drm/renderD128/device/vendor", O_WRONLY), Err(EACCES));
    assert_eq!(open(c"/dev/dri/new", O_WRONLY | libc::O_CREAT), Err(EACCES));
    assert_eq!(open(c"/dev/kfd", O_RDONLY | O_DIRECTORY), Err(ENOTDIR));
    // The rest is the host's.
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(fs::read_to_string("/proc/self/status").unwrap().contains("Threads:"));
}

#[test]
fn the_machines_files_can_be_read_in_every_way() {
    on_machine("gfx1151", "files::the_machines_files_can_be_read_in_every_way", tree);
}

/// Addresses at which nothing is, or nothing that may be written, the kernel refuses.
fn addresses() {
    let kfd = open(c"/dev/kfd", libc::O_RDWR).unwrap();
    let nothing = std::ptr::without_provenance_mut::<u8>(16);
    // SAFETY: nothing is read or written there.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let no_path = nothing.cast::<c_char>();
        let no_entries = nothing.cast::<libc::pollfd>();
        let no_set = nothing.cast::<libc::fd_set>();
        let none = std::ptr::null_mut();
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        for result in [
            libc::open(no_path, O_RDONLY),
            libc::stat(no_path, &raw mut status),
            libc::stat(c"/dev/kfd".as_ptr(), nothing.cast()),
            libc::fstat(kfd, nothing.cast()),
            libc::access(no_path, 0),
            libc::chdir(no_path),
            libc::poll(no_entries, 3, 0),
            libc::select(kfd + 1, no_set, none, none, &raw mut now),
        ] {
            assert_eq!((result, crate::errno()), (-1, libc::EFAULT));
        }
        assert_eq!(libc::write(kfd, nothing.cast(), 8), -1);
        assert_eq!(crate::errno(), libc::EINVAL);
        // A path at the end of what is mapped; and a set, of which the kernel reads no more than there are descriptors.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(std::ptr::null_mut(), 8192, 3, flags, -1, 0).cast::<u8>();
        check(libc::munmap(page.add(4096).cast(), 4096)).unwrap();
        let path = page.add(4096 - 9);
        path.copy_from_nonoverlapping(c"/dev/kfd".as_ptr().cast(), 9);
        assert_eq!(libc::stat(path.cast(), &raw mut status), 0);
        let set = page.add(4096 - 128).cast::<libc::fd_set>();
        libc::FD_ZERO(set);
        libc::FD_SET(kfd, set);
        assert_eq!(libc::select(1 << 30, set, none, none, &raw mut now), 1);
        assert_eq!(libc::poll(no_entries, libc::nfds_t::MAX >> 1, 0), -1);
    }
}

#[test]
fn bad_addresses_are_refused() {
    on_machine("gfx1151", "files::bad_addresses_are_refused", addresses);
}

fn streams() {
    // SAFETY: C strings, and a buffer of the length that is said.
    unsafe {
        for open in [libc::fopen, libc::fopen64] {
            let stream = open(c"/sys/module/amdgpu/initstate".as_ptr(), c"r".as_ptr());
            assert!(!stream.is_null());
            let mut line: [c_char; 16] = [0; 16];
            assert!(!libc::fgets(line.as_mut_ptr(), 16, stream).is_null());
            assert_eq!(CStr::from_ptr(line.as_ptr()), c"live\n");
            libc::fclose(stream);
        }
        let path = CString::new(NODES).unwrap();
        let directory = libc::opendir(path.as_ptr());
        assert!(!directory.is_null());
        let mut count = 0;
        while !libc::readdir(directory).is_null() {
            count += 1;
        }
        libc::closedir(directory);
        assert_eq!(count, 4);
        let readable = |path: &CStr| check(libc::access(path.as_ptr(), libc::R_OK));
        assert_eq!(readable(c"/dev/kfd"), Ok(0));
        assert_eq!(readable(c"/sys/module/amdxdna"), Err(libc::ENOENT));
        let written = libc::access(c"/sys/module/amdgpu/initstate".as_ptr(), libc::W_OK);
        assert_eq!(check(written), Err(EACCES));
    }
}

#[test]
fn streams_are_libcs_own() {
    on_machine("gfx1151", "files::streams_are_libcs_own", streams);
}

fn nodes() {
    // 226:128; the KFD's number is what sysfs says.
    let kfd = fs::read_to_string("/sys/class/kfd/kfd/dev").unwrap();
    let kfd: Vec<u32> = kfd.trim().split(':').map(|number| number.parse().unwrap()).collect();
    let render = libc::makedev(226, 128);
    let by_path = "/dev/dri/by-path/pci-0000:c3:00.0-render";
    for (path, number) in [
        ("/dev/kfd", libc::makedev(kfd[0], kfd[1])),
        ("/dev/dri/renderD128", render),
        (by_path, render),
    ] {
        let by_name = fs::metadata(path).unwrap();
        let file = fs::File::open(path).unwrap();
        let by_descriptor = file.metadata().unwrap();
        let path = CString::new(path).unwrap();
        // SAFETY: C strings and places for the answers.
        let (by_stat, by_fstat) = unsafe {
            let (mut a, mut b): (libc::stat, libc::stat) = (std::mem::zeroed(), std::mem::zeroed());
            assert_eq!(libc::stat(path.as_ptr(), &raw mut a), 0);
            assert_eq!(libc::fstat(file.as_raw_fd(), &raw mut b), 0);
            (a.st_rdev, b.st_rdev)
        };
        assert!(by_name.file_type().is_char_device() && by_descriptor.file_type().is_char_device());
        assert_eq!((by_name.rdev(), by_descriptor.rdev()), (number, number));
        assert_eq!((by_stat, by_fstat), (number, number));
    }
    assert!(fs::symlink_metadata(by_path).unwrap().is_symlink());
    assert!(fs::metadata(NODES).unwrap().is_dir());
}

#[test]
fn device_nodes_are_character_devices() {
    on_machine("gfx1151", "files::device_nodes_are_character_devices", nodes);
}

#[test]
fn coreutils_see_the_machine() {
    if is_on_machine() {
        return;
    }
    let output = simrun("gfx1100").args(["ls", "-lR", NODES]).output().unwrap();
    let listing = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && listing.contains("gpu_id"), "{listing}");
    let output = simrun("gfx1100").args(["ls", "-l", "/dev/kfd", "/dev/dri"]).output().unwrap();
    let listing = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && listing.contains("226, 128"), "{listing}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let script = "cd /sys/class/drm/renderD128/device && pwd && cat vendor && cd drm && pwd -P";
    let output = simrun("gfx1151").args(["sh", "-c", script]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let lines = ["/sys/class/drm/renderD128/device", "0x1002", &format!("{DEVICE}/drm")];
    assert_eq!(said.lines().collect::<Vec<_>>(), lines);
    // A device node by a path that is relative to the working directory: memory, not what stands for the node.
    let script = "cd /dev/dri && exec 7<>renderD128 && exec readlink /proc/$$/fd/7";
    let output = simrun("gfx1151").args(["bash", "-c", script]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("/memfd:"));
    let output = simrun("none").args(["cat", "/sys/class/drm/renderD128/dev"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let output = simrun("gfx90a,gfx1030").args(["ls", "/sys/class/drm"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "renderD128\nrenderD129\n");
}

fn forbidden() {
    for (path, text) in [(c"/dev/kfd", "/dev/kfd"), (c"/dev/dri/renderD128", "/dev/dri/renderD128")]
    {
        assert_eq!(open(path, libc::O_RDWR), Err(EACCES));
        assert_eq!(fs::metadata(text).unwrap().mode() & 0o777, 0o660);
        // SAFETY: a C string.
        let access = |mode| check(unsafe { libc::access(path.as_ptr(), mode) });
        assert_eq!(access(libc::F_OK), Ok(0));
        assert_eq!((access(libc::R_OK), access(libc::W_OK)), (Err(EACCES), Err(EACCES)));
    }
    assert_eq!(names(NODES), ["0", "1"]);
}

#[test]
fn without_permission() {
    on_machine("gfx1151+no-permission", "files::without_permission", forbidden);
}
