//! The trees made for boards are those that Linux made for real ones.

use crate::rig::{Rig, machine};
use crate::topology::{ROOT, read};
use selvedge_sim::{Machine, Process};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn golden(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// Whether all that a recorded file says, but for some keys, is in ours; how many lines.
fn compare(process: &Process, path: &str, recorded: &Value, without: &[&str]) -> usize {
    let ours = read(process, &format!("{path}/properties")).unwrap();
    let mut lines = 0;
    for (key, value) in recorded.as_object().unwrap() {
        if key != "_index" && !without.contains(&key.as_str()) {
            let line = format!("{key} {}", text(value));
            assert!(ours.lines().any(|ours| ours == line), "{path}: real {line}, ours {ours}");
            lines += 1;
        }
    }
    lines
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

/// What rocminfo says of real boards (ROCm/legacy-rocm-build issues 5849 and 6342, lamikr/rocm_sdk_builder issue 246).
#[test]
fn what_rocminfo_says() {
    for (name, version, chip, simds, arrays, mhz) in [
        ("gfx1201", 120_001, 30_032, 128, 8, 2570),
        ("gfx1200", 120_000, 30_096, 64, 4, 2740),
        ("gfx1101", 110_001, 29_822, 120, 6, 2254),
    ] {
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

/// GPU id, properties in their order, memory, links, all 27 caches of a Ryzen 7 7840U. Only what concerns the CPU is left
/// out.
#[test]
fn the_whole_tree_of_a_real_apu() {
    let golden = golden(include_str!("../../../tests/data/topology/05-gfx1103-phoenix-780m.json"));
    let process = machine("gfx1103", 18).process();
    let mut lines = 0;
    for (number, node) in golden["nodes"].as_array().unwrap().iter().enumerate() {
        let path = format!("{ROOT}/nodes/{number}");
        let id = read(&*process, &format!("{path}/gpu_id")).unwrap();
        assert_eq!(id.trim(), node["gpu_id"].as_str().unwrap());
        let of_cpu = ["cpu_cores_count", "max_engine_clk_ccompute"];
        lines += compare(&process, &path, &node["properties"], &of_cpu);
        for list in ["mem_banks", "caches", "io_links"] {
            for (index, entry) in node[list].as_array().into_iter().flatten().enumerate() {
                let of_cpu: &[&str] = match (number, list) {
                    (0, "mem_banks") => &["size_in_bytes", "width", "mem_clk_max"],
                    _ => &[],
                };
                lines += compare(&process, &format!("{path}/{list}/{index}"), entry, of_cpu);
            }
        }
    }
    assert_eq!(lines, 341);
}

/// A recorded topology in a folder, as Linux shows it.
fn folder(golden: &Value, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let write = |path: String, properties: &Value| {
        let lines = properties.as_object().unwrap().iter();
        let lines = lines.map(|(key, value)| format!("{key} {}\n", text(value)));
        let file = folder.join(path).join("properties");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, lines.collect::<String>()).unwrap();
    };
    for node in golden["nodes"].as_array().unwrap() {
        let number = text(&node["node"]);
        write(format!("nodes/{number}"), &node["properties"]);
        if let Some(bank) = node["mem_banks"].get(0) {
            write(format!("nodes/{number}/mem_banks/0"), bank);
        }
    }
    folder
}

/// Machines made from recorded topologies have them, but for how many caches there are and what is the CPU's.
#[test]
fn machines_from_recorded_topologies() {
    let of_cpu = ["cpu_cores_count", "cpu_core_id_base", "max_engine_clk_ccompute"];
    for (name, json, expected) in [
        (
            "phoenix",
            include_str!("../../../tests/data/topology/05-gfx1103-phoenix-780m.json"),
            (57, 2),
        ),
        (
            "mi210",
            include_str!("../../../tests/data/topology/02-gfx90a-mi210-x8-xgmi-pcie.json"),
            (304, 90),
        ),
    ] {
        let golden = golden(json);
        let machine = Machine::recorded(&folder(&golden, name)).unwrap().build().unwrap();
        let process = machine.process();
        // The hive's number is our own; how units are numbered follows the order in which Linux found the GPUs.
        let without = [&of_cpu[..], &["caches_count", "hive_id", "simd_id_base"]].concat();
        let (mut lines, mut links) = (0, 0);
        for node in golden["nodes"].as_array().unwrap() {
            let path = format!("{ROOT}/nodes/{}", text(&node["node"]));
            lines += compare(&process, &path, &node["properties"], &without);
            for list in ["io_links", "p2p_links"] {
                for (index, entry) in node[list].as_array().into_iter().flatten().enumerate() {
                    compare(&process, &format!("{path}/{list}/{index}"), entry, &[]);
                    links += 1;
                }
            }
        }
        assert_eq!((lines, links), expected, "{name}");
    }
}

/// Architectures without a board, and kernels that say too little.
#[test]
fn recorded_topologies_that_do_not_do() {
    let vangogh = include_str!("../../../tests/data/topology/07-gfx1033-vangogh-steamdeck.json");
    let vega = include_str!("../../../tests/data/topology/01-gfx900-vega10-one-gpu.json");
    for (name, json, problem) in [
        ("vangogh", vangogh, "no board with gfx_target_version 100303 is known"),
        ("vega", vega, "it has no gfx_target_version"),
    ] {
        let error = Machine::recorded(&folder(&golden(json), name)).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
    let error = Machine::recorded(Path::new("/nowhere")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/nodes: "), "{error}");
}

/// Whatever numbers a recorded topology has, there is a machine with them or an error that names the file.
#[test]
fn recorded_topologies_with_any_numbers() {
    let phoenix = include_str!("../../../tests/data/topology/05-gfx1103-phoenix-780m.json");
    let folder = folder(&golden(phoenix), "any_numbers");
    let mut refused = 0;
    for file in ["nodes/1/properties", "nodes/1/mem_banks/0/properties"] {
        let file = folder.join(file);
        let whole = std::fs::read_to_string(&file).unwrap();
        for (name, _) in whole.lines().map(|line| line.split_once(' ').unwrap()) {
            for number in [0, 1, 64, u64::from(u32::MAX), u64::MAX] {
                let changed = whole.lines().map(|line| match line.split_once(' ') {
                    Some((key, _)) if key == name => format!("{key} {number}\n"),
                    _ => format!("{line}\n"),
                });
                std::fs::write(&file, changed.collect::<String>()).unwrap();
                match Machine::recorded(&folder).and_then(|builder| builder.build()) {
                    Ok(machine) => drop(machine.process()),
                    Err(error) => {
                        refused += 1;
                        let error = error.to_string();
                        assert!(error.starts_with(file.to_str().unwrap()), "{error}");
                    }
                }
            }
        }
        std::fs::write(&file, whole).unwrap();
    }
    assert!(refused > 20, "{refused}");
    // What has no end is not read.
    let file = folder.join("nodes/1/properties");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let error = Machine::recorded(&folder).unwrap_err().to_string();
    assert!(error.ends_with("it is no file of properties"), "{error}");
}

#[test]
fn more_gpus_than_the_driver_has_room_for() {
    let machine = |count| Machine::described(&vec!["gfx1103"; count].join(",")).unwrap();
    let error = machine(65).build().unwrap_err().to_string();
    assert_eq!(error, "a machine with 65 GPUs; the driver has room for 64");
    assert!(machine(65).keeper().is_err());
    assert!(machine(64).build().is_ok());
}

/// Two sockets with four linked MI210s each: every link of every node, direct and indirect, and the GPUs' properties but for
/// what tells one from another.
#[test]
fn a_real_machine_with_eight_gpus() {
    let json = include_str!("../../../tests/data/topology/02-gfx90a-mi210-x8-xgmi-pcie.json");
    let golden = golden(json);
    let eight = format!("{}+two-cpus", ["gfx90a"; 8].join(","));
    let process = Machine::described(&eight).unwrap().build().unwrap().process();
    let (mut lines, mut links) = (0, 0);
    let mut hives = Vec::new();
    for (number, node) in golden["nodes"].as_array().unwrap().iter().enumerate() {
        let path = format!("{ROOT}/nodes/{number}");
        // Inactive units are not the same on all GPUs, and ours has none; ids are a GPU's own.
        let own: &[&str] = &[
            "cpu_cores_count",
            "cpu_core_id_base",
            "max_engine_clk_ccompute",
            "simd_id_base",
            "caches_count",
            "location_id",
            "hive_id",
            "unique_id",
            "drm_render_minor",
        ];
        lines += compare(&process, &path, &node["properties"], own);
        for list in ["io_links", "p2p_links"] {
            for (index, entry) in node[list].as_array().into_iter().flatten().enumerate() {
                compare(&process, &format!("{path}/{list}/{index}"), entry, &[]);
                links += 1;
            }
        }
        let ours = read(&*process, &format!("{path}/properties")).unwrap();
        let hive = ours.lines().find_map(|line| line.strip_prefix("hive_id ")).unwrap().to_owned();
        hives.push((node["properties"]["hive_id"].to_string(), hive));
    }
    assert_eq!((lines, links), (276, 90));
    for (real, ours) in &hives {
        for (other_real, other_ours) in &hives {
            assert_eq!(real == other_real, ours == other_ours, "{hives:?}");
        }
    }
}

/// An MI300X whose XCCs are GPUs of their own, beside ours, where they are one.
#[test]
fn a_real_mi300x() {
    let golden = golden(include_str!("../../../tests/data/topology/26-gfx942-mi300-cpx.json"));
    let process = machine("gfx942", 18).process();
    let path = format!("{ROOT}/nodes/1");
    let of_eight = [
        "simd_count",
        "array_count",
        "caches_count",
        "io_links_count",
        "p2p_links_count",
        "num_sdma_xgmi_engines",
        "num_xcc",
        "hive_id",
    ];
    let of_machine = ["simd_id_base", "max_engine_clk_ccompute"];
    let without = [&of_eight[..], &of_machine].concat();
    assert_eq!(compare(&process, &path, &golden["mi300x"]["properties"], &without), 28);
    let ours = read(&*process, &format!("{path}/properties")).unwrap();
    for line in ["simd_count 1216", "array_count 32", "num_xcc 8", "num_sdma_xgmi_engines 14"] {
        assert!(ours.lines().any(|ours| ours == line), "{line}");
    }
    // The link to the CPU, and of the sister the caches that units share, but for which units.
    let link = &golden["mi300x"]["io_links"][0];
    compare(&process, &format!("{path}/io_links/0"), link, &["node_from"]);
    let memory = &golden["mi308x"]["mem_banks"][0];
    compare(&process, &format!("{path}/mem_banks/0"), memory, &["size_in_bytes"]);
    let real = golden["mi308x"]["caches"].as_array().unwrap();
    let mut kinds: Vec<String> = real
        .iter()
        .filter(|cache| cache["level"] == 1)
        .map(|c| format!("{} {} {}", c["size"], c["cache_line_size"], c["type"]))
        .collect();
    kinds.sort();
    kinds.dedup();
    let mut ours = Vec::new();
    while let Ok(cache) = read(&*process, &format!("{path}/caches/{}/properties", ours.len())) {
        let value = |key| cache.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let [level, size, line, kind] = ["level ", "size ", "cache_line_size ", "type "].map(value);
        ours.push((level.to_owned(), format!("{size} {line} {kind}")));
    }
    let mut first: Vec<String> =
        ours.iter().filter(|cache| cache.0 == "1").map(|cache| cache.1.clone()).collect();
    first.sort();
    first.dedup();
    assert_eq!(first, kinds);
    // Of rocminfo's text in ROCm/legacy-rocm-build issue 4414.
    let higher: Vec<_> = ours.iter().filter(|cache| cache.0 != "1").collect();
    assert_eq!(higher, [&("2".into(), "4096 0 9".into()), &("3".into(), "262144 0 9".into())]);
}
