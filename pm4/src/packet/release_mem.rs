//! RELEASE_MEM: writes and interrupts when the work before it is done.

use super::{CachePolicy, EventType, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// When RELEASE_MEM happens.
    pub struct ReleaseEventIndex(u8) {
        /// When everything before it has come to its end.
        END_OF_PIPE = 5,
        /// When the shaders before it have ended ([`EventType::CS_DONE`]).
        SHADER_DONE = 6,
    }
}

crate::names! {
    /// Where RELEASE_MEM writes.
    pub struct ReleaseDestination(u8) {
        /// Memory, around L2's cached lines.
        MEMORY_CONTROLLER = 0,
        /// Memory, through L2.
        TC_L2 = 1,
        /// The write pointer of a queue; not on gfx10.
        QUEUE_WRITE_POINTER_REGISTER = 2,
        /// The poll mask of a queue; not on gfx10.
        QUEUE_WRITE_POINTER_POLL_MASK_BIT = 3,
    }
}

crate::names! {
    /// What RELEASE_MEM does to be noticed.
    pub struct InterruptSelect(u8) {
        /// Nothing, and the next packet does not wait for the write either.
        NONE = 0,
        /// Interrupts; for when nothing is written.
        SEND_INTERRUPT_ONLY = 1,
        /// Interrupts when the write has arrived.
        SEND_INTERRUPT_AFTER_WRITE_CONFIRM = 2,
        /// Waits until the write has arrived.
        SEND_DATA_AND_WRITE_CONFIRM = 3,
        /// Interrupts, with `int_ctxid`.
        UNCONDITIONALLY_SEND_INT_CTXID = 4,
        /// Interrupts, with `int_ctxid`, when the 32 bits at the address compare with `data`.
        CONDITIONALLY_SEND_INT_CTXID_BASED_ON_32_BIT_COMPARE = 5,
        /// Interrupts, with `int_ctxid`, when the 64 bits at the address compare with `data`.
        CONDITIONALLY_SEND_INT_CTXID_BASED_ON_64_BIT_COMPARE = 6,
    }
}

crate::names! {
    /// What RELEASE_MEM writes.
    pub struct DataSelect(u8) {
        /// Nothing.
        NONE = 0,
        /// The low 32 bits of `data`.
        SEND_32_BIT_LOW = 1,
        /// The 64 bits of `data`.
        SEND_64_BIT_DATA = 2,
        /// The GPU's clock counter, 64 bits.
        SEND_GPU_CLOCK_COUNTER = 3,
        /// The system's clock counter, 64 bits.
        SEND_SYSTEM_CLOCK_COUNTER = 4,
        /// Dwords of GDS: `data` is their offset (15:0) and number (31:16); before gfx12.
        STORE_GDS_DATA_TO_MEMORY = 5,
        /// Adds the low 32 bits of `data` to what is there; gfx10.3 and gfx11.
        ATOMIC_ADD32BIT_LOW = 7,
    }
}

