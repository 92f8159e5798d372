//! Runs a record again.
#![expect(unsafe_code, reason = "makes calls with recorded arguments")]

use super::arguments::{drm_field, kfd_field, kfd_name, kfd_value, length, pointers, value};
use super::format::{Line, Pointed, Run};
use super::memory::{Memory, Shadow};
use crate::abi::user;
use crate::clock::Clock;
use crate::cp::{Conductor, QueueAt, TakenPacket};
use crate::memory::{AddressSpace, Backing};
use crate::{Machine, MachineError, Process};
use kfd::uapi::{AllocMemFlags, WAIT_RESULT_TIMEOUT};
use selvedge_sys::uapi::Field;
use selvedge_sys::{Errno, Linux, MapFlags, OpenMode, Protection, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use thiserror::Error;

const PAGE: u64 = 4096;
/// How long a queue may take for what it did in the record.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a wait of the process's may take before others go first: of threads that wake each other, either's call may
/// have returned first.
const SOON: Duration = Duration::from_millis(100);
/// How long a turn may take before calls are made that returned in the record before its end: the program may have seen
/// what the queue wrote. A turn that one of them ends takes so long.
const TURN: Duration = Duration::from_secs(2);
/// The most differences that are kept.
const MOST: usize = 100;

/// How a replay went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Calls that were made again.
    pub calls: usize,
    /// Packets that were processed again.
    pub packets: usize,
    /// Dwords that queues changed as in the record.
    pub dwords: usize,
    /// Dwords that are times in both.
    pub times: usize,
    /// What came out otherwise, with the line of the record; the first 100.
    pub differences: Vec<String>,
}

/// Why a record could not be run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The machine could not be made.
    #[error("line {line}: {source}")]
    Machine {
        /// The line.
        line: usize,
        /// Why.
        source: MachineError,
    },
    /// An address that the process had is taken here. Another process may have better luck.
    #[error("the address {address:#x} of the record is taken in this process")]
    Taken {
        /// The start of the range.
        address: u64,
    },
    /// A queue did not do in time what it did in the record.
    #[error("line {line}: queue {} of GPU {} does not {what}", queue.queue, queue.gpu)]
    Stuck {
        /// The line.
        line: usize,
        /// The queue.
        queue: QueueAt,
        /// What it did in the record.
        what: &'static str,
    },
    /// The first line is not the machine's.
    #[error("the record does not begin with a machine")]
    NoMachine,
}

/// Memory of the process that an ioctl gives to devices: start and length.
pub(super) fn user_range(request: u32, argument: &[u8]) -> Option<(u64, u64)> {
    let field = |name| kfd_value(request, argument, name);
    match kfd_name(request)? {
        "ALLOC_MEMORY_OF_GPU" => {
            let userptr = field("flags")? & u64::from(AllocMemFlags::USERPTR.bits()) != 0;
            userptr.then_some((field("mmap_offset")?, field("size")?))
        }
        "SVM" => Some((field("start_addr")?, field("size")?)),
        _ => None,
    }
}

