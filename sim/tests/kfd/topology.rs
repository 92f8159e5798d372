//! What sysfs shows.

use crate::rig::machine;
use selvedge_sim::profile::{Board, gfx1151};
use selvedge_sys::{Errno, System};
use std::path::Path;

pub(crate) const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

pub(crate) fn read(system: &dyn System, path: &str) -> Result<String, Errno> {
    system.read_file(Path::new(path)).map(|bytes| String::from_utf8(bytes).unwrap())
}

pub(crate) fn list(system: &dyn System, path: &str) -> Result<Vec<String>, Errno> {
    let mut names: Vec<String> = system
        .list_directory(Path::new(path))?
        .into_iter()
        .map(|name| name.into_string().unwrap())
        .collect();
    names.sort();
    Ok(names)
}

#[test]
fn the_tree_counts_what_it_says() {
    for (description, nodes) in [
        ("gfx1151", 2),
        ("gfx1100", 2),
        ("gfx942,gfx942", 3),
        ("gfx1151,gfx1100,no-p2p", 3),
        ("gfx1100,gfx1100+small-bar", 3),
        ("gfx90a,gfx90a,gfx1030,gfx1101+two-cpus", 6),
    ] {
        let machine = selvedge_sim::Machine::described(description).unwrap().build().unwrap();
        let process = machine.process();
        assert_eq!(list(&*process, &format!("{ROOT}/nodes")).unwrap().len(), nodes);
        for node in 0..nodes {
            let node = format!("{ROOT}/nodes/{node}");
            let properties = read(&*process, &format!("{node}/properties")).unwrap();
            for (count, directory) in [
                ("mem_banks_count", "mem_banks"),
                ("caches_count", "caches"),
                ("io_links_count", "io_links"),
                ("p2p_links_count", "p2p_links"),
            ] {
                let said =
                    properties.lines().find_map(|line| line.strip_prefix(&format!("{count} ")));
                let entries = list(&*process, &format!("{node}/{directory}")).unwrap();
                assert_eq!(said, Some(entries.len().to_string().as_str()), "{node}/{directory}");
            }
        }
    }
}

#[test]
fn other_files_of_the_device() {
    let process = machine("gfx1151", 18).process();
    let device = "/sys/class/drm/renderD128/device";
    for (path, contents) in [
        ("/sys/module/amdgpu/initstate", "live\n"),
        (&format!("{device}/device"), "0x1586\n"),
        (&format!("{device}/ip_discovery/die/0/11/0/minor"), "5\n"),
        (&format!("{device}/ip_discovery/die/0/42/0/revision"), "1\n"),
        (&format!("{device}/ip_discovery/die/0/108/0/minor"), "11\n"),
        (&format!("{device}/drm/renderD128/dev"), "226:128\n"),
        ("/sys/dev/char/226:128/device/class", "0x030000\n"),
        ("/sys/bus/pci/devices/0000:c3:00.0/vendor", "0x1002\n"),
        (&format!("{ROOT}/generation_id"), "2\n"),
    ] {
        assert_eq!(read(&*process, path).unwrap(), contents, "{path}");
    }
    let uevent = "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:1586\nPCI_SUBSYS_ID=1002:1586\n\
                  PCI_SLOT_NAME=0000:c3:00.0\n\
                  MODALIAS=pci:v00001002d00001586sv00001002sd00001586bc03sc00i00\n";
    assert_eq!(read(&*process, &format!("{device}/uevent")).unwrap(), uevent);
    assert_eq!(list(&*process, "/dev/dri").unwrap(), ["by-path", "renderD128"]);
    assert_eq!(read(&*process, "/sys/class/drm/renderD129/device/device"), Err(Errno::ENOENT));
    assert_eq!(read(&*process, ROOT), Err(Errno::EISDIR));
    assert_eq!(list(&*process, "/sys/module/amdgpu/initstate"), Err(Errno::ENOTDIR));
    assert_eq!(list(&*process, "/sys/module/amdxdna"), Err(Errno::ENOENT));
    assert!(read(&*process, "/proc/self/status").is_ok(), "procfs is the host's");
}

#[test]
fn several_gpus_have_their_own_ids_and_nodes() {
    let machine = selvedge_sim::Machine::builder()
        .gpu("gfx1151")
        .and_then(|builder| builder.gpu("gfx1100"))
        .unwrap()
        .build()
        .unwrap();
    let process = machine.process();
    let ids = [1, 2].map(|node| read(&*process, &format!("{ROOT}/nodes/{node}/gpu_id")).unwrap());
    assert_ne!(ids[0], ids[1]);
    assert_eq!(list(&*process, "/dev/dri").unwrap(), ["by-path", "renderD128", "renderD129"]);
    assert_eq!(list(&*process, &format!("{ROOT}/nodes/0/io_links")).unwrap(), ["0", "1"]);
    assert_eq!(process.description(), "simulated gfx1151, gfx1100");
}

#[test]
fn unknown_names_are_named() {
    let error = selvedge_sim::Machine::with_gpu("gfx999").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no simulated board is called \"gfx999\"; there are gfx1151, gfx1100, gfx1201, gfx1200, gfx90a, \
         gfx906, gfx1030, gfx942, gfx1101, gfx1103"
    );
    let error = selvedge_sim::Machine::builder().kfd_minor(16).unwrap_err();
    assert!(error.to_string().contains("there are 1.14, 1.17, 1.18, 1.23"));
}

/// Where memory of a Strix Halo is allocated depends on the kernel and on the carve-out.
#[test]
fn an_apu_by_kernel() {
    let big = || Board { vram_bytes: 96 << 30, gtt_bytes: 16 << 30, ..gfx1151() };
    for (minor, board, local) in [
        (17, gfx1151(), 96u64 << 30),
        (18, gfx1151(), 96 << 30),
        (17, big(), 16 << 30),
        (18, big(), 96 << 30),
    ] {
        let builder = selvedge_sim::Machine::builder().board(board).kfd_minor(minor).unwrap();
        let process = builder.build().unwrap().process();
        let bank = read(&*process, &format!("{ROOT}/nodes/1/mem_banks/0/properties")).unwrap();
        assert!(bank.contains(&format!("size_in_bytes {local}\n")), "1.{minor}: {bank}");
    }
}
