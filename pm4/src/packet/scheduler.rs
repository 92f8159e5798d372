//! Packets of the kernel driver's queues (HIQ, KIQ), which map and unmap others.

use crate::generation::{Generation, generations};

/// gfx906, gfx908 and gfx10: what Linux sends MAP_PROCESS without the registers of a debugger to.
const PLAIN_PROCESS: crate::layout::Variants = generations::ALL.without(generations::GFX90A_ON);

crate::names! {
    /// What SET_RESOURCES makes of the queue it is in.
    pub struct ResourcesQueueType(u8) {
        /// The kernel driver's queue (KIQ).
        KERNEL_INTERFACE_QUEUE_KIQ = 0,
        /// The queue of a scheduler in firmware (HIQ).
        HSA_INTERFACE_QUEUE_HIQ = 1,
        /// A debugger's.
        HSA_DEBUG_INTERFACE_QUEUE = 4,
    }
}

packet! {
    /// SET_RESOURCES: what the firmware's scheduler may hand out.
    pub struct SetResources: "SET_RESOURCES" = 0xa0, 8 dwords in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_set_resources; nvd.h, soc15d.h, PACKET3_SET_RESOURCES";
    /// VMIDs, one bit each.
    vmid_mask: u16 = 1[15:0];
    /// How long queues are given to stop, in units of 100 ms.
    unmap_latency: u8 = 1[23:16];
    /// What the queue is.
    queue_type: ResourcesQueueType = 1[31:29];
    /// Hardware queues, one bit each.
    queue_mask: u64 = 2[31:0] as queue_mask_lo | 3[31:0] << 32 as queue_mask_hi;
    /// Global wave sync resources, one bit each.
    gws_mask: u64 = 4[31:0] as gws_mask_lo | 5[31:0] << 32 as gws_mask_hi;
    /// Ordered append counters, one bit each.
    oac_mask: u16 = 6[15:0];
    /// Start of the heap in GDS.
    gds_heap_base: u16 = 7[9:0];
    /// Length of the heap in GDS.
    gds_heap_size: u16 = 7[20:11];
}

packet! {
    /// RUN_LIST: the processes and queues to run, in an indirect buffer of MAP_PROCESS and MAP_QUEUES.
    pub struct RunList: "RUN_LIST" = 0xa5, 4 dwords in generations::ALL;
    source "kfd_pm4_headers_ai.h, pm4_mes_runlist";
    /// Address of the buffer, a multiple of 4.
    ib_base: u64 = 1[31:2] << 2 as ib_base_lo | 2[31:0] << 32 as ib_base_hi;
    /// Its length in dwords.
    ib_size: u32 = 3[19:0];
    /// The list starts over with another buffer.
    chain: bool = 3[20:20];
    /// Lets the queue be given up while it polls.
    offload_polling: bool = 3[21:21];
    /// Keeps the scheduler from changing lists when this one is idle.
    chained_runlist_idle_disable: bool = 3[22:22];
    /// Has to be set.
    valid: bool = 3[23:23];
    /// How many processes are run at a time.
    process_cnt: u8 = 3[27:24];
}

packet! {
    /// MAP_PROCESS: a process whose queues follow.
    pub struct MapProcess: "MAP_PROCESS" = 0xa1, 16 dwords in PLAIN_PROCESS;
    source "kfd_pm4_headers_ai.h, pm4_mes_map_process";
    /// The process's address space.
    pasid: u16 = 1[15:0];
    /// Wipes registers and LDS when the process is run.
    exec_cleaner_shader: bool = 1[17:17];
    /// VMID that a debugger wants for it.
    debug_vmid: u8 = 1[21:18];
    /// Uses `debug_vmid`.
    new_debug: bool = 1[22:22];
    /// Has a debugger's queue.
    diq_enable: bool = 1[24:24];
    /// How long it runs before the next one does, in units of 10 ms.
    process_quantum: u8 = 1[31:25];
    /// The page table's base register.
    vm_context_page_table_base_addr: u64 = 2[31:0] as vm_context_page_table_base_addr_lo32
        | 3[31:0] << 32 as vm_context_page_table_base_addr_hi32;
    /// Register SH_MEM_BASES.
    sh_mem_bases: u32 = 4[31:0];
    /// Register SH_MEM_CONFIG.
    sh_mem_config: u32 = 5[31:0];
    /// Address of the trap handler's code, in units of 256 bytes; bit 63 of it enables.
    sq_shader_tba: u64 = 6[31:0] as sq_shader_tba_lo | 7[31:0] << 32 as sq_shader_tba_hi;
    /// Address of the trap handler's memory, in units of 256 bytes.
    sq_shader_tma: u64 = 8[31:0] as sq_shader_tma_lo | 9[31:0] << 32 as sq_shader_tma_hi;
    /// Address of GDS for the process.
    gds_addr: u64 = 11[31:0] as gds_addr_lo | 12[31:0] << 32 as gds_addr_hi;
    /// Global wave sync resources.
    num_gws: u8 = 13[6:0];
    /// Has SDMA queues that are oversubscribed.
    sdma_enable: bool = 13[7:7];
    /// Ordered append counters.
    num_oac: u8 = 13[11:8];
    /// High bits of `gds_size`.
    gds_size_hi: u8 = 13[15:12];
    /// Length in GDS.
    gds_size: u8 = 13[21:16];
    /// How many MAP_QUEUES follow.
    num_queues: u16 = 13[31:22];
    /// Where to write when the process has been mapped.
    completion_signal: u64 = 14[31:0] as completion_signal_lo | 15[31:0] << 32 as completion_signal_hi;
}