/// The ranges of the address space that a record needs, in whole pages, none overlapping another.
pub fn ranges(lines: &[(usize, Line)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = lines
        .iter()
        .filter_map(|(_, line)| match line {
            Line::Map { result, length, .. } => {
                u64::try_from(*result).ok().map(|address| (address, *length))
            }
            Line::Ioctl { request, before, .. } => user_range(*request, before),
            _ => None,
        })
        .filter_map(|(start, length)| {
            let end = start.checked_add(length)?.checked_next_multiple_of(PAGE)?;
            Some((start & !(PAGE - 1), end)).filter(|(start, end)| start < end)
        })
        .collect();
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in all {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Wants { place: u64, words: Vec<u32> },
    Works,
    Paused,
    Ended,
}

impl Phase {
    /// The turn has stopped.
    fn rests(&self) -> bool {
        matches!(self, Phase::Paused | Phase::Ended | Phase::Wants { .. })
    }
}

#[derive(Debug)]
struct Queue {
    memory: Memory,
    doorbell: (Arc<Backing>, u64),
    phase: Phase,
    granted: bool,
}

/// Lets queues go on where the record has them do so.
#[derive(Debug, Default)]
struct Stage {
    queues: Mutex<BTreeMap<QueueAt, Queue>>,
    changed: Condvar,
}

impl Stage {
    fn queues(&self) -> MutexGuard<'_, BTreeMap<QueueAt, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue is in another phase; whether it may go on.
    fn is_now(&self, queue: QueueAt, phase: Phase) -> bool {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(&queue) else { return false };
        let granted = std::mem::take(&mut queue.granted);
        let next = if granted { Phase::Works } else { phase };
        if queue.phase != next {
            queue.phase = next;
            self.changed.notify_all();
        }
        granted
    }

    /// Waits until a queue is in such a phase.
    fn wait(
        &self,
        queue: QueueAt,
        patience: Duration,
        is: impl Fn(&Phase) -> bool,
    ) -> Option<Phase> {
        let reached = |queues: &BTreeMap<QueueAt, Queue>| {
            queues.get(&queue).map(|queue| queue.phase.clone()).filter(&is)
        };
        let waits = |queues: &mut BTreeMap<QueueAt, Queue>| reached(queues).is_none();
        let waited = self.changed.wait_timeout_while(self.queues(), patience, waits);
        let (queues, _) = waited.unwrap_or_else(PoisonError::into_inner);
        reached(&queues)
    }

    fn grant(&self, queue: QueueAt) {
        if let Some(queue) = self.queues().get_mut(&queue) {
            (queue.granted, queue.phase) = (true, Phase::Works);
        }
    }
}

impl Conductor for Stage {
    fn joins(&self, queue: QueueAt, space: &Arc<AddressSpace>, doorbell: &(Arc<Backing>, u64)) {
        let (memory, doorbell) = (Memory::new(space, &doorbell.0), doorbell.clone());
        self.queues().insert(queue, Queue { memory, doorbell, phase: Phase::Idle, granted: false });
    }

    fn begins(&self, packet: &TakenPacket<'_>, _: u64) -> bool {
        let (place, words) = (packet.place, packet.words.to_vec());
        self.is_now(packet.queue_at(), Phase::Wants { place, words })
    }

    fn pauses(&self, queue: QueueAt) {
        self.is_now(queue, Phase::Paused);
    }

    fn resumes(&self, queue: QueueAt) -> bool {
        self.is_now(queue, Phase::Paused)
    }

    fn ends(&self, queue: QueueAt) {
        self.is_now(queue, Phase::Ended);
    }
}

/// A turn that is looked at.
#[derive(Debug, Default)]
struct Turn {
    /// What the record says has changed since the last look.
    expected: BTreeMap<u64, u32>,
    /// When it began: in the record, here.
    began: (u64, u64),
    /// It has stopped, or does not do so soon.
    settled: bool,
}

struct Replay {
    stage: Arc<Stage>,
    process: Arc<Process>,
    reserved: Vec<(u64, u64)>,
    /// Descriptors of the record and here.
    descriptors: BTreeMap<i32, i32>,
    shadows: BTreeMap<(u32, u32), Shadow>,
    turns: BTreeMap<QueueAt, Turn>,
    /// Waits that are not over though they were in the record, by index of the line.
    waiting: Vec<usize>,
    outcome: Outcome,
}

/// Runs a record again in this process, at the addresses it had.
///
/// # Errors
/// When it cannot be run to its end. What came out otherwise is no error.
pub fn replay(lines: &[(usize, Line)]) -> Result<Outcome, ReplayError> {
    let Some((line, Line::Machine { boards, kfd_minor, privileged })) = lines.first() else {
        return Err(ReplayError::NoMachine);
    };
    let reserved = ranges(lines);
    for &(start, end) in &reserved {
        reserve(start, end)?;
    }
    let stage = Arc::new(Stage::default());
    let machine = || {
        let mut builder = Machine::builder().kfd_minor(*kfd_minor)?.conductor(stage.clone());
        for name in boards.split(',').filter(|&name| name != "none") {
            builder = builder.gpu(name)?;
        }
        if *privileged {
            builder = builder.privileged();
        }
        builder.build()
    };
    let machine = machine().map_err(|source| ReplayError::Machine { line: *line, source })?;
    let mut replay = Replay {
        stage,
        process: machine.process(),
        reserved,
        descriptors: BTreeMap::new(),
        shadows: BTreeMap::new(),
        turns: BTreeMap::new(),
        waiting: Vec::new(),
        outcome: Outcome::default(),
    };
    for (index, (number, line)) in lines.iter().enumerate().skip(1) {
        let over = match line {
            Line::Ioctl { .. } => replay.call(*number, line, SOON),
            _ => replay.line(*number, line).map(|()| true)?,
        };
        replay.wait_again(lines, Duration::ZERO);
        if !over {
            replay.waiting.push(index);
        }
    }
    replay.wait_again(lines, PATIENCE);
    for index in std::mem::take(&mut replay.waiting) {
        replay.differs(lines[index].0, format_args!("the wait is not over"));
    }
    replay.process.exit();
    Ok(replay.outcome)
}

/// Takes a range of the address space that nothing is in.
fn reserve(start: u64, end: u64) -> Result<(), ReplayError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let flags = flags | libc::MAP_FIXED_NOREPLACE;
    let address = with_exposed_provenance_mut(start as usize);
    let length = (end - start) as usize;
    // SAFETY: takes only what nobody has.
    let pointer = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags, -1, 0) };
    if pointer == libc::MAP_FAILED { Err(ReplayError::Taken { address: start }) } else { Ok(()) }
}

