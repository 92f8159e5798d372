//! A GPU of the machine.

use super::shared::kernel_memory;
use crate::abi::kfd::SmiReaders;
use crate::abi::topology::Topology;
use crate::board::{Board as Shares, Contents, Extent, PAGE, Request};
use crate::cp::Turns;
use crate::memory::{AddressSpace, Caches, L2};
use crate::profile::{Board, ContextSave, Gpu, Kernel};
use selvedge_sys::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A GPU of the machine.
#[derive(Debug)]
pub(crate) struct GpuDevice {
    /// The KFD's id of it.
    pub(crate) id: u32,
    /// `renderD128` is 128.
    pub(crate) render_minor: u32,
    pub(crate) board: Board,
    pub(crate) processors: Arc<Gpu>,
    pub(crate) context_save: ContextSave,
    /// Who reads events of it.
    pub(crate) smi: SmiReaders,
    /// The page of HDP flush registers that MMIO_REMAP maps. Host and device share the machine's memory, so
    /// that a flush has nothing to do but with caches that keep copies: L2 looks whether somebody wrote here.
    pub(crate) remap: Extent,
    /// What its queues know of each other.
    pub(crate) turns: Arc<Turns>,
    /// The cache, when it keeps copies.
    l2: Option<Arc<L2>>,
    hangs: AtomicBool,
}

impl GpuDevice {
    /// The GPU with this index of the topology. Its remap page belongs to the board and is no object of a process.
    pub(super) fn new(
        index: usize,
        board: Board,
        kernel: &Kernel,
        topology: &Topology,
        memory: &Arc<Shares>,
        caches: Caches,
        hangs: bool,
    ) -> Result<GpuDevice, Errno> {
        let remap =
            memory.allocate(&kernel_memory(PAGE), PAGE, Contents::Cleared, &Default::default())?;
        let [resets, ..] = memory.ask(&Request::Resets { gpu: index })?.words;
        let l2 = match caches {
            Caches::Transparent => None,
            Caches::Stale => Some(L2::behind_hdp(remap.backing.clone())),
        };
        Ok(GpuDevice {
            l2,
            turns: Arc::default(),
            id: topology.gpu_id(index),
            render_minor: Topology::render_minor(index),
            context_save: ContextSave::of(&board, kernel),
            processors: Arc::new(board.gpu.clone()),
            smi: SmiReaders::after(resets as u32),
            board,
            remap,
            hangs: AtomicBool::new(hangs),
        })
    }

    /// Whether it does nothing, until it is reset.
    pub(crate) fn hangs(&self) -> bool {
        self.hangs.load(Ordering::SeqCst)
    }

    /// It does nothing any more, or works again.
    pub(super) fn set_hangs(&self, hangs: bool) {
        self.hangs.store(hangs, Ordering::SeqCst);
    }

    /// What the cache keeps is lost.
    pub(super) fn discard_cache(&self) {
        if let Some(l2) = &self.l2 {
            l2.discard();
        }
    }

    /// A new address space of it.
    pub(crate) fn address_space(&self) -> Arc<AddressSpace> {
        self.l2.as_ref().map_or_else(Default::default, L2::address_space)
    }
}

/// Bytes of a board's VRAM that processes may have.
pub(super) fn vram_limit(board: &Board) -> u64 {
    board.vram_bytes - reserved_for_page_tables(board.system_bytes)
}

/// What the KFD keeps back of VRAM for page tables (amdgpu_amdkfd_gpuvm.c, `ESTIMATE_PT_SIZE`; amdgpu_vm.h,
/// `AMDGPU_VM_RESERVED_VRAM`).
fn reserved_for_page_tables(total_memory: u64) -> u64 {
    (total_memory >> 14).max(8 << 20)
}
