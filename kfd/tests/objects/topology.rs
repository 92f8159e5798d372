//! Topologies of real machines, and broken ones.

use crate::scripted::Scripted;
use kfd::topology::{Family, ROOT, Topology, TopologyError, parse_properties};
use kfd::uapi::sysfs::{CacheType, IoLinkFlags, MEM_HEAP_TYPE_FB_PUBLIC};
use proptest::prelude::*;
use selvedge_sys::Errno;
use serde_json::Value;
use std::path::Path;

fn read(system: &Scripted) -> Result<Topology, TopologyError> {
    Topology::read(system, Path::new(ROOT))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The properties of a JSON object as the kernel prints them.
fn lines(object: &Value) -> String {
    let properties = object.as_object().unwrap().iter().filter(|(key, _)| *key != "_index");
    properties.map(|(key, value)| format!("{key} {}\n", text(value))).collect()
}

/// The topology tree of a captured machine.
fn machine(name: &str) -> std::sync::Arc<Scripted> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/topology").join(name);
    let json: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let system = Scripted::new(17);
    system.script().files.clear();
    let generation = json["generation_id"].as_str().unwrap_or("1");
    system.file("generation_id", &format!("{generation}\n"));
    let platform = &json["system_properties"];
    system.file(
        "system_properties",
        &if platform.is_null() { String::new() } else { lines(platform) },
    );
    for node in json["nodes"].as_array().unwrap() {
        let directory = format!("nodes/{}", node["node"]);
        let is_gpu = node["properties"]["simd_count"] != 0;
        let gpu_id = match node["gpu_id"].as_str() {
            Some(id) => id.to_owned(),
            None => (node["node"].as_u64().unwrap() * 1000 * u64::from(is_gpu)).to_string(),
        };
        system.file(&format!("{directory}/gpu_id"), &format!("{gpu_id}\n"));
        let name = node["name"].as_str().unwrap_or("");
        system.file(&format!("{directory}/name"), &format!("{name}\n"));
        system.file(&format!("{directory}/properties"), &lines(&node["properties"]));
        for kind in ["mem_banks", "caches", "io_links", "p2p_links"] {
            for child in node[kind].as_array().into_iter().flatten() {
                let path = format!("{directory}/{kind}/{}/properties", child["_index"]);
                system.file(&path, &lines(child));
            }
        }
    }
    system
}

#[test]
fn a_steam_deck() {
    let topology = read(&machine("07-gfx1033-vangogh-steamdeck.json")).unwrap();
    assert_eq!(topology.generation_id, 2);
    assert_eq!(topology.system.platform_rev, 1);
    assert_eq!(topology.nodes.len(), 1, "node 0 is missing and that is all right");
    let node = topology.node(1).unwrap();
    assert_eq!((node.gpu_id, node.name.as_str()), (8784, "ip discovery"));
    assert_eq!(node.target().to_string(), "gfx1033");
    assert_eq!(node.target().family(), Some(Family::Rdna2));
    assert_eq!((node.compute_unit_count(), node.xcc_count()), (8, 1));
    assert_eq!(node.pci_address(), "0000:04:00.0");
    assert_eq!(node.render_node(), "/dev/dri/renderD128");
    assert_eq!(node.capability().doorbell_type(), 2);
    assert_eq!(node.properties.cwsr_size, None);
    assert!(node.properties.unknown.is_empty(), "{:?}", node.properties.unknown);
    let bank = &node.memory_banks[0].properties;
    assert_eq!((bank.heap_type, bank.size_in_bytes), (MEM_HEAP_TYPE_FB_PUBLIC, 8 << 30));
    assert_eq!(node.caches[0].cache_type(), CacheType::DATA | CacheType::HSACU);
    assert_eq!(node.caches[0].properties.sibling_map.iter().filter(|bit| **bit).count(), 1);
}

#[test]
fn eight_mi210() {
    let topology = read(&machine("02-gfx90a-mi210-x8-xgmi-pcie.json")).unwrap();
    assert_eq!(topology.gpus().count(), 8);
    assert!(topology.gpus().all(|node| node.target().to_string() == "gfx90a"));
    let cpu = topology.node(0).unwrap();
    let link = &cpu.io_links[1];
    assert_eq!((link.properties.node_to, link.properties.max_bandwidth), (2, 32000));
    assert_eq!(link.properties.recommended_sdma_engine_id_mask, 3);
    assert_eq!(link.flags(), IoLinkFlags::ENABLED | IoLinkFlags::NON_COHERENT);
}

#[test]
fn an_old_kernel_and_a_laptop() {
    let old = read(&machine("01-gfx900-vega10-one-gpu.json")).unwrap();
    let gpu = old.gpus().next().unwrap();
    assert_eq!((gpu.properties.gfx_target_version, gpu.target().family()), (0, None));
    let laptop = read(&machine("05-gfx1103-phoenix-780m.json")).unwrap();
    assert!(laptop.gpus().any(|node| node.target().to_string() == "gfx1103"));
}

#[test]
fn unknown_keys_are_kept() {
    let system = Scripted::new(17);
    system.file("nodes/1/properties", "simd_count 4\nfuture_key some words\n");
    let topology = read(&system).unwrap();
    let unknown = &topology.node(1).unwrap().properties.unknown;
    assert_eq!(unknown, &[("future_key".to_owned(), "some words".to_owned())]);
}

#[test]
fn malformed_files_are_named_with_their_line() {
    for (file, content, line) in [
        ("nodes/1/properties", "simd_count 4\nwave_front_size thirty-two\n", 2),
        ("nodes/1/properties", "simd_count 4294967296\n", 1),
        ("nodes/1/properties", "simd_count 4\n\nalone\n", 3),
        ("nodes/1/gpu_id", "4294967296\n", 1),
        ("nodes/1/gpu_id", "\n", 1),
        ("generation_id", "x", 1),
        ("nodes/1/caches/0/properties", "level 1\nsibling_map 1,2\n", 2),
    ] {
        let system = Scripted::new(17);
        system.file(file, content);
        match read(&system).unwrap_err() {
            TopologyError::Malformed { file: named, line: at, .. } => {
                assert_eq!((named, at), (Path::new(ROOT).join(file), line));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn forbidden_nodes_are_reported() {
    let system = Scripted::new(17);
    let file = Path::new(ROOT).join("nodes/1/gpu_id");
    system.script().files.insert(file.clone(), Err(Errno::EPERM));
    let topology = read(&system).unwrap();
    assert_eq!(topology.gpus().map(|node| node.index).collect::<Vec<_>>(), [2]);
    assert_eq!((topology.forbidden[0].index, &topology.forbidden[0].file), (1, &file));
}

#[test]
fn a_topology_that_changes_is_read_again() {
    let system = Scripted::new(17);
    system.script().restless = 3;
    assert_eq!(read(&system).unwrap().generation_id, 10);
    system.script().restless = 100;
    assert!(matches!(read(&system), Err(TopologyError::Changing { .. })));
    let empty = Scripted::new(17);
    empty.script().files.clear();
    let error = read(&empty).unwrap_err();
    assert!(error.to_string().contains("modprobe amdgpu"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let file = Path::new("properties");
        match parse_properties(&bytes, file) {
            Ok(properties) => {
                let lines = bytes.split(|&byte| byte == b'\n').count();
                prop_assert!(properties.lines().iter().all(|property| property.line <= lines));
            }
            Err(TopologyError::Malformed { file: named, line, .. }) => {
                prop_assert_eq!(named, file);
                prop_assert!(line >= 1);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
