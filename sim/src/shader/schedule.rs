//! Which wave runs when.
//!
//! A worker thread keeps workgroups resident, as many as its share of the compute units would hold, and gives
//! them time slices in turn, so that waves which wait for others by spinning do not wait for ever. New workgroups
//! start only when those resident have used up a slice: kernels that end soon run one after the other, with warm
//! caches.

use super::barrier::Barriers;
use super::code::{Code, InstructionCache, decode_at};
use super::generation::Traits;
use super::host_float;
use super::indexed;
use super::inspect::{Inspection, Inspector, Subject, Watch};
use super::launch::{Group, prepare};
use super::lds::Lds;
use super::unit::ComputeUnit;
use super::vector::host_is_wide;
use super::wave::{Env, State, Stop, Wave};
use super::{Launch, Outside, Statistics, WaveFault, WaveFaultKind, Xccs, trap};
use crate::memory::{AddressSpace, View};
use crate::profile::Gpu;
use amdgpu_isa::Target;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Instructions a wave executes before another of its workgroup runs.
const WAVE_QUANTUM: u64 = 2048;
/// Instructions a workgroup executes before another one runs.
const GROUP_SLICE: u64 = 64 * 1024;
/// How often halted waves look whether they are killed.
const HALTED_LOOK: Duration = Duration::from_millis(1);
/// Workgroups below which more threads cost more than they bring.
const GROUPS_PER_THREAD: u64 = 64;

