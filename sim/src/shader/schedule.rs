//! Which wave runs when.
//!
//! A worker thread keeps workgroups resident, as many as its share of the compute units would hold, and gives
//! them time slices in turn, so that waves which wait for others by spinning do not wait for ever. New workgroups
//! start only when those resident have used up a slice: kernels that end soon run one after the other, with warm
//! caches.

use super::code::{Code, decode_at};
use super::launch::{Group, prepare};
use super::lds::Lds;
use super::vector::host_is_wide;
use super::wave::{Env, State, Stop, Wave};
use super::{Launch, Statistics, WaveFault, WaveFaultKind};
use crate::memory::{AddressSpace, View};
use crate::profile::Gpu;
use amdgpu_isa::Target;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Instructions a wave executes before another of its workgroup runs.
const WAVE_QUANTUM: u64 = 2048;
/// Instructions a workgroup executes before another one runs.
const GROUP_SLICE: u64 = 64 * 1024;
/// Waves that one compute unit holds: two SIMDs of 16 (RDNA3 ISA document, 2.1).
const WAVES_PER_COMPUTE_UNIT: u64 = 32;
/// LDS of one compute unit's share of a workgroup processor.
const LDS_PER_COMPUTE_UNIT: u64 = 64 * 1024;
/// Workgroups below which more threads cost more than they bring.
const GROUPS_PER_THREAD: u64 = 64;

/// What the workers of a dispatch share.
pub(super) struct Dispatch<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) target: Target,
    pub(super) launch: &'a Launch,
    pub(super) memory: &'a Arc<AddressSpace>,
    pub(super) stop: &'a AtomicBool,
    /// The next workgroup to start.
    next: AtomicU64,
    groups: u64,
    /// Workers stop when one of them faulted.
    failed: AtomicBool,
    fault: Mutex<Option<(u64, WaveFault)>>,
}

impl<'a> Dispatch<'a> {
    pub(super) fn new(
        gpu: &'a Gpu,
        target: Target,
        launch: &'a Launch,
        memory: &'a Arc<AddressSpace>,
        stop: &'a AtomicBool,
    ) -> Dispatch<'a> {
        Dispatch {
            gpu,
            target,
            launch,
            memory,
            stop,
            next: AtomicU64::new(0),
            groups: launch.workgroups().iter().product(),
            failed: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// Workgroups that the whole machine holds at once, at least one.
    fn residents(&self) -> u64 {
        let units = u64::from(self.gpu.compute_units.max(1));
        let waves = u64::from(self.launch.waves()).max(1);
        let by_waves = units * WAVES_PER_COMPUTE_UNIT / waves;
        let by_lds = match self.launch.lds_bytes {
            0 => u64::MAX,
            bytes => units * LDS_PER_COMPUTE_UNIT / u64::from(bytes),
        };
        let by_scratch = if self.launch.uses_scratch() {
            u64::from(self.launch.scratch_waves) / waves
        } else {
            u64::MAX
        };
        by_waves.min(by_lds).min(by_scratch).max(1)
    }

    /// Runs the dispatch on up to `threads` threads.
    pub(super) fn run(&self, threads: usize) -> Result<Statistics, WaveFault> {
        let launch = self.launch;
        if launch.uses_scratch() && launch.scratch_waves < launch.waves() {
            return Err(WaveFault::before_start(
                launch,
                format!(
                    "a workgroup of {} waves, but there is scratch for {} (COMPUTE_TMPRING_SIZE.WAVES)",
                    launch.waves(),
                    launch.scratch_waves
                ),
            ));
        }
        let residents = self.residents();
        let useful = (self.groups / GROUPS_PER_THREAD).clamp(1, residents);
        let threads = (threads as u64).clamp(1, useful);
        let share = residents / threads;
        let statistics = if threads == 1 {
            Worker::new(self, share, 0).run()
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads)
                    .map(|number| scope.spawn(move || Worker::new(self, share, number).run()))
                    .collect();
                let mut sum = Statistics::default();
                for worker in workers {
                    match worker.join() {
                        Ok(part) => {
                            sum.waves += part.waves;
                            sum.instructions += part.instructions;
                        }
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                sum
            })
        };
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        fault.map_or(Ok(statistics), |(_, fault)| Err(fault))
    }

    /// Keeps the fault of the lowest workgroup.
    fn fail(&self, number: u64, fault: WaveFault) {
        self.failed.store(true, Ordering::Relaxed);
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|(other, _)| number < *other) {
            *kept = Some((number, fault));
        }
    }
}

/// A workgroup on the machine.
struct Resident {
    number: u64,
    group: Group,
    waves: Vec<Wave>,
    lds: Lds,
    /// Scratch slots of its waves start here.
    slot: u64,
}

/// How a slice of a workgroup ended.
enum Slice {
    Finished,
    Unfinished,
    Failed,
}

/// One thread's part of a dispatch.
struct Worker<'a> {
    dispatch: &'a Dispatch<'a>,
    code: Code<'a>,
    memory: View,
    wide: bool,
    statistics: Statistics,
    /// How many workgroups may be resident.
    limit: u64,
    running: VecDeque<Resident>,
    /// Workgroups that ended, whose storage the next ones reuse.
    spare: Vec<Resident>,
    /// Scratch slots (in workgroups) not in use.
    slots: Vec<u64>,
}

