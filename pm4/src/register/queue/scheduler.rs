//! CP_HQD_HQ_*: words of the scheduler's firmware for a hardware queue.

use crate::generation::Generation;
use crate::generation::generations::{BEFORE_GFX11, GFX9, GFX10_ON, GFX11_ON, GFX12};

register! {
    /// First word of the scheduler. AMD documents no more than the names, which are others from
    /// gfx11 on. KFD sets bit 14 on all hardware, so that the firmware sets up the dispatch
    /// pointer.
    pub struct CpHqdHqStatus0: "CP_HQD_HQ_STATUS0"
        at 0x3265 in GFX9, 0x3229 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc; meanings: kfd_mqd_manager_v9.c";
    /// How far unmapping is.
    dequeue_status: u8 = 0[1:0] in BEFORE_GFX11;
    /// How often it was tried.
    dequeue_retry_cnt: u8 = 0[3:2] in BEFORE_GFX11;
    /// Whether power gating is on.
    pg_activated: bool = 0[9:9] in BEFORE_GFX11;
    /// Whether waves are saved and restored.
    cwsr: bool = 0[0:0] in GFX11_ON;
    /// Whether they were saved.
    save_status: bool = 0[1:1] in GFX11_ON;
    /// Number of a queue that is mapped for good.
    static_queue: u8 = 0[5:3] in GFX11_ON;
    /// Whether the queue ran.
    queue_run_once: bool = 0[6:6] in GFX11_ON;
    /// Whether the command processor's memory for the queue is initialised.
    scratch_ram_init: bool = 0[7:7];
    /// Whether L2 may hold what the queue wrote.
    tcl2_dirty: bool = 0[8:8];
    /// Whether a child queue has its parent's VMID.
    c_inherit_vmid: bool = 0[9:9] in GFX11_ON;
    /// Who schedules the queue; values are not documented.
    queue_scheduler_type: u8 = 0[12:10] in GFX11_ON;
    /// Whether the queue uses global wave sync.
    c_queue_use_gws: bool = 0[13:13] in GFX11_ON;
    /// Whether the queue is debugged.
    c_queue_debug_en: bool = 0[14:14] in GFX12;
    /// Whether the queue is connected to its slot.
    queue_slot_connected: bool = 0[15:15] in GFX11_ON;
    /// Whether the scheduler gets interrupts for the queue.
    mes_interrupt_enabled: bool = 0[20:20] in GFX11_ON;
    /// Pipe of the scheduler that gets them.
    mes_interrupt_pipe: u8 = 0[22:21] in GFX11_ON;
    /// Number of processes that may run at a time.
    concurrent_process_count: u8 = 0[27:24] in GFX11_ON;
    /// Whether the queue is idle.
    queue_idle: bool = 0[30:30];
    /// Whether doorbells are reported by message.
    db_updated_msg_en: bool = 0[31:31];
}

register! {
    /// Another name of CP_HQD_HQ_STATUS0; to gfx10.3 the word as a whole.
    pub struct CpHqdHqScheduler0: "CP_HQD_HQ_SCHEDULER0"
        at 0x3265 in GFX9, 0x3229 in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The word.
    scheduler: u32 = 0[31:0] in BEFORE_GFX11;
    /// Whether waves are saved and restored.
    cwsr: bool = 0[0:0] in GFX11_ON;
    /// Whether they were saved.
    save_status: bool = 0[1:1] in GFX11_ON;
    /// Number of a queue that is mapped for good.
    static_queue: u8 = 0[5:3] in GFX11_ON;
    /// Whether the queue ran.
    queue_run_once: bool = 0[6:6] in GFX11_ON;
    /// Whether the command processor's memory for the queue is initialised.
    scratch_ram_init: bool = 0[7:7] in GFX11_ON;
    /// Whether L2 may hold what the queue wrote.
    tcl2_dirty: bool = 0[8:8] in GFX11_ON;
    /// Whether a child queue has its parent's VMID.
    c_inherit_vmid: bool = 0[9:9] in GFX11_ON;
    /// Who schedules the queue; values are not documented.
    queue_scheduler_type: u8 = 0[12:10] in GFX11_ON;
    /// Whether the queue uses global wave sync.
    c_queue_use_gws: bool = 0[13:13] in GFX11_ON;
    /// Whether the queue is debugged.
    c_queue_debug_en: bool = 0[14:14] in GFX12;
    /// Whether the queue is connected to its slot.
    queue_slot_connected: bool = 0[15:15] in GFX11_ON;
    /// Whether the scheduler gets interrupts for the queue.
    mes_interrupt_enabled: bool = 0[20:20] in GFX11_ON;
    /// Pipe of the scheduler that gets them.
    mes_interrupt_pipe: u8 = 0[22:21] in GFX11_ON;
    /// Number of processes that may run at a time.
    concurrent_process_count: u8 = 0[27:24] in GFX11_ON;
    /// Whether the queue is idle.
    queue_idle: bool = 0[30:30] in GFX11_ON;
    /// Whether doorbells are reported by message.
    db_updated_msg_en: bool = 0[31:31] in GFX11_ON;
}

register! {
    /// Second word of the scheduler about the queue.
    pub struct CpHqdHqStatus1: "CP_HQD_HQ_STATUS1"
        at 0x3268 in GFX9, 0x322c in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The word.
    status: u32 = 0[31:0];
}

register! {
    /// First word of control of the scheduler.
    pub struct CpHqdHqControl0: "CP_HQD_HQ_CONTROL0"
        at 0x3266 in GFX9, 0x322a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The word.
    control: u32 = 0[31:0];
}

register! {
    /// Another name of CP_HQD_HQ_CONTROL0.
    pub struct CpHqdHqScheduler1: "CP_HQD_HQ_SCHEDULER1"
        at 0x3266 in GFX9, 0x322a in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The word.
    scheduler: u32 = 0[31:0];
}

register! {
    /// Second word of control of the scheduler.
    pub struct CpHqdHqControl1: "CP_HQD_HQ_CONTROL1"
        at 0x3269 in GFX9, 0x322d in GFX10_ON;
    source "Linux, amd/include/asic_reg/gc";
    /// The word.
    control: u32 = 0[31:0];
}
