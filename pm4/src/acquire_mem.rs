//! ACQUIRE_MEM: invalidates and writes back caches for an address range.
//!
//! It does not wait for shaders that run.
//!
//! | dword | gfx10 and later | gfx9 |
//! |---|---|---|
//! | 0 | header, opcode 0x58, 8 dwords | header, opcode 0x58, 7 dwords |
//! | 1 | engine selection and reserved bits | COHER_CNTL |
//! | 2 | COHER_SIZE: 39:8 of the size | the same |
//! | 3 | COHER_SIZE_HI 7:0: 47:40 of the size | the same |
//! | 4 | COHER_BASE_LO: 39:8 of the address | the same |
//! | 5 | COHER_BASE_HI 23:0: 63:40 of the address | the same |
//! | 6 | POLL_INTERVAL 15:0 | the same |
//! | 7 | GCR_CNTL 18:0 | |
//!
//! Source: nvd.h and soc15d.h, `PACKET3_ACQUIRE_MEM`; ROCR-Runtime, `amd_gpu_pm4.h` and
//! `GpuAgent::InvalidateCodeCaches`.

use crate::header::{DecodeError, Header};
use bitfield_struct::bitfield;
use core::fmt;

const OPCODE: u8 = 0x58;

/// GCR_CNTL of gfx10 and later (nvd.h, `PACKET3_ACQUIRE_MEM_GCR_CNTL_*`). On gfx12 GLM and GL1 are gone: leave
/// bits 4, 5 and 9 at 0 there.
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct CacheControl {
    /// GLI_INV: invalidate the instruction caches; 0 no, 1 all, 2 the range, 3 first and last line.
    #[bits(2)]
    pub gli_inv: u8,
    /// GL1_RANGE: 0 all, 2 the range, 3 first and last line.
    #[bits(2)]
    pub gl1_range: u8,
    /// GLM_WB: write metadata caches back.
    pub glm_wb: bool,
    /// GLM_INV: invalidate metadata caches.
    pub glm_inv: bool,
    /// GLK_WB: write the scalar caches back.
    pub glk_wb: bool,
    /// GLK_INV: invalidate the scalar caches.
    pub glk_inv: bool,
    /// GLV_INV: invalidate the vector L0 caches.
    pub glv_inv: bool,
    /// GL1_INV: invalidate the L1 caches.
    pub gl1_inv: bool,
    /// GL2_US: unshared lines of L2.
    pub gl2_us: bool,
    /// GL2_RANGE: 0 all, 1 volatile, 2 the range, 3 first and last line.
    #[bits(2)]
    pub gl2_range: u8,
    /// GL2_DISCARD: drop lines without writing them back.
    pub gl2_discard: bool,
    /// GL2_INV: invalidate L2.
    pub gl2_inv: bool,
    /// GL2_WB: write L2 back.
    pub gl2_wb: bool,
    /// SEQ: 0 all levels at once, 1 from the shader outwards, 2 inwards.
    #[bits(2)]
    pub seq: u8,
    /// RANGE_IS_PA: the range is of physical addresses.
    pub range_is_pa: bool,
    /// Must be zero.
    #[bits(13)]
    pub reserved: u16,
}

impl CacheControl {
    /// What has to be invalidated before code runs at an address where other bytes were: instruction,
    /// scalar and vector caches, L1 and L2 (ROCR-Runtime, `GpuAgent::InvalidateCodeCaches`).
    pub const NEW_CODE: CacheControl = CacheControl::new()
        .with_gli_inv(1)
        .with_glk_inv(true)
        .with_glv_inv(true)
        .with_gl1_inv(true)
        .with_gl2_inv(true);

    /// The same on gfx12, which has no L1 of this kind.
    pub const NEW_CODE_GFX12: CacheControl = CacheControl::NEW_CODE.with_gl1_inv(false);
}

/// COHER_CNTL of gfx9 (soc15d.h, `PACKET3_ACQUIRE_MEM_CP_COHER_CNTL_*`).
#[bitfield(u32)]
#[derive(PartialEq, Eq, Hash)]
pub struct CoherControl {
    /// Reserved.
    #[bits(3)]
    pub reserved0: u8,
    /// TC_NC_ACTION_ENA: act on non-coherent lines of L2 only.
    pub tc_nc_action: bool,
    /// TC_WC_ACTION_ENA: act on write-combined lines.
    pub tc_wc_action: bool,
    /// TC_INV_METADATA_ACTION_ENA: invalidate metadata.
    pub tc_inv_metadata_action: bool,
    /// Reserved.
    #[bits(9)]
    pub reserved1: u16,
    /// TCL1_VOL_ACTION_ENA: invalidate volatile lines of the vector L1 caches.
    pub tcl1_vol_action: bool,
    /// Reserved.
    #[bits(2)]
    pub reserved2: u8,
    /// TC_WB_ACTION_ENA: write L2 back.
    pub tc_wb_action: bool,
    /// Reserved.
    #[bits(3)]
    pub reserved3: u8,
    /// TCL1_ACTION_ENA: invalidate the vector L1 caches.
    pub tcl1_action: bool,
    /// TC_ACTION_ENA: invalidate L2.
    pub tc_action: bool,
    /// Reserved.
    pub reserved4: bool,
    /// CB_ACTION_ENA: colour caches.
    pub cb_action: bool,
    /// DB_ACTION_ENA: depth caches.
    pub db_action: bool,
    /// SH_KCACHE_ACTION_ENA: invalidate the scalar caches.
    pub sh_kcache_action: bool,
    /// SH_KCACHE_VOL_ACTION_ENA: invalidate their volatile lines.
    pub sh_kcache_vol_action: bool,
    /// SH_ICACHE_ACTION_ENA: invalidate the instruction caches.
    pub sh_icache_action: bool,
    /// SH_KCACHE_WB_ACTION_ENA: write the scalar caches back.
    pub sh_kcache_wb_action: bool,
    /// ENGINE_SEL: 0 the prefetch parser, 1 the micro engine; compute queues ignore it.
    pub engine_sel: bool,
}

