//! Small packets that order things.

use crate::generation::{Generation, generations};

packet! {
    /// REWIND: stops the queue from reading further until the packet, which is in memory, is made valid.
    pub struct Rewind: "REWIND" = 0x59, 2 dwords in generations::ALL;
    source "PAL, PM4_MEC_REWIND";
    /// Lets the queue be given up while it waits.
    offload_enable: bool = 1[24:24];
    /// Whether to go on.
    valid: bool = 1[31:31];
}

packet! {
    /// PFP_SYNC_ME: the prefetcher of graphics queues waits for the engine behind it. Compute queues have no
    /// prefetcher and no use for it.
    pub struct PfpSyncMe: "PFP_SYNC_ME" = 0x42, 2 dwords in generations::ALL;
    source "PAL, PM4_ME_PFP_SYNC_ME";
    /// Of no meaning.
    dummy_data: u32 = 1[31:0];
}

packet! {
    /// HDP_FLUSH: makes what the host wrote into device memory visible to the device.
    pub struct HdpFlush: "HDP_FLUSH" = 0x95, 2 dwords in generations::ALL;
    source "PAL, PM4_MEC_HDP_FLUSH";
    /// Of no meaning.
    dummy: u32 = 1[31:0];
}

crate::names! {
    /// What MEM_SEMAPHORE does.
    pub struct SemaphoreSelect(u8) {
        /// Signals.
        SIGNAL_SEMAPHORE = 6,
        /// Waits.
        WAIT_SEMAPHORE = 7,
    }
}

packet! {
    /// MEM_SEMAPHORE: signals or waits for a semaphore in memory.
    pub struct MemSemaphore: "MEM_SEMAPHORE" = 0x39, 4 dwords in generations::BEFORE_GFX11;
    source "PAL, PM4_MEC_MEM_SEMAPHORE; nvd.h, soc15d.h, PACKET3_SEM_*";
    /// Address of the semaphore, a multiple of 8.
    address: u64 = 1[31:3] << 3 as address_lo | 2[31:0] << 32 as address_hi;
    /// Waits until the other side's mailbox was written.
    use_mailbox: bool = 3[16:16];
    /// Signals by writing 1 rather than by adding 1.
    signal_type: bool = 3[20:20];
    /// Whether it signals or waits.
    sem_sel: SemaphoreSelect = 3[31:29];
}

packet! {
    /// RUN_CLEANER_SHADER: runs the kernel driver's shader that wipes registers and LDS between processes.
    pub struct RunCleanerShader: "RUN_CLEANER_SHADER" = 0xd2, 2 dwords in generations::GFX9;
    source "soc15d.h, PACKET3_RUN_CLEANER_SHADER";
}
