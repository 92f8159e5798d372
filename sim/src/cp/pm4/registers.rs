//! Registers that packets write and read.
//!
//! What a register does is looked up by name ([`Kind`]). One that would change what a program sees and is not
//! modelled is refused when it is written, not when it would matter.

use ::pm4::register::{self, Register};
use ::pm4::{Generation, RegisterWrite};
use std::collections::BTreeMap;

/// BIF_BX_PF0_GPU_HDP_FLUSH_REQ and DONE in dwords: 0x106 and 0x107 from 0xd20, the NBIO's segment 2 (Linux,
/// nbio_{4_3_0,7_2_0,7_7_0,7_9_0}_offset.h, nbif_6_3_1_offset.h, and of nbio_7_11_0_offset.h those of PF1;
/// `NBIO_BASE__INST0_SEG2` of *_ip_offset.h; tinygrad, ops_amd.py, `memory_barrier`). What is requested is done at
/// once: host and device share memory here.
const HDP_FLUSH_REQUEST: u32 = 0xe26;
const HDP_FLUSH_DONE: u32 = 0xe27;

/// What a register is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A dispatch looks at it.
    Dispatch,
    /// It says where and how fast, or is a note to others: no result depends on it.
    Placement,
    /// It is for something that is not modelled, zero being "off".
    Off,
}

/// What COMPUTE_* and GRBM_GFX_INDEX are for, by AMD's name of the first of a row.
fn kind(register: &Register) -> Option<Kind> {
    Some(match register.layout.name {
        "COMPUTE_DIM_X"
        | "COMPUTE_START_X"
        | "COMPUTE_NUM_THREAD_X"
        | "COMPUTE_NUM_THREAD_Y"
        | "COMPUTE_NUM_THREAD_Z"
        | "COMPUTE_PGM_LO"
        | "COMPUTE_PGM_HI"
        | "COMPUTE_DISPATCH_SCRATCH_BASE_LO"
        | "COMPUTE_DISPATCH_SCRATCH_BASE_HI"
        | "COMPUTE_PGM_RSRC1"
        | "COMPUTE_PGM_RSRC2"
        | "COMPUTE_PGM_RSRC3"
        | "COMPUTE_TMPRING_SIZE"
        | "COMPUTE_USER_DATA_0" => Kind::Dispatch,
        "COMPUTE_RESOURCE_LIMITS"
        | "COMPUTE_STATIC_THREAD_MGMT_SE0"
        | "COMPUTE_DESTINATION_EN_SE0"
        | "COMPUTE_REQ_CTRL"
        | "COMPUTE_USER_ACCUM_0"
        | "COMPUTE_PREF_PRI_ACCUM_0"
        | "COMPUTE_SHADER_CHKSUM"
        | "COMPUTE_DISPATCH_INTERLEAVE"
        | "COMPUTE_DISPATCH_TUNNEL"
        | "COMPUTE_DISPATCH_PKT_ADDR_LO"
        | "COMPUTE_DISPATCH_PKT_ADDR_HI"
        | "COMPUTE_DISPATCH_ID"
        | "COMPUTE_THREADGROUP_ID"
        | "COMPUTE_TG_CHUNK_SIZE"
        | "COMPUTE_NOWHERE"
        | "GRBM_GFX_INDEX" => Kind::Placement,
        // COMPUTE_RESTART_X to Z: where a preempted dispatch would go on.
        name if name.starts_with("COMPUTE_") => Kind::Off,
        _ => return None,
    })
}

/// The registers of a queue, by address in dwords. What nothing has written is zero.
#[derive(Debug, Default)]
pub(super) struct Registers(BTreeMap<u32, u32>);

impl Registers {
    /// Writes one.
    ///
    /// # Errors
    /// What is not modelled.
    pub(super) fn write(
        &mut self,
        generation: Generation,
        address: u32,
        value: u32,
    ) -> Result<(), String> {
        if address == HDP_FLUSH_REQUEST {
            self.0.insert(HDP_FLUSH_DONE, value);
            self.0.insert(HDP_FLUSH_REQUEST, value);
            return Ok(());
        }
        let register = register::at(generation, address);
        match register.and_then(|(register, _)| kind(register)) {
            Some(Kind::Dispatch | Kind::Placement) => {}
            Some(Kind::Off) if value == 0 => {}
            _ => {
                let write = RegisterWrite { dword: 0, address, value, register };
                return Err(format!("register {write}"));
            }
        }
        self.0.insert(address, value);
        Ok(())
    }

    /// Reads one; `None` when it is none that is modelled, or one whose value at the start of the queue is not.
    pub(super) fn read(&self, generation: Generation, address: u32) -> Option<u32> {
        let written = self.0.get(&address).copied();
        let is_zero_at_first = || {
            let (register, _) = register::at(generation, address)?;
            (kind(register)? != Kind::Placement).then_some(0)
        };
        let is_flush = matches!(address, HDP_FLUSH_REQUEST | HDP_FLUSH_DONE);
        written.or_else(|| if is_flush { Some(0) } else { is_zero_at_first() })
    }

    /// A register of a generation that has it; else zero.
    pub(super) fn get(&self, generation: Generation, register: &Register) -> u32 {
        self.of_row(generation, register, 0)
    }

    /// Register `index` of a row.
    pub(super) fn of_row(&self, generation: Generation, register: &Register, index: u32) -> u32 {
        register.address_at(index, generation).map_or(0, |address| self.value(address))
    }

    fn value(&self, address: u32) -> u32 {
        self.0.get(&address).copied().unwrap_or(0)
    }
}
