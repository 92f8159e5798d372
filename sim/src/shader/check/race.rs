//! Which accesses nothing orders.
//!
//! Each memory instruction that is executed has a number, which is the time. A wave knows up to which time it comes after
//! each other wave ([`Clock`]); barriers and atomic operations make it know more. An access that is later than what a wave
//! knows of the other is not ordered (the vector clocks of Flanagan and Freund, "FastTrack", 2009).

use super::Conflict;
use crate::shader::Launch;
use crate::shader::access::{Access, Accesses};
use crate::shader::code::Op;
use crate::shader::finding::{AccessKind, Space};
use crate::shader::wave::{State, Wave};
use amdgpu_isa::{Fields, Opcode};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Memory instructions that are followed; then the check gives up.
const LIMIT: usize = 1 << 26;

/// Waves that a clock knows of each; when there are more, it takes all that has happened as ordered.
const CLOCK_WAVES: usize = 1024;

/// Bytes of a page of cells.
const PAGE: u64 = 4096;

/// A memory instruction of a wave. Its time is its place in the list, from 1.
#[derive(Clone, Copy)]
struct Record {
    wave: u64,
    pc: u64,
    kind: AccessKind,
    /// Whether it may meet others that are, too.
    atomic: bool,
}

/// Times of a byte's last accesses, 0 for none.
#[derive(Clone, Copy, Default)]
struct Cell {
    written: u32,
    /// The first load since, or the last that was not ordered behind it.
    read: [u32; 2],
}

/// Up to which time a wave comes after others.
#[derive(Clone, Default)]
struct Clock {
    /// After all waves.
    all: u32,
    /// After a wave, by its number.
    waves: HashMap<u64, u32>,
}

impl Clock {
    fn knows(&self, time: u32, wave: u64) -> bool {
        time <= self.all || self.waves.get(&wave).is_some_and(|&known| time <= known)
    }

    fn learn(&mut self, wave: u64, time: u32) {
        let known = self.waves.entry(wave).or_default();
        *known = time.max(*known);
    }

    fn join(&mut self, other: &Clock, now: u32) {
        self.all = self.all.max(other.all);
        for (&wave, &time) in &other.waves {
            self.learn(wave, time);
        }
        if self.waves.len() > CLOCK_WAVES {
            self.all = now;
            self.waves.clear();
        }
    }
}

#[derive(Clone, Default)]
struct WaveState {
    clock: Clock,
    /// Barriers that it has signalled.
    signals: u32,
    /// Barriers that it has waited for; it goes on when all have signalled.
    waits: u32,
    /// Of those, the ones whose order its clock has.
    settled: u32,
}

/// A workgroup that runs.
#[derive(Default)]
struct GroupState {
    waves: HashMap<u32, WaveState>,
    /// What the waves knew that signalled a barrier, by its number.
    barriers: BTreeMap<u32, Clock>,
    /// What the waves knew that have ended: they take part in no barrier, but came before it.
    ended: Clock,
    lds: Vec<Cell>,
    /// What the last atomic operation on an offset of LDS left.
    atomics: HashMap<u64, Arc<Clock>>,
}

impl GroupState {
    /// A wave goes on: it comes after what others did before the barriers that it has passed.
    fn settle(&mut self, wave: u32, now: u32) {
        let own = self.waves.entry(wave).or_default();
        while own.settled < own.waits {
            own.clock.join(&self.ended, now);
            if let Some(left) = self.barriers.get(&own.settled) {
                own.clock.join(left, now);
            }
            own.settled += 1;
        }
    }
}

/// The check of one dispatch.
pub(super) struct Races {
    waves_per_group: u64,
    lds_bytes: usize,
    scratch: Range<u64>,
    records: Vec<Record>,
    groups: HashMap<u64, GroupState>,
    pages: HashMap<u64, Box<[Cell]>>,
    /// What the last atomic operation on an address left.
    atomics: HashMap<u64, Arc<Clock>>,
    /// The first conflict of the instruction.
    pub(super) found: Option<Conflict>,
}

impl Races {
    pub(super) fn new(launch: &Launch) -> Races {
        let scratch = u64::from(launch.scratch_bytes_per_wave) * u64::from(launch.scratch_waves);
        Races {
            waves_per_group: launch.waves().max(1).into(),
            lds_bytes: launch.lds_bytes as usize,
            scratch: launch.scratch_base..launch.scratch_base.wrapping_add(scratch),
            records: Vec::new(),
            groups: HashMap::new(),
            pages: HashMap::new(),
            atomics: HashMap::new(),
            found: None,
        }
    }

    /// How many instructions were followed, when there were too many.
    pub(super) fn gave_up(&self) -> Option<u64> {
        (self.records.len() >= LIMIT).then_some(self.records.len() as u64)
    }

    pub(super) fn group_ended(&mut self, number: u64) {
        self.groups.remove(&number);
    }

