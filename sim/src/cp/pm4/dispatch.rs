//! DISPATCH_DIRECT, DISPATCH_INDIRECT: from the COMPUTE_* registers to a launch.
//!
//! The command processor fills nothing in: LDS size, trap handler bit and privilege are what the packets wrote. It
//! looks at nothing either: what cannot be placed on a compute unit waits for ever.

use super::registers::Registers;
use super::{Context, Next, Operation};
use crate::cp::error::QueueError;
use crate::cp::hqd::{Halt, read_words};
use crate::cp::launch::{self, MAX_WORKGROUP, PRIVATE_APERTURE_HI, SHARED_APERTURE_HI, UNSET};
use crate::cp::overlap::Held;
use crate::profile::Gpu;
use crate::shader::{Launch, Xccs};
use ::pm4::Generation;
use ::pm4::packet::{DispatchDirect, DispatchIndirect};
use ::pm4::register::*;
use aql::descriptor::Rsrc2;
use aql::scratch::{TmpringSize, waves_are_per_shader_engine};

/// Registers that a dispatch loads into user SGPRs at most.
const USER_DATA: u32 = 16;

impl Operation for DispatchDirect {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        at.dispatch([self.dim_x, self.dim_y, self.dim_z], self.dispatch_initiator)
    }
}

impl Operation for DispatchIndirect {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let mut size = [0; 3];
        read_words(&mut at.hqd.memory, self.addr & !3, &mut size)?;
        at.dispatch(size, self.dispatch_initiator)
    }
}

/// Why there is no launch.
#[derive(Debug)]
enum Refusal {
    NotModelled(String),
    /// It fits nowhere.
    Stuck(QueueError),
}

impl From<String> for Refusal {
    fn from(what: String) -> Refusal {
        Refusal::NotModelled(what)
    }
}

impl From<&str> for Refusal {
    fn from(what: &str) -> Refusal {
        Refusal::NotModelled(what.to_owned())
    }
}

impl From<QueueError> for Refusal {
    fn from(error: QueueError) -> Refusal {
        Refusal::Stuck(error)
    }
}

impl Context<'_> {
    /// Runs a grid of that size with the registers as they are.
    fn dispatch(&mut self, size: [u32; 3], initiator: u32) -> Result<Next, Halt> {
        // The size is written to COMPUTE_DIM (PAL, gfx9ComputeCmdBuffer.cpp, `CmdDispatchOffset`).
        let first = ComputeDim::REGISTER.address_at(0, self.generation);
        for (address, size) in (first.unwrap_or_default()..).zip(size) {
            self.set(address, size)?;
        }
        if size.contains(&0) {
            return Ok(Next::Continue);
        }
        let state = State {
            gpu: &self.hqd.gpu,
            generation: self.generation,
            registers: &self.engine.registers,
            initiator: ComputeDispatchInitiator::decode_word(initiator, self.generation),
            xccs: self.engine.xccs,
        };
        let mut launch = match state.launch(size) {
            Ok(launch) => launch,
            Err(Refusal::NotModelled(what)) => return Err(self.not_modelled(what)),
            Err(Refusal::Stuck(error)) => return Err(Halt::Stuck(error)),
        };
        launch.trap_handler = self.hqd.configuration.trap_handler.get();
        if self.hqd.holds(&launch) {
            let packet = self.hqd.packet;
            self.hqd.hold(Held { launch, packet, fences: [false; 2], signal: 0 });
        } else {
            self.hqd.drain()?;
            self.hqd.dispatch(&launch)?;
        }
        Ok(Next::Continue)
    }
}

/// What a launch is made of.
#[derive(Debug)]
struct State<'a> {
    gpu: &'a Gpu,
    generation: Generation,
    registers: &'a Registers,
    initiator: ComputeDispatchInitiator,
    xccs: Xccs,
}

