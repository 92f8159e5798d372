//! Contexts and command submission (amdgpu_ctx.c, amdgpu_bo_list.c, amdgpu_cs.c).
//!
//! Only submissions of NOPs to the SDMA engine are modelled: what a KFD client needs to have a VM's page
//! tables made by that engine before it gives the VM to the KFD.

use super::RenderFile;
use super::info::sdma_instances;
use crate::abi::user;
use crate::memory::{Path, View};
use kfd::uapi::amdgpu as uapi;
use selvedge_sys::Errno;
use std::collections::BTreeMap;

/// Submissions in one context.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// Number of the last one on each ring of the SDMA engines; they start at 1.
    last: BTreeMap<u32, u64>,
    /// Resets of the GPU when it was made, and when QUERY_STATE asked last.
    resets: u32,
    resets_told: u32,
}

/// The SDMA packet NOP, whose count field says how many dwords it skips (sdma_v6_0_0_pkt_open.h).
const SDMA_OP_NOP: u32 = 0;
/// `AMDGPU_CTX_PRIORITY_HIGH` and `AMDGPU_CTX_PRIORITY_VERY_HIGH`, for which one has to have CAP_SYS_NICE.
const HIGH_PRIORITIES: [i32; 2] = [512, 1023];
/// Contexts of a file, whose numbers end before `AMDGPU_VM_MAX_NUM_CTX`.
const MAX_CONTEXTS: usize = 4095;
/// `AMDGPU_CTX_STABLE_PSTATE_PEAK`
const MAX_STABLE_PSTATE: u32 = 4;
/// `AMDGPU_BO_LIST_MAX_ENTRIES` (amdgpu_bo_list.c, since commit 6270b1a5dab9 of 2026, in stable kernels too).
const MAX_LIST_ENTRIES: u32 = 128 << 10;
/// `AMDGPU_HW_IP_NUM`, with the VPE.
pub(super) const HW_IP_NUM: u32 = 10;
/// Rings of the SDMA engines that a context has entities for (amdgpu_ctx.c, `amdgpu_ctx_num_entities`).
pub(super) const MAX_SDMA_RINGS: u32 = 2;
/// Most chunks of a submission, to bound memory.
const MAX_CHUNKS: u32 = 4096;

impl RenderFile {
    pub(super) fn context(&self, args: &mut uapi::Ctx) -> Result<(), Errno> {
        let wanted = args.in_;
        let known = uapi::CTX_OP_ALLOC_CTX..=uapi::CTX_OP_SET_STABLE_PSTATE;
        if !known.contains(&wanted.op)
            || wanted.op != uapi::CTX_OP_SET_STABLE_PSTATE && wanted.flags != 0
        {
            return Err(Errno::EINVAL);
        }
        let resets = self.machine.gpus[self.gpu].smi.resets();
        let mut state = self.state();
        match wanted.op {
            uapi::CTX_OP_ALLOC_CTX => {
                // Any other number counts as the normal priority (`amdgpu_ctx_priority_is_valid`,
                // `amdgpu_ctx_priority_permit`).
                if HIGH_PRIORITIES.contains(&wanted.priority) && !self.machine.privileged {
                    return Err(Errno::EACCES);
                }
                if state.contexts.len() >= MAX_CONTEXTS {
                    return Err(Errno::ENOSPC);
                }
                let context = Context { last: BTreeMap::new(), resets, resets_told: resets };
                args.set_context(state.contexts.insert(context).ok_or(Errno::ENOSPC)?);
                Ok(())
            }
            uapi::CTX_OP_FREE_CTX => {
                state.contexts.remove(wanted.ctx_id).map(drop).ok_or(Errno::EINVAL)
            }
            // `amdgpu_ctx_query`: whether there was a reset since the last look, as `hangs` and `reset_status` behind
            // the flags.
            uapi::CTX_OP_QUERY_STATE => {
                const UNKNOWN_RESET: u32 = 3;
                let context = state.contexts.get_mut(wanted.ctx_id).ok_or(Errno::EINVAL)?;
                let told = std::mem::replace(&mut context.resets_told, resets);
                args.set_reset_status(if told == resets { 0 } else { UNKNOWN_RESET });
                Ok(())
            }
            // `amdgpu_ctx_query2`: whether there ever was one. With every reset VRAM is lost.
            uapi::CTX_OP_QUERY_STATE2 => {
                let context = state.contexts.get(&wanted.ctx_id).ok_or(Errno::EINVAL)?;
                let lost = uapi::CTX_QUERY2_RESET | uapi::CTX_QUERY2_VRAMLOST;
                args.set_state_flags(if context.resets == resets { 0 } else { lost });
                Ok(())
            }
            // `amdgpu_ctx_stable_pstate`
            uapi::CTX_OP_GET_STABLE_PSTATE => {
                state.contexts.get(&wanted.ctx_id).ok_or(Errno::EINVAL)?;
                args.set_state_flags(0);
                Ok(())
            }
            _ if wanted.flags > MAX_STABLE_PSTATE => Err(Errno::EINVAL),
            _ => {
                state.contexts.get(&wanted.ctx_id).ok_or(Errno::EINVAL)?;
                Err(self.machine.refuse("stable power states of a context".into()))
            }
        }
    }

