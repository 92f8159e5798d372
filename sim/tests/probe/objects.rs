//! Questions about memory and queues of GPUs that are not there.

use crate::Probe;
use kfd::uapi::{self, request};

impl Probe {
    pub(super) fn by_gpu_id(&mut self) {
        self.line("## memory, queues and the rest, gpu_id 0 then 1234");
        for gpu in [0u32, 1234] {
            macro_rules! ask {
                ($($name:ident $args:ident;)*) => {$(
                    let mut args = uapi::$args { gpu_id: gpu, ..Default::default() };
                    self.t(&format!("{} gpu={gpu}", stringify!($name)), request::$name, &mut args);
                )*};
            }
            ask! {
                CREATE_QUEUE CreateQueueArgs;
                SET_MEMORY_POLICY SetMemoryPolicyArgs;
                SET_SCRATCH_BACKING_VA SetScratchBackingVaArgs;
                GET_TILE_CONFIG GetTileConfigArgs;
                SET_TRAP_HANDLER SetTrapHandlerArgs;
                ALLOC_MEMORY_OF_GPU AllocMemoryOfGpuArgs;
                GET_DMABUF_INFO GetDmabufInfoArgs;
                IMPORT_DMABUF ImportDmabufArgs;
                AVAILABLE_MEMORY GetAvailableMemoryArgs;
            }
            let mut args = uapi::AllocMemoryOfGpuArgs {
                gpu_id: gpu,
                size: 4096,
                va_addr: 0x1000_0000,
                flags: (uapi::AllocMemFlags::GTT | uapi::AllocMemFlags::WRITABLE).bits(),
                ..Default::default()
            };
            self.t("ALLOC_MEMORY_OF_GPU GTT 4096", request::ALLOC_MEMORY_OF_GPU, &mut args);
            let handle = u64::from(gpu) << 32 | 1;
            let mut args = uapi::FreeMemoryOfGpuArgs { handle };
            self.t("FREE_MEMORY_OF_GPU", request::FREE_MEMORY_OF_GPU, &mut args);
            self.map_and_unmap(gpu, handle);
            let mut args = uapi::ExportDmabufArgs { handle, ..Default::default() };
            self.t("EXPORT_DMABUF", request::EXPORT_DMABUF, &mut args);
            self.by_queue_id(gpu);
        }
    }

    pub(super) fn map_and_unmap(&mut self, gpu: u32, handle: u64) {
        let mut id = gpu;
        let ids = (&raw mut id).expose_provenance() as u64;
        let (map, unmap) = (request::MAP_MEMORY_TO_GPU, request::UNMAP_MEMORY_FROM_GPU);
        for (label, request, n_devices, ids, n_success) in [
            ("MAP_MEMORY n=0", map, 0, 0, 0),
            ("MAP_MEMORY n=1", map, 1, ids, 0),
            ("MAP_MEMORY n=1 NULL", map, 1, 0, 0),
            ("MAP_MEMORY n=1 n_success=2", map, 1, ids, 2),
            ("UNMAP_MEMORY n=1", unmap, 1, ids, 0),
            ("UNMAP_MEMORY n=0", unmap, 0, ids, 0),
        ] {
            let mut args = uapi::MapMemoryToGpuArgs {
                handle,
                device_ids_array_ptr: ids,
                n_devices,
                n_success,
            };
            self.t(label, request, &mut args);
        }
    }

    pub(super) fn by_queue_id(&mut self, queue_id: u32) {
        self.t(
            "DESTROY_QUEUE",
            request::DESTROY_QUEUE,
            &mut uapi::DestroyQueueArgs { queue_id, pad: 0 },
        );
        for (label, queue_percentage, queue_priority) in [
            ("UPDATE_QUEUE zeroed", 0, 0),
            ("UPDATE_QUEUE pct=101", 101, 0),
            ("UPDATE_QUEUE prio=16", 100, 16),
        ] {
            let mut args = uapi::UpdateQueueArgs {
                queue_id,
                queue_percentage,
                queue_priority,
                ..Default::default()
            };
            self.t(label, request::UPDATE_QUEUE, &mut args);
        }
        let mut mask = [1u32, 0, 0, 0];
        let mask = mask.as_mut_ptr().expose_provenance() as u64;
        for (label, num_cu_mask, cu_mask_ptr) in [
            ("SET_CU_MASK num=0", 0, 0),
            ("SET_CU_MASK num=33", 33, 0),
            ("SET_CU_MASK num=32", 32, mask),
            ("SET_CU_MASK num=32 NULL", 32, 0),
        ] {
            let mut args = uapi::SetCuMaskArgs { queue_id, num_cu_mask, cu_mask_ptr };
            self.t(label, request::SET_CU_MASK, &mut args);
        }
        let mut args = uapi::GetQueueWaveStateArgs { queue_id, ..Default::default() };
        self.t("GET_QUEUE_WAVE_STATE", request::GET_QUEUE_WAVE_STATE, &mut args);
        let mut args = uapi::AllocQueueGwsArgs { queue_id, ..Default::default() };
        self.t("ALLOC_QUEUE_GWS", request::ALLOC_QUEUE_GWS, &mut args);
    }

    pub(super) fn queues(&mut self) {
        const KERNEL: u64 = 0xffff_8000_0000_0000;
        let mut memory = [0u64; 2];
        let memory = memory.as_mut_ptr().expose_provenance() as u64;
        let good = uapi::CreateQueueArgs {
            ring_base_address: memory & !0xffff,
            ring_size: 4096,
            read_pointer_address: memory,
            write_pointer_address: memory + 8,
            gpu_id: 1234,
            queue_percentage: 100,
            queue_priority: 7,
            queue_type: uapi::QUEUE_TYPE_COMPUTE_AQL,
            ..Default::default()
        };
        for (label, mut args) in [
            ("CREATE_QUEUE good but gpu 1234", good),
            ("CREATE_QUEUE pct=101", uapi::CreateQueueArgs { queue_percentage: 101, ..good }),
            ("CREATE_QUEUE prio=16", uapi::CreateQueueArgs { queue_priority: 16, ..good }),
            ("CREATE_QUEUE ring 3000", uapi::CreateQueueArgs { ring_size: 3000, ..good }),
            ("CREATE_QUEUE ring 512", uapi::CreateQueueArgs { ring_size: 512, ..good }),
            ("CREATE_QUEUE type 77", uapi::CreateQueueArgs { queue_type: 77, ..good }),
            (
                "CREATE_QUEUE kernel ring ptr",
                uapi::CreateQueueArgs { ring_base_address: KERNEL, ..good },
            ),
            (
                "CREATE_QUEUE kernel rptr",
                uapi::CreateQueueArgs { read_pointer_address: KERNEL, ..good },
            ),
            ("CREATE_QUEUE ring NULL", uapi::CreateQueueArgs { ring_base_address: 0, ..good }),
        ] {
            self.t(label, request::CREATE_QUEUE, &mut args);
        }
    }
}
