//! EVENT_WRITE: tells the pipeline something; and the events.

use crate::generation::{Generation, generations};

crate::names! {
    /// Events of the pipeline, those that have one meaning in all generations.
    pub struct EventType(u8) {
        /// Writes caches of the graphics pipeline back, then a timestamp.
        CACHE_FLUSH_TS = 0x04,
        /// A graphics context is done.
        CONTEXT_DONE = 0x05,
        /// Writes caches of the graphics pipeline back.
        CACHE_FLUSH = 0x06,
        /// Waits until compute shaders before it have ended.
        CS_PARTIAL_FLUSH = 0x07,
        /// Waits until vertex shaders before it have ended.
        VS_PARTIAL_FLUSH = 0x0f,
        /// Waits until pixel shaders before it have ended.
        PS_PARTIAL_FLUSH = 0x10,
        /// Writes caches of the graphics pipeline back and invalidates them, then a timestamp: the usual end of
        /// pipe.
        CACHE_FLUSH_AND_INV_TS_EVENT = 0x14,
        /// Writes caches of the graphics pipeline back and invalidates them.
        CACHE_FLUSH_AND_INV_EVENT = 0x16,
        /// Starts performance counters.
        PERFCOUNTER_START = 0x17,
        /// Stops performance counters.
        PERFCOUNTER_STOP = 0x18,
        /// Starts pipeline statistics.
        PIPELINESTAT_START = 0x19,
        /// Stops pipeline statistics.
        PIPELINESTAT_STOP = 0x1a,
        /// Samples performance counters.
        PERFCOUNTER_SAMPLE = 0x1b,
        /// Writes pipeline statistics to memory.
        SAMPLE_PIPELINESTAT = 0x1e,
        /// A compute context is done.
        CS_CONTEXT_DONE = 0x23,
        /// All work before it has ended, then a timestamp; touches no cache by itself.
        BOTTOM_OF_PIPE_TS = 0x28,
        /// Compute shaders before it have ended.
        CS_DONE = 0x2f,
        /// Pixel shaders before it have ended.
        PS_DONE = 0x30,
        /// Starts a thread trace.
        THREAD_TRACE_START = 0x33,
        /// Stops a thread trace.
        THREAD_TRACE_STOP = 0x34,
        /// Puts a marker into a thread trace.
        THREAD_TRACE_MARKER = 0x35,
        /// Finishes a thread trace: what is in flight goes to memory.
        THREAD_TRACE_FINISH = 0x37,
    }
}

crate::names! {
    /// What kind of event EVENT_WRITE tells; has to go with the event.
    pub struct EventIndex(u8) {
        /// One without data.
        OTHER = 0,
        /// Pipeline statistics, which are written to an address.
        SAMPLE_PIPELINESTAT = 2,
        /// Waiting for shaders.
        CS_PARTIAL_FLUSH = 4,
    }
}

packet! {
    /// EVENT_WRITE: an event that writes nothing.
    pub struct EventWrite: "EVENT_WRITE" = 0x46, 2 dwords in generations::ALL;
    source "PAL, PM4_MEC_EVENT_WRITE";
    /// The event.
    event_type: EventType = 1[5:0];
    /// Its kind.
    event_index: EventIndex = 1[11:8];
    /// How pipeline statistics count: 0 as before gfx11.
    samp_plst_cntr_mode: u8 = 1[30:29] in generations::GFX11_ON;
    /// Lets the queue be given up while it waits.
    offload_enable: bool = 1[31:31];
}

impl EventWrite {
    /// Waits until all shaders before it have ended. It keeps the queue from being preempted while it waits,
    /// and old firmware of gfx10 hangs on it; see [`wait_for_shaders`](crate::sequence::wait_for_shaders).
    pub const CS_PARTIAL_FLUSH: EventWrite = EventWrite {
        event_type: EventType::CS_PARTIAL_FLUSH,
        event_index: EventIndex::CS_PARTIAL_FLUSH,
        ..EventWrite::ZERO
    };
}

packet! {
    /// EVENT_WRITE: an event that writes to memory.
    pub struct EventWriteAddress: "EVENT_WRITE.address" = 0x46, 4 dwords in generations::ALL;
    source "PAL, PM4_MEC_EVENT_WRITE";
    /// The event.
    event_type: EventType = 1[5:0];
    /// Its kind.
    event_index: EventIndex = 1[11:8];
    /// How pipeline statistics count: 0 as before gfx11.
    samp_plst_cntr_mode: u8 = 1[30:29] in generations::GFX11_ON;
    /// Lets the queue be given up while it waits.
    offload_enable: bool = 1[31:31];
    /// Where to write, a multiple of 8.
    address: u64 = 2[31:3] << 3 as address_lo | 3[31:0] << 32 as address_hi;
}
