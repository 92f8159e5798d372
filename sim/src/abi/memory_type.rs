//! How mappings are cached: the MTYPE that Linux gives them (gmc_v9_0.c, `gmc_v9_0_get_coherence_flags`; gmc_v10_0.c,
//! gmc_v11_0.c, gmc_v12_0.c, `get_vm_pte`; kfd_svm.c, `svm_range_get_pte_flags`).
//!
//! What was made UNCACHED is UC everywhere. COHERENT and EXT_COHERENT are UC on gfx10 and gfx11 and of system memory on
//! gfx9, and CC, which hardware keeps coherent, of a GPU's own on gfx90a and gfx94x; on gfx12 they change nothing and
//! kernels have to say so in the scopes of their instructions, which are not looked at here: such memory is coherent.
//! All other is NC or RW, but for system memory of discrete gfx94x, which is UC.

use super::buffer::{Buffer, Domain};
use crate::machine::Shared;
use crate::memory::MemoryType;
use kfd::uapi::{AllocMemFlags, SvmFlags, amdgpu::GemCreateFlags};

/// `AMDGPU_GEM_CREATE_*` that a buffer of the KFD gets (amdgpu_amdkfd_gpuvm.c,
/// `amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu`), as far as they are about caches.
pub(super) fn create_flags(flags: AllocMemFlags) -> u64 {
    let pairs = [
        (AllocMemFlags::COHERENT, GemCreateFlags::COHERENT),
        (AllocMemFlags::EXT_COHERENT, GemCreateFlags::EXT_COHERENT),
        (AllocMemFlags::UNCACHED, GemCreateFlags::UNCACHED),
    ];
    let set = pairs.into_iter().filter(|&(asked, _)| flags.contains(asked));
    set.fold(GemCreateFlags::empty(), |all, (_, flag)| all | flag).bits()
}

/// That of a mapping of `buffer` on a GPU.
pub(super) fn of_buffer(machine: &Shared, gpu: usize, buffer: &Buffer) -> MemoryType {
    let coherent =
        GemCreateFlags::COHERENT | GemCreateFlags::EXT_COHERENT | GemCreateFlags::UNCACHED;
    let flags = GemCreateFlags::from_bits_retain(buffer.flags);
    match buffer.domain {
        Domain::Registers => MemoryType::Coherent,
        _ if flags.intersects(coherent) => MemoryType::Coherent,
        Domain::Gtt | Domain::User => of_system_memory(machine, gpu),
        // Another process of the host may have it from a dma-buf. On hardware both see one L2, here each has its own.
        Domain::Vram if machine.memory.is_shared() => MemoryType::Coherent,
        // With several GPUs others may write it, and it is not known here who did.
        Domain::Vram if machine.gpus.len() > 1 || machine.gpus[gpu].board.is_apu => {
            MemoryType::Cached
        }
        Domain::Vram => MemoryType::CachedBehindHdp,
    }
}

/// That of a range of shared virtual memory, which is system memory.
pub(super) fn of_range(machine: &Shared, gpu: usize, flags: SvmFlags) -> MemoryType {
    match flags.intersects(SvmFlags::COHERENT | SvmFlags::EXT_COHERENT) {
        true => MemoryType::Coherent,
        false => of_system_memory(machine, gpu),
    }
}

fn of_system_memory(machine: &Shared, gpu: usize) -> MemoryType {
    let board = &machine.gpus[gpu].board;
    let is_gfx94x = (90_400..90_500).contains(&board.gpu.gfx_target_version);
    if is_gfx94x && !board.is_apu { MemoryType::Coherent } else { MemoryType::Cached }
}