impl CoherControl {
    /// As [`CacheControl::NEW_CODE`], on gfx9.
    pub const NEW_CODE: CoherControl = CoherControl::new()
        .with_sh_icache_action(true)
        .with_sh_kcache_action(true)
        .with_tc_action(true)
        .with_tc_wb_action(true);
}

/// The range of an ACQUIRE_MEM: dwords 2 to 5, in units of 256 bytes.
const EVERYTHING: (u64, u64) = (0, 0xff_ffff_ffff);

const fn range(base: u64, size: u64) -> [u32; 4] {
    [size as u32, (size >> 32) as u32, base as u32, (base >> 32) as u32]
}

/// ACQUIRE_MEM of gfx10 and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AcquireMem {
    /// Dword 1: engine selection, which compute queues ignore.
    pub engine: u32,
    /// First address in units of 256 bytes.
    pub base: u64,
    /// Length in units of 256 bytes.
    pub size: u64,
    /// Clocks between two looks at whether the caches are done.
    pub poll_interval: u32,
    /// What to do.
    pub control: CacheControl,
}

impl AcquireMem {
    /// Acts on all addresses.
    pub const fn everywhere(control: CacheControl) -> AcquireMem {
        let (base, size) = EVERYTHING;
        AcquireMem { engine: 0, base, size, poll_interval: 0, control }
    }

    /// The packet.
    pub const fn encode(&self) -> [u32; 8] {
        let [size, size_hi, base, base_hi] = range(self.base, self.size);
        let header = Header::new(OPCODE, 8).0;
        let control = self.control.into_bits();
        [header, self.engine, size, size_hi, base, base_hi, self.poll_interval, control]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header is another's.
    pub const fn decode(words: &[u32; 8]) -> Result<AcquireMem, DecodeError> {
        let [header, engine, size, size_hi, base, base_hi, poll_interval, control] = *words;
        if let Err(error) = Header(header).check(Header::new(OPCODE, 8)) {
            return Err(error);
        }
        Ok(AcquireMem {
            engine,
            base: base as u64 | (base_hi as u64) << 32,
            size: size as u64 | (size_hi as u64) << 32,
            poll_interval,
            control: CacheControl::from_bits(control),
        })
    }
}

impl fmt::Display for AcquireMem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ACQUIRE_MEM {:#x}+{:#x} (256 bytes): {:?}", self.base, self.size, self.control)
    }
}

/// ACQUIRE_MEM of gfx9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AcquireMemGfx9 {
    /// What to do.
    pub control: CoherControl,
    /// First address in units of 256 bytes.
    pub base: u64,
    /// Length in units of 256 bytes.
    pub size: u64,
    /// Clocks between two looks at whether the caches are done.
    pub poll_interval: u32,
}

impl AcquireMemGfx9 {
    /// Acts on all addresses.
    pub const fn everywhere(control: CoherControl) -> AcquireMemGfx9 {
        let (base, size) = EVERYTHING;
        AcquireMemGfx9 { control, base, size, poll_interval: 0 }
    }

    /// The packet.
    pub const fn encode(&self) -> [u32; 7] {
        let [size, size_hi, base, base_hi] = range(self.base, self.size);
        let header = Header::new(OPCODE, 7).0;
        [header, self.control.into_bits(), size, size_hi, base, base_hi, self.poll_interval]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header is another's.
    pub const fn decode(words: &[u32; 7]) -> Result<AcquireMemGfx9, DecodeError> {
        let [header, control, size, size_hi, base, base_hi, poll_interval] = *words;
        if let Err(error) = Header(header).check(Header::new(OPCODE, 7)) {
            return Err(error);
        }
        Ok(AcquireMemGfx9 {
            control: CoherControl::from_bits(control),
            base: base as u64 | (base_hi as u64) << 32,
            size: size as u64 | (size_hi as u64) << 32,
            poll_interval,
        })
    }
}

impl fmt::Display for AcquireMemGfx9 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ACQUIRE_MEM {:#x}+{:#x} (256 bytes): {:?}", self.base, self.size, self.control)
    }
}
