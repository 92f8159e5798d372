//! The topology that the KFD shows in sysfs (kfd_topology.c, kfd_crat.c).

use super::links::{self, Links};
use crate::profile::{Board, Cache, ContextSave, Host, Kernel};
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// Where the topology is.
pub(crate) const ROOT: &str = "/sys/devices/virtual/kfd/kfd/topology";

/// The first processor id that the kernel gives to a GPU (kfd_crat.c, `gpu_processor_id_low`).
const FIRST_PROCESSOR_ID: u32 = 0x8000_1000;

/// `HSA_CAP_SVMAPI_SUPPORTED`
const CAPABILITY_SVM: u32 = 0x0800_0000;

/// `HSA_MEM_HEAP_TYPE_*`
const HEAP_SYSTEM: u32 = 0;
const HEAP_PUBLIC: u32 = 1;
const HEAP_PRIVATE: u32 = 2;
/// `HSA_CAP_PER_QUEUE_RESET_SUPPORTED`, which Linux before 6.12 does not know.
const CAPABILITY_QUEUE_RESET: u32 = 1 << 31;
/// `HSA_CACHE_TYPE_*`
const CACHE_DATA: u32 = 1;
const CACHE_INSTRUCTION: u32 = 2;
const CACHE_HSACU: u32 = 8;

/// Properties of a CPU node: a desktop's sixteen cores with two threads each.
const CPU_CORES: u32 = 32;
const CPU_MAX_MHZ: u32 = 5187;
const CPU_ONLY_SYSTEM_BYTES: u64 = 16 << 30;

/// Files by absolute path, made once.
#[derive(Debug)]
pub(crate) struct Topology {
    files: BTreeMap<String, String>,
    gpu_ids: Vec<u32>,
}

/// A GPU's node, and what it has of its place.
struct Place<'a> {
    node: usize,
    /// Number of its hive; 0 is none.
    hive: u64,
    processor_id: u32,
    links: &'a Links,
}

/// Lines of `name value`.
#[derive(Default)]
struct Properties(String);

impl Properties {
    fn line(mut self, name: &str, value: impl Display) -> Properties {
        let _ = writeln!(self.0, "{name} {value}");
        self
    }
}

/// `capability` of a GPU's node.
pub(crate) fn capability(board: &Board, kernel: &Kernel) -> u32 {
    let svm = if kernel.svm { CAPABILITY_SVM } else { 0 };
    let unknown = if kernel.minor < 17 { CAPABILITY_QUEUE_RESET } else { 0 };
    (board.capability & !unknown) | svm | board.asic_revision << 22
}

impl Topology {
    pub(crate) fn new(host: &Host, boards: &[Board], kernel: &Kernel) -> Topology {
        let mut topology = Topology { files: BTreeMap::new(), gpu_ids: Vec::new() };
        let links = links::links(host, boards, kernel);
        topology.put("generation_id", format!("{}\n", 1 + boards.len()));
        let system = Properties::default()
            .line("platform_oem", 0)
            .line("platform_id", 0)
            .line("platform_rev", 0);
        topology.put("system_properties", system.0);
        let cpus = host.cpu_nodes as usize;
        for (cpu, links) in links.iter().enumerate().take(cpus) {
            topology.cpu_node(cpu, cpus, boards, kernel, links);
        }
        let mut processor_id = FIRST_PROCESSOR_ID;
        for (index, board) in boards.iter().enumerate() {
            let hive = host.hive(boards, index).map_or(0, |first| boards[first].unique_id);
            let place =
                Place { node: cpus + index, hive, processor_id, links: &links[cpus + index] };
            topology.gpu_node(index, board, kernel, &place);
            processor_id += board.arrays() * board.cus_per_array;
        }
        topology
    }

    pub(crate) fn gpu_id(&self, index: usize) -> u32 {
        self.gpu_ids[index]
    }

    pub(crate) fn render_minor(index: usize) -> u32 {
        128 + index as u32
    }

    pub(crate) fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    fn put(&mut self, path: &str, contents: String) {
        self.files.insert(format!("{ROOT}/{path}"), contents);
    }

    fn links(&mut self, node: usize, links: &Links) {
        for (name, links) in [("io_links", &links.direct), ("p2p_links", &links.indirect)] {
            for (index, link) in links.iter().enumerate() {
                let text = Properties::default()
                    .line("type", link.kind)
                    .line("version_major", 0)
                    .line("version_minor", 0)
                    .line("node_from", node)
                    .line("node_to", link.to)
                    .line("weight", link.weight)
                    .line("min_latency", 0)
                    .line("max_latency", 0)
                    .line("min_bandwidth", link.bandwidth.0)
                    .line("max_bandwidth", link.bandwidth.1)
                    .line("recommended_transfer_size", 0)
                    .line("recommended_sdma_engine_id_mask", link.sdma_engines)
                    .line("flags", link.flags);
                self.put(&format!("nodes/{node}/{name}/{index}/properties"), text.0);
            }
        }
    }