    /// A wave is about to execute a memory instruction.
    pub(super) fn access(
        &mut self,
        group: u64,
        wave: u32,
        pc: u64,
        kind: AccessKind,
        accesses: &Accesses,
    ) {
        let this = group * self.waves_per_group + u64::from(wave);
        let state = self.groups.entry(group).or_default();
        state.lds.resize(self.lds_bytes, Cell::default());
        state.settle(wave, self.records.len() as u32);
        let now = self.records.len() as u32 + 1;
        let mut known = state.waves.remove(&wave).unwrap_or_default();
        let atomics = self.synchronised(group, kind, accesses);
        let is_atomic = accesses.coherent || kind == AccessKind::Atomic || !atomics.is_empty();
        self.records.push(Record { wave: this, pc, kind, atomic: is_atomic });
        for place in &atomics {
            if let Some(left) = self.left(group, *place) {
                known.clock.join(left, now);
            }
        }
        if kind != AccessKind::Load && !atomics.is_empty() {
            known.clock.learn(this, now);
            let left = Arc::new(known.clock.clone());
            for (space, address) in atomics {
                match space {
                    Space::Lds => {
                        let state = self.groups.entry(group).or_default();
                        state.atomics.insert(address, Arc::clone(&left));
                    }
                    _ => _ = self.atomics.insert(address, Arc::clone(&left)),
                }
            }
        }
        for access in &accesses.list {
            self.access_of_lane(group, access, &mut known.clock);
        }
        self.groups.entry(group).or_default().waves.insert(wave, known);
    }

    /// The places by which an instruction orders: those that it updates atomically; those that others have, when it
    /// stores to them or loads what other waves have stored.
    fn synchronised(
        &self,
        group: u64,
        kind: AccessKind,
        accesses: &Accesses,
    ) -> BTreeSet<(Space, u64)> {
        let orders = |place| match kind {
            AccessKind::Atomic => true,
            AccessKind::Store => self.left(group, place).is_some(),
            AccessKind::Load => accesses.coherent && self.left(group, place).is_some(),
        };
        let places = accesses.list.iter().map(|access| (access.space, access.address));
        places.filter(|&place| place.0 != Space::Scratch && orders(place)).collect()
    }

    /// What the last atomic operation on a place left.
    fn left(&self, group: u64, (space, address): (Space, u64)) -> Option<&Arc<Clock>> {
        match space {
            Space::Lds => self.groups.get(&group)?.atomics.get(&address),
            _ => self.atomics.get(&address),
        }
    }

    fn access_of_lane(&mut self, group: u64, access: &Access, known: &mut Clock) {
        let Access { space, address, bytes, .. } = *access;
        let (cells, first) = match space {
            Space::Scratch => return,
            Space::Global if self.scratch.contains(&address) => return,
            Space::Lds => match self.groups.get_mut(&group) {
                Some(state) => (&mut state.lds[..], address),
                None => return,
            },
            Space::Global => {
                let empty = || vec![Cell::default(); PAGE as usize].into_boxed_slice();
                let page = self.pages.entry(address / PAGE).or_insert_with(empty);
                (&mut page[..], address % PAGE)
            }
        };
        let (Some(this), now) = (self.records.last(), self.records.len() as u32) else { return };
        let records = &self.records;
        let record = |time: u32| time.checked_sub(1).map(|index| &records[index as usize]);
        let unordered = |time: u32, known: &Clock| {
            record(time).filter(|other| other.wave != this.wave && !known.knows(time, other.wave))
        };
        // An access that crosses a page is looked at up to its end.
        let end = (first + u64::from(bytes)).min(cells.len() as u64);
        for at in first..end {
            let cell = &mut cells[at as usize];
            let mut conflict = unordered(cell.written, known);
            if this.kind == AccessKind::Load {
                if this.atomic && conflict.is_some() {
                    // What was stored is what it waited for.
                    known.all = now - 1;
                    conflict = None;
                }
                // The first load is remembered until a later one comes after it, and the last.
                let [earlier, later] = cell.read;
                let replaced = unordered(earlier, known).is_none();
                cell.read = if replaced { [now, later] } else { [earlier, now] };
            } else {
                let meets = |other: &&Record| !(this.atomic && other.atomic);
                let reads = cell.read.map(|time| unordered(time, known).filter(meets));
                conflict = conflict.filter(meets).or(reads[0]).or(reads[1]);
                *cell = Cell { written: now, read: [0; 2] };
            }
            if let (Some(other), None) = (conflict, &self.found) {
                self.found = Some(Conflict {
                    space,
                    address: address + (at - first),
                    group: other.wave / self.waves_per_group,
                    wave: (other.wave % self.waves_per_group) as u32,
                    pc: other.pc,
                    access: other.kind,
                });
            }
        }
    }

    /// A wave has executed an instruction that may order it.
    pub(super) fn synchronise(&mut self, group: u64, wave: &Wave, op: &Op) {
        let now = self.records.len() as u32;
        let this = group * self.waves_per_group + u64::from(wave.id);
        let workgroups = matches!(
            op.instruction.fields,
            Fields::Sop1 { ssrc0, .. } if ssrc0.0 >= 128 && op.constants[0] as u32 == u32::MAX
        );
        let (signals, waits, ends) = match op.instruction.opcode {
            Opcode::S_BARRIER => (true, true, false),
            Opcode::S_BARRIER_SIGNAL | Opcode::S_BARRIER_SIGNAL_ISFIRST => {
                (workgroups, false, false)
            }
            Opcode::S_BARRIER_WAIT => (false, wave.state == State::Running, false),
            Opcode::S_ENDPGM | Opcode::S_ENDPGM_SAVED => (false, false, true),
            _ => return,
        };
        let state = self.groups.entry(group).or_default();
        state.settle(wave.id, now);
        let own = state.waves.entry(wave.id).or_default();
        own.clock.learn(this, now);
        if signals {
            state.barriers.entry(own.signals).or_default().join(&own.clock, now);
            own.signals += 1;
        }
        if ends {
            state.ended.join(&own.clock, now);
        }
        own.waits += u32::from(waits);
    }
}
