//! CP_HQD_*, CP_MQD_*: whether a hardware queue is mapped, whose it is and how it is scheduled.

use crate::generation::Generation;
use crate::generation::generations::{BEFORE_GFX12, GFX9, GFX10_11, GFX10_ON, GFX11_ON};

register! {
    /// Low part of the address of the queue's descriptor in memory (MQD).
    pub struct CpMqdBaseAddr: "CP_MQD_BASE_ADDR"
        at 0x3245 in GFX9, 0x3209 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 31:2 of the address, where they are in it.
    base_addr: u32 = 0[31:2] << 2;
}

register! {
    /// High part of the address of the queue's descriptor in memory.
    pub struct CpMqdBaseAddrHi: "CP_MQD_BASE_ADDR_HI"
        at 0x3246 in GFX9, 0x320a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:32 of the address, where they are in it.
    base_addr_hi: u64 = 0[15:0] << 32;
}

register! {
    /// How the descriptor in memory is accessed.
    pub struct CpMqdControl: "CP_MQD_CONTROL"
        at 0x3267 in GFX9, 0x322b in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Address space of the descriptor.
    vmid: u8 = 0[3:0];
    /// Whether accesses are privileged; Linux sets it.
    priv_state: bool = 0[8:8];
    /// Whether the descriptor is being read or written.
    processing_mqd: bool = 0[12:12];
    /// Whether a write changes PROCESSING_MQD (by its name).
    processing_mqd_en: bool = 0[13:13];
    /// Whether the page need not be executable (by its name).
    exe_disable: bool = 0[23:23];
    /// How L2 keeps the descriptor.
    cache_policy: u8 = 0[24:24] in GFX9, 0[25:24] in GFX10_ON;
    /// Whether the descriptor is volatile for L2.
    mqd_volatile: bool = 0[26:26] in GFX10_11;
}

register! {
    /// Whether the queue is mapped.
    pub struct CpHqdActive: "CP_HQD_ACTIVE"
        at 0x3247 in GFX9, 0x320b in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Whether it is.
    active: bool = 0[0:0];
    /// Whether the queue counts as busy for clock gating (by its name).
    busy_gate: bool = 0[1:1];
}

register! {
    /// Address spaces of the queue.
    pub struct CpHqdVmid: "CP_HQD_VMID"
        at 0x3248 in GFX9, 0x320c in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// That of the ring and of waves.
    vmid: u8 = 0[3:0];
    /// That of indirect buffers, where not the ring's.
    ib_vmid: u8 = 0[11:8];
    /// Number of the virtual queue.
    vqid: u16 = 0[25:16];
}

register! {
    /// State that survives while the queue is not connected to its pipe.
    pub struct CpHqdPersistentState: "CP_HQD_PERSISTENT_STATE"
        at 0x3249 in GFX9, 0x320d in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Whether the queue's state is preloaded when it is connected; KFD sets it.
    preload_req: bool = 0[0:0];
    /// Whether a queue with encrypted memory is connected in any case (by its name).
    tmz_connect_override: bool = 0[1:1] in GFX11_ON;
    /// Whether the queue is suspended.
    suspend_status: bool = 0[7:7] in GFX10_ON;
    /// How much is preloaded; KFD sets 0x53 to 0x55.
    preload_size: u16 = 0[17:8];
    /// Whether the queue is exempt from switches on encrypted memory (by its name).
    tmz_switch_exempt: bool = 0[18:18] in GFX11_ON;
    /// Whether encrypted memory is not matched (by its name).
    tmz_match_dis: bool = 0[19:19] in GFX11_ON;
    /// Whether a polled write pointer is clamped (by its name).
    wpp_clamp_en: bool = 0[20:20] in GFX10_ON;
    /// Whether polling write pointers has quality of service at switches (by its name).
    wpp_switch_qos_en: bool = 0[21:21];
    /// The same of the interrupt queue (by its name).
    iq_switch_qos_en: bool = 0[22:22];
    /// The same of indirect buffers (by its name).
    ib_switch_qos_en: bool = 0[23:23];
    /// The same of end-of-pipe events (by its name).
    eop_switch_qos_en: bool = 0[24:24];
    /// The same of the ring (by its name).
    pq_switch_qos_en: bool = 0[25:25];
    /// The same of offloaded memory accesses (by its name).
    tc_offload_qos_en: bool = 0[26:26];
    /// Whether packets are fetched whole (by its name).
    cache_full_packet_en: bool = 0[27:27];
    /// Whether saved waves are being restored.
    restore_active: bool = 0[28:28];
    /// Whether waves are being launched again.
    relaunch_waves: bool = 0[29:29];
    /// Whether waves are saved and restored at queue switches; KFD sets it with CWSR.
    qswitch_mode: bool = 0[30:30];
    /// Whether a dispatch is under way.
    disp_active: bool = 0[31:31];
}

register! {
    /// Priority of the queue's waves against those of other pipes.
    pub struct CpHqdPipePriority: "CP_HQD_PIPE_PRIORITY"
        at 0x324a in GFX9, 0x320e in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// 0 low, 1 medium, 2 high; KFD maps its 16 levels to these.
    pipe_priority: u8 = 0[1:0];
}

