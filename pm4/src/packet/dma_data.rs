//! DMA_DATA: the command processor copies or fills memory by itself.

use super::{CachePolicy, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// What DMA_DATA reads.
    pub struct DmaSource(u8) {
        /// Memory, around L2, or a register, by `sas`.
        SRC_ADDR_USING_SAS = 0,
        /// Global data share; before gfx12.
        GDS = 1,
        /// The dword in the packet, again and again.
        DATA = 2,
        /// Memory, through L2.
        SRC_ADDR_USING_L2 = 3,
    }
}

crate::names! {
    /// Where DMA_DATA writes.
    pub struct DmaDestination(u8) {
        /// Memory, around L2, or a register, by `das`.
        DST_ADDR_USING_DAS = 0,
        /// Global data share; before gfx12.
        GDS = 1,
        /// Nowhere: the source is read into L2.
        DST_NOWHERE = 2,
        /// Memory, through L2.
        DST_ADDR_USING_L2 = 3,
    }
}

packet! {
    /// DMA_DATA: copies or fills memory, a few bytes a clock: for little data.
    pub struct DmaData: "DMA_DATA" = 0x50, 7 dwords in generations::ALL;
    source "PAL, PM4_MEC_DMA_DATA; nvd.h, soc15d.h, PACKET3_DMA_DATA";
    /// L2 policy for reading.
    src_cache_policy: CachePolicy = 1[14:13] in generations::BEFORE_GFX12;
    /// Temporal hint for reading.
    src_temporal: Temporal = 1[14:13] in generations::GFX12;
    /// Where to.
    dst_sel: DmaDestination = 1[21:20];
    /// L2 policy for writing.
    dst_cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint for writing.
    dst_temporal: Temporal = 1[26:25] in generations::GFX12;
    /// What is read.
    src_sel: DmaSource = 1[30:29];
    /// Address of the source in bytes, or the dword that memory is filled with.
    src: u64 = 2[31:0] as src_addr_lo_or_data | 3[31:0] << 32 as src_addr_hi;
    /// Address of the destination in bytes.
    dst_addr: u64 = 4[31:0] as dst_addr_lo | 5[31:0] << 32 as dst_addr_hi;
    /// How many bytes.
    byte_count: u32 = 6[25:0];
    /// The source is a register; compute queues know memory alone.
    sas: bool = 6[26:26];
    /// The destination is a register; compute queues know memory alone.
    das: bool = 6[27:27];
    /// The source address stays the same.
    saic: bool = 6[28:28];
    /// The destination address stays the same.
    daic: bool = 6[29:29];
    /// Waits for the writes of DMA_DATA before it, before it reads.
    raw_wait: bool = 6[30:30];
    /// Does not wait until the writes have arrived.
    dis_wc: bool = 6[31:31];
}

impl DmaData {
    /// Copies `bytes` bytes through L2.
    pub const fn copy(destination: u64, source: u64, bytes: u32) -> DmaData {
        DmaData {
            dst_sel: DmaDestination::DST_ADDR_USING_L2,
            src_sel: DmaSource::SRC_ADDR_USING_L2,
            src: source,
            dst_addr: destination,
            byte_count: bytes,
            ..DmaData::ZERO
        }
    }

    /// Fills `bytes` bytes, a multiple of 4, with a dword, through L2.
    pub const fn fill(destination: u64, dword: u32, bytes: u32) -> DmaData {
        DmaData {
            dst_sel: DmaDestination::DST_ADDR_USING_L2,
            src_sel: DmaSource::DATA,
            src: dword as u64,
            dst_addr: destination,
            byte_count: bytes,
            ..DmaData::ZERO
        }
    }
}

packet! {
    /// DMA_DATA_FILL_MULTI: fills several pieces of memory at equal distances with zeros.
    pub struct DmaDataFillMulti: "DMA_DATA_FILL_MULTI" = 0x9a, 7 dwords in generations::ALL;
    source "PAL, PM4_MEC_DMA_DATA_FILL_MULTI";
    /// Clears the memory log as well.
    memlog_clear: bool = 1[10:10];
    /// Where to: [`DmaDestination::DST_ADDR_USING_L2`].
    dst_sel: u8 = 1[21:20];
    /// L2 policy.
    dst_cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint.
    dst_temporal: Temporal = 1[26:25] in generations::GFX12;
    /// What with: [`DmaSource::DATA`].
    src_sel: u8 = 1[30:29];
    /// From one piece to the next, in bytes.
    byte_stride: u32 = 2[31:0];
    /// How many pieces.
    dma_count: u32 = 3[31:0];
    /// Address of the first piece.
    dst_addr: u64 = 4[31:0] as dst_addr_lo | 5[31:0] << 32 as dst_addr_hi;
    /// Length of a piece in bytes.
    byte_count: u32 = 6[25:0];
}
