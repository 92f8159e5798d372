//! Queries about the device (INFO).

use selvedge_sys::uapi_structs;

/// 1 when the device works: u32 (`AMDGPU_INFO_ACCEL_WORKING`).
pub const INFO_ACCEL_WORKING: u32 = 0x00;
/// One kind of engine: [`InfoHwIp`].
pub const INFO_HW_IP_INFO: u32 = 0x02;
/// How many engines of a kind: u32.
pub const INFO_HW_IP_COUNT: u32 = 0x03;
/// The device's clock: u64.
pub const INFO_TIMESTAMP: u32 = 0x05;
/// A firmware's version: [`InfoFirmware`].
pub const INFO_FW_VERSION: u32 = 0x0e;
/// Bytes of device memory in use: u64.
pub const INFO_VRAM_USAGE: u32 = 0x10;
/// Bytes of GTT in use: u64.
pub const INFO_GTT_USAGE: u32 = 0x11;
/// Sizes of device memory and GTT: [`InfoVramGtt`].
pub const INFO_VRAM_GTT: u32 = 0x14;
/// Registers: an array of u32.
pub const INFO_READ_MMR_REG: u32 = 0x15;
/// The device: [`InfoDevice`].
pub const INFO_DEV_INFO: u32 = 0x16;
/// Bytes of CPU-visible device memory in use: u64.
pub const INFO_VIS_VRAM_USAGE: u32 = 0x17;
/// Memory: [`MemoryInfo`].
pub const INFO_MEMORY: u32 = 0x19;
/// A sensor: u32.
pub const INFO_SENSOR: u32 = 0x1d;
/// How often device memory was lost: u32.
pub const INFO_VRAM_LOST_COUNTER: u32 = 0x1f;
/// Engines with error counting: u64.
pub const INFO_RAS_ENABLED_FEATURES: u32 = 0x20;
/// The last page fault: [`InfoGpuvmFault`].
pub const INFO_GPUVM_FAULT: u32 = 0x23;

/// Firmware of the compute microengines (`AMDGPU_INFO_FW_GFX_MEC`).
pub const INFO_FW_GFX_MEC: u32 = 0x08;
/// Firmware of the system management unit.
pub const INFO_FW_SMC: u32 = 0x0a;
/// Firmware of the SDMA engines.
pub const INFO_FW_SDMA: u32 = 0x0b;
/// Firmware of the scheduler.
pub const INFO_FW_MES: u32 = 0x1a;

/// `AMDGPU_IDS_FLAGS_FUSION`: the device is part of the CPU (an APU).
pub const IDS_FLAGS_FUSION: u64 = 0x1;