    fn memory(&mut self, node: usize, heap: u32, bytes: u64, width: u32, mhz: u32) {
        let text = Properties::default()
            .line("heap_type", heap)
            .line("size_in_bytes", bytes)
            .line("flags", 0)
            .line("width", width)
            .line("mem_clk_max", mhz);
        self.put(&format!("nodes/{node}/mem_banks/0/properties"), text.0);
    }

    /// A node of `cpus` CPU nodes, which share the system's memory.
    fn cpu_node(
        &mut self,
        node: usize,
        cpus: usize,
        boards: &[Board],
        kernel: &Kernel,
        links: &Links,
    ) {
        self.put(&format!("nodes/{node}/gpu_id"), "0\n".to_owned());
        self.put(&format!("nodes/{node}/name"), "\n".to_owned());
        let mut text = Properties::default()
            .line("cpu_cores_count", CPU_CORES)
            .line("simd_count", 0)
            .line("mem_banks_count", 1)
            .line("caches_count", 0)
            .line("io_links_count", links.direct.len())
            .line("p2p_links_count", links.indirect.len())
            .line("cpu_core_id_base", node as u32 * CPU_CORES);
        for name in [
            "simd_id_base",
            "max_waves_per_simd",
            "lds_size_in_kb",
            "gds_size_in_kb",
            "num_gws",
            "wave_front_size",
            "array_count",
            "simd_arrays_per_engine",
            "cu_per_simd_array",
            "simd_per_cu",
            "max_slots_scratch_cu",
            "gfx_target_version",
            "vendor_id",
            "device_id",
            "location_id",
            "domain",
            "drm_render_minor",
            "hive_id",
            "num_sdma_engines",
            "num_sdma_xgmi_engines",
            "num_sdma_queues_per_engine",
            "num_cp_queues",
        ] {
            text = text.line(name, 0);
        }
        if kernel.save_area_shown {
            text = text.line("cwsr_size", 0).line("ctl_stack_size", 0);
        }
        let text = text.line("max_engine_clk_ccompute", CPU_MAX_MHZ);
        self.put(&format!("nodes/{node}/properties"), text.0);
        let system = boards.iter().map(|b| b.system_bytes).max().unwrap_or(CPU_ONLY_SYSTEM_BYTES);
        self.memory(node, HEAP_SYSTEM, system / cpus as u64, 64, 5600);
        self.links(node, links);
    }

    fn gpu_node(&mut self, index: usize, board: &Board, kernel: &Kernel, place: &Place<'_>) {
        let Place { node, hive, processor_id, links } = *place;
        let id = self.generate_id(board, kernel);
        self.gpu_ids.push(id);
        let caches = self.caches(node, board, processor_id);
        self.links(node, links);
        let bytes = board.local_memory_bytes(kernel);
        let is_public = board.has_large_bar() || board.vram_is_gtt(kernel);
        let heap = if is_public { HEAP_PUBLIC } else { HEAP_PRIVATE };
        self.memory(node, heap, bytes, board.memory_width, board.memory_mhz);
        self.put(&format!("nodes/{node}/gpu_id"), format!("{id}\n"));
        self.put(&format!("nodes/{node}/name"), "ip discovery\n".to_owned());
        let mut text = Properties::default()
            .line("cpu_cores_count", 0)
            .line("simd_count", board.simds())
            .line("mem_banks_count", 1)
            .line("caches_count", caches)
            .line("io_links_count", links.direct.len())
            .line("p2p_links_count", links.indirect.len())
            .line("cpu_core_id_base", 0)
            .line("simd_id_base", processor_id)
            .line("max_waves_per_simd", board.waves_per_simd)
            .line("lds_size_in_kb", board.gpu.lds_bytes >> 10)
            .line("gds_size_in_kb", 0)
            .line("num_gws", 64)
            .line("wave_front_size", board.wave_lanes)
            .line("array_count", board.arrays())
            .line("simd_arrays_per_engine", board.arrays_per_engine)
            .line("cu_per_simd_array", board.cus_per_array)
            .line("simd_per_cu", board.simds_per_cu)
            .line("max_slots_scratch_cu", board.gpu.scratch_slots_per_cu)
            .line("gfx_target_version", board.gpu.gfx_target_version)
            .line("vendor_id", 0x1002)
            .line("device_id", board.device_id)
            .line("location_id", board.location_id)
            .line("domain", 0)
            .line("drm_render_minor", Topology::render_minor(index))
            .line("hive_id", hive)
            .line("num_sdma_engines", board.sdma_engines)
            .line("num_sdma_xgmi_engines", board.sdma_link_engines)
            .line("num_sdma_queues_per_engine", board.sdma_queues_per_engine)
            .line("num_cp_queues", board.compute_queues);
        if kernel.save_area_shown {
            let sizes = ContextSave::of(board, kernel);
            text = text.line("cwsr_size", sizes.total).line("ctl_stack_size", sizes.control_stack);
        }
        text = text
            .line("max_engine_clk_fcompute", board.max_engine_mhz)
            .line("local_mem_size", 0)
            .line("fw_version", board.mec_firmware)
            .line("capability", capability(board, kernel));
        if kernel.has_capability2() {
            text = text.line("capability2", 0);
        }
        let text = text
            .line("debug_prop", board.debug_properties)
            .line("sdma_fw_version", board.sdma_firmware)
            .line("unique_id", board.unique_id)
            .line("num_xcc", board.gpu.xccs)
            .line("max_engine_clk_ccompute", CPU_MAX_MHZ);
        self.put(&format!("nodes/{node}/properties"), text.0);
    }