packet! {
    /// MAP_PROCESS with the registers of a debugger for each process.
    pub struct MapProcessDebug: "MAP_PROCESS.debug" = 0xa1, 21 dwords in generations::GFX90A_ON;
    source "kfd_pm4_headers_aldebaran.h, pm4_mes_map_process_aldebaran";
    /// The process's address space.
    pasid: u16 = 1[15:0];
    /// One memory operation at a time, for precise faults.
    single_memops: bool = 1[16:16];
    /// Wipes registers and LDS when the process is run.
    exec_cleaner_shader: bool = 1[17:17];
    /// VMID that a debugger wants for it.
    debug_vmid: u8 = 1[21:18];
    /// Uses `debug_vmid`.
    new_debug: bool = 1[22:22];
    /// Runs in trusted memory.
    tmz: bool = 1[23:23];
    /// Has a debugger's queue.
    diq_enable: bool = 1[24:24];
    /// How long it runs before the next one does, in units of 10 ms.
    process_quantum: u8 = 1[31:25];
    /// The page table's base register.
    vm_context_page_table_base_addr: u64 = 2[31:0] as vm_context_page_table_base_addr_lo32
        | 3[31:0] << 32 as vm_context_page_table_base_addr_hi32;
    /// Register SH_MEM_BASES.
    sh_mem_bases: u32 = 4[31:0];
    /// Register SH_MEM_CONFIG.
    sh_mem_config: u32 = 5[31:0];
    /// Address of the trap handler's code, in units of 256 bytes; bit 63 of it enables.
    sq_shader_tba: u64 = 6[31:0] as sq_shader_tba_lo | 7[31:0] << 32 as sq_shader_tba_hi;
    /// Address of the trap handler's memory, in units of 256 bytes.
    sq_shader_tma: u64 = 8[31:0] as sq_shader_tma_lo | 9[31:0] << 32 as sq_shader_tma_hi;
    /// Address of GDS for the process.
    gds_addr: u64 = 11[31:0] as gds_addr_lo | 12[31:0] << 32 as gds_addr_hi;
    /// Global wave sync resources.
    num_gws: u8 = 13[6:0];
    /// Has SDMA queues that are oversubscribed.
    sdma_enable: bool = 13[7:7];
    /// Ordered append counters.
    num_oac: u8 = 13[11:8];
    /// High bits of `gds_size`.
    gds_size_hi: u8 = 13[15:12];
    /// Length in GDS.
    gds_size: u8 = 13[21:16];
    /// How many MAP_QUEUES follow.
    num_queues: u16 = 13[31:22];
    /// Register SPI_GDBG_PER_VMID_CNTL.
    spi_gdbg_per_vmid_cntl: u32 = 14[31:0];
    /// Register TCP_WATCH0_CNTL.
    tcp_watch_cntl_0: u32 = 15[31:0];
    /// Register TCP_WATCH1_CNTL.
    tcp_watch_cntl_1: u32 = 16[31:0];
    /// Register TCP_WATCH2_CNTL.
    tcp_watch_cntl_2: u32 = 17[31:0];
    /// Register TCP_WATCH3_CNTL.
    tcp_watch_cntl_3: u32 = 18[31:0];
    /// Where to write when the process has been mapped.
    completion_signal: u64 = 19[31:0] as completion_signal_lo | 20[31:0] << 32 as completion_signal_hi;
}

packet! {
    /// MAP_PROCESS_VM: the address range of a process.
    pub struct MapProcessVm: "MAP_PROCESS_VM" = 0xa6, 16 dwords in generations::ALL;
    source "kfd_pm4_headers_ai.h, PM4_MES_MAP_PROCESS_VM";
    /// Register VM_CONTEXT_CNTL.
    vm_context_cntl: u32 = 2[31:0];
    /// Registers of the page table's last address.
    vm_context_page_table_end_addr: u64 = 4[31:0] as vm_context_page_table_end_addr_lo32
        | 5[31:0] << 32 as vm_context_page_table_end_addr_hi32;
    /// Registers of the page table's first address.
    vm_context_page_table_start_addr: u64 = 6[31:0] as vm_context_page_table_start_addr_lo32
        | 7[31:0] << 32 as vm_context_page_table_start_addr_hi32;
    /// Where to write when it is done.
    completion_signal: u64 = 14[31:0] as completion_signal_lo32 | 15[31:0] << 32 as completion_signal_hi32;
}