/// Words that are aligned as structs of the kernel are.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let whole = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    // Never empty, so that there is an address.
    whole.chain([0]).collect()
}

fn bytes_of(words: &[u64], length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(length);
    bytes
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    let end = offset.checked_add(value.len());
    if let Some(place) = end.and_then(|end| bytes.get_mut(offset..end)) {
        place.copy_from_slice(value);
    }
}

fn outcome(result: Result<i64, Errno>) -> i64 {
    result.unwrap_or_else(|errno| -i64::from(errno.0))
}

impl Replay {
    fn differs(&mut self, line: usize, what: std::fmt::Arguments<'_>) {
        if self.outcome.differences.len() < MOST {
            self.outcome.differences.push(format!("line {line}: {what}"));
        }
    }

    fn result(&mut self, line: usize, what: &str, record: i64, here: i64) {
        self.outcome.calls += 1;
        if record != here {
            self.differs(line, format_args!("{what} gave {record}, and here {here}"));
        }
    }

    /// Whether a range was reserved for the record.
    fn is_reserved(&self, address: u64, length: u64) -> bool {
        let end = address.checked_add(length).and_then(|end| end.checked_next_multiple_of(PAGE));
        end.is_some_and(|end| {
            self.reserved.iter().any(|&(start, last)| start <= address && end <= last)
        })
    }

    /// The descriptor here.
    fn fd(&self, fd: i32) -> i32 {
        self.descriptors.get(&fd).copied().unwrap_or(-1)
    }