impl<'a> Worker<'a> {
    fn new(dispatch: &'a Dispatch<'a>, limit: u64, number: u64) -> Worker<'a> {
        Worker {
            dispatch,
            code: Code::new(dispatch.target, dispatch.launch),
            memory: View::new(Arc::clone(dispatch.memory)),
            wide: host_is_wide(),
            statistics: Statistics::default(),
            limit,
            running: VecDeque::new(),
            spare: Vec::new(),
            slots: (number * limit..(number + 1) * limit).rev().collect(),
        }
    }

    fn run(mut self) -> Statistics {
        loop {
            let Some(mut resident) = self.next() else { return self.statistics };
            match self.slice(&mut resident) {
                Slice::Finished => {
                    self.slots.push(resident.slot);
                    self.spare.push(resident);
                }
                Slice::Unfinished => self.running.push_back(resident),
                Slice::Failed => return self.statistics,
            }
        }
    }

    /// A new workgroup while there is room, else the one that has waited longest.
    fn next(&mut self) -> Option<Resident> {
        if (self.running.len() as u64) < self.limit
            && let Some(fresh) = self.start()
        {
            return Some(fresh);
        }
        self.running.pop_front()
    }

    fn start(&mut self) -> Option<Resident> {
        let dispatch = self.dispatch;
        if dispatch.next.load(Ordering::Relaxed) >= dispatch.groups {
            return None;
        }
        let number = dispatch.next.fetch_add(1, Ordering::Relaxed);
        if number >= dispatch.groups {
            return None;
        }
        let slot = self.slots.pop()?;
        let launch = dispatch.launch;
        let group = Group::numbered(launch, number);
        let mut resident = self.spare.pop().unwrap_or_else(|| Resident {
            number,
            group,
            waves: Vec::new(),
            lds: Lds::default(),
            slot,
        });
        resident.number = number;
        resident.group = group;
        resident.slot = slot;
        resident.lds.reset(launch.lds_bytes);
        let waves = group.waves(launch);
        resident.waves.truncate(waves as usize);
        while resident.waves.len() < waves as usize {
            resident.waves.push(Wave::new(launch.wave32, launch.vgprs()));
        }
        let first = slot * u64::from(launch.waves());
        for (wave, id) in resident.waves.iter_mut().zip(0..) {
            let offset = (first + u64::from(id)) * u64::from(launch.scratch_bytes_per_wave);
            let scratch = launch.scratch_base.wrapping_add(offset);
            prepare(wave, launch, group, id, scratch);
        }
        self.statistics.waves += u64::from(waves);
        Some(resident)
    }

    /// Runs a workgroup for a time slice.
    fn slice(&mut self, resident: &mut Resident) -> Slice {
        let mut left = GROUP_SLICE;
        loop {
            let mut progress = false;
            for index in 0..resident.waves.len() {
                if resident.waves[index].state != State::Running {
                    continue;
                }
                if self.dispatch.stop.load(Ordering::Relaxed) {
                    let kind = WaveFaultKind::Killed;
                    self.fail(resident, index, resident.waves[index].pc, kind);
                    return Slice::Failed;
                }
                if self.dispatch.failed.load(Ordering::Relaxed) {
                    return Slice::Failed;
                }
                progress = true;
                let wave = &mut resident.waves[index];
                let before = wave.executed;
                let result = execute(
                    wave,
                    &mut self.code,
                    &mut Env {
                        memory: &mut self.memory,
                        lds: &mut resident.lds,
                        launch: self.dispatch.launch,
                        wide: self.wide,
                        invalidate_code: false,
                    },
                );
                let executed = wave.executed - before;
                self.statistics.instructions += executed;
                left = left.saturating_sub(executed.max(1));
                if let Err((pc, kind)) = result {
                    self.fail(resident, index, pc, *kind);
                    return Slice::Failed;
                }
            }
            if !progress {
                let waiting = resident.waves.iter_mut().filter(|w| w.state == State::AtBarrier);
                let released = waiting.map(|wave| wave.state = State::Running).count();
                if released == 0 {
                    return Slice::Finished;
                }
            }
            if left == 0 {
                return Slice::Unfinished;
            }
        }
    }

    #[cold]
    fn fail(&mut self, resident: &Resident, index: usize, pc: u64, kind: WaveFaultKind) {
        let instruction = decode_at(self.dispatch.target, pc, &mut self.memory).ok();
        let fault = WaveFault {
            kind,
            pc,
            instruction: instruction.map(|instruction| self.text(&instruction)),
            workgroup: resident.group.id,
            wave: resident.waves[index].id,
        };
        self.dispatch.fail(resident.number, fault);
    }

    /// The instruction in LLVM's spelling.
    fn text(&self, instruction: &amdgpu_isa::Instruction) -> String {
        let wave32 = self.dispatch.launch.wave32;
        amdgpu_isa::disassemble(instruction, self.dispatch.target, wave32).to_string()
    }
}

/// Runs a wave until its quantum ends, it waits, or it faults; then with the address of the instruction.
fn execute(
    wave: &mut Wave,
    code: &mut Code<'_>,
    env: &mut Env<'_>,
) -> Result<(), (u64, Box<WaveFaultKind>)> {
    let end = wave.executed + WAVE_QUANTUM;
    while wave.executed < end {
        let pc = wave.pc;
        let stop = match code.at(pc, env.memory) {
            Ok(op) => {
                wave.pc = pc + u64::from(op.instruction.size);
                wave.executed += 1;
                match (op.run)(wave, op, env) {
                    Ok(()) => {
                        if env.invalidate_code {
                            code.invalidate();
                            env.invalidate_code = false;
                        }
                        continue;
                    }
                    Err(stop) => stop,
                }
            }
            Err(stop) => stop,
        };
        return match stop {
            Stop::End | Stop::Barrier | Stop::Yield => Ok(()),
            Stop::Fault(kind) => Err((pc, kind)),
        };
    }
    Ok(())
}
