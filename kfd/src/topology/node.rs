//! Nodes and what belongs to them.

use super::properties::Properties;
use super::{GfxTarget, TopologyError};
use crate::uapi::sysfs::{
    CacheType, Capability, Capability2, DebugProperties, IoLinkFlags, MemoryFlags,
};

macro_rules! records {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
            /// Keys that are not known here, with their values.
            pub unknown: Vec<(String, String)>,
        }

        impl $name {
            /// Takes the known keys out of a parsed file.
            ///
            /// # Errors
            /// [`TopologyError::Malformed`] when a value is not of its key's type.
            pub fn from_properties(mut properties: Properties) -> Result<$name, TopologyError> {
                $(
                    let $field = properties.take::<$type>(
                        stringify!($field).trim_end_matches('_'),
                    )?;
                )*
                Ok($name { $($field,)* unknown: properties.into_unknown() })
            }
        }
    )*};
}

records! {
    /// The file `system_properties`: what the firmware's tables say about the platform.
    SystemProperties {
        /// OEM of the platform: up to eight characters.
        platform_oem: u64,
        /// The platform.
        platform_id: u64,
        /// Its revision.
        platform_rev: u64,
    }

    /// A node's file `properties`. A node with a `gpu_id` is a GPU, one with CPU cores a CPU; an
    /// old APU is both.
    NodeProperties {
        /// CPU cores.
        cpu_cores_count: u32,
        /// SIMDs, of all XCCs together.
        simd_count: u32,
        /// Memory banks.
        mem_banks_count: u32,
        /// Caches.
        caches_count: u32,
        /// Links.
        io_links_count: u32,
        /// Links to other GPUs through the PCIe bus.
        p2p_links_count: u32,
        /// First CPU core: an APIC id.
        cpu_core_id_base: u32,
        /// First SIMD.
        simd_id_base: u32,
        /// Waves that a SIMD holds.
        max_waves_per_simd: u32,
        /// LDS of a compute unit, KiB.
        lds_size_in_kb: u32,
        /// Global data share, KiB.
        gds_size_in_kb: u32,
        /// Global wave sync resources.
        num_gws: u32,
        /// Native wave size, lanes.
        wave_front_size: u32,
        /// Shader arrays, of all XCCs together.
        array_count: u32,
        /// Shader arrays of a shader engine.
        simd_arrays_per_engine: u32,
        /// Compute units of a shader array.
        cu_per_simd_array: u32,
        /// SIMDs of a compute unit.
        simd_per_cu: u32,
        /// Waves of a compute unit that may have scratch memory.
        max_slots_scratch_cu: u32,
        /// The instruction set: major × 10000 + minor × 100 + stepping.
        gfx_target_version: u32,
        /// PCI vendor.
        vendor_id: u32,
        /// PCI device.
        device_id: u32,
        /// PCI bus 15:8, device 7:3, function 2:0.
        location_id: u32,
        /// PCI domain.
        domain: u32,
        /// Number of the render node, /dev/dri/renderD*.
        drm_render_minor: u32,
        /// The XGMI hive, or 0.
        hive_id: u64,
        /// SDMA engines for PCIe.
        num_sdma_engines: u32,
        /// SDMA engines for XGMI.
        num_sdma_xgmi_engines: u32,
        /// User queues of each SDMA engine.
        num_sdma_queues_per_engine: u32,
        /// Hardware compute queues.
        num_cp_queues: u32,
        /// Context save area of one XCC without the debugger's part, bytes; newer kernels.
        cwsr_size: Option<u32>,
        /// Control stack in it, bytes; newer kernels.
        ctl_stack_size: Option<u32>,
        /// Highest engine clock, MHz.
        max_engine_clk_fcompute: u32,
        /// Always 0: the memory banks say.
        local_mem_size: u64,
        /// Firmware of the compute microengine.
        fw_version: u32,
        /// What the device can do.
        capability: u32,
        /// More of it; newer kernels.
        capability2: u32,
        /// What it offers to a debugger.
        debug_prop: u64,
        /// Firmware of the SDMA engines.
        sdma_fw_version: u32,
        /// Unique id of the device, or 0.
        unique_id: u64,
        /// Accelerator complex dies that form the device; newer kernels.
        num_xcc: Option<u32>,
        /// Highest clock of CPU cores, MHz.
        max_engine_clk_ccompute: u32,
    }

    /// A memory bank's file `properties`.
    MemoryBankProperties {
        /// `MEM_HEAP_TYPE_*`.
        heap_type: u32,
        /// Bytes.
        size_in_bytes: u64,
        /// Flags.
        flags: u32,
        /// Bus width, bits.
        width: u32,
        /// Highest clock, MHz.
        mem_clk_max: u32,
    }

    /// A cache's file `properties`.
    CacheProperties {
        /// The first core or SIMD it serves.
        processor_id_low: u32,
        /// 1 to 3.
        level: u32,
        /// KiB.
        size: u32,
        /// Bytes.
        cache_line_size: u32,
        /// Lines.
        cache_lines_per_tag: u32,
        /// Associativity.
        association: u32,
        /// ns.
        latency: u32,
        /// Flags.
        type_: u32,
        /// Which processors from `processor_id_low` it serves.
        sibling_map: Vec<bool>,
    }

    /// A link's file `properties`.
    IoLinkProperties {
        /// `IOLINK_TYPE_*`.
        type_: u32,
        /// Major version of the link.
        version_major: u32,
        /// Minor version.
        version_minor: u32,
        /// From this node,
        node_from: u32,
        /// to this one.
        node_to: u32,
        /// Distance: 15 inside a hive, 20 over PCIe, more through CPUs.
        weight: u32,
        /// ns.
        min_latency: u32,
        /// ns.
        max_latency: u32,
        /// MB/s.
        min_bandwidth: u32,
        /// MB/s.
        max_bandwidth: u32,
        /// Bytes.
        recommended_transfer_size: u32,
        /// SDMA engines that are best for this link: a mask; newer kernels.
        recommended_sdma_engine_id_mask: u32,
        /// Flags.
        flags: u32,
    }
}