register! {
    /// Priority of the queue among those of its pipe.
    pub struct CpHqdQueuePriority: "CP_HQD_QUEUE_PRIORITY"
        at 0x324b in GFX9, 0x320f in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// 0 lowest to 15.
    priority_level: u8 = 0[3:0];
}

register! {
    /// How long the queue stays connected when others wait.
    pub struct CpHqdQuantum: "CP_HQD_QUANTUM"
        at 0x324c in GFX9, 0x3210 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: cikd.h, QUANTUM_SCALE_1MS";
    /// Whether there is a limit.
    quantum_en: bool = 0[0:0];
    /// Unit of the limit: 1 is a millisecond.
    quantum_scale: bool = 0[4:4];
    /// The limit, in the unit.
    quantum_duration: u8 = 0[13:8];
    /// Whether time is running.
    quantum_active: bool = 0[31:31];
}

register! {
    /// Asks the command processor to unmap the queue.
    pub struct CpHqdDequeueRequest: "CP_HQD_DEQUEUE_REQUEST"
        at 0x325d in GFX9, 0x3221 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: hqd_dequeue_request_type";
    /// What becomes of waves: 0 no request, 1 they finish, 2 they are reset, 3 they are saved.
    dequeue_req: u8 = 0[2:0] in GFX9, 0[3:0] in GFX10_ON;
    /// Whether a request of the interrupt queue is pending.
    iq_req_pend: bool = 0[4:4];
    /// Whether an interrupt is raised when it is done.
    dequeue_int: bool = 0[8:8];
    /// Whether a write changes IQ_REQ_PEND (by its name).
    iq_req_pend_en: bool = 0[9:9];
    /// Whether a write changes DEQUEUE_REQ (by its name).
    dequeue_req_en: bool = 0[10:10];
}

register! {
    /// How far unmapping is.
    pub struct CpHqdDequeueStatus: "CP_HQD_DEQUEUE_STATUS"
        at 0x3248 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// State of the request; values are not documented.
    dequeue_stat: u8 = 0[3:0];
    /// Whether a request to suspend is pending.
    suspend_req_pend: bool = 0[4:4];
    /// Whether a write changes SUSPEND_REQ_PEND (by its name).
    suspend_req_pend_en: bool = 0[9:9];
    /// Whether a write changes DEQUEUE_STAT (by its name).
    dequeue_stat_en: bool = 0[10:10];
}

register! {
    /// Why the queue stopped.
    pub struct CpHqdError: "CP_HQD_ERROR"
        at 0x3278 in GFX9, 0x323c in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Which memory of the command processor had an error.
    edc_error_id: u8 = 0[3:0];
    /// Whether an access was privileged without right (by its name).
    sua_error: bool = 0[4:4];
    /// Whether an AQL packet was wrong.
    aql_error: bool = 0[5:5];
    /// Whether an address of the ring could not be translated.
    pq_utcl1_error: bool = 0[8:8];
    /// The same of an indirect buffer.
    ib_utcl1_error: bool = 0[9:9];
    /// The same of the end-of-pipe buffer.
    eop_utcl1_error: bool = 0[10:10];
    /// The same of the interrupt queue.
    iq_utcl1_error: bool = 0[11:11];
    /// The same of the read pointer report.
    rrpt_utcl1_error: bool = 0[12:12];
    /// The same of the polled write pointer.
    wpp_utcl1_error: bool = 0[13:13];
    /// The same of a semaphore.
    sem_utcl1_error: bool = 0[14:14] in BEFORE_GFX12;
    /// The same of a copy's source.
    dma_src_utcl1_error: bool = 0[15:15];
    /// The same of a copy's destination.
    dma_dst_utcl1_error: bool = 0[16:16];
    /// The same of saving and restoring.
    sr_utcl1_error: bool = 0[17:17];
    /// The same of the query unit.
    qu_utcl1_error: bool = 0[18:18];
    /// The same of another access through L2.
    tc_utcl1_error: bool = 0[19:19];
}

register! {
    /// Work that the queue left for another unit.
    pub struct CpHqdOffload: "CP_HQD_OFFLOAD"
        at 0x325e in GFX9, 0x3222 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether copies are left.
    dma_offload: bool = 0[0:0];
    /// Whether a write changes DMA_OFFLOAD (by its name).
    dma_offload_en: bool = 0[1:1];
    /// Whether AQL packets are left.
    aql_offload: bool = 0[2:2];
    /// Whether a write changes AQL_OFFLOAD (by its name).
    aql_offload_en: bool = 0[3:3];
    /// Whether end-of-pipe events are left.
    eop_offload: bool = 0[4:4];
    /// Whether a write changes EOP_OFFLOAD (by its name).
    eop_offload_en: bool = 0[5:5];
}

