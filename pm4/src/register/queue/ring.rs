//! CP_HQD_PQ_*: the ring of a hardware queue. A hardware queue descriptor (HQD) is what a queue of the
//! compute pipes has in registers while it is mapped; GRBM_GFX_CNTL selects whose is seen.

use crate::generation::Generation;
use crate::generation::generations::{GFX9, GFX10_11, GFX10_ON, GFX11_ON, GFX90A_ON, GFX94X_ON};

register! {
    /// Low part of the address of the ring.
    pub struct CpHqdPqBase: "CP_HQD_PQ_BASE"
        at 0x324d in GFX9, 0x3211 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    addr: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the ring.
    pub struct CpHqdPqBaseHi: "CP_HQD_PQ_BASE_HI"
        at 0x324e in GFX9, 0x3212 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:40 of the address, where they are in it.
    addr_hi: u64 = 0[7:0] << 40;
}

register! {
    /// How far the command processor has read the ring.
    pub struct CpHqdPqRptr: "CP_HQD_PQ_RPTR"
        at 0x324f in GFX9, 0x3213 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Dwords from the start of the ring.
    consumed_offset: u32 = 0[31:0];
}

register! {
    /// Low part of the address that the read pointer is written to, for the host.
    pub struct CpHqdPqRptrReportAddr: "CP_HQD_PQ_RPTR_REPORT_ADDR"
        at 0x3250 in GFX9, 0x3214 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 31:2 of the address, where they are in it.
    rptr_report_addr: u32 = 0[31:2] << 2;
}

register! {
    /// High part of the address that the read pointer is written to.
    pub struct CpHqdPqRptrReportAddrHi: "CP_HQD_PQ_RPTR_REPORT_ADDR_HI"
        at 0x3251 in GFX9, 0x3215 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:32 of the address, where they are in it.
    rptr_report_addr_hi: u64 = 0[15:0] << 32;
}

register! {
    /// How far the host has written the ring: low part.
    pub struct CpHqdPqWptrLo: "CP_HQD_PQ_WPTR_LO"
        at 0x327b in GFX9, 0x323f in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 31:0 of the count of dwords written since the start; of an AQL queue in packets, as
    /// SLOT_BASED_WPTR says.
    offset: u32 = 0[31:0];
}

register! {
    /// How far the host has written the ring: high part.
    pub struct CpHqdPqWptrHi: "CP_HQD_PQ_WPTR_HI"
        at 0x327c in GFX9, 0x3240 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 63:32 of the count of dwords written since the start, where they are in it.
    data: u64 = 0[31:0] << 32;
}

register! {
    /// Low part of the address that the write pointer is polled at.
    pub struct CpHqdPqWptrPollAddr: "CP_HQD_PQ_WPTR_POLL_ADDR"
        at 0x3252 in GFX9, 0x3216 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 31:3 of the address, where they are in it.
    wptr_addr: u32 = 0[31:3] << 3;
}

register! {
    /// High part of the address that the write pointer is polled at.
    pub struct CpHqdPqWptrPollAddrHi: "CP_HQD_PQ_WPTR_POLL_ADDR_HI"
        at 0x3253 in GFX9, 0x3217 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:32 of the address, where they are in it.
    wptr_addr_hi: u64 = 0[15:0] << 32;
}

register! {
    /// Where the doorbell of the queue is and whether it rang.
    pub struct CpHqdPqDoorbellControl: "CP_HQD_PQ_DOORBELL_CONTROL"
        at 0x3254 in GFX9, 0x3218 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// 0 takes what is written as the write pointer, 1 as an update of it (by its name; Linux sets
    /// it for the queue of the scheduler).
    doorbell_mode: bool = 0[0:0];
    /// Whether the bus interface may drop writes (by its name); KFD sets it for AQL queues.
    doorbell_bif_drop: bool = 0[1:1];
    /// Offset of the doorbell in the doorbell aperture, in bytes, a multiple of 4.
    doorbell_offset: u32 = 0[27:2] << 2;
    /// What the doorbell came from (by its name).
    doorbell_source: bool = 0[28:28];
    /// Whether the scheduler saw the doorbell (by its name).
    doorbell_schd_hit: bool = 0[29:29];
    /// Whether the doorbell works.
    doorbell_en: bool = 0[30:30];
    /// Whether the doorbell rang and has not been served.
    doorbell_hit: bool = 0[31:31];
}

