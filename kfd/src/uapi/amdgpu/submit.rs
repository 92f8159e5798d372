//! Contexts and command submission through the kernel's own rings.

use selvedge_sys::uapi::{member, set_member};
use selvedge_sys::uapi_structs;

/// `AMDGPU_CTX_OP_ALLOC_CTX`
pub const CTX_OP_ALLOC_CTX: u32 = 1;
/// `AMDGPU_CTX_OP_FREE_CTX`
pub const CTX_OP_FREE_CTX: u32 = 2;
/// `AMDGPU_CTX_OP_QUERY_STATE`
pub const CTX_OP_QUERY_STATE: u32 = 3;
/// `AMDGPU_CTX_OP_QUERY_STATE2`
pub const CTX_OP_QUERY_STATE2: u32 = 4;
/// `AMDGPU_CTX_OP_GET_STABLE_PSTATE`
pub const CTX_OP_GET_STABLE_PSTATE: u32 = 5;
/// `AMDGPU_CTX_OP_SET_STABLE_PSTATE`
pub const CTX_OP_SET_STABLE_PSTATE: u32 = 6;

/// QUERY_STATE2: a reset happened since the context was made (`AMDGPU_CTX_QUERY2_FLAGS_RESET`).
pub const CTX_QUERY2_RESET: u64 = 1 << 0;
/// The same: device memory was lost.
pub const CTX_QUERY2_VRAMLOST: u64 = 1 << 1;
/// The same: this context caused it.
pub const CTX_QUERY2_GUILTY: u64 = 1 << 2;
/// The same: the reset is not over.
pub const CTX_QUERY2_RESET_IN_PROGRESS: u64 = 1 << 5;

/// `AMDGPU_BO_LIST_OP_CREATE`
pub const BO_LIST_OP_CREATE: u32 = 0;
/// `AMDGPU_BO_LIST_OP_DESTROY`
pub const BO_LIST_OP_DESTROY: u32 = 1;
/// `AMDGPU_BO_LIST_OP_UPDATE`
pub const BO_LIST_OP_UPDATE: u32 = 2;

/// A chunk that is a [`CsChunkIb`] (`AMDGPU_CHUNK_ID_IB`).
pub const CHUNK_ID_IB: u32 = 0x01;
/// A [`CsChunkFence`].
pub const CHUNK_ID_FENCE: u32 = 0x02;
/// An array of [`CsChunkDep`].
pub const CHUNK_ID_DEPENDENCIES: u32 = 0x03;
/// A [`BoListIn`]: the buffers of this submission.
pub const CHUNK_ID_BO_HANDLES: u32 = 0x06;

/// Graphics rings (`AMDGPU_HW_IP_GFX`).
pub const HW_IP_GFX: u32 = 0;
/// Compute rings.
pub const HW_IP_COMPUTE: u32 = 1;
/// SDMA rings.
pub const HW_IP_DMA: u32 = 2;

