//! Queries about the device (amdgpu_kms.c, `amdgpu_info_ioctl`).

use super::RenderFile;
use super::gem::VM_BYTES;
use super::submit::{HW_IP_NUM, MAX_SDMA_RINGS};
use crate::abi::user;
use crate::profile::Board;
use kfd::uapi::amdgpu as uapi;
use selvedge_sys::Errno;
use zerocopy::{Immutable, IntoBytes};

/// Where the upper half of addresses begins (`AMDGPU_GMC_HOLE_END`).
const HIGH_HALF: u64 = 0xffff_8000_0000_0000;
/// `AMDGPU_HW_IP_UVD`, the first of the blocks for video, of which there are none.
const HW_IP_UVD: u32 = 3;
/// `AMDGPU_HW_IP_INSTANCE_MAX_COUNT`
const MAX_INSTANCES: u32 = 1;
/// One more than the last firmware that can be asked for (`AMDGPU_INFO_FW_VPE`).
const FIRMWARE_END: u32 = 0x1d;
/// Frequency of the GPU's timestamp counter, kHz.
const COUNTER_KHZ: u32 = 100_000;
/// `AMDGPU_INFO_CRTC_FROM_ID`, `AMDGPU_INFO_NUM_BYTES_MOVED` and so on (amdgpu_drm.h).
const INFO_CRTC_FROM_ID: u32 = 0x01;
const INFO_NUM_BYTES_MOVED: u32 = 0x0f;
const INFO_NUM_EVICTIONS: u32 = 0x18;
const INFO_NUM_VRAM_CPU_PAGE_FAULTS: u32 = 0x1e;
/// The last that Linux 7.3.4 knows.
const INFO_LAST: u32 = 0x24;
/// Registers of one query (`AMDGPU_INFO_READ_MMR_REG`).
const MAX_REGISTERS: u32 = 128;
/// GPU page of 2 MiB: fragment size 9 (gmc_v11_0.c).
const PTE_FRAGMENT: u32 = 2 << 20;
/// Kept back of VRAM for page tables (`AMDGPU_VM_RESERVED_VRAM`).
const RESERVED_VRAM: u64 = 8 << 20;
/// `AMDGPU_VRAM_TYPE_HBM`, `AMDGPU_VRAM_TYPE_GDDR6`, `AMDGPU_VRAM_TYPE_LPDDR5`
const VRAM_HBM: u32 = 6;
const VRAM_GDDR6: u32 = 9;
const VRAM_LPDDR5: u32 = 12;

