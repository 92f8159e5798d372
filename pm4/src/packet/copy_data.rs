//! COPY_DATA: copies 32 or 64 bits.

use super::{CachePolicy, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// What COPY_DATA reads.
    pub struct CopySource(u8) {
        /// A register.
        MEM_MAPPED_REGISTER = 0,
        /// Memory, by the number that was memory around L2 on gfx9 (`memory` there).
        TC_L2_OBSOLETE = 1,
        /// Memory, through L2.
        TC_L2 = 2,
        /// Global data share; before gfx12.
        GDS = 3,
        /// A performance counter, a register as well.
        PERFCOUNTERS = 4,
        /// What is in the packet.
        IMMEDIATE_DATA = 5,
        /// What the atomic before it returned (ATOMIC_MEM).
        ATOMIC_RETURN_DATA = 6,
        /// What the atomic on GDS before it returned first; before gfx12.
        GDS_ATOMIC_RETURN_DATA0 = 7,
        /// What the atomic on GDS before it returned second; before gfx12.
        GDS_ATOMIC_RETURN_DATA1 = 8,
        /// The GPU's clock counter.
        GPU_CLOCK_COUNT = 9,
        /// The system's clock counter.
        SYSTEM_CLOCK_COUNT = 10,
    }
}

crate::names! {
    /// Where COPY_DATA writes.
    pub struct CopyDestination(u8) {
        /// A register.
        MEM_MAPPED_REGISTER = 0,
        /// Memory, through L2.
        TC_L2 = 2,
        /// Global data share; before gfx12.
        GDS = 3,
        /// A performance counter, a register as well.
        PERFCOUNTERS = 4,
        /// Memory, by the number that was memory around L2 on gfx9 (`memory` there).
        TC_L2_OBSOLETE = 5,
        /// A register of the display.
        MEM_MAPPED_REG_DC = 6,
    }
}

packet! {
    /// COPY_DATA to memory. Reading 32 bits near the end of a page also reads the next page: map that too, or
    /// read 64 bits.
    pub struct CopyData: "COPY_DATA" = 0x40, 6 dwords
        when dst_sel = [CopyDestination::TC_L2, CopyDestination::TC_L2_OBSOLETE] in generations::ALL;
    source "PAL, PM4_MEC_COPY_DATA";
    /// What is read.
    src_sel: CopySource = 1[3:0];
    /// Where to: [`CopyDestination::TC_L2`].
    dst_sel: CopyDestination = 1[11:8];
    /// L2 policy for reading.
    src_cache_policy: CachePolicy = 1[14:13] in generations::BEFORE_GFX12;
    /// Temporal hint for reading.
    src_temporal: Temporal = 1[14:13] in generations::GFX12;
    /// 64 bits rather than 32.
    count_sel: bool = 1[16:16];
    /// Whether to wait until the write has arrived.
    wr_confirm: bool = 1[20:20];
    /// Where registers are those of a virtual function; for the kernel driver.
    mode: bool = 1[21:21] in generations::GFX12;
    /// The die whose register it is; for the kernel driver.
    aid_id: u8 = 1[24:23] in generations::GFX12;
    /// L2 policy for writing.
    dst_cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint for writing.
    dst_temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Updates the execution phase of the queue; for firmware.
    pq_exe_status: bool = 1[29:29];
    /// By the source: an address in bytes, a multiple of what is copied; a register's address in dwords; data.
    src: u64 = 2[31:0] as imm_data | 3[31:0] << 32 as src_imm_data;
    /// Where to, a multiple of what is copied.
    dst_addr: u64 = 4[31:2] << 2 as dst_32b_addr_lo | 5[31:0] << 32 as dst_addr_hi;
}

impl CopyData {
    /// Copies a register of 32 bits to memory and waits until it has arrived.
    pub const fn register(register: u32, address: u64) -> CopyData {
        CopyData {
            src_sel: CopySource::MEM_MAPPED_REGISTER,
            dst_sel: CopyDestination::TC_L2,
            wr_confirm: true,
            src: register as u64,
            dst_addr: address,
            ..CopyData::ZERO
        }
    }

    /// Writes the GPU's clock counter, 64 bits, to memory and waits until it has arrived. It is the time at
    /// which the packet is executed, not that at which shaders before it end.
    pub const fn gpu_clock(address: u64) -> CopyData {
        CopyData {
            src_sel: CopySource::GPU_CLOCK_COUNT,
            dst_sel: CopyDestination::TC_L2,
            count_sel: true,
            wr_confirm: true,
            dst_addr: address,
            ..CopyData::ZERO
        }
    }
}

packet! {
    /// COPY_DATA to a register (or GDS).
    pub struct CopyDataRegister: "COPY_DATA.register" = 0x40, 6 dwords
        when dst_sel != [CopyDestination::TC_L2, CopyDestination::TC_L2_OBSOLETE] in generations::ALL;
    source "PAL, PM4_MEC_COPY_DATA";
    /// What is read.
    src_sel: CopySource = 1[3:0];
    /// Where to: not memory.
    dst_sel: CopyDestination = 1[11:8];
    /// L2 policy for reading.
    src_cache_policy: CachePolicy = 1[14:13] in generations::BEFORE_GFX12;
    /// Temporal hint for reading.
    src_temporal: Temporal = 1[14:13] in generations::GFX12;
    /// 64 bits, two registers, rather than 32.
    count_sel: bool = 1[16:16];
    /// Whether to wait until the write has arrived.
    wr_confirm: bool = 1[20:20];
    /// Where registers are those of a virtual function; for the kernel driver.
    mode: bool = 1[21:21] in generations::GFX12;
    /// The die whose register it is; for the kernel driver.
    aid_id: u8 = 1[24:23] in generations::GFX12;
    /// L2 policy for writing; of no meaning here.
    dst_cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint for writing; of no meaning here.
    dst_temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Updates the execution phase of the queue; for firmware.
    pq_exe_status: bool = 1[29:29];
    /// By the source: an address in bytes, a multiple of what is copied; a register's address in dwords; data.
    src: u64 = 2[31:0] as imm_data | 3[31:0] << 32 as src_imm_data;
    /// Address of the register, in dwords.
    dst_reg_offset: u64 = 4[17:0] in generations::BEFORE_GFX12,
        4[31:0] as dst_reg_offset_lo | 5[5:0] << 32 as dst_reg_offset_hi in generations::GFX12;
}