/// What the workers of a dispatch share.
pub(super) struct Dispatch<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) target: Target,
    traits: &'static Traits,
    pub(super) launch: &'a Launch,
    pub(super) memory: &'a Arc<AddressSpace>,
    instructions: &'a InstructionCache,
    pub(super) outside: &'a dyn Outside,
    inspection: &'a Inspection,
    /// Where workgroups may run on each XCC, if the queue has places.
    units: Vec<Vec<ComputeUnit>>,
    /// Of each logical XCC, how many of its workgroups have started.
    next: Vec<AtomicU64>,
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
        instructions: &'a InstructionCache,
        outside: &'a dyn Outside,
        inspection: &'a Inspection,
    ) -> Dispatch<'a> {
        Dispatch {
            gpu,
            target,
            traits: Traits::of(target),
            launch,
            memory,
            instructions,
            outside,
            inspection,
            units: ComputeUnit::by_xcc(&outside.compute_units(), gpu.xccs),
            next: (0..launch.xccs.count).map(|_| AtomicU64::new(0)).collect(),
            groups: launch.workgroups().iter().product(),
            failed: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// Workgroups that the XCCs of the dispatch hold at once, at least one each.
    fn residents(&self) -> u64 {
        let all = (self.gpu.compute_units / self.gpu.xccs.max(1)).max(1);
        let xccs = (0..self.launch.xccs.count).map(|xcc| self.launch.xccs.place(xcc) as usize);
        let allowed = xccs.filter_map(|xcc| self.units.get(xcc)).map(Vec::len).min();
        let units = allowed.map_or(u64::from(all), |allowed| allowed as u64);
        let waves = u64::from(self.launch.waves()).max(1);
        let by_waves = units * u64::from(self.launch.waves_per_compute_unit) / waves;
        let by_lds = match self.launch.lds_bytes {
            0 => u64::MAX,
            bytes => units * u64::from(self.gpu.lds_bytes) / u64::from(bytes),
        };
        let by_scratch = if self.launch.uses_scratch() {
            u64::from(self.launch.scratch_waves) / waves
        } else {
            u64::MAX
        };
        by_waves.min(by_lds).min(by_scratch).max(1) * u64::from(self.launch.xccs.count)
    }

    /// Runs the dispatch on up to `threads` threads.
    pub(super) fn run(&self, threads: usize) -> Result<Statistics, WaveFault> {
        let launch = self.launch;
        trap::events(self.traits, launch, launch.arithmetic_exceptions())
            .map_err(|reason| WaveFault::before_start(launch, reason))?;
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
        let threads = if self.inspection.looks() { 1 } else { threads };
        let useful = (self.groups / GROUPS_PER_THREAD).clamp(1, residents);
        let threads = (threads as u64).clamp(1, useful);
        let statistics = if threads == 1 {
            Worker::new(self, 0..residents).run()
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads)
                    .map(|number| {
                        let slots = share(residents, threads, number);
                        scope.spawn(move || {
                            host_float::reset();
                            Worker::new(self, slots).run()
                        })
                    })
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

/// The part of the `residents` workgroups that worker `number` of `threads` holds: together they hold all, as
/// kernels may count on it.
fn share(residents: u64, threads: u64, number: u64) -> Range<u64> {
    let (share, rest) = (residents / threads, residents % threads);
    let start = |number: u64| number * share + number.min(rest);
    start(number)..start(number + 1)
}

/// A workgroup on the machine.
struct Resident {
    number: u64,
    group: Group,
    waves: Vec<Wave>,
    lds: Lds,
    barriers: Barriers,
    /// Scratch slots of its waves start here.
    slot: u64,
}

/// How a slice of a workgroup ended.
enum Slice {
    Finished,
    Unfinished,
    /// All waves that have not ended are halted, or wait for one that is.
    Halted,
    Failed,
}

/// While it lives, this thread counts among those that run waves of the queue.
struct Present<'a>(&'a dyn Outside);

impl<'a> Present<'a> {
    fn new(outside: &'a dyn Outside) -> Present<'a> {
        outside.count_wave_threads(true);
        Present(outside)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.count_wave_threads(false);
    }
}

/// One thread's part of a dispatch.
struct Worker<'a> {
    dispatch: &'a Dispatch<'a>,
    code: Code<'a>,
    memory: View,
    wide: bool,
    inspector: Option<Inspector<'a>>,
    statistics: Statistics,
    /// How many workgroups may be resident.
    limit: u64,
    running: VecDeque<Resident>,
    /// Workgroups that stand still until they are killed.
    halted: Vec<Resident>,
    /// Workgroups that ended, whose storage the next ones reuse.
    spare: Vec<Resident>,
    /// Scratch slots (in workgroups of their XCC) not in use, by logical XCC.
    slots: Vec<Vec<u64>>,
}

impl<'a> Worker<'a> {
    /// A worker that holds as many workgroups as there are `slots`.
    fn new(dispatch: &'a Dispatch<'a>, slots: Range<u64>) -> Worker<'a> {
        Worker {
            dispatch,
            code: Code::new(dispatch.target, dispatch.launch, dispatch.instructions),
            memory: View::new(Arc::clone(dispatch.memory)),
            wide: host_is_wide(),
            inspector: dispatch.inspection.looks().then(|| {
                let Dispatch { target, launch, outside, .. } = *dispatch;
                Inspector::new(dispatch.inspection, Subject { target, launch, outside })
            }),
            statistics: Statistics::default(),
            limit: slots.end - slots.start,
            running: VecDeque::new(),
            halted: Vec::new(),
            spare: Vec::new(),
            slots: {
                let xccs = u64::from(dispatch.launch.xccs.count);
                let mut free = vec![Vec::new(); xccs as usize];
                for slot in slots.rev() {
                    free[(slot % xccs) as usize].push(slot / xccs);
                }
                free
            },
        }
    }

    /// Takes the next workgroup of an XCC that has a slot free, the lowest of these: its number and its slot.
    fn claim(&mut self) -> Option<(u64, u64)> {
        let dispatch = self.dispatch;
        let Xccs { count, only, .. } = dispatch.launch.xccs;
        loop {
            let of = |xcc: u32, started: u64| started * u64::from(count) + u64::from(xcc);
            let next = |xcc: u32| of(xcc, dispatch.next[xcc as usize].load(Ordering::Relaxed));
            let runs = |xcc: &u32| only.is_none_or(|only| only == *xcc);
            let free = (0..count).filter(|&xcc| !self.slots[xcc as usize].is_empty());
            let xcc = free.filter(runs).min_by_key(|&xcc| next(xcc))?;
            if next(xcc) >= dispatch.groups {
                return None;
            }
            let number = of(xcc, dispatch.next[xcc as usize].fetch_add(1, Ordering::Relaxed));
            // Another worker may have been faster.
            if number < dispatch.groups {
                return Some((number, self.slots[xcc as usize].pop()?));
            }
        }
    }

    fn run(mut self) -> Statistics {
        let _present = Present::new(self.dispatch.outside);
        loop {
            let Some(mut resident) = self.next() else {
                self.wait_for_the_halted();
                return self.statistics;
            };
            match self.slice(&mut resident) {
                Slice::Finished => {
                    if let Some(inspector) = &mut self.inspector {
                        inspector.group_ended(resident.number);
                    }
                    let xcc = resident.number % self.slots.len() as u64;
                    self.slots[xcc as usize].push(resident.slot);
                    self.spare.push(resident);
                }
                Slice::Unfinished => self.running.push_back(resident),
                Slice::Halted => self.halted.push(resident),
                Slice::Failed => return self.statistics,
            }
        }
    }

    /// Waits until the workgroups that stand still are killed.
    fn wait_for_the_halted(&mut self) {
        let Some(resident) = self.halted.pop() else { return };
        while !self.dispatch.failed.load(Ordering::Relaxed) {
            self.dispatch.outside.pause();
            if self.dispatch.outside.is_stopped() {
                let wave = resident.waves.iter().position(|wave| wave.state == State::Halted);
                let index = wave.unwrap_or(0);
                self.fail(&resident, index, resident.waves[index].pc, WaveFaultKind::Killed);
            } else {
                std::thread::sleep(HALTED_LOOK);
            }
        }
    }

    /// A new workgroup while there is room, else the one that has waited longest.
    fn next(&mut self) -> Option<Resident> {
        if ((self.running.len() + self.halted.len()) as u64) < self.limit
            && let Some(fresh) = self.start()
        {
            return Some(fresh);
        }
        self.running.pop_front()
    }

    fn start(&mut self) -> Option<Resident> {
        let dispatch = self.dispatch;
        let (number, slot) = self.claim()?;
        let launch = dispatch.launch;
        let xcc = launch.xccs.place((number % u64::from(launch.xccs.count)) as u32);
        let group = Group::numbered(launch, number);
        let mut resident = self.spare.pop().unwrap_or_else(|| Resident {
            number,
            group,
            waves: Vec::new(),
            lds: Lds::default(),
            barriers: Barriers::default(),
            slot,
        });
        resident.number = number;
        resident.group = group;
        resident.slot = slot;
        resident.lds.reset(launch.lds_bytes, launch.fill);
        let waves = group.waves(launch);
        resident.barriers = Barriers::new(waves);
        let traits = dispatch.traits;
        resident.waves.truncate(waves as usize);
        while resident.waves.len() < waves as usize {
            resident.waves.push(Wave::new(launch.wave32, traits, traits.registers(launch)));
        }
        let others = match launch.xccs.count {
            1 => 0,
            _ => u64::from(xcc) * u64::from(launch.scratch_waves),
        };
        let first = others + slot * u64::from(launch.waves());
        for (wave, id) in resident.waves.iter_mut().zip(0..) {
            let offset = (first + u64::from(id)) * u64::from(launch.scratch_bytes_per_wave);
            let scratch = launch.scratch_base.wrapping_add(offset);
            prepare(wave, launch, group, id, scratch);
            wave.xcc = xcc;
            let units = dispatch.units.get(xcc as usize).map_or(&[][..], Vec::as_slice);
            let of_xcc = number / u64::from(launch.xccs.count);
            wave.unit = match units.len() as u64 {
                0 => ComputeUnit::default(),
                count => units[(of_xcc % count) as usize],
            };
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
                let wave = &mut resident.waves[index];
                if wave.state == State::AtSplitBarrier && resident.barriers.is_complete(wave.id) {
                    wave.state = State::Running;
                }
                if wave.state != State::Running {
                    continue;
                }
                self.dispatch.outside.pause();
                if self.dispatch.outside.is_stopped() {
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
                let limit = self.dispatch.inspection.watchdog.unwrap_or(u64::MAX);
                let end = limit.min(before + WAVE_QUANTUM);
                let env = &mut Env {
                    memory: &mut self.memory,
                    lds: &mut resident.lds,
                    launch: self.dispatch.launch,
                    barriers: &mut resident.barriers,
                    outside: self.dispatch.outside,
                    wide: self.wide,
                    invalidate_code: false,
                };
                let result = match &mut self.inspector {
                    None => execute(wave, &mut self.code, env, end, &mut ()),
                    Some(inspector) => {
                        inspector.turn_to(resident.number, resident.group);
                        let result = execute(wave, &mut self.code, env, end, inspector);
                        inspector.flush();
                        result
                    }
                };
                let endless = wave.executed >= limit && wave.state == State::Running;
                let executed = wave.executed - before;
                self.statistics.instructions += executed;
                left = left.saturating_sub(executed.max(1));
                let Err((pc, kind)) = result else {
                    if endless {
                        let kind = WaveFaultKind::Endless { instructions: limit };
                        self.fail(resident, index, resident.waves[index].pc, kind);
                        return Slice::Failed;
                    }
                    continue;
                };
                let Some(exception) = trap::exception(self.dispatch.traits, &kind) else {
                    self.fail(resident, index, pc, *kind);
                    return Slice::Failed;
                };
                let fault = self.report(resident, index, pc, *kind);
                self.dispatch.outside.exception(&fault);
                trap::raise(&mut resident.waves[index], self.dispatch.launch, pc, exception);
            }
            // One that waits for a signal which none is left to give stands still, too.
            let still = |wave: &Wave| matches!(wave.state, State::Halted | State::AtSplitBarrier);
            if !progress && resident.waves.iter().any(still) {
                let waits = |wave: &Wave| wave.state == State::AtSplitBarrier;
                let halted = resident.waves.iter().any(|wave| wave.state == State::Halted);
                if self.dispatch.inspection.watchdog.is_some()
                    && !halted
                    && let Some(index) = resident.waves.iter().position(waits)
                {
                    let pc = resident.waves[index].pc;
                    self.fail(resident, index, pc, WaveFaultKind::Deadlock);
                    return Slice::Failed;
                }
                return Slice::Halted;
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
        let fault = self.report(resident, index, pc, kind);
        self.dispatch.fail(resident.number, fault);
    }

    #[cold]
    fn report(
        &mut self,
        resident: &Resident,
        index: usize,
        pc: u64,
        kind: WaveFaultKind,
    ) -> WaveFault {
        let instruction = decode_at(self.dispatch.target, pc, &mut self.memory).ok();
        WaveFault {
            kind,
            pc,
            instruction: instruction.map(|instruction| self.text(&instruction)),
            workgroup: resident.group.id,
            wave: resident.waves[index].id,
        }
    }

    /// The instruction in LLVM's spelling.
    fn text(&self, instruction: &amdgpu_isa::Instruction) -> String {
        let wave32 = self.dispatch.launch.wave32;
        amdgpu_isa::disassemble(instruction, self.dispatch.target, wave32).to_string()
    }
}

/// Runs a wave until it has executed `end` instructions in all, it waits, or it faults; then with the address of the instruction.
fn execute(
    wave: &mut Wave,
    code: &mut Code<'_>,
    env: &mut Env<'_>,
    end: u64,
    watch: &mut impl Watch,
) -> Result<(), (u64, Box<WaveFaultKind>)> {
    while wave.executed < end {
        let pc = wave.pc;
        let stop = match code.at(pc, env.memory) {
            Ok(op) => {
                wave.pc = pc + op.size;
                wave.executed += 1;
                watch.before(wave, pc, op);
                let step = match wave.indexes {
                    false => (op.run)(wave, op, env),
                    true => indexed::run(wave, op, env),
                };
                // A wait that has to wait is executed again.
                let waits = wave.state == State::AtSplitBarrier || wave.queued.is_some();
                if !waits && !matches!(step, Err(Stop::Fault(_))) {
                    watch.after(wave, pc, op);
                }
                match step {
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
            Stop::End | Stop::Barrier | Stop::Yield | Stop::Halt => Ok(()),
            Stop::Fault(kind) => Err((pc, kind)),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    /// A workgroup that asks for a compute unit's whole LDS has it alone.
    #[test]
    fn residents_share_the_boards_lds() {
        let mut gpu = profile::by_name("gfx90a").expect("a board").gpu;
        let target = Target::from_gfx_target_version(gpu.gfx_target_version).expect("a target");
        let launch = Launch {
            program: 0,
            rsrc1: 0,
            rsrc2: 0,
            rsrc3: 0,
            wave32: false,
            user_data: [0; 32],
            grid: [64, 1, 1],
            start: [0; 3],
            workgroup: [64, 1, 1],
            lds_bytes: 64 << 10,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: 0,
            private_aperture_hi: 0,
            trap_handler: None,
        };
        let units = u64::from(gpu.compute_units);
        for (lds_bytes, each) in [(64 << 10, 1), (160 << 10, 2)] {
            gpu.lds_bytes = lds_bytes;
            let (memory, cache) = (Arc::new(AddressSpace::new()), InstructionCache::default());
            let (stopped, inspection) = (AtomicBool::new(false), Inspection::default());
            let dispatch =
                Dispatch::new(&gpu, target, &launch, &memory, &cache, &stopped, &inspection);
            assert_eq!(dispatch.residents() / units, each);
        }
    }

    #[test]
    fn workers_together_hold_all_residents() {
        for (residents, threads) in [(1, 1), (7, 3), (8, 3), (64, 16), (1280, 7)] {
            let shares: Vec<_> = (0..threads).map(|n| share(residents, threads, n)).collect();
            let slots: Vec<u64> = shares.iter().cloned().flatten().collect();
            assert_eq!(slots, (0..residents).collect::<Vec<_>>());
            assert!(shares.iter().all(|share| !share.is_empty()));
        }
    }
}
