//! Global wave sync: barriers and semaphores among the waves of a queue (Vega ISA document, "DS_GWS_*"; where the number of
//! the resource comes from: LLVM, SIISelLowering.cpp, at DS_GWS_INIT).
//!
//! A queue has them once the driver has given it some (ALLOC_QUEUE_GWS). What waits is executed again until it need not.

use super::code::Op;
use super::scalar::mismatch;
use super::wave::{EXEC, Env, M0, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode};
use std::sync::{Mutex, PoisonError};

/// Resources of a process.
const RESOURCES: usize = 64;

/// A barrier or semaphore.
#[derive(Clone, Copy, Debug, Default)]
struct Resource {
    counter: u32,
    /// Changes with every completion of the barrier.
    flag: bool,
    /// Waves that wait for the semaphore.
    queued: u32,
}

/// The resources of a queue.
#[derive(Debug)]
pub struct GlobalWaveSync(Mutex<[Resource; RESOURCES]>);

impl Default for GlobalWaveSync {
    fn default() -> GlobalWaveSync {
        GlobalWaveSync(Mutex::new([Resource::default(); RESOURCES]))
    }
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    /// A barrier whose flag was this.
    Barrier(bool),
    Semaphore,
}

/// A DS_GWS operation.
pub(super) fn run(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Ds { addr, offset0, .. } = op.instruction.fields else { return mismatch(op) };
    let Some(sync) = env.outside.global_wave_sync() else {
        return Err(Stop::not_modelled("global wave sync of a queue that was given none"));
    };
    let number = (wave.sgpr(M0) >> 16).wrapping_add(u32::from(offset0)) as usize % RESOURCES;
    // Of the first lane that is on.
    let value = |wave: &Wave| {
        let lane = wave.mask(EXEC).trailing_zeros() as usize % 64;
        wave.row(addr.into(), lane / 32)[lane % 32]
    };
    let mut resources = sync.0.lock().unwrap_or_else(PoisonError::into_inner);
    let resource = &mut resources[number];
    match op.instruction.opcode {
        Opcode::DS_GWS_INIT => *resource = Resource { counter: value(wave), ..Resource::default() },
        Opcode::DS_GWS_SEMA_V => resource.counter += 1,
        Opcode::DS_GWS_SEMA_BR => {
            resource.counter = resource.counter.saturating_add(value(wave));
        }
        Opcode::DS_GWS_SEMA_RELEASE_ALL => resource.counter = resource.queued,
        Opcode::DS_GWS_SEMA_P if resource.counter > 0 => {
            resource.counter -= 1;
            if wave.queued.take().is_some() {
                resource.queued -= 1;
            }
        }
        Opcode::DS_GWS_SEMA_P => {
            if wave.queued.replace(Queued::Semaphore).is_none() {
                resource.queued += 1;
            }
            return again(wave, op);
        }
        Opcode::DS_GWS_BARRIER => match wave.queued {
            Some(Queued::Barrier(flag)) if flag != resource.flag => wave.queued = None,
            Some(_) => return again(wave, op),
            None if resource.counter == 0 => {
                resource.flag = !resource.flag;
                resource.counter = value(wave);
            }
            None => {
                resource.counter -= 1;
                wave.queued = Some(Queued::Barrier(resource.flag));
                return again(wave, op);
            }
        },
        _ => return mismatch(op),
    }
    Ok(())
}

/// The instruction is executed again, when others have had their turn.
fn again(wave: &mut Wave, op: &Op) -> Step {
    wave.pc -= u64::from(op.instruction.size);
    Err(Stop::Yield)
}
