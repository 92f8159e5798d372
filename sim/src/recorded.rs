//! Machines from recorded topologies.
//!
//! The topology of the KFD does not say all that a machine is: PCI's subsystem and revision, versions of IP blocks, the
//! carve-out of an APU and how caches are shared come from the board of the same architecture that is known, and links
//! follow from the kernel's rules.

use crate::machine::{Builder, Machine, MachineError};
use crate::profile::{self, Board, Host};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Lines of a properties file that are a name and a number.
struct Properties {
    file: PathBuf,
    values: BTreeMap<String, u64>,
}

impl Properties {
    fn read(file: PathBuf) -> Result<Properties, MachineError> {
        let text = read(&file).map_err(|error| MachineError::Recorded {
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

    /// A number that is no larger than any GPU's.
    fn limited(&self, name: &str, most: u64) -> Result<u32, MachineError> {
        match self.long(name)? {
            value if value <= most => Ok(value as u32),
            value => Err(self.bad(format!("{name} is {value}, more than {most}"))),
        }
    }

    /// One that something is divided by, too.
    fn divisor(&self, name: &str, most: u64) -> Result<u32, MachineError> {
        match self.limited(name, most)? {
            0 => Err(self.bad(format!("{name} is 0"))),
            number => Ok(number),
        }
    }
}

/// The text of a file. Devices and pipes, which may have no end, are none.
fn read(file: &Path) -> io::Result<String> {
    const MOST: u64 = 1 << 20;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > MOST {
        return Err(io::Error::other("it is no file of properties"));
    }
    std::fs::read_to_string(file)
}

/// The most compute units of a GPU: four times those of the largest that is known, an MI300X.
const MOST_CUS: u64 = 1216;
/// The most shader arrays, and compute units in one: the driver has 32 bits for the latter (`amdgpu_cu_info`).
const MOST_ARRAYS: u64 = 256;
const MOST_CUS_PER_ARRAY: u64 = 32;
/// The most SIMDs of a compute unit, waves on one, and their places for scratch.
const MOST_SIMDS: u64 = 16;
const MOST_WAVES: u64 = 64;
const MOST_SLOTS: u64 = 4096;
/// LDS of a workgroup, KiB.
const MOST_LDS: u64 = 1024;
/// `AMDGPU_MAX_SDMA_INSTANCES` and `KFD_MAX_SDMA_QUEUES` (amdgpu_sdma.h, kfd_priv.h).
const MOST_SDMA_ENGINES: u64 = 16;
const MOST_SDMA_QUEUES: u64 = 128;
/// Queues of the command processor, for which the KFD has bits (`KGD_MAX_QUEUES`, kgd_kfd_interface.h).
const MOST_QUEUES: u64 = 128;
/// The most memory, bytes: what a process can map of it.
const MOST_BYTES: u64 = 1 << 46;

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
    let simds = properties.divisor("simd_per_cu", MOST_SIMDS)?;
    let arrays = properties.divisor("simd_arrays_per_engine", MOST_ARRAYS)?;
    board.gpu.xccs = xccs;
    board.gpu.compute_units =
        properties.limited("simd_count", MOST_CUS * u64::from(simds))? / simds;
    board.gpu.shader_engines = properties.limited("array_count", MOST_ARRAYS)? / arrays / xccs;
    board.gpu.scratch_slots_per_cu = properties.limited("max_slots_scratch_cu", MOST_SLOTS)?;
    board.gpu.lds_bytes = properties.limited("lds_size_in_kb", MOST_LDS)? * 1024;
    if board.gpu.compute_units == 0 || board.gpu.shader_engines == 0 {
        return Err(properties.bad("it has no compute units".to_owned()));
    }
    let capability = properties.number("capability")?;
    board.device_id = properties.number("device_id")?;
    board.asic_revision = capability >> 22 & 0xf;
    board.location_id = properties.number("location_id")?;
    board.unique_id = properties.optional("unique_id");
    board.sdma_engines = properties.divisor("num_sdma_engines", MOST_SDMA_ENGINES)?;
    board.sdma_link_engines = properties.limited("num_sdma_xgmi_engines", MOST_SDMA_ENGINES)?;
    board.sdma_queues_per_engine =
        properties.limited("num_sdma_queues_per_engine", MOST_SDMA_QUEUES)?;
    board.compute_queues = properties.limited("num_cp_queues", MOST_QUEUES)?;
    board.wave_lanes = properties.limited("wave_front_size", 64)?;
    board.capability = capability & !NOT_OF_BOARD;
    board.debug_properties = properties.optional("debug_prop");
    board.simds_per_cu = simds;
    board.waves_per_simd = properties.limited("max_waves_per_simd", MOST_WAVES)?;
    board.arrays_per_engine = arrays;
    board.cus_per_array = properties.divisor("cu_per_simd_array", MOST_CUS_PER_ARRAY)?;
    board.max_engine_mhz = properties.number("max_engine_clk_fcompute")?;
    board.mec_firmware = properties.number("fw_version")?;
    board.sdma_firmware = properties.number("sdma_fw_version")?;
    if let Some(memory) = memory {
        let bytes = memory.long("size_in_bytes")?;
        if bytes > MOST_BYTES {
            return Err(memory.bad(format!("size_in_bytes is {bytes}, more than {MOST_BYTES}")));
        }
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
