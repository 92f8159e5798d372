//! WRITE_DATA: writes dwords to memory or registers.

use super::{CachePolicy, Temporal};
use crate::generation::{Generation, generations};

crate::names! {
    /// Where WRITE_DATA writes.
    pub struct WriteDestination(u8) {
        /// Registers.
        MEM_MAPPED_REGISTER = 0,
        /// Memory, through L2.
        TC_L2 = 2,
        /// Global data share; before gfx12.
        GDS = 3,
        /// Memory.
        MEMORY = 5,
        /// Registers that the kernel driver keeps for a queue.
        MEMORY_MAPPED_ADC_PERSISTENT_STATE = 6,
    }
}

packet! {
    /// WRITE_DATA to memory: writes the payload.
    pub struct WriteData: "WRITE_DATA" = 0x37, 4 dwords + payload
        when dst_sel = [WriteDestination::TC_L2, WriteDestination::MEMORY] in generations::ALL;
    source "PAL, PM4_MEC_WRITE_DATA; nvd.h, soc15d.h, PACKET3_WRITE_DATA";
    /// Where to: [`WriteDestination::MEMORY`] or [`WriteDestination::TC_L2`].
    dst_sel: WriteDestination = 1[11:8];
    /// All dwords to the same address, rather than one after the other.
    addr_incr: bool = 1[16:16];
    /// Whether to wait until the write has arrived.
    wr_confirm: bool = 1[20:20];
    /// Where registers are those of a virtual function; for the kernel driver.
    mode: bool = 1[21:21] in generations::GFX12;
    /// The die whose register it is; for the kernel driver.
    aid_id: u8 = 1[24:23] in generations::GFX12;
    /// L2 policy.
    cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address of the first dword, a multiple of 4.
    dst_mem_addr: u64 = 2[31:2] << 2 as dst_mem_addr_lo | 3[31:0] << 32 as dst_mem_addr_hi;
}

impl WriteData {
    /// Writes `payload` dwords to memory from `address` on and waits until they have arrived.
    pub const fn memory(address: u64, payload: u32) -> WriteData {
        WriteData {
            dwords: payload.wrapping_add(4),
            dst_sel: WriteDestination::MEMORY,
            wr_confirm: true,
            dst_mem_addr: address,
            ..WriteData::ZERO
        }
    }
}

packet! {
    /// WRITE_DATA to registers (or GDS): writes the payload.
    pub struct WriteDataRegister: "WRITE_DATA.register" = 0x37, 4 dwords + payload
        when dst_sel != [WriteDestination::TC_L2, WriteDestination::MEMORY] in generations::ALL;
    source "PAL, PM4_MEC_WRITE_DATA; kfd_pm4_headers_ai.h, pm4_mec_write_data_mmio";
    /// Where to: not memory.
    dst_sel: WriteDestination = 1[11:8];
    /// All dwords to the same register, rather than one after the other.
    addr_incr: bool = 1[16:16];
    /// Whether to wait until the write has arrived.
    wr_confirm: bool = 1[20:20];
    /// Where registers are those of a virtual function; for the kernel driver.
    mode: bool = 1[21:21] in generations::GFX12;
    /// The die whose register it is; for the kernel driver.
    aid_id: u8 = 1[24:23] in generations::GFX12;
    /// L2 policy; of no meaning here.
    cache_policy: CachePolicy = 1[26:25] in generations::BEFORE_GFX12;
    /// Temporal hint; of no meaning here.
    temporal: Temporal = 1[26:25] in generations::GFX12;
    /// Address of the first register, in dwords.
    dst_mmreg_addr: u64 = 2[17:0] in generations::BEFORE_GFX12,
        2[31:0] as dst_mmreg_addr_lo | 3[5:0] << 32 as dst_mmreg_addr_hi in generations::GFX12;
}

impl WriteDataRegister {
    /// Writes `payload` registers, from the one whose address in dwords is `register`.
    pub const fn new(register: u32, payload: u32) -> WriteDataRegister {
        WriteDataRegister {
            dwords: payload.wrapping_add(4),
            dst_mmreg_addr: register as u64,
            ..WriteDataRegister::ZERO
        }
    }
}