    fn line(&mut self, line: usize, what: &Line) -> Result<(), ReplayError> {
        if matches!(what, Line::Close { .. } | Line::Map { .. } | Line::Unmap { .. }) {
            self.settle();
        }
        match what {
            Line::Open { path, write, result } => {
                let mode = if *write { OpenMode::ReadWrite } else { OpenMode::ReadOnly };
                let opened = self.process.open(Path::new(path), mode);
                if let (Ok(fd), Ok(recorded)) = (opened, i32::try_from(*result))
                    && recorded >= 0
                {
                    self.descriptors.insert(recorded, fd);
                    self.outcome.calls += 1;
                } else {
                    self.result(line, "open", *result, outcome(opened.map(i64::from)));
                }
            }
            Line::Close { fd } => {
                let here = self.descriptors.remove(fd).unwrap_or(-1);
                let closed = outcome(self.process.close(here).map(|()| 0));
                self.result(line, "close", 0, closed);
            }
            Line::Duplicate { fd, copy } => {
                // SAFETY: makes a descriptor.
                let here = unsafe { libc::dup(self.fd(*fd)) };
                if here >= 0 {
                    self.process.duplicated(self.fd(*fd), here);
                    self.descriptors.insert(*copy, here);
                }
            }
            Line::Map { fd, length, protection, flags, offset, result } => {
                let address = usize::try_from(*result).unwrap_or(0);
                let flags = MapFlags::from_bits_retain(*flags) - MapFlags::FIXED;
                // Reserved for it, or more than any address space has room for.
                let fixed = if self.is_reserved(address as u64, *length) {
                    MapFlags::FIXED
                } else {
                    MapFlags::empty()
                };
                let protection = Protection::from_bits_retain(*protection);
                let address = with_exposed_provenance_mut(address);
                // SAFETY: the range was reserved for it, or is where nothing is.
                let mapped = unsafe {
                    let (flags, fd) = (flags | fixed, self.fd(*fd));
                    self.process.mmap(address, *length as usize, protection, flags, fd, *offset)
                };
                let mapped = mapped.map(|at| (at.expose_provenance() as u64).cast_signed());
                self.result(line, "mmap", *result, outcome(mapped));
            }
            Line::Unmap { address, length } => self.unmap(*address, *length),
            Line::Memory { queue, runs } => self.memory(line, *queue, runs),
            Line::Result { queue, runs } => {
                let space = self.space(*queue).map(|(space, _)| space);
                let is_here =
                    |run: &&Run| space.as_ref().is_some_and(|space| is_mapped(space, run));
                // A queue changes nothing where nothing is mapped.
                let (here, gone): (Vec<&Run>, Vec<&Run>) = runs.iter().partition(is_here);
                self.outcome.meanwhile += gone.iter().map(|run| run.count as usize).sum::<usize>();
                let expected = &mut self.turns.entry(*queue).or_default().expected;
                expected.extend(here.into_iter().flat_map(|run| dwords(std::slice::from_ref(run))));
            }
            Line::Begin { queue, place, rung, clock, words } => {
                self.begin(line, *queue, (*place, words), *rung, *clock)?;
            }
            Line::Pause { queue, clock } => self.stops(line, *queue, *clock, &Phase::Paused)?,
            Line::End { queue, clock } => self.stops(line, *queue, *clock, &Phase::Ended)?,
            Line::Resume { queue, .. } => {
                self.baseline(*queue);
                self.turns.entry(*queue).or_default().settled = false;
                self.stage.grant(*queue);
            }
            Line::Machine { .. } | Line::Ioctl { .. } => {}
        }
        Ok(())
    }

    /// Makes the call of a line again; whether it is over.
    fn call(&mut self, line: usize, what: &Line, patience: Duration) -> bool {
        let Line::Ioctl { fd, request, result, before, after, pointed } = what else { return true };
        self.settle();
        let call = Ioctl { request: *request, before, after, pointed };
        self.ioctl(line, *fd, *result, &call, patience)
    }

    /// Lets queues get to the end of their turns.
    fn settle(&mut self) {
        for (&queue, turn) in self.turns.iter_mut().filter(|(_, turn)| !turn.settled) {
            self.stage.wait(queue, TURN, Phase::rests);
            turn.settled = true;
        }
    }

    fn wait_again(&mut self, lines: &[(usize, Line)], patience: Duration) {
        for index in std::mem::take(&mut self.waiting) {
            let (line, call) = &lines[index];
            if !self.call(*line, call, patience) {
                self.waiting.push(index);
            }
        }
    }

    /// What of a range is the record's is nobody's again.
    fn unmap(&mut self, address: u64, length: u64) {
        let end = address.saturating_add(length);
        let end = end.checked_next_multiple_of(PAGE).unwrap_or(end);
        let parts: Vec<(u64, u64)> = self
            .reserved
            .iter()
            .map(|&(start, last)| (start.max(address), last.min(end)))
            .filter(|(start, end)| start < end)
            .collect();
        for (start, end) in parts {
            self.process.lost(start, end - start);
            let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE;
            let at = with_exposed_provenance_mut(start as usize);
            let (length, flags) = ((end - start) as usize, flags | MapFlags::FIXED);
            // SAFETY: the range was reserved for the record, and devices have lost it.
            let _ = unsafe { Linux.mmap(at, length, Protection::empty(), flags, -1, 0) };
        }
    }