    pub(super) fn bo_list(&self, args: &mut uapi::BoList) -> Result<(), Errno> {
        let wanted = args.in_;
        let buffers = list_entries(&wanted)?;
        let mut state = self.state();
        if matches!(wanted.operation, uapi::BO_LIST_OP_CREATE | uapi::BO_LIST_OP_UPDATE)
            && !buffers.iter().all(|handle| state.buffers.contains_key(handle))
        {
            return Err(Errno::ENOENT);
        }
        let list_handle = match wanted.operation {
            uapi::BO_LIST_OP_CREATE => state.buffer_lists.insert(()).ok_or(Errno::ENOSPC)?,
            uapi::BO_LIST_OP_DESTROY => {
                state.buffer_lists.remove(wanted.list_handle);
                0
            }
            uapi::BO_LIST_OP_UPDATE if state.buffer_lists.contains_key(&wanted.list_handle) => {
                wanted.list_handle
            }
            uapi::BO_LIST_OP_UPDATE => return Err(Errno::ENOENT),
            _ => return Err(Errno::EINVAL),
        };
        args.set_out(&uapi::BoListOut { list_handle, _pad: 0 });
        Ok(())
    }

    /// CS: done before it returns.
    pub(super) fn submit(&self, args: &mut uapi::Cs) -> Result<(), Errno> {
        let wanted = args.in_;
        let mut state = self.state();
        if wanted.num_chunks == 0 || !state.contexts.contains_key(&wanted.ctx_id) {
            return Err(Errno::EINVAL);
        }
        if wanted.num_chunks > MAX_CHUNKS {
            return Err(Errno::ENOMEM);
        }
        if wanted.bo_list_handle != 0 && !state.buffer_lists.contains_key(&wanted.bo_list_handle) {
            return Err(Errno::ENOENT);
        }
        let mut ring = 0;
        for i in 0..u64::from(wanted.num_chunks) {
            let pointer: u64 = user::get(wanted.chunks.checked_add(i * 8).ok_or(Errno::EFAULT)?)?;
            let chunk: uapi::CsChunk = user::get(pointer)?;
            match chunk.chunk_id {
                uapi::CHUNK_ID_IB => {
                    if (chunk.length_dw as usize) * 4 < size_of::<uapi::CsChunkIb>() {
                        return Err(Errno::EINVAL);
                    }
                    let ib: uapi::CsChunkIb = user::get(chunk.chunk_data)?;
                    self.run(&ib)?;
                    ring = ib.ring;
                }
                // Everything earlier has ended; buffers are always resident.
                uapi::CHUNK_ID_DEPENDENCIES | uapi::CHUNK_ID_BO_HANDLES => {}
                other => return Err(self.machine.refuse(format!("submission chunk {other}"))),
            }
        }
        let context = state.contexts.get_mut(wanted.ctx_id).ok_or(Errno::EINVAL)?;
        let last = context.last.entry(ring).or_default();
        *last += 1;
        args.set_out(&uapi::CsOut { handle: *last });
        Ok(())
    }

    fn run(&self, ib: &uapi::CsChunkIb) -> Result<(), Errno> {
        let engines = sdma_instances(&self.machine.gpus[self.gpu].board);
        if ib.ip_type != uapi::HW_IP_DMA {
            return Err(self
                .machine
                .refuse(format!("submission to hardware block {}", ib.ip_type)));
        }
        if ib.ring >= engines.min(MAX_SDMA_RINGS) || ib.ip_instance != 0 {
            return Err(Errno::EINVAL);
        }
        let mut view = View::on(Path::Both, self.vm.clone());
        let mut at = ib.va_start;
        let end = ib.va_start.checked_add(u64::from(ib.ib_bytes)).ok_or(Errno::EINVAL)?;
        while at < end {
            let header = view.read_u32(at).map_err(|fault| {
                self.machine.refuse(format!("page fault of a kernel queue: {fault}"))
            })?;
            if header & 0xff != SDMA_OP_NOP {
                return Err(self
                    .machine
                    .refuse(format!("SDMA packet {header:#010x} of a kernel queue")));
            }
            let skipped = header >> 16 & 0x3fff;
            at += 4 + u64::from(skipped) * 4;
        }
        Ok(())
    }

    pub(super) fn wait_submission(&self, args: &mut uapi::WaitCs) -> Result<(), Errno> {
        let wanted = args.in_;
        let state = self.state();
        let context = state.contexts.get(&wanted.ctx_id).ok_or(Errno::EINVAL)?;
        // `amdgpu_ctx_get_entity`
        if wanted.ip_type >= HW_IP_NUM || wanted.ip_instance != 0 {
            return Err(Errno::EINVAL);
        }
        let last = match wanted.ip_type {
            uapi::HW_IP_DMA if wanted.ring >= MAX_SDMA_RINGS => return Err(Errno::EINVAL),
            uapi::HW_IP_DMA => context.last.get(&wanted.ring).copied().unwrap_or(0),
            _ => 0,
        };
        // u64::MAX asks for the last one.
        if wanted.handle != u64::MAX && wanted.handle > last {
            return Err(Errno::EINVAL);
        }
        args.set_out(&uapi::WaitCsOut { status: 0 });
        Ok(())
    }
}

/// The buffers of an array of entries of a size that the caller says (amdgpu_bo_list.c,
/// `amdgpu_bo_create_list_entry_array`).
fn list_entries(wanted: &uapi::BoListIn) -> Result<Vec<u32>, Errno> {
    if wanted.bo_number > MAX_LIST_ENTRIES {
        return Err(Errno::EINVAL);
    }
    let size = u64::from(wanted.bo_info_size);
    let length = size_of::<uapi::BoListEntry>().min(wanted.bo_info_size as usize);
    let entry = |i: u64| {
        let mut bytes = [0; size_of::<uapi::BoListEntry>()];
        user::read(wanted.bo_info_ptr.wrapping_add(i * size), &mut bytes[..length])?;
        let [a, b, c, d, ..] = bytes;
        Ok(u32::from_le_bytes([a, b, c, d]))
    };
    (0..u64::from(wanted.bo_number)).map(entry).collect()
}
