//! CP_CPF_*: what the command processor's fetcher (CPF) is busy with or waits for.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX12, GFX9, GFX10_ON, GFX11_ON, GFX12};

register! {
    /// Parts that are busy.
    pub struct CpCpfStatus: "CP_CPF_STATUS"
        at 0x2087 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether updates of graphics write pointers are busy.
    post_wptr_gfx_busy: bool = 0[0:0];
    /// Whether fetching is busy.
    csf_busy: bool = 0[1:1];
    /// Whether the reorder queue is busy with aligning.
    roq_align_busy: bool = 0[4:4];
    /// Whether the reorder queue is busy with rings.
    roq_ring_busy: bool = 0[5:5];
    /// Whether the reorder queue is busy with indirect buffers.
    roq_indirect1_busy: bool = 0[6:6];
    /// Whether the reorder queue is busy with nested indirect buffers.
    roq_indirect2_busy: bool = 0[7:7];
    /// Whether the reorder queue is busy with state.
    roq_state_busy: bool = 0[8:8];
    /// Whether the reorder queue is busy with the constant engine's ring.
    roq_ce_ring_busy: bool = 0[9:9];
    /// Whether the reorder queue is busy with the constant engine's indirect buffers.
    roq_ce_indirect1_busy: bool = 0[10:10];
    /// Whether the reorder queue is busy with the constant engine's nested indirect buffers.
    roq_ce_indirect2_busy: bool = 0[11:11];
    /// Whether a semaphore is busy.
    semaphore_busy: bool = 0[12:12] in BEFORE_GFX12;
    /// Whether an interrupt is busy.
    interrupt_busy: bool = 0[13:13];
    /// Whether the interface to L2 is busy.
    tciu_busy: bool = 0[14:14];
    /// Whether a hardware queue is busy.
    hqd_busy: bool = 0[15:15];
    /// Whether partially resident memory is busy.
    prt_busy: bool = 0[16:16];
    /// Whether the interface to translations is busy.
    utcl2iu_busy: bool = 0[17:17];
    /// Whether the register interface is busy.
    rciu_busy: bool = 0[18:18] in GFX10_ON;
    /// Whether that of graphics is busy.
    rciu_gfx_busy: bool = 0[19:19] in GFX10_ON;
    /// Whether that of compute is busy.
    rciu_cmp_busy: bool = 0[20:20] in GFX10_ON;
    /// Whether the reorder queue is busy with data.
    roq_data_busy: bool = 0[21:21] in GFX10_ON;
    /// Whether the reorder queue is busy with the constant engine's data.
    roq_ce_data_busy: bool = 0[22:22] in GFX10_ON;
    /// Whether the interface for cache requests is busy.
    gcriu_busy: bool = 0[23:23] in GFX10_ON;
    /// Whether a hardware queue of the scheduler is busy.
    mes_hqd_busy: bool = 0[24:24] in GFX10_ON;
    /// Whether the graphics side is busy.
    cpf_gfx_busy: bool = 0[26:26];
    /// Whether the compute side is busy.
    cpf_cmp_busy: bool = 0[27:27];
    /// Whether the register bus reports busy, of each side.
    grbm_cpf_stat_busy: u8 = 0[29:28];
    /// Whether what the compute part asked for is busy.
    cpc_cpf_busy: bool = 0[30:30];
    /// Whether any of it is busy.
    cpf_busy: bool = 0[31:31];
}