    fn memory_of(&self, queue: QueueAt) -> Option<Memory> {
        self.stage.queues().get(&queue).map(|queue| queue.memory.clone())
    }

    fn shadow(&mut self, queue: QueueAt) -> &mut Shadow {
        self.shadows.entry((queue.process, queue.gpu)).or_default()
    }

    /// What is in memory now is what the next turn changes.
    fn baseline(&mut self, queue: QueueAt) {
        if let Some(memory) = self.memory_of(queue) {
            self.shadow(queue).look(&memory);
        }
    }

    fn memory(&mut self, line: usize, queue: QueueAt, runs: &[Run]) {
        let Some(Memory { space, .. }) = self.memory_of(queue) else {
            return self.differs(line, format_args!("there is no queue {}", queue.queue));
        };
        for (address, value) in dwords(runs) {
            if !space.overwrite(address, value) {
                return self.differs(line, format_args!("nothing is mapped at {address:#x}"));
            }
        }
    }

    fn begin(
        &mut self,
        line: usize,
        queue: QueueAt,
        (place, words): (u64, &[u32]),
        rung: u64,
        clock: u64,
    ) -> Result<(), ReplayError> {
        self.outcome.packets += 1;
        self.baseline(queue);
        if let Some(queue) = self.stage.queues().get(&queue) {
            queue.doorbell.0.store_u64(queue.doorbell.1, rung);
        }
        let wants = self.stage.wait(queue, PATIENCE, |phase| matches!(phase, Phase::Wants { .. }));
        match wants {
            Some(Phase::Wants { place: here, words: read }) if here != place || read != words => {
                self.differs(
                    line,
                    format_args!(
                        "packet {place} is {words:08x?}, and here packet {here} {read:08x?}"
                    ),
                );
            }
            Some(_) => {}
            None => return Err(ReplayError::Stuck { line, queue, what: "take a packet" }),
        }
        let began = (clock, Clock::Host.gpu_ticks());
        self.turns.insert(queue, Turn { began, ..Turn::default() });
        self.stage.grant(queue);
        Ok(())
    }

    /// The queue waits, or is done: what has it changed?
    fn stops(
        &mut self,
        line: usize,
        queue: QueueAt,
        clock: u64,
        phase: &Phase,
    ) -> Result<(), ReplayError> {
        let what = if *phase == Phase::Ended { "end its packet" } else { "wait" };
        let stops = |now: &Phase| now == phase || now.rests() && *now != Phase::Paused;
        let reached = self.stage.wait(queue, PATIENCE, stops);
        let Some(reached) = reached else { return Err(ReplayError::Stuck { line, queue, what }) };
        if *phase == Phase::Paused && reached != Phase::Paused {
            self.differs(line, format_args!("queue {} does not wait", queue.queue));
        }
        let Some(memory) = self.memory_of(queue) else { return Ok(()) };
        let changes = self.shadow(queue).written(&memory);
        let Turn { expected, began, .. } = self.turns.remove(&queue).unwrap_or_default();
        let here = began.1..=Clock::Host.gpu_ticks();
        let recorded = began.0..=clock;
        let mut missing = expected.clone();
        let is_time = |address: u64, shadow: &Shadow| {
            let qword = |dword: &dyn Fn(u64) -> u32| {
                let at = address & !7;
                u64::from(dword(at)) | u64::from(dword(at + 4)) << 32
            };
            let before = |at| changes.get(&at).map_or_else(|| shadow.dword(at), |change| change.0);
            let now = qword(&|at| shadow.dword(at));
            let then = qword(&|at| expected.get(&at).copied().unwrap_or_else(|| before(at)));
            here.contains(&now) && recorded.contains(&then)
        };
        let mut wrong = Vec::new();
        for (&address, &(before, now)) in &changes {
            let then = missing.remove(&address).unwrap_or(before);
            if then == now {
                self.outcome.dwords += 1;
                continue;
            }
            if is_time(address, self.shadow(queue)) {
                self.outcome.times += 1;
            } else {
                let what = format!("{address:#x} became {then:#x}, and here {now:#x}");
                self.differs(line, format_args!("{what}, by queue {}", queue.queue));
            }
            wrong.push((address, then));
        }
        for (&address, then) in &missing {
            if is_time(address, self.shadow(queue)) {
                self.outcome.times += 1;
            } else {
                let what = format!("{address:#x} became {then:#x}, and here stays as it was");
                self.differs(line, format_args!("{what}, by queue {}", queue.queue));
            }
        }
        // On as in the record.
        for (address, value) in wrong.into_iter().chain(missing) {
            memory.space.overwrite(address, value);
            self.shadow(queue).write(address, value);
        }
        if *phase == Phase::Paused {
            self.turns.insert(queue, Turn { began, settled: true, ..Turn::default() });
        }
        Ok(())
    }

