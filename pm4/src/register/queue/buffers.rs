//! CP_HQD_IB_*, CP_HQD_IQ_*, CP_HQD_EOP_*: what a hardware queue reads and keeps besides its ring.

use crate::generation::Generation;
use crate::generation::generations::{BEFORE_GFX12, GFX9, GFX10_11, GFX10_ON, GFX12, GFX94X_ON};

register! {
    /// Low part of the address of the indirect buffer that is read.
    pub struct CpHqdIbBaseAddr: "CP_HQD_IB_BASE_ADDR"
        at 0x3257 in GFX9, 0x321b in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 31:2 of the address, where they are in it.
    ib_base_addr: u32 = 0[31:2] << 2;
}

register! {
    /// High part of the address of the indirect buffer that is read.
    pub struct CpHqdIbBaseAddrHi: "CP_HQD_IB_BASE_ADDR_HI"
        at 0x3258 in GFX9, 0x321c in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Bits 47:32 of the address, where they are in it.
    ib_base_addr_hi: u64 = 0[15:0] << 32;
}

register! {
    /// How far the indirect buffer has been read.
    pub struct CpHqdIbRptr: "CP_HQD_IB_RPTR"
        at 0x3259 in GFX9, 0x321d in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords from its start.
    consumed_offset: u32 = 0[19:0];
}

register! {
    /// How the indirect buffer is read.
    pub struct CpHqdIbControl: "CP_HQD_IB_CONTROL"
        at 0x325a in GFX9, 0x321e in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords of the indirect buffer.
    ib_size: u32 = 0[19:0];
    /// How much must be there before it is fetched; KFD sets 3.
    min_ib_avail_size: u8 = 0[21:20];
    /// Whether the page need not be executable (by its name); KFD sets it.
    ib_exe_disable: bool = 0[23:23];
    /// How L2 keeps what is read.
    ib_cache_policy: u8 = 0[24:24] in GFX9, 0[25:24] in GFX10_ON;
    /// Whether what is read is volatile for L2.
    ib_volatile: bool = 0[26:26] in GFX10_11;
    /// Whether its packets are privileged.
    ib_priv_state: bool = 0[30:30] in GFX94X_ON.or(GFX12);
    /// Whether an indirect buffer is being read.
    processing_ib: bool = 0[31:31];
}

register! {
    /// The interrupt queue's timer. AMD documents no more than the names.
    pub struct CpHqdIqTimer: "CP_HQD_IQ_TIMER"
        at 0x325b in GFX9, 0x321f in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// How long to wait.
    wait_time: u8 = 0[7:0];
    /// How to try again.
    retry_type: u8 = 0[10:8];
    /// Whether the timer expires at once.
    immediate_expire: bool = 0[11:11];
    /// Kind of interrupt.
    interrupt_type: u8 = 0[13:12];
    /// Unit of the time.
    clock_count: u8 = 0[15:14];
    /// Size of an interrupt's entry.
    interrupt_size: u8 = 0[21:16];
    /// Whether the timer is the quantum's.
    quantum_timer: bool = 0[22:22];
    /// Whether the page need not be executable.
    exe_disable: bool = 0[23:23];
    /// How L2 keeps what is read.
    cache_policy: u8 = 0[24:24] in GFX9, 0[25:24] in GFX10_ON;
    /// Kind of queue.
    queue_type: bool = 0[25:25] in GFX9, 0[27:27] in GFX10_ON;
    /// Whether what is read is volatile for L2.
    iq_volatile: bool = 0[26:26] in GFX10_11;
    /// Whether to start the timer anew.
    rearm_timer: bool = 0[28:28];
    /// Whether a write changes PROCESSING_IQ.
    process_iq_en: bool = 0[29:29];
    /// Whether the interrupt queue is being served.
    processing_iq: bool = 0[30:30];
    /// Whether the timer runs.
    active: bool = 0[31:31];
}

register! {
    /// How far the interrupt queue has been read.
    pub struct CpHqdIqRptr: "CP_HQD_IQ_RPTR"
        at 0x325c in GFX9, 0x3220 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords from its start.
    offset: u8 = 0[5:0];
}

