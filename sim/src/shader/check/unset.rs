//! Which values nothing has set, and what they decide.

mod scalar;
mod vector;

use crate::shader::access::{Access, Accesses};
use crate::shader::code::Op;
use crate::shader::finding::{AccessKind, Decides, FindingKind, Space};
use crate::shader::generation::Traits;
use crate::shader::inspect::Subject;
use crate::shader::launch::{Group, prepare};
use crate::shader::wave::{EXEC, LANES, NULL, TTMP0, VCC, Wave};
use amdgpu_isa::{Fields, OperandKind, Src};
use std::collections::HashMap;

/// Which of a wave's registers are set.
#[derive(Clone)]
struct Registers {
    /// Bits of the scalar registers, by operand code.
    scalar: Vec<u32>,
    scc: bool,
    /// Lanes of the vector registers; accumulation registers follow the others.
    vector: Vec<u64>,
}

/// A workgroup that runs.
#[derive(Default)]
struct GroupState {
    waves: HashMap<u32, Registers>,
    /// Bytes of LDS that were written.
    written: Vec<bool>,
}

/// The check of one dispatch.
pub(super) struct Unset {
    /// What waves start with.
    initial: Registers,
    lds_bytes: usize,
    scratch: std::ops::Range<u64>,
    groups: HashMap<u64, GroupState>,
    /// What is wrong with the instruction.
    pub(super) found: Vec<FindingKind>,
}

impl Unset {
    pub(super) fn new(subject: Subject<'_>) -> Unset {
        let launch = subject.launch;
        let scratch = u64::from(launch.scratch_bytes_per_wave) * u64::from(launch.scratch_waves);
        Unset {
            initial: initial(subject),
            lds_bytes: launch.lds_bytes as usize,
            scratch: launch.scratch_base..launch.scratch_base.wrapping_add(scratch),
            groups: HashMap::new(),
            found: Vec::new(),
        }
    }

    pub(super) fn group_ended(&mut self, number: u64) {
        self.groups.remove(&number);
    }

    /// A wave is about to execute an instruction.
    pub(super) fn before(&mut self, group: u64, wave: &Wave, op: &Op, accesses: &Accesses) {
        let state = self.groups.entry(group).or_default();
        state.written.resize(self.lds_bytes, false);
        let registers = state.waves.entry(wave.id).or_insert_with(|| self.initial.clone());
        let mut step = Step { wave, op, registers, found: &mut self.found };
        match op.instruction.fields {
            Fields::Sop1 { .. } | Fields::Sop2 { .. } | Fields::Sopk { .. } => step.scalar(),
            Fields::Sopc { .. } | Fields::Sopp { .. } | Fields::Smem { .. } => step.scalar(),
            Fields::Valu(valu) => step.valu(&valu),
            Fields::Vop3p { .. } | Fields::Matrix { .. } => step.matrix_or_packed(),
            Fields::Vopd { x, y } => step.dual(x, y),
            Fields::Ds { .. } => step.lds(),
            Fields::Flat { .. } | Fields::Mubuf { .. } => step.memory(|lane| {
                let mut own =
                    accesses.list.iter().filter(|access| usize::from(access.lane) == lane);
                own.any(|access| {
                    access.space == Space::Global && !self.scratch.contains(&access.address)
                })
            }),
        }
        self.lds(group, accesses);
    }

    /// Bytes of LDS are read, or written.
    fn lds(&mut self, group: u64, accesses: &Accesses) {
        let Some(state) = self.groups.get_mut(&group) else { return };
        for (kind, list) in accesses.parts() {
            let list = || list.iter().filter(|access| access.space == Space::Lds);
            let bytes = |access: &Access| {
                let end = access.address.saturating_add(access.bytes.into());
                access.address as usize..end as usize
            };
            if kind != AccessKind::Store {
                for access in list() {
                    // What is beyond the end reads as 0.
                    let unwritten = state
                        .written
                        .get(bytes(access))
                        .and_then(|written| written.iter().position(|written| !written));
                    if let Some(at) = unwritten {
                        let address = access.address + at as u64;
                        add(&mut self.found, FindingKind::UnwrittenLds { address });
                    }
                }
            }
            if kind != AccessKind::Load {
                for access in list() {
                    if let Some(written) = state.written.get_mut(bytes(access)) {
                        written.fill(true);
                    }
                }
            }
        }
    }
}

/// Adds what is found, of each sort the first.
fn add(found: &mut Vec<FindingKind>, kind: FindingKind) {
    if found.iter().all(|other| other.sort() != kind.sort()) {
        found.push(kind);
    }
}