    fn ioctl(
        &mut self,
        line: usize,
        fd: i32,
        result: i64,
        call: &Ioctl<'_>,
        patience: Duration,
    ) -> bool {
        if let Some((start, length)) = user_range(call.request, call.before) {
            let first = start & !(PAGE - 1);
            if self.is_reserved(first, (start - first).saturating_add(length)) {
                let length = (start - first + length).next_multiple_of(PAGE);
                let address = with_exposed_provenance_mut(first as usize);
                // SAFETY: the range was reserved for the record.
                unsafe {
                    libc::mprotect(address, length as usize, libc::PROT_READ | libc::PROT_WRITE);
                }
            }
        }
        let mut argument = call.before.to_vec();
        argument.resize(argument.len().max(length(call.request)), 0);
        for field in call.descriptors_in() {
            let recorded = value(call.before, field).unwrap_or(0) as u32;
            put(&mut argument, field.offset, &self.fd(recorded.cast_signed()).to_ne_bytes());
        }
        let timed_out = call.timed_out();
        if let Some(field) = kfd_field(call.request, "timeout") {
            let timeout = if timed_out { 0 } else { patience.as_millis() as u32 };
            put(&mut argument, field.offset, &timeout.to_ne_bytes());
        }
        let known = pointers(call.request, &argument);
        let mut behind: Vec<Vec<u64>> = Vec::new();
        for Pointed { offset, before, .. } in call.pointed {
            let size = known.iter().find(|known| known.0 == *offset).map_or(0, |known| known.2);
            let mut bytes = before.clone();
            bytes.resize(bytes.len().max(size), 0);
            behind.push(aligned(&bytes));
        }
        for (pointed, words) in call.pointed.iter().zip(&mut behind) {
            let address = words.as_mut_ptr().expose_provenance() as u64;
            put(&mut argument, pointed.offset, &address.to_ne_bytes());
        }
        let mut words = aligned(&argument);
        let pointer = words.as_mut_ptr().cast();
        // An address that was not replaced is the recorded process's: nothing of it is here but what was reserved.
        let own = std::iter::once(&words).chain(&behind).map(|words| {
            let start = words.as_ptr().expose_provenance() as u64;
            start..start + 8 * words.len() as u64
        });
        let reach = own.chain(self.reserved.iter().map(|&(start, end)| start..end)).collect();
        let fd = self.fd(fd);
        // SAFETY: the argument has the request's size, and what it points to is here, or not reached.
        let here = user::within(reach, || unsafe { self.process.ioctl(fd, call.request, pointer) });
        let mut now = bytes_of(&words, call.after.len());
        if !timed_out && result == 0 && call.has_timed_out(&now) {
            return false;
        }
        let name = kfd_name(call.request)
            .map_or_else(|| format!("ioctl {:#x}", call.request), str::to_owned);
        self.result(line, &name, result, outcome(here.map(i64::from)));
        // Of a call that failed the field is the record's.
        for field in call.descriptors_out().into_iter().filter(|_| here.is_ok()) {
            if let (Some(here), Some(recorded)) = (value(&now, field), value(call.after, field)) {
                let (here, recorded) = (here as u32, recorded as u32);
                self.descriptors.insert(recorded.cast_signed(), here.cast_signed());
            }
        }
        for (offset, size) in call.masked() {
            let recorded = offset.checked_add(size).and_then(|end| call.after.get(offset..end));
            let recorded = recorded.unwrap_or_default().to_vec();
            put(&mut now, offset, &recorded);
        }
        if now != call.after {
            let then = call.after;
            self.differs(line, format_args!("{name} answered {then:02x?}, and here {now:02x?}"));
        }
        // Events have ages, and what is in them beyond the one waited for is nobody's promise.
        if kfd_name(call.request) == Some("WAIT_EVENTS") {
            return true;
        }
        for (Pointed { after, .. }, words) in call.pointed.iter().zip(&behind) {
            if bytes_of(words, after.len()) != *after {
                self.differs(line, format_args!("what {name} points to differs"));
            }
        }
        true
    }
}