register! {
    /// The other name of CP_HQD_OFFLOAD, from gfx11 on with all of its fields.
    pub struct CpHqdDmaOffload: "CP_HQD_DMA_OFFLOAD"
        at 0x325e in GFX9, 0x3222 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether copies are left.
    dma_offload: bool = 0[0:0];
    /// Whether a write changes DMA_OFFLOAD (by its name).
    dma_offload_en: bool = 0[1:1] in GFX11_ON;
    /// Whether AQL packets are left.
    aql_offload: bool = 0[2:2] in GFX11_ON;
    /// Whether a write changes AQL_OFFLOAD (by its name).
    aql_offload_en: bool = 0[3:3] in GFX11_ON;
    /// Whether end-of-pipe events are left.
    eop_offload: bool = 0[4:4] in GFX11_ON;
    /// Whether a write changes EOP_OFFLOAD (by its name).
    eop_offload_en: bool = 0[5:5] in GFX11_ON;
}

register! {
    /// A semaphore that the queue waits for.
    pub struct CpHqdSemaCmd: "CP_HQD_SEMA_CMD"
        at 0x325f in GFX9, 0x3223 in GFX10_11;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether to try again.
    retry: bool = 0[0:0];
    /// Result of the last try; values are not documented.
    result: u8 = 0[2:1];
    /// Whether polling is off (by its name).
    polling_dis: bool = 0[8:8] in GFX10_11;
    /// Whether a message is sent (by its name).
    message_en: bool = 0[9:9] in GFX10_11;
}

register! {
    /// A message of the queue to the scheduler.
    pub struct CpHqdMsgType: "CP_HQD_MSG_TYPE"
        at 0x3260 in GFX9, 0x3224 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// What is asked for; values are not documented.
    action: u8 = 0[2:0];
    /// State to save with it (by its name).
    save_state: u8 = 0[6:4];
}

register! {
    /// Global resources that the queue holds.
    pub struct CpHqdGdsResourceState: "CP_HQD_GDS_RESOURCE_STATE"
        at 0x3277 in GFX9, 0x323b in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether ordered append is needed.
    oa_required: bool = 0[0:0];
    /// Whether it is held.
    oa_acquired: bool = 0[1:1];
    /// Number of global wave sync barriers.
    gws_size: u8 = 0[9:4];
    /// The first of these.
    gws_pntr: u8 = 0[17:12];
}

register! {
    /// Messages between the graphics pipe and the queue.
    pub struct CpHqdGfxControl: "CP_HQD_GFX_CONTROL"
        at 0x323e in GFX9, 0x30ff in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The message; values are not documented.
    message: u8 = 0[3:0];
    /// What goes with it.
    misc: u16 = 0[14:4];
    /// Whether doorbells are reported by message (by its name).
    db_updated_msg_en: bool = 0[15:15];
}

register! {
    /// What the graphics pipe answered.
    pub struct CpHqdGfxStatus: "CP_HQD_GFX_STATUS"
        at 0x323f in GFX9, 0x3100 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The answer; values are not documented.
    status: u16 = 0[15:0];
}

register! {
    /// Low part of what memory held before the queue's last atomic of the first kind.
    pub struct CpHqdAtomic0PreopLo: "CP_HQD_ATOMIC0_PREOP_LO"
        at 0x3261 in GFX9, 0x3225 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    atomic0_preop_lo: u32 = 0[31:0];
}

register! {
    /// High part of what memory held before the queue's last atomic of the first kind.
    pub struct CpHqdAtomic0PreopHi: "CP_HQD_ATOMIC0_PREOP_HI"
        at 0x3262 in GFX9, 0x3226 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32.
    atomic0_preop_hi: u32 = 0[31:0];
}

register! {
    /// Low part of what memory held before the queue's last atomic of the second kind.
    pub struct CpHqdAtomic1PreopLo: "CP_HQD_ATOMIC1_PREOP_LO"
        at 0x3263 in GFX9, 0x3227 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:0.
    atomic1_preop_lo: u32 = 0[31:0];
}

register! {
    /// High part of what memory held before the queue's last atomic of the second kind.
    pub struct CpHqdAtomic1PreopHi: "CP_HQD_ATOMIC1_PREOP_HI"
        at 0x3264 in GFX9, 0x3228 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 63:32.
    atomic1_preop_hi: u32 = 0[31:0];
}

register! {
    /// Oldest dispatch under way, of those with an index (COMPUTE_DDID_INDEX).
    pub struct CpHqdDdidRptr: "CP_HQD_DDID_RPTR"
        at 0x3244 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Its index.
    rptr: u16 = 0[10:0];
}

register! {
    /// Where the next dispatch gets its index.
    pub struct CpHqdDdidWptr: "CP_HQD_DDID_WPTR"
        at 0x3245 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The index.
    wptr: u16 = 0[10:0];
}

register! {
    /// Number of dispatches under way, of those with an index.
    pub struct CpHqdDdidInflightCount: "CP_HQD_DDID_INFLIGHT_COUNT"
        at 0x3246 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The number.
    count: u16 = 0[15:0];
}

register! {
    /// Dispatches that ended since the last report (by its name).
    pub struct CpHqdDdidDeltaRptCount: "CP_HQD_DDID_DELTA_RPT_COUNT"
        at 0x3247 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The number.
    count: u8 = 0[7:0];
}