/// What a wave starts with: what comes out the same whatever registers held before.
fn initial(subject: Subject<'_>) -> Registers {
    let traits = Traits::of(subject.target);
    let start = |fill: u32| {
        let launch = crate::shader::Launch { fill, ..subject.launch.clone() };
        let mut wave = Wave::new(launch.wave32, traits, traits.registers(&launch));
        prepare(&mut wave, &launch, Group::numbered(&launch, 0), 0, launch.scratch_base);
        wave
    };
    let (one, other) = (start(0), start(u32::MAX));
    let scalar = one.scalars().iter().zip(other.scalars()).map(|(a, b)| !(a ^ b)).collect();
    let registers = traits.registers(subject.launch).all;
    let lanes = |register: usize| {
        let equal = |lane: &usize| one.lane(register, *lane) == other.lane(register, *lane);
        (0..one.lanes()).filter(equal).fold(0, |mask, lane| mask | 1 << lane)
    };
    Registers { scalar, scc: false, vector: (0..registers).map(lanes).collect() }
}

/// One instruction of a wave.
struct Step<'a> {
    wave: &'a Wave,
    op: &'a Op,
    registers: &'a mut Registers,
    found: &'a mut Vec<FindingKind>,
}

impl Step<'_> {
    fn report(&mut self, register: String, decides: Decides) {
        add(self.found, FindingKind::Unset { register, decides });
    }

    /// Set bits of a scalar register; constants are.
    fn bits(&self, code: u16) -> u32 {
        match code {
            253 if !self.registers.scc => 0,
            0..=127 => self.registers.scalar[usize::from(code)],
            _ => u32::MAX,
        }
    }

    /// Set bits of a pair.
    fn bits64(&self, code: u16) -> u64 {
        let high = if code < 127 { self.bits(code + 1) } else { self.bits(code) };
        u64::from(self.bits(code)) | u64::from(high) << 32
    }

    /// Set bits of an operand, all beyond its width.
    fn operand(&self, source: Src, kind: OperandKind) -> u64 {
        match kind.dwords(self.wave.halves == 1) {
            0 => u64::MAX,
            1 => u64::from(self.bits(source.0)) | !0 << 32,
            _ => self.bits64(source.0),
        }
    }

    /// Sets which bits are set; what trap temporaries and NULL hold always is.
    fn set_bits(&mut self, code: u8, dwords: u8, bits: u64) {
        for (dword, code) in (usize::from(code)..).take(dwords.into()).enumerate() {
            let bits = if dword == 1 { (bits >> 32) as u32 } else { bits as u32 };
            if code >= usize::from(TTMP0) && code <= usize::from(NULL) {
                continue;
            }
            if let Some(register) = self.registers.scalar.get_mut(code) {
                *register = bits;
            }
        }
    }

    /// Set bits of a lane mask, one a lane.
    fn mask(&self, code: u16) -> u64 {
        if self.wave.halves == 1 { self.bits(code).into() } else { self.bits64(code) }
    }

    fn set_mask(&mut self, code: u8, bits: u64) {
        let dwords = self.wave.halves as u8;
        self.set_bits(code, dwords, bits);
        if code == EXEC {
            self.check_execution();
        }
    }

    /// EXEC was written: bits of it that are not set decide which lanes are active.
    fn check_execution(&mut self) {
        let lanes = if self.wave.halves == 1 { u64::from(u32::MAX) } else { u64::MAX };
        let unset = !self.mask(EXEC.into()) & lanes;
        if unset != 0 {
            self.report(format!("exec[{}]", unset.trailing_zeros()), Decides::Execution);
            self.set_bits(EXEC, 2, u64::MAX);
        }
    }

    /// Whether it is known that a mask is zero or not: all bits are set, or one that is 1.
    fn zero_is_known(&self, code: u8) -> bool {
        let bits = self.mask(code.into());
        let lanes = if self.wave.halves == 1 { u64::from(u32::MAX) } else { u64::MAX };
        bits & lanes == lanes || bits & self.wave.mask(code) != 0
    }

    fn vcc_is_known(&self) -> bool {
        self.zero_is_known(VCC)
    }

    /// A scalar register decides something.
    fn scalar_decides(&mut self, code: u16, dwords: u8, decides: Decides) {
        for code in (code..).take(usize::from(dwords)) {
            if code < 128 && self.bits(code) != u32::MAX {
                return self.report(format!("s{code}"), decides);
            }
        }
    }

    /// A vector register of the lanes of `mask` decides something.
    fn vector_decides(&mut self, register: usize, dwords: u8, mask: u64, decides: Decides) {
        for register in (register..).take(usize::from(dwords)) {
            let Some(set) = self.registers.vector.get(register) else { return };
            let unset = mask & !set;
            if unset != 0 {
                let (file, number) = match register.checked_sub(self.wave.vgprs()) {
                    Some(accumulator) => ('a', accumulator),
                    None => ('v', register),
                };
                let lane = unset.trailing_zeros();
                return self.report(format!("{file}{number}[{lane}]"), decides);
            }
        }
    }

    /// Lanes of the wave.
    fn all_lanes(&self) -> u64 {
        if self.wave.lanes() == LANES { u64::from(u32::MAX) } else { u64::MAX }
    }
}