uapi_structs! {
    /// Argument of INFO. The last 16 bytes are a union by query; see the constructors.
    Info = "struct drm_amdgpu_info" {
        /// Address of the result.
        return_pointer: u64,
        /// Room there, bytes; a shorter result is cut, a longer one left as it is.
        return_size: u32,
        /// `INFO_*`.
        query: u32,
        /// The union's storage.
        data: [u32; 4],
    }

    /// One kind of engine. The last field is newer than Linux 6.12.
    InfoHwIp = "struct drm_amdgpu_info_hw_ip" {
        /// Major version.
        hw_ip_version_major: u32,
        /// Minor version.
        hw_ip_version_minor: u32,
        /// Capabilities.
        capabilities_flags: u64,
        /// Alignment of an indirect buffer's address, bytes.
        ib_start_alignment: u32,
        /// Alignment of its size, bytes.
        ib_size_alignment: u32,
        /// Rings there are: a mask.
        available_rings: u32,
        /// Version as the discovery table has it: major 23:16, minor 15:8, revision 7:0.
        ip_discovery_version: u32,
        /// User queues there can be.
        userq_num_slots: u32,
        /// Implicit padding of the C struct.
        padding: u32,
    }

    /// A firmware's version.
    InfoFirmware = "struct drm_amdgpu_info_firmware" {
        /// Version.
        ver: u32,
        /// Feature version.
        feature: u32,
    }

    /// Sizes of memories, bytes.
    InfoVramGtt = "struct drm_amdgpu_info_vram_gtt" {
        /// Device memory.
        vram_size: u64,
        /// The part of it that the CPU can map.
        vram_cpu_accessible_size: u64,
        /// System memory that the device can map.
        gtt_size: u64,
    }

    /// One heap, bytes.
    HeapInfo = "struct drm_amdgpu_heap_info" {
        /// All of it.
        total_heap_size: u64,
        /// What can be used.
        usable_heap_size: u64,
        /// What is used.
        heap_usage: u64,
        /// The largest allocation.
        max_allocation: u64,
    }

    /// The heaps.
    MemoryInfo = "struct drm_amdgpu_memory_info" {
        /// Device memory.
        vram: HeapInfo,
        /// The part of it that the CPU can map.
        cpu_accessible_vram: HeapInfo,
        /// System memory that the device can map.
        gtt: HeapInfo,
    }

    /// The last page fault.
    InfoGpuvmFault = "struct drm_amdgpu_info_gpuvm_fault" {
        /// Address.
        addr: u64,
        /// Fault status register.
        status: u32,
        /// Hub: type 7:0, index 15:8.
        vmhub: u32,
    }

    /// The device. The last field (`userq_ip_mask`) is newer than Linux 6.12.
    InfoDevice = "struct drm_amdgpu_info_device" {
        /// PCI device id.
        device_id: u32,
        /// Chip revision.
        chip_rev: u32,
        /// External revision.
        external_rev: u32,
        /// PCI revision.
        pci_rev: u32,
        /// `AMDGPU_FAMILY_*`.
        family: u32,
        /// Shader engines.
        num_shader_engines: u32,
        /// Shader arrays in each.
        num_shader_arrays_per_engine: u32,
        /// Clock of the device's counter, kHz.
        gpu_counter_freq: u32,
        /// Highest engine clock, kHz.
        max_engine_clock: u64,
        /// Highest memory clock, kHz.
        max_memory_clock: u64,
        /// Active compute units.
        cu_active_number: u32,
        /// Not valid.
        cu_ao_mask: u32,
        /// Active compute units by shader engine and array.
        cu_bitmap: [[u32; 4]; 4],
        /// Active render backends.
        enabled_rb_pipes_mask: u32,
        /// Render backends.
        num_rb_pipes: u32,
        /// Hardware graphics contexts.
        num_hw_gfx_contexts: u32,
        /// PCIe generation.
        pcie_gen: u32,
        /// `IDS_FLAGS_*`.
        ids_flags: u64,
        /// Lowest address for user space.
        virtual_address_offset: u64,
        /// Highest address.
        virtual_address_max: u64,
        /// Alignment of addresses.
        virtual_address_alignment: u32,
        /// Fragment size of page table entries.
        pte_fragment_size: u32,
        /// GART page size.
        gart_page_size: u32,
        /// Constant engine RAM, bytes.
        ce_ram_size: u32,
        /// `AMDGPU_VRAM_TYPE_*`.
        vram_type: u32,
        /// Memory bus width, bits.
        vram_bit_width: u32,
        /// VCE harvesting.
        vce_harvest_config: u32,
        /// Off-chip LDS buffers.
        gc_double_offchip_lds_buf: u32,
        /// NGG primitive buffer.
        prim_buf_gpu_addr: u64,
        /// NGG position buffer.
        pos_buf_gpu_addr: u64,
        /// NGG control sideband.
        cntl_sb_buf_gpu_addr: u64,
        /// NGG parameter cache.
        param_buf_gpu_addr: u64,
        /// Its sizes, in the same order.
        prim_buf_size: u32,
        /// As above.
        pos_buf_size: u32,
        /// As above.
        cntl_sb_buf_size: u32,
        /// As above.
        param_buf_size: u32,
        /// Wave size.
        wave_front_size: u32,
        /// Vector registers.
        num_shader_visible_vgprs: u32,
        /// Compute units in each shader array.
        num_cu_per_sh: u32,
        /// L2 channels.
        num_tcc_blocks: u32,
        /// Geometry shader table depth.
        gs_vgt_table_depth: u32,
        /// Geometry shader buffer depth.
        gs_prim_buffer_depth: u32,
        /// Geometry shader waves.
        max_gs_waves_per_vgt: u32,
        /// PCIe lanes.
        pcie_num_lanes: u32,
        /// Compute units that are always on.
        cu_ao_bitmap: [[u32; 4]; 4],
        /// Lowest address of the upper half.
        high_va_offset: u64,
        /// Highest address of the upper half.
        high_va_max: u64,
        /// Register override.
        pa_sc_tile_steering_override: u32,
        /// Unused.
        pad: u32,
        /// Disabled L2 channels.
        tcc_disabled_mask: u64,
        /// Lowest engine clock, kHz.
        min_engine_clock: u64,
        /// Lowest memory clock, kHz.
        min_memory_clock: u64,
        /// Vector L0 cache, KiB; gfx11 and later, as the next ones.
        tcp_cache_size: u32,
        /// Scalar caches per workgroup processor.
        num_sqc_per_wgp: u32,
        /// Scalar data cache, KiB.
        sqc_data_cache_size: u32,
        /// Instruction cache, KiB.
        sqc_inst_cache_size: u32,
        /// L1 cache, KiB.
        gl1c_cache_size: u32,
        /// L2 cache, KiB.
        gl2c_cache_size: u32,
        /// Infinity cache, bytes.
        mall_size: u64,
        /// Active render backends, upper half.
        enabled_rb_pipes_mask_hi: u32,
        /// Shadow area, bytes.
        shadow_size: u32,
        /// Its alignment.
        shadow_alignment: u32,
        /// Context save area of a graphics queue, bytes.
        csa_size: u32,
        /// Its alignment.
        csa_alignment: u32,
        /// Engines with user queues: a mask.
        userq_ip_mask: u32,
    }
}

impl Info {
    /// A query without parameters.
    pub fn new(query: u32) -> Info {
        Info { query, ..Info::default() }
    }

    /// About the `instance`th engine of kind `HW_IP_*` ([`INFO_HW_IP_INFO`], [`INFO_HW_IP_COUNT`]).
    pub fn hw_ip(query: u32, kind: u32, instance: u32) -> Info {
        Info { query, data: [kind, instance, 0, 0], ..Info::default() }
    }

    /// About a firmware, `INFO_FW_*`.
    pub fn firmware(firmware: u32) -> Info {
        Info { query: INFO_FW_VERSION, data: [firmware, 0, 0, 0], ..Info::default() }
    }

    /// About `count` registers from `dword_offset`; `instance` selects shader engine and array
    /// (bits 7:0 and 15:8, all ones broadcast).
    pub fn registers(dword_offset: u32, count: u32, instance: u32) -> Info {
        Info {
            query: INFO_READ_MMR_REG,
            data: [dword_offset, count, instance, 0],
            ..Info::default()
        }
    }

    /// About a sensor, `AMDGPU_INFO_SENSOR_*`.
    pub fn sensor(sensor: u32) -> Info {
        Info { query: INFO_SENSOR, data: [sensor, 0, 0, 0], ..Info::default() }
    }
}
