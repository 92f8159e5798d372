//! Packets of the scheduler about queues: MAP_QUEUES, UNMAP_QUEUES, QUERY_STATUS.

use crate::generation::{Generation, generations};

crate::names! {
    /// Which engine the queues of MAP_QUEUES and UNMAP_QUEUES are of.
    pub struct EngineSelect(u8) {
        /// Compute.
        COMPUTE = 0,
        /// SDMA engine 0.
        SDMA0 = 2,
        /// SDMA engine 1.
        SDMA1 = 3,
    }
}

crate::names! {
    /// Where MAP_QUEUES puts queues.
    pub struct MapQueueSelect(u8) {
        /// Where the packet says.
        MAP_TO_SPECIFIED_QUEUE_SLOTS = 0,
        /// Where the firmware's scheduler likes.
        MAP_TO_HWS_DETERMINED_QUEUE_SLOTS = 1,
    }
}

crate::names! {
    /// What kind of queue MAP_QUEUES maps.
    pub struct MapQueueType(u8) {
        /// One that takes its turn.
        NORMAL_COMPUTE = 0,
        /// A debugger's.
        DEBUG_INTERFACE_QUEUE = 1,
        /// One that stays mapped.
        NORMAL_LATENCY_STATIC_QUEUE = 2,
        /// One that stays mapped and goes first.
        LOW_LATENCY_STATIC_QUEUE = 3,
    }
}

packet! {
    /// MAP_QUEUES: makes a queue runnable.
    pub struct MapQueues: "MAP_QUEUES" = 0xa2, 7 dwords in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_map_queues; nvd.h, soc15d.h, PACKET3_MAP_QUEUES";
    /// What counts SDMA engines: 0 `engine_sel`, 1 engines 0 to 7, 2 engines 8 to 15.
    extended_engine_sel: u8 = 1[3:2];
    /// Where it goes.
    queue_sel: MapQueueSelect = 1[5:4];
    /// VMID, when mapped by the kernel driver's queue.
    vmid: u8 = 1[11:8];
    /// Uses global wave sync.
    gws_control_queue: bool = 1[12:12];
    /// Slot in the pipe.
    queue: u8 = 1[15:13];
    /// Pipe in the micro-engine.
    pipe: u8 = 1[17:16];
    /// Micro-engine.
    me: u8 = 1[20:18];
    /// Its kind.
    queue_type: MapQueueType = 1[23:21];
    /// How slots are allocated: 0 each queue by itself, 1 all on a pipe.
    alloc_format: u8 = 1[25:24];
    /// Its engine.
    engine_sel: EngineSelect = 1[28:26];
    /// How many queues: 1.
    num_queues: u8 = 1[31:29];
    /// Does not check whether the queue may run.
    check_disable: bool = 2[1:1];
    /// Its doorbell, in dwords from the start of the doorbell aperture.
    doorbell_offset: u32 = 2[27:2];
    /// Address of its queue descriptor (MQD).
    mqd_addr: u64 = 3[31:0] as mqd_addr_lo | 4[31:0] << 32 as mqd_addr_hi;
    /// Address of its write pointer.
    wptr_addr: u64 = 5[31:0] as wptr_addr_lo | 6[31:0] << 32 as wptr_addr_hi;
}

crate::names! {
    /// What UNMAP_QUEUES does.
    pub struct UnmapAction(u8) {
        /// Preempts.
        PREEMPT_QUEUES = 0,
        /// Resets.
        RESET_QUEUES = 1,
        /// Keeps the queues of a process from running again.
        DISABLE_PROCESS_QUEUES = 2,
        /// Preempts and leaves mapped, for the kernel driver's queue.
        PREEMPT_QUEUES_NO_UNMAP = 3,
    }
}

crate::names! {
    /// Which queues UNMAP_QUEUES is about.
    pub struct UnmapQueueSelect(u8) {
        /// Those whose doorbells are given.
        PERFORM_REQUEST_ON_SPECIFIED_QUEUES = 0,
        /// Those of a process.
        PERFORM_REQUEST_ON_PASID_QUEUES = 1,
        /// All.
        UNMAP_ALL_QUEUES = 2,
        /// All but those that stay mapped.
        UNMAP_ALL_NON_STATIC_QUEUES = 3,
    }
}