register! {
    /// How the ring is read.
    pub struct CpHqdPqControl: "CP_HQD_PQ_CONTROL"
        at 0x3256 in GFX9, 0x321a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Size of the ring: binary logarithm of its dwords, less one.
    queue_size: u8 = 0[5:0];
    /// Carry of the write pointer beyond the ring's size (by its name).
    wptr_carry: bool = 0[6:6];
    /// Carry of the read pointer beyond the ring's size (by its name).
    rptr_carry: bool = 0[7:7];
    /// How often the read pointer is reported: binary logarithm of a number of dwords, less one;
    /// KFD sets 5.
    rptr_block_size: u8 = 0[13:8];
    /// Whether the command processor detects a full ring; KFD sets it for AQL queues.
    queue_full_en: bool = 0[14:14];
    /// Whether the ring is empty.
    pq_empty: bool = 0[15:15];
    /// Whether a polled write pointer is clamped; KFD sets it for AQL queues.
    wpp_clamp_en: bool = 0[16:16] in GFX9;
    /// How bytes are swapped: 0 not at all.
    endian_swap: u8 = 0[18:17] in GFX9, 0[17:16] in Generation::Gfx101.set();
    /// What the write pointer counts: 0 dwords, 2 AQL packets of 16 dwords.
    slot_based_wptr: u8 = 0[26:25] in GFX9, 0[19:18] in GFX10_ON;
    /// How much must be in the ring before it is fetched (by its name).
    min_avail_size: u8 = 0[21:20];
    /// Whether the ring is in encrypted memory.
    tmz: bool = 0[22:22] in GFX90A_ON.or(GFX11_ON);
    /// Whether the ring's page need not be executable (by its name).
    exe_disable: bool = 0[23:23];
    /// How L2 keeps what is read.
    cache_policy: u8 = 0[24:24] in GFX9, 0[25:24] in GFX10_ON;
    /// Whether what is read is volatile for L2.
    pq_volatile: bool = 0[26:26] in GFX10_11;
    /// Whether the read pointer is not reported; KFD sets it for AQL queues, which do so
    /// themselves.
    no_update_rptr: bool = 0[27:27];
    /// Whether dispatches need not be in order (by its name); KFD sets it.
    unord_dispatch: bool = 0[28:28];
    /// Whether the reorder queue is shared the other way between ring and indirect buffers (by its
    /// name).
    roq_pq_ib_flip: bool = 0[29:29] in GFX9;
    /// Whether dispatches are tunneled (by its name).
    tunnel_dispatch: bool = 0[29:29] in GFX10_ON;
    /// Whether packets are privileged.
    priv_state: bool = 0[30:30];
    /// Whether the queue is the kernel driver's.
    kmd_queue: bool = 0[31:31];
}

register! {
    /// Words that the command processor keeps for AQL queues.
    pub struct CpHqdAqlControl: "CP_HQD_AQL_CONTROL"
        at 0x327a in GFX9, 0x323e in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// First word; KFD sets 1 for AQL queues.
    control0: u16 = 0[14:0];
    /// Whether a write changes the first word (by its name).
    control0_en: bool = 0[15:15];
    /// Second word.
    control1: u16 = 0[30:16];
    /// Whether a write changes the second word (by its name).
    control1_en: bool = 0[31:31];
}

register! {
    /// Low part of the number of the AQL packet that is served (by its name).
    pub struct CpHqdAqlDispatchId: "CP_HQD_AQL_DISPATCH_ID"
        at 0x327e in GFX94X_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0 of the number.
    consumed_offset: u32 = 0[31:0];
}

register! {
    /// High part of the number of the AQL packet that is served (by its name).
    pub struct CpHqdAqlDispatchIdHi: "CP_HQD_AQL_DISPATCH_ID_HI"
        at 0x327f in GFX94X_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32 of the number.
    consumed_offset: u32 = 0[31:0];
}
