//! Packets that write registers: SET_SH_REG and the like.

use super::check_dwords;
use crate::generation::{Generation, generations};
use crate::layout::FieldError;
use crate::register::{CONFIG_BASE, CONFIG_END, SH_BASE, SH_END, UCONFIG_BASE, UCONFIG_END};

crate::names! {
    /// What a register write does beside writing.
    pub struct RegisterIndex(u8) {
        /// Nothing.
        DEFAULT = 0,
        /// Puts the queue's VMID into the value, at the bit that `vmid_shift` says.
        INSERT_VMID = 1,
    }
}

crate::names! {
    /// What SET_SH_REG_INDEX does beside writing.
    pub struct ShRegisterIndex(u8) {
        /// Nothing.
        DEFAULT = 0,
        /// Puts the queue's VMID into the value, at the bit that `vmid_shift` says.
        INSERT_VMID = 1,
        /// Takes compute units away that the kernel driver withholds (CU mask registers).
        APPLY_KMD_CU_AND_MASK = 3,
    }
}

/// Offset of a register in a space that starts at `start`; one that no packet can say when it is not in
/// there, so that `check` refuses it.
#[inline(always)]
const fn offset(register: u32, start: u32, end: u32) -> u32 {
    if register >= start && register < end { register - start } else { u32::MAX }
}

macro_rules! of_registers {
    ($Name:ident, $start:expr, $end:expr) => {
        impl $Name {
            /// Address in dwords of the space's first register.
            pub const START: u32 = $start;

            /// Writes `count` registers, from the one whose address in dwords is `register`. When that is in
            /// another space the packet cannot be encoded; when `count` is zero or the last is behind the space the
            /// writer refuses it.
            #[inline(always)]
            pub const fn new(register: u32, count: u32) -> $Name {
                $Name {
                    dwords: count.wrapping_add(2),
                    reg_offset: offset(register, $start, $end),
                    ..$Name::ZERO
                }
            }

            /// Address in dwords of the first register.
            pub const fn register(&self) -> u32 {
                self.reg_offset.wrapping_add($start)
            }

            /// At least one register, none behind the end of the space.
            #[inline(always)]
            fn row(&self) -> Result<(), FieldError> {
                let left = ($end - $start).saturating_sub(self.reg_offset);
                if left == 0 {
                    return Err(FieldError::Range {
                        packet: $Name::LAYOUT.name,
                        field: "reg_offset",
                        value: self.reg_offset.into(),
                        min: 0,
                        max: u64::from($end - $start - 1),
                    });
                }
                check_dwords($Name::LAYOUT.name, self.dwords, 3, left.saturating_add(2).min(0x4001))
            }
        }
    };
}

packet! {
    /// SET_SH_REG: writes registers that follow one another, those of a shader's state. The values are the
    /// payload.
    pub struct SetShReg: "SET_SH_REG" = 0x76, 2 dwords + payload checked row in generations::ALL;
    source "PAL, PM4_MEC_SET_SH_REG; nvd.h, soc15d.h, PACKET3_SET_SH_REG";
    /// The first register, in dwords from 0x2c00.
    reg_offset: u32 = 1[15:0];
    /// Where the VMID goes.
    vmid_shift: u8 = 1[27:23];
    /// What else is done.
    index: RegisterIndex = 1[31:28];
}
of_registers!(SetShReg, SH_BASE, SH_END);

packet! {
    /// SET_SH_REG_INDEX: SET_SH_REG that can combine the value with one of the kernel driver's.
    pub struct SetShRegIndex: "SET_SH_REG_INDEX" = 0x9b, 2 dwords + payload checked row in generations::ALL;
    source "PAL, PM4_MEC_SET_SH_REG_INDEX";
    /// The first register, in dwords from 0x2c00.
    reg_offset: u32 = 1[15:0];
    /// Where the VMID goes.
    vmid_shift: u8 = 1[27:23];
    /// What else is done.
    index: ShRegisterIndex = 1[31:28];
}
of_registers!(SetShRegIndex, SH_BASE, SH_END);

packet! {
    /// SET_CONFIG_REG: writes configuration registers that follow one another. The values are the payload.
    pub struct SetConfigReg: "SET_CONFIG_REG" = 0x68, 2 dwords + payload checked row in generations::ALL;
    source "PAL, PM4_MEC_SET_CONFIG_REG; nvd.h, soc15d.h, PACKET3_SET_CONFIG_REG";
    /// The first register, in dwords from 0x2000.
    reg_offset: u32 = 1[15:0];
    /// Where the VMID goes.
    vmid_shift: u8 = 1[27:23];
    /// What else is done.
    index: RegisterIndex = 1[31:28];
}
of_registers!(SetConfigReg, CONFIG_BASE, CONFIG_END);

packet! {
    /// SET_UCONFIG_REG: writes registers that user queues may write (GRBM_GFX_INDEX, performance counters,
    /// thread trace) and that follow one another. The values are the payload.
    pub struct SetUconfigReg: "SET_UCONFIG_REG" = 0x79, 2 dwords + payload checked row in generations::ALL;
    source "PAL, PM4_MEC_SET_UCONFIG_REG; nvd.h, soc15d.h, PACKET3_SET_UCONFIG_REG";
    /// The first register, in dwords from 0xc000.
    reg_offset: u32 = 1[15:0];
}
of_registers!(SetUconfigReg, UCONFIG_BASE, UCONFIG_END);

