//! Which accesses nothing orders.
//!
//! Each memory instruction that is executed has a number, which is the time. A wave knows up to which time it comes after
//! each other wave ([`Clock`]); barriers and atomic operations make it know more. An access that is later than what a wave
//! knows of the other is not ordered (the vector clocks of Flanagan and Freund, "FastTrack", 2009).

use super::Conflict;
use crate::shader::Launch;
use crate::shader::access::Access;
use crate::shader::code::Op;
use crate::shader::finding::{AccessKind, Space};
use crate::shader::wave::Wave;
use amdgpu_isa::{Fields, Opcode};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Memory instructions, and entries of the clocks that atomic operations have left, that are followed; then the check gives
/// up.
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

    /// What it costs to keep.
    fn entries(&self) -> usize {
        1 + self.waves.len()
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

/// What an instruction is to a barrier.
struct Part {
    signals: bool,
    waits: bool,
    ends: bool,
}

/// A workgroup that runs.
#[derive(Default)]
struct GroupState {
    waves: HashMap<u32, WaveState>,
    /// What the waves knew that signalled a barrier, by its number, of the last.
    barriers: BTreeMap<u32, Clock>,
    /// What the waves knew that have ended, by the barrier that was the first without them: it, and each later one,
    /// was passed after their end.
    ended: BTreeMap<u32, Clock>,
    lds: Vec<Cell>,
    /// What the last atomic operation on an offset of LDS left.
    atomics: HashMap<u64, Arc<Clock>>,
}

impl GroupState {
    /// A wave goes on: it comes after what others did before the barriers that it has passed.
    fn settle(&mut self, wave: u32, now: u32) {
        let own = self.waves.entry(wave).or_default();
        while own.settled < own.waits {
            for ended in self.ended.range(..=own.settled).map(|(_, clock)| clock) {
                own.clock.join(ended, now);
            }
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
    /// Entries of all clocks that atomic operations have left.
    left_entries: usize,
    /// The first conflict of the instruction.
    pub(super) found: Option<Conflict>,
}

impl Races {
    pub(super) fn new(launch: &Launch) -> Races {
        let scratch = u64::from(launch.scratch_bytes_per_wave) * u64::from(launch.scratch_waves);
        Races {
            scratch: launch.scratch_base..launch.scratch_base.wrapping_add(scratch),
            ..Races::of(launch.waves().max(1).into(), launch.lds_bytes as usize)
        }
    }

    /// Of workgroups of so many waves that have so much LDS.
    fn of(waves_per_group: u64, lds_bytes: usize) -> Races {
        Races {
            waves_per_group,
            lds_bytes,
            scratch: 0..0,
            records: Vec::new(),
            groups: HashMap::new(),
            pages: HashMap::new(),
            atomics: HashMap::new(),
            left_entries: 0,
            found: None,
        }
    }

    /// How many instructions were followed, when there were too many, or what they left was too much.
    pub(super) fn gave_up(&self) -> Option<u64> {
        (self.records.len() + self.left_entries >= LIMIT).then_some(self.records.len() as u64)
    }

    pub(super) fn group_ended(&mut self, number: u64) {
        if let Some(state) = self.groups.remove(&number) {
            state.atomics.into_values().for_each(|clock| self.forget(clock));
        }
    }

    /// What an atomic operation has left at one place is not kept there any more.
    fn forget(&mut self, clock: Arc<Clock>) {
        if let Some(clock) = Arc::into_inner(clock) {
            self.left_entries -= clock.entries();
        }
    }

    /// A wave is about to execute a memory instruction.
    pub(super) fn access(
        &mut self,
        group: u64,
        wave: u32,
        pc: u64,
        kind: AccessKind,
        coherent: bool,
        list: &[Access],
    ) {
        let this = group * self.waves_per_group + u64::from(wave);
        let state = self.groups.entry(group).or_default();
        state.lds.resize(self.lds_bytes, Cell::default());
        state.settle(wave, self.records.len() as u32);
        let now = self.records.len() as u32 + 1;
        let mut known = state.waves.remove(&wave).unwrap_or_default();
        let atomics = self.synchronised(group, kind, coherent, list);
        let is_atomic = coherent || kind == AccessKind::Atomic || !atomics.is_empty();
        self.records.push(Record { wave: this, pc, kind, atomic: is_atomic });
        for place in &atomics {
            if let Some(left) = self.left(group, *place) {
                known.clock.join(left, now);
            }
        }
        if kind != AccessKind::Load && !atomics.is_empty() {
            known.clock.learn(this, now);
            let left = Arc::new(known.clock.clone());
            self.left_entries += left.entries();
            for (space, address) in atomics {
                let places = match space {
                    Space::Lds => &mut self.groups.entry(group).or_default().atomics,
                    _ => &mut self.atomics,
                };
                if let Some(earlier) = places.insert(address, Arc::clone(&left)) {
                    self.forget(earlier);
                }
            }
        }
        for access in list {
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
        coherent: bool,
        list: &[Access],
    ) -> BTreeSet<(Space, u64)> {
        let orders = |place| match kind {
            AccessKind::Atomic => true,
            AccessKind::Store => self.left(group, place).is_some(),
            AccessKind::Load => coherent && self.left(group, place).is_some(),
        };
        let places = list.iter().map(|access| (access.space, access.address));
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
                if this.atomic {
                    if conflict.take().is_some() {
                        // What was stored is what it waited for.
                        known.all = now - 1;
                    }
                    continue;
                }
                // The first load is remembered until a later one comes after it, and the last.
                let [earlier, later] = cell.read;
                let replaced = unordered(earlier, known).is_none();
                cell.read = if replaced { [now, later] } else { [earlier, now] };
            } else {
                let meets = |other: &&Record| !(this.atomic && other.atomic);
                let reads = cell.read.map(|time| unordered(time, known));
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
        let workgroups = matches!(
            op.instruction.fields,
            Fields::Sop1 { ssrc0, .. } if ssrc0.0 >= 128 && op.constants[0] as u32 == u32::MAX
        );
        let part = |signals, waits, ends| Some(Part { signals, waits, ends });
        let part = match op.instruction.opcode {
            Opcode::S_BARRIER => part(true, true, false),
            Opcode::S_BARRIER_SIGNAL | Opcode::S_BARRIER_SIGNAL_ISFIRST => {
                part(workgroups, false, false)
            }
            Opcode::S_BARRIER_WAIT => part(false, true, false),
            Opcode::S_ENDPGM | Opcode::S_ENDPGM_SAVED => part(false, false, true),
            _ => None,
        };
        if let Some(part) = part {
            self.take_part(group, wave.id, part);
        }
    }

    /// A wave takes part in a barrier of its workgroup, or no more.
    fn take_part(&mut self, group: u64, wave: u32, Part { signals, waits, ends }: Part) {
        let now = self.records.len() as u32;
        let this = group * self.waves_per_group + u64::from(wave);
        let state = self.groups.entry(group).or_default();
        state.settle(wave, now);
        let own = state.waves.entry(wave).or_default();
        own.clock.learn(this, now);
        if signals {
            state.barriers.entry(own.signals).or_default().join(&own.clock, now);
            // All have passed the barrier before the last, as they have signalled the last.
            state.barriers = state.barriers.split_off(&own.signals.saturating_sub(1));
            own.signals += 1;
        }
        if ends {
            state.ended.entry(own.signals).or_default().join(&own.clock, now);
        }
        own.waits += u32::from(waits);
    }
}

#[cfg(test)]
mod tests {
    use super::{CLOCK_WAVES, Part, Races};
    use crate::shader::access::Access;
    use crate::shader::finding::{AccessKind, Space};

    fn atomic(races: &mut Races, group: u64, space: Space, addresses: impl Iterator<Item = u64>) {
        let access = |address| Access { lane: 0, space, address, bytes: 4 };
        let list: Vec<_> = addresses.map(access).collect();
        races.access(group, 0, 0x100, AccessKind::Atomic, false, &list);
    }

    #[test]
    fn what_atomic_operations_leave_is_counted_while_it_is_kept() {
        let mut races = Races::of(1, 64);
        // Lanes of one instruction share what it leaves.
        atomic(&mut races, 0, Space::Global, (0..64).map(|lane| 4 * lane));
        assert_eq!(races.left_entries, 2);
        atomic(&mut races, 1, Space::Global, (0..64).map(|lane| 4 * lane));
        assert_eq!(races.left_entries, 3);
        atomic(&mut races, 2, Space::Global, std::iter::once(0));
        assert_eq!(races.left_entries, 3 + 4);
        atomic(&mut races, 3, Space::Lds, std::iter::once(0));
        assert_eq!(races.left_entries, 3 + 4 + 2);
        races.group_ended(3);
        assert_eq!(races.left_entries, 3 + 4);
        for group in 4..3 * CLOCK_WAVES as u64 {
            atomic(&mut races, group, Space::Global, std::iter::once(0));
        }
        assert!(races.left_entries <= CLOCK_WAVES + 8, "{}", races.left_entries);
        assert_eq!(races.gave_up(), None);
    }

    #[test]
    fn barriers_that_all_have_passed_are_forgotten() {
        let mut races = Races::of(2, 64);
        for _ in 0..100 {
            for wave in 0..2 {
                races.take_part(0, wave, Part { signals: true, waits: true, ends: false });
            }
            let state = &races.groups[&0];
            assert!(state.barriers.len() <= 2, "{}", state.barriers.len());
        }
        // Each still orders.
        let store = |races: &mut Races, wave| {
            let list = [Access { lane: 0, space: Space::Lds, address: 0, bytes: 4 }];
            races.access(0, wave, 0x100, AccessKind::Store, false, &list);
            races.found.take().is_some()
        };
        assert!(!store(&mut races, 0));
        for wave in 0..2 {
            races.take_part(0, wave, Part { signals: true, waits: true, ends: false });
        }
        assert!(!store(&mut races, 1));
        assert!(store(&mut races, 0));
    }

    /// Whether a store of a byte of LDS by each of two waves is a race, when the waves do this before and the first
    /// does that after its store.
    fn is_race(before: impl Fn(&mut Races), after: impl Fn(&mut Races)) -> bool {
        let mut races = Races::of(2, 64);
        let list = [Access { lane: 0, space: Space::Lds, address: 0, bytes: 4 }];
        before(&mut races);
        races.access(0, 0, 0x100, AccessKind::Store, false, &list);
        after(&mut races);
        races.access(0, 1, 0x200, AccessKind::Store, false, &list);
        races.found.is_some()
    }

    #[test]
    fn the_end_of_a_wave_comes_before_later_barriers_only() {
        let barrier = |races: &mut Races, wave| {
            races.take_part(0, wave, Part { signals: true, waits: true, ends: false });
        };
        let end = |races: &mut Races| {
            races.take_part(0, 0, Part { signals: false, waits: false, ends: true });
        };
        let both = |races: &mut Races| (0..2).for_each(|wave| barrier(races, wave));
        assert!(is_race(|_| (), end));
        assert!(is_race(both, end), "the barrier was before the store");
        assert!(!is_race(|_| (), |races| (end(races), barrier(races, 1)).1));
        assert!(!is_race(both, |races| (end(races), barrier(races, 1)).1));
        assert!(!is_race(|_| (), both));
    }

    #[test]
    fn loads_that_ask_caches_meet_no_later_store() {
        for coherent in [false, true] {
            let mut races = Races::of(1, 0);
            let list = [Access { lane: 0, space: Space::Global, address: 64, bytes: 4 }];
            races.access(0, 0, 0x100, AccessKind::Load, coherent, &list);
            races.access(1, 0, 0x200, AccessKind::Store, false, &list);
            assert_eq!(races.found.is_some(), !coherent);
        }
    }
}