    /// `kfd_fill_cache_non_crat_info`, all compute units of the full arrays active. Returns how many.
    fn caches(&mut self, node: usize, board: &Board, processor_id: u32) -> usize {
        let mut count = 0;
        for cache in board.caches {
            if cache.level == 1 {
                let (arrays, cus) = (board.arrays(), board.cus_per_array);
                for block in (0..arrays * cus).step_by(cache.shared_by as usize) {
                    let siblings = sibling_map(cache.shared_by, 32);
                    self.cache(node, count, cache, processor_id + block, &siblings);
                    count += 1;
                }
            } else {
                let mut siblings = String::new();
                for _ in 0..board.arrays() {
                    siblings += &sibling_map(cache.shared_by, 32);
                }
                self.cache(node, count, cache, processor_id, &siblings);
                count += 1;
            }
        }
        count
    }

    fn cache(&mut self, node: usize, index: usize, cache: &Cache, processor: u32, siblings: &str) {
        let kind = if cache.instruction { CACHE_INSTRUCTION } else { CACHE_DATA };
        let text = Properties::default()
            .line("processor_id_low", processor)
            .line("level", cache.level)
            .line("size", cache.size_kib)
            .line("cache_line_size", cache.line_bytes)
            .line("cache_lines_per_tag", 0)
            .line("association", 0)
            .line("latency", 0)
            .line("type", kind | CACHE_HSACU)
            .line("sibling_map", siblings.trim_end_matches(','));
        self.put(&format!("nodes/{node}/caches/{index}/properties"), text.0);
    }

    /// `kfd_generate_gpu_id`
    fn generate_id(&self, board: &Board, kernel: &Kernel) -> u32 {
        let memory = board.local_memory_bytes(kernel);
        let words = [
            board.location_id & 0xff,
            u32::from(board.subsystem.0) | u32::from(board.subsystem.1) << 16,
            0,
            board.device_id,
            board.location_id >> 8,
            memory as u32,
            (memory >> 32) as u32,
            1 << 16,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut id = u32::from(crc16(&bytes));
        while id == 0 || self.gpu_ids.contains(&id) {
            id = (id + 1) & 0xffff;
        }
        id
    }
}

/// One bit a compute unit, `width` bits in all, each followed by a comma.
fn sibling_map(ones: u32, width: u32) -> String {
    (0..width).map(|bit| if bit < ones { "1," } else { "0," }).collect()
}

/// Linux's crc16 (lib/crc16.c): polynomial 0x8005 reflected, start 0.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(
            crc ^ u16::from(byte),
            |crc, _| {
                if crc & 1 == 1 { crc >> 1 ^ 0xa001 } else { crc >> 1 }
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{gfx1100, gfx1151};

    #[test]
    fn crc_is_the_arc_polynomial() {
        assert_eq!(crc16(b"123456789"), 0xbb3d);
    }

    #[test]
    fn two_boards() {
        let kernel = Kernel::with_kfd_minor(18).unwrap();
        let topology = Topology::new(&Host::default(), &[gfx1100(), gfx1151()], &kernel);
        let properties = &topology.files[&format!("{ROOT}/nodes/1/properties")];
        assert!(properties.contains("simd_count 192\n"));
        assert_ne!(topology.gpu_id(0), topology.gpu_id(1));
    }
}
