//! What sysfs shows.

use crate::rig::{Rig, machine};
use selvedge_sim::profile::{Board, Cache, Gpu, gfx1151};
use selvedge_sys::{Errno, System};
use std::path::Path;

const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

fn read(system: &dyn System, path: &str) -> Result<String, Errno> {
    system.read_file(Path::new(path)).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn list(system: &dyn System, path: &str) -> Result<Vec<String>, Errno> {
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
    for name in ["gfx1151", "gfx1100"] {
        let process = machine(name, 18).process();
        assert_eq!(list(&*process, &format!("{ROOT}/nodes")).unwrap(), ["0", "1"]);
        for node in 0..2 {
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

/// All keys of a whole properties file of a real RX 7900 XTX have the values it has there, but for what
/// depends on the box: number of GPUs and the CPU's clock.
#[test]
fn properties_of_a_real_board() {
    let golden = include_str!("../../../tests/data/topology/gfx1100-7900xtx.properties");
    // That box runs AMD's own kernel modules, which claim precise memory operations for gfx11.
    const PRECISE_MEMORY: u32 = 0x4_0000;
    let rig = Rig::new("gfx1100", 18);
    let text = read(&*rig.process, &format!("{ROOT}/nodes/1/properties")).unwrap();
    let ours: Vec<(&str, &str)> = text.lines().map(|l| l.split_once(' ').unwrap()).collect();
    let mut same = 0;
    for (key, value) in golden.lines().map(|line| line.split_once(' ').unwrap()) {
        if matches!(key, "p2p_links_count" | "simd_id_base" | "max_engine_clk_ccompute") {
            continue;
        }
        let value = match key {
            "capability" => (value.parse::<u32>().unwrap() & !PRECISE_MEMORY).to_string(),
            _ => value.to_owned(),
        };
        let value = value.as_str();
        assert!(ours.contains(&(key, value)), "{key}: real {value}");
        same += 1;
    }
    assert_eq!(same, 33);
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

/// What rocminfo says of real boards (ROCm/legacy-rocm-build issues 5849 and 6342).
#[test]
fn boards_of_gfx12() {
    for (name, version, chip, simds, arrays, mhz) in
        [("gfx1201", 120_001, 30_032, 128, 8, 2570), ("gfx1200", 120_000, 30_096, 64, 4, 2740)]
    {
        let process = machine(name, 18).process();
        let text = read(&*process, &format!("{ROOT}/nodes/1/properties")).unwrap();
        for (key, value) in [
            ("gfx_target_version", version),
            ("device_id", chip),
            ("simd_count", simds),
            ("simd_per_cu", 2),
            ("array_count", arrays),
            ("max_engine_clk_fcompute", mhz),
            ("max_waves_per_simd", 16),
            ("lds_size_in_kb", 64),
            ("num_sdma_engines", 2),
        ] {
            assert!(text.lines().any(|line| line == format!("{key} {value}")), "{key}: {text}");
        }
    }
}

#[test]
fn unknown_names_are_named() {
    let error = selvedge_sim::Machine::with_gpu("gfx999").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no simulated board is called \"gfx999\"; there are gfx1151, gfx1100, gfx1201, gfx1200, gfx90a, gfx906, gfx1030"
    );
    let error = selvedge_sim::Machine::builder().kfd_minor(16).unwrap_err();
    assert!(error.to_string().contains("1.14, 1.17, 1.18 and 1.23"));
}

/// The board of a real Ryzen 7 7840U (Phoenix, Radeon 780M), from its own numbers.
fn phoenix() -> Board {
    const L1: Cache =
        Cache { level: 1, size_kib: 32, line_bytes: 128, shared_by: 1, instruction: false };
    const CACHES: &[Cache] = &[
        L1,
        Cache { shared_by: 2, instruction: true, ..L1 },
        Cache { size_kib: 16, line_bytes: 64, shared_by: 2, ..L1 },
        Cache { size_kib: 256, shared_by: 6, ..L1 },
        Cache { level: 2, size_kib: 2048, shared_by: 6, ..L1 },
    ];
    let gpu = Gpu {
        name: "gfx1103",
        gfx_target_version: 110003,
        compute_units: 12,
        shader_engines: 1,
        ..gfx1151().gpu
    };
    Board {
        gpu,
        device_id: 0x15bf,
        subsystem: (0x17aa, 0x50da),
        pci_revision: 0xdd,
        asic_revision: 9,
        location_id: 0x6400,
        gc_version: (11, 0, 1),
        nbif_version: (7, 7, 0),
        sdma_version: (6, 0, 1),
        cus_per_array: 6,
        gtt_bytes: 31_433_977_856,
        memory_width: 128,
        memory_mhz: 800,
        mec_firmware: 67,
        sdma_firmware: 23,
        caches: CACHES,
        ..gfx1151()
    }
}

/// The tree made for a board is the tree that Linux made for the real one: GPU id, properties in their
/// order, memory, links, all 27 caches. Only what concerns the CPU is left out.
#[test]
fn the_whole_tree_of_a_real_apu() {
    let golden = include_str!("../../../tests/data/topology/05-gfx1103-phoenix-780m.json");
    let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
    let machine = selvedge_sim::Machine::builder().board(phoenix()).build().unwrap();
    let process = machine.process();
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = 0;
    for (number, node) in golden["nodes"].as_array().unwrap().iter().enumerate() {
        let path = format!("{ROOT}/nodes/{number}");
        let id = read(&*process, &format!("{path}/gpu_id")).unwrap();
        assert_eq!(id.trim(), node["gpu_id"].as_str().unwrap());
        let ours = read(&*process, &format!("{path}/properties")).unwrap();
        for (key, value) in node["properties"].as_object().unwrap() {
            if !matches!(key.as_str(), "cpu_cores_count" | "max_engine_clk_ccompute") {
                assert!(
                    ours.contains(&format!("{key} {}\n", text(value))),
                    "{number}: {key} {value}"
                );
                lines += 1;
            }
        }
        for list in ["mem_banks", "caches", "io_links"] {
            for (index, entry) in node[list].as_array().into_iter().flatten().enumerate() {
                let ours = read(&*process, &format!("{path}/{list}/{index}/properties")).unwrap();
                for (key, value) in entry.as_object().unwrap() {
                    let of_cpu = number == 0 && list == "mem_banks" && key != "heap_type";
                    if key != "_index" && !of_cpu {
                        let line = format!("{key} {}\n", text(value));
                        assert!(ours.contains(&line), "{number} {list} {index}: {line}");
                        lines += 1;
                    }
                }
            }
        }
    }
    assert_eq!(lines, 340);
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