register! {
    /// What the fetcher is busy with.
    pub struct CpCpfBusyStat: "CP_CPF_BUSY_STAT"
        at 0x2088 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether register writes are queued.
    reg_bus_fifo_busy: bool = 0[0:0];
    /// Whether rings are fetched.
    csf_ring_busy: bool = 0[1:1];
    /// Whether indirect buffers are.
    csf_indirect1_busy: bool = 0[2:2];
    /// Whether nested indirect buffers are.
    csf_indirect2_busy: bool = 0[3:3];
    /// Whether state is.
    csf_state_busy: bool = 0[4:4];
    /// Whether the constant engine's indirect buffers are.
    csf_ce_indr1_busy: bool = 0[5:5];
    /// Whether its nested ones are.
    csf_ce_indr2_busy: bool = 0[6:6];
    /// Whether the arbiter is busy.
    csf_arbiter_busy: bool = 0[7:7];
    /// Whether input is waiting.
    csf_input_busy: bool = 0[8:8];
    /// Whether reads have not been answered.
    outstanding_read_tags: bool = 0[9:9] in GFX9;
    /// Whether data are fetched.
    csf_data_busy: bool = 0[9:9] in GFX10_ON;
    /// Whether the constant engine's data are.
    csf_ce_data_busy: bool = 0[10:10] in GFX10_ON;
    /// Whether an end-of-pipe event is served.
    hpd_processing_eop_busy: bool = 0[11:11];
    /// Whether a dispatch of a hardware queue is under way.
    hqd_dispatch_busy: bool = 0[12:12];
    /// Whether the interrupt queue's timer runs.
    hqd_iq_timer_busy: bool = 0[13:13];
    /// Whether copies were left to another unit.
    hqd_dma_offload_busy: bool = 0[14:14];
    /// Whether a semaphore is waited for.
    hqd_wait_semaphore_busy: bool = 0[15:15] in BEFORE_GFX12;
    /// Whether a semaphore is signalled.
    hqd_signal_semaphore_busy: bool = 0[16:16] in BEFORE_GFX12;
    /// Whether a message is sent.
    hqd_message_busy: bool = 0[17:17];
    /// Whether a compute ring is fetched.
    hqd_pq_fetcher_busy: bool = 0[18:18];
    /// Whether an indirect buffer is.
    hqd_ib_fetcher_busy: bool = 0[19:19];
    /// Whether the interrupt queue is.
    hqd_iq_fetcher_busy: bool = 0[20:20];
    /// Whether the end-of-pipe buffer is.
    hqd_eop_fetcher_busy: bool = 0[21:21];
    /// Whether a read pointer is reported.
    hqd_consumed_rptr_busy: bool = 0[22:22];
    /// Whether the arbiter of these is busy.
    hqd_fetcher_arb_busy: bool = 0[23:23];
    /// Whether the reorder queue is aligning.
    hqd_roq_align_busy: bool = 0[24:24];
    /// Whether the reorder queue holds end-of-pipe events.
    hqd_roq_eop_busy: bool = 0[25:25];
    /// Whether it holds interrupts.
    hqd_roq_iq_busy: bool = 0[26:26];
    /// Whether it holds packets of a ring.
    hqd_roq_pq_busy: bool = 0[27:27];
    /// Whether it holds packets of an indirect buffer.
    hqd_roq_ib_busy: bool = 0[28:28];
    /// Whether a write pointer is polled.
    hqd_wptr_poll_busy: bool = 0[29:29];
    /// Whether a ring is not empty.
    hqd_pq_busy: bool = 0[30:30];
    /// Whether an indirect buffer is not empty.
    hqd_ib_busy: bool = 0[31:31];
}

register! {
    /// What the fetcher is busy with for the scheduler and SDMA.
    pub struct CpCpfBusyStat2: "CP_CPF_BUSY_STAT2"
        at 0x2093 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether SDMA's accesses to the graphics part are under way.
    cp_sdma_cpg_busy: bool = 0[0:0] in GFX11_ON;
    /// Whether SDMA's accesses to the compute part are.
    cp_sdma_cpc_busy: bool = 0[1:1] in GFX11_ON;
    /// Whether a dispatch of the scheduler is under way.
    mes_hqd_dispatch_busy: bool = 0[12:12];
    /// Whether its copies were left to another unit.
    mes_hqd_dma_offload_busy: bool = 0[14:14];
    /// Whether it sends a message.
    mes_hqd_message_busy: bool = 0[17:17];
    /// Whether its ring is fetched.
    mes_hqd_pq_fetcher_busy: bool = 0[18:18];
    /// Whether its read pointer is reported.
    mes_hqd_consumed_rptr_busy: bool = 0[22:22];
    /// Whether the arbiter is busy for it.
    mes_hqd_fetcher_arb_busy: bool = 0[23:23];
    /// Whether the reorder queue is aligning for it.
    mes_hqd_roq_align_busy: bool = 0[24:24];
    /// Whether the reorder queue holds its packets.
    mes_hqd_roq_pq_busy: bool = 0[27:27];
    /// Whether its ring is not empty.
    mes_hqd_pq_busy: bool = 0[30:30];
    /// Whether a doorbell of a queue that is not mapped is served.
    mes_unmapped_doorbell_busy: bool = 0[31:31] in GFX12;
}

register! {
    /// What is waited for.
    pub struct CpCpfStalledStat1: "CP_CPF_STALLED_STAT1"
        at 0x2089 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether rings' packets are.
    ring_fetching_data: bool = 0[0:0];
    /// Whether indirect buffers' packets are.
    indr1_fetching_data: bool = 0[1:1];
    /// Whether nested indirect buffers' packets are.
    indr2_fetching_data: bool = 0[2:2];
    /// Whether state is.
    state_fetching_data: bool = 0[3:3];
    /// Whether room at the interface to L2 is.
    tciu_waiting_on_free: bool = 0[5:5];
    /// Whether tags of the interface to L2 are.
    tciu_waiting_on_tags: bool = 0[6:6];
    /// Whether room at the interface to translations is.
    utcl2iu_waiting_on_free: bool = 0[7:7];
    /// Whether tags of the interface to translations are.
    utcl2iu_waiting_on_tags: bool = 0[8:8];
    /// Whether a translation of graphics is.
    gfx_utcl1_waiting_on_trans: bool = 0[9:9];
    /// Whether a translation of compute is.
    cmp_utcl1_waiting_on_trans: bool = 0[10:10];
    /// Whether room at the register interface is.
    rciu_waiting_on_free: bool = 0[11:11];
    /// Whether data are.
    data_fetching_data: bool = 0[12:12] in GFX10_ON;
    /// Whether room at the interface for cache requests is.
    gcriu_wait_on_free: bool = 0[13:13] in GFX10_ON;
}
