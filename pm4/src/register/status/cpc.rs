//! CP_CPC_*: what the command processor's compute part (CPC, with its micro engines MEC) is busy with
//! or waits for.

use crate::generation::Generation;
use crate::generation::generations::{ALL, BEFORE_GFX11, GFX10_ON, GFX11, GFX11_ON, GFX12};

register! {
    /// Parts that are busy.
    pub struct CpCpcStatus: "CP_CPC_STATUS"
        at 0x2084 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the first micro engine is busy.
    mec1_busy: bool = 0[0:0];
    /// Whether the second micro engine is busy.
    mec2_busy: bool = 0[1:1];
    /// Whether the first dispatch controller is busy.
    dc0_busy: bool = 0[2:2];
    /// Whether the second dispatch controller is busy.
    dc1_busy: bool = 0[3:3];
    /// Whether the first register interface is busy.
    rciu1_busy: bool = 0[4:4];
    /// Whether the second register interface is busy.
    rciu2_busy: bool = 0[5:5];
    /// Whether the first reorder queue is busy.
    roq1_busy: bool = 0[6:6];
    /// Whether the second reorder queue is busy.
    roq2_busy: bool = 0[7:7];
    /// Whether the interface to L2 is busy.
    tciu_busy: bool = 0[10:10];
    /// Whether scratch memory is busy.
    scratch_ram_busy: bool = 0[11:11];
    /// Whether the query unit is busy.
    qu_busy: bool = 0[12:12];
    /// Whether the interface to translations is busy.
    utcl2iu_busy: bool = 0[13:13];
    /// Whether saving and restoring is busy.
    save_restore_busy: bool = 0[14:14];
    /// Whether the interface for cache requests is busy.
    gcriu_busy: bool = 0[15:15] in GFX10_ON;
    /// Whether the scheduler is busy.
    mes_busy: bool = 0[16:16] in GFX10_ON;
    /// Whether the scheduler's scratch memory is busy.
    mes_scratch_ram_busy: bool = 0[17:17] in GFX10_ON;
    /// Whether the third register interface is busy.
    rciu3_busy: bool = 0[18:18] in GFX10_ON;
    /// Whether the scheduler's instruction cache is busy.
    mes_instruction_cache_busy: bool = 0[19:19] in GFX10_ON;
    /// Whether the scheduler's data cache is busy.
    mes_data_cache_busy: bool = 0[20:20] in GFX11_ON;
    /// Whether the micro engines' data cache is busy.
    mec_data_cache_busy: bool = 0[21:21] in GFX11_ON;
    /// Whether what the graphics part asked for is busy.
    cpg_cpc_busy: bool = 0[29:29];
    /// Whether what the fetcher asked for is busy.
    cpf_cpc_busy: bool = 0[30:30];
    /// Whether any of it is busy.
    cpc_busy: bool = 0[31:31];
}

register! {
    /// What the micro engines are busy with.
    pub struct CpCpcBusyStat: "CP_CPC_BUSY_STAT"
        at 0x2085 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the first micro engine is busy with loads.
    mec1_load_busy: bool = 0[0:0];
    /// Whether the first micro engine is busy with semaphores; the headers to gfx10.3 have the name
    /// misspelled.
    mec1_semaphore_busy: bool = 0[1:1] as mec1_semapohre_busy in BEFORE_GFX11, 0[1:1] in GFX11;
    /// Whether the first micro engine is busy with mutexes.
    mec1_mutex_busy: bool = 0[2:2];
    /// Whether the first micro engine is busy with messages.
    mec1_message_busy: bool = 0[3:3];
    /// Whether the first micro engine is busy with end-of-pipe events.
    mec1_eop_queue_busy: bool = 0[4:4];
    /// Whether the first micro engine is busy with the interrupt queue.
    mec1_iq_queue_busy: bool = 0[5:5];
    /// Whether the first micro engine is busy with indirect buffers.
    mec1_ib_queue_busy: bool = 0[6:6];
    /// Whether the first micro engine is busy with accesses to L2.
    mec1_tc_busy: bool = 0[7:7];
    /// Whether the first micro engine is busy with copies.
    mec1_dma_busy: bool = 0[8:8];
    /// Whether the first micro engine is busy with partial flushes.
    mec1_partial_flush_busy: bool = 0[9:9];
    /// Whether pipe 0 of the first micro engine is busy.
    mec1_pipe0_busy: bool = 0[10:10];
    /// Whether pipe 1 of the first micro engine is busy.
    mec1_pipe1_busy: bool = 0[11:11];
    /// Whether pipe 2 of the first micro engine is busy.
    mec1_pipe2_busy: bool = 0[12:12];
    /// Whether pipe 3 of the first micro engine is busy.
    mec1_pipe3_busy: bool = 0[13:13];
    /// Whether the second micro engine is busy with loads.
    mec2_load_busy: bool = 0[16:16];
    /// Whether the second micro engine is busy with semaphores; the headers to gfx10.3 have the
    /// name misspelled.
    mec2_semaphore_busy: bool = 0[17:17] as mec2_semapohre_busy in BEFORE_GFX11, 0[17:17] in GFX11;
    /// Whether the second micro engine is busy with mutexes.
    mec2_mutex_busy: bool = 0[18:18];
    /// Whether the second micro engine is busy with messages.
    mec2_message_busy: bool = 0[19:19];
    /// Whether the second micro engine is busy with end-of-pipe events.
    mec2_eop_queue_busy: bool = 0[20:20];
    /// Whether the second micro engine is busy with the interrupt queue.
    mec2_iq_queue_busy: bool = 0[21:21];
    /// Whether the second micro engine is busy with indirect buffers.
    mec2_ib_queue_busy: bool = 0[22:22];
    /// Whether the second micro engine is busy with accesses to L2.
    mec2_tc_busy: bool = 0[23:23];
    /// Whether the second micro engine is busy with copies.
    mec2_dma_busy: bool = 0[24:24];
    /// Whether the second micro engine is busy with partial flushes.
    mec2_partial_flush_busy: bool = 0[25:25];
    /// Whether pipe 0 of the second micro engine is busy.
    mec2_pipe0_busy: bool = 0[26:26];
    /// Whether pipe 1 of the second micro engine is busy.
    mec2_pipe1_busy: bool = 0[27:27];
    /// Whether pipe 2 of the second micro engine is busy.
    mec2_pipe2_busy: bool = 0[28:28];
    /// Whether pipe 3 of the second micro engine is busy.
    mec2_pipe3_busy: bool = 0[29:29];
}