impl RenderFile {
    pub(super) fn info(&self, args: &mut uapi::Info) -> Result<(), Errno> {
        if args.return_size == 0 || args.return_pointer == 0 {
            return Err(Errno::EINVAL);
        }
        let answer = Answer { address: args.return_pointer, room: args.return_size as usize };
        let gpu = &self.machine.gpus[self.gpu];
        let board = &gpu.board;
        let used =
            |pool: Option<usize>, total: u64| total - self.machine.available(pool).min(total);
        let visible = board.visible_vram_bytes().min(board.vram_bytes - RESERVED_VRAM);
        match args.query {
            uapi::INFO_ACCEL_WORKING => answer.give(&1u32),
            uapi::INFO_VRAM_LOST_COUNTER => answer.give(&gpu.smi.resets()),
            // Nothing was moved or evicted, and the host sees all VRAM.
            INFO_NUM_BYTES_MOVED | INFO_NUM_EVICTIONS | INFO_NUM_VRAM_CPU_PAGE_FAULTS => {
                answer.give(&0u64)
            }
            // There is no display.
            INFO_CRTC_FROM_ID => Err(Errno::EINVAL),
            uapi::INFO_HW_IP_COUNT => answer.give(&match args.data[0] {
                // Before 6.11 blocks were counted, and not what is in them.
                uapi::HW_IP_GFX | uapi::HW_IP_COMPUTE if self.machine.kernel.minor >= 17 => {
                    board.gpu.xccs
                }
                uapi::HW_IP_DMA if self.machine.kernel.minor >= 17 => sdma_instances(board),
                uapi::HW_IP_GFX..=uapi::HW_IP_DMA => 1,
                HW_IP_UVD..HW_IP_NUM if self.machine.kernel.minor < 17 => 0,
                _ => return Err(Errno::EINVAL),
            }),
            uapi::INFO_HW_IP_INFO if args.data[1] >= MAX_INSTANCES => Err(Errno::EINVAL),
            uapi::INFO_HW_IP_INFO => self.hw_ip(args.data[0], answer),
            uapi::INFO_TIMESTAMP => answer.give(&self.machine.clock.gpu_ticks()),
            uapi::INFO_FW_VERSION => {
                let [firmware, instance, index, _] = args.data;
                let ver = match firmware {
                    _ if instance != 0 => return Err(Errno::EINVAL),
                    uapi::INFO_FW_GFX_MEC if index > 1 => return Err(Errno::EINVAL),
                    uapi::INFO_FW_SDMA if index >= sdma_instances(board) => {
                        return Err(Errno::EINVAL);
                    }
                    FIRMWARE_END.. => return Err(Errno::EINVAL),
                    uapi::INFO_FW_GFX_MEC => board.mec_firmware,
                    uapi::INFO_FW_SDMA => board.sdma_firmware,
                    other => {
                        return Err(self.machine.refuse(format!("version of firmware {other}")));
                    }
                };
                answer.give(&uapi::InfoFirmware { ver, feature: 0 })
            }
            uapi::INFO_VRAM_USAGE | uapi::INFO_VIS_VRAM_USAGE => {
                answer.give(&used(Some(self.gpu), board.vram_bytes))
            }
            uapi::INFO_GTT_USAGE => answer.give(&used(None, board.gtt_bytes)),
            uapi::INFO_VRAM_GTT => answer.give(&uapi::InfoVramGtt {
                vram_size: board.vram_bytes - RESERVED_VRAM,
                vram_cpu_accessible_size: visible,
                gtt_size: board.gtt_bytes,
            }),
            uapi::INFO_READ_MMR_REG => {
                let [_, count, instance, _] = args.data;
                let bytes = args.return_size as usize;
                // Shader engine and array, each 0xff for all (`AMDGPU_INFO_MMR_SE_INDEX_SHIFT`, `_SH_`;
                // `AMDGPU_GFX_MAX_SE`, `AMDGPU_GFX_MAX_SH_PER_SE`).
                let (engine, array) = (instance & 0xff, instance >> 8 & 0xff);
                if (4..0xff).contains(&engine)
                    || (2..0xff).contains(&array)
                    || count > MAX_REGISTERS
                {
                    return Err(Errno::EINVAL);
                }
                // The registers that can be read describe rasteriser and tiling, which the simulated
                // core has not: they read as zero.
                let values = vec![0u8; (count as usize * 4).min(bytes)];
                user::write(args.return_pointer, &values)
            }
            uapi::INFO_DEV_INFO => answer.give(&self.device()),
            uapi::INFO_MEMORY => {
                let heap = |total: u64, usable: u64, usage: u64| uapi::HeapInfo {
                    total_heap_size: total,
                    usable_heap_size: usable,
                    heap_usage: usage,
                    max_allocation: usable / 4 * 3,
                };
                let usage = used(Some(self.gpu), board.vram_bytes);
                let bar = board.visible_vram_bytes();
                let vram = heap(board.vram_bytes, board.vram_bytes - RESERVED_VRAM, usage);
                answer.give(&uapi::MemoryInfo {
                    vram,
                    cpu_accessible_vram: heap(bar, visible, usage.min(bar)),
                    gtt: heap(board.gtt_bytes, board.gtt_bytes, used(None, board.gtt_bytes)),
                })
            }
            uapi::INFO_RAS_ENABLED_FEATURES => answer.give(&0u64),
            uapi::INFO_GPUVM_FAULT => answer.give(&uapi::InfoGpuvmFault::default()),
            known @ ..=INFO_LAST => Err(self.machine.refuse(format!("INFO query {known:#04x}"))),
            _ => Err(Errno::EINVAL),
        }
    }