packet! {
    /// UNMAP_QUEUES: stops queues, by doorbell.
    pub struct UnmapQueues: "UNMAP_QUEUES" = 0xa3, 6 dwords
        when queue_sel != [UnmapQueueSelect::PERFORM_REQUEST_ON_PASID_QUEUES] in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_unmap_queues; nvd.h, soc15d.h, PACKET3_UNMAP_QUEUES";
    /// What is done.
    action: UnmapAction = 1[1:0];
    /// What counts SDMA engines: 0 `engine_sel`, 1 engines 0 to 7.
    extended_engine_sel: u8 = 1[3:2];
    /// Which queues.
    queue_sel: UnmapQueueSelect = 1[5:4];
    /// Their engine.
    engine_sel: EngineSelect = 1[28:26];
    /// How many doorbells are given.
    num_queues: u8 = 1[31:29];
    /// First doorbell, in dwords from the start of the doorbell aperture.
    doorbell_offset0: u32 = 2[27:2];
    /// Second doorbell.
    doorbell_offset1: u32 = 3[27:2];
    /// Third doorbell.
    doorbell_offset2: u32 = 4[27:2];
    /// Fourth doorbell.
    doorbell_offset3: u32 = 5[27:2];
}

packet! {
    /// UNMAP_QUEUES: stops queues, by process.
    pub struct UnmapQueuesProcess: "UNMAP_QUEUES.process" = 0xa3, 6 dwords
        when queue_sel = [UnmapQueueSelect::PERFORM_REQUEST_ON_PASID_QUEUES] in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_unmap_queues; nvd.h, soc15d.h, PACKET3_UNMAP_QUEUES";
    /// What is done.
    action: UnmapAction = 1[1:0];
    /// What counts SDMA engines: 0 `engine_sel`, 1 engines 0 to 7.
    extended_engine_sel: u8 = 1[3:2];
    /// Which queues: [`UnmapQueueSelect::PERFORM_REQUEST_ON_PASID_QUEUES`].
    queue_sel: UnmapQueueSelect = 1[5:4];
    /// Their engine.
    engine_sel: EngineSelect = 1[28:26];
    /// Of no meaning here.
    num_queues: u8 = 1[31:29];
    /// The process.
    pasid: u16 = 2[15:0];
}

crate::names! {
    /// What QUERY_STATUS asks about.
    pub struct StatusSelect(u8) {
        /// Whether everything before it is done.
        COMPLETION_STATUS = 0,
        /// A process.
        PROCESS_STATUS = 1,
        /// A queue.
        QUEUE_STATUS = 2,
    }
}

crate::names! {
    /// How QUERY_STATUS answers.
    pub struct StatusCommand(u8) {
        /// Interrupts.
        INTERRUPT_ONLY = 0,
        /// Writes, at once.
        FENCE_ONLY_IMMEDIATE = 1,
        /// Writes, when earlier writes have arrived.
        FENCE_ONLY_AFTER_WRITE_ACK = 2,
        /// Writes and, when that has arrived, interrupts.
        FENCE_WAIT_FOR_WRITE_ACK_SEND_INTERRUPT = 3,
    }
}

crate::names! {
    /// Which engine QUERY_STATUS asks about.
    pub struct StatusEngine(u8) {
        /// Compute.
        COMPUTE = 0,
        /// SDMA engine 0.
        SDMA0_QUEUE = 2,
        /// SDMA engine 1.
        SDMA1_QUEUE = 3,
    }
}

packet! {
    /// QUERY_STATUS: a fence in the scheduler's queue, or a question about a queue.
    pub struct QueryStatus: "QUERY_STATUS" = 0xa4, 7 dwords
        when interrupt_sel != [StatusSelect::PROCESS_STATUS] in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_query_status; nvd.h, soc15d.h, PACKET3_QUERY_STATUS";
    /// What the interrupt carries.
    context_id: u32 = 1[27:0];
    /// What is asked about.
    interrupt_sel: StatusSelect = 1[29:28];
    /// How the answer comes.
    command: StatusCommand = 1[31:30];
    /// The queue's doorbell, in dwords from the start of the doorbell aperture.
    doorbell_offset: u32 = 2[27:2];
    /// The queue's engine.
    engine_sel: StatusEngine = 2[30:28];
    /// Where to write, a multiple of 8.
    addr: u64 = 3[31:0] as addr_lo | 4[31:0] << 32 as addr_hi;
    /// What to write.
    data: u64 = 5[31:0] as data_lo | 6[31:0] << 32 as data_hi;
}

packet! {
    /// QUERY_STATUS: a question about a process.
    pub struct QueryStatusProcess: "QUERY_STATUS.process" = 0xa4, 7 dwords
        when interrupt_sel = [StatusSelect::PROCESS_STATUS] in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_query_status; nvd.h, soc15d.h, PACKET3_QUERY_STATUS";
    /// What the interrupt carries.
    context_id: u32 = 1[27:0];
    /// What is asked about: [`StatusSelect::PROCESS_STATUS`].
    interrupt_sel: StatusSelect = 1[29:28];
    /// How the answer comes.
    command: StatusCommand = 1[31:30];
    /// The process.
    pasid: u16 = 2[15:0];
    /// Where to write, a multiple of 8.
    addr: u64 = 3[31:0] as addr_lo | 4[31:0] << 32 as addr_hi;
    /// What to write.
    data: u64 = 5[31:0] as data_lo | 6[31:0] << 32 as data_hi;
}