register! {
    /// What the scheduler is busy with.
    pub struct CpCpcBusyStat2: "CP_CPC_BUSY_STAT2"
        at 0x208a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the scheduler is busy with loads.
    mes_load_busy: bool = 0[0:0];
    /// Whether the scheduler is busy with mutexes.
    mes_mutex_busy: bool = 0[2:2];
    /// Whether the scheduler is busy with messages.
    mes_message_busy: bool = 0[3:3];
    /// Whether the scheduler is busy with accesses to L2.
    mes_tc_busy: bool = 0[7:7];
    /// Whether the scheduler is busy with copies.
    mes_dma_busy: bool = 0[8:8];
    /// Whether pipe 0 of the scheduler is busy.
    mes_pipe0_busy: bool = 0[10:10];
    /// Whether pipe 1 of the scheduler is busy.
    mes_pipe1_busy: bool = 0[11:11];
    /// Whether pipe 2 of the scheduler is busy.
    mes_pipe2_busy: bool = 0[12:12];
    /// Whether pipe 3 of the scheduler is busy.
    mes_pipe3_busy: bool = 0[13:13];
    /// Whether the data cache of pipe 0 of the scheduler is busy.
    mes_pipe0_dc_busy: bool = 0[14:14] in GFX12;
    /// Whether the data cache of pipe 1 of the scheduler is busy.
    mes_pipe1_dc_busy: bool = 0[15:15] in GFX12;
    /// Whether the data cache of pipe 2 of the scheduler is busy.
    mes_pipe2_dc_busy: bool = 0[16:16] in GFX12;
    /// Whether the data cache of pipe 3 of the scheduler is busy.
    mes_pipe3_dc_busy: bool = 0[17:17] in GFX12;
    /// Whether the data cache of pipe 0 of the micro engine is busy.
    mec1_pipe0_dc_busy: bool = 0[18:18] in GFX12;
    /// Whether the data cache of pipe 1 of the micro engine is busy.
    mec1_pipe1_dc_busy: bool = 0[19:19] in GFX12;
    /// Whether the data cache of pipe 2 of the micro engine is busy.
    mec1_pipe2_dc_busy: bool = 0[20:20] in GFX12;
    /// Whether the data cache of pipe 3 of the micro engine is busy.
    mec1_pipe3_dc_busy: bool = 0[21:21] in GFX12;
}

register! {
    /// What is waited for.
    pub struct CpCpcStalledStat1: "CP_CPC_STALLED_STAT1"
        at 0x2086 in ALL;
    source "Linux, amd/include/asic_reg/gc";
    /// Whether the register interface has no room.
    rciu_tx_free_stall: bool = 0[3:3];
    /// Whether a register was accessed that is privileged.
    rciu_priv_violation: bool = 0[4:4];
    /// Whether the interface to L2 has no room.
    tciu_tx_free_stall: bool = 0[6:6];
    /// Whether the interface to L2 waits for tags.
    tciu_waiting_on_tags: bool = 0[7:7] in GFX11_ON;
    /// Whether the first micro engine is decoding a packet.
    mec1_decoding_packet: bool = 0[8:8];
    /// Whether it waits for the register interface.
    mec1_wait_on_rciu: bool = 0[9:9];
    /// Whether it waits for a register to be read.
    mec1_wait_on_rciu_read: bool = 0[10:10];
    /// Whether it waits for packets to arrive.
    mec1_wait_on_roq_data: bool = 0[13:13];
    /// Whether the second micro engine is decoding a packet.
    mec2_decoding_packet: bool = 0[16:16];
    /// Whether it waits for the register interface.
    mec2_wait_on_rciu: bool = 0[17:17];
    /// Whether it waits for a register to be read.
    mec2_wait_on_rciu_read: bool = 0[18:18];
    /// Whether it waits for packets to arrive.
    mec2_wait_on_roq_data: bool = 0[21:21];
    /// Whether the interface to translations has no room.
    utcl2iu_waiting_on_free: bool = 0[22:22];
    /// Whether it waits for tags.
    utcl2iu_waiting_on_tags: bool = 0[23:23];
    /// Whether a translation is waited for.
    utcl1_waiting_on_trans: bool = 0[24:24];
    /// Whether the interface for cache requests has no room.
    gcriu_waiting_on_free: bool = 0[25:25] in GFX10_ON;
}