packet! {
    /// RELEASE_MEM: when all work before it is done, writes back and invalidates caches, then writes to memory
    /// and interrupts. The queue needs an EOP buffer.
    pub struct ReleaseMem: "RELEASE_MEM" = 0x49, 8 dwords in generations::ALL;
    source "PAL, PM4_MEC_RELEASE_MEM, ReleaseMemGcrCntl; nvd.h, PACKET3_RELEASE_MEM; soc15d.h, EOP_*; Mesa, pkt3.json";
    /// The event: mostly [`EventType::CACHE_FLUSH_AND_INV_TS_EVENT`] or [`EventType::BOTTOM_OF_PIPE_TS`].
    event_type: EventType = 1[5:0];
    /// Synchronises with an ACQUIRE_MEM by pixel wait sync, which compute queues do not use.
    wait_sync: bool = 1[7:7] in generations::GFX11_ON;
    /// When it happens; has to go with the event.
    event_index: ReleaseEventIndex = 1[11:8];
    /// Invalidate volatile lines of the vector L1 caches.
    tcl1_vol_action_ena: bool = 1[12:12] in generations::GFX9;
    /// Act on volatile lines of L2.
    tc_vol_action_ena: bool = 1[13:13] in generations::GFX9;
    /// Write L2 back.
    tc_wb_action_ena: bool = 1[15:15] in generations::GFX9;
    /// Invalidate the vector L1 caches.
    tcl1_action_ena: bool = 1[16:16] in generations::GFX9;
    /// Invalidate L2.
    tc_action_ena: bool = 1[17:17] in generations::GFX9;
    /// Act on lines of L2 whose memory type is NC or below it: MTYPE 0 (RW) and 1 (NC).
    tc_nc_action_ena: bool = 1[19:19] in generations::GFX9;
    /// Act on write-combined lines of L2 (memory type WC).
    tc_wc_action_ena: bool = 1[20:20] in generations::GFX9;
    /// Invalidate the metadata cache of L2.
    tc_md_action_ena: bool = 1[21:21] in generations::GFX9;
    /// Write the metadata caches back.
    glm_wb: bool = 1[12:12] in generations::GFX10_11;
    /// Invalidate the metadata caches; to be set together with the write-back.
    glm_inv: bool = 1[13:13] in generations::GFX10_11;
    /// Invalidate the vector L0 caches.
    glv_inv: bool = 1[14:14] in generations::GFX10_ON;
    /// Invalidate the L1 caches.
    gl1_inv: bool = 1[15:15] in generations::GFX10_11;
    /// Unshared lines of L2.
    gl2_us: bool = 1[16:16] in generations::GFX10_ON;
    /// L2: 0 all, 1 volatile lines, 2 the range, 3 its first and last line. There is no range to give here.
    gl2_range: u8 = 1[18:17] in generations::GFX10_ON;
    /// Drop lines of L2 without writing them back.
    gl2_discard: bool = 1[19:19] in generations::GFX10_ON;
    /// Invalidate L2: lines of memory that others write too.
    gl2_inv: bool = 1[20:20] in generations::GFX10_ON;
    /// Write L2 back.
    gl2_wb: bool = 1[21:21] in generations::GFX10_ON;
    /// Order of the levels: 0 all at once, 1 from the shader outwards, 2 inwards.
    seq: u8 = 1[23:22] in generations::GFX10_ON;
    /// Write the scalar caches back.
    glk_wb: bool = 1[24:24] in generations::GFX11_ON;
    /// Invalidate the scalar caches.
    glk_inv: bool = 1[30:30] in generations::GFX11_ON;
    /// L2 policy for the write.
    cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint for the write.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Updates the execution phase of the queue; for firmware.
    pq_exe_status: bool = 1[29:29] in generations::GFX9, 1[28:28] in generations::GFX10_ON;
    /// Where to write.
    dst_sel: ReleaseDestination = 2[17:16];
    /// The scheduler's pipe that is interrupted; for firmware.
    mes_intr_pipe: u8 = 2[21:20] in generations::GFX10_ON;
    /// What the scheduler is told: 0 nothing; for firmware.
    mes_action_id: u8 = 2[23:22] in generations::GFX10_ON;
    /// What is done to be noticed.
    int_sel: InterruptSelect = 2[26:24];
    /// What is written.
    data_sel: DataSelect = 2[31:29];
    /// Where to: a multiple of 4, of 8 when 64 bits are written.
    address: u64 = 3[31:2] << 2 as address_lo_32b | 4[31:0] << 32 as address_hi;
    /// What [`DataSelect`] picks from.
    data: u64 = 5[31:0] as data_lo | 6[31:0] << 32 as data_hi;
    /// What the interrupt carries. The kernel driver looks for an event of this id.
    int_ctxid: u32 = 7[31:0];
}

impl ReleaseMem {
    /// At the end of all work before it; touches no cache, writes nothing, interrupts nobody yet.
    pub const END_OF_PIPE: ReleaseMem = ReleaseMem {
        event_type: EventType::CACHE_FLUSH_AND_INV_TS_EVENT,
        event_index: ReleaseEventIndex::END_OF_PIPE,
        ..ReleaseMem::ZERO
    };
}