/// Whether all dwords of a run are mapped.
fn is_mapped(space: &AddressSpace, run: &Run) -> bool {
    let end = run.address + 4 * u64::from(run.count);
    let mut at = run.address;
    while at < end {
        match space.mapping_of(at) {
            Some((start, length)) => at = start + length,
            None => return false,
        }
    }
    true
}

fn dwords(runs: &[Run]) -> impl Iterator<Item = (u64, u32)> {
    runs.iter()
        .flat_map(|run| (0..u64::from(run.count)).map(|index| (run.address + 4 * index, run.value)))
}

/// An ioctl of the record.
struct Ioctl<'a> {
    request: u32,
    before: &'a [u8],
    after: &'a [u8],
    pointed: &'a [Pointed],
}

impl Ioctl<'_> {
    fn named(&self, names: &[&str]) -> Vec<&'static Field> {
        names.iter().filter_map(|name| kfd_field(self.request, name)).collect()
    }

    /// Fields that are descriptors which the caller gives.
    fn descriptors_in(&self) -> Vec<&'static Field> {
        match kfd_name(self.request) {
            Some("ACQUIRE_VM") => self.named(&["drm_fd"]),
            Some("GET_DMABUF_INFO" | "IMPORT_DMABUF") => self.named(&["dmabuf_fd"]),
            Some(_) => Vec::new(),
            None if selvedge_sys::uapi::number(self.request) == 0x2e => {
                drm_field(self.request, "fd").into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// Fields that are descriptors which the kernel makes.
    fn descriptors_out(&self) -> Vec<&'static Field> {
        match kfd_name(self.request) {
            Some("EXPORT_DMABUF") => self.named(&["dmabuf_fd"]),
            Some("SMI_EVENTS") => self.named(&["anon_fd"]),
            Some(_) => Vec::new(),
            None if selvedge_sys::uapi::number(self.request) == 0x2d => {
                drm_field(self.request, "fd").into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// A wait that nothing came of in the record.
    fn timed_out(&self) -> bool {
        self.has_timed_out(self.after)
    }

    fn has_timed_out(&self, answer: &[u8]) -> bool {
        kfd_name(self.request) == Some("WAIT_EVENTS")
            && kfd_value(self.request, answer, "wait_result") == Some(WAIT_RESULT_TIMEOUT.into())
    }

    /// Bytes of the answer that are not compared: offsets and sizes.
    fn masked(&self) -> Vec<(usize, usize)> {
        let clocks = ["gpu_clock_counter", "cpu_clock_counter", "system_clock_counter"];
        let mut fields = match kfd_name(self.request) {
            Some("GET_CLOCK_COUNTERS") => self.named(&clocks),
            Some("WAIT_EVENTS") if self.timed_out() => self.named(&["timeout", "wait_result"]),
            Some("WAIT_EVENTS") => self.named(&["timeout"]),
            _ => Vec::new(),
        };
        fields.extend(self.descriptors_in());
        fields.extend(self.descriptors_out());
        let fields = fields.into_iter().map(|field| (field.offset, field.size));
        fields.chain(self.pointed.iter().map(|pointed| (pointed.offset, 8))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_in_pages() {
        let map = |result, length| {
            let (protection, flags, offset) = (3, 1, 0);
            (1, Line::Map { fd: 3, length, protection, flags, offset, result })
        };
        let lines = [map(0x5000, 1), map(0x1000, 0x1001), map(-12, 5), map(0x3000, 0x1000)];
        assert_eq!(ranges(&lines), [(0x1000, 0x4000), (0x5000, 0x6000)]);
    }
}
