//! Ranges of shared virtual memory that move between system memory and a GPU's (kfd_migrate.c, kfd_svm.c).
//!
//! What moves is what a process can learn of: the GPU's memory that is in use, and management events. The bytes stay in
//! the process's own pages, where host and GPUs see them. On hardware the first access of the host moves them back;
//! here no one notices it, and they stay counted as the GPU's until the process asks for another place.

use super::KfdProcess;
use super::smi::{EvictionTrigger, Migration, SmiEvent};
use super::svm::{Access, Range};
use crate::board::{Held, PAGE, Use};
use kfd::uapi;
use std::sync::Arc;

/// GPU's memory that a range has: one that is cut in two keeps all of it until both parts are gone.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) gpu: usize,
    _memory: Arc<Held>,
}

impl KfdProcess {
    /// `svm_range_best_prefetch_location`: the GPU, system memory (`Some(None)`), or where it is (`None`).
    fn best_place(&self, range: &Range) -> Option<Option<usize>> {
        let wanted = match range.attributes.prefetch {
            uapi::SVM_LOCATION_UNDEFINED => return None,
            uapi::SVM_LOCATION_SYSMEM => return Some(None),
            gpu_id => self.machine.gpu_index(gpu_id)?,
        };
        if self.machine.gpus[wanted].board.is_apu {
            return Some(None);
        }
        // Without links between GPUs, none reaches another's memory in this way (`svm_nodes_in_same_hive`).
        let access = range.attributes.access.iter().enumerate();
        let others = access.filter(|&(gpu, access)| gpu != wanted && *access != Access::None);
        Some((others.count() == 0).then_some(wanted))
    }

    /// `svm_range_trigger_migration`, for a range that starts at `start`. A GPU without room leaves it where it is.
    /// Returns whether it moved.
    pub(super) fn migrate(&self, start: u64, range: &mut Range) -> bool {
        let Some(best) = self.best_place(range) else { return false };
        if best == range.place.as_ref().map(|place| place.gpu) {
            return false;
        }
        let id = |gpu: usize| self.machine.gpus[gpu].id;
        let (prefetch, preferred) = (range.attributes.prefetch, range.attributes.preferred);
        let (first, end) = (start / PAGE, range.end / PAGE);
        let tell = |gpu: usize, from: u32, to: u32| {
            let migration = Migration { start: first, end, from, to, prefetch, preferred };
            for event in [SmiEvent::MigrateStart(migration), SmiEvent::MigrateEnd(migration)] {
                self.machine.tell(gpu, self.pid, &event);
            }
        };
        let mut moved = false;
        // From one GPU to another the way is through system memory (`svm_migrate_vram_to_vram`).
        if let Some(place) = range.place.take() {
            tell(place.gpu, id(place.gpu), 0);
            moved = true;
        }
        if let Some(gpu) = best
            && let Ok(memory) = self.machine.reserve(Use::Vram, gpu, range.end - start)
        {
            tell(gpu, 0, id(gpu));
            range.place = Some(Place { gpu, _memory: Arc::new(memory) });
            moved = true;
        }
        moved
    }

    /// Tells of queues that leave the hardware while what they see moves, and come back
    /// (`svm_range_evict`, `svm_range_restore_work`).
    pub(super) fn tell_of_moved_ranges(&self, state: &super::State) {
        self.tell_of_eviction(state, EvictionTrigger::Svm);
        self.tell_of_restore(state);
    }
}