    fn hw_ip(&self, kind: u32, answer: Answer) -> Result<(), Errno> {
        let board = &self.machine.gpus[self.gpu].board;
        // The minor number is that of the driver's code for the block (`gfx_v9_4_3_ip_block`, `sdma_v5_2_ip_block` and
        // so on).
        let gfx = match board.gc_version {
            (9, 4, 3..) | (9, 5, _) => 4,
            _ => 0,
        };
        let sdma = match board.sdma_version {
            (5, 2, _) => 2,
            (4, 4, 2..) => 4,
            _ => 0,
        };
        // Boards for computing alone have no graphics (gfx_v9_0.c, gfx_v9_4_3.c, `num_gfx_rings`).
        let graphics = u32::from(!matches!(board.gc_version, (9, 4, 1..) | (9, 5, _)));
        let (version, driver, start, size, rings) = match kind {
            uapi::HW_IP_GFX => (board.gc_version, gfx, 32, 32, graphics),
            uapi::HW_IP_COMPUTE => (board.gc_version, gfx, 32, 32, 4),
            uapi::HW_IP_DMA => {
                (board.sdma_version, sdma, 256, 4, sdma_instances(board).min(MAX_SDMA_RINGS))
            }
            HW_IP_UVD..HW_IP_NUM => return answer.give(&uapi::InfoHwIp::default()),
            _ => return Err(Errno::EINVAL),
        };
        let (major, minor, revision) =
            (u32::from(version.0), u32::from(version.1), u32::from(version.2));
        answer.give(&uapi::InfoHwIp {
            hw_ip_version_major: major,
            hw_ip_version_minor: driver,
            ib_start_alignment: start,
            ib_size_alignment: size,
            available_rings: (1 << rings) - 1,
            ip_discovery_version: major << 16 | minor << 8 | revision,
            ..uapi::InfoHwIp::default()
        })
    }

    fn device(&self) -> uapi::InfoDevice {
        let board = &self.machine.gpus[self.gpu].board;
        let (low, high) = board.gpuvm_range();
        let cache = |level, instruction, line| {
            board
                .caches
                .iter()
                .find(|c| c.level == level && c.instruction == instruction && c.line_bytes == line)
                .map_or(0, |c| c.size_kib)
        };
        let mut cu_bitmap = [[0; 4]; 4];
        for engine in 0..board.gpu.shader_engines as usize {
            for array in 0..board.arrays_per_engine as usize {
                // Engines beyond the fourth share rows (amdgpu_gfx.h, `bitmap`).
                cu_bitmap[engine % 4][array + engine / 4 * 2] = (1u32 << board.cus_per_array) - 1;
            }
        }
        uapi::InfoDevice {
            device_id: board.device_id,
            chip_rev: board.asic_revision,
            external_rev: board.asic_revision + 1,
            pci_rev: board.pci_revision,
            family: board.family,
            num_shader_engines: board.gpu.shader_engines,
            num_shader_arrays_per_engine: board.arrays_per_engine,
            gpu_counter_freq: COUNTER_KHZ,
            max_engine_clock: u64::from(board.max_engine_mhz) * 1000,
            max_memory_clock: u64::from(board.memory_mhz) * 1000,
            cu_active_number: board.gpu.compute_units,
            cu_bitmap,
            num_hw_gfx_contexts: 8,
            ids_flags: if board.is_apu { uapi::IDS_FLAGS_FUSION } else { 0 },
            virtual_address_offset: low,
            virtual_address_max: high + 1,
            high_va_offset: HIGH_HALF,
            high_va_max: HIGH_HALF | VM_BYTES,
            virtual_address_alignment: 4096,
            pte_fragment_size: PTE_FRAGMENT,
            gart_page_size: 4096,
            vram_type: match board.gpu.gfx_target_version / 10000 {
                _ if board.is_apu => VRAM_LPDDR5,
                9 => VRAM_HBM,
                _ => VRAM_GDDR6,
            },
            vram_bit_width: board.memory_width,
            wave_front_size: board.wave_lanes,
            num_cu_per_sh: board.cus_per_array,
            tcp_cache_size: cache(1, false, 128),
            num_sqc_per_wgp: 1,
            sqc_data_cache_size: cache(1, false, 64),
            sqc_inst_cache_size: cache(1, true, 128),
            gl2c_cache_size: cache(2, false, 128),
            mall_size: u64::from(cache(3, false, 64)) << 10,
            ..uapi::InfoDevice::default()
        }
    }
}

/// Instances of the SDMA engine, those for links included (`adev->sdma.num_instances`).
pub(super) fn sdma_instances(board: &Board) -> u32 {
    board.sdma_engines + board.sdma_link_engines
}

/// Where an answer goes.
#[derive(Clone, Copy)]
struct Answer {
    address: u64,
    room: usize,
}

impl Answer {
    /// Cut to the room there is.
    fn give<T: IntoBytes + Immutable>(self, value: &T) -> Result<(), Errno> {
        let bytes = value.as_bytes();
        user::write(self.address, &bytes[..bytes.len().min(self.room)])
    }
}