impl State<'_> {
    fn register(&self, register: &Register) -> u32 {
        self.registers.get(self.generation, register)
    }

    /// An address in units of 256 bytes, from the registers that have its low and high bits.
    fn address(&self, [low, high]: [&Register; 2]) -> u64 {
        let high = u64::from(self.register(high) & 0xff);
        (u64::from(self.register(low)) | high << 32) << 8
    }

    fn launch(&self, size: [u32; 3]) -> Result<Launch, Refusal> {
        self.check_initiator()?;
        let generation = self.generation;
        let (workgroup, partial) = self.workgroup()?;
        let (start, grid) = (self.start()?, self.grid(size, workgroup, partial)?);
        let lanes = if self.initiator.cs_w32_en { 32 } else { 64 };
        let rsrc1 = self.register(ComputePgmRsrc1::REGISTER);
        let rsrc2 = self.register(ComputePgmRsrc2::REGISTER);
        let fields = ComputePgmRsrc2::decode_word(rsrc2, generation);
        if fields.dynamic_vgpr {
            return Err("RSRC2.DYNAMIC_VGPR".into());
        }
        if u32::from(fields.user_sgpr) > USER_DATA {
            return Err(format!("{} user SGPRs", fields.user_sgpr).into());
        }
        let lds_bytes = u32::from(fields.lds_size) * Rsrc2::LDS_GRANULE;
        if lds_bytes > self.gpu.lds_bytes {
            let (got, limit) = (lds_bytes, self.gpu.lds_bytes);
            return Err(QueueError::GroupSegment { got, limit }.into());
        }
        let waves = workgroup.iter().product::<u32>().div_ceil(lanes);
        let waves_per_compute_unit =
            launch::waves_per_compute_unit(self.gpu, generation, rsrc1, lanes, waves)?;
        let tmpring = TmpringSize::decode(self.register(ComputeTmpringSize::REGISTER), generation);
        let engines =
            if waves_are_per_shader_engine(generation) { self.gpu.shader_engines } else { 1 };
        let scratch =
            [ComputeDispatchScratchBaseLo::REGISTER, ComputeDispatchScratchBaseHi::REGISTER];
        Ok(Launch {
            program: self.address([ComputePgmLo::REGISTER, ComputePgmHi::REGISTER]),
            rsrc1,
            rsrc2,
            rsrc3: self.register(ComputePgmRsrc3::REGISTER),
            wave32: self.initiator.cs_w32_en,
            user_data: self.user_data(),
            grid,
            start,
            workgroup,
            lds_bytes,
            waves_per_compute_unit,
            fill: UNSET,
            xccs: self.xccs,
            scratch_base: self.address(scratch),
            scratch_bytes_per_wave: tmpring.wave_bytes,
            scratch_waves: tmpring.waves * engines,
            shared_aperture_hi: SHARED_APERTURE_HI,
            private_aperture_hi: PRIVATE_APERTURE_HI,
            trap_handler: None,
        })
    }

    /// ORDER_MODE, tunneling, interleaving, walking to and fro and keeping the queue from being preempted change the
    /// order of workgroups or when they run.
    fn check_initiator(&self) -> Result<(), Refusal> {
        let initiator = &self.initiator;
        let what = if !initiator.compute_shader_en {
            "DISPATCH_INITIATOR without COMPUTE_SHADER_EN"
        } else if initiator.ordered_append_enbl || initiator.ordered_append_mode {
            "appending to GDS in order"
        } else if initiator.restore {
            "waves that go on from saved state"
        } else if initiator.amp_shader_en {
            "task shaders"
        } else {
            return Ok(());
        };
        Err(what.into())
    }

    /// Work-items of a workgroup, and of the last ones.
    fn workgroup(&self) -> Result<([u32; 3], [u32; 3]), Refusal> {
        let [x, y, z] =
            [ComputeNumThreadX::REGISTER, ComputeNumThreadY::REGISTER, ComputeNumThreadZ::REGISTER]
                .map(|register| self.register(register));
        let x = ComputeNumThreadX::decode_word(x, self.generation);
        let y = ComputeNumThreadY::decode_word(y, self.generation);
        let z = ComputeNumThreadZ::decode_word(z, self.generation);
        if x.interleave_bits_x != 0 || y.interleave_bits_y != 0 {
            return Err("work-items in two dimensions (INTERLEAVE_BITS)".into());
        }
        let full = [x.num_thread_full, y.num_thread_full, z.num_thread_full];
        let items =
            full.map(u32::from).iter().try_fold(1u32, |items, &size| items.checked_mul(size));
        match items {
            Some(1..=MAX_WORKGROUP) => {}
            _ => {
                let problem = "there must be 1 to 1024 work-items";
                return Err(QueueError::WorkgroupSize { workgroup: full, problem }.into());
            }
        }
        let last = [x.num_thread_partial, y.num_thread_partial, z.num_thread_partial];
        Ok((full.map(u32::from), last.map(u32::from)))
    }

    /// The first workgroup. What the size then counts is where the grid ends (PAL, gfx9ComputeCmdBuffer.cpp,
    /// `CmdDispatchOffset`), in workgroups; of work-items no source says it.
    fn start(&self) -> Result<[u32; 3], Refusal> {
        let start = |index| self.registers.of_row(self.generation, ComputeStart::REGISTER, index);
        let start = [0, 1, 2].map(start);
        if self.initiator.force_start_at_000 || start == [0; 3] {
            return Ok([0; 3]);
        }
        match self.initiator.use_thread_dimensions {
            true => Err("a grid in work-items that starts elsewhere than at its first".into()),
            false => Ok(start),
        }
    }

    /// Work-items of the grid, to its end.
    fn grid(&self, size: [u32; 3], full: [u32; 3], last: [u32; 3]) -> Result<[u32; 3], Refusal> {
        if self.initiator.use_thread_dimensions {
            return Ok(size);
        }
        let mut grid = [0; 3];
        for dimension in 0..3 {
            let (size, full) = (u64::from(size[dimension]), u64::from(full[dimension]));
            let last = match u64::from(last[dimension]) {
                _ if !self.initiator.partial_tg_en => full,
                last if (1..=full).contains(&last) => last,
                last => {
                    return Err(format!("last workgroups of {last} of {full} work-items").into());
                }
            };
            let items = (size - 1) * full + last;
            grid[dimension] = u32::try_from(items)
                .map_err(|_| format!("{items} work-items in a dimension of the grid"))?;
        }
        Ok(grid)
    }

    fn user_data(&self) -> [u32; 32] {
        let mut data = [UNSET; 32];
        for (index, sgpr) in (0..USER_DATA).zip(&mut data) {
            *sgpr = self.registers.of_row(self.generation, ComputeUserData::REGISTER, index);
        }
        data
    }
}