register! {
    /// Low part of the address of the end-of-pipe buffer, where events wait for their dispatches to
    /// end.
    pub struct CpHqdEopBaseAddr: "CP_HQD_EOP_BASE_ADDR"
        at 0x326a in GFX9, 0x322e in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 39:8 of the address, where they are in it: `encode` takes its part of the whole
    /// address, which is a multiple of 256.
    base_addr: u64 = 0[31:0] << 8;
}

register! {
    /// High part of the address of the end-of-pipe buffer.
    pub struct CpHqdEopBaseAddrHi: "CP_HQD_EOP_BASE_ADDR_HI"
        at 0x326b in GFX9, 0x322f in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Bits 47:40 of the address, where they are in it.
    base_addr_hi: u64 = 0[7:0] << 40;
}

register! {
    /// How the end-of-pipe buffer is used.
    pub struct CpHqdEopControl: "CP_HQD_EOP_CONTROL"
        at 0x326c in GFX9, 0x3230 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c to v12.c";
    /// Size of the buffer: binary logarithm of its dwords, less one.
    eop_size: u8 = 0[5:0];
    /// Whether an event is being served.
    processing_eop: bool = 0[8:8];
    /// Whether a write changes PROCESSING_EOP (by its name).
    process_eop_en: bool = 0[12:12];
    /// Whether an event's indirect buffer is being read.
    processing_eopib: bool = 0[13:13];
    /// Whether a write changes PROCESSING_EOPIB (by its name).
    process_eopib_en: bool = 0[14:14];
    /// Whether fetching is halted.
    halt_fetcher: bool = 0[21:21];
    /// Whether a write changes HALT_FETCHER (by its name).
    halt_fetcher_en: bool = 0[22:22];
    /// Whether the page need not be executable (by its name).
    exe_disable: bool = 0[23:23];
    /// How L2 keeps the buffer.
    cache_policy: u8 = 0[24:24] in GFX9, 0[25:24] in GFX10_ON;
    /// Whether the buffer is volatile for L2.
    eop_volatile: bool = 0[26:26] in GFX10_11;
    /// Result of signalling a semaphore.
    sig_sem_result: u8 = 0[30:29] in BEFORE_GFX12;
    /// Whether a semaphore is yet to be signalled.
    pend_sig_sem: bool = 0[31:31] in BEFORE_GFX12;
}

register! {
    /// How far the end-of-pipe buffer has been served.
    pub struct CpHqdEopRptr: "CP_HQD_EOP_RPTR"
        at 0x326d in GFX9, 0x3231 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords from its start.
    rptr: u16 = 0[12:0];
    /// Whether to reset fetching.
    reset_fetcher: bool = 0[28:28];
    /// Whether unmapping is pending.
    dequeue_pend: bool = 0[29:29];
    /// Whether all that is there has been served (by its name).
    rptr_eq_csmd_wptr: bool = 0[30:30];
    /// Whether to start fetching anew.
    init_fetcher: bool = 0[31:31];
}

register! {
    /// How far the end-of-pipe buffer has been written.
    pub struct CpHqdEopWptr: "CP_HQD_EOP_WPTR"
        at 0x326e in GFX9, 0x3232 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords from its start.
    wptr: u16 = 0[12:0];
    /// Whether it is empty.
    eop_empty: bool = 0[15:15];
    /// Dwords that are free.
    eop_avail: u16 = 0[28:16];
}

register! {
    /// How far the end-of-pipe buffer has arrived in memory.
    pub struct CpHqdEopWptrMem: "CP_HQD_EOP_WPTR_MEM"
        at 0x3279 in GFX9, 0x323d in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Dwords from its start.
    wptr: u16 = 0[12:0];
}

register! {
    /// Events that have not ended.
    pub struct CpHqdEopEvents: "CP_HQD_EOP_EVENTS"
        at 0x326f in GFX9, 0x3233 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Their number.
    event_count: u16 = 0[11:0];
    /// Whether a CS_PARTIAL_FLUSH is among them.
    cs_partial_flush_pend: bool = 0[16:16];
}
