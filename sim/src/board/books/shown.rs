//! What sysfs shows of the books.

use super::{Books, Piece, Record, Use, What};
use std::collections::BTreeMap;

/// The folder of kfd_processes (kfd_process.c, `kfd_procfs_init`).
const PROCESSES: &str = "/sys/devices/virtual/kfd/kfd/proc";
/// PASIDs are from the upper half of 16 bits as long as that has some (amdgpu_ids.c, `amdgpu_pasid_alloc`).
const FIRST_PASID: u32 = 1 << 15;

impl Books {
    /// Files by absolute path. Of a GPU: how much of its memory is in use (amdgpu_vram_mgr.c, amdgpu_gtt_mgr.c). Of a
    /// kfd_process: what kfd_process.c puts in its folder, of which a secondary one has its own below the primary's.
    pub(crate) fn files(&mut self) -> BTreeMap<String, String> {
        self.sweep();
        let mut files = BTreeMap::new();
        for gpu in &self.gpus {
            let (folder, used) = (&gpu.folder, gpu.vram.bytes);
            for name in ["mem_info_vram_used", "mem_info_vis_vram_used"] {
                files.insert(format!("{folder}/{name}"), format!("{used}\n"));
            }
            let gtt = self.system.bytes;
            files.insert(format!("{folder}/mem_info_gtt_used"), format!("{gtt}\n"));
        }
        let processes = self.records.values().filter_map(|record| match record.what {
            What::Process { pid, number, pasid, context } => Some((pid, number, pasid, context)),
            _ => None,
        });
        for (pid, number, pasid, context) in processes {
            let context = context.map_or_else(String::new, |id| format!("/context_{id}"));
            let folder = format!("{PROCESSES}/{pid}{context}");
            if self.pasid_shown {
                files.insert(format!("{folder}/pasid"), format!("{pasid}\n"));
            }
            for (index, gpu) in self.gpus.iter().enumerate() {
                let id = gpu.id;
                let vram = self.vram_of(number, index);
                files.insert(format!("{folder}/vram_{id}"), format!("{vram}\n"));
                files.insert(format!("{folder}/stats_{id}/evicted_ms"), "0\n".to_owned());
            }
            for (gpu, (id, kind, ring)) in self.queues_of(number) {
                let folder = format!("{folder}/queues/{id}");
                // `kfd_procfs_queue_show` ends no line.
                files.insert(format!("{folder}/gpuid"), self.gpus[gpu].id.to_string());
                files.insert(format!("{folder}/type"), kind.to_string());
                files.insert(format!("{folder}/size"), ring.to_string());
            }
        }
        files
    }

    fn vram_of(&self, number: u32, gpu: usize) -> u64 {
        let pieces = self.records.values().map(|record| match &record.what {
            What::Memory(Piece { what: Use::Vram, gpu: on, bytes, process, .. })
                if (*on, *process) == (gpu, Some(number)) =>
            {
                *bytes
            }
            _ => 0,
        });
        pieces.sum()
    }

    fn queues_of(&self, number: u32) -> impl Iterator<Item = (usize, (u32, u32, u32))> {
        self.records.values().filter_map(move |record| match record.what {
            What::Queue { gpu, process, queue } if process == number => Some((gpu, queue)),
            _ => None,
        })
    }

    pub(super) fn free_pasid(&self) -> u32 {
        let taken = |pasid: u32| {
            let of = |r: &Record| matches!(r.what, What::Process { pasid: p, .. } if p == pasid);
            self.records.values().any(of)
        };
        (FIRST_PASID..).find(|&pasid| !taken(pasid)).unwrap_or(FIRST_PASID)
    }

    /// The lowest number that no secondary kfd_process of a process has.
    pub(super) fn free_context(&self, pid: u32) -> u32 {
        let taken = |id: u32| {
            let of = |r: &Record| matches!(r.what, What::Process { pid: p, context: Some(c), .. } if (p, c) == (pid, id));
            self.records.values().any(of)
        };
        (0..).find(|&id| !taken(id)).unwrap_or(0)
    }
}