uapi_structs! {
    /// What CTX is given.
    CtxIn = "struct drm_amdgpu_ctx_in" {
        /// `CTX_OP_*`.
        op: u32,
        /// Flags of the operation.
        flags: u32,
        /// The context.
        ctx_id: u32,
        /// −2048 unset, −1023 … 1023.
        priority: i32,
    }

    /// Argument of CTX: [`CtxIn`]; then, by operation, the context's id in the first dword, or
    /// flags (64 bits), hangs and reset status.
    Ctx = "union drm_amdgpu_ctx" {
        /// The input.
        in_: CtxIn,
    }

    /// What BO_LIST is given, and the content of a [`CHUNK_ID_BO_HANDLES`].
    BoListIn = "struct drm_amdgpu_bo_list_in" {
        /// `BO_LIST_OP_*`.
        operation: u32,
        /// The list.
        list_handle: u32,
        /// How many buffers.
        bo_number: u32,
        /// Size of an entry, 8.
        bo_info_size: u32,
        /// Address of an array of [`BoListEntry`].
        bo_info_ptr: u64,
    }

    /// A buffer in a list.
    BoListEntry = "struct drm_amdgpu_bo_list_entry" {
        /// The buffer.
        bo_handle: u32,
        /// Its priority when memory is short.
        bo_priority: u32,
    }

    /// What BO_LIST returns.
    BoListOut = "struct drm_amdgpu_bo_list_out" {
        /// The list.
        list_handle: u32,
        /// Unused.
        _pad: u32,
    }

    /// Argument of BO_LIST: [`BoListIn`], then [`BoListOut`].
    BoList = "union drm_amdgpu_bo_list" {
        /// The input.
        in_: BoListIn,
    }

    /// A chunk of a submission.
    CsChunk = "struct drm_amdgpu_cs_chunk" {
        /// `CHUNK_ID_*`.
        chunk_id: u32,
        /// Dwords of data.
        length_dw: u32,
        /// Address of the data.
        chunk_data: u64,
    }

    /// What CS is given.
    CsIn = "struct drm_amdgpu_cs_in" {
        /// The context.
        ctx_id: u32,
        /// A buffer list, or 0.
        bo_list_handle: u32,
        /// How many chunks.
        num_chunks: u32,
        /// None are defined.
        flags: u32,
        /// Address of an array of addresses of [`CsChunk`]s.
        chunks: u64,
    }

    /// What CS returns.
    CsOut = "struct drm_amdgpu_cs_out" {
        /// Names the submission in WAIT_CS: its sequence number on its ring.
        handle: u64,
    }

    /// Argument of CS: [`CsIn`], then [`CsOut`].
    Cs = "union drm_amdgpu_cs" {
        /// The input.
        in_: CsIn,
    }

    /// An indirect buffer to run.
    CsChunkIb = "struct drm_amdgpu_cs_chunk_ib" {
        /// Unused.
        _pad: u32,
        /// `AMDGPU_IB_FLAG_*`.
        flags: u32,
        /// Address of the commands.
        va_start: u64,
        /// Their size, bytes.
        ib_bytes: u32,
        /// `HW_IP_*`.
        ip_type: u32,
        /// Which one of the kind.
        ip_instance: u32,
        /// Which ring of it.
        ring: u32,
    }

    /// A submission to wait for first.
    CsChunkDep = "struct drm_amdgpu_cs_chunk_dep" {
        /// `HW_IP_*`.
        ip_type: u32,
        /// Which one of the kind.
        ip_instance: u32,
        /// Which ring of it.
        ring: u32,
        /// The context.
        ctx_id: u32,
        /// The submission.
        handle: u64,
    }

    /// Where to write the submission's number when it is done.
    CsChunkFence = "struct drm_amdgpu_cs_chunk_fence" {
        /// The buffer.
        handle: u32,
        /// Where in it, bytes.
        offset: u32,
    }

    /// What WAIT_CS is given.
    WaitCsIn = "struct drm_amdgpu_wait_cs_in" {
        /// The submission.
        handle: u64,
        /// Absolute time, CLOCK_MONOTONIC ns.
        timeout: u64,
        /// `HW_IP_*`.
        ip_type: u32,
        /// Which one of the kind.
        ip_instance: u32,
        /// Which ring of it.
        ring: u32,
        /// The context.
        ctx_id: u32,
    }

    /// What WAIT_CS returns.
    WaitCsOut = "struct drm_amdgpu_wait_cs_out" {
        /// 0 done, 1 still busy.
        status: u64,
    }

    /// Argument of WAIT_CS: [`WaitCsIn`], then [`WaitCsOut`].
    WaitCs = "union drm_amdgpu_wait_cs" {
        /// The input.
        in_: WaitCsIn,
    }
}

impl Ctx {
    /// An operation.
    pub fn new(op: u32, ctx_id: u32) -> Ctx {
        Ctx { in_: CtxIn { op, flags: 0, ctx_id, priority: 0 } }
    }

    /// The result of [`CTX_OP_ALLOC_CTX`]: the context.
    pub fn context(&self) -> u32 {
        member(self)
    }

    /// Stores the result of [`CTX_OP_ALLOC_CTX`].
    pub fn set_context(&mut self, ctx_id: u32) {
        set_member(self, &[ctx_id, 0]);
    }

    /// The flags that [`CTX_OP_QUERY_STATE2`] returns, `CTX_QUERY2_*`.
    pub fn state_flags(&self) -> u64 {
        member(self)
    }

    /// Stores the result of [`CTX_OP_QUERY_STATE`]: what kind of reset there was, behind flags and hangs, which are 0.
    pub fn set_reset_status(&mut self, status: u32) {
        set_member(self, &[0u32, 0, 0, status]);
    }

    /// The result of [`CTX_OP_QUERY_STATE`].
    pub fn reset_status(&self) -> u32 {
        member::<[u32; 4], _>(self)[3]
    }

    /// Stores the result of [`CTX_OP_QUERY_STATE2`].
    pub fn set_state_flags(&mut self, flags: u64) {
        set_member(self, &[flags, 0]);
    }
}

macro_rules! outputs {
    ($($union:ident $out:ident;)*) => {$(
        impl $union {
            /// The result.
            pub fn out(&self) -> $out {
                member(self)
            }

            /// Stores a result.
            pub fn set_out(&mut self, value: &$out) {
                set_member(self, value);
            }
        }
    )*};
}

outputs! {
    BoList BoListOut;
    Cs CsOut;
    WaitCs WaitCsOut;
}
