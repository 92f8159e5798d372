//! Machines from recorded topologies.
//!
//! The topology of the KFD does not say all that a machine is: PCI's subsystem and revision, versions of IP blocks, the carve-out of
//! an APU and how caches are shared come from the board of the same architecture that is known, and links follow from the
//! kernel's rules.

use crate::machine::{Builder, Machine, MachineError};
use crate::profile::{self, Board, Host};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lines of a properties file that are a name and a number.
struct Properties {
    file: PathBuf,
    values: BTreeMap<String, u64>,
}

impl Properties {
    fn read(file: PathBuf) -> Result<Properties, MachineError> {
        let text = std::fs::read_to_string(&file).map_err(|error| MachineError::Recorded {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        let number = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        };
        Ok(Properties { values: text.lines().filter_map(number).collect(), file })
    }

    fn bad(&self, problem: String) -> MachineError {
        MachineError::Recorded { file: self.file.clone(), problem }
    }

    fn optional(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    fn long(&self, name: &str) -> Result<u64, MachineError> {
        self.values.get(name).copied().ok_or_else(|| self.bad(format!("it has no {name}")))
    }

    fn number(&self, name: &str) -> Result<u32, MachineError> {
        let value = self.long(name)?;
        u32::try_from(value).map_err(|_| self.bad(format!("{name} is {value}")))
    }

    /// A number that something is divided by.
    fn divisor(&self, name: &str) -> Result<u32, MachineError> {
        match self.number(name)? {
            0 => Err(self.bad(format!("{name} is 0"))),
            number => Ok(number),
        }
    }
}

/// Bits of `capability` that follow from the kernel and the die's revision: `HSA_CAP_SVMAPI_SUPPORTED`,
/// `HSA_CAP_ASIC_REVISION_MASK`.
const NOT_OF_BOARD: u32 = 0x0800_0000 | 0x03c0_0000;

/// The board of a node.
fn board(properties: &Properties, memory: Option<&Properties>) -> Result<Board, MachineError> {
    let target = properties.number("gfx_target_version")?;
    let mut known = profile::names().iter().filter_map(|name| profile::by_name(name));
    let mut board =
        known.find(|board| board.gpu.gfx_target_version == target).ok_or_else(|| {
            properties.bad(format!("no board with gfx_target_version {target} is known"))
        })?;
    let xccs = properties.optional("num_xcc").clamp(1, 8) as u32;
    let simds = properties.divisor("simd_per_cu")?;
    let arrays = properties.divisor("simd_arrays_per_engine")?;
    board.gpu.xccs = xccs;
    board.gpu.compute_units = properties.number("simd_count")? / simds;
    board.gpu.shader_engines = properties.number("array_count")? / arrays / xccs;
    board.gpu.scratch_slots_per_cu = properties.number("max_slots_scratch_cu")?;
    board.gpu.lds_bytes = properties.number("lds_size_in_kb")?.saturating_mul(1024);
    if board.gpu.compute_units == 0 || board.gpu.shader_engines == 0 {
        return Err(properties.bad("it has no compute units".to_owned()));
    }
    let capability = properties.number("capability")?;
    board.device_id = properties.number("device_id")?;
    board.asic_revision = capability >> 22 & 0xf;
    board.location_id = properties.number("location_id")?;
    board.unique_id = properties.optional("unique_id");
    board.sdma_engines = properties.divisor("num_sdma_engines")?;
    board.sdma_link_engines = properties.number("num_sdma_xgmi_engines")?;
    board.sdma_queues_per_engine = properties.number("num_sdma_queues_per_engine")?;
    board.compute_queues = properties.number("num_cp_queues")?;
    board.wave_lanes = properties.number("wave_front_size")?;
    board.capability = capability & !NOT_OF_BOARD;
    board.debug_properties = properties.optional("debug_prop");
    board.simds_per_cu = simds;
    board.waves_per_simd = properties.number("max_waves_per_simd")?;
    board.arrays_per_engine = arrays;
    board.cus_per_array = properties.divisor("cu_per_simd_array")?;
    board.max_engine_mhz = properties.number("max_engine_clk_fcompute")?;
    board.mec_firmware = properties.number("fw_version")?;
    board.sdma_firmware = properties.number("sdma_fw_version")?;
    if let Some(memory) = memory {
        let bytes = memory.long("size_in_bytes")?;
        // What an APU shows is what it may use of the system's memory.
        match board.is_apu {
            true => board.gtt_bytes = bytes,
            false => board.vram_bytes = bytes,
        }
        board.bar_bytes = (memory.long("heap_type")? == 2).then_some(crate::Condition::SMALL_BAR);
        board.memory_width = memory.number("width")?;
        board.memory_mhz = memory.number("mem_clk_max")?;
    }
    Ok(board)
}

impl Machine {
    /// Starts to describe the machine whose topology was recorded: a folder like `/sys/class/kfd/kfd/topology`, of which
    /// `nodes/*/properties` and `nodes/*/mem_banks/0/properties` are read. Boards of architectures that are known take
    /// the numbers recorded; what a topology does not say is as on the board that is known.
    ///
    /// # Errors
    /// [`MachineError::Recorded`] for a file that cannot be read or lacks something, and for an architecture that is not known.
    pub fn recorded(topology: &Path) -> Result<Builder, MachineError> {
        let nodes = topology.join("nodes");
        let entries = std::fs::read_dir(&nodes).map_err(|error| MachineError::Recorded {
            file: nodes.clone(),
            problem: error.to_string(),
        })?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        let (mut builder, mut cpu_nodes) = (Machine::builder(), 0);
        for number in numbers {
            let node = nodes.join(number.to_string());
            let properties = Properties::read(node.join("properties"))?;
            if properties.optional("simd_count") == 0 {
                cpu_nodes += 1;
                continue;
            }
            let bank = node.join("mem_banks/0/properties");
            let memory = bank.exists().then(|| Properties::read(bank)).transpose()?;
            builder = builder.board(board(&properties, memory.as_ref())?);
        }
        Ok(builder.host(Host { cpu_nodes: cpu_nodes.max(1), ..Host::default() }))
    }
}