/// A memory bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBank {
    /// Its number.
    pub index: u32,
    /// What the KFD says about it.
    pub properties: MemoryBankProperties,
}

impl MemoryBank {
    /// The flags.
    pub fn flags(&self) -> MemoryFlags {
        MemoryFlags::from_bits_retain(self.properties.flags)
    }
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Its number.
    pub index: u32,
    /// What the KFD says about it.
    pub properties: CacheProperties,
}

impl Cache {
    /// What it holds and whose it is.
    pub fn cache_type(&self) -> CacheType {
        CacheType::from_bits_retain(self.properties.type_)
    }
}

/// A link to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLink {
    /// Its number.
    pub index: u32,
    /// What the KFD says about it.
    pub properties: IoLinkProperties,
}

impl IoLink {
    /// The flags.
    pub fn flags(&self) -> IoLinkFlags {
        IoLinkFlags::from_bits_retain(self.properties.flags)
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub index: u32,
    /// What ioctls call the GPU; 0 for a CPU.
    pub gpu_id: u32,
    /// The chip's name, e.g. `aldebaran`; a CPU has none.
    pub name: String,
    /// The file `properties`.
    pub properties: NodeProperties,
    /// Its memory.
    pub memory_banks: Vec<MemoryBank>,
    /// Its caches.
    pub caches: Vec<Cache>,
    /// Its links.
    pub io_links: Vec<IoLink>,
    /// Its links to other GPUs through the PCIe bus.
    pub p2p_links: Vec<IoLink>,
}

impl Node {
    /// Whether the node is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.gpu_id != 0
    }

    /// The instruction set.
    pub fn target(&self) -> GfxTarget {
        GfxTarget::from_version(self.properties.gfx_target_version)
    }

    /// Accelerator complex dies; kernels that do not say have one.
    pub fn xcc_count(&self) -> u32 {
        self.properties.num_xcc.unwrap_or(1).max(1)
    }

    /// Compute units, of all XCCs together.
    pub fn compute_unit_count(&self) -> u32 {
        self.properties.simd_count / self.properties.simd_per_cu.max(1)
    }

    /// What the device can do.
    pub fn capability(&self) -> Capability {
        Capability::from_bits_retain(self.properties.capability)
    }

    /// More of it.
    pub fn capability2(&self) -> Capability2 {
        Capability2::from_bits_retain(self.properties.capability2)
    }

    /// What the device offers to a debugger.
    pub fn debug_properties(&self) -> DebugProperties {
        DebugProperties::from_bits_retain(self.properties.debug_prop)
    }

    /// The PCI address, `dddd:bb:dd.f`.
    pub fn pci_address(&self) -> String {
        let NodeProperties { domain, location_id, .. } = self.properties;
        format!(
            "{domain:04x}:{:02x}:{:02x}.{:x}",
            location_id >> 8 & 0xff,
            location_id >> 3 & 0x1f,
            location_id & 7
        )
    }

    /// Path of the render node.
    pub fn render_node(&self) -> String {
        format!("/dev/dri/renderD{}", self.properties.drm_render_minor)
    }
}
