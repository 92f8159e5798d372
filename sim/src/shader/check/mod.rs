//! Checks for what hardware runs without a word: races, and values that nothing has set.
//!
//! # What is reported
//! - **Races** (`race`): two waves of a dispatch access the same byte of LDS or of GPU memory, at least one writes, not
//!   both atomically, and nothing orders them. What orders: a barrier between them that both waves passed, for waves of a
//!   workgroup; atomic operations on one address, of which each orders what its wave did before it ahead of what the wave
//!   of the next one does after it. A store to what an atomic operation has updated before counts as atomic, as
//!   compilers release locks by plain stores. A load that asks caches for other waves' data (GLC, DLC, SC0, SC1, a scope
//!   beyond the compute unit), as compilers load atomically, is never part of a race, and takes everything before it as
//!   ordered when what it reads another wave has stored.
//! - **LDS that nothing has written** (`unset`): a byte that a wave reads and no wave of its workgroup has written.
//! - **Registers that nothing has set** (`unset`): followed through the operations to an address, a branch, EXEC, or a
//!   store to GPU memory, and reported there.
//!
//! Each kind is reported once a dispatch of each instruction, a race of each pair.
//!
//! # What is not
//! - Waves run in turns here, so that of all orders one is looked at; a race behind a condition that this order does not
//!   meet is not seen.
//! - Waits (`s_waitcnt`) and cache operations that are missing beside an atomic or a barrier; races of lanes of one wave;
//!   races of dispatches, queues, or with the host. Scratch is not looked at, nor are loads that transpose, and loads and stores of
//!   blocks.
//! - A wave that comes after more than 1024 others by atomic operations comes after all.
//! - Of more than two unordered readers of a byte, the first and the last are remembered.
//! - An atomic operation on a word orders more than the program may count on: each counts as acquire and release,
//!   whatever its order.
//! - Values of vector registers are set or unset a register and lane at a time: one that is set in part, as a half by a
//!   load of 16 bits, is set. What is unset at the end of a store of several dwords is padding, unless none is set: compilers
//!   store three floats as four dwords. An operation that takes bits from several registers (AND, OR, V_PERM, packing) gives a set
//!   value when one of them is set; one across lanes (DPP, permutations, matrices) when any lane is. Scalar registers
//!   are followed bit by bit where lane masks are made; set in part, they count as set elsewhere. Memory, LDS and scratch hold set values only, but for LDS never
//!   written.
//!
//! # Told although meant
//! What compilers make plain loads and stores of is told as a race, as nothing in the machine code says that it is meant:
//! relaxed atomic loads and stores in LDS, as of a flag that waves poll there; relaxed atomic loads of memory in workgroup
//! scope, and relaxed atomic stores before gfx12 in any scope, where no atomic operation has updated the word before.

mod race;
mod unset;

use super::access::Accesses;
use super::code::Op;
use super::finding::{AccessKind, Finding, FindingKind, Site, Sort, Space};
use super::inspect::{Checks, Subject};
use super::launch::Group;
use super::wave::Wave;
use amdgpu_isa::{Instruction, disassemble};
use race::Races;
use std::collections::{HashMap, HashSet};
use unset::Unset;

/// The checks of one dispatch.
pub(super) struct Checker<'a> {
    subject: Subject<'a>,
    races: Option<Races>,
    unset: Option<Unset>,
    /// The workgroup whose wave is looked at.
    number: u64,
    group: Group,
    /// Instructions that accessed memory, by address.
    texts: HashMap<u64, Instruction>,
    /// What was reported of which instruction.
    told: HashSet<(u64, Sort)>,
}

/// An earlier access of another wave, and what is wrong with it.
struct Conflict {
    space: Space,
    address: u64,
    group: u64,
    wave: u32,
    pc: u64,
    access: AccessKind,
}

impl<'a> Checker<'a> {
    pub(super) fn new(checks: Checks, subject: Subject<'a>) -> Checker<'a> {
        Checker {
            subject,
            races: checks.races.then(|| Races::new(subject.launch)),
            unset: checks.uninitialised.then(|| Unset::new(subject)),
            number: 0,
            group: Group::numbered(subject.launch, 0),
            texts: HashMap::new(),
            told: HashSet::new(),
        }
    }

    pub(super) fn turn_to(&mut self, number: u64, group: Group) {
        (self.number, self.group) = (number, group);
    }

    /// An instruction is about to be executed.
    pub(super) fn before(&mut self, wave: &Wave, pc: u64, op: &Op, accesses: &Accesses) {
        if let Some(unset) = &mut self.unset {
            unset.before(self.number, wave, op, accesses);
            for kind in std::mem::take(&mut unset.found) {
                self.report(wave, pc, op, kind);
            }
        }
        for (kind, list) in accesses.parts() {
            let Some(races) = &mut self.races else { return };
            self.texts.entry(pc).or_insert(op.instruction);
            races.access(self.number, wave.id, pc, kind, accesses.coherent, list);
            let (conflict, gave_up) = (races.found.take(), races.gave_up());
            if let Some(conflict) = conflict {
                let Conflict { space, address, group, wave: other, pc: other_pc, access } =
                    conflict;
                let instruction = self.texts.get(&other_pc);
                let other = Site {
                    workgroup: Group::numbered(self.subject.launch, group).id,
                    wave: other,
                    pc: other_pc,
                    instruction: instruction.map(|instruction| self.text(instruction)),
                };
                let race =
                    FindingKind::Race { space, address, access: kind, other, other_access: access };
                self.report(wave, pc, op, race);
            }
            if let Some(followed) = gave_up {
                self.report(wave, pc, op, FindingKind::Incomplete { followed });
                self.races = None;
            }
        }
    }

    /// An instruction was executed.
    pub(super) fn after(&mut self, wave: &Wave, op: &Op) {
        if let Some(races) = &mut self.races {
            races.synchronise(self.number, wave, op);
        }
    }

    /// All waves of a workgroup have ended.
    pub(super) fn group_ended(&mut self, number: u64) {
        if let Some(races) = &mut self.races {
            races.group_ended(number);
        }
        if let Some(unset) = &mut self.unset {
            unset.group_ended(number);
        }
    }

    fn text(&self, instruction: &Instruction) -> String {
        let Subject { target, launch, .. } = self.subject;
        disassemble(instruction, target, launch.wave32).to_string()
    }

    #[cold]
    fn report(&mut self, wave: &Wave, pc: u64, op: &Op, kind: FindingKind) {
        if !self.told.insert((pc, kind.sort())) {
            return;
        }
        let outside = self.subject.outside;
        outside.found(Finding {
            queue: outside.queue(),
            packet: outside.packet(),
            kernel: self.subject.kernel(),
            site: Site {
                workgroup: self.group.id,
                wave: wave.id,
                pc,
                instruction: Some(self.text(&op.instruction)),
            },
            kind,
        });
    }
}