packet! {
    /// SET_QUEUE_REG: writes registers of a queue; for the scheduler. The values are the payload.
    pub struct SetQueueReg: "SET_QUEUE_REG" = 0x78, 2 dwords + payload in generations::ALL;
    source "PAL, PM4_MEC_SET_QUEUE_REG";
    /// The first register, in dwords from the queue's first.
    reg_offset: u8 = 1[7:0];
    /// Does it when the queue is next connected.
    defer_exec: bool = 1[15:15];
    /// The queue.
    vqid: u16 = 1[25:16];
}

/// The lengths of the packets that set packed pairs: three dwords for each two registers.
macro_rules! of_packed {
    ($Name:ident, $most:literal) => {
        impl $Name {
            /// Writes `count` registers, an even number.
            #[inline(always)]
            pub const fn new(count: u16) -> $Name {
                $Name {
                    dwords: 2 + (count as u32).div_ceil(2) * 3,
                    reg_writes_count: count,
                    ..$Name::ZERO
                }
            }

            /// The number of registers is even and that of the dwords goes with it.
            #[inline(always)]
            fn packed(&self) -> Result<(), FieldError> {
                let (packet, count) = ($Name::LAYOUT.name, self.reg_writes_count);
                let (field, value) = ("reg_writes_count", u64::from(count));
                if count == 0 {
                    return Err(FieldError::Range { packet, field, value, min: 2, max: $most });
                }
                if count > $most || !count.is_multiple_of(2) {
                    return Err(FieldError::Unfit { packet, field, value, bits: $most, bias: 0 });
                }
                let needed = $Name::new(count).dwords;
                check_dwords(packet, self.dwords, needed, needed)
            }
        }
    };
}

packet! {
    /// SET_SH_REG_PAIRS_PACKED of gfx11: writes registers anywhere in the space of SET_SH_REG. The payload is,
    /// for each two registers, their offsets (15:0 and 31:16 of a dword) and two values.
    pub struct SetShRegPairsPacked: "SET_SH_REG_PAIRS_PACKED" = 0xbb, 2 dwords + payload checked packed in generations::GFX11;
    source "PAL, PM4_MEC_SET_SH_REG_PAIRS_PACKED";
    /// How many registers, an even number: repeat one where there is an odd one.
    reg_writes_count: u16 = 1[15:0];
}
of_packed!(SetShRegPairsPacked, 0x2aaa);

packet! {
    /// SET_SH_REG_PAIRS_PACKED of gfx12, where it has another opcode than on gfx11.
    pub struct SetShRegPairsPackedGfx12: "SET_SH_REG_PAIRS_PACKED.gfx12" = 0xbc, 2 dwords + payload checked packed in generations::GFX12;
    source "PAL, PM4_MEC_SET_SH_REG_PAIRS_PACKED of gfx12";
    /// How many registers, an even number: repeat one where there is an odd one.
    reg_writes_count: u16 = 1[15:0];
}
of_packed!(SetShRegPairsPackedGfx12, 0x2aaa);

packet! {
    /// SET_SH_REG_PAIRS_PACKED_N: the same for the few registers that fit the command processor's fast path (up
    /// to 14).
    pub struct SetShRegPairsPackedN: "SET_SH_REG_PAIRS_PACKED_N" = 0xbd, 2 dwords + payload checked packed in generations::GFX11_ON;
    source "PAL, PM4_MEC_SET_SH_REG_PAIRS_PACKED_N";
    /// How many registers, an even number.
    reg_writes_count: u16 = 1[15:0];
}
of_packed!(SetShRegPairsPackedN, 14);

packet! {
    /// SET_SH_REG_PAIRS: writes registers anywhere in the space of SET_SH_REG. The payload is an offset and a
    /// value for each.
    pub struct SetShRegPairs: "SET_SH_REG_PAIRS" = 0xba, 1 dwords + payload in generations::GFX12;
    source "PAL, PM4_MEC_SET_SH_REG_PAIRS of gfx12";
}

packet! {
    /// SET_UCONFIG_REG_PAIRS: writes registers anywhere in the space of SET_UCONFIG_REG. The payload is an
    /// offset and a value for each.
    pub struct SetUconfigRegPairs: "SET_UCONFIG_REG_PAIRS" = 0xbe, 1 dwords + payload in generations::GFX12;
    source "PAL, PM4_MEC_SET_UCONFIG_REG_PAIRS of gfx12";
}

packet! {
    /// LOAD_SH_REG_INDEX: writes registers with values from memory.
    pub struct LoadShRegIndex: "LOAD_SH_REG_INDEX" = 0x63, 5 dwords in generations::GFX103_ON;
    source "PAL, PM4_MEC_LOAD_SH_REG_INDEX; gfx9CmdUtil.cpp, BuildLoadShRegsIndex";
    /// 0: the values are at the address; 2: the address of the values is.
    index: u8 = 1[1:0];
    /// Address of the values, or of their address; a multiple of 4.
    mem_addr: u64 = 1[31:2] << 2 as mem_addr_lo | 2[31:0] << 32 as mem_addr_hi;
    /// The first register, in dwords from 0x2c00.
    reg_offset: u16 = 3[15:0];
    /// Memory holds offset and value of each register rather than values alone.
    data_format: bool = 3[31:31];
    /// How many registers are written: dwords that are read, or pairs of them with `data_format`.
    num_dwords: u16 = 4[13:0];
}

packet! {
    /// SET_BASE: sets an address that later packets count from.
    pub struct SetBase: "SET_BASE" = 0x11, 4 dwords in generations::GFX12;
    source "PAL, PM4_MEC_SET_BASE of gfx12";
    /// Which: 6 is that of EXECUTE_INDIRECT_V2.
    base_index: u8 = 1[3:0];
    /// The address, a multiple of 8.
    address: u64 = 2[31:3] << 3 as address_lo | 3[31:0] << 32 as address_hi;
}
